"""Own computations of the experiments on bagging: theory that measurements are held against."""

from itertools import product

import numpy as np
import pytest

from experiments.bootstrap_37 import sd_left_out, share_left_out


@pytest.mark.parametrize("n", [2, 3, 5])
def test_share_left_out_is_that_of_all_bootstraps(n):
    """All nⁿ bootstraps of n rows, counted."""
    shares = [1 - len(set(bag)) / n for bag in product(range(n), repeat=n)]
    assert share_left_out(n) == pytest.approx(np.mean(shares), rel=1e-12)
    assert sd_left_out(n, 1) == pytest.approx(np.std(shares), rel=1e-9)
    assert sd_left_out(n, 100) == pytest.approx(np.std(shares) / 10, rel=1e-9)

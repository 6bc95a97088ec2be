"""Own computations of the experiments on bagging: theory that measurements are held against."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from experiments.bias_variance import error_of_measured
from experiments.bootstrap_37 import sd_left_out, share_left_out
from experiments.scale_and_noise import losses


@pytest.mark.parametrize("n", [2, 3, 5])
def test_share_left_out_is_that_of_all_bootstraps(n):
    """All nⁿ bootstraps of n rows, counted."""
    shares = [1 - len(set(bag)) / n for bag in product(range(n), repeat=n)]
    assert share_left_out(n) == pytest.approx(np.mean(shares), rel=1e-12)
    assert sd_left_out(n, 1) == pytest.approx(np.std(shares), rel=1e-9)
    assert sd_left_out(n, 100) == pytest.approx(np.std(shares) / 10, rel=1e-9)


def test_error_of_measured_is_that_of_drawn_targets():
    """2000 times, targets are drawn at 50 places for models whose mean errors there are known."""
    rng = np.random.default_rng(0)
    noise, n_draws, errors = 0.7, 4, rng.normal(1.0, 0.5, (4, 50))  # (draws, places)
    variance = errors.var(axis=0, ddof=1).mean()
    bias2 = (errors.mean(axis=0) ** 2).mean() - variance / n_draws
    targets = np.sqrt(noise) * rng.standard_normal((2000, 1, 50))
    measured = ((errors - targets) ** 2).mean(axis=(1, 2))
    row = {"noise": noise, "bias2": bias2, "variance": variance, "draws": n_draws, "places": 50}
    # A standard deviation of 2000 numbers is known to 1.6 %; five times that.
    assert error_of_measured(pd.DataFrame([row]))[0] == pytest.approx(measured.std(), rel=0.08)


def test_losses_are_paired_by_seed():
    rows = [(seed, level, 0.9 - seed / 10 - level) for seed in (0, 1, 2) for level in (0.0, 0.2)]
    noise = pd.DataFrame(rows, columns=["seed", "label_noise", "test"])
    noise = noise.assign(dataset="twonorm", model="tree")
    mean, error = losses(noise, "twonorm", "tree", 0.2)
    assert mean == pytest.approx(0.2)
    assert error == pytest.approx(0.0, abs=1e-12)  # every seed loses the same

"""Own computations of the experiments on bagging: theory that measurements are held against."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from experiments.bootstrap_37 import sd_left_out, share_left_out
from experiments.oob_estimate import out_of_bag_of
from experiments.scale_and_noise import losses
from experiments.uncertainty import concordance


@pytest.mark.parametrize("n", [2, 3, 5])
def test_share_left_out_is_that_of_all_bootstraps(n):
    """All nⁿ bootstraps of n rows, counted."""
    shares = [1 - len(set(bag)) / n for bag in product(range(n), repeat=n)]
    assert share_left_out(n) == pytest.approx(np.mean(shares), rel=1e-12)
    assert sd_left_out(n, 1) == pytest.approx(np.std(shares), rel=1e-9)
    assert sd_left_out(n, 100) == pytest.approx(np.std(shares) / 10, rel=1e-9)


def test_losses_are_paired_by_seed():
    rows = [(seed, level, 0.9 - seed / 10 - level) for seed in (0, 1, 2) for level in (0.0, 0.2)]
    noise = pd.DataFrame(rows, columns=["seed", "label_noise", "test"])
    noise = noise.assign(dataset="twonorm", model="tree")
    # Every seed loses the same, but for the rounding of a difference of numbers below 1.
    assert losses(noise, "twonorm", "tree", 0.2).tolist() == pytest.approx([0.2] * 3, abs=1e-15)


@pytest.mark.parametrize("is_of_two_classes", [False, True])
def test_out_of_bag_error_from_that_of_voters(is_of_two_classes):
    """Every subset of three trees that may vote on a row, counted."""
    sizes, errors = np.array([1, 2, 3]), np.array([0.3, 0.3, 0.1])
    expected = np.zeros(3)
    for n_trees in sizes:
        chances = np.zeros(4)
        for votes in product([0, 1], repeat=int(n_trees)):
            chances[sum(votes)] += np.prod([0.4 if vote else 0.6 for vote in votes])
        expected[n_trees - 1] = chances[1:] @ errors / chances[1:].sum()
    found = out_of_bag_of(sizes, errors, 0.4, is_of_two_classes)
    assert found == pytest.approx(expected, rel=1e-12)


def test_an_even_number_of_voters_errs_as_one_less():
    sizes, errors = np.array([1, 3, 5]), np.array([0.3, 0.2, 0.1])
    of_four, chances = 0.2, np.array([5 * 0.4 * 0.6**4, 0, 0, 5 * 0.4**4 * 0.6, 0.4**5])
    chances[1:3] = 10 * 0.4**2 * 0.6**3, 10 * 0.4**3 * 0.6**2
    expected = chances @ [0.3, 0.3, 0.2, of_four, 0.1] / chances.sum()
    assert out_of_bag_of(sizes, errors, 0.4, True)[-1] == pytest.approx(expected, rel=1e-12)


def test_concordance():
    """Against all pairs of a wrong and a right row; and of numbers whose order is known."""
    rng = np.random.default_rng(0)
    uncertainty, error = rng.integers(0, 6, 40), rng.integers(0, 2, 40)
    pairs = [
        (wrong > right) + 0.5 * (wrong == right)
        for wrong in uncertainty[error == 1]
        for right in uncertainty[error == 0]
    ]
    assert concordance(uncertainty, error) == pytest.approx(np.mean(pairs), rel=1e-12)
    errors = np.array([0.1, 0.7, 0.3, 2.0])
    assert concordance(errors**2, errors) == pytest.approx(1.0, rel=1e-12)
    assert concordance(-errors, errors) == pytest.approx(-1.0, rel=1e-12)

"""What holds of single criteria, beyond that their trees are those of their twins."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestlab import ForestRegressor, TreeRegressor
from forestlab.core.arrays import LEAF
from forestlab.core.criteria import CRITERIA, Entered

few_examples = settings(max_examples=40, deadline=None, derandomize=True)
ENTERED = [name for name, row in CRITERIA.items() if isinstance(row, Entered)]
SHAPE = "feature", "left", "right", "n_rows", "cut_high"


def made(n_rows, n_targets, seed=0):
    """Targets whose spread, and not only mean, goes by the columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    spread = np.exp(X[:, :1]) * np.linspace(1, 2, n_targets)
    y = 10 + X[:, 1:2] + spread * rng.normal(size=(n_rows, n_targets))
    return X, y[:, 0] if n_targets == 1 else y


def fitted(criterion, X, y, weights=None, **params):
    params = {"criterion": criterion, "random_state": 0, "min_samples_leaf": 4} | params
    return TreeRegressor(**params).fit(X, y, weights)


def shape(model):
    return [model.forest_.nodes[field].tolist() for field in SHAPE]


# ---- gaussian ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_targets", [1, 3, 10])
def test_gaussian_entropy_is_that_of_the_covariance(n_targets):
    X, y = made(300, n_targets)
    nodes = fitted("gaussian", X, y, max_depth=1).forest_.nodes
    y = y.reshape(300, -1)
    left = X[:, nodes["feature"][0]] <= nodes["cut_high"][0]
    assert nodes["kind"][0] != LEAF
    for node, rows in zip(nodes, [left | ~left, left, ~left], strict=True):
        covariance = np.atleast_2d(np.cov(y[rows].T, bias=True)) + 1e-6 * np.diag(y.var(axis=0))
        entropy = np.linalg.slogdet(2 * np.pi * np.e * covariance)[1] / 2
        # Sums of 300 numbers, of a covariance far from singular: off by some 1e-14.
        np.testing.assert_allclose(node["impurity"], entropy, 1e-10)


@pytest.mark.parametrize("n_targets", [1, 2])
def test_where_targets_lie_and_their_units_change_nothing(n_targets):
    X, y = made(200, n_targets)
    tree = fitted("gaussian", X, y)
    assert tree.forest_.nodes["n_rows"].size > 20
    units = 1024.0 if n_targets == 1 else np.array([1024.0, 1 / 256])
    moved = fitted("gaussian", X, units * (y - 4))  # units are powers of 2: nothing is rounded
    assert shape(moved) == shape(tree)
    of_units = np.log(units).sum()
    entropies = [model.forest_.nodes["impurity"] for model in (tree, moved)]
    np.testing.assert_allclose(entropies[1], entropies[0] + of_units, 1e-9, 1e-9)


def test_gaussian_sees_a_spread_that_variance_does_not():
    """Of columns of which one moves the spread alone, and the other the mean."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = np.where(X[:, 0] > 0, 2.0, 0.2) * rng.normal(size=400) + 1.0 * (X[:, 1] > 0)
    assert fitted("gaussian", X, y, max_depth=1).forest_.nodes["feature"][0] == 0
    assert fitted("variance", X, y, max_depth=1).forest_.nodes["feature"][0] == 1


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_target_that_does_not_vary_has_an_entropy_all_the_same(n_targets):
    X, y = made(100, n_targets)
    y = y.reshape(100, -1).copy()
    y[:, 0] = 7.1
    nodes = fitted("gaussian", X, y).forest_.nodes
    assert np.isfinite(nodes["impurity"]).all()
    assert (len(nodes) > 1) == (n_targets == 2)
    without = fitted("gaussian", X, y[:, -1])
    assert n_targets == 1 or nodes["feature"].tolist() == without.forest_.nodes["feature"].tolist()


# ---- all whose sides rows enter ----------------------------------------------------------------


@pytest.mark.parametrize("criterion", ENTERED)
def test_importances_are_shares_even_of_negative_impurities(criterion):
    X, y = made(200, 1)
    y = np.abs(y) * 2.0**-10
    model = ForestRegressor(n_estimators=5, criterion=criterion, random_state=0).fit(X, y)
    found = model.feature_importances_
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(), 1)


@pytest.mark.parametrize("criterion", ENTERED)
@few_examples
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_no_split_raises_what_it_is_to_lower(criterion, seed, n_targets):
    """Weight × impurity is concave in the rows, so that boundaries are enough."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 12))
    y = rng.integers(0, 4, (n_rows, n_targets)).astype(float)
    w = rng.integers(1, 4, n_rows).astype(float)
    yardstick = naive.yardstick_of(criterion, y, w, w.sum())
    left = rng.random(n_rows) < 0.5
    left[0], left[-1] = True, False
    held = [
        w[rows].sum() * naive.impurity_of(criterion, y[rows], w[rows], yardstick)
        for rows in (left | ~left, left, ~left)
    ]
    assert held[1] + held[2] <= held[0] + 1e-7  # the ridge makes a millionth of rounding 1e-10

"""What holds of single criteria, beyond that their trees are those of their twins.

No column has more values than a byte, so that these are the kernels that the twins are held to.
"""

from decimal import Decimal, localcontext

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from forestlab import ForestRegressor, TreeRegressor
from forestlab.core import kde
from forestlab.core.arrays import LEAF
from forestlab.core.criteria import CRITERIA, Entered
from forestlab.core.kde import bandwidth
from forestlab.core.poisson import bent

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


# ---- as scikit-learn's -------------------------------------------------------------------------


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_tree_as_scikit_learns(criterion, n_targets, weighted):
    """Columns that float32 holds, and leaves so large that no two cuts tie: absolute deviations of
    few rows often do, as all cuts are equal that part them alike above and below the medians
    (of five seeds two have a tie). Leaves hold means here, and medians there."""
    X, y = made(250, n_targets, seed=3)
    X, y = (
        X.astype(np.float32).astype(float),
        np.maximum(y - 10, 0) if criterion == "poisson" else y,
    )
    weights = np.random.default_rng(2).integers(1, 4, 250) / 2 if weighted else None
    params = {"criterion": criterion, "min_samples_leaf": 15, "max_depth": 4, "random_state": 0}
    ours = TreeRegressor(**params).fit(X, y, weights).tree_
    theirs = DecisionTreeRegressor(**params).fit(X, y, weights).tree_
    assert ours.node_count == theirs.node_count > 12
    for name in ("feature", "children_left", "children_right", "n_node_samples"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    # Sums of 250 numbers, in another order.
    np.testing.assert_allclose(ours.threshold, theirs.threshold, 1e-12)
    np.testing.assert_allclose(ours.impurity, theirs.impurity, 1e-9, 1e-12)
    if criterion == "poisson":
        np.testing.assert_allclose(ours.value, theirs.value, 1e-9)


# ---- poisson -----------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [[1.0, -0.5, 2.0], [0.0, 0.0, 0.0]])
def test_what_is_no_count_is_refused(y):
    with pytest.raises(ValueError, match=r"^criterion='poisson' needs (y of at|a y above)"):
        TreeRegressor(criterion="poisson").fit([[0], [1], [2]], y)


def test_boundaries_are_not_enough_for_counts():
    with pytest.raises(ValueError, match=r"^criterion='poisson' may be lowest off a boundary"):
        TreeRegressor(criterion="poisson", search="boundary").fit([[0], [1], [2]], [1, 0, 2])


def test_no_side_is_without_counts():
    """Not even where that would be best."""
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 5.0, 5, 5, 5])
    tree = fitted("poisson", X, y, min_samples_leaf=1, max_depth=1).tree_
    assert tree.threshold[0] > 4
    assert (tree.value > 0).all()
    assert fitted("variance", X, y, min_samples_leaf=1).tree_.threshold[0] == 3.5


@pytest.mark.parametrize("d", [-1.0, -0.999, -0.3, -0.05, -0.049, -1e-3, 1e-9, 0.049, 0.05, 7.0])
def test_the_bend_keeps_its_digits(d):
    """Against the formula in numbers of 60 digits."""
    exact = Decimal(d)
    with localcontext(prec=60):
        exact = (1 + exact) * (1 + exact).ln() - exact if d > -1 else Decimal(1)
    np.testing.assert_allclose(bent(d), float(exact), 1e-14)


# ---- kde ---------------------------------------------------------------------------------------


def test_kernels_estimate_a_known_entropy():
    """Of a normal with the kernel's variance added, from 4000 rows; the grid has steps of half a
    bandwidth or so, and the estimate of an entropy a standard error of sqrt(½ / n)."""
    y = np.random.default_rng(3).normal(5, 2, 4000)
    found = fitted("kde", y[:, None] * 0, y).tree_.impurity[0]
    width = bandwidth(y, np.ones(4000), 4000)
    assert 0.3 < width < 0.4
    assert abs(found - np.log(2 * np.pi * np.e * (4 + width**2)) / 2) < 4 * np.sqrt(0.5 / 4000)


def test_kernels_fit_on_their_grid():
    """Whatever the targets: no kernel reaches beyond either end, where other memory lies."""
    rng = np.random.default_rng(4)
    heavy = rng.standard_cauchy(300)
    for y in heavy, rng.integers(0, 2, 9), np.full(5, 3.0), np.append(np.zeros(99), 1), [1, 1e9]:
        y = np.array(y, float)
        origin, step, reach, *kernel = kde.yardstick(y[:, None], np.ones(len(y)), len(y))[0]
        points = np.floor((y - origin) / step + 0.5)
        assert reach >= 1
        assert points.min() - reach >= 0
        assert points.max() + reach <= kde.GRID - 1
        np.testing.assert_allclose(kernel[0] + 2 * sum(kernel[1:]), 1)


@pytest.mark.long  # a kernel of its own
def test_kernels_see_two_heaps_where_a_normal_sees_one():
    """Targets of one mean and spread, in one heap or two: gaussian sees nothing of it."""
    rng = np.random.default_rng(5)
    X = rng.integers(-99, 99, size=(600, 2)).astype(float)
    two = np.where(rng.random(600) < 0.5, -1.0, 1.0) + 0.2 * rng.normal(size=600)
    y = np.where(X[:, 0] > 0, two, np.sqrt(1.04) * rng.normal(size=600)) + 0.3 * (X[:, 1] > 0)
    names = "gaussian", "gaussian_diagonal", "kde"
    tops = [fitted(name, X, y, max_depth=1, min_samples_leaf=50).tree_ for name in names]
    assert [int(top.feature[0]) for top in tops] == [1, 1, 0]


# ---- gaussian ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_targets", [1, 3, 10])
def test_gaussian_entropy_is_that_of_the_covariance(n_targets):
    X, y = made(250, n_targets)
    nodes = fitted("gaussian", X, y, max_depth=1).forest_.nodes
    y = y.reshape(250, -1)
    left = X[:, nodes["feature"][0]] <= nodes["cut_high"][0]
    assert nodes["kind"][0] != LEAF
    for node, rows in zip(nodes, [left | ~left, left, ~left], strict=True):
        covariance = np.atleast_2d(np.cov(y[rows].T, bias=True)) + 1e-6 * np.diag(y.var(axis=0))
        entropy = np.linalg.slogdet(2 * np.pi * np.e * covariance)[1] / 2
        # Sums of 250 numbers, of a covariance far from singular: off by some 1e-14.
        np.testing.assert_allclose(node["impurity"], entropy, 1e-10)


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("criterion", ["gaussian", "kde"])
def test_where_targets_lie_and_their_units_change_nothing(criterion, n_targets):
    X, y = made(200, n_targets)
    tree = fitted(criterion, X, y)
    assert tree.forest_.nodes["n_rows"].size > 20
    units = np.array([1024.0, 1 / 256])[:n_targets]  # powers of 2: nothing is rounded
    moved = fitted(criterion, X, (units * (y.reshape(200, -1) - 4)).reshape(y.shape))
    assert shape(moved) == shape(tree)
    of_units = np.log(units).sum() if criterion == "gaussian" else np.log(units).mean()
    entropies = [model.forest_.nodes["impurity"] for model in (tree, moved)]
    np.testing.assert_allclose(entropies[1], entropies[0] + of_units, 1e-9, 1e-9)


def test_gaussian_sees_a_spread_that_variance_does_not():
    """Of columns of which one moves the spread alone, and the other the mean."""
    rng = np.random.default_rng(1)
    X = rng.integers(-99, 99, size=(400, 2)).astype(float)
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
    if CRITERIA[criterion].counts:
        y += 1
    held = [
        w[rows].sum() * naive.impurity_of(criterion, y[rows], w[rows], yardstick)
        for rows in (left | ~left, left, ~left)
    ]
    assert held[1] + held[2] <= held[0] + 1e-7  # the ridge makes a millionth of rounding 1e-10

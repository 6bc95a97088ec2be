"""Functions of a user's own, f(y, weights), as criterion and as leaf."""

import functools
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from forestlab import (
    Band,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
)
from forestlab.core.arrays import LEAF, LEFT, RIGHT
from forestlab.core.own import Own
from forestlab.forest import grow_trees, prepare

N_ROWS = 60


def own_gini(y, weights):
    shares = np.bincount(y, weights) / weights.sum()
    return 1 - (shares**2).sum()


def own_variance(y, weights):
    mean = weights @ y / weights.sum()
    return (weights @ (y - mean) ** 2 / weights.sum()).mean()


def own_entropy(y, weights):
    """Of a normal distribution, in nats: below 0 where targets are close."""
    return 0.5 * np.log(own_variance(y, weights) + 1e-9)


def own_median(y, weights):
    order = np.argsort(y)
    return y[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)]


def classes(rng):
    """Columns with many ties, and one without; three classes, the last rare."""
    X = np.column_stack([rng.integers(0, 4, (N_ROWS, 3)), rng.normal(size=N_ROWS)]).astype(float)
    y = 1 * (X[:, 0] + X[:, 1] > 3) + (rng.random(N_ROWS) < 0.2)
    return X, np.array(["ash", "elm", "oak"])[y]


def numbers(rng, n_targets=1):
    X = classes(rng)[0]
    y = (X[:, :n_targets] + rng.normal(size=(N_ROWS, n_targets))).round(1)
    return X, y[:, 0] if n_targets == 1 else y


def fitted(model, X, y, weights=None):
    """Grown with the warning of what it costs."""
    functions = sum(callable(getattr(model, what, None)) for what in ("criterion", "leaf"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y, weights)
    said = [warning for warning in said if warning.category is UserWarning]
    assert [warning.filename for warning in said] == [__file__] * bool(functions)
    assert all("trees are grown uncompiled" in str(warning.message) for warning in said)
    return model


def assert_same_forest(ours, theirs):
    """Equal but for impurities, which are summed up in another way: off by some 1e-15."""
    for field in ours.nodes.dtype.names:
        if field == "impurity":
            np.testing.assert_allclose(ours.nodes[field], theirs.nodes[field], 1e-12, 1e-12)
        else:
            np.testing.assert_array_equal(ours.nodes[field], theirs.nodes[field], err_msg=field)
    np.testing.assert_array_equal(ours.stats, theirs.stats)
    np.testing.assert_array_equal(ours.params, theirs.params)


# ---- criteria ----------------------------------------------------------------------------------

GROWN = {
    "a tree": (TreeClassifier, {}),
    "a forest": (ForestClassifier, {"max_features": 2}),
    "few cuts": (ForestClassifier, {"n_thresholds": 2, "ties": "first", "threshold": "value"}),
    "limits": (ForestClassifier, {"min_samples_leaf": 3, "min_weight_fraction_leaf": 0.06}),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GROWN)
def test_gini_as_a_function_asks_the_same_questions(name, weighted):
    cls, options = GROWN[name]
    rng = np.random.default_rng(3)
    X, y = classes(rng)
    weights = rng.integers(0, 9, N_ROWS) / 4 if weighted else None
    options = options | ({} if cls is TreeClassifier else {"n_estimators": 3})
    if weighted and cls is ForestClassifier:
        options |= {"bootstrap": False}
    ours, theirs = (
        fitted(cls(criterion=criterion, random_state=1, **options), X, y, weights)
        for criterion in (own_gini, "gini")
    )
    assert_same_forest(ours.forest_, theirs.forest_)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [{"rho": 3}, {"search": "uniform"}, {"search": "histogram"}, {"learner": "oblique"},
     {"learner": "fitted"}, {"learner": "quadratic"}],
    ids=lambda options: "-".join(map(str, options.values())),
)  # fmt: skip
def test_gini_as_a_function_with_any_search_and_learner(options):
    X, y = classes(np.random.default_rng(4))
    ours, theirs = (
        fitted(ForestClassifier(2, criterion=criterion, random_state=0, **options), X, y)
        for criterion in (own_gini, "gini")
    )
    assert_same_forest(ours.forest_, theirs.forest_)


def test_variance_as_a_function_of_several_targets():
    X, y = numbers(np.random.default_rng(5), n_targets=2)
    ours, theirs = (
        fitted(TreeRegressor(criterion=criterion, random_state=0, max_depth=3), X, y)
        for criterion in (own_variance, "variance")
    )
    assert_same_forest(ours.forest_, theirs.forest_)


def test_rows_without_a_value_are_tried_on_both_sides():
    """As the growers do where values may be missing."""
    rng = np.random.default_rng(13)
    X, y = numbers(rng)
    X[rng.random(X.shape) < 0.3] = np.nan
    codes, weights = (y > 1.5)[:, None].astype(float), rng.integers(1, 9, N_ROWS) / 4
    own = Own(own_gini, "classification", "criterion")
    settled = TreeClassifier(max_depth=4).fit(np.nan_to_num(X), y > 1.5).recipe_
    trees = []
    for criterion in own, "gini":
        recipe = settled._replace(criterion=criterion, missing="learned", n_classes=2)
        trees.append(grow_trees(prepare(X, codes, recipe, weights), recipe, 7, 0, 1)[0])
    assert_same_forest(*trees)
    assert set(trees[0].nodes["missing"][trees[0].nodes["kind"] != LEAF]) >= {LEFT, RIGHT}


def test_an_impurity_may_be_negative():
    X, y = numbers(np.random.default_rng(6))
    tree = fitted(TreeRegressor(criterion=own_entropy, min_samples_leaf=5, random_state=0), X, y)
    assert tree.get_n_leaves() > 3
    impurity = tree.tree_.impurity
    assert impurity.min() < 0
    assert impurity[0] == pytest.approx(own_entropy(y, np.ones(N_ROWS)), 1e-12)


def test_what_a_function_is_given():
    seen = []

    def spying(y, weights):
        seen.append((y.dtype, y.shape == weights.shape, weights.dtype, set(y.tolist())))
        y[:], weights[:] = 0, -1  # its own
        return 1.0

    X, y = classes(np.random.default_rng(7))
    weights = np.arange(N_ROWS) / 4
    tree = fitted(TreeClassifier(criterion=spying, max_depth=1, random_state=0), X, y, weights)
    assert {line[:3] for line in seen} == {(np.dtype(np.int64), True, np.dtype(np.float64))}
    assert set.union(*(line[3] for line in seen)) == {0, 1, 2}
    assert tree.tree_.weighted_n_node_samples[0] == weights.sum()


# ---- leaves ------------------------------------------------------------------------------------


def test_a_leaf_of_ones_own():
    rng = np.random.default_rng(8)
    X, y = numbers(rng, n_targets=2)
    model = ForestRegressor(2, leaf=own_median, random_state=0, max_depth=3)
    fitted(model, X, y)
    bags, ends = model.grown.bags(), model.apply(X)
    for t in range(2):
        for leaf in np.unique(ends[bags[t] > 0, t]):
            rows = (ends[:, t] == leaf) & (bags[t] > 0)
            node = model.forest_.first_node[t] + leaf
            weights = bags[t][rows].astype(float)
            expected = [own_median(y[rows, k], weights) for k in range(2)]
            np.testing.assert_array_equal(model.forest_.stats[node, 1:3], expected)
            means = weights @ y[rows] / weights.sum()
            np.testing.assert_allclose(model.forest_.means[node], means, 1e-12)


# ---- keeping it --------------------------------------------------------------------------------


def test_it_is_cloned_pickled_and_saved(tmp_path):
    X, y = numbers(np.random.default_rng(9))
    parts = {"criterion": own_variance, "leaf": own_median}
    model = fitted(TreeRegressor(max_depth=2, random_state=0, **parts), X, y)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.criterion is own_variance
    np.testing.assert_array_equal(fitted(clone(again), X, y).predict(X), model.predict(X))
    model.save(tmp_path / "tree")
    assert b"searchsorted" not in (tmp_path / "tree").read_bytes()
    read = load(tmp_path / "tree")
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    assert read.criterion == read.recipe_.criterion == f"{__name__}.own_variance"
    assert read.leaf == read.recipe_.leaf == f"{__name__}.own_median"
    np.testing.assert_array_equal(read.to_sklearn().predict(X), model.to_sklearn().predict(X))
    with pytest.raises(ValueError, match=r"^criterion must be one of .*own_variance'\.$"):
        read.fit(X, y)


def test_one_without_a_name_has_that_of_its_kind():
    X, y = numbers(np.random.default_rng(10))
    half = functools.partial(own_variance)
    model = fitted(TreeRegressor(criterion=half, max_depth=1), X, y)
    assert model.recipe_.criterion.name == "functools.partial"


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*uncompiled")
@pytest.mark.parametrize("said", [np.nan, np.inf, None, "much", np.ones(3)], ids=str)
@pytest.mark.parametrize("what", ["criterion", "leaf"])
def test_what_is_no_finite_number_is_refused(what, said):
    X, y = numbers(np.random.default_rng(11))
    model = ForestRegressor(2, **{what: lambda y, weights: said})
    with pytest.raises(ValueError, match=rf"^{what}=\S*<lambda> must return a finite number; got"):
        model.fit(X, y)
    assert not hasattr(model, "forest_")


@pytest.mark.parametrize(
    ("option", "allowed"),
    [({"learner": Band()}, r"learner must be one of 'axis', 'oblique', .*; got 'band'"),
     ({"search": "boundary"}, r"search must be one of 'exact', 'histogram', .*; got 'boundary'")],
)  # fmt: skip
def test_what_it_does_not_go_with(option, allowed):
    X, y = classes(np.random.default_rng(12))
    with pytest.raises(ValueError, match=rf"own_gini is a function, .*{allowed}\.$"):
        TreeClassifier(criterion=own_gini, **option).fit(X, y)

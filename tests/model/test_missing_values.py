"""Missing values as a user of the estimators has them."""

import pickle

import naive
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split

from forestlab import (
    DensityForest,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
)
from forestlab.core.arrays import tree_of
from forestlab.core.walk import GENERAL, SHORT, walk_for

LONG = ("fitted", "quadratic")  # all are compared with their twins uncompiled
WAYS = "learned", "branch", "both"
for_each_way = pytest.mark.parametrize("missing", WAYS)


def holed(X, share, seed=0):
    """X with a share of its values missing."""
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def small(n_rows=120, share=0.25):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    return holed(X, share), y


def test_answers_are_those_of_the_trees_own_leaves():
    """Out of bag, at a depth, tree by tree: whatever walks goes the same way."""
    X, y = small()
    forest = ForestClassifier(10, random_state=0, oob_score=True).fit(X, y)
    for depth in (1, 3, None):
        ends = forest.apply(X, depth=depth)
        each = forest.predict_trees(X, depth=depth)
        for t, tree in enumerate(forest.estimators_):
            nodes = ends[:, t]
            np.testing.assert_array_equal(each[t], tree.tree_.value[nodes, 0])
        np.testing.assert_allclose(forest.predict_proba(X, depth=depth), each.mean(axis=0))
    assert 0.5 < forest.oob_score_ < 1


def trees_of(model):
    return [tree_of(model.forest_, t) for t in range(len(model.estimators_))]


def test_rows_that_go_both_ways_are_answered_by_all_of_their_leaves():
    """As the twin's walk has it: together, tree by tree, at a depth and out of bag."""
    X, y = small()
    forest = ForestClassifier(6, random_state=0, oob_score=True, missing="both").fit(X, y)
    trees, rows = [tree[:2] for tree in trees_of(forest)], X[:40]
    for depth in (2, None):
        twins = [[naive.answer([tree], "average", "classification", x, depth) for x in rows]
                 for tree in trees]  # fmt: skip
        np.testing.assert_allclose(forest.predict_trees(rows, depth=depth), twins, atol=1e-14)
        mean = np.mean(twins, axis=0)
        np.testing.assert_allclose(forest.predict_proba(rows, depth=depth), mean, atol=1e-14)
        found = [[max(own, key=own.get) for own in (naive.ends(nodes, x, depth) for x in rows)]
                 for nodes, _ in trees]  # fmt: skip
        np.testing.assert_array_equal(forest.apply(rows, depth=depth).T, found)
    bags = [counts == 0 for counts in forest.grown.bags()]
    asked = [[tree for tree, out in zip(trees, bags, strict=True) if out[i]] for i in range(40)]
    for i, some in enumerate(asked):
        if some:
            twin = naive.answer(some, "average", "classification", X[i])
            np.testing.assert_allclose(forest.oob_decision_function_[i], twin, atol=1e-14)


def test_a_tree_s_own_answers_and_paths_are_those_of_all_leaves():
    X, y = small()
    tree = TreeClassifier(random_state=0, missing="both").fit(X, y)
    np.testing.assert_allclose(tree.tree_.predict(X), tree.predict_proba(X), atol=1e-15)
    assert tree.view(0).predict(X).tolist() == tree.predict(X).tolist()
    nodes = tree.forest_.nodes
    parent = {child: i for i, node in enumerate(nodes) for child in (node["left"], node["right"])}
    for x, path in zip(X, tree.decision_path(X).toarray(), strict=True):
        met = set()
        for i in naive.ends(nodes, x):
            while i >= 0:
                met.add(int(i))
                i = parent.get(i, -1)
        assert set(np.flatnonzero(path).tolist()) == met
        assert path.max() == 1


@pytest.mark.parametrize("missing", ["learned", "error"])
def test_where_nothing_is_missing_it_does_not_matter(missing):
    X, y = small(share=0)
    default, other = (
        TreeClassifier(random_state=0, **kw).fit(X, y) for kw in ({}, {"missing": missing})
    )
    assert default.forest_.nodes.tobytes() == other.forest_.nodes.tobytes()
    assert "missing" not in default.export_text()


def test_a_value_missing_for_the_first_time_goes_to_the_heavier_child():
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], [7, 3])
    for labels, heavier in ((y, 0), (1 - y, 1), (y[::-1], 0), (1 - y[::-1], 1)):
        tree = TreeClassifier().fit(X, labels)
        assert tree.predict([[np.nan]]) == [heavier]
        assert tree.tree_.missing_go_to_left[0] == (labels[0] == heavier)


def test_a_value_missing_for_the_first_time_goes_where_the_mean_goes():
    X, y = np.array([[1.0], [2], [3], [4], [90]]), [0, 0, 0, 0, 1]
    assert TreeClassifier().fit(X, y).predict([[np.nan]]) == [0]
    assert TreeClassifier(missing="branch").fit(X, y).predict([[np.nan]]) == [0]
    X[4] = 900  # the mean, 182, is still below the cut at 452, but not below that at 3.5
    assert TreeClassifier(missing="branch").fit(X, y).predict([[np.nan]]) == [0]
    y = [0, 0, 0, 1, 1]
    assert TreeClassifier().fit(X, y).predict([[np.nan]]) == [0]
    assert TreeClassifier(missing="branch").fit(X, y).predict([[np.nan]]) == [1]


def test_a_value_missing_for_the_first_time_goes_both_ways():
    """Of 5 rows 4 go left; what else is known is walked by the short walk."""
    X, y = np.array([[1.0], [2], [3], [4], [90]]), [0, 0, 0, 0, 1]
    tree = TreeClassifier(missing="both").fit(X, y)
    # The share is kept in single precision.
    np.testing.assert_allclose(tree.predict_proba([[np.nan]]), [[0.8, 0.2]], 1e-7)
    assert walk_for(tree.forest_, X) == SHORT
    assert walk_for(tree.forest_, np.array([[np.nan]])) == GENERAL
    default = TreeClassifier().fit(X, y)
    assert tree.predict_proba(X).tobytes() == default.predict_proba(X).tobytes()
    assert "missing" not in tree.export_text()


def test_a_tree_says_where_missing_values_go():
    X = np.array([1.0, 2, 3, np.nan])[:, None]
    assert "x0 ≤ 2.5 or missing?" in TreeClassifier().fit(X, [0, 0, 1, 0]).export_text()
    right = TreeClassifier().fit(X, [0, 0, 1, 1])
    assert "x0 ≤ 2.5?" in right.export_text()
    assert right.tree_.explain([np.nan]).startswith("x0 ≤ 2.5? missing → no")


def test_none_and_na_are_missing_too():
    X, y = small()
    frame = pd.DataFrame(X, columns=list("abcd"))
    nullable = frame.astype("Float64")
    objects = frame.astype(object).where(frame.notna(), None)
    expected = TreeClassifier(random_state=0).fit(frame, y).predict_proba(frame)
    for other in (nullable, objects):
        found = TreeClassifier(random_state=0).fit(other, y).predict_proba(other)
        np.testing.assert_array_equal(found, expected)


@for_each_way
def test_columns_and_rows_without_any_value(missing):
    X, y = small()
    X[:, 3] = np.nan
    X[5] = np.nan
    forest = ForestClassifier(20, random_state=0, missing=missing).fit(X, y)
    assert forest.feature_importances_[3] == 0
    of_nothing = forest.predict_proba(np.full((1, 4), np.nan))
    assert np.isfinite(of_nothing).all()
    np.testing.assert_allclose(of_nothing.sum(), 1)
    nothing = TreeClassifier(missing=missing).fit(np.full((4, 2), np.nan), [0, 0, 1, 1])
    assert nothing.get_n_leaves() == 1


@pytest.mark.parametrize(
    "learner", ["oblique", *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]
)
def test_rows_walk_to_the_leaf_they_grew_into(learner):
    X, y = small(80)
    fitted = TreeClassifier(learner=learner, random_state=0, max_depth=4).fit(X, y)
    ends = fitted.apply(X)
    leaves = fitted.tree_.children_left < 0
    found = np.bincount(ends, minlength=len(leaves))
    np.testing.assert_array_equal(found[leaves], fitted.tree_.n_node_samples[leaves])


@pytest.mark.long  # kernels of their own
@pytest.mark.parametrize("missing", ["branch", "both"])
def test_bands_take_them(missing):
    """Values in the middle are of one class, and those that are missing of the other."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (200, 1))
    y = (abs(X[:, 0]) < 1).astype(int)
    X[rng.random(200) < 0.2 * (1 - y)] = np.nan
    tree = TreeClassifier(learner="band", missing=missing, max_depth=1).fit(X, y)
    low, high = tree.forest_.nodes["cut_low"][0], tree.forest_.nodes["cut_high"][0]
    assert -1.1 < low < -0.9 < 0.9 < high < 1.1
    known = ~np.isnan(X[:, 0])
    assert tree.score(X[known], y[known]) > 0.9
    # The mean lies inside, where a third of the known rows are.
    inside = tree.predict_proba([[0.0]])[0, 1]
    of_none = tree.predict_proba([[np.nan]])[0, 1]
    assert of_none == inside if missing == "branch" else 0.2 < of_none < 0.5


def test_what_cannot_be_said_of_rows_that_go_both_ways_is_refused():
    X, y = small()
    forest = ForestClassifier(2, random_state=0, missing="both").fit(X, y)
    with pytest.raises(ValueError, match=r"have one threshold .* of another kind"):
        forest.to_sklearn()
    with pytest.raises(ValueError, match=r"missing must be one of 'error', 'learned', 'branch'; g"):
        TreeClassifier(missing="both", monotonic_cst=[1, 0, 0, 0]).fit(X, y > 0)


def test_they_are_refused_where_they_are_an_error():
    X, y = small()
    known = TreeClassifier(missing="error").fit(np.nan_to_num(X), y)
    one = np.nan_to_num(X)
    one[3, 2] = np.nan
    for lacking, where in ((one, "column 2, row 3:"), (X, r"column \d, row \d+ and \d+ more:")):
        text = f"^missing='error' refuses missing values; X holds NaN in {where} choose missing="
        for asked in (known.predict, lambda X: TreeClassifier(missing="error").fit(X, y)):
            with pytest.raises(ValueError, match=text):
                asked(lacking)
    density = DensityForest(2).fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match=r"^missing values are not taken; X holds NaN in column 2"):
        density.score_samples(one)
    with pytest.raises(ValueError, match="infinity"):
        TreeClassifier().fit(np.where(np.isnan(X), np.inf, X), y)
    with pytest.raises(ValueError, match="'error', 'learned', 'branch', 'both'; got 'drop'"):
        TreeClassifier(missing="drop").fit(X, y)
    assert clone(known).missing == "error"


@for_each_way
def test_a_saved_forest_sends_them_the_same_way(missing, tmp_path):
    X, y = small()
    forest = ForestClassifier(5, random_state=0, missing=missing).fit(X, y)
    forest.save(tmp_path / "a.forest")
    for again in (load(tmp_path / "a.forest"), pickle.loads(pickle.dumps(forest))):
        assert again.missing == again.recipe_.missing == missing
        np.testing.assert_array_equal(again.predict_proba(X), forest.predict_proba(X))


@pytest.mark.parametrize("missing", ["learned", "branch"])
def test_scikit_learn_s_own_forest_of_the_trees_answers_the_same(missing):
    X, y = small()
    X = X.astype(np.float32).astype(np.float64)
    forest = ForestClassifier(5, random_state=0, missing=missing).fit(X, y)
    theirs = forest.to_sklearn()
    np.testing.assert_allclose(theirs.predict_proba(X), forest.predict_proba(X), atol=1e-15)


@for_each_way
def test_a_depth_is_a_refit_and_first_trees_are_the_smaller_forest_on_any_threads(missing):
    X, y = small()
    how = {"random_state": 0, "missing": missing}
    forest = ForestClassifier(8, n_jobs=2, **how).fit(X, y)
    for depth in (1, 4):
        refit = ForestClassifier(8, max_depth=depth, **how).fit(X, y)
        found = forest.predict_proba(X, depth=depth)
        assert found.tobytes() == refit.predict_proba(X).tobytes()
    few = ForestClassifier(3, **how).fit(X, y)
    n = few.forest_.first_node[-1]
    assert forest.forest_.nodes[:n].tobytes() == few.forest_.nodes.tobytes()


@pytest.mark.long
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_forests_are_as_good_as_scikit_learn_s(task):
    """The mean difference over 20 splits, a third of the values missing, half of them where the
    first column is large, is within 3 of its standard errors or a hundredth of the score."""
    if task == "classification":
        X, y = load_digits(return_X_y=True)
        ours, theirs = ForestClassifier, RandomForestClassifier
    else:
        X, y = make_friedman1(1500, random_state=0, noise=1.0)
        ours, theirs = ForestRegressor, RandomForestRegressor
    X = holed(X, np.where(X[:, :1] > np.median(X[:, :1]), 0.45, 0.2))
    apart = []
    for seed in range(20):
        parts = train_test_split(X, y, random_state=seed)
        scores = [
            cls(50, random_state=seed, n_jobs=2).fit(parts[0], parts[2]).score(parts[1], parts[3])
            for cls in (ours, theirs)
        ]
        apart.append(scores[0] - scores[1])
    error = np.std(apart, ddof=1) / np.sqrt(len(apart))
    assert abs(np.mean(apart)) < max(3 * error, 0.01)


def test_a_regression_tree_is_that_of_scikit_learn():
    """In one column values are missing, more of them where y is large; numbers have no ties."""
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3)).astype(np.float32).astype(np.float64)
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=200)
    X[rng.random(200) < np.where(y > 0, 0.5, 0.2), 0] = np.nan
    ours = TreeRegressor(max_depth=2).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=2).fit(X, y)
    np.testing.assert_array_equal(ours.tree_.feature, theirs.tree_.feature)
    np.testing.assert_array_equal(ours.tree_.n_node_samples, theirs.tree_.n_node_samples)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)

"""Missing values as a user of the estimators has them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor, load

LONG = ("fitted", "quadratic")  # all are compared with their twins uncompiled


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


def test_columns_and_rows_without_any_value():
    X, y = small()
    X[:, 3] = np.nan
    X[5] = np.nan
    forest = ForestClassifier(20, random_state=0).fit(X, y)
    assert forest.feature_importances_[3] == 0
    assert np.isfinite(forest.predict_proba(np.full((1, 4), np.nan))).all()
    nothing = TreeClassifier().fit(np.full((4, 2), np.nan), [0, 0, 1, 1])
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


def test_bands_refuse_them_in_one_sentence():
    X, y = small()
    with pytest.raises(ValueError, match=r"missing \(NaN\), so learner must be one of 'axis', 'ob"):
        TreeClassifier(learner="band").fit(X, y)


def test_they_are_refused_where_they_are_an_error():
    X, y = small()
    with pytest.raises(ValueError, match="contains NaN"):
        TreeClassifier(missing="error").fit(X, y)
    known = TreeClassifier(missing="error").fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match="contains NaN"):
        known.predict(X)
    with pytest.raises(ValueError, match="infinity"):
        TreeClassifier().fit(np.where(np.isnan(X), np.inf, X), y)
    with pytest.raises(ValueError, match="missing must be one of 'error', 'learned'; got 'drop'"):
        TreeClassifier(missing="drop").fit(X, y)
    assert clone(known).missing == "error"


def test_a_saved_forest_sends_them_the_same_way(tmp_path):
    X, y = small()
    forest = ForestRegressor(5, random_state=0).fit(X, y)
    forest.save(tmp_path / "a.forest")
    np.testing.assert_array_equal(load(tmp_path / "a.forest").predict(X), forest.predict(X))


def test_scikit_learn_s_own_forest_of_the_trees_answers_the_same():
    X, y = small()
    X = X.astype(np.float32).astype(np.float64)
    forest = ForestClassifier(5, random_state=0).fit(X, y)
    theirs = forest.to_sklearn()
    np.testing.assert_allclose(theirs.predict_proba(X), forest.predict_proba(X), atol=1e-15)


def test_a_depth_is_a_refit_and_first_trees_are_the_smaller_forest_on_any_threads():
    X, y = small()
    forest = ForestClassifier(8, random_state=0, n_jobs=2).fit(X, y)
    for depth in (1, 4):
        refit = ForestClassifier(8, random_state=0, max_depth=depth).fit(X, y)
        found = forest.predict_proba(X, depth=depth)
        assert found.tobytes() == refit.predict_proba(X).tobytes()
    few = ForestClassifier(3, random_state=0).fit(X, y)
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

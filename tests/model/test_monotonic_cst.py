"""monotonic_cst as an estimator's parameter: what it may be, and that all that asks keeps order."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from forestlab import (
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
)
from forestlab.core.arrays import tree_of
from forestlab.study.tasks import STUDIED

CLASSES = [ForestClassifier, ForestRegressor]
for_each_forest = pytest.mark.parametrize("cls", CLASSES)
SIGNS = [1, -1, 0, 0]
NAMES = ["up", "down", "left", "right"]


def data(cls, n_rows=200):
    """Noise that hides the order in many places; few values, so that many rows are alike."""
    rng = np.random.default_rng(2)
    X = rng.integers(-20, 20, (n_rows, 4)) / 8
    signal = X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + 2 * rng.normal(size=n_rows)
    return X, np.where(signal > 0, "yes", "no") if is_classifier(cls) else signal.round(2)


def is_classifier(cls):
    return hasattr(cls, "predict_proba")


def fitted(cls, **params):
    return cls(10, monotonic_cst=SIGNS, random_state=0, **params).fit(*data(cls))


def asked(model, X, depth=None):
    return model.predict_proba(X, depth)[:, 1] if is_classifier(model) else model.predict(X, depth)


def along(X, feature):
    """Rows that differ in one feature alone: (n_rows, n_values, n_features)."""
    values = np.sort(np.concatenate([np.linspace(-3, 3, 25), X[:25, feature]]))
    rows = np.repeat(X[:, None], len(values), axis=1)
    rows[:, :, feature] = values
    return rows


@for_each_forest
def test_predictions_keep_the_order(cls):
    model, free = fitted(cls), cls(10, random_state=0).fit(*data(cls))
    X = np.random.default_rng(7).normal(size=(40, 4))
    falls = 0
    for feature, depth in [(f, d) for f in (0, 1) for d in (*range(9), None)]:
        rows = along(X, feature)
        for one in model, model.estimators_[3]:
            found = asked(one, rows.reshape(-1, 4), depth).reshape(rows.shape[:2])
            assert (SIGNS[feature] * np.diff(found, axis=1) >= 0).all()
        found = asked(free, rows.reshape(-1, 4), depth).reshape(rows.shape[:2])
        falls += (SIGNS[feature] * np.diff(found, axis=1) < 0).sum()
    assert falls > 100  # of the same forest without constraints


@for_each_forest
def test_every_depth_is_a_refit(cls):
    model, (X, y) = fitted(cls), data(cls)
    for depth in range(1, 6):
        shallow = clone(model).set_params(max_depth=depth).fit(X, y)
        np.testing.assert_array_equal(asked(shallow, X), asked(model, X, depth))


@for_each_forest
def test_no_constraint_is_none(cls):
    X, y = data(cls)
    plain = cls(3, random_state=0).fit(X, y)
    for nothing in [0, 0, 0, 0], np.zeros(4), {}, {"up": 0}:
        model = cls(3, monotonic_cst=nothing, random_state=0)
        model.fit(pd.DataFrame(X, columns=NAMES) if isinstance(nothing, dict) else X, y)
        assert model.forest_.nodes.tobytes() == plain.forest_.nodes.tobytes()
        assert model.forest_.stats.tobytes() == plain.forest_.stats.tobytes()
        assert model.recipe_ == plain.recipe_


@for_each_forest
def test_names_say_the_same(cls):
    X, y = data(cls)
    frame = pd.DataFrame(X, columns=NAMES)
    model = cls(10, monotonic_cst={"down": -1, "up": 1}, random_state=0).fit(frame, y)
    assert model.forest_.stats.tobytes() == fitted(cls).forest_.stats.tobytes()
    assert model.recipe_.monotonic == tuple(SIGNS)
    assert model.estimators_[2].monotonic_cst == {"down": -1, "up": 1}


@for_each_forest
def test_files_and_copies_keep_it(cls, tmp_path):
    X, y = data(cls)
    for given in SIGNS, np.array(SIGNS), tuple(SIGNS), {"up": 1, "down": -1}:
        frame = pd.DataFrame(X, columns=NAMES)
        model = cls(3, monotonic_cst=given, random_state=0).fit(frame, y)
        model.save(tmp_path / "model")
        for again in load(tmp_path / "model"), pickle.loads(pickle.dumps(model)):
            assert again.recipe_ == model.recipe_
            assert again.recipe_.monotonic == tuple(SIGNS)
            np.testing.assert_array_equal(asked(again, frame), asked(model, frame))
            once_more = clone(again).fit(frame, y)
            assert once_more.forest_.stats.tobytes() == model.forest_.stats.tobytes()


@for_each_forest
def test_scikit_learns_forest_has_it(cls):
    X, y = data(cls)
    frame = pd.DataFrame(X, columns=NAMES)
    theirs = cls(3, monotonic_cst={"up": 1}, random_state=0).fit(frame, y).to_sklearn()
    assert theirs.monotonic_cst == [1, 0, 0, 0]
    model = fitted(cls)
    np.testing.assert_allclose(asked_theirs(model, X), asked(model, X), 1e-12)
    assert clone(model.to_sklearn()).fit(X, y).monotonic_cst == SIGNS
    assert cls(2).fit(X, y).to_sklearn().monotonic_cst is None


def asked_theirs(model, X):
    theirs = model.to_sklearn()
    return theirs.predict_proba(X)[:, 1] if is_classifier(model) else theirs.predict(X)


def test_uncertainty_is_about_the_answer():
    """The mean square of how far a node's rows are from what it answers, clipped or not."""
    X, y = data(ForestRegressor)
    model = fitted(ForestRegressor, bootstrap=False)
    answers, apart = STUDIED["regression"].of_nodes(model.forest_)
    tree, ends = tree_of(model.forest_, 0), model.apply(X)[:, 0]
    assert (tree.means != tree.stats[:, 1:2]).any()
    for leaf in np.unique(ends):
        squares = (y[ends == leaf] - answers[leaf, 0]) ** 2
        np.testing.assert_allclose(apart[leaf], squares.mean(), 1e-9, 1e-12)


def test_class_weights_have_the_sum_of_the_rows():
    model = fitted(ForestClassifier)
    weights = model.forest_.stats
    np.testing.assert_allclose(weights.sum(axis=1), model.forest_.nodes["weight"], 1e-8)
    assert (weights != np.round(weights)).any()  # some were clipped


@pytest.mark.long
def test_classes_that_weigh_something():
    """Balanced classes, of weights that are no whole numbers, keep the order too."""
    X, y = data(ForestClassifier)
    params = {"class_weight": "balanced", "criterion": "entropy", "search": "boundary"}
    model = TreeClassifier(monotonic_cst=SIGNS, random_state=0, **params).fit(X, y)
    rows = along(X, 0)
    found = asked(model, rows.reshape(-1, 4)).reshape(rows.shape[:2])
    assert (np.diff(found, axis=1) >= 0).all()


def test_one_class_needs_no_order():
    X, _ = data(ForestClassifier)
    model = TreeClassifier(monotonic_cst=SIGNS).fit(X, np.zeros(len(X)))
    assert model.recipe_.monotonic == ()
    assert model.tree_.node_count == 1


FEATURES = "None, a dict of names, or -1, 0 or 1 for each of 4 features"
WRONG = [
    ([1, 0, 0], rf"must be {FEATURES}; got \[1, 0, 0\]"),
    ([1, 0, 0, 2], rf"must be {FEATURES}; got \[1, 0, 0, 2\]"),
    ([1, 0, 0, 0.8], rf"must be {FEATURES}; got \[1, 0, 0, 0.8\]"),
    ([1, 0, 0, True], rf"must be {FEATURES}; got \[1, 0, 0, True\]"),
    ([[1, 0, 0, 0]], rf"must be {FEATURES}; got \[\[1, 0, 0, 0\]\]"),
    (1, rf"must be {FEATURES}; got 1"),
    ("up", rf"must be {FEATURES}; got 'up'"),
    ({"up": 3}, r"\['up'\] must be -1, 0 or 1; got 3"),
    ({"upp": 1}, r"must name features of X; got 'upp': did you mean up\?"),
]


@for_each_forest
@pytest.mark.parametrize(("given", "words"), WRONG, ids=[str(given) for given, _ in WRONG])
def test_what_it_may_be(cls, given, words):
    X, y = data(cls)
    with pytest.raises(ValueError, match=f"^monotonic_cst ?{words}"):
        cls(2, monotonic_cst=given).fit(pd.DataFrame(X, columns=NAMES), y)


def test_names_need_a_frame():
    X, y = data(ForestRegressor)
    said = r"^monotonic_cst must be -1, 0 or 1 for each feature, as X has no names; got \{'up': 1\}"
    with pytest.raises(ValueError, match=said):
        TreeRegressor(monotonic_cst={"up": 1}).fit(X, y)


NOT_TOGETHER = [
    (ForestClassifier, {"learner": "oblique"}, "so learner must be 'axis'; got 'oblique'"),
    (ForestRegressor, {"learner": "band"}, "so learner must be 'axis'; got 'band'"),
    (ForestRegressor, {"leaf": "median"}, "so leaf must be 'mean'; got 'median'"),
    (ForestClassifier, {"combine": "product"}, "of 'average', 'vote'; got 'product'"),
    (ForestRegressor, {"combine": "product"}, "of 'average'; got 'product'"),
]


@pytest.mark.parametrize(("cls", "params", "words"), NOT_TOGETHER)
def test_what_does_not_go_together(cls, params, words):
    with pytest.raises(ValueError, match=f"^monotonic_cst .*{words}\\.$"):
        fitted(cls, **params)


@for_each_forest
def test_trees_are_not_multiplied_later_either(cls):
    model = fitted(cls).set_params(combine="product")
    with pytest.raises(ValueError, match=r"^monotonic_cst needs trees that count alike"):
        model.predict(data(cls)[0])


def test_more_classes_or_targets_are_refused():
    X, y = data(ForestRegressor)
    classes = np.digitize(y, [-1, 1])
    said = r"^monotonic_cst constrains the probability of the second of two .*; got 3 classes\.$"
    with pytest.raises(ValueError, match=said):
        TreeClassifier(monotonic_cst=SIGNS).fit(X, classes)
    with pytest.raises(ValueError, match=r"^monotonic_cst constrains one target; got 2\.$"):
        TreeRegressor(monotonic_cst=SIGNS).fit(X, np.column_stack([y, y]))

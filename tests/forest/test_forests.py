"""Forests as those of scikit-learn: rows drawn by the weights of their classes, and more trees
grown to a forest that is there."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from forestlab import ForestClassifier, ForestRegressor, load
from forestlab.core.arrays import tree_of
from forestlab.forest import grow_trees, prepare
from forestlab.forest.desk import Desk

for_each_forest = pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])

# ---- many trees --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("n_trees", [1, 31, 70, 101])
def test_trees_that_threads_take_several_at_a_time_are_those_grown_one_by_one(n_trees, n_jobs):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = ForestClassifier(n_trees, max_depth=2, n_jobs=n_jobs, random_state=0, verbose=1)
    forest, recipe, seed = (f := model.fit(X, X[:, 0] > 0)).forest_, f.recipe_, f.seed_
    training = prepare(X, (X[:, :1] > 0).astype(float), recipe)
    for t in range(n_trees):
        (alone,) = grow_trees(training, recipe, seed, t, 1)
        for part, own in zip(tree_of(forest, t), alone, strict=True):
            assert part.tobytes() == own.tobytes()
    assert len(forest.first_node) == n_trees + 1


def test_trees_are_laid_where_others_lay_that_have_been_copied():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = (X[:, :1] > 0).astype(float)
    recipe = ForestClassifier(max_depth=2, random_state=0).fit(X, y[:, 0]).recipe_
    training, goes_on = prepare(X, y, recipe), np.zeros(1, np.uint8)
    desk, before = Desk(training, recipe), None
    for first in (0, 4, 8):
        (bed,) = desk.trees(3, first, 4, goes_on)
        alone = grow_trees(training, recipe, 3, first, 4)
        assert bed.nodes.tobytes() == b"".join(tree.nodes.tobytes() for tree in alone)
        if before is not None:
            assert np.shares_memory(bed.stats, before.stats)
        before = bed
        desk.spare.put(bed.home)
    (bed,) = desk.trees(3, 12, 50, goes_on)  # more than there is room for
    assert not np.shares_memory(bed.stats, before.stats)
    assert len(bed.sizes) == 50


# ---- bags by class -----------------------------------------------------------------------------

N_OF_CLASS = np.array([100, 30, 10])
N_TREES = 100
CLASS_WEIGHTS = {
    "balanced": np.full(3, 1 / 3),
    "dict": np.array([100, 60, 50]) / 210,
    "balanced, weighted rows": np.full(3, 1 / 3),
    "dict, weighted rows": np.array([100, 120, 150]) / 370,
    "weighted rows": np.array([100, 60, 30]) / 190,
    "nothing": N_OF_CLASS / 140,
    "balanced_subsample": N_OF_CLASS / 140,
}


def unbalanced(name):
    """X, y, weights of rows or None, and class_weight."""
    y = np.repeat([0, 1, 2], N_OF_CLASS)
    X = np.random.default_rng(0).normal(size=(140, 3))
    weights = np.array([1.0, 2.0, 3.0])[y] if "rows" in name else None
    by_class = {0: 1, 1: 2, 2: 5} if "dict" in name else name.split(",")[0]
    return X, y, weights, by_class if "balanced" in name or "dict" in name else None


def shares(model, y):
    """The share of each class in all bags."""
    drawn = np.concatenate(model.estimators_samples_)
    return np.bincount(y[drawn], minlength=3) / len(drawn)


@pytest.mark.parametrize("name", CLASS_WEIGHTS)
@pytest.mark.parametrize("cls", [ForestClassifier, RandomForestClassifier])
def test_bags_hold_classes_by_their_weights_as_scikit_learns_do(cls, name):
    X, y, weights, by_class = unbalanced(name)
    model = cls(N_TREES, class_weight=by_class, random_state=0).fit(X, y, weights)
    expected = CLASS_WEIGHTS[name]
    # Four standard errors of a share of so many independent draws.
    allowed = 4 * np.sqrt(expected * (1 - expected) / (140 * N_TREES))
    assert (np.abs(shares(model, y) - expected) < allowed).all()
    if name != "balanced_subsample":  # a row that was drawn counts as any other
        assert {tree.tree_.weighted_n_node_samples[0] for tree in model.estimators_} == {140}


@pytest.mark.parametrize("name", [name for name in CLASS_WEIGHTS if "subsample" not in name])
def test_without_a_bootstrap_classes_weigh_as_in_scikit_learns(name):
    X, y, weights, by_class = unbalanced(name)
    roots = [
        cls(2, class_weight=by_class, bootstrap=False).fit(X, y, weights).estimators_[0].tree_
        for cls in (ForestClassifier, RandomForestClassifier)
    ]
    # Sums of 140 numbers in another order.
    np.testing.assert_allclose(roots[0].value[0], roots[1].value[0], 1e-12)
    np.testing.assert_allclose(
        roots[0].weighted_n_node_samples[0], roots[1].weighted_n_node_samples[0], 1e-12
    )
    np.testing.assert_allclose(roots[0].value[0, 0], CLASS_WEIGHTS[name], 1e-12)


# ---- more trees --------------------------------------------------------------------------------


def data_for(cls, n_rows=120):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + rng.normal(size=n_rows)
    return X, np.digitize(y, [-1, 1]) if cls is ForestClassifier else y


def as_bytes(model):
    return [array.tobytes() for array in model.forest_]


def by_file(model, folder):
    model.save(folder / "forest")
    return load(folder / "forest")


WAYS = {
    "as it is": lambda model, folder: model,
    "pickled": lambda model, folder: pickle.loads(pickle.dumps(model)),
    "saved": by_file,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("seed", [0, None, "state"])
@for_each_forest
def test_more_trees_are_those_of_a_forest_grown_at_once(cls, seed, way, tmp_path):
    X, y = data_for(cls)
    state = np.random.RandomState(3) if seed == "state" else seed
    model = cls(30, warm_start=True, oob_score=True, random_state=state)
    for n_estimators in 30, 31, 50:
        model.set_params(n_estimators=n_estimators).fit(X, y)
        model = way(model, tmp_path)
    whole = clone(model).set_params(warm_start=False)
    whole.random_state = FixedSeed(model.seed_)
    whole.fit(X, y)
    assert as_bytes(model) == as_bytes(whole)
    assert model.oob_score_ == whole.oob_score_
    np.testing.assert_array_equal(model.oob_voters_, whole.oob_voters_)


class FixedSeed(np.random.RandomState):
    """Draws the seed it was given."""

    def __init__(self, seed):
        super().__init__(0)
        self.given = seed

    def randint(self, *_):
        return self.given


@for_each_forest
def test_the_first_trees_stay(cls):
    X, y = data_for(cls)
    model = cls(4, warm_start=True, random_state=0).fit(X, y)
    before = [tree_of(model.forest_, t) for t in range(4)]
    model.set_params(n_estimators=6, max_depth=1).fit(X, y)
    for t in range(4):
        assert tree_of(model.forest_, t).nodes.tobytes() == before[t].nodes.tobytes()
    assert [tree.get_depth() for tree in model.estimators_[4:]] == [1, 1]
    assert [view.depth > 1 for view in model.trees_[:4]] == [True] * 4


def test_progress_counts_the_trees_that_are_grown(capsys):
    X, y = data_for(ForestRegressor)
    model = ForestRegressor(4, warm_start=True, verbose=1).fit(X, y)
    assert "4/4" in capsys.readouterr().err
    model.set_params(n_estimators=7).fit(X, y)
    assert "3/3" in capsys.readouterr().err


@for_each_forest
def test_without_warm_start_all_is_grown_again(cls):
    X, y = data_for(cls)
    model = cls(4, random_state=0).fit(X, y)
    before = as_bytes(model)
    model.set_params(random_state=1).fit(X, y)
    assert len(model) == 4
    assert as_bytes(model) != before
    model.set_params(n_estimators=2).fit(X[:50, :2], y[:50])
    assert len(model) == 2


@for_each_forest
def test_fewer_trees_are_refused_and_as_many_are_nothing_to_do(cls):
    X, y = data_for(cls)
    model = cls(4, warm_start=True, random_state=0).fit(X, y)
    before = as_bytes(model)
    refusal = r"n_estimators must be at least 4, .* with warm_start=True; got 3\."
    with pytest.raises(ValueError, match=refusal):
        model.set_params(n_estimators=3).fit(X, y)
    with pytest.warns(UserWarning, match="without a larger n_estimators grows no trees"):
        model.set_params(n_estimators=4, oob_score=True).fit(X, y)
    assert as_bytes(model) == before
    assert model.oob_score_ == clone(model).set_params(warm_start=False).fit(X, y).oob_score_


@for_each_forest
def test_trees_of_other_data_are_refused(cls):
    X, y = data_for(cls)
    model = cls(4, warm_start=True, random_state=0).fit(X, y)
    before = as_bytes(model)
    model.set_params(n_estimators=6)
    others = {
        "rows": (X[1:], y[1:]),
        "weights": (X, y, np.arange(120.0)),
        "targets": (X, np.stack([y, y], 1)) if cls is ForestRegressor else (X, y > 0),
    }
    for data in others.values():
        with pytest.raises(ValueError, match="adds trees to a forest of the same data"):
            model.fit(*data)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 4 features"):
        model.fit(X[:, :2], y)
    for bag in {"max_samples": 0.5}, {"bootstrap": False}, {"bootstrap": False, "max_samples": 9}:
        with pytest.raises(ValueError, match="adds trees to a forest of the same data"):
            clone(model).set_params(**bag, n_estimators=2).fit(X, y).set_params(
                bootstrap=True, max_samples=None, n_estimators=4
            ).fit(X, y)
    assert as_bytes(model) == before
    assert len(model.fit(X, y)) == 6


@for_each_forest
def test_more_trees_by_weight(cls):
    X, y = data_for(cls)
    weights = np.arange(120.0)
    model = cls(4, warm_start=True, random_state=0).fit(X, y, weights)
    model.set_params(n_estimators=6).fit(X, y, weights)
    assert as_bytes(model) == as_bytes(cls(6, random_state=0).fit(X, y, weights))

"""prune, shrink and aggregate as parameters: what they may be, and all that asks reads them."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from forestlab import (
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    datasets,
    load,
)
from forestlab.compare.statistics import student
from forestlab.config import DatasetConfig
from forestlab.forest import by_depth, combined, shrunk
from forestlab.model.prunings import FOUND

FORESTS = [ForestClassifier, ForestRegressor]
TREES = [TreeClassifier, TreeRegressor]
for_each_forest = pytest.mark.parametrize("cls", FORESTS)
for_each = pytest.mark.parametrize("cls", [*FORESTS, *TREES])
WAYS = {"shrink": {"shrink": 7.0}, "oob": {"shrink": "oob"}, "aggregate": {"aggregate": True}}
each_way = pytest.mark.parametrize("way", WAYS)


def is_classifier(cls):
    return hasattr(cls, "predict_proba")


def data(cls, n_rows=120, noise=2.0):
    rng = np.random.default_rng(4)
    X = rng.integers(-20, 20, (n_rows, 4)) / 8
    signal = X[:, 0] - X[:, 1] + X[:, 2] * X[:, 3] + noise * rng.normal(size=n_rows)
    return X, np.where(signal > 0, "yes", "no") if is_classifier(cls) else signal.round(2)


def unfitted(cls, **params):
    sizes = {} if cls in TREES else {"n_estimators": 12}
    return cls(random_state=0, max_features=2, **sizes | params)


def fitted(cls, **params):
    return unfitted(cls, **params).fit(*data(cls))


def asked(model, X, depth=None):
    return model.predict_proba(X, depth) if is_classifier(model) else model.predict(X, depth)


def same_forest(some, other):
    pairs = zip(some.forest_, other.forest_, strict=True)
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


# ---- asking ------------------------------------------------------------------------------------


@for_each
def test_strength_is_read_when_asked(cls):
    X, _ = data(cls)
    model, plain = fitted(cls, shrink=7.0), fitted(cls)
    before = asked(plain, X)
    assert same_forest(model, plain)
    assert not np.allclose(asked(model, X), before)
    assert asked(plain.set_params(shrink=7.0), X).tobytes() == asked(model, X).tobytes()
    assert not np.allclose(asked(plain.set_params(shrink=50), X), asked(model, X))
    assert asked(plain.set_params(shrink=0), X).tobytes() == before.tobytes()
    assert asked(plain.set_params(shrink=None), X).tobytes() == before.tobytes()


@for_each_forest
def test_prunings_are_weighted_when_asked(cls):
    X, _ = data(cls)
    model, plain = fitted(cls, aggregate=True), fitted(cls)
    assert same_forest(model, plain)
    weighted = asked(model, X)
    assert not np.allclose(weighted, asked(plain, X))
    assert not np.allclose(asked(model.set_params(aggregate_step=0.1), X), weighted)
    assert asked(model.set_params(aggregate_step=1), X).tobytes() == weighted.tobytes()
    assert asked(model.set_params(aggregate=False), X).tobytes() == asked(plain, X).tobytes()
    with pytest.raises(ValueError, match="fit the model again, or set aggregate=False"):
        plain.set_params(aggregate=True).predict(X)


@for_each_forest
@each_way
def test_all_that_asks_says_the_same(cls, way):
    X, _ = data(cls)
    model = fitted(cls, n_estimators=25, oob_score=True, **WAYS[way])
    wanted = asked(model, X)
    trees = np.mean([asked(tree, X) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(trees, wanted, rtol=1e-12)
    np.testing.assert_allclose(np.mean(model.predict_trees(X), axis=0), wanted, rtol=1e-12)
    # scikit-learn sums trees in another order.
    np.testing.assert_allclose(asked_of_sklearn(model.to_sklearn(), X), wanted, rtol=1e-9)
    assert asked(model, csr_array(X)).tobytes() == wanted.tobytes()
    oob, _ = model.predict_oob(X)
    kept = model.oob_decision_function_ if is_classifier(cls) else model.oob_prediction_[:, None]
    np.testing.assert_array_equal(oob, kept)
    found = []
    by_depth(
        model.grown.forest, model.task, "average", X, 3, lambda rows, some, _: found.append(some)
    )
    for depth in range(3):
        by_study = np.concatenate([some[depth] for some in found])
        alone = asked(model, X, depth).reshape(len(X), -1)
        np.testing.assert_allclose(by_study, alone, rtol=1e-12)


def asked_of_sklearn(model, X):
    return model.predict_proba(X) if is_classifier(model) else model.predict(X)


@for_each
def test_a_shrunk_model_cut_at_a_depth_is_the_one_grown_so(cls):
    X, _ = data(cls)
    model = fitted(cls, shrink=7.0)
    for depth in (1, 2, 4):
        small = fitted(cls, shrink=7.0, max_depth=depth)
        assert asked(model, X, depth).tobytes() == asked(small, X).tobytes()


@for_each_forest
@pytest.mark.parametrize("params", [{"shrink": 7.0}, {"aggregate": True}, {"prune": "oob"}])
def test_first_trees_are_the_smaller_forest(cls, params):
    X, _ = data(cls)
    model, small = fitted(cls, **params), fitted(cls, n_estimators=5, **params)
    first = np.mean([asked(tree, X) for tree in model.estimators_[:5]], axis=0)
    np.testing.assert_allclose(first, asked(small, X), rtol=1e-12)


@for_each_forest
@pytest.mark.parametrize("combine", ["average", "product", "vote"])
def test_every_combiner_combines_what_nodes_say(cls, combine):
    if combine == "vote" and not is_classifier(cls):
        pytest.skip("numbers do not vote")
    X, _ = data(cls)
    model = fitted(cls, combine=combine, shrink=30.0)
    forest = shrunk(model.forest_, model.task, 30.0)
    wanted, _ = combined(forest, model.task, combine, X)
    assert asked(model, X).tobytes() == wanted.tobytes()
    assert not np.allclose(wanted, combined(model.forest_, model.task, combine, X)[0])


@for_each_forest
def test_to_be_asked_changes_no_model(cls):
    model = fitted(cls, aggregate=True)
    before = dict(vars(model))
    answering = before["_made"]["answering"]
    asked(model, data(cls)[0])
    assert vars(model) == before
    assert vars(model)["_made"]["answering"] is answering


@pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])
def test_shrunk_answers_keep_their_order(cls):
    X, y = data(cls, 200)
    model = unfitted(cls, monotonic_cst=[1, -1, 0, 0], shrink=15.0).fit(X, y)
    rows = np.repeat(X[:30, None], 40, axis=1)
    rows[:, :, 0] = np.linspace(-3, 3, 40)
    said = asked(model, rows.reshape(-1, 4))
    said = (said[:, 1] if said.ndim > 1 else said).reshape(30, 40)
    assert (np.diff(said, axis=1) >= -1e-12).all()
    assert (np.diff(said, axis=1) > 0).any()


# ---- what is chosen out of bag -----------------------------------------------------------------


@for_each_forest
def test_the_chosen_strength_has_the_least_error_out_of_bag(cls):
    X, y = data(cls, noise=0.7)
    mass = np.random.default_rng(1).integers(0, 3, len(y)) * 1.0
    model = unfitted(cls, n_estimators=30, shrink="oob").fit(X, y, sample_weight=mass)
    truth = np.stack([y == "no", y == "yes"], axis=1) if is_classifier(cls) else y[:, None]
    errors = {}
    for strength in (0, 0.1, 1, 10, 25, 50, 100, 500):
        answers, voters = (
            clone(model).set_params(shrink=strength).fit(X, y, sample_weight=mass).predict_oob(X)
        )
        squares = mass * ((answers - truth) ** 2).sum(axis=1)
        errors[strength] = squares[voters > 0].sum()
    assert model.shrink_ == min(errors, key=errors.get)
    assert 0 < model.shrink_ < 500
    by_number = clone(model).set_params(shrink=model.shrink_).fit(X, y, sample_weight=mass)
    assert asked(model, X).tobytes() == asked(by_number, X).tobytes()


@for_each_forest
def test_more_trees_are_pruned_as_all_at_once(cls):
    X, y = data(cls)
    params = {"prune": "oob", "aggregate": True}
    model = unfitted(cls, n_estimators=4, warm_start=True, **params).fit(X, y)
    model.set_params(n_estimators=12).fit(X, y)
    at_once = fitted(cls, **params)
    assert same_forest(model, at_once)
    assert model.n_nodes_before_.tolist() == at_once.n_nodes_before_.tolist()
    assert (model.n_nodes_before_ > model.n_nodes_).all()
    assert asked(model, X).tobytes() == asked(at_once, X).tobytes()


def test_a_refit_forgets_what_is_not_asked_for_any_more():
    model = fitted(ForestClassifier, prune="oob", shrink="oob")
    assert {"n_nodes_before_", "shrink_"} <= vars(model).keys()
    model.set_params(prune=None, shrink=None, aggregate=True).fit(*data(ForestClassifier))
    assert vars(model).keys() & set(FOUND) == {"node_losses_"}
    model.set_params(aggregate=False).fit(*data(ForestClassifier))
    assert not vars(model).keys() & set(FOUND)


def test_pruned_trees_have_fewer_nodes_and_whole_questions():
    model = fitted(ForestClassifier, prune="oob")
    assert (model.n_nodes_ < model.n_nodes_before_).all()
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert all(view.n_leaves == (view.n_nodes + 1) // 2 for view in model.trees_)


def test_trees_put_in_place_of_others_have_no_weights():
    X, _ = data(ForestClassifier)
    model = fitted(ForestClassifier, aggregate=True)
    one = model.predict_trees(X)[3]
    model.estimators_ = model.estimators_[3:4]
    with pytest.raises(ValueError, match="aggregate=True goes by out-of-bag losses"):
        model.predict(X)
    np.testing.assert_allclose(model.set_params(aggregate=False).predict_proba(X), one, rtol=1e-12)


def test_a_cut_model_has_no_losses_of_nodes_that_are_gone():
    model = fitted(ForestClassifier, aggregate=True).set_params(aggregate=False).cut(max_depth=2)
    with pytest.raises(ValueError, match="aggregate=True goes by out-of-bag losses"):
        model.set_params(aggregate=True).predict(data(ForestClassifier)[0])


# ---- keeping it --------------------------------------------------------------------------------


@for_each_forest
@pytest.mark.parametrize("params", [*WAYS.values(), {"prune": "oob"}])
def test_models_are_read_back(cls, params, tmp_path):
    X, _ = data(cls)
    model = fitted(cls, **params)
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert asked(other, X).tobytes() == asked(model, X).tobytes()
        for name in FOUND:
            assert np.array_equal(getattr(other, name, None), getattr(model, name, None)), name
            assert type(getattr(other, name, None)) is type(getattr(model, name, None))


DAMAGE = {
    "node_losses_": (np.zeros(3), np.full(1, np.nan)),
    "n_nodes_before_": (np.zeros(12, np.int64), np.full(12, 1e6)),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_what_does_not_fit_trees_is_refused(name, tmp_path):
    model = fitted(ForestClassifier, aggregate=True, prune="oob")
    right = getattr(model, name)
    for wrong in (*DAMAGE[name], -right, right.astype(np.float32)):
        setattr(model, name, wrong)
        model.save(tmp_path / "model")
        with pytest.raises(ValueError, match=f"damaged: its {name} do not fit its trees"):
            load(tmp_path / "model")


@pytest.mark.parametrize("wrong", [-1.0, float("inf"), 3])
def test_a_strength_that_is_none_is_refused(wrong, tmp_path):
    model = fitted(ForestClassifier, shrink="oob")
    model.shrink_ = wrong
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="damaged: its shrink_ is"):
        load(tmp_path / "model")


# ---- mistakes ----------------------------------------------------------------------------------

MISTAKES = {
    "prune must be one of 'oob' or None; got 'cv'": {"prune": "cv"},
    "shrink must be a number of at least 0; got -1": {"shrink": -1},
    "shrink must be one of 'oob', a number of at least 0 or None; got 'cv'": {"shrink": "cv"},
    "aggregate must be True or False; got 1": {"aggregate": 1},
    "aggregate_step must be a number of at least 0; got -0.5": {"aggregate_step": -0.5},
    "shrink must be None then; got 3": {"aggregate": True, "shrink": 3},
    "prune='oob' goes by rows that trees leave out": {"prune": "oob", "bootstrap": False},
    "shrink='oob' goes by rows that trees leave out": {"shrink": "oob", "bootstrap": False},
    "aggregate=True goes by rows that trees leave out": {"aggregate": True, "bootstrap": False},
    "which aggregate=True smooths": {"aggregate": True, "monotonic_cst": [1, 0, 0, 0]},
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_told_before_anything_grows(text):
    with pytest.raises(ValueError, match=text):
        fitted(ForestClassifier, **MISTAKES[text])


@pytest.mark.parametrize("cls", TREES)
def test_one_tree_has_no_rows_to_choose_by(cls):
    with pytest.raises(ValueError, match="it needs a forest with bootstrap=True or max_samples"):
        fitted(cls, shrink="oob")


def test_a_strength_is_chosen_by_a_fit():
    model = fitted(ForestClassifier).set_params(shrink="oob")
    with pytest.raises(ValueError, match="chosen by a fit"):
        model.predict(data(ForestClassifier)[0])


def test_rows_left_out_without_a_bootstrap_prune_too():
    model = fitted(ForestRegressor, prune="oob", bootstrap=False, max_samples=0.6)
    assert (model.n_nodes_ < model.n_nodes_before_).all()


# ---- peers -------------------------------------------------------------------------------------


@for_each
def test_shrunk_trees_are_those_of_imodels(cls):
    imodels = pytest.importorskip("imodels")
    X, _ = data(cls)
    plain, shrinks = fitted(cls), fitted(cls, shrink=12.5)
    twin = imodels.HSTreeClassifier if is_classifier(cls) else imodels.HSTreeRegressor
    theirs = twin(estimator_=plain.to_sklearn(), reg_param=12.5).estimator_
    np.testing.assert_allclose(asked_of_sklearn(theirs, X), asked(shrinks, X), rtol=1e-9)


# ---- noise -------------------------------------------------------------------------------------

SEEDS = range(20)


def noisy_waveforms(seed, n_rows=300, n_test=1500):
    """Training rows of which a fifth of the labels is wrong, and rows that took no part, with their
    true ones: others for each seed."""
    config = DatasetConfig(name="waveform", n_samples=n_rows + n_test, data_seed=seed)
    drawn = datasets.load(config)
    X, y = drawn.frame.to_numpy(np.float64), np.asarray(drawn.target)
    noisy = datasets.noisy_labels(y[:n_rows], 0.2, seed)
    return X[:n_rows], noisy, X[n_rows:], y[n_rows:]


@pytest.mark.long
def test_pruned_forests_of_noisy_labels_are_smaller_and_not_worse():
    """Half as large, and 0.2 ± 0.25 % more rows right, when this was written. That they are worse
    by less than half a percent has to be all but sure; the out-of-bag score, which rows that have
    chosen give, has to gain more than there is to gain."""
    sizes, gains, seeming = [], [], []
    for seed in SEEDS:
        X, y, X_test, y_test = noisy_waveforms(seed)
        plain, pruned = (
            ForestClassifier(100, random_state=seed, oob_score=True, prune=prune).fit(X, y)
            for prune in (None, "oob")
        )
        sizes.append(pruned.n_nodes_.sum() / pruned.n_nodes_before_.sum())
        gains.append(pruned.score(X_test, y_test) - plain.score(X_test, y_test))
        seeming.append(pruned.oob_score_ - plain.oob_score_)
    assert max(sizes) < 0.8
    assert student(np.array(gains)).low > -0.005
    assert student(np.array(seeming) - np.array(gains)).low > 0

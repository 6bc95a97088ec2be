"""What is made of trees' prunings, against recursion over one tree at a time."""

from functools import cache

import naive_prunings as naive
import numpy as np
import pytest
from small import CLOSE, FORESTS

from forestlab import ForestClassifier, ForestRegressor
from forestlab.core.arrays import AXIS, LEAF, NODE, Tree, n_trees, plant, tree_of
from forestlab.forest import Rows, losses, pruned, shrunk, weighted

N_ROWS = 60
CLASSES = {"wrong": naive.wrong, "log": naive.log_loss}


def data(task, n_targets=1, holes=0.0, kinds=False):
    """Noisy: some leaves have to go."""
    rng = np.random.default_rng(3)
    X = rng.integers(-8, 8, (N_ROWS, 3)) / 2
    signal = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 2 * rng.normal(size=N_ROWS)
    y = np.stack([signal, rng.normal(size=N_ROWS) - X[:, 1]][:n_targets], axis=1)
    if task == "classification":
        y = np.stack([np.digitize(column, [-1, 2]) for column in y.T], axis=1)
    if holes:
        X[rng.random(X.shape) < holes] = np.nan
    if kinds:
        X = X.astype(object)
        X[:, 1] = np.array(list("abcde"))[rng.integers(0, 5, N_ROWS)]
    return X, y


def weights(how):
    rng = np.random.default_rng(8)
    return {"whole": rng.integers(0, 4, N_ROWS) * 1.0, "any": rng.random(N_ROWS)}.get(how)


# name: task, of the data, of the forest, weights of rows
QUICK = {
    "classes": ("classification", {}, {}, None),
    "numbers": ("regression", {}, {}, None),
    "two numbers": ("regression", {"n_targets": 2}, {}, None),
    "weighted classes": ("classification", {}, {}, "whole"),
    "both ways": ("classification", {"holes": 0.3}, {"missing": "both"}, "whole"),
}
LONG = {
    "two of classes": ("classification", {"n_targets": 2}, {}, None),
    "numbers both ways": ("regression", {"holes": 0.3}, {"missing": "both"}, "whole"),
    "categories": ("classification", {"kinds": True}, {}, None),
    "categories of numbers": ("regression", {"kinds": True}, {"leaf": "median"}, None),
    "parts of rows": ("regression", {}, {"bootstrap": False, "max_samples": 40}, "any"),
    "balanced": ("classification", {}, {"class_weight": "balanced_subsample"}, "any"),
    "oblique": ("classification", {}, {"learner": "oblique"}, None),
}
for_each = pytest.mark.parametrize(
    "name", [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]
)


@cache
def fitted(name, **more):
    """The forest, and its rows as trees see them."""
    task, of_data, params, how = (QUICK | LONG)[name]
    X, y = data(task, **of_data)
    options = {"min_samples_leaf": 2, "max_features": 2, "random_state": 1, "max_depth": 5}
    model = FORESTS[task](5, **options | params | more)
    mass = weights(how)
    model.fit(X, y[:, 0] if y.shape[1] == 1 else y, sample_weight=mass)
    numbers = np.asarray(model._check_X(X), np.float64)
    return model, Rows(numbers, y.astype(np.float64), mass)


def cases(model, rows):
    mass = np.ones(N_ROWS) if rows.mass is None else rows.mass
    n = n_trees(model.forest_)
    return [naive.case_of(model, t, rows.X, rows.y, mass) for t in range(n)]


def by_tree(forest, values):
    return np.split(values, forest.first_node[1:-1])


def said(forest, task):
    """What nodes answer, as the twin has it."""
    if task == "classification":
        return forest.stats / forest.nodes["weight"][:, None]
    return forest.stats[:, 1 : 1 + (forest.stats.shape[1] - 1) // 2]


# ---- losses ------------------------------------------------------------------------------------


@for_each
def test_losses_are_those_of_rows_one_by_one(name):
    model, rows = fitted(name)
    grown = model.grown
    wanted = CLASSES if model.task == "classification" else {"squared": naive.squared}
    for loss, twin in wanted.items():
        found = by_tree(grown.forest, losses(grown, rows, loss).of_nodes)
        for case, own in zip(cases(model, rows), found, strict=True):
            np.testing.assert_allclose(own, naive.losses(case, twin), **CLOSE)
    if model.task == "regression":
        found = by_tree(grown.forest, losses(grown, rows, "normal").of_nodes)
        for case, own in zip(cases(model, rows), found, strict=True):
            np.testing.assert_allclose(own, naive.normal_losses(case), **CLOSE)


@for_each
def test_weights_are_those_of_rows_that_come_by(name):
    model, rows = fitted(name)
    found = by_tree(model.forest_, losses(model.grown, rows, _loss(model)).weight)
    for case, own in zip(cases(model, rows), found, strict=True):
        twin = naive.losses(case, lambda case, i, row: 1.0)
        np.testing.assert_allclose(own, twin, **CLOSE)


def _loss(model):
    return "wrong" if model.task == "classification" else "squared"


@pytest.mark.parametrize("task", FORESTS)
def test_blocks_of_rows_and_threads_change_no_bit(task, monkeypatch):
    model, rows = fitted("classes" if task == "classification" else "numbers")
    whole = losses(model.grown, rows, _loss(model)).of_nodes
    monkeypatch.setattr("forestlab.forest.outside_loss.BLOCK_NUMBERS", 5 * 16)
    blocks = losses(model.grown, rows, _loss(model), n_jobs=2).of_nodes
    assert whole.tobytes() == blocks.tobytes()


# ---- pruning -----------------------------------------------------------------------------------


@for_each
def test_leaves_merge_as_by_recursion(name):
    model, rows = fitted(name)
    found, n_fewer = pruned(model.grown, rows), 0
    for t, case in enumerate(cases(model, rows)):
        loss = naive.wrong if model.task == "classification" else naive.squared
        leaves = naive.pruned_leaves(case, naive.losses(case, loss))
        kept = naive.kept(case, leaves)
        own = tree_of(found, t)
        assert own.stats.tobytes() == case.stats[kept].tobytes()
        assert [kept[i] for i in np.flatnonzero(own.nodes["kind"] == LEAF)] == leaves
        inner = own.nodes["kind"] != LEAF
        for field in ("kind", "feature", "cut_high", "missing", "n_rows", "weight", "impurity"):
            assert (own.nodes[field][inner] == case.nodes[field][kept][inner]).all()
        n_fewer += len(case.nodes) - len(kept)
    assert n_fewer > 0


@for_each
def test_a_fitted_forest_is_pruned(name):
    model, rows = fitted(name)
    by_fit, _ = fitted(name, prune="oob")
    wanted = pruned(model.grown, rows)
    assert by_fit.forest_.nodes.tobytes() == wanted.nodes.tobytes()
    assert by_fit.forest_.stats.tobytes() == wanted.stats.tobytes()
    assert by_fit.forest_.bits.tobytes() == wanted.bits.tobytes()
    assert by_fit.n_nodes_before_.tolist() == np.diff(model.forest_.first_node).tolist()
    assert by_fit.n_nodes_.tolist() == np.diff(wanted.first_node).tolist()


@for_each
def test_no_tree_gets_worse_out_of_bag(name):
    model, rows = fitted(name)
    after, _ = fitted(name, prune="oob")

    def of_leaves(model):
        lost = losses(model.grown, rows, _loss(model)).of_nodes
        at_leaves = np.where(model.forest_.nodes["kind"] == LEAF, lost, 0.0)
        return np.array([own.sum() for own in by_tree(model.forest_, at_leaves)])

    assert (of_leaves(after) <= of_leaves(model) * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_what_is_pruned_stays(name):
    after, rows = fitted(name, prune="oob")
    again = pruned(after.grown, rows)
    assert again.nodes.tobytes() == after.forest_.nodes.tobytes()


# ---- shrinkage ---------------------------------------------------------------------------------


@for_each
def test_shrunk_answers_are_sums_of_steps(name):
    model, rows = fitted(name)
    for strength in (0.0, 0.5, 20.0):
        found = by_tree(
            model.forest_, said(shrunk(model.forest_, model.task, strength), model.task)
        )
        for case, own in zip(cases(model, rows), found, strict=True):
            np.testing.assert_allclose(own, naive.shrunk(case, strength), **CLOSE)


@pytest.mark.parametrize("name", ["classes", "two numbers"])
def test_without_strength_answers_are_those_of_nodes_and_with_much_of_it_those_of_roots(name):
    model, _ = fitted(name)
    own = said(model.forest_, model.task)
    np.testing.assert_allclose(
        said(shrunk(model.forest_, model.task, 0.0), model.task), own, rtol=1e-12, atol=0
    )
    roots = np.repeat(own[model.forest_.first_node[:-1]], np.diff(model.forest_.first_node), axis=0)
    # A step counts by N / λ, N up to 60, and is at most some 10.
    np.testing.assert_allclose(
        said(shrunk(model.forest_, model.task, 1e12), model.task), roots, atol=1e-8
    )


def test_shares_stay_shares():
    forest = fitted("classes")[0].forest_
    for strength in (0.1, 10.0, 1e6):
        shares = said(shrunk(forest, "classification", strength), "classification")
        assert (shares >= 0).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-14)


def test_deviations_of_numbers_stay_about_means():
    forest = fitted("numbers")[0].forest_
    found = shrunk(forest, "regression", 5.0)
    assert found.means.tobytes() == np.ascontiguousarray(forest.stats[:, 1:2]).tobytes()
    assert found.stats[:, [0, 2]].tobytes() == forest.stats[:, [0, 2]].tobytes()


# ---- all prunings ------------------------------------------------------------------------------


@for_each
def test_weighted_prunings_are_all_of_them_one_by_one(name):
    model, rows = fitted(name, max_depth=3)
    lost = losses(model.grown, rows, "log" if model.task == "classification" else "normal").of_nodes
    each = model.recipe_.classes_each
    for step in (0.0, 0.3, 1.0):
        forest = weighted(model.forest_, model.task, lost, step, each)
        found = by_tree(forest, said(forest, model.task))
        for case, own, its in zip(cases(model, rows), found, by_tree(forest, lost), strict=True):
            np.testing.assert_allclose(own, naive.weighted(case, its, step), **CLOSE)


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_with_a_large_step_the_best_pruning_answers(name):
    model, rows = fitted(name, max_depth=3)
    lost = losses(model.grown, rows, "log" if model.task == "classification" else "normal").of_nodes
    forest = weighted(model.forest_, model.task, lost, 1e4)
    found = by_tree(forest, said(forest, model.task))
    for case, own, its in zip(cases(model, rows), found, by_tree(forest, lost), strict=True):
        best = min(naive.prunings(case), key=lambda pruning: its[pruning[0]].sum())[0]
        smooth = case.nodes["weight"][0] / case.nodes["n_rows"][0]
        for i in best:
            np.testing.assert_allclose(own[i], naive.flat(naive.answer(case, i, smooth)), atol=1e-9)


def test_losses_without_end_do_no_harm():
    """Losses of a million rows: weights are logarithms."""
    forest = fitted("classes")[0].forest_
    lost = np.linspace(2e6, 1e6, len(forest.nodes))
    shares = said(weighted(forest, "classification", lost, 1.0), "classification")
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)


def test_noise_of_leaves_without_errors_is_not_nothing():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    model = ForestRegressor(3, random_state=0, aggregate=True).fit(X, 5 * X[:, 0])
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [0.0, 5.0], atol=1e-6)
    constant = ForestRegressor(3, random_state=0, aggregate=True).fit(X, np.full(60, 2.0))
    np.testing.assert_allclose(constant.predict(X), 2.0)


def test_a_tree_whose_bag_holds_all_rows_is_merged_to_its_root():
    """No row out of bag gets worse."""
    X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    model = ForestClassifier(40, random_state=0, max_samples=60, prune="oob").fit(X, y)
    bags = model.grown.bags()
    full = (bags > 0).all(axis=1)
    assert full.any()
    assert (model.n_nodes_[full] == 1).all()


# ---- peers -------------------------------------------------------------------------------------


def forest_of(wild):
    """A tree of wildwood as a forest, with its losses out of bag."""
    table = wild.get_nodes()
    arrays = wild._tree_classifier if wild.is_classifier else wild._tree_regressor
    y_pred = arrays.y_pred[: len(table)].astype(np.float64)
    nodes = np.zeros(len(table), NODE)
    is_leaf = table["is_leaf"].to_numpy(bool)
    nodes["kind"] = np.where(is_leaf, LEAF, AXIS)
    for side in ("left", "right"):
        nodes[side] = np.where(is_leaf, -1, table[f"{side}_child"].to_numpy(np.int64))
    nodes["weight"] = table["w_samples_train"]
    nodes["n_rows"][0] = nodes["weight"][0]  # a row counts 1
    if y_pred.ndim > 1:  # it adds half a row to each of two classes
        stats = y_pred * (nodes["weight"] + 1.0)[:, None] - 0.5
    else:
        stats = np.stack([nodes["weight"], y_pred, np.zeros(len(nodes))], axis=1)
    tree = Tree(nodes, stats, np.zeros(0), np.zeros(0, np.uint64))
    return plant([tree]), table["loss_valid"].to_numpy(np.float64)


@pytest.mark.long
@pytest.mark.parametrize("task", FORESTS)
def test_prunings_are_weighted_as_by_wildwood(task):
    """Its numbers are of 32 bits: losses of 60 rows are off by some 1e-6, and so are weights."""
    wildwood = pytest.importorskip("wildwood")
    X, y = data(task)
    has_classes = task == "classification"
    theirs = wildwood.ForestClassifier if has_classes else wildwood.ForestRegressor
    y = (y[:, 0] > 0).astype(np.float64) if has_classes else y[:, 0]
    model = theirs(n_estimators=4, random_state=0, n_jobs=1).fit(X, y)
    answers = 0.0
    for wild, ends in zip(model.trees, model.apply(X), strict=True):
        forest, lost = forest_of(wild)
        answers = answers + said(weighted(forest, task, lost, model.step), task)[ends]
    found = model.predict_proba(X) if has_classes else model.predict(X)[:, None]
    np.testing.assert_allclose(answers / 4, found, rtol=1e-4, atol=1e-5)

"""Every metric at every depth and number of trees, from one walk."""

import os
import subprocess
import sys
from pathlib import Path

import naive
import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score
from small import CLOSE, FORESTS, PAIRS, as_bytes, data_for, forest_for, trees_of

from forestlab import TreeClassifier, TreeRegressor
from forestlab.core.arrays import AXIS, LEAF, NODE, Tree, plant, tree_of
from forestlab.core.search import SEARCHES
from forestlab.forest import (
    BLOCK_NUMBERS,
    BLOCK_ROWS,
    Asked,
    bags,
    by_depth,
    combined,
    rows_outside,
)
from forestlab.study.by_trees import oob_by_trees
from forestlab.study.confusion import confusion
from forestlab.study.findings import study
from forestlab.study.metrics import METRICS
from forestlab.study.surface import deepest, grid_of_sizes, rows_together, surface
from forestlab.study.voters import error_by_voters
from forestlab.tree.handmade import build_tree

pytestmark = pytest.mark.filterwarnings("error")


def walked(model, X, y, n_depths=None, sizes=None, n_jobs=1, oob=False):
    """(surface of all trees, surface out of bag or None)."""
    n_depths = n_depths or max(view.depth for view in model.trees_) + 1
    outside = None
    if oob:
        outside = rows_outside(*bags_of(model))
    truth = model.grown.codes(y)
    asked = Asked(model.forest_, model.task, model.combine, n_depths)
    return surface(asked, X, truth, sizes, n_jobs, outside)


def bags_of(model):
    return model.recipe_, model.n_rows_, model.chances_, model.seed_, len(model)


def same(one, other):
    return as_bytes(*one) == as_bytes(*other)


# ---- the oracle --------------------------------------------------------------------------------


@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_every_cell_is_what_the_naive_forest_says(combiner, task):
    X, y = data_for(task, 60)
    model = forest_for(task, 5, combine=combiner).fit(X, y)
    truth, counts = model.grown.codes(y), bags(*bags_of(model))
    everyone, oob = walked(model, X, y, n_depths=4, sizes=[1, 3, 5], oob=True)
    for found, held in ((everyone, None), (oob, counts)):
        assert set(found.values) == {name for name, row in METRICS.items() if row.task == task}
        for metric, values in found.values.items():
            for s, size in enumerate(found.sizes):
                for depth in range(4):
                    trees = trees_of(model)[:size]
                    expected = naive.surface_cell(
                        trees, held, combiner, task, X, truth, depth, metric
                    )
                    np.testing.assert_allclose(values[s, depth], expected, **CLOSE)


@pytest.mark.parametrize("task", FORESTS)
def test_voters_and_answers_are_those_of_predict_oob(task):
    X, y = data_for(task, BLOCK_ROWS + 20)  # more than one block
    model = forest_for(task, 6).fit(X, y)
    everyone, oob = walked(model, X, y, oob=True)
    answers, voters = model.predict_oob(X)
    assert same((oob.answers, oob.voters), (answers, voters))
    assert (voters == 0).any()  # with six trees some rows are in every bag
    assert np.isnan(oob.answers[voters == 0]).all()
    assert (everyone.voters == 6).all()
    counts = bags(*bags_of(model))
    expected = [(counts[:size] == 0).sum(axis=0).mean() for size in oob.sizes]
    assert oob.mean_voters.tolist() == expected


# ---- refits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_a_cell_has_the_bits_of_a_refit(combiner, task, search):
    X, y = data_for(task, BLOCK_ROWS + 40)
    test, truth = data_for(task, 90)
    options = {"combine": combiner, "search": search, "random_state": 4}
    model = FORESTS[task](12, **options).fit(X, y)
    everyone, oob = walked(model, X, y, oob=True)
    unseen, _ = walked(model, test, truth)
    for s, size in enumerate(everyone.sizes):
        for depth in (1, 3, 6):
            refit = FORESTS[task](int(size), max_depth=depth, **options).fit(X, y)
            again, again_oob = walked(refit, X, y, oob=True)
            on_test, _ = walked(refit, test, truth)
            for mine, its in ((everyone, again), (oob, again_oob), (unseen, on_test)):
                for metric, values in mine.values.items():
                    assert same([values[s, depth]], [its.values[metric][-1, -1]]), metric


@pytest.mark.parametrize("task", FORESTS)
def test_the_last_cell_is_the_forest_as_it_is(task):
    X, y = data_for(task, BLOCK_ROWS + 50)
    model = forest_for(task).fit(X, y)
    found, _ = walked(model, X, y)
    plain = deepest(model.grown, X, model.grown.codes(y))
    assert same([plain.answers, plain.truth], [found.answers, found.truth])
    assert same([plain.sizes, plain.voters], [found.sizes[-1:], found.voters])
    assert same([plain.mean_voters], [found.mean_voters[-1:]])
    for metric, values in plain.values.items():
        assert values.shape == (1, 1)
        assert same([values[0, 0]], [found.values[metric][-1, -1]]), metric


def test_many_classes_are_studied_in_smaller_blocks():
    """With sums over the same blocks: to the bit those of the forest as it is."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)).round(2), rng.integers(0, 150, 600)
    model = forest_for("classification", 3, min_samples_leaf=20).fit(X, y)
    size = rows_together(len(model.classes_))
    assert 1 < size < BLOCK_ROWS / 2
    one, two = (walked(model, X, y, sizes=[3], n_jobs=n_jobs)[0] for n_jobs in (1, 2))
    plain = deepest(model.grown, X, model.grown.codes(y))
    for metric, values in plain.values.items():
        assert same([values], [one.values[metric][:, -1:]]), metric
        assert same([values], [two.values[metric][:, -1:]]), metric


@pytest.mark.parametrize("n_answered", [1, 7, 8, 9, 100, 3000, 10**7])
def test_a_block_holds_as_many_rows_as_fit(n_answered):
    rows = rows_together(n_answered)
    assert type(rows) is int
    assert 1 <= rows <= BLOCK_ROWS
    assert rows == 1 or 64 * n_answered * rows <= BLOCK_NUMBERS
    assert rows == BLOCK_ROWS or 64 * n_answered * (rows + 1) > BLOCK_NUMBERS


def test_targets_far_from_0_are_explained_as_well():
    """Their squares have no digits left for what varies."""
    X, y = data_for("regression")
    y = y + 1e8
    model = forest_for("regression").fit(X, y)
    found, oob = walked(model, X, y, oob=True)
    plain = deepest(model.grown, X, y)
    expected = r2_score(y, model.predict(X))
    assert plain.values["r2"][0, 0] == pytest.approx(expected, rel=1e-9)
    assert found.values["r2"][-1, -1] == pytest.approx(expected, rel=1e-9)
    voted = oob.voters > 0
    expected = r2_score(y[voted], oob.answers[voted, 0])
    assert oob.values["r2"][-1, -1] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("task", FORESTS)
def test_threads_do_not_change_a_bit(task):
    X, y = data_for(task, 3 * BLOCK_ROWS + 1)
    model = forest_for(task, 8).fit(X, y)
    one, two = (walked(model, X, y, n_jobs=n, oob=True) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert same([a.answers, a.voters], [b.answers, b.voters])
        assert same(a.values.values(), b.values.values())


@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_rows_that_go_both_ways_have_the_sums_of_a_prediction(combiner, task):
    """A missing value sends shares of a row into both branches: the general walk."""
    classes = ["no", "yes"] if task == "classification" else None
    weights = [{"no": 3, "yes": 1}, {"no": 1, "yes": 5}, {"yes": 4}]
    leaves = weights if classes else (1.0, 4.0, 9.0)
    inner = {"feature": "b", "cut": 1.0, "missing": "both", "missing_share": 0.7}
    inner |= {"left": {"value": leaves[1]}, "right": {"value": leaves[2]}}
    outer = {"feature": "a", "cut": 0.0, "missing": "both", "missing_share": 0.3}
    outer |= {"left": {"value": leaves[0]}, "right": inner}
    tree = build_tree(outer, ["a", "b"], classes).tree
    forest = plant([tree, build_tree(inner, ["a", "b"], classes).tree])
    X = np.array([[a, b] for a in (-1.0, 1.0, np.nan) for b in (0.0, 2.0, np.nan)])
    got = np.empty((3, len(X), 2 if classes else 1))

    def keep(rows, answers, voters):
        got[:, rows] = answers

    outside = np.packbits([[1, 1, 1, 0, 0, 0, 1, 0, 1], 9 * [1]], axis=1, bitorder="little")
    for bits in (None, outside):
        by_depth(forest, task, combiner, X, 3, keep, outside=bits)
        plain = [combined(forest, task, combiner, X, d, outside=bits)[0] for d in range(3)]
        assert same(got, plain)
    truth = np.arange(len(X)) % 2 if classes else np.arange(len(X), dtype=float)
    found, oob = surface(Asked(forest, task, combiner, 3), X, truth, [1, 2], outside=outside)
    assert same([found.answers, oob.answers], [combined(forest, task, combiner, X)[0], got[-1]])
    check_errors(oob_by_trees(forest, task, combiner, X, truth, outside), oob)


def check_errors(errors, oob):
    """The error by trees is that of the surface's deepest level, at each number of trees."""
    assert oob.sizes.tolist() == list(range(1, len(errors) + 1))
    if oob.task == "classification":
        np.testing.assert_allclose(errors, 1.0 - oob.values["accuracy"][:, -1], **CLOSE)
    else:
        np.testing.assert_allclose(errors, oob.values["rmse"][:, -1], **CLOSE)


@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_the_error_by_trees_is_that_of_the_surface(combiner, task):
    X, y = data_for(task, BLOCK_ROWS + 20)
    model = forest_for(task, 6, combine=combiner).fit(X, y)
    _, oob = walked(model, X, y, sizes=range(1, 7), oob=True)
    asked = model.forest_, task, combiner, X, model.grown.codes(y)
    outside = rows_outside(*bags_of(model))
    one, two = (oob_by_trees(*asked, outside, n_jobs) for n_jobs in (1, 2))
    assert same([one], [two])
    check_errors(one, oob)
    outside[:2] = 0  # all rows are in the first two bags
    errors = oob_by_trees(*asked, outside)
    assert np.isnan(errors).tolist() == [True, True, False, False, False, False]
    outside[1, 0] = 1 << 5  # the second left out row 5 alone
    alone = plant([tree_of(model.forest_, 1)])
    answer = combined(alone, task, combiner, X[5:6])[0][0]
    off = answer.argmax() != asked[-1][5] if task == "classification" else answer[0] - y[5]
    errors = oob_by_trees(*asked, outside)
    assert np.isnan(errors[0])
    assert errors[1] == pytest.approx(abs(float(off)), rel=1e-11)


def small_surface():
    """Numbers of a small forest; its rows lack values, which leads all walks astray at leaves."""
    X, y = data_for("classification", 30)
    model = forest_for("classification", 3).fit(X, y)
    X = np.where(np.arange(X.size).reshape(X.shape) % 5 == 0, np.nan, X)
    asked = Asked(model.forest_, model.task, model.combine, 4)
    found, oob = surface(asked, X, model.grown.codes(y), None, 1, rows_outside(*bags_of(model)))
    answers = combined(model.forest_, model.task, model.combine, X)[0]
    numbers = [*found.values.values(), *oob.values.values(), found.answers, answers]
    return [values.tolist() for values in numbers]


def test_it_runs_uncompiled_too():
    """For a debugger, and for whoever asks what a kernel does."""
    done = subprocess.run(
        [sys.executable, "-c", "import test_surface; print(test_surface.small_surface())"],
        cwd=Path(__file__).parent,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(small_surface())


# ---- scikit-learn's own trees ------------------------------------------------------------------


def adopted(peer):
    """scikit-learn's forest in our arrays: its trees are numbered from the root, left first."""
    trees = []
    for estimator in peer.estimators_:
        its = estimator.tree_
        nodes = np.zeros(its.node_count, NODE)
        nodes["kind"] = np.where(its.children_left < 0, LEAF, AXIS)
        nodes["feature"] = its.feature
        nodes["left"], nodes["right"] = its.children_left, its.children_right
        nodes["cut_low"], nodes["cut_high"] = -np.inf, its.threshold
        nodes["weight"], nodes["impurity"] = its.weighted_n_node_samples, its.impurity
        stats = its.value[:, 0] * its.weighted_n_node_samples[:, None]
        if not is_classifier(peer):
            moments = its.weighted_n_node_samples, its.value[:, 0, 0], its.impurity * stats[:, 0]
            stats = np.stack(moments, axis=1)
        trees.append(Tree(nodes, stats, np.zeros(0), np.zeros(0, np.uint64)))
    return plant(trees, len(trees))


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_out_of_bag_answers_of_scikit_learns_own_trees(cls):
    """Its trees and bags, asked by our walk: its out-of-bag answers and score."""
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32).astype(float)  # in which its trees compare
    classes = cls is RandomForestClassifier
    y = y if classes else X[:, 0] * X[:, 1]
    peer = cls(40, oob_score=True, random_state=0).fit(X, y)
    held = [np.bincount(rows, minlength=len(X)) for rows in peer.estimators_samples_]
    outside = np.stack([np.packbits(counts == 0, bitorder="little") for counts in held])
    task, metric = ("classification", "accuracy") if classes else ("regression", "r2")
    depth = max(tree.get_depth() for tree in peer.estimators_)
    _, oob = surface(Asked(adopted(peer), task, "average", depth + 1), X, y, outside=outside)
    expected = peer.oob_decision_function_ if classes else peer.oob_prediction_[:, None]
    np.testing.assert_allclose(oob.answers, expected, **CLOSE)
    assert oob.values[metric][-1, -1] == pytest.approx(peer.oob_score_, rel=1e-11)


# ---- what else is read off ---------------------------------------------------------------------


def test_the_grid_of_sizes_is_logarithmic_and_ends_with_all():
    assert grid_of_sizes(1).tolist() == [1]
    assert grid_of_sizes(2).tolist() == [1, 2]
    assert grid_of_sizes(40).tolist() == [1, 2, 3, 5, 7, 10, 15, 20, 30, 40]
    assert grid_of_sizes(100)[-3:].tolist() == [50, 70, 100]


@pytest.mark.parametrize("task", FORESTS)
def test_error_by_voters_is_the_naive_table(task):
    X, y = data_for(task)
    model = forest_for(task, 5).fit(X, y)
    _, oob = walked(model, X, y, oob=True)
    voters, rows, error, std = error_by_voters(oob)
    expected = naive.error_by_voters(oob.voters.tolist(), oob.errors.tolist())
    assert voters.tolist() == list(expected)
    assert rows.tolist() == [n for n, _ in expected.values()]
    assert np.isnan(error[0])
    assert voters[0] == 0
    np.testing.assert_allclose(error[1:], [e for _, e in expected.values()][1:], **CLOSE)
    spread = [np.std(oob.errors[oob.voters == n]) for n in voters[1:]]
    np.testing.assert_allclose(std[1:], spread, **CLOSE)


def test_confusion_counts_pairs_of_answered_rows():
    X, y = data_for("classification")
    model = forest_for("classification", 4).fit(X, y)
    _, oob = walked(model, X, y, oob=True)
    expected = np.zeros((3, 3), int)
    for true, p, n in zip(oob.truth, oob.answers, oob.voters, strict=True):
        if n:
            expected[true, p.argmax()] += 1
    assert confusion(oob).tolist() == expected.tolist()


def test_confusion_has_a_place_for_classes_that_do_not_occur():
    X, y = data_for("classification")
    model = forest_for("classification", 4).fit(X, y)
    first = y == model.classes_[0]
    some, _ = walked(model, X[first], y[first])
    counts = confusion(some._replace(answers=np.tile([0.5, 0.3, 0.2], (first.sum(), 1))))
    assert counts.tolist() == [[first.sum(), 0, 0], [0, 0, 0], [0, 0, 0]]
    assert confusion(some._replace(voters=0 * some.voters)).tolist() == 3 * [[0, 0, 0]]


def test_by_depth_hands_over_what_predict_says():
    X, y = data_for("classification", 400)
    model = forest_for("classification", 5).fit(X, y)
    got = np.empty((6, len(X), 3))

    def keep(rows, answers, voters):
        assert (voters == 5).all()
        got[:, rows] = answers

    by_depth(model.forest_, "classification", "average", X, 6, keep, 2)
    assert same(got, [model.predict_proba(X, depth) for depth in range(6)])


@pytest.mark.parametrize("task", FORESTS)
@pytest.mark.parametrize("name", ["full", "light", "off"])
def test_single_trees_can_be_studied(task, name):
    cls = TreeClassifier if task == "classification" else TreeRegressor
    X, y = data_for(task)
    model = cls(max_depth=3, random_state=0).fit(X, y)
    found = study(model.grown, {"train": (X, y), "valid": (X[:0], y[:0]), "test": (X, y)}, 1, name)
    assert set(found.surfaces) == {"train", "test"}
    assert "by_trees" not in found.parts
    curve = found.curves[found.main]["train"]
    assert len(curve) == (1 if name == "off" else 4)
    assert ("coverage" in found.parts) == (name == "full")

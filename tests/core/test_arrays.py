"""Trees laid end to end, taken out again, and their short walks."""

import numpy as np
import pytest
from small import as_bytes, data_for, for_each_task, forest_for

from forestlab.core import arrays
from forestlab.core.arrays import (
    AXIS,
    CATEGORY,
    LEAF,
    LEFT,
    NODE,
    RIGHT,
    STEP,
    Tree,
    alone,
    n_trees,
    plant,
    tree_of,
    with_steps,
)
from forestlab.core.walk import GENERAL, SHORT, SHORT_SETS, SHORT_SOME, make_frontier, walk_for
from forestlab.tree.handmade import build_tree


def trees(*sizes, n_stats=3):
    """Trees of so many nodes, with pools of other lengths, that are told apart by their bytes."""
    made = []
    for t, size in enumerate(sizes):
        rng = np.random.default_rng(t)
        nodes = np.frombuffer(rng.bytes(size * NODE.itemsize), NODE).copy()
        pools = rng.random(t), rng.integers(0, 99, 2 * t).astype(np.uint64)
        made.append(Tree(nodes, rng.random((size, n_stats)), *pools))
    return made


@pytest.mark.parametrize("sizes", [[3], [1, 1], [2, 9, 1, 40], [30, 1, 1, 2], [5, 5, 5, 5, 6]])
@pytest.mark.parametrize("room", [1, 4, 100])
def test_planted_trees_are_found_again(sizes, room):
    """Whatever room was made for them."""
    given = trees(*sizes)
    forest = plant(iter(given), room)
    assert n_trees(forest) == len(sizes)
    for t, tree in enumerate(given):
        assert as_bytes(*tree_of(forest, t)) == as_bytes(*tree)
    assert forest.first_node.tolist() == [0, *np.cumsum(sizes)]
    assert forest.first_param.tolist() == [0, *np.cumsum(range(len(sizes)))]
    assert forest.first_bit.tolist() == [0, *2 * np.cumsum(range(len(sizes)))]
    assert {first.dtype for first in forest[4:7]} == {np.dtype(np.int64)}
    assert len(forest.nodes) == len(forest.stats) == sum(sizes)


def test_trees_are_planted_as_they_come():
    """Each is copied before the next one is made."""

    def passing():
        for tree in trees(4, 2, 7):
            yield tree
            tree.nodes[:], tree.stats[:] = np.zeros(1, NODE), 0

    assert as_bytes(*plant(passing())) == as_bytes(*plant(trees(4, 2, 7)))


def test_room_is_made_for_trees_like_the_first(monkeypatch):
    """Trees of nearly one size are then moved once at most."""
    moved = []
    empty = np.empty

    def noting(shape, dtype=float):
        if dtype == NODE and shape:
            moved.append(shape)
        return empty(shape, dtype)

    monkeypatch.setattr(np, "empty", noting)
    plant(trees(*[10, 11, 9, 10, 11, 10, 9, 12]), 8)
    assert moved == [(96,)]  # a fifth more than eight times ten
    moved.clear()
    plant(trees(10, 100, 100, 10), 4)  # then like those so far
    assert moved == [(48,), (264,)]


@for_each_task
def test_a_tree_alone_is_a_forest_of_it(task):
    X, y = data_for(task)
    forest = forest_for(task, 3).fit(X, y).forest_
    for t in range(3):
        found = alone(forest, t)
        assert as_bytes(*found) == as_bytes(*plant([tree_of(forest, t)]))
        assert [part.dtype for part in found] == [part.dtype for part in forest]
        assert np.shares_memory(found.nodes, forest.nodes)
    odd = plant(trees(2, 3, 4))
    assert len(alone(odd, 1).steps) == 0
    assert as_bytes(*alone(odd, 1)) == as_bytes(*plant([tree_of(odd, 1)]))


# ---- short walks -------------------------------------------------------------------------------


def planted(**question):
    """Two trees, of which the second one asks the question below others."""
    plain = {
        "feature": 1,
        "cut": 0.5,
        "left": 1,
        "right": {"feature": 0, "cut": 2, "left": 2, "right": 3},
    }
    below = {"left": 4, "right": 5} | question
    first = build_tree(plain, ["a", "b"]).tree
    second = build_tree({"feature": 0, "cut": 1, "left": 7, "right": below}, ["a", "b"]).tree
    return plant([first, second])


def test_the_short_walk_holds_the_cuts():
    forest = planted(feature=1, cut=-3)
    assert forest.steps.dtype == STEP
    expected = [
        (node["feature"] if node["kind"] == AXIS else -1, node["right"], node["cut_high"])
        for node in forest.nodes
    ]
    assert forest.steps.tolist() == [tuple(step) for step in expected]
    leaf = forest.nodes["kind"] == LEAF
    assert leaf.tolist() == [False, True, False, True, True, False, True, False, True, True]
    again = with_steps(forest._replace(steps=np.empty(0, STEP)))
    assert as_bytes(*again) == as_bytes(*forest)


@pytest.mark.parametrize("together", [1, 20, 100, 2**30])
@for_each_task
def test_steps_are_the_same_however_many_trees_are_written_at_once(task, together, monkeypatch):
    forest = forest_for(task, 12).fit(*data_for(task)).forest_
    each = [with_steps(alone(forest, t)).steps for t in range(n_trees(forest))]
    monkeypatch.setattr(arrays, "TOGETHER", together)
    assert as_bytes(with_steps(forest).steps) == as_bytes(np.concatenate(each))


@pytest.mark.parametrize(
    "question",
    [
        {"feature": 1, "between": [0, 1]},
        {"weights": {"a": 1, "b": 1}, "cut": 0},
    ],
    ids=str,
)
def test_one_other_question_and_there_is_no_short_walk(question):
    forest = planted(**question)
    assert len(forest.steps) == 0
    assert forest.steps.dtype == STEP


def test_the_short_walk_says_where_sets_stand():
    """Each in the pool of its own tree, of which the second here begins behind the first."""
    tree = build_tree({"feature": 1, "in": [1, 70], "left": 1, "right": 2}, ["a", "b"]).tree
    below = {"feature": 0, "in": [3], "left": 3, "right": 4}
    other = build_tree({"feature": 1, "in": [5], "left": 2, "right": below}, ["a", "b"]).tree
    forest = plant([tree, other])
    inner = forest.nodes["kind"] == CATEGORY
    assert inner.tolist() == [True, False, False, True, False, True, False, False]
    assert forest.steps["feature"].tolist() == [-3, -1, -1, -3, -1, -2, -1, -1]
    assert forest.steps["right"].tolist() == forest.nodes["right"].tolist()
    np.testing.assert_array_equal(forest.steps["cut"][inner], forest.nodes["bits"][inner])
    assert forest.first_bit[1] > 0
    assert forest.nodes["bits"][5] > 0
    known, lacking = np.zeros((3, 2)), np.full((3, 2), np.nan)
    assert [walk_for(forest, X) for X in (known, lacking)] == [SHORT_SETS, SHORT_SETS]
    both = planted(feature=1, missing="both", missing_share=0.5, **{"in": [1]})
    assert walk_for(both, known) == GENERAL  # which has a category that may be none of its own


def test_rows_without_missing_values_walk_short_where_others_would_branch():
    one_way = planted(feature=1, cut=0, missing="left")
    both = planted(feature=1, cut=0, missing="both", missing_share=0.5)
    assert both.steps.tolist() == one_way.steps.tolist() != []
    known, lacking = np.zeros((3, 2)), np.full((3, 2), np.nan)
    assert [walk_for(forest, known) for forest in (one_way, both)] == [SHORT, SHORT]
    assert [walk_for(forest, lacking) for forest in (one_way, both)] == [SHORT_SOME, GENERAL]
    assert len(make_frontier(both, SHORT).nodes) == 0
    assert len(make_frontier(both, GENERAL).nodes) == 5


def test_a_left_child_that_stands_elsewhere_has_no_short_walk():
    forest = planted(feature=1, cut=-3)
    forest.nodes["left"][7], forest.nodes["right"][7] = 4, 3
    assert (forest.nodes["missing"] == RIGHT).all()
    assert len(with_steps(forest).steps) == 0


def test_what_a_leaf_holds_of_a_question_means_nothing():
    forest = planted(feature=1, cut=-3)
    leaf = forest.nodes["kind"] == LEAF
    forest.nodes["feature"][leaf], forest.nodes["missing"][leaf] = 1, LEFT
    steps = with_steps(forest).steps
    assert (steps["feature"][leaf] == -1).all()


# ---- means beside answers ----------------------------------------------------------------------


@pytest.mark.parametrize("without", [0, 1, 2])
def test_means_are_found_again_and_of_a_tree_without_them_they_are_its_answers(without):
    """Of two targets: a weight, two answers and two sums of squares."""
    rng, given = np.random.default_rng(0), trees(2, 5, 3, n_stats=5)
    given = [tree._replace(means=rng.random((len(tree.nodes), 2))) for tree in given]
    expected = [tree.means for tree in given]
    expected[without] = given[without].stats[:, 1:3]
    given[without] = trees(2, 5, 3, n_stats=5)[without]
    forest = plant(given)
    assert forest.means.shape == (10, 2)
    for t, means in enumerate(expected):
        np.testing.assert_array_equal(tree_of(forest, t).means, means)
        np.testing.assert_array_equal(alone(forest, t).means, means)
    assert plant(trees(2, 5)).means.shape[1] == 0

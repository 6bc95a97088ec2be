"""Depths of nodes, trees cut at a depth, and the depth to cut at."""

import naive
import numpy as np
import pytest
from small import as_bytes, data_for, for_each_task, forest_for, trees_of

from forestlab.core.arrays import LEAF, OBLIQUE, tree_of
from forestlab.core.prune import Rules, best_depth, cut, depths
from forestlab.tree.handmade import build_tree


@for_each_task
def test_a_tree_cut_at_a_depth_is_the_one_grown_to_it(task):
    X, y = data_for(task)
    model = forest_for(task, 2, min_samples_leaf=1).fit(X, y)
    for t, (nodes, stats) in enumerate(trees_of(model)):
        tree, deep = tree_of(model.forest_, t), naive.depths(nodes)
        assert depths(tree).tolist() == deep.tolist()
        assert depths(tree).dtype == np.int64
        for depth in range(1, deep.max() + 2):
            refit = forest_for(task, 2, min_samples_leaf=1, max_depth=depth).fit(X, y)
            assert as_bytes(*cut(tree, Rules(depth))[:2]) == as_bytes(*trees_of(refit)[t])
        root = cut(tree, Rules(0))
        assert root.nodes["kind"].tolist() == [LEAF]
        assert as_bytes(root.stats) == as_bytes(stats[:1])
        assert as_bytes(*tree[:2]) == as_bytes(nodes, stats)  # left as it was


def test_a_cut_tree_keeps_of_its_pools_what_it_asks():
    ask = {"weights": {"a": 1, "b": 2}, "cut": 0}
    inner = {"feature": "b", "in": [1, 70], "left": 1, "right": 2}
    tree = build_tree({**ask, "left": inner, "right": 3}, ["a", "b"]).tree
    shorter = cut(tree, Rules(1))
    assert as_bytes(shorter.params, shorter.bits) == as_bytes(tree.params, [])
    assert shorter.nodes[["left", "right"]].tolist() == [(1, 2), (-1, -1), (-1, -1)]
    assert shorter.nodes["kind"].tolist() == [OBLIQUE, LEAF, LEAF]
    assert as_bytes(*cut(tree, Rules(2))) == as_bytes(*tree)


def test_a_cut_tree_keeps_the_means_of_its_nodes():
    """Where leaves answer something else."""
    inner = {"feature": "b", "cut": 1, "left": 1.0, "right": 2.0}
    tree = build_tree({"feature": "a", "cut": 0, "left": inner, "right": 3.0}, ["a", "b"]).tree
    assert cut(tree, Rules(1)).means.shape == (0, 0)
    tree = tree._replace(means=np.array([[0.5], [1.5], [2.5], [3.5], [4.5]]))
    assert cut(tree, Rules(1)).means.tolist() == [[0.5], [1.5], [4.5]]


NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "higher", "depth"),
    [
        ([0.1, 0.7, NAN, 0.7, 0.2], True, 1),  # of equal ones the least
        ([0.3, 0.7, NAN, 0.05, 0.2], False, 3),
        ([0.9, 0.2, 0.3], True, 2),  # not the bare prior
        ([0.9, 0.2], True, 1),
        ([0.9, NAN], True, 0),  # but if there is no other
        ([NAN, NAN, 0.2], True, 2),
        ([NAN], True, None),
        ([], True, None),
    ],
)
def test_the_best_depth_is_the_least_of_the_best(values, higher, depth):
    assert best_depth(np.array(values), higher) == depth

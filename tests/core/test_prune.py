"""Trees cut back by every rule, best-first ranks, the cost-complexity path, the depth to cut at."""

import naive
import naive_stopping
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small import as_bytes, data_for, for_each_task, forest_for, trees_of

from forestlab.core.arrays import LEAF, OBLIQUE, tree_of
from forestlab.core.best_first import is_leader, lead, ranks
from forestlab.core.cost_complexity import costs_of, weakest_links
from forestlab.core.prune import (
    Rules,
    best_depth,
    collapsed,
    cut,
    depths,
    origins,
)
from forestlab.tree.handmade import build_tree

few_examples = settings(max_examples=60, deadline=None, derandomize=True)


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
        assert root.gains.tolist() == [0.0]
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


def test_what_is_left_of_pools_moves_up():
    """Those of a node that asks no more stood before them."""
    first, second = ({"weights": {"a": k, "b": 2}, "cut": 0} for k in (3, 5))
    category = {"feature": "b", "in": [1, 70]}
    left = {**first, "left": {**category, "left": 1, "right": 2}, "right": 3}
    right = {**second, "left": {**category, "in": [2], "left": 4, "right": 5}, "right": 6}
    tree = build_tree({"feature": "a", "cut": 0, "left": left, "right": right}, ["a", "b"]).tree
    shorter = collapsed(tree, np.arange(len(tree.nodes)) == 1)
    alone = build_tree({"feature": "a", "cut": 0, "left": 9, "right": right}, ["a", "b"]).tree
    assert as_bytes(shorter.params, shorter.bits) == as_bytes(alone.params, alone.bits)
    for field in ("kind", "left", "right", "params", "bits", "feature"):
        assert shorter.nodes[field].tolist() == alone.nodes[field].tolist()
    assert origins(tree, shorter).tolist() == [0, 1, 6, 7, 8, 9, 10]


def test_a_cut_tree_keeps_the_means_of_its_nodes():
    """Where leaves answer something else."""
    inner = {"feature": "b", "cut": 1, "left": 1.0, "right": 2.0}
    tree = build_tree({"feature": "a", "cut": 0, "left": inner, "right": 3.0}, ["a", "b"]).tree
    assert cut(tree, Rules(1)).means.shape == (0, 0)
    tree = tree._replace(means=np.array([[0.5], [1.5], [2.5], [3.5], [4.5]]))
    assert cut(tree, Rules(1)).means.tolist() == [[0.5], [1.5], [4.5]]


# ---- best first --------------------------------------------------------------------------------


def full_tree(shape):
    """A tree of which `shape` says of each node, in preorder, whether it asks."""
    waiting = iter(shape)

    def below():
        return {"feature": "a", "cut": 0, "left": below(), "right": below()} if next(waiting) else 0

    return build_tree(below(), ["a"]).tree


@st.composite
def shapes(draw):
    """Whether each node asks, in preorder, until none waits."""
    shape, waiting = [], 1
    while waiting:
        asks = len(shape) < 40 and draw(st.booleans())
        shape.append(asks)
        waiting += 1 if asks else -1
    return shape


def gains_of(draw, tree):
    """Few different ones, so that some are equal."""
    inner = tree.nodes["kind"] != LEAF
    drawn = draw(st.lists(st.integers(0, 6), min_size=len(inner), max_size=len(inner)))
    return np.where(inner, np.array(drawn) / 4, 0.0)


@few_examples
@given(st.data())
def test_ranks_are_the_order_of_best_first_growing(data):
    tree = full_tree(data.draw(shapes()))
    gains = gains_of(data.draw, tree)
    asked = naive_stopping.best_first(tree.nodes, gains, 99)
    rank = ranks(tree.nodes, gains)
    assert [asked.index(i) if i in asked else len(asked) for i in range(len(rank))] == rank.tolist()
    for leaves in range(2, len(asked) + 3):
        first = sorted(naive_stopping.best_first(tree.nodes, gains, leaves))
        assert sorted(i for i in asked if rank[i] < leaves - 1) == first
        shorter = cut(tree._replace(gains=gains), Rules(max_leaf_nodes=leaves))
        inner = np.flatnonzero(shorter.nodes["kind"] != LEAF)
        assert origins(tree, shorter)[inner].tolist() == first
        assert (
            shorter.gains.tolist()
            == np.where(shorter.nodes["kind"] == LEAF, 0.0, gains[origins(tree, shorter)]).tolist()
        )


@few_examples
@given(st.data())
def test_what_growing_leaves_out_never_asks(data):
    """Depth-first, with the leads seen so far: the k - 1 first of best-first are among the rest."""
    tree = full_tree(data.draw(shapes()))
    gains = gains_of(data.draw, tree)
    most = data.draw(st.integers(2, 12))
    leaders, grown = np.zeros(1 + most), []

    def grow(i, least):
        if naive_stopping.children(tree.nodes, i):
            least = min(least, gains[i])
            if is_leader(leaders, least):
                lead(leaders, least)
                grown.append(i)
                for child in naive_stopping.children(tree.nodes, i):
                    grow(child, least)

    grow(0, np.inf)
    wanted = naive_stopping.best_first(tree.nodes, gains, most)
    assert set(wanted) <= set(grown)
    kept = sorted(leaders[1 : 1 + int(leaders[0])])
    least = {i: min(gains[way[: way.index(i) + 1]]) for way in naive_stopping.ways(tree.nodes)
             for i in way[:-1]}  # fmt: skip
    assert kept == sorted(least[i] for i in grown)[-len(kept) :] if kept else not grown


def test_a_limit_on_leaves_leaves_most_of_a_tree_ungrown():
    """Else it would only be cut, at the cost of growing it whole."""
    rng = np.random.default_rng(0)
    gains = np.zeros(4000)
    leaders = np.zeros(9)
    n_grown, waiting = 0, [(np.inf, 12)]
    while waiting:
        least, levels = waiting.pop()
        least = min(least, 2.0**levels * rng.random())
        if levels and is_leader(leaders, least):
            lead(leaders, least)
            waiting += [(least, levels - 1)] * 2
            n_grown += 1
    assert n_grown < 200 < len(gains)


# ---- cost and complexity -----------------------------------------------------------------------


@few_examples
@given(st.data())
def test_weakest_links_make_the_cheapest_trees(data):
    """At any α, also one of the path: the smallest tree of least cost, found by trying all."""
    tree = full_tree(data.draw(shapes()))
    n = len(tree.nodes)
    drawn = data.draw(st.lists(st.integers(1, 50), min_size=n, max_size=n))
    costs = np.array(drawn, float)
    for i in range(n - 1, -1, -1):  # a branch costs no more than its first node
        costs[i] += sum(costs[child] for child in naive_stopping.children(tree.nodes, i))
    nodes = tree.nodes.copy()
    nodes["weight"], nodes["impurity"] = 1.0, costs
    links = weakest_links(tree._replace(nodes=nodes))
    assert costs_of(tree._replace(nodes=nodes), "criterion", 1.0).tolist() == costs.tolist()
    assert (np.diff(links.steps) >= 0).all()
    steps = links.steps[1:]
    for alpha in [*steps, *(steps[1:] + steps[:-1]) / 2, *(steps[-1:] + 1)]:
        cost, asked = naive_stopping.cheapest(nodes, costs, alpha)
        assert naive_stopping.asking(nodes, links.alphas <= alpha) == asked
        after = links.costs[np.flatnonzero(links.steps <= alpha)[-1]]
        assert after + alpha * (len(asked) + 1) == pytest.approx(cost, rel=1e-12)
    assert (links.alphas[nodes["kind"] == LEAF] == -np.inf).all()


@for_each_task
def test_links_of_grown_trees_are_the_cheapest_by_either_cost(task):
    X, y = data_for(task)
    tree = tree_of(forest_for(task, 1).fit(X, y).forest_, 0)
    for cost in ("criterion", "misclassification")[: 1 + (task == "classification")]:
        costs, links = costs_of(tree, cost, tree.nodes["weight"][0]), weakest_links(tree, cost)
        for low, high in zip(links.steps[1:], links.steps[2:], strict=False):
            if high > low * (1 + 1e-9):
                alpha = (low + high) / 2
                asked = naive_stopping.cheapest(tree.nodes, costs, alpha)[1]
                left = naive_stopping.asking(tree.nodes, links.alphas <= alpha)
                assert left == asked
        shares = tree.nodes["weight"] / tree.nodes["weight"][0]
        own = 1 - tree.stats.max(axis=1) / tree.stats.sum(axis=1)
        own = own if cost == "misclassification" else tree.nodes["impurity"]
        np.testing.assert_allclose(costs, shares * own, rtol=1e-12, atol=1e-15)


# ---- which depth -------------------------------------------------------------------------------

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

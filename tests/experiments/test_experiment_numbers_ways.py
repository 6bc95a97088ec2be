"""What the experiments on maps, ways and time measure, beside slow twins."""

from itertools import combinations

import numpy as np
import pytest
from verdict_tables_003 import timings

from experiments import _multiway, bagging_time, manifold

# ---- maps --------------------------------------------------------------------------------------


def test_neighbours_vote():
    points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [100.0]])
    labels = np.array([1, 1, 1, 1, 2, 2, 2])
    # Of the first six, five vote for the other; the last has 1, 1, 1, 2, 2 as its nearest.
    assert manifold.neighbours_right(points, labels) == pytest.approx(4 / 7)


def test_forests_of_some_trees_differ_by_their_affinities(monkeypatch):
    monkeypatch.setattr(manifold, "SIZES", (1, 2, 3))
    ends = np.random.default_rng(0).integers(0, 3, (12, 6))
    found = manifold._by_trees(ends).set_index("n_trees")
    for size in (1, 2, 3):
        parts = [ends[:, start : start + size] for start in range(0, 6, size)]
        pairs = list(combinations(range(12), 2))
        shares = np.array([[np.mean(part[i] == part[j]) for i, j in pairs] for part in parts])
        squares = [(one - other) ** 2 for one, other in combinations(shares, 2)]
        assert found.loc[size, "square"] == pytest.approx(np.mean(squares))
        assert found.loc[size, "zeros"] == pytest.approx(np.mean(shares[0] == 0.0))


# ---- ways --------------------------------------------------------------------------------------


def grown(ways, n_rows=200):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 40, (n_rows, 3)) / 8
    codes = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=n_rows), [3, 9])
    return X, codes, _multiway.grow(X, codes, 3, ways)


def gini(codes):
    return 1.0 - sum(np.mean(codes == k) ** 2 for k in range(3))


def rows_of(tree, X):
    """Each node with the rows that come to it."""
    waiting = [(tree, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        yield node, rows
        edges = [-np.inf, *node.cuts, np.inf]
        for k, child in enumerate(node.children):
            value = X[rows, node.feature]
            waiting.append((child, rows[(edges[k] < value) & (value <= edges[k + 1])]))


@pytest.mark.parametrize("ways", [2, 4, 8])
def test_a_node_is_parted_at_quantiles_of_the_best_feature(ways):
    X, codes, tree = grown(ways)
    for node, rows in rows_of(tree, X):
        assert node.counts.tolist() == np.bincount(codes[rows], minlength=3).tolist()
        if not node.children:
            assert len(rows) < _multiway.LEAST or node.counts.max() == len(rows)
            continue
        assert 2 <= len(node.children) <= ways
        left = []
        for j in range(3):
            shares = np.arange(1, ways) / ways
            cuts = np.unique(np.quantile(X[rows, j], shares, method="inverted_cdf"))
            side = np.searchsorted(cuts[cuts < X[rows, j].max()], X[rows, j])
            parts = [codes[rows][side == k] for k in range(side.max() + 1)]
            left.append(sum(len(p) * gini(p) for p in parts))
        assert left[node.feature] == pytest.approx(min(left))


@pytest.mark.parametrize("ways", [2, 4, 8])
def test_the_translation_has_the_same_leaves(ways):
    X, _, tree = grown(ways)
    view = _multiway.binary(tree, 3)
    leaves = [_multiway.path(tree, x)[-1].counts for x in X]
    ends = [view.walk(x)[-1].node for x in X]
    assert [view.tree.stats[end].tolist() for end in ends] == [leaf.tolist() for leaf in leaves]
    assert view.depth == _multiway.questions_needed(tree)
    assert (ways == 2) == (view.depth == _multiway.depth_of(tree))


# ---- time --------------------------------------------------------------------------------------


def test_ways_take_turns():
    order = []
    for turn in range(2):
        bagging_time.timed(lambda: order.append("fast"), lambda: order.append("slow"), turn == 0)
    assert order == ["fast", "slow", "slow", "fast"]


def test_ratios_are_averaged_by_their_logarithms():
    table = timings()
    table.loc[table["contrast"] == "bags", ["fast", "slow"]] = [[1.0, 2.0], [2.0, 1.0]] * 6
    assert bagging_time.mean_ratio(table, "bags").mean == pytest.approx(1.0)
    assert bagging_time.mean_ratio(table, "bags", "half").mean == pytest.approx(
        1.0 / bagging_time.mean_ratio(table, "half").mean
    )


def test_without_a_second_core_nothing_is_said_of_threads():
    table = timings()
    assert len(bagging_time.judge(table)) == 5
    alone = table["contrast"].isin(["threads", bagging_time.LOOPS])
    table.loc[alone, "fast"] = table.loc[alone, "slow"]
    verdicts = bagging_time.judge(table)
    assert len(verdicts) == 4
    assert all(verdict.holds for verdict in verdicts)

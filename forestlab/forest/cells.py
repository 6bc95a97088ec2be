"""Cells: the box of feature space that a node of single cuts stands for, and the rows within it.

A row is in the cell where ``lower < x <= upper`` in each column; what no cut has bounded is
infinite. Nodes are rows of the forest's own arrays here, of all trees together.
"""

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from forestlab.core.arrays import LEAF, Forest, n_trees
from forestlab.core.tasks import variances
from forestlab.forest.threads import in_threads


def cells(forest: Forest, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper end of each node's cell, (n_nodes, n_features) each."""
    nodes = forest.nodes
    lower, upper = np.full((2, len(nodes), n_features), np.inf)
    lower *= -1.0
    begins = np.repeat(forest.first_node[:-1], np.diff(forest.first_node))
    at = forest.first_node[:-1]
    while len(at := at[nodes["kind"][at] != LEAF]):
        left, right = begins[at] + nodes["left"][at], begins[at] + nodes["right"][at]
        for child in (left, right):
            lower[child], upper[child] = lower[at], upper[at]
        feature, cut = nodes["feature"][at], nodes["cut_high"][at]
        upper[left, feature] = lower[right, feature] = cut
        at = np.concatenate([left, right])
    return lower, upper


def levels(forest: Forest, t: int, X: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Where rows are in tree t at depth 0, 1, …, until all of them have ended.

    Yields the node of each row, (n_rows,), an array that the next step changes; and which rows have
    come to it by the last step, in order: each node is come to at one depth, by all of its rows.
    """
    nodes, first = forest.nodes, forest.first_node[t]
    at, moved = np.full(len(X), first), np.arange(len(X))
    while len(moved):
        yield at, moved
        moved = moved[nodes["kind"][at[moved]] != LEAF]
        node = nodes[at[moved]]
        left = X[moved, node["feature"]] <= node["cut_high"]
        at[moved] = first + np.where(left, node["left"], node["right"])


def covariances(
    forest: Forest, X: np.ndarray, rows_of: Callable[[int], tuple], n_jobs: int = 1
) -> np.ndarray:
    """Of the columns of X among each node's rows, (n_nodes, n_features, n_features).

    The forest's targets are its features. Each node is summed by itself, in the order of its rows,
    and not from its children: so it is to the bit that of a shallower forest.

    Parameters
    ----------
    X : (n_rows, n_features) float64, the training rows
    rows_of : t → the rows that tree t was grown on, in order, and their weights
    """
    n_features = X.shape[1]
    found = np.zeros((len(forest.nodes), n_features, n_features))
    means, each = forest.stats[:, 1 : 1 + n_features], np.arange(n_features)

    def note(t: int) -> None:
        rows, weights = rows_of(t)
        block, first, end = X[rows], forest.first_node[t], forest.first_node[t + 1]
        for at, moved in levels(forest, t, block):
            here, weight = at[moved], weights[moved]
            apart = block[moved] - means[here]
            for k, m in zip(*np.tril_indices(n_features, -1), strict=True):
                products = weight * apart[:, k] * apart[:, m]
                found[first:end, k, m] += np.bincount(here - first, products, end - first)

    deque(in_threads(note, range(n_trees(forest)), n_jobs), maxlen=0)
    found /= forest.stats[:, :1, None]
    found += np.tril(found, -1).transpose(0, 2, 1)
    found[:, each, each] = variances(forest.stats)
    return found

"""Affinities of rows by the nodes that they share, averaged over trees: the manifold forests of
Criminisi, Shotton and Konukoglu (Foundations and Trends in Computer Graphics and Vision 7, 2012).

Pairs that share no node in any tree have affinity 0, and are not kept: first the pairs are found,
with the number of trees in which they share a node, then a kind of affinity weighs them.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from threadpoolctl import threadpool_limits

from forestlab.core.affinity import add_near
from forestlab.core.arrays import Forest, n_trees
from forestlab.forest.asking import places
from forestlab.forest.threads import by_blocks


class Rows(NamedTuple):
    """Rows, and where they end."""

    X: np.ndarray  # (n_rows, n_features) float64; or sparse, which nothing is measured by
    places: np.ndarray  # (n_trees, n_rows) int64: nodes, numbered through the forest


class Pairs(NamedTuple):
    """The pairs of a row with another that share a node in some tree, as compressed rows."""

    begin: np.ndarray  # (n_rows + 1,) int64: where those of a row begin
    others: np.ndarray  # (n_pairs,) int64: the other rows, ascending within a row
    n_shared: np.ndarray  # (n_pairs,) int32: trees in which they share a node


def affinity(
    forest: Forest, X, Y=None, depth=None, kind: str = "binary", epsilon=None, n_jobs: int = 1
) -> csr_array:
    """How near the rows of X are to those of Y, or to each other: a sparse (n_rows, n_others)
    matrix from 0 to 1, which `Neighbourly.affinity` describes; the same bits with any n_jobs."""
    rows = _rows(forest, X, depth, n_jobs)
    others = rows if Y is None else _rows(forest, Y, depth, n_jobs)
    pairs = find_pairs(forest, rows, others)
    if epsilon is None and kind != "binary":
        epsilon = typical_distance(rows.X)
    sums = AFFINITIES[kind](rows, others, pairs, epsilon, n_jobs)
    shape = rows.places.shape[1], others.places.shape[1]
    return csr_array((sums / n_trees(forest), pairs.others, pairs.begin), shape)


def _rows(forest: Forest, X, depth, n_jobs: int) -> Rows:
    known = X if issparse(X) else np.require(X, np.float64, ["C", "W"])
    return Rows(known, places(forest, X, depth, n_jobs))


def typical_distance(X: np.ndarray) -> float:
    """The root of the mean squared distance of two rows; 1 if all are equal."""
    return float(np.sqrt(2.0 * X.var(axis=0).sum())) or 1.0


# ---- pairs -------------------------------------------------------------------------------------


def find_pairs(forest: Forest, rows: Rows, others: Rows) -> Pairs:
    """By a product of sparse matrices, which say of each row in which nodes it ends.

    A kernel that counts in dense blocks of rows took twice to three times as long for the leaves of
    5,000 digits in 100 trees, and only at the root, which all rows share, two thirds of it.
    """
    n_nodes = len(forest.nodes)
    found = _indicators(rows, n_nodes) @ _indicators(others, n_nodes).T.tocsr()
    found.sort_indices()
    return Pairs(found.indptr.astype(np.int64), found.indices.astype(np.int64), found.data)


def _indicators(rows: Rows, n_nodes: int) -> csr_array:
    """A 1 for each row and node where it ends, (n_rows, n_nodes)."""
    n_trees, n_rows = rows.places.shape
    begin = np.arange(0, n_rows * n_trees + 1, n_trees)
    ones = np.ones(n_rows * n_trees, np.int32)
    return csr_array((ones, rows.places.T.ravel(), begin), (n_rows, n_nodes))


# ---- kinds -------------------------------------------------------------------------------------


def _binary(rows: Rows, others: Rows, pairs: Pairs, epsilon: float, n_jobs: int) -> np.ndarray:
    return pairs.n_shared.astype(np.float64)


def _gaussian(rows: Rows, others: Rows, pairs: Pairs, epsilon: float, n_jobs: int) -> np.ndarray:
    """Distances are the same in all trees, so each is taken once."""
    nowhere = np.zeros(len(rows.X), np.int64), np.zeros(len(others.X), np.int64)
    points = _scaled(rows.X, epsilon), _scaled(others.X, epsilon)
    near = np.zeros(len(pairs.others))
    _add_near(pairs, nowhere, points, near, n_jobs)
    return pairs.n_shared * near


def _mahalanobis(rows: Rows, others: Rows, pairs: Pairs, epsilon: float, n_jobs: int) -> np.ndarray:
    near = np.zeros(len(pairs.others))
    for here, there in zip(rows.places, others.places, strict=True):
        # One thread: more only wait for each other on such small matrices, and may round otherwise.
        with threadpool_limits(1, "blas"):
            points = whitened(rows.X, here, others.X, there, epsilon)
        _add_near(pairs, (here, there), points, near, n_jobs)
    return near


def whitened(X, here, Y, there, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """The rows such that distances within a node are those of Mahalanobis, by the covariance of the
    rows of X in the node plus ε² in all directions.

    By the singular values of the rows, of which a node may have fewer than there are features: a
    direction in which the rows do not vary is left at 1 / ε.
    """
    points = _scaled(X, epsilon), _scaled(Y, epsilon)
    for node in np.unique(here):
        own, other = here == node, there == node
        mean = X[own].mean(axis=0)
        deviations = (X[own] - mean) / np.sqrt(own.sum())
        _, spread, directions = np.linalg.svd(deviations, full_matrices=False)
        shrink = 1.0 / np.sqrt(spread**2 + epsilon**2) - 1.0 / epsilon
        for place, raw, is_here in zip(points, (X, Y), (own, other), strict=True):
            place[is_here] += ((raw[is_here] - mean) @ directions.T * shrink) @ directions
    return points


def _add_near(pairs: Pairs, nodes, points, near: np.ndarray, n_jobs: int) -> None:
    def add_block(block: slice) -> None:
        rows = block.start, block.stop
        add_near(rows, pairs.begin, pairs.others, nodes[0], points[0], nodes[1], points[1], near)

    by_blocks(add_block, len(pairs.begin) - 1, n_jobs)


def _scaled(X: np.ndarray, epsilon: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        points = X / epsilon
    if not np.isfinite(points).all():
        raise ValueError(
            'kind must be "binary" for X with missing values, or too large to measure by epsilon.'
        )
    return points


AFFINITIES: dict[str, Callable[[Rows, Rows, Pairs, float, int], np.ndarray]] = {
    "binary": _binary,
    "gaussian": _gaussian,
    "mahalanobis": _mahalanobis,
}

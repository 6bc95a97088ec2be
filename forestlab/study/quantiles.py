"""The whole distribution of the target where a row ends, not its mean alone (Meinshausen 2006).

A row ends in one leaf of each tree, beside training rows. A tree gives each of these its share of
the leaf's weight, and the mean over trees is the training row's weight in the distribution of the
target. If a row ends in several leaves, these count by its shares in them, as do training rows. A
quantile is the least target up to which the weights reach the level, F⁻¹(level) =
min {y : F(y) ≥ level}, so that it is always a target of training; what is reached but for rounding
is reached. Level 0 is the least target of any weight.
"""

from typing import NamedTuple

import numpy as np

from forestlab.forest import BLOCK_NUMBERS, Pieces, Reached
from forestlab.study.coverage import SLACK, Band


class LeafRows(NamedTuple):
    """The training rows that one tree knows, ordered by their leaves."""

    leaves: np.ndarray  # (k,) ascending
    ranks: np.ndarray  # (k,) of their targets among those of all training rows
    shares: np.ndarray  # (k,) of their leaf's weight


def leaf_quantiles(train_ends: Reached, weights, y, ends: Reached, levels) -> np.ndarray:
    """Quantiles of the target for m rows, (n_levels, m); NaN where no tree has a say.

    Weights are summed for blocks of rows, in some seven arrays of at most BLOCK_NUMBERS numbers, or
    of n if that is more: 110 MB. Besides, 24 bytes are kept for each tree and training row.

    Parameters
    ----------
    train_ends : where n training rows end
    weights : (n_trees, n) of training rows in trees: counts in bags, or ones
    y : (n,) targets
    ends : where the m rows to answer for end. A tree has no say where the leaf holds no weight:
        -1, for instance, keeps trees out that have a row in their bag.
    levels : (n_levels,) from 0 to 1
    """
    by_target = np.argsort(y, kind="stable")
    targets, ranks = np.asarray(y)[by_target], np.empty(len(y), np.intp)
    ranks[by_target] = np.arange(len(y))
    trees = [_members(train_ends.pieces(t), of_tree, ranks) for t, of_tree in enumerate(weights)]
    asked = [ends.pieces(t) for t in range(len(trees))]
    reach = np.maximum(np.asarray(levels, np.float64) - SLACK, SLACK)
    found = np.full((len(reach), ends.n_rows), np.nan)
    size = max(1, BLOCK_NUMBERS // len(y))
    for start in range(0, ends.n_rows, size):
        rows = slice(start, min(start + size, ends.n_rows))
        block = _weights(trees, [_within(pieces, rows) for pieces in asked], rows, len(y))
        for row, running in enumerate(np.cumsum(block, axis=1), start):
            if running[-1] > 0.0:
                found[:, row] = targets[np.searchsorted(running, reach * running[-1])]
    return found


def leaf_intervals(train_ends: Reached, weights, y, ends: Reached, levels) -> Band:
    """The middle of the distribution at each level, as two arrays (n_levels, m)."""
    levels = np.asarray(levels, np.float64)
    tails = np.concatenate([(1.0 - levels) / 2.0, (1.0 + levels) / 2.0])
    found = leaf_quantiles(train_ends, weights, y, ends, tails)
    return Band(found[: len(levels)], found[len(levels) :])


def _members(pieces: Pieces, weights: np.ndarray, ranks: np.ndarray) -> LeafRows:
    known = np.flatnonzero(weights[pieces.rows])
    known = known[np.argsort(pieces.nodes[known], kind="stable")]
    rows, nodes, shares = (part[known] for part in pieces)
    leaves, places = np.unique(nodes, return_inverse=True)
    held = shares * weights[rows]
    totals = np.bincount(places, held)
    return LeafRows(leaves[places], ranks[rows], held / totals[places])


def _within(pieces: Pieces, rows: slice) -> Pieces:
    """Those of some rows."""
    here = slice(*np.searchsorted(pieces.rows, (rows.start, rows.stop)))
    return Pieces(*(part[here] for part in pieces))


def _weights(trees: list[LeafRows], ends: list[Pieces], block: slice, n: int) -> np.ndarray:
    """Σ over trees of the shares of training rows, (n_rows in block, n) in order of the target."""
    n_rows = block.stop - block.start
    weights = np.zeros((n_rows, n))
    for tree, found in zip(trees, ends, strict=True):
        first, last = (
            np.searchsorted(tree.leaves, found.nodes, side) for side in ("left", "right")
        )
        held = last - first
        rows = np.repeat(found.rows - block.start, held)
        # first[0], first[0] + 1, …, last[0] - 1, first[1], …
        members = np.arange(len(rows)) + np.repeat(first - (np.cumsum(held) - held), held)
        shares = tree.shares[members] * np.repeat(found.shares, held)
        if len(found.rows) == n_rows:
            # A training row is once in a leaf, so no place occurs twice.
            weights[rows, tree.ranks[members]] += shares
        else:
            np.add.at(weights, (rows, tree.ranks[members]), shares)
    return weights

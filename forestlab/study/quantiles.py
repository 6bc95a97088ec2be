"""The whole distribution of the target where a row ends, not its mean alone (Meinshausen 2006).

A row ends in one leaf of each tree, beside training rows. A tree gives each of these its share of
the leaf's weight, and the mean over trees is the training row's weight in the distribution of the
target. A quantile is the least target up to which the weights reach the level, F⁻¹(level) =
min {y : F(y) ≥ level}, so that it is always a target of training; what is reached but for rounding
is reached. Level 0 is the least target of any weight.
"""

from typing import NamedTuple

import numpy as np

from forestlab.forest import BLOCK_NUMBERS
from forestlab.study.coverage import SLACK, Band


class LeafRows(NamedTuple):
    """The training rows that one tree knows, ordered by their leaves."""

    leaves: np.ndarray  # (k,) ascending
    ranks: np.ndarray  # (k,) of their targets among those of all training rows
    shares: np.ndarray  # (k,) of their leaf's weight


def leaf_quantiles(train_ends, weights, y, ends, levels) -> np.ndarray:
    """Quantiles of the target for m rows, (n_levels, m); NaN where no tree has a say.

    Weights are summed for blocks of rows, in some seven arrays of at most BLOCK_NUMBERS numbers, or
    of n if that is more: 110 MB. Besides, 24 bytes are kept for each tree and training row.

    Parameters
    ----------
    train_ends : (n_trees, n) the leaf of each tree where each training row ends
    weights : (n_trees, n) of training rows in trees: counts in bags, or ones
    y : (n,) targets
    ends : (n_trees, m) the leaves of the rows to answer for. A tree has no say where the leaf
        holds no weight: -1, for instance, keeps trees out that have a row in their bag.
    levels : (n_levels,) from 0 to 1
    """
    by_target = np.argsort(y, kind="stable")
    targets, ranks = np.asarray(y)[by_target], np.empty(len(y), np.intp)
    ranks[by_target] = np.arange(len(y))
    trees = [_members(*tree, ranks) for tree in zip(train_ends, weights, strict=True)]
    reach = np.maximum(np.asarray(levels, np.float64) - SLACK, SLACK)
    found = np.full((len(reach), ends.shape[1]), np.nan)
    size = max(1, BLOCK_NUMBERS // len(y))
    for start in range(0, ends.shape[1], size):
        block = _weights(trees, ends[:, start : start + size], len(y))
        for row, running in enumerate(np.cumsum(block, axis=1), start):
            if running[-1] > 0.0:
                found[:, row] = targets[np.searchsorted(running, reach * running[-1])]
    return found


def leaf_intervals(train_ends, weights, y, ends, levels) -> Band:
    """The middle of the distribution at each level, as two arrays (n_levels, m)."""
    levels = np.asarray(levels, np.float64)
    tails = np.concatenate([(1.0 - levels) / 2.0, (1.0 + levels) / 2.0])
    found = leaf_quantiles(train_ends, weights, y, ends, tails)
    return Band(found[: len(levels)], found[len(levels) :])


def _members(ends: np.ndarray, weights: np.ndarray, ranks: np.ndarray) -> LeafRows:
    known = np.flatnonzero(weights)
    known = known[np.argsort(ends[known], kind="stable")]
    leaves, places = np.unique(ends[known], return_inverse=True)
    totals = np.bincount(places, weights[known])
    return LeafRows(leaves[places], ranks[known], weights[known] / totals[places])


def _weights(trees: list[LeafRows], ends: np.ndarray, n: int) -> np.ndarray:
    """Σ over trees of the shares of training rows, (n_rows in block, n) in order of the target."""
    weights = np.zeros((ends.shape[1], n))
    for tree, found in zip(trees, ends, strict=True):
        first, last = (np.searchsorted(tree.leaves, found, side) for side in ("left", "right"))
        held = last - first
        rows = np.repeat(np.arange(len(held)), held)
        # first[0], first[0] + 1, …, last[0] - 1, first[1], …
        members = np.arange(len(rows)) + np.repeat(first - (np.cumsum(held) - held), held)
        # A training row is in one leaf of a tree, so no place occurs twice.
        weights[rows, tree.ranks[members]] += tree.shares[members]
    return weights

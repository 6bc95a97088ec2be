"""Counting how the trees judge the rows they left out, at every depth from one walk.

A row's *voters* are the trees that left it out. Its *rival* is the class, other than the true one,
that most of them vote for (the first of equal ones), and its *lead* is how many more of them vote
for the true class than for the rival. A *residual* is the target less a tree's mean.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.answers import level_reader, mixed_label, mixed_mean
from forestlab.core.descend import TILE, ask
from forestlab.core.jit import jitable, kernel

read_labels = level_reader(mixed_label)
read_means = level_reader(mixed_mean)


# ---- votes -------------------------------------------------------------------------------------


class Votes(NamedTuple):
    """Votes of T trees at D depths. All are int64: they add up to the same in any order.

    Leads are kept by the number of voters, 0 … T, by which they have to be divided.
    """

    n_outside: np.ndarray  # (T,) rows that the tree left out
    for_truth: np.ndarray  # (D, T) its votes for the true class
    for_rival: np.ndarray  # (D, T) its votes for the rival
    n_rows: np.ndarray  # (T + 1,) rows with so many voters
    lead: np.ndarray  # (D, T + 1) the sum of their leads
    lead_squared: np.ndarray  # (D, T + 1)


class Tile(NamedTuple):
    """Scratch for some rows, which all trees judge before the next."""

    asked: np.ndarray  # (T, rows) int64: those that each tree left out
    n_asked: np.ndarray  # (T,) int64
    labels: np.ndarray  # (T, D, rows) int32: what it votes for, for each row asked
    counts: np.ndarray  # (D, rows, n_classes) int32
    voters: np.ndarray  # (rows,) int64
    rivals: np.ndarray  # (D, rows) int32


def empty_votes(n_depths: int, n_trees: int) -> Votes:
    trees, voters = (n_depths, n_trees), (n_depths, n_trees + 1)
    shapes = n_trees, trees, trees, n_trees + 1, voters, voters
    return Votes(*(np.zeros(shape, np.int64) for shape in shapes))


@kernel("count votes")
def count_votes(forest, frontier, labels, X, truth, outside, first_row, tile_rows, votes):
    """Add the votes for the rows of X, `tile_rows` at a time.

    frontier : scratch, by `make_frontier`
    labels : (n_nodes,) int32, by `node_values`
    truth : (n_rows,) int32 classes
    outside, first_row : as in `sum_kernel`, but not empty
    """
    n_depths, n_trees = votes.for_truth.shape
    ends, active = np.empty(tile_rows, np.int64), np.empty(tile_rows, np.int64)
    tile = Tile(
        np.empty((n_trees, tile_rows), np.int64),
        np.empty(n_trees, np.int64),
        np.empty((n_trees, n_depths, tile_rows), np.int32),
        np.empty((n_depths, tile_rows, forest.stats.shape[1]), np.int32),
        np.empty(tile_rows, np.int64),
        np.empty((n_depths, tile_rows), np.int32),
    )
    for first in range(0, X.shape[0], tile_rows):
        n = min(tile_rows, X.shape[0] - first)
        tile.counts.fill(0)
        tile.voters.fill(0)
        for t in range(n_trees):
            rows, cast = tile.asked[t], tile.labels[t]
            n_asked = ask(outside, t, first_row, first, n, False, rows)
            tile.n_asked[t] = n_asked
            for k in range(n_asked):
                tile.voters[rows[k] - first] += 1
            for d in range(n_depths):
                read_labels(forest, labels, t, X, rows, n_asked, d, frontier, ends, active, cast[d])
                for k in range(n_asked):
                    tile.counts[d, rows[k] - first, cast[d, k]] += 1
        judge_rows(tile, truth, first, n, votes)
        judge_trees(tile, truth, first, votes)


@jitable
def judge_rows(tile, truth, first, n, votes):
    """Find the rivals and add up the leads."""
    n_classes = tile.counts.shape[2]
    for k in range(n):
        votes.n_rows[tile.voters[k]] += 1
    for d in range(tile.counts.shape[0]):
        for k in range(n):
            true_class, count = truth[first + k], tile.counts[d, k]
            rival, most = -1, 0  # stays so if there is no other class
            for j in range(n_classes):
                if j != true_class and (rival < 0 or count[j] > most):
                    rival, most = j, count[j]
            tile.rivals[d, k] = rival
            lead = np.int64(count[true_class]) - most
            votes.lead[d, tile.voters[k]] += lead
            votes.lead_squared[d, tile.voters[k]] += lead * lead


@jitable
def judge_trees(tile, truth, first, votes):
    """Count each tree's votes for the true classes and for the rivals."""
    n_trees, n_depths, _ = tile.labels.shape
    for t in range(n_trees):
        votes.n_outside[t] += tile.n_asked[t]
        for d in range(n_depths):
            for_truth, for_rival = np.int64(0), np.int64(0)
            for k in range(tile.n_asked[t]):
                row, label = tile.asked[t, k], tile.labels[t, d, k]
                for_truth += np.int64(label == truth[row])
                for_rival += np.int64(label == tile.rivals[d, row - first])
            votes.for_truth[d, t] += for_truth
            votes.for_rival[d, t] += for_rival


# ---- residuals ---------------------------------------------------------------------------------


class Residuals(NamedTuple):
    """Residuals of n rows in T trees at D depths."""

    n_outside: np.ndarray  # (T,) int64 rows that the tree left out
    of_trees: np.ndarray  # (D, T) float64: the sum over these of squared residuals
    voters: np.ndarray  # (n,) int64
    sums: np.ndarray  # (D, n) float64: the sum over a row's voters of residuals
    squares: np.ndarray  # (D, n) float64: of squared residuals


def empty_residuals(n_depths: int, n_trees: int, n_rows: int) -> Residuals:
    trees, rows = (n_depths, n_trees), (n_depths, n_rows)
    return Residuals(
        np.zeros(n_trees, np.int64),
        np.zeros(trees),
        np.zeros(n_rows, np.int64),
        np.zeros(rows),
        np.zeros(rows),
    )


@kernel("add up residuals")
def add_residuals(forest, frontier, means, X, truth, outside, first_row, residuals):
    """Add the residuals of the rows of X: for a row in tree order, for a tree in row order.

    frontier : scratch, by `make_frontier`
    means : (n_nodes,) float64, by `node_values`
    truth : (n_rows,) float64
    outside, first_row : as in `sum_kernel`, but not empty
    """
    n_depths, n_trees = residuals.of_trees.shape
    rows, ends = np.empty(TILE, np.int64), np.empty(TILE, np.int64)
    active, found = np.empty(TILE, np.int64), np.empty(TILE)
    for first in range(0, X.shape[0], TILE):
        for t in range(n_trees):
            n_tile = min(TILE, X.shape[0] - first)
            n_asked = ask(outside, t, first_row, first, n_tile, False, rows)
            residuals.n_outside[t] += n_asked
            for k in range(n_asked):
                residuals.voters[rows[k]] += 1
            for d in range(n_depths):
                read_means(forest, means, t, X, rows, n_asked, d, frontier, ends, active, found)
                for k in range(n_asked):
                    residual = truth[rows[k]] - found[k]
                    residuals.of_trees[d, t] += residual * residual
                    residuals.sums[d, rows[k]] += residual
                    residuals.squares[d, rows[k]] += residual * residual

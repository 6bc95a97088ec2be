"""Counting how the trees judge the rows they left out, at every depth from one walk.

A row's *voters* are the trees that left it out. Its *rival* is the class, other than the true one,
that most of them vote for (the first of equal ones), and its *margin* is the share of its voters
for the true class less that for the rival. A *residual* is the target less a tree's mean.

Of few voters the rival has many votes partly because they made it the rival. How far its votes
*count*, with that taken off, `counted` says; the reason stands in `study.strength`.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.answers import level_reader, mixed_label, mixed_mean
from forestlab.core.descend import ask
from forestlab.core.jit import jitable, kernel, made_from
from forestlab.core.questions import KINDS
from forestlab.core.walk import TILE

# ---- votes -------------------------------------------------------------------------------------


class Votes(NamedTuple):
    """Votes of T trees at D depths; sums over rows are made in the order of the rows."""

    n_outside: np.ndarray  # (T,) int64 rows that the tree left out
    for_truth: np.ndarray  # (D, T) int64: its votes for the true class
    for_rival: np.ndarray  # (D, T) int64: its votes for the rival
    counted: np.ndarray  # (D, T) float64: how far these count
    n_rows: np.ndarray  # (2,) int64 rows with a voter or more, and with two or more
    margins: np.ndarray  # (D,) float64: the sum of margins
    squares: np.ndarray  # (D,) float64: of their squares
    fair: np.ndarray  # (D,) float64: of margins in which the rival's votes are those that count
    products: np.ndarray  # (D,) float64: of the mean product of two voters' own margins, likewise


class Tile(NamedTuple):
    """Scratch for some rows, which all trees judge before the next."""

    asked: np.ndarray  # (T, rows) int64: those that each tree left out
    n_asked: np.ndarray  # (T,) int64
    labels: np.ndarray  # (T, D, rows) int32: what it votes for, for each row asked
    counts: np.ndarray  # (D, rows, n_classes) int32
    voters: np.ndarray  # (rows,) int64
    rivals: np.ndarray  # (D, rows) int32
    counted: np.ndarray  # (D, rows) float64: how far a vote for the rival counts
    ends: np.ndarray  # (rows,) int64: where each is in a tree
    active: np.ndarray  # (rows,) int64: those still on their way


def make_tile(n_depths: int, n_trees: int, n_rows: int, n_classes: int) -> Tile:
    return Tile(
        np.empty((n_trees, n_rows), np.int64),
        np.empty(n_trees, np.int64),
        np.empty((n_trees, n_depths, n_rows), np.int32),
        np.empty((n_depths, n_rows, n_classes), np.int32),
        np.empty(n_rows, np.int64),
        np.empty((n_depths, n_rows), np.int32),
        np.empty((n_depths, n_rows)),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )


def empty_votes(n_depths: int, n_trees: int) -> Votes:
    trees = n_depths, n_trees
    return Votes(
        np.zeros(n_trees, np.int64),
        np.zeros(trees, np.int64),
        np.zeros(trees, np.int64),
        np.zeros(trees),
        np.zeros(2, np.int64),
        *(np.zeros(n_depths) for _ in range(4)),
    )


@made_from(KINDS)
def votes_kernel(plain: bool):
    """The compiled count of votes."""
    read_labels = level_reader(mixed_label, plain)

    @kernel("count votes", allocates=not plain)
    def count_votes(forest, frontier, labels, X, truth, outside, first_row, tile, votes):
        """Add the votes for the rows of X, as many at a time as a tile has.

        frontier : scratch, by `make_frontier`
        labels : (n_nodes,) int32, by the task's `values`
        truth : (n_rows,) int32 classes
        outside, first_row : as in `sum_kernel`, but not empty
        tile : scratch, by `make_tile`
        """
        n_depths, n_trees = votes.for_truth.shape
        tile_rows, ends, active = tile.voters.shape[0], tile.ends, tile.active
        for first in range(0, X.shape[0], tile_rows):
            n = min(tile_rows, X.shape[0] - first)
            clear_tile(tile)
            for t in range(n_trees):
                rows, cast = tile.asked[t], tile.labels[t]
                n_asked = ask(outside, t, first_row, first, n, False, rows)
                tile.n_asked[t] = n_asked
                for k in range(n_asked):
                    tile.voters[rows[k] - first] += 1
                for d in range(n_depths):
                    read_labels(
                        forest, labels, t, X, rows, n_asked, d, frontier, ends, active, cast[d]
                    )
                    for k in range(n_asked):
                        tile.counts[d, rows[k] - first, cast[d, k]] += 1
            judge_rows(tile, truth, first, n, votes)
            judge_trees(tile, truth, first, votes)

    return count_votes


@jitable
def clear_tile(tile):
    """Nobody has voted."""
    n_depths, n_rows, n_classes = tile.counts.shape
    for row in range(n_rows):
        tile.voters[row] = 0
        for d in range(n_depths):
            for j in range(n_classes):
                tile.counts[d, row, j] = 0


@jitable
def judge_rows(tile, truth, first, n, votes):
    """Find the rivals and add up what the rows' voters say together."""
    for k in range(n):
        votes.n_rows[0] += np.int64(tile.voters[k] > 0)
        votes.n_rows[1] += np.int64(tile.voters[k] > 1)
    for d in range(tile.counts.shape[0]):
        for k in range(n):
            if tile.voters[k] > 0:
                judge_row(tile, truth[first + k], d, k, votes)


@jitable
def judge_row(tile, true_class, d, k, votes):
    """Find the rival of one row and add up what its voters say.

    Voters' own margins are 1, -1 or 0, for the truth, the rival or another class. Two different
    ones are both 1 in a (a - 1) ordered pairs, 1 and -1 in 2 a b, both -1 in b (b - 1).
    """
    n_voters, count = tile.voters[k], tile.counts[d, k]
    rival, most, second, n_second = rival_of(count, true_class)
    for_truth = np.int64(count[true_class])
    one = counted(most, second, n_second, n_voters, 1)
    margin = (for_truth - most) / n_voters
    votes.margins[d] += margin
    votes.squares[d] += margin * margin
    votes.fair[d] += (for_truth - most * one) / n_voters
    if n_voters > 1:
        two = counted(most, second, n_second, n_voters, 2)
        product = for_truth * (for_truth - 1) - 2.0 * for_truth * most * one
        product += most * (most - 1) * two
        votes.products[d] += product / (n_voters * (n_voters - 1))
    tile.rivals[d, k] = rival
    tile.counted[d, k] = one


@jitable
def rival_of(count, true_class):
    """The rival and its votes; the votes of the next of the other classes, and how many have these.

    -1 and no votes where there is no other class; -1 votes of no class where there are two.
    """
    rival, most, second, n_second = -1, np.int64(0), np.int64(-1), 0
    for j in range(count.shape[0]):
        if j == true_class:
            continue
        if rival < 0 or count[j] > most:
            if rival >= 0:
                n_second = n_second + 1 if most == second else 1
                second = most
            rival, most = j, np.int64(count[j])
        elif count[j] == second:
            n_second += 1
        elif count[j] > second:
            second, n_second = np.int64(count[j]), 1
    return rival, most, second, n_second


@jitable
def counted(most, second, n_second, n_voters, n_judged):
    """How far a vote for the rival counts, or two votes for it at once, by `n_judged`.

    Without those votes the rival may not be the rival: it is if it still leads, and with as many
    chances as others if it is level with them. The weight of that is 1 of one voter, ½ of many.
    """
    left = most - n_judged
    stays = 1.0 if left > second else 1.0 / (1 + n_second) if left == second else 0.0
    weight = (1.0 + 1.0 / np.sqrt(n_voters)) / 2.0
    return 1.0 - weight * (1.0 - stays)


@jitable
def judge_trees(tile, truth, first, votes):
    """Count each tree's votes for the true classes and for the rivals."""
    n_trees, n_depths, _ = tile.labels.shape
    for t in range(n_trees):
        votes.n_outside[t] += tile.n_asked[t]
        for d in range(n_depths):
            for_truth, for_rival = np.int64(0), np.int64(0)
            counts = votes.counted[d, t]
            for k in range(tile.n_asked[t]):
                row, label = tile.asked[t, k], tile.labels[t, d, k]
                is_rival = label == tile.rivals[d, row - first]
                for_truth += np.int64(label == truth[row])
                for_rival += np.int64(is_rival)
                counts += is_rival * tile.counted[d, row - first]
            votes.for_truth[d, t] += for_truth
            votes.for_rival[d, t] += for_rival
            votes.counted[d, t] = counts


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


@made_from(KINDS)
def residuals_kernel(plain: bool):
    """The compiled sum of residuals."""
    read_means = level_reader(mixed_mean, plain)

    @kernel("add up residuals")
    def add_residuals(forest, frontier, means, X, truth, outside, first_row, residuals):
        """Add the residuals of the rows of X: for a row in tree order, for a tree in row order.

        frontier : scratch, by `make_frontier`
        means : (n_nodes,) float64, by the task's `values`
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

    return add_residuals

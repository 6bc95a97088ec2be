"""The noise of the data: how far targets differ where rows do not.

Half the squared difference of two targets at the same place is, on average, the variance of their
noise. Of classes, which are vectors here with a 1 in their own place, it is 1 if they differ, and
on average the Gini impurity of the true posterior. No two rows are at the same place, but what the
1st, 2nd, … nearest rows say can be carried back to distance 0, as in the Gamma test (Stefánsson,
Končar and Jones 1997): the mean γ(p) over rows of half the squared difference from their p-th
neighbour is drawn over the mean squared distance δ(p), and what is left at δ = 0 is the noise.

A smooth function differs by the squared distance, so that of numbers γ is a line in δ. Classes are
alike as far as the gap between them reaches: γ is level first, and is taken for a line in δ². It
does not fall, since signals differ the more the farther rows are apart.

Nearness is what trees see of it: columns count by their order alone, and as much as they decrease
impurity in the forest. A column that the forest does not split by is not looked at. Missing values
stand behind all others, at one place. The levels of a category have no order: each is as far from
any other, what is missing is a level too, and rare levels of many are one.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import CATEGORY, Forest
from forestlab.core.neighbours import nearest
from forestlab.forest import by_blocks, importances
from forestlab.study.tasks import STUDIED

# Neighbours of each row. With 10, 20 and 30 friedman1 of 1,000 rows and noise 1 comes back as
# 1.17 ± 0.22, 1.28 ± 0.18, 1.45 ± 0.08: more are steadier, but reach farther.
NEIGHBOURS = 10
MOST_LEVELS = 32  # of a category that are told apart: each is a column to sum over


class Neighbours(NamedTuple):
    """Of m rows, nearest first."""

    places: np.ndarray  # (m, k) among the others
    squared: np.ndarray  # (m, k) distances, squared


def noise_of(forest: Forest, task: str, rows, others, own: np.ndarray, n_jobs: int) -> np.ndarray:
    """What each of m rows contributes to the noise, (m,): their mean is the noise of the data, 0 or
    more; a row by itself may be below.

    Parameters
    ----------
    rows, others : (X, truth) of m rows, and of those that their neighbours are sought among
    own : (m,) int64 places of the rows among the others; -1 if they are not there
    """
    (X, truth), (X_others, truth_others) = rows, others
    weights = importances(forest, X.shape[1]).mean(axis=0)
    near = neighbours(*in_order(X, X_others, weights, categories_of(forest)), own, n_jobs)
    apart = truth[:, None] - truth_others[near.places]
    told = STUDIED[task]
    halves = told.halves(apart)
    distances = near.squared.mean(axis=0)
    grown = (distances / (distances[-1] or 1.0)) ** told.power  # of any size, but not too small
    shares = share_at_zero(halves.mean(axis=0), grown)
    return (halves * shares).sum(axis=1)


def categories_of(forest: Forest) -> set[int]:
    """The columns that the forest asks about by their levels."""
    nodes = forest.nodes
    return set(nodes["feature"][nodes["kind"] == CATEGORY].tolist())


def in_order(
    X, others, weights: np.ndarray, categories: Collection[int] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Both by their places in the order of the others, column by column, each scaled so that the
    variance of the others is its weight; the heaviest columns come first. A category becomes a
    column for each level, of which all variances together are its weight."""
    weights = weights if weights.any() else np.ones(len(weights))
    used = np.argsort(-weights, kind="stable")[: np.count_nonzero(weights)]
    columns = [
        (_apart if c in categories else _ranked)(X[:, c], others[:, c], weights[c]) for c in used
    ]
    mine, theirs = zip(*columns, strict=True)
    return np.column_stack(mine), np.column_stack(theirs)


def _ranked(values: np.ndarray, others: np.ndarray, weight: float) -> list[np.ndarray]:
    order = np.sort(others)
    ranks = [_ranks(order, part) for part in (values, others)]
    return _scaled(ranks, weight, ranks[1].std())


def _apart(values: np.ndarray, others: np.ndarray, weight: float) -> list[np.ndarray]:
    """1 in the column of a value's own level, else 0."""
    levels, counts = np.unique(others, return_counts=True)  # NaN is one of them
    common = levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    columns = [
        ((part[:, None] == common) | (np.isnan(part)[:, None] & np.isnan(common))).astype(float)
        for part in (values, others)
    ]
    return _scaled(columns, weight, np.sqrt(columns[1].var(axis=0).sum()))


def _scaled(parts: list[np.ndarray], weight: float, spread: float) -> list[np.ndarray]:
    return [part * (np.sqrt(weight) / spread if spread else 0.0) for part in parts]


def _ranks(order: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The middle of the places where values belong in an order."""
    first, last = (np.searchsorted(order, values, side) for side in ("left", "right"))
    return (first + last) / 2.0


def neighbours(rows: np.ndarray, others: np.ndarray, own: np.ndarray, n_jobs: int) -> Neighbours:
    """The NEIGHBOURS nearest of the others to each row."""
    shape = len(rows), NEIGHBOURS
    found = Neighbours(np.empty(shape, np.int64), np.empty(shape))

    def search(block: slice) -> None:
        nearest(rows[block], own[block], others, found.places[block], found.squared[block])

    by_blocks(search, len(rows), n_jobs)
    return found


def share_at_zero(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The share of each value in the line's at x = 0, (k,), the line being the best that does not
    fall."""
    k, away = len(x), x - x.mean()
    variance = (away**2).sum()
    level = np.full(k, 1.0 / k)
    if variance == 0.0 or (away * values).sum() <= 0.0:
        return level
    return level - x.mean() * away / variance

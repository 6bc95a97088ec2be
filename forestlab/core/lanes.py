"""Sixteen cuts at once: what the two sides of each weigh and score.

For weights that are whole numbers, of one target. A cut's *lane* holds what is at most at its key.
Of classes, each is added up by itself, and *folded* into what the criterion makes of all: that it
is exact makes the order of rows no matter. Of numbers sums are kept, as ever; there weights may be
any.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.vectors import (
    LANES,
    all_lanes,
    as_floats,
    as_long,
    as_shorts,
    at_most,
    below,
    both,
    logarithms,
    minus,
    over,
    plus,
    times,
    where,
)

PARTED = 8  # up to so many rows all ways to part them are scored …
MOST_WAYS = 2 ** (PARTED - 1)  # … of which each has one that is the other way round
MANY = 64  # rows from which on a column of two keys is counted without a list


class Swept(NamedTuple):
    """Scratch of one thread. All room is for LANES more than is said: what lies behind the last is
    read and written with it."""

    # Of classes, in the order of which the node's rows stand: see classes.
    state: np.ndarray  # (3,) int64
    place: np.ndarray  # (n_classes,) uint64: where the next row of each goes
    totals: np.ndarray  # (n_classes,) uint32: the weight of each that is there
    # First of all rows, then of one feature's items, which are all but those of its usual code:
    # their weights; where those of each class end; and the weight of its rows that are none.
    masses: np.ndarray  # (2 * n,) uint32
    ends: np.ndarray  # (2, n_classes) uint64
    unlisted: np.ndarray  # (2, n_classes) uint32
    keys: np.ndarray  # (n,) uint32: of one feature's items
    all_keys: np.ndarray  # (n,) uint32: of all rows, of classes
    # Its cuts: by items, or by keys.
    scores: np.ndarray  # float64
    weight_left: np.ndarray  # float64
    ways: np.ndarray  # (MOST_WAYS,) float64: scores of ways to part few rows, see parted
    # By keys, 0 between uses: what each holds, of classes one class after the other.
    table: np.ndarray  # uint32: weights
    sums: np.ndarray  # float64: of numbers
    tally: np.ndarray  # uint32: rows
    carry: np.ndarray  # (n_classes,) uint32: what the keys before hold


# What it takes to find the best cut, in comparisons of two items, is about n² if each is compared
# with each, so much for each key that a table has, and so much for each row that is sorted.
PER_KEY, PER_CLASS = 20, 6  # of classes: PER_KEY + PER_CLASS × classes
PER_KEY_OF_NUMBERS = 18
PER_ROW = 128


def make_swept(n_rows: int, n_codes: int, n_classes: int) -> Swept:
    """Of numbers there are no classes. Tables have keys only as long as to sort takes longer."""
    most = PER_ROW * max(n_rows, PER_ROW)
    n_keys = 2 * LANES + min(n_codes, most // (PER_KEY if n_classes else PER_KEY_OF_NUMBERS))
    n_cells = min(max(n_classes, 1) * n_keys, most // PER_CLASS + n_classes * LANES) + 2 * LANES
    n_items = n_rows + 2 * LANES
    n_sorted = n_items if n_classes else 0
    return Swept(
        np.zeros(3, np.int64),
        np.empty(n_classes, np.uint64),
        np.empty(n_classes, np.uint32),
        np.empty(2 * n_sorted, np.uint32),
        np.empty((2, n_classes), np.uint64),
        np.empty((2, n_classes), np.uint32),
        np.empty(n_items, np.uint32),
        np.empty(n_sorted, np.uint32),
        np.empty(max(n_items, n_keys)),
        np.empty(max(n_items, n_keys)),
        np.empty(MOST_WAYS),
        np.zeros(n_cells, np.uint32),
        np.zeros(0 if n_classes else n_keys),
        np.zeros(n_keys, np.uint32),
        np.empty(n_classes, np.uint32),
    )


# ---- classes -----------------------------------------------------------------------------------


class Laned(NamedTuple):
    """How a criterion of classes is told from the weights of classes, of which `fold` sees one at a
    time. Weights are whole numbers whose squares are exact."""

    fold: Callable  # (folded, weights of a class) → folded; before the first it is 0
    score: Callable  # (folded, weights of all) → weight × impurity
    most_mass: float = np.inf  # of a row, on the average: with heavier ones it is not good enough
    has_shorts: bool = False  # up to a weight of MOST_SHORT short floats hold all that is folded


MOST_SHORT = 4096  # its square is a short float, and so are all whole numbers below that


class Precision(NamedTuple):
    """In what floats weights of classes are folded: `floats` makes them of whole lanes, and `long`
    turns what is folded into floats of 64 bits."""

    floats: Callable
    long: Callable


@jitable
def as_it_is(lanes):
    return lanes


LONG = Precision(as_floats, as_it_is)
SHORT = Precision(as_shorts, as_long)  # half as much to calculate


class Folds(NamedTuple):
    """How both sides of sixteen cuts are told from what each class weighs on the left.

    What is folded so far is (weight on the left, folded on the left, folded on the right).
    """

    begin: Callable  # () → what is folded of no class
    fold: Callable  # (folded, whole lanes: a class on the left, what it weighs on both) → folded
    score: Callable  # (node, folded) → scores, and weights on the left


def folds_of(laned: Laned, precision: Precision) -> Folds:
    fold, score, (floats, long) = laned.fold, laned.score, precision

    @jitable
    def begin():
        nothing = floats(all_lanes(np.uint32(0)))
        return nothing, nothing, nothing

    @jitable
    def fold_class(folded, on_left, total):
        weight, left, right = folded
        here, there = floats(on_left), floats(minus(all_lanes(total), on_left))
        return plus(weight, here), fold(left, here), fold(right, there)

    @jitable
    def score_sides(node, folded):
        weight_left = long(folded[0])
        weight_right = minus(all_lanes(node.total[0]), weight_left)
        scores = plus(score(long(folded[1]), weight_left), score(long(folded[2]), weight_right))
        return score_if_allowed(node, weight_left, weight_right, scores), weight_left

    return Folds(begin, fold_class, score_sides)


@jitable
def add_square(folded, weight):
    return plus(folded, times(weight, weight))


@jitable
def gini_of_squares(squares, weight):
    """Of products of different classes there are as many as all less those of one class."""
    return over(minus(times(weight, weight), squares), weight)


@jitable
def n_log_n_of(weight):
    nothing = all_lanes(0.0)
    return where(below(nothing, weight), times(weight, logarithms(weight)), nothing)


@jitable
def add_n_log_n(folded, weight):
    return plus(folded, n_log_n_of(weight))


@jitable
def entropy_of_n_log_n(folded, weight):
    """A difference, of which few digits are left where a side is nearly pure. Of one whose rest
    weighs 1 it is wrong by ε × weight × log(weight), and a tie is 16 ε × rows × log(weight)."""
    return minus(n_log_n_of(weight), folded)


@jitable
def greater(folded, weight):
    return where(below(folded, weight), weight, folded)


@jitable
def all_but_greatest(greatest, weight):
    return minus(weight, greatest)


GINI = Laned(add_square, gini_of_squares, has_shorts=True)
ENTROPY = Laned(add_n_log_n, entropy_of_n_log_n, most_mass=8.0)
MISCLASSIFICATION = Laned(greater, all_but_greatest, has_shorts=True)


# ---- one target of numbers ---------------------------------------------------------------------


@jitable
def explained(total, weight):
    """As `criteria.variance_score`, without its sign."""
    return times(total, over(total, weight))


# ---- cuts that were scored ---------------------------------------------------------------------


@jitable
def score_if_allowed(node, weight_left, weight_right, score):
    """The score of cuts with enough weight on both sides, of others infinite."""
    nothing, least = all_lanes(0.0), all_lanes(node.min_weight)
    some = both(below(nothing, weight_left), below(nothing, weight_right))
    enough = both(at_most(least, weight_left), at_most(least, weight_right))
    return where(both(some, enough), score, all_lanes(np.inf))


@jitable
def score_of_numbers(node, weight_left, total_left, weight_right, total_right):
    """Minus the squares that the means of both sides explain."""
    score = plus(explained(total_left, weight_left), explained(total_right, weight_right))
    return score_if_allowed(node, weight_left, weight_right, minus(all_lanes(0.0), score))


@jitable
def if_enough_rows(settings, n_left, n_rows, score):
    """Likewise of cuts with enough rows on both sides."""
    least = all_lanes(np.uint32(settings.min_samples_leaf))
    most = all_lanes(np.uint32(n_rows - settings.min_samples_leaf))
    return where(both(at_most(least, n_left), at_most(n_left, most)), score, all_lanes(np.inf))


@jitable
def lesser(a, b):
    return where(below(a, b), a, b)

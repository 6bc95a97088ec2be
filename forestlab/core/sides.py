"""Sides: what lies on one side of a cut, as a criterion holds it, and what it makes of a node.

A side is an array and a few numbers, the first of them its weight (see criteria). Of a criterion of
*sums* the array has a number a slot, and bins of many rows move at once. If rows *enter* one by
one, the array has as many numbers as the criterion asks for in a node of this size, and each side
is filled from its own end of the rows in order; nothing is ever taken out of it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.criteria import NOTHING, Criterion, Entered, Several, sum_up
from forestlab.core.groups import POSITION
from forestlab.core.jit import jitable


@jitable
def empty(side):
    """Take everything out of a side; returns its numbers."""
    for slot in range(side.shape[0]):
        side[slot] = 0.0
    return NOTHING


@jitable
def n_items(groups, n_groups, dense):
    """How many items, bins or else rows, the first groups have."""
    return np.uint64(n_groups if dense else groups.end[n_groups - 1])


@jitable
def add_item(add, scratch, item, dense, side, numbers):
    """Add a bin, or a row in the order of its key, to a side; returns its numbers."""
    groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
    if dense:
        n_slots = np.uint64(side.shape[0])
        cell = np.uint64(groups.key[item]) * n_slots
        for k in range(n_slots):
            if groups.bins[cell + k] != 0.0:
                numbers = add(side, k, groups.bins[cell + k], numbers)
        return numbers
    i = groups.order[item] & POSITION
    for part in range(slots.shape[1]):
        slot, amount = slots[i, np.uint64(part)], amounts[i, np.uint64(part)]
        numbers = add(side, slot, amount, numbers)
    return numbers


class Sides(NamedTuple):
    """How a kernel handles the sides of a criterion."""

    size: Callable  # (plan, scratch, n_rows) → numbers that a side takes in a node of so many rows
    put: Callable  # (plan, scratch, item, dense, side, numbers) → its numbers with that item
    score: Callable  # (plan, scratch, side, numbers) → its weight × impurity, up to a constant
    in_bins: bool  # rows may be tallied in bins


def sides_of(criterion: Criterion | Entered | Several) -> Sides:
    if isinstance(criterion, Several):
        return Sides(whole_side, criterion.put, criterion.score, True)
    return _entered(criterion) if isinstance(criterion, Entered) else _summed(criterion)


@jitable
def whole_side(plan, scratch, n_rows):
    return scratch.total.shape[0]


def _summed(criterion: Criterion) -> Sides:
    add, score_sums = criterion.add, criterion.score

    @jitable
    def size(plan, scratch, n_rows):
        return scratch.sums.shape[0]

    @jitable
    def put(plan, scratch, item, dense, side, numbers):
        return add_item(add, scratch, item, dense, side, numbers)

    @jitable
    def score(plan, scratch, side, numbers):
        return score_sums(side, numbers)

    return Sides(size, put, score, criterion.scan is None)


def _entered(criterion: Entered) -> Sides:
    enter, side_size = criterion.enter, criterion.side_size

    @jitable
    def size(plan, scratch, n_rows):
        return side_size(n_rows, plan.y.shape[1])

    @jitable
    def put(plan, scratch, item, dense, side, numbers):
        return enter(plan, scratch, scratch.groups.order[item] & POSITION, side, numbers)

    return Sides(size, put, criterion.score, False)


# ---- the side that holds all of a node's rows --------------------------------------------------


def make_measure(criterion: Criterion | Entered | Several, whole: bool) -> Callable:
    """What gathers a node's rows: (plan, rows, weights, scratch, stats) → whether it is pure, the
    numbers of the side that holds all, its impurity, and that by which a tie is measured."""
    if isinstance(criterion, Several):
        return criterion.measure
    if isinstance(criterion, Entered):
        return _measure_entered(criterion)
    add = (criterion.add_whole or criterion.add) if whole else criterion.add
    gather, score, impurity_of = criterion.gather, criterion.score, criterion.impurity

    @jitable
    def measure(plan, rows, weights, scratch, stats):
        pure = gather(
            plan.y, rows, weights, scratch.slots, scratch.amounts, stats, scratch.sums
        )  # fmt: skip
        total = sum_up(add, scratch.sums, scratch.total)
        impurity = 0.0
        if not pure:
            impurity = impurity_of(score, scratch.total, total, stats)
        return pure, total, impurity, abs(impurity)

    return measure


def _measure_entered(criterion: Entered) -> Callable:
    gather, ready, enter = criterion.gather, criterion.ready, criterion.enter
    impurity_of, rounding, side_size = criterion.impurity, criterion.rounding, criterion.side_size

    @jitable
    def measure(plan, rows, weights, scratch, stats):
        n_rows, n_targets = rows.shape[0], plan.y.shape[1]
        same = gather(plan.y, rows, weights, scratch.slots, scratch.amounts, stats, scratch.sums)
        pure = ready(plan, rows, scratch, stats, same)
        side = scratch.total[: side_size(n_rows, n_targets)]
        total = empty(side)
        for i in range(n_rows):
            total = enter(plan, scratch, i, side, total)
        impurity = impurity_of(plan, scratch, side, total)
        return pure, total, impurity, rounding(impurity, n_rows, n_targets)

    return measure

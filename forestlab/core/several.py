"""Several targets of classes: a criterion of one target becomes that of all, their mean.

Slots, and a node's statistics, are laid target after target; `Plan.first_slots` says where those of
each begin. A row makes a contribution, its weight, to a slot of every target. A *side* has a number
a slot, as that of one target has, and behind these the three plain numbers of each target, which
would not all fit in registers::

    | classes of target 0 | classes of target 1 | … | weight rest more | weight rest more | …

Each target is added up and scored by the functions of one, which see their own stretch of the side
and nothing else. So its heaviest class has the first of its slots, and what is said in criteria of
the digits of scores holds of each; as many of them as there are targets are then added, by which
ties are wider.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from forestlab.core.criteria import Criterion, Entered, Several, sum_up
from forestlab.core.groups import POSITION
from forestlab.core.jit import jitable

NUMBERS = 3  # of a side, beside its slots


def first_slots(classes_each: tuple[int, ...]) -> np.ndarray:
    """Where the slots of each target begin, and where the last ones end, (n_targets + 1,)."""
    return np.array([0, *accumulate(classes_each)], np.int64)


def with_first_slots(forest, classes_each: tuple[int, ...]) -> Any:
    """The forest as kernels take it: of several targets with statistics that are a pair, with where
    those of each begin."""
    if not classes_each:
        return forest
    return forest._replace(stats=(forest.stats, first_slots(classes_each)))


def side_size(classes_each: tuple[int, ...]) -> int:
    return sum(classes_each) + NUMBERS * len(classes_each)


# Indices are unsigned where rows are added, so that numba need not ask whether they count from the
# end: ten targets of 5,000 images then took 0.39 s to grow 10 trees on, in place of 0.55 s
# (scikit-learn 0.34 s); three targets of 20,000 rows of 20 columns 0.65 s, or 0.45 s with bins
# (scikit-learn 0.85 s).


@jitable
def stretch(first_slots, k):
    """Where the slots of target k begin and end."""
    return np.uint64(first_slots[k]), np.uint64(first_slots[k + np.uint64(1)])


@jitable
def place_of(n_slots, k):
    """Where the numbers of target k stand in a side."""
    return np.uint64(n_slots) + np.uint64(NUMBERS) * k


@jitable
def numbers_of(side, place):
    return side[place], side[place + np.uint64(1)], side[place + np.uint64(2)]


@jitable
def keep_numbers(side, place, numbers):
    side[place], side[place + np.uint64(1)], side[place + np.uint64(2)] = numbers


def make_gather(gather: Callable) -> Callable:
    """What gathers the rows of a node for every target, given what does so for one."""

    @jitable
    def gather_all(y, rows, weights, slots, amounts, stats, sums, first_slots):
        """Contributions and class weights; says whether no target has more than one class."""
        pure = True
        for k in range(first_slots.shape[0] - 1):
            first, end = first_slots[k], first_slots[k + 1]
            own_slots, own_sums = slots[:, k : k + 1], sums[first:end]
            same = gather(
                y[:, k : k + 1], rows, weights, own_slots, amounts[:, k : k + 1],
                stats[first:end], own_sums,
            )  # fmt: skip
            if same:
                lead(own_slots, own_sums, rows.shape[0])
            for i in range(rows.shape[0]):
                slots[i, k] += np.uint32(first)
            pure &= same
        return pure

    return gather_all


@jitable
def lead(slots, sums, n_rows):
    """The only class of a target has the first slot too, so that what it scores is 0, and not what
    rounding makes of that."""
    main = np.int64(slots[0, 0])
    sums[0], sums[main] = sums[main], sums[0]
    for i in range(n_rows):
        slots[i, 0] = 0


def several(one: Criterion | Entered) -> Several:
    """The criterion of several targets, given that of one."""
    if not isinstance(one, Criterion):
        raise ValueError("rows enter the sides of this criterion: it is of one target of classes")
    add, score_one, impurity_of, gather = one.add, one.score, one.impurity, make_gather(one.gather)

    @jitable
    def measure(plan, rows, weights, scratch, stats):
        first_slots, sums, side = plan.first_slots, scratch.sums, scratch.total
        n_targets, n_slots = first_slots.shape[0] - 1, sums.shape[0]
        pure = gather(
            plan.y, rows, weights, scratch.slots, scratch.amounts, stats, sums, first_slots
        )  # fmt: skip
        impurity = 0.0
        for target in range(n_targets):
            k = np.uint64(target)
            first, end = stretch(first_slots, k)
            numbers = sum_up(add, sums[first:end], side[first:end])
            keep_numbers(side, place_of(n_slots, k), numbers)
            if not pure:
                impurity += impurity_of(score_one, side[first:end], numbers, stats[first:end])
        impurity /= n_targets
        rounding = abs(impurity) * (1.0 + n_targets / rows.shape[0])
        return pure, (side[n_slots], 0.0, 0.0), impurity, rounding

    @jitable
    def put(plan, scratch, item, dense, side, numbers):
        """Add a bin, or a row in the order of its key, to a side; returns its numbers."""
        groups, first_slots, n_slots = scratch.groups, plan.first_slots, scratch.sums.shape[0]
        i = np.uint64(0) if dense else groups.order[item] & POSITION
        cell = np.uint64(groups.key[item] * n_slots) if dense else np.uint64(0)
        for target in range(first_slots.shape[0] - 1):
            k = np.uint64(target)
            first, end = stretch(first_slots, k)
            own, place = side[first:end], place_of(n_slots, k)
            of_target, start = numbers_of(side, place), first
            if not dense:
                start = np.uint64(scratch.slots[i, k])
                end = start + np.uint64(1)
            for slot in range(start, end):
                amount = groups.bins[cell + slot] if dense else scratch.amounts[i, k]
                if amount != 0.0:
                    of_target = add(own, slot - first, amount, of_target)
            keep_numbers(side, place, of_target)
        return side[n_slots], 0.0, 0.0

    @jitable
    def score(plan, scratch, side, numbers):
        first_slots, n_slots = plan.first_slots, scratch.sums.shape[0]
        n_targets, total = first_slots.shape[0] - 1, 0.0
        for target in range(n_targets):
            k = np.uint64(target)
            first, end = stretch(first_slots, k)
            total += score_one(side[first:end], numbers_of(side, place_of(n_slots, k)))
        return total / n_targets

    return Several(measure, put, score)

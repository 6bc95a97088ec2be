"""Many items: a table has what rows of each key weigh, of each class, and is read sixteen keys at a
time.

Of classes the table has one class behind the other, so that running sums of sixteen keys are four
additions, and what is made of them is made of all sixteen at once. Keys that no row has are as good
as others: their cuts are those of the key before them.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.classes import n_present
from forestlab.core.few import ONE, STEP
from forestlab.core.items import code_of
from forestlab.core.jit import jitable
from forestlab.core.lanes import (
    LONG,
    MOST_SHORT,
    SHORT,
    Laned,
    Precision,
    folds_of,
    if_enough_rows,
    lesser,
    score_of_numbers,
)
from forestlab.core.vectors import (
    LANES,
    all_lanes,
    as_floats,
    lanes_at,
    last_of,
    least_of,
    minus,
    plus,
    put_lanes,
    running,
)


@jitable
def width_of(n_keys):
    """Cells of a class: whole lanes."""
    return np.uint64((n_keys + LANES - 1) // LANES * LANES)


# ---- filling -----------------------------------------------------------------------------------


@jitable
def fill_classes(scratch, items, n_keys):
    swept, j, first = scratch.swept, np.uint64(0), np.uint64(0)
    table, keys, masses, first_mass = swept.table, swept.keys, swept.masses, items.first_mass
    for c in range(n_present(swept)):
        end = swept.ends[items.which, c]
        while j < end:
            table[first + np.uint64(keys[j])] += masses[first_mass + j]
            j += ONE
        if items.usual < n_keys:
            table[first + np.uint64(items.usual)] = swept.unlisted[items.which, c]
        first += width_of(n_keys)


@jitable
def fill_two(codes, node, scratch):
    """Of a column of two keys, where neither is a row's item; whether both are there."""
    swept, j, first, held = scratch.swept, np.uint64(0), np.uint64(0), np.uint32(0)
    table, masses, rows = swept.table, swept.masses, node.rows
    for c in range(n_present(swept)):
        end, upper = swept.ends[0, c], np.uint32(0)
        while j < end:
            upper += masses[j] * np.uint32(code_of(codes, rows[j]))
            j += ONE
        table[first], table[first + ONE] = swept.totals[c] - upper, upper
        held += upper
        first += STEP
    return np.uint32(0) < held < np.uint32(node.total[0])


@jitable
def fill_numbers(scratch, items, n_keys):
    swept, amounts = scratch.swept, scratch.amounts
    for j in range(np.uint64(items.n_items)):
        key = np.uint64(swept.keys[j])
        swept.table[key] += np.uint32(amounts[j, np.uint64(0)])
        swept.sums[key] += amounts[j, ONE]


@jitable
def fill_rows(scratch, items, n_rows, n_keys):
    swept = scratch.swept
    for j in range(np.uint64(items.n_items)):
        swept.tally[np.uint64(swept.keys[j])] += np.uint32(1)
    if items.usual < n_keys:
        swept.tally[np.uint64(items.usual)] = np.uint32(n_rows - items.n_items)


# ---- sixteen cuts ------------------------------------------------------------------------------


def of_classes(laned: Laned) -> Callable:
    long = in_floats(laned, LONG)
    if not laned.has_shorts:
        return long
    short = in_floats(laned, SHORT)

    @jitable
    def score_cuts(node, scratch, start, n_keys, total_before):
        if node.total[0] <= MOST_SHORT:
            return short(node, scratch, start, n_keys, total_before)
        return long(node, scratch, start, n_keys, total_before)

    return score_cuts


def in_floats(laned: Laned, precision: Precision) -> Callable:
    begin, fold, score = folds_of(laned, precision)

    @jitable
    def score_cuts(node, scratch, start, n_keys, total_before):
        """The scores of the cuts behind the keys from `start` on, which are emptied; what they and
        those before them weigh; and what is handed on, which is for numbers."""
        swept, width = scratch.swept, width_of(n_keys)
        none, folded, place = all_lanes(np.uint32(0)), begin(), start
        for c in range(n_present(swept)):
            before = all_lanes(swept.carry[c] if start > 0 else np.uint32(0))
            found = plus(running(lanes_at(swept.table, place)), before)
            put_lanes(swept.table, place, none)
            swept.carry[c] = last_of(found)
            place += width
            folded = fold(folded, found, swept.totals[c])
        scores, weight_left = score(node, folded)
        return scores, weight_left, total_before

    return score_cuts


@jitable
def of_numbers(node, scratch, start, n_keys, total_before):
    """The same; the total of the keys before is handed on."""
    swept, nothing = scratch.swept, all_lanes(0.0)
    before = swept.weight_left[start - ONE] if start > 0 else 0.0
    weight_left = plus(as_floats(running(lanes_at(swept.table, start))), all_lanes(before))
    total_left = plus(running(lanes_at(swept.sums, start)), all_lanes(total_before))
    put_lanes(swept.table, start, all_lanes(np.uint32(0)))
    put_lanes(swept.sums, start, nothing)
    weight_right = minus(all_lanes(scratch.total[0]), weight_left)
    total_right = minus(all_lanes(scratch.total[1]), total_left)
    score = score_of_numbers(node, weight_left, total_left, weight_right, total_right)
    return score, weight_left, last_of(total_left)


# ---- the best ----------------------------------------------------------------------------------


def make_many(fill: Callable, score_cuts: Callable) -> tuple[Callable, Callable]:
    """What finds the best cut of items, and that of a table that is filled."""

    @jitable
    def of_table(plan, node, scratch, n_keys, most):
        """Score, and the keys on both sides, of the best cut, if it scores no more than `most`; the
        table is emptied."""
        swept, n_rows, min_rows = scratch.swept, node.rows.shape[0], plan.settings.min_samples_leaf
        best, n_before, total = all_lanes(np.inf), np.uint32(0), 0.0
        for start in range(np.uint64(0), np.uint64(n_keys), STEP):
            score, weight_left, total = score_cuts(node, scratch, start, n_keys, total)
            if min_rows > 1:
                n_left = plus(running(lanes_at(swept.tally, start)), all_lanes(n_before))
                put_lanes(swept.tally, start, all_lanes(np.uint32(0)))
                n_before = last_of(n_left)
                score = if_enough_rows(plan.settings, n_left, n_rows, score)
            put_lanes(swept.scores, start, score)
            put_lanes(swept.weight_left, start, weight_left)
            best = lesser(best, score)
        least = least_of(best)
        if not least <= most or least == np.inf:
            return np.inf, 0, 0
        low = np.uint64(0)
        while not swept.scores[low] <= least + node.tie:
            low += ONE
        high = low + ONE
        while swept.weight_left[high] == swept.weight_left[low]:  # no row has that key
            high += ONE
        return least, np.int64(low), np.int64(high)

    @jitable
    def of_many(plan, node, scratch, items, n_keys, most):
        fill(scratch, items, n_keys)
        if plan.settings.min_samples_leaf > 1:
            fill_rows(scratch, items, node.rows.shape[0], n_keys)
        return of_table(plan, node, scratch, n_keys, most)

    return of_many, of_table

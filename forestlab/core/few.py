"""Few items: each is compared with each, sixteen at a time, and none is put in order.

A cut behind each item: on its left are all that are no greater. So equal items have equal cuts, and
the cut behind the greatest has nothing on its right. Of n items that is n² comparisons, of which a
processor does sixteen in the time of one: up to a hundred items this is sooner than to sort them,
move them one by one and look where a key ends.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.classes import n_present
from forestlab.core.items import NONE, code_of
from forestlab.core.jit import jitable, prefetch
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
    ALL_ONES,
    LANES,
    all_lanes,
    at_most,
    below,
    both,
    but_not,
    lanes_at,
    lanes_from,
    last_of,
    least_of,
    minus,
    n_in,
    plus,
    put_lanes,
    put_some,
    running,
    where,
)

STEP = np.uint64(LANES)
ONE = np.uint64(1)


# ---- the items of a feature --------------------------------------------------------------------


class Listed(NamedTuple):
    """A feature's items."""

    n_items: Any
    varies: bool  # any keys differ, those of rows that are no items too
    usual: Any  # the key of rows that are no items
    # Of classes: 0 if all rows are items, else 1: in which row of `ends` and `unlisted` it stands
    # where items of a class end, and from where on `masses` has theirs.
    which: int
    first_mass: Any


@jitable
def list_classes(codes, node, scratch, usual):
    """List the rows of other codes than the usual one, class by class (see classes)."""
    swept, none = scratch.swept, np.uint64(0)
    n_rows, rows = np.uint64(node.rows.shape[0]), node.rows
    first = np.uint32(code_of(codes, rows[none]))
    if usual == NONE:
        varies = gather(codes, rows, n_rows, swept.keys, first)
        return Listed(np.int64(n_rows), varies != 0, usual, 0, none)
    gather(codes, rows, n_rows, swept.all_keys, first)
    n_items = keep_unusual(swept, np.uint32(usual))
    varies = none < n_items < n_rows or differ(swept.keys, n_items, first)
    return Listed(np.int64(n_items), varies, usual, 1, np.uint64(swept.masses.shape[0] >> 1))


@jitable
def keep_unusual(swept, usual):
    """Of the rows, class by class, list those of another key: keys, and what they weigh. Each step
    looks at sixteen, and is written whole; what is too much of it the next one overwrites."""
    keys, masses, all_keys, place = swept.keys, swept.masses, swept.all_keys, np.uint64(0)
    first_mass, n_items = np.uint64(swept.masses.shape[0] >> 1), np.uint64(0)
    usual_key, nothing, lane = all_lanes(usual), all_lanes(np.uint32(0)), lanes_from(0)
    for c in range(n_present(swept)):
        end, listed = swept.ends[0, c], nothing
        while place < end:
            key, mass = lanes_at(all_keys, place), lanes_at(masses, place)
            is_there = below(lane, all_lanes(np.uint32(end - place)))
            kept = but_not(is_there, both(at_most(key, usual_key), at_most(usual_key, key)))
            put_some(keys, n_items, key, kept)
            put_some(masses, first_mass + n_items, mass, kept)
            listed = plus(listed, where(kept, mass, nothing))
            n_items += n_in(kept)
            place += STEP
        place = end
        swept.ends[1, c] = n_items
        swept.unlisted[1, c] = swept.totals[c] - last_of(running(listed))
    return n_items


@jitable
def differ(keys, n_items, first):
    """Are any of the keys another one than the first?"""
    found = False
    for j in range(n_items):
        found |= keys[j] != first
    return found


@jitable
def list_numbers(codes, node, scratch, usual):
    """All rows are listed, as they come."""
    rows, none = node.rows, np.uint64(0)
    first, n_rows = np.uint32(code_of(codes, rows[none])), np.uint64(rows.shape[0])
    varies = gather(codes, rows, n_rows, scratch.swept.keys, first)
    return Listed(rows.shape[0], varies != 0, NONE, 0, none)


@jitable
def gather(codes, rows, n_rows, keys, first):
    """Write the codes of rows, and return bits in which any differs from the first."""
    differs = np.uint32(0)
    if codes.is_thin:
        for i in range(n_rows):
            prefetch(codes.flat, codes.ahead + np.uint64(rows[i]))
            key = np.uint32(code_of(codes, rows[i]))
            keys[i] = key
            differs |= key ^ first
        return differs
    for i in range(n_rows):
        key = np.uint32(code_of(codes, rows[i]))
        keys[i] = key
        differs |= key ^ first
    return differs


# ---- sixteen cuts ------------------------------------------------------------------------------
# `is_left` tells in which of the lanes `at` item j lies on the left: here where its key is at most
# that of the lane.


@jitable
def is_at_most(scratch, at, j):
    return at_most(all_lanes(scratch.swept.keys[j]), at)


def of_classes(laned: Laned, is_left: Callable = is_at_most) -> Callable:
    long = in_floats(laned, is_left, LONG)
    if not laned.has_shorts:
        return long
    short = in_floats(laned, is_left, SHORT)

    @jitable
    def score_cuts(plan, node, scratch, at, items):
        if node.total[0] <= MOST_SHORT:
            return short(plan, node, scratch, at, items)
        return long(plan, node, scratch, at, items)

    return score_cuts


def in_floats(laned: Laned, is_left: Callable, precision: Precision) -> Callable:
    begin, fold, score = folds_of(laned, precision)

    @jitable
    def score_cuts(plan, node, scratch, at, items):
        """The scores of the cuts that lie at those keys."""
        swept, j, first_mass = scratch.swept, np.uint64(0), items.first_mass
        masses, is_above = swept.masses, at_most(all_lanes(np.uint32(items.usual)), at)
        folded = begin()
        for c in range(n_present(swept)):
            found, end = all_lanes(np.uint32(0)), swept.ends[items.which, c]
            while j < end:
                mass = all_lanes(masses[first_mass + j])
                found = where(is_left(scratch, at, j), plus(found, mass), found)
                j += ONE
            unlisted = all_lanes(swept.unlisted[items.which, c])
            found = where(is_above, plus(found, unlisted), found)
            folded = fold(folded, found, swept.totals[c])
        return score(node, folded)[0]

    return score_cuts


def of_whole_numbers(is_left: Callable = is_at_most) -> Callable:
    @jitable
    def score_cuts(plan, node, scratch, at, items):
        """The right side has what the left one has not."""
        amounts, nothing = scratch.amounts, all_lanes(0.0)
        weight_left, total_left = nothing, nothing
        for j in range(np.uint64(items.n_items)):
            left = is_left(scratch, at, j)
            weight, number = all_lanes(amounts[j, np.uint64(0)]), all_lanes(amounts[j, ONE])
            weight_left = where(left, plus(weight_left, weight), weight_left)
            total_left = where(left, plus(total_left, number), total_left)
        weight_right = minus(all_lanes(scratch.total[0]), weight_left)
        total_right = minus(all_lanes(scratch.total[1]), total_left)
        return score_of_numbers(node, weight_left, total_left, weight_right, total_right)

    return score_cuts


def of_numbers(is_left: Callable = is_at_most) -> Callable:
    @jitable
    def score_cuts(plan, node, scratch, at, items):
        """Each side is summed by itself: one may weigh far less than the other."""
        amounts, nothing = scratch.amounts, all_lanes(0.0)
        weight_left, total_left = nothing, nothing
        weight_right, total_right = nothing, nothing
        for j in range(np.uint64(items.n_items)):
            left = is_left(scratch, at, j)
            weight, number = all_lanes(amounts[j, np.uint64(0)]), all_lanes(amounts[j, ONE])
            weight_left = plus(weight_left, where(left, weight, nothing))
            total_left = plus(total_left, where(left, number, nothing))
            weight_right = plus(weight_right, where(left, nothing, weight))
            total_right = plus(total_right, where(left, nothing, number))
        return score_of_numbers(node, weight_left, total_left, weight_right, total_right)

    return score_cuts


@jitable
def rows_at_most(scratch, at, items, n_rows):
    """How many rows lie on the left of the cuts at those keys."""
    keys, found, one = scratch.swept.keys, all_lanes(np.uint32(0)), all_lanes(np.uint32(1))
    for j in range(np.uint64(items.n_items)):
        found = where(at_most(all_lanes(keys[j]), at), plus(found, one), found)
    is_above = at_most(all_lanes(np.uint32(items.usual)), at)
    return where(is_above, plus(found, all_lanes(np.uint32(n_rows - items.n_items))), found)


# ---- the best ----------------------------------------------------------------------------------


def make_few(score_cuts: Callable) -> Callable:
    @jitable
    def of_few(plan, node, scratch, items, most):
        """Score, and the keys on both sides, of the best cut, if it scores no more than `most`."""
        swept, n_rows = scratch.swept, node.rows.shape[0]
        keys, scores = swept.keys, swept.scores
        n_keys = np.uint64(items.n_items)
        if items.n_items < n_rows:  # rows of the usual code have a key like others
            keys[n_keys] = items.usual
            n_keys += ONE
        put_lanes(keys, n_keys, all_lanes(np.uint32(ALL_ONES)))
        best = all_lanes(np.inf)
        for start in range(np.uint64(0), n_keys, STEP):
            at = lanes_at(keys, start)
            score = score_cuts(plan, node, scratch, at, items)
            if plan.settings.min_samples_leaf > 1:
                n_left = rows_at_most(scratch, at, items, n_rows)
                score = if_enough_rows(plan.settings, n_left, n_rows, score)
            put_lanes(scores, start, score)
            best = lesser(best, score)
        least = least_of(best)
        if not least <= most or least == np.inf:
            return np.inf, 0, 0
        low = lowest_of(swept, n_keys, least + node.tie)
        return least, np.int64(low), np.int64(next_above(swept, n_keys, low))

    return of_few


@jitable
def lowest_of(swept, n_keys, most):
    """The least key at which a cut scores no more than that."""
    none = all_lanes(np.uint32(ALL_ONES))
    found, bound = none, all_lanes(most)
    for start in range(np.uint64(0), n_keys, STEP):
        is_one = at_most(lanes_at(swept.scores, start), bound)
        found = lesser(found, where(is_one, lanes_at(swept.keys, start), none))
    return least_of(found)


@jitable
def next_above(swept, n_keys, low):
    """The least key above that one."""
    none, bound = all_lanes(np.uint32(ALL_ONES)), all_lanes(low)
    found = none
    for start in range(np.uint64(0), n_keys, STEP):
        key = lanes_at(swept.keys, start)
        found = lesser(found, where(below(bound, key), key, none))
    return least_of(found)

"""Passes: the best cut between items in order, each scored by what lies on its two sides. For many
items where keys are many too, or weights are not whole numbers.

Below the usual code, if there is one, items come to the left side, above it to the right::

    a b c | usual | d e f        on the left a, ab, abc;  on the right f, ef, def

so that its rows are never touched.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.criteria import Criterion
from forestlab.core.groups import POSITION
from forestlab.core.items import KEY
from forestlab.core.jit import jitable
from forestlab.core.search import lowest_within
from forestlab.core.sides import empty

# ---- sides -------------------------------------------------------------------------------------


class Sums(NamedTuple):
    """How a sweep handles the sides of a criterion that is scored by three numbers a side. The
    first two are exact where weights are whole numbers; then they are those of all rows less
    those of the other side."""

    begin: Callable  # (side) → the numbers of an empty side
    full: Callable  # (node, scratch, side) → those of the side that holds all rows
    put: Callable  # (scratch, item, sign, side, numbers) → its numbers with that row, or without
    put_bin: Callable  # (scratch, key, sign, side, numbers) → the same of a bin
    score: Callable  # (side, numbers) → its weight × impurity, up to a constant
    has_rest: bool  # the second number matters
    n_parts: int  # contributions of a row


def sums_of(criterion: Criterion, whole: bool) -> Sums:
    """That of classes, or of one target of numbers."""
    if criterion.task == "regression":
        return Sums(empty, full_single, put_single, put_bin_single, score_single, False, 2)
    add = (criterion.add_whole or criterion.add) if whole else criterion.add
    has_rest = not (whole and criterion.add_whole)

    @jitable
    def put(scratch, item, sign, side, numbers):
        i = item & POSITION
        slot, amount = scratch.slots[i, np.uint64(0)], scratch.amounts[i, np.uint64(0)]
        return add(side, np.uint64(slot), sign * amount, numbers)

    @jitable
    def put_bin(scratch, key, sign, side, numbers):
        bins, n_slots = scratch.groups.bins, np.uint64(side.shape[0])
        cell = np.uint64(key) * n_slots
        for slot in range(n_slots):
            amount = bins[cell + slot]
            if amount != 0.0:
                numbers = add(side, slot, sign * amount, numbers)
        return numbers

    return Sums(empty, fill, put, put_bin, criterion.score, has_rest, 1)


@jitable
def fill(node, scratch, side):
    for k in range(side.shape[0]):
        side[k] = scratch.total[k]
    return node.total


# Of one target both sums stay in registers: numbers are the weight, nothing, and the sum.


@jitable
def full_single(node, scratch, side):
    return scratch.total[0], 0.0, scratch.total[1]


@jitable
def put_single(scratch, item, sign, side, numbers):
    amounts, i = scratch.amounts, item & POSITION
    weight, _, total = numbers
    return weight + sign * amounts[i, np.uint64(0)], 0.0, total + sign * amounts[i, np.uint64(1)]


@jitable
def put_bin_single(scratch, key, sign, side, numbers):
    bins, cell = scratch.groups.bins, np.uint64(2) * np.uint64(key)
    weight, _, total = numbers
    return weight + sign * bins[cell], 0.0, total + sign * bins[cell + np.uint64(1)]


@jitable
def score_single(side, numbers):
    """As `criteria.variance_score`."""
    weight, _, total = numbers
    return -(total * (total / weight)) if weight > 0.0 else 0.0


# ---- cuts of whole weights ---------------------------------------------------------------------
# Items are taken from one side as they come to the other. What the sides have at a cut is kept, so
# that all cuts are then scored in one go: divisions by fours, and no branch for an item that no cut
# follows, which is a coin's toss.


def make_keep(has_rest: bool) -> Callable:
    @jitable
    def keep(groups, n_kept, place, is_cut, to_numbers, rest_numbers):
        """Keep the numbers of both sides if there is a cut; return how many are kept."""
        groups.cuts[n_kept] = place
        groups.weight[n_kept] = to_numbers[0]
        if has_rest:
            groups.if_right[n_kept] = to_numbers[1]
        groups.numbers[n_kept] = to_numbers[2]
        groups.right_scores[n_kept] = rest_numbers[2]
        return n_kept + np.uint64(is_cut)

    return keep


def make_score_kept(sums: Sums) -> Callable:
    score, has_rest = sums.score, sums.has_rest

    @jitable
    def score_kept(node, scratch, total, n_kept):
        """Fill the scores of what was kept, and return the least."""
        groups, side = scratch.groups, scratch.left
        scores, weight, rest, third = groups.scores, groups.weight, groups.if_right, groups.numbers
        other_third, min_weight = groups.right_scores, node.min_weight
        for c in range(n_kept):
            of_rest = rest[c] if has_rest else 0.0
            other = total[0] - weight[c]
            found = score(side, (weight[c], of_rest, third[c])) + score(
                side, (other, total[1] - of_rest, other_third[c])
            )
            scores[c] = found if weight[c] >= min_weight <= other else np.inf
        least = np.inf
        for c in range(n_kept):
            least = min(least, scores[c])
        return least

    return score_kept


@jitable
def lowest_kept(groups, n_below, n_kept, most):
    """Of the cuts that score no more than this the lowest: those from the right were kept last
    first."""
    for c in range(n_below):
        if groups.scores[c] <= most:
            return groups.cuts[c]
    for c in range(n_kept - 1, n_below - 1, -1):
        if groups.scores[c] <= most:
            return groups.cuts[c]
    return -1


def rows_once(sums: Sums) -> Callable:
    """What scores the cuts around the usual code: below it items come to the left, above it to the
    right."""
    begin, full, score_kept = sums.begin, sums.full, make_score_kept(sums)
    put, keep = sums.put, make_keep(sums.has_rest)

    @jitable
    def move_rows(plan, node, scratch, way, numbers, n_kept):
        """Move rows in order along the way: start, end, step; return how many cuts are kept."""
        groups, to, rest = scratch.groups, scratch.left, scratch.right
        order, n_rows = groups.order, node.rows.shape[0]
        min_rows = plan.settings.min_samples_leaf
        to_numbers, rest_numbers = numbers
        place, end, by = way
        moved, item = 0, order[place]
        while place != end:
            to_numbers = put(scratch, item, 1.0, to, to_numbers)
            rest_numbers = put(scratch, item, -1.0, rest, rest_numbers)
            moved += 1
            after = place + by
            is_last = after == end
            next_item = item if is_last else order[after]
            is_cut = is_last | ((next_item ^ item) >> KEY != 0)
            is_cut &= (moved >= min_rows) & (n_rows - moved >= min_rows)
            n_kept = keep(groups, n_kept, place, is_cut, to_numbers, rest_numbers)
            place, item = after, next_item
        return n_kept

    @jitable
    def sweep(plan, node, scratch, ends, n_items, most):
        """Least score, and where the lowest cut is that has it, if it is no more than `most`.
        `ends` are where items below the usual code end, and where, backwards, those above do."""
        groups, to, rest = scratch.groups, scratch.left, scratch.right
        n_kept, n_below = np.uint64(0), np.int64(0)
        for turn in range(2):  # a loop, so that it is compiled once
            start, by = (0, 1) if turn == 0 else (n_items - 1, -1)
            if start != ends[turn]:
                numbers = begin(to), full(node, scratch, rest)
                n_kept = move_rows(plan, node, scratch, (start, ends[turn], by), numbers, n_kept)
            if turn == 0:
                n_below = np.int64(n_kept)
        least = score_kept(node, scratch, full(node, scratch, rest), n_kept)
        if not least <= most or least == np.inf:
            return np.inf, -1
        return least, lowest_kept(groups, n_below, np.int64(n_kept), least + node.tie)

    return sweep


# ---- cuts of any weights -----------------------------------------------------------------------
# Each side is summed from its own end: see search.


@jitable
def best_of_both(groups, n_places, tie, most):
    """Add up the scores of both sides; the least, and where the lowest cut is that has it."""
    scores, least = groups.scores, np.inf
    for c in range(n_places):
        scores[c] += groups.right_scores[c]
        least = min(least, scores[c])
    if not least <= most or least == np.inf:
        return np.inf, -1
    return least, lowest_within(groups, n_places, least + tie)


def rows_from_ends(sums: Sums) -> Callable:
    begin, put, score = sums.begin, sums.put, sums.score

    @jitable
    def sweep(plan, node, scratch, ends, n_items, most):
        groups, left, right = scratch.groups, scratch.left, scratch.right
        order, scores, right_scores = groups.order, groups.scores, groups.right_scores
        min_rows, min_weight = plan.settings.min_samples_leaf, node.min_weight
        left_numbers, right_numbers = begin(left), begin(right)
        for c in range(n_items - 1):
            last = n_items - 2 - c
            left_numbers = put(scratch, order[c], 1.0, left, left_numbers)
            right_numbers = put(scratch, order[last + 1], 1.0, right, right_numbers)
            is_cut = c + 1 >= min_rows and (order[c] ^ order[c + 1]) >> KEY != 0
            heavy = left_numbers[0] >= min_weight
            scores[c] = score(left, left_numbers) if is_cut and heavy else np.inf
            is_cut = c + 1 >= min_rows and (order[last] ^ order[last + 1]) >> KEY != 0
            heavy = right_numbers[0] >= min_weight
            right_scores[last] = score(right, right_numbers) if is_cut and heavy else np.inf
        return best_of_both(groups, n_items - 1, node.tie, most)

    return sweep


def bins_from_ends(sums: Sums) -> Callable:
    begin, put, score = sums.begin, sums.put_bin, sums.score

    @jitable
    def sweep(plan, node, scratch, n_keys, most):
        """Also how many bins hold any rows."""
        groups, left, right = scratch.groups, scratch.left, scratch.right
        tally, scores, right_scores = groups.tally, groups.scores, groups.right_scores
        min_rows, min_weight = plan.settings.min_samples_leaf, node.min_weight
        left_numbers, right_numbers = begin(left), begin(right)
        n_left, n_right = np.int64(0), np.int64(0)
        n_held = np.int64(tally[n_keys - 1] > 0)
        for key in range(n_keys - 1):
            last = n_keys - 2 - key
            left_numbers = put(scratch, key, 1.0, left, left_numbers)
            right_numbers = put(scratch, last + 1, 1.0, right, right_numbers)
            n_left += np.int64(tally[key])
            n_right += np.int64(tally[last + 1])
            n_held += tally[key] > 0
            is_cut = tally[key] > 0 and n_left >= min_rows and left_numbers[0] >= min_weight
            scores[key] = score(left, left_numbers) if is_cut else np.inf
            is_cut = tally[last] > 0 and n_right >= min_rows and right_numbers[0] >= min_weight
            right_scores[last] = score(right, right_numbers) if is_cut else np.inf
        least, key = best_of_both(groups, n_keys - 1, node.tie, most)
        return least, key, n_held

    return sweep

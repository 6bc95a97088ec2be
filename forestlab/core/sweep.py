"""One feature of one node, where every cut counts: from codes to the best cut.

Most nodes are small and most of a fit is spent here, so nothing is listed that need not be: no
groups, no cuts. An *item* is a row, as its key, the code, and its place in the node, or a bin of
all rows that share a key. Steps:

1. list the items: rows are put in order, or tallied into bins if there are many (see groups);
2. *sweep*: move items from one side to the other, and score where the next key is another;
3. of the cuts within a tie of the best take the lowest.

The *usual* code of a column is the one that most rows have, as 0 is that of most pixels. Where sums
of weights are exact its rows are never touched: items below it are moved from the left, those above
it from the right, and what is left over has it::

    a b c | usual | d e f        sweeps: a, ab, abc on the left;  f, ef, def on the right

A score stands at the item behind (below) or before (above) which the cut lies, so scores stand in
the order of their cuts.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import UNSEEN, Columns
from forestlab.core.bits import set_bit
from forestlab.core.criteria import Criterion
from forestlab.core.groups import (
    BYTE,
    COUNTED,
    FEW,
    INSERTION,
    POSITION,
    bins_pay,
    empty_bins,
    insertion_sort,
    radix_sort,
)
from forestlab.core.jit import jitable, kernel, rank_32, rank_sixteen
from forestlab.core.node import cut_between, nothing
from forestlab.core.scratch import Question
from forestlab.core.search import lowest_within
from forestlab.core.sides import empty

KEY = np.uint64(32)  # bits that a key stands above a place
TURNED = 8192  # rows that are turned together
SPARSE = 16  # of so many rows a node has less than one: its codes are read by rows
MOST_PACKED = 2**24  # keys that stand in 32 bits with a place among FEW

# ---- codes -------------------------------------------------------------------------------------


class Codes(NamedTuple):
    """A feature's codes: that of a row is flat[first + row * step]."""

    flat: np.ndarray
    first: np.uint64
    step: np.uint64


def by_row(codes: np.ndarray, n_jobs: int) -> np.ndarray:
    """The codes of each row together, those of the rows end to end."""
    n_features, n_rows = codes.shape
    turned = np.empty((n_rows, n_features), codes.dtype)
    with ThreadPoolExecutor(n_jobs) as pool:
        starts = range(0, n_rows, TURNED)
        list(pool.map(lambda start: turn(codes, start, start + TURNED, turned), starts))
    return turned.reshape(-1)


@kernel(allocates=False)
def turn(codes, start, end, turned):
    """Turn the rows from start to end, in squares that stay in the cache."""
    n_features, n_rows = codes.shape
    for first in range(start, min(end, n_rows), 64):
        for feature in range(0, n_features, 64):
            for row in range(first, min(first + 64, n_rows)):
                for j in range(feature, min(feature + 64, n_features)):
                    turned[np.uint64(row), np.uint64(j)] = codes[np.uint64(j), np.uint64(row)]


@jitable
def codes_of(plan, n_rows, feature):
    """Of many rows from the column, where neighbours share a line of the cache; of few from the
    table by rows, where the other features of a row are near, and all that a small subtree looks at
    stays in the cache."""
    n_features, n_all = plan.columns.codes.shape
    if n_rows * SPARSE < n_all and plan.by_row.shape[0] > 0:
        return Codes(plan.by_row, np.uint64(feature), np.uint64(n_features))
    return Codes(plan.by_column, np.uint64(feature) * np.uint64(n_all), np.uint64(1))


@jitable
def code_of(codes, row):
    return codes.flat[codes.first + np.uint64(row) * codes.step]


# ---- rows in order -----------------------------------------------------------------------------


@jitable
def list_items(codes, rows, usual, items):
    """List the rows that have another code than the usual one; return how many. Which are kept is
    no branch to mispredict, and the least and greatest code would take as long again to find."""
    n_items, unkept = np.uint64(0), np.uint32(usual)
    for i in range(np.uint64(rows.shape[0])):
        code = np.uint32(code_of(codes, rows[i]))
        items[n_items] = (np.uint64(code) << KEY) | i
        n_items += np.uint64(code != unkept)
    return np.int64(n_items)


@jitable
def sort_few(codes, rows, usual, groups):
    """List the rows that have another code than the usual one, in order; return how many.

    Each counts those before it, all at once and without a branch to mispredict: 13 rows take a
    third of the time of an insertion sort.
    """
    few, ranks, order = groups.few, groups.ranks, groups.order
    n_items, unkept = np.uint64(0), np.uint32(usual)
    for i in range(np.uint64(rows.shape[0])):
        code = np.uint32(code_of(codes, rows[i]))
        few[n_items] = (code << np.uint32(8)) | np.uint32(i)
        n_items += np.uint64(code != unkept)
    if n_items <= 16:
        rank_sixteen(few, np.int64(n_items), ranks)
    else:
        rank_32(few, np.int64(n_items), ranks)
    for k in range(n_items):
        item = np.uint64(few[k])
        order[np.uint64(ranks[k])] = ((item >> np.uint64(8)) << KEY) | (item & np.uint64(255))
    return np.int64(n_items)


@jitable
def sort_many(codes, rows, usual, groups, n_keys):
    """The same of many rows; keys are below `n_keys`."""
    items, order = groups.buffer, groups.order
    n_items = list_items(codes, rows, usual, items)
    if n_items > INSERTION and n_keys <= max(BYTE, COUNTED * n_items):
        sort_by_counting(groups, n_items, np.uint64(n_keys))
        return n_items
    for i in range(n_items):
        order[i] = items[i]
    if n_items <= INSERTION:
        insertion_sort(order, n_items)
    else:
        radix_sort(order, items, groups.tally, n_items, n_keys - 1)
    return n_items


@jitable
def sort_by_counting(groups, n_items, n_keys):
    items, order, count = groups.buffer, groups.order, groups.tally
    for i in range(n_items):
        count[items[i] >> KEY] += np.uint32(1)
    start = np.uint32(0)
    for key in range(n_keys):
        n_here = count[key]
        count[key] = start
        start += n_here
    for i in range(n_items):
        key = items[i] >> KEY
        order[np.uint64(count[key])] = items[i]
        count[key] += np.uint32(1)
    for key in range(n_keys):
        count[key] = 0


@jitable
def first_above(order, n_items, usual):
    """How many items have a key below the usual one."""
    low, high = 0, n_items
    while low < high:
        middle = (low + high) >> 1
        if order[middle] >> KEY < usual:
            low = middle + 1
        else:
            high = middle
    return low


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


def make_pass(sums: Sums, move_all: Callable) -> Callable:
    """What scores the cuts around the usual code: below it items come to the left, above it to the
    right. `move_all` moves those of one side."""
    begin, full, score_kept = sums.begin, sums.full, make_score_kept(sums)

    @jitable
    def sweep(plan, node, scratch, ends, n_items, most):
        """Least score, and where the lowest cut is that has it, if it is no more than `most`; and
        how many items there are. `ends` are where items below the usual code end, and where,
        backwards, those above it do."""
        groups, to, rest = scratch.groups, scratch.left, scratch.right
        n_kept, n_below, n_moved = np.uint64(0), np.int64(0), 0
        for turn in range(2):  # a loop, so that it is compiled once
            start, by = (0, 1) if turn == 0 else (n_items - 1, -1)
            if start != ends[turn]:
                to_numbers, rest_numbers = begin(to), full(node, scratch, rest)
                n_kept, n_here = move_all(
                    plan, node, scratch, (start, ends[turn], by), (to_numbers, rest_numbers), n_kept
                )
                n_moved += n_here
            if turn == 0:
                n_below = np.int64(n_kept)
        least = score_kept(node, scratch, full(node, scratch, rest), n_kept)
        if not least <= most or least == np.inf:
            return np.inf, -1, n_moved
        return least, lowest_kept(groups, n_below, np.int64(n_kept), least + node.tie), n_moved

    return sweep


def rows_once(sums: Sums) -> Callable:
    put, keep = sums.put, make_keep(sums.has_rest)

    @jitable
    def move_rows(plan, node, scratch, way, numbers, n_kept):
        """Move rows in order along the way: start, end, step."""
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
        return n_kept, moved

    return make_pass(sums, move_rows)


def bins_once(sums: Sums) -> Callable:
    put, keep = sums.put_bin, make_keep(sums.has_rest)

    @jitable
    def move_bins(plan, node, scratch, way, numbers, n_kept):
        """Move bins along the way, of keys."""
        groups, to, rest = scratch.groups, scratch.left, scratch.right
        tally, n_rows = groups.tally, node.rows.shape[0]
        min_rows = plan.settings.min_samples_leaf
        to_numbers, rest_numbers = numbers
        key, end, by = way
        moved, n_held = np.int64(0), 0
        while key != end:
            if tally[key] > 0:
                to_numbers = put(scratch, key, 1.0, to, to_numbers)
                rest_numbers = put(scratch, key, -1.0, rest, rest_numbers)
                moved += np.int64(tally[key])
                n_held += 1
                is_cut = (moved >= min_rows) & (n_rows - moved >= min_rows)
                n_kept = keep(groups, n_kept, key, is_cut, to_numbers, rest_numbers)
            key += by
        return n_kept, n_held

    return make_pass(sums, move_bins)


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
        least, place = best_of_both(groups, n_items - 1, node.tie, most)
        return least, place, n_items

    return sweep


def bins_from_ends(sums: Sums) -> Callable:
    begin, put, score = sums.begin, sums.put_bin, sums.score

    @jitable
    def sweep(plan, node, scratch, ends, n_keys, most):
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


# ---- bins --------------------------------------------------------------------------------------


def make_tally(sums: Sums) -> Callable:
    n_parts = np.uint64(sums.n_parts)

    @jitable
    def tally_row(scratch, i, key, n_slots):
        groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
        groups.tally[key] += np.uint32(1)
        for part in range(n_parts):
            slot = np.uint64(slots[i, part]) if n_parts == 1 else part
            groups.bins[key * n_slots + slot] += amounts[i, part]

    @jitable
    def tally(plan, node, scratch, feature, usual, n_keys):
        """Tally the rows that have another code than the usual one into bins; return how many."""
        rows, items = node.rows, scratch.groups.buffer
        codes = codes_of(plan, rows.shape[0], feature)
        n_slots = np.uint64(scratch.sums.shape[0])
        if usual < n_keys:
            n_items = list_items(codes, rows, usual, items)
            for place in range(n_items):
                item = items[place]
                tally_row(scratch, item & POSITION, item >> KEY, n_slots)
            return n_items
        for i in range(np.uint64(rows.shape[0])):
            key = np.uint64(code_of(codes, rows[i]))
            tally_row(scratch, i, key, n_slots)
        return rows.shape[0]

    return tally


# ---- the usual code ----------------------------------------------------------------------------

USUAL = 0.3  # share of the rows from which on a code is the usual one
NONE = 0xFFFFFFFF  # that no row has


def usual_codes(columns: Columns, n_jobs: int) -> np.ndarray:
    """The code of each column that more than so many of its rows have, or NONE."""
    n_features, n_rows = columns.codes.shape
    usual = np.full(n_features, NONE, np.int64)

    def find(j: int) -> None:
        # A sample will do: another code would give the same trees, more slowly.
        counts = np.bincount(columns.codes[j, :: max(1, n_rows // 1000)])
        if counts.max(initial=0) > USUAL * counts.sum():
            usual[j] = counts.argmax()

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(find, range(n_features)))
    return usual


# ---- one feature -------------------------------------------------------------------------------


def make_usual(known: bool) -> Callable:
    @jitable
    def usual_of(plan, feature):
        """The code that most rows have, or if none stands out one that no row has."""
        return plan.usual[feature] if known else np.int64(NONE)

    return usual_of


def make_sweep(criterion: Criterion, whole: bool) -> Callable:
    """What finds a node's best question about one feature, of all its cuts."""
    usual_of = make_usual(whole and criterion.task == "classification")
    sums = sums_of(criterion, whole)
    sweep_rows = (rows_once if whole else rows_from_ends)(sums)
    sweep_bins = (bins_once if whole else bins_from_ends)(sums)
    tally = make_tally(sums)

    @jitable
    def by_rows(plan, node, scratch, feature, n_keys, most):
        """Score, and the keys on both sides, of the best cut, if it scores no more than `most`."""
        groups, rows = scratch.groups, node.rows
        codes = codes_of(plan, rows.shape[0], feature)
        order, n_rows, usual = groups.order, rows.shape[0], usual_of(plan, feature)
        if n_rows <= FEW and n_keys < MOST_PACKED:
            n_items = sort_few(codes, rows, usual, groups)
        else:
            n_items = sort_many(codes, rows, usual, groups, n_keys)
        if n_items < n_rows:
            varies, n_below = n_items > 0, first_above(order, n_items, usual)
        else:
            varies, n_below = (order[0] ^ order[n_items - 1]) >> KEY != 0, n_items
        if not varies:
            set_bit(node.constant, feature)
            return np.inf, 0, 0
        best, place, _ = sweep_rows(plan, node, scratch, (n_below, n_below - 1), n_items, most)
        if best == np.inf:
            return best, 0, 0
        low = high = np.int64(order[place] >> KEY)
        if place < n_below:
            high = np.int64(order[place + 1] >> KEY) if place + 1 < n_below else usual
        else:
            low = np.int64(order[place - 1] >> KEY) if place > n_below else usual
        return best, low, high

    @jitable
    def by_bins(plan, node, scratch, feature, n_keys, most):
        """The same; bins are left empty."""
        groups, usual = scratch.groups, usual_of(plan, feature)
        n_usual = node.rows.shape[0] - tally(plan, node, scratch, feature, usual, n_keys)
        usual = usual if n_usual > 0 else n_keys
        best, low, n_held = sweep_bins(
            plan, node, scratch, (usual, min(usual, n_keys - 1)), n_keys, most
        )
        high = low
        if n_held + (n_usual > 0) == 1:
            set_bit(node.constant, feature)
        elif best < np.inf and low < usual:
            high += 1
            while high < usual and groups.tally[high] == 0:
                high += 1
        elif best < np.inf:
            low -= 1
            while low > usual and groups.tally[low] == 0:
                low -= 1
        empty_bins(groups, n_keys, scratch.sums.shape[0])
        return best, low, high

    @jitable
    def evaluate(plan, node, scratch, feature, least_so_far, pick):
        """The node's best question about a feature, if it is as good as those found."""
        columns, most = plan.columns, least_so_far + node.tie
        first = columns.first[feature]
        n_keys = columns.first[feature + 1] - first
        if bins_pay(n_keys, node.rows.shape[0], scratch.sums.shape[0]):
            best, low, high = by_bins(plan, node, scratch, feature, n_keys, most)
        else:
            best, low, high = by_rows(plan, node, scratch, feature, n_keys, most)
        if best == np.inf:
            return nothing()
        below, above = columns.upper[first + low], columns.lower[first + high]
        number = cut_between(below, above, plan.settings.midpoint)
        return Question(best, feature, -1, low, -np.inf, number, UNSEEN)

    return evaluate

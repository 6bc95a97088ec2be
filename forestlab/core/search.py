"""Searches: which cuts of a feature are looked at, and which is best.

Vocabulary. A *group* is the rows of a node that share a key; groups stand in the order of their
keys. *Cut g* separates the groups 0 … g from the rest. Steps for one feature of one node:

1. `group`: tally the rows into bins (large nodes), or put them in order (small nodes).
2. `propose`: list the cuts that the search admits and that leave enough rows on both sides.
3. `thin`: keep `n_thresholds` random ones of them.
4. `scan`: add up the groups from either end, score the listed cuts, keep the best.

Both ways of grouping give the same groups, so the same cuts.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.criteria import NOTHING, Criterion
from forestlab.core.jit import jitable
from forestlab.core.rng import shuffle_step

POSITION = np.uint64(0xFFFFFFFF)  # the half of a sort key that holds the row's place in the node
INSERTION = 20  # up to so many rows insertion beats the other sorts
COUNTED = 4  # keys are sorted by counting if they span no more than this many values a row …
BYTE = 256  # … or than one byte holds
# Scores are equal if rounding alone could part them: a sum of n terms is good to about n ε. So a
# tie is TIE × n × the node's weight × impurity. A wider one (1e-9) also takes scores for equal that
# exact arithmetic on the given floats tells apart, such as targets 23.0, 23.1, 23.2 cut in two. To
# be a tie apart is not transitive, so scores are always compared with the least of all.
TIE = 16 * 2.0**-52


class Groups(NamedTuple):
    """Scratch of one thread; `key` and `end` have an entry a group, and room for one more."""

    keys: np.ndarray  # (n,) uint32: each row's key
    order: np.ndarray  # (n,) uint64: (key, place) of each row; sorted when not dense
    buffer: np.ndarray  # (n,) uint64
    bins: np.ndarray  # float64: a cell for each (key, slot); zero between uses
    tally: np.ndarray  # uint32: rows with each key; zero between uses
    key: np.ndarray  # int64
    end: np.ndarray  # int64: rows in this group and those before it
    lowest_mark: np.ndarray  # int64: least and greatest target mark in the group
    highest_mark: np.ndarray
    weight: np.ndarray  # float64: of the group
    cuts: np.ndarray  # int64: the cuts listed
    scores: np.ndarray  # float64: the score of each of them
    right_scores: np.ndarray  # float64: of what lies on its right
    chosen: np.ndarray  # bool


def make_groups(n_rows: int, n_codes: int, n_slots: int) -> Groups:
    n_counts = min(n_codes, max(BYTE, COUNTED * n_rows))
    return Groups(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows, np.uint64),
        np.empty(n_rows, np.uint64),
        np.zeros(min(n_codes * n_slots, n_rows), np.float64),
        np.zeros(n_counts, np.uint32),
        np.empty(n_rows + 1, np.int64),
        np.empty(n_rows + 1, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows),
        np.empty(n_rows, np.int64),
        np.empty(n_rows),
        np.empty(n_rows),
        np.zeros(n_rows, np.bool_),
    )


@jitable
def bins_pay(n_keys, n_rows, n_slots):
    """Moving a bin looks at every slot, moving a row at one: bins want a row a cell, on average."""
    return n_keys * n_slots <= n_rows


@jitable
def group_in_bins(groups, least, greatest, n_rows, slots, amounts, n_slots):
    """Tally rows into bins; list the bins that hold any."""
    keys, bins, count = groups.keys, groups.bins, groups.tally
    n_parts = slots.shape[1]
    first = np.uint32(least)
    stride = np.uint64(n_slots)
    for i in range(n_rows):
        key = np.uint64(keys[i] - first)
        count[key] += np.uint32(1)
        for part in range(n_parts):
            bins[key * stride + np.uint64(slots[i, part])] += amounts[i, part]
    return list_groups(groups, greatest - least + 1)


@jitable
def list_groups(groups, n_keys):
    """List the keys that occur; return how many. Counts become where each key's rows begin.

    There is no branch to mispredict: an entry for a key that does not occur is written over. With
    a branch 100 rows over 256 keys took twice as long.
    """
    count, group_key, group_end = groups.tally, groups.key, groups.end
    n_groups = 0
    seen = np.uint32(0)
    for key in range(n_keys):
        n_here = count[key]
        count[key] = seen
        seen += n_here
        group_key[n_groups] = key
        group_end[n_groups] = seen
        n_groups += 1 if n_here > 0 else 0
    return n_groups


@jitable
def empty_bins(groups, n_keys, n_slots):
    count, bins = groups.tally, groups.bins
    for key in range(n_keys):
        count[key] = 0
    for cell in range(n_keys * n_slots):
        bins[cell] = 0.0


@jitable
def group_by_counting(groups, least, greatest, n_rows):
    """Sort rows by counting their keys."""
    keys, order, count = groups.keys, groups.order, groups.tally
    first = np.uint32(least)
    n_keys = greatest - least + 1
    for i in range(n_rows):
        count[keys[i] - first] += np.uint32(1)
    n_groups = list_groups(groups, n_keys)
    for i in range(n_rows):
        key = keys[i] - first
        order[count[key]] = np.uint64(i)
        count[key] += np.uint32(1)
    for key in range(n_keys):
        count[key] = 0
    return n_groups


@jitable
def group_by_sort(groups, least, greatest, n_rows):
    """Sort rows by key; list the runs of equal keys."""
    if n_rows > INSERTION and greatest - least < max(BYTE, COUNTED * n_rows):
        return group_by_counting(groups, least, greatest, n_rows)
    keys, order, group_key, group_end = groups.keys, groups.order, groups.key, groups.end
    first = np.uint32(least)
    for i in range(n_rows):
        order[i] = (np.uint64(keys[i] - first) << np.uint64(32)) | np.uint64(i)
    if n_rows <= INSERTION:
        insertion_sort(order, n_rows)
    else:
        radix_sort(order, groups.buffer, groups.tally, n_rows, greatest - least)
    n_groups = 0
    last = np.int64(-1)
    for i in range(n_rows):
        key = np.int64(order[i] >> np.uint64(32))
        if key != last:
            group_key[n_groups] = key
            n_groups += 1
            last = key
        group_end[n_groups - 1] = i + 1
    return n_groups


@jitable
def insertion_sort(items, n):
    for i in range(1, n):
        item = items[i]
        j = i
        while j > 0 and items[j - 1] > item:
            items[j] = items[j - 1]
            j -= 1
        items[j] = item


@jitable
def radix_sort(items, buffer, count, n, greatest):
    """Sort by the upper halves, a byte a pass from the lowest; stable, so places stay in order."""
    shift = np.uint64(32)
    byte = np.uint64(255)
    while greatest > 0:
        for i in range(n):
            count[(items[i] >> shift) & byte] += np.uint32(1)
        end = np.uint32(0)
        for b in range(256):
            end += count[b]
            count[b] = end - count[b]
        for i in range(n):
            b = (items[i] >> shift) & byte
            buffer[count[b]] = items[i]
            count[b] += np.uint32(1)
        for i in range(n):
            items[i] = buffer[i]
        for b in range(256):
            count[b] = 0
        shift += np.uint64(8)
        greatest >>= 8


# ---- which cuts are proposed -------------------------------------------------------------------


@jitable
def enough_rows(groups, n_groups, g, least):
    """Does cut g leave at least so many rows on both sides?"""
    return groups.end[g] >= least <= groups.end[n_groups - 1] - groups.end[g]


@jitable
def propose_all(plan, node, scratch, n_groups, first_key):
    """List every cut that leaves enough rows; return how many."""
    groups = scratch.groups
    n_cuts = 0
    for g in range(n_groups - 1):
        if enough_rows(groups, n_groups, g, plan.settings.min_samples_leaf):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


@jitable
def propose_boundary(plan, node, scratch, n_groups, first_key):
    """List the cuts that do not lie inside a run of rows of one target; return how many.

    Within such a run the impurity is concave (Fayyad and Irani 1992), so the best cut is at one of
    its ends, or where a limit on the leaves ends the run: the first and the last cut that leave
    enough on both sides are listed too.
    """
    groups = scratch.groups
    mark_groups(groups, n_groups, first_key, node.rows, plan.marks, scratch.amounts)
    least = plan.settings.min_samples_leaf
    first, last = allowed_range(groups, n_groups, least, node.min_weight)
    n_cuts = 0
    for g in range(first, last + 1):
        at_limit = (g == first and first > 0) or (g == last and last < n_groups - 2)
        if at_limit or is_boundary(groups, g):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


@jitable
def is_boundary(groups, g):
    lowest, highest = groups.lowest_mark, groups.highest_mark
    return not (lowest[g] == highest[g] == lowest[g + 1] == highest[g + 1])


@jitable
def allowed_range(groups, n_groups, min_samples_leaf, min_weight):
    """The first and the last cut that leave enough rows and weight on both sides."""
    first, last = 0, n_groups - 2
    weight = groups.weight[0]
    while first <= last and (groups.end[first] < min_samples_leaf or weight < min_weight):
        first += 1
        weight += groups.weight[first]
    n_rows = groups.end[n_groups - 1]
    weight = groups.weight[n_groups - 1]
    while last >= first and (n_rows - groups.end[last] < min_samples_leaf or weight < min_weight):
        weight += groups.weight[last]
        last -= 1
    return first, last


@jitable
def mark_groups(groups, n_groups, first_key, rows, marks, amounts):
    """The least and greatest target mark of each group, and its weight."""
    keys, group_key = groups.keys, groups.key
    lowest, highest, weight = groups.lowest_mark, groups.highest_mark, groups.weight
    for g in range(n_groups):
        lowest[g] = np.int64(2**62)
        highest[g] = np.int64(-1)
        weight[g] = 0.0
    for i in range(rows.shape[0]):
        key = np.int64(keys[i]) - first_key
        low, high = 0, n_groups - 1
        while low < high:
            middle = (low + high) >> 1
            if group_key[middle] < key:
                low = middle + 1
            else:
                high = middle
        mark = np.int64(marks[rows[i]])
        lowest[low] = min(lowest[low], mark)
        highest[low] = max(highest[low], mark)
        weight[low] += amounts[i, 0]


@jitable
def thin(groups, n_cuts, n_kept, key):
    """Keep a uniform subset of the listed cuts, in order; that for k is part of that for k + 1."""
    if n_cuts <= n_kept:
        return n_cuts
    cuts, chosen = groups.cuts, groups.chosen
    for i in range(n_kept):
        shuffle_step(cuts, i, n_cuts, key)
        chosen[cuts[i]] = True
    kept = 0
    g = 0
    while kept < n_kept:
        if chosen[g]:
            chosen[g] = False
            cuts[kept] = g
            kept += 1
        g += 1
    return n_kept


# ---- scoring -----------------------------------------------------------------------------------


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


@jitable
def move_item(add, scratch, item, dense, left_numbers, right_numbers):
    """Move a bin, or a row in the order of its key, from right to left; returns the numbers."""
    groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
    left, right = scratch.left, scratch.right
    if dense:
        n_slots = np.uint64(left.shape[0])
        cell = np.uint64(groups.key[item]) * n_slots
        for k in range(n_slots):
            amount = groups.bins[cell + k]
            if amount != 0.0:
                left_numbers = add(left, k, amount, left_numbers)
                right_numbers = add(right, k, -amount, right_numbers)
        return left_numbers, right_numbers
    i = groups.order[item] & POSITION
    for part in range(slots.shape[1]):
        slot, amount = slots[i, np.uint64(part)], amounts[i, np.uint64(part)]
        left_numbers = add(left, slot, amount, left_numbers)
        right_numbers = add(right, slot, -amount, right_numbers)
    return left_numbers, right_numbers


def scan_ends(add, score):
    """How listed cuts are scored for weights of any kind.

    Each side is summed from its own end, so what it holds is never the small difference of two
    large sums, however much weights differ. Both ends go in one loop, as neither waits for the
    other's sums; indices are unsigned, so that numba need not ask whether they count from the end.
    """

    @jitable
    def scan(node, scratch, n_groups, n_cuts, dense):
        """Score the listed cuts, and return the least score."""
        groups, left, right = scratch.groups, scratch.left, scratch.right
        cuts, scores, right_scores = groups.cuts, groups.scores, groups.right_scores
        left_numbers, right_numbers = empty(left), empty(right)
        done, still = np.uint64(0), n_items(groups, n_groups, dense)
        for c in range(n_cuts):
            end = n_items(groups, cuts[c] + 1, dense)
            while done < end:
                left_numbers = add_item(add, scratch, done, dense, left, left_numbers)
                done += np.uint64(1)
            last = np.uint64(n_cuts - 1 - c)
            end = n_items(groups, cuts[last] + 1, dense)
            while still > end:
                still -= np.uint64(1)
                right_numbers = add_item(add, scratch, still, dense, right, right_numbers)
            heavy_left = left_numbers[0] >= node.min_weight
            heavy_right = right_numbers[0] >= node.min_weight
            scores[c] = score(left, left_numbers) if heavy_left else np.inf
            right_scores[last] = score(right, right_numbers) if heavy_right else np.inf
        least = np.inf
        for c in range(n_cuts):
            scores[c] += right_scores[c]
            least = min(least, scores[c])
        return least

    return scan


def scan_once(add, score):
    """How listed cuts are scored for weights that are whole numbers: rows are counted exactly, so
    that they may as well be taken from the right. It reads each row once: a third faster."""

    @jitable
    def scan(node, scratch, n_groups, n_cuts, dense):
        """Score the listed cuts, and return the least score."""
        groups, left, right = scratch.groups, scratch.left, scratch.right
        cuts, scores = groups.cuts, groups.scores
        left_numbers, right_numbers = empty(left), node.total
        for k in range(right.shape[0]):
            right[k] = scratch.total[k]
        done, least = np.uint64(0), np.inf
        for c in range(n_cuts):
            end = n_items(groups, cuts[c] + 1, dense)
            while done < end:
                left_numbers, right_numbers = move_item(
                    add, scratch, done, dense, left_numbers, right_numbers
                )
                done += np.uint64(1)
            here = score(left, left_numbers) + score(right, right_numbers)
            heavy = left_numbers[0] >= node.min_weight <= right_numbers[0]
            scores[c] = here if heavy else np.inf
            least = min(least, scores[c])
        return least

    return scan


def make_scan(criterion: Criterion, whole: bool) -> Callable:
    """What scores the listed cuts, for a criterion; `whole` weights are whole numbers."""
    if whole:
        return scan_once(criterion.add_whole or criterion.add, criterion.score)
    return scan_ends(criterion.add, criterion.score)


@jitable
def lowest_within(groups, n_cuts, most):
    """The lowest listed cut with no more than this score."""
    for c in range(n_cuts):
        if groups.scores[c] <= most:
            return groups.cuts[c]
    return -1


# ---- the table ---------------------------------------------------------------------------------


class Search(NamedTuple):
    propose: Callable  # lists the cuts of a feature that are looked at
    binned: bool  # columns are encoded in quantile bins, else by distinct values
    marked: bool = False  # it asks which rows have equal targets
    alias_of: str = ""  # the name whose compiled kernel serves this one too


SEARCHES: dict[str, Search] = {
    "exact": Search(propose_all, binned=False),
    "histogram": Search(propose_all, binned=True, alias_of="exact"),
    "boundary": Search(propose_boundary, binned=False, marked=True),
}

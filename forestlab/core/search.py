"""Searches: which cuts of a feature are looked at, and which is best.

Vocabulary. A *group* is the rows of a node that share a key; groups stand in the order of their
keys. *Cut g* separates the groups 0 … g from the rest. Steps for one feature of one node:

1. `group`: tally the rows into bins (large nodes), or put them in order (small nodes).
2. `propose`: list the cuts that the search admits and that leave enough rows on both sides.
3. `thin`: keep `n_thresholds` random ones of them.
4. `scan`: move group after group from right to left, score the listed cuts, keep the best.

Both ways of grouping give the same groups, so the same cuts.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.rng import shuffle_step

POSITION = np.uint64(0xFFFFFFFF)  # the half of a sort key that holds the row's place in the node
INSERTION = 20  # up to so many rows insertion beats the other sorts
COUNTED = 4  # keys are sorted by counting if they span no more than this many values a row …
BYTE = 256  # … or than one byte holds
# Scores are equal if rounding alone could part them: a sum of n terms is good to about n ε. So a
# tie is TIE × n × the node's weight × impurity. A wider one (1e-9) also takes scores for equal that
# exact arithmetic on the given floats tells apart, such as targets 23.0, 23.1, 23.2 cut in two.
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
    cuts: np.ndarray  # int64: the cuts listed
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
        np.empty(n_rows, np.int64),
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
def every_cut(lowest_mark, highest_mark, g):
    return True


@jitable
def boundary_cut(lowest_mark, highest_mark, g):
    """Not inside a run of rows that share one target."""
    mark = lowest_mark[g]
    return not (mark == highest_mark[g] == lowest_mark[g + 1] == highest_mark[g + 1])


@jitable
def mark_nothing(groups, n_groups, least, rows, marks):
    pass


@jitable
def mark_groups(groups, n_groups, least, rows, marks):
    """The least and greatest target mark of each group."""
    keys, group_key = groups.keys, groups.key
    lowest, highest = groups.lowest_mark, groups.highest_mark
    for g in range(n_groups):
        lowest[g] = np.int64(2**62)
        highest[g] = np.int64(-1)
    for i in range(rows.shape[0]):
        key = np.int64(keys[i]) - least
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


@jitable
def propose(admits, groups, n_groups, min_samples_leaf):
    """List the admissible cuts; return how many."""
    cuts, group_end = groups.cuts, groups.end
    lowest, highest = groups.lowest_mark, groups.highest_mark
    n_rows = group_end[n_groups - 1]
    n_cuts = 0
    for g in range(n_groups - 1):
        enough = group_end[g] >= min_samples_leaf <= n_rows - group_end[g]
        if enough and admits(lowest, highest, g):
            cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


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


class Limits(NamedTuple):
    """What a cut must keep to, in one node."""

    tie: float  # scores this close are equal
    min_weight: float  # on either side


class Total(NamedTuple):
    """The side that holds all of the node's rows."""

    side: np.ndarray
    derived: float
    weight: float


@jitable
def scan(add, score, groups, n_cuts, dense, slots, amounts, total, left, right, limits):
    """The best listed cut: (its score, its group); of equal ones the lowest."""
    cuts, order, bins = groups.cuts, groups.order, groups.bins
    group_key, group_end = groups.key, groups.end
    side, right_derived, right_weight = total
    left_derived, left_weight = 0.0, 0.0
    n_slots = side.shape[0]
    for k in range(n_slots):
        left[k] = 0.0
        right[k] = side[k]
    best_score, best_cut = np.inf, -1
    g, n_moved = 0, 0
    for c in range(n_cuts):
        cut = cuts[c]
        while dense and g <= cut:
            first = group_key[g] * n_slots
            for slot in range(n_slots):
                x = bins[first + slot]
                if x != 0.0:
                    left_derived, left_weight = add(left, slot, x, left_derived, left_weight)
                    right_derived, right_weight = add(right, slot, -x, right_derived, right_weight)
            g += 1
        while not dense and n_moved < group_end[cut]:
            i = order[n_moved] & POSITION
            for part in range(slots.shape[1]):
                slot, x = slots[i, part], amounts[i, part]
                left_derived, left_weight = add(left, slot, x, left_derived, left_weight)
                right_derived, right_weight = add(right, slot, -x, right_derived, right_weight)
            n_moved += 1
        here = score(left, left_derived, left_weight) + score(right, right_derived, right_weight)
        heavy_enough = left_weight >= limits.min_weight <= right_weight
        if here < best_score - limits.tie and heavy_enough:
            best_score, best_cut = here, cut
    return best_score, best_cut


# ---- the table ---------------------------------------------------------------------------------


class Search(NamedTuple):
    admits: Callable  # (lowest_mark, highest_mark, g) → is cut g proposed?
    mark: Callable  # fills what `admits` reads
    binned: bool  # columns are encoded in quantile bins, else by distinct values
    alias_of: str = ""  # the name whose compiled kernel serves this one too


SEARCHES: dict[str, Search] = {
    "exact": Search(every_cut, mark_nothing, binned=False),
    "histogram": Search(every_cut, mark_nothing, binned=True, alias_of="exact"),
    "boundary": Search(boundary_cut, mark_groups, binned=False),
}

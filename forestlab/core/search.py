"""Searches: which cuts of a feature are looked at, and which is best.

Vocabulary. A *group* is the rows of a node that share a key; groups stand in the order of their
keys. *Cut g* separates the groups 0 … g from the rest. Steps for one feature of one node:

1. `group`: tally the rows into a dense row of bins (large nodes), or sort them (small nodes).
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
DENSE_CELLS = 8  # bins are used while they have at most this many cells for each row
INSERTION = 48  # up to so many rows insertion beats a radix sort
# Scores are equal if rounding alone could part them: a sum of n terms is good to about n ε. So a
# tie is TIE × n × the node's weight × impurity. A wider one (1e-9) also takes scores for equal that
# exact arithmetic on the given floats tells apart, such as targets 23.0, 23.1, 23.2 cut in two.
TIE = 16 * 2.0**-52


class Groups(NamedTuple):
    """Scratch of one thread; `key` and `end` have an entry a group."""

    keys: np.ndarray  # (n,) uint32: each row's key
    order: np.ndarray  # (n,) uint64: (key, place) of each row; sorted when not dense
    buffer: np.ndarray  # (n,) uint64
    bins: np.ndarray  # float64: a cell for each (key, slot); zero between uses
    n_in_bin: np.ndarray  # uint32; zero between uses
    key: np.ndarray  # int64
    end: np.ndarray  # int64: rows in this group and those before it
    lowest_mark: np.ndarray  # int64: least and greatest target mark in the group
    highest_mark: np.ndarray
    cuts: np.ndarray  # int64: the cuts listed
    chosen: np.ndarray  # bool


@jitable
def make_groups(n_rows, n_codes, n_slots):
    n_bins = min(n_codes, DENSE_CELLS * n_rows // n_slots + 1)
    return Groups(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows, np.uint64),
        np.empty(n_rows, np.uint64),
        np.zeros(n_bins * n_slots, np.float64),
        np.zeros(n_bins, np.uint32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.zeros(n_rows, np.bool_),
    )


@jitable
def fits_bins(least, greatest, n_rows, n_slots):
    return (greatest - least + 1) * n_slots <= DENSE_CELLS * n_rows


@jitable
def group_in_bins(groups, least, greatest, slots, amounts, n_slots):
    """Tally rows into bins; list the bins that hold any."""
    n_rows, n_parts = slots.shape
    first = np.uint32(least)
    stride = np.uint64(n_slots)
    bins, n_in_bin, keys = groups.bins, groups.n_in_bin, groups.keys
    for i in range(n_rows):
        bin_ = np.uint64(keys[i] - first)
        n_in_bin[bin_] += np.uint32(1)
        for part in range(n_parts):
            bins[bin_ * stride + np.uint64(slots[i, part])] += amounts[i, part]
    n_groups = 0
    seen = np.int64(0)
    for key in range(greatest - least + 1):
        if n_in_bin[key] > 0:
            seen += np.int64(n_in_bin[key])
            groups.key[n_groups] = key
            groups.end[n_groups] = seen
            n_groups += 1
    return n_groups


@jitable
def empty_bins(groups, n_groups, n_slots):
    for g in range(n_groups):
        key = groups.key[g]
        groups.n_in_bin[key] = 0
        for cell in range(key * n_slots, (key + 1) * n_slots):
            groups.bins[cell] = 0.0


@jitable
def group_by_sort(groups, least, greatest, n_rows):
    """Sort rows by key; list the runs of equal keys."""
    order = groups.order
    first = np.uint32(least)
    for i in range(n_rows):
        order[i] = (np.uint64(groups.keys[i] - first) << np.uint64(32)) | np.uint64(i)
    if n_rows <= INSERTION:
        insertion_sort(order, n_rows)
    else:
        radix_sort(order, groups.buffer, n_rows, greatest - least)
    n_groups = 0
    for i in range(n_rows):
        key = np.int64(order[i] >> np.uint64(32))
        if i == 0 or key != groups.key[n_groups - 1]:
            groups.key[n_groups] = key
            n_groups += 1
        groups.end[n_groups - 1] = i + 1
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
def radix_sort(items, buffer, n, greatest):
    """Sort by the upper halves, a byte a pass from the lowest; stable, so places stay in order."""
    shift = np.uint64(32)
    byte = np.uint64(255)
    ends = np.empty(256, np.int64)
    while greatest > 0:
        for b in range(256):
            ends[b] = 0
        for i in range(n):
            ends[(items[i] >> shift) & byte] += 1
        for b in range(1, 256):
            ends[b] += ends[b - 1]
        for i in range(n - 1, -1, -1):
            b = (items[i] >> shift) & byte
            ends[b] -= 1
            buffer[ends[b]] = items[i]
        for i in range(n):
            items[i] = buffer[i]
        shift += np.uint64(8)
        greatest >>= 8


# ---- which cuts are proposed -------------------------------------------------------------------


@jitable
def every_cut(groups, g):
    return True


@jitable
def boundary_cut(groups, g):
    """Not inside a run of rows that share one target."""
    mark = groups.lowest_mark[g]
    return not (
        mark == groups.highest_mark[g]
        and mark == groups.lowest_mark[g + 1]
        and mark == groups.highest_mark[g + 1]
    )


@jitable
def mark_nothing(groups, n_groups, least, rows, marks):
    pass


@jitable
def mark_groups(groups, n_groups, least, rows, marks):
    """The least and greatest target mark of each group."""
    for g in range(n_groups):
        groups.lowest_mark[g] = np.int64(2**62)
        groups.highest_mark[g] = np.int64(-1)
    for i in range(rows.shape[0]):
        key = np.int64(groups.keys[i]) - least
        low, high = 0, n_groups - 1
        while low < high:
            middle = (low + high) >> 1
            if groups.key[middle] < key:
                low = middle + 1
            else:
                high = middle
        mark = np.int64(marks[rows[i]])
        groups.lowest_mark[low] = min(groups.lowest_mark[low], mark)
        groups.highest_mark[low] = max(groups.highest_mark[low], mark)


@jitable
def propose(admits, groups, n_groups, min_samples_leaf):
    """List the admissible cuts; return how many."""
    n_rows = groups.end[n_groups - 1]
    n_cuts = 0
    for g in range(n_groups - 1):
        enough = groups.end[g] >= min_samples_leaf <= n_rows - groups.end[g]
        if enough and admits(groups, g):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


@jitable
def thin(groups, n_cuts, n_kept, key):
    """Keep a uniform subset of the listed cuts, in order; that for k is part of that for k + 1."""
    if n_cuts <= n_kept:
        return n_cuts
    for i in range(n_kept):
        shuffle_step(groups.cuts, i, n_cuts, key)
        groups.chosen[groups.cuts[i]] = True
    kept = 0
    g = 0
    while kept < n_kept:
        if groups.chosen[g]:
            groups.chosen[g] = False
            groups.cuts[kept] = g
            kept += 1
        g += 1
    return n_kept


# ---- scoring -----------------------------------------------------------------------------------


class Limits(NamedTuple):
    """What a cut must keep to, in one node."""

    tie: float  # scores this close are equal
    min_weight_leaf: float
    weight_at: int  # where a side holds its weight


@jitable
def scan(add, score, groups, n_cuts, dense, slots, amounts, total, left, right, limits):
    """The best listed cut: (its score, its group); of equal ones the lowest."""
    n_slots = total.shape[0] - 2
    for k in range(n_slots + 2):
        left[k] = 0.0
        right[k] = total[k]
    best_score = np.inf
    best_cut = -1
    g = 0
    for c in range(n_cuts):
        while g <= groups.cuts[c]:
            if dense:
                move_bin(add, groups.bins, groups.key[g] * n_slots, n_slots, left, right)
            else:
                start = groups.end[g - 1] if g > 0 else 0
                for i in range(start, groups.end[g]):
                    move_row(add, groups.order[i] & POSITION, slots, amounts, left, right)
            g += 1
        here = score(left) + score(right)
        lighter = min(left[limits.weight_at], right[limits.weight_at])
        if here < best_score - limits.tie and lighter >= limits.min_weight_leaf:
            best_score = here
            best_cut = groups.cuts[c]
    return best_score, best_cut


@jitable
def move_bin(add, bins, first, n_slots, left, right):
    for slot in range(n_slots):
        amount = bins[first + slot]
        if amount != 0.0:
            add(left, slot, amount)
            add(right, slot, -amount)


@jitable
def move_row(add, i, slots, amounts, left, right):
    for part in range(slots.shape[1]):
        add(left, slots[i, part], amounts[i, part])
        add(right, slots[i, part], -amounts[i, part])


# ---- the table ---------------------------------------------------------------------------------


class Search(NamedTuple):
    admits: Callable  # (groups, g) → is cut g proposed?
    mark: Callable  # fills what `admits` reads
    binned: bool  # columns are encoded in quantile bins, else by distinct values
    alias_of: str = ""  # the name whose compiled kernel serves this one too


SEARCHES: dict[str, Search] = {
    "exact": Search(every_cut, mark_nothing, binned=False),
    "histogram": Search(every_cut, mark_nothing, binned=True, alias_of="exact"),
    "boundary": Search(boundary_cut, mark_groups, binned=False),
}

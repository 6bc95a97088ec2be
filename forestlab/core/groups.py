"""Groups: the rows of a node that share a key, in the order of their keys.

Rows are tallied into bins (large nodes), or put in order (small nodes). Both ways give the same
groups.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable

POSITION = np.uint64(0xFFFFFFFF)  # the half of a sort key that holds the row's place in the node
NO_KEY = np.uint32(0xFFFFFFFF)  # of a row whose value is missing
INSERTION = 20  # up to so many rows insertion beats the other sorts
COUNTED = 4  # keys are sorted by counting if they span no more than this many values a row …
BYTE = 256  # … or than one byte holds
RADIX = np.uint64(10)  # bits of a digit, at most: 17 are sorted in two passes
ONE = np.uint64(1)
FEW = 32  # up to so many rows are put in order by their ranks, see sweep
MOST_SETS = 256  # of few categories all sets are listed, more than there may be rows


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
    numbers: np.ndarray  # float64: where each of them lies, if that is drawn
    scores: np.ndarray  # float64: the score of each of them
    right_scores: np.ndarray  # float64: of what lies on its right
    if_right: np.ndarray  # float64: of each cut, if missing rows go right
    chosen: np.ndarray  # bool
    few: np.ndarray  # (FEW,) uint32: items, and how many are below each, see sweep
    ranks: np.ndarray


def make_groups(n_rows: int, n_codes: int, n_slots: int) -> Groups:
    n_counts = max(1 << int(RADIX), min(n_codes, COUNTED * n_rows))
    n_cuts = max(n_rows, MOST_SETS)
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
        np.empty(n_cuts),
        np.empty(n_cuts, np.int64),
        np.empty(n_cuts),
        np.empty(n_cuts),
        np.empty(n_cuts),
        np.empty(n_cuts),
        np.zeros(n_cuts, np.bool_),
        np.zeros(FEW, np.uint32),
        np.empty(FEW, np.uint32),
    )


@jitable
def bins_pay(n_keys, n_rows, n_slots):
    """Moving a bin looks at every slot, moving a row at one: bins want a row a cell, on average."""
    return n_keys * n_slots <= n_rows


class Grouped(NamedTuple):
    """A node's rows in groups; with one group there is nothing to cut."""

    n_groups: int
    first_key: int  # that groups count theirs from
    last_known: int  # the greatest key of rows whose value is known
    last_key: int  # of all rows
    dense: bool  # they are in bins, which are to be emptied, else in order


@jitable
def group_keys(scratch, n_rows, first_key, last_known, last_key, in_bins):
    """Group rows that have keys; they may be tallied `in_bins`, or not."""
    groups, n_slots = scratch.groups, scratch.sums.shape[0]
    if first_key == last_key:
        return Grouped(1, first_key, last_known, last_key, False)
    dense = in_bins and bins_pay(last_key - first_key + 1, n_rows, n_slots)
    if dense:
        n_groups = group_in_bins(
            groups, first_key, last_key, n_rows, scratch.slots, scratch.amounts, n_slots
        )
    else:
        n_groups = group_by_sort(groups, first_key, last_key, n_rows)
    return Grouped(n_groups, first_key, last_known, last_key, dense)


@jitable
def empty_if_dense(scratch, grouped):
    if grouped.dense:
        n_keys = grouped.last_key - grouped.first_key + 1
        empty_bins(scratch.groups, n_keys, scratch.sums.shape[0])


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
    """Sort by the upper halves, some bits a pass from the lowest, in as few passes as may be;
    stable, so places stay in order."""
    n_bits = np.uint64(0)
    while greatest > 0:
        greatest >>= 1
        n_bits += ONE
    n_passes = (n_bits + RADIX - ONE) // RADIX
    width, shift = (n_bits + n_passes - ONE) // n_passes, np.uint64(32)
    to, done = buffer, np.uint64(0)
    while done < n_passes:
        by_digit(items, to, count, n, shift, ONE << width)
        items, to = to, items
        shift += width
        done += ONE
    if n_passes & ONE:  # they are in the buffer
        for i in range(n):
            to[i] = items[i]


@jitable
def by_digit(items, to, count, n, shift, n_cells):
    """Put items in the order of one of their digits."""
    digit = n_cells - ONE
    for i in range(n):
        count[(items[i] >> shift) & digit] += np.uint32(1)
    end = np.uint32(0)
    for cell in range(n_cells):
        n_here = count[cell]
        count[cell] = end
        end += n_here
    for i in range(n):
        cell = (items[i] >> shift) & digit
        to[count[cell]] = items[i]
        count[cell] += np.uint32(1)
    for cell in range(n_cells):
        count[cell] = 0

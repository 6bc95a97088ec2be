"""Items: what a sweep moves from one side of a cut to the other.

An item is a row, as its key, the code, and its place in the node; or a bin of all rows that share a
key. Rows are put in order, or tallied into bins if there are many (see groups).

The *usual* code of a column is the one that most rows have, as 0 is that of most pixels. Its rows
are no items: see sweep.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Columns
from forestlab.core.crew import Crew
from forestlab.core.groups import (
    BYTE,
    COUNTED,
    INSERTION,
    insertion_sort,
    radix_sort,
)
from forestlab.core.jit import jitable, kernel, rank_32, rank_sixteen

KEY = np.uint64(32)  # bits that a key stands above a place
THIN = 8  # a node with less than one in so many rows
TURNED = 8192  # rows that are turned together
NEAR = 2**20  # bytes of rows that are looked at again and again: they stay in the cache
MOST_PACKED = 2**24  # keys that stand in 32 bits with a place among FEW

# ---- codes -------------------------------------------------------------------------------------


class Codes(NamedTuple):
    """A feature's codes: that of a row is flat[first + row * step]."""

    flat: np.ndarray
    first: np.uint64
    step: np.uint64
    ahead: np.uint64  # as `first`, of the feature that comes next
    is_thin: bool  # few lines of the cache are read whole: those of the next are fetched meanwhile


def by_row(codes: np.ndarray, n_jobs: int) -> np.ndarray:
    """The codes of each row together, those of the rows end to end."""
    n_features, n_rows = codes.shape
    turned = np.empty((n_rows, n_features), codes.dtype)
    with Crew(n_jobs, codes.size) as crew:
        starts = range(0, n_rows, TURNED)
        list(crew.map(lambda start: turn(codes, start, start + TURNED, turned), starts))
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
def codes_of(plan, n_rows, feature, following):
    """Of many rows from the column, where neighbours share a line of the cache; of few from the
    table by rows, where the other features of a row are near, and all that a small subtree looks at
    stays in the cache."""
    n_features, n_all = plan.columns.codes.shape
    if n_rows * n_features * plan.columns.codes.itemsize <= NEAR and plan.by_row.shape[0] > 0:
        return Codes(
            plan.by_row, np.uint64(feature), np.uint64(n_features), np.uint64(following), False
        )
    first, ahead = np.uint64(feature) * np.uint64(n_all), np.uint64(following) * np.uint64(n_all)
    return Codes(plan.by_column, first, np.uint64(1), ahead, n_rows * THIN < n_all)


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


# ---- bins --------------------------------------------------------------------------------------


def make_tally(n_parts: int) -> Callable:
    """What tallies rows into bins; each contributes to `n_parts` slots."""
    parts = np.uint64(n_parts)

    @jitable
    def tally_row(scratch, i, key, n_slots):
        groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
        groups.tally[key] += np.uint32(1)
        for part in range(parts):
            slot = np.uint64(slots[i, part]) if parts == 1 else part
            groups.bins[key * n_slots + slot] += amounts[i, part]

    @jitable
    def tally(plan, node, scratch, codes):
        """Tally rows into bins."""
        n_slots = np.uint64(scratch.sums.shape[0])
        for i in range(np.uint64(node.rows.shape[0])):
            tally_row(scratch, i, np.uint64(code_of(codes, node.rows[i])), n_slots)

    return tally


# ---- the usual code ----------------------------------------------------------------------------

USUAL = 0.3  # share of the rows from which on a code is the usual one
NONE = np.int64(0xFFFFFFFF)  # that no row has
TOGETHER = 256  # columns of one task: wide tables would have as many tasks, of a kilobyte each


def usual_codes(columns: Columns, n_jobs: int) -> np.ndarray:
    """The code of each column that more than so many of its rows have, or NONE."""
    n_features, n_rows = columns.codes.shape
    usual = np.full(n_features, NONE, np.int64)

    def find(first: int) -> None:
        # A sample will do: another code would give the same trees, more slowly.
        for j in range(first, min(first + TOGETHER, n_features)):
            counts = np.bincount(columns.codes[j, :: max(1, n_rows // 1000)])
            if counts.max(initial=0) > USUAL * counts.sum():
                usual[j] = counts.argmax()

    with Crew(n_jobs, columns.codes.size) as crew:
        list(crew.map(find, range(0, n_features, TOGETHER)))
    return usual


def make_usual(known: bool) -> Callable:
    @jitable
    def usual_of(plan, feature):
        """The code that most rows have, or if none stands out one that no row has."""
        return plan.usual[feature] if known else NONE

    return usual_of

"""Packed trees: what whole trees answer, as fast as rows go through them.

To ask a forest as it was grown takes little of it: of a node its feature, its cut and its children,
and of a leaf what it adds to the sums of a row. A *packed* forest has nothing else. A step is 8
bytes, so that trees of 50,000 nodes stay in a core's own cache, and stands where its node does::

    inner node     cut     skip << n_bits | feature      left child: the next, right: skip further
    leaf           –       LEAF | place << n_bits        place < n_sums: it adds 1 to that sum, else
                                                         row place - n_sums of its tree's numbers

What a leaf adds is found once, by the combiner, so one kernel asks for all of them, whatever the
task; a pure leaf, as nearly all are in a full tree, is an address and no numbers.

A cut of 4 bytes is the greatest float32 that is not above the node's, and says the same of every
value that is a float32. For rows with other values cuts have 8 bytes. No value may be missing, and
no node may ask about categories: see `walk` for all that is not packed.

Measured on trees of covertype, made data (75,000 × 50) and regression (75,000 × 30), processor time
of the walks alone: steps of 16 bytes took 1.15, 1.6 and 1.5 times as long; children side by side,
the heavier one's children next, gained nothing over the order of the nodes.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

from forestlab.core.arrays import Forest
from forestlab.core.combine import COMBINERS, each_target, n_sums, unit_of
from forestlab.core.crew import Crew
from forestlab.core.descend import only_one
from forestlab.core.jit import either, jitable, kernel, made_from, prefetch
from forestlab.core.several import with_first_slots
from forestlab.core.vectors import (
    LANES,
    all_lanes,
    at_most,
    below,
    both,
    but_not,
    lanes_at,
    lanes_from,
    lanes_from_places,
    low_bits,
    n_in,
    plus,
    put_lanes,
    put_some,
    times,
    where,
    without_low_bits,
)

NARROW = np.dtype([("cut", np.float32), ("what", np.uint32)])
WIDE = np.dtype([("cut", np.float64), ("what", np.uint32)], align=True)
LEAF = np.uint64(1 << 31)
ONE = np.uint64(1)
GREATEST = float(np.finfo(np.float32).max)
BELOW_NOTHING = -(2**31) + 1  # the bits of the greatest float32 below 0
# Rows that go through a tree together. On covertype, whose rows have 216 bytes, 128 or 256 are the
# best, on MNIST, with 3 KB, 32 or 64: of 512 MNIST takes a third longer.
AHEAD = 12  # leaves whose numbers are fetched until their turn comes
TOGETHER = 256  # rows that go through a tree sixteen at once
TILE_BYTES, LEAST_ROWS, MOST_ROWS = 1 << 16, 64, 256


class Packed(NamedTuple):
    steps: np.ndarray  # (n_nodes,) NARROW or WIDE
    numbers: np.ndarray  # (n_leaves, n_sums) float64
    first_node: np.ndarray  # (n_trees + 1,) int64
    first_number: np.ndarray  # (n_trees + 1,) int64: where each tree's numbers begin; there is room
    # for all of its leaves, of which those that add 1 take none
    n_bits: int  # of a feature


class Lists(NamedTuple):
    """Scratch of a tile of n rows; what those have that are still on their way stands first."""

    rows: np.ndarray  # (n + LANES,) uint32
    nodes: np.ndarray  # (n + LANES,) uint32
    ends: np.ndarray  # (n + LANES,) uint32: what the step says where each row of the tile is
    ended: np.ndarray  # (n + LANES,) uint32: the rows that have come to their ends, in this order


def step_type(dtype: np.dtype) -> np.dtype:
    """That of steps for rows whose values have this type."""
    return NARROW if np.can_cast(dtype, np.float32) else WIDE


# ---- packing -----------------------------------------------------------------------------------


def packed(
    forest: Forest,
    task: str,
    combiner: str,
    classes_each: tuple[int, ...],
    dtype: np.dtype,
    n_jobs: int = 1,
) -> Packed | None:
    """The forest as it is asked by one combiner, with steps of that type; None if they are too
    small for it, or nodes ask for more than a cut. `classes_each` as in `asking.combined`."""
    if not len(forest.steps) or len(forest.bits):
        return None
    first_leaf = (forest.first_node + np.arange(len(forest.first_node))) // 2
    numbers = np.empty((first_leaf[-1], n_sums(combiner, task, forest.stats.shape[1])))
    n_bits = int(forest.steps["feature"].max(initial=0)).bit_length()
    steps = np.empty(len(forest.steps), dtype)
    made = Packed(steps, numbers, forest.first_node, first_leaf, n_bits)
    pack = pack_kernel(task, combiner, len(classes_each) > 0, dtype == NARROW)
    asked, n_trees = with_first_slots(forest, classes_each), len(forest.first_node) - 1
    bounds = pairwise(np.linspace(0, n_trees, min(n_jobs, n_trees) + 1).astype(int).tolist())
    with Crew(n_jobs, numbers.size) as crew:
        fits = list(crew.map(lambda trees: pack(asked, made, trees), bounds))
    return made if all(fits) else None


@jitable
def not_above(cut):
    """The greatest float32 that is not above it."""
    found = np.float32(min(max(cut, -GREATEST), GREATEST))
    bits = found.view(np.int32)
    # The next one below has the next bits, of what is above 0 those before. Half of all cuts are
    # rounded up: to branch, and call what does this for any number, took four times as long.
    lower = bits - np.int32(1) if bits > 0 else bits + np.int32(1)
    lower = np.int32(BELOW_NOTHING) if found == np.float32(0.0) else lower
    is_above = np.float64(found) > cut
    return np.int32(lower if is_above else bits).view(np.float32)


@jitable
def only_class(stats, i):
    """The class of a node that has no other, else -1."""
    found, n_found = 0, 0
    for k in range(stats.shape[1]):
        found = k if stats[i, k] != 0.0 else found
        n_found += stats[i, k] != 0.0
    return found if n_found == 1 else -1


@jitable
def no_class(stats, i):
    return -1


@jitable
def as_it_is(cut):
    return cut


@made_from(COMBINERS)
def pack_kernel(task: str, combiner: str, several: bool, narrow: bool):
    """The compiled maker of steps and numbers."""
    contribute = COMBINERS[combiner][task].contribute
    contribute = each_target(contribute) if several else contribute
    class_of = only_class if COMBINERS[combiner][task].sure and not several else no_class
    cut_of = not_above if narrow else as_it_is

    @kernel(allocates=False)
    def pack(forest, packed, trees):
        """Fill what was made for the steps of trees (first, last + 1); return whether all fits in
        them."""
        steps, numbers, n_bits = packed.steps, packed.numbers, np.uint64(packed.n_bits)
        n_sums, most = numbers.shape[1], LEAF >> n_bits
        for t in range(trees[0], trees[1]):
            root, first_number = forest.first_node[t], packed.first_number[t]
            unit, n_mixed = unit_of(forest.nodes[root]), 0
            for i in range(root, forest.first_node[t + 1]):
                step = forest.steps[i]
                if step["feature"] >= 0:
                    high = np.uint64(root + step["right"] - i)
                    low, cut = np.uint64(step["feature"]), step["cut"]
                else:
                    lone = class_of(forest.stats, i)
                    if lone < 0:
                        own = first_number + n_mixed
                        for k in range(n_sums):
                            numbers[own, k] = 0.0
                        contribute(forest.stats, i, root, unit, 1.0, numbers, own)
                        lone = only_one(numbers, own)
                    high = np.uint64(lone if lone >= 0 else n_sums + n_mixed)
                    n_mixed += lone < 0
                    low, cut = LEAF, 0.0
                if high >= most:
                    return False
                steps[i]["cut"] = cut_of(cut)
                steps[i]["what"] = np.uint32(high << n_bits | low)
        return True

    return pack


# ---- asking ------------------------------------------------------------------------------------


def make_lists(X: np.ndarray) -> Lists:
    """Scratch for one thread that asks about such rows."""
    row_bytes = max(1, X.shape[1] * X.itemsize)
    n = min(max(TILE_BYTES // row_bytes, LEAST_ROWS), MOST_ROWS, max(1, X.shape[0]))
    n = TOGETHER if goes_in_lanes(X) else n
    return Lists(*np.empty((4, n + LANES), np.uint32))


@jitable
def step_packed(steps, n_bits, X, tile, n_active, lists):
    """Rows of a tile go down a level, as in `walk.short_stepper`; return how many go on."""
    rows, nodes, ends = lists.rows, lists.nodes, lists.ends
    of_feature = (np.uint64(1) << n_bits) - np.uint64(1)
    n_moved = np.int64(0)
    for a in range(n_active):
        k, i = np.uint64(rows[a]), np.uint64(nodes[a])
        what = np.uint64(steps[i]["what"])
        value = X[tile + k, what & of_feature]
        child = i + either(value <= steps[i]["cut"], np.uint64(1), what >> n_bits)
        prefetch(steps, child)
        ends[k] = what
        rows[n_moved], nodes[n_moved] = k, child
        n_moved += what < LEAF
    return n_moved


@kernel(allocates=False)
def sum_packed(packed, lists, X, n_trees, sums):
    """Add the answers of the first trees for each row of X to `sums`."""
    n_bits, together = np.uint64(packed.n_bits), lists.rows.shape[0] - LANES
    flat, n_sums = packed.numbers.reshape(packed.numbers.size), sums.shape[1]
    for tile in range(0, X.shape[0], together):
        n_tile = min(together, X.shape[0] - tile)
        for t in range(n_trees):
            root = packed.first_node[t]
            for k in range(n_tile):
                lists.rows[k], lists.nodes[k] = k, root
            n_active = np.int64(n_tile)
            while n_active > 0:
                n_active = step_packed(packed.steps, n_bits, X, np.uint64(tile), n_active, lists)
            first = packed.first_number[t]
            for k in range(n_tile):
                ahead = place_of(lists.ends[np.uint64(min(k + AHEAD, n_tile - 1))], n_bits)
                prefetch(flat, np.uint64((first + max(ahead - n_sums, 0)) * n_sums))
                place = place_of(lists.ends[np.uint64(k)], n_bits)
                add_leaf(packed.numbers, first, place, sums, tile + k)


# ---- sixteen rows at once ----------------------------------------------------------------------
# For values of 32 bits, on processors that fetch sixteen of them at one go and put those that go on
# next to each other. On Intel's of 2023 half of the time on made data and MNIST, two thirds on
# covertype; on AMD's of 2024, which fetch them one by one, 1.2 times as long on digits and 1.5
# times on made data.


@cache
def has_lanes() -> bool:
    return bool(get_host_cpu_features().get("avx512f")) and "znver" not in get_host_cpu_name()


def goes_in_lanes(X: np.ndarray) -> bool:
    return X.dtype == np.float32 and has_lanes()


class Words(NamedTuple):
    """Steps as what they are made of."""

    cuts: np.ndarray  # (2 * n_nodes,) float32: of node i at 2 i
    whats: np.ndarray  # (2 * n_nodes,) uint32: at 2 i + 1


def words_of(steps: np.ndarray) -> Words:
    return Words(steps.view(np.float32), steps.view(np.uint32))


@jitable
def step_lanes(cuts, whats, n_bits, values, n_features, n_active, n_ended, lists):
    """Rows of a tile go down a level; return how many go on, and how many have ended."""
    rows, nodes = lists.rows, lists.nodes
    n_moved, one, width = np.uint64(0), all_lanes(np.uint32(1)), all_lanes(np.uint32(n_features))
    for a in range(np.uint64(0), n_active, np.uint64(LANES)):
        there = below(lanes_from(np.uint64(0)), all_lanes(np.uint32(n_active - a)))
        k, i = lanes_at(rows, a), lanes_at(nodes, a)
        twice = plus(i, i)
        what = lanes_from_places(whats, plus(twice, one), there)
        place = plus(times(k, width), low_bits(what, n_bits))
        value, cut = lanes_from_places(values, place, there), lanes_from_places(cuts, twice, there)
        child = plus(i, where(at_most(value, cut), one, without_low_bits(what, n_bits)))
        goes_on = both(below(what, all_lanes(np.uint32(LEAF))), there)
        put_some(rows, n_moved, k, goes_on)
        put_some(nodes, n_moved, child, goes_on)
        ends = but_not(there, goes_on)
        put_some(lists.ended, n_ended, k, ends)
        put_some(lists.ends, n_ended, what, ends)
        n_moved += n_in(goes_on)
        n_ended += n_in(ends)
    return n_moved, n_ended


@kernel(allocates=False)
def sum_lanes(packed, words, lists, X, n_trees, sums):
    """As `sum_packed`, for steps and values of 32 bits."""
    n_bits, together = np.uint64(packed.n_bits), lists.rows.shape[0] - LANES
    n_features, flat = X.shape[1], packed.numbers.reshape(packed.numbers.size)
    all_values, n_sums = X.reshape(X.size), sums.shape[1]
    for tile in range(0, X.shape[0], together):
        n_tile = np.uint64(min(together, X.shape[0] - tile))
        values = all_values[tile * n_features :]
        for t in range(n_trees):
            root = packed.first_node[t]
            cuts, whats = words.cuts[2 * root :], words.whats[2 * root :]
            for k in range(np.uint64(0), n_tile, np.uint64(LANES)):
                put_lanes(lists.rows, k, lanes_from(k))
                put_lanes(lists.nodes, k, all_lanes(np.uint32(0)))
            n_active, n_ended = n_tile, np.uint64(0)
            while n_active > 0:
                n_active, n_ended = step_lanes(
                    cuts, whats, n_bits, values, n_features, n_active, n_ended, lists
                )
            first = packed.first_number[t]
            for k in range(n_tile):
                ahead = place_of(lists.ends[min(k + np.uint64(AHEAD), n_tile - ONE)], n_bits)
                prefetch(flat, np.uint64((first + max(ahead - n_sums, 0)) * n_sums))
                row = tile + np.int64(lists.ended[k])
                add_leaf(packed.numbers, first, place_of(lists.ends[k], n_bits), sums, row)


def add_packed(packed: Packed, X: np.ndarray, n_trees: int, sums: np.ndarray) -> None:
    """Add the answers of the first trees for each row of X to `sums`, the same either way."""
    if goes_in_lanes(X):
        sum_lanes(packed, words_of(packed.steps), make_lists(X), X, n_trees, sums)
    else:
        sum_packed(packed, make_lists(X), X, n_trees, sums)


# ---- leaves ------------------------------------------------------------------------------------


@jitable
def place_of(what, n_bits):
    return np.int64((np.uint64(what) - LEAF) >> n_bits)


@jitable
def add_leaf(numbers, first, place, sums, row):
    n_sums = sums.shape[1]
    if place < n_sums:
        sums[row, np.uint64(place)] += 1.0
        return
    for k in range(n_sums):
        sums[row, k] += numbers[np.uint64(first + place - n_sums), k]

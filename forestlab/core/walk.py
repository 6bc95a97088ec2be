"""Walks: how rows go down a tree.

A walk may stop at any depth: a node keeps its statistics, so stopping at depth d is what a tree
grown with ``max_depth=d`` would answer. One walk therefore lists a row's *path*, the answers of all
depths, whatever its nodes ask. Where a value is missing a row may go both ways, each with a share
of its weight: only such a row *branches*, and has *visits* instead of a path, all of them listed in
one go too.

What walks is made by factories. For a *plain* forest, each of whose nodes compares one feature
with one cut, or with one set of categories, it is quick and compiles quickly; for any other, and
for rows that branch, it is composed from the kinds of nodes in `questions.KINDS`. So `plain` is a
walk, or whether there is a short one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import BOTH, LEAF, LEFT, SIDE
from forestlab.core.jit import either, jitable, made_from, prefetch
from forestlab.core.questions import KINDS, NOT_KNOWN, set_side, side_finder

NO_DEPTH = 2**31 - 1  # deeper than any tree
TILE = 128  # rows that go through a tree together


# Walks. SHORT_SOME asks whether a value is missing, SHORT_SETS also for categories.
GENERAL, SHORT, SHORT_SOME, SHORT_SETS = 0, 1, 2, 3

LEAST = 1 / 64  # of a row, that goes its own way


@jitable
def left_part(share, of_left):
    """What goes left of a share of a row: a part of it, or if either piece would be too small, all
    or nothing."""
    if min(share * of_left, share * (1.0 - of_left)) < LEAST:
        return 1.0 if of_left >= 0.5 else 0.0
    return of_left


def short_stepper(some: bool) -> Callable:
    """What takes rows down a level of a plain forest; values may be missing if `some` are."""

    @jitable
    def step_short(forest, t, X, rows, ends, active, n_active):
        """Rows go down a level: rows[k] from node ends[k], for the first `n_active` k in `active`,
        of which those that left a leaf behind are kept; return how many.

        A row alone waits at each step for memory, so rows go down together, a level a pass. The
        child is chosen without a branch, which half the rows would mispredict; indices are
        unsigned, so that numba need not ask whether they count from the end; and the child is
        fetched until its turn comes. Measured on MNIST: 2.5 times as fast as row by row, then twice
        for each of these, and nearly 3 times for the fetching on covertype, whose trees are larger.
        To ask whether a value is missing takes 15 % longer.
        """
        steps, first = forest.steps, forest.first_node[t]
        n_moved = np.int64(0)
        for a in range(n_active):
            k = np.uint64(active[a])
            i = np.uint64(ends[k])
            step = steps[i]
            feature = step["feature"]
            value = X[np.uint64(rows[k]), np.uint64(max(feature, 0))]
            left, right = i + np.uint64(1), np.uint64(first + step["right"])
            child = either(value <= step["cut"], left, right)
            if some and np.isnan(value) and feature >= 0:
                child = left if forest.nodes[i]["missing"] & SIDE == LEFT else right
            prefetch(steps, child)
            is_inner = feature >= 0
            ends[k] = either(is_inner, child, i)
            active[n_moved] = k
            n_moved += is_inner
        return n_moved

    return step_short


@jitable
def step_sets(forest, t, X, rows, ends, active, n_active):
    """As `step_short`, in a forest some of whose nodes ask about categories."""
    steps, first, first_bit = forest.steps, forest.first_node[t], forest.first_bit[t]
    n_moved = np.int64(0)
    for a in range(n_active):
        k = np.uint64(active[a])
        i = np.uint64(ends[k])
        step = steps[i]
        feature, is_inner = np.int64(step["feature"]), step["feature"] != -1
        column = np.uint64(feature if feature >= 0 else ~feature - 1)
        value = X[np.uint64(rows[k]), column if is_inner else np.uint64(0)]
        left, right = i + np.uint64(1), np.uint64(first + step["right"])
        child = either(value <= step["cut"], left, right)
        is_known = not np.isnan(value)
        if feature < -1:
            side = set_side(forest.bits, first_bit + np.int64(step["cut"]), value)
            is_known = side != NOT_KNOWN
            child = left if side == LEFT else right
        if is_inner and not is_known:
            child = left if forest.nodes[i]["missing"] & SIDE == LEFT else right
        prefetch(steps, child)
        ends[k] = either(is_inner, child, i)
        active[n_moved] = k
        n_moved += is_inner
    return n_moved


@jitable
def start_down(first, n_rows, ends, active):
    for k in range(n_rows):
        ends[k] = first
        active[k] = k


def is_plain(forest) -> bool:
    return len(forest.steps) > 0


def walk_for(forest, X) -> int:
    """The quickest walk that is right for rows of X."""
    if not is_plain(forest):
        return GENERAL
    if len(forest.bits) > 0:  # any row may have a category that a node does not know
        return GENERAL if branches(forest) else SHORT_SETS
    values = X.data if hasattr(X, "indptr") else X  # of a sparse matrix what it stores
    if values.dtype.kind != "f" or not np.isnan(values.min(initial=0.0)):
        return SHORT
    return GENERAL if branches(forest) else SHORT_SOME


def branches(forest) -> bool:
    """Are there nodes that send a missing value both ways?"""
    return bool((forest.nodes["missing"] & SIDE == BOTH).any())


@made_from(KINDS)
def level_stepper(plain: int) -> Callable:
    """What takes rows down a level, whatever the nodes ask."""
    if plain:
        return step_sets if plain == SHORT_SETS else short_stepper(plain == SHORT_SOME)
    side_of = side_finder()

    @jitable
    def step_nodes(forest, t, X, rows, ends, active, n_active):
        """As `step_short`, by the nodes themselves; where rows[k] would branch it stays, and
        ends[k] is ~ that node."""
        first = forest.first_node[t]
        params = forest.params[forest.first_param[t] : forest.first_param[t + 1]]
        bits = forest.bits[forest.first_bit[t] : forest.first_bit[t + 1]]
        n_moved = np.int64(0)
        for a in range(n_active):
            k = active[a]
            node = forest.nodes[ends[k]]
            if node["kind"] == LEAF:
                continue
            side = side_of(node, params, bits, X[rows[k]])
            if side == BOTH:
                ends[k] = ~ends[k]
                continue
            ends[k] = first + np.int64(node["left"] if side == LEFT else node["right"])
            active[n_moved] = k
            n_moved += 1
        return n_moved

    return step_nodes


@made_from(KINDS)
def walker(plain: bool) -> Callable:
    """What takes rows down to a depth."""
    step_level = level_stepper(plain)

    @jitable
    def go_down(forest, t, X, rows, n_rows, depth, ends, active):
        """ends[k] = the node where rows[k] ends in tree t, or ~ that where it branches."""
        start_down(forest.first_node[t], n_rows, ends, active)
        n_active, d = np.int64(n_rows), 0
        while d < depth and n_active > 0:
            n_active = step_level(forest, t, X, rows, ends, active, n_active)
            d += 1

    return go_down


class Frontier(NamedTuple):
    """Scratch of a walk that branches; each array has room for every node of the largest tree."""

    nodes: np.ndarray  # int64: those that the row visits, in preorder
    depths: np.ndarray  # int64: how deep they are
    shares: np.ndarray  # float64: its share in each
    waiting: np.ndarray  # (…, 2) int64: nodes still to visit, and their depth
    waiting_share: np.ndarray  # float64


def make_frontier(forest, walk: int) -> Frontier:
    """Scratch for one thread of that walk."""
    needed = walk == GENERAL and branches(forest)
    most = int(np.diff(forest.first_node).max()) if needed else 0
    return Frontier(
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
        np.ones(most),
        np.zeros((most + 1, 2), np.int64),
        np.zeros(most + 1),
    )


class Walks(NamedTuple):
    """Scratch of the walks of a tile of rows through a tree."""

    rows: np.ndarray  # (TILE,) int64: those that go
    ends: np.ndarray  # (TILE,) int64: where each is, or ends
    active: np.ndarray  # (TILE,) int64: those still on their way
    frontier: Frontier


class Paths(NamedTuple):
    """Scratch of the walks of a tile of rows through some trees, m."""

    n_rows: np.ndarray  # (m,) int64: how many go through each tree
    n_done: np.ndarray  # (m,) int64: of those, how many have been added
    rows: np.ndarray  # (m, TILE) int64: those that go
    ends: np.ndarray  # (m, TILE) int64: where each is, or ends
    lengths: np.ndarray  # (m, TILE) int64: nodes that each has passed
    nodes: np.ndarray  # (m, TILE, n_depths) int64: those nodes
    active: np.ndarray  # (TILE,) int64: those still on their way
    frontier: Frontier


def make_paths(forest, walk: int, n_trees: int, n_depths: int) -> Paths:
    """Scratch for one thread of that walk."""
    n_rows, n_done = np.zeros((2, n_trees), np.int64)
    rows, ends, lengths = np.empty((3, n_trees, TILE), np.int64)
    nodes = np.empty((n_trees, TILE, n_depths), np.int64)
    active, frontier = np.empty(TILE, np.int64), make_frontier(forest, walk)
    return Paths(n_rows, n_done, rows, ends, lengths, nodes, active, frontier)


def make_walks(forest, walk: int) -> Walks:
    """Scratch for one thread of that walk. It is made here because a kernel that allocates counts
    references to every array in its loops: the surface took twice as long."""
    rows, ends, active = np.empty((3, TILE), np.int64)
    return Walks(rows, ends, active, make_frontier(forest, walk))


@jitable
def no_visits(forest, t, x, depth, frontier):
    """In a plain forest no row branches."""
    return 0


@made_from(KINDS)
def visitor(plain: bool) -> Callable:
    """What lists the visits of a row that branches."""
    if plain:
        return no_visits
    side_of = side_finder()

    @jitable
    def visit(forest, t, x, depth, frontier):
        """List the nodes of tree t down to a depth that row x visits, and its share in each; return
        how many."""
        first = forest.first_node[t]
        params = forest.params[forest.first_param[t] : forest.first_param[t + 1]]
        bits = forest.bits[forest.first_bit[t] : forest.first_bit[t + 1]]
        waiting, waiting_share = frontier.waiting, frontier.waiting_share
        n_visits, n_waiting = 0, 1
        waiting[0, 0], waiting[0, 1], waiting_share[0] = first, 0, 1.0
        while n_waiting > 0:
            n_waiting -= 1
            i, here, share = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting_share[n_waiting]
            node = forest.nodes[i]
            frontier.nodes[n_visits], frontier.depths[n_visits] = i, here
            frontier.shares[n_visits] = share
            n_visits += 1
            if node["kind"] == LEAF or here >= depth:
                continue
            side = side_of(node, params, bits, x)
            left_share = np.float64(side == LEFT)
            if side == BOTH:
                left_share = left_part(share, np.float64(node["missing_share"]))
            if left_share < 1.0:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = first + node["right"], here + 1
                waiting_share[n_waiting] = share * (1.0 - left_share)
                n_waiting += 1
            if left_share > 0.0:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = first + node["left"], here + 1
                waiting_share[n_waiting] = share * left_share
                n_waiting += 1
        return n_visits

    return visit


@made_from(KINDS)
def ends_lister(plain: bool) -> Callable:
    """What lists where a row that branches ends."""
    if plain:
        return no_visits
    visit = visitor(plain)

    @jitable
    def list_ends(forest, t, x, depth, frontier):
        """The first entries of `frontier` = where row x ends in tree t; return how many."""
        n_ends = 0
        for v in range(visit(forest, t, x, depth, frontier)):
            i, here = frontier.nodes[v], frontier.depths[v]
            if forest.nodes[i]["kind"] == LEAF or here >= depth:
                frontier.nodes[n_ends], frontier.shares[n_ends] = i, frontier.shares[v]
                n_ends += 1
        return n_ends

    return list_ends


@made_from(KINDS)
def path_lister(plain: bool) -> Callable:
    """What lists the paths of rows."""
    step_level = level_stepper(plain)

    @jitable
    def list_paths(forest, t, X, paths, m):
        """nodes[m, k, :lengths[m, k]] = the nodes of tree t that rows[m, k] passes, as far as there
        is room for them; ends[m, k] < 0 where it branches."""
        ends, active, lengths = paths.ends[m], paths.active, paths.lengths[m]
        start_down(forest.first_node[t], paths.n_rows[m], ends, active)
        n_active, d = paths.n_rows[m], 0
        while d < paths.nodes.shape[2] and n_active > 0:
            for a in range(n_active):
                k = np.uint64(active[a])
                paths.nodes[m, k, d] = ends[k]
                lengths[k] = d + 1
            n_active = step_level(forest, t, X, paths.rows[m], ends, active, n_active)
            d += 1

    return list_paths

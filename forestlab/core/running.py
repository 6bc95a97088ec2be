"""Running sums: what the walk of a row adds at every *stop*.

A stop is where a tree could have ended: a depth, or a value of a stopping rule. One walk serves
them all. By depth a node answers at its own, and a leaf below it too. Values of a rule go from the
strictest to the loosest; a node *opens* at the first of them at which it asks its question, never
before its parent does, so that along a path it answers from the stop at which its parent opens to
the one before it opens itself::

    path       root   inner   inner   leaf
    opens        1      1       4      6       of 6 values, 0 … 5
    answers      0      –     1 2 3   4 5

Depth is the rule that opens a node at the stop behind its depth, and needs no such table; nor does
a row need its sums below the deepest node that it reached. Taken for a rule like others, depth made
the walks of digits, MNIST and a regression half as long again. So there are two ways to add a path,
from which the kernel in `descend` is composed.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF
from forestlab.core.combine import unit_of
from forestlab.core.jit import add_eight, add_two, jitable, kernel, prefetch


class RunningSums(NamedTuple):
    """Running sums of the answers for each row at every stop.

    By depth a row's sums are the same at all depths below the deepest node that it has reached, so
    only those above are kept up: about half of the adding on MNIST.
    """

    sums: np.ndarray  # (n_rows * n_stops, width); row r at stop s: r * n_stops + s
    n_kept: np.ndarray  # (n_rows,) stops that are kept up; 0: nothing yet
    voters: np.ndarray  # (n_rows,)


class Additions(NamedTuple):
    """What every node of a forest adds to the sum of a row that ends in it.

    A walk over all depths visits the upper nodes again and again: adding what was divided once is
    twice as fast on MNIST as dividing each time. Pure leaves, half of the nodes of a full tree, add
    1 to one sum and nothing to the others: they need no numbers.
    """

    place: np.ndarray  # (n_nodes,) int64: where its numbers begin; or ~k: it adds 1 to sum k
    numbers: np.ndarray  # (n_mixed * n_sums,) float64


class Stops(NamedTuple):
    """Values of rules, and what a walk over them reads and writes."""

    answering: np.ndarray  # (n_nodes * n_stops,): what `answer_depths` gives
    n_stops: int
    own: np.ndarray  # (n_depths, width) float64: scratch for what the nodes of a path add


def answer_depths(forest, paths: Sequence[tuple[np.ndarray, int]], n_depths: int) -> np.ndarray:
    """How deep the node is that answers for a row, at each stop of several rules, the stops of one
    behind those of the other: (n_nodes, n_stops), by the leaf that the row reaches. Of inner nodes
    it is their own depth where they answer, and one more where they ask.

    Parameters
    ----------
    paths : of each rule the stop at which every node of the forest opens, (n_nodes,), and the
        number of its stops, which is where leaves open
    n_depths : of the deepest tree, with that of the root
    """
    first = np.concatenate([[0], np.cumsum([n_stops for _, n_stops in paths])])
    opens = np.stack([opens for opens, _ in paths], axis=1).astype(np.int32) + first[:-1]
    depth = np.zeros(len(forest.nodes), np.int64)
    found = np.zeros((len(forest.nodes), first[-1]), np.uint16 if n_depths > 255 else np.uint8)
    find_answer_depths(forest, opens, first, depth, found)
    return found


@kernel(allocates=False)
def find_answer_depths(forest, opens, first, depth, found):
    """Fill `depth` and `found`, given zeros; parents stand before their children."""
    for t in range(forest.first_node.shape[0] - 1):
        root = forest.first_node[t]
        for i in range(root, forest.first_node[t + 1]):
            node = forest.nodes[i]
            if node["kind"] == LEAF:
                continue
            below = depth[i] + 1
            for r in range(opens.shape[1]):
                for stop in range(opens[i, r], first[r + 1]):
                    found[i, stop] = below
            left, right = root + node["left"], root + node["right"]
            depth[left], depth[right] = below, below
            for stop in range(found.shape[1]):
                found[left, stop] = found[right, stop] = found[i, stop]


@jitable
def keep_up(running, row, length, n_stops):
    """Count a voter, and keep up as many stops as its path is long."""
    sums, first, kept = running.sums, row * n_stops, running.n_kept[row]
    if length > kept:
        for d in range(max(kept, 1), length):
            for k in range(sums.shape[1]):
                sums[first + d, k] = sums[first + max(kept, 1) - 1, k]
        running.n_kept[row] = length
    running.voters[row] += 1


@jitable
def add_node(adds, i, sums, start, stop):
    """Add what node i adds to the sums at start … stop - 1."""
    place = adds.place[np.uint64(i)]
    if place < 0:
        for to in range(start, stop):
            sums[to, ~place] += 1.0
        return
    for to in range(start, stop):
        for k in range(sums.shape[1]):
            sums[to, k] += adds.numbers[np.uint64(place + k)]


@jitable
def fetch_path(adds, walks, k, width):
    """Have the numbers of a path in the cache when its turn comes; those of the first are there."""
    for d in range(4, walks.lengths[k]):
        place = adds.place[np.uint64(walks.paths[k, d])]
        if place >= 0:
            for j in range(0, width, 8):  # a line of the cache holds 8
                prefetch(adds.numbers, np.uint64(place + j))


# ---- by depth ----------------------------------------------------------------------------------


@jitable
def add_path(adds, walks, k, running, row, n_depths):
    """Add what the nodes of path k add to a row's sums at their depths; a leaf below it too."""
    paths, length, first = walks.paths, walks.lengths[k], row * n_depths
    keep_up(running, row, length, n_depths)
    for d in range(length - 1):
        add_node(adds, paths[k, d], running.sums, first + d, first + d + 1)
    add_node(
        adds, paths[k, length - 1], running.sums, first + length - 1, first + running.n_kept[row]
    )


def make_add_visits(contribute: Callable) -> Callable:
    @jitable
    def add_visits(forest, t, frontier, n_visits, running, row, n_depths):
        """A node answers at its depth, and a leaf below it too: the sums at each depth are those of
        the ends of a walk that stops there, in the same order."""
        root = forest.first_node[t]
        unit = unit_of(forest.nodes[root])
        keep_up(running, row, n_depths, n_depths)
        for v in range(n_visits):
            i, d, share = frontier.nodes[v], frontier.depths[v], frontier.shares[v]
            stop = n_depths if forest.nodes[i]["kind"] == LEAF else d + 1
            for place in range(row * n_depths + d, row * n_depths + stop):
                contribute(forest.stats, i, root, unit, share, running.sums, place)

    return add_visits


# ---- by rules ----------------------------------------------------------------------------------


@jitable
def lay_path(adds, walks, k, n_paths, stops):
    """Lay what the nodes of path k add side by side, so that what remains has no branches; and have
    in the cache who answers for the next of the paths."""
    own = stops.own
    for d in range(walks.lengths[k]):
        place = adds.place[np.uint64(walks.paths[k, d])]
        for j in range(own.shape[1]):
            own[d, j] = 0.0 if place < 0 else adds.numbers[np.uint64(place + j)]
        if place < 0:
            own[d, ~place] = 1.0
    if k + 1 < n_paths:
        first = walks.ends[k + 1] * stops.n_stops
        for stop in range(0, stops.n_stops, 64):
            prefetch(stops.answering, np.uint64(first + stop))


@jitable
def add_path_by_rules(adds, walks, k, running, row, stops):
    """Add what the nodes of path k, down to a leaf, add where they answer."""
    sums, own, answering = running.sums, stops.own, stops.answering
    n_stops, width = np.uint64(stops.n_stops), np.uint64(own.shape[1])
    leaf, first = np.uint64(walks.ends[k]) * n_stops, np.uint64(row) * n_stops
    keep_up(running, row, stops.n_stops, stops.n_stops)
    j = np.uint64(0)
    while j + np.uint64(8) <= width:
        for stop in range(n_stops):
            add_eight(sums, first + stop, own, np.uint64(answering[leaf + stop]), j)
        j += np.uint64(8)
    while j + np.uint64(2) <= width:
        for stop in range(n_stops):
            add_two(sums, first + stop, own, np.uint64(answering[leaf + stop]), j)
        j += np.uint64(2)
    if j < width:
        for stop in range(n_stops):
            sums[first + stop, j] += own[np.uint64(answering[leaf + stop]), j]


def make_add_visits_by_rules(contribute: Callable) -> Callable:
    @jitable
    def add_visits_by_rules(forest, t, frontier, n_visits, running, row, stops):
        """The sums at each stop are those of the ends of a walk that stops there, in the same
        order: ends come in preorder, as visits do."""
        root = forest.first_node[t]
        unit = unit_of(forest.nodes[root])
        n_stops = stops.n_stops
        keep_up(running, row, n_stops, n_stops)
        for v in range(n_visits):
            i, d, share = frontier.nodes[v], frontier.depths[v], frontier.shares[v]
            for stop in range(n_stops):
                if stops.answering[i * n_stops + stop] == d:
                    place = row * n_stops + stop
                    contribute(forest.stats, i, root, unit, share, running.sums, place)

    return add_visits_by_rules


# ---- the two ways ------------------------------------------------------------------------------


@jitable
def nothing_to_lay(adds, walks, k, n_paths, n_depths):
    """By depth each node is added once."""


@jitable
def nothing_to_add(forest, t, frontier, n_visits, running, row, stops):
    """In a plain forest no row branches."""


class Adders(NamedTuple):
    """What adds a row's path, in two steps, and what adds its visits. Their last argument says
    which stops there are: it is the number of depths, or `Stops`."""

    lay_path: Any
    add_path: Any
    add_visits: Any


def adders(contribute: Callable, plain: int, by_rules: bool) -> Adders:
    """How a row's walk is added, given what a node contributes."""
    if by_rules:
        visits = nothing_to_add if plain else make_add_visits_by_rules(contribute)
        return Adders(lay_path, add_path_by_rules, visits)
    return Adders(
        nothing_to_lay, add_path, nothing_to_add if plain else make_add_visits(contribute)
    )

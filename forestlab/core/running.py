"""Running sums: what the walk of a row adds at every *stop*.

A stop is where a tree could have ended: a depth, or a value of a stopping rule. One walk serves
them all. By depth a node answers at its own, and a leaf below it too. Values of a rule go from the
strictest to the loosest; a node *opens* at the first of them at which it asks its question, never
before its parent does, so that along a path it answers from the stop at which its parent opens to
the one before it opens itself::

    path       root   inner   inner   leaf
    opens        1      1       4      6       of 6 values, 0 … 5
    answers      0      –     1 2 3   4 5

Depth is the rule that opens a node at the stop behind its depth. It needs no table of that, and
below the deepest node that a row reached it needs no sums: taken for a rule like others, depth took
half as long again. So it is added in its own way, and rules from the same paths, if there are any.
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
    """Values of rules, and the sums there, which share their voters with those by depth."""

    answering: np.ndarray  # (n_nodes * n_stops,): what `answer_depths` gives
    n_stops: int
    own: np.ndarray  # (n_depths, width) float64: scratch for what the nodes of a path add
    everyone: RunningSums
    left_out: RunningSums


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
    n_nodes, n_stops = len(forest.nodes), int(first[-1])
    # All of one narrow type, so that many are compared at once: half the time of wider numbers.
    narrow = np.uint16 if max(n_depths, n_stops) > 255 else np.uint8
    opens, depth = np.empty((n_nodes, len(paths)), narrow), np.zeros(n_nodes, narrow)
    for r, (opens_at, _) in enumerate(paths):
        opens[:, r] = opens_at + first[r]
    found = np.zeros((n_nodes, n_stops), narrow)
    find_answer_depths(forest, opens, first, np.arange(n_stops, dtype=narrow), depth, found)
    return found


@kernel(allocates=False)
def find_answer_depths(forest, opens, first, stops, depth, found):
    """Fill `depth` and `found`, given zeros; parents stand before their children. `stops` are their
    numbers, of the type of `opens`."""
    for t in range(forest.first_node.shape[0] - 1):
        root = forest.first_node[t]
        for i in range(root, forest.first_node[t + 1]):
            node = forest.nodes[i]
            if node["kind"] == LEAF:
                continue
            left, right = np.uint64(root + node["left"]), np.uint64(root + node["right"])
            depth[left] = depth[right] = depth[i] + 1
            for r in range(opens.shape[1]):
                # All stops of the rule are written: how many open is no branch to mispredict.
                for stop in range(first[r], first[r + 1]):
                    answers = depth[left] if stops[stop] >= opens[i, r] else found[i, stop]
                    found[i, stop] = answers
            for stop in range(found.shape[1]):
                found[left, stop] = found[i, stop]
            for stop in range(found.shape[1]):
                found[right, stop] = found[i, stop]


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
def add_along(adds, walks, k, n_paths, row, all_asked, out, stops):
    """Add what the nodes of path k, down to a leaf, add where they answer: for all trees, and for
    those that left the row out, as they are asked."""
    lay_path(adds, walks, k, stops.own)
    if k + 1 < n_paths:  # have in the cache who answers for the next path
        first = walks.ends[k + 1] * stops.n_stops
        for stop in range(0, stops.n_stops, 64):
            prefetch(stops.answering, np.uint64(first + stop))
    if all_asked:
        add_laid(stops, walks.ends[k], row, stops.everyone.sums)
    if out:
        add_laid(stops, walks.ends[k], row, stops.left_out.sums)


@jitable
def lay_path(adds, walks, k, own):
    """Lay what the nodes of path k add side by side, so that what remains has no branches."""
    for d in range(walks.lengths[k]):
        place = adds.place[np.uint64(walks.paths[k, d])]
        for j in range(own.shape[1]):
            own[d, j] = 0.0 if place < 0 else adds.numbers[np.uint64(place + j)]
        if place < 0:
            own[d, ~place] = 1.0


@jitable
def add_laid(stops, leaf, row, sums):
    """Add at each stop what the node adds that answers there."""
    own, answering = stops.own, stops.answering
    n_stops, width = np.uint64(stops.n_stops), np.uint64(own.shape[1])
    who, to = np.uint64(leaf) * n_stops, np.uint64(row) * n_stops
    j = np.uint64(0)
    while j + np.uint64(8) <= width:
        for stop in range(n_stops):
            add_eight(sums, to + stop, own, np.uint64(answering[who + stop]), j)
        j += np.uint64(8)
    while j + np.uint64(2) <= width:
        for stop in range(n_stops):
            add_two(sums, to + stop, own, np.uint64(answering[who + stop]), j)
        j += np.uint64(2)
    if j < width:
        for stop in range(n_stops):
            sums[to + stop, j] += own[np.uint64(answering[who + stop]), j]


def make_add_visits_along(contribute: Callable) -> Callable:
    @jitable
    def add_visits_along(forest, t, frontier, n_visits, row, all_asked, out, stops):
        """The sums at each stop are those of the ends of a walk that stops there, in the same
        order: ends come in preorder, as visits do."""
        root, stats = forest.first_node[t], forest.stats
        unit = unit_of(forest.nodes[root])
        for v in range(n_visits):
            i, d, share = frontier.nodes[v], frontier.depths[v], frontier.shares[v]
            for stop in range(stops.n_stops):
                if stops.answering[i * stops.n_stops + stop] == d:
                    to = row * stops.n_stops + stop
                    if all_asked:
                        contribute(stats, i, root, unit, share, stops.everyone.sums, to)
                    if out:
                        contribute(stats, i, root, unit, share, stops.left_out.sums, to)

    return add_visits_along


# ---- what a walk is added by -------------------------------------------------------------------


@jitable
def no_visits_to_add(forest, t, frontier, n_visits, running, row, n_depths):
    """In a plain forest no row branches."""


@jitable
def nothing_along(adds, walks, k, n_paths, row, all_asked, out, stops):
    """There are no rules."""


@jitable
def no_visits_along(forest, t, frontier, n_visits, row, all_asked, out, stops):
    """There are no rules, or no row branches."""


class Adders(NamedTuple):
    """What adds a row's visits by depth, and its path and visits by rules."""

    add_visits: Any
    add_along: Any
    add_visits_along: Any


def adders(contribute: Callable, plain: int, by_rules: bool) -> Adders:
    """What a walk is added by, given what a node contributes."""
    visits_along = make_add_visits_along(contribute) if by_rules and not plain else no_visits_along
    return Adders(
        no_visits_to_add if plain else make_add_visits(contribute),
        add_along if by_rules else nothing_along,
        visits_along,
    )

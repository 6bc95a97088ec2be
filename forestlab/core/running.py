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
from forestlab.core.jit import add_eight, add_one, add_two, either, jitable, kernel, prefetch


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
    # ((n_mixed + n_sums) * n_sums,) float64: behind those of mixed nodes what adds 1 to each sum
    numbers: np.ndarray


class Stops(NamedTuple):
    """Values of rules, and the sums there, which share their voters with those by depth.

    The paths of a row through some trees are laid side by side before they are added: so each sum
    is read and written once for all of them.
    """

    answering: np.ndarray  # (n_nodes * n_stops,): what `answer_depths` gives
    n_stops: int
    everyone: RunningSums
    left_out: RunningSums
    laid: np.ndarray  # (n_trees_together * n_depths,) uint64: where the numbers of nodes begin
    numbers: np.ndarray  # (n_trees_together * n_depths,): if nodes have one each, these themselves
    ends: np.ndarray  # (n_trees_together,) uint64: where who answers for the leaf of each begins
    n_laid: np.ndarray  # (2,) int64: paths that wait to be added for everyone, and for left_out
    waiting: np.ndarray  # (2, n_trees_together) uint64: which of those laid they are


def make_stops(
    answering: np.ndarray, n_trees: int, n_depths: int, everyone: RunningSums, left_out: RunningSums
) -> Stops:
    """For the walks of a block of rows through so many trees at a time, of whose sums by depth
    `everyone` and `left_out` are."""
    n_stops, width = answering.shape[1], everyone.sums.shape[1]

    def empty(by_depth: RunningSums) -> RunningSums:
        n = len(by_depth.voters)
        return RunningSums(np.zeros((n * n_stops, width)), np.full(n, n_stops), by_depth.voters)

    return Stops(
        answering.reshape(-1),
        n_stops,
        empty(everyone),
        empty(left_out),
        np.empty(n_trees * n_depths, np.uint64),
        np.empty(n_trees * n_depths),
        np.empty(n_trees, np.uint64),
        np.zeros(2, np.int64),
        np.empty((2, n_trees), np.uint64),
    )


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
    # Of one narrow type, so that a word of 64 bits holds many.
    narrow = np.dtype(np.uint16 if n_depths > 255 else np.uint8)
    in_word = 8 // narrow.itemsize
    n_words = -(-n_stops // in_word)
    # Of each rule, for each of its stops at which a node may open, and for none: the open stops.
    stops, opens, masks = np.arange(n_words * in_word), np.empty((len(paths), n_nodes), "u2"), []
    for r, (opens_at, n_own) in enumerate(paths):
        opens[r] = opens_at
        opens[r] += np.uint16(first[r] + r)
        since = first[r] + np.arange(n_own + 1)[:, None]
        is_open = (since <= stops) & (stops < first[r + 1])
        masks.append(np.where(is_open, -1, 0).astype(narrow))
    words = np.concatenate(masks).view(np.uint64)
    ones = np.ones(in_word, narrow).view(np.uint64)
    depth, found = np.zeros(n_nodes, np.uint16), np.zeros((n_nodes, n_words), np.uint64)
    find_answer_depths(forest, opens, words, ones, depth, found)
    answering = found.view(narrow)
    return answering if answering.shape[1] == n_stops else answering[:, :n_stops].copy()


@kernel(allocates=False)
def find_answer_depths(forest, opens, masks, ones, depth, found):
    """Fill `depth` and `found`, given zeros, a word of several stops at a time; parents stand
    before their children. `opens` names a row of `masks` for each rule, whose bits are ones at the
    stops at which the node asks; `ones[0]` is a word of ones."""
    for t in range(forest.first_node.shape[0] - 1):
        root = forest.first_node[t]
        for i in range(root, forest.first_node[t + 1]):
            node = forest.nodes[i]
            if node["kind"] == LEAF:
                continue
            left, right = np.uint64(root + node["left"]), np.uint64(root + node["right"])
            depth[left] = depth[right] = depth[i] + 1
            below = np.uint64(depth[left]) * ones[0]
            for word in range(found.shape[1]):
                asks = np.uint64(0)
                for r in range(opens.shape[0]):
                    asks |= masks[np.uint64(opens[r, i]), word]
                own = (found[i, word] & ~asks) | (below & asks)
                found[i, word] = found[left, word] = found[right, word] = own


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
def fetch_path(adds, paths, m, k, width):
    """Have the numbers of a path in the cache when its turn comes; those of the first are there."""
    if k < paths.n_rows[m]:
        for d in range(4, paths.lengths[m, k]):
            place = adds.place[np.uint64(paths.nodes[m, k, d])]
            if place >= 0:
                for j in range(0, width, 8):  # a line of the cache holds 8
                    prefetch(adds.numbers, np.uint64(place + j))


# ---- by depth ----------------------------------------------------------------------------------


@jitable
def add_path(adds, paths, m, k, running, row, n_depths):
    """Add what the nodes of a path add to a row's sums at their depths; a leaf below it too."""
    nodes, length, first = paths.nodes, paths.lengths[m, k], row * n_depths
    keep_up(running, row, length, n_depths)
    for d in range(length - 1):
        add_node(adds, nodes[m, k, d], running.sums, first + d, first + d + 1)
    leaf = nodes[m, k, length - 1]
    add_node(adds, leaf, running.sums, first + length - 1, first + running.n_kept[row])


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
def lay_path(adds, paths, m, k, all_asked, out, stops):
    """Lay the nodes of a path, down to a leaf, side by side; it waits to be added for all trees,
    and for those that left the row out, as they are asked."""
    laid, first, width = stops.laid, m * paths.nodes.shape[2], stops.everyone.sums.shape[1]
    of_ones = adds.numbers.shape[0] - width * width
    for d in range(paths.lengths[m, k]):
        place = adds.place[np.uint64(paths.nodes[m, k, d])]
        place = either(place < 0, of_ones + ~place * width, place)
        laid[np.uint64(first + d)] = place
        stops.numbers[np.uint64(first + d)] = adds.numbers[np.uint64(place)]
    stops.ends[m] = paths.ends[m, k] * stops.n_stops
    for asked in range(2):
        if out if asked else all_asked:
            stops.waiting[asked, stops.n_laid[asked]] = m
            stops.n_laid[asked] += 1
    if k + 1 < paths.n_rows[m]:  # have in the cache who answers for the path of the next row
        first = paths.ends[m, k + 1] * stops.n_stops
        for stop in range(0, stops.n_stops, 64):
            prefetch(stops.answering, np.uint64(first + stop))


@jitable
def add_laid(adds, paths, row, stops):
    """Add the paths that wait where their nodes answer."""
    add_waiting(adds, paths, stops, 0, row, stops.everyone.sums)
    add_waiting(adds, paths, stops, 1, row, stops.left_out.sums)


@jitable
def add_waiting(adds, paths, stops, asked, row, sums):
    """Four at a time, so that sums are read and written once for them."""
    n, w, waiting = stops.n_laid[asked], 0, stops.waiting
    while w + 4 <= n:
        add_four(adds, paths, stops, waiting[asked, w : w + 4], row, sums)
        w += 4
    while w < n:
        add_single(adds, paths, stops, waiting[asked, w], row, sums)
        w += 1
    stops.n_laid[asked] = 0


@jitable
def add_four(adds, paths, stops, four, row, sums):
    """Add at each stop what the nodes of four paths add that answer there, in turn."""
    n_depths, n_stops = np.uint64(paths.nodes.shape[2]), np.uint64(stops.n_stops)
    to, answering, laid = np.uint64(row) * n_stops, stops.answering, stops.laid
    end_a, end_b = stops.ends[four[0]], stops.ends[four[1]]
    end_c, end_d = stops.ends[four[2]], stops.ends[four[3]]
    path_a, path_b = four[0] * n_depths, four[1] * n_depths
    path_c, path_d = four[2] * n_depths, four[3] * n_depths
    if sums.shape[1] == 1:
        numbers = stops.numbers
        for stop in range(n_stops):
            total = sums[to + stop, np.uint64(0)]
            total += numbers[path_a + np.uint64(answering[end_a + stop])]
            total += numbers[path_b + np.uint64(answering[end_b + stop])]
            total += numbers[path_c + np.uint64(answering[end_c + stop])]
            total += numbers[path_d + np.uint64(answering[end_d + stop])]
            sums[to + stop, np.uint64(0)] = total
        return
    for stop in range(n_stops):
        places = (
            laid[path_a + np.uint64(answering[end_a + stop])],
            laid[path_b + np.uint64(answering[end_b + stop])],
            laid[path_c + np.uint64(answering[end_c + stop])],
            laid[path_d + np.uint64(answering[end_d + stop])],
        )
        add_row(sums, to + stop, adds.numbers, places)


@jitable
def add_single(adds, paths, stops, m, row, sums):
    """The same for one path."""
    n_stops, path = np.uint64(stops.n_stops), m * np.uint64(paths.nodes.shape[2])
    to, end, answering, laid = np.uint64(row) * n_stops, stops.ends[m], stops.answering, stops.laid
    for stop in range(n_stops):
        place = laid[path + np.uint64(answering[end + stop])]
        add_row(sums, to + stop, adds.numbers, (place,))


@jitable
def add_row(sums, to, numbers, places):
    """Add to a row of sums the numbers that begin at each of the places."""
    width, j = np.uint64(sums.shape[1]), np.uint64(0)
    while j + np.uint64(8) <= width:
        add_eight(sums, to, j, numbers, places)
        j += np.uint64(8)
    while j + np.uint64(2) <= width:
        add_two(sums, to, j, numbers, places)
        j += np.uint64(2)
    if j < width:
        add_one(sums, to, j, numbers, places)


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
def nothing_to_lay(adds, paths, m, k, all_asked, out, stops):
    """There are no rules."""


@jitable
def nothing_laid(adds, paths, row, stops):
    """There are no rules."""


@jitable
def no_visits_along(forest, t, frontier, n_visits, row, all_asked, out, stops):
    """There are no rules, or no row branches."""


class Adders(NamedTuple):
    """What adds a row's visits by depth; and by rules what lays a path, adds those that are laid,
    and adds visits."""

    add_visits: Any
    lay_path: Any
    add_laid: Any
    add_visits_along: Any


def adders(contribute: Callable, plain: int, by_rules: bool) -> Adders:
    """What a walk is added by, given what a node contributes."""
    visits_along = make_add_visits_along(contribute) if by_rules and not plain else no_visits_along
    return Adders(
        no_visits_to_add if plain else make_add_visits(contribute),
        lay_path if by_rules else nothing_to_lay,
        add_laid if by_rules else nothing_laid,
        visits_along,
    )

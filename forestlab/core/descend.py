"""Descending: one walk of one row through one tree, and what is read on the way.

A walk may stop at any depth: a node keeps its statistics, so stopping at depth d is what a tree
grown with ``max_depth=d`` would answer. Where a value is missing a row may go both ways, each with
a share of its weight, so in general a walk is a *frontier* of (node, weight); where every node
sends a row one way it is a plain loop.

All kernels take a forest whole and go tree by tree over a block of rows: a tree's upper nodes stay
in cache, and sums run in tree order whatever the number of threads.
"""

import functools
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import AXIS, BOTH, CATEGORY, LEAF, LEFT, OBLIQUE
from forestlab.core.combine import COMBINERS, unit_of
from forestlab.core.jit import jitable, kernel, prefetch

NO_DEPTH = 2**31 - 1  # deeper than any tree
TILE = 128  # rows that go through a tree together


# ---- one step ----------------------------------------------------------------------------------


@jitable
def oblique_value(params, start, x):
    """params: [number of terms, feature, factor, feature, factor, …]"""
    value = 0.0
    for k in range(np.int64(params[start])):
        value += x[np.int64(params[start + 1 + 2 * k])] * params[start + 2 + 2 * k]
    return value


@jitable
def quadratic_value(params, start, x):
    """params: [number of features n, features …, an (n + 1)² matrix over (features …, 1)]"""
    n = np.int64(params[start])
    matrix = start + 1 + n
    value = 0.0
    for a in range(n + 1):
        x_a = x[np.int64(params[start + 1 + a])] if a < n else 1.0
        for b in range(n + 1):
            x_b = x[np.int64(params[start + 1 + b])] if b < n else 1.0
            value += x_a * params[matrix + a * (n + 1) + b] * x_b
    return value


@jitable
def category_side(bits, start, value):
    """bits: [number of words, words …]; what is no category of the set goes right."""
    n_words = np.int64(bits[start])
    if not 0.0 <= value < 64 * n_words or value != np.floor(value):
        return np.uint8(1)
    category = np.int64(value)
    word = bits[start + 1 + (category >> 6)]
    return np.uint8(1) - np.uint8((word >> np.uint64(category & 63)) & np.uint64(1))


@jitable
def side_of(node, params, bits, x):
    """LEFT, RIGHT or BOTH."""
    kind = node["kind"]
    if kind in (AXIS, CATEGORY):
        value = x[node["feature"]]
    elif kind == OBLIQUE:
        value = oblique_value(params, node["params"], x)
    else:
        value = quadratic_value(params, node["params"], x)
    if np.isnan(value):
        return node["missing"]
    if kind == CATEGORY:
        return category_side(bits, node["bits"], value)
    return np.uint8(0) if node["cut_low"] < value <= node["cut_high"] else np.uint8(1)


# ---- whole walks -------------------------------------------------------------------------------


@jitable
def step_down(steps, first, X, rows, ends, active, n_active):
    """Rows go down a level: rows[k] from node ends[k], for the first `n_active` k in `active`, of
    which those that left a leaf behind are kept; return how many.

    A row alone waits at each step for memory, so rows go down together, a level a pass. The child
    is chosen without a branch, which half the rows would mispredict; indices are unsigned, so that
    numba need not ask whether they count from the end; and the child is fetched until its turn
    comes. Measured on MNIST: 2.5 times as fast as row by row, twice that again, and twice again.
    """
    n_moved = np.int64(0)
    for a in range(n_active):
        k = np.uint64(active[a])
        i = np.uint64(ends[k])
        step = steps[i]
        feature = step["feature"]
        value = X[np.uint64(rows[k]), np.uint64(max(feature, 0))]
        left, right = i + np.uint64(1), np.uint64(first + step["right"])
        child = left if value <= step["cut"] else right
        prefetch(steps, child)
        is_inner = feature >= 0
        ends[k] = child if is_inner else i
        active[n_moved] = k
        n_moved += is_inner
    return n_moved


@jitable
def start_down(first, n_rows, ends, active):
    for k in range(n_rows):
        ends[k] = first
        active[k] = k


@jitable
def short_walks(steps, first, X, rows, n_rows, depth, ends, active):
    """ends[k] = the node where rows[k] ends, in the tree that begins at `first`."""
    start_down(first, n_rows, ends, active)
    n_active, d = np.int64(n_rows), 0
    while d < depth and n_active > 0:
        n_active = step_down(steps, first, X, rows, ends, active, n_active)
        d += 1


class Frontier(NamedTuple):
    """Scratch of a walk that may branch; each array has room for every node of the largest tree."""

    ends: np.ndarray  # int64: the nodes where the row ends
    shares: np.ndarray  # float64: its share in each
    waiting: np.ndarray  # (…, 2) int64: nodes still to visit, and their depth
    waiting_share: np.ndarray  # float64


def make_frontier(forest) -> Frontier:
    short = len(forest.steps) > 0
    most = 1 if short else int(np.diff(forest.first_node).max())
    return Frontier(
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
    lengths: np.ndarray  # (TILE,) int64: nodes that each has passed
    paths: np.ndarray  # (TILE, n_depths) int64: those nodes
    frontier: Frontier


def make_walks(forest, n_depths: int = 0) -> Walks:
    """Scratch for one thread. It is made here because a kernel that allocates counts references
    to every array in its loops: the surface took twice as long."""
    rows, ends, active, lengths = np.empty((4, TILE), np.int64)
    paths = np.empty((TILE, n_depths if len(forest.steps) else 0), np.int64)
    return Walks(rows, ends, active, lengths, paths, make_frontier(forest))


@jitable
def frontier_walk(forest, t, x, depth, frontier):
    """Find the nodes where row x ends in tree t and its share in each; return how many."""
    first = forest.first_node[t]
    params = forest.params[forest.first_param[t] : forest.first_param[t + 1]]
    bits = forest.bits[forest.first_bit[t] : forest.first_bit[t + 1]]
    waiting, waiting_share = frontier.waiting, frontier.waiting_share
    n_ends, n_waiting = 0, 1
    waiting[0, 0], waiting[0, 1], waiting_share[0] = first, 0, 1.0
    while n_waiting > 0:
        n_waiting -= 1
        i, here, share = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting_share[n_waiting]
        node = forest.nodes[i]
        if node["kind"] == LEAF or here >= depth:
            frontier.ends[n_ends], frontier.shares[n_ends] = i, share
            n_ends += 1
            continue
        side = side_of(node, params, bits, x)
        left_share = node["missing_share"] if side == BOTH else np.float64(side == LEFT)
        if left_share < 1.0:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = first + node["right"], here + 1
            waiting_share[n_waiting] = share * (1.0 - left_share)
            n_waiting += 1
        if left_share > 0.0:
            waiting[n_waiting, 0], waiting[n_waiting, 1] = first + node["left"], here + 1
            waiting_share[n_waiting] = share * left_share
            n_waiting += 1
    return n_ends


# ---- what is read ------------------------------------------------------------------------------


@functools.cache
def sum_kernel(task: str, combiner: str):
    """The compiled sum of the trees' answers, for one way to combine them."""
    contribute = COMBINERS[combiner].contribute[task]

    @kernel(allocates=False)
    def sum_answers(forest, walks, X, trees, depth, outside, first_row, sums, voters):
        """Add the answers of trees (first, last + 1) for each row of X to `sums`, and count the
        trees in `voters`.

        `outside[t]` holds a bit for each row of the training data, of which X begins at
        `first_row`: only trees whose bit is set answer. An empty `outside` lets all answer.
        """
        stats = forest.stats
        short = forest.steps.shape[0] > 0
        rows, ends, frontier = walks.rows, walks.ends, walks.frontier
        for tile in range(0, X.shape[0], TILE):
            for t in range(trees[0], trees[1]):
                root = forest.first_node[t]
                unit = unit_of(forest.nodes[root])
                n_tile = min(TILE, X.shape[0] - tile)
                n_asked = ask(outside, t, first_row, tile, n_tile, outside.shape[0] == 0, rows)
                if short:
                    short_walks(forest.steps, root, X, rows, n_asked, depth, ends, walks.active)
                for k in range(n_asked):
                    voters[rows[k]] += 1
                    if short:
                        contribute(stats, ends[k], root, unit, 1.0, sums, rows[k])
                        continue
                    for end in range(frontier_walk(forest, t, X[rows[k]], depth, frontier)):
                        i, share = frontier.ends[end], frontier.shares[end]
                        contribute(stats, i, root, unit, share, sums, rows[k])

    return sum_answers


class DepthSums(NamedTuple):
    """Running sums of the answers for each row at every depth.

    A row's sums are the same at all depths below the deepest node that it has reached, so only
    those above are kept up: about half of the adding on MNIST.
    """

    sums: np.ndarray  # (n_rows * n_depths, width); row r at depth d: r * n_depths + d
    n_kept: np.ndarray  # (n_rows,) depths that are kept up; 0: nothing yet
    voters: np.ndarray  # (n_rows,)


@functools.cache
def surface_kernel(task: str, combiner: str):
    """The compiled sum of the trees' answers at every depth."""
    contribute = COMBINERS[combiner].contribute[task]

    @kernel(allocates=False)
    def sum_by_depth(
        forest, adds, walks, X, trees, n_depths, outside, first_row, everyone, left_out
    ):
        """As `sum_answers` for depth 0 … n_depths - 1 at once, from one walk of each row; to the
        bit what it gives.

        `adds` is what `tabulate` made of the forest. `everyone` asks all of the trees, `left_out`
        those whose bit is set in `outside`; one of them may be empty and is then left alone.
        """
        stats = forest.stats
        short = forest.steps.shape[0] > 0
        n_rows = X.shape[0]
        all_asked, some_asked = everyone.voters.shape[0] > 0, left_out.voters.shape[0] > 0
        rows, frontier = walks.rows, walks.frontier
        for tile in range(0, n_rows, TILE):
            for t in range(trees[0], trees[1]):
                root = forest.first_node[t]
                unit = unit_of(forest.nodes[root])
                n_tile = min(TILE, n_rows - tile)
                n_asked = ask(outside, t, first_row, tile, n_tile, all_asked, rows)
                if short:
                    list_paths(forest.steps, root, X, n_asked, walks)
                for k in range(n_asked):
                    row = rows[k]
                    out = some_asked and is_outside(outside, t, first_row + row)
                    if short:
                        if k + 1 < n_asked:
                            fetch_path(adds, walks, k + 1, everyone.sums.shape[1])
                        if all_asked:
                            add_path(adds, walks, k, everyone, row, n_depths)
                        if out:
                            add_path(adds, walks, k, left_out, row, n_depths)
                        continue
                    if all_asked:
                        keep_up(everyone, row, n_depths, n_depths)
                    if out:
                        keep_up(left_out, row, n_depths, n_depths)
                    for d in range(n_depths):
                        place = row * n_depths + d
                        for end in range(frontier_walk(forest, t, X[row], d, frontier)):
                            i, share = frontier.ends[end], frontier.shares[end]
                            if all_asked:
                                contribute(stats, i, root, unit, share, everyone.sums, place)
                            if out:
                                contribute(stats, i, root, unit, share, left_out.sums, place)

    return sum_by_depth


@jitable
def list_paths(steps, first, X, n_rows, walks):
    """paths[k, :lengths[k]] = the nodes that rows[k] passes, as far as there is room for them."""
    rows, ends, active, lengths, paths, _ = walks
    start_down(first, n_rows, ends, active)
    n_active, d = np.int64(n_rows), 0
    while d < paths.shape[1] and n_active > 0:
        for a in range(n_active):
            k = np.uint64(active[a])
            paths[k, d] = ends[k]
            lengths[k] = d + 1
        n_active = step_down(steps, first, X, rows, ends, active, n_active)
        d += 1


@jitable
def keep_up(pair, row, length, n_depths):
    """Count a voter, and keep up as many depths as its path is long."""
    sums, first, kept = pair.sums, row * n_depths, pair.n_kept[row]
    if length > kept:
        for d in range(max(kept, 1), length):
            for k in range(sums.shape[1]):
                sums[first + d, k] = sums[first + max(kept, 1) - 1, k]
        pair.n_kept[row] = length
    pair.voters[row] += 1


class Additions(NamedTuple):
    """What every node of a forest adds to the sum of a row that ends in it.

    A walk over all depths visits the upper nodes again and again: adding what was divided once is
    twice as fast on MNIST as dividing each time. Pure leaves, half of the nodes of a full tree, add
    1 to one sum and nothing to the others: they need no numbers.
    """

    place: np.ndarray  # (n_nodes,) int64: where its numbers begin; or ~k: it adds 1 to sum k
    numbers: np.ndarray  # (n_mixed * n_sums,) float64


@jitable
def add_path(adds, walks, k, pair, row, n_depths):
    """Add what the nodes of path k add to a row's sums at their depths; a leaf below it too."""
    paths, length, first = walks.paths, walks.lengths[k], row * n_depths
    keep_up(pair, row, length, n_depths)
    for d in range(length - 1):
        add_node(adds, paths[k, d], pair.sums, first + d, first + d + 1)
    add_node(adds, paths[k, length - 1], pair.sums, first + length - 1, first + pair.n_kept[row])


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


@functools.cache
def table_kernel(task: str, combiner: str):
    """The compiled maker of `Additions`."""
    contribute = COMBINERS[combiner].contribute[task]

    @kernel(allocates=False)
    def tabulate(forest, place, table):
        """Fill `place` and the first rows of `table`; return how many."""
        n_mixed = 0
        for t in range(forest.first_node.shape[0] - 1):
            root = forest.first_node[t]
            unit = unit_of(forest.nodes[root])
            for i in range(root, forest.first_node[t + 1]):
                for k in range(table.shape[1]):
                    table[n_mixed, k] = 0.0
                contribute(forest.stats, i, root, unit, 1.0, table, n_mixed)
                lone = only_one(table, n_mixed)
                place[i] = ~lone if lone >= 0 else n_mixed * table.shape[1]
                n_mixed += lone < 0
        return n_mixed

    return tabulate


@jitable
def only_one(table, row):
    """The place of the 1 if all other numbers of the row are 0, else -1."""
    lone = -1
    for k in range(table.shape[1]):
        if table[row, k] == 0.0:
            continue
        if table[row, k] != 1.0 or lone >= 0:
            return -1
        lone = k
    return lone


@functools.cache
def finish_kernel(task: str, combiner: str):
    """The compiled last step from sums to answers."""
    finish = COMBINERS[combiner].finish[task]

    @kernel()
    def finish_answers(sums, voters):
        """Turn sums into answers in place."""
        for row in range(sums.shape[0]):
            finish(sums, row, voters[row])

    return finish_answers


@functools.cache
def judge_kernel(task: str, combiner: str):
    """The compiled comparison of running sums with the truth."""
    finish = COMBINERS[combiner].finish[task]
    classes = task == "classification"

    @kernel()
    def judge(pair, truth, answer, p_true, brier):
        """What is answered for each row at each depth, the sums staying as they are: answer[d, row]
        is a class or the first target's mean; for classes there are p_true[d, row] and
        brier[d, row] too, as `study.metrics.Outcome` has them."""
        n_depths, n_rows = answer.shape
        own = np.zeros((1, pair.sums.shape[1]))
        for row in range(n_rows):
            n_kept = max(pair.n_kept[row], 1)
            for d in range(n_depths):
                if d >= n_kept:
                    answer[d, row] = answer[d - 1, row]
                    if classes:
                        p_true[d, row], brier[d, row] = p_true[d - 1, row], brier[d - 1, row]
                    continue
                for k in range(own.shape[1]):
                    own[0, k] = pair.sums[row * n_depths + d, k]
                finish(own, 0, pair.voters[row])
                if not classes:
                    answer[d, row] = own[0, 0]
                    continue
                best, largest, squares = 0, own[0, 0], 0.0
                for k in range(own.shape[1]):
                    squares += own[0, k] * own[0, k]
                    if own[0, k] > largest:
                        best, largest = k, own[0, k]
                true = np.int64(truth[row])
                p = own[0, true] if true >= 0 else 0.0
                answer[d, row], p_true[d, row] = best, p
                brier[d, row] = squares - 2.0 * p + 1.0  # Σ (p - truth)²

    return judge


@functools.cache
def answers_kernel(task: str, combiner: str):
    """The compiled last step from running sums to answers at every depth."""
    finish = COMBINERS[combiner].finish[task]

    @kernel()
    def finish_depths(pair, first_depth, answers):
        """answers[d, row] = the answer at depth first_depth + d, the sums staying as they are."""
        n_rows = pair.voters.shape[0]
        n_depths = pair.sums.shape[0] // n_rows
        own = np.zeros((1, pair.sums.shape[1]))
        for row in range(n_rows):
            for d in range(answers.shape[0]):
                kept = min(first_depth + d, max(pair.n_kept[row], 1) - 1)
                # Written out: numba takes two seconds to compile the assignment of a slice.
                for k in range(own.shape[1]):
                    own[0, k] = pair.sums[row * n_depths + kept, k]
                finish(own, 0, pair.voters[row])
                for k in range(answers.shape[2]):
                    answers[d, row, k] = own[0, k]

    return finish_depths


@jitable
def is_outside(outside, t, row):
    return (outside[t, row >> 3] >> (row & 7)) & 1 == 1


@jitable
def ask(outside, t, first_row, tile, n, everyone, rows):
    """List the rows of a tile that tree t answers for."""
    n_asked = 0
    for row in range(tile, tile + n):
        if everyone or is_outside(outside, t, first_row + row):
            rows[n_asked] = row
            n_asked += 1
    return n_asked


@kernel(allocates=False)
def find_ends(forest, walks, X, depth, ends):
    """ends[t, row] = the node of tree t where the row ends; of several that with most of it."""
    short = forest.steps.shape[0] > 0
    rows, here, frontier = walks.rows, walks.ends, walks.frontier
    for tile in range(0, X.shape[0], TILE):
        n_tile = min(TILE, X.shape[0] - tile)
        for k in range(n_tile):
            rows[k] = tile + k
        for t in range(ends.shape[0]):
            first = forest.first_node[t]
            if short:
                short_walks(forest.steps, first, X, rows, n_tile, depth, here, walks.active)
            for k in range(n_tile):
                row = rows[k]
                if not short:
                    here[k] = heaviest_end(forest, t, X[row], depth, frontier)
                ends[t, row] = here[k] - first


@jitable
def heaviest_end(forest, t, x, depth, frontier):
    heaviest = 0
    for end in range(1, frontier_walk(forest, t, x, depth, frontier)):
        if frontier.shares[end] > frontier.shares[heaviest]:
            heaviest = end
    return frontier.ends[heaviest]

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
from forestlab.core.combine import COMBINERS
from forestlab.core.jit import jitable, kernel

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
def short_walks(steps, first, X, rows, n_rows, depth, ends, active):
    """ends[k] = the node where rows[k] ends, in the tree that begins at `first`.

    The rows go down together, a level a pass, so that their steps do not wait for each other; and
    the choice of a child is arithmetic, not a branch that half the rows would mispredict. Measured
    against row by row: 2.5 times as fast, and twice that again.
    """
    for k in range(n_rows):
        ends[k] = first
        active[k] = k
    n_active = np.int64(n_rows)
    for _ in range(depth):
        n_moved = np.int64(0)
        for a in range(n_active):
            k = active[a]
            i = ends[k]
            feature = np.int64(steps[i]["feature"])
            inner = np.int64(feature >= 0)
            value = X[rows[k], feature * inner]
            left, right = i + 1, first + steps[i]["right"]
            child = right + (left - right) * np.int64(value <= steps[i]["cut"])
            ends[k] = i + (child - i) * inner
            active[n_moved] = k
            n_moved += inner
        n_active = n_moved
        if n_active == 0:
            break


class Frontier(NamedTuple):
    """Scratch of a walk that may branch; each array has room for every node of the largest tree."""

    ends: np.ndarray  # int64: the nodes where the row ends
    shares: np.ndarray  # float64: its share in each
    waiting: np.ndarray  # (…, 2) int64: nodes still to visit, and their depth
    waiting_share: np.ndarray  # float64


@jitable
def make_frontier(forest, short):
    most = 1
    for t in range(0 if short else forest.first_node.shape[0] - 1):
        most = max(most, forest.first_node[t + 1] - forest.first_node[t])
    return Frontier(
        np.zeros(most, np.int64),
        np.ones(most, np.float64),
        np.zeros((most + 1, 2), np.int64),
        np.zeros(most + 1, np.float64),
    )


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

    @kernel()
    def sum_answers(forest, X, depth, outside, first_row, sums, voters):
        """Add each tree's answer for each row of X to `sums`, and count the trees in `voters`.

        `outside[t]` holds a bit for each row of the training data, of which X begins at
        `first_row`: only trees whose bit is set answer. An empty `outside` lets all answer.
        """
        stats = forest.stats
        short = forest.steps.shape[0] > 0
        frontier = make_frontier(forest, short)
        rows, ends, active = (
            np.empty(TILE, np.int64),
            np.empty(TILE, np.int64),
            np.empty(TILE, np.int64),
        )
        for tile in range(0, X.shape[0], TILE):
            for t in range(forest.first_node.shape[0] - 1):
                root = forest.first_node[t]
                n_asked = ask(outside, t, first_row, tile, min(TILE, X.shape[0] - tile), rows)
                if short:
                    short_walks(forest.steps, root, X, rows, n_asked, depth, ends, active)
                for k in range(n_asked):
                    voters[rows[k]] += 1
                    if short:
                        contribute(stats, ends[k], root, 1.0, sums, rows[k])
                        continue
                    for end in range(frontier_walk(forest, t, X[rows[k]], depth, frontier)):
                        i, share = frontier.ends[end], frontier.shares[end]
                        contribute(stats, i, root, share, sums, rows[k])

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

    @kernel()
    def sum_by_depth(forest, table, X, trees, n_depths, outside, first_row, everyone, left_out):
        """As `sum_answers` for depth 0 … n_depths - 1 at once, from one walk of each row; to the
        bit what it gives.

        `table` is what `tabulate` made of the forest; `trees` = (first, last + 1) are those that
        are asked. `everyone` asks all of them, `left_out` those whose bit is set in `outside`;
        either may be empty and is then left alone.
        """
        stats = forest.stats
        short = forest.steps.shape[0] > 0
        frontier = make_frontier(forest, short)
        n_rows = X.shape[0]
        all_asked, some_asked = everyone.voters.shape[0] > 0, left_out.voters.shape[0] > 0
        rows, ends, active, lengths = np.empty((4, TILE), np.int64)
        paths = np.empty((TILE, n_depths if short else 0), np.int64)
        nobody = np.zeros((0, 0), np.uint8)
        for tile in range(0, n_rows, TILE):
            for t in range(trees[0], trees[1]):
                root = forest.first_node[t]
                n_tile = min(TILE, n_rows - tile)
                n_asked = ask(nobody if all_asked else outside, t, first_row, tile, n_tile, rows)
                if short:
                    list_paths(forest.steps, root, X, rows, n_asked, ends, active, paths, lengths)
                for k in range(n_asked):
                    row = rows[k]
                    out = some_asked and is_outside(outside, t, first_row + row)
                    length = lengths[k] if short else n_depths
                    if all_asked:
                        keep_up(everyone, row, length, n_depths)
                    if out:
                        keep_up(left_out, row, length, n_depths)
                    for d in range(length):
                        if short:
                            # A leaf answers for the depths below it too.
                            i, is_end = paths[k, d], d + 1 == length
                            if all_asked:
                                last = everyone.n_kept[row] if is_end else d + 1
                                add_entry(table, i, everyone.sums, row * n_depths, d, last)
                            if out:
                                last = left_out.n_kept[row] if is_end else d + 1
                                add_entry(table, i, left_out.sums, row * n_depths, d, last)
                            continue
                        place = row * n_depths + d
                        for end in range(frontier_walk(forest, t, X[row], d, frontier)):
                            i, share = frontier.ends[end], frontier.shares[end]
                            if all_asked:
                                contribute(stats, i, root, share, everyone.sums, place)
                            if out:
                                contribute(stats, i, root, share, left_out.sums, place)

    return sum_by_depth


@jitable
def list_paths(steps, first, X, rows, n_rows, ends, active, paths, lengths):
    """paths[k, :lengths[k]] = the nodes that rows[k] passes, as far as there is room for them.

    The rows go down together as in `short_walks`.
    """
    for k in range(n_rows):
        ends[k] = first
        active[k] = k
    n_active = np.int64(n_rows)
    for d in range(paths.shape[1]):
        n_moved = np.int64(0)
        for a in range(n_active):
            k = active[a]
            i = ends[k]
            paths[k, d] = i
            lengths[k] = d + 1
            feature = np.int64(steps[i]["feature"])
            inner = np.int64(feature >= 0)
            value = X[rows[k], feature * inner]
            left, right = i + 1, first + steps[i]["right"]
            ends[k] = right + (left - right) * np.int64(value <= steps[i]["cut"])
            active[n_moved] = k
            n_moved += inner
        n_active = n_moved
        if n_active == 0:
            break


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


@jitable
def add_entry(table, i, sums, first, d, last):
    for place in range(first + d, first + last):
        for k in range(table.shape[1]):
            sums[place, k] += table[i, k]


@functools.cache
def table_kernel(task: str, combiner: str):
    """The compiled table of what every node contributes.

    A walk over all depths visits the upper nodes again and again: adding what was divided once is
    twice as fast on MNIST as dividing each time.
    """
    contribute = COMBINERS[combiner].contribute[task]

    @kernel()
    def tabulate(forest, table):
        for t in range(forest.first_node.shape[0] - 1):
            root = forest.first_node[t]
            for i in range(root, forest.first_node[t + 1]):
                contribute(forest.stats, i, root, 1.0, table, i)

    return tabulate


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
                own[0] = pair.sums[row * n_depths + kept]
                finish(own, 0, pair.voters[row])
                answers[d, row] = own[0, : answers.shape[2]]

    return finish_depths


@jitable
def is_outside(outside, t, row):
    return (outside[t, row >> 3] >> (row & 7)) & 1 == 1


@jitable
def ask(outside, t, first_row, tile, n, rows):
    """List the rows of a tile that tree t answers for."""
    n_asked = 0
    for row in range(tile, tile + n):
        if outside.shape[0] == 0 or is_outside(outside, t, first_row + row):
            rows[n_asked] = row
            n_asked += 1
    return n_asked


@kernel()
def find_ends(forest, X, depth, ends):
    """ends[t, row] = the node of tree t where the row ends; of several that with most of it."""
    short = forest.steps.shape[0] > 0
    frontier = make_frontier(forest, short)
    n_rows = X.shape[0]
    rows, active = np.arange(n_rows), np.empty(n_rows, np.int64)
    for t in range(ends.shape[0]):
        first = forest.first_node[t]
        if short:
            short_walks(forest.steps, first, X, rows, n_rows, depth, ends[t], active)
        for row in range(0 if short else n_rows):
            heaviest = 0
            for end in range(1, frontier_walk(forest, t, X[row], depth, frontier)):
                if frontier.shares[end] > frontier.shares[heaviest]:
                    heaviest = end
            ends[t, row] = frontier.ends[heaviest]
        for row in range(n_rows):
            ends[t, row] -= first

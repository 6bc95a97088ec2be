"""Descending: what trees answer for the rows that walk through them, added up.

All kernels take a forest whole and go tree by tree over a block of rows: a tree's upper nodes stay
in cache, and sums run in tree order whatever the number of threads.
"""

import numpy as np

from forestlab.core.combine import COMBINERS, each_target, unit_of
from forestlab.core.jit import jitable, kernel, made_from
from forestlab.core.questions import KINDS
from forestlab.core.running import add_path, adders, fetch_path
from forestlab.core.tasks import TASKS
from forestlab.core.walk import TILE, ends_lister, path_lister, visitor, walker

# A tile of rows goes through so many trees before what it met is added, row by row, so that a row's
# sums are read and written once for four trees where rules are followed: those take 0.7 of the time
# on digits. 4 to 16 trees, or 32 to 128 rows, take as long.
TREES_TOGETHER = 8
ROWS_TOGETHER = 64


@made_from(COMBINERS, KINDS)
def sum_kernel(task: str, combiner: str, plain: bool, several: bool = False):
    """The compiled sum of the trees' answers, for one way to combine them; for `several` targets of
    classes the forest's statistics come with where those of each begin, as a pair."""
    contribute = COMBINERS[combiner][task].contribute
    contribute = each_target(contribute) if several else contribute
    go_down, list_ends = walker(plain), ends_lister(plain)

    @kernel(allocates=False)
    def sum_answers(forest, walks, X, trees, depth, outside, first_row, sums, voters):
        """Add the answers of trees (first, last + 1) for each row of X to `sums`, and count the
        trees in `voters`.

        `outside[t]` holds a bit for each row of the training data, of which X begins at
        `first_row`: only trees whose bit is set answer. An empty `outside` lets all answer.
        """
        stats = forest.stats
        rows, ends, frontier = walks.rows, walks.ends, walks.frontier
        for tile in range(0, X.shape[0], TILE):
            for t in range(trees[0], trees[1]):
                root = forest.first_node[t]
                unit = unit_of(forest.nodes[root])
                n_tile = min(TILE, X.shape[0] - tile)
                n_asked = ask(outside, t, first_row, tile, n_tile, outside.shape[0] == 0, rows)
                go_down(forest, t, X, rows, n_asked, depth, ends, walks.active)
                for k in range(n_asked):
                    voters[rows[k]] += 1
                    if ends[k] >= 0:
                        contribute(stats, ends[k], root, unit, 1.0, sums, rows[k])
                        continue
                    for end in range(list_ends(forest, t, X[rows[k]], depth, frontier)):
                        i, share = frontier.nodes[end], frontier.shares[end]
                        contribute(stats, i, root, unit, share, sums, rows[k])

    return sum_answers


@made_from(COMBINERS, KINDS)
def surface_kernel(task: str, combiner: str, plain: bool, by_rules: bool = False):
    """The compiled sum of the trees' answers at every depth, and at every value of some rules."""
    list_paths, visit = path_lister(plain), visitor(plain)
    contribute = COMBINERS[combiner][task].contribute
    add_visits, lay_path, add_laid, add_visits_along = adders(contribute, plain, by_rules)

    @kernel(allocates=False)
    def sum_by_depth(
        forest, adds, paths, X, trees, n_depths, outside, first_row, everyone, left_out, stops
    ):
        """As `sum_answers` for depth 0 … n_depths - 1 at once, from one walk of each row; to the
        bit what it gives. So are the sums of `stops`, the `Stops` of rules or (), if `n_depths`
        are all there are.

        `adds` is what `tabulate` made of the forest. `everyone` asks all of the trees, `left_out`
        those whose bit is set in `outside`; one of them may be empty and is then left alone.
        """
        n_rows = X.shape[0]
        all_asked, some_asked = everyone.voters.shape[0] > 0, left_out.voters.shape[0] > 0
        frontier, width = paths.frontier, everyone.sums.shape[1]
        for tile in range(0, n_rows, ROWS_TOGETHER):
            n_tile = min(ROWS_TOGETHER, n_rows - tile)
            for first in range(trees[0], trees[1], TREES_TOGETHER):
                n_trees = min(TREES_TOGETHER, trees[1] - first)
                for m in range(n_trees):
                    paths.n_rows[m] = ask(
                        outside, first + m, first_row, tile, n_tile, all_asked, paths.rows[m]
                    )
                    list_paths(forest, first + m, X, paths, m)
                    paths.n_done[m] = 0
                for row in range(tile, tile + n_tile):
                    for m in range(n_trees):
                        k, t = paths.n_done[m], first + m
                        if k == paths.n_rows[m] or paths.rows[m, k] != row:
                            continue
                        paths.n_done[m] += 1
                        out = some_asked and is_outside(outside, t, first_row + row)
                        if paths.ends[m, k] >= 0:
                            fetch_path(adds, paths, m, k + 1, width)
                            if all_asked:
                                add_path(adds, paths, m, k, everyone, row, n_depths)
                            if out:
                                add_path(adds, paths, m, k, left_out, row, n_depths)
                            lay_path(adds, paths, m, k, all_asked, out, stops)
                            continue
                        add_laid(adds, paths, row, stops)
                        n_visits = visit(forest, t, X[row], n_depths - 1, frontier)
                        if all_asked:
                            add_visits(forest, t, frontier, n_visits, everyone, row, n_depths)
                        if out:
                            add_visits(forest, t, frontier, n_visits, left_out, row, n_depths)
                        add_visits_along(forest, t, frontier, n_visits, row, all_asked, out, stops)
                    add_laid(adds, paths, row, stops)

    return sum_by_depth


@made_from(COMBINERS)
def table_kernel(task: str, combiner: str):
    """The compiled maker of `Additions`."""
    contribute = COMBINERS[combiner][task].contribute

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


@made_from(COMBINERS)
def finish_kernel(task: str, combiner: str):
    """The compiled last step from sums to answers."""
    finish = COMBINERS[combiner][task].finish

    @kernel()
    def finish_answers(sums, voters):
        """Turn sums into answers in place."""
        for row in range(sums.shape[0]):
            finish(sums, row, voters[row])

    return finish_answers


@made_from(COMBINERS)
def judge_kernel(task: str, combiner: str):
    """The compiled comparison of running sums with the truth."""
    finish = COMBINERS[combiner][task].finish
    classes = TASKS[task].has_classes

    @kernel()
    def judge(running, truth, answer, p_true, brier):
        """What is answered for each row at each depth, or other stop, the sums staying as they are:
        answer[d, row] is a class or the first target's mean; for classes there are p_true[d, row]
        and brier[d, row] too, as `study.metrics.Outcome` has them."""
        n_depths, n_rows = answer.shape
        own = np.zeros((1, running.sums.shape[1]))
        for row in range(n_rows):
            n_kept = max(running.n_kept[row], 1)
            for d in range(n_depths):
                if d >= n_kept:
                    answer[d, row] = answer[d - 1, row]
                    if classes:
                        p_true[d, row], brier[d, row] = p_true[d - 1, row], brier[d - 1, row]
                    continue
                for k in range(own.shape[1]):
                    own[0, k] = running.sums[row * n_depths + d, k]
                finish(own, 0, running.voters[row])
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


@made_from(COMBINERS)
def answers_kernel(task: str, combiner: str):
    """The compiled last step from running sums to answers at every depth."""
    finish = COMBINERS[combiner][task].finish

    @kernel()
    def finish_depths(running, first_depth, answers):
        """answers[d, row] = the answer at depth first_depth + d, the sums staying as they are."""
        n_rows = running.voters.shape[0]
        n_depths = running.sums.shape[0] // n_rows
        own = np.zeros((1, running.sums.shape[1]))
        for row in range(n_rows):
            for d in range(answers.shape[0]):
                kept = min(first_depth + d, max(running.n_kept[row], 1) - 1)
                # Written out: numba takes two seconds to compile the assignment of a slice.
                for k in range(own.shape[1]):
                    own[0, k] = running.sums[row * n_depths + kept, k]
                finish(own, 0, running.voters[row])
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


@made_from(KINDS)
def ends_kernel(plain: bool):
    """The compiled search for the nodes where rows end."""
    go_down, list_ends = walker(plain), ends_lister(plain)

    @kernel(allocates=False)
    def find_ends(forest, walks, X, depth, ends):
        """ends[t, row] = the node of tree t where the row ends; of several that with most of it."""
        rows, here, frontier = walks.rows, walks.ends, walks.frontier
        for tile in range(0, X.shape[0], TILE):
            n_tile = min(TILE, X.shape[0] - tile)
            for k in range(n_tile):
                rows[k] = tile + k
            for t in range(ends.shape[0]):
                first = forest.first_node[t]
                go_down(forest, t, X, rows, n_tile, depth, here, walks.active)
                for k in range(n_tile):
                    if here[k] < 0:
                        n_ends = list_ends(forest, t, X[rows[k]], depth, frontier)
                        here[k] = frontier.nodes[heaviest(frontier.shares, n_ends)]
                    ends[t, rows[k]] = here[k] - first

    return find_ends


@made_from(KINDS)
def pieces_kernel(plain: bool):
    """The compiled list of where rows end that branch."""
    go_down, list_ends = walker(plain), ends_lister(plain)

    @kernel(allocates=False)
    def find_pieces(forest, walks, X, t, depth, rows, nodes, shares):
        """List row, node and share of each end in tree t of rows that branch; return how many."""
        tile_rows, here, frontier = walks.rows, walks.ends, walks.frontier
        n_pieces = 0
        for tile in range(0, X.shape[0], TILE):
            n_tile = min(TILE, X.shape[0] - tile)
            for k in range(n_tile):
                tile_rows[k] = tile + k
            go_down(forest, t, X, tile_rows, n_tile, depth, here, walks.active)
            for k in range(n_tile):
                if here[k] < 0:
                    for end in range(list_ends(forest, t, X[tile + k], depth, frontier)):
                        rows[n_pieces], nodes[n_pieces] = tile + k, frontier.nodes[end]
                        shares[n_pieces] = frontier.shares[end]
                        n_pieces += 1
        return n_pieces

    return find_pieces


@jitable
def heaviest(shares, n):
    """Where the first of the greatest shares stands."""
    found = 0
    for end in range(1, n):
        if shares[end] > shares[found]:
            found = end
    return found

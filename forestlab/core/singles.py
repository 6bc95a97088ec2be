"""Sets of one level each, "is it green?", of all levels of a column at once.

On the left of such a set are the rows of its level, on the right all others. To take its rows out
of the sum of all would leave a small difference of large numbers (see search), and to add up the
others anew for each level takes as many steps as levels times levels. So they are added up by
halves: of the half that the level is not in, then of the half of its own half, and so on. Levels
that stand together share all but their last halves::

    levels        a b c d e f g h
    all but a     e f g h + c d + b
    all but b     e f g h + c d + a
    all but c     e f g h + a b + d

Each row is thus added as often as levels can be halved, and nothing is ever taken away. Sides of
criteria that rows enter one by one (see sides) are too large to be kept so often: their sets are
arranged one by one, as in sets.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.branching import make_add_missing
from forestlab.core.criteria import Criterion, Entered, Several
from forestlab.core.jit import jitable
from forestlab.core.missing import Missing, make_side
from forestlab.core.sides import empty, sides_of


def adds_up(criterion: Criterion | Entered | Several) -> bool:
    """Are the sides of a criterion small sums, which may be kept?"""
    return not isinstance(criterion, Entered) and getattr(criterion, "scan", None) is None


@jitable
def n_halvings(n):
    """How often n things are halved until one is left."""
    found = 0
    while (1 << found) < n:
        found += 1
    return found


@jitable
def copy_side(side, to):
    for k in range(side.shape[0]):
        to[k] = side[k]


@jitable
def enough_single(start, first, end, n_known, n_groups, left, least):
    """Do the levels from `first` to `end`, and all others, have enough rows, if missing ones go
    left, or else right?"""
    inside, missing = start[end] - start[first], start[n_groups] - start[n_known]
    outside = start[n_known] - inside
    return inside + (missing if left else 0) >= least <= outside + (0 if left else missing)


def make_scan_singles(criterion: Criterion | Entered | Several, missing: Missing) -> Callable:
    """What scores the listed sets of one level each, as `categories.make_scan_sets` does."""
    sides = sides_of(criterion)
    size, put, score = sides.size, sides.put, sides.score
    side_of, add_missing = make_side(missing), make_add_missing(criterion)
    branches = missing.branches and len(missing.sides) > 0
    by_mode = missing.by_typical and len(missing.sides) > 0

    @jitable
    def add_groups(plan, scratch, first, end, dense, side, numbers):
        """Add what some groups hold to a side; returns its numbers."""
        start = scratch.categories.start
        item = np.uint64(first if dense else start[first])
        last = np.uint64(end if dense else start[end])
        while item < last:
            numbers = put(plan, scratch, item, dense, side, numbers)
            item += np.uint64(1)
        return numbers

    @jitable
    def leave_out(plan, scratch, g, before, n_known, dense, n):
        """The last of `around` = all known groups but g, and what is in the first; what has been
        added up for the group `before` is kept, if that is not -1. Returns which is the last."""
        around, numbers_around = scratch.categories.around, scratch.categories.numbers_around
        deepest = n_halvings(n_known)
        for d in range(1, deepest + 1):
            shift = deepest - d
            block = g >> shift
            if before >= 0 and block == before >> shift:
                continue
            other = block ^ 1
            first, end = min(other << shift, n_known), min((other + 1) << shift, n_known)
            side, above = around[d, :n], numbers_around[d - 1]
            copy_side(around[d - 1, :n], side)
            numbers = (above[0], above[1], above[2])
            numbers = add_groups(plan, scratch, first, end, dense, side, numbers)
            for k in range(3):
                numbers_around[d, k] = numbers[k]
        return deepest

    @jitable
    def scan_side(plan, node, scratch, listed, n_known, n_sets, missing_left):
        """Score the listed sets, missing rows on one side."""
        groups, categories, dense = scratch.groups, scratch.categories, listed.grouped.dense
        n, n_groups = size(plan, scratch, node.rows.shape[0]), listed.grouped.n_groups
        n_groups = n_known if branches else n_groups  # scored by what is known
        left, around, numbers_around = (
            scratch.left[:n],
            categories.around,
            categories.numbers_around,
        )
        least, start = plan.settings.min_samples_leaf, categories.start
        beside = empty(around[0, :n])
        if not missing_left:
            beside = add_groups(plan, scratch, n_known, n_groups, dense, around[0, :n], beside)
        for k in range(3):
            numbers_around[0, k] = beside[k]
        before = -1
        for s in range(n_sets):
            number = groups.cuts[s]
            is_all = number == n_known
            first, end = (0, n_known) if is_all else (number, number + 1)
            groups.scores[s] = np.inf
            if not enough_single(start, first, end, n_known, n_groups, missing_left, least):
                continue
            left_numbers = add_groups(plan, scratch, first, end, dense, left, empty(left))
            if missing_left:
                left_numbers = add_groups(
                    plan, scratch, n_known, n_groups, dense, left, left_numbers
                )
            d = 0
            if not is_all:
                d = leave_out(plan, scratch, number, before, n_known, dense, n)
                before = number
            there = numbers_around[d]
            if left_numbers[0] >= node.min_weight <= there[0]:
                here = score(plan, scratch, left, left_numbers)
                right_numbers = (there[0], there[1], there[2])
                groups.scores[s] = here + score(plan, scratch, around[d, :n], right_numbers)

    @jitable
    def better_sides(scratch, n_known, n_sets, mode):
        """Let each set have the score of its better side, or of that of the typical level."""
        groups, level = scratch.groups, scratch.categories.level
        for s in range(n_sets):
            if by_mode:
                number = groups.cuts[s]
                has_mode = number == n_known or level[number] == mode
                if has_mode:
                    groups.if_right[s] = np.inf
                else:
                    groups.scores[s] = np.inf
            groups.scores[s] = min(groups.scores[s], groups.if_right[s])

    @jitable
    def scan_singles(plan, node, scratch, listed, n_sets, mode):
        groups, categories, grouped = scratch.groups, scratch.categories, listed.grouped
        some_missing, least, more = listed.some_missing, np.inf, 0.0
        n_known = grouped.n_groups - (1 if some_missing else 0)
        two_sided = some_missing and not branches
        for turn in range(2 if two_sided else 1):  # a loop, so that it is compiled once
            scan_side(plan, node, scratch, listed, n_known, n_sets, turn == 1)
            if two_sided and turn == 0:
                for s in range(n_sets):
                    groups.if_right[s] = groups.scores[s]
        if two_sided:
            better_sides(scratch, n_known, n_sets, mode)
        if branches and some_missing:
            more = add_missing(plan, node, scratch, n_known, grouped.dense)
        for s in range(n_sets):
            categories.sets[s] = groups.cuts[s]
            categories.scores[s] = groups.scores[s] + more
            categories.sides[s] = side_of(groups, s, node.tie, some_missing)
            least = min(least, categories.scores[s])
        return least

    return scan_singles

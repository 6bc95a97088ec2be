"""Searches: which cuts of a feature are looked at, and which is best.

Vocabulary. A *group* is the rows of a node that share a key; groups stand in the order of their
keys. *Cut g* separates the groups 0 … g from the rest. Steps for one feature of one node:

1. `group`: tally the rows into bins (large nodes), or put them in order (small nodes).
2. `propose`: list the cuts that the search admits and that leave enough rows on both sides.
3. `thin`: keep `n_thresholds` random ones of them.
4. `scan`: add up the groups from either end, score the listed cuts, keep the best.

Both ways of grouping give the same groups (see groups), so the same cuts.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.criteria import Criterion, Entered, Several
from forestlab.core.groups import POSITION
from forestlab.core.jit import jitable
from forestlab.core.rng import THRESHOLDS, draw_unit, shuffle_step, stream
from forestlab.core.sides import Sides, empty, n_items, sides_of

# Scores are equal if rounding alone could part them: a sum of n terms is good to about n ε. So a
# tie is TIE × n × the node's weight × impurity, or × what else a criterion's scores are rounded by
# (`Entered.rounding`): an impurity that may be 0 or negative says nothing of that. A wider one
# (1e-9) also takes scores for equal that exact arithmetic on the given floats tells apart, such as
# targets 23.0, 23.1, 23.2 cut in two. To be a tie apart is not transitive, so scores are always
# compared with the least of all.
TIE = 16 * 2.0**-52


# ---- which cuts are proposed -------------------------------------------------------------------


class Look(NamedTuple):
    """What cuts are listed of."""

    candidate: int  # see learners
    pick: int  # the number of the node's draw that picks one of them; -1: all count
    n_groups: int
    n_known: int  # groups whose value is known: all, or all but the last
    first_key: int  # that groups count theirs from


@jitable
def enough_rows(groups, n_groups, g, least):
    """Does cut g leave at least so many rows on both sides?"""
    return groups.end[g] >= least <= groups.end[n_groups - 1] - groups.end[g]


@jitable
def admits_known(groups, look, g, least):
    return enough_rows(groups, look.n_groups, g, least)


@jitable
def propose_all(plan, node, scratch, look):
    """List every cut that leaves enough rows; return how many."""
    groups, n_groups = scratch.groups, look.n_groups
    n_cuts = 0
    for g in range(n_groups - 1):
        if enough_rows(groups, n_groups, g, plan.settings.min_samples_leaf):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


@jitable
def propose_boundary(plan, node, scratch, look):
    """List the cuts that do not lie inside a run of rows of one target; return how many.

    Within such a run the impurity is concave (Fayyad and Irani 1992), so the best cut is at one of
    its ends, or where a limit on the leaves ends the run: the first and the last cut that leave
    enough on both sides are listed too.
    """
    groups, n_groups = scratch.groups, look.n_groups
    mark_groups(groups, n_groups, look.first_key, node.rows, plan.marks, scratch.amounts)
    least = plan.settings.min_samples_leaf
    first, last = allowed_range(groups, n_groups, least, node.min_weight)
    n_cuts = 0
    for g in range(first, last + 1):
        at_limit = (g == first and first > 0) or (g == last and last < n_groups - 2)
        if at_limit or is_boundary(groups, g):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


def propose_uniform(ends: Callable, admits: Callable) -> Callable:
    """Cuts drawn as Geurts, Ernst and Wehenkel (2006) do: numbers uniform in the node's range.

    There are n_thresholds of them, or one; two between the same groups are one question, asked at
    the lower. Of a number that is known or not, and else does not vary, one may ask just that.
    """

    @jitable
    def propose(plan, node, scratch, look):
        groups, n_groups, candidate = scratch.groups, look.n_known, look.candidate
        if n_groups == 1:
            groups.cuts[0], groups.numbers[0] = 0, np.inf
            return 1 if admits(groups, look, 0, plan.settings.min_samples_leaf) else 0
        least = ends(plan, node, scratch, candidate, look.first_key + groups.key[0])[0]
        last_key = look.first_key + groups.key[n_groups - 1]
        greatest = ends(plan, node, scratch, candidate, last_key)[1]
        key = stream(node.key, THRESHOLDS + np.uint64(candidate))
        n_drawn = draw_numbers(groups.numbers, node.rows.shape[0], plan, key, look.pick)
        n_cuts, last = 0, -1
        for i in range(n_drawn):
            number = least * (1.0 - groups.numbers[i]) + greatest * groups.numbers[i]
            g = 0
            high = n_groups - 2
            while g < high:
                middle = (g + high + 1) >> 1
                key_there = look.first_key + groups.key[middle]
                if ends(plan, node, scratch, candidate, key_there)[0] <= number:
                    g = middle
                else:
                    high = middle - 1
            if g == last or not admits(groups, look, g, plan.settings.min_samples_leaf):
                continue
            below = ends(plan, node, scratch, candidate, look.first_key + groups.key[g])[1]
            above = ends(plan, node, scratch, candidate, look.first_key + groups.key[g + 1])[0]
            groups.cuts[n_cuts] = last = g
            groups.numbers[n_cuts] = number if below <= number < above else below  # rounding
            n_cuts += 1
        return n_cuts

    return propose


@jitable
def draw_numbers(numbers, n_rows, plan, key, pick):
    """Draw from [0, 1), in order; return how many."""
    if pick >= 0:
        numbers[0] = draw_unit(key, pick)
        return 1
    n = min(max(plan.settings.n_thresholds, 1), n_rows)
    for i in range(n):
        number = draw_unit(key, i)
        j = i
        while j > 0 and numbers[j - 1] > number:
            numbers[j] = numbers[j - 1]
            j -= 1
        numbers[j] = number
    return n


@jitable
def is_boundary(groups, g):
    lowest, highest = groups.lowest_mark, groups.highest_mark
    return not (lowest[g] == highest[g] == lowest[g + 1] == highest[g + 1])


@jitable
def allowed_range(groups, n_groups, min_samples_leaf, min_weight):
    """The first and the last cut that leave enough rows and weight on both sides."""
    first, last = 0, n_groups - 2
    weight = groups.weight[0]
    while first <= last and (groups.end[first] < min_samples_leaf or weight < min_weight):
        first += 1
        weight += groups.weight[first]
    n_rows = groups.end[n_groups - 1]
    weight = groups.weight[n_groups - 1]
    while last >= first and (n_rows - groups.end[last] < min_samples_leaf or weight < min_weight):
        weight += groups.weight[last]
        last -= 1
    return first, last


@jitable
def mark_groups(groups, n_groups, first_key, rows, marks, amounts):
    """The least and greatest target mark of each group, and its weight."""
    keys, group_key = groups.keys, groups.key
    lowest, highest, weight = groups.lowest_mark, groups.highest_mark, groups.weight
    for g in range(n_groups):
        lowest[g] = np.int64(2**62)
        highest[g] = np.int64(-1)
        weight[g] = 0.0
    for i in range(rows.shape[0]):
        key = np.int64(keys[i]) - first_key
        low, high = 0, n_groups - 1
        while low < high:
            middle = (low + high) >> 1
            if group_key[middle] < key:
                low = middle + 1
            else:
                high = middle
        mark = np.int64(marks[rows[i]])
        lowest[low] = min(lowest[low], mark)
        highest[low] = max(highest[low], mark)
        weight[low] += amounts[i, 0]


@jitable
def thin(groups, n_cuts, n_kept, key):
    """Keep a uniform subset of the listed cuts, in order; that for k is part of that for k + 1."""
    if n_cuts <= n_kept:
        return n_cuts
    cuts, chosen = groups.cuts, groups.chosen
    for i in range(n_kept):
        shuffle_step(cuts, i, n_cuts, key)
        chosen[cuts[i]] = True
    kept = 0
    g = 0
    while kept < n_kept:
        if chosen[g]:
            chosen[g] = False
            cuts[kept] = g
            kept += 1
        g += 1
    return n_kept


# ---- scoring -----------------------------------------------------------------------------------


@jitable
def move_item(add, scratch, item, dense, left_numbers, right_numbers):
    """Move a bin, or a row in the order of its key, from right to left; returns the numbers."""
    groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
    left, right = scratch.left, scratch.right
    if dense:
        n_slots = np.uint64(left.shape[0])
        cell = np.uint64(groups.key[item]) * n_slots
        for k in range(n_slots):
            amount = groups.bins[cell + k]
            if amount != 0.0:
                left_numbers = add(left, k, amount, left_numbers)
                right_numbers = add(right, k, -amount, right_numbers)
        return left_numbers, right_numbers
    i = groups.order[item] & POSITION
    for part in range(slots.shape[1]):
        slot, amount = slots[i, np.uint64(part)], amounts[i, np.uint64(part)]
        left_numbers = add(left, slot, amount, left_numbers)
        right_numbers = add(right, slot, -amount, right_numbers)
    return left_numbers, right_numbers


def scan_ends(sides: Sides, two_sided: bool) -> Callable:
    """How listed cuts are scored for weights of any kind.

    Each side is summed from its own end, so what it holds is never the small difference of two
    large sums, however much weights differ. Both ends go in one loop, as neither waits for the
    other's sums; indices are unsigned, so that numba need not ask whether they count from the end.
    """
    size, put, score = sides.size, sides.put, sides.score

    @jitable
    def scan(plan, node, scratch, n_groups, n_cuts, dense, last_left):
        """Score the listed cuts, and return the least score."""
        groups, n = scratch.groups, size(plan, scratch, node.rows.shape[0])
        left, right = scratch.left[:n], scratch.right[:n]
        cuts, scores, right_scores = groups.cuts, groups.scores, groups.right_scores
        left_numbers, right_numbers = empty(left), empty(right)
        done, still = np.uint64(0), n_items(groups, n_groups, dense)
        if two_sided and last_left:
            end = n_items(groups, n_groups - 1, dense)
            while still > end:
                still -= np.uint64(1)
                left_numbers = put(plan, scratch, still, dense, left, left_numbers)
        for c in range(n_cuts):
            end = n_items(groups, cuts[c] + 1, dense)
            while done < end:
                left_numbers = put(plan, scratch, done, dense, left, left_numbers)
                done += np.uint64(1)
            last = np.uint64(n_cuts - 1 - c)
            end = n_items(groups, cuts[last] + 1, dense)
            while still > end:
                still -= np.uint64(1)
                right_numbers = put(plan, scratch, still, dense, right, right_numbers)
            heavy_left = left_numbers[0] >= node.min_weight
            heavy_right = right_numbers[0] >= node.min_weight
            scores[c] = score(plan, scratch, left, left_numbers) if heavy_left else np.inf
            right_scores[last] = (
                score(plan, scratch, right, right_numbers) if heavy_right else np.inf
            )
        least = np.inf
        for c in range(n_cuts):
            scores[c] += right_scores[c]
            least = min(least, scores[c])
        return least

    return scan


def scan_once(add, score, two_sided):
    """How listed cuts are scored for weights that are whole numbers: rows are counted exactly, so
    that they may as well be taken from the right. It reads each row once: a third faster."""

    @jitable
    def scan(plan, node, scratch, n_groups, n_cuts, dense, last_left):
        """Score the listed cuts, and return the least score."""
        groups, left, right = scratch.groups, scratch.left, scratch.right
        cuts, scores = groups.cuts, groups.scores
        left_numbers, right_numbers = empty(left), node.total
        for k in range(right.shape[0]):
            right[k] = scratch.total[k]
        done, least = np.uint64(0), np.inf
        if two_sided and last_left:
            for item in range(
                n_items(groups, n_groups - 1, dense), n_items(groups, n_groups, dense)
            ):
                left_numbers, right_numbers = move_item(
                    add, scratch, item, dense, left_numbers, right_numbers
                )
        for c in range(n_cuts):
            end = n_items(groups, cuts[c] + 1, dense)
            while done < end:
                left_numbers, right_numbers = move_item(
                    add, scratch, done, dense, left_numbers, right_numbers
                )
                done += np.uint64(1)
            here = score(left, left_numbers) + score(right, right_numbers)
            heavy = left_numbers[0] >= node.min_weight <= right_numbers[0]
            scores[c] = here if heavy else np.inf
            least = min(least, scores[c])
        return least

    return scan


def cut_scanner(criterion: Criterion | Entered | Several, whole: bool, two_sided: bool) -> Callable:
    """What scores the listed cuts, for a criterion; `whole` weights are whole numbers. If it is
    `two_sided` it can also do so with the last group on the left of every cut."""
    if isinstance(criterion, Criterion) and criterion.scan is not None:
        return criterion.scan
    if isinstance(criterion, Criterion) and whole:
        return scan_once(criterion.add_whole or criterion.add, criterion.score, two_sided)
    return scan_ends(sides_of(criterion), two_sided)


@jitable
def lowest_within(groups, n_cuts, most):
    """Where the lowest cut with no more than this score is listed."""
    for c in range(n_cuts):
        if groups.scores[c] <= most:
            return c
    return -1


# ---- the table ---------------------------------------------------------------------------------


class Search(NamedTuple):
    # (plan, node, scratch, look) → how many cuts of a candidate were listed
    propose: Callable
    binned: bool = False  # columns are encoded in quantile bins, else by distinct values
    marked: bool = False  # it asks which rows have equal targets
    alias_of: str = ""  # the name whose compiled kernel serves this one too
    pairs: bool = False  # all pairs of its cuts may be tried, as bands do
    # Numbers are drawn, not cuts: `propose` is made from a learner's `ends`, and from what tells
    # whether a cut leaves enough rows, and says where.
    draws: bool = False


SEARCHES: dict[str, Search] = {
    "exact": Search(propose_all, pairs=True),
    "histogram": Search(propose_all, binned=True, alias_of="exact", pairs=True),
    "boundary": Search(propose_boundary, marked=True),
    "uniform": Search(propose_uniform, draws=True),
}

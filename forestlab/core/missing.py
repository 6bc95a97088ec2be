"""Missing values: which way the rows go that have none.

In a node the rows whose value is missing are one group more, behind all others: `project` gives
them NO_KEY, `number_missing` the key after the greatest that is known::

    known groups  | a | b | c |  missing        cuts: a|b, b|c, and c|missing: "is it known?"

So every cut has them on its right. Three things may become of them:

- *learned*: each cut is scored once more, with the last group on its left, and the better side
  wins; the right one if they are within a tie.
- *branch*: they go where the typical value of the others goes (see typical). Each cut has the score
  of that side, and whether a value is known is no question.
- *both*: they go both ways, with a share of their weight each (see branching). A cut is scored by
  the rows that are known; to that comes what the others add to the score of the node, whatever its
  cuts. So in units of weight × impurity the gain is that of the known rows alone, and candidates
  that lack more or fewer of them compare. Nor is it a question whether a value is known.

Missing rows count among those that a leaf must have, but where they go both ways: there each side
must have enough rows that are known.

A node that has seen no missing value of what it asks about sends one that comes later, if sides are
learned, to the heavier child, to the left one if they are equal but for rounding; else where its
typical value goes, or both ways.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import BOTH, LEFT, RIGHT, UNSEEN
from forestlab.core.bits import set_bit
from forestlab.core.branching import make_note_shares, make_scan_known
from forestlab.core.criteria import Criterion, Entered, Several
from forestlab.core.groups import NO_KEY, Grouped, group_keys
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.monotonic import make_scan_allowed
from forestlab.core.search import (
    TIE,
    Look,
    Search,
    admits_known,
    cut_scanner,
    enough_rows,
    propose_all,
)


class Missing(NamedTuple):
    sides: tuple[int, ...]  # that missing rows are tried on; none: no value is missing
    asks: bool = False  # whether a value is known is a question
    by_typical: bool = False  # the typical value decides between sides
    branches: bool = False  # rows go both ways


# ---- keys --------------------------------------------------------------------------------------


def make_group(learner: Learner, missing: Missing) -> Callable:
    """What puts a node's rows in groups, missing ones among them."""
    if missing.sides and not (learner.project_some or learner.group_some):
        raise ValueError("this weak learner cannot do with missing values")
    if learner.group is not None:
        grouping: Any = learner.group_some if missing.sides else learner.group
        return grouping
    project: Any = learner.project_some if missing.sides else learner.project
    number = number_missing if missing.sides else all_known
    must_vary = len(missing.sides) > 0 and not missing.asks

    @jitable
    def group(plan, node, scratch, candidate, in_bins):
        n_rows = node.rows.shape[0]
        least, known = project(plan, node, scratch, candidate)
        if must_vary and least >= known:  # there is nothing to ask, here and below
            set_bit(node.constant, candidate)
            return Grouped(1, known, known, known, False)
        greatest = number(scratch.groups, n_rows, least, known)
        return group_keys(scratch, n_rows, least, known, greatest, in_bins)

    return group


@jitable
def all_known(groups, n_rows, least, greatest):
    return greatest


@jitable
def number_missing(groups, n_rows, least, greatest):
    """Missing rows get the key after the greatest. Where no row is known, all have the least.
    Returns the greatest of all."""
    if greatest < least:
        return least
    keys, behind = groups.keys, np.uint32(greatest + 1)
    n_missing = 0
    for i in range(n_rows):
        is_missing = keys[i] == NO_KEY
        keys[i] = behind if is_missing else keys[i]
        n_missing += is_missing
    return greatest + 1 if n_missing > 0 else greatest


# ---- cuts --------------------------------------------------------------------------------------


@jitable
def enough_with_left(groups, n_groups, g, least):
    """Does cut g leave at least so many rows on both sides, if the missing ones go left?"""
    n_right = groups.end[n_groups - 2] - groups.end[g]
    return n_right >= least <= groups.end[n_groups - 1] - n_right


@jitable
def admits_either(groups, look, g, least):
    """Does cut g leave enough rows, whichever way the missing ones go?"""
    if enough_rows(groups, look.n_groups, g, least):
        return True
    return look.n_known < look.n_groups and enough_with_left(groups, look.n_groups, g, least)


@jitable
def propose_either(scratch, n_groups, n_first, least):
    """List those of the first cuts that leave enough rows, whichever way the missing ones go;
    return how many."""
    groups = scratch.groups
    n_cuts = 0
    for g in range(n_first):
        if enough_rows(groups, n_groups, g, least) or enough_with_left(groups, n_groups, g, least):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


def make_propose(search: Search, learner: Learner, missing: Missing) -> Callable:
    """What lists the cuts of a candidate that are looked at.

    Where rows are missing it is the same for every search that draws none: one for boundaries
    lists fewer only where none is, so that it still finds as good a cut as any.
    """
    tried, draws, asks = len(missing.sides) > 0, search.draws, missing.asks
    either, branches = tried and not missing.branches, missing.branches
    propose_known = search.propose
    if draws:
        propose_known = search.propose(learner.ends, admits_either if either else admits_known)

    @jitable
    def propose(plan, node, scratch, look, some_missing):
        if not tried or not some_missing:
            return propose_known(plan, node, scratch, look)
        if not asks and look.n_known == 1:
            return 0
        if branches:
            look = Look(look.candidate, look.pick, look.n_known, look.n_known, look.first_key)
        if draws:
            return propose_known(plan, node, scratch, look)
        if branches:
            return propose_all(plan, node, scratch, look)
        n_first = look.n_groups - 1 if asks else look.n_known - 1
        return propose_either(scratch, look.n_groups, n_first, plan.settings.min_samples_leaf)

    return propose


def make_first_left(learner: Learner, missing: Missing, number_of: Callable) -> Callable:
    """What finds the first of the listed cuts at which missing rows go left, if the typical value
    decides. `number_of` tells where a listed cut lies."""
    if not (missing.sides and missing.by_typical):
        return none_decided
    typical_of, lies_left = learner.typical, learner.lies_left

    @jitable
    def first_left(plan, node, scratch, candidate, grouped, n_cuts, some_missing):
        if not some_missing or n_cuts == 0:
            return 0
        groups, typical = scratch.groups, typical_of(plan, node, scratch, candidate)
        low, high = 0, n_cuts
        while low < high:
            c = (low + high) >> 1
            key = grouped.first_key + groups.key[groups.cuts[c]]
            number = number_of(plan, node, scratch, candidate, grouped, c)
            if lies_left(typical, -1, key, -np.inf, number):
                high = c
            else:
                low = c + 1
        return low

    return first_left


@jitable
def none_decided(plan, node, scratch, candidate, grouped, n_cuts, some_missing):
    return 0


# ---- scores ------------------------------------------------------------------------------------


@jitable
def note_right(groups, n_groups, n_cuts, least_rows, end):
    """Keep the scores that were found with missing rows on the right, where they may be there: at
    cuts before the end."""
    for c in range(n_cuts):
        may = c < end and enough_rows(groups, n_groups, groups.cuts[c], least_rows)
        groups.if_right[c] = groups.scores[c] if may else np.inf


@jitable
def better_side(groups, n_groups, n_cuts, least_rows, first):
    """Let each cut have the score of its better side, the left one only from the first on; return
    the least."""
    scores, least = groups.scores, np.inf
    for c in range(n_cuts):
        may = c >= first and enough_with_left(groups, n_groups, groups.cuts[c], least_rows)
        scores[c] = min(scores[c] if may else np.inf, groups.if_right[c])
        least = min(least, scores[c])
    return least


def make_scan(
    criterion: Criterion | Entered | Several, whole: bool, missing: Missing, monotonic: bool = False
) -> Callable:
    """What scores the listed cuts, on the sides that are tried, and returns the least score."""
    tried, by_typical = len(missing.sides) > 0, missing.by_typical
    if tried and missing.branches:
        return make_scan_known(criterion)
    scan_side = cut_scanner(criterion, whole, tried)
    if monotonic:
        scan_side = make_scan_allowed(scan_side, criterion.task)

    @jitable
    def scan(plan, node, scratch, n_groups, n_cuts, dense, some_missing, first_left):
        if not tried:
            return scan_side(plan, node, scratch, n_groups, n_cuts, dense, False)
        groups, least_rows = scratch.groups, plan.settings.min_samples_leaf
        least = np.inf
        for turn in range(2 if some_missing else 1):  # a loop, so that it is compiled once
            least = scan_side(plan, node, scratch, n_groups, n_cuts, dense, turn == 1)
            if some_missing and turn == 0:
                end = first_left if by_typical else n_cuts
                note_right(groups, n_groups, n_cuts, least_rows, end)
        if not some_missing:
            return least
        return better_side(groups, n_groups, n_cuts, least_rows, first_left)

    return scan


# ---- sides -------------------------------------------------------------------------------------


def make_side(missing: Missing) -> Callable:
    """What tells the side of missing rows at listed cut c."""
    if missing.branches and missing.sides:
        return both_sides
    return learned_side if missing.sides else unseen


@jitable
def unseen(groups, c, tie, some_missing):
    return UNSEEN


@jitable
def both_sides(groups, c, tie, some_missing):
    return BOTH if some_missing else UNSEEN


@jitable
def learned_side(groups, c, tie, some_missing):
    """Where the typical value decided, the other side has no score."""
    if not some_missing:
        return UNSEEN
    return RIGHT if groups.if_right[c] <= groups.scores[c] + tie else LEFT


def make_goes_left(learner: Learner, missing: Missing) -> Callable:
    """What tells whether a row goes left, be its value missing or not."""
    if not missing.sides:
        return learner.goes_left
    known_left = learner.goes_left
    lacks: Any = learner.lacks

    @jitable
    def goes_left(plan, scratch, question, i, row):
        if lacks(plan, scratch, question, i, row):
            return question.missing == LEFT
        return known_left(plan, scratch, question, i, row)

    return goes_left


def make_note_side(learner: Learner, missing: Missing) -> Callable:
    """What notes in a node's record where missing rows go, before the rows are sent there."""
    if missing.by_typical:
        return make_note_typical(learner)
    if missing.branches:
        return make_note_shares(learner)
    return note_side


@jitable
def note_side(plan, node, scratch, question, record):
    record["missing"] = question.missing


def make_note_typical(learner: Learner) -> Callable:
    typical_of, lies_left = learner.typical, learner.lies_left

    @jitable
    def note_typical(plan, node, scratch, question, record):
        record["missing"] = question.missing
        if question.missing == UNSEEN:
            typical = typical_of(plan, node, scratch, question.candidate)
            ends = question.low, question.high, question.cut_low, question.cut_high
            record["missing"] = UNSEEN + (LEFT if lies_left(typical, *ends) else RIGHT)

    return note_typical


def make_settle(missing: Missing) -> Callable:
    """What settles where a value goes that is missing for the first time, unless that is noted."""
    return is_settled if missing.by_typical or missing.branches else settle


@jitable
def is_settled(parent, left, right):
    """It was noted before."""


@jitable
def settle(parent, left, right):
    """Where a value goes that is missing for the first time, once both children's weights are
    known."""
    if parent["missing"] == UNSEEN:
        ahead = right["weight"] - left["weight"]
        heavier = RIGHT if ahead > TIE * parent["n_rows"] * parent["weight"] else LEFT
        parent["missing"] = UNSEEN + heavier


# ---- the table ---------------------------------------------------------------------------------

MISSING: dict[str, Missing] = {
    "error": Missing(()),
    "learned": Missing((RIGHT, LEFT), asks=True),
    "branch": Missing((RIGHT, LEFT), by_typical=True),
    "both": Missing((BOTH,), branches=True),
}


def row_for(missing: str, lacking: bool) -> Missing:
    """The row of a kernel, for data that lack values or not."""
    return MISSING[missing] if lacking else MISSING[missing]._replace(sides=())

"""Missing values: which way the rows go that have none.

In a node the rows whose value is missing are one group more, behind all others: `project` gives
them NO_KEY, `number_missing` the key after the greatest that is known::

    known groups  | a | b | c |  missing        cuts: a|b, b|c, and c|missing: "is it known?"

So every cut has them on its right. Where sides are *learned* each cut is scored once more, with the
last group on its left, and the better side wins; the right one if they are within a tie. Either way
missing rows count among those that a leaf must have.

A node that has seen no missing value of what it asks about sends one that comes later to the
heavier child, to the left one if they are equal but for rounding.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import LEFT, RIGHT, UNSEEN
from forestlab.core.criteria import Criterion, Entered, Several
from forestlab.core.groups import NO_KEY, group_keys
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.monotonic import make_scan_allowed
from forestlab.core.search import TIE, Search, admits_known, cut_scanner, enough_rows


class Missing(NamedTuple):
    sides: tuple[int, ...]  # that missing rows are tried on; none: no value is missing


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

    @jitable
    def group(plan, node, scratch, candidate, in_bins):
        n_rows = node.rows.shape[0]
        least, known = project(plan, node, scratch, candidate)
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
def propose_either(scratch, n_groups, least):
    """List every cut that leaves enough rows, whichever way the missing ones go; return how many.

    For every search: one for boundaries lists fewer only where no row is missing, so that it still
    finds as good a cut as any.
    """
    groups = scratch.groups
    n_cuts = 0
    for g in range(n_groups - 1):
        if enough_rows(groups, n_groups, g, least) or enough_with_left(groups, n_groups, g, least):
            groups.cuts[n_cuts] = g
            n_cuts += 1
    return n_cuts


def make_propose(search: Search, learner: Learner, missing: Missing) -> Callable:
    """What lists the cuts of a candidate that are looked at."""
    tried, draws = len(missing.sides) > 0, search.draws
    propose_known = search.propose
    if draws:
        propose_known = search.propose(learner.ends, admits_either if tried else admits_known)

    @jitable
    def propose(plan, node, scratch, look, some_missing):
        if tried and some_missing and not draws:
            return propose_either(scratch, look.n_groups, plan.settings.min_samples_leaf)
        return propose_known(plan, node, scratch, look)

    return propose


# ---- scores ------------------------------------------------------------------------------------


@jitable
def note_right(groups, n_groups, n_cuts, least_rows):
    """Keep the scores that were found with missing rows on the right, where they may be there."""
    for c in range(n_cuts):
        may = enough_rows(groups, n_groups, groups.cuts[c], least_rows)
        groups.if_right[c] = groups.scores[c] if may else np.inf


@jitable
def better_side(groups, n_groups, n_cuts, least_rows):
    """Let each cut have the score of its better side; return the least."""
    scores, least = groups.scores, np.inf
    for c in range(n_cuts):
        may = enough_with_left(groups, n_groups, groups.cuts[c], least_rows)
        scores[c] = min(scores[c] if may else np.inf, groups.if_right[c])
        least = min(least, scores[c])
    return least


def make_scan(
    criterion: Criterion | Entered | Several, whole: bool, missing: Missing, monotonic: bool = False
) -> Callable:
    """What scores the listed cuts, on the sides that are tried, and returns the least score."""
    tried = len(missing.sides) > 0
    scan_side = cut_scanner(criterion, whole, tried)
    if monotonic:
        scan_side = make_scan_allowed(scan_side, criterion.task)

    @jitable
    def scan(plan, node, scratch, n_groups, n_cuts, dense, some_missing):
        if not tried:
            return scan_side(plan, node, scratch, n_groups, n_cuts, dense, False)
        groups, least_rows = scratch.groups, plan.settings.min_samples_leaf
        least = np.inf
        for turn in range(2 if some_missing else 1):  # a loop, so that it is compiled once
            least = scan_side(plan, node, scratch, n_groups, n_cuts, dense, turn == 1)
            if some_missing and turn == 0:
                note_right(groups, n_groups, n_cuts, least_rows)
        return better_side(groups, n_groups, n_cuts, least_rows) if some_missing else least

    return scan


# ---- sides -------------------------------------------------------------------------------------


def make_side(missing: Missing) -> Callable:
    """What tells the side of missing rows at listed cut c."""
    return learned_side if missing.sides else unseen


@jitable
def unseen(groups, c, tie, some_missing):
    return UNSEEN


@jitable
def learned_side(groups, c, tie, some_missing):
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
    "learned": Missing((RIGHT, LEFT)),
}

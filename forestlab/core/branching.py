"""Rows that go down both branches, with fractional weights, as C4.5 has them (Quinlan 1993).

Where a row lacks the value that a node asks about, a *piece* of it goes to either child: of its
weight there the share of the known weight that goes left, and the rest. A piece that would be less
than LEAST of its row is not made: all of it goes to the heavier side, in training as in a walk, so
that no row has more than 1 / LEAST pieces and all of them walk to where they grew.

Rows then stand several times in the arena, and once at most in a node. Children are laid behind
each other, the left one, which is grown first, at the end; what its subtree needs comes after it::

    before   … | a b c d e |                    the node: start, stop; behind it all is free
    after    … | b d e | a b c d |              the right child, which waits, and the left one

A tree that needs more room than there is in the arena, or for nodes, is given up: FULL is returned
in place of the number of its nodes, and whoever called starts it again with more, from the same
key.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from forestlab.core.arrays import BOTH, UNSEEN
from forestlab.core.criteria import Criterion, Entered, Several
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.search import cut_scanner
from forestlab.core.sides import empty, n_items, sides_of
from forestlab.core.walk import left_part

FULL = -1


# ---- rows that stand where they are ------------------------------------------------------------


@jitable
def stay(scratch, rows, weights):
    """The arena is what was given."""
    return rows, weights


# ---- rows that branch --------------------------------------------------------------------------


@jitable
def lay_out(scratch, rows, weights):
    """The tree's rows, whole, at the beginning of the arena, which is returned."""
    arena = scratch.arena
    for i in range(rows.shape[0]):
        arena.rows[i], arena.weights[i], arena.shares[i] = rows[i], weights[i], 1.0
    return arena.rows, arena.weights


def make_send_both(learner: Learner) -> Callable:
    """What sends a node's rows to its children, and those that lack a value to both."""
    goes_left = learner.goes_left
    lacks: Any = learner.lacks
    note_share = make_note_share(goes_left, lacks)

    @jitable
    def send(plan, node, scratch, question, record, start):
        """Lay the children out from `start` on; return how many rows each has, FULL if there is no
        room, 0 if all that are known would go one way."""
        if not note_share(plan, node, scratch, question, record):
            return 0, 0
        of_left = np.float64(record["missing_share"])
        rows, weights, shares = node.rows, node.weights, scratch.arena.shares[start:]
        right_rows, right_weights = scratch.right_rows, scratch.right_weights
        right_shares = scratch.arena.right_shares
        n_left, n_right = 0, 0
        for i in range(rows.shape[0]):
            row, weight, share = rows[i], weights[i], shares[i]
            if lacks(plan, scratch, question, i, row):
                part = left_part(share, of_left)
            else:
                part = 1.0 if goes_left(plan, scratch, question, i, row) else 0.0
            if part > 0.0:
                rows[n_left], weights[n_left] = row, weight * part
                shares[n_left] = share * part
                n_left += 1
            if part < 1.0:
                right_rows[n_right], right_weights[n_right] = row, weight * (1.0 - part)
                right_shares[n_right] = share * (1.0 - part)
                n_right += 1
        if start + n_left + n_right > scratch.arena.rows.shape[0]:
            return FULL, FULL
        lay_behind(scratch, start, n_left, n_right)
        return n_left, n_right

    return send


@jitable
def lay_behind(scratch, start, n_left, n_right):
    """Move the left child's rows up, and put those of the right one in their place."""
    arena = scratch.arena
    rows, weights, shares = arena.rows, arena.weights, arena.shares
    for i in range(start + n_left - 1, start - 1, -1):
        to = i + n_right
        rows[to], weights[to], shares[to] = rows[i], weights[i], shares[i]
    for i in range(n_right):
        rows[start + i], weights[start + i] = scratch.right_rows[i], scratch.right_weights[i]
        shares[start + i] = arena.right_shares[i]


def make_note_share(goes_left: Callable, lacks: Any) -> Callable:
    @jitable
    def note_share(plan, node, scratch, question, record):
        """Note the share of the known weight that goes left, as a walk will read it; return whether
        some of it goes either way."""
        rows, weights = node.rows, node.weights
        on_left, known = 0.0, 0.0
        n_left, n_known = 0, 0
        for i in range(rows.shape[0]):
            if lacks(plan, scratch, question, i, rows[i]):
                continue
            known += weights[i]
            n_known += 1
            if goes_left(plan, scratch, question, i, rows[i]):
                on_left += weights[i]
                n_left += 1
        record["missing"] = BOTH if n_known < rows.shape[0] else UNSEEN + BOTH
        record["missing_share"] = on_left / known
        return 0 < n_left < n_known

    return note_share


def make_note_shares(learner: Learner) -> Callable:
    """That of kernels for data that lack nothing: a value that comes later goes both ways."""
    goes_left = learner.goes_left

    @jitable
    def note_shares(plan, node, scratch, question, record):
        rows, weights = node.rows, node.weights
        on_left, known = 0.0, 0.0
        for i in range(rows.shape[0]):
            known += weights[i]
            on_left += weights[i] if goes_left(plan, scratch, question, i, rows[i]) else 0.0
        record["missing"], record["missing_share"] = UNSEEN + BOTH, on_left / known

    return note_shares


# ---- scores ------------------------------------------------------------------------------------


def make_scan_known(criterion: Criterion | Entered | Several) -> Callable:
    """What scores the listed cuts by the rows that are known, and adds what the others do."""
    scan_first, add_missing = cut_scanner(criterion, False, False), make_add_missing(criterion)

    @jitable
    def scan(plan, node, scratch, n_groups, n_cuts, dense, some_missing, first_left):
        n_known = n_groups - (1 if some_missing else 0)
        least = scan_first(plan, node, scratch, n_known, n_cuts, dense, False)
        if not some_missing or least == np.inf:
            return least
        more = add_missing(plan, node, scratch, n_known, dense)
        for c in range(n_cuts):
            scratch.groups.scores[c] += more
        return least + more

    return scan


def make_add_missing(criterion: Criterion | Entered | Several) -> Callable:
    """What tells how much more the score of all rows is than that of the known groups."""
    sides = sides_of(criterion)
    own_hold: Any = criterion.hold if isinstance(criterion, Criterion) else None
    size, put, score = sides.size, sides.put, sides.score

    @jitable
    def hold(plan, node, scratch, n_known, dense):
        side = scratch.left[: size(plan, scratch, node.rows.shape[0])]
        numbers, item = empty(side), np.uint64(0)
        end = n_items(scratch.groups, n_known, dense)
        while item < end:
            numbers = put(plan, scratch, item, dense, side, numbers)
            item += np.uint64(1)
        return score(plan, scratch, side, numbers)

    def hold_own(plan, node, scratch, n_known, dense):
        return own_hold(plan, node, scratch, n_known)

    score_known = hold if own_hold is None else hold_own

    @jitable
    def add_missing(plan, node, scratch, n_known, dense):
        everything = scratch.total[: size(plan, scratch, node.rows.shape[0])]
        before = score(plan, scratch, everything, node.total)
        return before - score_known(plan, node, scratch, n_known, dense)

    return add_missing

"""Weak learners: how a question turns a node's rows into ordered keys.

`project` writes one integer key a row and returns the least and the greatest. Rows with equal keys
cannot be separated; a cut lies between neighbouring keys. Once a question is chosen, `ready` is
called, and `goes_left` tells the rows apart: those with keys up to `question.low`. `write` puts the
question into the node's record, as its kind has it (see questions).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import AXIS
from forestlab.core.jit import jitable


@jitable
def axis_project(plan, node, scratch, question):
    """One column's codes are the keys."""
    codes, rows, keys = plan.columns.codes, node.rows, scratch.groups.keys
    least = np.uint32(0xFFFFFFFF)
    greatest = np.uint32(0)
    for i in range(rows.shape[0]):
        code = np.uint32(codes[question.feature, rows[i]])
        keys[i] = code
        least = min(least, code)
        greatest = max(greatest, code)
    return np.int64(least), np.int64(greatest)


@jitable
def nothing_to_ready(plan, node, scratch, question):
    """A row's key is looked up as it goes."""


@jitable
def axis_left(plan, scratch, question, i, row):
    return plan.columns.codes[question.feature, row] <= question.low


@jitable
def axis_write(plan, scratch, question, record):
    first, lower, upper = plan.columns.first, plan.columns.lower, plan.columns.upper
    record["kind"] = AXIS
    record["feature"] = question.feature
    record["cut_high"] = cut_between(
        upper[first[question.feature] + question.low],
        lower[first[question.feature] + question.high],
        plan.settings.midpoint,
    )


@jitable
def cut_between(below, above, midpoint):
    """A number c with below <= c < above: midway if wanted and if floats leave room."""
    if not midpoint:
        return below
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


class Learner(NamedTuple):
    """Compiled functions, each of (plan, node, scratch, question) but for what is said here."""

    project: Callable
    ready: Callable
    goes_left: Callable  # (plan, scratch, question, i, row): of the node's row i
    write: Callable  # (plan, scratch, question, record)


LEARNERS: dict[str, Learner] = {
    "axis": Learner(axis_project, nothing_to_ready, axis_left, axis_write),
}

"""Weak learners: how a question turns a node's rows into ordered keys.

A *candidate* is what a learner turns into a question: a feature, for instance. `project` writes one
integer key a row and returns the least and the greatest. Rows with equal keys cannot be separated;
a cut lies between neighbouring keys, and `ends` are the least and the greatest number that a key
stands for. Once a question is chosen, `ready` is called, and `goes_left` tells the rows apart.
`write` puts the question into the node's record, as its kind has it (see questions).

A learner that has to sort a candidate's rows anyway may `group` them at once, instead of giving
them keys by which they would be sorted again.

Where values may be missing, `project_some` is asked instead: it gives rows without a value NO_KEY,
and returns the least and the greatest key of the others; if there are none, a least above the
greatest. `group_some` is asked instead of `group`. `lacks` tells such rows from the others, which
alone `goes_left` is then asked about. What a row without a value may count for is the candidate's
`typical` value; `lies_left` tells the side of a question on which that is (see typical).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import AXIS
from forestlab.core.bits import set_bit
from forestlab.core.fitting import draw_fitted
from forestlab.core.groups import NO_KEY
from forestlab.core.jit import jitable
from forestlab.core.local_keys import (
    local_ends,
    make_group,
    make_group_some,
    make_ready,
    number_lacks,
    number_left,
)
from forestlab.core.projections import (
    draw_oblique,
    draw_quadratic,
    n_products,
    oblique_numbers,
    oblique_write,
    quadratic_numbers,
    quadratic_write,
)
from forestlab.core.typical import axis_typical, number_lies_left, number_typical


@jitable
def missing_code(columns, feature):
    """One past the greatest code of a value."""
    return columns.first[feature + 1] - columns.first[feature]


@jitable
def axis_project(plan, node, scratch, feature):
    """One column's codes are the keys. A column that does not vary is noted."""
    codes, rows, keys = plan.columns.codes, node.rows, scratch.groups.keys
    least = np.uint32(0xFFFFFFFF)
    greatest = np.uint32(0)
    for i in range(rows.shape[0]):
        code = np.uint32(codes[feature, rows[i]])
        keys[i] = code
        least = min(least, code)
        greatest = max(greatest, code)
    if least == greatest:
        set_bit(node.constant, feature)
    return np.int64(least), np.int64(greatest)


def make_project_some(missing_code: Callable) -> Callable:
    """As `axis_project`, where values may be missing, given what tells the code of these."""

    @jitable
    def project_some(plan, node, scratch, feature):
        """A column that is partly missing varies, as one may ask whether it is known; one that is
        wholly missing does not."""
        codes, rows, keys = plan.columns.codes, node.rows, scratch.groups.keys
        absent = np.uint32(missing_code(plan.columns, feature))
        least = np.uint32(0xFFFFFFFF)
        greatest = np.uint32(0)
        n_known = 0
        for i in range(rows.shape[0]):
            code = np.uint32(codes[feature, rows[i]])
            if code == absent:
                keys[i] = NO_KEY
                continue
            keys[i] = code
            least = min(least, code)
            greatest = max(greatest, code)
            n_known += 1
        if n_known == 0 or (n_known == rows.shape[0] and least == greatest):
            set_bit(node.constant, feature)
        return np.int64(least), np.int64(greatest)

    return project_some


@jitable
def axis_ends(plan, node, scratch, feature, key):
    place = plan.columns.first[feature] + key
    return plan.columns.lower[place], plan.columns.upper[place]


@jitable
def nothing_to_ready(plan, node, scratch, question):
    """A row's key is looked up as it goes."""


@jitable
def axis_left(plan, scratch, question, i, row):
    code = np.int64(plan.columns.codes[question.candidate, row])
    return question.low < code <= question.high


@jitable
def axis_lacks(plan, scratch, question, i, row):
    codes, feature = plan.columns.codes, question.candidate
    return codes[feature, row] == missing_code(plan.columns, feature)


@jitable
def axis_write(plan, scratch, question, record):
    record["kind"] = AXIS
    record["feature"] = question.candidate
    record["cut_low"] = question.cut_low
    record["cut_high"] = question.cut_high


class Learner(NamedTuple):
    """Compiled functions."""

    # (plan, node, scratch, candidate) → the least and the greatest key; None: see `group`
    project: Callable | None
    ends: Callable  # (plan, node, scratch, candidate, key) → the least and the greatest number
    ready: Callable  # (plan, node, scratch, question)
    goes_left: Callable  # (plan, scratch, question, i, row): of the node's row i
    write: Callable  # (plan, scratch, question, record)
    # (plan, node, scratch, candidate) → is there any? None: candidates are features
    draw: Callable | None = None
    n_factors: Callable[[int], int] = lambda n_terms: 0  # kept of a candidate
    # (plan, node, scratch, candidate, in_bins) → Grouped (see groups)
    group: Callable | None = None
    has_bands: bool = False  # two cuts, not one
    # As `project` and `group`, where values may be missing; if both are None they may not.
    project_some: Callable | None = None
    group_some: Callable | None = None
    lacks: Callable | None = None  # as `goes_left`: is the row's value missing?
    # (plan, node, scratch, candidate) → what `lies_left` takes first, before the keys and the
    # numbers of a question: low, high, cut_low, cut_high. Of cuts in order it lies left of all from
    # some cut on.
    typical: Callable = axis_typical
    lies_left: Callable = number_lies_left


def _projection(draw: Callable, find_numbers: Callable, write: Callable, n_factors) -> Learner:
    """One whose candidates are drawn, and whose numbers are grouped node by node."""
    group, ready = make_group(find_numbers), make_ready(find_numbers)
    plain = Learner(None, local_ends, ready, number_left, write, draw, n_factors, group)
    return plain._replace(
        group_some=make_group_some(find_numbers), lacks=number_lacks, typical=number_typical
    )


AXIS_LEARNER = Learner(
    axis_project,
    axis_ends,
    nothing_to_ready,
    axis_left,
    axis_write,
    project_some=make_project_some(missing_code),
    lacks=axis_lacks,
)
OBLIQUE_LEARNER = _projection(draw_oblique, oblique_numbers, oblique_write, lambda n: n)

LEARNERS: dict[str, Learner] = {
    "axis": AXIS_LEARNER,
    "oblique": OBLIQUE_LEARNER,
    "fitted": _projection(draw_fitted, oblique_numbers, oblique_write, lambda n: n),
    "quadratic": _projection(
        draw_quadratic, quadratic_numbers, quadratic_write, lambda n: 2 * n + n_products(n)
    ),
    "band": AXIS_LEARNER._replace(has_bands=True),
    "oblique_band": OBLIQUE_LEARNER._replace(has_bands=True),
}

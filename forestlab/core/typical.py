"""The typical value of a node: what a row counts for that lacks one, where it is to branch once.

Of numbers it is the weighted mean over the node's rows that have one; of a column in quantile bins
the middle of a bin stands for its values. A cut has the typical value on its left if it is at most
the cut's number, but for rounding: a sum of n terms is good to about n ε. So all is in units of the
greatest number, of which sums do not overflow either.

A learner whose keys are no numbers has a `typical` of its own, and says by `lies_left` on which
side of a question it lies.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.search import TIE


class Typical(NamedTuple):
    mean: float  # in units
    unit: float  # the greatest size of a number
    slack: float  # by how much the mean may be off, in units


@jitable
def middle(low, high):
    return low if low == high else low / 2 + high / 2


@jitable
def axis_typical(plan, node, scratch, feature):
    columns, rows, weights = plan.columns, node.rows, node.weights
    codes, first = columns.codes[feature], columns.first[feature]
    absent = columns.first[feature + 1] - first
    unit, total, weight = 0.0, 0.0, 0.0
    for i in range(rows.shape[0]):
        code = np.int64(codes[rows[i]])
        if code != absent:
            unit = max(unit, abs(middle(columns.lower[first + code], columns.upper[first + code])))
    unit = unit if unit > 0.0 else 1.0
    for i in range(rows.shape[0]):
        code = np.int64(codes[rows[i]])
        if code != absent:
            value = middle(columns.lower[first + code], columns.upper[first + code])
            total += weights[i] * (value / unit)
            weight += weights[i]
    return Typical(total / weight, unit, TIE * rows.shape[0])


@jitable
def number_typical(plan, node, scratch, candidate):
    """That of the numbers of the candidate at hand."""
    numbers, weights = scratch.projections.numbers, node.weights
    unit, total, weight = 0.0, 0.0, 0.0
    for i in range(node.rows.shape[0]):
        if not np.isnan(numbers[i]):
            unit = max(unit, abs(numbers[i]))
    unit = unit if unit > 0.0 else 1.0
    for i in range(node.rows.shape[0]):
        if not np.isnan(numbers[i]):
            total += weights[i] * (numbers[i] / unit)
            weight += weights[i]
    return Typical(total / weight, unit, TIE * node.rows.shape[0])


@jitable
def at_most(typical, number):
    return typical.mean <= number / typical.unit + typical.slack


@jitable
def number_lies_left(typical, low, high, cut_low, cut_high):
    """Is it on the left of a question about keys in (low, high], numbers in (cut_low, cut_high]?"""
    return at_most(typical, cut_high) and not (cut_low > -np.inf and at_most(typical, cut_low))

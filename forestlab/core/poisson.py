"""Half the Poisson deviance of a node's targets, which are counts: at least 0.

With m the mean of a node and d = y / m - 1 it is the mean of m g(d), where
g(d) = (1 + d) log(1 + d) - d, a parabola near 0; of several targets the mean over them. A side of
weight W whose mean is (1 + d) m lowers it by W m g(d), from which the terms that cancel between the
two sides, and with them the digits they would cost, are left out.

As in scikit-learn no side may be without counts: its mean of 0 would give a count that comes later
no chance at all. That is why boundaries are not enough here: the first cut that leaves a count on
either side may lie within a run of equal targets.
"""

from math import log1p

import numpy as np

from forestlab.core.jit import jitable

NEAR = 0.05  # below this 12 terms of a series are exact, and the difference would lose digits


@jitable
def side_size(n_rows, n_targets):
    """Of each target the sum about the node's mean, and the weight of the rows above 0."""
    return 2 * n_targets


@jitable
def memo_size(n_rows, n_targets):
    """The node's means, then its impurity."""
    return n_targets + 1


@jitable
def bent(d):
    """(1 + d) log(1 + d) - d."""
    if d <= -1.0:
        return 1.0
    if abs(d) >= NEAR:
        return (1.0 + d) * log1p(d) - d
    total, power = 0.0, d
    for k in range(2, 14):
        power *= -d
        total -= power / (k * (k - 1))
    return total


@jitable
def ready(plan, rows, scratch, stats, same):
    memo, amounts, n_targets = scratch.memo, scratch.amounts, plan.y.shape[1]
    deviance = 0.0
    for k in range(n_targets):
        mean = stats[1 + k]
        memo[k] = mean
        if mean > 0.0:
            for i in range(rows.shape[0]):
                weight = amounts[i, 0]
                deviance += weight * mean * bent(amounts[i, 1 + k] / (weight * mean))
    memo[n_targets] = deviance / (stats[0] * n_targets)
    return same


@jitable
def enter(plan, scratch, i, side, numbers):
    amounts, memo, n_targets = scratch.amounts, scratch.memo, plan.y.shape[1]
    weight = amounts[i, 0]
    for k in range(n_targets):
        side[k] += amounts[i, 1 + k]
        if amounts[i, 1 + k] > -(weight * memo[k]):
            side[n_targets + k] += weight
    return numbers[0] + weight, 0.0, 0.0


@jitable
def score(plan, scratch, side, numbers):
    weight, n_targets = numbers[0], plan.y.shape[1]
    lowered = 0.0
    for k in range(n_targets):
        if side[n_targets + k] <= 0.0:
            return np.inf
        expected = weight * scratch.memo[k]
        lowered += expected * bent(side[k] / expected)
    return -lowered / n_targets


@jitable
def impurity(plan, scratch, side, numbers):
    return scratch.memo[plan.y.shape[1]]


@jitable
def rounding(impurity, n_rows, n_targets):
    return impurity

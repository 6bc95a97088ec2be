"""The entropy of normal distributions that are fitted to each of a node's targets by itself.

It is the sum of ½ log(2πe σ²) nats over the targets, as of `gaussian` if no two targets went
together: a leaf that keeps variances alone is as good as this, whatever the correlations. A cut
that takes these apart, as of a narrow slope into shorter pieces, gains by it and not by `gaussian`,
which sees a slope that is as narrow after the cut as it was before.

Ridge, side and rounding are those of `gaussian`, without the products of different targets.
"""

from math import log

from forestlab.core import gaussian
from forestlab.core.gaussian import NATS
from forestlab.core.jit import jitable

ready, rounding, yardstick = gaussian.ready, gaussian.rounding, gaussian.yardstick


@jitable
def side_size(n_rows, n_targets):
    """Means, and sums of squares about them."""
    return 2 * n_targets


@jitable
def memo_size(n_rows, n_targets):
    return 0


@jitable
def enter(plan, scratch, i, side, numbers):
    amounts, n_targets, before = scratch.amounts, plan.y.shape[1], numbers[0]
    weight = amounts[i, 0]
    after = before + weight
    share = weight / after
    for k in range(n_targets):
        apart = amounts[i, 1 + k] / weight - side[k]
        side[n_targets + k] += before * share * apart * apart
        side[k] += share * apart
    return after, 0.0, 0.0


@jitable
def score(plan, scratch, side, numbers):
    """Half the weight × the logarithms of the variances."""
    weight, n_targets = numbers[0], plan.y.shape[1]
    if weight <= 0.0:
        return 0.0
    total = 0.0
    for k in range(n_targets):
        total += log(side[n_targets + k] / weight + plan.yardstick[k, 0])
    return 0.5 * weight * total


@jitable
def impurity(plan, scratch, side, numbers):
    return score(plan, scratch, side, numbers) / numbers[0] + 0.5 * plan.y.shape[1] * NATS

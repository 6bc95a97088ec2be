"""The entropy of a kernel density estimate of a node's targets; of several the mean over them.

Each target of all training rows has a *grid* of GRID points over its range, widened by REACH
bandwidths on either side, and half a step more below, so that the middle of the range, a common
target, lies on no border between two points. A row counts at the point next to it. Its kernel is a
normal's, cut off at REACH bandwidths, whose values on the grid sum to 1. The entropy is that of the
estimate as a staircase of the grid's step, -Σ p log p + log step, in nats.

The bandwidth is Silverman's, 0.9 min(deviation, quartiles' distance / 1.34) n^(-1/5), of all
training rows, n being their weight; and no less than a step. It is that of the root and not of each
node for this reason: the estimate of a node is then the mixture of those of its children, so that
weight × entropy is concave, no split raises it, and the best cut is at a boundary. With bandwidths
of their own children might seem to gain, or lose, by a narrower kernel alone. The price is a detail
that the root's bandwidth smooths over. Rows at one point are the same to it: such a node is pure.

Nothing is taken away and all terms are positive, so scores are good to n ε of the weight × the
greatest entropy on the grid, log GRID, by which a tie is measured: differential entropies may be 0
or negative.
"""

from math import log

import numpy as np

from forestlab.core.jit import jitable

GRID = 64
REACH = 3.0  # bandwidths
ORIGIN, STEP, N_POINTS, KERNEL = 0, 1, 2, 3  # columns of the yardstick


def yardstick(y: np.ndarray, mass: np.ndarray, n_rows: float) -> np.ndarray:
    """The grid's origin and step, how many points the kernel reaches, and its values from the
    middle on, (n_targets, 3 + GRID)."""
    seen = mass > 0.0
    return np.array([_grid(target, mass[seen], n_rows) for target in y[seen].T])


def _grid(target: np.ndarray, mass: np.ndarray, n_rows: float) -> np.ndarray:
    span = float(np.ptp(target))
    width = max(bandwidth(target, mass, n_rows), span / (GRID - 1.5 - 2.0 * REACH))
    step = (span + 2.0 * REACH * width) / (GRID - 1.5)
    points = np.arange(GRID)
    kernel = np.exp(-0.5 * (points * step / width) ** 2) * (points * step <= REACH * width)
    kernel /= kernel[0] + 2.0 * kernel[1:].sum()
    origin = float(target.min()) - REACH * width - step / 2.0
    return np.array([origin, step, np.count_nonzero(kernel) - 1, *kernel])


def bandwidth(target: np.ndarray, mass: np.ndarray, n_rows: float) -> float:
    """Silverman's rule (1986, section 3.4.2); 1 if targets do not vary."""
    if np.ptp(target) == 0.0:
        return 1.0
    order = np.argsort(target, kind="stable")
    reach = np.cumsum(mass[order])
    quartiles = (target[order][np.searchsorted(reach, q * reach[-1])] for q in (0.25, 0.75))
    between = -float(np.subtract(*quartiles)) / 1.34
    shares, apart = mass / mass.sum(), target - target[0]
    deviation = float(np.sqrt(shares @ (apart - shares @ apart) ** 2))
    return 0.9 * (min(deviation, between) if between > 0.0 else deviation) * n_rows**-0.2


@jitable
def side_size(n_rows, n_targets):
    """The weight at each point of each target's grid."""
    return GRID * n_targets


@jitable
def memo_size(n_rows, n_targets):
    """The point of each row's targets."""
    return n_rows * n_targets


@jitable
def ready(plan, rows, scratch, stats, same):
    """Find the rows' points; says whether all are at the same."""
    memo, n_targets = scratch.memo, plan.y.shape[1]
    same = True
    for k in range(n_targets):
        origin, step = plan.yardstick[k, ORIGIN], plan.yardstick[k, STEP]
        for i in range(rows.shape[0]):
            memo[i * n_targets + k] = np.floor((plan.y[rows[i], k] - origin) / step + 0.5)
            same &= memo[i * n_targets + k] == memo[k]
    return same


@jitable
def enter(plan, scratch, i, side, numbers):
    n_targets, weight = plan.y.shape[1], scratch.amounts[i, 0]
    for k in range(n_targets):
        point = k * GRID + int(scratch.memo[int(i) * n_targets + k])
        kernel = plan.yardstick[k, KERNEL:]
        side[point] += weight * kernel[0]
        for j in range(1, int(plan.yardstick[k, N_POINTS]) + 1):
            side[point - j] += weight * kernel[j]
            side[point + j] += weight * kernel[j]
    return numbers[0] + weight, 0.0, 0.0


@jitable
def score(plan, scratch, side, numbers):
    """Weight × entropy on the grid."""
    total = 0.0
    for point in range(side.shape[0]):
        if side[point] > 0.0:
            total += side[point] * log(numbers[0] / side[point])
    return total / plan.y.shape[1]


@jitable
def impurity(plan, scratch, side, numbers):
    n_targets = plan.y.shape[1]
    of_steps = 0.0
    for k in range(n_targets):
        of_steps += log(plan.yardstick[k, STEP])
    return score(plan, scratch, side, numbers) / numbers[0] + of_steps / n_targets


@jitable
def rounding(impurity, n_rows, n_targets):
    return log(GRID)

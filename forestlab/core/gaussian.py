"""The entropy of a normal distribution that is fitted to a node's targets.

It is ½ log det(2πe Σ) nats, where Σ is the covariance of the targets with a *ridge* on its
diagonal: RIDGE of each target's variance over all training rows, so that all nodes of all trees are
measured by the same, and a node of equal targets, or of fewer rows than targets, has an entropy
too. A target that does not vary at all has a ridge of 1, which adds the same to every entropy.

The ridge is added, not a floor that variances are lifted to, and for this reason: covariances of
mixtures are at least the mixtures of covariances, and log det is concave, so that weight × entropy
is concave in the rows. So no split raises it, and the best cut is at a boundary, as for the other
criteria. With a floor neither would hold.

The side keeps means and sums of products about these means, and brings both up to date with each
row that enters (Welford 1962, West 1979): a side of small spread far from the node's mean loses no
digits, and one of equal targets has a spread of exactly 0.

Scores are off by n ε of the weight, whatever the entropy, which may be 0 or negative: a tie is
measured by the weight. Where Σ is nothing but ridge in some direction the rounding of the others
shows in it, 1 / RIDGE times as much; as sides of few rows always are that is allowed for.
"""

from math import e, log, pi

import numpy as np

from forestlab.core.jit import jitable

RIDGE = 1e-6
NATS = log(2.0 * pi * e)  # twice the entropy of a variance of 1


def yardstick(
    y: np.ndarray, mass: np.ndarray, n_rows: float, of_variance: float = RIDGE
) -> np.ndarray:
    """The ridge of each target, a share of its variance, (n_targets, 1)."""
    seen = mass > 0.0
    y, shares = y[seen] - y[seen][:1], mass[seen] / mass.sum()
    variance = shares @ (y - shares @ y) ** 2
    ridge = np.maximum(of_variance * variance, np.finfo(float).tiny)
    return np.where(np.ptp(y, axis=0) > 0.0, ridge, 1.0)[:, None]


@jitable
def side_size(n_rows, n_targets):
    """Means, how far the last row lay from them, and the products of any two targets."""
    return 2 * n_targets + n_targets * (n_targets + 1) // 2


@jitable
def memo_size(n_rows, n_targets):
    """A triangle that a covariance is factorised into."""
    return n_targets * (n_targets + 1) // 2


@jitable
def ready(plan, rows, scratch, stats, same):
    return same


@jitable
def enter(plan, scratch, i, side, numbers):
    amounts, n_targets, before = scratch.amounts, plan.y.shape[1], numbers[0]
    weight = amounts[i, 0]
    after = before + weight
    share = weight / after
    cell = 2 * n_targets
    for k in range(n_targets):
        apart = amounts[i, 1 + k] / weight - side[k]
        side[n_targets + k] = apart
        for m in range(k + 1):
            side[cell] += before * share * apart * side[n_targets + m]
            cell += 1
    for k in range(n_targets):
        side[k] += share * side[n_targets + k]
    return after, 0.0, 0.0


@jitable
def score(plan, scratch, side, numbers):
    """Half the weight × the logarithm of the determinant."""
    weight, n_targets = numbers[0], plan.y.shape[1]
    if weight <= 0.0:
        return 0.0
    return 0.5 * weight * log_determinant(plan, scratch.memo, side[2 * n_targets :], weight)


@jitable
def log_determinant(plan, lower, products, weight):
    """By Cholesky's factors, in `lower`. What is left of a variance is not negative but for
    rounding, and has the ridge added to it last, so that no pivot is below the ridge."""
    total = 0.0
    for k in range(plan.y.shape[1]):
        row = k * (k + 1) // 2
        for m in range(k + 1):
            column = m * (m + 1) // 2
            here = products[row + m] / weight
            for j in range(m):
                here -= lower[row + j] * lower[column + j]
            if m < k:
                lower[row + m] = here / lower[column + m]
            else:
                pivot = max(here, 0.0) + plan.yardstick[k, 0]
                lower[row + k] = np.sqrt(pivot)
                total += log(pivot)
    return total


@jitable
def impurity(plan, scratch, side, numbers):
    return score(plan, scratch, side, numbers) / numbers[0] + 0.5 * plan.y.shape[1] * NATS


@jitable
def rounding(impurity, n_rows, n_targets):
    return n_targets * (1.0 + 1.0 / (RIDGE * n_rows))

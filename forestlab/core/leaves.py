"""Leaves: what a node of numbers answers, given the targets of its rows.

The *mean* stands among the node's statistics anyway. Another number takes its place there, and the
mean goes beside it (see arrays), so that whatever asks a tree reads the answer where the mean would
be. Every node gets one as it is grown, not leaves alone: a tree cut at a depth answers what the
tree grown to that depth would.

- *median*: half of the weight lies on either side of it; where a half ends between two targets, as
  of an even number of rows, the midpoint of these, as scikit-learn's absolute error has it.
- *mode*: the maximum a posteriori, where the density of the node's targets is greatest. The density
  is a sum of normal ones, looked at on GRID points between the least and the greatest target of the
  tree's root; a parabola through the logarithms at the best point and its neighbours tells where
  between them it lies, exactly so if it is one normal density. Of points that only rounding could
  part, the lowest is best. The bandwidth is by Scott's rule with the effective number of rows of
  Kish, n^(-1/5) times the deviation, as in scipy's gaussian_kde; but no less than the step of the
  grid, which would else miss the maximum.

To add one: write `value` and give it a row in LEAVES.
"""

from collections.abc import Callable
from math import exp, inf, log, sqrt
from typing import NamedTuple

from forestlab.core.jit import jitable
from forestlab.core.search import TIE
from forestlab.core.sorting import merge_sort


class Leaf(NamedTuple):
    text: str  # what it is, in a few words
    # (y, rows, weights, scratch, i, k) → what node i answers of target k; None: its mean
    value: Callable | None


def make_answer(leaf: Leaf) -> Callable:
    """What writes down a node's answers, once its statistics are there."""
    if leaf.value is None:
        return keep_means
    value = leaf.value

    @jitable
    def answer(y, rows, weights, scratch, i):
        stats, means = scratch.stats[i], scratch.answers.means[i]
        if i == 0:
            note_span(y, rows, scratch.answers.span)
        for k in range(y.shape[1]):
            means[k] = stats[1 + k]
        for k in range(y.shape[1]):
            stats[1 + k] = value(y, rows, weights, scratch, i, k)

    return answer


@jitable
def keep_means(y, rows, weights, scratch, i):
    """They are the answers."""


@jitable
def note_span(y, rows, span):
    """The least and the greatest of each target."""
    for k in range(y.shape[1]):
        least = greatest = y[rows[0], k]
        for i in range(rows.shape[0]):
            least, greatest = min(least, y[rows[i], k]), max(greatest, y[rows[i], k])
        span[k, 0], span[k, 1] = least, greatest


# ---- the median --------------------------------------------------------------------------------


@jitable
def median(y, rows, weights, scratch, i, k):
    n, groups = rows.shape[0], scratch.groups
    values, along = groups.numbers, groups.weight
    total = 0.0
    for j in range(n):
        values[j], along[j] = y[rows[j], k], weights[j]
        total += weights[j]
    merge_sort(values, along, (groups.scores, groups.right_scores), 0, n)
    tie = TIE * n * total
    below = 0.0
    for j in range(n - 1):
        below += along[j]
        if below > total / 2 + tie:
            return values[j]
        if below >= total / 2 - tie:
            return (values[j] + values[j + 1]) / 2
    return values[n - 1]


# ---- the mode ----------------------------------------------------------------------------------


@jitable
def mode(y, rows, weights, scratch, i, k):
    deviations = scratch.stats[i, 1 + y.shape[1] + k]
    low, high = scratch.answers.span[k, 0], scratch.answers.span[k, 1]
    if deviations == 0.0:
        return scratch.answers.means[i, k]  # all targets are equal
    density = scratch.answers.density
    step = (high - low) / (density.shape[0] - 1)
    width = min(max(scott(weights, deviations), step), high - low)
    greatest = 0.0
    for point in range(density.shape[0]):
        density[point] = density_at(low + point * step, y, rows, weights, k, width)
        greatest = max(greatest, density[point])
    best = 0
    while density[best] < greatest - TIE * rows.shape[0] * greatest:
        best += 1
    return low + (best + beside(density, best)) * step


@jitable
def scott(weights, deviations):
    """The bandwidth: n^(-1/5) times the deviation, n being (Σ w)² / Σ w²."""
    total, squares = 0.0, 0.0
    for j in range(weights.shape[0]):
        total += weights[j]
        squares += weights[j] * weights[j]
    free = total - squares / total
    if free <= 0.0:  # all but one row weigh nothing beside it
        return inf
    return sqrt(deviations / free) * (squares / total / total) ** 0.2


@jitable
def density_at(point, y, rows, weights, k, width):
    """Up to a constant of the node."""
    found = 0.0
    for j in range(rows.shape[0]):
        apart = (y[rows[j], k] - point) / width
        found += weights[j] * exp(-0.5 * apart * apart)
    return found


@jitable
def beside(density, best):
    """How many steps from the best point, at most half of one, the maximum lies."""
    if best == 0 or best == density.shape[0] - 1:
        return 0.0
    before, here, after = density[best - 1], density[best], density[best + 1]
    if before <= 0.0 or after <= 0.0:
        return 0.0
    bend = log(before) + log(after) - 2.0 * log(here)
    return (log(before) - log(after)) / (2.0 * bend) if bend < 0.0 else 0.0


# ---- the table ---------------------------------------------------------------------------------

LEAVES: dict[str, Leaf] = {
    "mean": Leaf("their mean", None),
    "median": Leaf("their weighted median", median),
    "mode": Leaf("where their density is greatest, the maximum a posteriori", mode),
}

"""The mean absolute deviation of a node's targets from their median; of several the mean over them.

Medians do not add up. So each side has a Fenwick tree over the ranks of the node's targets
(Fenwick 1994): sums of weights, and of weighted targets, over stretches of ranks whose lengths are
powers of two. A row enters in log n steps, and the median is found on the way down in as many: a
feature takes n log n.

Targets are centred on the node's mean, so that scores are good to n ε of the node's weight ×
impurity, which a tie is measured by.
"""

from forestlab.core.jit import jitable
from forestlab.core.sorting import merge_sort


@jitable
def side_size(n_rows, n_targets):
    """Of each target sums of weights, sums of weighted targets, and the sum of all of these."""
    return n_targets * (2 * n_rows + 1)


@jitable
def memo_size(n_rows, n_targets):
    """Of each target the values by rank, then the rows' ranks; and room to sort in."""
    return (2 * n_targets + 3) * n_rows


@jitable
def ready(plan, rows, scratch, stats, same):
    """Rank the node's targets; equal ones have one rank."""
    memo, n, n_targets = scratch.memo, rows.shape[0], plan.y.shape[1]
    spare = 2 * n_targets * n
    places = memo[spare : spare + n]
    more_values, more_places = memo[spare + n : spare + 2 * n], memo[spare + 2 * n : spare + 3 * n]
    for k in range(n_targets):
        values = memo[k * n : (k + 1) * n]
        ranks = memo[(n_targets + k) * n : (n_targets + k + 1) * n]
        for i in range(n):
            values[i], places[i] = plan.y[rows[i], k] - stats[1 + k], i
        merge_sort(values, places, (more_values, more_places), 0, n)
        rank = 0
        for i in range(n):
            rank += 1 if values[i] > values[rank] else 0
            values[rank] = values[i]
            ranks[int(places[i])] = rank
    return same


@jitable
def enter(plan, scratch, i, side, numbers):
    memo, n_targets = scratch.memo, plan.y.shape[1]
    n = (side.shape[0] // n_targets - 1) // 2
    weight = scratch.amounts[i, 0]
    for k in range(n_targets):
        rank = int(memo[(n_targets + k) * n + int(i)])
        amount = weight * memo[k * n + rank]
        weights = k * (2 * n + 1)
        sums = weights + n
        at = rank + 1
        while at <= n:
            side[weights + at - 1] += weight
            side[sums + at - 1] += amount
            at += at & -at
        side[sums + n] += amount
    return numbers[0] + weight, 0.0, 0.0


@jitable
def deviation(values, tree, n, weight):
    """The sum of absolute deviations from the median, the least value with half the weight up to
    it. `tree` holds sums of weights, of weighted values, and the sum of all of these."""
    step = 1
    while 2 * step <= n:
        step *= 2
    rank, below, sum_below = 0, 0.0, 0.0
    while step > 0:
        at = rank + step
        if at <= n and below + tree[at - 1] < 0.5 * weight:
            rank = at
            below += tree[at - 1]
            sum_below += tree[n + at - 1]
        step //= 2
    median = values[min(rank, n - 1)]
    lower = median * below - sum_below
    upper = (tree[2 * n] - sum_below) - median * (weight - below)
    return max(lower + upper, 0.0)


@jitable
def score(plan, scratch, side, numbers):
    n_targets = plan.y.shape[1]
    n = (side.shape[0] // n_targets - 1) // 2
    total = 0.0
    for k in range(n_targets):
        values = scratch.memo[k * n : (k + 1) * n]
        tree = side[k * (2 * n + 1) : (k + 1) * (2 * n + 1)]
        total += deviation(values, tree, n, numbers[0])
    return total / n_targets


@jitable
def impurity(plan, scratch, side, numbers):
    return score(plan, scratch, side, numbers) / numbers[0]


@jitable
def rounding(impurity, n_rows, n_targets):
    return impurity

"""Rows by class: those of a tree stand in the order of their classes, and so do those of each node.

Rows are sent to children in order, so it is enough to put them in order once. Then a node's rows of
one class are a run, of which only the end has to be found, and what is counted of it stays in a
register. Of two million row visits a tree this is a third of the time of looking up each row's
class.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.criteria import Criterion, sum_up
from forestlab.core.jit import jitable

ONE = np.uint64(1)
# What swept.state holds of the node at hand.
PRESENT = 0  # classes that are there
MAIN = 1  # the heaviest, which has slot 0
FILLED = 2  # whether slots and amounts are those of the rows


@jitable
def n_present(swept):
    return swept.state[PRESENT]


@jitable
def arrange(plan, rows, weights, scratch):
    """Put a tree's rows in the order of their classes; those of a class stay in theirs."""
    n_rows, place, labels = np.uint64(rows.shape[0]), scratch.swept.place, plan.labels
    to_rows, to_weights = scratch.right_rows, scratch.right_weights
    for label in range(place.shape[0]):
        place[label] = np.uint64(0)
    for i in range(n_rows):
        place[np.uint64(labels[rows[i]])] += ONE
    n_before = np.int64(0)
    for label in range(place.shape[0]):
        n_here = np.int64(place[label])
        place[label] = np.uint64(n_before)
        n_before += n_here
    for i in range(n_rows):
        own = np.uint64(labels[rows[i]])
        at = place[own]
        place[own] = at + ONE
        to_rows[at], to_weights[at] = rows[i], weights[i]
    for i in range(n_rows):
        rows[i], weights[i] = to_rows[i], to_weights[i]


@jitable
def end_of_run(labels, rows, start, label):
    """Where the run of a class ends that begins at `start`, and is not the last."""
    step, low = ONE, start
    n_rows = np.uint64(rows.shape[0])
    while low + step < n_rows and labels[rows[low + step]] == label:
        low += step
        step += step
    high = min(low + step, n_rows - ONE)  # a row of another class
    while low + ONE < high:
        middle = (low + high) >> ONE
        if labels[rows[middle]] == label:
            low = middle
        else:
            high = middle
    return high


def make_measure_runs(criterion: Criterion) -> Callable:
    """As `sides.make_measure`, for rows in the order of their classes and whole weights; slots and
    amounts are left to `fill`."""
    add, score = criterion.add_whole or criterion.add, criterion.score
    impurity_of = criterion.impurity

    @jitable
    def measure(plan, rows, weights, scratch, stats):
        swept, labels, sums = scratch.swept, plan.labels, scratch.sums
        n_rows, masses, start = np.uint64(rows.shape[0]), swept.masses, np.uint64(0)
        last, n_runs, main = labels[rows[n_rows - ONE]], 0, 0
        for k in range(stats.shape[0]):
            stats[k] = sums[k] = 0.0
        while start < n_rows:
            label = labels[rows[start]]
            end = n_rows if label == last else end_of_run(labels, rows, start, label)
            held = np.uint32(0)
            for i in range(start, end):
                mass = np.uint32(weights[i])
                masses[i] = mass
                held += mass
            stats[label] = sums[label] = swept.totals[n_runs] = held
            swept.ends[0, n_runs], swept.unlisted[0, n_runs] = end, 0
            main = label if stats[label] > stats[main] else main
            n_runs += 1
            start = end
        pure = n_runs == 1
        if main > 0 and not pure:
            sums[0], sums[main] = sums[main], sums[0]
        swept.state[PRESENT], swept.state[MAIN], swept.state[FILLED] = n_runs, main, 0
        total = sum_up(add, sums, scratch.total)
        impurity = 0.0
        if not pure:
            impurity = impurity_of(score, scratch.total, total, stats)
        return pure, total, impurity, abs(impurity)

    return measure


@jitable
def fill(plan, node, scratch):
    """Slots and amounts of the node's rows, once, for what asks for them."""
    state, slots, amounts = scratch.swept.state, scratch.slots, scratch.amounts
    if state[FILLED]:
        return
    state[FILLED], main = 1, np.uint32(state[MAIN])
    for i in range(np.uint64(node.rows.shape[0])):
        label = np.uint32(plan.labels[node.rows[i]])
        slots[i, np.uint64(0)] = np.uint32(0) if label == main else main if label == 0 else label
        amounts[i, np.uint64(0)] = node.weights[i]

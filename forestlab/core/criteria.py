"""Criteria: how impure a set of rows is.

A row contributes amounts to *slots*: its weight to the slot of its class, or for regression its
weight to slot 0 and its weighted, centred targets to the slots after it. A *side* is the running
sum of contributions on one side of a cut, an array of a number a slot. Beside it go a few plain
numbers, which thereby stay in registers: a tuple, of which the first is the side's weight.

`add` moves an amount into a slot (or out, if negative) and returns these numbers brought up to
date, so that moving a row costs the same with 2 classes or 300. `score` is the side's weight ×
impurity, up to a constant of the node: the sum over both sides is what a split minimises.

Weights may span any range. So no score is a small difference of large numbers: the node's heaviest
class has slot 0, and the *rest*, the weight of all others, is summed by itself. As no impurity here
is below rest / weight, scores are good to about n ε of the node's weight × impurity, which is what
a tie is measured by (see search).

Not every impurity is one of sums: a median is not, and a spread about a mean loses digits if it is
made of them. Rows *enter* the sides of such a criterion one by one, see `Entered`; its side is an
array that it alone understands.

Of several targets of classes the criterion is the mean over them, made of these functions: see
several.

To add a criterion: write `add`, `score` and `impurity`, or what `Entered` asks for, and give it a
row in CRITERIA.
"""

from collections.abc import Callable
from math import log, log1p
from typing import NamedTuple

import numpy as np

from forestlab.core import absolute, diagonal, gaussian, kde, poisson
from forestlab.core.jit import jitable
from forestlab.core.lanes import ENTROPY, GINI, MISCLASSIFICATION, Laned
from forestlab.core.tasks import TASKS

# ---- classification: a slot a class ------------------------------------------------------------


NOTHING = (0.0, 0.0, 0.0)  # the numbers of a side without rows


@jitable
def sum_up(add, sums, side):
    """Fill the side that holds all of a node's rows; returns its numbers."""
    side[:] = 0.0
    numbers = NOTHING
    for slot in range(sums.shape[0]):
        numbers = add(side, slot, sums[slot], numbers)
    return numbers


@jitable
def class_gather(y, rows, weights, slots, amounts, stats, sums):
    """Contributions and class weights of a node's rows; says whether only one class is there."""
    stats[:] = 0.0
    for i in range(rows.shape[0]):
        label = np.uint32(y[rows[i], 0])
        slots[i, 0] = label
        amounts[i, 0] = weights[i]
        stats[label] += weights[i]
    n_present, main = 0, 0
    for k in range(stats.shape[0]):
        sums[k] = stats[k]
        n_present += stats[k] > 0.0
        if stats[k] > stats[main]:
            main = k
    if main > 0 and n_present > 1:
        sums[0], sums[main] = stats[main], stats[0]
        swap_slots(slots, rows.shape[0], np.uint32(main))
    return n_present <= 1


@jitable
def swap_slots(slots, n_rows, main):
    """The main class moves to slot 0, and the class of slot 0 to its place."""
    for i in range(n_rows):
        label = slots[i, 0]
        slots[i, 0] = np.uint32(0) if label == main else main if label == 0 else label


@jitable
def class_impurity(score, total, numbers, stats):
    return score(total, numbers) / numbers[0]


@jitable
def gini_add(side, slot, amount, numbers):
    """Numbers: weight, rest, the sum of products of the weights of any two different classes."""
    weight, rest, crossed = numbers
    before = side[slot]
    side[slot] = before + amount
    others = rest if slot == 0 else weight - before
    return weight + amount, rest if slot == 0 else rest + amount, crossed + amount * others


@jitable
def gini_add_whole(side, slot, amount, numbers):
    """Whole numbers leave no rounding to be careful of: the rest is not looked at."""
    weight, rest, crossed = numbers
    before = side[slot]
    side[slot] = before + amount
    return weight + amount, rest, crossed + amount * (weight - before)


@jitable
def gini_score(side, numbers):
    weight, _, crossed = numbers
    return 2.0 * crossed / weight if weight > 0.0 else 0.0


@jitable
def entropy_add(side, slot, amount, numbers):
    """Numbers: weight, rest, the sum of n log n over class weights n in the rest."""
    weight, rest, logs = numbers
    if slot == 0:
        return weight + amount, rest, logs
    before = side[slot]
    after = before + amount
    side[slot] = after
    return weight + amount, rest + amount, logs + (n_log_n(after) - n_log_n(before))


@jitable
def entropy_score(side, numbers):
    """The sum of n log(weight / n)."""
    weight, rest, logs = numbers
    if weight <= 0.0:
        return 0.0
    main = weight - rest
    of_main = -main * log1p(-rest / weight) if main > 0.0 else 0.0
    return of_main + (rest * log(weight) - logs)


@jitable
def misclassification_add(side, slot, amount, numbers):
    """Numbers: weight, rest, the greatest class weight in the rest. Only taking from that class has
    to look again."""
    weight, rest, greatest = numbers
    before = side[slot]
    after = before + amount
    side[slot] = after
    if slot == 0:
        return weight + amount, rest, greatest
    if amount > 0.0:
        greatest = max(greatest, after)
    elif before == greatest:
        greatest = 0.0
        for k in range(1, side.shape[0]):
            greatest = max(greatest, side[k])
    return weight + amount, rest + amount, greatest


@jitable
def misclassification_score(side, numbers):
    weight, rest, greatest = numbers
    return min(rest, weight - greatest)


@jitable
def n_log_n(n):
    return n * log(n) if n > 0.0 else 0.0


# ---- regression: the weight, then a slot a target ----------------------------------------------


@jitable
def moment_gather(y, rows, weights, slots, amounts, stats, sums):
    """Contributions and moments of a node's rows; says whether all targets are equal.

    Targets are centred on the node's mean, so that the scan needs no squares and loses no digits.
    """
    n_targets = y.shape[1]
    weight = 0.0
    for i in range(rows.shape[0]):
        weight += weights[i]
        slots[i, 0] = 0
        amounts[i, 0] = weights[i]
    stats[0] = weight
    sums[0] = weight
    same = True
    for k in range(n_targets):
        total, same_here = 0.0, True
        for i in range(rows.shape[0]):
            total += weights[i] * y[rows[i], k]
            same_here &= y[rows[i], k] == y[rows[0], k]
        mean = y[rows[0], k] if same_here else total / weight
        same &= same_here
        squares = 0.0
        centred_total = 0.0
        for i in range(rows.shape[0]):
            centred = y[rows[i], k] - mean
            slots[i, 1 + k] = 1 + k
            amounts[i, 1 + k] = weights[i] * centred
            centred_total += weights[i] * centred
            squares += weights[i] * centred * centred
        stats[1 + k] = mean
        stats[1 + n_targets + k] = squares
        sums[1 + k] = centred_total
    return same


@jitable
def variance_impurity(score, total, numbers, stats):
    n_targets = (stats.shape[0] - 1) // 2
    squares = 0.0
    for k in range(n_targets):
        squares += stats[1 + n_targets + k]
    return squares / (stats[0] * n_targets)


@jitable
def variance_add(side, slot, amount, numbers):
    weight, _, _ = numbers
    side[slot] += amount
    return weight + amount if slot == 0 else weight, 0.0, 0.0


@jitable
def variance_score(side, numbers):
    """Minus the sum of squares that the side's mean explains."""
    weight, _, _ = numbers
    if weight <= 0.0:
        return 0.0
    n_targets = side.shape[0] - 1
    explained = 0.0
    for k in range(n_targets):
        explained += side[1 + k] * (side[1 + k] / weight)  # a square alone might overflow
    return -explained / n_targets


# ---- the table ---------------------------------------------------------------------------------


class Criterion(NamedTuple):
    """One of sums."""

    task: str
    gather: Callable
    add: Callable
    score: Callable
    impurity: Callable
    scale: float = 1.0  # of the impurity that is reported and that min_impurity_decrease means
    alias_of: str = ""  # the name whose compiled kernel serves this one too
    add_whole: Callable | None = None  # a quicker `add` for weights that are whole numbers
    scan: Callable | None = None  # what scores listed cuts in its own way: see own
    # (plan, node, scratch, n_groups) → the score of the first groups, if cuts are scored that way
    hold: Callable | None = None
    at_boundaries: bool = True  # no cut is better than the best of those between unequal targets
    counts: bool = False  # targets are at least 0, and each has a positive sum
    # Of categories that one number puts in order no set is better than the best of those that
    # begin the order: impurity is a concave function of that number.
    in_order: bool = False
    shortcut: "Shortcut | None" = None  # how features are swept, if they are


class Shortcut(NamedTuple):
    """Functions of a criterion that a sweep has ways of its own for (see sweep). A row that was
    made of another one, with other functions, is not swept."""

    add: Callable
    score: Callable  # looks at the numbers alone; of one target it is the variance's
    laned: Laned | None = None  # of classes: how sixteen cuts are scored at once, of whole weights


def is_swept(criterion: Criterion) -> bool:
    known = criterion.shortcut
    return known is not None and (criterion.add, criterion.score) == (known.add, known.score)


class Entered(NamedTuple):
    """One whose sides rows enter one by one; impurities may be negative."""

    task: str
    gather: Callable  # fills slots, amounts and statistics as for sums
    ready: Callable  # (plan, rows, scratch, stats, all equal) → whether the node is pure
    enter: Callable  # (plan, scratch, place in the node, side, numbers) → numbers
    score: Callable  # (plan, scratch, side, numbers); infinite if there may be no such side
    impurity: Callable  # likewise, of the node
    rounding: Callable  # (impurity, n_rows, n_targets) → what scores are rounded by, see search.TIE
    # Numbers of a side, and of scratch.memo, which is for what is known of a node:
    side_size: Callable[[int, int], int]  # (n_rows, n_targets)
    memo_size: Callable[[int, int], int]
    # (y, mass of the rows, their number) → (n_targets, …), of all training rows: plan.yardstick
    yardstick: Callable | None = None
    scale: float = 1.0
    alias_of: str = ""
    at_boundaries: bool = True
    counts: bool = False
    in_order: bool = False


class Several(NamedTuple):
    """That of several targets of classes, made of one of sums: see several."""

    measure: Callable  # as `sides.make_measure` makes it
    put: Callable  # (plan, scratch, item, dense, side, numbers) → numbers
    score: Callable  # (plan, scratch, side, numbers) → weight × impurity
    task: str = "classification"
    in_order: bool = False


def _classes(add, score, laned, **more) -> Criterion:
    functions, shortcut = (class_gather, add, score, class_impurity), Shortcut(add, score, laned)
    return Criterion("classification", *functions, in_order=True, shortcut=shortcut, **more)


def _variance(**more) -> Criterion:
    functions = moment_gather, variance_add, variance_score, variance_impurity
    shortcut = Shortcut(variance_add, variance_score)
    return Criterion("regression", *functions, in_order=True, shortcut=shortcut, **more)


def _entered(module, **more) -> Entered:
    """The functions of a module, by the names that it has in common with others of its kind."""
    return Entered(
        "regression",
        moment_gather,
        module.ready,
        module.enter,
        module.score,
        module.impurity,
        module.rounding,
        module.side_size,
        module.memo_size,
        **more,
    )


CRITERIA: dict[str, Criterion | Entered] = {
    "gini": _classes(gini_add, gini_score, GINI, add_whole=gini_add_whole),
    "entropy": _classes(entropy_add, entropy_score, ENTROPY),
    "log_loss": _classes(entropy_add, entropy_score, ENTROPY, alias_of="entropy"),
    "entropy2": _classes(entropy_add, entropy_score, ENTROPY, scale=1 / log(2), alias_of="entropy"),
    "misclassification": _classes(
        misclassification_add, misclassification_score, MISCLASSIFICATION
    ),
    "variance": _variance(),
    "squared_error": _variance(alias_of="variance"),
    "absolute_error": _entered(absolute),
    "poisson": _entered(poisson, at_boundaries=False, counts=True, in_order=True),
    "gaussian": _entered(gaussian, yardstick=gaussian.yardstick),
    "kde": _entered(kde, yardstick=kde.yardstick),
    "gaussian_diagonal": _entered(diagonal, yardstick=diagonal.yardstick),
}


def fitting(task: str) -> list[str]:
    """The criteria that trees of a task may grow by, the usual one first."""
    return list(TASKS[task].criteria) or [
        name for name, row in CRITERIA.items() if row.task == task
    ]

"""Criteria: how impure a set of rows is.

A row contributes amounts to *slots*: its weight to the slot of its class, or for regression its
weight to slot 0 and its weighted, centred targets to the slots after it. A *side* is the running
sum of contributions on one side of a cut, an array of a number a slot. Beside it go two plain
numbers, which thereby stay in registers: the side's `weight`, and one number `derived` from the
slots (gini: the sum of their squares).

`add` moves an amount into a slot (or out, if negative) and returns both brought up to date, so that
moving a row costs the same with 2 classes or 300. `score` is the side's weight × impurity, up to a
constant of the node: the sum over both sides is what a split minimises.

To add a criterion: write `add`, `score` and `impurity` and give it a row in CRITERIA.
"""

from collections.abc import Callable
from math import log
from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable

# ---- classification: a slot a class ------------------------------------------------------------


@jitable
def class_gather(y, rows, weights, slots, amounts, stats, sums):
    """Contributions and class weights of a node's rows; says whether only one class is there."""
    stats[:] = 0.0
    for i in range(rows.shape[0]):
        label = np.uint32(y[rows[i], 0])
        slots[i, 0] = label
        amounts[i, 0] = weights[i]
        stats[label] += weights[i]
    n_present = 0
    for k in range(stats.shape[0]):
        sums[k] = stats[k]
        n_present += stats[k] > 0.0
    return n_present <= 1


@jitable
def class_impurity(score, total, derived, weight, stats):
    return score(total, derived, weight) / weight


@jitable
def gini_add(side, slot, amount, derived, weight):
    """Derived: the sum of squared class weights."""
    before = side[slot]
    side[slot] = before + amount
    return derived + amount * (before + before + amount), weight + amount


@jitable
def gini_score(side, derived, weight):
    return weight - derived / weight if weight > 0.0 else 0.0


@jitable
def entropy_add(side, slot, amount, derived, weight):
    """Derived: the sum of n log n over class weights n."""
    before = side[slot]
    after = before + amount
    side[slot] = after
    return derived + (n_log_n(after) - n_log_n(before)), weight + amount


@jitable
def entropy_score(side, derived, weight):
    return n_log_n(weight) - derived


@jitable
def misclassification_add(side, slot, amount, derived, weight):
    """Derived: the greatest class weight. Only taking from the greatest class has to look again."""
    before = side[slot]
    after = before + amount
    side[slot] = after
    if amount > 0.0:
        derived = max(derived, after)
    elif before == derived:
        derived = 0.0
        for k in range(side.shape[0]):
            derived = max(derived, side[k])
    return derived, weight + amount


@jitable
def misclassification_score(side, derived, weight):
    return weight - derived


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
        total = 0.0
        for i in range(rows.shape[0]):
            total += weights[i] * y[rows[i], k]
            same &= y[rows[i], k] == y[rows[0], k]
        mean = y[rows[0], k] if same else total / weight
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
def variance_impurity(score, total, derived, weight, stats):
    n_targets = (stats.shape[0] - 1) // 2
    squares = 0.0
    for k in range(n_targets):
        squares += stats[1 + n_targets + k]
    return squares / (stats[0] * n_targets)


@jitable
def variance_add(side, slot, amount, derived, weight):
    side[slot] += amount
    return derived, weight + amount if slot == 0 else weight


@jitable
def variance_score(side, derived, weight):
    """Minus the sum of squares that the side's mean explains."""
    if weight <= 0.0:
        return 0.0
    n_targets = side.shape[0] - 1
    explained = 0.0
    for k in range(n_targets):
        explained += side[1 + k] * side[1 + k]
    return -explained / (weight * n_targets)


# ---- the table ---------------------------------------------------------------------------------


class Criterion(NamedTuple):
    task: str
    gather: Callable
    add: Callable
    score: Callable
    impurity: Callable
    scale: float = 1.0  # of the impurity that is reported and that min_impurity_decrease means
    alias_of: str = ""  # the name whose compiled kernel serves this one too


def _classes(add, score, **more) -> Criterion:
    return Criterion("classification", class_gather, add, score, class_impurity, **more)


def _moments(add, score, impurity, **more) -> Criterion:
    return Criterion("regression", moment_gather, add, score, impurity, **more)


CRITERIA: dict[str, Criterion] = {
    "gini": _classes(gini_add, gini_score),
    "entropy": _classes(entropy_add, entropy_score),
    "log_loss": _classes(entropy_add, entropy_score, alias_of="entropy"),
    "entropy2": _classes(entropy_add, entropy_score, scale=1 / log(2), alias_of="entropy"),
    "misclassification": _classes(misclassification_add, misclassification_score),
    "variance": _moments(variance_add, variance_score, variance_impurity),
    "squared_error": _moments(variance_add, variance_score, variance_impurity, alias_of="variance"),
}


def n_stats(criterion: Criterion, n_classes: int, n_targets: int) -> int:
    """Statistics kept for each node."""
    return n_classes if criterion.task == "classification" else 1 + 2 * n_targets


def n_slots(criterion: Criterion, n_classes: int, n_targets: int) -> int:
    """Additive sums that a side holds."""
    return n_classes if criterion.task == "classification" else 1 + n_targets

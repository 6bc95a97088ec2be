"""Combiners: many trees' answers become one.

Each tree contributes, for the node `i` where a row ends, a few numbers to a sum; `finish` turns a
row's sums, in their place, into class probabilities or (its first numbers) the targets' means; NaN
if no tree was asked. Labels are taken later still.

- *average*: the mean of the posteriors or means.
- *product*: the posteriors are multiplied, as a sum of logs. A class that a leaf has not seen would
  veto for ever, so each leaf first gets one more row, spread evenly over the classes:
  ``(n_c + u/C) / (n + u)``. For regression each leaf is a normal distribution whose variance gets
  one more row of the root's variance; the product's mean weighs leaves by precision. That row has
  the *unit* u, the root's weight per row, so that it does not matter in what unit weights are.
- *vote*: each tree has one vote, for the class of greatest weight (the first of equal ones).
"""

from collections.abc import Callable
from math import exp, log
from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.tasks import TASKS


@jitable
def class_weight(stats, i):
    """A node's weight, from its statistics, which are read anyway: its record would be a second
    miss of the cache for each row and tree."""
    weight = 0.0
    for k in range(stats.shape[1]):
        weight += stats[i, k]
    return weight


@jitable
def unit_of(root):
    """The weight per row of a tree's root, given its node; of a tree made by hand 1."""
    return root["weight"] / root["n_rows"] if root["n_rows"] > 0 else 1.0


@jitable
def average_classes(stats, i, root, unit, share, sums, row):
    weight = class_weight(stats, i)
    for k in range(stats.shape[1]):
        sums[row, k] += share * (stats[i, k] / weight)  # exactly 1 in a pure leaf


@jitable
def average_moments(stats, i, root, unit, share, sums, row):
    for k in range(sums.shape[1]):
        sums[row, k] += share * stats[i, 1 + k]


@jitable
def product_classes(stats, i, root, unit, share, sums, row):
    n_classes = stats.shape[1]
    weight = class_weight(stats, i)
    for k in range(n_classes):
        sums[row, k] += share * log((stats[i, k] + unit / n_classes) / (weight + unit))


@jitable
def product_moments(stats, i, root, unit, share, sums, row):
    """sums = [precision × mean of each target, precision of each target]"""
    n_targets = sums.shape[1] // 2
    for k in range(n_targets):
        root_variance = stats[root, 1 + n_targets + k] / stats[root, 0]
        variance = (stats[i, 1 + n_targets + k] + unit * root_variance) / (stats[i, 0] + unit)
        precision = share / variance if variance > 0.0 else share
        sums[row, k] += precision * stats[i, 1 + k]
        sums[row, n_targets + k] += precision


@jitable
def vote_classes(stats, i, root, unit, share, sums, row):
    best = 0
    for k in range(1, stats.shape[1]):
        if stats[i, k] > stats[i, best]:
            best = k
    sums[row, best] += share


@jitable
def mean_of_sums(sums, row, n_voters):
    for k in range(sums.shape[1]):
        sums[row, k] /= n_voters


@jitable
def normalised_product(sums, row, n_voters):
    n_classes = sums.shape[1]
    largest = sums[row, 0]
    for k in range(1, n_classes):
        largest = max(largest, sums[row, k])
    total = 0.0
    for k in range(n_classes):
        sums[row, k] = exp(sums[row, k] - largest) if n_voters else np.nan
        total += sums[row, k]
    for k in range(n_classes):
        sums[row, k] /= total


@jitable
def precision_mean(sums, row, n_voters):
    n_targets = sums.shape[1] // 2
    for k in range(n_targets):
        sums[row, k] /= sums[row, n_targets + k]


def each_target(contribute: Callable) -> Callable:
    """What contributes for several targets of classes, given what does so for one. Statistics come
    with where those of each target begin (see several); sums stand alike."""

    @jitable
    def contribute_each(stats_and_first, i, root, unit, share, sums, row):
        stats, first_slots = stats_and_first
        for k in range(first_slots.shape[0] - 1):
            first, end = first_slots[k], first_slots[k + 1]
            contribute(stats[:, first:end], i, root, unit, share, sums[:, first:end], row)

    return contribute_each


class Combiner(NamedTuple):
    contribute: Callable
    finish: Callable
    n_sums: int = 1  # for each class or target
    keeps_order: bool = True  # if no tree's answer falls, neither does that of all
    sure: bool = False  # a node of one class adds 1 for it, and 0 for others


# By task too; a combiner that is not there for a task is refused.
COMBINERS: dict[str, dict[str, Combiner]] = {
    "average": {
        "classification": Combiner(average_classes, mean_of_sums, sure=True),
        "regression": Combiner(average_moments, mean_of_sums),
    },
    "product": {
        "classification": Combiner(product_classes, normalised_product, keeps_order=False),
        "regression": Combiner(product_moments, precision_mean, n_sums=2, keeps_order=False),
    },
    "vote": {"classification": Combiner(vote_classes, mean_of_sums, sure=True)},
}


def n_sums(combiner: str, task: str, n_stats: int) -> int:
    """How many numbers a tree contributes for a row."""
    return COMBINERS[combiner][task].n_sums * TASKS[task].n_answers(n_stats)

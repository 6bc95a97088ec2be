"""A user's own function of Python, f(y, weights) → number, as a criterion or as a leaf.

`y` are the targets of a node's rows: class codes (int64) or numbers, a column for each of several
targets; `weights` are as many. A criterion's number is the impurity of these rows, a leaf's what
they answer of one target. Nothing else is asked of the function, so nothing is compiled: the same
growing code runs as plain Python, and calls the function on both sides of every cut that is tried.

A set of rows is told by two numbers alone here, its weight and its weight × impurity: these are the
slots of a node's side. Sides of cuts are not summed up but looked at row by row.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from forestlab.core.criteria import CRITERIA, Criterion
from forestlab.core.groups import POSITION
from forestlab.core.leaves import Leaf
from forestlab.core.several import first_slots, make_gather
from forestlab.core.tasks import TASKS


@dataclass(frozen=True)
class Own:
    """A function in the place of a name."""

    function: Callable
    task: str
    what: str  # the parameter that it is

    @property
    def name(self) -> str:
        """Where it was written, by which files tell it; with a dot, as no built-in one has."""
        kind = type(self.function)
        module = getattr(self.function, "__module__", None) or kind.__module__
        return f"{module}.{getattr(self.function, '__qualname__', kind.__qualname__)}"

    def number(self, y: np.ndarray, weights: np.ndarray) -> float:
        """What the function says of some rows; raises ValueError unless it is a finite number."""
        said = self.function(y, weights)
        try:
            number = float(said)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise ValueError(
                f"{self.what}={self.name} must return a finite number; got {said!r} "
                f"for {len(y)} rows."
            )
        return number


def own_criterion(own: Own, y: np.ndarray, classes_each: tuple[int, ...] = ()) -> Criterion:
    """The function as a criterion of trees that are grown uncompiled.

    Parameters
    ----------
    y : (n_rows, n_targets) the training targets, or class codes
    classes_each : of several targets of classes, how many each has
    """
    targets = y[:, 0] if y.shape[1] == 1 else y
    if TASKS[own.task].has_classes:
        targets = targets.astype(np.int64)
    gather_task = next(row for row in CRITERIA.values() if row.task == own.task).gather
    more = (first_slots(classes_each),) if classes_each else ()
    gather_all = make_gather(gather_task) if classes_each else gather_task

    def held(rows, weights) -> float:
        """Weight × impurity."""
        return weights.sum() * own.number(targets[rows], weights.copy()) if len(rows) else 0.0

    def gather(y, rows, weights, slots, amounts, stats, sums):
        pure = gather_all(y, rows, weights, slots, amounts, stats, sums, *more)
        sums[:] = 0.0
        sums[0] = weights.sum()
        if not pure:  # so there are two slots at least
            sums[1] = held(rows, weights)
        return pure

    scan, hold = own_scan(held), own_hold(held)
    return Criterion(own.task, gather, own_add, own_score, own_impurity, scan=scan, hold=hold)


def own_add(side, slot, amount, numbers):
    weight, held, _ = numbers
    return weight + amount * (slot == 0), held + amount * (slot == 1), 0.0


def own_score(side, numbers):
    return numbers[1]


def own_impurity(score, total, numbers, stats):
    return numbers[1] / numbers[0]


def own_scan(held: Callable) -> Callable:
    def scan(plan, node, scratch, n_groups, n_cuts, dense, last_left):
        """Score the listed cuts, and return the least score; the last group may be on the left."""
        groups = scratch.groups
        rows, weights = own_rows(node, groups, n_groups)
        n = len(rows)
        place = np.arange(n)
        always_left = place >= (groups.end[n_groups - 2] if last_left else n)
        for c in range(n_cuts):
            left = (place < groups.end[groups.cuts[c]]) | always_left
            sides = [(rows[side], weights[side]) for side in (left, ~left)]
            heavy = all(mass.sum() >= node.min_weight for _, mass in sides)
            groups.scores[c] = sum(held(*side) for side in sides) if heavy else np.inf
        return groups.scores[:n_cuts].min(initial=np.inf)

    return scan


def own_hold(held: Callable) -> Callable:
    def hold(plan, node, scratch, n_groups):
        return held(*own_rows(node, scratch.groups, n_groups))

    return hold


def own_rows(node, groups, n_groups: int):
    """The rows of the first groups, in their order, and their weights."""
    order = groups.order[: groups.end[n_groups - 1]] & POSITION
    return node.rows[order], node.weights[order]


def own_leaf(own: Own) -> Leaf:
    """The function as what a node answers of each target."""

    def value(y, rows, weights, scratch, i, k):
        return own.number(y[rows, k], weights.copy())

    return Leaf(own.name, value)


def uncompiled(grow: Callable) -> Callable:
    """A grower as plain Python, whose keys wrap around as they do when it is compiled."""

    def grow_slowly(*arguments):
        with np.errstate(over="ignore"):
            return grow(*arguments)

    return grow_slowly

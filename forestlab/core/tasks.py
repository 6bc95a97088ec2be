"""Tasks: how targets become numbers that a node keeps, and how these are read.

A node's *statistics* are a row of numbers: of *classification* the weight of each class, of
*regression* ``[weight, answer of each target, sum of squared deviations of each target from its
mean]``. Of several targets of classes the weights stand target after target, and how many classes
each has, `classes_each`, is told beside them; for one target, or for numbers, that is (). The
answer is the mean, unless leaves answer another number or it is bounded; the means are then kept
beside the statistics (see arrays). While a node is split, each of its rows makes a few
contributions, *parts*, to the *slots* of a side of the cut: its weight to the slot of its class, of
each target; or its weight to the first slot and a multiple of it to the slot of each target. What
else has to know the layout asks here.

*Density* has no targets of its own: its trees are trees of their features' moments, so that its
statistics are those of a regression whose targets are the features, and its criteria are some of
regression's.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    main: str  # the metric by which forests are compared
    has_classes: bool  # else answers are numbers
    # Sizes, by the numbers of classes, of all targets together, and of targets.
    n_slots: Callable[[int, int], int]
    n_parts: Callable[[int, int], int]
    n_stats: Callable[[int, int], int]
    n_answers: Callable[[int], int]  # classes or targets, by the number of statistics
    n_targets: Callable[[int], int]  # likewise, unless there are several of classes
    # Readers of statistics, (n, n_stats) each; of classes those of one target.
    weight: Callable[[np.ndarray], np.ndarray]  # (n,)
    answers: Callable[[np.ndarray], np.ndarray]  # (n, n_answers) posteriors, or numbers
    values: Callable[[np.ndarray], np.ndarray]  # (n,) labels, or numbers of the first target
    joined: Callable[[np.ndarray, np.ndarray], np.ndarray]  # of the rows of two nodes together
    variance: Callable[[np.ndarray], np.ndarray]  # (n,) of one target
    of_target: Callable[..., np.ndarray]  # those of one alone, by its number and classes_each
    of_features: bool = False  # the targets are the features themselves
    criteria: tuple[str, ...] = ()  # if they are of another task: which, the usual one first


# ---- classes -----------------------------------------------------------------------------------


def _class_weight(stats: np.ndarray) -> np.ndarray:
    return np.cumsum(stats, axis=1)[:, -1]  # in the order in which a walk adds them


def _posteriors(stats: np.ndarray) -> np.ndarray:
    return stats / _class_weight(stats)[:, None]


def _labels(stats: np.ndarray) -> np.ndarray:
    """The class of greatest weight, the first of equal ones, int32."""
    return stats.argmax(axis=1).astype(np.int32)


def _gini(stats: np.ndarray) -> np.ndarray:
    """The variance of a vector with a 1 in the place of its class."""
    return 1.0 - (_posteriors(stats) ** 2).sum(axis=1)


def _classes_of(stats: np.ndarray, target: int, classes_each: tuple[int, ...] = ()) -> np.ndarray:
    if not classes_each:
        return stats
    first = sum(classes_each[:target])
    return np.ascontiguousarray(stats[:, first : first + classes_each[target]])


# ---- moments -----------------------------------------------------------------------------------


def _n_targets(n_stats: int) -> int:
    return (n_stats - 1) // 2


def _numbers(stats: np.ndarray) -> np.ndarray:
    return stats[:, 1 : 1 + _n_targets(stats.shape[1])]


def deviations(stats: np.ndarray) -> np.ndarray:
    """The sums of squared deviations of each target, (n, n_targets)."""
    return stats[:, 1 + _n_targets(stats.shape[1]) :]


def variances(stats: np.ndarray) -> np.ndarray:
    """Of each target, (n, n_targets)."""
    return deviations(stats) / stats[:, :1]


def _moments_of(stats: np.ndarray, target: int, classes_each: tuple[int, ...] = ()) -> np.ndarray:
    columns = [0, 1 + target, 1 + _n_targets(stats.shape[1]) + target]
    return np.ascontiguousarray(stats[:, columns])


def _joined_moments(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of nodes that answer their means."""
    joined = left + right
    weight, apart = joined[:, :1], _numbers(right) - _numbers(left)
    _numbers(joined)[:] = _numbers(left) + right[:, :1] / weight * apart
    deviations(joined)[:] += left[:, :1] * right[:, :1] / weight * apart**2
    return joined


# ---- the table ---------------------------------------------------------------------------------

TASKS: dict[str, Task] = {
    "classification": Task(
        main="accuracy",
        has_classes=True,
        n_slots=lambda n_classes, n_targets: n_classes,
        n_parts=lambda n_classes, n_targets: n_targets,
        n_stats=lambda n_classes, n_targets: n_classes,
        n_answers=lambda n_stats: n_stats,
        n_targets=lambda n_stats: 1,
        weight=_class_weight,
        answers=_posteriors,
        values=_labels,
        joined=np.add,
        variance=_gini,
        of_target=_classes_of,
    ),
    "regression": Task(
        main="rmse",
        has_classes=False,
        n_slots=lambda n_classes, n_targets: 1 + n_targets,
        n_parts=lambda n_classes, n_targets: 1 + n_targets,
        n_stats=lambda n_classes, n_targets: 1 + 2 * n_targets,
        n_answers=_n_targets,
        n_targets=_n_targets,
        weight=lambda stats: stats[:, 0],
        answers=_numbers,
        values=lambda stats: np.ascontiguousarray(stats[:, 1]),
        joined=_joined_moments,
        variance=lambda stats: variances(stats)[:, 0],
        of_target=_moments_of,
    ),
}
TASKS["density"] = TASKS["regression"]._replace(
    main="log_likelihood",
    n_targets=lambda n_stats: 1,  # all columns together
    of_target=lambda stats, target, classes_each=(): stats,
    of_features=True,
    criteria=("gaussian_diagonal", "gaussian"),
)


def require_task(name: str) -> None:
    """Raise ValueError unless there is such a task."""
    if name not in TASKS:
        raise ValueError(f"task is one of {', '.join(map(repr, TASKS))}, not {name!r}")

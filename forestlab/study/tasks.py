"""What the study has to know of a task: a row a task, beside that of `core.tasks.TASKS`.

In squares a class is a vector with a 1 in its own place, so that the variance of a posterior is its
Gini impurity, and a squared error is Brier's score.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.core.tasks import TASKS, variances
from forestlab.study.metrics import Outcome


class Studied(NamedTuple):
    """Of n rows: `answers` are (n, K) posteriors or (n, 1) means, `truth` (n,) class codes, -1 for
    a class that training did not see, or numbers; a row without voters has no answer."""

    has_classes: bool
    n_classes: Callable[[int], int]  # by the number of answers
    # One row's answer and error.
    predicted: Callable[[np.ndarray], np.ndarray]  # answers → (n,) class codes, or means
    errors: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # answers, truth, voters
    error_name: str
    # The loss by which errors of forests are added up, and its mean's last step.
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray]  # answers, truth → (n,)
    finish: Callable[[np.ndarray], np.ndarray]
    loss_name: str
    # What metrics are made of.
    origin: Callable[[np.ndarray], float]  # truth → a number to sum squares from
    outcome: Callable[[np.ndarray, int, int, float], Outcome]  # truth, depths, classes, origin
    # In squares.
    known: Callable[[np.ndarray], np.ndarray]  # truth → (n,) bool: can be learned from
    # Each node's answer, and the mean square of how far its rows are from it.
    of_nodes: Callable[[Forest], tuple[np.ndarray, np.ndarray]]
    squares: Callable[[np.ndarray, np.ndarray], np.ndarray]  # answers, truth → squared error
    halves: Callable[[np.ndarray], np.ndarray]  # differences of targets → half their squares
    # Each tree's answer, by (n_trees, n) leaves and what is predicted.
    by_tree: Callable[[Forest, np.ndarray, np.ndarray], np.ndarray]


# ---- classes -----------------------------------------------------------------------------------


def _class_of(answers: np.ndarray) -> np.ndarray:
    return answers.argmax(axis=1)


def _wrong(answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return _class_of(answers) != truth


def _wrong_classes(answers: np.ndarray, truth: np.ndarray, voters: np.ndarray) -> np.ndarray:
    """1 where the class is wrong, NaN without voters."""
    return np.where(voters > 0, _wrong(answers, truth), np.nan)


def _class_outcome(truth: np.ndarray, n_depths: int, n_classes: int, origin: float) -> Outcome:
    answer = np.empty((n_depths, len(truth)), np.int64)
    p_true, brier = np.empty((2, n_depths, len(truth)))
    return Outcome(truth, answer, p_true, brier, n_classes, origin)


def _posteriors_of(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors and Gini impurities."""
    p = forest.stats / forest.nodes["weight"][:, None]
    return p, 1.0 - (p**2).sum(axis=1)


def _brier(p: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return 1.0 - 2.0 * p[np.arange(len(truth)), truth] + (p**2).sum(axis=1)


def _probability_by_tree(forest: Forest, leaves: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Of the class that the forest predicts."""
    return forest.stats[leaves, predicted] / forest.nodes["weight"][leaves]


# ---- numbers -----------------------------------------------------------------------------------


def _mean_of(answers: np.ndarray) -> np.ndarray:
    return answers[:, 0]


def _squares(answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (answers[:, 0] - truth) ** 2


def _absolute(answers: np.ndarray, truth: np.ndarray, voters: np.ndarray) -> np.ndarray:
    return np.abs(answers[:, 0] - truth)


def _number_outcome(truth: np.ndarray, n_depths: int, n_classes: int, origin: float) -> Outcome:
    answer, nothing = np.empty((n_depths, len(truth))), np.empty((0, len(truth)))
    return Outcome(truth, answer, nothing, nothing, n_classes, origin)


def _numbers_of(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Where a node answers its mean, that is the variance."""
    answers, apart = TASKS["regression"].answers(forest.stats), variances(forest.stats)[:, 0]
    if forest.means.shape[1]:
        apart = apart + (forest.means - answers)[:, 0] ** 2
    return answers, apart


# ---- the table ---------------------------------------------------------------------------------

STUDIED: dict[str, Studied] = {
    "classification": Studied(
        has_classes=True,
        n_classes=lambda n_answers: n_answers,
        predicted=_class_of,
        errors=_wrong_classes,
        error_name="error",
        loss=_wrong,
        finish=lambda mean: mean,
        loss_name="error",
        origin=lambda truth: 0.0,
        outcome=_class_outcome,
        known=lambda truth: truth >= 0,
        of_nodes=_posteriors_of,
        squares=_brier,
        halves=lambda apart: (apart != 0).astype(np.float64),
        by_tree=_probability_by_tree,
    ),
    "regression": Studied(
        has_classes=False,
        n_classes=lambda n_answers: 0,
        predicted=_mean_of,
        errors=_absolute,
        error_name="|error|",
        loss=_squares,
        finish=np.sqrt,
        loss_name="rmse",
        origin=lambda truth: float(np.mean(truth)),
        outcome=_number_outcome,
        known=lambda truth: np.ones(len(truth), bool),
        of_nodes=_numbers_of,
        squares=_squares,
        halves=lambda apart: apart**2 / 2.0,
        by_tree=lambda forest, leaves, predicted: forest.stats[leaves, 1],
    ),
}

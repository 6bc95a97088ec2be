"""What the study has to know of a task: a row a task, beside that of `core.tasks.TASKS`.

In squares a class is a vector with a 1 in its own place, so that the variance of a posterior is its
Gini impurity, and a squared error is Brier's score.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.core.running import answer_depths
from forestlab.core.tasks import TASKS, variances
from forestlab.forest import (
    Asked,
    AskedDensity,
    Grown,
    Path,
    Reached,
    combined,
    log_densities_of,
)
from forestlab.study.columns import Columns, class_columns, density_columns, number_columns
from forestlab.study.metrics import Outcome
from forestlab.study.walks import (
    AnswersWalk,
    Block,
    LogDensities,
    Walk,
    outcome_of_answers,
    outcome_of_densities,
)


def _no_targets(*given) -> Any:
    raise ValueError("there are no targets to compare answers with")


class Studied(NamedTuple):
    """Of n rows: `answers` are (n, K) posteriors, (n, 1) means or logarithms of densities, `truth`
    (n,) class codes, -1 for a class that training did not see, or numbers; a row without voters has
    no answer."""

    # A row's answer, and how far it is from the truth.
    predicted: Callable[[np.ndarray], np.ndarray]  # answers → (n,) class codes, or numbers
    errors: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # answers, truth, voters
    columns: Callable[..., Columns]  # surface, names of classes → the rows of a table
    # What metrics are made of, and the walks that find it.
    origin: Callable[[np.ndarray], float]  # truth → a number to sum squares from
    # A forest, to be asked at so many depths and along the paths of rules.
    ready: Callable[[Grown, int, Sequence[Path]], Any]
    walk: Callable[[Any, Block], Walk]  # what was made ready, rows → their way through the trees
    answered: Callable[..., tuple[np.ndarray, np.ndarray]]  # forest, X, threads → answers, voters
    judged: Callable[[np.ndarray, np.ndarray, float], Outcome]  # answers, truth, origin
    # The rest goes by targets. The loss by which errors of forests are added up, and its mean's
    # last step.
    error_name: str = ""
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray] = _no_targets  # answers, truth → (n,)
    finish: Callable[[np.ndarray], np.ndarray] = _no_targets
    loss_name: str = ""
    # In squares.
    known: Callable[[np.ndarray], np.ndarray] = _no_targets  # truth → can be learned from, (n,)
    # Each node's answer, and the mean square of how far its rows are from it.
    of_nodes: Callable[[Forest], tuple[np.ndarray, np.ndarray]] = _no_targets
    squares: Callable[[np.ndarray, np.ndarray], np.ndarray] = _no_targets  # answers, truth → error
    halves: Callable[[np.ndarray], np.ndarray] = _no_targets  # differences → half their squares
    power: int = 0  # of the distance δ, with which targets of near rows come to differ
    # Each tree's answer, (n_trees, n), by where rows end and what is predicted.
    by_tree: Callable[[Forest, Reached, np.ndarray], np.ndarray] = _no_targets


def _ready(grown: Grown, n_depths: int, paths: Sequence[Path]) -> Asked:
    asked = grown.forest, grown.task, grown.combine, n_depths
    opens = [(path.opens, len(path.values)) for path in paths]
    return Asked(*asked, answer_depths(grown.forest, opens, n_depths) if opens else None)


def _answered(grown: Grown, X, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
    return combined(grown.forest, grown.task, grown.combine, X, None, n_jobs)


# ---- classes -----------------------------------------------------------------------------------


def _class_of(answers: np.ndarray) -> np.ndarray:
    return answers.argmax(axis=1)


def _wrong(answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return _class_of(answers) != truth


def _wrong_classes(answers: np.ndarray, truth: np.ndarray, voters: np.ndarray) -> np.ndarray:
    """1 where the class is wrong, NaN without voters."""
    return np.where(voters > 0, _wrong(answers, truth), np.nan)


def _class_room(truth: np.ndarray, n_depths: int, n_classes: int, origin: float) -> Outcome:
    answer = np.empty((n_depths, len(truth)), np.int64)
    p_true, brier = np.empty((2, n_depths, len(truth)))
    return Outcome(truth, answer, p_true, brier, n_classes, origin)


def _posteriors_of(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Posteriors and Gini impurities."""
    p = forest.stats / forest.nodes["weight"][:, None]
    return p, 1.0 - (p**2).sum(axis=1)


def _brier(p: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return 1.0 - 2.0 * p[np.arange(len(truth)), truth] + (p**2).sum(axis=1)


def _probability_by_tree(forest: Forest, leaves: Reached, predicted: np.ndarray) -> np.ndarray:
    """Of the class that the forest predicts."""

    def read(nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return forest.stats[nodes, predicted[rows]] / forest.nodes["weight"][nodes]

    return np.stack([leaves.mixed(t, read) for t in range(len(leaves.nodes))])


def _number_by_tree(forest: Forest, leaves: Reached, predicted: np.ndarray) -> np.ndarray:
    def read(nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return forest.stats[nodes, 1]

    return np.stack([leaves.mixed(t, read) for t in range(len(leaves.nodes))])


# ---- numbers -----------------------------------------------------------------------------------


def _mean_of(answers: np.ndarray) -> np.ndarray:
    return answers[:, 0]


def _squares(answers: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (answers[:, 0] - truth) ** 2


def _absolute(answers: np.ndarray, truth: np.ndarray, voters: np.ndarray) -> np.ndarray:
    return np.abs(answers[:, 0] - truth)


def _number_room(truth: np.ndarray, n_depths: int, n_answers: int, origin: float) -> Outcome:
    answer, nothing = np.empty((n_depths, len(truth))), np.empty((0, len(truth)))
    return Outcome(truth, answer, nothing, nothing, 0, origin)


def _numbers_of(forest: Forest) -> tuple[np.ndarray, np.ndarray]:
    """Where a node answers its mean, that is the variance."""
    answers, apart = TASKS["regression"].answers(forest.stats), variances(forest.stats)[:, 0]
    if forest.means.shape[1]:
        apart = apart + (forest.means - answers)[:, 0] ** 2
    return answers, apart


# ---- densities ---------------------------------------------------------------------------------


def _ready_density(grown: Grown, n_depths: int, paths: Sequence[Path]) -> AskedDensity:
    """There are no walks along the paths of rules."""
    assert grown.normals is not None
    return AskedDensity(grown.forest, grown.normals, n_depths)


def _densities(grown: Grown, X, n_jobs: int) -> tuple[np.ndarray, np.ndarray]:
    assert grown.normals is not None
    found = log_densities_of(grown.forest, grown.normals, X, None, n_jobs)
    return found[:, None], np.full(len(X), grown.n_trees)


# ---- the table ---------------------------------------------------------------------------------

STUDIED: dict[str, Studied] = {
    "classification": Studied(
        predicted=_class_of,
        errors=_wrong_classes,
        error_name="error",
        loss=_wrong,
        finish=lambda mean: mean,
        loss_name="error",
        origin=lambda truth: 0.0,
        columns=class_columns,
        ready=_ready,
        walk=partial(AnswersWalk, _class_room),
        answered=_answered,
        judged=partial(outcome_of_answers, "classification", _class_room),
        known=lambda truth: truth >= 0,
        of_nodes=_posteriors_of,
        squares=_brier,
        halves=lambda apart: (apart != 0).astype(np.float64),
        # Of digits with a tenth of the labels replaced (Gini impurity 0.19) a line in δ leaves
        # 0.09, one in δ² 0.14 to 0.15, a sum of δ, δ² and δ³ between 0.09 and 0.16 as forests go.
        power=2,
        by_tree=_probability_by_tree,
    ),
    "regression": Studied(
        predicted=_mean_of,
        errors=_absolute,
        error_name="|error|",
        loss=_squares,
        finish=np.sqrt,
        loss_name="rmse",
        origin=lambda truth: float(np.mean(truth)),
        columns=number_columns,
        ready=_ready,
        walk=partial(AnswersWalk, _number_room),
        answered=_answered,
        judged=partial(outcome_of_answers, "regression", _number_room),
        known=lambda truth: np.ones(len(truth), bool),
        of_nodes=_numbers_of,
        squares=_squares,
        halves=lambda apart: apart**2 / 2.0,
        power=1,
        by_tree=_number_by_tree,
    ),
    "density": Studied(
        predicted=_mean_of,
        errors=lambda answers, truth, voters: -answers[:, 0],
        columns=density_columns,
        origin=lambda truth: 0.0,
        ready=_ready_density,
        walk=LogDensities,
        answered=_densities,
        judged=lambda answers, truth, origin: outcome_of_densities(answers.T, truth),
    ),
}

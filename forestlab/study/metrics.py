"""Metrics, each a function of what a forest answered at every depth.

An *outcome* keeps of the answers what every metric needs, a number a (depth, row), so that class
probabilities of all depths never have to be held at once. Rows that no tree answered for (training
rows that every bag holds) are left out by `voters`.

To add a metric: write a function of an outcome that returns a number a depth, and give it a row in
METRICS.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Outcome(NamedTuple):
    """Answers for n rows at D depths, beside the truth."""

    truth: np.ndarray  # (n,) numbers or class codes; -1 for a class that training did not see
    answer: np.ndarray  # (D, n) class codes or numbers
    p_true: np.ndarray  # (D, n) probability given to the true class; empty for regression
    brier: np.ndarray  # (D, n) squared distance of the probabilities from the truth; likewise
    n_classes: int
    voters: np.ndarray  # (n,) how many trees answered


def empty_outcome(truth: np.ndarray, n_depths: int, n_classes: int) -> Outcome:
    shape = (n_depths, len(truth))
    unused = (n_depths, len(truth) if n_classes else 0)
    answer = np.zeros(shape, np.int32 if n_classes else np.float64)
    return Outcome(
        truth, answer, np.zeros(unused), np.zeros(unused), n_classes, np.zeros(len(truth), np.int64)
    )


def note_answers(outcome: Outcome, rows: slice, answers: np.ndarray, voters: np.ndarray) -> None:
    """Write down a block of answers, (D, b, n_classes) probabilities or (D, b, 1) means."""
    outcome.voters[rows] = voters
    if not outcome.n_classes:
        outcome.answer[:, rows] = answers[..., 0]
        return
    truth = outcome.truth[rows].astype(np.intp)
    p_true = np.take_along_axis(answers, truth[None, :, None], axis=2)[..., 0]
    p_true = np.where(truth >= 0, p_true, 0.0)
    outcome.answer[:, rows] = answers.argmax(axis=2)
    outcome.p_true[:, rows] = p_true
    # Σ (p - truth)² = Σ p² - 2 p_true + 1
    outcome.brier[:, rows] = np.einsum("dbk,dbk->db", answers, answers) - 2.0 * p_true + 1.0


def answered(outcome: Outcome) -> Outcome:
    """The rows that some tree answered for."""
    keep = outcome.voters > 0
    if keep.all():
        return outcome
    classes = bool(outcome.n_classes)
    return outcome._replace(
        truth=outcome.truth[keep],
        answer=outcome.answer[:, keep],
        p_true=outcome.p_true[:, keep] if classes else outcome.p_true,
        brier=outcome.brier[:, keep] if classes else outcome.brier,
        voters=outcome.voters[keep],
    )


# ---- classification ----------------------------------------------------------------------------


def accuracy(outcome: Outcome) -> np.ndarray:
    return (outcome.answer == outcome.truth).mean(axis=1)


def balanced_accuracy(outcome: Outcome) -> np.ndarray:
    """Mean over the classes present of the share of their rows that are right."""
    right = outcome.answer == outcome.truth
    truth = outcome.truth.astype(np.intp)
    present = np.unique(truth)
    return np.mean([right[:, truth == k].mean(axis=1) for k in present], axis=0)


def log_loss(outcome: Outcome) -> np.ndarray:
    """Mean of -ln p(true class), p kept above the float's ε as scikit-learn does."""
    return -np.log(np.maximum(outcome.p_true, np.finfo(float).eps)).mean(axis=1)


def brier(outcome: Outcome) -> np.ndarray:
    """Brier's own score (1950): the sum over classes of (p - truth)², 0 … 2."""
    return outcome.brier.mean(axis=1)


# ---- regression --------------------------------------------------------------------------------


def rmse(outcome: Outcome) -> np.ndarray:
    return np.sqrt(((outcome.answer - outcome.truth) ** 2).mean(axis=1))


def mae(outcome: Outcome) -> np.ndarray:
    return np.abs(outcome.answer - outcome.truth).mean(axis=1)


def r2(outcome: Outcome) -> np.ndarray:
    """Share of the variance explained; NaN where the truth does not vary."""
    residual = ((outcome.answer - outcome.truth) ** 2).sum(axis=1)
    total = ((outcome.truth - outcome.truth.mean()) ** 2).sum()
    return 1.0 - residual / total if total > 0 else np.full(len(residual), np.nan)


# ---- the table ---------------------------------------------------------------------------------


class Metric(NamedTuple):
    task: str
    function: Callable[[Outcome], np.ndarray]
    higher_is_better: bool


METRICS: dict[str, Metric] = {
    "accuracy": Metric("classification", accuracy, True),
    "balanced_accuracy": Metric("classification", balanced_accuracy, True),
    "log_loss": Metric("classification", log_loss, False),
    "brier": Metric("classification", brier, False),
    "rmse": Metric("regression", rmse, False),
    "mae": Metric("regression", mae, False),
    "r2": Metric("regression", r2, True),
}
MAIN = {"classification": "accuracy", "regression": "rmse"}


def measure(outcome: Outcome, task: str) -> dict[str, np.ndarray]:
    """Every metric of a task, each an array over depth; NaN if no row was answered."""
    outcome = answered(outcome)
    rows = {name: metric for name, metric in METRICS.items() if metric.task == task}
    if not len(outcome.truth):
        return {name: np.full(len(outcome.answer), np.nan) for name in rows}
    return {name: metric.function(outcome) for name, metric in rows.items()}

"""How the rows of the judged split come off at every cell: which classes are taken for which, how
far confidences can be trusted, and of some rows all that is answered."""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from forestlab.report.answers import at_every_cell, numbers_at_cells, spreads_at_cells
from forestlab.report.packing import floats, numbers, shares, smallest
from forestlab.report.subject import Grid, Subject
from forestlab.study.calibration import N_BINS, bins_of
from forestlab.study.rows import evenly

MOST_JUDGED = 10_000  # rows that are asked about
MOST_CLASSES = 10  # whose probabilities are told of a row: those that it is given most of


class Sums(NamedTuple):
    """Over rows, at every cell; of confidences by bins, as `study.calibration` has them."""

    confusion: np.ndarray  # (S, D, K, K) rows by true and predicted class
    rows: np.ndarray  # (S, D, B)
    confidence: np.ndarray  # (S, D, B)
    right: np.ndarray  # (S, D, B)


def judged_rows(subject: Subject) -> np.ndarray:
    """The rows of the judged split that are asked about."""
    return evenly(len(subject.data[subject.judged][0]), MOST_JUDGED)


# ---- classes -----------------------------------------------------------------------------------


def class_outcomes(subject: Subject, kept: np.ndarray) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a page is told of all judged rows, and of those kept, which are numbers among them."""
    X, truth = (part[judged_rows(subject)] for part in subject.data[subject.judged])
    sums, posteriors = _asked(subject, X, truth, kept)
    told: dict[str, Any] = {
        "n_rows": len(X),
        "bins": {
            "rows": smallest(sums.rows),
            "confidence": floats(sums.confidence),
            "right": smallest(sums.right),
        },
    }
    if sums.confusion.size:
        told["confusion"] = smallest(sums.confusion)
    return told, _told_posteriors(posteriors, truth[kept])


def _asked(
    subject: Subject, X: np.ndarray, truth: np.ndarray, kept: np.ndarray
) -> tuple[Sums, np.ndarray]:
    grid, n_classes = subject.grid, subject.grown.n_answers
    shape = len(grid.sizes), len(grid.depths)
    fits = grid.n_cells * n_classes**2 <= subject.room.confusion
    sums = Sums(
        np.zeros((*shape, n_classes, n_classes) if fits else 0, np.int64),
        *np.zeros((3, *shape, N_BINS)),
    )
    place = np.full(len(X), -1)
    place[kept] = np.arange(len(kept))
    posteriors = np.empty((len(kept), n_classes, *shape), np.float32)
    lock = Lock()

    def note(rows: slice, s: int, answers: np.ndarray) -> None:
        with lock:
            _add(sums, s, answers, truth[rows])
        here = place[rows] >= 0
        posteriors[place[rows][here], :, s] = answers[:, here].transpose(1, 2, 0)

    at_every_cell(subject.grown, X, grid, note, subject.n_jobs)
    return sums, posteriors


def _add(sums: Sums, s: int, answers: np.ndarray, truth: np.ndarray) -> None:
    """Add a block of rows, at all depths of one number of trees; (D, b, K) answers."""
    n_depths, _, n_classes = answers.shape
    top, confidence = answers.argmax(axis=2), answers.max(axis=2)
    depth = np.arange(n_depths)[:, None]
    bins = bins_of(confidence, N_BINS) + N_BINS * depth
    each = n_depths * N_BINS
    sums.rows[s] += np.bincount(bins.ravel(), None, each).reshape(n_depths, -1)
    sums.confidence[s] += np.bincount(bins.ravel(), confidence.ravel(), each).reshape(n_depths, -1)
    sums.right[s] += np.bincount(bins[top == truth], None, each).reshape(n_depths, -1)
    if sums.confusion.size:
        known = truth >= 0  # others have no place in it
        cells = (depth * n_classes + truth[known]) * n_classes + top[:, known]
        counts = np.bincount(cells.ravel(), None, n_depths * n_classes**2)
        sums.confusion[s] += counts.reshape(n_depths, n_classes, n_classes)


def _told_posteriors(posteriors: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Of each row the classes that it is given most of, its own among them, and at every cell their
    probabilities, the predicted class, and the probability of that."""
    weight = posteriors.mean(axis=(2, 3))
    known = np.flatnonzero(truth >= 0)
    weight[known, truth[known]] = np.inf
    n_told = min(posteriors.shape[1], MOST_CLASSES)
    order = np.argsort(-weight, axis=1, kind="stable")[:, :n_told]
    classes = np.sort(order, axis=1)
    told = np.take_along_axis(posteriors, classes[:, :, None, None], axis=1)
    return {
        "classes": smallest(classes),
        "posteriors": shares(told),
        "predicted": smallest(posteriors.argmax(axis=1)),
        "top": shares(posteriors.max(axis=1)),
    }


def bytes_of_classes(grid: Grid, n_classes: int) -> int:
    """How much a row takes."""
    return (min(n_classes, MOST_CLASSES) + 2) * grid.n_cells


# ---- numbers -----------------------------------------------------------------------------------


def number_outcomes(subject: Subject, kept: np.ndarray) -> dict[str, Any]:
    """What a page is told of some judged rows: their answers, and of a regression the spreads."""
    X = subject.data[subject.judged][0][judged_rows(subject)][kept]
    asked = subject.grown, X, subject.grid, subject.n_jobs
    told = {"answers": numbers(numbers_at_cells(*asked))}
    if subject.findings.task == "regression":
        between, total = spreads_at_cells(*asked)
        told |= {"between": numbers(between), "total": numbers(total)}
    return told


def bytes_of_numbers(grid: Grid) -> int:
    return 6 * grid.n_cells

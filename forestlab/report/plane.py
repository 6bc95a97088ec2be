"""What a forest answers where there are no rows: along one feature, or over the plane of two, at
every cell of depth × number of trees."""

from typing import Any

import numpy as np

from forestlab.report.answers import at_every_cell, numbers_at_cells, spreads_at_cells
from forestlab.report.packing import SHARES, brief, floats, numbers, shares
from forestlab.report.subject import Subject
from forestlab.study.plane import grid_of, has_range
from forestlab.study.rows import evenly

POINTS = 200  # along one feature
MOST_PIXELS, LEAST_PIXELS = 100, 16  # on each side
DENSITY_PIXELS = 64  # densities are asked for by numpy, tree by tree and depth by depth
MOST_TRAINING = 500  # training rows that are drawn
MOST_CLASSES = 12  # that can be told apart by their colours


def told_plane(subject: Subject) -> dict[str, Any] | None:
    """None if there are other features than one or two of numbers, or too many classes."""
    has_classes = subject.findings.has_classes
    if subject.n_features not in (1, 2) or not has_range(subject):
        return None
    if has_classes and subject.grown.n_answers > MOST_CLASSES:
        return None
    told = _along(subject) if subject.n_features == 1 else _over(subject)
    names = [brief(name) for name in subject.about.features]
    return told and told | {"names": names, "training": _training(subject)}


def _training(subject: Subject) -> dict[str, Any]:
    X, truth = subject.data["train"]
    some = evenly(len(X), MOST_TRAINING)
    told: dict[str, Any] = {"X": floats(X[some]), "n_all": len(X)}
    if subject.findings.task == "density":
        return told
    return told | {"truth": floats(truth[some])}


# ---- one feature -------------------------------------------------------------------------------


def _along(subject: Subject) -> dict[str, Any] | None:
    """Of numbers the mean, with its spreads; of classes their probabilities."""
    X = subject.data["train"][0]
    x = np.linspace(np.nanmin(X), np.nanmax(X), POINTS)
    asked = subject.grown, x[:, None], subject.grid, subject.n_jobs
    told: dict[str, Any] = {"kind": "along", "x": floats(x)}
    if subject.findings.has_classes:
        return told | {"posteriors": shares(_posteriors(subject, x[:, None]))}
    told["answers"] = numbers(numbers_at_cells(*asked))
    if subject.findings.task == "regression":
        between, total = spreads_at_cells(*asked)
        told |= {"between": numbers(between), "total": numbers(total)}
    return told


def _posteriors(subject: Subject, X: np.ndarray) -> np.ndarray:
    """(n, K, S, D)"""
    grid = subject.grid
    shape = len(X), subject.grown.n_answers, len(grid.sizes), len(grid.depths)
    found = np.empty(shape, np.float32)

    def note(rows: slice, s: int, answers: np.ndarray) -> None:
        found[rows, :, s] = answers.transpose(1, 2, 0)

    at_every_cell(subject.grown, X, grid, note, subject.n_jobs)
    return found


# ---- two features ------------------------------------------------------------------------------


def _over(subject: Subject) -> dict[str, Any] | None:
    """Pixels, line by line from the bottom: of classes the greatest, with its probability; else the
    number."""
    most = MOST_PIXELS if subject.findings.task != "density" else DENSITY_PIXELS
    side = min(int(np.sqrt(subject.room.plane / (2 * subject.grid.n_cells))), most)
    if side < LEAST_PIXELS:
        return None
    middles, extent = grid_of(subject.data["train"][0], side)
    told: dict[str, Any] = {"kind": "over", "side": side, "extent": list(extent)}
    if not subject.findings.has_classes:
        found = numbers_at_cells(subject.grown, middles, subject.grid, subject.n_jobs)
        # A page shows one cell at a time, as a picture.
        return told | {"answers": numbers(np.moveaxis(found, 0, 2))}
    return told | _regions(subject, middles)


def _regions(subject: Subject, middles: np.ndarray) -> dict[str, Any]:
    grid = subject.grid
    shape = len(grid.sizes), len(grid.depths), len(middles)
    classes, top = np.empty(shape, np.uint8), np.empty(shape, np.uint8)

    def note(rows: slice, s: int, answers: np.ndarray) -> None:
        classes[s, :, rows] = answers.argmax(axis=2)
        # 26 shades tell the eye as much, and compress to half.
        step = SHARES // 25
        top[s, :, rows] = (shares(answers.max(axis=2)) + step // 2) // step * step

    at_every_cell(subject.grown, middles, grid, note, subject.n_jobs)
    return {"classes": classes, "top": top}

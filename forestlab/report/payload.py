"""All that a page of a run is told, as plain values and arrays: of each target what is shown of it,
and what was left out, in words."""

from typing import Any, NamedTuple

import numpy as np

from forestlab.forest import Grown
from forestlab.report.packing import brief, floats
from forestlab.report.plane import told_plane
from forestlab.report.rows import told_rows
from forestlab.report.subject import Room, Subject, grid_of
from forestlab.report.trees import told_trees
from forestlab.study.metrics import METRICS
from forestlab.study.part import About, Findings

MOST_TARGETS = 12

Data = dict[str, tuple[np.ndarray, np.ndarray]]  # by split: X and y


class Words(NamedTuple):
    """How a metric is called, its unit, and how it is read."""

    name: str
    unit: str
    reading: str


def payload(
    grown: Grown,
    data: Data,
    findings: Findings,
    about: About,
    room: Room | None = None,
    n_jobs: int = 1,
) -> dict[str, Any]:
    """What a page is told of a run whose study was full.

    Parameters
    ----------
    data : by split X and y, as the study was given them
    room : for the content; None: the usual
    """
    room = room or Room()
    coded = {split: (X, grown.codes(y)) for split, (X, y) in data.items() if len(y)}
    if not findings.by_target:
        told = [
            _of_one("", Subject(grown, coded, findings, about, grid_of(findings), room, n_jobs))
        ]
        return {"title": about.title, "targets": told, "notes": []}
    names = list(findings.by_target)
    shown = names[:MOST_TARGETS]
    told = [_surfaces("all targets, mean", findings, about)]
    told[0]["notes"].append("Rows and trees are shown target by target: choose one at the top.")
    for k, name in enumerate(shown):
        own = {split: (X, np.ascontiguousarray(y[:, k])) for split, (X, y) in coded.items()}
        of_target = findings.by_target[name]
        about_it, each = about.of_target(name), room.shared(len(shown))
        forest = grown.of_target(k)
        subject = Subject(forest, own, of_target, about_it, grid_of(of_target), each, n_jobs)
        told.append(_of_one(name, subject))
    left = len(names) - len(shown)
    notes = [f"Of {len(names)} targets the last {left} are left out, for room."] if left else []
    return {"title": about.title, "targets": told, "notes": notes}


def _of_one(name: str, subject: Subject) -> dict[str, Any]:
    """What is shown of one target."""
    told = _surfaces(name, subject.findings, subject.about)
    told |= {"combine": subject.grown.combine, "branches": subject.grown.recipe.missing == "both"}
    of_rows, kept = told_rows(subject)
    told |= of_rows
    plane = told_plane(subject)
    if plane is not None:
        told["plane"] = plane
    told["trees"] = told_trees(subject, subject.data[subject.judged][0][kept.places])
    told["notes"] += _left_out(subject, told)
    return told


def _surfaces(name: str, findings: Findings, about: About) -> dict[str, Any]:
    """Names, the grid, and every metric on it."""
    grid, chosen = grid_of(findings), findings.parts.get("chosen")
    metrics = [key for key, row in METRICS.items() if row.task == findings.task]
    own = findings.classes if findings.classes and not findings.by_target else []
    return {
        "name": name,
        "task": findings.task,
        "classes": [brief(label, 40) for label in own],
        "sizes": grid.sizes.astype(np.uint32),
        "depths": grid.depths.astype(np.uint32),
        "metrics": [
            {"key": key, "higher": METRICS[key].higher_is_better, **_words(key)._asdict()}
            for key in metrics
        ],
        "main": findings.main,
        "splits": {split: len(about.rows["train" if split == "oob" else split])
                   for split in findings.surfaces},
        "surfaces": {
            split: {key: floats(found.values[key][:, grid.depths]) for key in metrics}
            for split, found in findings.surfaces.items()
        },
        "chosen": None if chosen is None else {"depth": chosen.depth, "split": chosen.split},
        "notes": _thinned(grid),
    }  # fmt: skip


def _words(key: str) -> Words:
    return WORDS.get(key, Words(key.replace("_", " ").capitalize(), "", ""))


# ---- what was left out -------------------------------------------------------------------------


def _thinned(grid) -> list[str]:
    if len(grid.depths) == grid.n_depths:
        return []
    return [
        f"Of {grid.n_depths} depths {len(grid.depths)} can be chosen: all of the first, and some "
        "of those further down."
    ]


def _left_out(subject: Subject, told: dict[str, Any]) -> list[str]:
    """Sentences, each on one thing that there was no room for."""
    notes = _of_rows(subject, told)
    trees = told["trees"]
    n_told = len(trees["first"]) - 1
    if n_told < trees["n_all"]:
        notes.append(f"Of {trees['n_all']} trees the first {n_told} can be walked through.")
    if trees["left_out"][0]:
        notes.append(
            f"{trees['left_out'][0]} nodes of the lower levels of the first tree are left out."
        )
    if subject.n_features <= 2 and "plane" not in told:
        notes.append("Nothing is drawn over the features: they are not numbers, or classes are "
                     "too many to tell apart.")  # fmt: skip
    return notes


def _of_rows(subject: Subject, told: dict[str, Any]) -> list[str]:
    rows, notes = told["rows"], []
    if rows["split"] == "train":
        notes.append("There are no rows of validation or test: those shown are training rows, "
                     "which the trees know.")  # fmt: skip
    n, n_all, n_asked = len(rows["even"]), rows["n_all"], rows["n_asked"]
    if n_asked < n_all:
        notes.append(f"{n_asked} of {n_all} {rows['split']} rows, evenly spaced, are judged here; "
                     "metrics are of all.")  # fmt: skip
    if n < n_asked:
        notes.append(f"{n} of {n_asked} {rows['split']} rows are listed: half of them evenly "
                     "spaced, half those that the forest gets most wrong.")  # fmt: skip
    if len(rows["features"]["columns"]) < subject.n_features:
        notes.append(f"Of a row the {len(rows['features']['columns'])} features are told that "
                     f"nodes ask most, of {subject.n_features}.")  # fmt: skip
    if subject.findings.has_classes and "confusion" not in told["judged"]:
        notes.append(f"The confusion of {subject.grown.n_answers} classes at every depth and "
                     "number of trees is too large.")  # fmt: skip
    return notes


# ---- words -------------------------------------------------------------------------------------

TARGET = "that of the target"

WORDS: dict[str, Words] = {
    "accuracy": Words("Accuracy", "share of rows, 0 to 1", "rows whose class is right"),
    "balanced_accuracy": Words(
        "Balanced accuracy", "share, 0 to 1", "the mean over classes of the share of right rows"
    ),
    "f1": Words("F1", "0 to 1", "the mean over classes of F1, of precision and recall"),
    "log_loss": Words("Log loss", "nats a row", "what the true class's probability costs"),
    "brier": Words("Brier score", "0 to 2", "squared distance of probabilities from the truth"),
    "rmse": Words("RMSE", TARGET, "root of the mean squared error"),
    "mae": Words("MAE", TARGET, "mean absolute error"),
    "r2": Words("R²", "share of the variance, up to 1", "what of the target is explained"),
    "log_likelihood": Words("Log-likelihood", "nats a row", "the mean log density of the rows"),
}

"""The rows that a page lists: which, their features, and what is answered for them."""

from typing import Any

import numpy as np

from forestlab.report.outcomes import (
    bytes_of_classes,
    bytes_of_numbers,
    class_outcomes,
    judged_rows,
    number_outcomes,
)
from forestlab.report.packing import brief, floats, smallest
from forestlab.report.subject import Subject
from forestlab.study.rows import evenly

MOST_ROWS = 1000
MOST_HELD = 25_000_000  # probabilities of these rows in memory, at all cells and of all classes
MOST_LEVELS = 1000  # of a category, whose names are told


class Kept:
    """Rows of the judged split, of those that are asked about: half of them evenly spaced, half
    those that the forest gets most wrong, or all if there is room."""

    def __init__(self, subject: Subject):
        most = _most_rows(subject)
        asked, worst = judged_rows(subject), _worst_first(subject)
        if len(asked) <= most:
            self.numbers, self.even = np.arange(len(asked)), np.ones(len(asked), bool)
        else:
            even = evenly(len(asked), most - most // 2)
            rest = worst[~np.isin(worst, even)][: most // 2]
            self.numbers = np.sort(np.concatenate([even, rest]))
            self.even = np.isin(self.numbers, even)
        self.asked = asked
        self.places = asked[self.numbers]  # among all rows of the split


def _most_rows(subject: Subject) -> int:
    n_answers, grid = subject.grown.n_answers, subject.grid
    has_classes = subject.findings.has_classes
    each = bytes_of_classes(grid, n_answers) if has_classes else bytes_of_numbers(grid)
    if subject.about.image_shape is not None:
        each += subject.n_features
    most = subject.room.rows // each
    if has_classes:
        most = min(most, MOST_HELD // (grid.n_cells * n_answers))
    return int(np.clip(most, 10, MOST_ROWS))


def _worst_first(subject: Subject) -> np.ndarray:
    """The rows that are asked about: wrong ones first, then unsure ones; by their error if answers
    are numbers; of a density the least likely first."""
    surface, some = subject.findings.surfaces[subject.judged], judged_rows(subject)
    if not subject.findings.has_classes:
        return np.argsort(-surface.errors[some], kind="stable")
    answers, truth = surface.answers[some].copy(), surface.truth[some]
    known = np.flatnonzero(truth >= 0)
    own = np.zeros(len(some))
    own[known] = answers[known, truth[known]]
    answers[known, truth[known]] = 0.0
    return np.argsort(own - answers.max(axis=1, initial=0.0), kind="stable")


def told_rows(subject: Subject) -> tuple[dict[str, Any], Kept]:
    """What a page is told of the rows that it lists, and of all that were judged."""
    kept = Kept(subject)
    X, truth = (part[kept.places] for part in subject.data[subject.judged])
    rows: dict[str, Any] = {
        "split": subject.judged,
        "n_all": len(subject.data[subject.judged][0]),
        "n_asked": len(kept.asked),
        "numbers": smallest(np.asarray(subject.about.rows[subject.judged])[kept.places]),
        "even": kept.even.astype(np.uint8),
        "features": _features(subject, X),
    }
    told: dict[str, Any] = {"rows": rows}
    if subject.findings.has_classes:
        rows["truth"] = truth.astype(np.int32)
        told["judged"], answers = class_outcomes(subject, kept.numbers)
    else:
        answers = number_outcomes(subject, kept.numbers)
        if subject.findings.task == "regression":
            rows["truth"] = floats(truth)
    rows["answers"] = answers
    return told, kept


# ---- features ----------------------------------------------------------------------------------


def _features(subject: Subject, X: np.ndarray) -> dict[str, Any]:
    """The rows' values: of some features, those asked most, if there are too many."""
    room = subject.room.rows // 4  # numbers
    most = room // max(len(X), 1)
    columns = np.arange(X.shape[1])
    if X.shape[1] > most and subject.about.image_shape is None:
        columns = np.sort(np.argsort(-_asked(subject), kind="stable")[: max(most, 1)])
    some = np.asarray(X[:, columns], np.float64)
    is_bytes = some.size > 0 and bool(((some >= 0) & (some < 256) & (some == np.floor(some))).all())
    return {
        "columns": smallest(columns),
        "names": [brief(subject.about.features[c]) for c in columns],
        "values": some.astype(np.uint8) if is_bytes else floats(some),
        "levels": _levels(subject, columns),
        "image": subject.about.image_shape and list(subject.about.image_shape),
    }


def _asked(subject: Subject) -> np.ndarray:
    """In how many nodes each feature is asked about by itself."""
    feature = subject.grown.forest.nodes["feature"]
    return np.bincount(feature[feature >= 0], minlength=subject.n_features)


def _levels(subject: Subject, columns: np.ndarray) -> dict[str, list[str]]:
    """By the number of the feature: names of its levels."""
    levels = subject.about.levels
    if levels is None:
        return {}
    named = {int(c): levels[c] for c in columns}
    return {
        str(c): [brief(level, 40) for level in own[:MOST_LEVELS]]
        for c, own in named.items()
        if own is not None
    }

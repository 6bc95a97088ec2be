"""The rows on which intervals, label sets and uncertainties are judged."""

from typing import NamedTuple

import numpy as np

from forestlab.forest import Reached, reached
from forestlab.study.part import Findings, Look, Number, Part, single
from forestlab.study.rows import evenly
from forestlab.study.uncertainty import Uncertainty


class Judged(NamedTuple):
    """Rows of a split, evenly spaced: m of them."""

    split: str
    truth: np.ndarray  # (m,)
    answers: np.ndarray  # (m, K) or (m, 1)
    predicted: np.ndarray  # (m,)
    errors: np.ndarray  # (m,)
    uncertainty: Uncertainty
    leaves: Reached  # where they end


def _find(look: Look) -> Judged | None:
    if look.judged is None:
        return None
    X, truth = look.data[look.judged]
    some, surface = evenly(len(X), look.most_rows), look.surfaces[look.judged]
    return Judged(
        look.judged,
        truth[some],
        surface.answers[some],
        surface.predicted[some],
        surface.errors[some],
        Uncertainty(*(part[some] for part in look.found["uncertainty"].of[look.judged])),
        reached(look.grown.forest, X[some], None, look.n_jobs),
    )


def _numbers(found: Judged, findings: Findings) -> list[Number]:
    return [single("rows_intervals", len(found.truth))]


PART = Part(
    level="full",
    find=_find,
    numbers=_numbers,
    metrics={"summary/rows_intervals": "of test, or else valid, that intervals are judged on"},
)

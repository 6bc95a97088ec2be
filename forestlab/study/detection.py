"""Does a measure of uncertainty tell where the errors are?"""

import numpy as np

from forestlab.study.coverage import error_detection, error_ranking
from forestlab.study.part import Findings, Look, Number, Part, single


def _find(look: Look) -> dict[str, float]:
    """By measure: for classes the chance that a wrong row is less sure than a right one; for
    numbers the rank correlation of uncertainty with the absolute error."""
    rows, jack = look.found["judged"], look.found.get("jackknife")
    measures = rows.uncertainty._asdict()
    if look.has_classes:
        measures["confidence"] = 1.0 - rows.answers.max(axis=1)
    if jack is not None:
        measures["jackknife"] = jack.corrected
    judge = error_detection if look.has_classes else error_ranking
    told = {name: values for name, values in measures.items() if np.isfinite(values).any()}
    return {name: judge(values, rows.errors) for name, values in told.items()}


def _numbers(found: dict[str, float], findings: Findings) -> list[Number]:
    return [single(f"detection_{measure}", value) for measure, value in found.items()]


PART = Part(
    level="full",
    applies=lambda look: "judged" in look.found,
    find=_find,
    numbers=_numbers,
    metrics={
        "summary/detection_MEASURE": "does a measure of uncertainty tell where the errors are?"
    },
    higher=("summary/detection",),
)

"""The depth that validation, or else out-of-bag rows, would choose."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from forestlab.core.prune import best_depth
from forestlab.core.tasks import TASKS
from forestlab.study.metrics import METRICS, Metric
from forestlab.study.part import Findings, Look, Number, Part, single


class Chosen(NamedTuple):
    split: str  # that chose it
    depth: int


def choose_depth(curves: Mapping[str, np.ndarray], metric: Metric) -> Chosen | None:
    """`best_depth` on validation, or else out of bag; None if neither can tell.

    `curves` are the metric's by split.
    """
    for split in ("valid", "oob"):
        depth = best_depth(curves.get(split, np.empty(0)), metric.higher_is_better)
        if depth is not None:
            return Chosen(split, depth)
    return None


def _find(look: Look) -> Chosen | None:
    main = TASKS[look.grown.task].main
    curves = {split: surface.values[main][-1] for split, surface in look.surfaces.items()}
    return choose_depth(curves, METRICS[main])


def _numbers(found: Chosen, findings: Findings) -> Iterator[Number]:
    yield single("chosen_depth", found.depth)
    for metric, curves in findings.curves.items():
        if "test" in curves:
            yield single(f"chosen_{metric}_test", curves["test"][found.depth])


PART = Part(
    level="light",
    targets="both",
    needs_targets=False,
    find=_find,
    numbers=_numbers,
    metrics={
        "summary/chosen_depth": "the least of the best depths on validation, or else out of bag",
        "summary/chosen_METRIC_test": "at that depth",
    },
)

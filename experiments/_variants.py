"""The five variants on many sets: what their table and their curves share.

Repeats are paired: in each, the five variants see the same split of the same rows. Made sets draw
their rows anew for each repeat; the others are split anew, so that their repeats share rows.

Differences are told in *points*: of accuracy, or hundredths of the tree's mean RMSE.
"""

import numpy as np
from numpy.typing import ArrayLike

from experiments import LoggedRun
from experiments._statistics import Measured, over_repeats
from forestlab.compare.statistics import overlap_of
from forestlab.core.tasks import TASKS
from forestlab.datasets import MADE

VARIANTS = ("tree", "bagging", "subspace", "forest", "rno")
OVERLAP = overlap_of(0.25, 0.25)  # of the sets that are split
A_POINT = "a point, of accuracy or a hundredth of RMSE, is the least that would matter"
ON_EACH = "on each set by the 95 % interval of its paired difference"


def is_made(name: str) -> bool:
    return name in MADE


def points(first: np.ndarray, second: np.ndarray, metric: str, unit: float) -> np.ndarray:
    """(n_repeats,) how much better the first is; `unit` is the tree's mean, of RMSE."""
    is_of_classes = metric == TASKS["classification"].main
    return 100.0 * (first - second if is_of_classes else (second - first) / unit)


def gained(better: ArrayLike, name: str) -> Measured:
    """Mean and interval of points over the repeats of a set."""
    return over_repeats(better, 0.0 if is_made(name) else OVERLAP)


def main_metric(run: LoggedRun) -> str:
    return next(task.main for task in TASKS.values() if f"{task.main}/test" in run.metrics)


def grouped(runs: list[LoggedRun]) -> dict[str, dict[str, list[LoggedRun]]]:
    """Runs by set and variant, in the order of repeats; sets of classes come first."""
    found: dict[str, dict[str, list[LoggedRun]]] = {}
    for run in sorted(runs, key=lambda run: (main_metric(run), run.params["dataset.split_seed"])):
        of_set = found.setdefault(run.params["dataset.name"], {name: [] for name in VARIANTS})
        of_set[run.params["model.name"]].append(run)
    return found

"""The five variants on many sets: what their table and their curves share.

Repeats are paired: in each, the five variants see the same split of the same rows.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from experiments import LoggedRun

VARIANTS = ("tree", "bagging", "subspace", "forest", "rno")
INTERVAL = 0.95
COUNTED = (
    "a set counts if the 95 % interval of the paired difference over its five repeats leaves out "
    "0 (t, 4 degrees of freedom)"
)


class Gain(NamedTuple):
    """How much better the first of two is, on average over repeats."""

    mean: float
    reach: float  # of the interval, to each side

    @property
    def sign(self) -> int:
        """1 if the first is better, -1 if it is worse, 0 if that cannot be told."""
        return int(np.sign(self.mean)) if abs(self.mean) > self.reach else 0


def gain(first: np.ndarray, second: np.ndarray, metric: str) -> Gain:
    """Of (n_repeats,) values; more accuracy is better, and less RMSE."""
    better = first - second if metric == "accuracy" else second - first
    quantile = stdtrit(len(better) - 1, 0.5 + INTERVAL / 2.0)
    return Gain(better.mean(), quantile * better.std(ddof=1) / np.sqrt(len(better)))


def main_metric(run: LoggedRun) -> str:
    return "accuracy" if "accuracy/test" in run.metrics else "rmse"


def grouped(runs: list[LoggedRun]) -> dict[str, dict[str, list[LoggedRun]]]:
    """Runs by set and variant, in the order of repeats; sets of classes come first."""
    found: dict[str, dict[str, list[LoggedRun]]] = {}
    for run in sorted(runs, key=lambda run: (main_metric(run), run.params["dataset.split_seed"])):
        of_set = found.setdefault(run.params["dataset.name"], {name: [] for name in VARIANTS})
        of_set[run.params["model.name"]].append(run)
    return found

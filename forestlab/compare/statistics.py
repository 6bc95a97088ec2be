"""What repeats say of the mean that they were drawn around.

The numbers are mostly differences: two variants that saw the same rows with the same seed are a
pair, and what the rows did to both is gone from their difference. The interval is Student's.

Repeats may *overlap*. If one data set is split anew each time, the training sets share rows, and so
do the test sets: the numbers are not independent, and their spread tells too little of how far the
mean may be off. Nadeau and Bengio ("Inference for the generalization error", Machine Learning 52,
2003) add to 1 / n, the share of one repeat, that of the rows tested on to those learnt from. More
repeats then narrow the interval only so far: what one data set does not know, no split of it tells.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

LEVEL = 0.95


class Sample(NamedTuple):
    """What n numbers say of the mean that they were drawn around; NaN for what they do not."""

    n: int
    mean: float = np.nan
    std: float = np.nan
    low: float = np.nan  # the confidence interval
    high: float = np.nan
    p: float = np.nan  # of a mean of 0


def student(
    values: np.ndarray, level: float = LEVEL, tolerance: float = 0.0, overlap: float = 0.0
) -> Sample:
    """Student's interval and test for the numbers among the values.

    Parameters
    ----------
    values : (n,) one a repeat; NaN where there is none
    level : of the interval
    tolerance : numbers that differ by no more are equal; then there is no test
    overlap : test rows over training rows, if repeats are splits of one data set; 0 if each repeat
        has rows of its own
    """
    values = np.asarray(values, np.float64)
    values = values[np.isfinite(values)]
    n = len(values)
    if n == 0:
        return Sample(0)
    mean = float(values.mean())
    if n == 1:
        return Sample(1, mean)
    if np.ptp(values) <= tolerance:
        return Sample(n, mean, 0.0, mean, mean)
    std = float(values.std(ddof=1))
    error = std * float(np.sqrt(1.0 / n + overlap))
    half = reach(error, n - 1, level)
    p = 2.0 * float(stats.t.sf(abs(mean) / error, n - 1))
    return Sample(n, mean, std, mean - half, mean + half, p)


def reach(error: float, freedom: float, level: float = LEVEL) -> float:
    """How far Student's interval goes to each side, by the standard error of the mean."""
    return float(stats.t.ppf((1.0 + level) / 2.0, freedom)) * error


def overlap_of(test_size: float, valid_size: float = 0.0) -> float:
    """Test rows over training rows: a share is for testing, one of the rest for validation."""
    return test_size / ((1.0 - test_size) * (1.0 - valid_size))


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's correction (1979): the smallest of m p-values times m, the next times m - 1, …"""
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return corrected

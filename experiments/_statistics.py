"""What repeats say of a number: its mean, an interval around it, and what was repeated.

All intervals have a level of 95 %: of a hundred such experiments, five would leave the truth out.
Which one fits depends on what is repeated:

    over_seeds       every repeat has rows, or a forest, of its own: Student's
    over_splits      repeats are splits of one data set, which share rows: Nadeau and Bengio's
    apart, contrast  groups of repeats that have no pairs: Welch's
    share            trials that hit or miss, such as trees: Clopper and Pearson's
    mean_square      numbers that theory has normal with variance 1: that of chi square
    by_theory        the standard error is known without looking at the repeats
    certain          nothing is random
    count            sets, each with a verdict of its own: those that hold, to those that may

A claim about one given data set, such as a number that a document has from it, is a claim about the
splits of that set: they are drawn independently, and `over_seeds` fits. A claim about a method, as
it would be on other rows of the same kind, needs `over_splits`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from forestlab.compare.statistics import LEVEL, Sample, reach, student

NORMAL = float(stats.norm.ppf((1.0 + LEVEL) / 2.0))


class Measured(NamedTuple):
    mean: float
    low: float
    high: float
    repeats: str  # how many of what

    def through(self, rising: Callable[[float], float]) -> "Measured":
        """The same of a rising function of the number."""
        mean, low, high = (float(rising(end)) for end in (self.mean, self.low, self.high))
        return Measured(mean, low, high, self.repeats)


def over_seeds(values: ArrayLike, what: str = "seeds") -> Measured:
    """The mean of independent numbers, or of differences between independent pairs."""
    return _told(student(np.asarray(values)), what)


def over_splits(values: ArrayLike, overlap: float) -> Measured:
    """The same of splits of one data set; `overlap` is test rows over training rows."""
    return _told(student(np.asarray(values), overlap=overlap), "splits that share rows")


def over_repeats(values: ArrayLike, overlap: float) -> Measured:
    """Of splits if they overlap, else of seeds."""
    return over_splits(values, overlap) if overlap else over_seeds(values)


def _told(sample: Sample, what: str) -> Measured:
    return Measured(sample.mean, sample.low, sample.high, f"{sample.n} {what}")


def moments(values: ArrayLike) -> Sample:
    """n, mean and std, for `apart` and `contrast`."""
    return student(np.asarray(values))


def apart(first: Sample, second: Sample, what: str = "seeds") -> Measured:
    """The first mean less the second."""
    return contrast([1.0, -1.0], [first, second], f"{first.n} and {second.n} {what}")


def contrast(weights: ArrayLike, samples: Sequence[Sample], repeats: str) -> Measured:
    """A weighted sum of means that were drawn apart, by n, mean and std of each.

    Each may spread by its own: degrees of freedom are those of Welch and Satterthwaite.
    """
    n, mean, std = np.array([sample[:3] for sample in samples]).T
    total = float(np.dot(weights, mean))
    parts = np.square(np.asarray(weights) * std) / n
    half = 0.0
    if parts.sum() > 0.0:
        freedom = parts.sum() ** 2 / (parts**2 / (n - 1.0)).sum()
        half = reach(float(np.sqrt(parts.sum())), float(freedom))
    return Measured(total, total - half, total + half, repeats)


def share(n_hits: int, n: int, what: str) -> Measured:
    """Of n independent trials."""
    interval = stats.binomtest(int(n_hits), int(n)).proportion_ci(LEVEL, "exact")
    return Measured(n_hits / n, float(interval.low), float(interval.high), f"{n} {what}")


def mean_square(values: ArrayLike, what: str) -> Measured:
    """The variance of independent normal numbers around 0."""
    squares = np.square(values)
    n = len(squares)
    least, most = stats.chi2.ppf([(1.0 - LEVEL) / 2.0, (1.0 + LEVEL) / 2.0], n)
    return Measured(
        float(squares.mean()),
        float(squares.sum() / most),
        float(squares.sum() / least),
        f"{n} {what}",
    )


def by_theory(mean: float, error: float, repeats: str) -> Measured:
    """A mean that is nearly normal, with a standard error from theory or from several sources."""
    return Measured(mean, mean - NORMAL * error, mean + NORMAL * error, repeats)


def certain(value: float) -> Measured:
    return Measured(value, value, value, "nothing is random")


def count(outcomes: Sequence[str], what: str = "sets") -> Measured:
    """How many verdicts hold, from those that do to those that are not ruled out."""
    held, undecided = (sum(each == word for each in outcomes) for word in ("held", "undecided"))
    return Measured(held, held, held + undecided, f"{len(outcomes)} {what}")

"""Does a classifier forest mean what it says: is it right in 8 of 10 rows that it gives 0.8?

Probabilities fall into bins of equal width, bin b of B holding b/B < p ≤ (b + 1)/B, the first one
0 too. The *top label* is the class of the greatest probability (the first of equal ones), which is
its *confidence*. The expected calibration error (Naeini et al. 2015; Guo et al. 2017) is the mean
over the rows of how far their bin's share of right rows is from its mean confidence.

Brier's score falls into parts (Murphy 1973), class by class and then summed over the classes:
*reliability*, how far bins' forecasts are from what came true in them; *resolution*, how far the
bins differ in what came true; *uncertainty*, which the data alone decide. Murphy's three suffice if
all forecasts of a bin are equal. Here they differ, and what they tell within a bin is a fourth
part: the variance of a bin's forecasts less twice their covariance with the truth (Stephenson et
al. 2008). It is below 0 where forecasts tell rows of one bin apart.

A class that training did not see is one more class, which every forecast gives 0.

All of this follows from *sums* over rows, which blocks of rows are added to: the answers are never
held at once. Sums of floats would depend on how the rows were shared out among threads, so that
floats are rounded to whole units of 2⁻³² and summed as integers, which any order leaves the same.
A mean is then off by at most 2⁻³³ (1.2e-10; Brier's score, by that for each class); sums have room
for 2³⁰ rows, a block for 2²¹.
"""

from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.core.combine import COMBINERS
from forestlab.forest import by_depth
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single, steps
from forestlab.study.rows import evenly

N_BINS = 15
UNITS = 2.0**32  # to 1


class CalibrationSums(NamedTuple):
    """Sums over rows at D depths, of K classes in B bins; int64 each, floats in UNITS."""

    rows: np.ndarray  # (D, B) by the confidence in the top label
    confidence: np.ndarray  # (D, B) in UNITS
    right: np.ndarray  # (D, B) rows whose top label is true
    forecasts: np.ndarray  # (D, K, B) rows by the probability of a class
    p: np.ndarray  # (D, K, B) the probabilities, in UNITS
    truth: np.ndarray  # (D, K, B) rows that are of the class
    brier: np.ndarray  # (D,) in UNITS


class Calibration(NamedTuple):
    """At D depths, in B bins; NaN in bins without rows, and everywhere if no row was answered.

    brier = reliability - resolution + uncertainty + within_bins
    """

    rows: np.ndarray  # (D, B) by the confidence in the top label
    confidence: np.ndarray  # (D, B) mean over the bin's rows
    accuracy: np.ndarray  # (D, B) share of right ones among them
    ece: np.ndarray  # (D,) expected calibration error: mean over rows of |accuracy - confidence|
    mce: np.ndarray  # (D,) maximum calibration error: the same of the worst bin
    brier: np.ndarray  # (D,) Brier's own score: the sum over classes of (p - truth)², 0 … 2
    reliability: np.ndarray  # (D,) the less the better
    resolution: np.ndarray  # (D,) the more the better
    uncertainty: np.ndarray  # (D,) of the data, the same at every depth
    within_bins: np.ndarray  # (D,)


def calibration_by_depth(
    forest: Forest,
    combiner: str,
    X,
    truth: np.ndarray,
    n_depths: int,
    n_jobs: int = 1,
    outside=None,
    n_bins: int = N_BINS,
) -> Calibration:
    """How calibrated a classifier forest is on rows X at depth 0 … n_depths - 1.

    Parameters
    ----------
    combiner : a name in COMBINERS
    truth : (n_rows,) class codes; -1 for a class that training did not see
    outside : (n_trees, …) packed bits from `rows_outside`: ask only trees that left a row out
    """
    n_classes = forest.stats.shape[1]
    sums = empty_sums(n_depths, n_classes, n_bins)
    lock = Lock()

    def note(rows: slice, answers: np.ndarray, voters: np.ndarray) -> None:
        # Several threads come here at once: each sums its own block, and one adds at a time.
        block = empty_sums(n_depths, n_classes, n_bins)
        add_answers(block, answers, truth[rows], voters)
        with lock:
            add_sums(sums, block)

    by_depth(forest, "classification", combiner, X, n_depths, note, n_jobs, outside)
    return calibration(sums)


# ---- sums --------------------------------------------------------------------------------------


def empty_sums(n_depths: int, n_classes: int, n_bins: int = N_BINS) -> CalibrationSums:
    of_top, of_classes = (n_depths, n_bins), (n_depths, n_classes, n_bins)
    shapes = (of_top,) * 3 + (of_classes,) * 3 + ((n_depths,),)
    return CalibrationSums(*(np.zeros(shape, np.int64) for shape in shapes))


def add_sums(sums: CalibrationSums, others: CalibrationSums) -> None:
    """Add the sums over other rows."""
    for mine, theirs in zip(sums, others, strict=True):
        mine += theirs


def add_answers(
    sums: CalibrationSums, answers: np.ndarray, truth: np.ndarray, voters: np.ndarray
) -> None:
    """Add a block of b rows.

    Parameters
    ----------
    answers : (D, b, K) probabilities
    truth : (b,) class codes; -1 for a class that training did not see
    voters : (b,) how many trees answered; rows without any are left out
    """
    answered = voters > 0
    truth = truth[answered].astype(np.intp)
    for d, p in enumerate(answers):  # one depth at a time: its numbers fit in a core's cache
        _add_depth(sums, d, p[answered], truth)


def _add_depth(sums: CalibrationSums, d: int, p: np.ndarray, truth: np.ndarray) -> None:
    n_classes, n_bins = sums.p.shape[1:]
    bins = bins_of(p, n_bins)
    row, top = np.arange(len(p)), p.argmax(axis=1)
    here, right = bins[row, top], top == truth
    sums.rows[d] += _counts(here, (n_bins,))
    sums.confidence[d] += _totals(here, p[row, top], (n_bins,))
    sums.right[d] += _counts(here[right], (n_bins,))

    cells = bins + n_bins * np.arange(n_classes)  # (b, K) places in a (K, B) array
    seen = truth >= 0
    true_places = row[seen], truth[seen]
    sums.forecasts[d] += _counts(cells, (n_classes, n_bins))
    sums.p[d] += _totals(cells, p, (n_classes, n_bins))
    sums.truth[d] += _counts(cells[true_places], (n_classes, n_bins))

    distance = p.copy()
    distance[true_places] -= 1.0
    n_unseen = len(p) - np.count_nonzero(seen)
    sums.brier[d] += _units(distance**2).astype(np.int64).sum() + n_unseen * int(UNITS)


def bins_of(p: np.ndarray, n_bins: int) -> np.ndarray:
    """The bin of each probability.

    Edges are quotients, as shares of votes are: 4 votes of 20 are on the edge 3/15, to the bit.
    """
    return np.searchsorted(np.arange(1, n_bins) / n_bins, p)


def _units(values: np.ndarray) -> np.ndarray:
    """Whole numbers, in float64."""
    return np.rint(values * UNITS)


def _counts(cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.bincount(cells.ravel(), minlength=np.prod(shape)).reshape(shape)


def _totals(cells: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum of each cell's values, in UNITS; floats sum whole numbers exactly up to 2⁵³."""
    totals = np.bincount(cells.ravel(), _units(values).ravel(), np.prod(shape))
    return totals.astype(np.int64).reshape(shape)


# ---- what follows from them --------------------------------------------------------------------


def calibration(sums: CalibrationSums) -> Calibration:
    """What the sums say of all rows that were added."""
    n_rows = sums.rows.sum(axis=1)
    n = np.where(n_rows > 0, n_rows, np.nan)  # all that is divided by it is NaN, unwarned
    in_bin = np.where(sums.rows > 0, sums.rows, np.nan)
    confidence, accuracy = sums.confidence / UNITS / in_bin, sums.right / in_bin
    gap = np.where(sums.rows > 0, np.abs(accuracy - confidence), 0.0)
    ece = (sums.rows * gap).sum(axis=1) / n
    mce = np.where(n_rows > 0, gap.max(axis=1), np.nan)
    brier = sums.brier / UNITS / n
    reliability, resolution, uncertainty = _murphy(sums, n)
    within_bins = brier - (reliability - resolution + uncertainty)
    return Calibration(
        sums.rows, confidence, accuracy, ece, mce,
        brier, reliability, resolution, uncertainty, within_bins,
    )  # fmt: skip


def _murphy(sums: CalibrationSums, n: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reliability, resolution and uncertainty, each (D,), of n rows, (D,)."""
    in_bin = np.maximum(sums.forecasts, 1)
    forecast, observed = sums.p / UNITS / in_bin, sums.truth / in_bin
    share = sums.forecasts / n[:, None, None]
    in_class = sums.truth.sum(axis=2)
    base = in_class / n[:, None]
    # Of the class of unseen rows all forecasts are 0 and in one bin, which resolves nothing.
    unseen = (n - in_class.sum(axis=1)) / n
    reliability = (share * (forecast - observed) ** 2).sum(axis=(1, 2)) + unseen**2
    resolution = (share * (observed - base[:, :, None]) ** 2).sum(axis=(1, 2))
    uncertainty = (base * (1.0 - base)).sum(axis=1) + unseen * (1.0 - unseen)
    return reliability, resolution, uncertainty


# ---- the part ----------------------------------------------------------------------------------


class Calibrations(NamedTuple):
    """Of one split."""

    n_rows: int  # looked at
    by_combiner: dict[str, Calibration]


def _find(look: Look) -> dict[str, Calibrations]:
    """By split: that which is judged, and oob; ten times as many rows as elsewhere."""
    found = {}
    if look.judged is not None:
        found[look.judged] = _of_rows(look, *look.data[look.judged])
    if look.outside is not None:
        found["oob"] = _of_rows(look, *look.data["train"], look.outside)
    return found


def _of_rows(look: Look, X, truth, outside=None) -> Calibrations:
    some = evenly(len(X), 10 * look.most_rows)
    if outside is not None:
        bits = np.unpackbits(outside, axis=1, count=len(X), bitorder="little")
        outside = np.packbits(bits[:, some], axis=1, bitorder="little")
    rows = X[some], truth[some], look.n_depths, look.n_jobs, outside
    forest, task = look.grown.forest, look.grown.task
    combiners = [name for name, by_task in COMBINERS.items() if task in by_task]
    return Calibrations(
        len(some), {name: calibration_by_depth(forest, name, *rows) for name in combiners}
    )


# Metrics, and what they are of a Calibration: `uncertainty` is also what a row's answer has.
TOLD = {
    "ece": "ece",
    "reliability": "reliability",
    "resolution": "resolution",
    "brier_of_data": "uncertainty",
    "within_bins": "within_bins",
}


def _numbers(found: dict[str, Calibrations], findings: Findings) -> Iterator[Number]:
    for split, (n_rows, by_combiner) in found.items():
        yield single(f"rows_calibration_{split}", n_rows)
        for combiner, told in by_combiner.items():
            for name, part in TOLD.items():
                yield from steps(f"{name}/{split}_{combiner}", getattr(told, part))


def _tables(found: Calibrations) -> dict[str, dict]:
    return {combiner: told._asdict() for combiner, told in found.by_combiner.items()}


def _table(found: dict[str, Calibrations], findings: Findings, about: About) -> Files:
    for split, told in found.items():
        yield f"calibration/{split}.json", _tables(told)


def _picture(found: dict[str, Calibrations], findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    alone = findings.surfaces["train"].sizes[-1] == 1
    for split, told in found.items():
        title = about.titled(f"Calibration, {figures.SPLIT_ROWS[split]}")
        curves = _tables(told)
        if alone:  # one tree's answers are not combined
            curves = {"tree": curves["average"]}
        yield f"calibration/{split}.png", figures.reliability_diagram(curves, title)


PART = Part(
    level="full",
    applies=lambda look: look.has_classes,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "ece/SPLIT_COMBINER": "expected calibration error, on test, or else valid, and oob",
        "reliability/SPLIT_COMBINER": "of Brier's score: how far forecasts are from what came true",
        "resolution/SPLIT_COMBINER": "how far bins of forecasts differ in what came true",
        "brier_of_data/SPLIT_COMBINER": "that of who forecasts the shares of the classes",
        "within_bins/SPLIT_COMBINER": "what forecasts of one bin tell",
        "summary/rows_calibration_SPLIT": "looked at",
    },
    higher=("resolution",),
    neutral=("brier_of_data",),
    files={"calibration/SPLIT": "reliability and Brier's parts, by combiner"},
)

"""The full study: what is found out about a forest beyond its curves.

Strength and correlation, calibration by combiner, intervals and label sets with their coverage,
the jackknife, permutation importance; of small worlds also what can be drawn whole: the band of a
regression along its one feature, the regions of a classification in its two.

What would take minutes or gigabytes on large data looks at evenly spaced rows of a split, `rows`
of them at most; how many it were stands in `rows`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from forestlab.core.combine import COMBINERS
from forestlab.forest import Grown, combined, places
from forestlab.study import conformal
from forestlab.study.calibration import Calibration, calibration_by_depth
from forestlab.study.coverage import (
    LEVELS,
    Band,
    coverage,
    error_detection,
    error_ranking,
    n_known,
    normal_intervals,
    set_coverage,
    set_size,
    width,
)
from forestlab.study.held_out import answers_of
from forestlab.study.jackknife import Jackknife, jackknife
from forestlab.study.permutation import Permutation, permutation_importance
from forestlab.study.plane import Extent, grid_of
from forestlab.study.quantiles import leaf_intervals
from forestlab.study.rows import evenly
from forestlab.study.strength import ResidualStrength, VoteStrength, strength
from forestlab.study.surface import Surface
from forestlab.study.uncertainty import Uncertainty

BAND_LEVEL = 0.9
BAND_POINTS = 200
REGIONS = 4  # depths that are drawn


class Coverage(NamedTuple):
    """How often intervals or label sets hold the truth, at LEVELS."""

    share: np.ndarray  # (L,) of rows covered
    width: np.ndarray  # (L,) mean width, or mean number of classes in a set; may be infinite
    rows: int  # of which both are: those whose interval is known


class AlongOne(NamedTuple):
    """A regression on one feature, along it."""

    x: np.ndarray  # (g,)
    mean: np.ndarray  # (g,)
    bands: dict[str, Band]  # by method, at BAND_LEVEL
    training: tuple[np.ndarray, np.ndarray]  # some x and their targets


class Regions(NamedTuple):
    """A classification on two features, over the plane."""

    extent: Extent
    posteriors: dict[int, np.ndarray]  # by depth: (h, w, n_classes), lowest row first
    training: tuple[np.ndarray, np.ndarray]  # (n, 2) and class codes


class Deeper(NamedTuple):
    """`split` names the rows that were judged: test, or else valid; None if there are neither."""

    split: str | None
    strength: VoteStrength | ResidualStrength | None  # None without bags
    calibrations: dict[str, dict[str, Calibration]]  # by split (also oob) and combiner
    coverages: dict[str, Coverage]  # by method
    jackknife: Jackknife | None
    detection: dict[str, float]  # by measure of uncertainty: does it tell where errors are?
    permutation: Permutation | None
    along: AlongOne | None
    regions: Regions | None
    rows: dict[str, int]  # by what was measured: rows looked at


def look_deeper(
    grown: Grown,
    data: dict[str, tuple[np.ndarray, np.ndarray]],
    outside: np.ndarray | None,
    surfaces: dict[str, Surface],
    uncertainties: Mapping[str, Uncertainty],
    n_depths: int,
    most_rows: int,
    n_jobs: int,
) -> Deeper:
    """Study a forest on {split: (X, truth)}, truth as `Surface` has it."""
    split = next((name for name in ("test", "valid") if name in data), None)
    look = _Look(grown, data["train"], outside, n_jobs)
    rows: dict[str, int] = {}
    jack, coverages, detection = None, {}, {}
    if split is not None:
        X, truth = data[split]
        some = evenly(len(X), most_rows)
        rows["intervals"] = len(some)
        leaves = places(look.forest, X[some], None, n_jobs)
        jack = look.jackknife(leaves, surfaces[split].predicted[some])
        found = _Judged(
            truth[some],
            surfaces[split].answers[some],
            surfaces[split].errors[some],
            Uncertainty(*(part[some] for part in uncertainties[split])),
        )
        coverages = look.coverages(found, leaves, jack, surfaces.get("oob"))
        detection = _detection(found, jack)
    permutation = None
    if outside is not None:
        permutation = permutation_importance(
            look.forest, look.task, *data["train"], outside, grown.seed, n_jobs
        )
        rows["permutation"] = int(permutation.n_rows.max())
    calibrations = look.calibrations(data, split, n_depths, 10 * most_rows, rows)
    return Deeper(
        split,
        look.strength(n_depths),
        calibrations,
        coverages,
        jack,
        detection,
        permutation,
        look.along(most_rows, surfaces.get("oob")) if look.n_features == 1 else None,
        look.regions(n_depths, most_rows) if look.n_features == 2 else None,
        rows,
    )


class _Judged(NamedTuple):
    """Rows that are judged: m of them."""

    truth: np.ndarray  # (m,)
    answers: np.ndarray  # (m, K) or (m, 1)
    errors: np.ndarray  # (m,)
    uncertainty: Uncertainty


class _Look:
    """One forest and its training rows, asked in many ways."""

    def __init__(self, grown: Grown, train, outside, n_jobs: int):
        self.grown, self.forest, self.task = grown, grown.forest, grown.task
        self.X, self.truth = train
        self.n_features = self.X.shape[1]
        self.outside, self.n_jobs = outside, n_jobs

    # ---- of all depths ----

    def strength(self, n_depths: int) -> VoteStrength | ResidualStrength | None:
        if self.outside is None:
            return None
        return strength(
            self.forest, self.task, self.X, self.truth, n_depths, self.outside, self.n_jobs
        )

    def calibrations(self, data, split, n_depths: int, most_rows: int, rows: dict[str, int]):
        """By split and combiner; `rows` is told how many were looked at."""
        if self.task != "classification":
            return {}
        found: dict[str, dict[str, Calibration]] = {}
        for name in [split] if split else []:
            X, truth = data[name]
            some = evenly(len(X), most_rows)
            rows[f"calibration_{name}"] = len(some)
            found[name] = self._calibrations(X[some], truth[some], n_depths, None)
        if self.outside is not None:
            some = evenly(len(self.X), most_rows)
            rows["calibration_oob"] = len(some)
            bits = np.unpackbits(self.outside, axis=1, count=len(self.X), bitorder="little")
            bits = np.packbits(bits[:, some], axis=1, bitorder="little")
            found["oob"] = self._calibrations(self.X[some], self.truth[some], n_depths, bits)
        return found

    def _calibrations(self, X, truth, n_depths: int, outside) -> dict[str, Calibration]:
        return {
            combiner: calibration_by_depth(
                self.forest, combiner, X, truth, n_depths, self.n_jobs, outside
            )
            for combiner in COMBINERS
        }

    # ---- intervals and sets ----

    def jackknife(self, leaves: np.ndarray, predicted: np.ndarray) -> Jackknife | None:
        """None without bags, or if rows were drawn by unequal chances, which it cannot take."""
        if self.outside is None or len(self.grown.chances):
            return None
        return jackknife(self.bags(), self.tree_answers(leaves, predicted), self.replace)

    @property
    def replace(self) -> bool:
        return self.grown.recipe.replace

    def bags(self) -> np.ndarray:
        return self.grown.bags(self.n_jobs)

    def tree_answers(self, leaves: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Each tree's mean, or its probability of the class that the forest predicts."""
        if self.task == "regression":
            return self.forest.stats[leaves, 1]
        return self.forest.stats[leaves, predicted] / self.forest.nodes["weight"][leaves]

    def coverages(self, found: _Judged, leaves, jack, oob: Surface | None) -> dict[str, Coverage]:
        if self.task == "classification":
            return self._set_coverages(found, oob)
        bands = self.bands(found.answers[:, 0], found.uncertainty.spread, leaves, jack, oob, LEVELS)
        return {
            method: Coverage(
                np.array([coverage(*band, found.truth) for band in of_levels]),
                np.array([width(*band) for band in of_levels]),
                n_known(*of_levels[0]),
            )
            for method, of_levels in bands.items()
        }

    def _set_coverages(self, found: _Judged, oob: Surface | None) -> dict[str, Coverage]:
        sets = {"posterior": [conformal.credible_sets(found.answers, level) for level in LEVELS]}
        if oob is not None:
            scores = conformal.scores_classes(oob.truth, oob.answers)
            sets["conformal"] = [
                conformal.label_sets(found.answers, scores, level) for level in LEVELS
            ]
        return {
            method: Coverage(
                np.array([set_coverage(of_level, found.truth) for of_level in of_levels]),
                np.array([set_size(of_level) for of_level in of_levels]),
                len(found.truth),
            )
            for method, of_levels in sets.items()
        }

    def bands(
        self, mean, spread, leaves, jack, oob: Surface | None, levels
    ) -> dict[str, list[Band]]:
        """By method: a band for each level."""
        sd = np.sqrt(spread)
        found = {"trees": [normal_intervals(mean, sd, level) for level in levels]}
        if jack is not None:
            found["jackknife"] = [normal_intervals(mean, jack.sd, level) for level in levels]
        if oob is not None:
            scores = conformal.scores_regression(oob.truth, oob.predicted)
            found["conformal"] = [conformal.intervals(mean, scores, level) for level in levels]
        trained = places(self.forest, self.X, None, self.n_jobs)
        low, high = leaf_intervals(trained, self.bags(), self.truth, leaves, levels)
        found["quantiles"] = [Band(*pair) for pair in zip(low, high, strict=True)]
        return found

    # ---- small worlds ----

    def along(self, most_rows: int, oob: Surface | None) -> AlongOne | None:
        """The forest along its only feature."""
        if self.task != "regression":
            return None
        x = np.linspace(self.X.min(), self.X.max(), BAND_POINTS)
        leaves = places(self.forest, x[:, None], None, self.n_jobs)
        mean = self._asked(x[:, None])[:, 0]
        spread = answers_of(self.forest, self.task, leaves).spread
        jack = self.jackknife(leaves, np.zeros(len(x), np.intp))
        bands = self.bands(mean, spread, leaves, jack, oob, (BAND_LEVEL,))
        some = evenly(len(self.X), most_rows)
        return AlongOne(
            x,
            mean,
            {method: of_levels[0] for method, of_levels in bands.items()},
            (self.X[some, 0], self.truth[some]),
        )

    def regions(self, n_depths: int, most_rows: int) -> Regions | None:
        """The forest over the plane of its two features, at a few depths."""
        if self.task != "classification":
            return None
        middles, extent = grid_of(self.X)
        side = round(np.sqrt(len(middles)))
        deepest = max(n_depths - 1, 1)
        depths = np.unique(np.geomspace(1, deepest, REGIONS).round().astype(int)).tolist()
        some = evenly(len(self.X), most_rows)
        return Regions(
            extent,
            {depth: self._asked(middles, depth).reshape(side, side, -1) for depth in depths},
            (self.X[some], self.truth[some]),
        )

    def _asked(self, X: np.ndarray, depth: int | None = None) -> np.ndarray:
        return combined(self.forest, self.task, self.grown.combine, X, depth, self.n_jobs)[0]


def _detection(found: _Judged, jack: Jackknife | None) -> dict[str, float]:
    """For classes the chance that a wrong row is less sure than a right one; for numbers the rank
    correlation of uncertainty with the absolute error."""
    measures = found.uncertainty._asdict()
    is_of_classes = found.truth.dtype.kind == "i"
    if is_of_classes:
        measures["confidence"] = 1.0 - found.answers.max(axis=1)
    if jack is not None:
        measures["jackknife"] = jack.corrected
    judge = error_detection if is_of_classes else error_ranking
    told = {name: values for name, values in measures.items() if np.isfinite(values).any()}
    return {name: judge(values, found.errors) for name, values in told.items()}

"""A regression on one feature, along it, at the depth that validation, or else out-of-bag rows,
would choose: deeper trees follow the noise."""

from typing import NamedTuple

import numpy as np

from forestlab.forest import combined, reached
from forestlab.study.coverage import Band
from forestlab.study.held_out import answers_of
from forestlab.study.intervals import bands, trees_needed
from forestlab.study.jackknife import jackknife_of
from forestlab.study.part import About, Files, Findings, Look, Part
from forestlab.study.plane import has_range
from forestlab.study.rows import evenly

LEVEL = 0.9
POINTS = 200


class AlongOne(NamedTuple):
    x: np.ndarray  # (g,)
    mean: np.ndarray  # (g,)
    bands: dict[str, Band]  # by method, at LEVEL
    training: tuple[np.ndarray, np.ndarray]  # some x and their targets
    depth: int  # at which the trees are cut
    expected: np.ndarray | None = None  # (g,) the truth without noise; None if it is not known


def _find(look: Look) -> AlongOne:
    grown, (X, truth) = look.grown, look.data["train"]
    x = np.linspace(np.nanmin(X), np.nanmax(X), POINTS)
    chosen = look.found.get("chosen")
    depth = look.n_depths - 1 if chosen is None else chosen.depth
    leaves = reached(grown.forest, x[:, None], depth, look.n_jobs)
    asked = grown.forest, grown.task, grown.combine
    mean = combined(*asked, x[:, None], depth, look.n_jobs)[0][:, 0]
    spread = answers_of(grown.forest, grown.task, leaves).spread
    jack = jackknife_of(look, leaves, np.zeros(len(x), np.intp))
    found = bands(look, mean, spread, leaves, jack, (LEVEL,), depth)
    some = evenly(len(X), look.most_rows)
    by_method = {method: of_levels[0] for method, of_levels in found.items()}
    expected = None if look.truth is None else look.truth(x[:, None])
    return AlongOne(x, mean, by_method, (X[some, 0], truth[some]), depth, expected)


def _table(found: AlongOne, findings: Findings, about: About) -> Files:
    methods = {method: band._asdict() for method, band in found.bands.items()}
    known = {} if found.expected is None else {"expected": found.expected}
    line = {"depth": found.depth, "x": found.x, "mean": found.mean} | known
    yield "band.json", line | {"level": LEVEL} | methods


def _picture(found: AlongOne, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    chosen = findings.parts.get("chosen")
    why = f", chosen by {figures.SPLIT_ROWS[chosen.split]}" if chosen is not None else ""
    title = about.titled(f"{LEVEL:.0%} intervals at depth {found.depth}{why}")
    remarks = {
        method: f"unknown at {unknown:.0%}{trees_needed(findings)}"
        for method, band in found.bands.items()
        if (unknown := float(np.isnan(band.low).mean())) > 0.0
    }
    truth = None if found.expected is None else (found.x, found.expected)
    along = found.x, found.mean, found.bands, found.training
    names = about.features[0], "target"
    yield "band.png", figures.prediction_band(*along, title, truth, remarks, names)


PART = Part(
    level="full",
    applies=lambda look: not look.has_classes and look.n_features == 1 and has_range(look),
    find=_find,
    table=_table,
    picture=_picture,
    files={"band": "a regression along its one feature"},
)

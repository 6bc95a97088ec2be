"""A classification on two features, over the plane, at a few depths."""

from typing import NamedTuple

import numpy as np

from forestlab.forest import combined
from forestlab.study.part import About, Files, Findings, Look, Part
from forestlab.study.plane import Extent, grid_of, has_range
from forestlab.study.rows import evenly

REGIONS = 4  # depths that are drawn


class Regions(NamedTuple):
    extent: Extent
    posteriors: dict[int, np.ndarray]  # by depth: (h, w, n_classes), lowest row first
    training: tuple[np.ndarray, np.ndarray]  # (n, 2) and class codes


def _find(look: Look) -> Regions:
    grown, (X, truth) = look.grown, look.data["train"]
    middles, extent = grid_of(X)
    side = round(np.sqrt(len(middles)))
    deepest = max(look.n_depths - 1, 1)
    depths = np.unique(np.geomspace(1, deepest, REGIONS).round().astype(int)).tolist()
    some = evenly(len(X), look.most_rows)
    asked = grown.forest, grown.task, grown.combine, middles
    posteriors = {
        depth: combined(*asked, depth, look.n_jobs)[0].reshape(side, side, -1) for depth in depths
    }
    return Regions(extent, posteriors, (X[some], truth[some]))


def _picture(found: Regions, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    extent, posteriors, (points, labels) = found
    classes, names = findings.classes or [], about.features
    title = about.titled("Predicted class over the plane, and training rows")
    picture = figures.decision_regions(posteriors, extent, points, labels, classes, names, title)
    yield "regions.png", picture


PART = Part(
    level="full",
    applies=lambda look: look.has_classes and look.n_features == 2 and has_range(look),
    find=_find,
    picture=_picture,
    files={"regions.png": "a classification over its two features"},
)

"""A density of two features, over the plane, at a few depths."""

from typing import NamedTuple

import numpy as np

from forestlab.forest import log_densities_of
from forestlab.study.part import About, Files, Findings, Look, Part
from forestlab.study.plane import Extent, grid_of
from forestlab.study.rows import evenly


class Densities(NamedTuple):
    extent: Extent
    middles: np.ndarray  # (h * w, 2) of the pixels, line by line from the lowest
    grids: dict[int, np.ndarray]  # by depth: (h, w), lowest row first
    chosen: int | None  # the depth that validation chooses, or else out-of-bag rows
    training: np.ndarray  # (n, 2)


def _find(look: Look) -> Densities:
    """At the first depth, the chosen one, and as deep as the trees are."""
    grown, (X, _) = look.grown, look.data["train"]
    assert grown.normals is not None
    middles, extent = grid_of(X)
    side = round(np.sqrt(len(middles)))
    chosen = look.found.get("chosen")
    depths = {1, look.n_depths - 1} | ({chosen.depth} if chosen is not None else set())
    asked = grown.forest, grown.normals, middles
    grids = {
        depth: np.exp(log_densities_of(*asked, depth, look.n_jobs)).reshape(side, side)
        for depth in sorted(depth for depth in depths if depth < look.n_depths)
    }
    some = evenly(len(X), look.most_rows)
    return Densities(extent, middles, grids, chosen and chosen.depth, X[some])


def _table(found: Densities, findings: Findings, about: About) -> Files:
    """A row for each depth and pixel."""
    import pandas as pd

    columns = dict(zip(about.features, found.middles.T, strict=True))
    parts = [
        pd.DataFrame({"depth": depth} | columns | {"density": grid.ravel()})
        for depth, grid in found.grids.items()
    ]
    yield "density.parquet", pd.concat(parts, ignore_index=True)


def _picture(found: Densities, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    panels = {f"depth {depth}{_why(found, depth)}": grid for depth, grid in found.grids.items()}
    title = about.titled("Density over the plane, and training rows")
    picture = figures.density_maps(panels, found.extent, found.training, about.features, title)
    yield "density.png", picture


def _why(found: Densities, depth: int) -> str:
    return ", chosen" if depth == found.chosen else ""


PART = Part(
    level="full",
    needs_targets=False,
    applies=lambda look: not look.has_targets and look.n_features == 2,
    find=_find,
    table=_table,
    picture=_picture,
    files={"density": "how densely rows of two features lie, over their plane"},
)

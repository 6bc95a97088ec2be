"""How densely rows lie over a plane, as colours.

Colours are for all panels the same, from 0 to a density that all but the densest thousandth of the
pixels stay below: a spike would leave all else dark. A *grid* is the plane cut into pixels, the
first row at the bottom; `study.plane` says where their middles are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.regions import (
    AXIS_LETTERS,
    FEW_PANELS,
    MOST_POINTS,
    SIDES,
    Extent,
    label_plane,
)
from forestlab.figures.style import dress, panels, shorten
from forestlab.figures.words import number_scale, scale

MOST = 0.999  # of the pixels have a colour of their own
BAR = (0.85, 0.15)  # inches from the last panel to the colour bar, and its width
PAINT: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "nearest",
                         "cmap": "viridis"}  # fmt: skip


def density_maps(
    grids: Mapping[str, np.ndarray],
    extent: Extent,
    points: np.ndarray,
    names: Sequence[str],
    title: str,
) -> Figure:
    """A panel for each grid, with the rows on it.

    Parameters
    ----------
    grids : note on a panel → (h, w) densities
    extent : (left, right, bottom, top) of all grids
    points : (n, 2) the training rows
    names : of the two features
    """
    points = np.asarray(points, np.float64)
    rows = points[:: max(1, -(-len(points) // MOST_POINTS))]
    side = SIDES[len(grids) > FEW_PANELS]
    figure, axes = panels(title, [side] * len(grids), side, right=sum(BAR) + 0.3, gap=0.25)
    top = highest(list(grids.values()))
    x, y = (shorten(name, AXIS_LETTERS) for name in names)
    for k, (ax, (note, grid)) in enumerate(zip(axes, grids.items(), strict=True)):
        ax.imshow(grid, extent=extent, vmin=0.0, vmax=top, **PAINT)
        ax.plot(*rows.T, ".", color="white", markersize=1.5, alpha=0.5, markeredgewidth=0.0)
        label_plane(ax, x, "" if k else y, note, extent)
    _draw_bar(figure, axes[-1], top)
    return figure


def highest(grids: Sequence[np.ndarray]) -> float:
    """The density that has the brightest colour."""
    pooled = np.concatenate([grid.ravel() for grid in grids])
    return float(np.quantile(pooled[np.isfinite(pooled)], MOST)) or 1.0


def _draw_bar(figure: Figure, last: Axes, top: float) -> None:
    frame, width = last.get_position(), figure.get_size_inches()[0]
    bar = figure.add_axes(
        (frame.x1 + BAR[0] / width, frame.y0, BAR[1] / width, frame.height), label="bar"
    )
    shades = np.linspace(0.0, top, 256)[:, None]
    bar.imshow(shades, extent=(0.0, 1.0, 0.0, top), vmin=0.0, vmax=top, **PAINT)
    dress(bar, "", "density")
    scale(bar, "x", np.empty(0), [])
    number_scale(bar, "y", 5, grid=False)

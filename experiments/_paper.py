"""Paper with several rows of panels, and curves with bands for it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.style import panels
from forestlab.figures.words import scale

LEFT, RIGHT, BOTTOM, TOP, GAP = 0.75, 0.25, 0.55, 0.36, 0.75  # inches


def paper(
    title: str,
    widths: Sequence[Sequence[float]],
    heights: Sequence[float],
    left: float = LEFT,
    right: float = RIGHT,
    gap: float = GAP,
) -> tuple[Figure, list[list[Axes]]]:
    """A figure with rows of panels under a title, as `forestlab.figures.style.panels` has one row.

    Parameters
    ----------
    widths : for each row, those of its panels; all numbers are inches
    heights : of the rows
    left, right : margins for labels and legends
    gap : between panels of a row
    """
    wide = max(sum(row) + gap * (len(row) - 1) for row in widths)
    high = sum(heights) + (BOTTOM + TOP) * (len(heights) - 1)
    figure, (whole,) = panels(title, [wide], high, left=left, right=right, bottom=BOTTOM, top=TOP)
    frame = whole.get_position()
    whole.remove()
    width, height = frame.width / wide, frame.height / high  # of an inch
    rows, y = [], frame.y1
    for row, own in zip(widths, heights, strict=True):
        y -= own * height
        starts = frame.x0 + np.cumsum([0.0, *row[:-1]]) * width + np.arange(len(row)) * gap * width
        rows.append([
            figure.add_axes((x, y, panel * width, own * height))
            for x, panel in zip(starts, row, strict=True)
        ])  # fmt: skip
        y -= (BOTTOM + TOP) * height
    return figure, rows


def banded(ax: Axes, part: pd.DataFrame, x: str, y: str, colour: str, **line: Any) -> None:
    """The mean of y at each x as a line, and a band of one standard deviation to either side."""
    by_x = part.groupby(x)[y]
    mean, sd = by_x.mean(), by_x.std(ddof=1)
    ax.fill_between(mean.index, mean - sd, mean + sd, color=colour, alpha=0.15, linewidth=0)
    look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 3.5} | line
    ax.plot(mean.index, mean, **look)


def log_scale(ax: Axes, axis: str, places: Sequence[float]) -> None:
    """A logarithmic axis, whose limits are final, with labels at those places that it holds."""
    getattr(ax, f"set_{axis}scale")("log")
    low, high = getattr(ax, f"get_{axis}lim")()
    held = np.array([place for place in places if low <= place <= high])
    scale(ax, axis, held, [f"{place:g}" for place in held])

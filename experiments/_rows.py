"""Pictures of several rows of panels."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.style import panels


def panel_rows(
    title: str,
    widths: Sequence[float],
    heights: Sequence[float],
    bottom: float = 0.55,
    between: float = 1.0,
    **margins: float,
) -> tuple[Figure, list[list[Axes]]]:
    """As `panels`, with a row of axes for each height; all numbers are inches.

    `between` lies from the axes of a row to those of the next, for labels, notes and legends;
    `bottom` is below the last row.
    """
    below = bottom + sum(heights[1:]) + between * (len(heights) - 1)
    figure, first = panels(title, widths, heights[0], bottom=below, **margins)
    total = figure.get_size_inches()[1]
    rows = [first]
    for height in heights[1:]:
        below -= height + between
        frames = [ax.get_position() for ax in first]
        rows.append(
            [figure.add_axes((f.x0, below / total, f.width, height / total)) for f in frames]
        )
    return figure, rows

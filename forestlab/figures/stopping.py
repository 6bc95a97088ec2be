"""Ways to stop side by side: a metric against how large they let the trees be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.logarithmic import log_scale
from forestlab.figures.style import COLOURS, SPLIT_ROWS, dress, panels
from forestlab.figures.words import number_scale, plain
from forestlab.figures.zoom import near

PANEL = (4.2, 3.8)  # inches
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
RINGS = 8.0, 2.5  # points: the first, and how much wider each next one is, so that none hides one


class StoppingLine(NamedTuple):
    """A rule's path, from its strictest value to the loosest."""

    n_leaves: np.ndarray  # (G,) of a tree, on the average
    values: np.ndarray  # (G,) of the metric; NaN where there is none
    of_rule: np.ndarray  # (G,) of the rule
    chosen: int | None  # a place among them


def stopping_curves(
    lines: Mapping[str, StoppingLine], metric: str, title: str, judge: str = ""
) -> Figure:
    """A metric against the mean number of leaves of a tree, a line for each rule.

    Parameters
    ----------
    lines : by the name of the rule's parameter
    metric : its name and unit
    title : what is shown, of which rows and which run
    judge : the split on which each rule's value is chosen
    """
    entries = [
        Entry(_label(name, line), colour, marker=marker)
        for (name, line), colour, marker in zip(lines.items(), COLOURS, MARKERS, strict=False)
    ]
    closer = _near_chosen(list(lines.values()))
    widths = [PANEL[0]] * (2 if closer else 1)
    figure, axes = panels(title, widths, PANEL[1], right=inches_beside(entries))
    for ax in axes:
        for place, (line, entry) in enumerate(zip(lines.values(), entries, strict=True)):
            _draw_line(ax, line, entry, RINGS[0] + RINGS[1] * place)
    rows = SPLIT_ROWS.get(judge, judge)
    rings = f"rings: chosen by {rows}; in the legend: value and result" if judge else ""
    log_scale(axes[0], "x", np.concatenate([line.n_leaves for line in lines.values()]))
    if closer:
        _draw_closer(axes[1], list(lines.values()), closer)
    for ax, note in zip(axes, (rings, "the same, near the best"), strict=False):
        dress(ax, "leaves of a tree, mean (logarithmic)", metric, note)
        number_scale(ax, "y")
    legend_beside(axes[-1], entries)
    return figure


def _label(name: str, line: StoppingLine) -> str:
    """The rule, and the value that is chosen with what it gives."""
    if line.chosen is None:
        return name
    value, gives = plain(line.of_rule[line.chosen], 3), plain(line.values[line.chosen])
    return f"{name} {value}: {gives}"


def _draw_line(ax: Axes, line: StoppingLine, entry: Entry, ring: float) -> None:
    ax.plot(line.n_leaves, line.values, color=entry.colour, linewidth=1.4, marker=entry.marker,
            markersize=3.5)  # fmt: skip
    if line.chosen is not None:
        ax.plot(line.n_leaves[[line.chosen]], line.values[[line.chosen]], linestyle="none",
                marker="o", markersize=ring, markerfacecolor="none",
                markeredgecolor=entry.colour, markeredgewidth=1.4, zorder=3.0)  # fmt: skip


def _near_chosen(lines: list[StoppingLine]) -> tuple[float, float] | None:
    """Limits around the values that are chosen, and those of whole trees."""
    drawn = [line for line in lines if np.isfinite(line.values).any()]
    ends = [(-1 if line.chosen is None else line.chosen, -1) for line in drawn]
    wanted = [float(line.values[k]) for line, pair in zip(drawn, ends, strict=True) for k in pair]
    return near(wanted, np.concatenate([line.values for line in drawn])) if drawn else None


def _draw_closer(ax: Axes, lines: list[StoppingLine], limits: tuple[float, float]) -> None:
    every, sizes = (np.concatenate(part) for part in list(zip(*lines, strict=True))[1::-1])
    log_scale(ax, "x", sizes[(every >= limits[0]) & (every <= limits[1])])
    ax.set_ylim(limits)

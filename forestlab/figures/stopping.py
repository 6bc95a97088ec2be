"""Ways to stop side by side: a metric against how large they let the trees be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress, panels
from forestlab.figures.words import number_scale, scale

PANEL = (4.2, 3.8)  # inches
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
RINGS = 8.0, 2.5  # points: the first, and how much wider each next one is, so that none hides one
STEPS = [step * 10**power for power in range(10) for step in (1, 2, 5)]
NEAR = 0.08  # of what the metric ranges over: how far around the rings the second panel reaches


class StoppingLine(NamedTuple):
    """A rule's path, from its strictest value to the loosest."""

    n_leaves: np.ndarray  # (G,) of a tree, on the average
    values: np.ndarray  # (G,) of the metric; NaN where there is none
    of_rule: np.ndarray  # (G,) of the rule
    chosen: int | None  # a place among them


def stopping_curves(
    lines: Mapping[str, StoppingLine], metric: str, split: str, title: str, judge: str = ""
) -> Figure:
    """A metric against the mean number of leaves of a tree, a line for each rule.

    Parameters
    ----------
    lines : by the name of the rule's parameter
    split : the rows on which the metric is told
    judge : the split on which each rule's value is chosen
    """
    entries = [
        Entry(_label(name, line), colour, marker=marker)
        for (name, line), colour, marker in zip(lines.items(), COLOURS, MARKERS, strict=False)
    ]
    drawn = [line for line in lines.values() if np.isfinite(line.values).any()]
    widths = [PANEL[0]] * (2 if drawn else 1)
    figure, axes = panels(title, widths, PANEL[1], right=inches_beside(entries), gap=0.75)
    for ax in axes:
        for place, (line, entry) in enumerate(zip(lines.values(), entries, strict=True)):
            _draw_line(ax, line, entry, RINGS[0] + RINGS[1] * place)
    notes = [
        f"rings: the value that is best on {judge}" if judge else "",
        "the same, near the best",
    ]
    labels = [f"{metric} ({split})", ""]
    sizes = np.concatenate([line.n_leaves for line in lines.values()])
    _scale_leaves(axes[0], sizes.min(), sizes.max())
    if drawn:
        _zoom(axes[1], drawn)
    for ax, label, note in zip(axes, labels, notes, strict=False):
        dress(ax, "leaves of a tree, on the average", label, note)
        number_scale(ax, "y")
    legend_beside(axes[-1], entries)
    return figure


def _label(name: str, line: StoppingLine) -> str:
    """The rule, and the value that is chosen with what it gives."""
    if line.chosen is None:
        return name
    return f"{name} {line.of_rule[line.chosen]:.3g}: {line.values[line.chosen]:.4g}"


def _draw_line(ax: Axes, line: StoppingLine, entry: Entry, ring: float) -> None:
    ax.plot(line.n_leaves, line.values, color=entry.colour, linewidth=1.4, marker=entry.marker,
            markersize=3.5)  # fmt: skip
    if line.chosen is not None:
        ax.plot(line.n_leaves[[line.chosen]], line.values[[line.chosen]], linestyle="none",
                marker="o", markersize=ring, markerfacecolor="none",
                markeredgecolor=entry.colour, markeredgewidth=1.4, zorder=3.0)  # fmt: skip


def _zoom(ax: Axes, lines: list[StoppingLine]) -> None:
    """On the values that are chosen, and those of whole trees."""
    near = np.array(
        [line.values[[-1 if line.chosen is None else line.chosen, -1]] for line in lines]
    )
    every = np.concatenate([line.values for line in lines])
    around = NEAR * float(np.ptp(every[np.isfinite(every)])) or 1.0
    low, high = np.nanmin(near) - around, np.nanmax(near) + around
    sizes = np.concatenate([line.n_leaves for line in lines])
    _scale_leaves(ax, sizes[(every >= low) & (every <= high)].min(), sizes.max())
    ax.set_ylim(low, high)


def _scale_leaves(ax: Axes, least: float, most: float) -> None:
    ax.set_xscale("log")
    margin = (most / least) ** 0.05 if most > least else 1.5
    ax.set_xlim(least / margin, most * margin)
    places = [step for step in STEPS if least / margin <= step <= most * margin]
    if len(places) > 7:
        places = [place for place in places if str(place)[0] == "1"]
    scale(ax, "x", np.array(places), [f"{place:,}" for place in places])

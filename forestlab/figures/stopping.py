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

PANEL = (5.4, 3.8)  # inches
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
STEPS = [step * 10**power for power in range(10) for step in (1, 2, 5)]


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
    right = inches_beside(entries)
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1], right=right)
    for line, entry in zip(lines.values(), entries, strict=True):
        _draw_line(ax, line, entry)
    note = f"rings: the value that is best on {judge}, as the legend has it" if judge else ""
    dress(ax, "leaves of a tree, on the average", f"{metric} ({split})", note)
    _scale_leaves(ax, max(float(line.n_leaves[-1]) for line in lines.values()))
    number_scale(ax, "y")
    legend_beside(ax, entries)
    return figure


def _label(name: str, line: StoppingLine) -> str:
    """The rule, and the value that is chosen with what it gives."""
    if line.chosen is None:
        return name
    return f"{name} {line.of_rule[line.chosen]:.3g}: {line.values[line.chosen]:.4g}"


def _draw_line(ax: Axes, line: StoppingLine, entry: Entry) -> None:
    ax.plot(line.n_leaves, line.values, color=entry.colour, linewidth=1.4, marker=entry.marker,
            markersize=3.5)  # fmt: skip
    if line.chosen is not None:
        ax.plot(line.n_leaves[[line.chosen]], line.values[[line.chosen]], linestyle="none",
                marker="o", markersize=11.0, markerfacecolor="none",
                markeredgecolor=entry.colour, markeredgewidth=1.6, zorder=3.0)  # fmt: skip


def _scale_leaves(ax: Axes, most: float) -> None:
    """From the bare root, which has one leaf."""
    ax.set_xscale("log")
    margin = most**0.03
    ax.set_xlim(1.0 / margin, most * margin)
    places = [step for step in STEPS if step <= most]
    places = places if len(places) <= 10 else [p for p in places if str(p)[0] == "1"]
    scale(ax, "x", np.array(places), [f"{place:,}" for place in places])

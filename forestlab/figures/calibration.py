"""Is a forest right as often as it is confident, for each way to combine its trees?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import (
    COLOURS,
    DASHES,
    LINE,
    dress,
    overlaid_widths,
    panels,
    say_empty,
    shorten,
)
from forestlab.figures.words import number_scale, numbers, scale

SQUARE = 3.3  # inches, a side of the diagram
STRIP, GAP = 0.8, 0.15  # of the counts below it, and between the two
BY_DEPTH = 4.6
LEAST_ROWS = 0.7  # where the logarithmic scale of rows begins, so that one row is seen
NAME_LETTERS = 24
MARKERS = "osD^vP"
FEW_DEPTHS = 40  # longer curves have no markers


class Reliability(NamedTuple):
    """What one combiner's lines show."""

    rows: np.ndarray  # (B,) at the depth of the diagram
    confidence: np.ndarray
    accuracy: np.ndarray
    ece: np.ndarray  # (D,)
    look: Entry


def reliability_diagram(
    curves: Mapping[str, Mapping[str, np.ndarray]], title: str, depth: int | None = None
) -> Figure:
    """Accuracy against confidence, bin by bin, and the calibration error against depth.

    Parameters
    ----------
    curves : combiner → arrays by name, of D depths and B bins of equal width from 0 to 1:
        rows : (D, B) how many have their confidence, their top label's probability, in the bin
        confidence : (D, B) mean over the bin's rows; NaN where there are none
        accuracy : (D, B) share of right ones among them; likewise
        ece : (D,) expected calibration error; NaN where there are no rows at all
    title : what is shown, and of which run
    depth : where accuracy is shown against confidence; by default the greatest
    """
    if depth is None:
        depth = max((len(one["ece"]) for one in curves.values()), default=1) - 1
    looks = zip(cycle(COLOURS), cycle(MARKERS), overlaid_widths(len(curves)), strict=False)
    shown = [
        _curve(combiner, arrays, depth, *look)
        for (combiner, arrays), look in zip(curves.items(), looks, strict=True)
    ]
    entries = [curve.look for curve in shown]
    right = max(inches_beside(entries), 0.25)
    figure, (diagram, errors) = panels(title, [SQUARE, BY_DEPTH], SQUARE + GAP + STRIP, right=right)
    _diagram(diagram, _strip_below(diagram), shown, depth)
    _errors(errors, shown, depth)
    legend_beside(errors, entries)
    return figure


def _curve(
    combiner: str, arrays, depth: int, colour: str, marker: str, width: float
) -> Reliability:
    rows, confidence, accuracy = (
        np.asarray(arrays[name])[depth] for name in ("rows", "confidence", "accuracy")
    )
    ece = np.asarray(arrays["ece"], np.float64)
    known = f"ECE {ece[depth]:.3g}" if np.isfinite(ece[depth]) else "no rows"
    label = f"{shorten(combiner, NAME_LETTERS)}: {known}"
    return Reliability(rows, confidence, accuracy, ece, Entry(label, colour, width, marker))


def _strip_below(ax: Axes) -> Axes:
    """Cut a strip of the axes' width off their lower end."""
    assert isinstance(ax.figure, Figure)
    x, y, width, height = ax.get_position().bounds
    inch = height / (SQUARE + GAP + STRIP)
    ax.set_position((x, y + (STRIP + GAP) * inch, width, SQUARE * inch))
    return ax.figure.add_axes((x, y, width, STRIP * inch))


def _diagram(ax: Axes, strip: Axes, curves: list[Reliability], depth: int) -> None:
    n_rows = max((curve.rows.sum() for curve in curves), default=0)
    note = f"depth {depth}, {n_rows:.0f} rows; dashed: right as often as confident"
    dress(ax, "", "share of rows that are right", note if n_rows else "")
    dress(strip, "confidence: the probability of the top label", "rows")
    if not n_rows:
        say_empty(strip, "")
        return say_empty(ax)
    ax.plot([0.0, 1.0], [0.0, 1.0], color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    for k, curve in enumerate(curves):
        _points(ax, curve, n_rows, DASHES if k else "-")
        _bars(strip, curve, k, len(curves))
    for panel in (ax, strip):
        panel.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.0)
    number_scale(ax, "y")
    scale(ax, "x", np.linspace(0.0, 1.0, 6), [""] * 6)  # the strip's numbers are those of both
    number_scale(strip, "x")
    strip.set_yscale("log")
    strip.set_ylim(LEAST_ROWS, 1.5 * n_rows)
    counts = 10.0 ** np.arange(0.0, np.log10(1.5 * n_rows))
    scale(strip, "y", counts, numbers(counts))


def _points(ax: Axes, curve: Reliability, n_rows: int, dashes) -> None:
    """A line through the bins that have rows; the more of them, the larger the bin's point.

    Points are hollow, and all lines but the first dashed: one on another leaves both in sight.
    """
    held, look = curve.rows > 0, curve.look
    x, y = curve.confidence[held], curve.accuracy[held]
    ax.plot(x, y, color=look.colour, linewidth=look.width, linestyle=dashes, clip_on=False)
    area = 12.0 * look.width + 100.0 * curve.rows[held] / n_rows
    ax.scatter(x, y, area, edgecolors=look.colour, facecolors="none", linewidths=1.3,
               marker=look.marker, clip_on=False, zorder=2.5)  # fmt: skip


def _bars(ax: Axes, curve: Reliability, k: int, n_curves: int) -> None:
    """Those of all curves stand side by side in a bin."""
    n_bins = len(curve.rows)
    width = 0.8 / (n_bins * n_curves)
    left = (np.arange(n_bins) + 0.1) / n_bins + k * width
    ax.bar(left, curve.rows, width, color=curve.look.colour, align="edge")


def _errors(ax: Axes, curves: list[Reliability], depth: int) -> None:
    values = np.concatenate([curve.ece for curve in curves]) if curves else np.empty(0)
    known = values[np.isfinite(values)]
    note = "dashed: the depth shown on the left" if len(known) else ""
    dress(ax, "depth", "expected calibration error (ECE)", note)
    if not len(known):
        return say_empty(ax)
    ax.axvline(depth, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    for curve in curves:
        look = curve.look
        marker = look.marker if len(curve.ece) <= FEW_DEPTHS else ""
        ax.plot(curve.ece, color=look.colour, linewidth=look.width, marker=marker, markersize=3.5)
    last = max(len(curve.ece) for curve in curves) - 1
    margin = 0.03 * last or 0.5
    ax.set_xlim(-margin, last + margin)
    ax.set_ylim(0.0, 1.05 * known.max() or 1.0)
    number_scale(ax, "x", 10, integer=True)
    number_scale(ax, "y")

"""Do intervals, or label sets, hold the truth as often as they say, and how wide are they?

A *level* is the share of truths that a method promises to cover. A method on the diagonal keeps
its promise; one above it is too careful, one below it too bold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import (
    COLOURS,
    DASHES,
    LINE,
    MAIN,
    NO_VALUE,
    OTHER,
    dress,
    overlaid_widths,
    panels,
    say_empty,
    shorten,
)
from forestlab.figures.words import number_scale

MARKERS = "osD^vPX"  # 7 beside 8 colours: 56 looks
NAME_LETTERS = 30
MOST_BANDS = 4
POINT = "#777777"
BAND = to_rgba(MAIN, 0.25)

Kind = Literal["interval", "set"]
WIDTH = {
    "interval": "mean width of an interval (units of the target)",
    "set": "mean size of a set (number of classes)",
}
Points = tuple[np.ndarray, np.ndarray]
Limits = tuple[float, float]


def coverage_curve(
    levels: np.ndarray,
    coverage: Mapping[str, np.ndarray],
    width: Mapping[str, np.ndarray],
    title: str,
    kind: Kind = "interval",
    remarks: Mapping[str, str] | None = None,
) -> Figure:
    """Measured coverage, and what it costs in width, against the level.

    Parameters
    ----------
    levels : (L,) rising, each between 0 and 1
    coverage : method → (L,) share of truths covered; NaN where there is none
    width : method → (L,) mean width of intervals, or size of sets; infinite ones are not drawn
    kind : what is measured
    remarks : method → words after its name, such as of how it is made and of how many rows
    """
    x = np.asarray(levels, np.float64)
    looks = zip(cycle(COLOURS), cycle(MARKERS), overlaid_widths(len(coverage)), strict=False)
    entries = {
        name: Entry(_named(name, remarks), colour, line, marker)
        for name, (colour, marker, line) in zip(coverage, looks, strict=True)
    }
    right = inches_beside(list(entries.values()))
    figure, axes = panels(title, [3.6, 3.6], 3.4, right=right)
    level = f"level: the share that {kind}s promise to cover"
    dress(axes[0], level, f"share of rows whose {kind} holds the truth",
          "dashed: as promised; above: too careful")  # fmt: skip
    endless = any(np.isinf(values).any() for values in width.values())
    dress(axes[1], level, WIDTH[kind], "infinite means are not drawn" if endless else "")
    if not len(x) or not coverage:
        for ax in axes:
            say_empty(ax, "nothing measured")
        return figure
    lowest, _ = _limits([x, *coverage.values()], 0.05)
    _curves(axes[0], x, coverage, entries, (lowest, 1.02))
    axes[0].axline((0.0, 0.0), slope=1.0, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    _, highest = _limits([np.zeros(1), *width.values()], 0.05)
    _curves(axes[1], x, width, entries, (0.0, highest))
    legend_beside(axes[1], list(entries.values()))
    return figure


def prediction_band(
    x: np.ndarray,
    mean: np.ndarray,
    bands: Mapping[str, Points],
    train_points: Points,
    title: str,
    truth: Points | None = None,
    remarks: Mapping[str, str] | None = None,
    names: tuple[str, str] = ("feature", "target"),
) -> Figure:
    """What methods say of a target that depends on one feature, side by side.

    Parameters
    ----------
    x : (m,) where the forest was asked
    mean : (m,) its answers
    bands : at most four: method → the low and the high ends (m,) of its intervals, all at one
        level, which the title should tell; infinite ends lie beyond the panel, and where one is
        NaN the interval is unknown, which is grey
    train_points : feature and target of the training rows, each (n,)
    truth : feature and target without noise, if known, each (k,)
    remarks : method → words after its name
    names : of feature and target
    """
    if len(bands) > MOST_BANDS:
        raise ValueError(f"at most {MOST_BANDS} methods stand side by side; got {len(bands)}.")
    feature, target = (shorten(name, NAME_LETTERS) for name in names)
    order = np.argsort(x, kind="stable")
    x, mean = (np.asarray(values, np.float64)[order] for values in (x, mean))
    ends = {name: np.array(band, np.float64)[:, order] for name, band in bands.items()}
    ends = ends or {"no intervals": np.full((2, len(x)), np.nan)}
    lines = [("forest", x, mean, MAIN)]
    if truth is not None:
        lines.append(("truth, without noise", *truth, OTHER))
    entries = [Entry("training rows", POINT, 0.0, "o"), Entry("interval", BAND, 8.0)]
    entries += [Entry(label, colour) for label, _, _, colour in lines]
    if any(np.isnan(band).any() for band in ends.values()):
        entries.append(Entry("unknown", NO_VALUE, 8.0))
    widths = [4.2 if len(ends) < 3 else 3.2] * len(ends)
    figure, axes = panels(title, widths, 3.2, right=inches_beside(entries))
    across = _limits([train_points[0], *(line[1] for line in lines)], 0.02)
    up = _limits([train_points[1], *(line[2] for line in lines), *ends.values()], 0.04)
    for ax, (name, (low, high)) in zip(axes, ends.items(), strict=True):
        _grey(ax, x, np.isnan(low) | np.isnan(high), up)
        ax.fill_between(x, np.clip(low, *up), np.clip(high, *up), color=BAND, linewidth=1.0)
        ax.scatter(*train_points, s=8.0, color=POINT, alpha=0.6, linewidths=0.0)
        for label, places, values, colour in lines:
            marker = "o" if len(places) == 1 else ""
            ax.plot(places, values, color=colour, linewidth=1.6, label=label, marker=marker)
        dress(ax, feature, target, _named(name, remarks))
        _frame(ax, across, up)
    legend_beside(axes[-1], entries)
    return figure


# ---- drawing -----------------------------------------------------------------------------------


def _named(name: str, remarks: Mapping[str, str] | None) -> str:
    remark = (remarks or {}).get(name)
    return shorten(name, NAME_LETTERS) + (f": {remark}" if remark else "")


def _grey(ax: Axes, x: np.ndarray, unknown: np.ndarray, up: Limits) -> None:
    """Grey paper around the places of which nothing is known, halfway to their neighbours."""
    if not unknown.any():
        return
    around = np.array([x[0] - 0.5, *x, x[-1] + 0.5]) if len(x) == 1 else np.pad(x, 1, "edge")
    edges = (around[1:] + around[:-1]) / 2.0
    spans = np.column_stack([edges[:-1], np.diff(edges)])[unknown]
    ax.broken_barh(spans.tolist(), (up[0], up[1] - up[0]), facecolors=NO_VALUE, zorder=0.5)


def _curves(
    ax: Axes, x: np.ndarray, curves: Mapping, entries: Mapping[str, Entry], up: Limits
) -> None:
    """A curve for each method; `up` are the limits of the vertical axis."""
    for name, values in curves.items():
        y = np.asarray(values, np.float64)
        ax.plot(x, np.where(np.isfinite(y), y, np.nan), color=entries[name].colour, label=name,
                marker=entries[name].marker, linewidth=entries[name].width,
                markersize=3.0 + entries[name].width)  # fmt: skip
    margin = 0.03 * np.ptp(x) or 0.05
    _frame(ax, (x.min() - margin, x.max() + margin), up, 8)


def _frame(ax: Axes, across: Limits, up: Limits, most: int = 5) -> None:
    """The limits of both axes, with at most so many numbers and one along the horizontal one."""
    ax.set_xlim(across)
    ax.set_ylim(up)
    number_scale(ax, "x", most)
    number_scale(ax, "y")


def _limits(values: Sequence[np.ndarray], margin: float) -> Limits:
    """Around all finite values, with a margin on both sides; something, if there are none."""
    known = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in values])
    known = known[np.isfinite(known)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    room = margin * (high - low) or 0.5
    return low - room, high + room

"""A metric against what a sweep varied: curves over numbers, points over words, maps over two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import (
    COLOURS,
    LABEL,
    NO_VALUE,
    SPLIT_COLOURS,
    SPLIT_MARKERS,
    dress,
    ink,
    panels,
    shorten,
)
from forestlab.figures.words import TICK, Words, number_scale, scale, text_width, x_depth

HEIGHT, WIDE, NARROW = 3.2, 5.4, 3.0  # inches of a panel, alone or beside others
LETTERS = 48  # of a tick or a line's name
DODGE = 0.12  # of the way from word to word, between points that stand at the same one
CELL = (0.95, 0.42)  # inches


class Swept(NamedTuple):
    """What one axis shows: n values of a key, in their order."""

    name: str
    labels: Sequence[str]
    places: np.ndarray  # (n,) rising
    is_joined: bool  # numbers, over which there is a curve

    @property
    def ticks(self) -> list[str]:
        return [shorten(label, LETTERS) for label in self.labels]


class Measured(NamedTuple):
    """At each of n values: over the seeds, NaN where nothing is known."""

    mean: np.ndarray  # (n,)
    spread: np.ndarray  # (n,) standard deviation


def swept_lines(
    each: Mapping[str, Mapping[str, Measured]], x: Swept, metric: str, title: str, note: str = ""
) -> Figure:
    """By panel and line: a metric against one key; error bars are one standard deviation.

    Lines that are called as splits are, have their colours.
    """
    names = list(dict.fromkeys(name for lines in each.values() for name in lines))
    colours = dict(zip(names, [COLOURS[k % len(COLOURS)] for k in range(len(names))], strict=True))
    colours |= {name: SPLIT_COLOURS[name] for name in names if name in SPLIT_COLOURS}
    entries = [
        Entry(shorten(name, LETTERS), colours[name], marker=SPLIT_MARKERS.get(name, "o"))
        for name in names
    ]
    widest = max(text_width(tick, TICK) for tick in x.ticks)
    width = WIDE if len(each) == 1 else NARROW
    rotation = 40.0 if widest > 0.8 * 72.0 * width / len(x.ticks) else 0.0
    bottom = (x_depth(widest, rotation) + 22.0) / 72.0
    figure, axes = panels(title, [width] * len(each), HEIGHT, right=inches_beside(entries),
                          bottom=bottom, gap=0.75)  # fmt: skip
    limits = _limits(x.places, x.is_joined), _limits(_ends(each), True)
    for ax, (panel, lines) in zip(axes, each.items(), strict=True):
        for k, (name, measured) in enumerate(lines.items()):
            aside = 0.0 if x.is_joined else DODGE * (k - (len(lines) - 1) / 2.0)
            marker = SPLIT_MARKERS.get(name, "o")
            _draw_line(ax, x.places + aside, measured, colours[name], marker, x.is_joined)
        dress(ax, x.name, metric if ax is axes[0] else "", panel or note)
        ax.set_xlim(*limits[0])
        ax.set_ylim(*limits[1])
        shown = _apart(x.places, x.ticks, limits[0], width, rotation)
        scale(ax, "x", x.places[shown], [x.ticks[k] for k in shown], rotation=rotation)
        number_scale(ax, "y")
    legend_beside(axes[-1], entries)
    return figure


def _draw_line(ax: Axes, x: np.ndarray, measured: Measured, colour, marker: str, joined) -> None:
    low, high = measured.mean - measured.spread, measured.mean + measured.spread
    ax.vlines(x, low, high, colors=colour, linewidths=1.2, zorder=2)
    ax.plot(x, measured.mean, linestyle="-" if joined else "none", color=colour, marker=marker,
            markersize=5.0, linewidth=1.6, zorder=3)  # fmt: skip


def _ends(each: Mapping[str, Mapping[str, Measured]]) -> np.ndarray:
    """All that is drawn."""
    found = [m for lines in each.values() for m in lines.values()]
    spreads = [np.nan_to_num(m.spread) for m in found]
    pairs = zip(found, spreads, strict=True)
    return np.concatenate([m.mean + sign * s for m, s in pairs for sign in (-1.0, 1.0)])


def _limits(values: np.ndarray, close: bool) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    margin = (0.05 * np.ptp(known) or 0.5) if close and len(known) else 0.5
    return (float(known.min() - margin), float(known.max() + margin)) if len(known) else (0.0, 1.0)


def _apart(places, ticks: Sequence[str], limits, width: float, rotation: float) -> list[int]:
    """Ticks whose words do not run into those before them; the last comes before the others."""
    inch = width / (limits[1] - limits[0])
    room = [0.16 if rotation else text_width(tick, TICK) / 72.0 + 0.1 for tick in ticks]
    kept = [len(ticks) - 1]
    for k in range(len(ticks) - 1):
        near = [m for m in kept if abs(places[k] - places[m]) * inch < (room[k] + room[m]) / 2.0]
        kept += [] if near else [k]
    return sorted(kept)


def swept_map(
    values: np.ndarray,
    x: Swept,
    y: Swept,
    metric: str,
    title: str,
    better: Literal["higher", "lower"] = "higher",
    note: str = "",
) -> Figure:
    """A metric over two keys, (n_y, n_x): the numbers on their colours, the better the brighter."""
    left = 0.45 + max(text_width(tick, TICK) for tick in y.ticks) / 72.0
    long = [(text_width(axis.name, LABEL) + 12.0) / 72.0 for axis in (x, y)]
    size = [
        max(one * len(axis.ticks), least)
        for one, axis, least in zip(CELL, (x, y), long, strict=True)
    ]
    widest = max(text_width(tick, TICK) for tick in x.ticks)
    rotation = 40.0 if widest > 0.9 * 72.0 * CELL[0] else 0.0
    bottom = (x_depth(widest, rotation) + 22.0) / 72.0
    figure, (ax,) = panels(title, [size[0]], size[1], left=left, bottom=bottom)
    shades = _shades(values, better)
    paint = colormaps["viridis"].with_extremes(bad=NO_VALUE)
    ax.imshow(shades, cmap=paint, vmin=0.0, vmax=1.0, aspect="auto", origin="lower")
    rows, columns = np.nonzero(np.isfinite(values))
    texts = [f"{values[cell]:.4g}" for cell in zip(rows, columns, strict=True)]
    inks = [ink(paint(shades[cell])) for cell in zip(rows, columns, strict=True)]
    Words(ax, np.column_stack([columns, rows]), texts, colours=inks)
    dress(ax, x.name, y.name, f"{metric}{note}")
    scale(ax, "x", np.arange(len(x.ticks)), x.ticks, grid=False, rotation=rotation)
    scale(ax, "y", np.arange(len(y.ticks)), y.ticks, grid=False)
    return figure


def _shades(values: np.ndarray, better: str) -> np.ndarray:
    """0 for the worst … 1 for the best; NaN stays."""
    signed = values if better == "higher" else -values
    low, high = np.nanmin(signed), np.nanmax(signed)
    return (signed - low) / (high - low) if high > low else np.where(np.isnan(values), np.nan, 1.0)

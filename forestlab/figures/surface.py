"""A metric at every depth and every number of trees: the whole surface that one fit yields.

Colours are spent where the eye needs them. Depth 0 is the bare prior, a single tree is poor, and
most of the surface is a plateau within a few hundredths of the best: on a plain scale from the
worst value to the best, all of it looks the same. So

- a colour stands for the *square root* of a value's distance from the best;
- the scale ends at Tukey's fence, one and a half interquartile ranges beyond the worse quartile,
  if there are values beyond it; a surface without such outliers is shown whole;
- each split has a scale of its own: on a common one the training rows, which a forest knows, would
  be all of one colour, or the differences of the others would drown.

Where values lie beyond the end of a scale, its bar has a tip that says how far they go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from forestlab.core.prune import best_depth
from forestlab.figures.style import DPI, NO_VALUE, Better, dress, ink, panels
from forestlab.figures.words import Words, number_scale, plain, scale, scale_right

WIDTH, NARROW = 480, 270  # pixels of a panel, alone or beside others
HEIGHT, LEAST_HEIGHT = 300, 160
MOST_ROW = 60  # pixels
MOST_LABELS = 25  # sizes; with more, some rows have no label
N_NUMBERS, DIGITS = 7, 6  # at most so many beside the colour bar, of at most so many digits
GAP = 1.05  # inches between panels, with the bar of the first
BAR = (0.12, 0.14)  # inches from a panel to its colour bar, and its width
NUMBERS = 0.65  # inches for the numbers right of the last bar
TIP = 0.13  # inches, the height of a tip of the bar
PAINT: dict[str, Any] = {
    "cmap": colormaps["viridis"].with_extremes(bad=NO_VALUE),
    "vmin": 0.0,
    "vmax": 1.0,
    "aspect": "auto",
    "origin": "lower",
    "interpolation": "nearest",
}


def surface_maps(
    surfaces: Mapping[str, np.ndarray],
    sizes: np.ndarray,
    metric: str,
    title: str,
    better: Better = "higher",
) -> Figure:
    """A metric over depth and number of trees, as colours, a map for each split; its best cell has
    a ring.

    Parameters
    ----------
    surfaces : split → (S, D) values at sizes[i] trees and depth 0, 1, …; NaN where there is none;
        up to 4 fit on a page
    sizes : (S,) numbers of trees, rising; their rows are equally high
    metric : its name and unit
    title : what is shown, and of which run
    better : which values of the metric are the better ones: these are bright

    Notes
    -----
    Of equally good cells the ring is around the least deep, and of those the one of fewest trees.
    """
    arrays = {split: _finite(values) for split, values in surfaces.items()}
    figure, axes, bars = _panels(title, list(arrays.values()))
    for ax, bar, (split, values) in zip(axes, bars, arrays.items(), strict=True):
        colours = colour_scale(values, better)
        _draw_map(ax, values, sizes, better, colours, split, named=ax is axes[0])
        _draw_bar(bar, values, colours, metric if ax is axes[-1] else "")
    return figure


class Scale(NamedTuple):
    """From the worst value that has a colour of its own to the best, whichever is higher."""

    worst: float
    best: float

    def shade(self, values: np.ndarray) -> np.ndarray:
        """0, dark, at the worst end, to 1, bright, at the best; NaN stays NaN."""
        distance = (np.asarray(values) - self.best) / (self.worst - self.best)
        return 1.0 - np.sqrt(np.clip(distance, 0.0, 1.0))

    def value(self, shade: np.ndarray) -> np.ndarray:
        return self.best + (1.0 - shade) ** 2 * (self.worst - self.best)


def colour_scale(values: np.ndarray, better: Better) -> Scale:
    """The scale for such values; the module's docstring gives the reasons."""
    sign = 1.0 if better == "higher" else -1.0
    known = sign * values[~np.isnan(values)]  # higher is better
    if not len(known):
        return Scale(0.0, sign)
    worst, low, high, best = np.quantile(known, [0.0, 0.25, 0.75, 1.0])
    fence = low - 1.5 * (high - low)
    if fence < best:  # else nearly all values are the same, and the outliers all there is to see
        worst = max(worst, fence)
    if best - worst <= 1e-9 * abs(best):  # one value, but for rounding
        worst = best - (abs(best) or 1.0)
    return Scale(sign * float(worst), sign * float(best))


def best_cell(values: np.ndarray, better: Better) -> tuple[int, int] | None:
    """The row and column of the best value: `best_depth`, and there the fewest trees."""
    goodness = values if better == "higher" else -values
    depth = best_depth(np.fmax.reduce(goodness, axis=0), higher_is_better=True)
    return None if depth is None else (int(np.nanargmax(goodness[:, depth])), depth)


# ---- drawing -----------------------------------------------------------------------------------


def _finite(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _panels(title: str, surfaces: list[np.ndarray]) -> tuple[Figure, list[Axes], list[Axes]]:
    """Axes for the maps and for their colour bars."""
    n_sizes, n_depths = np.max([values.shape for values in surfaces], axis=0).tolist()
    wide = _panel_pixels(n_depths, NARROW if len(surfaces) > 1 else WIDTH) / DPI
    high = max(_panel_pixels(n_sizes, HEIGHT, MOST_ROW), LEAST_HEIGHT) / DPI
    right = sum(BAR) + NUMBERS + 0.3
    figure, axes = panels(title, [wide] * len(surfaces), high, right=right, gap=GAP, top=0.45)
    width, bars = figure.get_size_inches()[0], []
    for ax in axes:
        frame = ax.get_position()
        place = frame.x1 + BAR[0] / width, frame.y0, BAR[1] / width, frame.height
        bars.append(figure.add_axes(place, label="bar"))
    return figure, axes, bars


def _panel_pixels(n: int, most: int, most_each: int | None = None) -> float:
    """Of n cells, each of a whole number of pixels, so that they are equally wide, if they can."""
    if n > most // 2:
        return most
    return n * min(round(most / n), most_each or most)


def _draw_map(
    ax: Axes, values: np.ndarray, sizes, better: Better, colours: Scale, split: str, named: bool
) -> None:
    """One map; the rows of the first are named for all."""
    shades = colours.shade(values)
    ax.imshow(shades, **PAINT)
    best = best_cell(values, better)
    if best is not None:
        ax.plot(best[1], best[0], marker="o", markersize=9.0, markerfacecolor="none",
                markeredgecolor=ink(PAINT["cmap"](shades[best])), markeredgewidth=1.6,
                clip_on=False)  # fmt: skip
    missing = " (grey: no value)" if np.isnan(values).any() else ""
    note = f"{split}: {_words(values, sizes, best)}"
    dress(ax, f"depth{missing}", "number of trees" if named else "", note)
    number_scale(ax, "x", 10, integer=True, grid=False)
    rows = np.arange(0, len(sizes) if named else 0, -(-len(sizes) // MOST_LABELS))
    scale(ax, "y", rows, [str(sizes[i]) for i in rows], grid=False)


def _words(values: np.ndarray, sizes, best: tuple[int, int] | None) -> str:
    if best is None:
        return "no values"
    trees = "1 tree" if sizes[best[0]] == 1 else f"{sizes[best[0]]} trees"
    return f"{plain(values[best])} at depth {best[1]}, {trees}"


# ---- the colour bar ----------------------------------------------------------------------------


def _draw_bar(bar: Axes, values: np.ndarray, colours: Scale, label: str) -> None:
    """The colours, the best on top; of one value only that is numbered, of none nothing."""
    known = np.unique(values[~np.isnan(values)])
    shades = np.linspace(0.0, 1.0, 256)[:, None]
    bar.imshow(shades if len(known) else np.full((1, 1), np.nan), extent=(0, 1, 0, 1), **PAINT)
    scale(bar, "x", np.empty(0), [])
    shown = _round_values(colours) if len(known) > 1 else known
    texts = [plain(value, DIGITS) for value in shown]
    scale_right(bar, colours.shade(shown), texts)
    dress(bar, "", label)
    for value in known[[0, -1]] if len(known) else known:
        _draw_tip(bar, value, colours)


def _draw_tip(bar: Axes, value: float, colours: Scale) -> None:
    """Where a value lies beyond an end of the scale, a tip, and how far it goes."""
    distance = (value - colours.best) / (colours.worst - colours.best)
    if 0.0 <= distance <= 1.0:
        return
    end, up = (0.0, -1.0) if distance > 1.0 else (1.0, 1.0)
    tip = end + up * TIP * DPI / bar.bbox.height
    corners = [(0.0, end), (1.0, end), (0.5, tip)]
    colour = PAINT["cmap"](end)
    bar.add_patch(Polygon(corners, facecolor=colour, transform=bar.transAxes, clip_on=False))
    Words(bar, np.array([[0.5, tip]]), [f"to {plain(value, 3)}"], bar.transAxes,
          shift=(0.0, 7.0 * up))  # fmt: skip


def _round_values(colours: Scale) -> np.ndarray:
    """Values about evenly along the bar, each as round as the distance to the next allows.

    The ends may have a digit more: they are of interest themselves.
    """
    values = colours.value(np.linspace(0.0, 1.0, N_NUMBERS))
    gaps = np.abs(np.diff(values))
    decimals = -np.floor(np.log10([gaps[0] / 10, *np.minimum(gaps[1:], gaps[:-1]), gaps[-1] / 10]))
    rounded = [round(v, int(n)) for v, n in zip(values.tolist(), decimals, strict=True)]
    return np.unique([float(f"{value:.{DIGITS}g}") for value in rounded])

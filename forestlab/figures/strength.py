"""How strong a forest's trees are, how alike, and what that bounds, against depth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, legend_above
from forestlab.figures.style import (
    DASHES,
    LINE,
    MAIN,
    OTHER,
    SPLIT_COLOURS,
    dress,
    panels,
    say_empty,
)
from forestlab.figures.words import number_scale, scale

PANEL = (4.2, 3.2)  # inches
FEW_POINTS = 40  # longer curves have no markers
BOUND, WIDE = "#F5B7A6", 6.0  # the bound is broad and pale: what runs on it is seen above it


class Curve(NamedTuple):
    name: str
    values: np.ndarray  # (n_depths,)
    colour: str
    marker: str
    width: float = 1.6  # points


def strength_curve(
    strength: np.ndarray,
    correlation: np.ndarray,
    bound: np.ndarray,
    title: str,
    error: np.ndarray | None = None,
) -> Figure:
    """Strength and correlation of the trees; and the bound of the error that they give.

    Parameters
    ----------
    strength, correlation, bound : (n_depths,) as in `VoteStrength`; NaN where there is none
    error : (n_depths,) the forest's out-of-bag error, to see how far below the bound it is
    """
    figure, (left, right) = panels(title, [PANEL[0]] * 2, PANEL[1])
    pair = [Curve("strength", _array(strength), MAIN, "o"), _correlation(correlation)]
    _draw(left, pair, "strength (mean margin of votes), correlation")
    _linear(left, pair)
    curves = [Curve("Breiman's bound", _array(bound), BOUND, "", WIDE), *_error("error", error)]
    _draw(right, curves, "error rate (share of rows); a bound above 1 is void")
    _logarithmic(right, curves)
    return figure


def residual_curve(
    tree_rmse: np.ndarray,
    correlation: np.ndarray,
    bound: np.ndarray,
    title: str,
    error: np.ndarray | None = None,
) -> Figure:
    """Error of single trees and the bound of the forest's; and the correlation of residuals.

    Parameters
    ----------
    tree_rmse, correlation, bound : (n_depths,) as in `ResidualStrength`: the bound is of the mean
        squared error of ever more trees, and its root is drawn
    error : (n_depths,) the forest's out-of-bag root mean squared error
    """
    figure, (left, right) = panels(title, [PANEL[0]] * 2, PANEL[1])
    with np.errstate(invalid="ignore"):
        root = np.sqrt(_array(bound))
    curves = [
        Curve("trees, mean", _array(tree_rmse), MAIN, "o"),
        Curve("bound: of ever more trees", root, BOUND, "", WIDE),
        *_error("forest", error),
    ]
    _draw(left, curves, "root mean squared error (units of the target)")
    _linear(left, curves)
    alone = [_correlation(correlation)]
    _draw(right, alone, "correlation of the trees' residuals")
    _linear(right, alone)
    return figure


def _correlation(values) -> Curve:
    return Curve("correlation", _array(values), OTHER, "s")


def _error(name: str, values) -> list[Curve]:
    if values is None:
        return []
    return [Curve(f"{name}, out of bag", _array(values), SPLIT_COLOURS["oob"], "^")]


def _array(values) -> np.ndarray:
    return np.asarray(values, np.float64)


# ---- drawing -----------------------------------------------------------------------------------


def _draw(ax: Axes, curves: list[Curve], y: str) -> None:
    """Curves with a legend, which one alone does not need."""
    entries = []
    for name, values, colour, marker, width in curves:
        marker = marker if len(values) <= FEW_POINTS else ""
        ax.plot(values, color=colour, linewidth=width, label=name, marker=marker, markersize=3.5)
        entries.append(Entry(name, colour, width, marker))
    if len(entries) > 1:
        legend_above(ax, entries)
    dress(ax, "depth", y)
    last = max(len(curves[0].values) - 1, 0)
    margin = 0.03 * last or 0.5
    ax.set_xlim(-margin, last + margin)


def _known(curves: list[Curve]) -> np.ndarray:
    values = np.concatenate([curve.values for curve in curves])
    return values[np.isfinite(values)]


def _linear(ax: Axes, curves: list[Curve]) -> None:
    """From 0, or what is below it, on."""
    known = _known(curves)
    if not len(known):
        return say_empty(ax, "no values")
    low, high = min(known.min(), 0.0), max(known.max(), 0.0)
    margin = 0.05 * (high - low) or 0.5
    ax.set_ylim(low - margin if low < 0.0 else 0.0, high + margin)
    number_scale(ax, "x", 10, integer=True)
    number_scale(ax, "y")


def _logarithmic(ax: Axes, curves: list[Curve]) -> None:
    """With a line at 1: no error rate is above, so there a bound says nothing."""
    known = _known(curves)
    known = known[known > 0.0]
    if not len(known):
        return say_empty(ax, "no values")
    low, high = known.min() / 1.2, known.max() * 1.2
    ax.set_yscale("log")
    ax.set_ylim(low, high)
    ax.axhline(1.0, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1.0)
    steps = (1.0,) if high / low > 1e3 else (1.0, 2.0, 5.0)
    places = np.array([step * 10.0**power for power in powers for step in steps])
    places = places[(places >= low) & (places <= high)]
    if len(places) < 2:
        places = np.unique([known.min(), known.max()])
    number_scale(ax, "x", 10, integer=True)
    scale(ax, "y", places, [f"{place:.3g}" for place in places])

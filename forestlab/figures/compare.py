"""Differences between variants, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from forestlab.figures.style import DASHES, LINE, MAIN, dress, panels, shorten
from forestlab.figures.words import TICK, number_scale, scale, text_width

NAME_LETTERS = 60
WIDTH = 5.4  # inches


def interval_plot(
    names: Sequence[str],
    differences: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    label: str,
    title: str,
    note: str = "",
) -> Figure:
    """A difference and its interval for each name, the first on top.

    Those whose interval holds 0 are grey and hollow; those without one are a point and a name.

    Parameters
    ----------
    differences : (n,) NaN where there is none
    lows, highs : (n,) of the intervals; NaN where there is none
    label : what the differences are of
    """
    middle, low, high = (np.asarray(x, np.float64) for x in (differences, lows, highs))
    shown = [shorten(name, NAME_LETTERS) for name in names]
    left = 0.45 + max((text_width(name, TICK) for name in shown), default=0.0) / 72.0
    figure, (ax,) = panels(title, [WIDTH], 0.3 + 0.26 * len(shown), left=left)
    places = np.arange(len(shown))
    apart = (low > 0.0) | (high < 0.0)
    for there, colour, face in ((apart, MAIN, MAIN), (~apart, LINE, "white")):
        ax.hlines(places[there], low[there], high[there], colors=colour, linewidths=2.0, zorder=2)
        ax.plot(middle[there], places[there], "o", color=colour, markerfacecolor=face,
                markersize=6.5, markeredgewidth=1.5, zorder=3)  # fmt: skip
    ax.axvline(0.0, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    dress(ax, label, "variant", note)
    ax.set_xlim(*_limits(np.concatenate([middle, low, high])))
    ax.set_ylim(len(shown) - 0.4, -0.6)
    scale(ax, "y", places, shown, grid=False)
    number_scale(ax, "x")
    return figure


def _limits(values: np.ndarray) -> tuple[float, float]:
    """From the least to the greatest and 0, with a margin; 0 is always in sight."""
    known = np.append(values[np.isfinite(values)], 0.0)
    margin = 0.06 * np.ptp(known) or 1.0
    return float(known.min() - margin), float(known.max() + margin)

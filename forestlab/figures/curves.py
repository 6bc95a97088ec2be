"""A metric of many runs against depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress, panels, shorten
from forestlab.figures.words import number_scale

PANEL = (5.4, 3.4)  # inches
FEW_POINTS = 40  # longer curves have no markers
LEGEND_LINES = 20  # a column
MOST_NAMED = 39  # curves in a legend
NAME_LETTERS = 34
BANDED = 3  # seeds; with fewer, a standard deviation says little


def overlaid_curves(
    curves: Mapping[str, np.ndarray], metric: str, title: str, split: str = "test"
) -> Figure:
    """One metric of many runs against depth, on one split.

    Parameters
    ----------
    curves : label of the run → (its max_depth + 1,) values; NaN where there is none
    """
    values = _arrays(curves)
    names = [shorten(label, NAME_LETTERS) for label in values]
    figure, ax, colours = _runs_panel(names, title)
    for y, colour in zip(values.values(), colours, strict=True):
        _draw_run(ax, y, colour)
    _dress_runs(ax, f"{metric} ({split})", list(values.values()))
    return figure


def banded_curves(
    curves: Mapping[str, np.ndarray | Sequence[np.ndarray]],
    metric: str,
    title: str,
    split: str = "test",
) -> Figure:
    """One metric of several variants against depth, each the mean over its seeds.

    Parameters
    ----------
    curves : label of the variant → (n_seeds, max_depth + 1) values, or a list of curves of any
        lengths; they are `aligned`

    Notes
    -----
    A band reaches one standard deviation over seeds (of a sample: n − 1) from the mean; the curves
    of fewer than three seeds are drawn themselves, thinly. Curves without any value do not count.
    """
    tables = {label: aligned(list(rows)) for label, rows in curves.items()}
    values = {label: y[np.isfinite(y).any(axis=1)] for label, y in tables.items()}
    names = [
        f"{shorten(label, NAME_LETTERS)} ({len(y)} seed{'s' * (len(y) != 1)})"
        for label, y in values.items()
    ]
    figure, ax, colours = _runs_panel(names, title)
    means = []
    for y, colour in zip(values.values(), colours, strict=True):
        mean, spread = _mean_and_spread(y)
        if len(y) >= BANDED:
            ax.fill_between(np.arange(len(mean)), mean - spread, mean + spread, color=colour,
                            alpha=0.2, linewidth=1.0)  # fmt: skip
        elif len(y) > 1:
            ax.plot(y.T, color=colour, linewidth=0.7)
        _draw_run(ax, mean, colour)
        means.append(mean)
    _dress_runs(ax, f"{metric} ({split})", means, _seeds_note([len(y) for y in values.values()]))
    return figure


def aligned(curves: Sequence[np.ndarray]) -> np.ndarray:
    """Curves over depth as rows, each continued by its last value to the length of the longest.

    A tree that is cut deeper than it is stays the same, and so does a forest: the value at a depth
    that a run did not reach is that of its deepest. This does not hold for a run that a smaller
    max_depth stopped: align runs of the same max_depth only.

    Parameters
    ----------
    curves : of (D_i,) values at depth 0, 1, …; NaN at a curve's end is taken for padding

    Returns
    -------
    (n_curves, D) the longest has D values; a curve without any is all NaN
    """
    rows = [np.asarray(curve, np.float64) for curve in curves]
    table = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for line, y in zip(table, rows, strict=True):
        known = np.flatnonzero(np.isfinite(y))
        if len(known):
            last = known[-1]
            line[:last], line[last:] = y[:last], y[last]
    return table


# ---- drawing -----------------------------------------------------------------------------------


def _arrays(curves: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values, np.float64) for name, values in curves.items()}


def _runs_panel(names: list[str], title: str) -> tuple[Figure, Axes, list]:
    """A panel with a legend of runs beside it; and their colours."""
    colours = _run_colours(len(names))
    entries = [Entry(*pair) for pair in zip(names, colours, strict=True)][:MOST_NAMED]
    if len(names) > MOST_NAMED:
        entries.append(Entry(f"… {len(names) - MOST_NAMED} more", "none"))
    height = max(PANEL[1], 0.2 * min(len(entries), LEGEND_LINES))
    right = inches_beside(entries, LEGEND_LINES)
    figure, (ax,) = panels(title, [PANEL[0]], height, right=right)
    legend_beside(ax, entries, LEGEND_LINES)
    return figure, ax, colours


def _draw_run(ax: Axes, y: np.ndarray, colour) -> None:
    # The same forest cut at several depths gives curves that run on each other: the shorter on
    # top, and a mark where each ends.
    above = 2.0 + 1.0 / max(len(y), 1)
    ax.plot(y, color=colour, linewidth=1.4, marker=_marker("o", y), markersize=3.0, zorder=above)
    ax.plot(np.arange(len(y))[-1:], y[-1:], "o", color=colour, markersize=6.0, zorder=above)


def _mean_and_spread(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation over the rows that have a value; NaN without one, or two."""
    known = np.isfinite(y)
    n, nothing = known.sum(axis=0), np.full(y.shape[1], np.nan)
    mean = np.divide(np.where(known, y, 0.0).sum(axis=0), n, out=nothing.copy(), where=n > 0)
    squares = np.where(known, (y - mean) ** 2, 0.0).sum(axis=0)
    return mean, np.sqrt(np.divide(squares, n - 1, out=nothing, where=n > 1))


def _seeds_note(n_seeds: list[int]) -> str:
    notes = {
        "mean over seeds": any(n > 1 for n in n_seeds),
        "bands: ± 1 standard deviation": any(n >= BANDED for n in n_seeds),
        "thin: each seed": any(1 < n < BANDED for n in n_seeds),
    }
    return "; ".join(note for note, applies in notes.items() if applies)


def _dress_runs(ax: Axes, label: str, curves: list[np.ndarray], note: str = "") -> None:
    dress(ax, "depth", label, note)
    _whole_steps(ax, 0, max(map(len, curves), default=1) - 1)
    number_scale(ax, "y")


def _marker(marker: str, y: np.ndarray) -> str:
    return marker if len(y) <= FEW_POINTS else ""


def _run_colours(n: int) -> list:
    """Few runs have colours to tell apart; many are a scale, in their order."""
    if n <= len(COLOURS):
        return list(COLOURS[:n])
    return list(colormaps["viridis"](np.linspace(0.0, 0.92, n)))


def _whole_steps(ax: Axes, first: int, last: int) -> None:
    margin = 0.03 * (last - first) if last > first else 0.5
    ax.set_xlim(first - margin, last + margin)
    number_scale(ax, "x", 10, integer=True)

"""A metric of many runs against depth.

Runs that do equally well run on each other: the first are drawn broadest, at the bottom, so that
those above leave them an edge. What is near the best is shown again in a panel of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, Better, dress, overlaid_widths, panels, shorten
from forestlab.figures.words import number_scale
from forestlab.figures.zoom import near

PANEL = (5.4, 3.4)  # inches
PAIR = 4.4  # the width of each of two panels
FEW_POINTS = 40  # longer curves have no markers
FEW_DEPTHS = 5  # with fewer, a closer look shows no more
LEGEND_LINES = 20  # a column
MOST_NAMED = 39  # curves in a legend
NAME_LETTERS = 34
BANDED = 3  # seeds; with fewer, a standard deviation says little

Limits = tuple[float, float]


def banded_curves(
    curves: Mapping[str, np.ndarray | Sequence[np.ndarray]],
    metric: str,
    title: str,
    split: str = "test",
    better: Better | None = None,
) -> Figure:
    """One metric of several variants against depth, each the mean over its seeds.

    Parameters
    ----------
    curves : label of the variant → (n_seeds, max_depth + 1) values, or a list of curves of any
        lengths; they are `aligned`
    better : which values of the metric are the better ones; with it what is near them is shown too

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
    told = [_mean_and_spread(y) for y in values.values()]
    means = [mean for mean, _ in told]
    closer = _near_best(means, better)
    figure, axes, looks = _runs_panels(names, title, closer)
    for ax in axes:
        for y, (mean, spread), look in zip(values.values(), told, looks, strict=True):
            _draw_seeds(ax, y, mean, spread, look[0])
            _draw_run(ax, mean, *look)
    note = _seeds_note([len(y) for y in values.values()])
    _dress_runs(axes, f"{metric} ({split})", means, closer, note)
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


def _near_best(curves: list[np.ndarray], better: Better | None) -> Limits | None:
    """Limits around the best and the last values of all curves."""
    known = [y for y in curves if np.isfinite(y).any()]
    if better is None or max(map(len, known), default=0) < FEW_DEPTHS:
        return None
    best = np.nanmin if better == "lower" else np.nanmax
    ends = [end for y in known for end in (float(best(y)), float(y[np.isfinite(y)][-1]))]
    return near(ends, np.concatenate(known))


def _runs_panels(
    names: list[str], title: str, closer: Limits | None
) -> tuple[Figure, list[Axes], list[tuple[Any, float]]]:
    """One panel or two with a legend of runs beside them; and the runs' colours and widths."""
    colours, n = _run_colours(len(names)), len(names)
    widths = overlaid_widths(n).tolist() if n <= len(COLOURS) else [1.4] * n
    looks = list(zip(colours, widths, strict=True))
    entries = [Entry(name, *look) for name, look in zip(names, looks, strict=True)][:MOST_NAMED]
    if len(names) > MOST_NAMED:
        entries.append(Entry(f"… {len(names) - MOST_NAMED} more", "none"))
    height = max(PANEL[1], 0.2 * min(len(entries), LEGEND_LINES))
    right = inches_beside(entries, LEGEND_LINES)
    figure, axes = panels(title, [PAIR] * 2 if closer else [PANEL[0]], height, right=right)
    legend_beside(axes[-1], entries, LEGEND_LINES)
    return figure, axes, looks


def _draw_seeds(ax: Axes, y: np.ndarray, mean: np.ndarray, spread: np.ndarray, colour) -> None:
    """A band, or of few seeds each of them."""
    if len(y) >= BANDED:
        ax.fill_between(np.arange(len(mean)), mean - spread, mean + spread, color=colour,
                        alpha=0.2, linewidth=1.0)  # fmt: skip
    elif len(y) > 1:
        ax.plot(y.T, color=colour, linewidth=0.7)


def _draw_run(ax: Axes, y: np.ndarray, colour, width: float) -> None:
    # The same forest cut at several depths gives curves that run on each other: the shorter on
    # top, and a mark where each ends.
    above = 2.0 + 1.0 / max(len(y), 1)
    ax.plot(y, color=colour, linewidth=width, marker=_marker("o", y), markersize=1.6 + width,
            zorder=above)  # fmt: skip
    ax.plot(np.arange(len(y))[-1:], y[-1:], "o", color=colour, markersize=4.6 + width,
            zorder=above)  # fmt: skip


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


def _dress_runs(
    axes: list[Axes],
    label: str,
    curves: list[np.ndarray],
    closer: Limits | None,
    note: str = "",
) -> None:
    for ax, told in zip(axes, (note, "the same, near the best"), strict=False):
        dress(ax, "depth", label, told)
        _whole_steps(ax, 0, max(map(len, curves), default=1) - 1)
    if closer:
        axes[1].set_ylim(closer)
    for ax in axes:
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

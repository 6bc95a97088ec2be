"""A metric against depth, or against the number of trees.

A *split* is the rows that a curve was measured on: train, valid, test or oob (out of bag). Each
has one colour and one marker in every picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import (
    COLOURS,
    DASHES,
    LINE,
    SPLIT_COLOURS,
    SPLIT_MARKERS,
    dress,
    panels,
    shorten,
)
from forestlab.figures.words import number_scale, scale

PANEL = (5.4, 3.4)  # inches
FEW_TREES = 50  # with more, the axis is logarithmic
FEW_POINTS = 40  # longer curves have no markers
LEGEND_LINES = 20  # a column
MOST_NAMED = 39  # curves in a legend
NAME_LETTERS = 34
BANDED = 3  # seeds; with fewer, a standard deviation says little


def depth_curve(
    curves: Mapping[str, np.ndarray],
    metric: str,
    title: str,
    chosen: int | None = None,
    judge: str = "",
) -> Figure:
    """A metric against the depth at which the trees are cut.

    Parameters
    ----------
    curves : split → (max_depth + 1,) values at depth 0, 1, …; NaN where there is none
    metric : its name, the label of the vertical axis
    title : what is shown, and of which run
    chosen : the depth to mark
    judge : the split on which it is best
    """
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1], right=1.15)
    _draw_splits(ax, {split: (np.arange(len(y)), y) for split, y in _arrays(curves).items()})
    note = ""
    if chosen is not None:
        note = _mark(ax, _arrays(curves), chosen, f", best on {judge}" if judge else "", metric)
    dress(ax, "depth", metric, note)
    _whole_steps(ax, 0, max(map(len, curves.values()), default=1) - 1)
    number_scale(ax, "y")
    return figure


def size_curve(
    n_trees: np.ndarray, curves: Mapping[str, np.ndarray], metric: str, title: str
) -> Figure:
    """A metric against the number of trees.

    Parameters
    ----------
    n_trees : (k,) rising
    curves : split → (k,) values of the forests of so many trees; NaN where there is none
    """
    sizes = np.asarray(n_trees)
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1], right=1.15)
    values = _arrays(curves)
    _draw_splits(ax, {split: (sizes, y) for split, y in values.items()})
    known = [f"{split} {y[-1]:.4g}" for split, y in values.items() if np.isfinite(y[-1])]
    trees = "1 tree" if sizes[-1] == 1 else f"{sizes[-1]} trees"
    dress(ax, "number of trees", metric, f"with {trees}: {', '.join(known)}" if known else "")
    if sizes[-1] > FEW_TREES:
        _logarithmic(ax, sizes[0], sizes[-1])
    else:
        _whole_steps(ax, int(sizes[0]), int(sizes[-1]))
    number_scale(ax, "y")
    return figure


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


def _draw_splits(ax: Axes, curves: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    entries = []
    for split, (x, y) in curves.items():
        colour = SPLIT_COLOURS.get(split, LINE)
        marker = _marker(SPLIT_MARKERS.get(split, "v"), y)
        ax.plot(x, y, color=colour, linewidth=1.6, label=split, marker=marker, markersize=3.5)
        name = split if np.isfinite(y).any() else f"{split}: none"
        entries.append(Entry(name, colour, marker=marker))
    legend_beside(ax, entries)


def _mark(ax: Axes, curves: dict[str, np.ndarray], depth: int, why: str, metric: str) -> str:
    """Mark a depth and, there, the value on test; returns it in words."""
    ax.axvline(depth, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    words = f"depth {depth}{why}"
    test = curves.get("test", np.empty(0))
    if depth < len(test) and np.isfinite(test[depth]):
        ax.plot([depth], [test[depth]], linestyle="none", marker="o", markersize=10.0,
                markerfacecolor="none", markeredgecolor=SPLIT_COLOURS["test"],
                markeredgewidth=1.4)  # fmt: skip
        words += f": test {metric} {test[depth]:.4g}"
    return words


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


def _logarithmic(ax: Axes, first: int, last: int) -> None:
    ax.set_xscale("log")
    margin = (last / first) ** 0.03 if last > first else 2.0
    ax.set_xlim(first / margin, last * margin)
    steps = np.array([step * 10**power for power in range(10) for step in (1, 2, 5)])
    steps = steps[(steps >= first) & (steps <= last)]
    places = steps if len(steps) > 1 else np.unique([first, last])
    scale(ax, "x", places, [str(place) for place in places])

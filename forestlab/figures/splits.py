"""A metric of one run against depth, or against the number of trees, on each split.

A *split* is the rows that a curve was measured on: train, valid, test or oob (out of bag). Each
has one colour and one marker in every picture. Errors have a logarithmic scale: beside the 0.9 of
a bare root, 0.03 and 0.02 would be one line.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, legend_beside
from forestlab.figures.logarithmic import known_above_0, log_scale
from forestlab.figures.style import (
    DASHES,
    LINE,
    SPLIT_COLOURS,
    SPLIT_MARKERS,
    SPLIT_ROWS,
    Better,
    dress,
    panels,
)
from forestlab.figures.words import number_scale, plain
from forestlab.figures.zoom import near

PANEL = (5.4, 3.4)  # inches
PAIR = 4.4  # the width of each of two panels
LEGEND = 1.15  # inches beside them
FEW_TREES = 50  # with more, the axis is logarithmic
FEW_POINTS = 40  # longer curves have no markers
FEW_DEPTHS = 5  # with fewer, a closer look shows no more


def depth_curve(
    curves: Mapping[str, np.ndarray],
    metric: str,
    title: str,
    chosen: int | None = None,
    judge: str = "",
    better: Better = "higher",
) -> Figure:
    """A metric against the depth at which the trees are cut; and the same, near the best.

    Parameters
    ----------
    curves : split → (max_depth + 1,) values at depth 0, 1, …; NaN where there is none
    metric : its name and unit, the label of the vertical axis
    title : what is shown, and of which run
    chosen : the depth to mark
    judge : the split on which it is best
    better : which values of the metric are the better ones; where lower ones are, it is an error

    Notes
    -----
    Where there are other splits, train does not decide what is near the best: no forest is judged
    by it.
    """
    values = _arrays(curves)
    closer = _near_best(values, chosen, better)
    widths = [PAIR] * 2 if closer else [PANEL[0]]
    figure, axes = panels(title, widths, PANEL[1], right=LEGEND)
    last = max(map(len, values.values()), default=1) - 1
    whole, near_best = _notes(values.get("test"), chosen, judge)
    _draw_splits(axes[0], {split: (np.arange(len(y)), y) for split, y in values.items()}, better)
    if closer:
        dress(axes[0], "depth", metric, whole)
        dress(axes[1], "depth", metric, "; ".join(["the same, near the best", *near_best]))
        _draw_closer(axes[1], values, closer, last)
    else:
        dress(axes[0], "depth", metric, "; ".join(filter(None, [whole, *near_best])))
    _whole_steps(axes[0], 0, last)
    if chosen is not None:
        for ax in axes:
            _mark(ax, values, chosen)
    legend_beside(axes[-1], _entries(values))
    return figure


def size_curve(
    n_trees: np.ndarray,
    curves: Mapping[str, np.ndarray],
    metric: str,
    title: str,
    better: Better = "higher",
) -> Figure:
    """A metric against the number of trees.

    Parameters
    ----------
    n_trees : (k,) rising
    curves : split → (k,) values of the forests of so many trees; NaN where there is none
    better : as of `depth_curve`
    """
    sizes, values = np.asarray(n_trees), _arrays(curves)
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1], right=LEGEND)
    _draw_splits(ax, {split: (sizes, y) for split, y in values.items()}, better)
    known = [f"{split} {plain(y[-1])}" for split, y in values.items() if np.isfinite(y[-1])]
    trees = "1 tree" if sizes[-1] == 1 else f"{sizes[-1]} trees"
    dress(ax, "number of trees", metric, f"with {trees}: {', '.join(known)}" if known else "")
    if sizes[-1] > FEW_TREES:
        log_scale(ax, "x", sizes)
    else:
        _whole_steps(ax, int(sizes[0]), int(sizes[-1]))
    legend_beside(ax, _entries(values))
    return figure


# ---- drawing -----------------------------------------------------------------------------------


def _arrays(curves: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values, np.float64) for name, values in curves.items()}


def _draw_splits(
    ax: Axes, curves: dict[str, tuple[np.ndarray, np.ndarray]], better: Better
) -> None:
    """Curves and the vertical scale."""
    every = np.concatenate([y for _, y in curves.values()]) if curves else np.empty(0)
    known = every[np.isfinite(every)]
    is_error = better == "lower" and len(known_above_0(known)) > 0 and known.min() >= 0.0
    floor = log_scale(ax, "y", known, zero=bool((known == 0.0).any())) if is_error else 0.0
    for split, (x, y) in curves.items():
        _draw_split(ax, split, x, np.where(y == 0.0, floor, y) if is_error else y)
    if not is_error:
        number_scale(ax, "y")


def _draw_split(ax: Axes, split: str, x: np.ndarray, y: np.ndarray) -> None:
    ax.plot(x, y, color=SPLIT_COLOURS.get(split, LINE), linewidth=1.6, label=split,
            marker=_marker(split, y), markersize=3.5)  # fmt: skip


def _entries(curves: dict[str, np.ndarray]) -> list[Entry]:
    return [
        Entry(split if np.isfinite(y).any() else f"{split}: none",
              SPLIT_COLOURS.get(split, LINE), marker=_marker(split, y))
        for split, y in curves.items()
    ]  # fmt: skip


def _marker(split: str, y: np.ndarray) -> str:
    return SPLIT_MARKERS.get(split, "v") if len(y) <= FEW_POINTS else ""


def _whole_steps(ax: Axes, first: int, last: int) -> None:
    margin = 0.03 * (last - first) if last > first else 0.5
    ax.set_xlim(first - margin, last + margin)
    number_scale(ax, "x", 10, integer=True)


# ---- the chosen depth --------------------------------------------------------------------------


def _mark(ax: Axes, curves: dict[str, np.ndarray], depth: int) -> None:
    """Mark a depth and, there, the value on test."""
    ax.axvline(depth, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    test = curves.get("test", np.empty(0))
    if depth < len(test):
        y = next(line for line in ax.lines if line.get_label() == "test").get_ydata()
        ax.plot([depth], [np.asarray(y)[depth]], linestyle="none", marker="o", markersize=10.0,
                markerfacecolor="none", markeredgecolor=SPLIT_COLOURS["test"],
                markeredgewidth=1.4)  # fmt: skip


def _notes(test: np.ndarray | None, depth: int | None, judge: str) -> tuple[str, list[str]]:
    """What marks the depth, and what test rows say there."""
    if depth is None:
        return "", []
    why = f", chosen by {SPLIT_ROWS.get(judge, judge)}" if judge else ""
    dashed, rings = f"dashed: depth {depth}{why}", []
    if test is not None and depth < len(test) and np.isfinite(test[depth]):
        rings = [f"ring: test {plain(test[depth])}"]
    return dashed, rings


# ---- near the best -----------------------------------------------------------------------------


def _near_best(
    curves: dict[str, np.ndarray], chosen: int | None, better: Better
) -> tuple[float, float] | None:
    """Limits around the best, the chosen and the last values of the splits that judge."""
    known = {split: y for split, y in curves.items() if np.isfinite(y).any()}
    judging = [y for split, y in known.items() if split != "train"] or list(known.values())
    if max(map(len, judging), default=0) < FEW_DEPTHS:
        return None
    best = np.nanmin if better == "lower" else np.nanmax
    ends = [end for y in judging for end in (float(best(y)), float(y[np.isfinite(y)][-1]))]
    ends += [float(y[chosen]) for y in judging if chosen is not None and chosen < len(y)]
    return near(ends, np.concatenate(list(known.values())))


def _draw_closer(ax: Axes, curves: dict[str, np.ndarray], limits, last: int) -> None:
    """From a depth before the first that is seen."""
    for split, y in curves.items():
        _draw_split(ax, split, np.arange(len(y)), y)
    seen = [
        int(np.flatnonzero((y >= limits[0]) & (y <= limits[1]))[0])
        for split, y in curves.items()
        if ((y >= limits[0]) & (y <= limits[1])).any()
    ]
    ax.set_ylim(limits)
    number_scale(ax, "y")
    _whole_steps(ax, max(min(seen, default=0) - 1, 0), last)

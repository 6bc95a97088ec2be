"""Out-of-bag error against the number of voters.

The *voters* of a training row are the trees whose bags left it out, about 37 of 100. Few voters
are a small forest: rows that have few by chance are judged by less than the whole forest, and the
out-of-bag error is a little pessimistic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.style import DASHES, LINE, MAIN, SPLIT_COLOURS, dress, panels, say_empty
from forestlab.figures.words import number_scale

WIDTH, HEIGHT, STRIP = 5.4, 2.6, 1.1  # inches of the panels of errors and, below, of rows
GAP = 0.25  # between them
MOST_GROUPS = 20
LEAST_ROWS = 10  # of a group: the mean of fewer says nothing


class VoterGroups(NamedTuple):
    """Numbers of voters that lie together, k groups; each array is (k,)."""

    first: np.ndarray  # the least number of voters
    last: np.ndarray  # the greatest
    rows: np.ndarray
    voters: np.ndarray  # mean over the rows
    error: np.ndarray  # mean over the rows
    low: np.ndarray  # a standard error below that mean; NaN if unknown
    high: np.ndarray  # and above


def voters_curve(
    voters: np.ndarray,
    rows: np.ndarray,
    error: np.ndarray,
    title: str,
    name: str = "error",
    std: np.ndarray | None = None,
) -> Figure:
    """The mean error of the rows that have so many voters, and how many such rows there are.

    Parameters
    ----------
    voters : (V,) numbers of voters, rising
    rows : (V,) how many rows have so many
    error : (V,) their mean error; NaN where there is none
    title : what is shown, and of which run
    name : of the error
    std : (V,) standard deviation (over n, not n − 1) of these rows' errors; None if errors are
        shares of wrong rows

    Notes
    -----
    Neighbouring numbers of voters are put together so that at most 20 groups remain, and each has
    at least 10 rows, if all have. Upright lines are ± 1 standard error of a group's mean. A bar's
    area is its number of rows.
    """
    voters, rows, error = np.asarray(voters), np.asarray(rows), np.asarray(error)
    groups = group_voters(voters, rows, error, None if std is None else np.asarray(std))
    figure, (ax,) = panels(title, [WIDTH], HEIGHT, bottom=0.55 + STRIP + GAP)
    strip = _strip_below(figure, ax)
    dress(ax, "", name, _note(groups, int(rows[voters == 0].sum())))
    dress(strip, "number of voters (trees that left the row out)", "rows per number")
    if len(groups.rows):
        _draw_errors(ax, groups)
        _draw_rows(strip, groups)
    else:
        say_empty(ax)
        say_empty(strip, "")
    return figure


def group_voters(
    voters: np.ndarray, rows: np.ndarray, error: np.ndarray, std: np.ndarray | None
) -> VoterGroups:
    """Groups of neighbouring numbers of voters that have rows, 0 apart."""
    known = (voters > 0) & (rows > 0) & np.isfinite(error)
    voters, rows, error = voters[known], rows[known], error[known]
    starts = _starts(voters, rows)
    ends = np.append(starts[1:], len(voters))[: len(starts)] - 1

    def total(values: np.ndarray) -> np.ndarray:
        return np.add.reduceat(values, starts) if len(starts) else np.empty(0)

    n = total(rows)
    mean = total(rows * error) / n
    if std is None:
        low, high = _share_limits(mean, n)
    else:
        # The squares of a group are the sum of those of its parts, each n (std² + mean²).
        squares = total(rows * (std[known] ** 2 + error**2)) - n * mean**2
        half = _standard_error(squares, n)
        low, high = mean - half, mean + half
    return VoterGroups(voters[starts], voters[ends], n, total(rows * voters) / n, mean, low, high)


def _starts(voters: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Where groups begin: equally wide ones, joined to the next until they have rows enough."""
    if not len(voters):
        return np.empty(0, np.intp)
    width = -(-(voters[-1] - voters[0] + 1) // MOST_GROUPS)
    starts = np.flatnonzero(np.diff((voters - voters[0]) // width, prepend=-1))
    before = np.append(0, np.cumsum(rows))  # rows before each number of voters
    kept = [0]
    for start in starts[1:]:
        if before[start] - before[kept[-1]] >= LEAST_ROWS:
            kept.append(int(start))
    if len(kept) > 1 and before[-1] - before[kept[-1]] < LEAST_ROWS:
        kept.pop()
    return np.array(kept)


def _share_limits(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One standard error about a share, by Agresti and Coull: as if one more row were half wrong.

    The plain standard error calls 0 wrong rows of 20 a certainty.
    """
    centre = (n * share + 0.5) / (n + 1.0)
    half = np.sqrt(centre * (1.0 - centre) / (n + 1.0))
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def _standard_error(squares: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Of a mean, given the sum of squares about it; NaN of a single row."""
    freedom = np.where(n > 1, n - 1.0, np.nan)
    return np.sqrt(np.maximum(squares, 0.0) / freedom / n)


# ---- drawing -----------------------------------------------------------------------------------


def _strip_below(figure: Figure, ax: Axes) -> Axes:
    frame, height = ax.get_position(), figure.get_size_inches()[1]
    bottom = frame.y0 - (GAP + STRIP) / height
    return figure.add_axes((frame.x0, bottom, frame.width, STRIP / height))


def _note(groups: VoterGroups, without: int) -> str:
    notes = []
    if len(groups.rows):
        mean = f"{_overall(groups):.4g}, mean of {_rows(groups.rows.sum())}"
        notes = [f"dashed: {mean}", "± 1 standard error"]
    if without:
        notes.append(f"{_rows(without)} without voters")
    return "; ".join(notes)


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _overall(groups: VoterGroups) -> float:
    return float(np.average(groups.error, weights=groups.rows))


def _draw_errors(ax: Axes, groups: VoterGroups) -> None:
    colour = SPLIT_COLOURS["oob"]
    ax.axhline(_overall(groups), color=LINE, linewidth=1.0, linestyle=DASHES, zorder=1.5)
    ax.vlines(groups.voters, groups.low, groups.high, colors=colour, linewidths=1.4)
    ax.plot(groups.voters, groups.error, color=colour, linewidth=0.7, marker="^", markersize=5.0)
    top = max(groups.error.max(), np.nanmax(groups.high, initial=0.0)) or 1.0
    ax.set_ylim(-0.03 * top, 1.05 * top)
    _number_voters(ax, groups)
    number_scale(ax, "y")


def _draw_rows(ax: Axes, groups: VoterGroups) -> None:
    widths = groups.last - groups.first + 1
    ax.bar(groups.first - 0.5, groups.rows / widths, width=widths, align="edge", color=MAIN,
           alpha=0.6, edgecolor="white", linewidth=0.5)  # fmt: skip
    _number_voters(ax, groups)
    number_scale(ax, "y", 3)


def _number_voters(ax: Axes, groups: VoterGroups) -> None:
    ax.set_xlim(groups.first[0] - 0.5, groups.last[-1] + 0.5)
    number_scale(ax, "x", 10, integer=True)

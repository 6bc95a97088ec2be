"""Does the forest know what it does not know?

*Total* uncertainty is the error that is to be expected of the forest; *aleatoric* is its part that
is noise of the data, *epistemic* the rest, which the forest does not know. Where they cannot be
told, rows are ordered by the trees' *spread*, and the picture says why. Rows that are all equally
uncertain have no picture: there is None.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from forestlab.figures.legend import Entry, legend_above
from forestlab.figures.style import (
    DASHES,
    LINE,
    MAIN,
    OTHER,
    SMALL,
    WRONG,
    bin_means,
    bin_scale,
    dress,
    panels,
    quantile_bins,
)
from forestlab.figures.words import Words, number_scale, plain

MANY = 5000  # rows; with more, a scatter is a blot
BOTTOM = 0.8  # inches below panels of bins, whose edges are written aslant
LOWER = 1.0  # below those of squares, which may be long numbers
IN_BINS = "mean of a bin"
NATS = "nats; 1 nat = 1.44 bits"
FLAT = 0.01  # of the greatest uncertainty: a part that varies by less is the same for all rows
CANNOT = "noise and what is not known cannot be told:"


class UncertaintyParts(NamedTuple):
    """Of n rows, in nats or in squared units of the target; the first three may be NaN."""

    total: np.ndarray
    aleatoric: np.ndarray
    epistemic: np.ndarray
    spread: np.ndarray


def uncertainty_classification(
    parts: tuple[np.ndarray, ...],
    wrong: np.ndarray,
    title: str,
    margin: float = 0.0,
    untold: str = "",
) -> Figure | None:
    """Errors by uncertainty, what it is made of, and, if these vary, both of each row.

    Parameters
    ----------
    parts : total, aleatoric and epistemic uncertainty, and spread, each (n,)
    wrong : (n,) whether the row's label was predicted wrongly; NaN: unknown, and left out
    margin : of the mean of the aleatoric part
    untold : why the first three cannot be told; empty if they can
    """
    found, wrong = _known(parts, wrong, untold)
    wrong = wrong > 0
    if _is_flat(found.spread if untold else found.total):
        return None
    if untold:
        figure, axes = panels(f"{title} ({CANNOT} {untold})", [6.5], 3.0, bottom=BOTTOM)
        name = "entropy of the mean of the trees' posteriors"
        _error_by_bin(axes[0], found.spread, wrong, f"{name}, {IN_BINS} ({NATS})")
        return figure
    both_vary = not (_is_flat(found.aleatoric, found.total) or _is_flat(found.epistemic))
    widths = [4.0, 4.8, 3.0] if both_vary else [4.8, 4.8]
    figure, axes = panels(title, widths, 3.0, bottom=BOTTOM)
    _error_by_bin(axes[0], found.total, wrong, f"total uncertainty, {IN_BINS} ({NATS})")
    _parts_by_bin(axes[1], found, "nats", margin)
    if both_vary:
        _rows_by_part(axes[2], found, wrong)
    return figure


def uncertainty_regression(
    parts: tuple[np.ndarray, ...],
    abs_error: np.ndarray,
    title: str,
    margin: float = 0.0,
    untold: str = "",
) -> Figure | None:
    """Errors by uncertainty, and what it is made of; `abs_error` is |prediction − target|, the
    rest as of classes."""
    found, abs_error = _known(parts, abs_error, untold)
    if _is_flat(found.spread if untold else found.total):
        return None
    if untold:
        figure, axes = panels(f"{title} ({CANNOT} {untold})", [6.5], 3.2, bottom=BOTTOM)
        name = "standard deviation of the trees' distribution (units of the target)"
        _errors_by_deviation(axes[0], np.sqrt(found.spread), abs_error, name)
        return figure
    figure, axes = panels(title, [4.2, 5.6], 3.2, bottom=LOWER)
    name = "√ total uncertainty (units of the target)"
    _errors_by_deviation(axes[0], np.sqrt(found.total), abs_error, name)
    _parts_by_bin(axes[1], found, "squared units of the target", margin, abs_error**2)
    return figure


def _known(parts, error, untold: str) -> tuple[UncertaintyParts, np.ndarray]:
    """Without the rows of which something is not known that should be."""
    found = UncertaintyParts(*np.array(parts, np.float64))
    error = np.asarray(error, np.float64)
    needed = (found.spread,) if untold else found
    known = np.isfinite([*needed, error]).all(axis=0)
    return UncertaintyParts(*(np.maximum(part[known], 0.0) for part in found)), error[known]


def _is_flat(values: np.ndarray, beside: np.ndarray | None = None) -> bool:
    """Whether rows are all alike, as seen beside the greatest value."""
    if len(values) < 2:
        return True
    greatest = (values if beside is None else beside).max()
    return bool(np.ptp(values) <= FLAT * greatest)


# ---- both --------------------------------------------------------------------------------------


def _parts_by_bin(
    ax: Axes, parts: UncertaintyParts, unit: str, margin: float, squared_error=None
) -> None:
    """What the uncertainty of the surest rows to the least sure is made of; and, if it is given,
    their mean squared error."""
    dress(ax, f"total uncertainty, {IN_BINS} ({unit})", f"mean uncertainty ({unit})")
    _, places = quantile_bins(parts.total)
    noise, unknown = bin_means(places, parts.aleatoric), bin_means(places, parts.epistemic)
    x = np.arange(len(noise))
    ax.bar(x, noise, width=0.9, color=OTHER, alpha=0.85)
    ax.bar(x, unknown, width=0.9, bottom=noise, color=MAIN, alpha=0.85)
    about = f"{plain(parts.aleatoric.mean(), 2)} ± {plain(margin, 1)}"
    entries = [Entry(f"noise (aleatoric): {about}", OTHER, 8.0),
               Entry("not known (epistemic)", MAIN, 8.0)]  # fmt: skip
    highest = (noise + unknown).max()
    if squared_error is not None:
        measured = bin_means(places, squared_error)
        ax.plot(x, measured, color="black", linestyle="none", marker="D", markersize=5.0)
        entries.append(Entry("squared error", "black", 0.0, "D"))
        highest = max(highest, measured.max())
    legend_above(ax, entries)
    ax.set_ylim(0.0, 1.08 * highest or 1.0)
    bin_scale(ax, bin_means(places, parts.total))
    number_scale(ax, "y")


# ---- classification ----------------------------------------------------------------------------


def _error_by_bin(ax: Axes, uncertainty: np.ndarray, wrong: np.ndarray, name: str) -> None:
    dress(ax, name, "error rate (share of rows)",
          f"{wrong.sum()} of {len(wrong)} rows wrong; above a bar: its rows")  # fmt: skip
    _, places = quantile_bins(uncertainty)
    rates = bin_means(places, wrong)
    x = np.arange(len(rates))
    ax.bar(x, rates, width=0.9, color=WRONG, alpha=0.85)
    ax.set_ylim(0.0, 1.12 * max(rates.max(), 0.04))
    Words(ax, np.column_stack([x, rates]), [str(count) for count in np.bincount(places)],
          size=SMALL - 1.0, shift=(0.0, 6.0), colours=LINE)  # fmt: skip
    bin_scale(ax, bin_means(places, uncertainty))
    number_scale(ax, "y")


def _rows_by_part(ax: Axes, parts: UncertaintyParts, wrong: np.ndarray) -> None:
    """Rows to the right are noisy, rows high up are not known; wrong ones above right ones."""
    dress(ax, "aleatoric (nats)", "epistemic (nats)")
    n_wrong = int(wrong.sum())
    for rows, colour in ((~wrong, MAIN), (wrong, WRONG)):
        ax.scatter(parts.aleatoric[rows], parts.epistemic[rows], s=9.0, color=colour, alpha=0.5,
                   linewidths=0.0)  # fmt: skip
    right = Entry(f"right ({len(wrong) - n_wrong})", MAIN, 0.0, "o")
    legend_above(ax, [right, Entry(f"wrong ({n_wrong})", WRONG, 0.0, "o")])
    # The same scale on both: what is small beside the other is seen to be small.
    highest = 1.04 * max(parts.aleatoric.max(), parts.epistemic.max()) or 1.0
    ax.set_xlim(-0.03 * highest, highest)
    ax.set_ylim(-0.03 * highest, highest)
    number_scale(ax, "x", 5)
    number_scale(ax, "y")


# ---- regression --------------------------------------------------------------------------------


def _errors_by_deviation(ax: Axes, sd: np.ndarray, abs_error: np.ndarray, name: str) -> None:
    note = f"{len(sd)} rows; dashed: |error| as large"
    if len(sd) > MANY:
        ax.hexbin(sd, abs_error, gridsize=(40, 26), mincnt=1, norm=LogNorm(), cmap="Blues",
                  linewidths=0.2)  # fmt: skip
        note = f"{note}; darker: more rows"
    else:
        ax.scatter(sd, abs_error, s=10.0, color=MAIN, alpha=0.5, linewidths=0.0)
    dress(ax, name, "|error| (units of the target)", note)
    ax.axline((0.0, 0.0), slope=1.0, color=LINE, linewidth=1.0, linestyle=DASHES)
    ax.set_xlim(0.0, 1.04 * sd.max() or 1.0)
    ax.set_ylim(0.0, 1.04 * abs_error.max() or 1.0)
    number_scale(ax, "x")
    number_scale(ax, "y")

"""Does the forest know what it does not know?

*Total* entropy is that of the mean of the trees' distributions; *aleatoric* is the mean of their
entropies, the noise of the data; *epistemic* is the difference, the trees' disagreement. Of a
regression, the trees' standard deviation plays that part.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_rgba
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
    dress,
    edge_scale,
    panels,
    quantile_bins,
    say_empty,
)
from forestlab.figures.words import Words, number_scale

MANY = 5000  # rows; with more, a scatter is a blot
BOTTOM = 0.8  # inches below panels of bins, whose edges are written aslant


def uncertainty_classification(
    entropy: np.ndarray,
    aleatoric: np.ndarray,
    epistemic: np.ndarray,
    wrong: np.ndarray,
    title: str,
) -> Figure:
    """Errors by entropy, and how right and wrong rows differ in both kinds of uncertainty.

    Parameters
    ----------
    entropy, aleatoric, epistemic : (n,) of each row; rows with a NaN are left out
    wrong : (n,) whether the row's label was predicted wrongly
    """
    kinds = np.array([entropy, aleatoric, epistemic], np.float64)
    known = np.isfinite(kinds).all(axis=0)
    kinds, wrong = np.maximum(kinds[:, known], 0.0), np.asarray(wrong, bool)[known]
    figure, axes = panels(title, [4.2, 3.0, 3.0], 3.0, bottom=BOTTOM)
    _error_by_entropy(axes[0], kinds[0], wrong)
    _two_histograms(axes[1], kinds[1], wrong, "aleatoric entropy (noise of the data)")
    _two_histograms(axes[2], kinds[2], wrong, "epistemic entropy (trees disagree)")
    return figure


def uncertainty_regression(std: np.ndarray, abs_error: np.ndarray, title: str) -> Figure:
    """Errors by the trees' standard deviation.

    Parameters
    ----------
    std : (n,) of the trees' predictions for each row; rows with a NaN are left out
    abs_error : (n,) |prediction − target|
    """
    pair = np.array([std, abs_error], np.float64)
    std, abs_error = pair[:, np.isfinite(pair).all(axis=0)]
    figure, axes = panels(title, [4.2, 4.2], 3.2, bottom=BOTTOM)
    _errors_and_std(axes[0], std, abs_error)
    _rmse_by_std(axes[1], std, abs_error)
    return figure


# ---- classification ----------------------------------------------------------------------------


def _error_by_entropy(ax: Axes, entropy: np.ndarray, wrong: np.ndarray) -> None:
    dress(ax, "total entropy, in bins of about as many rows", "error rate",
          f"{wrong.sum()} of {len(wrong)} rows wrong; above a bar: its rows")  # fmt: skip
    if not len(entropy):
        return say_empty(ax)
    edges, places = quantile_bins(entropy)
    rates = bin_means(places, wrong)
    x = np.arange(len(rates))
    ax.bar(x, rates, width=0.9, color=WRONG, alpha=0.85)
    ax.set_ylim(0.0, 1.12 * max(rates.max(), 0.04))
    Words(ax, np.column_stack([x, rates]), [str(count) for count in np.bincount(places)],
          size=SMALL - 1.0, shift=(0.0, 6.0), colours=LINE)  # fmt: skip
    edge_scale(ax, edges)
    number_scale(ax, "y")


def _two_histograms(ax: Axes, values: np.ndarray, wrong: np.ndarray, name: str) -> None:
    """Shares of each kind of rows, so that few wrong rows are seen beside many right ones."""
    dress(ax, name, "share of right, or of wrong, rows")
    if not len(values):
        return say_empty(ax)
    n_bins = int(np.clip(np.sqrt(len(values)), 5, 30))
    edges = np.linspace(0.0, values.max() or 1.0, n_bins + 1)
    shares = [np.histogram(values[rows], edges)[0] / max(rows.sum(), 1) for rows in (~wrong, wrong)]
    ax.stairs(shares[0], edges, fill=True, color=MAIN, alpha=0.5)
    ax.stairs(shares[1], edges, color=WRONG, linewidth=1.8)
    n_wrong = wrong.sum()
    right = Entry(f"right ({len(wrong) - n_wrong})", to_rgba(MAIN, 0.5), width=8.0)
    legend_above(ax, [right, Entry(f"wrong ({n_wrong})", WRONG)])
    ax.set_ylim(0.0, 1.05 * max(map(np.max, shares)))
    number_scale(ax, "x", 5)
    number_scale(ax, "y")


# ---- regression --------------------------------------------------------------------------------


def _errors_and_std(ax: Axes, std: np.ndarray, abs_error: np.ndarray) -> None:
    note = f"{len(std)} rows; dashed: |error| = standard deviation"
    if len(std) > MANY:
        ax.hexbin(std, abs_error, gridsize=(40, 26), mincnt=1, norm=LogNorm(), cmap="Blues",
                  linewidths=0.2)  # fmt: skip
        note = f"{note}; darker: more rows"
    else:
        ax.scatter(std, abs_error, s=10.0, color=MAIN, alpha=0.5, linewidths=0.0)
    dress(ax, "standard deviation of the trees", "|error|", note)
    if not len(std):
        return say_empty(ax)
    ax.axline((0.0, 0.0), slope=1.0, color=LINE, linewidth=1.0, linestyle=DASHES)
    ax.set_xlim(0.0, 1.04 * std.max() or 1.0)
    ax.set_ylim(0.0, 1.04 * abs_error.max() or 1.0)
    number_scale(ax, "x")
    number_scale(ax, "y")


def _rmse_by_std(ax: Axes, std: np.ndarray, abs_error: np.ndarray) -> None:
    dress(ax, "standard deviation of the trees, in bins of about as many rows",
          "RMSE, standard deviation")  # fmt: skip
    if not len(std):
        return say_empty(ax)
    edges, places = quantile_bins(std)
    rmse, mean_std = np.sqrt(bin_means(places, abs_error**2)), bin_means(places, std)
    ax.plot(rmse, color=MAIN, marker="o", markersize=5.0)
    ax.plot(mean_std, color=OTHER, marker="s", markersize=5.0)
    std_entry = Entry("mean standard deviation of the trees", OTHER, marker="s")
    legend_above(ax, [Entry("RMSE", MAIN, marker="o"), std_entry])
    ax.set_ylim(0.0, 1.08 * max(rmse.max(), mean_std.max()) or 1.0)
    edge_scale(ax, edges)
    number_scale(ax, "y")

"""Which features matter: bars, or the picture that the features are the pixels of.

Error lines are ± 1 *standard error* of the mean over trees: how far the mean would move with other
trees. Trees themselves differ far more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.figures.style import LINE, MAIN, SMALL, dress, panels, told_apart
from forestlab.figures.words import number_scale, scale, text_width

NAME_LETTERS = 30
HEIGHT = 3.6  # inches of a heat map
LINES = "lines: ± 1 standard error over trees"
FAINT = 0.02  # of the greatest importance: what is less is not told from 0 by its colour


def importance(
    names: Sequence[str],
    mean: np.ndarray,
    error: np.ndarray | None,
    title: str,
    most: int = 20,
    image_shape: tuple[int, ...] | None = None,
    label: str = "importance",
) -> Figure:
    """The importance of features, averaged over trees or repeats.

    Parameters
    ----------
    names : (p,)
    mean, error : (p,) of each feature, and its standard error; None for no error lines
    most : so many bars, the most important first
    image_shape : (height, width) or (height, width, channels) if features are pixels: a heat map
        instead, in which channels are added up
    label : what kind of importance it is, and its unit
    """
    mean = np.asarray(mean, np.float64)
    if image_shape is not None:
        return _heat_map(mean.reshape(image_shape), title, label)
    return _bars(names, mean, error, title, most, label)


def two_importances(
    names: Sequence[str],
    impurity: tuple[np.ndarray, np.ndarray | None],
    permutation: tuple[np.ndarray, np.ndarray | None],
    title: str,
    image_shape: tuple[int, ...] | None = None,
    most: int = 20,
    labels: tuple[str, str] = ("share of the decrease of impurity", "rise of error when shuffled"),
) -> Figure:
    """Two kinds of importance side by side, each on a scale of its own.

    Bars are of the same features in both panels: those that either kind ranks highest, the first
    kind's most important on top.

    Parameters
    ----------
    names : (p,)
    impurity, permutation : mean over trees and its standard error, each (p,), the latter or None
    image_shape : as in `importance`: two heat maps instead
    most : so many bars
    labels : what each kind is called, and its unit
    """
    kinds = [(np.asarray(mean, np.float64), error) for mean, error in (impurity, permutation)]
    if image_shape is not None:
        return _two_maps([mean.reshape(image_shape) for mean, _ in kinds], title, labels)
    ranks = np.array([np.argsort(np.argsort(-mean, kind="stable")) for mean, _ in kinds])
    chosen = np.lexsort((ranks[0], ranks.min(axis=0)))[:most]
    order = chosen[np.argsort(ranks[0, chosen])]
    shown, left = _named(names, order)
    figure, axes = panels(title, [3.4, 3.4], _bars_height(order), left=left, gap=0.5)
    few = f"the {len(order)} of {len(ranks[0])} features that rank highest in either"
    notes = [few if len(order) < len(ranks[0]) else "", ""]
    if any(error is not None for _, error in kinds):
        notes[1] = LINES
    for k, (mean, error) in enumerate(kinds):
        reach = None if error is None else np.asarray(error, np.float64)[order]
        # The names stand on the left of both.
        _draw_bars(axes[k], mean[order], reach, [] if k else shown, labels[k], notes[k])
    return figure


# ---- bars --------------------------------------------------------------------------------------


def _bars(names, mean: np.ndarray, error, title: str, most: int, label: str) -> Figure:
    order = np.argsort(-mean, kind="stable")[:most]
    shown, left = _named(names, order)
    figure, (ax,) = panels(title, [4.6], _bars_height(order), left=left)
    few = len(order) < len(mean)
    notes = [f"the {len(order)} most important of {len(mean)} features"] if few else []
    notes += [LINES] if error is not None else []
    reach = None if error is None else np.asarray(error, np.float64)[order]
    _draw_bars(ax, mean[order], reach, shown, label, "; ".join(notes))
    return figure


def _named(names, order: np.ndarray) -> tuple[list[str], float]:
    """The features' names, and the left margin that these need."""
    shown = told_apart([names[k] for k in order], NAME_LETTERS)
    return shown, 0.45 + max(text_width(name, SMALL) for name in shown) / 72.0


def _bars_height(order: np.ndarray) -> float:
    return 0.25 + 0.22 * len(order)


def _draw_bars(ax: Axes, mean: np.ndarray, reach, names: list[str], label: str, note: str) -> None:
    """Bars from top to bottom; without names if there are none."""
    places = np.arange(len(mean))
    ax.barh(places, mean, height=0.7, color=MAIN)
    ends = [mean, np.zeros(1)]
    if reach is not None:
        ax.hlines(places, mean - reach, mean + reach, colors="black", linewidths=1.5)
        ends += [mean - reach, mean + reach]
    ax.axvline(0.0, color=LINE, linewidth=0.8)
    dress(ax, label, "feature" if names else "", note)
    ax.set_xlim(*_around(np.concatenate(ends)))
    ax.set_ylim(len(mean) - 0.4, -0.6)
    scale(ax, "y", places[: len(names)], names, grid=False)
    number_scale(ax, "x")


def _around(values: np.ndarray) -> tuple[float, float]:
    """From 0, or a little below what is lower, to a little above the highest."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    margin = 0.04 * (high - low) or 0.5
    return low - margin if low < 0.0 else 0.0, high + margin


# ---- heat maps ---------------------------------------------------------------------------------


def _heat_map(image: np.ndarray, title: str, label: str) -> Figure:
    figure, (ax, bar) = panels(title, [_map_width(image), 0.18], HEIGHT, gap=1.0)
    _draw_map(ax, bar, image, label)
    return figure


def _two_maps(images: list[np.ndarray], title: str, labels: tuple[str, str]) -> Figure:
    width = _map_width(images[0])
    figure, axes = panels(title, [width, 0.18, width, 0.18], HEIGHT, gap=1.0)
    for k, (image, label) in enumerate(zip(images, labels, strict=True)):
        _draw_map(axes[2 * k], axes[2 * k + 1], image, label)
    return figure


def _map_width(image: np.ndarray) -> float:
    return float(np.clip(HEIGHT * image.shape[1] / image.shape[0], 2.0, 9.0))


def _draw_map(ax: Axes, bar: Axes, image: np.ndarray, label: str) -> None:
    """From white to dark; if some importances are clearly negative, they are of another colour."""
    if image.ndim == 3:
        image = image.sum(axis=2)
    top = np.abs(image).max() or 1.0
    negative = image.min() < -FAINT * top
    limits = (-top if negative else 0.0, top)
    colours: dict[str, Any] = {"cmap": "PuOr_r" if negative else "magma_r", "aspect": "auto"}
    ax.imshow(image, vmin=limits[0], vmax=limits[1], **colours)
    bar.imshow(
        np.linspace(0.0, 1.0, 256)[:, None], origin="lower", extent=(0, 1, *limits), **colours
    )
    dress(ax, "column of pixels", "row of pixels")
    dress(bar, "", label)
    for axis in ("x", "y"):
        number_scale(ax, axis, 8, integer=True, grid=False)
    scale(bar, "x", np.empty(0), [])
    number_scale(bar, "y", grid=False)

"""Which features matter: bars, or the picture that the features are the pixels of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from forestlab.figures.style import LINE, MAIN, SMALL, dress, panels, shorten
from forestlab.figures.words import number_scale, scale, text_width

NAME_LETTERS = 30
HEIGHT = 3.6  # inches of a heat map


def importance(
    names: Sequence[str],
    mean: np.ndarray,
    std: np.ndarray | None,
    title: str,
    most: int = 20,
    image_shape: tuple[int, ...] | None = None,
    label: str = "importance",
) -> Figure:
    """The importance of features, averaged over trees or repeats.

    Parameters
    ----------
    names : (p,)
    mean, std : (p,) std is the length of the error bars; None for no such bars
    most : so many bars, the most important first
    image_shape : (height, width) or (height, width, channels) if features are pixels: a heat map
        instead, in which channels are added up
    label : what kind of importance it is
    """
    mean = np.asarray(mean, np.float64)
    if image_shape is not None:
        return _heat_map(mean.reshape(image_shape), title, label)
    return _bars(names, mean, std, title, most, label)


def _bars(names, mean: np.ndarray, std, title: str, most: int, label: str) -> Figure:
    order = np.argsort(-mean, kind="stable")[:most]
    shown = [shorten(names[k], NAME_LETTERS) for k in order]
    left = 0.45 + max(text_width(name, SMALL) for name in shown) / 72.0
    figure, (ax,) = panels(title, [4.6], 0.25 + 0.22 * len(order), left=left)
    places = np.arange(len(order))
    ax.barh(places, mean[order], height=0.7, color=MAIN)
    if std is not None:
        spread = np.asarray(std, np.float64)[order]
        ax.hlines(places, mean[order] - spread, mean[order] + spread, colors=LINE, linewidths=1.5)
    ax.axvline(0.0, color=LINE, linewidth=0.8)
    few = len(order) < len(mean)
    note = f"the {len(order)} most important of {len(mean)} features" if few else ""
    dress(ax, label, "feature", note)
    ax.set_ylim(len(order) - 0.4, -0.6)
    scale(ax, "y", places, shown, grid=False)
    number_scale(ax, "x")
    return figure


def _heat_map(image: np.ndarray, title: str, label: str) -> Figure:
    """From white to dark; if some importances are negative, they are of another colour."""
    if image.ndim == 3:
        image = image.sum(axis=2)
    top = np.abs(image).max() or 1.0
    negative = image.min() < 0.0
    width = float(np.clip(HEIGHT * image.shape[1] / image.shape[0], 2.0, 9.0))
    figure, (ax, bar) = panels(title, [width, 0.18], HEIGHT, gap=1.0)
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
    return figure

"""Which class a forest gives to each place of a plane, at several depths.

A *grid* is the plane cut into pixels: class probabilities at each pixel's middle, shape (h, w, K),
the first row at the bottom. `study.plane` says where these middles are.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from forestlab.figures.legend import PITCH, Entry, inches_beside, legend_beside
from forestlab.figures.style import NO_VALUE, dress, ink, panels, shorten, told_apart
from forestlab.figures.tree import CLASS_COLOURS
from forestlab.figures.words import number_scale, scale

SIDES = (3.0, 2.4)  # inches of a panel, if panels are few or many
FEW_PANELS = 3
FEW_POINTS = 300  # with more, they are smaller
MOST_POINTS = 2000  # with more, a panel is all points
MOST_NAMED = 29  # classes in the legend
NAME_LETTERS = 24
AXIS_LETTERS = 26

Extent = tuple[float, float, float, float]


def decision_regions(
    grids: Mapping[Any, np.ndarray],
    extent: Extent,
    points: np.ndarray,
    labels: np.ndarray,
    classes: Sequence[Any],
    names: Sequence[str],
    title: str,
) -> Figure:
    """A panel for each depth: the predicted classes as colours, and the training rows.

    Parameters
    ----------
    grids : depth, or any other note on a panel → (h, w, K) class probabilities
    extent : (left, right, bottom, top) of all grids
    points : (n, 2) the training rows
    labels : (n,) their classes, as places in `classes`
    classes : (K,) names
    names : of the two features

    Notes
    -----
    A pixel has the colour of its likeliest class, faded to white the closer that class is to an
    even chance: at probability p by (p − 1/K) / (1 − 1/K). Grey pixels have no probabilities.
    """
    points, labels = np.asarray(points, np.float64), np.asarray(labels)
    colours = class_colours(len(classes))
    rows = _spread(len(points))
    entries = _entries(classes, colours, len(rows), len(points))
    side = SIDES[len(grids) > FEW_PANELS]
    lines = int((72.0 * side) // PITCH)
    right = inches_beside(entries, lines)
    figure, axes = panels(title, [side] * len(grids), side, right=right, gap=0.25)
    x, y = (shorten(name, AXIS_LETTERS) for name in names)
    for k, (ax, (depth, grid)) in enumerate(zip(axes, grids.items(), strict=True)):
        ax.imshow(fade(grid, colours), origin="lower", extent=extent, aspect="auto",
                  interpolation="nearest")  # fmt: skip
        _draw_points(ax, points[rows], labels[rows], colours)
        note = f"depth {depth}" if isinstance(depth, int | np.integer) else str(depth)
        label_plane(ax, x, "" if k else y, note, extent)
    legend_beside(axes[-1], entries, lines)
    return figure


def label_plane(ax: Axes, x: str, y: str, note: str, extent: Sequence[float]) -> None:
    """A panel over two features; without y it goes by the scale of the panel before."""
    dress(ax, x, y, note)
    ax.set(xlim=extent[:2], ylim=extent[2:])
    number_scale(ax, "x", 5, grid=False)
    if y:
        number_scale(ax, "y", 5, grid=False)
    else:
        scale(ax, "y", np.empty(0), [])


def fade(grid: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Class probabilities (h, w, K) as colours (h, w, 3)."""
    p = np.ascontiguousarray(np.moveaxis(grid, 2, 0), np.float64)
    likeliest, even = p.max(axis=0), 1.0 / len(p)
    sure = (likeliest - even) / (1.0 - even) if even < 1.0 else np.ones(likeliest.shape)
    image = 1.0 - np.clip(sure, 0.0, 1.0)[..., None] * (1.0 - colours[p.argmax(axis=0)])
    image[np.isnan(likeliest)] = to_rgb(NO_VALUE)
    return image


def class_colours(n_classes: int) -> np.ndarray:
    """(n_classes, 3): the ten of drawn trees, or as many hues, dark and light in turn."""
    if n_classes <= len(CLASS_COLOURS):
        return np.array([to_rgb(colour) for colour in CLASS_COLOURS[:n_classes]])
    shades = ((0.9, 0.6), (0.65, 0.95))  # saturation and value
    return np.array([colorsys.hsv_to_rgb(k / n_classes, *shades[k % 2]) for k in range(n_classes)])


# ---- drawing -----------------------------------------------------------------------------------


def _spread(n: int) -> np.ndarray:
    """At most MOST_POINTS rows, evenly spread."""
    return np.arange(0, n, max(1, -(-n // MOST_POINTS)))


def _draw_points(ax: Axes, points: np.ndarray, labels: np.ndarray, colours: np.ndarray) -> None:
    """In their class's colour, with an edge that stands out on paper of that colour.

    A line without a line for each class: of few classes, that takes half the time of a scatter.
    """
    size = 4.0 if len(points) <= FEW_POINTS else 3.0
    for k in np.unique(labels):
        ax.plot(*points[labels == k].T, "o", color=tuple(colours[k]), markersize=size,
                markeredgecolor=ink(colours[k]), markeredgewidth=0.5)  # fmt: skip


def _entries(classes: Sequence[Any], colours: np.ndarray, shown: int, n: int) -> list[Entry]:
    entries = [
        Entry(name, tuple(colour), width=8.0)
        for name, colour in zip(told_apart(classes, NAME_LETTERS), colours, strict=True)
    ][:MOST_NAMED]
    if len(classes) > MOST_NAMED:
        entries.append(Entry(f"… {len(classes) - MOST_NAMED} more", "none"))
    entries.append(Entry("paler: less sure", "none"))
    if shown < n:
        entries.append(Entry(f"{shown} of {n} rows", "none"))
    return entries

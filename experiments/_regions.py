"""What a logged model of two features answers over the plane, and how to draw it."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import LoggedRun
from experiments._data import data_of
from forestlab.figures.legend import Entry
from forestlab.figures.regions import class_colours, fade
from forestlab.figures.style import dress, ink
from forestlab.figures.words import number_scale
from forestlab.study.plane import Extent, grid_of

POINT = 2.6  # size


class Plane(NamedTuple):
    grid: np.ndarray  # (h, w, n_classes) posteriors, the first row at the bottom
    extent: Extent
    points: np.ndarray  # (n, 2) the training rows
    labels: np.ndarray  # (n,) their classes, 0, 1, …


def rows_of(run: LoggedRun, split: str) -> tuple[np.ndarray, np.ndarray]:
    """A run's training, validation or test rows, made again from its logged config."""
    return data_of(run).splits()[split]


def training_rows(run: LoggedRun) -> tuple[np.ndarray, np.ndarray]:
    """What a run was trained on."""
    return rows_of(run, "train")


def plane(run: LoggedRun, *depths: int | None) -> list[Plane]:
    """The logged model over the plane, cut at each depth; None: as deep as it is."""
    points, labels = training_rows(run)
    middles, extent = grid_of(points)
    model, side = run.model(), round(np.sqrt(len(middles)))
    asked = pd.DataFrame(middles, columns=model.feature_names_in_)
    return [
        Plane(
            model.predict_proba(asked, depth).reshape(side, side, -1), extent, points, labels
        )
        for depth in depths or [None]
    ]  # fmt: skip


def by_size(run: LoggedRun, *sizes: int) -> dict[int, Plane]:
    """What so many of the logged model's first trees say over the plane."""
    points, labels = training_rows(run)
    middles, extent = grid_of(points)
    model, side = run.model(), round(np.sqrt(len(middles)))
    trees = model.predict_trees(pd.DataFrame(middles, columns=model.feature_names_in_))
    return {
        size: Plane(trees[:size].mean(axis=0).reshape(side, side, -1), extent, points, labels)
        for size in sizes
    }


def draw_plane(ax: Axes, plane: Plane, note: str) -> None:
    """The likeliest class as a colour, paler where it is less sure, and the training rows."""
    colours = class_colours(plane.grid.shape[2])
    ax.imshow(fade(plane.grid, colours), origin="lower", extent=plane.extent, aspect="auto",
              interpolation="nearest")  # fmt: skip
    for k, colour in enumerate(colours):
        ax.plot(*plane.points[plane.labels == k].T, "o", color=tuple(colour), markersize=POINT,
                markeredgecolor=ink(colour), markeredgewidth=0.4)  # fmt: skip
    dress(ax, "x", "y", note)
    ax.set(xlim=plane.extent[:2], ylim=plane.extent[2:])
    for axis in ("x", "y"):
        number_scale(ax, axis, 5, grid=False)


def plane_entries(n_classes: int) -> list[Entry]:
    """For a legend beside planes."""
    colours = class_colours(n_classes)
    entries = [Entry(f"class {k}", tuple(colour), width=8.0) for k, colour in enumerate(colours)]
    return [*entries, Entry("paler: less sure", "none")]

"""Many short texts as one artist, and the scales of axes made of them.

matplotlib lays each text out by itself, and a tick of its own is five artists. Measured: a text
takes 0.9 ms and a tick 1.6 ms, which made two thirds of a picture's time; outlines of letters,
kept from picture to picture and drawn as one collection, take 0.02 ms a text and look the same. A
panel of three curves takes 27 ms with these scales, 57 with ticks of the same look (matplotlib
3.11). Where the numbers stand is matplotlib's own choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import Affine2D, Transform

GRID = "#E4E4E4"
TICK = 8.5  # font size
GAP = 4.0  # points between axes and their labels
DIGIT_HEIGHT = 0.73  # of the font size
NICE_STEPS = [1, 2, 2.5, 5, 10]


class Words(PathCollection):
    """Texts, drawn as outlines; `strings` are what they say."""

    def __init__(
        self,
        ax: Axes,
        places: np.ndarray,
        strings: Sequence[str],
        transform: Transform | None = None,
        size: float = TICK,
        align: str = "centre",
        shift: tuple[float, float] = (0.0, 0.0),
        rotation: float = 0.0,
        colours: Any = "black",
    ):
        """Add the texts to the axes.

        Parameters
        ----------
        places : (n, 2) of the texts' anchors
        transform : of the places; by default that of the data
        align : which point of a text is its anchor: "centre", or the middle of its "top", "left"
            or "right" edge
        shift : of the anchor, in points, to the right and up
        rotation : in degrees, about the anchor
        """
        self.strings = list(strings)
        outlines = [_anchored(text, size, align, rotation, shift) for text in self.strings]
        super().__init__(
            outlines,
            offsets=np.reshape(places, (-1, 2)),
            offset_transform=ax.transData if transform is None else transform,
            facecolors=colours,
            linewidths=0.0,
            clip_on=False,
            zorder=4,
        )
        assert ax.figure is not None
        self.set_transform(Affine2D().scale(1.0 / 72.0) + ax.figure.dpi_scale_trans)
        ax.add_collection(self, autolim=False)


@lru_cache(maxsize=4096)
def _outline(text: str) -> Path:
    """The letters of a text of size 100, its first at 0.

    A run draws its pictures once, with hundreds of different numbers: those are put together from
    their letters. Other scripts join their letters in ways that matplotlib knows.
    """
    if not text.strip():
        return Path(np.empty((0, 2)))
    if not text.isascii():
        plain = text.replace("$", r"\$")  # "$" is a dollar, not the start of a formula
        return TextPath((0.0, 0.0), plain, size=100.0)
    letters, advances = zip(*map(_letter, text), strict=True)
    starts = np.cumsum([0.0, *advances[:-1]])
    vertices = np.concatenate([letter.vertices for letter in letters])
    vertices[:, 0] += np.repeat(starts, [len(letter.vertices) for letter in letters])
    return Path(vertices, np.concatenate([letter.codes for letter in letters]))


@lru_cache(maxsize=128)
def _letter(letter: str) -> tuple[Path, float]:
    """The outline of one letter, and how far from it the next one stands."""
    bar, after = (TextPath((0.0, 0.0), text, size=100.0) for text in ("|", f"{letter}|"))
    n_bar = len(bar.vertices)
    advance = after.vertices[-n_bar:, 0].min() - bar.vertices[:, 0].min()
    return Path(after.vertices[:-n_bar], after.codes[:-n_bar]), float(advance)


def text_width(text: str, size: float) -> float:
    """In points."""
    vertices = np.asarray(_outline(text).vertices)
    return float(vertices[:, 0].max()) * size / 100.0 if len(vertices) else 0.0


@lru_cache(maxsize=4096)
def _anchored(
    text: str, size: float, align: str, rotation: float, shift: tuple[float, float]
) -> Path:
    """The outline with its anchor at 0, then rotated and shifted."""
    outline, width = _outline(text), text_width(text, size)
    x = {"centre": width / 2.0, "top": width / 2.0, "left": 0.0, "right": width}[align]
    y = DIGIT_HEIGHT * size * (1.0 if align == "top" else 0.5)
    vertices = np.asarray(outline.vertices) * (size / 100.0) - (x, y)
    cos, sin = np.cos(np.radians(rotation)), np.sin(np.radians(rotation))
    return Path(vertices @ np.array([[cos, sin], [-sin, cos]]) + shift, outline.codes)


# ---- scales ------------------------------------------------------------------------------------


def number_scale(ax: Axes, axis: str, most: int = 6, integer: bool = False, grid=True) -> None:
    """A few round numbers along the x or y axis, whose limits are final."""
    low, high = sorted(ax.get_xlim() if axis == "x" else ax.get_ylim())
    locator = MaxNLocator(most, integer=integer, steps=NICE_STEPS, min_n_ticks=1)
    slack = 1e-9 * (high - low)
    places = np.asarray(locator.tick_values(low, high))
    places = places[(places >= low - slack) & (places <= high + slack)]
    scale(ax, axis, places, numbers(places), grid=grid)


def numbers(values: np.ndarray, digits: int = 6, most: int = 9) -> list[str]:
    """Written out, with as many digits as tell them apart, if at most so many do."""
    texts = [f"{value + 0.0:.{digits}g}" for value in values]
    if len(set(texts)) < len(set(values)) and digits < most:
        return numbers(values, digits + 1, most)
    return texts


def plain(value: float, digits: int = 4) -> str:
    """So many digits, written out: 15000, not 1.5e+04."""
    return f"{float(f'{value:.{digits}g}'):.12g}"


def scale(
    ax: Axes,
    axis: str,
    places: np.ndarray,
    labels: Sequence[str],
    grid: bool = True,
    rotation: float = 0.0,
    size: float = TICK,
) -> None:
    """Labels along the x or y axis, lines across the axes, and the axis' name beyond the labels.

    Rotated labels of the x axis end at their places, or, if aslant, a little below.
    """
    places = np.asarray(places, np.float64)
    far, near = places, np.zeros(len(places))
    width = max((text_width(text, size) for text in labels), default=0.0)
    if axis == "x":
        ax.set_xlim(ax.get_xlim())
        _without_ticks(ax.xaxis)
        ax.xaxis.set_label_coords(0.5, -_inches(x_depth(width, rotation, size), ax.bbox.height, ax))
        align = "right" if rotation else "top"
        slant = 4.0 * np.sin(2.0 * np.radians(rotation))  # clear of the other axis' labels
        Words(ax, np.column_stack([far, near]), labels, ax.get_xaxis_transform(), size, align,
              (slant, -GAP - slant), rotation)  # fmt: skip
    else:
        ax.set_ylim(ax.get_ylim())
        _without_ticks(ax.yaxis)
        ax.yaxis.set_label_coords(-_inches(width + 2.0 * GAP, ax.bbox.width, ax), 0.5)
        Words(ax, np.column_stack([near, far]), labels, ax.get_yaxis_transform(), size, "right",
              (-GAP, 0.0))  # fmt: skip
    if grid:
        _draw_grid(ax, axis, places)


def scale_right(ax: Axes, places: np.ndarray, labels: Sequence[str]) -> None:
    """Labels right of the axes, as of a colour bar, and the axis' name beyond them."""
    ax.set_ylim(ax.get_ylim())
    _without_ticks(ax.yaxis)
    width = max((text_width(text, TICK) for text in labels), default=0.0)
    ax.yaxis.set_label_coords(1.0 + _inches(width + 6.0 * GAP, ax.bbox.width, ax), 0.5)
    Words(ax, np.column_stack([np.ones(len(places)), places]), labels,
          ax.get_yaxis_transform(), TICK, "left", (GAP, 0.0))  # fmt: skip


def x_depth(width: float, rotation: float, size: float = TICK) -> float:
    """Points from the axes to the x axis' name, below labels of a width."""
    angle = np.radians(rotation)
    slant = 4.0 * np.sin(2.0 * angle)
    return float(np.sin(angle) * width + np.cos(angle) * size + slant + 2.0 * GAP)


def _inches(points: float, pixels: float, ax: Axes) -> float:
    """Points as a share of the axes' height or width."""
    return points / 72.0 * ax.figure.dpi / pixels


def _without_ticks(axis) -> None:
    axis.set_major_locator(NullLocator())
    axis.set_minor_locator(NullLocator())


def _draw_grid(ax: Axes, axis: str, places: np.ndarray) -> None:
    look: dict[str, Any] = {"colors": GRID, "linewidths": 0.8, "zorder": 0.5}
    if axis == "x":
        ax.vlines(places, 0.0, 1.0, transform=ax.get_xaxis_transform(), **look)
    else:
        ax.hlines(places, 0.0, 1.0, transform=ax.get_yaxis_transform(), **look)

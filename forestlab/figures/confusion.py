"""Which classes are taken for which: counts, shares of a true class, shares of all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from forestlab.figures.style import DPI, NO_VALUE, SMALL, dress, ink, panels, told_apart
from forestlab.figures.words import Words, scale, text_width, x_depth

NUMBERED = 20  # classes; with more, cells have colours only
ROOMY = 8  # classes; with more, cells have room for four letters only
NAMED = 40  # classes; with more, only some have their name at the axis
NAME_LETTERS = 20
COLOURS = colormaps["Blues"].with_extremes(bad=NO_VALUE)


def confusion(matrix: np.ndarray, classes: Sequence[Any], title: str) -> Figure:
    """Three panels of one confusion matrix.

    Parameters
    ----------
    matrix : (n_classes, n_classes) counts or weights; rows are true classes, columns predicted ones
    classes : (n_classes,) names, in the matrix's order

    Notes
    -----
    Colours follow the square root of counts, so that rare mistakes are seen. Cells of zero rows are
    left empty; a true class without rows has no shares, and is grey.
    """
    counts = np.asarray(matrix, np.float64)
    n_classes = len(counts)
    names = told_apart(classes, NAME_LETTERS)
    size = SMALL if n_classes <= NUMBERED else SMALL - 1.5
    cell = _cell_pixels(n_classes) / DPI
    width = max(text_width(name, size) for name in names) / 72.0
    step = 1 if n_classes <= NAMED else -(-n_classes // 20)
    rotation = 0.0 if width < step * cell - 0.05 else 90.0
    bottom = 0.25 + x_depth(72.0 * width, rotation, size) / 72.0
    side = n_classes * cell
    figure, axes = panels(title, [side] * 3, side, left=0.4 + width, bottom=bottom, gap=0.65)
    for k, (ax, (values, note)) in enumerate(zip(axes, _kinds(counts), strict=True)):
        top = values[np.isfinite(values)].max(initial=0.0) or 1.0
        image = ax.imshow(values, cmap=COLOURS, norm=PowerNorm(0.5, 0.0, top))
        if n_classes <= NUMBERED:
            _number_cells(ax, values, image.to_rgba(values), _percent if k else _count)
        else:
            note = f"{note}; darkest: {top:.3g}"
        dress(ax, "predicted", "true", note)
        places, shown = np.arange(0, n_classes, step), names[::step]
        scale(ax, "x", places, shown, grid=False, rotation=rotation, size=size)
        if k:  # the rows of the first panel are named for all three
            places, shown = places[:0], []
        scale(ax, "y", places, shown, grid=False, size=size)
    return figure


def _kinds(counts: np.ndarray) -> list[tuple[np.ndarray, str]]:
    true = counts.sum(axis=1, keepdims=True)
    total = counts.sum()
    recall = np.divide(counts, true, out=np.full_like(counts, np.nan), where=true > 0)
    share = counts / total if total else counts
    right = f"{np.trace(share):.1%} right" if total else "no rows"
    return [
        (counts, f"rows ({total:.10g}; {right})"),
        (100.0 * recall, "% of the true class (diagonal: recall)"),
        (100.0 * share, "% of all rows"),
    ]


def _cell_pixels(n_classes: int) -> float:
    """A whole number as long as the panel is not too large, so that cells are equally wide."""
    if n_classes <= 10:
        return max(36, 300 // n_classes)
    if n_classes <= NUMBERED:
        return 30
    return max(2, 480 // n_classes) if n_classes <= 300 else 600 / n_classes


def _number_cells(ax: Axes, values: np.ndarray, colours: np.ndarray, words: Callable) -> None:
    rows, columns = np.nonzero(values > 0)
    roomy = len(values) <= ROOMY
    papers, which = np.unique(colours[rows, columns, :3], axis=0, return_inverse=True)
    inks = np.array([ink(paper) for paper in papers] or ["black"])
    Words(ax, np.column_stack([columns, rows]), [words(v, roomy) for v in values[rows, columns]],
          size=SMALL - 0.5, colours=inks[which.ravel()].tolist())  # fmt: skip


def _count(count: float, roomy: bool) -> str:
    if roomy or count < 9_995:
        return f"{count:.3g}" if count < 999.5 else f"{count:.0f}"
    return f"{count / 1000:.0f}k"


def _percent(percent: float, roomy: bool) -> str:
    least, decimals = (0.01, 2) if roomy else (0.1, 1)
    if percent < least:
        return "<0.01" if roomy else "<.1"
    if percent >= 99.95:
        return "100"
    return f"{percent:.{decimals if percent < 9.95 else decimals - 1}f}"

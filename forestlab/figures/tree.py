"""A tree → boxes and lines.

A tree is laid out in points (1/72 inch) before it is drawn (see tree_layout; what boxes say:
tree_boxes). A new figure is as large as the layout, with a title, the legend of its colours and a
note on what was left out around it; given axes show the layout scaled to fit, text included.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from forestlab.figures.style import DPI, LINE, TITLE, ink
from forestlab.figures.tree_boxes import (
    CLASS_COLOURS,
    Box,
    colour_of,
    is_grown,
    legend_of,
    make_boxes,
    readable_depth,
)
from forestlab.figures.tree_layout import PADDING, STRIP, Layout, lay_out

# "$" in a name is a dollar, not the start of a formula.
FONT: dict[str, Any] = {"fontsize": 9.0, "linespacing": 1.25, "parse_math": False}
SMALL = 8.0  # font size of yes and no, and of notes
MARGIN = 14.0  # points around a new figure's axes
TITLE_HEIGHT = 24.0  # points
LEGEND_HEIGHT = 17.0  # of one of its lines
SWATCH = 9.0  # points a side
LEAST_FIGURE = 300.0  # points a new figure is wide, at least: room for a title
FEW = 31  # boxes; with more, only the root's edges say yes and no
MAX_INCHES = 100.0  # larger layouts are scaled down: a canvas has at most 2**16 pixels a side

__all__ = ["CLASS_COLOURS", "draw_tree", "tree_picture"]


def draw_tree(
    view,
    ax: Axes | str | os.PathLike | None = None,
    max_depth: int | None = None,
    decimals: int = 2,
    show_stats: bool = True,
    title: str | None = None,
) -> Axes:
    """Draw a tree.

    Parameters
    ----------
    view : view.TreeView
    ax : axes to draw into; or the name of a file, whose ending says what is written, such as .png,
        .svg or .pdf; by default a new figure of the size that the tree needs
    max_depth : draw the tree cut at this depth, and say how much stands below each cut; None: as
        deep as can be read
    decimals : of values and impurities
    show_stats : show what the tree would answer at inner nodes, rows, impurities and the number of
        rows of each class, if the tree was grown from rows
    title : of the picture; by default what kind of tree it is and how large, but on given axes none

    Returns
    -------
    The axes. A node's box and text have the gid "node 0", "node 1", …
    """
    if isinstance(ax, str | os.PathLike):
        figure = tree_picture(view, max_depth, decimals, show_stats, title)
        _write(figure, Path(ax))
        return figure.axes[0]
    max_depth = readable_depth(view) if max_depth is None else max_depth
    boxes = make_boxes(view, max_depth, decimals, show_stats)
    if ax is not None:
        if title:
            ax.set_title(title, loc="left", fontsize=TITLE, parse_math=False)
        return _draw(ax, boxes)
    import matplotlib.pyplot as plt  # only here: pictures of runs do without it

    return _draw_alone(plt.figure(), view, boxes, max_depth, title)


def tree_picture(
    view,
    max_depth: int | None = None,
    decimals: int = 2,
    show_stats: bool = True,
    title: str | None = None,
) -> Figure:
    """The tree on a figure of its own, without pyplot, so that nothing has to be closed."""
    figure = Figure(dpi=DPI)
    FigureCanvasAgg(figure)
    max_depth = readable_depth(view) if max_depth is None else max_depth
    _draw_alone(figure, view, make_boxes(view, max_depth, decimals, show_stats), max_depth, title)
    return figure


def _write(figure: Figure, path: Path) -> None:
    known = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise ValueError(
            f"a picture's file must end in one of {', '.join(f'.{kind}' for kind in known)}; got "
            f"{str(path)!r}."
        )
    figure.savefig(path)


# ---- a figure of its own -----------------------------------------------------------------------


def _draw_alone(figure: Figure, view, boxes: list[Box], max_depth: int, title: str | None) -> Axes:
    """Draw on a new figure, which becomes as large as the tree and what is said of it need."""
    ax = figure.add_axes((0, 0, 1, 1))
    layout = lay_out(boxes, _text_sizes(ax, [box.text for box in boxes]))
    left, right, bottom, top = layout.extent
    size = np.array([right - left, top - bottom])
    size *= min(1.0, 72.0 * MAX_INCHES / size.max())
    title = _title(view) if title is None else title
    note = _left_out(view, boxes, max_depth)
    entries = legend_of(view, boxes)
    said = [(title, TITLE), (note, SMALL), *((words, TITLE) for _, words in entries)]
    width = max(size[0] + 2.0 * MARGIN, *(_width_of(ax, *words) for words in said))
    legend = _flow(ax, entries, width - 2.0 * MARGIN)
    above = MARGIN + TITLE_HEIGHT * bool(title) + LEGEND_HEIGHT * len(legend)
    below = MARGIN + LEGEND_HEIGHT * bool(note)
    outer = np.array([width, size[1] + above + below])
    figure.set_size_inches(*outer / 72.0)
    ax.set_position((*((width - size[0]) / 2.0, below) / outer, *(size / outer)))
    _write_around(figure, outer, title, legend, note)
    return _draw(ax, boxes)


def _write_around(figure: Figure, outer: np.ndarray, title: str, legend: list, note: str) -> None:
    """The title, the lines of the legend and the note, in points from the figure's left and top."""

    def put(x: float, y: float, words: str, **font) -> None:
        figure.text(x / outer[0], 1.0 - y / outer[1], words, ha="left", parse_math=False, **font)

    y = MARGIN
    if title:
        put(MARGIN, y, title, va="top", fontsize=TITLE, fontweight="bold")
        y += TITLE_HEIGHT
    for line in legend:
        for x, colour, words in line:
            start = MARGIN + x
            if colour:
                corner = start / outer[0], 1.0 - (y + SWATCH) / outer[1]
                look = {"facecolor": colour, "edgecolor": LINE, "linewidth": 0.5}
                figure.add_artist(Rectangle(corner, *(SWATCH / outer), **look))
                start += SWATCH + 4.0
            put(start, y + SWATCH / 2.0, words, va="center", fontsize=SMALL)
        y += LEGEND_HEIGHT
    if note:
        put(MARGIN, outer[1] - MARGIN + 4.0, note, va="bottom", fontsize=SMALL, color=LINE)


def _title(view) -> str:
    kind = "Tree" if not is_grown(view) else f"{view.task.capitalize()} tree"
    return f"{kind}: {_count(view.n_nodes, 'node')}, {_count(view.n_leaves, 'leaf', 'leaves')}, " \
        f"depth {view.depth}"  # fmt: skip


def _left_out(view, boxes: list[Box], max_depth: int) -> str:
    n_nodes, n_levels = view.n_nodes - len(boxes), view.depth - max_depth
    if not n_nodes:
        return ""
    more = f"{_count(n_levels, 'more level')}, {_count(n_nodes, 'node')}"
    return f"… drawn to depth {max_depth}; left out: {more}"


def _count(n: int, noun: str, nouns: str = "") -> str:
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def _width_of(ax: Axes, words: str, size: float) -> float:
    """Of a line of text with its margins, in points, which may be bold."""
    (found, _), *_ = _text_sizes(ax, [words])
    return max(LEAST_FIGURE, 1.15 * found * size / FONT["fontsize"] + 2.0 * MARGIN)


def _flow(ax: Axes, legend: list[tuple[str, str]], width: float) -> list[list]:
    """The legend in lines that are no wider: of each entry its x, in points, colour and words."""
    lines: list[list] = []
    end = np.inf
    for colour, words in legend:
        room = (SWATCH + 4.0) * bool(colour) + _text_sizes(ax, [words])[0, 0] + 12.0
        if end + room > width:
            lines.append([])
            end = 0.0
        lines[-1].append((end, colour, words))
        end += room
    return lines


# ---- drawing -----------------------------------------------------------------------------------


def _draw(ax: Axes, boxes: list[Box]) -> Axes:
    layout = lay_out(boxes, _text_sizes(ax, [box.text for box in boxes]))
    scale = _fit(ax, layout)
    _draw_edges(ax, boxes, layout, scale)
    for box, x, y, width, height in zip(boxes, *layout, strict=True):
        _draw_box(ax, box, (x, y), width, height, scale)
    _draw_strips(ax, boxes, layout, scale)
    return ax


def _text_sizes(ax: Axes, texts: list[str]) -> np.ndarray:
    """Width and height of each text, in points."""
    probe = ax.text(0, 0, "", **FONT)
    sizes: dict[str, Any] = {}
    for text in texts:
        if text not in sizes:
            probe.set_text(text)
            extent = probe.get_window_extent()
            sizes[text] = (extent.width, extent.height)
    probe.remove()
    return np.array([sizes[text] for text in texts]) * 72.0 / ax.figure.dpi


def _fit(ax: Axes, layout: Layout) -> float:
    """Show the layout in the middle of the axes; returns how many points a point becomes."""
    left, right, bottom, top = layout.extent
    frame = ax.get_window_extent()
    width, height = (72.0 / ax.figure.dpi * side for side in (frame.width, frame.height))
    scale = min(width / (right - left), height / (top - bottom))
    x, y = (left + right) / 2.0, (bottom + top) / 2.0
    ax.set_xlim(x - width / scale / 2.0, x + width / scale / 2.0)
    ax.set_ylim(y - height / scale / 2.0, y + height / scale / 2.0)
    ax.set_axis_off()
    return scale


def _draw_edges(ax: Axes, boxes: list[Box], layout: Layout, scale: float) -> None:
    lines = []
    for k, box in enumerate(boxes):
        for child, word in ((box.left, "yes"), (box.right, "no")):
            if child < 0:
                continue
            start = (layout.x[k], layout.y[k] - layout.height[k] / 2.0)
            end = (layout.x[child], layout.y[child] + layout.height[child] / 2.0)
            lines.append((start, end))
            if k == 0 or len(boxes) <= FEW:
                _draw_word(ax, word, np.mean([start, end], axis=0), scale)
    ax.add_collection(LineCollection(lines, colors=LINE, linewidths=scale, zorder=1))


def _draw_word(ax: Axes, word: str, place: np.ndarray, scale: float) -> None:
    paper = {"facecolor": ax.figure.get_facecolor(), "edgecolor": "none", "pad": scale}
    ax.text(place[0], place[1], word, ha="center", va="center", fontsize=SMALL * scale, color=LINE,
            bbox=paper, zorder=2)  # fmt: skip


def _draw_box(ax: Axes, box: Box, centre, width: float, height: float, scale: float) -> None:
    corner = (centre[0] - width / 2.0, centre[1] - height / 2.0)
    style = f"round,pad=0,rounding_size={PADDING[1]}"
    patch = FancyBboxPatch(corner, width, height, boxstyle=style, facecolor=box.colour,
                           edgecolor=LINE, linewidth=0.8 * scale, zorder=3,
                           clip_on=False)  # fmt: skip
    patch.set_gid(f"node {box.node}")
    ax.add_patch(patch)
    font = FONT | {"fontsize": FONT["fontsize"] * scale}
    y = centre[1] + (STRIP / 2.0 if len(box.shares) else 0.0)
    ax.text(centre[0], y, box.text, ha="center", va="center", color=ink(box.colour),
            zorder=4, gid=f"node {box.node}", **font)  # fmt: skip


def _draw_strips(ax: Axes, boxes: list[Box], layout: Layout, scale: float) -> None:
    """Below the texts, the shares of the classes side by side in their colours."""
    pieces: list[Rectangle] = []
    colours: list[str] = []
    for box, x, y, width, height in zip(boxes, *layout, strict=True):
        inner = width - 2.0 * PADDING[0]
        ends = x - inner / 2.0 + inner * np.cumsum([0.0, *box.shares])
        bottom = y - height / 2.0 + PADDING[1]
        for number, share in enumerate(box.shares):
            if share > 0:
                start = (ends[number], bottom)
                pieces.append(Rectangle(start, inner * share, STRIP - 3.0))
                colours.append(colour_of(number))
    ax.add_collection(PatchCollection(pieces, facecolors=colours, edgecolors=LINE,
                                      linewidths=0.4 * scale, zorder=5))  # fmt: skip

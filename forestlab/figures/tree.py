"""A tree → boxes and lines.

A tree is laid out in points (1/72 inch) before it is drawn: boxes fit their text, leaves stand
evenly spaced, parents are centred over their children, and the space between leaves is the least
that keeps all boxes of a level apart. A new figure is as large as the layout; given axes show the
layout scaled to fit, text included.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from forestlab.figures.style import ink

# "$" in a name is a dollar, not the start of a formula.
FONT: dict[str, Any] = {"fontsize": 9.0, "linespacing": 1.25, "parse_math": False}
SMALL = 8.0  # font size of yes and no
LINE_LENGTH = 24  # letters of a question; longer ones are wrapped
PADDING = (7.0, 5.0)  # points between a text and its box
LEAST_WIDTH = 36.0  # points
GAP = 10.0  # points between boxes of a level, at least
LEVEL_GAP = 30.0  # points between levels, at least: room for yes and no
SLOPE = 0.12  # of a level's longest edge, at least
MARGIN = 26.0  # points around a new figure's axes: room for a title
MAX_INCHES = 100.0  # larger layouts are scaled down: a canvas has at most 2**16 pixels a side
FEW = 31  # boxes; with more, only the root's edges say yes and no

# Paul Tol's muted scheme: the colour-blind can tell these ten apart, lightened ones too.
CLASS_COLOURS = (
    "#88CCEE", "#CC6677", "#DDCC77", "#117733", "#AA4499",
    "#44AA99", "#332288", "#999933", "#882255", "#888888",
)  # fmt: skip
MEAN_COLOURS = colormaps["YlGnBu"]
NEUTRAL = "#F5F5F5"
LINE = "#555555"


class Box(NamedTuple):
    """A node as drawn; `left` and `right` are places in the list of boxes, -1 at an end."""

    node: int
    text: str
    colour: str
    level: int
    left: int
    right: int


class Layout(NamedTuple):
    """In points, y upwards; the root's level has its top at 0."""

    x: np.ndarray  # (n_boxes,) centres
    y: np.ndarray  # (n_boxes,)
    width: np.ndarray  # (n_boxes,)
    height: np.ndarray  # (n_boxes,) the same in all of a level, so that edges cross no box


def draw_tree(
    view,
    ax: Axes | None = None,
    max_depth: int | None = None,
    decimals: int = 2,
    show_stats: bool = True,
) -> Axes:
    """Draw a tree.

    Parameters
    ----------
    view : view.TreeView
    ax : axes to draw into; by default those of a new figure, of the size that the tree needs
    max_depth : draw the tree cut at this depth, and say how much stands below each cut
    decimals : of values and impurities
    show_stats : show rows and impurity, if the tree was grown from rows

    Returns
    -------
    The axes. A node's box and text have the gid "node 0", "node 1", …
    """
    boxes = _boxes(view, max_depth, decimals, show_stats)
    if ax is not None:
        return _draw(ax, boxes)
    import matplotlib.pyplot as plt  # only here: pictures of runs do without it

    return _draw_alone(plt.figure(), boxes)


def tree_picture(view, max_depth: int | None = None) -> Figure:
    """The tree on a figure of its own, without pyplot, so that nothing has to be closed."""
    figure = Figure()
    FigureCanvasAgg(figure)
    _draw_alone(figure, _boxes(view, max_depth, decimals=2, show_stats=True))
    return figure


def _draw_alone(figure: Figure, boxes: list[Box]) -> Axes:
    """Draw on a new figure, which becomes as large as the tree needs."""
    ax = figure.add_axes((0, 0, 1, 1))
    _resize(figure, ax, _lay_out(boxes, _text_sizes(ax, [box.text for box in boxes])))
    return _draw(ax, boxes)


def _draw(ax: Axes, boxes: list[Box]) -> Axes:
    layout = _lay_out(boxes, _text_sizes(ax, [box.text for box in boxes]))
    scale = _fit(ax, layout)
    _draw_edges(ax, boxes, layout, scale)
    for box, x, y, width, height in zip(boxes, *layout, strict=True):
        _draw_box(ax, box, (x, y), width, height, scale)
    return ax


# ---- boxes -------------------------------------------------------------------------------------


def _boxes(view, max_depth: int | None, decimals: int, show_stats: bool) -> list[Box]:
    shown = view.shown(max_depth)
    place = {node: k for k, node in enumerate(shown)}
    colours = _colours(view, shown, max_depth)
    boxes = []
    for i, colour in zip(shown, colours, strict=True):
        left, right = (int(view.tree.nodes[side][i]) for side in ("left", "right"))
        text = _text(view, i, max_depth, decimals, show_stats)
        level = int(view.depths[i])
        boxes.append(Box(i, text, colour, level, place.get(left, -1), place.get(right, -1)))
    return boxes


def _text(view, i: int, max_depth: int | None, decimals: int, show_stats: bool) -> str:
    ends = view.ends_at(i, max_depth)
    lines = [view.value_text(i, decimals)] if ends else _wrap(view.question(i))
    facts = view.facts(i, decimals) if show_stats else {}
    lines += [facts[key] for key in ("rows", "impurity") if key in facts]
    n_below, _ = view.below(i)
    if ends and n_below:
        lines.append(f"… {n_below} nodes below")
    return "\n".join(lines)


def _wrap(question: str) -> list[str]:
    """Break a long question, but neither after a sign nor within what it says of NaN."""
    tied = question
    for part in ("≤ ", "< ", "+ ", "− ", "or missing", "(missing: ", " yes)"):
        tied = tied.replace(part, part.replace(" ", "\N{NO-BREAK SPACE}"))
    lines = textwrap.wrap(tied, LINE_LENGTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def _colours(view, shown: list[int], max_depth: int | None) -> list[str]:
    """By class and purity, or by mean; those of several targets have none. Of a tree typed in, only
    the ends have a colour."""
    stats = view.tree.stats[shown]
    if isinstance(view.class_names, list):
        colours = [NEUTRAL] * len(shown)
    elif view.class_names is not None:
        colours = [_class_colour(weights) for weights in stats]
    elif stats.shape[1] == 3:
        means = stats[:, 1]
        spread = np.ptp(means) or 1.0
        colours = [to_hex(MEAN_COLOURS(0.8 * (m - means.min()) / spread)) for m in means]
    else:
        colours = [NEUTRAL] * len(shown)
    grown = view.tree.nodes["n_rows"][0] > 0
    return [
        colour if grown or view.ends_at(i, max_depth) else NEUTRAL
        for i, colour in zip(shown, colours, strict=True)
    ]


def _class_colour(weights: np.ndarray) -> str:
    """The colour of the heaviest class, the paler the less it outweighs an even mixture."""
    even = 1.0 / len(weights)
    share = weights.max() / weights.sum()
    purity = (share - even) / (1.0 - even) if len(weights) > 1 else 1.0
    colour = np.array(to_rgb(CLASS_COLOURS[int(weights.argmax()) % len(CLASS_COLOURS)]))
    strength = 0.1 + 0.9 * purity
    return to_hex(tuple(1.0 - strength * (1.0 - colour)))


# ---- the layout --------------------------------------------------------------------------------


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


def _lay_out(boxes: list[Box], text_sizes: np.ndarray) -> Layout:
    width, height = (text_sizes + 2.0 * np.array(PADDING)).T
    width = np.maximum(width, LEAST_WIDTH)
    level = np.array([box.level for box in boxes])
    rows = [np.flatnonzero(level == depth) for depth in range(level.max() + 1)]
    slot, reach = _slots(boxes)
    spacing = max(_spacing(slot[row], width[row]) for row in rows)
    heights = np.array([height[row].max() for row in rows])
    gaps = [max(LEVEL_GAP, SLOPE * spacing * reach[row].max()) for row in rows]
    tops = -np.cumsum([0.0, *(heights + gaps)])[:-1]
    return Layout(slot * spacing, (tops - heights / 2.0)[level], width, heights[level])


def _slots(boxes: list[Box]) -> tuple[np.ndarray, np.ndarray]:
    """Where boxes stand, and how far from there their children, in steps from leaf to leaf."""
    slot, reach = np.zeros(len(boxes)), np.zeros(len(boxes))
    ends = [k for k, box in enumerate(boxes) if box.left < 0]
    slot[ends] = np.arange(len(ends))
    for k, box in reversed(list(enumerate(boxes))):
        if box.left >= 0:
            slot[k] = (slot[box.left] + slot[box.right]) / 2.0
            reach[k] = (slot[box.right] - slot[box.left]) / 2.0
    return slot, reach


def _spacing(slot: np.ndarray, width: np.ndarray) -> float:
    """Points a step, so that the boxes of a level, given from left to right, stand apart.

    They are at least one step from each other, since each stands above leaves of its own.
    """
    room = (width[1:] + width[:-1]) / 2.0 + GAP
    return (room / np.diff(slot)).max(initial=0.0)


def _extent(layout: Layout) -> tuple[float, float, float, float]:
    """left, right, bottom, top"""
    left, right = layout.x - layout.width / 2.0, layout.x + layout.width / 2.0
    return left.min(), right.max(), (layout.y - layout.height / 2.0).min(), 0.0


def _resize(figure: Figure, ax: Axes, layout: Layout) -> None:
    """Make the figure as large as the layout."""
    left, right, bottom, top = _extent(layout)
    size = np.array([right - left, top - bottom])
    size *= min(1.0, 72.0 * MAX_INCHES / size.max())
    outer = size + 2.0 * MARGIN
    figure.set_size_inches(*outer / 72.0)
    ax.set_position((*(MARGIN / outer), *(size / outer)))


def _fit(ax: Axes, layout: Layout) -> float:
    """Show the layout in the middle of the axes; returns how many points a point becomes."""
    left, right, bottom, top = _extent(layout)
    frame = ax.get_window_extent()
    width, height = (72.0 / ax.figure.dpi * side for side in (frame.width, frame.height))
    scale = min(width / (right - left), height / (top - bottom))
    x, y = (left + right) / 2.0, (bottom + top) / 2.0
    ax.set_xlim(x - width / scale / 2.0, x + width / scale / 2.0)
    ax.set_ylim(y - height / scale / 2.0, y + height / scale / 2.0)
    ax.set_axis_off()
    return scale


# ---- drawing -----------------------------------------------------------------------------------


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
    ax.text(centre[0], centre[1], box.text, ha="center", va="center", color=ink(box.colour),
            zorder=4, gid=f"node {box.node}", **font)  # fmt: skip

"""The boxes of a drawn tree: what stands in each, and its colour.

A box says what its node asks; what the tree would answer there; how many training rows came to it,
their impurity, and how many of each class there are, also as a strip of the classes' colours. Of a
tree that was typed in nothing is known of rows: its boxes say what they ask, or answer.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb

LINE_LENGTH = 24  # letters of a question; longer ones are wrapped
FEW_CLASSES = 4  # up to so many are all counted, in their order; of more the heaviest are
MOST_COUNTED = 3
READABLE = 23  # boxes: a tree of 12 leaves is about as wide as a screen
SCALE_STEPS = 5  # colours of means that the legend has

# Paul Tol's muted scheme: the colour-blind can tell these ten apart, lightened ones too.
CLASS_COLOURS = (
    "#88CCEE", "#CC6677", "#DDCC77", "#117733", "#AA4499",
    "#44AA99", "#332288", "#999933", "#882255", "#888888",
)  # fmt: skip
MEAN_COLOURS = colormaps["YlGnBu"]
NEUTRAL = "#F5F5F5"


class Box(NamedTuple):
    """A node as drawn; `left` and `right` are places in the list of boxes, -1 at an end."""

    node: int
    text: str
    colour: str
    level: int
    left: int
    right: int
    shares: np.ndarray  # of the classes, to be drawn as a strip; empty: none


def make_boxes(view, max_depth: int | None, decimals: int, show_stats: bool) -> list[Box]:
    """Those of the tree cut at max_depth, in preorder."""
    shown = view.shown(max_depth)
    place = {node: k for k, node in enumerate(shown)}
    colours = _colours(view, shown, max_depth)
    boxes = []
    for i, colour in zip(shown, colours, strict=True):
        left, right = (int(view.tree.nodes[side][i]) for side in ("left", "right"))
        text = _text(view, i, max_depth, decimals, show_stats)
        children = place.get(left, -1), place.get(right, -1)
        shares = _shares(view, i) if show_stats else np.empty(0)
        boxes.append(Box(i, text, colour, int(view.depths[i]), *children, shares))
    return boxes


def readable_depth(view) -> int:
    """The greatest depth at which all boxes can be read on one picture."""
    n_boxes = np.cumsum(np.bincount(view.depths))
    return int(np.searchsorted(n_boxes, READABLE, side="right")) - 1


# ---- words -------------------------------------------------------------------------------------


def is_grown(view) -> bool:
    """From rows, of which something is known?"""
    return bool(view.tree.nodes["n_rows"][0] > 0)


def are_weighted(view) -> bool:
    """Do rows count other than once each, as those that are drawn several times do?"""
    root = view.tree.nodes[0]
    return bool(root["weight"] != root["n_rows"])


def has_colours(view) -> bool:
    """Do colours tell what nodes answer? Not of several targets."""
    if view.class_names is not None:
        return not isinstance(view.class_names, list)
    return view.task == "regression" and view.n_answers == 1


def _text(view, i: int, max_depth: int | None, decimals: int, show_stats: bool) -> str:
    ends, value = view.ends_at(i, max_depth), view.value_text(i, decimals)
    lines = _wrap(value) if ends else _wrap(view.question(i))
    if is_grown(view) and show_stats:
        if not ends and view.task != "density":
            lines += _wrap(f"{'value' if view.class_names is None else 'class'} {value}")
        facts = view.facts(i, decimals)
        rows = f"{facts['rows']}, {facts['weight']}" if are_weighted(view) else facts["rows"]
        lines += [rows, facts["impurity"], *_counts(view, i, decimals)]
    n_below, _ = view.below(i)
    if ends and n_below:
        lines.append(f"… {n_below} nodes below")
    return "\n".join(lines)


def _counts(view, i: int, decimals: int) -> list[str]:
    """How many rows of each class there are, or what they weigh, a line for each target."""
    lines = []
    weights = view.weights_each(view.tree.stats[[i]])
    for names, (of_target,) in zip(view.names_each, weights, strict=True):
        told = [f"{round(float(weight), decimals):g}" for weight in of_target]
        if len(told) <= FEW_CLASSES:
            lines.append(f"[{', '.join(told)}]")
            continue
        order = [c for c in np.argsort(-of_target, kind="stable") if of_target[c] > 0]
        most = [f"{names[c]}: {told[c]}" for c in order[:MOST_COUNTED]]
        lines += _wrap(", ".join(most + ["…"] * (len(order) > MOST_COUNTED)))
    return lines


def _wrap(words: str) -> list[str]:
    """Break a long question, but neither after a sign nor within what it says of NaN."""
    tied = words
    for part in ("≤ ", "< ", "+ ", "− ", ": ", " …", "or missing", "(missing: ", " yes)"):
        tied = tied.replace(part, part.replace(" ", "\N{NO-BREAK SPACE}"))
    lines = textwrap.wrap(tied, LINE_LENGTH, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


# ---- colours -----------------------------------------------------------------------------------


def _shares(view, i: int) -> np.ndarray:
    """Those of the classes in a grown node of one target."""
    if not is_grown(view) or view.class_names is None or isinstance(view.class_names, list):
        return np.empty(0)
    weights = view.tree.stats[i]
    return weights / weights.sum()


def _colours(view, shown: list[int], max_depth: int | None) -> list[str]:
    """By class and purity, or by mean; those of several targets have none. Of a tree typed in, only
    the ends have a colour."""
    stats = view.tree.stats[shown]
    if not has_colours(view):
        colours = [NEUTRAL] * len(shown)
    elif view.class_names is not None:
        colours = [_class_colour(weights) for weights in stats]
    else:
        colours = _mean_colours(stats[:, 1], stats[:, 1])
    grown = is_grown(view)
    return [
        colour if grown or view.ends_at(i, max_depth) else NEUTRAL
        for i, colour in zip(shown, colours, strict=True)
    ]


def colour_of(number: int) -> str:
    """That of a class, by its number."""
    return CLASS_COLOURS[number % len(CLASS_COLOURS)]


def _class_colour(weights: np.ndarray) -> str:
    """The colour of the heaviest class, the paler the less it outweighs an even mixture."""
    even = 1.0 / len(weights)
    share = weights.max() / weights.sum()
    purity = (share - even) / (1.0 - even) if len(weights) > 1 else 1.0
    colour = np.array(to_rgb(colour_of(int(weights.argmax()))))
    strength = 0.1 + 0.9 * purity
    return to_hex(tuple(1.0 - strength * (1.0 - colour)))


def _mean_colours(means: np.ndarray, of: np.ndarray) -> list[str]:
    """The colours of some means, between the least and the greatest of those drawn."""
    spread = np.ptp(of) or 1.0
    return [to_hex(MEAN_COLOURS(0.8 * (mean - of.min()) / spread)) for mean in means]


def legend_of(view, boxes: list[Box]) -> list[tuple[str, str]]:
    """Colours and what they stand for, "" beside words alone; nothing if they stand for nothing, or
    for several classes each."""
    if not has_colours(view):
        return []
    if view.class_names is not None:
        counted = "weight" if are_weighted(view) else "rows"
        return _legend_of_classes([str(name) for name in view.class_names], boxes, counted)
    values = view.tree.stats[[box.node for box in boxes], 1]
    if not np.ptp(values):
        return []
    steps = np.linspace(values.min(), values.max(), SCALE_STEPS)
    told = [f"{step:.4g}" for step in steps]
    return [("", "value"), *zip(_mean_colours(steps, values), told, strict=True)]


def _legend_of_classes(names: list[str], boxes: list[Box], counted: str) -> list[tuple[str, str]]:
    if len(names) > len(CLASS_COLOURS):
        return []
    told = [(colour_of(c), name) for c, name in enumerate(names)]
    if not len(boxes[0].shares):
        return told
    of_each = f"[ ]: {counted} of each, in this order"
    return [*told, ("", of_each if len(names) <= FEW_CLASSES else f"class: its {counted}")]

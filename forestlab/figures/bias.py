"""What an error is made of at each depth: noise, bias and variance, one panel a model variant.

The parts are areas that stand on each other, so that the upper edge is the error that is expected;
a line is the error that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from forestlab.core.prune import best_depth
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import dress, panels, say_empty, shorten
from forestlab.figures.words import number_scale, plain

HEIGHT = 3.2  # inches
WIDEST, NARROWEST = 3.4, 2.5  # of a panel
ALL_PANELS = 13.0  # together, as long as none is too narrow
FEW_POINTS = 40  # longer curves have no markers
NAME_LETTERS = 16
LEAST_DIP = 0.005  # of the highest error: parts less than that below 0 are not seen
MEASURED = "#222222"

Kind = Literal["squared", "brier", "labels"]


class Part(NamedTuple):
    field: str  # of the decomposition
    label: str
    colour: str


class ErrorParts(NamedTuple):
    error: str  # the label of the vertical axis
    parts: tuple[Part, ...]  # from below


NOISE, BIAS, VARIANCE = "#CCCCCC", "#6F99C4", "#F2A065"
SQUARES = (
    Part("noise", "noise", NOISE),
    Part("bias2", "bias²", BIAS),
    Part("variance", "variance", VARIANCE),
)
KINDS: dict[Kind, ErrorParts] = {
    "squared": ErrorParts("squared error (squared units of the target)", SQUARES),
    "brier": ErrorParts("Brier score (0: best, 2: worst)", SQUARES),
    "labels": ErrorParts(
        "share of wrong labels",
        (
            Part("noise", "noise", NOISE),
            Part("bias_effect", "bias effect", BIAS),
            Part("variance_effect", "variance effect", VARIANCE),
        ),
    ),
}


def bias_variance_curve(variants: Mapping[str, Any], title: str, kind: Kind = "squared") -> Figure:
    """The parts of the error against depth, variants side by side on the same scales.

    Parameters
    ----------
    variants : name, or "" if there is but one → an object with an array over depth for each part of
        the kind, for `error`, their sum, and for `measured`, the error on drawn targets, which may
        be None
    kind : "squared" has the parts `noise`, `bias2` and `variance`, "brier" the same; "labels" has
        `noise`, `bias_effect` and `variance_effect`

    Notes
    -----
    A part below 0 is hatched, from the upper edge of what lies beneath it downwards. Above each
    panel stands the expected error at the best depth.
    """
    entries = parts_legend(variants, kind)
    n_panels = max(len(variants), 1)
    width = float(np.clip(ALL_PANELS / n_panels, NARROWEST, WIDEST))
    figure, axes = panels(title, n_panels * [width], HEIGHT, right=inches_beside(entries), gap=0.8)
    draw_parts(axes, variants, kind)
    if not variants:
        dress(axes[0], "depth", KINDS[kind].error)
        say_empty(axes[0], "no variants")
    legend_beside(axes[-1], entries)
    return figure


def draw_parts(axes: Sequence[Axes], variants: Mapping[str, Any], kind: Kind) -> None:
    """A row of panels of a picture, a variant each."""
    shown = KINDS[kind]
    edges, top = _stacked(variants, shown)
    deepest = max((len(found.error) - 1 for found in variants.values()), default=0)
    for ax, (name, found) in zip(axes, variants.items(), strict=False):
        _draw_areas(ax, edges[name], shown, LEAST_DIP * top)
        _draw_measured(ax, found.measured)
        dress(ax, "depth", shown.error, _note(name, found.error))
        margin = 0.03 * deepest or 0.5
        ax.set_xlim(-margin, deepest + margin)
        ax.set_ylim(0.0, 1.05 * top or 1.0)
        number_scale(ax, "x", 8, integer=True)
        number_scale(ax, "y")


def parts_legend(variants: Mapping[str, Any], kind: Kind) -> list[Entry]:
    """From top to bottom, as in the panels."""
    shown = KINDS[kind]
    edges, top = _stacked(variants, shown)
    is_measured = any(found.measured is not None for found in variants.values())
    entries = [Entry("measured error", MEASURED, marker="o")] if is_measured else []
    entries += [Entry(part.label, part.colour, width=8.0) for part in reversed(shown.parts)]
    dips = any((np.diff(parts, axis=0) < -LEAST_DIP * top).any() for parts in edges.values())
    return [*entries, Entry("hatched: below 0", "none")] if dips else entries


def _stacked(variants: Mapping[str, Any], shown: ErrorParts) -> tuple[dict[str, np.ndarray], float]:
    """The edges of each variant's parts, and the highest of all."""
    edges = {name: _edges(found, shown) for name, found in variants.items()}
    highest = [_highest(found, edges[name]) for name, found in variants.items()]
    return edges, max(highest, default=0.0)


def _edges(found: Any, shown: ErrorParts) -> np.ndarray:
    """Where each part begins and ends, (n_parts + 1, D)."""
    parts = np.array([getattr(found, part.field) for part in shown.parts], np.float64)
    return np.concatenate([np.zeros((1, parts.shape[1])), np.cumsum(parts, axis=0)])


def _highest(found: Any, edges: np.ndarray) -> float:
    measured = [] if found.measured is None else found.measured
    return float(np.max([*edges.ravel(), *measured], initial=0.0))


def _draw_areas(ax: Axes, edges: np.ndarray, shown: ErrorParts, least_dip: float) -> None:
    depth = np.arange(edges.shape[1], dtype=np.float64)
    if len(depth) == 1:  # a bar: an area of one depth would have no width
        depth, edges = np.array([-0.4, 0.4]), np.repeat(edges, 2, axis=1)
    for part, low, high in zip(shown.parts, edges[:-1], edges[1:], strict=True):
        ax.fill_between(depth, low, np.maximum(low, high), color=part.colour, linewidth=0.0,
                        label=part.label)  # fmt: skip
        if (high < low - least_dip).any():
            ax.fill_between(depth, np.minimum(low, high), low, facecolor="none", hatch="//////",
                            edgecolor=part.colour, linewidth=0.0)  # fmt: skip


def _draw_measured(ax: Axes, measured: np.ndarray | None) -> None:
    if measured is not None:
        marker = "o" if len(measured) <= FEW_POINTS else ""
        ax.plot(measured, color=MEASURED, linewidth=1.4, marker=marker, markersize=3.0,
                label="measured")  # fmt: skip


def _note(name: str, error: np.ndarray) -> str:
    """The variant, and the depth at which it is expected to do best."""
    best = best_depth(error, higher_is_better=False)
    told = [] if best is None else [f"{plain(error[best], 3)} at its best depth, {best}"]
    return ": ".join([shorten(name, NAME_LETTERS) or "expected error", *told])

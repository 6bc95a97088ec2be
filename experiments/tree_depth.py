"""Deeper trees: when they overfit, and how many rows they need."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import above
from experiments._depth_curves import chosen_depth
from experiments._paper import paper
from experiments._regions import draw_plane, plane, plane_entries
from experiments._statistics import over_seeds
from forestlab.figures.legend import inches_beside, legend_beside
from forestlab.figures.style import dress, ink
from forestlab.figures.words import Words, number_scale, scale

DOCUMENT = "003"
SAYS = """
The deeper the trees, the likelier a forest overfits; to fit one with deep trees takes large amounts
of training data.

The document shows no numbers. On two noisy moons both are found, the second with a limit: the more
rows there are, the more is gained by trees of moderate depth over shallow ones; but trees that may
grow until each leaf is pure grow deeper with every row, and what that costs is still there with
3200 rows; whether it shrinks, these runs cannot tell. The document's own forest, of random node
optimisation on all rows, pays most: each tree learns every row's noise by heart. A bootstrap leaves
a third of the rows out of each tree, and the forest's average then forgives most of it.

Of trees that are grown large, to T₀, and pruned to T, the document writes T₀ ⊂ T: it is T ⊂ T₀.
"""
DRAWN = (200, (1, 3, 5, 8, 20))  # rows, and depths
MODELS = {"rno": "randomised node optimisation, all rows", "forest": "Breiman's forest, bootstraps"}
SHALLOW, DEEP = 3, 20
MOST_SHOWN = 5.0  # points of error
COLOURS = colormaps["cividis_r"]


def table(runs):
    """A row a model, number of rows, seed and depth; `attrs` has the planes that are drawn."""
    parts = []
    for run in runs:
        params = run.params
        curves = {split: 1.0 - run.curve(f"accuracy/{split}") for split in ("valid", "test")}
        depths = np.arange(1, DEEP + 1)
        reached = np.minimum(depths, len(curves["test"]) - 1)
        keys = {"model": params["model.name"], "rows": params["dataset.n_samples"] - 2000}
        keys |= {"seed": params["seed"], "depth": depths}
        values = {f"error_{split}": curve[reached] for split, curve in curves.items()}
        parts.append(pd.DataFrame(keys | values))
        if (keys["model"], keys["rows"], keys["seed"]) == ("rno", DRAWN[0], 0):
            planes = dict(zip(DRAWN[1], plane(run, *DRAWN[1]), strict=True))
    found = pd.concat(parts, ignore_index=True)
    found.attrs["planes"] = planes
    return found


def mean_error(table: pd.DataFrame, model: str, split: str = "test") -> pd.DataFrame:
    """Over seeds, (rows, depths)."""
    of_model = table[table["model"] == model]
    return of_model.pivot_table(f"error_{split}", "rows", "depth", "mean")


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    planes = table.attrs["planes"]
    entries = plane_entries(2)
    figure, (above, below) = paper(
        f"Two noisy moons: a forest from {DRAWN[0]} rows at five depths, and what a depth costs",
        [[1.75] * 5, [4.6, 4.6]],
        [1.75, 2.3],
        right=inches_beside(entries),
        gap=0.5,
    )
    for ax, (depth, found) in zip(above, planes.items(), strict=True):
        draw_plane(ax, found, f"depth {depth}")
        if ax is not above[0]:
            ax.set_ylabel("")
    legend_beside(above[-1], entries)
    for ax, (model, name) in zip(below, MODELS.items(), strict=True):
        draw_costs(ax, mean_error(table, model), name)
    below[1].set_ylabel("")
    draw_bar(figure, below[1])
    return figure


def draw_costs(ax: Axes, error: pd.DataFrame, name: str) -> None:
    """Error beyond that of the best depth for as many rows; that depth and its error are told."""
    cost = 100.0 * error.sub(error.min(axis=1), axis=0).to_numpy()
    ax.imshow(cost, cmap=COLOURS, vmin=0.0, vmax=MOST_SHOWN, aspect="auto", origin="lower",
              extent=(0.5, DEEP + 0.5, -0.5, len(cost) - 0.5))  # fmt: skip
    rows = np.arange(len(error))
    best = error.apply(chosen_depth, axis=1, higher_is_better=False).to_numpy()
    Words(ax, np.column_stack([best, rows]), [f"{100 * e:.1f}" for e in error.min(axis=1)],
          colours=ink(COLOURS(0.0)), size=7.0)  # fmt: skip
    dress(ax, "depth; numbers: error in % at the best", "training rows", name)
    number_scale(ax, "x", 10, integer=True, grid=False)
    scale(ax, "y", rows, [str(n) for n in error.index], grid=False)


def draw_bar(figure: Figure, ax: Axes) -> None:
    """The colours, to the right of the axes."""
    frame = ax.get_position()
    width = figure.get_size_inches()[0]
    bar = figure.add_axes((frame.x1 + 0.55 / width, frame.y0, 0.15 / width, frame.height))
    bar.imshow(np.linspace(0.0, 1.0, 256)[:, None], cmap=COLOURS, aspect="auto", origin="lower",
               extent=(0.0, 1.0, 0.0, MOST_SHOWN))  # fmt: skip
    dress(bar, "", "points above the best (dark: 5 or more)")
    scale(bar, "x", np.empty(0), [])
    number_scale(bar, "y", 5, grid=False)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    test = table.pivot(index="seed", columns=["model", "rows", "depth"], values="error_test")
    least, most = min(table["rows"]), max(table["rows"])

    def chosen(model: str, rows: int) -> int:
        return chosen_depth(mean_error(table, model, "valid").loc[rows], higher_is_better=False)

    def cost(model: str, rows: int) -> pd.Series:
        """Of depth 20 over the depth that is best on validation, by seed."""
        return test[model][rows][DEEP] - test[model][rows][chosen(model, rows)]

    moderate = chosen("rno", most)

    def gain(rows: int) -> pd.Series:
        """Of that depth over a shallow one, by seed."""
        return test["rno"][rows][SHALLOW] - test["rno"][rows][moderate]

    return [
        above(
            f"depth overfits: with {most} rows, test error at depth {DEEP} less that at depth "
            f"{moderate}, which validation chooses",
            over_seeds(cost("rno", most)),
        ),
        above(
            f"depth needs rows: by how much depth {moderate} has a lower error than depth "
            f"{SHALLOW}, with {most} rows less with {least}",
            over_seeds(gain(most) - gain(least)),
        ),
        above(
            f"bootstraps forgive: with {most} rows, the cost of depth {DEEP} on all rows less that "
            "on bootstraps",
            over_seeds(cost("rno", most) - cost("forest", most)),
        ),
    ]

"""Tree, bagging, subspaces, forest and random nodes against depth, on seventeen sets."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import Verdict
from experiments._paper import paper
from experiments._variants import COUNTED, Gain, gain, grouped, main_metric
from forestlab.figures.legend import Entry, legend_beside
from forestlab.figures.style import dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
The deeper the trees of a forest, the likelier they overfit, says this document; and document 000
takes the depth of a tree for a regularisation parameter. Neither says how much depends on it.

Here are the runs behind the table of variants, at every depth. A single tree gains from the depth
that validation chooses where labels or targets are noisy, and loses nowhere. A forest, and bagging
alone, hardly change once they are deep: the mean takes away most of what their trees overfit. The
exception is a noisy target of one feature (sine), where trees of different bootstraps still follow
the same noise. Subspaces of one feature out of two are the worse the deeper they are.
"""

DEPTHS = np.arange(1, 21)
COLOURS = {
    "tree": "#000000",
    "bagging": "#4477AA",
    "subspace": "#CCBB44",
    "forest": "#228833",
    "rno": "#EE6677",
}


def table(runs):
    """A row a set, variant and depth, 1 … 20: mean and standard deviation (sd) over repeats.

    `chosen` is, at all depths of a variant, how much better test rows are answered at the depth
    that validation chooses than at the deepest; the 95 % interval reaches `chosen_reach` to each
    side.
    """
    parts = [
        _curve(name, variant, repeats)
        for name, of_set in grouped(runs).items()
        for variant, repeats in of_set.items()
    ]
    return pd.concat(parts, ignore_index=True)


def _curve(name: str, variant: str, repeats: list) -> pd.DataFrame:
    metric = main_metric(repeats[0])
    values = np.array([at_depths(run.curve(f"{metric}/test")) for run in repeats])
    chosen, deepest = (
        np.array([run.metrics[key] for run in repeats])
        for key in (f"chosen/{metric}_test", f"{metric}/test")
    )
    better = gain(chosen, deepest, metric)
    return pd.DataFrame(
        {
            "set": name,
            "metric": metric,
            "variant": variant,
            "depth": DEPTHS,
            "mean": values.mean(axis=0),
            "sd": values.std(axis=0, ddof=1),
            "chosen": better.mean,
            "chosen_reach": better.reach,
        }
    )


def at_depths(curve: np.ndarray) -> np.ndarray:
    """(20,) of a curve from depth 0 on; one that ends before goes on as it ends."""
    return curve[np.minimum(DEPTHS, len(curve) - 1)]


# ---- picture -----------------------------------------------------------------------------------

N_COLUMNS = 3
WIDTH, HEIGHT = 2.4, 1.3  # of a panel, inches
MARGINS = {"left": 0.55, "right": 0.15, "gap": 0.55}


def draw(table):
    sets = list(dict.fromkeys(table["set"]))
    n_rows = len(sets) // N_COLUMNS + 1  # a place is left for the legend
    title = "Five variants on test rows, against the depth of their trees"
    figure, rows = paper(title, [[WIDTH] * N_COLUMNS] * n_rows, [HEIGHT] * n_rows, **MARGINS)
    axes = [ax for row in rows for ax in row]
    for k, (name, ax) in enumerate(zip(sets, axes, strict=False)):
        _draw_set(ax, table[table["set"] == name], is_last=k + N_COLUMNS >= len(sets))
    for ax in axes[len(sets) :]:
        ax.set_axis_off()
    _draw_legend(axes[len(sets)])
    return figure


def _draw_set(ax: Axes, part: pd.DataFrame, is_last: bool) -> None:
    for variant, colour in COLOURS.items():
        of_variant = part[part["variant"] == variant]
        depth, mean, sd = (of_variant[name].to_numpy() for name in ("depth", "mean", "sd"))
        ax.fill_between(depth, mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
        ax.plot(depth, mean, color=colour, linewidth=1.4)
    metric = "RMSE" if part["metric"].iloc[0] == "rmse" else "accuracy"
    dress(ax, "depth" if is_last else "", "", f"{part['set'].iloc[0]}: {metric}")
    ax.set_xlim(DEPTHS[0] - 0.4, DEPTHS[-1] + 0.4)
    number_scale(ax, "x", 5, integer=True)
    number_scale(ax, "y", 4)


def _draw_legend(ax: Axes) -> None:
    ax.set_position((ax.get_position().x0, ax.get_position().y0, 0.001, ax.get_position().height))
    entries = [Entry(variant, colour) for variant, colour in COLOURS.items()]
    notes = (
        "bands: ± 1 sd of 5 repeats",
        "on sine subspaces are the tree,",
        "and the forest is bagging",
    )
    legend_beside(ax, [*entries, *(Entry(note, "none") for note in notes)])


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    tree, forest = (chosen_signs(table, name) for name in ("tree", "forest"))
    n_tree, n_forest = ((of_sets > 0).sum() for of_sets in (tree, forest))
    return [
        Verdict(
            f"depth regularises a tree: of {len(tree)} sets, on how many the depth that validation "
            "chooses makes it better on test rows than depth 20",
            3,
            n_tree,
            0,
            f"{COUNTED}; if depth did not matter, three would count in 1 of 100 such tables",
            "above",
        ),
        Verdict(
            "and on how many it makes it worse",
            0,
            (tree < 0).sum(),
            0,
            "none: by chance 2.5 % of the sets without a difference would count",
        ),
        Verdict(
            "the document warns of deep forests: we find fewer sets on which the forest gains from "
            "the chosen depth than the tree does",
            n_tree - 1,
            n_forest,
            0,
            COUNTED,
            "below",
        ),
        Verdict(
            "on sine it is right: the forest is better at the chosen depth",
            1,
            forest["sine"],
            0,
            "1: the 95 % interval of the gain is above 0",
        ),
    ]


def chosen_signs(table: pd.DataFrame, variant: str) -> pd.Series:
    """By set: 1 if the chosen depth is better than the deepest, -1 if worse, else 0."""
    rows = table[(table["variant"] == variant) & (table["depth"] == DEPTHS[-1])]
    return pd.Series(
        {row.set: Gain(row.chosen, row.chosen_reach).sign for row in rows.itertuples()}
    )

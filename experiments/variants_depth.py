"""Tree, bagging, subspaces, forest and random nodes against depth, on seventeen sets."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import above, within
from experiments._paper import paper
from experiments._statistics import over_seeds
from experiments._variants import A_POINT, gained, grouped, is_made, main_metric, points
from forestlab.figures.legend import Entry, legend_beside
from forestlab.figures.style import dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
The deeper the trees of a forest, the likelier they overfit, says this document; and document 000
takes the depth of a tree for a regularisation parameter. Neither says how much depends on it.

Here are the runs behind the table of variants, at every depth. A single tree gains from the depth
that validation chooses where labels or targets are noisy. A forest, and bagging alone, hardly
change once they are deep: the mean takes away most of what their trees overfit. The
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
    """Parts: `curve`, a row a set, variant and depth, 1 … 20, with mean and standard deviation (sd)
    over repeats; and `chosen`, a row a set, variant and repeat: the points by which test rows are
    answered better at the depth that validation chooses than at the deepest."""
    parts = []
    for name, of_set in grouped(runs).items():
        metric = main_metric(of_set["tree"][0])
        unit = float(np.mean([run.metrics[f"{metric}/test"] for run in of_set["tree"]]))
        for variant, repeats in of_set.items():
            which = {"set": name, "metric": metric, "variant": variant}
            parts += [_curve(which, repeats), _chosen(which, repeats, unit)]
    return pd.concat(parts, ignore_index=True)


def _curve(which: dict, repeats: list) -> pd.DataFrame:
    values = np.array([at_depths(run.curve(f"{which['metric']}/test")) for run in repeats])
    found = {"depth": DEPTHS, "mean": values.mean(axis=0), "sd": values.std(axis=0, ddof=1)}
    return pd.DataFrame({"part": "curve"} | which | found)


def _chosen(which: dict, repeats: list, unit: float) -> pd.DataFrame:
    metric = which["metric"]
    chosen, deepest = (
        np.array([run.metrics[key] for run in repeats])
        for key in (f"summary/chosen_{metric}_test", f"{metric}/test")
    )
    found = {
        "repeat": [run.params["dataset.split_seed"] for run in repeats],
        "gain": points(chosen, deepest, metric, unit),
    }
    return pd.DataFrame({"part": "chosen"} | which | found)


def at_depths(curve: np.ndarray) -> np.ndarray:
    """(20,) of a curve from depth 0 on; one that ends before goes on as it ends."""
    return curve[np.minimum(DEPTHS, len(curve) - 1)]


# ---- picture -----------------------------------------------------------------------------------

N_COLUMNS = 3
WIDTH, HEIGHT = 2.4, 1.3  # of a panel, inches
MARGINS = {"left": 0.55, "right": 0.15, "gap": 0.55}


def draw(table):
    table = table[table["part"] == "curve"]
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
        "bands: ± 1 sd of repeats",
        "on sine subspaces are the tree,",
        "and the forest is bagging",
    )
    legend_beside(ax, [*entries, *(Entry(note, "none") for note in notes)])


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    tree, forest = (gains(table, variant) for variant in ("tree", "forest"))
    made = [name for name in tree if is_made(name)]
    rest = [name for name in made if name != "sine"]
    chosen = "the depth that validation chooses"
    return [
        above(
            f"depth regularises a tree: points that it gains on test rows by {chosen} over depth "
            f"20, on average over {len(made)} made sets",
            over_seeds(tree[made].mean(axis=1)),
        ),
        above(
            "the document warns of deep forests: what the tree gains by it, less what the forest "
            "does",
            over_seeds((tree - forest)[made].mean(axis=1)),
        ),
        above(f"on sine it is right: points that the forest gains by {chosen}",
              gained(forest["sine"], "sine")),
        within(
            f"the other {len(rest)} made sets: {chosen} hardly changes the forest; points that it "
            "gains on average",
            over_seeds(forest[rest].mean(axis=1)),
            1.0,
            A_POINT,
        ),
    ]  # fmt: skip


def gains(table: pd.DataFrame, variant: str) -> pd.DataFrame:
    """(n_repeats, n_sets) points gained by the chosen depth; NaN where a set has fewer repeats."""
    rows = table[(table["part"] == "chosen") & (table["variant"] == variant)]
    return rows.pivot(index="repeat", columns="set", values="gain")

"""One dominant feature: bagging's trees are alike, subspaces tell them apart."""

import numpy as np
import pandas as pd
from scipy.special import ndtr

from experiments import LoggedRun, Verdict, above, within
from experiments._paper import banded, log_scale, paper
from experiments._statistics import Measured, over_seeds, share
from forestlab.datasets.made import SHIFTS
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
If one feature is strong, most or all bagged trees use it in their top split; their answers are
highly correlated, and an average of such reduces variance less. Splits that may only look at some
features make the trees less alike, and their average better. Document 000 says the same of a few
dominant features, and draws the features once for each tree.

All of it is found, on a set made for it: one feature knows as much about the class as nine weak
ones together, ten know nothing. But less correlation alone is no gain. Drawn once for each tree, a
square root's number of features leaves most trees without the strong one: these trees are the less
correlated ones, but so weak that their forest is about as good as bagging's, and wants twice as
many features to be better. Drawn at every node, no tree goes without it for long.
"""
N_FEATURES = len(SHIFTS)
FEW = 4  # ≈ √20
N_TREES = 100
LEAST_ERROR = float(ndtr(-np.sqrt((SHIFTS**2).sum())))
WAYS = {
    "forest": ("drawn at every node", COLOURS[0]),
    "subspace": ("drawn once a tree", COLOURS[1]),
}
PANELS = {
    "correlation": "correlation of trees, out of bag",
    "tree_error": "error of a tree, out of bag",
    "error": "error of the forest, test",
    "root_share": "share of roots on the strong one",
}


def table(runs):
    """A row a run; bagging is both ways with all features."""
    return pd.DataFrame(
        {
            "model": run.params["model.name"],
            "max_features": run.params["model.max_features"] or N_FEATURES,
            "seed": run.params["seed"],
            "strength": run.metrics["strength/oob"],
            "correlation": run.metrics["correlation/oob"],
            "tree_error": run.metrics["tree_error/oob"],
            "error": 1.0 - run.metrics["accuracy/test"],
            "root_share": root_share(run) if run.params["tracking.model"] else np.nan,
        }
        for run in runs
    )


def root_share(run: LoggedRun) -> float:
    """Share of a logged model's trees whose root splits the first feature, the strong one."""
    forest = run.model().forest_
    return float(np.mean(forest.nodes["feature"][forest.first_node[:-1]] == 0))


def draw(table):
    entries = [Entry(name, colour, marker="o") for name, colour in WAYS.values()]
    entries += [
        Entry("bagging: all 20 features", "#000000", width=0.0, marker="D"),
        Entry("bands: ± 1 sd of seeds", "none"),
    ]
    figure, rows = paper(
        "One strong feature, nine weak, ten of noise: 100 trees that see all, or only some",
        [[3.1, 3.1]] * 2,
        [2.2, 2.2],
        right=inches_beside(entries),
    )
    axes = [ax for row in rows for ax in row]
    for ax, (column, label) in zip(axes, PANELS.items(), strict=True):
        for model, (_, colour) in WAYS.items():
            part = table[table["model"].isin([model, "bagging"])].dropna(subset=column)
            banded(ax, part, "max_features", column, colour)
        bagging = table.loc[table["model"] == "bagging", column].mean()
        ax.plot([N_FEATURES], [bagging], "D", color="#000000", markersize=6.0)
        note = ""
        if column == "error":
            ax.axhline(LEAST_ERROR, color=LINE, linewidth=1.0, linestyle=DASHES)
            note = f"dashed: the least error possible, {LEAST_ERROR:.3f}"
        if column == "root_share":
            ax.plot([0, N_FEATURES], [0.0, 1.0], color=LINE, linewidth=1.0, linestyle=DASHES)
            note = "dashed: the chance that it is drawn"
        dress(ax, "features drawn, of 20", label, note)
        ax.set_xlim(0.0, N_FEATURES + 1.0)
        number_scale(ax, "x", 6, integer=True)
        if column == "error":
            log_scale(ax, "y", (0.08, 0.1, 0.15, 0.2, 0.3))
        else:
            number_scale(ax, "y")
    legend_beside(rows[0][-1], entries)
    return figure


def judge(table):
    found = {column: table.pivot(index="seed", columns=["model", "max_features"], values=column)
             for column in ("correlation", "tree_error", "error", "root_share")}  # fmt: skip
    at_nodes, once, bagging = ("forest", FEW), ("subspace", FEW), ("bagging", N_FEATURES)

    def roots(kind: tuple) -> Measured:
        shares = found["root_share"][kind].dropna()
        n_trees = len(shares) * N_TREES
        return share(round(shares.sum() * N_TREES), n_trees, f"trees of {len(shares)} seeds")

    def more(what: str, column: str, one: tuple, other: tuple) -> Verdict:
        return above(what, over_seeds(found[column][one] - found[column][other]))

    return [
        above(
            "bagging: share of trees whose root splits the strong feature; the document says most "
            "or all",
            roots(bagging),
            0.5,
            "half is the least that most can mean",
        ),
        within(
            f"drawn at every node, {FEW} of {N_FEATURES}: the same share is the chance that the "
            "strong feature is drawn",
            roots(at_nodes),
            0.05,
            "a quarter of it",
            FEW / N_FEATURES,
        ),
        more(
            f"bagging's trees are more correlated than with {FEW} features drawn at every node, by",
            "correlation",
            bagging,
            at_nodes,
        ),
        more("though each of them errs less, by", "tree_error", at_nodes, bagging),
        more("and their forest errs more, by", "error", bagging, at_nodes),
        more(
            f"{FEW} features drawn once a tree make trees even less correlated than that, by",
            "correlation",
            at_nodes,
            once,
        ),
        more(
            "but their forest errs more, as most of them never see it, by", "error", once, at_nodes
        ),
        more(
            f"{2 * FEW} features drawn once a tree make a better forest than bagging's, by",
            "error",
            bagging,
            ("subspace", 2 * FEW),
        ),
    ]

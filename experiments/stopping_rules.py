"""Five rules that stop a tree, each along its whole path, from one fit."""

from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import above, below, every, within
from experiments._paper import log_scale, paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, dress
from forestlab.figures.words import number_scale, scale

DOCUMENT = "002"
SAYS = """
Growth is to stop early, so that trees do not overfit: at a depth (documents 000, 001, 002), at few
rows (001, 002), at little gain (001, 002). Document 003 prunes instead, by α. None of them is set
beside another there.

All these are prunings of one tree, so a single fit tells them all, at every value; leaves, best
first, are a fifth. Of a single tree on noisy data any of them takes a sixth to a quarter of the
error away, and the value that 500 validation rows choose is near the best. Gain, leaves and α come
out level, though only α looks below a node before it is cut; the number of rows in a node, which
asks nothing about what a split is worth, does worse on the average of four sets. Depth is not
judged apart. Forests need it less: with noisy numbers stopping changes nothing, with wrong labels
it still helps.
"""
RULES = {  # by the parameter's name
    "max_depth": "depth",
    "min_samples_split": "rows of a node",
    "min_impurity_decrease": "gain",
    "max_leaf_nodes": "leaves, best first",
    "ccp_alpha": "α, pruned",
}
COLOUR = dict(zip(RULES, COLOURS, strict=False))
SETS = {
    "moons": "moons",
    "waveform": "waveform, ⅕ labels wrong",
    "friedman1": "friedman1, noise 3",
    "sine": "sine",
}
METRIC = dict.fromkeys(("moons", "waveform"), "error") | dict.fromkeys(
    ("friedman1", "sine"), "root mean squared error"
)
FORESTS = ("waveform", "friedman1")
LEAVES = np.array([2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500, 800])  # where paths are read
SMALL = 0.02, "a fiftieth of the error is the least difference that would matter"


# ---- the table ---------------------------------------------------------------------------------


def table(runs):
    """A row a run, rule and *part*: the `path` at some numbers of leaves, between those that the
    rule gives; what validation has `chosen`; and, of no rule, the trees as they are, `whole`."""
    return pd.concat([_of_run(run) for run in runs], ignore_index=True)


def _of_run(run) -> pd.DataFrame:
    known = pd.read_csv(run.path("stopping.csv"))
    has_classes = "accuracy_test" in known
    known["error"] = 1.0 - known["accuracy_test"] if has_classes else known["rmse_test"]
    whole = known.loc[known["n_leaves"].idxmax()]
    one = {"rule": "none", "part": "whole", "leaves": whole["n_leaves"], "error": whole["error"]}
    parts = [pd.DataFrame([one])]
    for rule, path in known.groupby("rule"):
        parts += [at_leaves(path).assign(rule=rule), _chosen(path).assign(rule=rule)]
    keys = {"set": run.params["dataset.name"], "model": run.params["model.name"]}
    return pd.concat(parts).assign(**keys, seed=run.params["seed"])


def at_leaves(path: pd.DataFrame) -> pd.DataFrame:
    """The error at numbers of leaves that all paths share, between the nearest on this one."""
    path = path.sort_values("n_leaves")
    held = LEAVES[(path["n_leaves"].min() <= LEAVES) & (path["n_leaves"].max() >= LEAVES)]
    error = np.interp(np.log(held), np.log(path["n_leaves"]), path["error"])
    return pd.DataFrame({"part": "path", "leaves": held, "error": error})


def _chosen(path: pd.DataFrame) -> pd.DataFrame:
    best = path[path["chosen_on"] == "valid"]
    assert len(best) == 1
    columns = best[["n_leaves", "error"]].set_axis(["leaves", "error"], axis=1)
    return columns.assign(part="chosen")


def to_whole(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """By seed, set and rule: the error with the value that validation chose, as a share of that of
    trees that are left whole."""
    here = table[table["model"] == model]
    chosen, whole = (here[here["part"] == part] for part in ("chosen", "whole"))
    whole = whole.set_index(["seed", "set"])["error"]
    chosen = chosen.set_index(["seed", "set", "rule"])["error"]
    return (chosen / whole).unstack(["set", "rule"])


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(label, COLOUR[rule], marker="o") for rule, label in RULES.items()]
    entries += [Entry("rings: chosen on validation", "none"), Entry("dashed: left whole", "none")]
    figure, (above, below) = paper(
        "Five ways to stop, from one fit: test error of a tree, and of a forest of 25 bootstraps, "
        "mean of seeds",
        [[2.3] * 4, [5.3, 2.3, 2.3]],
        [2.2, 2.6],
        left=1.3,
        right=inches_beside(entries),
        gap=0.7,
    )
    for ax, dataset in zip(above, SETS, strict=True):
        draw_paths(ax, table, dataset, "tree")
    draw_shares(below[0], table)
    for ax, dataset in zip(below[1:], FORESTS, strict=True):
        draw_paths(ax, table, dataset, "bagging")
    legend_beside(above[-1], entries)
    return figure


def draw_paths(ax: Axes, table: pd.DataFrame, dataset: str, model: str) -> None:
    here = table[(table["set"] == dataset) & (table["model"] == model)]
    n_seeds = here["seed"].nunique()
    for place, rule in enumerate(RULES):
        of_rule = here[here["rule"] == rule]
        by_leaves = of_rule[of_rule["part"] == "path"].groupby("leaves")["error"]
        mean = by_leaves.mean()[by_leaves.count() == n_seeds]
        ax.plot(mean.index, mean, color=COLOUR[rule], linewidth=2.8 - 0.4 * place)
        chosen = of_rule[of_rule["part"] == "chosen"]
        ax.plot(np.exp(np.log(chosen["leaves"]).mean()), chosen["error"].mean(), "o",
                markersize=5.0 + 1.5 * place, markerfacecolor="none",
                markeredgecolor=COLOUR[rule], markeredgewidth=1.3, zorder=3.0)  # fmt: skip
    whole = here[here["part"] == "whole"]["error"].mean()
    ax.axhline(whole, color=LINE, linewidth=0.9, linestyle=DASHES)
    name = "a tree" if model == "tree" else "a forest"
    dress(ax, "leaves of a tree", METRIC[dataset], f"{name}, {SETS[dataset]}")
    log_scale(ax, "x", (2, 5, 20, 100, 500))
    number_scale(ax, "y", 5)


def draw_shares(ax: Axes, table: pd.DataFrame) -> None:
    """The error of each rule's choice, as a share of that of whole trees, with its interval."""
    rows = [("tree", dataset) for dataset in SETS] + [("bagging", dataset) for dataset in FORESTS]
    for place, (model, dataset) in enumerate(rows):
        shares = to_whole(table, model)[dataset]
        for k, rule in enumerate(RULES):
            found, y = over_seeds(shares[rule]), place + 0.15 * (k - 2)
            ax.hlines(y, found.low, found.high, colors=COLOUR[rule], linewidths=1.4)
            ax.plot(found.mean, y, "o", color=COLOUR[rule], markersize=4.0)
    ax.axvline(1.0, color=LINE, linewidth=0.9, linestyle=DASHES)
    note = "of the value chosen on validation; lines: 95 % intervals"
    dress(ax, "error as a share of that of trees left whole", "", note)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    labels = [dataset if model == "tree" else f"{dataset}, forest" for model, dataset in rows]
    scale(ax, "y", np.arange(len(rows)), labels, grid=False)
    number_scale(ax, "x")


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    tree, forest = to_whole(table, "tree"), to_whole(table, "bagging")
    on_average = tree.T.groupby(level="rule").mean().T  # over sets
    size = "min_samples_split"
    others = on_average.drop(columns=size)

    def apart(rule: str, other: str) -> Measured:
        return over_seeds(on_average[rule] - on_average[other])

    level = 0.02, "a tenth of what stopping gains in the trees of these sets"
    alike = list(combinations(("min_impurity_decrease", "max_leaf_nodes", "ccp_alpha"), 2))
    gained = tree[list(FORESTS)].rsub(1.0) - forest[list(FORESTS)].rsub(1.0)
    return [
        every(
            "trees: error with the value that validation chooses, as a share of that of the whole "
            "tree, by every rule on every set",
            [below(_told(pair), over_seeds(tree[pair]), 1.0) for pair in tree],
        ),
        above(
            "trees: that share by the rows of a node less the mean of the other rules', on average "
            "over sets",
            over_seeds(on_average[size] - others.mean(axis=1)),
        ),
        every(
            "trees: gain, leaves and α are level; difference of their shares, on average over sets",
            [
                within(f"{RULES[one]} less {RULES[other]}", apart(one, other), *level)
                for one, other in alike
            ],
        ),
        every(
            "stopping gains more in a tree than in a forest, by every rule; difference of the "
            "shares of error that it takes away",
            [above(_told(pair), over_seeds(gained[pair].dropna())) for pair in gained],
        ),
        every(
            "forests on friedman1: the share, by every rule",
            [
                within(RULES[rule], over_seeds(forest["friedman1"][rule]), *SMALL, expected=1.0)
                for rule in RULES
            ],
        ),
        below(
            "forests on waveform with wrong labels gain too: the share, mean of all rules",
            over_seeds(forest["waveform"].mean(axis=1)),
            1.0,
        ),
    ]


def _told(pair: tuple[str, str]) -> str:
    return f"{pair[0]}, {RULES[pair[1]]}"

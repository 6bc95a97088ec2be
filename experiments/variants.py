"""Tree, bagging, subspaces, forest and random nodes on seventeen sets."""

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from experiments import Verdict
from experiments._variants import COUNTED, VARIANTS, Gain, gain, grouped, main_metric
from forestlab.figures.style import LABEL, LINE, SMALL, panels
from forestlab.figures.words import GRID

DOCUMENT = "003"
SAYS = """
Averaging trees of bootstrapped rows takes variance away. Where a few features are strong such trees
are still alike, and letting them look at random features makes their mean more reliable: so this
document, and so document 000, which names bagging and random subspaces as the two elements of a
forest. Randomised node optimisation, by which a node tries a few random cuts, is here the key to a
forest, and bagging an option beside it. None of this comes with numbers.

It holds on most sets, and not on all. One subset of the features for each tree, without bagging,
helps where there are many features; with two it is far worse than one tree. Random features on top
of bagging are no gain for Boston and friedman1, where √M of M features are few: for regression
Breiman advises a third. And random nodes without bagging still fit every row: with one feature and
a noisy target (sine) their mean is as noisy as one tree.
"""

PAIRS = (
    ("forest", "tree"),
    ("bagging", "tree"),
    ("subspace", "tree"),
    ("rno", "tree"),
    ("forest", "bagging"),
    ("forest", "subspace"),
    ("forest", "rno"),
)
MANY_FEATURES = 10
TINTS = {1: "#FBDCC8", 0: "white", -1: "#CFE2F3"}  # the forest is better, it is not told, worse


def table(runs):
    """A row a set: mean and standard deviation (sd) of each variant over repeats; and for pairs how
    much better the first is, with the reach of the 95 % interval to each side."""
    return pd.DataFrame([_row(name, of_set) for name, of_set in grouped(runs).items()])


def _row(name, of_set) -> dict:
    first = of_set["tree"][0]
    metric = main_metric(first)
    values = {
        variant: np.array([run.metrics[f"{metric}/test"] for run in of_set[variant]])
        for variant in VARIANTS
    }
    row = {
        "set": name,
        "features": len(first.artifact("importance.json")["feature"]),
        "metric": metric,
    }
    for variant, found in values.items():
        row |= {variant: found.mean(), f"{variant}_sd": found.std(ddof=1)}
    for one, other in PAIRS:
        better = gain(values[one], values[other], metric)
        row |= {f"{one}_over_{other}": better.mean, f"{one}_over_{other}_reach": better.reach}
    return row


def gains(table: pd.DataFrame, pair: str) -> list[Gain]:
    """Of each set."""
    return [Gain(*both) for both in table[[pair, f"{pair}_reach"]].to_numpy()]


def signs(table: pd.DataFrame, pair: str) -> np.ndarray:
    """(n_sets,) 1 where the first of a pair is better, -1 where it is worse, else 0."""
    return np.array([found.sign for found in gains(table, pair)], int)


# ---- picture -----------------------------------------------------------------------------------

ROW, NAME, CELL = 0.27, 1.75, 1.3  # inches


def draw(table):
    heads = {"accuracy": "accuracy, higher is better", "rmse": "RMSE, lower is better"}
    n_rows = len(table) + table["metric"].nunique()
    width, height = NAME + CELL * len(VARIANTS), ROW * n_rows
    title = "Five variants on test rows: 50 trees (one for the tree), at most 20 deep"
    figure, (ax,) = panels(title, [width], height, left=0.15, right=0.15, bottom=0.5, top=0.1)
    ax.set_axis_off()
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)
    line = 0
    for metric, head in heads.items():
        part = table[table["metric"] == metric]
        _write(ax, 0.0, line, head, SMALL, ha="left", color=LINE)
        for k, variant in enumerate(VARIANTS):
            _write(ax, NAME + CELL * (k + 0.5), line, variant, LABEL, fontweight="bold")
        for row in part.to_dict("records"):
            line += 1
            _write(ax, 0.0, line, f"{row['set']} ({row['features']})", LABEL, ha="left")
            _draw_cells(ax, line, row)
        line += 1
    note = (
        "mean ± standard deviation of 5 repeats; in brackets: the number of features; bold: the "
        "best mean\norange: worse than the forest, blue: better, by the 95 % interval of the "
        "paired difference"
    )
    ax.text(0.0, height + 0.1, note, fontsize=SMALL, color=LINE, va="top", linespacing=1.4)
    return figure


def _draw_cells(ax, line: int, row: dict) -> None:
    means = [row[variant] for variant in VARIANTS]
    best = max(means) if row["metric"] == "accuracy" else min(means)
    for k, variant in enumerate(VARIANTS):
        pair = f"forest_over_{variant}"
        sign = Gain(row[pair], row[f"{pair}_reach"]).sign if variant != "forest" else 0
        corner = (NAME + CELL * k, ROW * line)
        ax.add_patch(Rectangle(corner, CELL, ROW, facecolor=TINTS[sign], edgecolor=GRID))
        text = f"{row[variant]:{_digits(best)}} ± {row[f'{variant}_sd']:{_digits(best)}}"
        weight = "bold" if row[variant] == best else "normal"
        _write(ax, NAME + CELL * (k + 0.5), line, text, LABEL, fontweight=weight)


def _digits(value: float) -> str:
    """Three decimals below 10, one above."""
    return ".3f" if value < 10.0 else ".1f"


def _write(ax, x: float, line: int, text: str, size: float, ha: str = "center", **more) -> None:
    ax.text(x, ROW * (line + 0.5), text, ha=ha, va="center_baseline", fontsize=size, **more)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    most = len(table) // 2 + 1
    wide = table[table["features"] >= MANY_FEATURES]
    flat = table[table["features"] == 2]
    sine = table.set_index("set").loc["sine"]
    dominant = table.set_index("set").loc["dominant"]
    added = signs(table, "forest_over_bagging")
    return [
        *_helps(table, "forest", "the forest"),
        *_helps(table, "bagging", "bagging alone"),
        Verdict(
            f"of {len(wide)} sets with {MANY_FEATURES} features or more: on how many subspaces "
            "alone are better than one tree (most)",
            len(wide) // 2 + 1,
            (signs(wide, "subspace_over_tree") > 0).sum(),
            0,
            COUNTED,
            "above",
        ),
        Verdict(
            "the documents do not say it: with two features subspaces alone are worse than one "
            f"tree; sets, of {len(flat)}",
            len(flat),
            (signs(flat, "subspace_over_tree") < 0).sum(),
            0,
            COUNTED,
        ),
        Verdict(
            "where one feature dominates, random features at the nodes add to bagging: accuracy "
            "that they gain on dominant, against the reach of its 95 % interval",
            dominant["forest_over_bagging_reach"],
            dominant["forest_over_bagging"],
            0,
            "none: the interval is of the paired difference over five repeats",
            "above",
        ),
        Verdict(
            "sets on which they add to bagging, less those on which they take away",
            1,
            added.sum(),
            0,
            COUNTED,
            "above",
        ),
        Verdict(
            "bagging is an option: sets on which random nodes without it are not worse than the "
            "forest (most)",
            most,
            (signs(table, "forest_over_rno") <= 0).sum(),
            0,
            COUNTED,
            "above",
        ),
        Verdict(
            "the document does not say it: on sine random nodes without bagging are no better than "
            "one tree; what they gain in RMSE",
            0.0,
            sine["rno_over_tree"],
            sine["rno_over_tree_reach"],
            "the reach of the 95 % interval",
            "below",
        ),
        Verdict(
            "of one feature there is one subset: on sine subspaces are the tree, and the forest is "
            "bagging; the larger difference",
            0.0,
            max(abs(sine["subspace_over_tree"]), abs(sine["forest_over_bagging"])),
            1e-12,
            "the mean of 50 equal trees is rounded",
        ),
    ]


def _helps(table: pd.DataFrame, variant: str, called: str) -> list[Verdict]:
    """It is better than one tree on most sets, and worse on none."""
    found = signs(table, f"{variant}_over_tree")
    what = f"of {len(table)} sets: on how many {called} is better than one tree (most)"
    return [
        Verdict(what, len(table) // 2 + 1, (found > 0).sum(), 0, COUNTED, "above"),
        Verdict(
            "and on how many it is worse",
            0,
            (found < 0).sum(),
            0,
            f"none: of {(found <= 0).sum()} sets that are not better, one would count by chance "
            f"with a probability of {0.025 * (found <= 0).sum():.2g}",
        ),
    ]

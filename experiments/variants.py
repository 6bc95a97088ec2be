"""Tree, bagging, subspaces, forest and random nodes on seventeen sets."""

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from experiments import above, below, every, exactly
from experiments._statistics import Measured, count
from experiments._variants import (
    A_POINT,
    ON_EACH,
    VARIANTS,
    gained,
    grouped,
    is_made,
    main_metric,
    points,
)
from forestlab.figures.style import LABEL, LINE, SMALL, panels
from forestlab.figures.words import GRID
from forestlab.study.metrics import METRICS

DOCUMENT = "003"
SAYS = """
Averaging trees of bootstrapped rows takes variance away. Where a few features are strong such trees
are still alike, and letting them look at random features makes their mean more reliable: so this
document, and so document 000, which names bagging and random subspaces as the two elements of a
forest. Randomised node optimisation, by which a node tries a few random cuts, is here the key to a
forest, and bagging an option beside it. None of this comes with numbers.

It holds on most sets, and not on all. One subset of the features for each tree, without bagging,
helps where there are many features; with two it is far worse than one tree. Random features on top
of bagging cost on friedman1, where √M of M features are few and half of them noise: for regression
Breiman advises a third. And random nodes without bagging still fit every row: with one feature and
a noisy target (sine) their mean is as noisy as one tree. Small sets that can only be split anew,
such as iris, tell less of small differences than they seem to: their repeats share rows.
"""

PAIRS = (
    ("forest", "tree"),
    ("bagging", "tree"),
    ("subspace", "tree"),
    ("rno", "tree"),
    ("forest", "bagging"),
    ("forest", "subspace"),
    ("forest", "rno"),
    ("rno", "forest"),
)
MANY_FEATURES = 10
WORSE, BETTER = "#FBDCC8", "#CFE2F3"  # than the forest


def table(runs):
    """A row a set: mean and standard deviation (sd) of each variant over repeats; and for pairs the
    points by which the first is better, with the low and high end of their interval."""
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
        "repeats": len(values["tree"]),
    }
    for variant, of_variant in values.items():
        row |= {variant: of_variant.mean(), f"{variant}_sd": of_variant.std(ddof=1)}
    for one, other in PAIRS:
        better = points(values[one], values[other], metric, values["tree"].mean())
        found, pair = gained(better, name), f"{one}_over_{other}"
        row |= {pair: found.mean, f"{pair}_low": found.low, f"{pair}_high": found.high}
    return row


def gain_of(row, pair: str) -> Measured:
    """What a row of the table says of a pair."""
    what = "seeds" if is_made(row["set"]) else "splits that share rows"
    ends = (row[pair], row[f"{pair}_low"], row[f"{pair}_high"])
    return Measured(*ends, f"{row['repeats']:.0f} {what}")


# ---- picture -----------------------------------------------------------------------------------

ROW, NAME, CELL = 0.27, 1.75, 1.3  # inches


def draw(table):
    heads = {"accuracy": "accuracy, higher is better", "rmse": "RMSE, lower is better"}
    n_rows = len(table) + table["metric"].nunique()
    width, height = NAME + CELL * len(VARIANTS), ROW * n_rows
    title = "Five variants on test rows: 50 trees (one for the tree), at most 20 deep"
    figure, (ax,) = panels(title, [width], height, left=0.15, right=0.15, bottom=0.65, top=0.1)
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
        "mean ± standard deviation of the repeats; in brackets: the number of features; bold: the "
        "best mean\norange: worse than the forest, blue: better, by the 95 % interval of the "
        "paired difference,\nwhich allows for rows that repeats share; white: that cannot be told"
    )
    ax.text(0.0, height + 0.1, note, fontsize=SMALL, color=LINE, va="top", linespacing=1.4)
    return figure


def _draw_cells(ax, line: int, row: dict) -> None:
    means = [row[variant] for variant in VARIANTS]
    best = (max if METRICS[row["metric"]].higher_is_better else min)(means)
    for k, variant in enumerate(VARIANTS):
        corner, tint = (NAME + CELL * k, ROW * line), _tint(row, variant)
        ax.add_patch(Rectangle(corner, CELL, ROW, facecolor=tint, edgecolor=GRID))
        text = f"{row[variant]:{_digits(best)}} ± {row[f'{variant}_sd']:{_digits(best)}}"
        weight = "bold" if row[variant] == best else "normal"
        _write(ax, NAME + CELL * (k + 0.5), line, text, LABEL, fontweight=weight)


def _tint(row: dict, variant: str) -> str:
    if variant == "forest":
        return "white"
    gain = gain_of(row, f"forest_over_{variant}")
    return WORSE if above("", gain).holds else BETTER if below("", gain).holds else "white"


def _digits(value: float) -> str:
    """Three decimals below 10, one above."""
    return ".3f" if value < 10.0 else ".1f"


def _write(ax, x: float, line: int, text: str, size: float, ha: str = "center", **more) -> None:
    ax.text(x, ROW * (line + 0.5), text, ha=ha, va="center_baseline", fontsize=size, **more)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    made = table[[is_made(name) for name in table["set"]]]
    wide = table[table["features"] >= MANY_FEATURES]
    flat = table[table["features"] == 2]
    named = {row["set"]: row for row in _rows(table)}
    sine = named["sine"]
    return [
        *(
            above(
                f"of {len(table)} sets: on how many {called} is better than one tree; up to those "
                "on which it is not worse",
                count(_outcomes(table, f"{variant}_over_tree")),
                len(table) / 2,
                f"most is more than half; {ON_EACH}",
            )
            for variant, called in (("forest", "the forest"), ("bagging", "bagging alone"))
        ),
        above(
            f"of {len(wide)} sets with {MANY_FEATURES} features or more: on how many subspaces "
            "alone are better than one tree",
            count(_outcomes(wide, "subspace_over_tree")),
            len(wide) / 2,
            f"most is more than half; {ON_EACH}",
        ),
        every(
            "the documents do not say it: on each set of two features subspaces alone are worse "
            "than one tree; points gained",
            [below(row["set"], gain_of(row, "subspace_over_tree")) for row in _rows(flat)],
        ),
        above(
            "where one feature dominates, random features at the nodes add to bagging: points that "
            "they gain on dominant",
            gain_of(named["dominant"], "forest_over_bagging"),
        ),
        below(
            "the documents do not say it: where features are few and half of them noise they take "
            "away from bagging; points gained on friedman1",
            gain_of(named["friedman1"], "forest_over_bagging"),
        ),
        above(
            f"bagging is an option: of {len(made)} made sets, on how many random nodes without it "
            "are worse than the forest by less than a point",
            count(_outcomes(made, "rno_over_forest", -1.0)),
            len(made) / 2,
            f"most is more than half; {ON_EACH}",
        ),
        below(
            "the document does not say it: on sine random nodes without bagging are no better than "
            "one tree; points gained",
            gain_of(sine, "rno_over_tree"),
            1.0,
            A_POINT,
        ),
        exactly(
            "of one feature there is one subset: on sine subspaces are the tree, and the forest is "
            "bagging; the larger difference in points",
            0.0,
            max(abs(sine["subspace_over_tree"]), abs(sine["forest_over_bagging"])),
            "the mean of 50 equal trees is rounded",
            1e-9,
            f"{sine['repeats']:.0f} seeds",
        ),
    ]


def _outcomes(table: pd.DataFrame, pair: str, bar: float = 0.0) -> list[str]:
    """Of each set, whether the first of a pair gains more than so many points."""
    return [above(row["set"], gain_of(row, pair), bar).outcome for row in _rows(table)]


def _rows(table: pd.DataFrame) -> list[dict]:
    return table.to_dict("records")

"""Features that count: drawn for a node, but constant in it."""

import numpy as np
import pandas as pd

from experiments import above
from experiments._paper import paper
from experiments._statistics import over_splits
from forestlab.compare.statistics import overlap_of
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale, scale

DOCUMENT = "Breiman 2001"
SAYS = """
A node of a random forest looks at a few features drawn at random. It is left open whether one that
is constant among the node's rows is one of these. In scikit-learn it is, and forestlab does the
same unless it is told otherwise; in oneDAL (scikit-learn-intelex) it is not. Where many features
are constant in small nodes, as the margins of images or indicators of groups, the one grows trees
that chose among fewer features than was said.

Those trees are weaker and larger; as all of them see more, trees of which only varying features
count are more alike, and still their forest is better, most of all one of few trees. The price is
that more cuts are scored.
"""
OVERLAP = overlap_of(0.25)
COLUMNS = {  # metrics, and what they are called in the picture
    "accuracy/test": "accuracy of the forest, test",
    "tree_error/oob": "error of a tree, out of bag",
    "correlation/oob": "correlation of trees, out of bag",
    "trees/cuts": "cuts scored a tree, millions",
}


def table(runs):
    """A row a run."""
    return pd.DataFrame(
        {
            "count_constant": run.params["model.count_constant"],
            "seed": run.params["seed"],
            **{name: run.metrics[name] for name in COLUMNS},
        }
        for run in runs
    )


def draw(table):
    figure, (row,) = paper(
        "Forests of 20 trees on 5,000 images: features that are constant in a node count among "
        "those drawn, or not",
        [[1.9] * 4],
        [2.3],
    )
    for ax, (column, label) in zip(row, COLUMNS.items(), strict=True):
        wide = table.pivot(index="seed", columns="count_constant", values=column)
        unit = 1e6 if column == "trees/cuts" else 1.0
        ax.plot(
            [0, 1],
            [wide[True] / unit, wide[False] / unit],
            color=COLOURS[0],
            marker="o",
            markersize=3.5,
            linewidth=0.8,
        )
        dress(ax, "", label, "a line a split" if ax is row[0] else "")
        ax.set_xlim(-0.4, 1.4)
        scale(ax, "x", np.arange(2), ["they count", "they do not"], grid=False)
        number_scale(ax, "y")
    return figure


def judge(table):
    wide = table.pivot(index="seed", columns="count_constant", values=list(COLUMNS))

    def more(what: str, column: str, count: bool):
        values = wide[column]
        return above(what, over_splits(values[count] - values[not count], OVERLAP))

    return [
        more("accuracy of 20 trees if constant features do not count, less if they do",
             "accuracy/test", False),
        more("error of a tree if they count, less if they do not", "tree_error/oob", True),
        more("correlation of trees if they do not count, less if they do", "correlation/oob",
             False),
        more("cuts scored if they do not count, less if they do", "trees/cuts", False),
    ]  # fmt: skip

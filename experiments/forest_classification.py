"""Accuracy of a forest on digits, against its depth."""

from experiments import above
from experiments._depth_curves import (
    by_seed,
    chosen_depth,
    draw_forest,
    forest_table,
    same_forests,
)
from experiments._statistics import apart, moments, over_seeds

DOCUMENT = "000"
SAYS = """
The forest of the regression on images of digits: 16 trees, each on a bootstrap of the rows and on
8 = √64 pixels drawn for it, their shares of classes averaged.

The document shows the picture of one draw, without numbers or a seed; those here are what its own
code gives with 50 seeds. It takes this for Breiman's forest, which draws pixels anew at every node,
and here that matters: trees of 8 pixels are so weak that 16 of them are little better than one tree
that sees all 64, and worse again beyond depth 8.
"""

DEPTH = 20


def table(runs):
    return forest_table(runs, "accuracy", "forest_digits_accuracy")


def draw(table):
    return draw_forest(table, "accuracy", "A forest of 16 trees on digits: accuracy against depth")


def judge(table):
    forest, tree = (by_seed(table, kind, "test") for kind in ("forest", "tree"))
    every_node = by_seed(table, "at_every_node", "test")[DEPTH]
    best = chosen_depth(by_seed(table, "forest", "valid").mean(), higher_is_better=True)
    return [
        same_forests(table),
        above(
            f"test accuracy of the forests at depth {DEPTH} less the tree's, on the document's "
            "split",
            over_seeds(forest[DEPTH] - tree[DEPTH].iloc[0]),
        ),
        above(
            f"depth regularises: test accuracy at depth {best}, best on validation, less that at "
            f"depth {DEPTH}",
            over_seeds(forest[best] - forest[DEPTH]),
        ),
        above(
            "test accuracy with pixels drawn at every node less that of the document's way",
            apart(moments(every_node), moments(forest[DEPTH])),
        ),
    ]

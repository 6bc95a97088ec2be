"""RMSE of a forest on the homes of Boston, against its depth."""

from experiments import below
from experiments._depth_curves import by_seed, draw_forest, forest_table, same_forests
from experiments._statistics import over_seeds

DOCUMENT = "000"
SAYS = """
A forest is the average of weaker trees: 16 of them, each grown on a bootstrap of the rows and on
3 ≈ √13 features drawn for it. Without a few dominant features in all of them the trees are less
alike, and their average should err less than one tree.

The document shows the picture of one draw, without numbers or a seed; those here are what its own
code gives with 50 seeds. It takes this for Breiman's forest, which draws features anew at every
node: once for each tree is Ho's way of 1998, here with bagging.
"""


def table(runs):
    return forest_table(runs, "rmse", "forest_boston_rmse")


def draw(table):
    return draw_forest(table, "RMSE", "A forest of 16 trees on Boston: RMSE against depth")


def judge(table):
    forest, tree = (by_seed(table, kind, "test")[20] for kind in ("forest", "tree"))
    return [
        same_forests(table),
        below(
            "test RMSE of the forests at depth 20 less the tree's, on the document's split",
            over_seeds(forest - tree.iloc[0]),
        ),
    ]

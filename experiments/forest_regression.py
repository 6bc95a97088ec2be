"""RMSE of a forest on the homes of Boston, against its depth."""

from experiments import Verdict
from experiments._depth_curves import at, draw_forest, forest_table, same_forests

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
    test, train = at(table, "test", 20), at(table, "train", 20)
    return [
        same_forests(table),
        Verdict(
            "at depth 20 the forests' mean RMSE on test is below the tree's",
            test["tree"],
            test["forestlab"],
            0,
            f"none: the mean of 30 forests has a standard error of {test['forestlab_se']:.2g}",
            "below",
        ),
        Verdict(
            "and above the tree's on train, as single trees of a forest see less",
            train["tree"],
            train["forestlab"],
            0,
            f"none: the standard error is {train['forestlab_se']:.2g}",
            "above",
        ),
    ]

"""Accuracy of a forest on digits, against its depth."""

from experiments import Verdict
from experiments._depth_curves import at, chosen_depth, draw_forest, forest_table, same_forests

DOCUMENT = "000"
SAYS = """
The forest of the regression on images of digits: 16 trees, each on a bootstrap of the rows and on
8 = √64 pixels drawn for it, their shares of classes averaged.

The document shows the picture of one draw, without numbers or a seed; those here are what its own
code gives with 50 seeds. It takes this for Breiman's forest, which draws pixels anew at every node,
and here that matters: trees of 8 pixels are so weak that 16 of them are little better than one tree
that sees all 64, and worse again beyond depth 8.
"""


def table(runs):
    return forest_table(runs, "accuracy", "forest_digits_accuracy")


def draw(table):
    return draw_forest(table, "accuracy", "A forest of 16 trees on digits: accuracy against depth")


def judge(table):
    test = at(table, "test", 20)
    valid = table[table["split"] == "valid"].set_index("depth")
    best = chosen_depth(valid["forestlab"], higher_is_better=True)
    chosen = at(table, "test", best)
    return [
        same_forests(table),
        Verdict(
            "at depth 20 the forests' mean accuracy on test is above the tree's",
            test["tree"],
            test["forestlab"],
            0,
            f"none: the mean of 30 forests has a standard error of {test['forestlab_se']:.2g}",
            "above",
        ),
        Verdict(
            f"at depth {best}, best on validation, it is above that at depth 20: depth regularises",
            test["forestlab"],
            chosen["forestlab"],
            0,
            f"none: the standard error is {chosen['forestlab_se']:.2g}, less for a difference of "
            "the same forests",
            "above",
        ),
        Verdict(
            "with pixels drawn at every node it is above that of the document's way",
            test["forestlab"],
            test["at_every_node"],
            0,
            f"none: the standard error is {test['forestlab_se']:.2g}",
            "above",
        ),
    ]

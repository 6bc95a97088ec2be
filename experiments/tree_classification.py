"""Accuracy of one tree on digits, against its depth."""

from experiments import Verdict
from experiments._depth_curves import at, chosen_depth, draw_tree, tree_table

DOCUMENT = "000"
SAYS = """
The tree of the regression on images of digits, by entropy, with shares of classes in its leaves.

The document shows a picture without numbers; those here are what its own code gives. Its formula of
the entropy sums over n rows, where its code rightly sums over classes; and it introduces the digits
as a regression problem.
"""


def table(runs):
    return tree_table(runs[0], "accuracy", "tree_digits_accuracy")


def draw(table):
    return draw_tree(table, "accuracy", "One tree on digits: accuracy against depth")


def judge(table):
    valid = table[table["split"] == "valid"].set_index("depth")
    best = chosen_depth(valid["forestlab"], higher_is_better=True)
    return [
        Verdict(
            "largest difference from the document's code",
            0.0,
            (table["forestlab"] - table["document"]).abs().max(),
            1e-5,
            "nothing is random; the reference has six decimals",
        ),
        Verdict(
            "the depth that is best on validation",
            chosen_depth(valid["document"], higher_is_better=True),
            best,
            0,
            "follows from the curve",
        ),
        Verdict(
            "less depth fits less noise: test accuracy at that depth is not below that of the "
            "whole tree",
            at(table, "test", 20)["forestlab"],
            at(table, "test", best)["forestlab"],
            0,
            "nothing is random; but it is one row of 450 that decides",
            "above",
        ),
    ]

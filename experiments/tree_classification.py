"""Accuracy of one tree on digits, against its depth."""

from experiments import exactly
from experiments._depth_curves import chosen_depth, draw_tree, tree_table

DOCUMENT = "000"
SAYS = """
The tree of the regression on images of digits, by entropy, with shares of classes in its leaves.

The document shows a picture without numbers; those here are what its own code gives. Its formula of
the entropy sums over n rows, where its code rightly sums over classes; and it introduces the digits
as a regression problem. At the depth that validation would choose, 7, one test row of 450 more is
right than in the whole tree: this split cannot tell whether less depth is better.
"""


def table(runs):
    return tree_table(runs[0], "accuracy", "tree_digits_accuracy")


def draw(table):
    return draw_tree(table, "accuracy", "One tree on digits: accuracy against depth")


def judge(table):
    valid = table[table["split"] == "valid"].set_index("depth")
    return [
        exactly(
            "largest difference from the document's code",
            0.0,
            (table["forestlab"] - table["document"]).abs().max(),
            "the reference has six decimals",
            1e-5,
        ),
        exactly(
            "the depth that is best on validation",
            chosen_depth(valid["document"], higher_is_better=True),
            chosen_depth(valid["forestlab"], higher_is_better=True),
            "follows from the curve",
        ),
    ]

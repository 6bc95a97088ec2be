"""RMSE of one tree on the homes of Boston, against its depth."""

from experiments import exactly
from experiments._depth_curves import chosen_depth, draw_tree, tree_table

DOCUMENT = "000"
SAYS = """
A tree that tries every feature and every observed value, by variance, is grown to depth 20 and read
at each depth. Its depth is a regularisation parameter: the less deep, the less likely the tree fits
the noise of its training rows.

The document shows a picture without numbers; those here are what its own code gives. On its split
the depth that validation would choose, 3, does not help the test rows: 7.14 there, against 6.97 of
the whole tree. The function it loads the homes with has left scikit-learn; mlxtend has the same
rows.
"""


def table(runs):
    return tree_table(runs[0], "rmse", "tree_boston_rmse")


def draw(table):
    return draw_tree(table, "RMSE", "One tree on Boston: RMSE against depth")


def judge(table):
    off = (table["forestlab"] - table["document"]).abs()
    is_tie = table["depth"] == 9
    valid = table[table["split"] == "valid"].set_index("depth")
    return [
        exactly(
            "largest difference from the document's code, all depths but 9",
            0.0,
            off[~is_tie].max(),
            "the reference has six decimals, and means add up in another order",
            1e-5,
        ),
        exactly(
            "the same at depth 9",
            0.0,
            off[is_tie].max(),
            "two cuts of three rows tie: in the document rounding decides, in forestlab the first "
            "one wins by rule",
            0.006,
        ),
        exactly(
            "the depth that is best on validation",
            chosen_depth(valid["document"], higher_is_better=False),
            chosen_depth(valid["forestlab"], higher_is_better=False),
            "follows from the curve",
        ),
    ]

"""A tree and a forest on MNIST, scored by class and by one-hot labels."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm

from experiments import LoggedRun, Verdict, above, exactly, reference, within
from experiments._statistics import apart, moments
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, SMALL, dress, ink, panels
from forestlab.figures.words import Words, number_scale, scale

DOCUMENT = "001"
SAYS = """
Grown on the 60,000 images of MNIST and asked about its 10,000 others, a tree scores 0.8773 and a
forest of 100 trees 0.904: the forest outperforms the tree.

It does so by much more than the document shows. Labels are given as ten columns of 0 and 1, and the
score then counts a row as right only if all ten are: if the true digit gets more than half of the
trees. A forest whose trees are split four to three to three answers rightly, and is counted as
wrong. By its answers the same forest is right on 0.97 of the images. A single tree is sure of all
that it says, so its score is the same by both.

The document also says that one tree has high bias and low variance, and a forest the reverse. It is
the other way round: deep trees have little bias and much variance, and averaging lowers the latter.
"""

DIGITS = range(10)
SCORES = {  # name: model, what is counted, colour
    "tree": ("tree", "right", COLOURS[6]),
    "forest, one-hot": ("forest", "sure", COLOURS[1]),
    "forest, by class": ("forest", "right", COLOURS[0]),
}
TOLD = {"tree": 0.8773, "forest, one-hot": 0.904}  # in the document
AGAIN = dict(zip(SCORES, ("mnist_tree", "mnist_forest", "mnist_forest_by_class"), strict=True))


def table(runs):
    """A row a model, seed and true digit: the `rows`, those `taken_for` each digit, those `right`,
    and those `sure`: right with more than half of the posterior, which is what one-hot labels
    count."""
    return pd.concat([_by_digit(run) for run in runs], ignore_index=True)


def _by_digit(run: LoggedRun) -> pd.DataFrame:
    found = run.table("predictions.parquet")
    truth, predicted = found["truth"].to_numpy(), found["predicted"].to_numpy()
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (truth, predicted), 1)
    first = {"model": run.params["model.name"], "seed": run.params["seed"], "digit": DIGITS}
    last = {
        "rows": counts.sum(axis=1),
        "right": np.diag(counts),
        "sure": np.bincount(truth[found["p_true"] > 0.5], minlength=10),
    }
    taken_for = {f"taken_for_{digit}": counts[:, digit] for digit in DIGITS}
    return pd.DataFrame(first | last | taken_for)


def scores(table: pd.DataFrame, name: str) -> pd.Series:
    """One of SCORES, by seed."""
    model, what, _ = SCORES[name]
    sums = table[table["model"] == model].groupby("seed")[["rows", what]].sum()
    return sums[what] / sums["rows"]


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(name, colour, 1.6, "o") for name, (*_, colour) in SCORES.items()]
    figure, axes = panels(
        "MNIST, 10,000 test images: a tree, and forests of 100 trees scored in two ways",
        [3.7, 3.2, 2.9], 3.7, left=0.55, right=inches_beside(entries), gap=0.75,
    )  # fmt: skip
    _draw_confusion(axes[0], table)
    _draw_by_digit(axes[1], table)
    _draw_scores(axes[2], table)
    legend_beside(axes[2], entries)
    return figure


def _draw_confusion(ax: Axes, table: pd.DataFrame) -> None:
    """Mean counts of the forests; colours follow their square root."""
    names = [f"taken_for_{digit}" for digit in DIGITS]
    forests = table[table["model"] == "forest"]
    counts = forests.groupby("digit")[names].mean().to_numpy()
    image = ax.imshow(counts, cmap=colormaps["Blues"], norm=PowerNorm(0.5, 0.0, counts.max()))
    rows, columns = np.nonzero(counts >= 0.5)
    shown = counts[rows, columns]
    inks = [ink(colour) for colour in image.to_rgba(shown)[:, :3]]
    Words(ax, np.column_stack([columns, rows]), [f"{count:.0f}" for count in shown],
          size=SMALL - 1.0, colours=inks)  # fmt: skip
    n_forests = forests["seed"].nunique()
    dress(ax, "predicted digit", "true digit", f"images, mean of {n_forests} forests")
    for axis in ("x", "y"):
        scale(ax, axis, np.arange(10), [str(digit) for digit in DIGITS], grid=False)


def _draw_by_digit(ax: Axes, table: pd.DataFrame) -> None:
    for model, what, colour in SCORES.values():
        sums = table[table["model"] == model].groupby("digit")[["rows", what]].sum()
        ax.plot(DIGITS, sums[what] / sums["rows"], "o-", color=colour, linewidth=1.2)
    dress(ax, "true digit", "share counted as right", "by digit")
    ax.set_xlim(-0.5, 9.5)
    scale(ax, "x", np.arange(10), [str(digit) for digit in DIGITS])
    number_scale(ax, "y")


def _draw_scores(ax: Axes, table: pd.DataFrame) -> None:
    for place, (name, (*_, colour)) in enumerate(SCORES.items()):
        found = scores(table, name)
        again = reference(DOCUMENT)[AGAIN[name]]
        ax.plot(np.full(len(found), place - 0.12), found, "o", color=colour, markersize=5)
        ax.plot(np.full(len(again), place + 0.12), again, "x", color="black", markersize=5)
        if name in TOLD:
            ax.plot(place, TOLD[name], "_", color="black", markersize=26, markeredgewidth=1.5)
    dress(ax, "", "score", "dots: seeds; line: document; ×: its code anew")
    ax.set_xlim(-0.5, len(SCORES) - 0.5)
    scale(ax, "x", np.empty(0), [])
    number_scale(ax, "y")


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    tree, one_hot, by_class = (scores(table, name) for name in SCORES)
    trees = table[table["model"] == "tree"]
    shown = TOLD["forest, one-hot"] - TOLD["tree"]
    return [
        *(_as_document(table, name, shown / 3) for name in SCORES),
        above(
            "the forest outperforms the tree: its score with one-hot labels less the tree's",
            apart(moments(one_hot), moments(tree)),
        ),
        above(
            "by much more than the document shows: what it gains by its answers, less twice what "
            "it gains with one-hot labels",
            apart(moments(by_class - 2.0 * one_hot), moments(-tree)),
            reason="0: much more is read as twice at least",
        ),
        exactly(
            "rows that the tree is right on, but not with one-hot labels, as it is sure",
            0,
            int((trees["right"] - trees["sure"]).sum()),
            "its leaves are pure",
            repeats=f"{len(tree)} seeds",
        ),
    ]


def _as_document(table, name: str, margin: float) -> Verdict:
    told = f", which prints {TOLD[name]}" if name in TOLD else ""
    return within(
        f"score of the {name}: forestlab's mean less that of the document's code anew{told}",
        apart(moments(scores(table, name)), moments(reference(DOCUMENT)[AGAIN[name]])),
        margin,
        "a third of what the document has the forest gain on the tree",
    )

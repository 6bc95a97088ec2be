"""Trees whose nodes part rows two, four or eight ways, and their binary translation."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import Verdict, above, below, every, exactly
from experiments._multiway import (
    binary,
    depth_of,
    grow,
    nodes_of,
    path,
    questions_needed,
)
from experiments._paper import banded, log_scale
from experiments._statistics import Measured, over_seeds
from forestlab import datasets
from forestlab.config import DatasetConfig
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "003"
SAYS = """
Splits are binary because multiway splits fragment the data too quickly, and leave too few rows for
the next level down. Nothing is lost, as any tree of n ways can be turned into an equivalent binary
tree.

The second is so by construction, and is done here: trees that part each node at the quantiles of
one feature into two, four or eight children are written as binary trees, of which forestlab's view
gives the same answers for every row. A node of k children becomes k − 1 questions, one below the
other on log₂ k levels; leaves stay as they are.

The first is found as well: after two questions an eight-way tree has one row in 64 left where a
binary one has one in four, its leaves are reached after two different features instead of five, and
on two of three made sets it errs more. What the document does not say: on the third, ringnorm, it
errs less. There a class lies in the middle of each feature, which one cut at the median does not
see and seven cuts do. More cuts of one feature may be what the data need; binary trees can ask for
them too, but need not.
"""
WAYS = {2: ("2 ways", COLOURS[0]), 4: ("4 ways", COLOURS[1]), 8: ("8 ways", COLOURS[2])}
FEW, MANY = 2, 8
SETS = ("twonorm", "waveform", "ringnorm")
MIDDLE = "ringnorm"  # one class lies in the middle of every feature
N_TRAIN, N_TEST, N_SEEDS = 600, 2000, 10
N_LEVELS = 5
AFTER = 2  # questions


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """A row a set, seed and number of ways; and, of each, a row a number of questions asked."""
    parts = [
        part
        for name in SETS
        for seed in range(N_SEEDS)
        for ways in WAYS
        for part in _grown(name, seed, ways)
    ]
    return pd.DataFrame(parts)


def _grown(name: str, seed: int, ways: int) -> list[dict]:
    config = DatasetConfig(name=name, n_samples=N_TRAIN + N_TEST, data_seed=seed)
    made = datasets.load(config)
    X, y = made.frame.to_numpy(), made.target
    tree = grow(X[:N_TRAIN], y[:N_TRAIN], int(y.max()) + 1, ways)
    view = binary(tree, X.shape[1])
    paths = [path(tree, x) for x in X]
    answers = np.array([walked[-1].counts.argmax() for walked in paths])
    inner = [node for node in nodes_of(tree) if node.children]
    asked = [len({node.feature for node in walked[:-1]}) for walked in paths[N_TRAIN:]]
    names = {"set": name, "seed": seed, "ways": ways}
    whole = {
        "part": "tree",
        "rows": len(X),
        "differ": int((answers != view.predict(X)).sum()),
        "accuracy": float((answers == y)[N_TRAIN:].mean()),
        "features": float(np.mean(asked)),
        "leaves": len(nodes_of(tree)) - len(inner),
        "inner": len(inner),
        "inner_expected": sum(len(node.children) - 1 for node in inner),
        "inner_binary": view.n_nodes - view.n_leaves,
        "leaves_binary": view.n_leaves,
        "depth": depth_of(tree),
        "depth_expected": questions_needed(tree),
        "depth_binary": view.depth,
    }
    levels = [
        {"part": "level", "questions": level, "rows": _rows_after(paths[N_TRAIN:], level)}
        for level in range(N_LEVELS + 1)
    ]
    return [names | each for each in (whole, *levels)]


def _rows_after(paths, level: int) -> float:
    """Training rows in the node that a test row has come to, or in its leaf; mean over rows."""
    return float(np.mean([walked[min(level, len(walked) - 1)].counts.sum() for walked in paths]))


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(name, colour, marker="o") for name, colour in WAYS.values()]
    entries += [Entry("bands: ± 1 sd of seeds", "none"), Entry("upright: 95 % of mean", "none")]
    figure, axes = panels(
        f"Trees of more ways have fewer rows left for the next question; {N_TRAIN} rows, "
        f"{N_SEEDS} draws of each set",
        [3.0, 3.0, 3.0], 2.9, left=0.75, right=inches_beside(entries), gap=0.75,
    )  # fmt: skip
    trees, levels = (table[table["part"] == part] for part in ("tree", "level"))
    for ways, (_, colour) in WAYS.items():
        banded(axes[0], levels[levels["ways"] == ways], "questions", "rows", colour)
    dress(axes[0], "questions asked", "training rows left", "of a test row; all sets")
    log_scale(axes[0], "y", (1, 3, 10, 30, 100, 300, 600))
    number_scale(axes[0], "x", integer=True)
    _draw_sets(axes[1], trees)
    _draw_sizes(axes[2], trees)
    legend_beside(axes[2], entries)
    return figure


def _draw_sets(ax: Axes, trees: pd.DataFrame) -> None:
    for place, name in enumerate(SETS):
        for shift, (ways, (_, colour)) in zip((-0.2, 0.0, 0.2), WAYS.items(), strict=True):
            own = trees[(trees["set"] == name) & (trees["ways"] == ways)]
            found = over_seeds(own["accuracy"])
            ax.errorbar(place + shift, found.mean, found.high - found.mean, marker="o", capsize=3.0,
                        markersize=5.0, color=colour)  # fmt: skip
    ax.set_xlim(-0.5, len(SETS) - 0.5)
    dress(ax, "", "accuracy on test")
    scale(ax, "x", np.arange(len(SETS)), SETS, grid=False)
    number_scale(ax, "y")


def _draw_sizes(ax: Axes, trees: pd.DataFrame) -> None:
    """Levels of the tree and of its translation, side by side."""
    for place, (ways, (_, colour)) in enumerate(WAYS.items()):
        own = trees[trees["ways"] == ways]
        ax.bar(place - 0.2, own["depth"].mean(), 0.36, color=colour)
        ax.bar(place + 0.2, own["depth_binary"].mean(), 0.36, color=colour, alpha=0.5)
    ax.set_xlim(-0.5, len(WAYS) - 0.5)
    dress(ax, "", "levels of questions", "full: as grown; pale: its binary translation")
    scale(ax, "x", np.arange(len(WAYS)), [name for name, _ in WAYS.values()], grid=False)
    number_scale(ax, "y", integer=True)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    trees, levels = (table[table["part"] == part] for part in ("tree", "level"))
    n_trees, left = len(trees), levels[levels["questions"] == AFTER]
    by_rule = "a translation is the same tree"
    kinds = " and ".join(name for name in SETS if name != MIDDLE)
    return [
        exactly(
            f"rows, of {int(trees['rows'].sum()):,}, that a binary translation answers otherwise",
            0,
            int(trees["differ"].sum()),
            by_rule,
            repeats=f"{n_trees} trees",
        ),
        exactly(
            "largest difference of the translations' inner nodes from k − 1 for each of k children",
            0,
            int((trees["inner_binary"] - trees["inner_expected"]).abs().max()),
            by_rule,
            repeats=f"{n_trees} trees",
        ),
        exactly(
            "largest difference of their levels from log₂ k, rounded up, for each of k children",
            0,
            int((trees["depth_binary"] - trees["depth_expected"]).abs().max()),
            by_rule,
            repeats=f"{n_trees} trees",
        ),
        exactly(
            "largest difference of their leaves",
            0,
            int((trees["leaves_binary"] - trees["leaves"]).abs().max()),
            by_rule,
            repeats=f"{n_trees} trees",
        ),
        below(
            f"rows left after {AFTER} questions in a tree of {MANY} ways, over those of {FEW}; "
            "all sets",
            _ratio(left),
            0.25,
            "a quarter: the document says too quickly, and one more level halves them",
        ),
        above(
            f"different features asked about on the way to a leaf: {FEW} ways less {MANY}",
            over_seeds(_less(trees, "features").mean(axis=1)),
        ),
        every(
            f"accuracy of {FEW} ways less that of {MANY}, on {kinds}",
            [_gain(trees, name) for name in SETS if name != MIDDLE],
        ),
        below(
            f"but on {MIDDLE}, where a class lies in the middle of each feature: the same",
            over_seeds(_less(trees, "accuracy")[MIDDLE]),
        ),
    ]


def _less(trees: pd.DataFrame, column: str) -> pd.DataFrame:
    """What few ways have more than many, by seed and set."""
    wide = trees.pivot(index=["seed", "set"], columns="ways", values=column)
    return (wide[FEW] - wide[MANY]).unstack()


def _gain(trees: pd.DataFrame, name: str) -> Verdict:
    return above(name, over_seeds(_less(trees, "accuracy")[name]))


def _ratio(left: pd.DataFrame) -> Measured:
    wide = left.pivot(index=["seed", "set"], columns="ways", values="rows")
    return over_seeds((wide[MANY] / wide[FEW]).unstack().mean(axis=1))

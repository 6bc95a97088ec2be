"""Digits that no tree has seen, mapped by the leaves that they share."""

from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestNeighbors

from experiments import LoggedRun, above, below, exactly, within
from experiments._data import data_of
from experiments._paper import banded, log_scale, paper
from experiments._statistics import over_seeds, over_splits
from forestlab.compare.statistics import overlap_of
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.regions import class_colours
from forestlab.figures.style import COLOURS, DASHES, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
Random forests also learn manifolds. The document says no more; the method is that of Criminisi,
Shotton and Konukoglu (2012): rows are near if many trees let them end in the same leaf, and the
slowest functions of a walk from near row to near row, Laplacian eigenmaps, are a map of them.

Here the forest is a supervised one, grown on half of the digits with their labels, and the map is
of the other half, whose labels it has not seen. So it is no surprise that it parts the digits
better than the first two principal components, which know no labels at all; but it also does so
better than the two linear discriminants of the same labels. A map is judged by the share of rows
that have the digit of most of their five nearest neighbours in it.

The deeper the trees, the fewer pairs of rows are joined by any of them, and the better the map.
More trees join more pairs, and two forests agree on affinities the better the more trees they have,
as theory has it: the mean square of their difference falls with the number of trees.
"""
OVERLAP = overlap_of(0.5)
N_NEAREST = 5
LEAVES = 16  # deeper than any of these trees
SHALLOW = 3
DEPTHS = (1, 2, SHALLOW, 4, 6, 8, 11, LEAVES)
FEW, MANY = 4, 20
SIZES = (2, FEW, 10, MANY, 50)  # of forests that are parts of one of 200
LINEAR = {
    "pca": ("principal components", PCA(2), COLOURS[1]),
    "lda": ("linear discriminants", LinearDiscriminantAnalysis(n_components=2), COLOURS[2]),
}
MAPS = {"pca": "two principal components", "shallow": f"forest, nodes at depth {SHALLOW}",
        "leaves": "forest, leaves"}  # fmt: skip
DIGIT_COLOURS = [to_hex(colour) for colour in class_colours(10)]


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """A row a run and depth (accuracy of its map, pairs joined), linear map, and number of trees
    (zeros, and mean square difference of two forests); of seed 0 also a row a mapped digit."""
    return pd.concat([part for run in runs for part in _parts(run)], ignore_index=True)


def _parts(run: LoggedRun) -> list[pd.DataFrame]:
    seed, model, splits = run.params["seed"], run.model(), data_of(run).splits()
    (X_train, y_train), (X, y) = splits["train"], splits["test"]
    named = pd.DataFrame(X, columns=model.feature_names_in_)
    maps = {depth: model.embed(named, depth=depth) for depth in DEPTHS}
    depths = pd.DataFrame({
        "part": "depth",
        "depth": DEPTHS,
        "accuracy": [neighbours_right(points, y) for points in maps.values()],
        **_joined([model.affinity(named, depth=depth) for depth in DEPTHS]),
    })  # fmt: skip
    linear = {name: way.fit(X_train, y_train).transform(X) for name, (_, way, _) in LINEAR.items()}
    others = pd.DataFrame({
        "part": "linear",
        "way": list(linear),
        "accuracy": [neighbours_right(points, y) for points in linear.values()],
    })  # fmt: skip
    parts = [depths, others, _by_trees(model.apply(named, LEAVES))]
    if seed == 0:
        drawn = {"pca": linear["pca"], "shallow": maps[SHALLOW], "leaves": maps[LEAVES]}
        parts += [
            pd.DataFrame(
                {"part": "map", "way": way, "digit": y, "x": points[:, 0], "y": points[:, 1]}
            )
            for way, points in drawn.items()
        ]
    return [part.assign(seed=seed) for part in parts]


def neighbours_right(points: np.ndarray, labels: np.ndarray) -> float:
    """Share of points with the label that most of their nearest have; the smallest of equals."""
    _, near = NearestNeighbors(n_neighbors=N_NEAREST).fit(points).kneighbors()  # not themselves
    votes = np.stack([(labels[near] == label).sum(axis=1) for label in np.unique(labels)], axis=1)
    return float((np.unique(labels)[votes.argmax(axis=1)] == labels).mean())


def _joined(affinities: list[np.ndarray]) -> dict[str, list]:
    """At each depth the share of pairs with some affinity, and the pairs whose affinity is higher
    than at the depth before."""
    n = len(affinities[0])
    shares = [(np.count_nonzero(each) - n) / (n * (n - 1)) for each in affinities]
    rises = [np.count_nonzero(deep > shallow) for shallow, deep in pairwise(affinities)]
    return {"joined": shares, "rising": [0, *rises]}


def _by_trees(ends: np.ndarray) -> pd.DataFrame:
    """Forests of so many trees, parts of the one: how often the first gives no affinity, and the
    mean square by which two of them differ, which is twice their variance."""
    pairs = np.triu_indices(len(ends), 1)
    same = np.stack([tree[pairs[0]] == tree[pairs[1]] for tree in ends.T])
    rows = []
    for size in SIZES:
        parts = np.split(same, len(same) // size)
        total, squares = np.zeros((2, same.shape[1]))
        for part in parts:
            share = part.mean(axis=0)
            total += share
            squares += share**2
        variance = (squares - total**2 / len(parts)) / (len(parts) - 1)
        square, zeros = 2.0 * float(variance.mean()), 1.0 - float(parts[0].any(axis=0).mean())
        rows.append({"part": "trees", "n_trees": size, "zeros": zeros, "square": square})
    return pd.DataFrame(rows)


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    digits = [Entry(str(d), colour, 7.0) for d, colour in enumerate(DIGIT_COLOURS)]
    lines = [Entry("forest", COLOURS[0], marker="o")]
    lines += [Entry(name, colour) for name, _, colour in LINEAR.values()]
    lines.append(Entry("bands: ± 1 sd of splits", "none"))
    figure, (above_row, below_row) = paper(
        "899 digits that no tree has seen, in two dimensions; and what depth and the number of "
        "trees do to affinities",
        [[2.9] * 3] * 2, [2.9, 2.2], left=0.75, right=inches_beside([*digits, *lines]),
    )  # fmt: skip
    for ax, way in zip(above_row, MAPS, strict=True):
        _draw_map(ax, table[(table["part"] == "map") & (table["way"] == way)], MAPS[way])
    legend_beside(above_row[-1], digits)
    _draw_accuracy(below_row[0], table)
    depths, trees = table[table["part"] == "depth"], table[table["part"] == "trees"]
    banded(below_row[1], depths, "depth", "joined", COLOURS[0])
    dress(below_row[1], "depth", "share of pairs joined", f"{LEAVES}: the leaves")
    below_row[1].set_ylim(0.0, 1.05)
    banded(below_row[2], trees, "n_trees", "square", COLOURS[0])
    sizes = np.array(SIZES, float)
    first = trees.loc[trees["n_trees"] == SIZES[0], "square"].mean()
    theory = first * SIZES[0] / sizes
    below_row[2].plot(sizes, theory, color="black", linewidth=1.0, linestyle=DASHES)
    dress(below_row[2], "trees of each of two forests", "mean square difference",
          "of affinities; dashed: 1 / trees")  # fmt: skip
    log_scale(below_row[2], "x", SIZES)
    log_scale(below_row[2], "y", (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1))
    for ax in below_row[:2]:
        number_scale(ax, "x", 8, integer=True)
        number_scale(ax, "y")
    legend_beside(below_row[-1], lines)
    return figure


def _draw_map(ax: Axes, points: pd.DataFrame, note: str) -> None:
    for digit, colour in enumerate(DIGIT_COLOURS):
        own = points[points["digit"] == digit]
        ax.plot(
            own["x"], own["y"], "o", color=colour, markersize=3.0, markeredgewidth=0.0, alpha=0.8
        )
    dress(ax, "first coordinate", "second coordinate", note)
    for axis in ("x", "y"):
        number_scale(ax, axis, 5, grid=False)


def _draw_accuracy(ax: Axes, table: pd.DataFrame) -> None:
    banded(ax, table[table["part"] == "depth"], "depth", "accuracy", COLOURS[0])
    for way, (_, _, colour) in LINEAR.items():
        own = table.loc[(table["part"] == "linear") & (table["way"] == way), "accuracy"]
        ax.axhline(own.mean(), color=colour, linewidth=1.6)
        ax.axhspan(own.mean() - own.std(), own.mean() + own.std(), color=colour, alpha=0.15,
                   linewidth=0)  # fmt: skip
    dress(ax, "depth", f"right by {N_NEAREST} neighbours in the map")


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    depths = table[table["part"] == "depth"].set_index(["seed", "depth"])
    accuracy, joined = (depths[column].unstack() for column in ("accuracy", "joined"))
    linear = table[table["part"] == "linear"].pivot(index="seed", columns="way", values="accuracy")
    trees = table[table["part"] == "trees"].set_index(["seed", "n_trees"])
    zeros, square = (trees[column].unstack() for column in ("zeros", "square"))

    def mean(values):
        return over_splits(values, OVERLAP)

    return [
        above(
            f"rows that are right by their {N_NEAREST} nearest in the forest's map of the leaves, "
            "less those by two principal components",
            mean(accuracy[LEAVES] - linear["pca"]),
        ),
        above(
            "the same, less those by two linear discriminants, which know the labels too",
            mean(accuracy[LEAVES] - linear["lda"]),
        ),
        above(
            f"the same, less those by the forest's map of the nodes at depth {SHALLOW}",
            mean(accuracy[LEAVES] - accuracy[SHALLOW]),
        ),
        exactly(
            "pairs of rows whose affinity rises from one depth to the next",
            0,
            int(depths["rising"].sum()),
            "rows that share a node share those above it",
            repeats=f"{len(accuracy)} splits, {len(DEPTHS) - 1} steps",
        ),
        below(
            f"deeper is sparser: share of pairs with some affinity at the leaves, less that at "
            f"depth {SHALLOW}",
            mean(joined[LEAVES] - joined[SHALLOW]),
        ),
        below(
            f"more trees are smoother: share of pairs without affinity in {MANY} trees, less that "
            f"in {FEW}",
            mean(zeros[MANY] - zeros[FEW]),
        ),
        within(
            f"mean square difference of affinities of two forests of {FEW}, over that of two of "
            f"{MANY}: as the number of trees",
            over_seeds(square[FEW] / square[MANY], "forests on splits of these digits"),
            0.1 * MANY / FEW,
            "a tenth: by theory they are as one to another, and chance adds a few hundredths",
            MANY / FEW,
        ),
    ]  # fmt: skip

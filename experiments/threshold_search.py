"""Accuracy against the number of cuts that a search looks at."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import t as student

from experiments import LoggedRun, Verdict, frame
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, LINE, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "002"
SAYS = """
To try every cut is wasteful. Only those between rows of different class need be looked at, of these
k = 15 random ones are enough, and values may be put into bins; together with √p random features at
each node this spares computation and, being random, keeps from overfitting. The document sketches
it in code, on the diabetes of Pima women, and gives no number.

Here the cuts that each way scores are counted. That boundaries lose nothing is a theorem (Fayyad
and Irani 1992): the same trees come out with about half of the cuts. How much k = 15 spares depends
on the data: a pixel of the digits has at most 16 cuts, and nearly all are kept. A tree that sees
fewer cuts needs more nodes to part the same rows, so its cost falls by less than that of a node.
What single trees lose by it and what forests gain is less than these splits can tell from nothing.

The document's code compares rows that are neighbours in sorted order, also rows of equal value. By
the order in which those happen to stand, its list holds a cut twice or lacks a boundary; forestlab
compares all rows of a value with all of the next.
"""

WAYS = {  # name: search, n_thresholds
    "exact": ("exact", None),
    "histogram": ("histogram", None),
    "boundary": ("boundary", None),
    "boundary, k = 15": ("boundary", 15),
    "boundary, k = 5": ("boundary", 5),
    "boundary, k = 1": ("boundary", 1),
}
COLOUR = dict(zip(WAYS, COLOURS, strict=False))
MODELS = {"tree": ("one tree", "o"), "forest": ("forest of 10", "s")}
DATA = {"pima": "Pima: 768 rows, 8 features", "digits": "digits: 1797 rows, 64 features"}
STEPS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)  # of the logarithmic axis


def table(runs):
    """A row a run."""
    names = {
        "dataset.name": "dataset",
        "model.name": "model",
        "dataset.split_seed": "split",
        "accuracy/test": "accuracy",
        "trees/cuts": "cuts",
        "trees/n_nodes": "nodes",
    }
    found = frame(runs, *names).rename(columns=names)
    found.insert(2, "way", [_way(run) for run in runs])
    return found


def _way(run: LoggedRun) -> str:
    settings = run.params["search.name"], run.params["search.n_thresholds"]
    return next(way for way, own in WAYS.items() if own == settings)


def of(table: pd.DataFrame, dataset: str, model: str, way: str) -> pd.DataFrame:
    """The runs of one kind, by split."""
    keys = ["dataset", "model", "way", "split"]
    return table.set_index(keys).sort_index().loc[(dataset, model, way)]


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(way, colour) for way, colour in COLOUR.items()]
    entries += [Entry(name, LINE, 0.8, marker) for name, marker in MODELS.values()]
    figure, axes = panels(
        "Accuracy against the cuts that are scored to grow a tree",
        [4.0, 4.0], 3.4, left=0.75, right=inches_beside(entries), gap=0.8,
    )  # fmt: skip
    for ax, (dataset, note) in zip(axes, DATA.items(), strict=True):
        own = table[table["dataset"] == dataset]
        _draw_ways(ax, own)
        note += f"; mean ± its error, {own['split'].nunique()} splits"
        dress(ax, "cuts scored for a tree", "accuracy on test", note)
        places = [step for step in STEPS if ax.get_xlim()[0] < step < ax.get_xlim()[1]]
        scale(ax, "x", np.array(places), [str(place) for place in places])
        number_scale(ax, "y")
    legend_beside(axes[-1], entries)
    return figure


def _draw_ways(ax: Axes, own: pd.DataFrame) -> None:
    """A point a model and way, with the error of its mean over splits; those of a model joined."""
    ax.set_xscale("log")
    for model, (_, marker) in MODELS.items():
        by_way = own[own["model"] == model].groupby("way")
        mean, error = by_way[["cuts", "accuracy"]].mean(), by_way["accuracy"].sem()
        ways = [way for way in WAYS if way in mean.index]
        ax.plot(*mean.loc[ways].to_numpy().T, color=LINE, linewidth=0.8, zorder=1)
        for way in ways:
            cuts, accuracy = mean.loc[way]
            ax.errorbar(cuts, accuracy, error[way], marker=marker, markersize=6.5, capsize=3.0,
                        color=COLOUR[way])  # fmt: skip


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    same = max(
        (of(table, d, m, "boundary")["accuracy"] - of(table, d, m, "exact")["accuracy"]).abs().max()
        for d in DATA
        for m in MODELS
    )
    return [
        Verdict(
            "largest difference in accuracy between boundary and exact search, over all runs",
            0.0,
            same,
            0,
            "none: the best cut lies on a boundary",
        ),
        Verdict(
            "cuts on boundaries, as a share of all; Pima, one tree",
            1.0,
            _ratio(table, "pima", "tree", "boundary", "exact"),
            0,
            "none: boundaries are some of all cuts, of the same tree",
            "below",
        ),
        Verdict(
            "cuts with k = 15, as a share of those on boundaries; Pima, forest",
            1.0,
            _ratio(table, "pima", "forest", "boundary, k = 15", "boundary"),
            0,
            "none: at every node they are fewer, but nodes are more",
            "below",
        ),
        Verdict(
            "the same of digits: k = 15 spares next to nothing",
            1.0,
            _ratio(table, "digits", "forest", "boundary, k = 15", "boundary"),
            0.05,
            "a pixel has 16 cuts at most, and few nodes have them all",
        ),
        Verdict(
            "nodes with k = 1, over those with every cut; Pima, one tree",
            1.0,
            _ratio(table, "pima", "tree", "boundary, k = 1", "exact", "nodes"),
            0,
            "none: worse cuts leave more to do",
            "above",
        ),
        *(
            _lost(table, model, way)
            for model in MODELS
            for way in ("histogram", "boundary, k = 15")
        ),
    ]


def _ratio(table, dataset: str, model: str, way: str, other: str, what: str = "cuts") -> float:
    return (
        of(table, dataset, model, way)[what].mean() / of(table, dataset, model, other)[what].mean()
    )


def _lost(table: pd.DataFrame, model: str, way: str) -> Verdict:
    """Is the accuracy that of the exact search, as far as the splits can tell?"""
    change = (
        of(table, "pima", model, way)["accuracy"] - of(table, "pima", model, "exact")["accuracy"]
    )
    return Verdict(
        f"accuracy by {way} less that by exact search, mean over splits; Pima, {MODELS[model][0]}",
        0.0,
        change.mean(),
        student.ppf(0.975, len(change) - 1) * change.sem(),
        f"95 % of Student's t: {len(change)} splits with 192 test rows each cannot tell less",
    )

"""Accuracy against the number of cuts that a search looks at."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import LoggedRun, Verdict, above, below, exactly, frame, within
from experiments._statistics import Measured, over_repeats, over_seeds
from forestlab.compare.statistics import overlap_of
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
Whether it costs accuracy 768 rows cannot tell, however they are split; on waves that are drawn anew
15 random boundaries, or bins, are as good as all cuts. One is not for a single tree, but it nearly
is for a forest.

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
DATA = {
    "pima": "Pima: 768 rows, 8 features",
    "digits": "digits: 1797 rows, 64 features",
    "waveform": "waveform: 1000 new rows each time, 21 features",
}
DRAWN = "waveform"  # rows anew for each repeat, so that small differences can be told
K = "boundary, k = 15"
OVERLAP = overlap_of(0.25)  # of the splits of Pima and digits
STEPS = (300, 1_000, 3_000, 10_000, 30_000)  # of the logarithmic axis


def table(runs):
    """A row a run."""
    names = {
        "dataset.name": "dataset",
        "model.name": "model",
        "dataset.split_seed": "split",
        "accuracy/test": "accuracy",
        "summary/trees_cuts": "cuts",
        "summary/trees_n_nodes": "nodes",
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
    entries.append(Entry("upright: 95 % of the", "none"))
    entries.append(Entry("difference from exact", "none"))
    figure, axes = panels(
        "Accuracy against the cuts that are scored to grow a tree",
        [3.2, 3.2, 3.2], 3.2, left=0.75, right=inches_beside(entries), gap=0.8,
    )  # fmt: skip
    for ax, (dataset, note) in zip(axes, DATA.items(), strict=True):
        own = table[table["dataset"] == dataset]
        _draw_ways(ax, own)
        dress(ax, "cuts scored for a tree", "accuracy on test", note)
        places = [step for step in STEPS if ax.get_xlim()[0] < step < ax.get_xlim()[1]]
        scale(ax, "x", np.array(places), [str(place) for place in places])
        number_scale(ax, "y")
    legend_beside(axes[-1], entries)
    return figure


def _draw_ways(ax: Axes, own: pd.DataFrame) -> None:
    """A point a model and way, those of a model joined. The interval is of the difference from the
    exact search, as it is the difference that a verdict is about."""
    ax.set_xscale("log")
    for model, (_, marker) in MODELS.items():
        of_model = own[own["model"] == model]
        if of_model.empty:
            continue
        mean = of_model.groupby("way")[["cuts", "accuracy"]].mean()
        ways = [way for way in WAYS if way in mean.index]
        ax.plot(*mean.loc[ways].to_numpy().T, color=LINE, linewidth=0.8, zorder=1)
        accuracy = of_model.pivot(index="split", columns="way", values="accuracy")
        overlap = 0.0 if of_model["dataset"].iloc[0] == DRAWN else OVERLAP
        for way in ways:
            x, y = mean.loc[way]
            found = over_repeats(accuracy[way] - accuracy["exact"], overlap)
            ends = [[found.mean - found.low], [found.high - found.mean]]
            ax.errorbar(x, y, ends, marker=marker, markersize=6.5, capsize=3.0, color=COLOUR[way])


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    kinds = table.loc[table["way"] == "boundary", ["dataset", "model"]].drop_duplicates()
    same = [
        of(table, kind.dataset, kind.model, "boundary")["accuracy"]
        - of(table, kind.dataset, kind.model, "exact")["accuracy"]
        for kind in kinds.itertuples()
    ]
    return [
        exactly(
            "largest difference in accuracy between boundary and exact search, over all runs",
            0.0,
            max(difference.abs().max() for difference in same),
            "the best cut lies on a boundary",
            repeats=f"{sum(map(len, same))} runs of each",
        ),
        within(
            "cuts on boundaries, as a share of all; Pima, one tree",
            _ratio(table, "pima", "tree", "boundary", "exact"),
            0.1,
            "about half is read as from four to six tenths",
            0.5,
        ),
        below(
            "cuts with k = 15, as a share of those on boundaries; Pima, forest",
            _ratio(table, "pima", "forest", K, "boundary"),
            1.0,
            "1: at every node they are fewer, but nodes are more",
        ),
        within(
            "the same of digits: k = 15 spares next to nothing",
            _ratio(table, "digits", "forest", K, "boundary"),
            0.05,
            "a twentieth: a pixel has 16 cuts at most, and few nodes have them all",
            1.0,
        ),
        above(
            "nodes with k = 1, over those with every cut; Pima, one tree",
            _ratio(table, "pima", "tree", "boundary, k = 1", "exact", "nodes"),
            1.0,
            "1: worse cuts leave more to do",
        ),
        *(_as_good(table, model, way) for model in MODELS for way in ("histogram", K)),
        below(
            f"{DRAWN}, one tree: accuracy with k = 1 less that by exact search. Few random cuts "
            "are enough for a tree, but not one",
            _change(table, "tree", "boundary, k = 1"),
        ),
        _as_good(table, "forest", "boundary, k = 1"),
    ]


def _ratio(table, dataset: str, model: str, way: str, other: str, what: str = "cuts") -> Measured:
    one, against = (of(table, dataset, model, each)[what] for each in (way, other))
    return over_seeds(one / against, "splits of these rows")


def _change(table, model: str, way: str) -> Measured:
    one, exact = (of(table, DRAWN, model, each)["accuracy"] for each in (way, "exact"))
    return over_seeds(one - exact, "draws of rows")


def _as_good(table, model: str, way: str) -> Verdict:
    tree, forest = (of(table, DRAWN, each, "exact")["accuracy"].mean() for each in MODELS)
    return within(
        f"{DRAWN}, {MODELS[model][0]}: accuracy by {way} less that by exact search",
        _change(table, model, way),
        (forest - tree) / 4.0,
        "a quarter of what the forest of 10 gains on one tree",
    )

"""Extra trees beside bagging and forests: error, bias and variance on made sets."""

import numpy as np
import pandas as pd

from experiments import Verdict, above, below, every, within
from experiments._paper import paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale, scale

DOCUMENT = "Geurts 2006"
SAYS = """
Geurts, Ernst and Wehenkel ("Extremely randomized trees", 2006) draw the cut of each feature at
random, and let every tree see all rows. Their case: strong randomisation, averaged over many trees,
takes more variance away than bagging or random features do, at some cost in bias, which the whole
learning sample keeps low; so extra trees are as accurate as other forests or more so, and faster.
Their tables are not compared here number by number, but in this order, on five made sets.

Of variance it is found on every set, beside bagging, and on sets of classes beside forests too: on
friedman1 a forest of a third of the features varies still less, and is far off. Bias is a price on
waveform, so high that extra trees gain nothing on bagging there, unless right labels are all that
is asked for. On twonorm and ringnorm it is none: cuts at random numbers, averaged, are nearer to
the smooth truth than those midway between rows.
"""
CLASSES = ("twonorm", "threenorm", "ringnorm", "waveform")
MODELS = {
    "bagging": ("bagging", COLOURS[1]),
    "forest": ("forest", COLOURS[0]),
    "extra_trees": ("extra trees", COLOURS[2]),
}
PANELS = {"error": "mean squared error", "bias2": "bias²", "variance": "variance"}


def table(runs):
    """A row a run: the parts of the mean squared error over training sets, of whole trees; of
    classes it is the Brier score; `wrong` is the share of wrong labels."""
    return pd.DataFrame(
        {
            "dataset": run.params["dataset.name"],
            "model": run.params["model.name"],
            "seed": run.params["seed"],
            "error": run.curve("expected_error/draws")[-1] - run.curve("noise/draws")[-1],
            "bias2": run.curve("bias2/draws")[-1],
            "variance": run.curve("variance/draws")[-1],
            "wrong": 1.0 - run.metrics.get("accuracy/test", np.nan),
        }
        for run in runs
    )


def relative(table: pd.DataFrame, column: str, model: str, other: str) -> pd.DataFrame:
    """By seed and set: how much higher a model's is than another's, as a share of that one's mean
    over seeds."""
    wide = table.pivot(index="seed", columns=["model", "dataset"], values=column)
    return (wide[model] - wide[other]) / wide[other].mean()


def draw(table):
    entries = [Entry(name, colour, marker="o") for name, colour in MODELS.values()]
    entries.append(Entry("lines: ± 1 sd of seeds", "none"))
    figure, (row,) = paper(
        "Extra trees, forests and bagging of 50 trees, 300 rows: parts of the squared error, in "
        "shares of bagging's error",
        [[2.4] * 3],
        [2.6],
        left=1.0,
        right=inches_beside(entries),
    )
    sets = list(dict.fromkeys(table["dataset"]))
    for ax, (column, label) in zip(row, PANELS.items(), strict=True):
        unit = table[table["model"] == "bagging"].groupby("dataset")["error"].mean()
        for k, (model, (_, colour)) in enumerate(MODELS.items()):
            of_set = table[table["model"] == model].groupby("dataset")[column]
            mean, sd = (of_set.agg(how)[sets] / unit[sets] for how in ("mean", "std"))
            places = np.arange(len(sets)) + 0.18 * (k - 1)
            ax.hlines(places, mean - sd, mean + sd, colors=colour, linewidths=1.6)
            ax.plot(mean, places, "o", color=colour, markersize=4.5)
        dress(ax, label, "", "")
        ax.set_ylim(len(sets) - 0.5, -0.5)
        ax.set_xlim(0.0, None)
        scale(ax, "y", np.arange(len(sets)), sets if ax is row[0] else [""] * len(sets), grid=False)
        number_scale(ax, "x", 5)
    legend_beside(row[-1], entries)
    return figure


def judge(table):
    def on_each(what: str, column: str, other: str, sets) -> Verdict:
        found = relative(table, column, "extra_trees", other)
        return every(what, [below(name, over_seeds(found[name])) for name in sets])

    def on_average(column: str, other: str) -> Measured:
        return over_seeds(relative(table, column, "extra_trees", other).mean(axis=1))

    def on_waveform(column: str) -> Measured:
        return over_seeds(relative(table, column, "extra_trees", "bagging")["waveform"])

    return [
        on_each("variance of extra trees is below bagging's on every set", "variance", "bagging",
                [*CLASSES, "friedman1"]),
        on_each("and below that of forests on sets of classes", "variance", "forest", CLASSES),
        above("bias is the price on waveform: bias² of extra trees over bagging's, as a share",
              on_waveform("bias2")),
        on_each("but none on twonorm and ringnorm, where it is below bagging's too", "bias2",
                "bagging", ["twonorm", "ringnorm"]),
        on_each("squared error of extra trees is below bagging's on the other sets", "error",
                "bagging", [name for name in (*CLASSES, "friedman1") if name != "waveform"]),
        within("on waveform they are level: squared error over bagging's, as a share",
               on_waveform("error"), 0.1, "a tenth, which no other set but threenorm is within"),
        below("squared error of extra trees over that of forests, on average over sets, as a share",
              on_average("error", "forest")),
        below("wrong labels of extra trees over those of bagging, on average over sets of classes, "
              "as a share", on_average("wrong", "bagging")),
    ]  # fmt: skip

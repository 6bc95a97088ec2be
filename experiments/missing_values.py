"""Values that are missing, by chance or for what they are, and what forests make of them."""

import numpy as np
import pandas as pd

from experiments import above, below, frame, within
from experiments._paper import banded, paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "002"
SAYS = """
If a row lacks the value that decides where it goes, estimate it by that of other examples, mode or
mean, or consider only the examples of the branch. Document 004: the question is ignored, by putting
the example on both sides.

Here a forest that keeps the two columns does better than one without them, even if half of their
values are missing by chance, whichever way it takes. Two claims were others at first, and twelve
seeds did not bear them out: that the typical value of a node's own rows does better than the mean
of all, which come out alike; and that to follow both branches loses no more than a side that is
learned, which it does. What is judged now are the claims that came of it, on seeds of their own. If
great values are those that go missing, a side that is learned does better than means filled in.
"""
LABELS = {
    "learned": "a side for missing values",
    "branch": "typical value of the node",
    "both": "both branches",
    "fill": "mean filled in before",
    "drop": "training rows left out",
    "columns": "columns left out",
}
COLOUR = dict(zip(LABELS, COLOURS, strict=False))
SHARES = (0.1, 0.3, 0.5)
LARGE = SHARES[-1]
BY = {"random": "missing by chance", "value": "the greater, the likelier missing"}


def table(runs):
    """A row a run; of those without missing values, `share` is 0 and `by` is none."""
    keys = "model.missing", "dataset.incomplete", "dataset.missing_share", "dataset.missing_by"
    columns = ["missing", "incomplete", "share", "by", "drop", "seed", "rmse"]
    found = frame(runs, *keys, "dataset.drop", "seed", "rmse/test").set_axis(columns, axis=1)
    found["way"] = np.where(found["incomplete"] == "keep", found["missing"], found["incomplete"])
    found.loc[found["drop"].map(len) > 0, "way"] = "columns"
    found.loc[found["share"] == 0, "by"] = "none"
    return found[["way", "share", "by", "seed", "rmse"]]


def draw(table):
    entries = [Entry(LABELS[way], COLOUR[way], marker="o") for way in LABELS]
    entries += [Entry("bands: ± 1 sd of seeds", "none")]
    figure, ((*axes,),) = paper(
        "Two of five features that matter lack values: forests of 50 trees on friedman1",
        [[2.9] * 2],
        [2.6],
        right=inches_beside(entries),
    )
    whole = table[table["share"] == 0]
    for ax, (by, note) in zip(axes, BY.items(), strict=True):
        for way, colour in COLOUR.items():
            here = table[(table["by"] == by) & (table["way"] == way)]
            start = whole[whole["way"] == ("columns" if way == "columns" else "learned")]
            if way == "columns":
                here = pd.concat([start.assign(share=share) for share in SHARES])
            banded(ax, pd.concat([start, here]), "share", "rmse", colour)
        dress(ax, "share of values missing", "root mean squared error, test", note)
        number_scale(ax, "x")
        number_scale(ax, "y")
    legend_beside(axes[-1], entries)
    return figure


def judge(table):
    missing = table[table["by"].isin(list(BY))]
    wide = missing.pivot(index="seed", columns=["by", "share", "way"], values="rmse")
    without = table[table["way"] == "columns"].set_index("seed")["rmse"]

    def less(by: str, way: str, other: str, share: float = LARGE) -> Measured:
        here = wide[by][share]
        return over_seeds(here[way] - here[other])

    def against_columns(by: str, way: str) -> Measured:
        return over_seeds(wide[by][LARGE][way] - without)

    margin = 0.18, "a twentieth of the error is the least difference that would matter"
    half, error = f"{LARGE:.0%} missing", "root mean squared error"
    return [
        *(
            below(f"{half} by chance: {error} with {LABELS[way]} less that without the columns",
                  against_columns("random", way))
            for way in ("learned", "branch", "both", "fill")
        ),
        above(f"{half} by chance: {error} without training rows that lack a value less that with a "
              "side learned", less("random", "drop", "learned")),
        above(f"{half} by value: {error} with means filled in less that with a side learned",
              less("value", "fill", "learned")),
        within(f"{half} by chance: {error} with means filled in less that with the node's typical "
               "value", less("random", "fill", "branch"), *margin),
        above(f"{half} by chance: to ignore the question has its price. {error} with both branches "
              "less that with a side learned", less("random", "both", "learned")),
    ]  # fmt: skip

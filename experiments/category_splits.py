"""What a tree asks of a category: a set of its levels, one of them, or a number."""

import numpy as np

from experiments import above, frame, within
from experiments._paper import banded, log_scale, paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "002"
SAYS = """
Categories can be split in subsets if there are many of them, or by binary splits; and document 004:
by "is x of type 1?", yes or no, so that no one-hot columns are needed.

With few levels it does not matter what is asked. With 64, in a thousand rows of which half the
levels stand for either class, only sets keep up: a tree of questions about one level, or of cuts
between levels' numbers, errs about nine points more. Columns of 0 and 1 ask a tree the same as
single levels do, and with 256 levels take longer to fit. In a forest they did better than single
levels, which is not judged here, but not as well as sets. Why, was not looked into: a category of
many columns is drawn more often than one of a single column, which may be it.
"""
LABELS = {
    "subset": "a set of levels",
    "equality": "one level",
    "one_hot": "columns of 0 and 1",
    "numbers": "the level's number",
}
COLOUR = dict(zip(LABELS, COLOURS, strict=False))
LEVELS = (4, 16, 64, 256)
FEW, MANY, MOST = LEVELS[0], LEVELS[2], LEVELS[3]
LEAST = 0.208  # error of the best rule
POINT = 0.01, "a point of accuracy is the least difference that would matter"


def table(runs):
    columns = ["model", "levels", "categories", "encode", "seed", "accuracy", "seconds"]
    keys = "model.name", "dataset.levels", "model.categories", "dataset.encode", "seed"
    found = frame(runs, *keys, "accuracy/test", "summary/seconds_fit").set_axis(columns, axis=1)
    is_encoded = found["encode"] != "levels"
    found["way"] = np.where(is_encoded, found["encode"], found["categories"])
    found["error"] = 1.0 - found["accuracy"]
    return found[["model", "levels", "way", "seed", "error", "seconds"]]


def draw(table):
    entries = [Entry(LABELS[way], COLOUR[way], marker="o") for way in LABELS]
    entries += [Entry("error of the best rule", "black", width=0.8)]
    entries += [Entry("bands: ± 1 sd of seeds", "none")]
    figure, rows = paper(
        "Ways to ask about a category, 1,000 training rows",
        [[2.9] * 2] * 2,
        [2.1] * 2,
        right=inches_beside(entries),
    )
    for (left, right), model in zip(rows, ("tree", "forest"), strict=True):
        note = "a tree" if model == "tree" else "a forest of 50"
        for way, colour in COLOUR.items():
            here = table[(table["model"] == model) & (table["way"] == way)]
            banded(left, here, "levels", "error", colour)
            middle = here.groupby("levels")["seconds"].median()
            right.plot(middle.index, middle, color=colour, marker="o", markersize=3.5)
        left.axhline(LEAST, color="black", linewidth=0.8)
        dress(left, "number of levels", "error, test", note)
        dress(right, "number of levels", "seconds to fit, median", note)
        log_scale(left, "x", LEVELS)
        log_scale(right, "x", LEVELS)
        number_scale(left, "y")
        log_scale(right, "y", (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1))
    legend_beside(rows[0][-1], entries)
    return figure


def judge(table):
    errors = table.pivot(index="seed", columns=["model", "levels", "way"], values="error")
    seconds = table.pivot(index="seed", columns=["model", "levels", "way"], values="seconds")

    def more(model: str, levels: int, way: str, other: str = "subset") -> Measured:
        here = errors[model][levels]
        return over_seeds(here[way] - here[other])

    def slower(model: str, way: str) -> Measured:
        here = np.log(seconds[model][MOST])
        return over_seeds(here[way] - here["subset"]).through(np.exp)

    sets = "less that by sets of levels"
    return [
        above(f"a tree, {MANY} levels: error by single levels {sets}",
              more("tree", MANY, "equality")),
        above(f"a forest, {MANY} levels: error by single levels {sets}",
              more("forest", MANY, "equality")),
        within(f"a tree, {FEW} levels: error by single levels {sets}",
               more("tree", FEW, "equality"), *POINT),
        within(
            f"a tree, {MANY} levels: error by columns of 0 and 1 less that by single levels, which "
            "are the same questions",
            more("tree", MANY, "one_hot", "equality"),
            *POINT,
        ),
        above(f"a forest, {MANY} levels: error by columns of 0 and 1 {sets}",
              more("forest", MANY, "one_hot")),
        above(f"a tree, {MANY} levels: error by the level's number {sets}",
              more("tree", MANY, "numbers")),
        above(f"a tree, {MOST} levels: times as long a fit takes with columns of 0 and 1 as with "
              "sets of levels", slower("tree", "one_hot"), 1.0),
    ]  # fmt: skip

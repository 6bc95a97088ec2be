"""A forest beside boosted trees, on five sets."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from experiments import LoggedRun, above, below, every, within
from experiments._data import data_of
from experiments._statistics import Measured, over_repeats
from forestlab.compare.statistics import overlap_of
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, LINE, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "003"
SAYS = """
Random forests are simpler to train and to tune than boosting, and perform similarly on many
problems, which makes them popular. The document gives no numbers.

Here a forest of 200 trees stands beside scikit-learn's boosted trees, HistGradientBoosting, each as
it comes and untuned, on the same training and test rows; scores are accuracy, or R² of numbers. On
the three sets with classes they are similar: within five points, where a forest may gain twelve
over a tree. The forest is no worse on the diabetes set, of 442 rows. On friedman1, a smooth
function of five of ten features, it is worse by a tenth: many problems are not all. Tuning may move
any of these numbers.
"""
BOOSTED: dict[str, Any] = {
    "classification": HistGradientBoostingClassifier,
    "regression": HistGradientBoostingRegressor,
}
SCORES = {"classification": "accuracy/test", "regression": "r2/test"}
SETS = {"digits": "digits", "breast_cancer": "breast cancer", "waveform": "waveform",
        "diabetes": "diabetes", "friedman1": "friedman1"}  # fmt: skip
CLASSES = ("digits", "breast_cancer", "waveform")
OVERLAPS = dict.fromkeys(("digits", "breast_cancer", "diabetes"), overlap_of(0.25))  # else drawn
MODELS = {
    "tree": ("one tree", COLOURS[6], "s"),
    "forest": ("forest of 200", COLOURS[0], "o"),
    "boosting": ("boosted trees", COLOURS[1], "D"),
}
MARGIN = 0.05
REASON = "five points: about half of what a forest gains over a tree, on sets where it does"


def table(runs):
    """A row a set, seed and model; boosting is fitted to the rows of the logged forest."""
    rows = []
    for run in runs:
        data = data_of(run)
        task = data.dataset.task
        names = {"set": run.params["dataset.name"], "seed": run.params["seed"], "task": task}
        model = run.params["model.name"]
        rows.append(names | {"model": model, "score": run.metrics[SCORES[task]]})
        if model == "forest":
            rows.append(names | {"model": "boosting", "score": boosted(run, data, task)})
    return pd.DataFrame(rows)


def boosted(run: LoggedRun, data, task: str) -> float:
    """The score of boosted trees on the run's test rows, grown by one thread on its training rows:
    sets are so small that more threads mostly wait."""
    splits = data.splits()
    with threadpool_limits(1, "openmp"):
        model = BOOSTED[task](random_state=run.params["seed"]).fit(*splits["train"])
        return float(model.score(*splits["test"]))


def less(table: pd.DataFrame, name: str, one: str, other: str) -> Measured:
    """What one model scores more than another on a set."""
    own = table[table["set"] == name].pivot(index="seed", columns="model", values="score")
    return over_repeats(own[one] - own[other], OVERLAPS.get(name, 0.0))


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(name, colour, 0.0, marker) for name, colour, marker in MODELS.values()]
    entries += [Entry("small: one repeat", "none"), Entry("band: within the margin", "none"),
                Entry("upright: 95 % of the mean", "none")]  # fmt: skip
    figure, (left, right) = panels(
        "A forest and boosted trees, both as they come, on the same rows",
        [4.6, 4.0], 3.2, left=0.75, right=inches_beside(entries), gap=0.85,
    )  # fmt: skip
    places = np.arange(len(SETS))
    for place, name in enumerate(SETS):
        for shift, (model, (_, colour, marker)) in zip(
            (-0.22, 0.0, 0.22), MODELS.items(), strict=True
        ):
            own = table.loc[(table["set"] == name) & (table["model"] == model), "score"]
            left.plot(np.full(len(own), place + shift), own, marker, color=colour, markersize=3.0,
                      alpha=0.5, markeredgewidth=0)  # fmt: skip
            left.plot([place + shift], [own.mean()], marker, color=colour, markersize=6.5)
        found = less(table, name, "forest", "boosting")
        ends = [[found.mean - found.low], [found.high - found.mean]]
        right.errorbar(place, found.mean, ends, marker="o", markersize=6.0, capsize=3.0,
                       color=COLOURS[0])  # fmt: skip
    right.axhspan(-MARGIN, MARGIN, color=LINE, alpha=0.12, linewidth=0)
    right.axhline(0.0, color=LINE, linewidth=1.0)
    told = {left: ("accuracy, or R²", ""),
            right: ("forest less boosting", "above 0: the forest is better")}  # fmt: skip
    for ax, (label, note) in told.items():
        ax.set_xlim(-0.5, len(SETS) - 0.5)
        dress(ax, "", label, note)
        scale(ax, "x", places, list(SETS.values()), grid=False)
        number_scale(ax, "y")
    legend_beside(right, entries)
    return figure


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    drawn = ("waveform", "friedman1")
    return [
        every(
            "accuracy of the forest less that of boosting, on three sets with classes",
            [
                within(SETS[name], less(table, name, "forest", "boosting"), MARGIN, REASON)
                for name in CLASSES
            ],
        ),
        above(
            "diabetes: R² of the forest less that of boosting; no worse",
            less(table, "diabetes", "forest", "boosting"),
            -MARGIN,
            REASON,
        ),
        below(
            "friedman1: the same; there the document does not hold",
            less(table, "friedman1", "forest", "boosting"),
            -MARGIN,
            REASON,
        ),
        every(
            "both are better than a tree by more than that, on sets that are drawn anew",
            [
                above(f"{model}, {name}", less(table, name, model, "tree"), MARGIN, REASON)
                for name in drawn
                for model in ("forest", "boosting")
            ],
        ),
    ]

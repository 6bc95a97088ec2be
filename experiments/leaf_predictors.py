"""Leaves that decide at once, against the whole distribution kept to the end."""

import pandas as pd

from experiments import above, below, frame, within
from experiments._paper import banded, log_scale, paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
A leaf may answer its maximum a posteriori, the likeliest class or the mode of its numbers; but in
general it is better to keep the whole distribution until a decision has to be taken, as this allows
to reason about uncertainty.

Of few trees that is so: the average of ten trees' posteriors gives more right labels than the vote
of leaves that have decided, and its log loss is smaller, as the vote knows little uncertainty. But
many trees that were made to decide disagree, which tells what their leaves do not: of a hundred
the labels are as right either way, and it is the vote that has the smaller log loss, since an
average of impure leaves is less sure than it could be. The mean of a leaf's numbers has a smaller
squared error than their median or mode. But which number is the best to answer depends on how
errors count: if absolutely, the median of each leaf does better than the mean, early as it
decides.
"""
# By set: the option that tells the ways apart, and these with their colours.
WAYS = {
    "threenorm": ("model.combine", dict(zip(("average", "vote"), COLOURS, strict=False))),
    "skewed": ("model.leaf", dict(zip(("mean", "median", "mode"), COLOURS, strict=False))),
}
SIZES = {  # by set: what is varied, its label, and its values
    "threenorm": ("n_estimators", "number of trees", (1, 3, 10, 30, 100)),
    "skewed": ("model.min_samples_leaf", "least rows of a leaf", (1, 5, 20, 50)),
}
METRICS = {
    "threenorm": {"accuracy": "accuracy", "log_loss": "log loss (nats)"},
    "skewed": {"rmse": "root mean squared error", "mae": "mean absolute error"},
}
NOTES = {
    "threenorm": "threenorm, leaves of 5 rows or more",
    "skewed": "friedman1 with exponential noise, 100 trees",
}
LABELS = {
    "average": "average of posteriors",
    "vote": "vote for the likeliest class",
    "mean": "mean of each leaf",
    "median": "median of each leaf",
    "mode": "mode of each leaf",
}
FEW, MANY = 10, 100  # trees
LARGE = 20  # rows, of leaves that have a distribution to speak of


def table(runs):
    parts = []
    for dataset, (option, _) in WAYS.items():
        of_set = [run for run in runs if run.params["dataset.name"] == dataset]
        metrics = METRICS[dataset]
        columns = SIZES[dataset][0], option, "seed", *(f"{key}/test" for key in metrics)
        found = frame(of_set, *columns).set_axis(["size", "way", "seed", *metrics], axis=1)
        long = found.melt(["size", "way", "seed"], var_name="metric")
        parts.append(long.assign(dataset=dataset))
    return pd.concat(parts, ignore_index=True)


def draw(table):
    entries = {
        dataset: [Entry(LABELS[way], colour, marker="o") for way, colour in colours.items()]
        for dataset, (_, colours) in WAYS.items()
    }
    entries["skewed"].append(Entry("bands: ± 1 sd of seeds", "none"))
    figure, rows = paper(
        "What trees answer, if each of their leaves decides at once or leaves it to the end",
        [[2.9] * 2] * 2,
        [2.1] * 2,
        right=inches_beside(entries["skewed"] + entries["threenorm"]),
    )
    for axes, (dataset, metrics) in zip(rows, METRICS.items(), strict=True):
        _, varied, sizes = SIZES[dataset]
        for ax, (metric, label) in zip(axes, metrics.items(), strict=True):
            here = table[(table["dataset"] == dataset) & (table["metric"] == metric)]
            for way, colour in WAYS[dataset][1].items():
                banded(ax, here[here["way"] == way], "size", "value", colour)
            dress(ax, varied, f"{label}, test", NOTES[dataset])
            log_scale(ax, "x", sizes)
            if metric == "log_loss":
                log_scale(ax, "y", (0.3, 0.5, 1, 2, 5, 10))
            else:
                number_scale(ax, "y")
        legend_beside(axes[-1], entries[dataset])
    return figure


def judge(table):
    columns = ["dataset", "size", "metric", "way"]
    wide = table.pivot(index="seed", columns=columns, values="value")

    def less(dataset: str, size: int, metric: str, early: str, late: str) -> Measured:
        here = wide[dataset][size][metric]
        return over_seeds(here[early] - here[late])

    classes, numbers = f"threenorm, {MANY} trees", f"skewed noise, {LARGE} rows a leaf or more"
    vote = "of the vote less that of the average"
    return [
        below(
            f"threenorm, {FEW} trees: accuracy {vote}",
            less("threenorm", FEW, "accuracy", "vote", "average"),
        ),
        above(
            f"threenorm, {FEW} trees: log loss {vote}",
            less("threenorm", FEW, "log_loss", "vote", "average"),
        ),
        within(
            f"{classes}: accuracy {vote}",
            less("threenorm", MANY, "accuracy", "vote", "average"),
            0.01,
            "a point of accuracy is the least loss that would matter",
        ),
        below(
            f"{classes}: the document prefers the distribution in general, but trees that disagree "
            f"tell as much, and are surer. Log loss {vote}",
            less("threenorm", MANY, "log_loss", "vote", "average"),
        ),
        *(
            above(
                f"{numbers}: root mean squared error of {way}s less that of means",
                less("skewed", LARGE, "rmse", way, "mean"),
            )
            for way in ("mode", "median")
        ),
        below(
            f"{numbers}: if errors count absolutely, an early decision may be the better one. Mean "
            "absolute error of medians less that of means",
            less("skewed", LARGE, "mae", "median", "mean"),
        ),
    ]

"""Bias, variance and noise of a tree and of forests, against their depth."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from experiments import Verdict
from experiments._depth_curves import chosen_depth
from experiments._paper import paper
from forestlab.figures.bias import MEASURED, Kind, draw_parts, parts_legend
from forestlab.figures.legend import Entry, inches_beside, legend_beside

DOCUMENT = "001"
SAYS = """
The document says that a single tree has a high bias and a low variance, and a forest a low bias and
a high variance, which bagging then addresses. It has them the wrong way round: a deep tree fits
nearly anything, so its bias is low, but it is another tree with other rows. Averaging many such
trees leaves the bias about where it was and takes most of the variance away (Breiman, Bagging
predictors, 1996; Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections
7.3, 8.7 and 15.2).

Made data have a known truth, so the parts can be measured: models are grown on 20 training sets and
asked at the same 600 places, three times over. friedman1 has 200 training rows, twonorm 300 and
sine 100; forests have 50 trees; classes are vectors, whose squared error is the Brier score.

What is true of bias is "hardly", not "not": bagged trees see 63 % of the rows, and their bias is a
little higher. Features drawn at random trade more bias for less variance: at a loss on friedman1,
where half of the features say nothing, at a profit on twonorm, where all say the same. And variance
is only taken away if trees differ: on the one feature of sine all whole trees that grew on all rows
are the same rule, that of the nearest row, however their cuts were chosen, so that rno is in the
end one tree.
"""

KINDS: dict[str, Kind] = {"friedman1": "squared", "twonorm": "brier", "sine": "squared"}
PARTS = {  # columns of the table, by metric
    "bias2": "bias2",
    "variance": "variance",
    "noise": "noise",
    "expected_error": "error",
    "measured_error": "measured",
}
LEAST_LABEL_ERROR = 0.02275  # of twonorm: Φ(−2), the classes being 4 standard deviations apart


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """A row a run and depth; depths that a run's trees do not reach stay as its last one."""
    lengths = {run.id: len(run.curve("bias2/draws")) for run in runs}
    return pd.concat(
        [_curves(run, max(lengths[other.id] for other in _alike(run, runs))) for run in runs],
        ignore_index=True,
    )


def _alike(run, runs) -> list:
    """Runs of the same model on the same data set."""
    keys = ("dataset.name", "model.name")
    return [other for other in runs if all(other.params[k] == run.params[k] for k in keys)]


def _curves(run, n_depths: int) -> pd.DataFrame:
    params, depths = run.params, np.arange(n_depths)
    curves = {column: run.curve(f"{metric}/draws") for metric, column in PARTS.items()}
    if params["dataset.name"] == "twonorm":
        curves["label_noise"] = run.curve("labels_noise/draws")
    return pd.DataFrame(
        {
            "dataset": params["dataset.name"],
            "model": params["model.name"],
            "seed": params["seed"],
            "draws": params["study.draws"],
            "places": round(params["dataset.n_samples"] * params["dataset.test_size"]),
            "depth": depths,
        }
        | {name: curve[np.minimum(depths, len(curve) - 1)] for name, curve in curves.items()}
    )


def means(table: pd.DataFrame, dataset: str, model: str) -> pd.DataFrame:
    """Means over seeds, by depth."""
    part = table[(table["dataset"] == dataset) & (table["model"] == model)]
    return part.groupby("depth").mean(numeric_only=True)


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    rows = {dataset: _variants(table, dataset) for dataset in KINDS}
    legend = parts_legend(rows["friedman1"], "squared")
    legend.append(Entry("upright: ± 1 sd of seeds", "none"))
    title = "Bias, variance and noise over 20 training sets, at every depth; means of 3 repetitions"
    widths = [len(variants) * [1.95] for variants in rows.values()]
    figure, axes = paper(title, widths, len(KINDS) * [1.9], right=inches_beside(legend), gap=0.62)
    for (dataset, variants), row in zip(rows.items(), axes, strict=True):
        draw_parts(row, variants, KINDS[dataset])
        for ax, found in zip(row, variants.values(), strict=True):
            low, high = found.measured - found.measured_sd, found.measured + found.measured_sd
            ax.vlines(np.arange(len(low)), low, high, colors=MEASURED, linewidths=1.0)
        row[0].set_ylabel(f"{dataset}: {row[0].get_ylabel()}")
    legend_beside(axes[0][-1], legend)
    return figure


def _variants(table, dataset: str) -> dict[str, SimpleNamespace]:
    found = {}
    for model in table[table["dataset"] == dataset]["model"].unique():
        part = table[(table["dataset"] == dataset) & (table["model"] == model)]
        columns = means(table, dataset, model)
        columns["measured_sd"] = part.groupby("depth")["measured"].std()
        found[model] = SimpleNamespace(**{name: columns[name].to_numpy() for name in columns})
    return found


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    return [
        *_adds_up(table),
        *_noise(table),
        *_tree(table),
        *(verdict for dataset in ("friedman1", "twonorm") for verdict in _bagging(table, dataset)),
        *_forest(table),
        _same_rule(table),
    ]


def error_of_measured(table: pd.DataFrame) -> pd.Series:
    """Standard error of a measured error, by which it misses the expected one.

    Normal noise of variance s at m places, where the models' mean error of R draws is e, adds
    noise² − s + 2 · noise · e to a place's square: of variance 2 s² + 4 s e². The mean of e² over
    places is bias² + variance / R.
    """
    noise, mean_square = table["noise"], table["bias2"] + table["variance"] / table["draws"]
    return np.sqrt((2 * noise**2 + 4 * noise * mean_square) / table["places"])


def _adds_up(table) -> list[Verdict]:
    numbers = table[table["dataset"] != "twonorm"]
    off = (numbers["measured"] - numbers["error"]).abs() / error_of_measured(numbers)
    rest = table["error"] - table[["bias2", "variance", "noise"]].sum(axis=1)
    return [
        Verdict(
            "expected error less its three parts, largest of all runs and depths",
            0.0,
            rest.abs().max(),
            1e-9,
            "the same by definition: rounding only",
        ),
        Verdict(
            "friedman1, sine: largest distance of the error on drawn targets from the expected "
            "one, in standard errors",
            0.0,
            off.max(),
            4.0,
            "the targets of 600 places are drawn once for all models and depths of a seed, so "
            "these are six draws in all, of which none is likely to be 4 away",
        ),
    ]


def _noise(table) -> list[Verdict]:
    verdicts = []
    for dataset, model, known in (("friedman1", "rno", 1.0), ("sine", "bagging", 0.09)):
        part = table[(table["dataset"] == dataset) & (table["model"] == model)]
        by_depth = part.groupby("depth")["error"].mean()
        best = part[part["depth"] == chosen_depth(by_depth, higher_is_better=False)]
        left = best["measured"] - best["bias2"] - best["variance"]
        verdicts.append(
            Verdict(
                f"{dataset}: what bias² and variance leave of the measured error is the noise "
                f"({model}, at its best depth)",
                known,
                left.mean(),
                3.0 * error_of_measured(best).mean() / np.sqrt(len(best)),
                f"3 standard errors of the mean of {len(best)} seeds, 600 targets each",
            )
        )
    tree = table[(table["dataset"] == "twonorm") & (table["model"] == "tree")]
    tree = tree[tree["depth"] == 0]
    n_places = tree["places"].sum()
    verdicts.append(
        Verdict(
            "twonorm: error of the best label at the places, Breiman's 2.3 %",
            LEAST_LABEL_ERROR,
            tree["label_noise"].mean(),
            3.0 * np.sqrt(LEAST_LABEL_ERROR / 2 / n_places),
            f"3 standard errors at {n_places} places; a place's least error is at most ½, so its "
            "mean square at most half its mean",
        )
    )
    return verdicts


def _tree(table) -> list[Verdict]:
    tree = means(table, "friedman1", "tree")
    stump, whole = tree.loc[1], tree.iloc[-1]
    spread = _spread(table, "friedman1", "tree")
    return [
        Verdict(
            "friedman1, one whole tree: variance over bias². The document says high bias and low "
            "variance; it is the other way round",
            1.0,
            whole["variance"] / whole["bias2"],
            0,
            f"none: over seeds the variance spreads by {spread['variance']:.2g}, bias² by "
            f"{spread['bias2']:.2g}",
            "above",
        ),
        Verdict(
            "the same of a stump, of depth 1: there bias is the larger part",
            1.0,
            stump["variance"] / stump["bias2"],
            0,
            "none: it is a factor of five",
            "below",
        ),
    ]


def _bagging(table, dataset: str) -> list[Verdict]:
    tree, bagging = (means(table, dataset, model).iloc[-1] for model in ("tree", "bagging"))
    gain = tree["variance"] - bagging["variance"]
    more = bagging["bias2"] - tree["bias2"]
    return [
        Verdict(
            f"{dataset}: variance of 50 bagged trees over that of one, both whole",
            0.5,
            bagging["variance"] / tree["variance"],
            0,
            "none: reduced is read as halved at least",
            "below",
        ),
        Verdict(
            f"{dataset}: and what bagging adds to bias², over what it takes off variance",
            0.1,
            more / gain,
            0,
            "none: hardly is read as a tenth at most; bias² itself grows by "
            f"{more / tree['bias2']:.0%}",
            "below",
        ),
    ]


def _forest(table) -> list[Verdict]:
    tree, bagging, forest = (
        means(table, "friedman1", model).iloc[-1] for model in ("tree", "bagging", "forest")
    )
    return [
        Verdict(
            "friedman1: variance of a forest over that of one tree. The document says that a "
            "forest has the higher one",
            0.5,
            forest["variance"] / tree["variance"],
            0,
            "none: lower is read as halved at least",
            "below",
        ),
        Verdict(
            "friedman1: features drawn at every node lower the variance of bagging further",
            bagging["variance"],
            forest["variance"],
            0,
            f"none: over seeds they spread by {_spread(table, 'friedman1', 'forest').variance:.2g}",
            "below",
        ),
        Verdict(
            "and raise bias²",
            bagging["bias2"],
            forest["bias2"],
            0,
            f"none: over seeds, which have other places, they spread by "
            f"{_spread(table, 'friedman1', 'forest').bias2:.2g}, but by less at the same places",
            "above",
        ),
    ]


def _same_rule(table) -> Verdict:
    tree, rno = (
        table[(table["dataset"] == "sine") & (table["model"] == model)]
        .groupby("seed")["error"]
        .last()
        for model in ("tree", "rno")
    )
    return Verdict(
        "sine: expected error of whole rno forests less that of one tree, largest of the seeds",
        0.0,
        (rno - tree).abs().max(),
        1e-9,
        "the same rule: rounding only",
    )


def _spread(table, dataset: str, model: str) -> pd.Series:
    """Standard deviations over seeds, of whole trees."""
    part = table[(table["dataset"] == dataset) & (table["model"] == model)]
    return part[part["depth"] == part["depth"].max()][["bias2", "variance"]].std()

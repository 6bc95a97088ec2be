"""Bias, variance and noise of a tree and of forests, against their depth."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from experiments import Verdict, above, below, exactly, within
from experiments._depth_curves import chosen_depth
from experiments._paper import paper
from experiments._statistics import over_seeds
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
asked at the same 1600 places, five or six times over. friedman1 has 200 training rows, twonorm 300
and sine 100; forests have 50 trees; classes are vectors, whose squared error is the Brier score.

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
    return pd.DataFrame(
        {
            "dataset": params["dataset.name"],
            "model": params["model.name"],
            "seed": params["seed"],
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
    title = "Bias, variance and noise over 20 training sets, at every depth; means of 5 or 6 times"
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
        *(_adds_up(table, *which) for which in (("friedman1", "rno"), ("sine", "bagging"))),
        *_tree(table),
        *(verdict for dataset in ("friedman1", "twonorm") for verdict in _bagging(table, dataset)),
        *_forest(table),
        _same_rule(table),
    ]


def whole(table: pd.DataFrame, dataset: str, model: str) -> pd.DataFrame:
    """At the deepest depth, a row a seed."""
    part = table[(table["dataset"] == dataset) & (table["model"] == model)]
    return part[part["depth"] == part["depth"].max()].set_index("seed")


def _adds_up(table, dataset: str, model: str) -> Verdict:
    part = table[(table["dataset"] == dataset) & (table["model"] == model)]
    by_depth = part.groupby("depth")["error"].mean()
    best = part[part["depth"] == chosen_depth(by_depth, higher_is_better=False)]
    noise = (best["noise"] / best["error"]).mean()
    return within(
        f"{dataset}, {model} at its best depth: error on targets that are drawn anew, over bias² + "
        "variance + noise",
        over_seeds(best["measured"] / best["error"]),
        0.1,
        f"a tenth: noise alone is {noise:.0%} of the error here, and would be missed",
        1.0,
    )


def _tree(table) -> list[Verdict]:
    tree = table[(table["dataset"] == "friedman1") & (table["model"] == "tree")]
    stump, deep = tree[tree["depth"] == 1], whole(table, "friedman1", "tree")
    return [
        above(
            "friedman1, one whole tree: variance over bias². The document says high bias and low "
            "variance; it is the other way round",
            over_seeds(deep["variance"] / deep["bias2"]),
            1.0,
            "1: they are equal",
        ),
        below(
            "the same of a stump, of depth 1: there bias is the larger part",
            over_seeds(stump["variance"] / stump["bias2"]),
            1.0,
            "1: they are equal",
        ),
    ]


def _bagging(table, dataset: str) -> list[Verdict]:
    tree, bagging = (whole(table, dataset, model) for model in ("tree", "bagging"))
    gain = tree["variance"] - bagging["variance"]
    more = bagging["bias2"] - tree["bias2"]
    return [
        below(
            f"{dataset}: variance of 50 bagged trees over that of one, both whole",
            over_seeds(bagging["variance"] / tree["variance"]),
            0.5,
            "reduced is read as halved at least",
        ),
        below(
            f"{dataset}: and what bagging adds to bias², over what it takes off variance",
            over_seeds(more / gain),
            0.1,
            "hardly is read as a tenth at most",
        ),
    ]


def _forest(table) -> list[Verdict]:
    tree, bagging, forest = (
        whole(table, "friedman1", model) for model in ("tree", "bagging", "forest")
    )
    return [
        below(
            "friedman1: variance of a forest over that of one tree. The document says that a "
            "forest has the higher one",
            over_seeds(forest["variance"] / tree["variance"]),
            0.5,
            "lower is read as halved at least",
        ),
        below(
            "friedman1: what features drawn at every node add to the variance of bagging",
            over_seeds(forest["variance"] - bagging["variance"]),
        ),
        above(
            "and to its bias²",
            over_seeds(forest["bias2"] - bagging["bias2"]),
        ),
    ]


def _same_rule(table) -> Verdict:
    tree, rno = (whole(table, "sine", model)["error"] for model in ("tree", "rno"))
    return exactly(
        "sine: expected error of whole rno forests less that of one tree, largest of the seeds",
        0.0,
        (rno - tree).abs().max(),
        "the same rule: rounding only",
        1e-9,
        f"{len(rno)} seeds",
    )

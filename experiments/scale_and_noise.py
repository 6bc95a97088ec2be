"""What does not disturb a forest: the scale of the features, and noise in the labels."""

import numpy as np
import pandas as pd

from experiments import Verdict, above, below, exactly, frame
from experiments._paper import banded
from experiments._statistics import over_repeats
from forestlab.compare.statistics import overlap_of
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, MAIN, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "004"
SAYS = """
Forests are insensitive to scale: data need no normalising. And bagging is there against
overfitting, which is to fit the noise of the data: averaged over bags, the noise averages out.

For the first, every column is multiplied by a power of two of its own, from a millionth to a
million, which changes no digit of any value. All answers stay the same, and not just nearly: a tree
only asks which of two values is larger. (Other factors would round cuts midway between two values,
and a row that lies between the two might then change sides.)

For the second, a share of the training labels is replaced by other classes; test labels stay right.
A whole tree repeats every wrong label that it was given. Averaging takes away most of what that
costs, but not all of it, as the document's words have it: with 40 % wrong labels a forest loses
much.
"""

MODELS = {"tree": COLOURS[6], "bagging": COLOURS[0], "forest": COLOURS[1]}
SHOWN = "boston"  # the answers in the picture
TOLD = (0.2, 0.4)  # noise of the verdicts
OVERLAPS = {"twonorm": 0.0, "digits": overlap_of(0.5)}  # of the repeats; twonorm is made anew


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """Parts: pairs of runs before and after rescaling; the answers of one pair; noisy runs."""
    scaled = [run for run in runs if run.params["dataset.rescale"]]
    pairs = [(_original(run, runs), run) for run in scaled]
    noisy = [run for run in runs if run.params["model.name"] in MODELS and not _is_light(run)]
    columns = ("dataset.name", "model.name", "seed", "dataset.label_noise")
    noise = frame(noisy, *columns, "accuracy/train", "accuracy/test").set_axis(
        ["dataset", "model", "seed", "label_noise", "train", "test"], axis=1
    )
    return pd.concat(
        [
            pd.DataFrame([_compared(*pair) for pair in pairs]),
            _answers(*next(pair for pair in pairs if pair[0].params["dataset.name"] == SHOWN)),
            noise.assign(part="noise"),
        ],
        ignore_index=True,
    )


def _is_light(run) -> bool:
    return run.params["study.name"] == "light"


def _original(scaled, runs):
    """The run that differs from another by its scales alone."""
    keys = ("dataset.name", "seed")
    return next(
        run
        for run in runs
        if _is_light(run)
        and not run.params["dataset.rescale"]
        and all(run.params[key] == scaled.params[key] for key in keys)
    )


def _compared(original, scaled) -> dict:
    """How many answers differ on test and out of bag, and by how much."""
    before, after = (
        pd.concat([run.table("predictions.parquet"), run.table("oob/predictions.parquet")])
        for run in (original, scaled)
    )
    assert (before["row"] == after["row"]).all()
    number = "p_true" if "p_true" in before else "predicted"
    return {
        "part": "scale",
        "dataset": original.params["dataset.name"],
        "seed": original.params["seed"],
        "answers": len(before),
        "differ": int((before["predicted"] != after["predicted"]).sum()),
        "largest_difference": (before[number] - after[number]).abs().max(),
    }


def _answers(original, scaled) -> pd.DataFrame:
    """The answers on test, before and after."""
    before, after = (run.table("predictions.parquet") for run in (original, scaled))
    pair = {"before": before["predicted"], "after": after["predicted"]}
    return pd.DataFrame({"part": "answers", "dataset": SHOWN, "row": before["row"]} | pair)


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(model, colour, marker="o") for model, colour in MODELS.items()]
    title = "Scales of features do not matter to a forest, and most of the label noise averages out"
    right = inches_beside(entries)
    figure, axes = panels(title, [3.0, 3.3, 3.3], 3.2, left=0.7, right=right, gap=0.75)
    _draw_answers(axes[0], table[table["part"] == "answers"])
    noise = table[table["part"] == "noise"]
    for ax, dataset in zip(axes[1:], ("twonorm", "digits"), strict=True):
        _draw_noise(ax, noise[noise["dataset"] == dataset], dataset)
    legend_beside(axes[-1], entries)
    return figure


def _draw_answers(ax, answers) -> None:
    low, high = answers[["before", "after"]].to_numpy().min(), answers["before"].max()
    ax.axline((low, low), slope=1.0, color=LINE, linewidth=1.0, linestyle=DASHES)
    ax.plot(answers["before"], answers["after"], "o", color=MAIN, markersize=4.0, alpha=0.5,
            markeredgewidth=0)  # fmt: skip
    n_differ = int((answers["before"] != answers["after"]).sum())
    note = f"{SHOWN}, test rows: {n_differ} of {len(answers)} answers differ"
    dress(ax, "answer of the forest, original columns", "answer, rescaled columns", note)
    margin = 0.05 * (high - low)
    for limit in (ax.set_xlim, ax.set_ylim):
        limit(low - margin, high + margin)
    number_scale(ax, "x")
    number_scale(ax, "y")


def _draw_noise(ax, noise, dataset: str) -> None:
    for model, colour in MODELS.items():
        banded(ax, noise[noise["model"] == model], "label_noise", "test", colour, linewidth=1.6)
    dress(ax, "share of wrong training labels", "accuracy on test, right labels",
          f"{dataset}; bands: ± 1 sd of {noise['seed'].nunique()} seeds")  # fmt: skip
    ax.set_ylim(0.4, 1.0)
    levels = np.unique(noise["label_noise"])
    scale(ax, "x", levels, [f"{level:g}" for level in levels])
    number_scale(ax, "y")


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    pairs = table[table["part"] == "scale"]
    noise = table[table["part"] == "noise"]
    tree = noise[(noise["model"] == "tree") & (noise["label_noise"] == TOLD[1])]
    n_pairs = f"{len(pairs)} pairs of runs"
    return [
        exactly(
            f"answers on test and out of bag that differ after rescaling, of "
            f"{pairs['answers'].sum():,.0f} on {pairs['dataset'].nunique()} data sets",
            0,
            pairs["differ"].sum(),
            "a power of two changes no digit, so nothing may differ",
            repeats=n_pairs,
        ),
        exactly(
            "largest difference between their probabilities, or numbers",
            0,
            pairs["largest_difference"].max(),
            "likewise",
            repeats=n_pairs,
        ),
        exactly(
            f"a whole tree fits noise: its least accuracy on training labels, {TOLD[1]:.0%} of "
            "them wrong",
            1,
            tree["train"].min(),
            "no two rows are the same, so every one gets its own leaf if need be",
            repeats=f"{len(tree)} runs",
        ),
        *(
            _remaining(noise, dataset, model)
            for dataset in ("twonorm", "digits")
            for model in ("bagging", "forest")
        ),
        above(
            f"twonorm, {TOLD[1]:.0%} wrong labels: accuracy that a forest loses. The document says "
            "that noise averages out; not all of it",
            over_repeats(losses(noise, "twonorm", "forest", TOLD[1]), OVERLAPS["twonorm"]),
        ),
    ]


def losses(noise: pd.DataFrame, dataset: str, model: str, level: float) -> pd.Series:
    """By seed, the accuracy on test lost by noise."""
    part = noise[(noise["dataset"] == dataset) & (noise["model"] == model)]
    by_seed = part.pivot(index="seed", columns="label_noise", values="test")
    return by_seed[0.0] - by_seed[level]


def _remaining(noise, dataset: str, model: str) -> Verdict:
    tree, other = (losses(noise, dataset, name, TOLD[0]) for name in ("tree", model))
    return below(
        f"{dataset}, {TOLD[0]:.0%} wrong labels: accuracy that {model} loses, {other.mean():.3f}, "
        f"less half of what one tree does, {tree.mean():.3f}",
        over_repeats(other - tree / 2.0, OVERLAPS[dataset]),
        reason="0: to average out is read as to halve the loss at least",
    )

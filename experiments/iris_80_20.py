"""Iris split 80:20: expected against predicted, and how little one split says."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from experiments import exactly, within
from experiments._statistics import over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, LINE, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "001"
SAYS = """
A forest of 10 trees, grown on 80 % of the flowers, predicts the other 30. The document lists them:
28 are right, and 2 virginica are taken for versicolor. Each tree sees 3 of the 4 features and all
rows, and the trees vote. Their number is an argument called n_samples; the bootstrap, an option in
the text, is not asked for.

Document 002 does the same with scikit-learn's forest of 100 trees, on the split of seed 42, and
does not show the accuracy that it prints. It is 1, by the luck of that split: over 24 of them such
a forest is right on 28 or 29 flowers of 30, and the one of 10 trees on 28.
"""

NAMES = {"subspace": "001: 10 trees, by vote", "forest": "002: forest of 100"}
MODEL_COLOURS = {"subspace": COLOURS[5], "forest": COLOURS[6]}
SPECIES = dict(zip(("setosa", "versicolor", "virginica"), COLOURS[:3], strict=True))
RIGHT_IN_DOCUMENT, N_TEST = 28, 30
OWN_SPLIT = 42  # of document 002
PALE = 0.25  # strength of the colour of a flower that is predicted right


def table(runs):
    """A row a forest, split and test flower; forests `again` are of document 002's own split, with
    other seeds."""
    parts = []
    for run in runs:
        model, split, seed = (
            run.params[key] for key in ("model.name", "dataset.split_seed", "seed")
        )
        rows = run.table("predictions.parquet")[["row", "truth", "predicted"]]
        rows = rows.rename(columns={"truth": "expected"}).assign(split=split, seed=seed)
        if seed == 0:
            parts.append(rows.assign(model=model))
        if (model, split) == ("forest", OWN_SPLIT):
            parts.append(rows.assign(model="again"))
    columns = ["model", "split", "seed", "row", "expected", "predicted"]
    return pd.concat(parts, ignore_index=True)[columns]


def n_right(table: pd.DataFrame, model: str) -> pd.Series:
    """Flowers predicted right in each split, or by each forest of one split."""
    own = table[table["model"] == model]
    by = "seed" if model == "again" else "split"
    return (own["expected"] == own["predicted"]).groupby(own[by]).sum()


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(name, colour, 7.0) for name, colour in SPECIES.items()]
    entries += [Entry(NAMES[model], colour, 7.0) for model, colour in MODEL_COLOURS.items()]
    figure, axes = panels(
        "Iris, 80:20 in 24 ways: 30 test flowers each, "
        "in full colour the species that a wrong one is taken for",
        [2.7, 2.7, 2.6], 3.6, left=0.75, right=inches_beside(entries), gap=0.5,
    )  # fmt: skip
    for ax, model in zip(axes[:2], NAMES, strict=True):
        _draw_flowers(ax, table[table["model"] == model], NAMES[model])
    axes[1].set_ylabel("")
    _draw_counts(axes[2], table)
    legend_beside(axes[2], entries)
    return figure


def _draw_flowers(ax: Axes, own: pd.DataFrame, name: str) -> None:
    """A line a split: right ones pale in the colour of their species, wrong ones in full in that of
    the species predicted."""
    splits = sorted(own["split"].unique())
    pixels = np.empty((len(splits), N_TEST, 3))
    for line, split in enumerate(splits):
        flowers = own[own["split"] == split].sort_values(["expected", "row"])
        pairs = zip(flowers["expected"], flowers["predicted"], strict=True)
        pixels[line] = [_colour(*pair) for pair in pairs]
    ax.imshow(pixels, aspect="auto", interpolation="nearest")
    dress(ax, "test flowers, by species", "split (its seed)", name)
    shown = np.arange(0, len(splits), 3)
    scale(ax, "y", shown, [str(splits[k]) for k in shown], grid=False)
    scale(ax, "x", np.empty(0), [])


def _colour(expected: str, predicted: str) -> np.ndarray:
    strength = PALE if expected == predicted else 1.0
    return 1.0 - strength * (1.0 - np.array(to_rgb(SPECIES[predicted])))


def _draw_counts(ax: Axes, table: pd.DataFrame) -> None:
    width = 0.4
    counts = {model: n_right(table, model).value_counts() for model in NAMES}
    for shift, (model, count) in zip((-width, 0.0), counts.items(), strict=True):
        ax.bar(count.index + shift, count, width, align="edge", color=MODEL_COLOURS[model])
    ax.axvline(RIGHT_IN_DOCUMENT, color=LINE, linewidth=1.0, linestyle="--", zorder=0.6)
    dress(ax, "flowers predicted right, of 30", "splits", "dashed: document 001's own split")
    ax.set_xlim(min(min(count.index) for count in counts.values()) - 0.6, N_TEST + 0.6)
    number_scale(ax, "x", integer=True, grid=False)
    number_scale(ax, "y", integer=True)


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    few, many = (n_right(table, model) for model in NAMES)
    wrong = table[table["expected"] != table["predicted"]]
    spread = min(few.std(), many.std())
    of_these = "splits of these 150 flowers"
    return [
        within(
            "document 001: flowers right on its split of 30, beside the mean over splits",
            over_seeds(few, of_these),
            1.0,
            f"one flower, the least by which splits differ; one and the next do by {few.std():.2g}",
            RIGHT_IN_DOCUMENT,
        ),
        exactly(
            "setosa taken for another species, or another for setosa: none in the document's list",
            0,
            int((wrong[["expected", "predicted"]] == "setosa").any(axis=1).sum()),
            "setosa lies apart from the others",
            repeats=f"{len(few)} splits, 2 forests",
        ),
        within(
            "document 002: flowers right on its split, of 30, mean over forests; expected: "
            "scikit-learn's forest",
            over_seeds(n_right(table, "again")),
            0.5,
            "half a flower: forests draw at random, and a flower near a border may fall on either "
            "side",
            N_TEST,
        ),
        within(
            "one split says little: flowers that document 002's forest is right on, less those of "
            "document 001's, are fewer than the spread from split to split",
            over_seeds(many - few, of_these),
            spread,
            "one standard deviation over splits",
        ),
    ]

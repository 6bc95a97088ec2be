"""Iris split 80:20: expected against predicted, and how little one split says."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from experiments import Verdict
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
does not show the accuracy that it prints. It is 1, by the luck of that split: over 40 of them such
a forest is right on 28 or 29 flowers of 30, and the one of 10 trees on 28.
"""

NAMES = {"subspace": "001: 10 trees, by vote", "forest": "002: forest of 100"}
MODEL_COLOURS = {"subspace": COLOURS[5], "forest": COLOURS[6]}
SPECIES = dict(zip(("setosa", "versicolor", "virginica"), COLOURS[:3], strict=True))
RIGHT_IN_DOCUMENT, N_TEST = 28, 30
OWN_SPLIT = 42  # of document 002
PALE = 0.25  # strength of the colour of a flower that is predicted right


def table(runs):
    """A row a forest, split and test flower."""
    parts = []
    for run in runs:
        rows = run.table("predictions.parquet")[["row", "truth", "predicted"]]
        which = {"model": run.params["model.name"], "split": run.params["dataset.split_seed"]}
        parts.append(rows.rename(columns={"truth": "expected"}).assign(**which))
    columns = ["model", "split", "row", "expected", "predicted"]
    return pd.concat(parts, ignore_index=True)[columns]


def n_right(table: pd.DataFrame, model: str) -> pd.Series:
    """Flowers predicted right in each split."""
    own = table[table["model"] == model]
    return (own["expected"] == own["predicted"]).groupby(own["split"]).sum()


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(name, colour, 7.0) for name, colour in SPECIES.items()]
    entries += [Entry(NAMES[model], colour, 7.0) for model, colour in MODEL_COLOURS.items()]
    figure, axes = panels(
        "Iris, 80:20 in 40 ways: 30 test flowers each, "
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
    own = n_right(table, "forest")[OWN_SPLIT]
    return [
        Verdict(
            "document 001: flowers right on its split of 30; found: the mean over 40 splits",
            RIGHT_IN_DOCUMENT,
            few.mean(),
            2 * few.std(),
            f"its split is not known: two standard deviations over splits, of {few.std():.2g}",
        ),
        Verdict(
            "setosa taken for another species, or another for setosa: none in the document's list",
            0,
            int((wrong[["expected", "predicted"]] == "setosa").any(axis=1).sum()),
            0,
            "none: setosa lies apart from the others",
        ),
        Verdict(
            "document 002: flowers right on its split, of 30; expected: scikit-learn's forest",
            N_TEST,
            own,
            1,
            "forests draw at random: one flower near a border may fall on either side",
        ),
        Verdict(
            "one split says little: its spread, in flowers, is above the difference of the forests",
            abs(many.mean() - few.mean()),
            min(few.std(), many.std()),
            0,
            f"none: that difference has a standard error of {(many - few).sem():.2g} over splits",
            "above",
        ),
    ]

"""Impurities and gains worked out by hand, and the curves behind them."""

from itertools import product
from math import log
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import above, exactly
from experiments._statistics import certain
from forestlab.core.criteria import CRITERIA, Criterion
from forestlab.core.sides import sum_up
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "001"
SAYS = """
Two splits of eight fruits are worked out: three apples against the rest, called subpar, and five
apples against the rest, called optimal. Their weighted Gini is 0.400000 and 0.166667, their gain of
information 0.240931 and 0.661563; a better split lowers the one and raises the other.

The document writes its entropy with log₂ and computes it with the natural logarithm: the gains are
in nats, and in the bits of its formula they are 0.347590 and 0.954434. It says that Gini goes from
0 to 1: with C classes it ends at 1 − 1/C. It asks a basket of five fruits "is it red?", and the
batches it shows are those of another question, whether the diameter is at most 1.

Document 002 has the same formulas, in bits, without numbers. It picks the split of the highest
gain, which is that of the lowest entropy after it.
"""

CLASSIFICATION = ("gini", "entropy", "entropy2", "misclassification")
NAMES = {"entropy": "entropy in nats", "entropy2": "entropy in bits"}
COLOUR = dict(zip(CLASSIFICATION, COLOURS, strict=False))
BASKET = pd.DataFrame(
    [
        ("green", 3, "apple"),
        ("red", 3, "apple"),
        ("green", 1, "grape"),
        ("purple", 1, "grape"),
        ("yellow", 3, "lemon"),
    ],
    columns=["colour", "diameter", "fruit"],
)
BATCHES = (0, 0, 1, 1, 0)  # of the basket, as the document shows them


class Split(NamedTuple):
    """A split, and what the document prints of it."""

    name: str
    left: str
    right: str
    weighted_gini: float = np.nan
    gain_in_nats: float = np.nan


SPLITS = [
    Split("subpar", "3 apple", "2 apple, 2 orange, 1 banana", 0.400000, 0.240931),
    Split("optimal", "5 apple", "2 orange, 1 banana", 0.166667, 0.661563),
    Split("basket, diameter ≤ 1", "2 grape", "2 apple, 1 lemon"),
    Split("basket, red", "1 apple", "1 apple, 2 grape, 1 lemon"),
]


# ---- impurities --------------------------------------------------------------------------------


def impurity(criterion: str, counts) -> float:
    """Of a node with so many rows of each class, by the functions that trees grow by."""
    row, side = CRITERIA[criterion], np.zeros(len(counts))
    assert isinstance(row, Criterion)
    total = sum_up(row.add, np.array(counts, np.float64), side)
    return row.scale * row.impurity(row.score, side, total, side)


def counts_of(text: str, fruits: list[str]) -> np.ndarray:
    """ "2 apple, 1 lemon" as numbers of each fruit."""
    found = {name: int(n) for n, name in (part.split() for part in text.split(", "))}
    return np.array([found.get(name, 0) for name in fruits])


def table(runs):
    """A row a split and criterion: impurity before, weighted impurity after, gain; and what the
    document prints of them. Then a row a question of the basket: whether it gives the batches that
    the document shows; and impurities of single nodes."""
    return pd.concat([_splits(), _asked(), _single()], ignore_index=True)


def _splits() -> pd.DataFrame:
    rows = []
    for split, criterion in product(SPLITS, CLASSIFICATION):
        fruits = sorted({part.split()[1] for part in f"{split.left}, {split.right}".split(", ")})
        parts = [counts_of(side, fruits) for side in (split.left, split.right)]
        whole = parts[0] + parts[1]
        before = impurity(criterion, whole)
        after = sum(part.sum() / whole.sum() * impurity(criterion, part) for part in parts)
        rows.append(
            {
                "part": "split",
                "split": split.name,
                "left": split.left,
                "right": split.right,
                "criterion": criterion,
                "before": before,
                "after": after,
                "gain": before - after,
                "after_told": split.weighted_gini if criterion == "gini" else np.nan,
                "gain_told": split.gain_in_nats if criterion == "entropy" else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _asked() -> pd.DataFrame:
    names, parted = zip(*_questions(), strict=True)
    as_shown = [tuple(yes.astype(int)) == BATCHES for yes in parted]
    return pd.DataFrame({"part": "question", "split": names, "as_shown": as_shown})


def _questions():
    """The questions that part the basket: each colour, each diameter but the greatest."""
    for colour in BASKET["colour"].unique():
        yield colour, (BASKET["colour"] == colour).to_numpy()
    for diameter in np.unique(BASKET["diameter"])[:-1]:
        yield f"diameter ≤ {diameter}", (BASKET["diameter"] <= diameter).to_numpy()


def _single() -> pd.DataFrame:
    of_three = max(impurity("gini", counts) for counts in _shares_of_three(12))
    rows = [
        ("grapes", "gini", impurity("gini", [2])),
        ("the most impure of three classes", "gini", of_three),
        ("two equal classes", "entropy2", impurity("entropy2", [1, 1])),
    ]
    found = pd.DataFrame(rows, columns=["split", "criterion", "before"])
    return found.assign(part="impurity")


def _shares_of_three(n: int) -> list[list[float]]:
    """All ways to share n rows among three classes."""
    return [[a, b, n - a - b] for a in range(n + 1) for b in range(n + 1 - a)]


def found(table: pd.DataFrame, split: str, criterion: str) -> pd.Series:
    return table[(table["split"] == split) & (table["criterion"] == criterion)].iloc[0]


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(NAMES.get(name, name), COLOUR[name]) for name in CLASSIFICATION]
    figure, (left, right) = panels(
        "Impurity of two classes, and the splits that document 001 works out",
        [4.4, 4.0], 3.2, left=0.65, right=inches_beside(entries), gap=1.85,
    )  # fmt: skip
    _draw_curves(left)
    _draw_worked(right, table)
    legend_beside(right, entries)
    return figure


def _draw_curves(ax: Axes) -> None:
    shares = np.linspace(0.0, 1.0, 101)
    for name in CLASSIFICATION:
        values = [impurity(name, [p, 1.0 - p]) for p in shares]
        ax.plot(shares, values, color=COLOUR[name], linewidth=1.6)
    dress(ax, "share p of the first class", "impurity", "two classes")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.05)
    number_scale(ax, "x")
    number_scale(ax, "y")


def _draw_worked(ax: Axes, table: pd.DataFrame) -> None:
    """What the document prints as rings, with forestlab's numbers as dots; a gain in bits too."""
    worked = [
        (split, *what)
        for what in (("weighted Gini", "gini", "after"), ("information gain", "entropy", "gain"))
        for split in ("subpar", "optimal")
    ]
    for place, (split, _, criterion, column) in enumerate(worked):
        row = found(table, split, criterion)
        ax.plot(row[column], place, "o", color=COLOUR[criterion], markersize=6)
        ax.plot(row[f"{column}_told"], place, "o", markersize=12, markerfacecolor="none",
                markeredgecolor="black")  # fmt: skip
        if criterion == "entropy":
            bits = found(table, split, "entropy2")[column]
            ax.plot(bits, place, "o", color=COLOUR["entropy2"], markersize=6)
            ax.plot([row[column], bits], [place] * 2, color=COLOUR["entropy2"], linestyle=DASHES,
                    linewidth=1.0, zorder=1)  # fmt: skip
    dress(
        ax,
        "impurity after the split, or gain",
        "",
        "dots: forestlab; rings: the document; eight fruits",
    )
    ax.set_xlim(0.0, 1.05)
    ax.set_ylim(len(worked) - 0.5, -0.5)
    scale(ax, "y", np.arange(len(worked)), [f"{split}, {what}" for split, what, *_ in worked])
    number_scale(ax, "x")


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    printed = "the document prints six decimals"
    exact = "sums of floats are good to 15 digits"
    verdicts = []
    for split in ("subpar", "optimal"):
        gini, nats = found(table, split, "gini"), found(table, split, "entropy")
        bits = found(table, split, "entropy2")
        verdicts += [
            exactly(f"weighted Gini of the {split} split", gini["after_told"], gini["after"],
                    printed, 5e-7),
            exactly(f"gain of information of the {split} split, in nats", nats["gain_told"],
                    nats["gain"], printed, 5e-7),
            exactly(f"the document's formula says bits: that gain over ln 2, {split}",
                    nats["gain_told"] / log(2), bits["gain"], printed, 5e-7 / log(2)),
        ]  # fmt: skip
    gains = table[table["part"] == "split"].pivot(index="split", columns="criterion", values="gain")
    questions = table[table["part"] == "question"]
    single = table[table["part"] == "impurity"].set_index("split")["before"]
    return [
        *verdicts,
        above(
            "least advantage in gain of the optimal split over the subpar one, by all criteria",
            certain((gains.loc["optimal"] - gains.loc["subpar"]).min()),
            reason="0: the better split has the higher gain",
        ),
        exactly("Gini of the batch of grapes", 0.0, single["grapes"], "one class is pure"),
        exactly(
            "greatest Gini of three classes: 1 − 1/3, where the document says 1",
            2 / 3,
            single["the most impure of three classes"],
            exact,
            1e-12,
        ),
        exactly(
            'the question that gives the batches shown, where the document asks "red?"',
            "diameter ≤ 1",
            ", ".join(questions.loc[questions["as_shown"].astype(bool), "split"]),
            "a question gives these batches, or does not",
        ),
        exactly(
            "document 002: the entropy of two equal classes, −½ log₂ ½ − ½ log₂ ½",
            1.0,
            single["two equal classes"],
            exact,
            1e-12,
        ),
    ]

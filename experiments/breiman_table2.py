"""Errors of forests on eight sets, beside those in Breiman's paper of 2001."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import Verdict, frame
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import MAIN, OTHER, dress, panels
from forestlab.figures.words import number_scale, scale

DOCUMENT = "Breiman 2001"
SAYS = """
"Random Forests", the source that document 000 names for the random forest. Its Table 2 gives the
error of forests of 100 trees, drawn with bagging and with random features at every node: one
feature, or the whole part of log₂ M + 1 of M. Each repeat keeps the one of the two forests whose
out-of-bag error is lower ("selection"); the error is the mean over 100 random tenths held out, or
over 100 draws of a made set. The paper also says that it hardly matters how many features a node
tries: with one and with the larger number errors differ by less than one point on average.

Here are eight of its sets, with fewer repeats: 30 for real ones and 15 for made ones. The paper
gives no standard errors; they are estimated from the spread of forestlab's repeats. On ringnorm the
number of features does matter: there one is better than five by three points.
"""

NAMES = {"pima": "diabetes (Pima)"}
ROUNDING = 0.05  # the paper has one decimal
JOINT = 3.0  # standard errors


def table(runs):
    """A row a set; errors in percent, each the mean over repeats with its standard error (se).

    `single_input` and `several` are of the two forests, `selection` of the one that the out-of-bag
    error chooses; `chose_single` is the share of repeats in which that is the first. `paper_se` is
    an estimate, and `distance` is that of the selections, in standard errors of both together.
    """
    every = frame(
        runs,
        "dataset.name",
        "dataset.split_seed",
        "model.max_features",
        "accuracy/test",
        "accuracy/oob",
    )
    paper = _paper()
    rows = [_row(name, of_set, paper) for name, of_set in every.groupby("dataset.name", sort=False)]
    return pd.DataFrame(rows)


def _paper() -> dict:
    return json.loads((Path(__file__).parent / "reference" / "breiman_2001.json").read_text())


def _row(name: str, of_set: pd.DataFrame, paper: dict) -> dict:
    test, oob = (errors(of_set, split) for split in ("test", "oob"))
    selected, chosen = selection(test, oob)
    spread, n_repeats = selected.std(ddof=1), len(selected)
    own_se, paper_se = spread / np.sqrt(n_repeats), spread / np.sqrt(paper["repeats"])
    gap = selected.mean() - paper["selection"][name]
    return {
        "set": NAMES.get(name, name),
        "repeats": n_repeats,
        "features": of_set["model.max_features"].max(),
        "selection": selected.mean(),
        "selection_se": own_se,
        "paper": paper["selection"][name],
        "paper_se": paper_se,
        "distance": gap / np.hypot(own_se, paper_se),
        "single_input": test[:, 0].mean(),
        "single_input_se": _se(test[:, 0]),
        "paper_single_input": paper["single_input"].get(name, np.nan),
        "several": test[:, 1].mean(),
        "several_se": _se(test[:, 1]),
        "difference_se": _se(test[:, 1] - test[:, 0]),
        "chose_single": 1.0 - chosen.mean(),
    }


def errors(of_set: pd.DataFrame, split: str) -> np.ndarray:
    """(n_repeats, 2) errors in percent, with one feature and with several."""
    accuracy = of_set.pivot(
        index="dataset.split_seed", columns="model.max_features", values=f"accuracy/{split}"
    )
    return 100.0 * (1.0 - accuracy.to_numpy())


def selection(test: np.ndarray, oob: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n_repeats,) errors of the forest with the lower out-of-bag error, and which one that is.

    If both have the same, it is the one with one feature.
    """
    chosen = oob.argmin(axis=1)
    return test[np.arange(len(test)), chosen], chosen


def _se(values: np.ndarray) -> float:
    return values.std(ddof=1) / np.sqrt(len(values))


# ---- picture and verdicts ----------------------------------------------------------------------


def draw(table):
    entries = [
        Entry("forestlab, 30 or 15 repeats", MAIN, marker="o"),
        Entry("Breiman 2001, 100 repeats", OTHER, marker="D"),
    ]
    figure, (ax,) = panels(
        "Forests of 100 trees: error beside that in Breiman's Table 2",
        [5.4],
        0.42 * len(table),
        left=1.35,
        right=inches_beside(entries),
    )
    legend_beside(ax, entries)
    places = np.arange(len(table))
    for name, shift, colour, marker in (
        ("selection", -0.13, MAIN, "o"),
        ("paper", 0.13, OTHER, "D"),
    ):
        middle, reach = table[name], 2.0 * table[f"{name}_se"]
        ax.hlines(places + shift, middle - reach, middle + reach, colors=colour, linewidths=1.8)
        ax.plot(middle, places + shift, marker, color=colour, markersize=5.5)
    note = "lines: ± 2 standard errors, those of the paper estimated"
    dress(ax, "error on rows held out (%)", "", note)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlim(0.0, ax.get_xlim()[1])
    scale(ax, "y", places, list(table["set"]), grid=False)
    number_scale(ax, "x")
    return figure


def judge(table):
    of_sets = [
        Verdict(
            f"error on {row.set} (%), by selection",
            row.paper,
            row.selection,
            JOINT * np.hypot(row.selection_se, row.paper_se) + ROUNDING,
            f"3 standard errors of the difference (of the mean here {row.selection_se:.2g}, of the "
            f"paper's about {row.paper_se:.2g}), and the paper's rounding",
        )
        for row in table.itertuples()
    ]
    return [*of_sets, _single_input(table), _insensitive(table)]


def _single_input(table) -> Verdict:
    known = table.dropna(subset="paper_single_input")
    paper_se = known["single_input_se"] * np.sqrt(known["repeats"] / 100.0)
    gap = (known["single_input"] - known["paper_single_input"]).abs() - ROUNDING
    return Verdict(
        "largest distance from the paper with one feature, on the real sets (standard errors)",
        0.0,
        (gap / np.hypot(known["single_input_se"], paper_se)).max(),
        JOINT,
        "as above",
    )


def _insensitive(table) -> Verdict:
    difference = (table["several"] - table["single_input"]).abs().mean()
    error = np.sqrt((table["difference_se"] ** 2).sum()) / len(table)
    return Verdict(
        "the two numbers of features differ little: mean absolute difference of errors (points)",
        1.0,
        difference,
        2.0 * error,
        "2 standard errors of this mean",
        "below",
    )

"""Errors of forests on eight sets, beside those in Breiman's paper of 2001."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from experiments import Verdict, above, below, frame, within
from experiments._statistics import Measured, contrast
from experiments._variants import is_made
from forestlab.compare.statistics import Sample
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

Here are eight of its sets, with fewer repeats: 30 for real ones and 12 for made ones. The paper
gives no standard errors; they are estimated from the spread of forestlab's repeats. A single real
set is so small that neither tells its error within a tenth, so verdicts are about means over sets,
and about made sets where a point matters.
On ringnorm the number of features does matter: there one is better than five by three points.
"""

NAMES = {"pima": "diabetes (Pima)"}
PAPER_REPEATS = 100


def table(runs):
    """A row a set; errors in percent, each the mean over repeats with its standard error (se).

    `single_input` and `several` are of the two forests, `selection` of the one that the out-of-bag
    error chooses; `chose_single` is the share of repeats in which that is the first. `paper_se` is
    an estimate from the spread here.
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
    own_se, paper_se = spread / np.sqrt(n_repeats), spread / np.sqrt(PAPER_REPEATS)
    return {
        "set": NAMES.get(name, name),
        "repeats": n_repeats,
        "features": of_set["model.max_features"].max(),
        "selection": selected.mean(),
        "selection_se": own_se,
        "paper": paper["selection"][name],
        "paper_se": paper_se,
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
        Entry("forestlab, 30 or 12 repeats", MAIN, marker="o"),
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
    made = table[[is_made(name) for name in table["set"]]]
    rest = made[made["set"] != "ringnorm"]
    a_point = "a point, which the paper has as the most that it matters on average"
    return [
        _as_paper(table, f"{len(table)} sets"),
        _as_paper(made, f"{len(made)} made sets"),
        above(
            "on ringnorm the number of features matters: error with several less that with one "
            "(points)",
            _differences(table[table["set"] == "ringnorm"]),
            1.0,
            a_point,
        ),
        below(
            f"on the other {len(rest)} made sets it hardly does: mean absolute difference (points)",
            _differences(rest),
            1.0,
            f"{a_point}; absolute values are on average larger than the truth, so this is strict",
        ),
    ]


def _as_paper(table, sets: str) -> Verdict:
    """The mean over sets: on a single real one neither the paper nor we can tell a tenth."""
    ours = [_sample(row.selection, row.selection_se, row.repeats) for row in table.itertuples()]
    theirs = [_sample(row.paper, row.paper_se, PAPER_REPEATS) for row in table.itertuples()]
    weights = np.repeat([1.0, -1.0], len(table)) / len(table)
    return within(
        f"error by selection less that in the paper, on average over {sets} (points)",
        contrast(weights, [*ours, *theirs], f"{_told(table)}, and the paper's {PAPER_REPEATS}"),
        0.1 * table["paper"].mean(),
        "a tenth of the paper's mean error",
    )


def _differences(table) -> Measured:
    """The mean over sets of how far errors with one and with several features are apart."""
    found = table["several"] - table["single_input"]
    samples = [
        _sample(mean, row.difference_se, row.repeats)
        for mean, row in zip(found, table.itertuples(), strict=True)
    ]
    return contrast(np.sign(found) / len(found), samples, _told(table))


def _sample(mean: float, error: float, n: int) -> Sample:
    return Sample(n, mean, error * np.sqrt(n))


def _told(table) -> str:
    numbers = sorted(set(table["repeats"]))
    return f"{' or '.join(f'{n:.0f}' for n in numbers)} repeats"

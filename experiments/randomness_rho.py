"""Randomness: how many split parameters a node tries, from one to all."""

from itertools import pairwise

import numpy as np
import pandas as pd

from experiments import LoggedRun, Verdict, above, every, exactly
from experiments._paper import banded, log_scale, paper
from experiments._regions import draw_plane, plane, plane_entries, rows_of
from experiments._statistics import over_seeds, over_splits
from forestlab.compare.statistics import overlap_of
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale, scale

DOCUMENT = "003"
SAYS = """
Each node finds its split among ρ random parameters. With a large ρ the trees are alike in structure
and answers, and the forest's posteriors are confident; with a small ρ the trees differ, and the
posteriors are less confident.

Both are found. The document writes that the best split is the argmin of the information gain: it is
the argmax. And it leaves open what confidence is worth: tried with all parameters and all rows, the
trees differ only by the ties that chance breaks; they are the most certain, and far less often
right. Drawn without replacement, from all pairs of a feature and a cut, the scale ends where the
document has it: with as many parameters as there are, and ties that are not left to chance, all
trees of a forest without bagging are one tree. Nor is the least ρ the best where most features say
little, as on a set with one strong feature: its trees are too weak.
"""
ALL = 1000.0  # where "all" is drawn: digits have about 900 cuts, so that 1000 pairs are all of them
PLACES = (1, 5, 20, 100)
FEW = 5
OVERLAP = overlap_of(0.25)
PANELS = {"correlation": "correlation of trees", "differ": "two trees differ, test",
          "confidence": "mean confidence, test", "accuracy": "accuracy, test"}  # fmt: skip
WAYS = {  # by how parameters are drawn, and whether rows are
    ("features", False): ("all rows", COLOURS[0]),
    ("features", True): ("bootstraps", COLOURS[1]),
    ("pairs", False): ("all rows, no parameter twice", COLOURS[2]),
}


def table(runs):
    """A row a run on digits or dominant; `attrs` has the planes of the spirals, by rho."""
    rows, planes = [], {}
    for run in runs:
        dataset, rho = run.params["dataset.name"], run.params["model.rho"]
        if dataset == "spirals4":
            planes[rho] = plane(run)[0]
            continue
        draws = run.params.get("model.rho_draws", "features")
        rows.append(
            {
                "dataset": dataset,
                "draws": draws,
                "rho": "all" if rho == ALL else rho,
                "bootstrap": run.params["model.bootstrap"],
                "seed": run.params["seed"],
                "strength": run.metrics.get("strength/oob", np.nan),
                "correlation": run.metrics.get("correlation/oob", np.nan),
                "differ": differ(run) if draws == "pairs" else np.nan,
                "confidence": confidence_of(run) if measured(run) else np.nan,
                "accuracy": run.metrics["accuracy/test"],
            }
        )
    found = pd.DataFrame(rows)
    found.attrs["planes"] = planes
    return found


def measured(run: LoggedRun) -> bool:
    return run.params["study.name"] == "full"


def differ(run: LoggedRun) -> float:
    """The share of test rows of which two of a logged model's trees say different classes."""
    X, _ = rows_of(run, "test")
    model = run.model()
    asked = pd.DataFrame(X, columns=model.feature_names_in_)
    return disagreement(model.predict_trees(asked).argmax(axis=2), len(model.classes_))


def disagreement(labels: np.ndarray, n_classes: int) -> float:
    """Of (n_trees, n_rows) labels: how often two different trees do not agree on a row."""
    n_trees = len(labels)
    votes = np.stack([(labels == k).sum(axis=0) for k in range(n_classes)])
    agreeing = (votes * (votes - 1)).sum(axis=0) / (n_trees * (n_trees - 1))
    return float(1.0 - agreeing.mean())


def confidence_of(run: LoggedRun) -> float:
    by_bin = run.artifact("calibration/test.json")["average"]
    return mean_confidence(by_bin["rows"][-1], by_bin["confidence"][-1])


def mean_confidence(rows: list, confidence: list) -> float:
    """Over all rows, from that of each bin; None in bins without rows."""
    sums = [n * mean for n, mean in zip(rows, confidence, strict=True) if n]
    return sum(sums) / sum(rows)


def draw(table):
    planes = table.attrs["planes"]
    regions = plane_entries(4)
    lines = [Entry(name, colour, marker="o") for name, colour in WAYS.values()]
    lines.append(Entry("bands: ± 1 sd of seeds", "none"))
    figure, (above, below) = paper(
        "From one random split parameter a node to all: four spirals (above) and digits (below)",
        [[2.7] * 3, [1.85] * 4],
        [2.7, 2.0],
        right=max(inches_beside(regions), inches_beside(lines)),
    )
    for ax, (rho, found) in zip(above, planes.items(), strict=True):
        sure = found.grid.max(axis=2).mean()
        draw_plane(ax, found, f"ρ = {rho}, all rows: mean confidence {sure:.2f}")
    placed = table[table["dataset"] == "digits"]
    placed = placed.assign(place=placed["rho"].replace("all", ALL).astype(float))
    for ax, (column, label) in zip(below, PANELS.items(), strict=True):
        for (draws, bootstrap), (_, colour) in WAYS.items():
            part = placed[(placed["bootstrap"] == bootstrap) & (placed["draws"] == draws)]
            if part[column].notna().any():
                banded(ax, part, "place", column, colour)
        note = "of bootstraps only: out-of-bag votes" if column == "correlation" else ""
        dress(ax, "ρ, parameters tried a node", label, note)
        log_scale(ax, "x", ())
        scale(ax, "x", np.array([*PLACES, ALL]), [*map(str, PLACES), "all"])
        number_scale(ax, "y")
    legend_beside(above[-1], regions)
    legend_beside(below[-1], lines)
    return figure


def judge(table):
    of_pairs = table["draws"] == "pairs"
    differ = table[of_pairs].pivot(index="seed", columns="rho", values="differ")
    digits, dominant = (
        table[(table["dataset"] == name) & ~of_pairs].pivot(
            index="seed",
            columns=["bootstrap", "rho"],
            values=["correlation", "confidence", "accuracy"],
        )
        for name in ("digits", "dominant")
    )

    def rises(what: str, column: str, bootstrap: bool) -> Verdict:
        values = digits[column][bootstrap]
        ends = [values[rho].mean() for rho in (1, "all")]
        return every(
            f"{what}, {ends[0]:.2f} with one parameter and {ends[1]:.2f} with all, rises from each "
            "ρ to the next",
            [
                above(f"from {low} to {high}", over_splits(values[high] - values[low], OVERLAP))
                for low, high in pairwise([*PLACES, "all"])
            ],
        )

    of_digits, of_dominant = (found["accuracy"][False] for found in (digits, dominant))
    return [
        rises("correlation of trees on bootstraps", "correlation", True),
        rises("mean confidence on bootstraps", "confidence", True),
        rises("mean confidence on all rows", "confidence", False),
        every(
            "all rows, no parameter twice: two trees differ less often from each ρ to the next",
            [
                above(f"from {low} to {high}", over_splits(differ[low] - differ[high], OVERLAP))
                for low, high in pairwise([*PLACES, "all"])
            ],
        ),
        exactly(
            "and with all parameters never, as all trees are one: share of rows on which two "
            "differ; largest of all splits",
            0.0,
            differ["all"].max(),
            "nothing is left to chance",
            repeats=f"{len(differ)} splits",
        ),
        above(
            f"confident is not right: accuracy on digits, all rows, with ρ = {FEW} less with all",
            over_splits(of_digits[FEW] - of_digits["all"], OVERLAP),
        ),
        above(
            "trees of no choice are too weak where most features say little: accuracy on dominant, "
            f"all rows, with ρ = {FEW} less with one",
            over_seeds(of_dominant[FEW] - of_dominant[1]),
        ),
    ]

"""Randomness: how many split parameters a node tries, from one to all."""

import numpy as np
import pandas as pd

from experiments import Verdict
from experiments._paired import above_zero
from experiments._paper import banded, log_scale, paper
from experiments._regions import draw_plane, plane, plane_entries
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
trees are one and the same tree, always certain and far less often right. The best forest is between
the ends, where the trees differ and yet are not too weak.
"""
ALL = 1000.0  # where "all" is drawn: digits have about 900 cuts
PLACES = (1, 3, 10, 30, 100)
PANELS = {"correlation": "correlation of trees", "confidence": "mean confidence, test",
          "accuracy": "accuracy, test"}  # fmt: skip
WAYS = {False: ("all rows", COLOURS[0]), True: ("bootstraps", COLOURS[1])}


def table(runs):
    """A row a run on digits; `attrs` has the planes of the spirals, by rho."""
    rows, planes = [], {}
    for run in runs:
        rho = run.params["model.rho"]
        if run.params["dataset.name"] == "spirals4":
            planes[rho] = plane(run)[0]
            continue
        by_bin = run.artifact("calibration/test.json")["average"]
        rows.append(
            {
                "rho": rho,
                "bootstrap": run.params["model.bootstrap"],
                "seed": run.params["seed"],
                "strength": run.metrics.get("strength/oob", np.nan),
                "correlation": run.metrics.get("correlation/oob", np.nan),
                "confidence": mean_confidence(by_bin["rows"][-1], by_bin["confidence"][-1]),
                "accuracy": run.metrics["accuracy/test"],
            }
        )
    found = pd.DataFrame(rows)
    found.attrs["planes"] = planes
    return found


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
        [[2.7] * 3] * 2,
        [2.7, 2.2],
        right=max(inches_beside(regions), inches_beside(lines)),
    )
    for ax, (rho, found) in zip(above, planes.items(), strict=True):
        sure = found.grid.max(axis=2).mean()
        draw_plane(ax, found, f"ρ = {rho}, all rows: mean confidence {sure:.2f}")
    placed = table.assign(place=table["rho"].replace("all", ALL).astype(float))
    for ax, (column, label) in zip(below, PANELS.items(), strict=True):
        for bootstrap, (_, colour) in WAYS.items():
            part = placed[placed["bootstrap"] == bootstrap]
            if part[column].notna().any():
                banded(ax, part, "place", column, colour)
        note = "of bootstraps only: out-of-bag votes" if column == "correlation" else ""
        dress(ax, "ρ, parameters tried at each node", label, note)
        log_scale(ax, "x", ())
        scale(ax, "x", np.array([*PLACES, ALL]), [*map(str, PLACES), "all"])
        number_scale(ax, "y")
    legend_beside(above[-1], regions)
    legend_beside(below[-1], lines)
    return figure


def judge(table):
    wide = table.pivot(
        index="seed", columns=["bootstrap", "rho"], values=["correlation", "confidence", "accuracy"]
    )

    def rises(what: str, column: str, bootstrap: bool) -> Verdict:
        means = wide[column][bootstrap].mean()[[*PLACES, "all"]]
        return Verdict(
            f"{what}, from {means.iloc[0]:.2f} with one parameter to {means.iloc[-1]:.2f} with "
            "all, rises from each ρ to the next; the least of these steps",
            0.0,
            float(means.diff().min()),
            0.0,
            "none: the document has it rise",
            "above",
        )

    right = wide["accuracy"][False]
    best = right.mean().drop("all").idxmax()
    return [
        rises("correlation of trees on bootstraps", "correlation", True),
        rises("mean confidence on bootstraps", "confidence", True),
        rises("mean confidence on all rows", "confidence", False),
        above_zero(
            f"confident is not right: accuracy on all rows, with ρ = {best} less with all",
            right[best] - right["all"],
        ),
        above_zero(
            f"trees of no choice are too weak: accuracy on all rows, with ρ = {best} less with one",
            right[best] - right[1],
        ),
    ]

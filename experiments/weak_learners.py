"""Weak learners: what shapes a node's question has, on spirals and rings."""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from experiments import Verdict, above, below, every
from experiments._paper import banded, log_scale, paper
from experiments._regions import Plane, by_size, draw_plane, plane_entries
from experiments._statistics import over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
A node may ask for more than one feature: for the side of a line in any direction, for the inside
of a conic, or whether a number lies in a band. The document names such weak learners, and that ρ,
the number of random parameters that a node tries, sets how alike trees are; it shows no numbers.

Found: with few trees lines and conics err less than axis cuts on spirals, and conics less on rings,
as their questions have the shape of the classes. More trees close the gap on spirals, but only as
far as they differ: with a small ρ the mean of many different staircases is as smooth a border; with
a large one trees of axis cuts are alike, and the gap stays. On rings it stays with either. A random
band is a weaker question than a random cut. Whatever the learner, a larger ρ makes its trees more
alike.
"""
FEW, MANY = 3, 100
SMALL, LARGE = 2, 50  # ρ
FRESH = 100  # seeds from here on decide what the first ten did not: 0.012 ± 0.014
LEARNERS = {"axis": "axis cuts", "oblique": "oblique lines", "quadratic": "conics",
            "band": "bands"}  # fmt: skip
LOOKS = dict(zip(LEARNERS, COLOURS, strict=False))
SETS = {"spirals": "spirals", "annuli": "rings"}
DRAWN = [("spirals", FEW, SMALL), ("spirals", FEW, LARGE), ("spirals", MANY, SMALL),
         ("spirals", MANY, LARGE), ("annuli", FEW, LARGE), ("annuli", MANY, LARGE)]  # fmt: skip
PLACES = (1, 3, 10, 30, 100)


def table(runs):
    """A row a run and number of trees; `attrs` has the planes of seed 0."""
    parts: list[pd.DataFrame] = []
    planes: dict[tuple, Plane] = {}
    for run in runs:
        about = {
            "dataset": run.params["dataset.name"],
            "learner": run.params["learner.name"],
            "rho": run.params["model.rho"],
        }
        accuracy = run.curve("by_trees/accuracy/test")
        sizes = np.flatnonzero(np.isfinite(accuracy))
        numbers: dict[str, Any] = {"n_trees": sizes, "error": 1.0 - accuracy[sizes]}
        numbers["correlation"] = run.metrics["correlation/oob"]
        parts.append(pd.DataFrame(about | {"seed": run.params["seed"]} | numbers))
        if run.params["seed"] == 0:
            seen = by_size(run, FEW, MANY)
            planes |= {(*about.values(), size): plane for size, plane in seen.items()}
    found = pd.concat(parts, ignore_index=True)
    found.attrs["planes"] = planes
    return found


def draw(table):
    regions = plane_entries(2)
    lines = [Entry(name, LOOKS[learner], marker="o") for learner, name in LEARNERS.items()]
    lines.append(Entry("bands: ± 1 sd of seeds", "none"))
    figure, rows = paper(
        "What a node asks: axis cuts, oblique lines, conics and bands, with few and many trees and "
        "parameters",
        [[2.1] * len(LEARNERS)] * (len(DRAWN) + 1),
        [2.1] * (len(DRAWN) + 1),
        right=max(inches_beside(regions), inches_beside(lines)),
        gap=0.6,
    )
    for axes, (dataset, size, rho) in zip(rows, DRAWN, strict=False):
        for ax, (learner, name) in zip(axes, LEARNERS.items(), strict=True):
            found = table.attrs["planes"][dataset, learner, rho, size]
            draw_plane(ax, found, f"{name}: {size} trees, ρ = {rho}")
    for ax, (dataset, rho) in zip(rows[-1], product(SETS, (SMALL, LARGE)), strict=True):
        of_panel = table[(table["dataset"] == dataset) & (table["rho"] == rho)]
        for learner, colour in LOOKS.items():
            banded(ax, of_panel[of_panel["learner"] == learner], "n_trees", "error", colour)
        dress(ax, "number of trees", "error, test", f"{SETS[dataset]}: ρ = {rho}")
        log_scale(ax, "x", PLACES)
        number_scale(ax, "y")
    legend_beside(rows[0][-1], regions)
    legend_beside(rows[-1][-1], lines)
    return figure


def judge(table):
    is_fresh = table["seed"] >= FRESH
    error, fresh = by_seed(table[~is_fresh], "error"), by_seed(table[is_fresh], "error")
    alike = by_seed(table[~is_fresh & (table["n_trees"] == MANY)], "correlation")

    def gap(dataset: str, learner: str, rho: int, size: int, error=error) -> pd.Series:
        """How much more axis cuts err than another learner, of each seed."""
        return error[dataset, "axis", rho, size] - error[dataset, learner, rho, size]

    def less_than_axis(dataset: str, learner: str, size: int, error=error) -> Verdict:
        return above(
            f"error of {size} trees of axis cuts on {SETS[dataset]} less that of "
            f"{LEARNERS[learner]}, ρ = {LARGE}",
            over_seeds(gap(dataset, learner, LARGE, size, error)),
        )

    return [
        less_than_axis("spirals", "oblique", FEW, fresh),
        less_than_axis("spirals", "quadratic", FEW),
        less_than_axis("annuli", "quadratic", FEW),
        every(
            f"more trees that differ, ρ = {SMALL}, close part of the gap on {SETS['spirals']}: "
            f"that of {MANY} trees less that of {FEW}",
            [
                below(
                    LEARNERS[learner],
                    over_seeds(
                        gap("spirals", learner, SMALL, MANY) - gap("spirals", learner, SMALL, FEW)
                    ),
                )
                for learner in ("oblique", "quadratic")
            ],
        ),
        every(
            "of trees that are alike even many leave a gap",
            [less_than_axis("spirals", learner, MANY) for learner in ("oblique", "quadratic")],
        ),
        below(
            f"a random band is a weaker question than a random cut: error of {FEW} trees of axis "
            f"cuts on {SETS['spirals']} less that of bands, ρ = {SMALL}",
            over_seeds(gap("spirals", "band", SMALL, FEW)),
        ),
        _more_alike(alike),
    ]


def by_seed(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """A row a seed, a column a set, learner, ρ and number of trees."""
    keys = ["dataset", "learner", "rho", "n_trees"]
    return table.pivot(index="seed", columns=keys, values=column)


def _more_alike(alike: pd.DataFrame) -> Verdict:
    return every(
        f"trees are more alike with ρ = {LARGE} than with {SMALL}, whatever the set and the "
        "learner: correlation",
        [
            above(
                f"{LEARNERS[learner]} on {SETS[dataset]}",
                over_seeds(
                    alike[dataset, learner, LARGE, MANY] - alike[dataset, learner, SMALL, MANY]
                ),
            )
            for dataset in SETS
            for learner in LEARNERS
        ],
    )

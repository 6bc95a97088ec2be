"""More trees: smoother posteriors, and no overfitting."""

from itertools import pairwise

import numpy as np
import pandas as pd

from experiments import LoggedRun, Verdict, below, every, within
from experiments._paper import banded, log_scale, paper
from experiments._regions import by_size, draw_plane, plane_entries
from experiments._statistics import over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
More trees do not make a forest overfit; its posteriors become smoother, which is good for
generalisation.

The document shows no numbers. Theory has one: trees are drawn independently of each other, so the
expected Brier score of T of them is B∞ + (B₁ − B∞) / T, of which only the second part, the variance
of the posterior, shrinks. What the forest errs on average it keeps, however many its trees; so
smooth is not yet right.
"""
DRAWN = (1, 10, 200)  # numbers of trees
FEWER, MANY = 20, 200
METRICS = {"error": "error", "log_loss": "log loss (nats)", "brier": "Brier score"}
COLOUR = COLOURS[0]
PLACES = (1, 2, 5, 10, 20, 50, 100, 200)


def table(runs):
    """A row a seed and number of trees; `attrs` has the planes of seed 0, by number of trees."""
    parts, shown = [], {}
    for run in runs:
        seen = by_size(run, *DRAWN)
        rough = {size: roughness(found.grid) for size, found in seen.items()}
        part = _metrics(run)
        parts.append(part.assign(roughness=part["n_trees"].map(rough)))
        if run.params["seed"] == 0:
            shown = seen
    found = pd.concat(parts, ignore_index=True)
    found.attrs["planes"] = shown
    return found


def _metrics(run: LoggedRun) -> pd.DataFrame:
    curves = {m: run.curve(f"by_trees/{m}/test") for m in ("accuracy", "log_loss", "brier")}
    sizes = np.flatnonzero(np.isfinite(curves["brier"]))
    values = {metric: curve[sizes] for metric, curve in curves.items()}
    values["error"] = 1.0 - values.pop("accuracy")
    return pd.DataFrame({"seed": run.params["seed"], "n_trees": sizes} | values)


def roughness(grid: np.ndarray) -> float:
    """How much posteriors (h, w, K) jump between neighbouring pixels: root mean square, over all
    classes together."""
    steps = [(np.diff(grid, axis=axis) ** 2).sum(axis=2).ravel() for axis in (0, 1)]
    return float(np.sqrt(np.concatenate(steps).mean()))


def brier_of_theory(table: pd.DataFrame) -> pd.DataFrame:
    """(n_seeds, n_sizes) B∞ + (B₁ − B∞) / T of each seed, through its first and last size."""
    brier = table.pivot(index="seed", columns="n_trees", values="brier")
    sizes = brier.columns.to_numpy()
    least, most = brier[sizes[0]], brier[sizes[-1]]
    share = (1.0 / sizes - 1.0 / sizes[-1]) / (1.0 / sizes[0] - 1.0 / sizes[-1])
    return pd.DataFrame(
        most.to_numpy()[:, None] + (least - most).to_numpy()[:, None] * share, brier.index, sizes
    )


def draw(table):
    planes = table.attrs["planes"]
    entries = plane_entries(4)
    lines = [
        Entry("mean of seeds", COLOUR, marker="o"),
        Entry("band: ± 1 sd", "none"),
        Entry("dashed: B∞ + (B₁ − B∞) / T", "none"),
    ]
    figure, (above, below) = paper(
        "Four noisy spirals, 600 rows: what 1, 10 and 200 trees make of them, and how well",
        [[2.7] * 3] * 2,
        [2.7, 2.2],
        right=max(inches_beside(entries), inches_beside(lines)),
    )
    for ax, (size, found) in zip(above, planes.items(), strict=True):
        trees = "1 tree" if size == 1 else f"{size} trees"
        draw_plane(ax, found, f"{trees}: roughness {roughness(found.grid):.3f}")
    for ax, (metric, label) in zip(below, METRICS.items(), strict=True):
        banded(ax, table, "n_trees", metric, COLOUR)
        dress(ax, "number of trees T", f"{label}, test")
        log_scale(ax, "x", PLACES)
        if metric == "log_loss":
            log_scale(ax, "y", (0.5, 1, 2, 5, 10))
        else:
            number_scale(ax, "y")
    theory = brier_of_theory(table).mean()
    below[-1].plot(theory.index, theory, color=LINE, linewidth=1.2, linestyle=DASHES, zorder=3)
    legend_beside(above[-1], entries)
    legend_beside(below[-1], lines)
    return figure


def judge(table):
    wide = {
        column: table.pivot(index="seed", columns="n_trees", values=column)
        for column in (*METRICS, "roughness")
    }
    few, rough = FEWER, wide["roughness"]
    return [
        *(
            below(
                f"posteriors of {more} trees jump less between neighbouring pixels than those of "
                f"{less}: roughness of the one less that of the other",
                over_seeds(rough[more] - rough[less]),
            )
            for less, more in pairwise(DRAWN)
        ),
        below(
            f"error: {MANY} trees overfit no more than {few}; rise",
            over_seeds(wide["error"][MANY] - wide["error"][few]),
            0.005,
            "half a point is the least rise that would matter; no rise at all cannot be shown",
        ),
        *(
            below(
                f"{METRICS[metric]}: {MANY} trees are even better than {few}; rise",
                over_seeds(wide[metric][MANY] - wide[metric][few]),
            )
            for metric in ("log_loss", "brier")
        ),
        _as_theory(table),
    ]


def _as_theory(table: pd.DataFrame) -> Verdict:
    brier = table.pivot(index="seed", columns="n_trees", values="brier")
    off = brier - brier_of_theory(table)
    fall = (brier[1] - brier[MANY]).mean()
    inner = [
        within(f"{size} trees", over_seeds(off[size] / fall), 0.1, "a tenth of the fall")
        for size in off.columns[1:-1]
    ]
    return every(
        f"Brier score less B∞ + (B₁ − B∞) / T, over its fall from 1 tree to {MANY}, at each of "
        f"{len(inner)} sizes between",
        inner,
    )

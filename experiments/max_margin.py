"""Two clouds: how far a forest's boundary is from the line of maximum margin."""

import numpy as np
import pandas as pd

from experiments import LoggedRun, above, below, exactly
from experiments._paper import banded, log_scale, paper
from experiments._regions import draw_plane, plane, plane_entries, training_rows
from experiments._statistics import over_seeds
from forestlab.datasets.toys import GAP, margin
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
Random node optimisation is the key to a random forest, bagging may be added or not; to leave it out
helps a forest to have the maximum margin: a boundary as far from both classes as can be.

The document gives neither numbers nor reasons. Those of Criminisi, Shotton and Konukoglu (2011) are
that cuts drawn evenly from the gap between two classes average, over many trees, to its middle,
while a bag that misses the rows at the gap has another gap. In forestlab a cut lies midway between
two rows, so that chance plays another part. A node that may try everything has the line at once,
without a forest. With three random tries single trees stray, and the claim is found: the more
trees, the nearer the line, and the nearer without bagging; not on it, as deep nodes see few rows,
and the gap between those is elsewhere. With one try trees are too random, and many of them stay
farther away. And bagging need not move the line: a node that tries everything finds it in two of
five bags, those that hold the rows on both sides, other bags err to either side alike, and the
majority of many trees is back on it.
"""
SIZES = (1, 3, 9, 27, 81, 243)  # odd, as two equal halves of a forest have no boundary
REACH, PIXEL = 1.0, 0.005  # on either side of the line, along x
LINES = np.linspace(0.05, 0.95, 10)  # quantiles of y, at which the boundary is looked for
RHOS = {1: COLOURS[5], 3: COLOURS[0], "all": COLOURS[2]}
DRAWN = (3, False), (3, True)


def table(runs):
    """A row a run and number of trees; `attrs` has planes of seed 0, by (rho, bootstrap)."""
    rows, planes = [], {}
    for run in runs:
        rho, bootstrap, seed = (run.params[k] for k in ("model.rho", "model.bootstrap", "seed"))
        rows += [
            {"rho": rho, "bootstrap": bootstrap, "seed": seed, "n_trees": size, "distance": found}
            for size, found in zip(SIZES, distances(run), strict=True)
        ]
        if seed == 0 and (rho, bootstrap) in DRAWN:
            planes[rho, bootstrap] = plane(run)[0]
    found = pd.DataFrame(rows)
    found.attrs["planes"] = planes
    return found


def distances(run: LoggedRun) -> list[float]:
    """Of the boundary of the logged model's first 1, 3, 9, … trees from the line."""
    X, y = training_rows(run)
    model = run.model()
    x = margin(X, y).line + np.arange(-REACH + PIXEL / 2, REACH, PIXEL)
    lines = np.quantile(X[:, 1], LINES)
    asked = np.column_stack([np.tile(x, len(lines)), np.repeat(lines, len(x))])
    trees = model.predict_trees(pd.DataFrame(asked, columns=model.feature_names_in_))[:, :, 1]
    return [mean_distance(trees[:n].mean(axis=0).reshape(len(lines), -1)) for n in SIZES]


def mean_distance(p: np.ndarray) -> float:
    """How far a boundary is from the line, over lines that cross it.

    Parameters
    ----------
    p : (n_lines, n_pixels) posteriors of the class on the right, the line in the middle

    Returns
    -------
    The mean length of what is given to the class of the other side: with one crossing, its distance
    from the line; with several, the part between them and the line.
    """
    is_right = np.arange(p.shape[1]) >= p.shape[1] / 2
    return float(((p > 0.5) != is_right).sum(axis=1).mean() * PIXEL)


def draw(table):
    planes = table.attrs["planes"]
    regions = plane_entries(2)
    lines = [Entry(f"ρ = {rho}", colour, marker="o") for rho, colour in RHOS.items()]
    lines.append(Entry("bands: ± 1 sd of seeds", "none"))
    figure, (above, below) = paper(
        "Two clouds, 100 rows: forests of 243 trees, and how far a forest's boundary is from the "
        "line of maximum margin",
        [[3.4, 3.4]] * 2,
        [2.5, 2.3],
        right=max(inches_beside(regions), inches_beside(lines)),
    )
    for ax, bootstrap in zip(above, (False, True), strict=True):
        rows = "bootstraps" if bootstrap else "all rows"
        draw_plane(ax, planes[3, bootstrap], f"ρ = 3, {rows}; dashed: the line")
        line = margin(planes[3, bootstrap].points, planes[3, bootstrap].labels).line
        ax.axvline(line, color="black", linewidth=1.2, linestyle=DASHES)
    legend_beside(above[-1], regions)
    highest = table.groupby(["rho", "bootstrap", "n_trees"])["distance"].mean().max()
    for ax, bootstrap in zip(below, (False, True), strict=True):
        for rho, colour in RHOS.items():
            part = table[(table["rho"] == rho) & (table["bootstrap"] == bootstrap)]
            banded(ax, part, "n_trees", "distance", colour)
        ax.axhline(GAP / 2, color=LINE, linewidth=1.0, linestyle=DASHES)
        rows = "bootstraps" if bootstrap else "all rows"
        dress(ax, "number of trees", "distance from the line", f"{rows}; dashed: the nearest row's")
        ax.set_ylim(-0.02, 1.15 * highest)
        log_scale(ax, "x", SIZES)
        number_scale(ax, "y")
    legend_beside(below[-1], lines)
    return figure


def judge(table):
    wide = table.pivot(index="seed", columns=["rho", "bootstrap", "n_trees"], values="distance")
    most, a_pixel = SIZES[-1], "the width of a pixel, by which distances are measured"
    return [
        above(
            f"three tries, all rows: {most} trees come nearer to the line than one, by",
            over_seeds(wide[3, False, 1] - wide[3, False, most]),
        ),
        above(
            f"three tries, {most} trees: on bootstraps the boundary is farther from the line, by",
            over_seeds(wide[3, True, most] - wide[3, False, most]),
        ),
        above(
            f"{most} trees, all rows: with one try the boundary is farther than with three, which "
            "the document does not say, by",
            over_seeds(wide[1, False, most] - wide[3, False, most]),
        ),
        exactly(
            "all tries, all rows: distance of a single tree, which needs no forest; largest of all "
            "seeds",
            0.0,
            wide["all", False, 1].max(),
            "the cut is midway by rule",
            repeats=f"{wide['all', False, 1].count()} seeds",
        ),
        above(
            "all tries: distance of a single tree on a bootstrap",
            over_seeds(wide["all", True, 1]),
            PIXEL,
            a_pixel,
        ),
        below(
            f"but {most} such trees are back on the line, unlike what the document says of "
            "bagging: their distance",
            over_seeds(wide["all", True, most]),
            PIXEL,
            a_pixel,
        ),
    ]

"""Two clouds: how far a forest's boundary is from the line of maximum margin."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.svm import SVC

from experiments import LoggedRun, above, below, every, exactly
from experiments._paper import banded, log_scale, paper
from experiments._regions import draw_plane, plane, plane_entries, training_rows
from experiments._statistics import over_seeds
from forestlab.datasets import toys
from forestlab.datasets.toys import GAP
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
two rows, unless numbers are drawn, so that chance plays another part. A node that may try
everything has the line at once, without a forest. With three random tries single trees stray, and
the claim is found: the more trees, the nearer the line, and the nearer without bagging; not on it,
as deep nodes see few rows, and the gap between those is elsewhere. With one try trees are too
random, and many of them stay farther away. And bagging need not move the line: a node that tries
everything finds it in two of five bags, those that hold the rows on both sides, other bags err to
either side alike, and the majority of many trees is back on it.

All this is found again if no parameter is drawn twice, and if cuts are any number, which are the
authors' own: then with thirty tries, too, it takes many trees to come near the line. Cuts of random
sums are measured from the line that is widest of all, as of a support vector machine: many trees
come nearer to it as well, and stay farther away than cuts of columns do from theirs, as few of
three random directions are near its own.

Expected, and undecided by 24 seeds, so that they are no verdicts: that numbers which average to the
middle bring three tries nearer to the line than cuts that are there by rule (distances less by
0.003 ± 0.017), that bagging moves random sums farther from it (0.001 ± 0.009), that
a single tree is farther away with any number than midway (-0.01 ± 0.13), and many trees with thirty
tries than with three (-0.004 ± 0.010).
"""
SIZES = (1, 3, 9, 27, 81, 243)  # odd, as two equal halves of a forest have no boundary
REACH, PIXEL = 1.0, 0.005  # on either side of the line, along x
LINES = np.linspace(0.05, 0.95, 10)  # quantiles of y, at which the boundary is looked for
RHOS = {1: COLOURS[5], 3: COLOURS[0], "all": COLOURS[2]}
WAYS = {  # to draw a cut
    "midway": ("feature, then cut midway", COLOURS[0]),
    "pairs": ("cuts midway, none twice", COLOURS[2]),
    "uniform": ("any number", COLOURS[1]),
    "oblique": ("sums of both columns", COLOURS[3]),
}
MANY = 30
HARD = 1e6  # what a row on the wrong side costs: as good as forbidden
NEW = ("pairs", "uniform", "oblique")
DRAWN = {  # planes of seed 0 with three tries, by way and whether rows are drawn
    ("midway", False): "midway, all rows",
    ("midway", True): "midway, bootstraps",
    ("uniform", False): "any number, all rows",
    ("oblique", False): "sums, all rows",
}


class Line(NamedTuple):
    """x = start + slope y."""

    start: float
    slope: float

    def at(self, y: np.ndarray) -> np.ndarray:
        return self.start + self.slope * y


def table(runs):
    """A row a run and number of trees; `attrs` has planes of seed 0, by (way, bootstrap)."""
    rows, planes = [], {}
    for run in runs:
        rho, bootstrap, seed = (run.params[k] for k in ("model.rho", "model.bootstrap", "seed"))
        way = way_of(run)
        named = {"way": way, "rho": rho, "bootstrap": bootstrap, "seed": seed}
        rows += [
            named | {"n_trees": size, "distance": found}
            for size, found in zip(SIZES, distances(run, way), strict=True)
        ]
        if seed == 0 and rho == 3 and (way, bootstrap) in DRAWN:
            planes[way, bootstrap] = plane(run)[0]
    found = pd.DataFrame(rows)
    found.attrs["planes"] = planes
    return found


def way_of(run: LoggedRun) -> str:
    if run.params.get("learner.name") == "oblique":
        return "oblique"
    if run.params["search.name"] == "uniform":
        return "uniform"
    return "pairs" if run.params.get("model.rho_draws") == "pairs" else "midway"


def line_of(X: np.ndarray, y: np.ndarray, way: str) -> Line:
    """The line of maximum margin: of those that cut a column, or of all if sums are cut."""
    if way != "oblique":
        return Line(toys.margin(X, y).line, 0.0)
    (across, along), offset = widest(X, y)
    return Line(-offset / across, -along / across)


def widest(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights and offset of the line that parts two classes and is farthest from both."""
    machine = SVC(kernel="linear", C=HARD, tol=1e-8).fit(X, y)
    return machine.coef_[0], float(machine.intercept_[0])


def distances(run: LoggedRun, way: str = "midway") -> list[float]:
    """Of the boundary of the logged model's first 1, 3, 9, … trees from the line."""
    X, y = training_rows(run)
    model = run.model()
    heights = np.quantile(X[:, 1], LINES)
    beside = np.arange(-REACH + PIXEL / 2, REACH, PIXEL)
    x = (line_of(X, y, way).at(heights)[:, None] + beside).ravel()
    asked = np.column_stack([x, np.repeat(heights, len(beside))])
    trees = model.predict_trees(pd.DataFrame(asked, columns=model.feature_names_in_))[:, :, 1]
    return [mean_distance(trees[:n].mean(axis=0).reshape(len(heights), -1)) for n in SIZES]


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
    by_rho = [Entry(f"ρ = {rho}", colour, marker="o") for rho, colour in RHOS.items()]
    by_way = [Entry(name, colour, marker="o") for name, colour in WAYS.values()]
    by_way.append(Entry("bands: ± 1 sd of seeds", "none"))
    figure, (above, middle, below) = paper(
        "Distance of a forest's boundary from the line of maximum margin, two clouds of 100 rows",
        [[1.9] * 4, [4.2] * 2, [4.2] * 2],
        [1.9, 2.1, 2.1],
        right=max(map(inches_beside, (regions, by_rho, by_way))),
    )
    for ax, ((way, bootstrap), name) in zip(above, DRAWN.items(), strict=True):
        found = planes[way, bootstrap]
        draw_plane(ax, found, name)
        height = np.array(found.extent[2:])
        ax.plot(line_of(found.points, found.labels, way).at(height), height, color="black",
                linewidth=1.2, linestyle=DASHES)  # fmt: skip
    told = ("ρ = 3, 243 trees", "dashed: the line")
    legend_beside(above[-1], [*regions, *(Entry(text, "none") for text in told)])
    three = table[table["rho"] == 3]
    parts = {rho: table[(table["rho"] == rho) & (table["way"] == "midway")] for rho in RHOS}
    _draw_curves(middle, {rho: (parts[rho], RHOS[rho]) for rho in RHOS}, "cuts midway")
    ways = {way: (three[three["way"] == way], colour) for way, (_, colour) in WAYS.items()}
    _draw_curves(below, ways, "ρ = 3")
    legend_beside(middle[-1], by_rho)
    legend_beside(below[-1], by_way)
    return figure


def _draw_curves(row, parts: dict, what: str) -> None:
    """How the distance falls with trees, on all rows and on bootstraps."""
    groups = [part.groupby(["bootstrap", "n_trees"])["distance"] for part, _ in parts.values()]
    spreads = [group.std(ddof=1).fillna(0.0) for group in groups]
    pairs = list(zip(groups, spreads, strict=True))
    lowest = min(0.0, *((group.mean() - spread).min() for group, spread in pairs))
    highest = max(GAP / 2, *((group.mean() + spread).max() for group, spread in pairs))
    margin = 0.04 * (highest - lowest)
    for ax, bootstrap in zip(row, (False, True), strict=True):
        for part, colour in parts.values():
            banded(ax, part[part["bootstrap"] == bootstrap], "n_trees", "distance", colour)
        ax.axhline(GAP / 2, color=LINE, linewidth=1.0, linestyle=DASHES)
        rows = "bootstraps" if bootstrap else "all rows"
        note = f"{what}, {rows}; dashed: the nearest row"
        dress(ax, "number of trees", "distance from the line", note)
        ax.set_ylim(lowest - margin, highest + margin)
        log_scale(ax, "x", SIZES)
        number_scale(ax, "y")


def judge(table):
    wide = table.pivot(
        index="seed", columns=["way", "rho", "bootstrap", "n_trees"], values="distance"
    )
    most, a_pixel = SIZES[-1], "the width of a pixel, by which distances are measured"
    midway = wide["midway"]
    return [
        above(
            f"three tries, all rows: {most} trees come nearer to the line than one, by",
            over_seeds(midway[3, False, 1] - midway[3, False, most]),
        ),
        above(
            f"three tries, {most} trees: on bootstraps the boundary is farther from the line, by",
            over_seeds(midway[3, True, most] - midway[3, False, most]),
        ),
        above(
            f"{most} trees, all rows: with one try the boundary is farther than with three, which "
            "the document does not say, by",
            over_seeds(midway[1, False, most] - midway[3, False, most]),
        ),
        exactly(
            "all tries, all rows: distance of a single tree, which needs no forest; largest of all "
            "seeds",
            0.0,
            midway["all", False, 1].max(),
            "the cut is midway by rule",
            repeats=f"{midway['all', False, 1].count()} seeds",
        ),
        above(
            "all tries: distance of a single tree on a bootstrap",
            over_seeds(midway["all", True, 1]),
            PIXEL,
            a_pixel,
        ),
        below(
            f"but {most} such trees are back on the line, unlike what the document says of "
            "bagging: their distance",
            over_seeds(midway["all", True, most]),
            PIXEL,
            a_pixel,
        ),
        every(
            f"however cuts are drawn, three tries, all rows: {most} trees come nearer than one, by",
            [
                above(WAYS[way][0], over_seeds(wide[way, 3, False, 1] - wide[way, 3, False, most]))
                for way in NEW
            ],
        ),
        *(
            above(
                f"{WAYS[way][0]}, three tries, {most} trees: on bootstraps the boundary is farther "
                "from the line, by",
                over_seeds(wide[way, 3, True, most] - wide[way, 3, False, most]),
            )
            for way in ("pairs", "uniform")
        ),
        every(
            f"however cuts are drawn, {most} trees, all rows: with one try the boundary is farther "
            "than with three, by",
            [
                above(
                    WAYS[way][0],
                    over_seeds(wide[way, 1, False, most] - wide[way, 3, False, most]),
                )
                for way in NEW
            ],
        ),
        above(
            f"any number, {MANY} tries, all rows: {most} trees, whose numbers in the gap average "
            "to its middle, come nearer than one, by",
            over_seeds(wide["uniform", MANY, False, 1] - wide["uniform", MANY, False, most]),
        ),
    ]

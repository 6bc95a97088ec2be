"""A spread that changes: where trees by variance and by differential entropy cut."""

import numpy as np
import pandas as pd

from experiments import LoggedRun, above, below, within
from experiments._paper import paper
from experiments._regions import training_rows
from experiments._statistics import over_seeds
from forestlab.core.arrays import LEAF
from forestlab.datasets.made import HEAPS, QUIET, spreads
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, dress
from forestlab.figures.words import number_scale, scale

DOCUMENT = "003"
SAYS = """
For a continuous response a node's impurity is the mean squared error, or the differential entropy
of a density that is estimated from its rows, by a parametric distribution or without one.

The document does not say what the entropy is good for. Here is a target whose mean is 0 throughout,
so that there is nothing for the squared error to find. At 0.3 its spread grows fivefold: a normal
distribution, `gaussian`, sees that. At 0.6 mean and spread stay, and one heap becomes two: only an
estimate without a shape of its own, `kde`, sees that. Cuts by variance fall anywhere. Answers are
means, so the error of a tree is the same with all three; what gains is the density that its leaves
give to rows that it has not seen.
"""
CRITERIA = {"variance": COLOURS[5], "gaussian": COLOURS[0], "kde": COLOURS[2]}
N_TEST = 20_000
BAR = 0.02  # of [0, 1): 20 of the 1000 rows
AT_BAR = "20 of the 1000 rows; cuts that fall anywhere are some 0.1 away"


def table(runs):
    """A row a run; `attrs` has the cuts of all, and of seed 0 rows and leaves, by criterion."""
    rows, cuts, shown = [], {}, {}
    for run in runs:
        criterion, seed = run.params["criterion.name"], run.params["seed"]
        found = cuts_of(run)
        cuts[criterion, seed] = found
        rows.append({"criterion": criterion, "seed": seed} | measured(run, found, seed))
        if seed == 0:
            shown[criterion] = (*training_rows(run), steps_of(run, found))
    made = pd.DataFrame(rows)
    made.attrs |= {"cuts": cuts, "shown": shown}
    return made


def cuts_of(run: LoggedRun) -> np.ndarray:
    nodes = run.model().forest_.nodes
    return np.sort(nodes["cut_high"][nodes["kind"] != LEAF])


def leaves(run: LoggedRun, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the leaf of each place."""
    model = run.model()
    ends = model.apply(pd.DataFrame({"x": x}))
    weight, mean, squares = model.forest_.stats[ends.ravel()].T
    return mean, np.sqrt(squares / weight)


def steps_of(run: LoggedRun, cuts: np.ndarray) -> np.ndarray:
    """The ends of each leaf, its mean and its deviation, (n_leaves, 4)."""
    edges = np.array([0.0, *cuts, 1.0])
    return np.column_stack([edges[:-1], edges[1:], *leaves(run, (edges[:-1] + edges[1:]) / 2)])


def measured(run: LoggedRun, cuts: np.ndarray, seed: int) -> dict[str, float]:
    """How far the nearest cuts are, and what fresh rows cost: nats under the normal of their leaf,
    and the root of their squared error."""
    X, y = spreads(N_TEST, 1.0, np.random.default_rng([seed, 1]))
    mean, deviation = leaves(run, X[:, 0])
    apart = y - mean
    nats = np.log(2 * np.pi * deviation**2) / 2 + (apart / deviation) ** 2 / 2
    return {
        "from_quiet": float(np.abs(cuts - QUIET).min()),
        "from_heaps": float(np.abs(cuts - HEAPS).min()),
        "nats": float(nats.mean()),
        "rmse": float(np.sqrt((apart**2).mean())),
    }


def draw(table):
    cuts, shown = table.attrs["cuts"], table.attrs["shown"]
    entries = [
        Entry("rows of seed 0", LINE, width=0.0, marker="o"),
        Entry("leaf: mean ± sd", COLOURS[0], width=8.0),
        Entry("cut of a tree", "black"),
        Entry("dashed: where the target changes", "none"),
    ]
    figure, (upper, lower) = paper(
        "A target of mean 0 whose spread changes at 0.3 and whose shape at 0.6: trees of depth 2",
        [[2.7] * 3] * 2,
        [2.2, 1.5],
        right=inches_beside(entries),
    )
    for top, bottom, (name, colour) in zip(upper, lower, CRITERIA.items(), strict=True):
        X, y, steps = shown[name]
        draw_leaves(top, X, y, steps, colour, name)
        for (criterion, seed), found in cuts.items():
            if criterion == name:
                bottom.plot(found, np.full(len(found), seed), "|", color="black", markersize=7)
        dress(bottom, "x", "seed", "cuts of every tree")
        for ax in (top, bottom):
            for place in (QUIET, HEAPS):
                ax.axvline(place, color=LINE, linewidth=1.0, linestyle=DASHES)
            ax.set_xlim(0.0, 1.0)
            number_scale(ax, "x", 5)
        number_scale(top, "y", 5)
        scale(bottom, "y", np.array([0.0, 5.0, 10.0]), ["0", "5", "10"])
    legend_beside(upper[-1], entries)
    return figure


def draw_leaves(ax, X, y, steps, colour, name):
    """Rows, and of each leaf its mean with a deviation to either side."""
    ax.plot(X[:, 0], y, "o", color=LINE, markersize=1.5, alpha=0.5)
    for start, end, mean, deviation in steps:
        ax.fill_between(
            [start, end], mean - deviation, mean + deviation, color=colour, alpha=0.35, linewidth=0
        )
        ax.plot([start, end], [mean, mean], color=colour, linewidth=1.5)
    dress(ax, "x", "y", name)
    ax.set_ylim(-3.5, 3.5)


def judge(table):
    wide = table.pivot(index="seed", columns="criterion")
    from_quiet, from_heaps = wide["from_quiet"], wide["from_heaps"]
    return [
        below("gaussian: nearest cut to where the spread changes, distance",
              over_seeds(from_quiet["gaussian"]), BAR, AT_BAR),
        below("kde: the same", over_seeds(from_quiet["kde"]), BAR, AT_BAR),
        above("variance: how much farther its nearest cut is than that of gaussian",
              over_seeds(from_quiet["variance"] - from_quiet["gaussian"])),
        below("kde: nearest cut to where one heap becomes two, distance",
              over_seeds(from_heaps["kde"]), BAR, AT_BAR),
        above("gaussian: how much farther its nearest cut is than that of kde",
              over_seeds(from_heaps["gaussian"] - from_heaps["kde"])),
        above("nats of a fresh row under its leaf's normal: variance less gaussian",
              over_seeds(wide["nats"]["variance"] - wide["nats"]["gaussian"])),
        within("RMSE of gaussian less that of variance",
               over_seeds(wide["rmse"]["gaussian"] - wide["rmse"]["variance"]), 0.01,
               "a hundredth of the target's deviation: there is no mean to be found"),
    ]  # fmt: skip

"""Density forests: how well trees of some depth and number tell where rows lie."""

from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import multivariate_normal
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from experiments import above, every
from experiments._paper import banded, log_scale, paper
from experiments._statistics import over_seeds
from forestlab import DensityForest
from forestlab.datasets.toys import blobs, spirals
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, dress
from forestlab.figures.words import number_scale
from forestlab.study.plane import grid_of

DOCUMENT = "003"
SAYS = """
Its first sentence has density estimation among the tasks of random forests, and shows nothing of
it. What it says of forests in general is asked of density forests here (Criminisi, Shotton and
Konukoglu 2012): more trees do not overfit, and deeper ones may.

A leaf is a normal distribution with its rows' variances, clipped to its cell; the forest's density
is the mean of its trees'. Rows are drawn anew for every seed: 600 to learn from, as many to choose
the depth by, and 1,000 held out, of which the mean log-likelihood is told in nats a row. Beside the
forest stand one normal distribution with a full covariance, and kernels, normal ones of a bandwidth
that ten parts of the training rows choose by cross-validation.

For clusters, which two cuts part, the forest is nearer to the truth than kernels, and ten trees are
all but as good as a hundred; for spirals, of which no cut is the right one, kernels are.
"""

N_TRAIN, N_HELD_OUT = 600, 1000
SEEDS = range(100, 130)
NOISE = {"clusters": 0.5, "spirals": 0.05}
MAKERS = {"clusters": blobs, "spirals": spirals}
COLOUR = dict(zip(MAKERS, COLOURS, strict=False))
SIZES = (1, 3, 10, 30, 100)
MANY, FEWER = SIZES[-1], 10
LEAF = 5  # rows, so that trees can be too deep
BANDWIDTHS = np.geomspace(0.02, 1.0, 18)
OTHERS = ("one normal", "kernels")
PLANES = tuple(product((1, MANY), (3, None)))  # numbers of trees and depths


# ---- the numbers -------------------------------------------------------------------------------


def table(runs):
    """A row a set, seed, depth and number of trees: log-likelihood of the rows to choose by
    (`valid`) and of those held out (`test`). Then a row a set, seed and other way. `attrs` has the
    densities of the spirals of the first seed over the plane, by number of trees and depth."""
    parts, shown = [], {}
    for name, seed in product(MAKERS, SEEDS):
        rng = np.random.default_rng([seed, list(MAKERS).index(name)])
        train, valid, test = (
            MAKERS[name](n, NOISE[name], rng)[0] for n in (N_TRAIN, N_TRAIN, N_HELD_OUT)
        )
        model = DensityForest(MANY, min_samples_leaf=LEAF, random_state=seed).fit(train)
        parts += [_of_forest(model, valid, test), _of_others(train, test)]
        for part in parts[-2:]:
            part.insert(0, "seed", seed)
            part.insert(0, "set", name)
        if (name, seed) == ("spirals", SEEDS[0]):
            shown = _planes(model, train)
    found = pd.concat(parts, ignore_index=True)
    found.attrs["planes"] = shown
    return found


def _of_forest(model: DensityForest, valid, test) -> pd.DataFrame:
    found = [model.log_likelihood_surface(rows, SIZES) / len(rows) for rows in (valid, test)]
    depth, size = np.indices(found[0].shape)
    cells = {"way": "forest", "depth": depth.ravel(), "n_trees": np.take(SIZES, size.ravel())}
    return pd.DataFrame(cells | {"valid": found[0].ravel(), "test": found[1].ravel()})


def _of_others(train, test) -> pd.DataFrame:
    single = multivariate_normal(train.mean(axis=0), np.cov(train.T))
    kernels = GridSearchCV(KernelDensity(), {"bandwidth": BANDWIDTHS}, cv=10).fit(train)
    scores = [single.logpdf(test).mean(), kernels.score(test) / len(test)]
    return pd.DataFrame({"way": OTHERS, "test": scores})


def _planes(model: DensityForest, rows) -> dict:
    """Densities (h, w) of the first trees, and the plane's extent and rows."""
    middles, extent = grid_of(rows)
    side, found = round(np.sqrt(len(middles))), {}
    one = DensityForest(1, min_samples_leaf=LEAF, random_state=0).fit(rows)  # the first of many
    for size, depth in PLANES:
        asked = one if size == 1 else model
        found[size, depth] = np.exp(asked.score_samples(middles, depth)).reshape(side, side)
    return {"grids": found, "extent": extent, "rows": rows}


def by_seed(table: pd.DataFrame) -> pd.DataFrame:
    """A row a set and seed: the depth that `valid` chooses for many trees, and of it, of what is
    shallower or deeper, of fewer trees and of the other ways the log-likelihood held out."""
    rows = []
    for (name, seed), part in table.groupby(["set", "seed"]):
        forest = part[part["way"] == "forest"]
        wide = {at: forest.pivot(index="depth", columns="n_trees", values=at)
                for at in ("valid", "test")}  # fmt: skip
        test, depth = wide["test"], wide["valid"][MANY].idxmax()
        row = {"set": name, "seed": seed, "depth": depth, "forest": test.loc[depth, MANY]}
        row |= {"shallow": test.loc[1, MANY], "deepest": test[MANY].iloc[-1]}
        row |= {"one tree": test.loc[depth, 1], "fewer": test.loc[depth, FEWER]}
        row |= {"one tree, deepest": test[1].iloc[-1]}
        row |= part[part["way"] != "forest"].set_index("way")["test"].to_dict()
        rows.append(row)
    return pd.DataFrame(rows)


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [
        *(Entry(name, COLOUR[name], marker="o") for name in MAKERS),
        Entry("band: ± 1 sd", "none"),
        Entry("dashed: kernels", "none"),
    ]
    figure, (upper, lower) = paper(
        f"Density forests, {N_TRAIN} rows: two spirals as few and many, shallow and deep trees see "
        "them, and log-likelihood of rows held out",
        [[2.3] * 4, [5.35, 5.35]],
        [2.3, 2.4],
        right=inches_beside(entries),
    )
    planes = table.attrs["planes"]
    for ax, ((size, depth), grid) in zip(upper, planes["grids"].items(), strict=True):
        _draw_density(ax, grid, planes, size, depth)
    forest = table[table["way"] == "forest"]
    for name, part in forest.groupby("set"):
        upto = part.groupby("seed")["depth"].max().min()  # the depth that the trees of all reach
        many = part[(part["n_trees"] == MANY) & (part["depth"] <= upto)]
        banded(lower[0], many, "depth", "test", COLOUR[name])
        chosen = by_seed(table).set_index(["set", "seed"])["depth"]
        at = pd.MultiIndex.from_frame(part[["set", "seed"]])
        banded(lower[1], part[part["depth"].to_numpy() == chosen.loc[at].to_numpy()], "n_trees",
               "test", COLOUR[name])  # fmt: skip
        kernels = table[(table["way"] == "kernels") & (table["set"] == name)]["test"].mean()
        for ax in lower:
            ax.axhline(kernels, color=COLOUR[name], linewidth=1.0, linestyle=DASHES, zorder=1.5)
    dress(lower[0], f"depth, {MANY} trees", "log-likelihood (nats a row)")
    dress(lower[1], "number of trees, at the chosen depth", "log-likelihood (nats a row)")
    number_scale(lower[0], "x", 8, integer=True)
    log_scale(lower[1], "x", SIZES)
    for ax in lower:
        number_scale(ax, "y")
    legend_beside(lower[-1], entries)
    return figure


def _draw_density(ax, grid, planes, size, depth) -> None:
    most = np.quantile(planes["grids"][MANY, None], 0.995)  # of all panels the same
    ax.imshow(grid, origin="lower", extent=planes["extent"], aspect="auto", cmap="viridis",
              vmin=0.0, vmax=most, interpolation="nearest")  # fmt: skip
    ax.plot(*planes["rows"].T, ".", color="white", markersize=1.0, alpha=0.5)
    trees = "1 tree" if size == 1 else f"{size} trees"
    dress(ax, "x0", "x1", f"{trees}, " + ("as grown" if depth is None else f"depth {depth}"))
    for axis in "xy":
        number_scale(ax, axis, 5, grid=False)


# ---- the verdicts ------------------------------------------------------------------------------


def judge(table):
    found = by_seed(table)

    def gain(one: str, other: str, name: str):
        part = found[found["set"] == name]
        return over_seeds((part[one] - part[other]).to_numpy())

    def of_both(what: str, one: str, other: str):
        return every(what, [above(name, gain(one, other, name)) for name in MAKERS])

    return [
        of_both("the forest of the chosen depth over one normal", "forest", "one normal"),
        of_both("too shallow is worse: the chosen depth over depth 1", "forest", "shallow"),
        of_both("too deep is worse: the chosen depth over the deepest", "forest", "deepest"),
        of_both(f"more trees are better: {MANY} over one", "forest", "one tree"),
        of_both(f"more trees are better: {MANY} over {FEWER}", "forest", "fewer"),
        of_both(
            f"where trees are too deep, {MANY} over one: by the mean of many, leaves of few rows "
            "harm less",
            "deepest",
            "one tree, deepest",
        ),
        above("clusters: the forest over kernels", gain("forest", "kernels", "clusters")),
        above("spirals: kernels over the forest", gain("kernels", "forest", "spirals")),
    ]

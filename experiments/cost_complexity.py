"""Trees grown large and pruned by cost-complexity, with α from cross-validation."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from experiments import LoggedRun, above, below, every, exactly, within
from experiments._paper import log_scale, paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, SPLIT_COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "003"
SAYS = """
A large tree T₀ is grown until nodes have some five rows and then pruned by cost-complexity, with an
α that cross-validation selects; with classes, misclassification typically guides the pruning. For
each α there is a subtree, of which the document writes T₀ ⊂ T: it is T ⊂ T₀.

The document shows no numbers. Found here: the trees of the path are nested; those that
cross-validation selects have a fraction of T₀'s leaves, are far better where data is noisy, and no
worse where it is not. The greatest α within a standard error of the best gives still smaller trees,
and without much noise it has its price. Whether impurity or wrong labels guide the pruning does not
matter much; if it does, the document's way is the better one. Cross-validation sees wrong labels as
training does, so that its error lies above that of validation and test rows, whose labels are
right; the best α is near theirs all the same.
"""
CLEAN, NOISY = "clean", "noisy"
SETS = ("waveform", "friedman1")
METRIC = {"waveform": "error", "friedman1": "root mean squared error"}
NOISE = {
    "waveform": {0.0: CLEAN, 0.2: NOISY},  # share of training labels that are wrong
    "friedman1": {1.0: CLEAN, 3.0: NOISY},  # standard deviation
}
WAYS = {
    "whole": ("T₀, left whole", COLOURS[6]),
    "best": ("α best in cross-validation", COLOURS[1]),
    "one_se": ("α within one standard error", COLOURS[2]),
    "misclassification": ("α best, by wrong labels", COLOURS[3]),
}
PRUNED = {"waveform": ("best", "one_se", "misclassification"), "friedman1": ("best", "one_se")}
DRAWN = 0  # seed
HALF = "half of the leaves or more are not needed"
SEVERAL = "several times fewer, by a wide sense of the word"
FIFTIETH = "a fiftieth of the error is the least difference that would matter"


# ---- the table ---------------------------------------------------------------------------------


def table(runs):
    """Three parts: a `tree` a run; the `path` of each tree that was left whole, by α; and, of one
    seed, what cross-validation (`cv`) found at each α, with its standard error (`se`)."""
    return pd.concat([part for run in runs for part in _parts(run)], ignore_index=True)


def _parts(run: LoggedRun):
    params, found = run.params, run.metrics
    dataset, way = params["dataset.name"], way_of(params)
    noise = params["dataset.label_noise" if dataset == "waveform" else "dataset.noise"]
    keys = {"set": dataset, "noise": NOISE[dataset][noise], "seed": params["seed"], "way": way}
    error = _error(found.get("accuracy/test"), found.get("rmse/test"))
    one = {
        "leaves": found["summary/trees_n_leaves"],
        "alpha": found.get("summary/pruning_alpha", 0.0),
    }
    yield pd.DataFrame([keys | {"part": "tree"} | one | {"test": error}])
    if way == "whole":
        yield _path(pd.read_csv(run.path("stopping.csv"))).assign(**keys, part="path")
    elif way == "best" and params["seed"] == DRAWN:
        crossed = pd.read_csv(run.path("pruning.csv"))
        yield _crossed(crossed, dataset).assign(**keys, part="cv")


def way_of(params: dict) -> str:
    if params["pruning.name"] == "none":
        return "whole"
    by_labels = params["pruning.ccp_cost"] == "misclassification"
    return "misclassification" if by_labels else params["pruning.ccp_rule"]


def _error(accuracy, rmse):
    return rmse if accuracy is None else 1.0 - accuracy


def _path(known: pd.DataFrame) -> pd.DataFrame:
    path = known[known["rule"] == "ccp_alpha"]
    columns = {
        split: _error(path.get(f"accuracy_{split}"), path.get(f"rmse_{split}"))
        for split in ("train", "valid", "test")
    }
    return pd.DataFrame({"alpha": path["value"], "leaves": path["n_leaves"]} | columns)


def _crossed(found: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Of numbers the root of the squared error, and by the delta method its standard error."""
    cv, se = found["loss"], found["standard_error"]
    if dataset == "friedman1":
        cv, se = np.sqrt(cv), se / (2.0 * np.sqrt(cv))
    return pd.DataFrame({"alpha": found["ccp_alpha"], "cv": cv, "se": se})


def part_of(table: pd.DataFrame, part: str, dataset: str, noise: str) -> pd.DataFrame:
    here = table[["part", "set", "noise"]] == [part, dataset, noise]
    return table[here.all(axis=1)]


# ---- the picture -------------------------------------------------------------------------------

SPLITS = ("train", "valid", "test")
CV = COLOURS[5]
COST = "α, what a leaf costs"
ALPHAS = (3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


def draw(table):
    entries = [Entry(split, SPLIT_COLOURS[split], marker="o") for split in SPLITS]
    entries += [Entry("cross-validation, ± 1 se", CV, marker="o")]
    entries += [Entry("dashed: test, T₀ left whole", "none")]
    entries += [Entry("upright: α chosen", "none")]
    ways = [Entry(label, colour, marker="o") for label, colour in WAYS.values()]
    ways += [Entry("a dot a seed; rings: clean", "none")]
    figure, rows = paper(
        f"Cost-complexity pruning on noisy data: the path of seed {DRAWN} and the chosen α, and "
        "trees of all seeds",
        [[3.2] * 2] * 3,
        [2.1, 1.2, 2.1],
        right=inches_beside([*entries, *ways]),
    )
    for k, dataset in enumerate(SETS):
        draw_path(rows[0][k], rows[1][k], table, dataset)
        draw_trees(rows[2][k], table, dataset)
    legend_beside(rows[0][-1], entries)
    legend_beside(rows[2][-1], ways)
    return figure


def draw_path(errors: Axes, sizes: Axes, table: pd.DataFrame, dataset: str) -> None:
    """Error and leaves against α, which falls to the right, as trees grow."""
    path = part_of(table, "path", dataset, NOISY)
    path = path[path["seed"] == DRAWN]
    whole, path = path[path["alpha"] == 0], path[path["alpha"] > 0]
    crossed = part_of(table, "cv", dataset, NOISY)
    crossed = crossed[crossed["alpha"].between(path["alpha"].min(), path["alpha"].max())]
    for split in SPLITS:
        errors.plot(path["alpha"], path[split], color=SPLIT_COLOURS[split], marker="o",
                    markersize=3.0, linewidth=1.4)  # fmt: skip
    errors.axhline(whole["test"].item(), color=SPLIT_COLOURS["test"], linewidth=0.9,
                   linestyle=DASHES)  # fmt: skip
    low, high = crossed["cv"] - crossed["se"], crossed["cv"] + crossed["se"]
    errors.fill_between(crossed["alpha"], low, high, color=CV, alpha=0.15, linewidth=0)
    errors.plot(crossed["alpha"], crossed["cv"], color=CV, marker="o", markersize=2.5)
    sizes.plot(path["alpha"], path["leaves"], color=LINE, marker="o", markersize=3.0)
    trees = part_of(table, "tree", dataset, NOISY)
    for way in PRUNED[dataset][:2]:
        alpha = trees[(trees["seed"] == DRAWN) & (trees["way"] == way)]["alpha"].item()
        for ax in (errors, sizes):
            ax.axvline(alpha, color=WAYS[way][1], linewidth=1.4)
    dress(errors, COST, METRIC[dataset], f"{dataset}, {NOISY}")
    dress(sizes, COST, "leaves", "")
    for ax in (errors, sizes):
        log_scale(ax, "x", ALPHAS)
        ax.invert_xaxis()
    number_scale(errors, "y")
    log_scale(sizes, "y", (1, 3, 10, 30, 100, 300, 1000))


def draw_trees(ax: Axes, table: pd.DataFrame, dataset: str) -> None:
    for noise in (CLEAN, NOISY):
        trees = part_of(table, "tree", dataset, noise)
        for way in ("whole", *PRUNED[dataset]):
            found, colour = trees[trees["way"] == way], WAYS[way][1]
            face = colour if noise == NOISY else "none"
            ax.plot(found["leaves"], found["test"], "o", markersize=4.5, markerfacecolor=face,
                    markeredgecolor=colour, markeredgewidth=1.0)  # fmt: skip
    dress(ax, "leaves", f"{METRIC[dataset]}, test", dataset)
    log_scale(ax, "x", (1, 3, 10, 30, 100, 300, 1000))
    number_scale(ax, "y")


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    trees = table[table["part"] == "tree"]
    columns = ["set", "noise", "way"]
    errors = trees.pivot(index="seed", columns=columns, values="test")
    leaves = np.log(trees.pivot(index="seed", columns=columns, values="leaves"))
    ways = [(dataset, way) for dataset in SETS for way in PRUNED[dataset]]

    def share(dataset: str, noise: str, way: str, other: str = "whole") -> pd.Series:
        here = errors[dataset][noise]
        return here[way] / here[other]

    def smaller(dataset: str, noise: str, way: str, other: str = "whole") -> Measured:
        here = leaves[dataset][noise]
        return over_seeds(here[other] - here[way]).through(np.exp)

    price = sum(share(dataset, CLEAN, "one_se", "best") for dataset in SETS) / len(SETS) - 1.0
    of_classes = errors["waveform"].T.groupby(level="way").mean().T  # over clean and noisy
    return [
        exactly("the path is nested: steps to a smaller α, over all seeds, at which leaves get "
                "fewer or, of numbers, the training error rises", 0, n_not_nested(table),
                "a subtree of a subtree has no more leaves, and fits no closer"),
        every("clean: times as many leaves as the pruned tree T₀ has",
              [above(f"{dataset}, {way}", smaller(dataset, CLEAN, way), 2.0, HALF)
               for dataset, way in ways]),
        every("noisy: times as many leaves as the pruned tree T₀ has",
              [above(f"{dataset}, {way}", smaller(dataset, NOISY, way), 5.0, SEVERAL)
               for dataset, way in ways]),
        every("noisy: error of the pruned tree as a share of T₀'s",
              [below(f"{dataset}, {way}", over_seeds(share(dataset, NOISY, way)), 1.0)
               for dataset, way in ways]),
        every("clean: no worse with the best α; error as a share of T₀'s",
              [below(dataset, over_seeds(share(dataset, CLEAN, "best")), 1.02, FIFTIETH)
               for dataset in SETS]),
        every("noisy: how much of what the best α on test rows would gain over T₀, "
              "cross-validation's gains",
              [above(dataset, over_seeds(gained(table, dataset)), 2 / 3, "two thirds of it")
               for dataset in SETS]),
        every("times as many leaves with the best α as with that of one standard error",
              [above(f"{dataset}, {noise}", smaller(dataset, noise, "one_se", "best"), 1.0)
               for dataset in SETS for noise in (CLEAN, NOISY)]),
        above("clean: what one standard error adds to the error of the best α, as a share, on "
              "average over sets", over_seeds(price)),
        within("waveform: error with α by wrong labels less that by impurity, mean of clean "
               "and noisy", over_seeds(of_classes["misclassification"] - of_classes["best"]),
               0.02, "a fifth of what pruning gains here with noise"),
    ]  # fmt: skip


def n_not_nested(table: pd.DataFrame) -> int:
    """Paths stand in the order of falling α."""
    count = 0
    for (dataset, *_), path in table[table["part"] == "path"].groupby(["set", "noise", "seed"]):
        assert path["alpha"].is_monotonic_decreasing
        steps = path[["leaves", "train"]].diff()[1:]
        count += int((steps["leaves"] < 0).sum())
        if dataset == "friedman1":
            count += int((steps["train"] > 1e-9).sum())
    return count


def gained(table: pd.DataFrame, dataset: str) -> pd.Series:
    """With noise, by seed: what α by cross-validation gains over T₀, as a share of what the best of
    the path on test rows would, which no rows can choose."""
    trees = part_of(table, "tree", dataset, NOISY).pivot(index="seed", columns="way", values="test")
    least = part_of(table, "path", dataset, NOISY).groupby("seed")["test"].min()
    return (trees["whole"] - trees["best"]) / (trees["whole"] - least)

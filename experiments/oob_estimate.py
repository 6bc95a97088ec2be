"""The out-of-bag error beside the error on test rows."""

import numpy as np
import pandas as pd
from scipy.stats import binom

from experiments import Verdict, above, every, within
from experiments._paper import banded, log_scale, paper
from experiments._statistics import over_repeats, over_seeds, over_splits
from experiments.bootstrap_37 import share_left_out
from forestlab.compare.statistics import overlap_of
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import DASHES, LINE, SPLIT_COLOURS, SPLIT_MARKERS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "004"
SAYS = """
A row is left out of 37 % of the bags. The trees of those bags have not seen it, and their vote on
it tells how the forest does on new rows: the out-of-bag error needs no validation set, and every
row is used to train other trees.

What the document does not say: on a row only 37 % of the trees vote, so the error is that of a
smaller forest, and too high where trees are few. Rows with k voters err like test rows of a forest
of k trees; the mean over the voters that chance gives the rows is the out-of-bag error, and here
both are measured. With 200 trees the difference is small: less than a point on twonorm, of which
each repeat draws its own rows; splits of the digits, which share theirs, cannot tell that much.

It also says that pruning changes the training error but not the out-of-bag error, as out-of-bag
rows were not used for training. It changes both: a pruned tree answers otherwise for any row. What
is true is that out-of-bag rows did not grow the tree, so that their error can judge the pruning.
Here trees are pruned in the simplest way, by cutting all at a depth: the out-of-bag error moves
with the error on test rows, and the training error does not.
"""

DATASETS = ("digits", "twonorm")
OVERLAPS = {"digits": overlap_of(0.25), "twonorm": 0.0}  # of the repeats; twonorm is made anew
SPLITS = ("train", "test", "oob")
TOLD = {"digits": "digits", "twonorm": "twonorm, 1000 training rows"}
FEW, MANY = 10, 200  # trees
CUT = 4  # a depth
A_THIRD = "a third of what few voters add at most, over numbers of trees"
PREDICTED = "#AA3377"


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """Errors by number of trees, by depth, and by number of voters; a row a run and number."""
    large = [run for run in runs if run.params["n_estimators"] == MANY]
    small = [run for run in runs if run.params["n_estimators"] == FEW]
    parts = [*map(_by_trees, large), *map(_by_depth, large), *map(_by_voters, small)]
    return pd.concat(parts, ignore_index=True)


def _named(run, part: str, columns: dict) -> pd.DataFrame:
    names = {"dataset": run.params["dataset.name"], "seed": run.params["seed"]}
    return pd.DataFrame({"part": part} | names | columns)


def _by_trees(run) -> pd.DataFrame:
    curves = {split: 1.0 - run.curve(f"by_trees/accuracy/{split}") for split in SPLITS}
    sizes = np.flatnonzero(np.isfinite(curves["test"]))
    voters = run.curve("by_trees/oob_voters")[sizes]
    found = {split: curve[sizes] for split, curve in curves.items()}
    n_classes = len(run.artifact("confusion/test.json")["classes"])
    n_rows = sum(run.artifact("oob/voters.json")["rows"])
    expected = out_of_bag_of(sizes, found["test"], share_left_out(n_rows), n_classes == 2)
    return _named(run, "trees", {"n": sizes} | found | {"voters": voters, "expected_oob": expected})


def out_of_bag_of(
    sizes: np.ndarray, errors: np.ndarray, share: float, is_of_two_classes: bool
) -> np.ndarray:
    """The out-of-bag error that the test errors of forests let one expect.

    Parameters
    ----------
    sizes, errors : (k,) rising numbers of trees from 1 on, and the test error with so many;
        between them it is taken as a straight line in the logarithm of the size
    share : of the trees that vote on a row, each by its own chance
    is_of_two_classes : then the last of an even number of whole trees makes a tie or changes
        nothing, so that k of them err as often as k - 1

    Returns
    -------
    (k,) for each size the mean error over the voters of a row, of those that have any.
    """
    voters = np.arange(1, sizes[-1] + 1)
    known, asked = sizes, voters
    if is_of_two_classes:
        known, asked = ((numbers - 1) // 2 * 2 + 1 for numbers in (sizes, voters))
    places, first = np.unique(known, return_index=True)
    means = np.add.reduceat(errors, first) / np.diff(first, append=len(errors))
    of_voters = np.interp(np.log(asked), np.log(places), means)
    chances = binom.pmf(voters, sizes[:, None], share)
    return chances @ of_voters / chances.sum(axis=1)


def _by_depth(run) -> pd.DataFrame:
    curves = {split: 1.0 - run.curve(f"accuracy/{split}") for split in SPLITS}
    return _named(run, "depth", {"n": np.arange(len(curves["test"]))} | curves)


def _by_voters(run) -> pd.DataFrame:
    found = run.artifact("oob/voters.json")
    voted = np.array(found["voters"]) > 0
    error = np.array(found["error"], dtype=float)[voted]
    columns = {"n": np.array(found["voters"])[voted], "rows": np.array(found["rows"])[voted]}
    return _named(run, "voters", columns | {"oob": error})


def part_of(table: pd.DataFrame, part: str, dataset: str) -> pd.DataFrame:
    return table[(table["part"] == part) & (table["dataset"] == dataset)]


def by_voters(table: pd.DataFrame) -> pd.DataFrame:
    """Of all small forests: rows with so many voters, their error, and that of so many trees."""
    voters = part_of(table, "voters", "twonorm")
    wrong = (voters["rows"] * voters["oob"]).groupby(voters["n"]).sum()
    rows = voters.groupby("n")["rows"].sum()
    found = pd.DataFrame({"rows": rows, "error": wrong / rows})
    found["se"] = np.sqrt(found["error"] * (1 - found["error"]) / rows)
    return found.assign(test=part_of(table, "trees", "twonorm").groupby("n")["test"].mean())


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(split, SPLIT_COLOURS[split], marker=SPLIT_MARKERS[split]) for split in SPLITS]
    entries.append(Entry("oob, expected of test", PREDICTED))
    entries.append(Entry("bands: ± 1 sd of seeds", "none"))
    title = "The out-of-bag error is that of a forest of 37 % of the trees"
    right = inches_beside(entries)
    figure, rows = paper(title, 2 * [2 * [4.2]], 2 * [2.6], right=right, gap=0.8)
    for ax, dataset in zip(rows[0], DATASETS, strict=True):
        _draw_trees(ax, part_of(table, "trees", dataset), dataset)
    _draw_depth(rows[1][0], part_of(table, "depth", "digits"))
    _draw_voters(rows[1][1], by_voters(table))
    legend_beside(rows[0][1], entries)
    return figure


def _draw_split(ax, part, split: str) -> None:
    banded(ax, part, "n", split, SPLIT_COLOURS[split], marker=SPLIT_MARKERS[split])


def _draw_trees(ax, part, dataset: str) -> None:
    expected = part.groupby("n")["expected_oob"].mean()
    ax.plot(expected, color=PREDICTED, linewidth=1.2)
    for split in ("test", "oob"):
        _draw_split(ax, part, split)
    dress(ax, "number of trees", "error", f"{TOLD[dataset]}, {part['seed'].nunique()} seeds")
    ax.set_xlim(0.9, 1.1 * MANY)
    ax.set_ylim(0.0, 1.08 * part.groupby("n")["oob"].mean().max())
    log_scale(ax, "x", [1, 2, 5, 10, 20, 50, 100, 200])
    number_scale(ax, "y")


def _draw_depth(ax, part) -> None:
    deepest = part.groupby("seed")["n"].max().min()  # that all seeds have
    shown = part[(part["n"] >= 1) & (part["n"] <= deepest)]
    for split in SPLITS:
        _draw_split(ax, shown, split)
    dress(ax, "depth at which all trees are cut", "error", f"digits, {MANY} trees, pruned by depth")
    ax.set_xlim(0.5, deepest + 0.5)
    ax.set_ylim(0.0, 1.08 * shown["oob"].max())
    number_scale(ax, "x", 10, integer=True)
    number_scale(ax, "y")


def _draw_voters(ax, found) -> None:
    shown = found[found["rows"] >= 20]
    low, high = shown["error"] - shown["se"], shown["error"] + shown["se"]
    ax.vlines(shown.index, low, high, colors=SPLIT_COLOURS["oob"], linewidths=1.4)
    ax.plot(shown["error"], linestyle="none", color=SPLIT_COLOURS["oob"],
            marker=SPLIT_MARKERS["oob"], markersize=5.5)  # fmt: skip
    known = shown["test"].dropna()
    ax.plot(known, color=SPLIT_COLOURS["test"], linewidth=1.4, marker=SPLIT_MARKERS["test"],
            markersize=3.5)  # fmt: skip
    whole = found["error"] @ found["rows"] / found["rows"].sum()
    ax.axhline(whole, color=LINE, linewidth=1.0, linestyle=DASHES)
    note = f"twonorm, forests of {FEW} trees; dashed: oob of all rows; ± 1 standard error"
    dress(ax, "voters of a row (oob), or number of trees (test)", "error", note)
    ax.set_xlim(0.5, shown.index.max() + 0.5)
    ax.set_ylim(0.0, 1.1 * high.max())
    number_scale(ax, "x", 10, integer=True)
    number_scale(ax, "y")


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    return [
        *(_pessimism(table, dataset) for dataset in DATASETS),
        _agree(table),
        _as_expected(table),
        *_voters(table),
        *_pruning(table),
    ]


def _at(table, part: str, dataset: str, number: int) -> pd.DataFrame:
    found = part_of(table, part, dataset)
    return found[found["n"] == number].set_index("seed")


def _pessimism(table, dataset: str) -> Verdict:
    found = _at(table, "trees", dataset, FEW)
    return above(
        f"{dataset}, {FEW} trees: out-of-bag error less the error on test; too high, since "
        f"{found['voters'].mean():.1f} trees vote on a row",
        over_repeats(found["oob"] - found["test"], OVERLAPS[dataset]),
    )


def _agree(table) -> Verdict:
    found = _at(table, "trees", "twonorm", MANY)
    return within(
        f"twonorm, {MANY} trees: the same, which tells how the forest does on new rows",
        over_seeds(found["oob"] - found["test"]),
        0.01,
        "a point of accuracy is the least that would matter",
    )


def _as_expected(table) -> Verdict:
    part = part_of(table, "trees", "twonorm")
    off = (part["oob"] - part["expected_oob"]).groupby(part["n"])
    margin = _added(table) / 3
    return every(
        "twonorm: out-of-bag error less what test errors and the chance of voters let one expect, "
        "at each number of trees",
        [within(f"{n} trees", over_seeds(values), margin, A_THIRD) for n, values in off],
    )


def _added(table) -> float:
    """What few voters add to the error at most, over numbers of trees."""
    part = part_of(table, "trees", "twonorm")
    return (part["oob"] - part["test"]).groupby(part["n"]).mean().max()


def _voters(table) -> list[Verdict]:
    """Rows with k voters err like test rows of k trees; a mean over k, weighted by its rows."""
    small = part_of(table, "voters", "twonorm").set_index(["seed", "n"])
    test = part_of(table, "trees", "twonorm").set_index(["seed", "n"])["test"]
    known = small.join(test.rename("expected")).dropna(subset="expected").reset_index()
    verdicts = []
    for called, part in (("one or two", known[known["n"] <= 2]), ("more", known[known["n"] > 2])):
        off = part["rows"] * (part["oob"] - part["expected"])
        by_seed = off.groupby(part["seed"]).sum() / part.groupby("seed")["rows"].sum()
        verdicts.append(
            within(
                f"twonorm, {FEW} trees: error of rows with {called} voters, less that on test of "
                "as many trees",
                over_seeds(by_seed),
                _added(table) / 3,
                A_THIRD,
            )
        )
    return verdicts


def _pruning(table) -> list[Verdict]:
    cut = _at(table, "depth", "digits", CUT)
    part = part_of(table, "depth", "digits")
    whole = part.loc[part.groupby("seed")["n"].idxmax()].set_index("seed")
    change = cut[["oob", "test"]] - whole[["oob", "test"]]
    return [
        above(
            f"digits: what cutting at depth {CUT} adds to the out-of-bag error. The document says "
            "that pruning does not change it",
            over_splits(change["oob"], OVERLAPS["digits"]),
        ),
        within(
            "and that less what it adds to the error on test: out-of-bag rows can judge it",
            over_splits(change["oob"] - change["test"], OVERLAPS["digits"]),
            change["test"].mean() / 2,
            "half of what it adds on test",
        ),
    ]

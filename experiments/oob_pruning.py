"""Out-of-bag pruning: smaller trees, and an out-of-bag error that speaks too well of them."""

import numpy as np
import pandas as pd

from experiments import Verdict, above, below, every, frame
from experiments._paper import paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, DASHES, LINE, dress
from forestlab.figures.words import number_scale, scale

DOCUMENT = "004"
SAYS = """
Out-of-bag pruning merges two leaves into one and deletes the question that led to them. This
changes the training error but not the out-of-bag error, as out-of-bag rows are not used for
training: a great advantage.

That these rows did not grow the tree makes them fit to say where to merge. It is a good way to
prune: about half of the leaves go, and where labels are wrong the forest errs less on new rows; on
friedman1 it errs more, by less than a hundredth. But the out-of-bag error does change, as a pruned
tree answers otherwise. It falls by far more than the error on test rows, because the rows that
chose which leaves to merge judge what they chose: an error that was not too low before is several
points too low afterwards. Of a pruned forest only rows that took no part tell how good it is.

Out-of-bag rows have labels that are as wrong as those of training. So test rows, whose labels are
right, are held against them by the error that they would have with labels as noisy.
"""
CLASSES = {"twonorm": 2, "threenorm": 2, "waveform": 3}
SETS = (*CLASSES, "friedman1")
STATES = {"none": ("as grown", COLOURS[1]), "oob": ("pruned", COLOURS[0])}
FIFTH = 0.8, "a fifth smaller is what makes it worth the while"
LEAST = {  # that would matter, by set, with the reason
    **dict.fromkeys(CLASSES, (0.01, "a point is the least difference that would matter")),
    "friedman1": (0.02, "a fiftieth of the error is the least difference that would matter"),
}


# ---- table -------------------------------------------------------------------------------------


def table(runs):
    """A row a run: wrong labels on test and out of bag as shares, or root mean squared errors, and
    the leaves of a tree.

    `alike` is the error on test rows if their labels were as noisy as those out of bag.
    """
    keys = "dataset.name", "dataset.label_noise", "pruning.name", "seed"
    found = frame(runs, *keys).set_axis(["dataset", "noise", "pruning", "seed"], axis=1)
    for split in ("test", "oob"):
        found[split] = [_error(run, split) for run in runs]
    n_classes = found["dataset"].map(CLASSES)
    made_noisy = with_noise(found["test"], found["noise"], n_classes)
    found["alike"] = np.where(n_classes.isna(), found["test"], made_noisy)
    for when in ("n_leaves_before", "n_leaves"):
        found[when] = [run.metrics.get(f"summary/pruning_{when}", np.nan) for run in runs]
    return found.drop(columns="noise")


def _error(run, split: str) -> float:
    if "accuracy/test" in run.metrics:
        return 1.0 - run.metrics[f"accuracy/{split}"]
    return run.metrics[f"rmse/{split}"]


def with_noise(error, share, n_classes):
    """The share of answers that differ from labels of which a share has become another class.

    An answer that was right is wrong if its label was changed; one that was wrong becomes right if
    the label was changed to it, which one of the n_classes - 1 others is.
    """
    return error * (1.0 - share / (n_classes - 1)) + (1.0 - error) * share


def wide_of(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """By seed, with a column for each set and each way of pruning."""
    return table.pivot(index="seed", columns=["dataset", "pruning"], values=column)


def unit(table: pd.DataFrame, dataset: str) -> float:
    """Of differences: a share of wrong labels as it is, of numbers the error of whole trees."""
    return 1.0 if dataset in CLASSES else float(wide_of(table, "test")[dataset]["none"].mean())


# ---- picture -----------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(name, colour, 0.0, "o") for name, colour in STATES.values()]
    entries += [Entry("oob as on test", LINE, 1.0), Entry("a dot: a seed", "none")]
    figure, (above_row, below_row) = paper(
        "Out-of-bag pruning, forests of 100 trees and 1,000 training rows: smaller, as good, and "
        "judged too well",
        [[2.1] * len(SETS), [4.95] * 2],
        [2.1, 1.5],
        left=0.9,
        right=inches_beside(entries),
    )
    for ax, dataset in zip(above_row, SETS, strict=True):
        _draw_judged(ax, table[table["dataset"] == dataset], dataset)
    pruned = table[table["pruning"] == "oob"]
    _draw_spread(below_row[0], pruned["n_leaves"] / pruned["n_leaves_before"], pruned["dataset"])
    dress(below_row[0], "leaves left, as a share", "", "")
    change = pd.concat([_changes(table, dataset) for dataset in SETS])
    _draw_spread(below_row[1], change["by"], change["dataset"], named=False)
    dress(below_row[1], "test error added by pruning", "", "friedman1: as a share of the error")
    below_row[0].set_xlim(0.0, 1.0)
    below_row[1].axvline(0.0, color=LINE, linewidth=1.0)
    for ax in below_row:
        number_scale(ax, "x", 6)
    legend_beside(above_row[-1], entries)
    return figure


def _draw_judged(ax, part: pd.DataFrame, dataset: str) -> None:
    for pruning, (_, colour) in STATES.items():
        here = part[part["pruning"] == pruning]
        ax.plot(here["alike"], here["oob"], "o", color=colour, markersize=3.5, alpha=0.7)
    low, high = part[["alike", "oob"]].min().min(), part[["alike", "oob"]].max().max()
    room = 0.06 * (high - low)
    ends = low - room, high + room
    ax.plot(ends, ends, color=LINE, linewidth=1.0, linestyle=DASHES, zorder=0)
    ax.set_xlim(*ends)
    ax.set_ylim(*ends)
    is_class = dataset in CLASSES
    error = "error" if is_class else "rmse"
    dress(ax, f"{error} on test{', labels as noisy' * is_class}", f"{error} out of bag", dataset)
    number_scale(ax, "x", 4)
    number_scale(ax, "y", 4)


def _changes(table: pd.DataFrame, dataset: str) -> pd.DataFrame:
    here = wide_of(table, "test")[dataset]
    return pd.DataFrame(
        {"dataset": dataset, "by": (here["oob"] - here["none"]) / unit(table, dataset)}
    )


def _draw_spread(ax, values: pd.Series, datasets: pd.Series, named: bool = True) -> None:
    """A line a set: the seeds as dots."""
    places = datasets.map({name: k for k, name in enumerate(SETS)})
    ax.plot(values, places, "o", color=STATES["oob"][1], markersize=3.5, alpha=0.4)
    ax.set_ylim(len(SETS) - 0.5, -0.5)
    scale(ax, "y", np.arange(len(SETS)), list(SETS) if named else [""] * len(SETS), grid=False)


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    less = {column: _by_pruning(table, column) for column in ("test", "oob")}
    return [
        every("leaves that are left, as a share", [_smaller(table, name) for name in SETS]),
        every(
            "what pruning adds to the error on test rows: not worse",
            [below(name, less["test"][name], *LEAST[name]) for name in SETS],
        ),
        every(
            "where labels are noisy it takes away from it",
            [below(name, less["test"][name]) for name in CLASSES],
        ),
        every(
            "what pruning adds to the out-of-bag error, which the document says it does not change",
            [below(name, less["oob"][name]) for name in SETS],
        ),
        every(
            "as grown: out-of-bag error less that on test, which is not too low",
            [_trusted(table, name) for name in SETS],
        ),
        *(_optimistic(table, name) for name in SETS),
    ]


def _by_pruning(table: pd.DataFrame, column: str) -> dict[str, Measured]:
    """What pruning adds to an error, by set, in its unit."""
    wide = wide_of(table, column)
    return {
        name: over_seeds((wide[name]["oob"] - wide[name]["none"]) / unit(table, name))
        for name in SETS
    }


def _smaller(table: pd.DataFrame, dataset: str) -> Verdict:
    here = table[(table["dataset"] == dataset) & (table["pruning"] == "oob")]
    return below(dataset, over_seeds(here["n_leaves"] / here["n_leaves_before"]), *FIFTH)


def _judged(table: pd.DataFrame, dataset: str, pruning: str) -> Measured:
    """Out-of-bag error less that on test rows whose labels are as noisy."""
    oob, test = (wide_of(table, column)[dataset][pruning] for column in ("oob", "alike"))
    return over_seeds((oob - test) / unit(table, dataset))


def _trusted(table: pd.DataFrame, dataset: str) -> Verdict:
    margin, reason = LEAST[dataset]
    return above(dataset, _judged(table, dataset, "none"), -margin, reason)


def _optimistic(table: pd.DataFrame, dataset: str) -> Verdict:
    margin, reason = LEAST[dataset]
    in_shares = "" if dataset in CLASSES else ", as a share of the error"
    return below(
        f"{dataset}, pruned: out-of-bag error less that on test{in_shares}; too low, as it has "
        "chosen",
        _judged(table, dataset, "oob"),
        -margin,
        reason,
    )

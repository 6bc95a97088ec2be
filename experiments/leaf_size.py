"""How many rows a leaf must have: what it does to a tree, and to a forest."""

import numpy as np
import pandas as pd

from experiments import LoggedRun, above, below, every, within
from experiments._paper import banded, log_scale, paper
from experiments._statistics import Measured, over_seeds
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import COLOURS, dress
from forestlab.figures.words import number_scale

DOCUMENT = "002"
SAYS = """
Growth stops where a node has no more than min_leave_size rows; and, some pages on, at a minimum
number of samples per leaf. These are two rules: the first may end in leaves of a single row, the
second chooses other splits too, so that no whole tree holds what it grows.

A tree has too many leaves at one end and too few at the other, with its best between them: some 30
of 1,000 rows here. A forest does without, if numbers are noisy: its best leaves are the smallest,
and those of ten rows cost. With a fifth of the labels wrong larger leaves help it as well, though
far less than a tree. As a rule for nodes a number of rows makes trees of more than twice the leaves
that it makes as a rule for leaves, and at their best, on the average of the two sets, worse ones.
"""
SETS = {
    "waveform": "waveform, a fifth of labels wrong",
    "friedman1": "friedman1, noise of deviation 3",
}
WAYS = {  # the model, and what the number is of
    ("tree", "leaf"): ("a tree: rows of a leaf", COLOURS[0]),
    ("tree", "split"): ("a tree: no split of so few", COLOURS[1]),
    ("forest", "leaf"): ("a forest: rows of a leaf", COLOURS[2]),
}
SIZES = (1, 3, 10, 30, 100, 300)
SMALLEST, LARGE, MIDDLE, LARGEST = 1, 10, 30, 300


def table(runs):
    """A row a run, and another for whole trees, which are the start of both ways."""
    rows = [row for run in runs for row in _rows(run)]
    return pd.DataFrame(rows)


def _rows(run: LoggedRun) -> list[dict]:
    params, found = run.params, run.metrics
    model, size = params["model.name"], params["model.min_samples_leaf"]
    row = {"set": params["dataset.name"], "model": model, "seed": params["seed"]}
    has_classes = "accuracy/test" in found
    for split in ("valid", "test"):
        row[split] = 1.0 - found[f"accuracy/{split}"] if has_classes else found[f"rmse/{split}"]
    row["leaves"] = found["summary/trees_n_leaves"]
    few = params["model.min_samples_split"] - 1
    if few > 1:
        return [row | {"rule": "split", "size": few}]
    ways = [row | {"rule": "leaf", "size": size}]
    return ways + ([row | {"rule": "split", "size": 1}] if size == 1 and model == "tree" else [])


def of_way(table: pd.DataFrame, dataset: str, model: str, rule: str = "leaf") -> pd.DataFrame:
    here = table[["set", "model", "rule"]] == [dataset, model, rule]
    return table[here.all(axis=1)]


def chosen(found: pd.DataFrame) -> pd.DataFrame:
    """By seed, the row of the size that is best on validation; of equal ones the larger."""
    ordered = found.sort_values(["valid", "size"], ascending=[True, False])
    return ordered.groupby("seed").first()


# ---- the picture -------------------------------------------------------------------------------


def draw(table):
    entries = [Entry(label, colour, marker="o") for label, colour in WAYS.values()]
    entries += [Entry("bands: ± 1 sd of seeds", "none")]
    figure, (errors, sizes) = paper(
        "Leaves of few rows and of many, 1,000 training rows; a forest has 50 trees",
        [[2.9] * 2] * 2,
        [2.2, 1.7],
        right=inches_beside(entries),
    )
    for k, (dataset, note) in enumerate(SETS.items()):
        for (model, rule), (_, colour) in WAYS.items():
            found = of_way(table, dataset, model, rule)
            banded(errors[k], found, "size", "test", colour)
            banded(sizes[k], found, "size", "leaves", colour)
        error = "error, test" if dataset == "waveform" else "root mean squared error, test"
        dress(errors[k], "number of rows", error, note)
        dress(sizes[k], "number of rows", "leaves of a tree", "")
        for ax in (errors[k], sizes[k]):
            log_scale(ax, "x", SIZES)
        number_scale(errors[k], "y")
        log_scale(sizes[k], "y", (1, 3, 10, 30, 100, 300, 1000))
    legend_beside(errors[-1], entries)
    return figure


# ---- verdicts ----------------------------------------------------------------------------------


def judge(table):
    def error(dataset: str, model: str, size: int) -> pd.Series:
        found = of_way(table, dataset, model)
        return found[found["size"] == size].set_index("seed")["test"]

    def best(dataset: str, model: str, rule: str = "leaf") -> pd.Series:
        return chosen(of_way(table, dataset, model, rule))["test"]

    def share(dataset: str, model: str, size: int = SMALLEST) -> pd.Series:
        """The error with the chosen size, of that with a given one."""
        return best(dataset, model) / error(dataset, model, size)

    def times(dataset: str) -> Measured:
        by_rule = [of_way(table, dataset, "tree", rule) for rule in ("split", "leaf")]
        split, leaf = (
            found[found["size"] == MIDDLE].set_index("seed")["leaves"] for found in by_rule
        )
        return over_seeds(np.log(split / leaf)).through(np.exp)

    by_node = sum(best(name, "tree", "split") / best(name, "tree") for name in SETS) / len(SETS)
    chosen_size = "with the size that validation chooses"
    return [
        *(
            every(
                f"a tree: error {chosen_size}, as a share of that with leaves of {size} or more",
                [below(name, over_seeds(share(name, "tree", size)), 1.0) for name in SETS],
            )
            for size in (SMALLEST, LARGEST)
        ),
        within(
            f"a forest, friedman1: error {chosen_size}, as a share of that with leaves of any size",
            over_seeds(share("friedman1", "forest")),
            0.02,
            "a fiftieth of the error is the least difference that would matter",
            1.0,
        ),
        above(
            f"a forest, friedman1: what leaves of {LARGE} or more add to the error",
            over_seeds(error("friedman1", "forest", LARGE) - error("friedman1", "forest", 1)),
        ),
        below(
            f"a forest, waveform with wrong labels: error {chosen_size}, as a share of that with "
            "leaves of any size",
            over_seeds(share("waveform", "forest")),
            1.0,
        ),
        every(
            "the size of leaves matters less to a forest; what it takes away of the error, of a "
            "tree less of a forest",
            [above(name, over_seeds(share(name, "forest") - share(name, "tree"))) for name in SETS],
        ),
        every(
            f"a tree: times as many leaves if nodes of {MIDDLE} rows are not split, as if leaves "
            "must have so many",
            [above(name, times(name), 2.0, "a split in two needs twice the rows") for name in SETS],
        ),
        above(
            "a tree: error by the rows of a node, as a share of that by the rows of a leaf, each "
            "at the size that validation chooses, on average over sets",
            over_seeds(by_node),
            1.0,
        ),
    ]

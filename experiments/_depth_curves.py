"""Document 000's four pictures: a metric against the depth at which trees are cut, 1 … 20.

The document grows to depth 20 once and stops early when it predicts, as forestlab's curves do. It
shows pictures without numbers: here stands what its own code gives, from reference/.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import LoggedRun, Verdict, reference
from forestlab.core.prune import best_depth
from forestlab.figures.curves import PANEL
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import SPLIT_COLOURS, dress, panels
from forestlab.figures.words import number_scale

SPLITS = ("train", "valid", "test")
DEPTHS = np.arange(1, 21)
ONE_TREE, OTHER = "#888888", "#AA3377"


# ---- tables ------------------------------------------------------------------------------------


def tree_table(run: LoggedRun, metric: str, key: str) -> pd.DataFrame:
    """A row a split and depth; `key` is that of the document's numbers."""
    document = np.array(reference("000")[key])  # (20, 3)
    return _stack(
        {
            split: {"forestlab": curves([run], metric, split)[0], "document": document[:, k]}
            for k, split in enumerate(SPLITS)
        }
    )


def forest_table(runs: list[LoggedRun], metric: str, key: str) -> pd.DataFrame:
    """A row a split and depth.

    Means over seeds, with the standard deviation of one forest (sd) and the standard error of the
    mean (se), of forestlab's forests and of the document's; the `distance` of the means in standard
    errors; the single `tree`; and, if there are any, the mean of forests that draw features
    `at_every_node`.
    """
    trees, forests, others = (
        [run for run in runs if run.params["model.name"] == name]
        for name in ("tree", "subspace", "forest")
    )
    document = reference("000")
    columns = {}
    for k, split in enumerate(SPLITS):
        seeds = curves(forests, metric, split)
        mean, sd = seeds.mean(axis=0), seeds.std(axis=0, ddof=1)
        mean_there, sd_there = (np.array(document[name])[:, k] for name in (key, f"{key}_sd"))
        error = np.sqrt(sd**2 / len(forests) + sd_there**2 / document["forest_seeds"])
        columns[split] = {
            "forestlab": mean,
            "forestlab_sd": sd,
            "forestlab_se": sd / np.sqrt(len(forests)),
            "document": mean_there,
            "document_sd": sd_there,
            "distance": np.abs(mean - mean_there) / error,
            "tree": curves(trees, metric, split)[0],
        }
        if others:
            columns[split]["at_every_node"] = curves(others, metric, split).mean(axis=0)
    return _stack(columns)


def curves(runs: list[LoggedRun], metric: str, split: str) -> np.ndarray:
    """(n_runs, 20) values at depths 1 … 20; trees that end before stay as they are."""
    logged = [run.curve(f"{metric}/{split}") for run in runs]
    return np.array([values[np.minimum(DEPTHS, len(values) - 1)] for values in logged])


def _stack(columns: dict[str, dict[str, np.ndarray]]) -> pd.DataFrame:
    parts = [pd.DataFrame({"split": s, "depth": DEPTHS} | part) for s, part in columns.items()]
    return pd.concat(parts, ignore_index=True)


def at(table: pd.DataFrame, split: str, depth: int) -> pd.Series:
    """One row of a table."""
    return table[(table["split"] == split) & (table["depth"] == depth)].iloc[0]


def chosen_depth(curve: pd.Series, higher_is_better: bool) -> int:
    """The depth that a curve chooses, by `best_depth`; its index are the depths."""
    values = np.full(curve.index.max() + 1, np.nan)
    values[curve.index] = curve
    depth = best_depth(values, higher_is_better)
    assert depth is not None
    return depth


# ---- verdicts ----------------------------------------------------------------------------------


def same_forests(table: pd.DataFrame) -> Verdict:
    """forestlab's forests are those of the document, but for the draws."""
    return Verdict(
        "largest distance between forestlab's mean curve and that of the document's code, in "
        "standard errors",
        0.0,
        table["distance"].max(),
        4.0,
        "both draw at random, with 30 and 50 seeds; of 60 means that agree, one is 4 standard "
        "errors away less than once in 100 times",
    )


# ---- pictures ----------------------------------------------------------------------------------


def draw_tree(table: pd.DataFrame, metric: str, title: str) -> Figure:
    """forestlab's curves as lines, the document's values as rings on them."""
    entries = [Entry(split, SPLIT_COLOURS[split]) for split in SPLITS]
    figure, ax = _paper(title, entries)
    for split in SPLITS:
        part = table[table["split"] == split]
        ax.plot(part["depth"], part["forestlab"], color=SPLIT_COLOURS[split], linewidth=1.6)
        _rings(ax, part["document"], SPLIT_COLOURS[split])
    _finish(ax, metric, "lines: forestlab; rings: the document's own code")
    return figure


def draw_forest(table: pd.DataFrame, metric: str, title: str) -> Figure:
    """Means and spread over seeds as lines and bands, the document's means as rings, and the
    single tree's test curve."""
    entries = [Entry(split, SPLIT_COLOURS[split]) for split in SPLITS]
    entries.append(Entry("test, one tree", ONE_TREE, width=1.0))
    if "at_every_node" in table:
        entries.append(Entry("test, features drawn at every node", OTHER))
    figure, ax = _paper(title, entries)
    for split in SPLITS:
        part, colour = table[table["split"] == split], SPLIT_COLOURS[split]
        mean, sd = part["forestlab"], part["forestlab_sd"]
        ax.fill_between(DEPTHS, mean - sd, mean + sd, color=colour, alpha=0.15, linewidth=0)
        ax.plot(DEPTHS, mean, color=colour, linewidth=1.6)
        _rings(ax, part["document"], colour)
    ax.plot(DEPTHS, part["tree"], color=ONE_TREE, linewidth=1.0)
    if "at_every_node" in table:
        ax.plot(DEPTHS, part["at_every_node"], color=OTHER, linewidth=1.6)
    note = "lines, bands: forestlab, mean and sd of seeds; rings: the document's code, mean"
    _finish(ax, metric, note)
    return figure


def _paper(title: str, entries: list[Entry]) -> tuple[Figure, Axes]:
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1], left=0.7, right=inches_beside(entries))
    legend_beside(ax, entries)
    return figure, ax


def _rings(ax: Axes, values: pd.Series, colour: str) -> None:
    ax.plot(DEPTHS, values, "o", markersize=5.5, markerfacecolor="none", markeredgecolor=colour,
            markeredgewidth=1.0)  # fmt: skip


def _finish(ax: Axes, metric: str, note: str) -> None:
    dress(ax, "depth", metric, note)
    ax.set_xlim(DEPTHS[0] - 0.6, DEPTHS[-1] + 0.6)
    number_scale(ax, "x", 10, integer=True)
    number_scale(ax, "y")

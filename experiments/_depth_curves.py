"""Document 000's four pictures: a metric against the depth at which trees are cut, 1 … 20.

The document grows to depth 20 once and stops early when it predicts, as forestlab's curves do. It
shows pictures without numbers: here stands what its own code gives, from reference/.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments import LoggedRun, Verdict, every, reference, within
from experiments._statistics import Measured, apart, moments, over_seeds
from forestlab.compare.statistics import Sample
from forestlab.core.prune import best_depth
from forestlab.figures.curves import PANEL
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import SPLIT_COLOURS, dress, panels
from forestlab.figures.words import number_scale

SPLITS = ("train", "valid", "test")
DEPTHS = np.arange(1, 21)
ONE_TREE, OTHER = "#888888", "#AA3377"
ONE_DRAW = (
    "one standard deviation: the document shows a single forest, and in its picture no less could "
    "be seen"
)


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


KINDS = {"tree": "tree", "subspace": "forest", "forest": "at_every_node"}  # by model


def forest_table(runs: list[LoggedRun], metric: str, key: str) -> pd.DataFrame:
    """A row a kind, seed, split and depth.

    Kinds are the document's `forest`, its single `tree`, and, if there are any, forests that draw
    features `at_every_node`; then the `document` itself: mean and standard deviation (sd) of what
    its own code gives.
    """
    parts = []
    for run in runs:
        which = {"kind": KINDS[run.params["model.name"]], "seed": run.params["seed"]}
        for split in SPLITS:
            values = curves([run], metric, split)[0]
            parts.append(pd.DataFrame(which | {"split": split, "depth": DEPTHS, "value": values}))
    document = reference("000")
    for k, split in enumerate(SPLITS):
        means, sds = (np.array(document[name])[:, k] for name in (key, f"{key}_sd"))
        told = {"split": split, "depth": DEPTHS, "value": means, "sd": sds}
        parts.append(pd.DataFrame({"kind": "document"} | told))
    return pd.concat(parts, ignore_index=True)


def by_seed(table: pd.DataFrame, kind: str, split: str) -> pd.DataFrame:
    """(n_seeds, 20) values of a kind, by depth."""
    of_kind = table[(table["kind"] == kind) & (table["split"] == split)]
    return of_kind.pivot(index="seed", columns="depth", values="value")


def of_document(table: pd.DataFrame, split: str) -> pd.DataFrame:
    """By depth, its mean (value) and sd."""
    told = table[(table["kind"] == "document") & (table["split"] == split)]
    return told.set_index("depth")[["value", "sd"]]


def curves(runs: list[LoggedRun], metric: str, split: str) -> np.ndarray:
    """(n_runs, 20) values at depths 1 … 20; trees that end before stay as they are."""
    logged = [run.curve(f"{metric}/{split}") for run in runs]
    return np.array([values[np.minimum(DEPTHS, len(values) - 1)] for values in logged])


def _stack(columns: dict[str, dict[str, np.ndarray]]) -> pd.DataFrame:
    parts = [pd.DataFrame({"split": s, "depth": DEPTHS} | part) for s, part in columns.items()]
    return pd.concat(parts, ignore_index=True)


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
    n_there = reference("000")["forest_seeds"]
    verdicts = []
    for split in SPLITS:
        found, told = by_seed(table, "forest", split), of_document(table, split)
        for depth in DEPTHS:
            own, there = found[depth], told.loc[depth]
            off = apart(moments(own), Sample(n_there, there["value"], there["sd"]))
            verdicts.append(_in_deviations(f"{split}, depth {depth}", off, there["sd"]))
    return every(
        "mean curves of forestlab and of the document's code differ by less than one forest from "
        "the next, at each of 60 points; difference over the document's standard deviation",
        verdicts,
    )


def _in_deviations(what: str, off: Measured, sd: float) -> Verdict:
    if sd == 0.0:  # where nothing varies the difference itself must be 0
        return within(what, off, 0.0, ONE_DRAW)
    return within(what, off.through(lambda end: end / sd), 1.0, ONE_DRAW)


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
    """Means over seeds with their intervals as lines and bands, the document's means as rings, and
    the single tree's test curve."""
    others = {"tree": ("test, one tree", ONE_TREE)}
    if (table["kind"] == "at_every_node").any():
        others["at_every_node"] = ("test, features drawn at every node", OTHER)
    entries = [Entry(split, SPLIT_COLOURS[split]) for split in SPLITS]
    entries += [Entry(*entry, width=1.0) for entry in others.values()]
    figure, ax = _paper(title, entries)
    for split in SPLITS:
        _draw_mean(ax, by_seed(table, "forest", split), SPLIT_COLOURS[split], 1.6)
        _rings(ax, of_document(table, split)["value"], SPLIT_COLOURS[split])
    for kind, (_, colour) in others.items():
        _draw_mean(ax, by_seed(table, kind, "test"), colour, 1.0)
    note = "lines, bands: forestlab, mean and its 95 % interval; rings: the document's code, mean"
    _finish(ax, metric, note)
    return figure


def _draw_mean(ax: Axes, values: pd.DataFrame, colour: str, width: float) -> None:
    found = [over_seeds(values[depth]) for depth in DEPTHS]
    low, high = ([getattr(each, end) for each in found] for end in ("low", "high"))
    ax.fill_between(DEPTHS, low, high, color=colour, alpha=0.25, linewidth=0)
    ax.plot(DEPTHS, [each.mean for each in found], color=colour, linewidth=width)


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

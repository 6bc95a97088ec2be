"""Document 000's four pictures: a metric against the depth at which trees are cut.

Each has the document's split, and depths 1 … 20. The document's own tree is cut likewise: it grows
to depth 20 once and stops early when it predicts.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments._runs import LoggedRun
from forestlab.figures.curves import PANEL
from forestlab.figures.legend import Entry, inches_beside, legend_beside
from forestlab.figures.style import LINE, SPLIT_COLOURS, dress, panels
from forestlab.figures.words import number_scale

SPLITS = ("train", "valid", "test")
DEPTHS = np.arange(1, 21)


def to_full_depth(curve: np.ndarray) -> np.ndarray:
    """(20,) values at depths 1 … 20 of a curve that ends where the forest does."""
    return curve[np.minimum(DEPTHS, len(curve) - 1)]


def tree_table(run: LoggedRun, metric: str, document: list[list[float]]) -> pd.DataFrame:
    """A row a split and depth; `document` is (20, 3) values of its own code."""
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "split": split,
                    "depth": DEPTHS,
                    "forestlab": to_full_depth(run.curve(f"{metric}/{split}")),
                    "document": np.array(document)[:, column],
                }
            )
            for column, split in enumerate(SPLITS)
        ],
        ignore_index=True,
    )


def draw_tree(table: pd.DataFrame, metric: str, title: str) -> Figure:
    """forestlab's curves as lines, the document's values as rings on them."""
    entries = [Entry(split, SPLIT_COLOURS[split]) for split in SPLITS]
    entries.append(Entry("the document's code", "none"))
    figure, (ax,) = panels(title, [PANEL[0]], PANEL[1], right=inches_beside(entries))
    for split in SPLITS:
        part = table[table["split"] == split]
        ax.plot(part["depth"], part["forestlab"], color=SPLIT_COLOURS[split], linewidth=1.6)
        ax.plot(part["depth"], part["document"], "o", color=SPLIT_COLOURS[split], markersize=5.5,
                markerfacecolor="none", markeredgewidth=1.0)  # fmt: skip
    legend_beside(ax, entries)
    _finish(ax, metric)
    return figure


def _finish(ax, metric: str, note: str = "") -> None:
    dress(ax, "depth", metric, note)
    ax.set_xlim(DEPTHS[0] - 0.6, DEPTHS[-1] + 0.6)
    number_scale(ax, "x", 10, integer=True)
    number_scale(ax, "y")

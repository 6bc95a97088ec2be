"""What pruning did: how large the trees were and are, and by what that was chosen.

Rows that choose how far trees are cut back then speak too well of them. *Optimism* is by how much
they find the forest better than the test rows do, which took no part.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.forest.grown import Pruned
from forestlab.study.first_tree import DRAWN_DEPTH, view_of
from forestlab.study.metrics import METRICS
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single, steps


class Cut(NamedTuple):
    was: Pruned
    n_leaves: float  # of a tree, on the average


def _find(look: Look) -> Cut | None:
    if look.grown.pruned is None:
        return None
    sizes = np.diff(look.grown.forest.first_node)
    return Cut(look.grown.pruned, float(np.mean((sizes + 1) // 2)))


def _judge(was: Pruned) -> str:
    """The split that chose, if one did."""
    return {"oob": "oob", "valid": "valid"}.get(was.by if was.by == "oob" else was.chosen_by, "")


def _numbers(found: Cut, findings: Findings) -> Iterator[Number]:
    was = found.was
    yield single("pruning_n_leaves_before", float(was.n_leaves.mean()))
    yield single("pruning_n_leaves", found.n_leaves)
    if was.by == "ccp":
        yield single("pruning_alpha", was.alpha)
    yield from steps("pruning/path_alpha", was.alphas)
    yield from steps("pruning/path_loss", was.losses)
    yield from steps("pruning/path_error", was.errors)
    curves, judge = findings.curves[findings.main], _judge(was)
    if judge in curves and "test" in curves:
        sign = 1.0 if METRICS[findings.main].higher_is_better else -1.0
        yield single("pruning_optimism", sign * float(curves[judge][-1] - curves["test"][-1]))


def _table(found: Cut, findings: Findings, about: About) -> Files:
    import pandas as pd

    was = found.was
    yield "tree/before.txt", view_of(was.first, findings, about).export_text(max_depth=10) + "\n"
    if len(was.alphas):
        path = {"ccp_alpha": was.alphas, "loss": was.losses, "standard_error": was.errors}
        yield "pruning.csv", pd.DataFrame(path | {"chosen": was.alphas == was.alpha})


def _picture(found: Cut, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    was = found.was
    before = view_of(was.first, findings, about)
    title = f"{about.title}: the first tree before it was pruned"
    yield "tree/before.png", figures.tree_picture(before, DRAWN_DEPTH, title=title)
    if len(was.alphas) > 1:
        loss = "error rate" if findings.has_classes else "squared error"
        rows = {"cv": "cross-validation", "valid": "validation rows"}[was.chosen_by]
        path = (np.array(part) for part in (was.alphas, was.losses, was.errors))
        alphas, losses, errors = path
        label, title = f"{loss}, mean of {rows}", about.titled("Loss by what a leaf costs, α")
        picture = figures.alpha_curve(alphas, losses, errors, was.alpha, label, title)
        yield "pruning.png", picture


PART = Part(
    level="light",
    targets="all",
    applies=lambda look: look.grown.pruned is not None,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "summary/pruning_n_leaves_before": "of a tree as it grew, on the average",
        "summary/pruning_n_leaves": "of a tree once it is pruned",
        "summary/pruning_alpha": "what a leaf costs, with cost-complexity pruning",
        "pruning/path_alpha": "what it was chosen from; step: the place, strictest first",
        "pruning/path_loss": "wrong labels or squared error there",
        "pruning/path_error": "the standard error of that",
        "summary/pruning_optimism": "by how much the rows that chose find the main metric better "
        "than the test rows do; with dataset.label_noise, which test labels are without, it says "
        "nothing",
    },
    files={
        "pruning.csv": "the path of α",
        "pruning.png": "the same",
        "tree/before": "the first tree before it was pruned",
    },
    neutral=("summary/pruning_n_leaves_before", "summary/pruning_alpha", "pruning/path_alpha"),
)

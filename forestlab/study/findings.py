"""Everything a run finds out about its forest, in one place, before any of it is logged.

*light*: every metric at every depth, out-of-bag answers, confusion, uncertainty, importance.
*full*: the whole surface of depths × numbers of trees, and what stands in `study.deeper`.
*off*: how good the forest is, as it is.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, tree_of
from forestlab.core.prune import best_depth, depths
from forestlab.forest import Asked, Grown, importances
from forestlab.study.curves import confusion, oob_by_trees
from forestlab.study.cuts import cuts_scored
from forestlab.study.deeper import Deeper, look_deeper
from forestlab.study.metrics import MAIN, METRICS, Metric
from forestlab.study.surface import Surface, deepest, surface
from forestlab.study.uncertainty import Gauge, Uncertainty, gauge


class Findings(NamedTuple):
    """Splits are "train", "valid", "test" and "oob"; those without rows are not there."""

    task: str
    classes: list | None
    surfaces: dict[str, Surface]  # by split
    importance: np.ndarray  # (n_trees, n_features)
    n_nodes: np.ndarray  # (n_trees,)
    n_leaves: np.ndarray
    depth: np.ndarray  # (n_trees,) reached
    cuts: np.ndarray | None  # (n_trees,) that were scored to grow; None: not counted
    first_depth: int  # that curves begin at
    # None or empty if the study is off, or where there is nothing to tell:
    chosen_depth: int | None = None  # see `choose_depth`
    chosen_on: str | None = None  # the split that chose it
    oob_by_trees: np.ndarray | None = None  # (n_trees,) error
    confusions: Mapping[str, np.ndarray] = MappingProxyType({})  # of test and oob
    uncertainties: Mapping[str, Uncertainty] = MappingProxyType({})  # of valid and test
    gauge: Gauge | None = None  # that told them
    deeper: Deeper | None = None  # the rest of a full study

    @property
    def main(self) -> str:
        """The task's main metric."""
        return MAIN[self.task]

    @property
    def curves(self) -> dict[str, dict[str, np.ndarray]]:
        """By metric and split: the number at each depth, of all trees."""
        return {
            metric: {split: found.values[metric][-1] for split, found in self.surfaces.items()}
            for metric, row in METRICS.items()
            if row.task == self.task
        }


def study(
    grown: Grown,
    data: dict[str, tuple[np.ndarray, np.ndarray]],
    n_jobs: int,
    name: str = "light",
    most_rows: int = 1000,
    count_cuts: bool = False,
) -> Findings:
    """Study a forest on {split: (X, y)}, "train" being what it was grown on.

    `name` is full, light or off; `most_rows` of a split are looked at where it is costly.
    """
    if grown.classes is None and grown.n_answers > 1:
        raise ValueError(f"A study is of one target; the forest has {grown.n_answers}.")
    coded = {split: (X, grown.codes(y)) for split, (X, y) in data.items() if len(y)}
    trees = [tree_of(grown.forest, t) for t in range(grown.n_trees)]
    n_nodes, n_leaves, depth = (np.array(c) for c in zip(*map(_shape, trees), strict=True))
    n_depths = int(depth.max()) + 1
    is_off, outside = name == "off", None
    if is_off:
        surfaces = _deepest(grown, coded, n_jobs)
    else:
        outside = grown.outside(n_jobs)
        sizes = None if name == "full" else [len(trees)]
        surfaces = _surfaces(grown, coded, outside, n_depths, sizes, n_jobs)
    found = Findings(
        task=grown.task,
        classes=None if grown.classes is None else grown.classes.tolist(),
        surfaces=surfaces,
        importance=importances(grown.forest, coded["train"][0].shape[1]),
        n_nodes=n_nodes,
        n_leaves=n_leaves,
        depth=depth,
        cuts=cuts_scored(grown, *coded["train"]) if count_cuts else None,
        first_depth=n_depths - 1 if is_off else 0,
    )
    if is_off:
        return found
    found = _look(found, grown, coded, outside, most_rows, n_jobs)
    if name == "light":
        return found
    deeper = look_deeper(
        grown, coded, outside, surfaces, found.uncertainties, n_depths, most_rows, n_jobs
    )
    return found._replace(deeper=deeper)


def _look(found: Findings, grown: Grown, coded, outside, most_rows: int, n_jobs: int) -> Findings:
    """What a light study adds to the surfaces."""
    surfaces, task = found.surfaces, grown.task
    judged = [split for split in ("test", "oob") if split in surfaces]
    known = [split for split in ("valid", "test") if split in coded]
    errors = None
    if outside is not None:
        X, truth = coded["train"]
        errors = oob_by_trees(grown.forest, task, grown.combine, X, truth, outside, n_jobs)
    told = gauge(grown.forest, task, coded, outside, most_rows, n_jobs)
    chosen_on, chosen_depth = choose_depth(found.curves[found.main], METRICS[found.main])
    return found._replace(
        chosen_depth=chosen_depth,
        chosen_on=chosen_on,
        oob_by_trees=errors,
        confusions={split: confusion(surfaces[split]) for split in judged if found.classes},
        uncertainties={split: told.of(coded[split][0], n_jobs) for split in known},
        gauge=told,
    )


SPLITS = ("train", "valid", "test", "oob")


def _deepest(grown: Grown, coded, n_jobs: int) -> dict[str, Surface]:
    """How good the forest is on each split, as it is."""
    asked = grown.forest, grown.task, grown.combine
    return {split: deepest(*asked, X, truth, n_jobs) for split, (X, truth) in coded.items()}


def _surfaces(grown, coded, outside, n_depths: int, sizes, n_jobs: int) -> dict[str, Surface]:
    """The surface of each split, and of the training rows that of their out-of-bag answers."""
    asked = Asked(grown.forest, grown.task, grown.combine, n_depths)
    found = {}
    for split, (X, truth) in coded.items():
        bits = outside if split == "train" else None
        found[split], oob = surface(asked, X, truth, sizes, n_jobs, bits)
        if oob is not None:
            found["oob"] = oob
    return {split: found[split] for split in SPLITS if split in found}


def _shape(tree) -> tuple[int, int, int]:
    leaves = np.count_nonzero(tree.nodes["kind"] == LEAF)
    return len(tree.nodes), int(leaves), int(depths(tree).max())


def choose_depth(
    curves: Mapping[str, np.ndarray], metric: Metric
) -> tuple[str, int] | tuple[None, None]:
    """The split that chooses, and the depth: `best_depth` on validation, or else out of bag.

    `curves` are the metric's by split.
    """
    for split in ("valid", "oob"):
        depth = best_depth(curves.get(split, np.empty(0)), metric.higher_is_better)
        if depth is not None:
            return split, depth
    return None, None

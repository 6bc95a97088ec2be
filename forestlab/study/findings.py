"""Everything a run finds out about its forest, in one place, before any of it is logged.

*light*: every metric at every depth, out-of-bag answers, confusion, uncertainty, importance.
*full*: the whole surface of depths × numbers of trees, and what stands in `study.deeper`.
*off*: how good the forest is, as it is.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, n_trees, tree_of
from forestlab.core.prune import depths
from forestlab.forest import Asked, importances, rows_outside
from forestlab.study.curves import confusion, oob_by_trees
from forestlab.study.cuts import cuts_scored
from forestlab.study.deeper import Deeper, look_deeper
from forestlab.study.metrics import MAIN, METRICS
from forestlab.study.surface import Surface, deepest, surface
from forestlab.study.uncertainty import Uncertainty, uncertainty


class Findings(NamedTuple):
    """Splits are "train", "valid", "test" and "oob"; those without rows are not there."""

    task: str
    classes: list | None
    surfaces: dict[str, Surface]  # by split
    oob_by_trees: np.ndarray | None  # (n_trees,) error; None without bagging
    confusions: dict[str, np.ndarray]  # test and oob
    uncertainties: dict[str, Uncertainty]  # valid and test
    importance: np.ndarray  # (n_trees, n_features)
    n_nodes: np.ndarray  # (n_trees,)
    n_leaves: np.ndarray
    depth: np.ndarray  # (n_trees,) reached
    chosen_depth: int | None  # by validation
    deeper: Deeper | None  # the rest of a full study
    first_depth: int = 0  # that curves begin at
    cuts: np.ndarray | None = None  # (n_trees,) that were scored to grow; None: not counted

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
    model,
    data: dict[str, tuple[np.ndarray, np.ndarray]],
    n_jobs: int,
    name: str = "light",
    most_rows: int = 1000,
    count_cuts: bool = False,
) -> Findings:
    """Study a fitted estimator on {split: (X, y)}, "train" being what it was fitted on.

    `name` is full, light or off; `most_rows` of a split are looked at where it is costly.
    """
    forest, task = model.forest_, model.task
    if model.n_outputs_ > 1:
        raise ValueError(f"A study is of one target; the model has {model.n_outputs_}.")
    shapes = [_shape(tree_of(forest, t)) for t in range(n_trees(forest))]
    n_nodes, n_leaves, depth = (np.array(column) for column in zip(*shapes, strict=True))
    n_depths = int(depth.max()) + 1
    coded = {split: (X, codes_of(model, y)) for split, (X, y) in data.items() if len(y)}
    sizes = None if name == "full" else [len(shapes)]
    outside = _outside(model, len(shapes), n_jobs) if name != "off" else None
    if name == "off":
        surfaces = {
            split: deepest(forest, task, model.combine, X, y, n_jobs)
            for split, (X, y) in coded.items()
        }
    else:
        asked = Asked(forest, task, model.combine, n_depths)
        surfaces = _surfaces(asked, coded, outside, sizes, n_jobs)
    judged = [split for split in ("test", "oob") if split in surfaces]
    classes = task == "classification"
    uncertainties: dict[str, Uncertainty] = {
        split: uncertainty(forest, task, coded[split][0], n_jobs)
        for split in ("valid", "test")
        if split in coded and name != "off"
    }
    deeper = None
    if name == "full":
        deeper = look_deeper(
            model, coded, outside, surfaces, uncertainties, n_depths, most_rows, n_jobs
        )
    errors = None
    if outside is not None:
        errors = oob_by_trees(forest, task, model.combine, *coded["train"], outside, n_jobs)
    valid = surfaces["valid"].values[MAIN[task]][-1] if "valid" in surfaces else None
    return Findings(
        task,
        model.classes_.tolist() if classes else None,
        surfaces,
        errors,
        {split: confusion(surfaces[split]) for split in judged}
        if classes and name != "off"
        else {},
        uncertainties,
        importances(forest, model.n_features_in_),
        n_nodes,
        n_leaves,
        depth,
        _choose(valid, MAIN[task]) if name != "off" else None,
        deeper,
        n_depths - 1 if name == "off" else 0,
        cuts_scored(model, *coded["train"]) if count_cuts else None,
    )


SPLITS = ("train", "valid", "test", "oob")


def _surfaces(asked: Asked, coded, outside, sizes, n_jobs: int) -> dict[str, Surface]:
    """The surface of each split, and of the training rows that of their out-of-bag answers."""
    found = {}
    for split, (X, truth) in coded.items():
        bits = outside if split == "train" else None
        found[split], oob = surface(asked, X, truth, sizes, n_jobs, bits)
        if oob is not None:
            found["oob"] = oob
    return {split: found[split] for split in SPLITS if split in found}


def _outside(model, count: int, n_jobs: int) -> np.ndarray | None:
    """The trees' out-of-bag rows as bits; None if there are no bags."""
    if not model.recipe_.bag_size:
        return None
    return rows_outside(model.recipe_, model.n_rows_, model.chances_, model.seed_, count, n_jobs)


def _shape(tree) -> tuple[int, int, int]:
    leaves = np.count_nonzero(tree.nodes["kind"] == LEAF)
    return len(tree.nodes), int(leaves), int(depths(tree).max())


def codes_of(model, y) -> np.ndarray:
    """Numbers as they are, classes as codes; -1 for a class that training did not see."""
    if model.task == "regression":
        return np.asarray(y, np.float64)
    codes = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    return np.where(model.classes_[codes] == y, codes, -1)


def _choose(valid: np.ndarray | None, metric: str) -> int | None:
    """The least depth that is best on validation, the bare prior apart."""
    if valid is None or np.isnan(valid).all():
        return None
    score = valid if METRICS[metric].higher_is_better else -valid
    return int(np.argmax(score[1:])) + 1 if len(score) > 1 else 0

"""Everything a run finds out about its forest, in one place, before any of it is logged."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, n_trees, tree_of
from forestlab.core.prune import depths
from forestlab.forest import importances, rows_outside
from forestlab.study.curves import confusion, depth_outcome, oob_by_trees
from forestlab.study.metrics import MAIN, METRICS, Outcome, measure
from forestlab.study.uncertainty import Uncertainty, uncertainty


class Findings(NamedTuple):
    """Splits are "train", "valid", "test" and "oob"; those without rows are not there."""

    task: str
    classes: list | None
    outcomes: dict[str, Outcome]  # by split: the answers at every depth
    curves: dict[str, dict[str, np.ndarray]]  # by metric and split: a number a depth
    oob_by_trees: np.ndarray | None  # (n_trees,) error; None without bagging
    confusions: dict[str, np.ndarray]  # test and oob
    uncertainties: dict[str, Uncertainty]  # valid and test
    importance: np.ndarray  # (n_trees, n_features)
    n_nodes: np.ndarray  # (n_trees,)
    n_leaves: np.ndarray
    depth: np.ndarray  # (n_trees,) reached
    chosen_depth: int | None  # by validation

    @property
    def main(self) -> str:
        """The task's main metric."""
        return MAIN[self.task]


def study(model, data: dict[str, tuple[np.ndarray, np.ndarray]], n_jobs: int) -> Findings:
    """Study a fitted estimator on {split: (X, y)}, "train" being what it was fitted on."""
    forest, task = model.forest_, model.task
    shapes = [_shape(tree_of(forest, t)) for t in range(n_trees(forest))]
    n_nodes, n_leaves, depth = (np.array(column) for column in zip(*shapes, strict=True))
    n_depths = int(depth.max()) + 1
    coded = {split: (X, _codes(model, y)) for split, (X, y) in data.items() if len(y)}

    def outcome(split: str, outside=None) -> Outcome:
        X, y = coded[split]
        return depth_outcome(forest, task, model.combine, X, y, n_depths, n_jobs, outside)

    outcomes = {split: outcome(split) for split in coded}
    errors = None
    if model.recipe_.bag_size:
        outside = rows_outside(
            model.recipe_, model.n_rows_, model.chances_, model.seed_, len(shapes), n_jobs
        )
        outcomes["oob"] = outcome("train", outside)
        errors = oob_by_trees(forest, task, *coded["train"], outside, n_jobs)
    curves = _curves(outcomes, task)
    judged = [split for split in ("test", "oob") if split in outcomes]
    classes = task == "classification"
    return Findings(
        task,
        model.classes_.tolist() if classes else None,
        outcomes,
        curves,
        errors,
        {split: confusion(outcomes[split]) for split in judged} if classes else {},
        {
            split: uncertainty(forest, task, coded[split][0], n_jobs)
            for split in ("valid", "test")
            if split in coded
        },
        importances(forest, model.n_features_in_),
        n_nodes,
        n_leaves,
        depth,
        _choose(curves[MAIN[task]].get("valid"), MAIN[task]),
    )


def _shape(tree) -> tuple[int, int, int]:
    leaves = np.count_nonzero(tree.nodes["kind"] == LEAF)
    return len(tree.nodes), int(leaves), int(depths(tree).max())


def _codes(model, y) -> np.ndarray:
    """Numbers as they are, classes as codes; -1 for a class that training did not see."""
    if model.task == "regression":
        return np.asarray(y, np.float64)
    codes = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    return np.where(model.classes_[codes] == y, codes, -1)


def _curves(outcomes: dict[str, Outcome], task: str) -> dict[str, dict[str, np.ndarray]]:
    curves: dict[str, dict[str, np.ndarray]] = {}
    for split, outcome in outcomes.items():
        for metric, values in measure(outcome, task).items():
            curves.setdefault(metric, {})[split] = values
    return curves


def _choose(valid: np.ndarray | None, metric: str) -> int | None:
    """The least depth that is best on validation, the bare prior apart."""
    if valid is None or np.isnan(valid).all():
        return None
    score = valid if METRICS[metric].higher_is_better else -valid
    return int(np.argmax(score[1:])) + 1 if len(score) > 1 else 0

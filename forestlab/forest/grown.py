"""A grown forest as a value: all that a study needs to know of it."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, Tree, n_trees
from forestlab.core.tasks import TASKS
from forestlab.forest.bagging import bags, rows_outside
from forestlab.forest.growing import Recipe
from forestlab.forest.normals import Normals


class Pruned(NamedTuple):
    """What trees were before they were cut back, and by what that was chosen."""

    by: str  # "ccp" or "oob"
    n_leaves: np.ndarray  # (n_trees,) int64 before
    first: Tree  # the first of them
    alpha: float = 0.0  # what a leaf costs
    chosen_by: str = ""  # "cv" or "valid"; "": α was given
    # The α that it was chosen from, (G,) falling, the mean loss of each, and its standard error.
    alphas: np.ndarray | tuple[()] = ()
    losses: np.ndarray | tuple[()] = ()
    errors: np.ndarray | tuple[()] = ()


class Grown(NamedTuple):
    forest: Forest
    task: str
    combine: str  # how its trees' answers become one
    recipe: Recipe
    seed: int
    n_rows: int  # that it was grown on
    chances: np.ndarray  # by which bags were drawn; empty: all alike
    # Their labels, sorted, or those of each of several targets; None for numbers.
    classes: np.ndarray | list[np.ndarray] | None
    normals: Normals | None = None  # of a density: that of each node
    pruned: Pruned | None = None  # if trees were cut back, and it is known from what
    shrink: float | None = None  # how far answers are shrunk, if rows have chosen that

    @property
    def n_trees(self) -> int:
        return n_trees(self.forest)

    @property
    def is_whole(self) -> bool:
        """Are the trees as they grew? Such that were cut back, cut further, are not those of a
        fit."""
        recipe = self.recipe
        return self.pruned is None and not recipe.limits.max_leaf_nodes and not recipe.ccp_alpha

    @property
    def n_answers(self) -> int:
        """Classes, or targets."""
        return TASKS[self.task].n_answers(self.forest.stats.shape[1])

    @property
    def n_targets(self) -> int:
        each = self.recipe.classes_each
        return len(each) or TASKS[self.task].n_targets(self.forest.stats.shape[1])

    def of_target(self, target: int) -> "Grown":
        """The same trees, of which each node keeps the statistics of one target of several alone,
        and its variance, of classes that is Gini's, as impurity."""
        forest, nodes = (
            of_target(self.forest, self.task, target, self.recipe.classes_each),
            self.forest.nodes.copy(),
        )
        nodes["impurity"] = TASKS[self.task].variance(forest.stats)
        alone = self._replace(forest=forest._replace(nodes=nodes))
        if not isinstance(self.classes, list):
            return alone
        classes = self.classes[target]
        recipe = self.recipe._replace(n_classes=len(classes), classes_each=())
        return alone._replace(recipe=recipe, classes=classes)

    def codes(self, y) -> np.ndarray:
        """Numbers as they are, classes as codes; -1 for a class that training did not see."""
        if self.classes is None:
            return np.asarray(y, np.float64)
        if isinstance(self.classes, list):
            columns = zip(self.classes, np.asarray(y).T, strict=True)
            return np.stack([_codes(classes, column) for classes, column in columns], axis=1)
        return _codes(self.classes, y)

    def bags(self, n_jobs: int = 1) -> np.ndarray:
        """How often each tree's bag holds each training row, (n_trees, n_rows); 1 without bags."""
        return bags(self.recipe, self.n_rows, self.chances, self.seed, self.n_trees, n_jobs)

    def outside(self, n_jobs: int = 1) -> np.ndarray | None:
        """The trees' out-of-bag rows as bits; None if there are no bags."""
        if not self.recipe.bag_size:
            return None
        drawn = self.recipe, self.n_rows, self.chances, self.seed
        return rows_outside(*drawn, self.n_trees, n_jobs)


def _codes(classes: np.ndarray, y) -> np.ndarray:
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return np.where(classes[codes] == y, codes, -1)


def of_target(forest: Forest, task: str, target: int, classes_each: tuple[int, ...]) -> Forest:
    """The forest, of which each node keeps the statistics of one target of several alone.

    It answers for that target what the whole one does, to the bit, for every combiner, and any
    kernel of one target walks it.
    """
    stats = TASKS[task].of_target(forest.stats, target, classes_each)
    means = np.ascontiguousarray(forest.means[:, target : target + 1])
    return forest._replace(stats=stats, means=means)

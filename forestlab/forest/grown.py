"""A grown forest as a value: all that a study needs to know of it."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.tasks import TASKS, variances
from forestlab.forest.bagging import bags, rows_outside
from forestlab.forest.growing import Recipe
from forestlab.forest.normals import Normals


class Grown(NamedTuple):
    forest: Forest
    task: str
    combine: str  # how its trees' answers become one
    recipe: Recipe
    seed: int
    n_rows: int  # that it was grown on
    chances: np.ndarray  # by which bags were drawn; empty: all alike
    classes: np.ndarray | None  # their labels, sorted; None for numbers
    normals: Normals | None = None  # of a density: that of each node

    @property
    def n_trees(self) -> int:
        return n_trees(self.forest)

    @property
    def n_answers(self) -> int:
        """Classes, or targets."""
        return TASKS[self.task].n_answers(self.forest.stats.shape[1])

    @property
    def n_targets(self) -> int:
        return TASKS[self.task].n_targets(self.forest.stats.shape[1])

    def of_target(self, target: int) -> "Grown":
        """The same trees, of which each node keeps the statistics of one target alone, and its
        variance as impurity."""
        stats, nodes = (
            TASKS[self.task].of_target(self.forest.stats, target),
            self.forest.nodes.copy(),
        )
        nodes["impurity"] = variances(stats)[:, 0]
        means = np.ascontiguousarray(self.forest.means[:, target : target + 1])
        return self._replace(forest=self.forest._replace(stats=stats, nodes=nodes, means=means))

    def codes(self, y) -> np.ndarray:
        """Numbers as they are, classes as codes; -1 for a class that training did not see."""
        if self.classes is None:
            return np.asarray(y, np.float64)
        codes = np.minimum(np.searchsorted(self.classes, y), len(self.classes) - 1)
        return np.where(self.classes[codes] == y, codes, -1)

    def bags(self, n_jobs: int = 1) -> np.ndarray:
        """How often each tree's bag holds each training row, (n_trees, n_rows); 1 without bags."""
        return bags(self.recipe, self.n_rows, self.chances, self.seed, self.n_trees, n_jobs)

    def outside(self, n_jobs: int = 1) -> np.ndarray | None:
        """The trees' out-of-bag rows as bits; None if there are no bags."""
        if not self.recipe.bag_size:
            return None
        drawn = self.recipe, self.n_rows, self.chances, self.seed
        return rows_outside(*drawn, self.n_trees, n_jobs)

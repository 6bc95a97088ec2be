"""The trees of a forest as estimators of their own.

Such a tree has the forest's parameters as far as a tree has them, its classes and its names; it
looks into the forest's arrays and copies nothing, so it is cheap to make and keeps the forest's
arrays alive. In scikit-learn the trees of a forest predict numbers of classes; these predict the
forest's classes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from forestlab.core.arrays import Forest, alone, n_trees, plant, tree_of
from forestlab.core.options import is_whole
from forestlab.forest import tree_seed
from forestlab.tree.levels import same_levels

# What a tree has of its forest's fitted values, beside its own arrays: not `seed_`, from which the
# bag of a forest's t-th tree could not be drawn again.
SHARED = (
    "recipe_",
    "n_rows_",
    "chances_",
    "n_outputs_",
    "rounded_",
    "n_features_in_",
    "feature_names_in_",
    "categories_",
    "classes_",
    "n_classes_",
)


class Members(Sequence):
    """The trees of a fitted forest, each made when it is first asked for.

    Parameters
    ----------
    cls : the estimator that one tree is
    params : the forest's parameters
    fitted : the forest's fitted values
    """

    def __init__(self, cls: type, params: dict[str, Any], fitted: dict[str, Any]):
        names = set(cls().get_params()) & params.keys() - {"class_weight", "random_state"}
        self._cls, self._params = cls, {name: params[name] for name in names}
        self._fitted = {name: fitted[name] for name in SHARED if name in fitted}
        self._forest: Forest = fitted["forest_"]
        self._seed: int | None = fitted.get("seed_")
        self._made: list[Any] = [None] * n_trees(self._forest)

    def __len__(self) -> int:
        return len(self._made)

    def __getitem__(self, t):
        if isinstance(t, slice):
            return [self[i] for i in range(*t.indices(len(self)))]
        t = range(len(self))[t]
        if self._made[t] is None:
            self._made[t] = self._make(t)
        return self._made[t]

    def _make(self, t: int):
        random_state = None if self._seed is None else tree_seed(self._seed, t)
        tree = self._cls(**self._params, random_state=random_state)
        tree.__dict__.update(self._fitted, forest_=alone(self._forest, t))
        return tree

    def __repr__(self) -> str:
        return f"<{len(self)} × {self._cls.__name__}>"


def first_trees(forest: Forest, given) -> Forest:
    """The first so many trees, by the `n_trees` of a prediction, as views into the forest."""
    if given is None:
        return forest
    there = n_trees(forest)
    if not is_whole(given) or not 1 <= given <= there:
        raise ValueError(
            f"n_trees must be a whole number from 1 to {there}, as many trees as there are, or "
            f"None; got {given!r}."
        )
    of = slice(0, int(given) + 1)
    nodes, params, bits = (
        first[of] for first in (forest.first_node, forest.first_param, forest.first_bit)
    )
    return Forest(
        forest.nodes[: nodes[-1]],
        forest.stats[: nodes[-1]],
        forest.params[: params[-1]],
        forest.bits[: bits[-1]],
        nodes,
        params,
        bits,
        forest.steps[: nodes[-1]],  # empty if they are
        forest.means[: nodes[-1]],
        forest.gains[: nodes[-1]],
    )


def tree_number(name: str, given, there: int) -> int:
    """The number of one of so many trees, by the parameter of this name."""
    if not is_whole(given) or not 0 <= given < there:
        raise ValueError(
            f"{name} must be the number of a tree, from 0 to {there - 1}; got {given!r}."
        )
    return int(given)


def joined(trees: Sequence, like) -> Forest:
    """A forest of fitted trees that were grown for the same features and targets as `like`."""
    for tree in trees:
        if not (isinstance(tree, like._tree_type) and _answers_like(tree, like)):
            raise ValueError(
                f"estimators_ must be fitted {like._tree_type.__name__}s with the forest's "
                f"{like.n_features_in_} features, its categories and its classes or targets; "
                f"got {tree!r}."
            )
    if not trees:
        raise ValueError("estimators_ must be at least one tree; got none.")
    return plant([tree_of(tree.forest_, 0) for tree in trees], len(trees))


def _answers_like(tree, forest) -> bool:
    names = ("n_features_in_", "n_outputs_")
    same = all(getattr(tree, name, None) == getattr(forest, name) for name in names)
    same = same and same_levels(*(getattr(one, "categories_", None) for one in (tree, forest)))
    return same and same_classes(getattr(tree, "classes_", ()), getattr(forest, "classes_", ()))


def same_classes(some, others) -> bool:
    """Are classes equal, or those of each target?"""
    if isinstance(some, list) != isinstance(others, list):
        return False
    if isinstance(some, list):
        return len(some) == len(others) and all(map(np.array_equal, some, others))
    return np.array_equal(some, others)

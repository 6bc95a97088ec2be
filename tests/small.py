"""Small forests, for tests that look at what trees say together."""

import naive
import numpy as np
import pytest

from forestlab import ForestClassifier, ForestRegressor
from forestlab.core.arrays import tree_of
from forestlab.core.combine import COMBINERS
from forestlab.forest import paths_of

N_ROWS = 90
FORESTS = {"classification": ForestClassifier, "regression": ForestRegressor}
PAIRS = [(name, task) for name, row in COMBINERS.items() for task in row]

for_each_task = pytest.mark.parametrize("task", FORESTS)

# Twins take the same steps in another order; sums and products of a few dozen numbers are then off
# by some 1e-14 of themselves. Means near 0, of targets near 1, only by that much in all.
CLOSE = {"rtol": 1e-11, "atol": 1e-13}


def data_for(task, n_rows=N_ROWS, n_targets=1):
    """Few distinct values; classes are text, targets are noisy."""
    rng = np.random.default_rng(5)
    X = rng.integers(-15, 15, (n_rows, 4)) / 4
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    if task == "classification":
        return X, np.array(["oak", "ash", "beech"])[np.digitize(signal, [-1, 2])]
    y = (signal[:, None] * [1, -2][:n_targets] + rng.normal(size=(n_rows, n_targets))).round(2)
    return X, y[:, 0] if n_targets == 1 else y


def forest_for(task, n_trees=7, **params):
    options = {"min_samples_leaf": 2, "max_features": 2, "random_state": 1} | params
    return FORESTS[task](n_trees, **options)


def trees_of(model):
    """Each tree's nodes and statistics."""
    return [tree_of(model.forest_, t)[:2] for t in range(len(model.forest_.first_node) - 1)]


def rules_of(model):
    """What stopping rules read of each tree's nodes, and the values at which they are studied."""
    trees = [tree_of(model.forest_, t) for t in range(len(model.forest_.first_node) - 1)]
    heavy = [tree.nodes["weight"] / tree.nodes["weight"][0] for tree in trees]
    costs = [w * tree.nodes["impurity"] for w, tree in zip(heavy, trees, strict=True)]
    paths = paths_of(model.forest_).items()
    grids = {rule: path.values.tolist() for rule, path in paths if rule != "depth"}
    return {"gains": [tree.gains for tree in trees], "costs": costs, "grids": grids}


def answers_of(model, X, depth=None):
    """What the forest says before labels are taken, (n_rows, n_classes or n_targets)."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X, depth)
    return model.predict(X, depth).reshape(len(X), -1)


def as_bytes(*arrays):
    return [np.asarray(array).tobytes() for array in arrays]


def bags_of(model, drawn_by=None):
    """How often each tree drew each row, by the twin."""
    size, replace = model.recipe_.bag_size, model.recipe_.replace
    keys = [naive.tree_key(model.seed_, t) for t in range(len(model))]
    return [naive.bag(key, model.n_rows_, size, replace, drawn_by) for key in keys]

"""What one tree loses when a feature's values are shuffled among rows.

A shuffle depends on (seed, tree, feature, repeat) alone. A row whose way down does not test the
feature ends where it did, so only the others are walked again: of a tree that tests 500 pixels, a
row meets some 15.
"""

import functools

import numpy as np

from forestlab.core.answers import leaf_reader, mixed_label, mixed_mean
from forestlab.core.arrays import AXIS, CATEGORY, OBLIQUE, QUADRATIC, Tree
from forestlab.core.jit import jitable, kernel
from forestlab.core.rng import shuffle_step, stream, tree_key

PERMUTATION = np.uint64(0xC6A4A7935BD1E995)  # the end for which numbers are drawn, as in rng


# ---- a tree of its own features ----------------------------------------------------------------


def features_of(tree: Tree) -> np.ndarray:
    """The features that a tree tests, ascending, int64."""
    named = tree.nodes["feature"][np.isin(tree.nodes["kind"], (AXIS, CATEGORY))]
    combined = tree.params[_feature_places(tree)]
    return np.unique(np.concatenate([named, combined])).astype(np.int64)


def compact(tree: Tree, features: np.ndarray) -> Tree:
    """The tree for rows of which only `features`, those that it tests, are kept."""
    nodes, params = tree.nodes.copy(), tree.params.copy()
    named, places = np.isin(nodes["kind"], (AXIS, CATEGORY)), _feature_places(tree)
    nodes["feature"][named] = np.searchsorted(features, nodes["feature"][named])
    params[places] = np.searchsorted(features, params[places])
    return tree._replace(nodes=nodes, params=params)


def _feature_places(tree: Tree) -> np.ndarray:
    """Where the pool of parameters names features."""
    places = [np.empty(0, np.intp)]
    for kind, step in ((OBLIQUE, 2), (QUADRATIC, 1)):
        for start in tree.nodes["params"][tree.nodes["kind"] == kind]:
            places.append(start + 1 + step * np.arange(int(tree.params[start])))
    return np.concatenate(places)


# ---- shuffling ---------------------------------------------------------------------------------


@jitable
def zero_one(answer, truth):
    return np.float64(answer != truth)


@jitable
def squared(answer, truth):
    return (answer - truth) * (answer - truth)


LOSSES = {"classification": (mixed_label, zero_one), "regression": (mixed_mean, squared)}


@jitable
def tested_features(forest, X):
    """Whether a row's way down tests a feature, (n_features, n_rows) uint8.

    Where walks may branch all are taken to do so.
    """
    steps = forest.steps
    if steps.shape[0] == 0:
        return np.ones((X.shape[1], X.shape[0]), np.uint8)
    tested = np.zeros((X.shape[1], X.shape[0]), np.uint8)
    for row in range(X.shape[0]):
        i = np.int64(0)
        while steps[i]["feature"] >= 0:
            feature = steps[i]["feature"]
            tested[feature, row] = 1
            i = i + 1 if X[row, feature] <= steps[i]["cut"] else np.int64(steps[i]["right"])
    return tested


@functools.cache
def permutation_kernel(task: str):
    """The compiled shuffling of one tree's features."""
    mix, loss = LOSSES[task]
    read_leaves = leaf_reader(mix)

    @kernel("permute features")
    def add_increases(forest, frontier, values, X, truth, features, seed, t, n_repeats, increases):
        """increases[f] = the mean rise of the loss, over rows and repeats, with column f shuffled.

        forest : tree t of a forest of this seed, alone and compact
        frontier : scratch, by `make_frontier`
        values : (n_nodes,) by `node_values`
        X : (n_rows, n_features) the features it tests; written to, and left as it was
        truth : (n_rows,) of the values' type
        features : (n_features,) their numbers in the data
        """
        n_rows = X.shape[0]
        rows, order, columns = np.arange(n_rows), np.empty(n_rows, np.int64), X.T.copy()
        ends, active = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
        before, after = np.empty(n_rows, values.dtype), np.empty(n_rows, values.dtype)
        read_leaves(forest, values, 0, X, rows, n_rows, frontier, ends, active, before)
        tested = tested_features(forest, X)
        for f in range(X.shape[1]):
            feature_key = stream(tree_key(seed, t), PERMUTATION + np.uint64(features[f]))
            total = 0.0
            for repeat in range(n_repeats):
                shuffle(order, stream(feature_key, np.uint64(repeat)))
                n_asked = 0
                for row in range(n_rows):
                    if tested[f, row]:
                        X[row, f] = columns[f, order[row]]
                        rows[n_asked] = row
                        n_asked += 1
                read_leaves(forest, values, 0, X, rows, n_asked, frontier, ends, active, after)
                for k in range(n_asked):
                    row = rows[k]
                    total += loss(after[k], truth[row]) - loss(before[row], truth[row])
            for row in range(n_rows):
                if tested[f, row]:
                    X[row, f] = columns[f, row]
            increases[f] = total / (n_rows * n_repeats)

    return add_increases


@jitable
def shuffle(order, key):
    """0 … n - 1 in a random order."""
    n = order.shape[0]
    for i in range(n):
        order[i] = i
    for i in range(n):
        shuffle_step(order, i, n, key)

"""Which rows and which features a tree sees. Both come from the tree's key alone, so that they
can be had again at any time and need not be stored."""

from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable, kernel
from forestlab.core.rng import BAG, TREE_FEATURES, draw_below, draw_unit, shuffle_step, stream


class Bags(NamedTuple):
    """How rows and features of trees are drawn."""

    weights: np.ndarray  # (n_rows,) float64, of rows in a tree; empty: 1
    # Running sum of the weights by which rows are drawn with replacement; empty: equal chances.
    chances: np.ndarray
    size: int  # rows that are drawn; 0: all are in the tree
    replace: bool  # without replacement all rows have equal chances
    n_features: int  # that are drawn
    # (n_targets,) int64: of how many classes each is, if these weigh equally in a bag; else empty
    balanced: np.ndarray


class Drawn(NamedTuple):
    """One thread's memory for what is drawn."""

    counts: np.ndarray  # (n_rows,) uint32: how often each row is
    order: np.ndarray  # (n_rows,) int64: all rows, if they are not replaced
    rows: np.ndarray  # (n_rows,) uint32: those in the tree, ascending
    weights: np.ndarray  # (n_rows,) float64
    features: np.ndarray  # (all features,) int64: those of the tree stand first, ascending
    in_class: np.ndarray  # float64: of each class of a target, if bags are balanced


def make_drawn(n_rows: int, n_features: int, bags: Bags) -> Drawn:
    shuffles = bags.size and not bags.replace
    return Drawn(
        np.empty(n_rows, np.uint32),
        np.empty(n_rows if shuffles else 0, np.int64),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows),
        np.empty(n_features, np.int64),
        np.empty(bags.balanced.max(initial=0)),
    )


# ---- rows --------------------------------------------------------------------------------------


@jitable
def draw_bag(y, bags, key, drawn):
    """Fill rows and weights of the tree of a key; return how many rows it has. Rows that weigh
    nothing are left out."""
    counts, rows, weights = drawn.counts, drawn.rows, drawn.weights
    n_all = np.uint64(counts.shape[0])
    for i in range(n_all):
        counts[i] = 0 if bags.size > 0 else 1
    if bags.size > 0:
        count_drawn(key, bags.size, bags.replace, bags.chances, drawn.order, counts)
    n_rows, are_equal = np.uint64(0), bags.weights.shape[0] == 0
    for i in range(n_all):
        # Written whatever it is, so that there is no branch to mispredict.
        weight = counts[i] * (1.0 if are_equal else bags.weights[i])
        rows[n_rows], weights[n_rows] = i, weight
        n_rows += np.uint64(weight > 0.0)
    if bags.size > 0 and bags.balanced.shape[0] > 0:
        return balance_bag(y, bags, drawn, n_rows)
    return np.int64(n_rows)


@jitable
def balance_bag(y, bags, drawn, n_rows):
    """Multiply weights so that all classes of a target that were drawn have as many rows."""
    rows, weights, in_class = drawn.rows, drawn.weights, drawn.in_class
    for k in range(y.shape[1]):
        n_classes = bags.balanced[k]
        for label in range(n_classes):
            in_class[label] = 0.0
        total, n_present = 0.0, 0
        for i in range(drawn.counts.shape[0]):
            in_class[np.int64(y[i, k])] += drawn.counts[i]
        for label in range(n_classes):
            total += in_class[label]
            n_present += in_class[label] > 0.0
        for label in range(n_classes):
            held = in_class[label]
            in_class[label] = total / (n_present * held) if held > 0.0 else 0.0
        for i in range(n_rows):
            weights[i] *= in_class[np.int64(y[rows[i], k])]
    return np.int64(n_rows)


@jitable
def count_drawn(key, size, replace, chances, order, counts):
    """Count how often each row is drawn, given zeros."""
    bag_key, n_rows = stream(key, BAG), counts.shape[0]
    if not replace:
        for i in range(n_rows):
            order[i] = i
        for i in range(size):
            shuffle_step(order, i, n_rows, bag_key)
            counts[order[i]] = 1
    elif chances.shape[0] == 0:
        for i in range(size):
            counts[draw_below(bag_key, i, n_rows)] += np.uint32(1)
    else:
        for i in range(size):
            wanted = draw_unit(bag_key, i) * chances[n_rows - 1]
            counts[min(first_above(chances, wanted), n_rows - 1)] += np.uint32(1)


@jitable
def first_above(rising, wanted):
    """The place of the first number that is greater; how many there are if none is."""
    low, high = 0, rising.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if rising[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


# ---- features ----------------------------------------------------------------------------------


@jitable
def draw_features(key, size, features):
    """Put a uniform subset of the features in front, ascending."""
    features_key, n_features = stream(key, TREE_FEATURES), features.shape[0]
    for i in range(n_features):
        features[i] = i
    if size == n_features:
        return
    for i in range(size):
        shuffle_step(features, i, n_features, features_key)
    for i in range(1, size):
        feature, j = features[i], i
        while j > 0 and features[j - 1] > feature:
            features[j] = features[j - 1]
            j -= 1
        features[j] = feature


# ---- for others --------------------------------------------------------------------------------


@kernel(allocates=False)
def fill_bag(y, bags, key, drawn):
    return draw_bag(y, bags, key, drawn)


@kernel(allocates=False)
def fill_counts(key, size, replace, chances, order, counts):
    count_drawn(key, size, replace, chances, order, counts)


@kernel(allocates=False)
def fill_features(key, size, features):
    draw_features(key, size, features)


def bag_counts(
    key: np.uint64, n_rows: int, size: int, replace: bool, chances: np.ndarray
) -> np.ndarray:
    """How often each row is drawn, (n_rows,) uint32; `chances` as in `Bags`."""
    counts = np.zeros(n_rows, np.uint32)
    order = np.empty(0 if replace else n_rows, np.int64)
    fill_counts(key, size, replace, chances, order, counts)
    return counts


def tree_features(key: np.uint64, n_features: int, size: int) -> np.ndarray:
    """A uniform subset of the features, ascending, (size,) int64."""
    features = np.empty(n_features, np.int64)
    fill_features(key, size, features)
    return features[:size]

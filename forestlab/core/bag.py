"""Which rows and which features a tree sees. Both come from the tree's key alone, so that they
can be had again at any time and need not be stored."""

import numpy as np

from forestlab.core.jit import kernel
from forestlab.core.rng import BAG, TREE_FEATURES, draw_below, draw_unit, shuffle_step, stream


@kernel()
def bag_counts(key, n_rows, size, replace, chances):
    """How often each row is drawn, (n_rows,) uint32.

    `chances` is the running sum of the weights by which rows are drawn with replacement; empty for
    equal chances. Without replacement all rows have equal chances.
    """
    counts = np.zeros(n_rows, np.uint32)
    bag_key = stream(key, BAG)
    if not replace:
        order = np.arange(n_rows)
        for i in range(size):
            shuffle_step(order, i, n_rows, bag_key)
            counts[order[i]] = 1
    elif chances.shape[0] == 0:
        for i in range(size):
            counts[draw_below(bag_key, i, n_rows)] += np.uint32(1)
    else:
        for i in range(size):
            wanted = draw_unit(bag_key, i) * chances[n_rows - 1]
            row = np.searchsorted(chances, wanted, side="right")
            counts[min(row, n_rows - 1)] += np.uint32(1)
    return counts


@kernel()
def tree_features(key, n_features, size):
    """A uniform subset of the features, ascending, (size,) int64."""
    features = np.arange(n_features)
    features_key = stream(key, TREE_FEATURES)
    chosen = np.zeros(n_features, np.bool_)
    for i in range(size):
        shuffle_step(features, i, n_features, features_key)
        chosen[features[i]] = True
    return np.flatnonzero(chosen)

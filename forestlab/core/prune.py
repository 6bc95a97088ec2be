"""Depths of nodes, trees cut at a depth, and the depth at which to cut."""

import numpy as np

from forestlab.core.arrays import LEAF, Tree
from forestlab.core.questions import write_leaf


def depths(tree: Tree) -> np.ndarray:
    """Each node's depth. Parents stand before their children, so one pass does it."""
    depth = np.zeros(len(tree.nodes), np.int64)
    for i in np.flatnonzero(tree.nodes["kind"] != LEAF):
        depth[tree.nodes["left"][i]] = depth[tree.nodes["right"][i]] = depth[i] + 1
    return depth


def cut(tree: Tree, max_depth: int) -> Tree:
    """The tree as it would have been grown with this max_depth."""
    depth = depths(tree)
    kept = depth <= max_depth
    number = np.cumsum(kept) - 1
    nodes = tree.nodes[kept]
    leaf = depth[kept] == max_depth
    for i in np.flatnonzero(leaf):
        write_leaf(nodes[i])
    inner = nodes["kind"] != LEAF
    for child in ("left", "right"):
        nodes[child][inner] = number[nodes[child][inner]]
    means = tree.means[kept] if tree.means.shape[1] else tree.means
    return Tree(nodes, tree.stats[kept], tree.params, tree.bits, means)


def best_depth(values: np.ndarray, higher_is_better: bool) -> int | None:
    """The depth to choose by a curve: the least of those at which it is best; None without values.

    Depth 0 is the bare prior, which no max_depth asks for: it is chosen only if there is no other.

    Parameters
    ----------
    values : (D,) at depth 0 … D - 1; NaN where there is none
    """
    goodness = np.asarray(values, np.float64) * (1.0 if higher_is_better else -1.0)
    known = np.flatnonzero(~np.isnan(goodness))
    if not len(known):
        return None
    known = known[known > 0] if known[-1] > 0 else known
    return int(known[goodness[known].argmax()])

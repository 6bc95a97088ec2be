"""Depths of nodes, trees cut at a depth, and the depth at which to cut."""

import numpy as np

from forestlab.core.arrays import LEAF, Tree


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
    nodes["kind"][leaf] = LEAF
    inner = nodes["kind"] != LEAF
    for child in ("left", "right"):
        nodes[child][inner] = number[nodes[child][inner]]
    for field, blank in _LEAF_FIELDS.items():
        nodes[field][leaf] = blank
    return Tree(nodes, tree.stats[kept], tree.params, tree.bits)


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


_LEAF_FIELDS = {
    "missing": 1,
    "feature": -1,
    "left": -1,
    "right": -1,
    "cut_low": -np.inf,
    "cut_high": np.inf,
    "params": -1,
    "bits": -1,
    "missing_share": 0.0,
}

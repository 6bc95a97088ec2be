"""What a forest's splits say of its features: by how much each lowers the impurity."""

import numpy as np

from forestlab.core.arrays import LEAF, Forest, n_trees, tree_of


def importances(forest: Forest, n_features: int) -> np.ndarray:
    """Each tree's impurity decrease by feature, summing to 1 (or to 0), (n_trees, n_features)."""
    trees = range(n_trees(forest))
    found = np.stack([decreases(tree_of(forest, t).nodes, n_features) for t in trees])
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.zeros_like(found), where=total > 0)


def decreases(nodes: np.ndarray, n_features: int) -> np.ndarray:
    """By how much one tree's splits on each feature lower weight × impurity, (n_features,)."""
    found = np.zeros(n_features)
    inner = nodes[nodes["kind"] != LEAF]
    held = nodes["weight"] * nodes["impurity"]
    decrease = inner["weight"] * inner["impurity"] - held[inner["left"]] - held[inner["right"]]
    np.add.at(found, inner["feature"], np.maximum(decrease, 0.0))
    return found

"""What a forest's splits say of its features: by how much each lowers the impurity."""

import numpy as np

from forestlab.core.arrays import LEAF, Forest, Tree, n_trees, tree_of
from forestlab.core.questions import reads


def importances(forest: Forest, n_features: int) -> np.ndarray:
    """Each tree's impurity decrease by feature, summing to 1 (or to 0), (n_trees, n_features)."""
    trees = range(n_trees(forest))
    found = np.stack([decreases(tree_of(forest, t), n_features) for t in trees])
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.zeros_like(found), where=total > 0)


def decreases(tree: Tree, n_features: int) -> np.ndarray:
    """By how much one tree's splits on each feature lower weight × impurity, (n_features,).

    A question of several features credits each with its share (see core.questions).
    """
    nodes = tree.nodes
    found = np.zeros(n_features)
    inner = nodes["kind"] != LEAF
    held = nodes["weight"] * nodes["impurity"]
    left, right = (nodes[child][inner] for child in ("left", "right"))
    decrease = np.zeros(len(nodes))
    decrease[inner] = np.maximum(held[inner] - held[left] - held[right], 0.0)
    by, features, shares = reads(tree)
    np.add.at(found, features, shares * decrease[by])
    return found

"""Out-of-bag pruning: two leaves become one where their tree's out-of-bag rows do not get worse.

Each tree is judged by the rows that it left out itself, from the bottom up: a node whose children
are leaves, or have become leaves, becomes one if what it would answer is at most as wrong about
these rows as the two together. Where no such row comes by nothing gets worse, so there it does.
Classes count as wrong labels, numbers by their squared errors.
"""

import numpy as np

from forestlab.core.arrays import LEAF, Forest, n_trees, plant, tree_of
from forestlab.core.prune import collapsed
from forestlab.core.tasks import TASKS
from forestlab.forest.generations import generations
from forestlab.forest.grown import Grown
from forestlab.forest.outside_loss import Rows, losses

ROUNDING = 1e-10  # of a loss: sums over some thousand rows differ by less, in another order


def pruned(grown: Grown, rows: Rows, n_jobs: int = 1) -> Forest:
    """The forest of pruned trees; `rows` are those that it was grown on."""
    loss = "wrong" if TASKS[grown.task].has_classes else "squared"
    leaves = to_leaves(grown.forest, losses(grown, rows, loss, n_jobs).of_nodes)
    first = grown.forest.first_node
    trees = (
        collapsed(tree_of(grown.forest, t), leaves[first[t] : first[t + 1]])
        for t in range(n_trees(grown.forest))
    )
    return plant(trees, n_trees(grown.forest))


def to_leaves(forest: Forest, loss: np.ndarray) -> np.ndarray:
    """Which nodes are leaves, or become leaves, (n_nodes,) booleans, by what each would lose."""
    is_leaf = forest.nodes["kind"] == LEAF
    for parents, left, right in reversed(generations(forest)):
        apart = loss[left] + loss[right]
        not_worse = loss[parents] <= apart * (1.0 + ROUNDING)
        is_leaf[parents] = is_leaf[left] & is_leaf[right] & not_worse
    return is_leaf

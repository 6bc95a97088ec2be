"""Which features moved an answer, and by how much: the steps of a row's way, added up.

A walk begins with what the root says. Each step down changes that, to what the child says, and the
change is put down to the features that the parent asked about, to each by its share (see
core.questions). Over a whole way the changes add up to what its end says less what the root does;
so, averaged over trees, roots and changes add up to the answer (Saabas 2014, Palczewska et al.
2013). It tells what these trees did with this row, not what the features have to do with the
target.
"""

import numpy as np

from forestlab.core.arrays import LEAF, Forest, Tree, n_trees, tree_of
from forestlab.core.questions import reads
from forestlab.forest.reached import Reached


def contributions(
    forest: Forest, answers: np.ndarray, found: Reached, n_features: int
) -> tuple[np.ndarray, np.ndarray]:
    """What the roots say, and what each feature adds to it; means over trees.

    Parameters
    ----------
    answers : (n_nodes, n_answers) what each node of the forest says
    found : where rows end in these trees

    Returns
    -------
    roots : (n_answers,)
    parts : (n_rows, n_features, n_answers)
    """
    n = n_trees(forest)
    parts = np.zeros((found.n_rows, n_features, answers.shape[1]))
    for t in range(n):
        first = forest.first_node[t]
        rows, ends, shares = found.pieces(t)
        _add_way(parts, tree_of(forest, t), answers[first:], rows, ends - first, shares)
    return answers[forest.first_node[:-1]].mean(axis=0), parts / n


def _add_way(
    parts: np.ndarray, tree: Tree, answers: np.ndarray, rows, nodes, shares: np.ndarray
) -> None:
    """Add what one tree does with these pieces of rows, from their ends upwards."""
    parent = parents(tree.nodes)
    asking, features, weights = reads(tree)
    starts = np.searchsorted(asking, np.arange(len(tree.nodes) + 1))
    while True:
        inner = parent[nodes] >= 0
        rows, nodes, shares = rows[inner], nodes[inner], shares[inner]
        if not len(nodes):
            return
        above = parent[nodes]
        change = shares[:, None] * (answers[nodes] - answers[above])
        n_read = starts[above + 1] - starts[above]
        piece = np.repeat(np.arange(len(nodes)), n_read)
        place = np.arange(len(piece)) - np.repeat(np.cumsum(n_read) - n_read, n_read)
        read = starts[above][piece] + place
        np.add.at(parts, (rows[piece], features[read]), weights[read][:, None] * change[piece])
        nodes = above


def parents(nodes: np.ndarray) -> np.ndarray:
    """The node above each of a tree, (n_nodes,); -1 above the root."""
    found = np.full(len(nodes), -1)
    inner = np.flatnonzero(nodes["kind"] != LEAF)
    found[nodes["left"][inner]] = found[nodes["right"][inner]] = inner
    return found

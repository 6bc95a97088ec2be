"""A tree's own answer for a row: what a forest of that tree alone would say.

A node's *value* is its label, the class of greatest weight (the first of equal ones), or its mean.
Where a walk branches, the posteriors or the means of the nodes where the row ends are averaged by
its shares, and the label is taken last.
"""

import numpy as np

from forestlab.core.combine import average_classes
from forestlab.core.descend import NO_DEPTH, frontier_walk, short_walks, start_down, step_down
from forestlab.core.jit import jitable


def node_values(task: str, stats: np.ndarray) -> np.ndarray:
    """The value of each node, (n_nodes,): labels as int32, or means of the first target."""
    if task == "classification":
        return stats.argmax(axis=1).astype(np.int32)
    return np.ascontiguousarray(stats[:, 1])


# ---- where a walk branches ---------------------------------------------------------------------


@jitable
def mixed_label(stats, labels, frontier, n_ends):
    if n_ends == 1:
        return labels[frontier.ends[0]]
    posterior = np.zeros((1, stats.shape[1]))
    for end in range(n_ends):
        average_classes(stats, frontier.ends[end], 0, 1.0, frontier.shares[end], posterior, 0)
    label = 0
    for k in range(1, stats.shape[1]):
        if posterior[0, k] > posterior[0, label]:
            label = k
    return np.int32(label)


@jitable
def mixed_mean(stats, means, frontier, n_ends):
    mean = 0.0
    for end in range(n_ends):
        mean += frontier.shares[end] * means[frontier.ends[end]]
    return mean


# ---- many rows ---------------------------------------------------------------------------------


def level_reader(mix):
    """What reads a tree's answers level by level, given what mixes those of a walk that branches"""

    @jitable
    def read_level(forest, values, t, X, rows, n_rows, depth, frontier, ends, active, found):
        """found[k] = what tree t, cut at a depth, answers for rows[k].

        Depths are asked in turn, from 0 on: `ends` keeps where the rows are in between.
        """
        if forest.steps.shape[0] == 0:
            for k in range(n_rows):
                n_ends = frontier_walk(forest, t, X[rows[k]], depth, frontier)
                found[k] = mix(forest.stats, values, frontier, n_ends)
            return
        first = forest.first_node[t]
        if depth == 0:
            start_down(first, n_rows, ends, active)
        else:
            for k in range(n_rows):
                active[k] = k  # though some may be in leaves, where they stay
            step_down(forest.steps, first, X, rows, ends, active, n_rows)
        for k in range(n_rows):
            found[k] = values[ends[k]]

    return read_level


def leaf_reader(mix):
    """What reads a tree's answers as it was grown."""

    @jitable
    def read_leaves(forest, values, t, X, rows, n_rows, frontier, ends, active, found):
        """found[k] = what tree t answers for rows[k]."""
        if forest.steps.shape[0] == 0:
            for k in range(n_rows):
                n_ends = frontier_walk(forest, t, X[rows[k]], NO_DEPTH, frontier)
                found[k] = mix(forest.stats, values, frontier, n_ends)
            return
        first = forest.first_node[t]
        short_walks(forest.steps, first, X, rows, n_rows, NO_DEPTH, ends, active)
        for k in range(n_rows):
            found[k] = values[ends[k]]

    return read_leaves

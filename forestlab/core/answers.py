"""A tree's own answer for a row: what a forest of that tree alone would say.

A node's *value* is its label, the class of greatest weight (the first of equal ones), or its mean.
Where a walk branches, the posteriors or the means of the nodes where the row ends are averaged by
its shares, and the label is taken last.
"""

import numpy as np

from forestlab.core.combine import average_classes
from forestlab.core.jit import jitable
from forestlab.core.walk import NO_DEPTH, ends_lister, level_stepper, start_down, walker

# ---- where a walk branches ---------------------------------------------------------------------


@jitable
def mixed_label(stats, labels, frontier, n_ends):
    if n_ends == 1:
        return labels[frontier.nodes[0]]
    posterior = np.zeros((1, stats.shape[1]))
    for end in range(n_ends):
        average_classes(stats, frontier.nodes[end], 0, 1.0, frontier.shares[end], posterior, 0)
    label = 0
    for k in range(1, stats.shape[1]):
        if posterior[0, k] > posterior[0, label]:
            label = k
    return np.int32(label)


@jitable
def mixed_mean(stats, means, frontier, n_ends):
    mean = 0.0
    for end in range(n_ends):
        mean += frontier.shares[end] * means[frontier.nodes[end]]
    return mean


# ---- many rows ---------------------------------------------------------------------------------


def ends_reader(mix, plain: bool):
    """What reads the answers where rows end, given what mixes those of a walk that branches."""
    list_ends = ends_lister(plain)

    @jitable
    def read_plain(forest, values, t, X, rows, n_rows, depth, frontier, ends, found):
        for k in range(n_rows):
            found[k] = values[ends[k]]

    @jitable
    def read_ends(forest, values, t, X, rows, n_rows, depth, frontier, ends, found):
        for k in range(n_rows):
            if ends[k] >= 0:
                found[k] = values[ends[k]]
            else:
                n_ends = list_ends(forest, t, X[rows[k]], depth, frontier)
                found[k] = mix(forest.stats, values, frontier, n_ends)

    return read_plain if plain else read_ends


def level_reader(mix, plain: bool):
    """What reads a tree's answers level by level."""
    step_level, read_ends = level_stepper(plain), ends_reader(mix, plain)

    @jitable
    def read_level(forest, values, t, X, rows, n_rows, depth, frontier, ends, active, found):
        """found[k] = what tree t, cut at a depth, answers for rows[k].

        Depths are asked in turn, from 0 on: `ends` keeps where the rows are in between.
        """
        if depth == 0:
            start_down(forest.first_node[t], n_rows, ends, active)
        else:
            n_active = np.int64(0)
            for k in range(n_rows):  # some may be in leaves, where they stay
                active[n_active] = k
                n_active += ends[k] >= 0
            step_level(forest, t, X, rows, ends, active, n_active)
        read_ends(forest, values, t, X, rows, n_rows, depth, frontier, ends, found)

    return read_level


def leaf_reader(mix, plain: bool):
    """What reads a tree's answers as it was grown."""
    go_down, read_ends = walker(plain), ends_reader(mix, plain)

    @jitable
    def read_leaves(forest, values, t, X, rows, n_rows, frontier, ends, active, found):
        """found[k] = what tree t answers for rows[k]."""
        go_down(forest, t, X, rows, n_rows, NO_DEPTH, ends, active)
        read_ends(forest, values, t, X, rows, n_rows, NO_DEPTH, frontier, ends, found)

    return read_leaves

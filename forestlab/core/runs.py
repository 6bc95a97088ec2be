"""Runs: trees that a kernel grows one after the other, without a word to Python in between.

Of small trees the words took longer than half of the growing, and threads had to wait for each
other to say them. What is not laid out in a run, trees with pools beside their nodes, or one for
which there is no room any more, is left in the scratch.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, NODE, STEP
from forestlab.core.jit import jitable

LEFT = 0  # what Run.left[0] says: nodes of the tree that is left in the scratch; 0: none is


class Run(NamedTuple):
    """Trees of nodes that ask about one number each, end to end."""

    nodes: np.ndarray  # (room,) NODE
    stats: np.ndarray  # (room, n_stats) float64
    gains: np.ndarray  # (room,) float64
    steps: np.ndarray  # (room,) STEP
    sizes: np.ndarray  # (most trees,) int64: nodes of each
    left: np.ndarray  # (1,) int64


def make_run(room: int, n_stats: int, n_trees: int) -> Run:
    return Run(
        np.empty(room, NODE),
        np.empty((room, n_stats)),
        np.empty(room),
        np.empty(room, STEP),
        np.empty(n_trees, np.int64),
        np.zeros(1, np.int64),
    )


@jitable
def lay_tree(scratch, n_nodes, run, n_laid):
    """Lay the tree in the scratch behind those of the run; return whether there was room for it."""
    start = np.uint64(0)
    for t in range(n_laid):
        start += np.uint64(run.sizes[t])
    n = np.uint64(n_nodes)
    if start + n > np.uint64(run.nodes.shape[0]):
        return False
    nodes, steps = run.nodes, run.steps
    for i in range(n):
        node = scratch.nodes[i]
        nodes[start + i] = node
        run.gains[start + i] = scratch.gains[i]
        step = steps[start + i]
        step["feature"] = -1 if node["kind"] == LEAF else node["feature"]
        step["right"], step["cut"] = node["right"], node["cut_high"]
        for k in range(run.stats.shape[1]):
            run.stats[start + i, k] = scratch.stats[i, k]
    run.sizes[n_laid] = n_nodes
    return True


@jitable
def leave_tree(scratch, n_nodes, run, n_laid):
    """For trees that a run cannot hold."""
    return False

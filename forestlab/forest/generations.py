"""The nodes of all trees at once, generation by generation: what goes from parents to children, or
the other way, takes a few operations on arrays for each depth, whatever the number of trees."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, Forest


class Generation(NamedTuple):
    """The inner nodes of one depth, as rows of the forest's own arrays, and their children."""

    parents: np.ndarray  # (k,) int64
    left: np.ndarray  # (k,) int64
    right: np.ndarray  # (k,) int64


def generations(forest: Forest) -> list[Generation]:
    """From the roots on; in each those of the first tree stand first."""
    nodes, first = forest.nodes, forest.first_node[:-1]
    here, begins = first, first
    found: list[Generation] = []
    while True:
        inner = nodes["kind"][here] != LEAF
        here, begins = here[inner], begins[inner]
        if not len(here):
            return found
        left, right = (begins + nodes[side][here] for side in ("left", "right"))
        found.append(Generation(here, left, right))
        here = np.stack([left, right], axis=1).ravel()
        begins = np.repeat(begins, 2)

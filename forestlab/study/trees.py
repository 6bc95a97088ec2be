"""How large the trees are."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, Forest, n_trees, tree_of
from forestlab.core.prune import depths
from forestlab.study.part import Findings, Look, Number, Part, single


class Shape(NamedTuple):
    """Of T trees; each (T,)."""

    n_nodes: np.ndarray
    n_leaves: np.ndarray
    depth: np.ndarray  # reached


def shape_of(forest: Forest) -> Shape:
    trees = [tree_of(forest, t) for t in range(n_trees(forest))]
    return Shape(*(np.array(column) for column in zip(*map(_shape, trees), strict=True)))


def _shape(tree) -> tuple[int, int, int]:
    leaves = np.count_nonzero(tree.nodes["kind"] == LEAF)
    return len(tree.nodes), int(leaves), int(depths(tree).max())


def depth_of(forest: Forest) -> int:
    """The depth of the deepest node."""
    roots = np.repeat(forest.first_node[:-1], np.diff(forest.first_node))
    level, places = 0, forest.first_node[:-1]
    while True:
        inner = places[forest.nodes["kind"][places] != LEAF]
        if not len(inner):
            return level
        children = [forest.nodes[side][inner] + roots[inner] for side in ("left", "right")]
        level, places = level + 1, np.concatenate(children)


def _find(look: Look) -> Shape:
    return shape_of(look.grown.forest)


def _numbers(found: Shape, findings: Findings) -> Iterator[Number]:
    for name, values in found._asdict().items():
        yield single(f"trees_{name}", values.mean())


PART = Part(
    level="off",
    targets="all",
    needs_targets=False,
    find=_find,
    numbers=_numbers,
    metrics={
        "summary/trees_n_nodes": "mean over trees",
        "summary/trees_n_leaves": "mean over trees",
        "summary/trees_depth": "reached, mean over trees",
    },
)

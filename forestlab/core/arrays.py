"""What the core passes around: NamedTuples of arrays.

A *node* is one record of 64 bytes: one cache line. It already holds what every kind of split
needs, so that the file format and the descent stay as they are when learners are added:

- ``kind``: LEAF, or how the node turns a row into a number (AXIS, OBLIQUE, QUADRATIC) or reads a
  CATEGORY. A row goes left when ``cut_low < number <= cut_high``; a plain cut has
  ``cut_low = -inf``, a band has both. A category goes left when its bit is set.
- ``params`` and ``bits``: offsets into the tree's pools of parameters and category bit sets.
- ``missing`` and ``missing_share``: where a NaN goes: LEFT, RIGHT, or BOTH, then with
  ``missing_share`` of its weight to the left.
- ``left``, ``right``: children, numbered within the tree; -1 for a leaf. Nodes stand in preorder,
  so a parent comes before its children.
- ``n_rows`` training rows of total ``weight`` reached the node, with this ``impurity``.

Beside each node stands a row of *statistics*: the weight of each class, or for regression
``[weight, mean of each target, sum of squared deviations of each target]``.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

LEAF, AXIS, OBLIQUE, QUADRATIC, CATEGORY = 0, 1, 2, 3, 4
LEFT, RIGHT, BOTH = 0, 1, 2

NODE = np.dtype(
    [
        ("kind", np.uint8),
        ("missing", np.uint8),
        ("spare", np.uint16),
        ("feature", np.int32),
        ("left", np.int32),
        ("right", np.int32),
        ("cut_low", np.float64),
        ("cut_high", np.float64),
        ("params", np.int32),
        ("bits", np.int32),
        ("missing_share", np.float32),
        ("n_rows", np.int32),
        ("weight", np.float64),
        ("impurity", np.float64),
    ]
)
assert NODE.itemsize == 64


# All that a walk needs of a leaf or a single cut, in a quarter of a cache line: trees of 20,000
# nodes then stay in cache. The left child stands right behind its parent.
STEP = np.dtype([("feature", np.int32), ("right", np.int32), ("cut", np.float64)])


class Columns(NamedTuple):
    """Encoded features. Column j's codes run from 0 to ``first[j + 1] - first[j] - 1``."""

    codes: np.ndarray  # (n_features, n_rows), the smallest unsigned type that holds all codes
    first: np.ndarray  # (n_features + 1,) int64: where column j's values begin
    lower: np.ndarray  # float64: the smallest value with each code
    upper: np.ndarray  # float64: the greatest value with each code; the same in an exact search


class Tree(NamedTuple):
    nodes: np.ndarray  # (n_nodes,) NODE
    stats: np.ndarray  # (n_nodes, n_stats) float64
    params: np.ndarray  # float64 pool
    bits: np.ndarray  # uint64 pool


class Forest(NamedTuple):
    """Trees end to end; tree t's nodes are ``first_node[t] : first_node[t + 1]``."""

    nodes: np.ndarray
    stats: np.ndarray
    params: np.ndarray
    bits: np.ndarray
    first_node: np.ndarray  # (n_trees + 1,) int64
    first_param: np.ndarray  # (n_trees + 1,) int64
    first_bit: np.ndarray  # (n_trees + 1,) int64
    steps: np.ndarray  # (n_nodes,) STEP, derived from the nodes; empty if they hold other splits


class Settings(NamedTuple):
    """How one tree grows; 0 switches a limit off where it says so."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    impurity_scale: float  # 1 / ln 2 for entropy in bits
    max_features: int  # features drawn at each node
    rho: int  # split parameters drawn at each node; 0: all
    n_thresholds: int  # cuts kept of those a feature proposes; 0: all
    midpoint: bool  # cuts lie midway between neighbours, else on the lower one


def n_trees(forest: Forest) -> int:
    return len(forest.first_node) - 1


def tree_of(forest: Forest, t: int) -> Tree:
    """Tree t, as views into the forest."""
    nodes = slice(forest.first_node[t], forest.first_node[t + 1])
    params = slice(forest.first_param[t], forest.first_param[t + 1])
    bits = slice(forest.first_bit[t], forest.first_bit[t + 1])
    return Tree(forest.nodes[nodes], forest.stats[nodes], forest.params[params], forest.bits[bits])


def plant(trees: list[Tree]) -> Forest:
    """Lay trees end to end. The list is emptied on the way, so that no tree is held twice."""
    first = [_offsets([len(tree[k]) for tree in trees]) for k in (0, 2, 3)]
    n_stats = trees[0].stats.shape[1]
    forest = Forest(
        np.empty(first[0][-1], NODE),
        np.empty((first[0][-1], n_stats)),
        np.empty(first[1][-1]),
        np.empty(first[2][-1], np.uint64),
        first[0],
        first[1],
        first[2],
        np.empty(0, STEP),
    )
    for t in range(len(trees)):
        for target, source in zip(tree_of(forest, t), trees[t], strict=True):
            target[...] = source
        trees[t] = None  # type: ignore[call-overload]
    trees.clear()
    return with_steps(forest)


def with_steps(forest: Forest) -> Forest:
    """The forest with its short walk, if every split is a single cut that sends a NaN right."""
    nodes = forest.nodes
    steps = np.empty(len(nodes), STEP)
    for first, end in pairwise(forest.first_node):
        here, step = nodes[first:end], steps[first:end]
        leaf = here["kind"] == LEAF
        single = (here["kind"] == AXIS) & (here["cut_low"] == -np.inf) & (here["missing"] == RIGHT)
        if not (leaf | (single & (here["left"] == np.arange(1, len(here) + 1)))).all():
            return forest._replace(steps=np.empty(0, STEP))
        step["feature"] = np.where(leaf, -1, here["feature"])
        step["right"] = here["right"]
        step["cut"] = here["cut_high"]
    return forest._replace(steps=steps)


def _offsets(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

"""Every way to stop, from one forest: the whole forest cut by rules, and each rule's whole path.

A rule's *path* is a grid of its values from the strictest to the loosest, which leaves the trees as
they are. A node asks from some place of the path on, it *opens* there, and no node opens before the
one above it: so a row's walk passes the answers at all values of a rule as it passes those of all
depths.
"""

from collections.abc import Callable
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, Forest, n_trees, plant, tree_of
from forestlab.core.best_first import ranks
from forestlab.core.prune import Rules, cut, depths, hand_down, origins, weakest_links
from forestlab.forest.threads import in_threads

N_VALUES = 12  # of a path: with 16 all rules took longer than the whole surface by depth


def cut_forest(forest: Forest, rules: Rules, n_jobs: int = 1, first: int = 0) -> Forest:
    """The forest as it would have been grown with these rules from its `first` tree on; those
    before it stay as they are."""
    count = n_trees(forest)
    upper = (tree_of(forest, t) for t in range(first))
    trees = in_threads(lambda t: cut(tree_of(forest, t), rules), range(first, count), n_jobs)
    return plant(chain(upper, trees), count)


def origins_of(forest: Forest, shorter: Forest) -> np.ndarray:
    """Which node of a forest is each node of that forest cut back, (n_nodes,) int64."""
    pairs = ((tree_of(forest, t), tree_of(shorter, t)) for t in range(n_trees(forest)))
    return np.concatenate(
        [first + origins(*pair) for first, pair in zip(forest.first_node, pairs, strict=False)]
    )


class Path(NamedTuple):
    rule: str
    values: np.ndarray  # (G,) of the rule's parameter, strictest first
    opens: np.ndarray  # (n_nodes,) int32: the first place at which a node asks; G: at none
    leaves: np.ndarray  # (G,) mean number of leaves of a tree


def paths_of(forest: Forest, cost: str = "criterion", n_values: int = N_VALUES) -> dict[str, Path]:
    """The paths of all rules, by their names; of one that the forest does not know enough for (see
    `core.arrays` on gains), none."""
    grid = leaves_grid(_most_leaves(forest), n_values)
    found = {"depth": depth_path(forest), "split_size": split_size_path(forest, n_values)}
    if len(forest.gains):
        found |= {"gain": gain_path(forest, grid), "leaves": leaves_path(forest, grid)}
    return found | {"alpha": alpha_path(forest, grid, cost)}


def leaves_grid(most: int, n_values: int) -> np.ndarray:
    """From 2 to the most leaves of any tree, each value about the same multiple of the last."""
    if most < 2:
        return np.array([2])
    return np.unique(np.round(np.geomspace(2, most, n_values)).astype(np.int64))


def depth_path(forest: Forest) -> Path:
    deep = _of_trees(forest, depths)
    return _path(forest, "depth", np.arange(1, deep.max() + 1), deep)


def split_size_path(forest: Forest, n_values: int) -> Path:
    """From where all roots still ask to the least node that does, each value about the same share
    of the last."""
    n_rows = forest.nodes["n_rows"].astype(np.int64)
    inner = n_rows[forest.nodes["kind"] != LEAF]
    least = int(inner.min(initial=n_rows[0]))
    most = max(least, int(n_rows[forest.first_node[:-1]].min()))
    values = np.unique(np.round(np.geomspace(least, most, n_values)).astype(np.int64))[::-1]
    return _path(forest, "split_size", values, np.searchsorted(-values, -n_rows))


def leaves_path(forest: Forest, grid: np.ndarray) -> Path:
    rank = _of_trees(forest, lambda tree: ranks(tree.nodes, tree.gains))
    return _path(forest, "leaves", grid, np.searchsorted(grid, rank + 2))


def gain_path(forest: Forest, grid: np.ndarray) -> Path:
    """The values that leave trees, on the average, about as many leaves as the grid says; 0."""
    losses = _of_trees(forest, lambda tree: -tree.gains / tree.nodes["weight"][0])
    _in_trees(forest, losses, hand_down)  # a branch gains no more than what leads to it
    values = _values_for(forest, -losses, grid)
    opens = np.empty(len(losses), np.int64)
    for first, end in pairwise(forest.first_node):
        needed = values * forest.nodes["weight"][first]  # as the grower compares
        opens[first:end] = np.searchsorted(-needed, -forest.gains[first:end])
    return _path(forest, "gain", values, opens)


def alpha_path(forest: Forest, grid: np.ndarray, cost: str = "criterion") -> Path:
    """The same of α: a node asks below its own. α = 0 collapses nothing, as in scikit-learn."""
    alphas = _of_trees(forest, lambda tree: weakest_links(tree, cost).alphas)
    values = _values_for(forest, alphas, grid)
    opens = np.searchsorted(-values, -alphas, side="right")
    return _path(forest, "alpha", values, np.minimum(opens, len(values) - 1))


def alphas_of(forest: Forest, n_values: int, cost: str) -> np.ndarray:
    """The values of its path, and before them that which leaves no tree more than its root."""
    alphas = _of_trees(forest, lambda tree: weakest_links(tree, cost).alphas)
    values = _values_for(forest, alphas, leaves_grid(_most_leaves(forest), n_values))
    return np.append(alphas.max(), values) if alphas.max() > 0.0 else values


def _most_leaves(forest: Forest) -> int:
    return int(np.diff(forest.first_node).max() // 2 + 1)


def _values_for(forest: Forest, numbers: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Falling values, the last 0; each is exceeded by the numbers of as many nodes of a tree as, on
    the average, make so many leaves."""
    asked = np.sort(numbers[forest.nodes["kind"] != LEAF])[::-1]
    places = (grid[:-1] - 1) * n_trees(forest)
    places = places[places < len(asked)]
    # Midway between the last that asks and the next, so that another forest's nodes near them do.
    values = np.sqrt(np.maximum(asked[places], 0.0)) * np.sqrt(np.maximum(asked[places - 1], 0.0))
    return np.append(np.unique(values[values > 0.0])[::-1], 0.0)


def _path(forest: Forest, rule: str, values: np.ndarray, opens: np.ndarray) -> Path:
    opens = opens.astype(np.int32)
    opens[forest.nodes["kind"] == LEAF] = len(values)
    _in_trees(forest, opens, hand_down)
    n_open = np.cumsum(np.bincount(opens, minlength=len(values) + 1)[: len(values)])
    return Path(rule, values, opens, 1.0 + n_open / n_trees(forest))


def _of_trees(forest: Forest, number: Callable) -> np.ndarray:
    """A number for each node, found tree by tree."""
    return np.concatenate([number(tree_of(forest, t)) for t in range(n_trees(forest))])


def _in_trees(forest: Forest, numbers: np.ndarray, change: Callable) -> None:
    """Change the numbers of nodes, tree by tree."""
    for first, end in pairwise(forest.first_node):
        change(forest.nodes[first:end], numbers[first:end])

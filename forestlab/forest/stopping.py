"""Every way to stop, from one forest: the whole forest cut by rules, and each rule's whole path.

A rule's *path* is a grid of its values from the strictest to the loosest, which leaves the trees as
they are. A node asks from some place of the path on, it *opens* there, and no node opens before the
one above it: so a row's walk passes the answers at all values of a rule as it passes those of all
depths.
"""

from collections import deque
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, Forest, n_trees, plant, tree_of
from forestlab.core.best_first import leads_of, rank_trees
from forestlab.core.cost_complexity import costs_of, find_alphas, make_waiting
from forestlab.core.prune import Rules, cut, find_depths, origins
from forestlab.forest.threads import in_threads

N_VALUES = 10  # of a path: with more all rules may take longer than the whole surface by depth


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
    opens: np.ndarray  # (n_nodes,) whole numbers: the first place at which a node asks; G: at none
    leaves: np.ndarray  # (G,) mean number of leaves of a tree


class Numbers(NamedTuple):
    """What decides, for each of the n nodes of a forest that ask, where it opens; (n,) each."""

    n_nodes: int  # of the forest
    asking: np.ndarray  # int64: which of them ask
    depth: np.ndarray  # int64
    n_rows: np.ndarray  # int32
    rank: np.ndarray  # int32, in best-first growing
    least: np.ndarray  # float64: least gain from the root down to it
    alpha: np.ndarray  # float64: from which on it asks no more


def paths_of(
    forest: Forest, cost: str = "criterion", n_values: int = N_VALUES, n_jobs: int = 1
) -> dict[str, Path]:
    """The paths of all rules, by their names; of one that the forest does not know enough for (see
    `core.arrays` on gains), none."""
    grid, numbers = leaves_grid(_most_leaves(forest), n_values), numbers_of(forest, cost, n_jobs)
    n_rows = forest.nodes["n_rows"][forest.first_node[:-1]]
    found = [depth_path(numbers), split_size_path(numbers, int(n_rows.min()), n_values)]
    if len(forest.gains):
        found += [gain_path(forest, numbers, grid), leaves_path(numbers, grid)]
    found.append(alpha_path(numbers, grid, n_trees(forest)))
    return {path.rule: path for path in found}


def numbers_of(forest: Forest, cost: str = "criterion", n_jobs: int = 1) -> Numbers:
    """Found in threads, each of which looks at some of the trees."""
    nodes, sizes, has_gains = forest.nodes, np.diff(forest.first_node), len(forest.gains) > 0
    n, most = len(nodes), int(sizes.max())
    roots = np.repeat(nodes["weight"][forest.first_node[:-1]], sizes)
    costs, depth, alpha = costs_of(forest, cost, roots), np.empty(n, np.int64), np.empty(n)
    leads = leads_of(nodes, forest.gains, forest.first_node) if has_gains else None
    rank = np.empty(n, np.int32)

    def of_trees(first: np.ndarray) -> None:
        find_depths(nodes, first, depth)
        find_alphas(nodes, first, costs, make_waiting(most), alpha)
        if leads is not None:
            rank_trees(nodes, first, leads, rank)

    ends = np.linspace(0, n_trees(forest), min(n_jobs, n_trees(forest)) + 1).astype(int)
    shares = [forest.first_node[a : b + 1] for a, b in pairwise(ends)]
    deque(in_threads(of_trees, shares, n_jobs), maxlen=0)
    at = np.flatnonzero(nodes["kind"] != LEAF)
    n_rows = nodes["n_rows"][at]
    least = np.zeros(0) if leads is None else -leads.leads[at]
    return Numbers(n, at, depth[at], n_rows, rank[at[: len(least)]], least, alpha[at])


def leaves_grid(most: int, n_values: int) -> np.ndarray:
    """From 2 to the most leaves of any tree, each value about the same multiple of the last."""
    if most < 2:
        return np.array([2])
    return np.unique(np.round(np.geomspace(2, most, n_values)).astype(np.int64))


def depth_path(numbers: Numbers) -> Path:
    values = np.arange(1, numbers.depth.max(initial=-1) + 2)
    return _path(numbers, "depth", values, numbers.depth)


def split_size_path(numbers: Numbers, n_rows: int, n_values: int) -> Path:
    """From the `n_rows` with which all roots still ask to the least node that does, each value
    about the same share of the last."""
    least = int(numbers.n_rows.min(initial=n_rows))
    values = np.unique(np.round(np.geomspace(least, n_rows, n_values)).astype(np.int64))[::-1]
    return _path(numbers, "split_size", values, _n_above(values, numbers.n_rows))


def leaves_path(numbers: Numbers, grid: np.ndarray) -> Path:
    return _path(numbers, "leaves", grid, len(grid) - _n_above(grid, numbers.rank + 1))


def gain_path(forest: Forest, numbers: Numbers, grid: np.ndarray) -> Path:
    """The values that leave trees, on the average, about as many leaves as the grid says; 0."""
    roots = forest.nodes["weight"][forest.first_node[:-1]]
    weight = np.repeat(roots, np.diff(forest.first_node) // 2)  # of a tree's nodes that ask
    values = _values_for(numbers.least / weight, grid, n_trees(forest))
    opens = _n_above(values, numbers.least, weight)  # as the grower compares
    return _path(numbers, "gain", values, opens)


def alpha_path(numbers: Numbers, grid: np.ndarray, n_trees: int) -> Path:
    """The same of α: a node asks below its own. α = 0 collapses nothing, as in scikit-learn."""
    # A little more than those of nodes: what is equal but for rounding collapses together.
    values = _values_for(numbers.alpha, grid, n_trees) * (1.0 + 1e-9)
    opens = _n_above(np.nextafter(values, np.inf), numbers.alpha)
    return _path(numbers, "alpha", values, np.minimum(opens, len(values) - 1))


def alphas_of(forest: Forest, n_values: int, cost: str, n_jobs: int = 1) -> np.ndarray:
    """The values of its path, and before them that which leaves no tree more than its root."""
    alphas = numbers_of(forest, cost, n_jobs).alpha
    grid = leaves_grid(_most_leaves(forest), n_values)
    values = _values_for(alphas, grid, n_trees(forest))
    most = alphas.max(initial=0.0)
    return np.append(most, values) if most > 0.0 else values


def _most_leaves(forest: Forest) -> int:
    return int(np.diff(forest.first_node).max() // 2 + 1)


def _values_for(numbers: np.ndarray, grid: np.ndarray, n_trees: int) -> np.ndarray:
    """Falling values, the last 0; each is exceeded by the numbers of as many nodes of a tree as, on
    the average, make so many leaves. `numbers` are of nodes that ask."""
    places = (grid[:-1] - 1) * n_trees
    places = places[places < len(numbers)]
    found = np.sort(-numbers) if len(places) else numbers
    next_one, last = (np.sqrt(np.maximum(-found[at], 0.0)) for at in (places, places - 1))
    # Midway between the last that asks and the next, so that another forest's nodes near them do.
    values = next_one * last
    return np.append(np.unique(values[values > 0.0])[::-1], 0.0)


def _n_above(values: np.ndarray, numbers: np.ndarray, scale: np.ndarray | float = 1) -> np.ndarray:
    """How many of the few values, each times the scale, are above each number: a tenth of the time
    of `np.searchsorted`, as comparing takes nearly none."""
    found = np.zeros(len(numbers), np.uint8 if len(values) < 256 else np.int32)
    for value in values:
        np.add(found, numbers < value * scale, out=found)
    return found


def _path(numbers: Numbers, rule: str, values: np.ndarray, opening: np.ndarray) -> Path:
    """`opening` is where each node that asks opens; none does before the one above it."""
    opens = np.full(numbers.n_nodes, len(values), np.uint16 if len(values) < 2**16 else np.int32)
    opens[numbers.asking] = opening
    n_trees = numbers.n_nodes - 2 * len(opening)  # a tree has a leaf more than nodes that ask
    n_open = np.cumsum(np.bincount(opening, minlength=len(values) + 1)[: len(values)])
    return Path(rule, values, opens, 1.0 + n_open / n_trees)

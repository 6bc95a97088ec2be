"""What the core passes around: NamedTuples of arrays.

A *node* is one record of 64 bytes: one cache line. It already holds what every kind of split
needs, so that the file format and the descent stay as they are when learners are added:

- ``kind``: LEAF, or how the node turns a row into a number (AXIS, OBLIQUE, QUADRATIC) or reads a
  CATEGORY. A row goes left when ``cut_low < number <= cut_high``; a plain cut has
  ``cut_low = -inf``, a band has both. A category goes left when its bit is set.
- ``params`` and ``bits``: offsets into the tree's pools of parameters and category bit sets.
- ``missing`` and ``missing_share``: where a NaN goes: LEFT, RIGHT, or BOTH, then with
  ``missing_share`` of its weight to the left. UNSEEN is added if no training row of the node had
  one.
- ``left``, ``right``: children, numbered within the tree; -1 for a leaf. Nodes stand in preorder,
  so a parent comes before its children.
- ``n_rows`` training rows of total ``weight`` reached the node, with this ``impurity``.

Beside each node stands a row of *statistics*: the weight of each class, of several targets one
target after the other; or for regression
``[weight, answer of each target, sum of squared deviations of each target from its mean]``. The
answer is the mean unless a leaf answers another number (see leaves), or it is bounded (monotonic);
then *means* stand beside it. Bounded class weights have the share that is answered. And of each
node that asks stands there its *gain*, as it was weighed against ``min_impurity_decrease``: how
much its question lowers the impurity, times its weight.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

LEAF, AXIS, OBLIQUE, QUADRATIC, CATEGORY = 0, 1, 2, 3, 4
LEFT, RIGHT, BOTH = 0, 1, 2
UNSEEN = 4
SIDE = 3  # the bits of `missing` that are a side

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
# nodes then stay in cache. The left child stands right behind its parent. A leaf has no feature,
# -1; a node that asks about categories has ~feature - 1, and in place of the cut says where in its
# tree's pool of bits its set stands.
STEP = np.dtype([("feature", np.int32), ("right", np.int32), ("cut", np.float64)])


class Columns(NamedTuple):
    """Encoded features. Column j's codes run from 0 to ``first[j + 1] - first[j] - 1``; a missing
    value has the code after these."""

    codes: np.ndarray  # (n_features, n_rows), the smallest unsigned type that holds all codes
    first: np.ndarray  # (n_features + 1,) int64: where column j's values begin
    lower: np.ndarray  # float64: the smallest value with each code
    upper: np.ndarray  # float64: the greatest value with each code; the same in an exact search
    # (n_features,) float64: the columns' means and deviations, for learners that ask.
    centre: np.ndarray | tuple[()] = ()
    scale: np.ndarray | tuple[()] = ()
    # (n_features,) int64: how many levels a column of categories has, of numbers 0; () if there is
    # no column of categories. The code of a category is the number of its level.
    levels: np.ndarray | tuple[()] = ()


NO_MEANS = np.zeros((0, 0))
NO_GAINS = np.zeros(0)
TOGETHER = 2**15  # nodes of small trees whose steps are written at once


class Tree(NamedTuple):
    nodes: np.ndarray  # (n_nodes,) NODE
    stats: np.ndarray  # (n_nodes, n_stats) float64
    params: np.ndarray  # float64 pool
    bits: np.ndarray  # uint64 pool
    # (n_nodes, n_targets) float64: where they are not what a node answers; else no columns.
    means: np.ndarray = NO_MEANS
    gains: np.ndarray = NO_GAINS  # (n_nodes,) float64, of leaves 0; empty: not known


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
    means: np.ndarray = NO_MEANS  # as those of a tree
    gains: np.ndarray = NO_GAINS  # likewise


class Limits(NamedTuple):
    """How far one tree grows; 0 switches a limit off where it says so."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    impurity_scale: float  # 1 / ln 2 for entropy in bits
    max_features: int  # features drawn at each node
    rho: int  # split parameters drawn at each node; 0: all
    pairs: bool = False  # these without replacement, of all pairs of a feature and a cut
    count_constant: bool = True  # features that do not vary in a node count among max_features
    max_leaf_nodes: int = 0  # 0: any number


class Settings(NamedTuple):
    """How one tree grows, as the kernels read it: its limits, and what options come to."""

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    min_impurity_decrease: float
    impurity_scale: float
    max_features: int
    rho: int
    n_thresholds: int  # cuts kept of those a feature proposes; 0: all
    midpoint: bool  # cuts lie midway between neighbours, else on the lower one
    random_ties: bool  # of equal features one by chance, else the first
    n_terms: int = 0  # columns that a candidate of several is drawn from
    signs: bool = False  # their factors are -1 or 1, else anything between
    local_bins: int = 0  # bins of its number in large nodes; 0: none
    pairs: bool = False
    count_constant: bool = True
    max_leaf_nodes: int = 0
    of_search: tuple = ()  # numbers that only this search or this learner reads
    of_learner: tuple = ()


def n_trees(forest: Forest) -> int:
    return len(forest.first_node) - 1


def tree_of(forest: Forest, t: int) -> Tree:
    """Tree t, as views into the forest."""
    nodes = slice(forest.first_node[t], forest.first_node[t + 1])
    params = slice(forest.first_param[t], forest.first_param[t + 1])
    bits = slice(forest.first_bit[t], forest.first_bit[t + 1])
    return Tree(
        forest.nodes[nodes],
        forest.stats[nodes],
        forest.params[params],
        forest.bits[bits],
        forest.means[nodes],
        forest.gains[nodes],
    )


def alone(forest: Forest, t: int) -> Forest:
    """Tree t as a forest of its own, as views into the forest."""
    tree = tree_of(forest, t)
    steps = forest.steps[forest.first_node[t] : forest.first_node[t + 1]]  # empty if they are
    nodes, params, bits = (_offsets([len(part)]) for part in (tree.nodes, tree.params, tree.bits))
    return Forest(*tree[:4], nodes, params, bits, steps, tree.means, tree.gains)


class Bed(NamedTuple):
    """A few trees end to end, as they were grown."""

    nodes: np.ndarray
    stats: np.ndarray
    params: np.ndarray
    bits: np.ndarray
    means: np.ndarray
    gains: np.ndarray
    sizes: np.ndarray  # (k, 3) int64: of each tree its nodes, parameters and words of bits
    steps: np.ndarray | None = None  # those of a forest; None: not made yet
    home: Any = None  # the run whose memory it has, if others may have that once it is copied


def bed_of(tree: Tree) -> Bed:
    """A tree by itself."""
    size = len(tree.nodes), len(tree.params), len(tree.bits)
    return Bed(*tree, np.array([size], np.int64))


def as_bed(forest: Forest) -> Bed:
    firsts = forest.first_node, forest.first_param, forest.first_bit
    sizes = np.stack([np.diff(first) for first in firsts], axis=1)
    steps = forest.steps if len(forest.steps) == len(forest.nodes) else None
    return Bed(*forest[:4], forest.means, forest.gains, sizes, steps)


def plant(trees: Iterable[Tree], n_trees: int = 1) -> Forest:
    """Lay trees end to end, each as it comes."""
    return join(map(bed_of, trees), n_trees)


def join(beds: Iterable[Bed], n_trees: int = 1) -> Forest:
    """Lay the trees of some beds end to end, each bed as it comes, so that none need be held twice.

    Room is made for `n_trees` like the first ones; pages that stay empty cost nothing.
    """
    nodes, stats, gains = np.empty(0, NODE), np.empty((0, 0)), np.empty(0)
    steps = np.empty(0, STEP)
    params: list[np.ndarray] = []
    bits: list[np.ndarray] = []
    means: list[np.ndarray] = []
    has_gains = has_steps = True  # all trees have
    sizes: list[np.ndarray] = []
    n_nodes = n_joined = 0
    for bed in beds:
        end, n_joined = n_nodes + len(bed.nodes), n_joined + len(bed.sizes)
        has_gains &= len(bed.gains) == len(bed.nodes)
        has_steps &= bed.steps is not None
        if end > len(nodes):
            room = max(end, int(1.2 * end * n_trees / n_joined))
            nodes, stats, gains = (
                _moved(nodes, n_nodes, (room,)),
                _moved(stats, n_nodes, (room, bed.stats.shape[1])),
                _moved(gains, n_nodes, (room,)),
            )
            steps = _moved(steps, n_nodes, (room,)) if has_steps else steps
        nodes[n_nodes:end], stats[n_nodes:end] = bed.nodes, bed.stats
        if has_gains:
            gains[n_nodes:end] = bed.gains
        if has_steps:
            steps[n_nodes:end] = bed.steps
        params.append(bed.params)
        bits.append(bed.bits)
        means.append(bed.means)
        sizes.append(bed.sizes)
        n_nodes = end
    nodes.resize(n_nodes, refcheck=False)
    stats.resize((n_nodes, stats.shape[1]), refcheck=False)
    gains.resize(n_nodes, refcheck=False)
    first_node, first_param, first_bit = map(_offsets, np.concatenate(sizes).T)
    pools = np.concatenate(params), np.concatenate(bits)
    beside = _joined(means, stats, sizes), gains if has_gains else NO_GAINS
    firsts, no_steps = (first_node, first_param, first_bit), np.empty(0, STEP)
    forest = Forest(nodes, stats, *pools, *firsts, no_steps, *beside)
    if not has_steps:
        return with_steps(forest)
    steps.resize(n_nodes, refcheck=False)
    return forest._replace(steps=steps)


def _joined(means: list[np.ndarray], stats: np.ndarray, sizes: list[np.ndarray]) -> np.ndarray:
    """The means of all trees, if any has them: those of the others are what they answer."""
    n_targets = max(part.shape[1] for part in means)
    if not n_targets:
        return NO_MEANS
    ends = np.cumsum([size[:, 0].sum() for size in sizes])
    answers = np.split(stats[:, 1 : 1 + n_targets], ends[:-1])
    pairs = zip(means, answers, strict=True)
    return np.concatenate([part if part.shape[1] else answer for part, answer in pairs])


def _moved(array: np.ndarray, n: int, shape: tuple[int, ...]) -> np.ndarray:
    """An array of another shape that begins with the first n rows of this one."""
    larger = np.empty(shape, array.dtype)
    if n:
        larger[:n] = array[:n]
    return larger


def with_steps(forest: Forest) -> Forest:
    """The forest with its short walk, if every split is a single cut or one of categories. Rows
    that lack values cannot take it if a node sends these both ways: see `walk.walk_for`."""
    nodes = forest.nodes
    steps = np.empty(len(nodes), STEP)
    for first, end, root in _stretches(forest.first_node):
        here, step = nodes[first:end], steps[first:end]
        leaf = here["kind"] == LEAF
        of_set = here["kind"] == CATEGORY
        single = of_set | ((here["kind"] == AXIS) & (here["cut_low"] == -np.inf))
        behind = here["left"] == np.arange(first + 1, end + 1) - root
        if not (leaf | (single & behind)).all():
            return forest._replace(steps=np.empty(0, STEP))
        column = np.where(of_set, ~here["feature"] - 1, here["feature"])
        step["feature"] = np.where(leaf, -1, column)
        step["right"] = here["right"]
        step["cut"] = np.where(of_set, here["bits"], here["cut_high"])
    return forest._replace(steps=steps)


def _stretches(first_node: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Where stretches of whole trees begin and end, and of each node the place of its root: small
    trees go together, as an array for each would cost more than what is in it."""
    tree, n_trees = 0, len(first_node) - 1
    while tree < n_trees:
        first = first_node[tree]
        until = max(tree + 1, int(np.searchsorted(first_node, first + TOGETHER, "right")) - 1)
        sizes = np.diff(first_node[tree : until + 1])
        yield int(first), int(first_node[until]), np.repeat(first_node[tree:until], sizes)
        tree = until


def _offsets(lengths: Iterable[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(list(lengths))]).astype(np.int64)

"""Trees cut back: to a depth, by the rules that stop growing, along the cost-complexity path.

Which question a node asks depends on its rows and its key alone, so a rule that only decides
*whether* it asks cuts the whole tree to the one that grows with it, to the bit. A rule has a number
for each node that does not rise on the way down; a node asks as long as it is large enough:

    max_depth               how deep the node is, below 0
    min_samples_split       its rows
    min_impurity_decrease   the least gain from the root down to it
    max_leaf_nodes          its rank in best-first growing, below 0 (see best_first)
    ccp_alpha               the α at which its branch is worth no more than its leaves cost
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, NODE, Tree
from forestlab.core.best_first import ranks
from forestlab.core.cost_complexity import weakest_links
from forestlab.core.jit import kernel
from forestlab.core.questions import KINDS, write_leaf
from forestlab.core.walk import NO_DEPTH

# ---- one pass over a tree ----------------------------------------------------------------------


@kernel(allocates=False)
def find_depths(nodes, first, depth):
    """Of trees whose first nodes, and the end, are `first`. Parents stand before their children, so
    one pass does it."""
    for t in range(first.shape[0] - 1):
        root = first[t]
        depth[root] = 0
        for i in range(root, first[t + 1]):
            if nodes[i]["kind"] != LEAF:
                left, right = root + nodes[i]["left"], root + nodes[i]["right"]
                depth[left] = depth[right] = depth[i] + 1


@kernel(allocates=False)
def find_kept(nodes, leaf, kept):
    """What is left of a tree if some of its nodes ask no more; `kept` comes as False."""
    kept[0] = True
    for i in range(nodes.shape[0]):
        if kept[i] and not leaf[i] and nodes[i]["kind"] != LEAF:
            kept[nodes[i]["left"]] = kept[nodes[i]["right"]] = True


@kernel(allocates=False)
def find_origins(nodes, fewer, origin):
    """origin[i] = which node of a tree is node i of that tree cut back."""
    origin[0] = 0
    for i in range(fewer.shape[0]):
        if fewer[i]["kind"] != LEAF:
            origin[fewer[i]["left"]] = nodes[origin[i]]["left"]
            origin[fewer[i]["right"]] = nodes[origin[i]]["right"]


def origins(tree: Tree, shorter: Tree) -> np.ndarray:
    """Which node of a tree is each node of that tree cut back, (n_nodes,) int64."""
    origin = np.empty(len(shorter.nodes), np.int64)
    find_origins(tree.nodes, shorter.nodes, origin)
    return origin


def _alone(tree: Tree) -> np.ndarray:
    """Where a tree begins and ends that stands by itself."""
    return np.array([0, len(tree.nodes)])


def depths(tree: Tree) -> np.ndarray:
    """Each node's depth."""
    depth = np.empty(len(tree.nodes), np.int64)
    find_depths(tree.nodes, _alone(tree), depth)
    return depth


# ---- fewer nodes -------------------------------------------------------------------------------


def collapsed(tree: Tree, leaf: np.ndarray) -> Tree:
    """The tree in which some nodes, (n_nodes,) booleans, ask no more, and what is below them is
    gone; its arrays are those of a tree that was grown so."""
    kept = np.zeros(len(tree.nodes), bool)
    find_kept(tree.nodes, leaf, kept)
    nodes, number = tree.nodes[kept], np.cumsum(kept) - 1
    become = leaf[kept] & (nodes["kind"] != LEAF)
    nodes[become] = _leaves(nodes[become])
    inner = nodes["kind"] != LEAF
    for child in ("left", "right"):
        nodes[child][inner] = number[nodes[child][inner]]
    means = tree.means[kept] if tree.means.shape[1] else tree.means
    gains = np.where(inner, tree.gains[kept], 0.0) if len(tree.gains) else tree.gains
    params, bits = _with_params(tree.params, nodes), _with_bits(tree.bits, nodes)
    return Tree(nodes, tree.stats[kept], params, bits, means, gains)


def _leaves(nodes: np.ndarray) -> np.ndarray:
    """Nodes as leaves with the same rows."""
    blank = np.zeros(1, NODE)
    write_leaf(blank[0])
    leaves = np.repeat(blank, len(nodes))
    for field in ("n_rows", "weight", "impurity"):
        leaves[field] = nodes[field]
    return leaves


def _with_params(pool: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The parameters that nodes still have; where these begin is written into the nodes."""
    lengths = np.zeros(len(nodes), np.int64)
    for kind, row in KINDS.items():
        if not row.names_feature:
            here = nodes["kind"] == kind
            lengths[here] = 1 + row.n_params(pool[nodes["params"][here]].astype(np.int64))
    return _packed(pool, nodes, "params", lengths)


def _with_bits(pool: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """The same of bits."""
    lengths = np.zeros(len(nodes), np.int64)
    here = np.isin(nodes["kind"], [kind for kind, row in KINDS.items() if row.by_category])
    lengths[here] = 1 + 2 * pool[nodes["bits"][here]].astype(np.int64)
    return _packed(pool, nodes, "bits", lengths)


def _packed(pool: np.ndarray, nodes: np.ndarray, field: str, lengths: np.ndarray) -> np.ndarray:
    """The stretches of a pool that nodes name, one behind the other."""
    here = lengths > 0
    ends = np.cumsum(lengths)
    shift = np.repeat(nodes[field] - (ends - lengths), lengths)
    packed = pool[np.arange(len(shift)) + shift]
    nodes[field][here] = (ends - lengths)[here]
    return packed


# ---- by rules ----------------------------------------------------------------------------------


class Rules(NamedTuple):
    """When nodes stop asking; as they stand here, nothing is cut."""

    max_depth: int = NO_DEPTH
    min_samples_split: int = 0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int = 0  # 0: any number
    ccp_alpha: float = 0.0
    ccp_cost: str = "criterion"


def cut(tree: Tree, rules: Rules) -> Tree:
    """The tree as it would have been grown with these rules: depth, rows and gain, then the number
    of leaves, then the cost of leaves."""
    stops = depths(tree) >= rules.max_depth
    stops |= tree.nodes["n_rows"] < rules.min_samples_split
    if rules.min_impurity_decrease > 0.0:
        stops |= tree.gains < rules.min_impurity_decrease * tree.nodes["weight"][0]
    if (stops & (tree.nodes["kind"] != LEAF)).any():
        tree = collapsed(tree, stops)
    if 0 < rules.max_leaf_nodes <= len(tree.nodes) // 2:
        tree = collapsed(tree, ranks(tree.nodes, tree.gains) >= rules.max_leaf_nodes - 1)
    if rules.ccp_alpha > 0.0:
        tree = collapsed(tree, weakest_links(tree, rules.ccp_cost).alphas <= rules.ccp_alpha)
    return tree


# ---- which depth -------------------------------------------------------------------------------


def best_depth(values: np.ndarray, higher_is_better: bool) -> int | None:
    """The depth to choose by a curve: the least of those at which it is best; None without values.

    Depth 0 is the bare prior, which no max_depth asks for: it is chosen only if there is no other.

    Parameters
    ----------
    values : (D,) at depth 0 … D - 1; NaN where there is none
    """
    goodness = np.asarray(values, np.float64) * (1.0 if higher_is_better else -1.0)
    known = np.flatnonzero(~np.isnan(goodness))
    if not len(known):
        return None
    known = known[known > 0] if known[-1] > 0 else known
    return int(known[goodness[known].argmax()])

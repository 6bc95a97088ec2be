"""Cost-complexity pruning (Breiman, Friedman, Olshen and Stone 1984): the nested path of trees that
are cheapest if each leaf costs α, beside the loss of its rows.

Weakest links are collapsed first. From which α on a branch is a leaf is known from its own nodes
alone, so the path is found from the leaves up: at last both children of a node are leaves, and its
question is worth what it lowers the cost by. If one of the branches below it were collapsed at no
less than that, it is collapsed with the node instead, and its own worth is shared out over the
leaves of both; again for the next of them. What waits below a node is a heap whose first is
collapsed last. Every node enters once, as the first of its branch, and leaves at most once.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, Forest, Tree
from forestlab.core.jit import jitable, kernel

COSTS = ("criterion", "misclassification")  # of leaves
NOBODY = -1
NOTHING = 1e-12  # of a node's cost: a question that lowers it by less does so by rounding alone


class Links(NamedTuple):
    """A tree's path: the smallest of the trees with least Σ share of weight × impurity of leaves +
    α × number of leaves."""

    alphas: np.ndarray  # (n_nodes,) float64: from which on each node asks no more; of leaves -inf
    steps: np.ndarray  # (n_steps,) float64: α of each step, in order; of the whole tree 0
    costs: np.ndarray  # (n_steps,) float64: of the leaves after it


class Waiting(NamedTuple):
    """Branches that are collapsed before the one they are part of; of each node of a tree."""

    saved: np.ndarray  # float64: what its question, and those collapsed with it, lower the cost by
    fewer: np.ndarray  # int64: leaves that are gone when it is collapsed
    one: np.ndarray  # int64: those that wait behind it, a skew heap (Sleator and Tarjan 1986)
    other: np.ndarray


def costs_of(trees: Tree | Forest, cost: str, root_weight: float | np.ndarray) -> np.ndarray:
    """What each node would add to its tree's cost as a leaf, (n_nodes,), given the weight of its
    root."""
    nodes = trees.nodes
    if cost == "misclassification":
        return (nodes["weight"] - trees.stats.max(axis=1)) / root_weight
    return nodes["weight"] * nodes["impurity"] / root_weight


def weakest_links(tree: Tree, cost: str = "criterion") -> Links:
    """Collapse, again and again, the branch whose leaves lower the cost least, each; of equal ones
    the first."""
    n, costs = len(tree.nodes), costs_of(tree, cost, tree.nodes["weight"][0])
    alphas, waiting = np.empty(n), make_waiting(n)
    find_alphas(tree.nodes, np.array([0, n]), costs, waiting, alphas)
    at = np.flatnonzero(waiting.fewer > 0)
    at = at[np.argsort(alphas[at], kind="stable")]
    whole = costs[tree.nodes["kind"] == LEAF].sum()
    after = whole + np.cumsum(waiting.saved[at])
    return Links(alphas, np.append(0.0, alphas[at]), np.append(whole, after))


def make_waiting(most: int) -> Waiting:
    """Room for trees of at most so many nodes."""
    return Waiting(np.empty(most), *np.empty((3, most), np.int64))


@kernel(allocates=False)
def find_alphas(nodes, first, costs, waiting, alphas):
    """Fill the `alphas` of trees whose first nodes, and the end, are `first`; of the last of them
    the steps are left in `waiting`: `fewer` is 0 where a node is none."""
    for t in range(first.shape[0] - 1):
        start, end = first[t], first[t + 1]
        find_own_alphas(nodes[start:end], costs[start:end], waiting, alphas[start:end])
        hand_alphas_down(nodes[start:end], waiting, alphas[start:end])


@jitable
def find_own_alphas(nodes, costs, waiting, alphas):
    """Children stand behind their parents."""
    for i in range(nodes.shape[0] - 1, -1, -1):
        if nodes[i]["kind"] == LEAF:
            alphas[i], waiting.fewer[i] = -np.inf, 0
            continue
        left, right = nodes[i]["left"], nodes[i]["right"]
        last = joined(waiting, alphas, branch_of(waiting, left), branch_of(waiting, right))
        saved, fewer = costs[i] - costs[left] - costs[right], 1
        while last != NOBODY and alphas[last] >= worth(saved, fewer, costs[i]):
            saved += waiting.saved[last]
            fewer += waiting.fewer[last]
            waiting.fewer[last] = 0
            last = joined(waiting, alphas, waiting.one[last], waiting.other[last])
        alphas[i] = worth(saved, fewer, costs[i])
        waiting.saved[i], waiting.fewer[i] = saved, fewer
        waiting.one[i], waiting.other[i] = last, NOBODY


@jitable
def worth(saved, fewer, cost):
    """What each of the leaves that a node has more lowers its cost by."""
    return saved / fewer if saved > NOTHING * abs(cost) else 0.0


@jitable
def branch_of(waiting, i):
    return NOBODY if waiting.fewer[i] == 0 else i


@jitable
def joined(waiting, alphas, a, b):
    """Have those wait together who wait behind a and behind b, both included; return the first."""
    if a == NOBODY or b == NOBODY:
        return b if a == NOBODY else a
    if alphas[b] > alphas[a]:
        a, b = b, a
    top = a
    while (
        True
    ):  # b goes to where the greater of it and those behind `other` goes; both change sides
        c = waiting.other[a]
        waiting.other[a] = waiting.one[a]
        if c == NOBODY:
            waiting.one[a] = b
            return top
        if alphas[b] > alphas[c]:
            b, c = c, b
        waiting.one[a] = c
        a = c


@jitable
def hand_alphas_down(nodes, waiting, alphas):
    """Nodes that are collapsed with one above them, and so with their parent, have its α."""
    for i in range(nodes.shape[0]):
        if nodes[i]["kind"] != LEAF:
            for child in (nodes[i]["left"], nodes[i]["right"]):
                if nodes[child]["kind"] != LEAF and waiting.fewer[child] == 0:
                    alphas[child] = alphas[i]

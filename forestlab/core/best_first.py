"""Best-first growing, told from gains: which nodes ask if a tree may have only so many leaves.

Best-first growing splits, of all leaves so far, the one whose split gains most; of equal ones the
first in preorder. Which question a node asks does not depend on when its turn comes, so this only
decides *whether* it asks: the tree is part of the one that grows without this limit, and a node's
place in the order, its *rank*, can be told from gains alone.

Call the least gain on the way from the root to a node, with its own, its *lead*. All nodes of a
greater lead ask before any of a smaller one: as long as one of them waits, so does one above it, or
itself, whose gain is at least that lead. So of a tree with k leaves the k - 1 nodes that ask are
those of the greatest leads, and a node whose lead is less than that of k - 1 others already seen
never does. Growing depth-first can thus leave out most of what would be cut off.
"""

import numpy as np

from forestlab.core.arrays import LEAF
from forestlab.core.heap import enter, replace_first
from forestlab.core.jit import jitable, kernel

# The k - 1 greatest leads so far are a heap: leaders[0] is how many there are, leaders[1] the least
# of them, and leaders[i] no greater than leaders[2 i] and leaders[2 i + 1].


@jitable
def is_leader(leaders, lead):
    """May a node of this lead be among those that ask?"""
    most = leaders.shape[0] - 2
    return most > 0 and (np.int64(leaders[0]) < most or lead >= leaders[1])


@jitable
def lead(leaders, lead):
    """Have a node be among those that ask, in place of the last of them if there are enough."""
    n, most = np.int64(leaders[0]), leaders.shape[0] - 2
    if n < most:
        leaders[0] = n + 1
        rise(leaders, n + 1, lead)
    else:
        sink(leaders, n, lead)


@jitable
def rise(heap, i, item):
    """Put an item at place i, or above."""
    while i > 1 and heap[i >> 1] > item:
        heap[i] = heap[i >> 1]
        i >>= 1
    heap[i] = item


@jitable
def sink(heap, n, item):
    """Put an item at the top, or below."""
    i = 1
    while 2 * i <= n:
        child = 2 * i
        if child < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= item:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = item


@kernel(allocates=False)
def rank_nodes(nodes, first, losses, heap, rank):
    """Rank the nodes of trees, each by itself, whose first ones, and the end, are `first`; `heap`
    has room for the nodes of a tree that wait, and one more."""
    for t in range(first.shape[0] - 1):
        start, end = first[t], first[t + 1]
        rank_tree(nodes[start:end], losses[start:end], heap, rank[start:end])


@jitable
def rank_tree(nodes, losses, heap, rank):
    """rank[i] = how many nodes ask before node i does; of a leaf, how many ask at all. `losses` are
    gains below 0."""
    n_waiting, n_asked = 0, 0
    if nodes[0]["kind"] != LEAF:
        heap[1], n_waiting = 0, 1
    while n_waiting > 0:
        i = heap[1]
        n_waiting -= 1
        replace_first(losses, heap, n_waiting, heap[n_waiting + 1])
        rank[i] = n_asked
        n_asked += 1
        for child in (nodes[i]["left"], nodes[i]["right"]):
            if nodes[child]["kind"] != LEAF:
                n_waiting += 1
                enter(losses, heap, n_waiting, child)
    for i in range(nodes.shape[0]):
        if nodes[i]["kind"] == LEAF:
            rank[i] = n_asked


def ranks(nodes: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """The rank of each node of a tree, (n_nodes,) int64; of leaves how many nodes ask."""
    heap, rank = np.empty(len(nodes) + 2, np.int64), np.empty(len(nodes), np.int64)
    rank_nodes(nodes, np.array([0, len(nodes)]), -gains, heap, rank)
    return rank

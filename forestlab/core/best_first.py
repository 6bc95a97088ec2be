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

from itertools import pairwise
from typing import NamedTuple

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


# ---- ranks -------------------------------------------------------------------------------------


class Leads(NamedTuple):
    """Of the nodes of trees; all are below 0, so that the first to ask has the least."""

    gains: np.ndarray  # (n_nodes,) float64
    leads: np.ndarray  # (n_nodes,) float64; of leaves infinite


def leads_of(nodes: np.ndarray, gains: np.ndarray, first: np.ndarray) -> Leads:
    """The leads of trees whose first nodes, and the end, are `first`."""
    losses, leads = -gains, np.empty(len(nodes))
    hand_down(nodes, first, losses, leads)
    return Leads(losses, leads)


@kernel(allocates=False)
def hand_down(nodes, first, losses, leads):
    """Fill `leads`: no node's is less than its parent's."""
    for t in range(first.shape[0] - 1):
        root = first[t]
        leads[root] = -np.inf
        for i in range(root, first[t + 1]):
            if nodes[i]["kind"] == LEAF:
                leads[i] = np.inf
                continue
            leads[i] = max(leads[i], losses[i])
            for child in (nodes[i]["left"], nodes[i]["right"]):
                leads[root + child] = leads[i]


def rank_trees(nodes: np.ndarray, first: np.ndarray, leads: Leads, rank: np.ndarray) -> None:
    """Write the ranks of the nodes of such trees, each tree's by itself."""
    for start, end in pairwise(first):
        own = Leads(leads.gains[start:end], leads.leads[start:end])
        asking = np.flatnonzero(own.leads < np.inf)
        order, heap = asking[np.argsort(own.leads[asking])], np.empty(len(asking) + 2, np.int64)
        rank_tree(nodes[start:end], own, order, heap, rank[start:end])


@kernel(allocates=False)
def rank_tree(nodes, leads, order, heap, rank):
    """rank[i] = how many nodes ask before node i does; of a leaf, how many ask at all. `order` is
    of those that ask, by leads; `heap` has room for the nodes that wait, and one more."""
    n_asked = order.shape[0]
    for i in range(rank.shape[0]):
        rank[i] = n_asked
    start = 0
    while start < n_asked:
        end = start + 1
        while end < n_asked and leads.leads[order[end]] == leads.leads[order[start]]:
            end += 1
        if end == start + 1:
            rank[order[start]] = start
        else:
            rank_equals(nodes, leads, order[start:end], heap, rank, start)
        start = end


@jitable
def rank_equals(nodes, leads, equals, heap, rank, n_asked):
    """Rank nodes of one lead by their gains, as they come to wait: first those whose parent is not
    one of them."""
    below = np.int32(-1)
    for i in equals:
        for child in (nodes[i]["left"], nodes[i]["right"]):
            if leads.leads[child] == leads.leads[i]:
                rank[child] = below
    n_waiting = 0
    for i in equals:
        if rank[i] != below:
            n_waiting += 1
            enter(leads.gains, heap, n_waiting, i)
    while n_waiting > 0:
        i = heap[1]
        rank[i] = n_asked
        n_asked += 1
        n_waiting -= 1
        replace_first(leads.gains, heap, n_waiting, heap[n_waiting + 1])
        for child in (nodes[i]["left"], nodes[i]["right"]):
            if leads.leads[child] == leads.leads[i]:
                n_waiting += 1
                enter(leads.gains, heap, n_waiting, np.int64(child))


def ranks(nodes: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """The rank of each node of a tree, (n_nodes,) int32; of leaves how many nodes ask."""
    alone, rank = np.array([0, len(nodes)]), np.empty(len(nodes), np.int32)
    rank_trees(nodes, alone, leads_of(nodes, gains, alone), rank)
    return rank

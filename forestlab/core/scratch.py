"""What a growing tree needs at hand: what stays the same, and one thread's memory."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import NODE, Columns, Settings
from forestlab.core.search import Groups, make_groups


class Plan(NamedTuple):
    """What stays the same from node to node."""

    columns: Columns
    y: np.ndarray  # (n_rows, n_targets) float64; class codes for classification
    marks: np.ndarray  # (n_rows,) int32: rows with equal marks have equal targets
    settings: Settings


class Node(NamedTuple):
    """What there is to know of the node at hand."""

    rows: np.ndarray  # (n,) uint32: a stretch of the arena, in which they are put in order
    weights: np.ndarray  # (n,) float64: likewise
    features: np.ndarray  # int64: those that the tree may ask about
    constant: np.ndarray  # uint64: a bit for each feature known not to vary here
    key: int  # from which all that is random here is drawn
    total: tuple  # the numbers of the side that holds all rows
    tie: float  # scores this close are equal
    min_weight: float  # on either side of a cut


class Question(NamedTuple):
    """A cut of a feature: keys up to `low` go left, and the next key in the node is `high`."""

    score: float
    feature: int  # -1: none
    low: int
    high: int


WAITING = np.dtype(
    [
        ("start", np.int64),
        ("end", np.int64),
        ("depth", np.int64),
        ("parent", np.int64),
        ("key", np.uint64),
    ]
)


QUESTION = np.dtype(
    [("score", np.float64), ("feature", np.int64), ("low", np.int64), ("high", np.int64)]
)


class Scratch(NamedTuple):
    """One thread's memory, as the kernel allocates nothing; pages it never touches cost nothing."""

    # The tree so far.
    nodes: np.ndarray  # (most nodes,) NODE
    stats: np.ndarray  # (most nodes, n_stats) float64
    # The nodes that wait: a stack of WAITING, and bits for the features constant in each.
    stack: np.ndarray
    constant: np.ndarray  # (…, words) uint64
    # The node at hand.
    slots: np.ndarray  # (n, n_parts) uint32: where each row's contributions go
    amounts: np.ndarray  # (n, n_parts) float64
    sums: np.ndarray  # (n_slots,) float64: what the node's rows contribute together
    total: np.ndarray  # (n_slots,) float64: the side that holds all of the node's rows
    left: np.ndarray  # (n_slots,) float64: the sides of a cut
    right: np.ndarray
    groups: Groups
    found: np.ndarray  # QUESTION: the best so far, a feature or parameter each
    features: np.ndarray  # int64: the tree's features, ascending; restored after each node
    swaps: np.ndarray  # int64: the steps of a shuffle, to undo it
    right_rows: np.ndarray  # (n,) uint32: rows on their way to the right child
    right_weights: np.ndarray  # (n,) float64
    scored: np.ndarray  # (1,) int64: cuts scored so far, by a kernel that counts them


class Sizes(NamedTuple):
    n_rows: int  # the most that a tree may grow on
    n_features: int
    n_codes: int  # greatest number of codes of any column
    n_slots: int  # see criteria
    n_stats: int
    n_parts: int  # contributions of one row


def make_scratch(sizes: Sizes, settings: Settings) -> Scratch:
    n_rows, n_features, n_codes, n_slots, n_stats, n_parts = sizes
    deepest = min(n_rows, settings.max_depth) + 2
    most_nodes = 2 * min(max(1, n_rows // settings.min_samples_leaf), 2 ** min(deepest, 40))
    return Scratch(
        np.empty(most_nodes, NODE),
        np.empty((most_nodes, n_stats)),
        np.empty(deepest, WAITING),
        np.zeros((deepest, (n_features + 63) // 64), np.uint64),
        np.empty((n_rows, n_parts), np.uint32),
        np.empty((n_rows, n_parts)),
        np.empty(n_slots),
        np.empty(n_slots),
        np.empty(n_slots),
        np.empty(n_slots),
        make_groups(n_rows, n_codes, n_slots),
        np.empty(max(n_features, settings.rho), QUESTION),
        np.empty(n_features, np.int64),
        np.empty(n_features, np.int64),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows),
        np.zeros(1, np.int64),
    )

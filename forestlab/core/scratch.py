"""What a growing tree needs at hand: what stays the same, and one thread's memory."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import NODE, Columns, Settings
from forestlab.core.groups import Groups, make_groups
from forestlab.core.projections import Projections, make_projections

GRID = 64  # points on which densities of a leaf's targets are looked at
SEGMENTS = 64  # of a node's groups, at whose ends the two cuts of a band may lie


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
    """Rows whose keys lie in (low, high] go left; their numbers then lie in (cut_low, cut_high]."""

    score: float
    candidate: int  # a feature, or whatever else a learner turns into keys; -1: none
    low: int
    high: int
    cut_low: float
    cut_high: float
    missing: int  # where rows go whose number is missing: LEFT or RIGHT; UNSEEN: there are none


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
    [
        ("score", np.float64),
        ("candidate", np.int64),
        ("low", np.int64),
        ("high", np.int64),
        ("cut_low", np.float64),
        ("cut_high", np.float64),
        ("missing", np.int64),
    ]
)


class Bands(NamedTuple):
    """Scratch of one thread; empty for learners that ask for one cut."""

    held: np.ndarray  # (SEGMENTS, n_slots) float64: what each segment holds
    before: np.ndarray  # (SEGMENTS, n_slots) float64: what it and those before it hold
    after: np.ndarray  # (SEGMENTS, n_slots) float64: what it and those after it hold
    scores: np.ndarray  # float64: of each band


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
    projections: Projections
    bands: Bands
    # What nodes answer, if not their means: see leaves.
    means: np.ndarray  # (most nodes, n_means) float64: beside the tree's statistics
    span: np.ndarray  # (n_means, 2) float64: the least and the greatest target of the root
    density: np.ndarray  # (GRID,) float64


class Sizes(NamedTuple):
    n_rows: int  # the most that a tree may grow on
    n_features: int
    n_codes: int  # greatest number of codes of any column
    n_slots: int  # see criteria
    n_stats: int
    n_parts: int  # contributions of one row
    n_factors: int = 0  # of a candidate, see learners
    has_bands: bool = False
    n_means: int = 0  # targets, if leaves answer another number than the mean


def make_scratch(sizes: Sizes, settings: Settings) -> Scratch:
    n_rows, n_features, n_codes, n_slots, n_stats, n_parts, n_factors, has_bands, n_means = sizes
    deepest = min(n_rows, settings.max_depth) + 2
    most_nodes = 2 * min(max(1, n_rows // settings.min_samples_leaf), 2 ** min(deepest, 40))
    n_candidates = max(n_features, settings.rho)
    if settings.n_terms:
        n_candidates = max(n_candidates, settings.max_features)
        n_codes = max(n_codes, n_rows)  # keys are ranks
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
        np.empty(n_candidates, QUESTION),
        np.empty(n_features, np.int64),
        np.empty(n_features, np.int64),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows),
        np.zeros(1, np.int64),
        make_projections(
            n_rows, n_features, n_candidates, settings.n_terms, n_factors, n_slots, most_nodes
        ),
        make_bands(n_slots, has_bands),
        np.empty((most_nodes, n_means)),
        np.empty((n_means, 2)),
        np.empty(GRID),
    )


def make_bands(n_slots: int, wanted: bool) -> Bands:
    n = SEGMENTS if wanted else 0
    held, before, after = np.empty((3, n, n_slots))
    return Bands(held, before, after, np.empty(n * (n - 1) // 2))

"""What a growing tree needs at hand: what stays the same, and one thread's memory."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import NODE, Columns, Settings
from forestlab.core.groups import Groups, make_groups
from forestlab.core.lanes import Swept, make_swept
from forestlab.core.lazy_shuffle import Swapped, make_swapped
from forestlab.core.levels import Categories, make_categories
from forestlab.core.monotonic import Bounds, make_bounds
from forestlab.core.projections import Projections, make_projections

GRID = 64  # points on which densities of a leaf's targets are looked at
SEGMENTS = 64  # of a node's groups, at whose ends the two cuts of a band may lie


class Plan(NamedTuple):
    """What stays the same from node to node; what nobody asks for is an empty tuple."""

    columns: Columns
    y: np.ndarray  # (n_rows, n_targets) float64; class codes for classification
    marks: np.ndarray | tuple[()]  # (n_rows,) int32: rows with equal marks have equal targets
    settings: Settings
    # (n_targets, …) float64: what the criterion measures by, the same in all trees
    yardstick: np.ndarray | tuple[()]
    signs: np.ndarray | tuple[()] = ()  # (n_features,) int8: see monotonic
    # (n_targets + 1,) int64: of several targets of classes, where the slots of each begin and end
    first_slots: np.ndarray | tuple[()] = ()
    # (n_features,) int64: the code that most rows have; where none stands out no row has it
    usual: np.ndarray | tuple[()] = ()
    # All codes end to end, column by column and, if there is room for them, row by row: see items
    by_column: np.ndarray | tuple[()] = ()
    by_row: np.ndarray | tuple[()] = ()
    labels: (
        np.ndarray | tuple[()]
    ) = ()  # (n_rows,) uint16, or uint32: codes of classes, see classes


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
    missing: int  # where rows go whose number is missing: LEFT, RIGHT or BOTH; UNSEEN: none is


WAITING = np.dtype(
    [
        ("start", np.int64),
        ("end", np.int64),
        ("depth", np.int64),
        ("parent", np.int64),
        ("key", np.uint64),
        ("least", np.float64),  # gain of a node above it
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


class Arena(NamedTuple):
    """Rows of the nodes that wait, where they may stand in several: see branching."""

    rows: np.ndarray  # (room,) uint32
    weights: np.ndarray  # (room,) float64
    shares: np.ndarray  # (room,) float64: how much of the row is here
    right_shares: np.ndarray  # (n,) float64: of rows on their way to the right child


class Bands(NamedTuple):
    """Scratch of one thread."""

    # (SEGMENTS + 1, n_slots) float64: what each segment holds, and behind them what is missing
    held: np.ndarray
    before: np.ndarray  # (SEGMENTS, n_slots) float64: what it and those before it hold
    after: np.ndarray  # (SEGMENTS, n_slots) float64: what it and those after it hold
    scores: np.ndarray  # float64: of each band
    if_right: np.ndarray  # float64: likewise, if missing rows are outside


class Pairs(NamedTuple):
    """Scratch of one thread, to draw parameters without replacement."""

    end: np.ndarray  # (n_features,) int64: the number after those of a feature's pairs
    drawn: np.ndarray  # int64: the numbers of pairs that were drawn
    swapped: Swapped


class Answers(NamedTuple):
    """What nodes answer, if not their means, is found by: see leaves."""

    means: np.ndarray  # (most nodes, n_means) float64: beside the tree's statistics
    span: np.ndarray  # (n_means, 2) float64: the least and the greatest target of the root
    density: np.ndarray  # (GRID,) float64


class Scratch(NamedTuple):
    """One thread's memory, as the kernel allocates nothing; pages it never touches cost nothing.

    What only some kernels need is an empty tuple for the others: each array of a tuple that is
    passed from function to function makes all of them longer to compile.
    """

    # The tree so far.
    nodes: np.ndarray  # (most nodes,) NODE
    stats: np.ndarray  # (most nodes, n_stats) float64
    gains: np.ndarray  # (most nodes,) float64
    leaders: np.ndarray  # (1 + max_leaf_nodes,) float64: see best_first
    # The nodes that wait: a stack of WAITING, and bits for the features constant in each.
    stack: np.ndarray
    constant: np.ndarray  # (…, words) uint64
    # The node at hand.
    slots: np.ndarray  # (n, n_parts) uint32: where each row's contributions go
    amounts: np.ndarray  # (n, n_parts) float64
    sums: np.ndarray  # (n_slots,) float64: what the node's rows contribute together
    total: np.ndarray  # (n_side,) float64: the side that holds all of the node's rows
    left: np.ndarray  # (n_side,) float64: the sides of a cut
    right: np.ndarray
    groups: Groups
    found: np.ndarray  # QUESTION: the best so far, a feature or parameter each
    features: np.ndarray  # int64: the tree's features, ascending; restored after each node
    swaps: np.ndarray  # int64: the steps of a shuffle, to undo it
    right_rows: np.ndarray  # (n,) uint32: rows on their way to the right child
    right_weights: np.ndarray  # (n,) float64
    scored: np.ndarray  # (1,) int64: cuts scored so far, by a kernel that counts them
    projections: Projections | tuple[()]
    bands: Bands | tuple[()]
    pairs: Pairs | tuple[()]
    answers: Answers | tuple[()]
    memo: np.ndarray | tuple[()]  # float64: what a criterion notes of the node at hand
    bounds: Bounds | tuple[()]
    arena: Arena | tuple[()]
    categories: Categories | tuple[()] = ()
    swept: Swept | tuple[()] = ()


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
    n_side: int = 0  # numbers of a side; 0: a number a slot
    n_memo: int = 0
    bounded: bool = False  # what nodes answer
    room: int = 0  # for rows that stand in several nodes; 0: they do not
    n_levels: int = 0  # most that a column of categories has
    more: int = 1  # how many times as much room for sets of these as at first
    sweeps: bool = False  # all cuts are scored, of sums: see sweep


def make_scratch(sizes: Sizes, settings: Settings) -> Scratch:
    n_rows, n_features, n_codes = sizes.n_rows, sizes.n_features, sizes.n_codes
    n_slots, n_parts = sizes.n_slots, sizes.n_parts
    n_side = sizes.n_side or n_slots
    deepest = min(n_rows, settings.max_depth) + 2
    n_pieces = sizes.room or n_rows
    most_nodes = 2 * min(max(1, n_pieces // settings.min_samples_leaf), 2 ** min(deepest, 40))
    n_candidates = n_features if settings.pairs else max(n_features, settings.rho)
    if settings.n_terms:
        n_candidates = max(n_candidates, settings.max_features)
        n_codes = max(n_codes, n_rows)  # keys are ranks
    return Scratch(
        np.empty(most_nodes, NODE),
        np.empty((most_nodes, sizes.n_stats)),
        np.empty(most_nodes),
        np.zeros(1 + min(settings.max_leaf_nodes, most_nodes)),
        np.empty(deepest, WAITING),
        np.zeros((deepest, (n_features + 63) // 64), np.uint64),
        np.empty((n_rows, n_parts), np.uint32),
        np.empty((n_rows, n_parts)),
        np.empty(n_slots),
        np.empty(n_side),
        np.empty(n_side),
        np.empty(n_side),
        make_groups(n_rows, n_codes, n_slots),
        np.empty(n_candidates, QUESTION),
        np.empty(n_features, np.int64),
        np.empty(n_features, np.int64),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows),
        np.zeros(1, np.int64),
        make_projections(
            n_rows, n_features, n_candidates, settings.n_terms, sizes.n_factors, n_slots, most_nodes
        )
        if settings.n_terms
        else (),
        make_bands(n_slots) if sizes.has_bands else (),
        make_pairs(n_features, settings.rho, n_features * min(n_rows, n_codes))
        if settings.pairs
        else (),
        make_answers(most_nodes, sizes.n_means) if sizes.n_means else (),
        np.empty(sizes.n_memo) if sizes.n_memo else (),
        make_bounds(deepest) if sizes.bounded else (),
        make_arena(sizes.room, n_rows) if sizes.room else (),
        make_categories(n_rows, n_features, sizes.n_levels, n_slots, most_nodes, sizes.more)
        if sizes.n_levels
        else (),
        make_swept(n_rows, n_codes, n_slots if n_parts == 1 else 0) if sizes.sweeps else (),
    )


def make_arena(room: int, n_rows: int) -> Arena:
    return Arena(np.empty(room, np.uint32), np.empty(room), np.empty(room), np.empty(n_rows))


def make_answers(most_nodes: int, n_means: int) -> Answers:
    return Answers(np.empty((most_nodes, n_means)), np.empty((n_means, 2)), np.empty(GRID))


def make_bands(n_slots: int) -> Bands:
    held, before, after = np.empty((3, SEGMENTS + 1, n_slots))
    # One more, as one may ask whether a number is known.
    scores, if_right = np.empty((2, SEGMENTS * (SEGMENTS - 1) // 2 + 1))
    return Bands(held, before, after, scores, if_right)


def make_pairs(n_features: int, rho: int, most_pairs: int) -> Pairs:
    """Numbers are drawn only if there are more pairs than that, so room for `most_pairs` will do
    for any rho."""
    n_drawn = min(rho, most_pairs)
    return Pairs(np.empty(n_features, np.int64), np.empty(n_drawn, np.int64), make_swapped(n_drawn))

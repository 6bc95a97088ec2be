"""Growing: a stack of nodes becomes one tree.

The rows of a node are a stretch of the *arena*, two arrays of (row, weight)::

    before   … | a b c d e f g | …          the node: start, stop
    after    … | b c f | a d e g | …        its children: left part, right part, each in order

Each node: gather its rows' targets, write its record and statistics, and if it may split, find the
best split and push both children. Children are taken from the stack left first, so nodes stand in
preorder. All that is random in a node is drawn from the node's own key (see rng).

Features known to be constant in a node are so in all below it: they are handed down as bits and
never looked at again, though they still count among the features drawn.
"""

import functools
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import AXIS, LEAF, NODE, RIGHT, Settings
from forestlab.core.criteria import CRITERIA
from forestlab.core.jit import jitable, kernel
from forestlab.core.learners import axis_project
from forestlab.core.rng import (
    NODE_FEATURES,
    PARAMETERS,
    THRESHOLDS,
    child_key,
    draw_below,
    shuffle_step,
    stream,
)
from forestlab.core.search import (
    SEARCHES,
    TIE,
    Groups,
    Limits,
    Total,
    bins_pay,
    empty_bins,
    group_by_sort,
    group_in_bins,
    make_groups,
    propose,
    scan,
    thin,
)


class Split(NamedTuple):
    """A cut of a feature: keys up to `low` go left, and the next key in the node is `high`."""

    score: float
    feature: int
    low: int
    high: int


class Plan(NamedTuple):
    """What stays the same from node to node."""

    codes: np.ndarray  # (n_features, n_rows)
    y: np.ndarray  # (n_rows, n_targets) float64; class codes for classification
    marks: np.ndarray  # (n_rows,) int32: rows with equal marks have equal targets
    settings: Settings


WAITING = np.dtype(
    [
        ("start", np.int64),
        ("end", np.int64),
        ("depth", np.int64),
        ("parent", np.int64),
        ("key", np.uint64),
    ]
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
    total: np.ndarray  # sides, see criteria
    left: np.ndarray
    right: np.ndarray
    groups: Groups
    features: np.ndarray  # int64: the tree's features, ascending; restored after each node
    swaps: np.ndarray  # int64: the steps of a shuffle, to undo it
    drawn: np.ndarray  # int64
    right_rows: np.ndarray  # (n,) uint32: rows on their way to the right child
    right_weights: np.ndarray  # (n,) float64


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
        np.empty(n_features, np.int64),
        np.empty(n_features, np.int64),
        np.empty(n_features, np.int64),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows),
    )


# ---- a set of bits -----------------------------------------------------------------------------


@jitable
def has_bit(words, i):
    return (words[i >> 6] >> np.uint64(i & 63)) & np.uint64(1) != np.uint64(0)


@jitable
def set_bit(words, i):
    words[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


# ---- one feature -------------------------------------------------------------------------------


@jitable
def no_split():
    return Split(np.inf, -1, -1, -1)


@jitable
def better(a, b, tie):
    """The split with the lower score; of equal ones the first feature, then the lowest cut."""
    if a.feature < 0 or b.feature < 0:
        return b if a.feature < 0 else a
    if abs(a.score - b.score) > tie:
        return a if a.score < b.score else b
    if a.feature != b.feature:
        return a if a.feature < b.feature else b
    return a if a.low <= b.low else b


@jitable
def search_feature(
    add, score, admits, mark, plan, scratch, total, rows, feature, constant, key, limits, pick
):
    """The node's best split on one feature, if it has any; notes a feature that is constant.

    With `pick` >= 0 only one cut is scored, picked by the node's draw of that number.
    """
    n_rows = rows.shape[0]
    slots, amounts, groups = scratch.slots, scratch.amounts, scratch.groups
    n_slots = scratch.left.shape[0]
    least, greatest = axis_project(plan.codes, feature, rows, groups.keys)
    if least == greatest:
        set_bit(constant, feature)
        return no_split()
    dense = bins_pay(greatest - least + 1, n_rows, n_slots)
    if dense:
        n_groups = group_in_bins(groups, least, greatest, n_rows, slots, amounts, n_slots)
    else:
        n_groups = group_by_sort(groups, least, greatest, n_rows)
    mark(groups, n_groups, least, rows, plan.marks)
    n_cuts = propose(admits, groups, n_groups, plan.settings.min_samples_leaf)
    if plan.settings.n_thresholds > 0:
        thresholds_key = stream(key, THRESHOLDS + np.uint64(feature))
        n_cuts = thin(groups, n_cuts, plan.settings.n_thresholds, thresholds_key)
    if pick >= 0 and n_cuts > 0:
        groups.cuts[0] = groups.cuts[draw_below(stream(key, PARAMETERS), pick, n_cuts)]
        n_cuts = 1
    best_score, cut = scan(
        add, score, groups, n_cuts, dense, slots, amounts,
        total, scratch.left, scratch.right, limits,
    )  # fmt: skip
    if dense:
        empty_bins(groups, greatest - least + 1, n_slots)
    if cut < 0:
        return no_split()
    return Split(best_score, feature, least + groups.key[cut], least + groups.key[cut + 1])


# ---- one node ----------------------------------------------------------------------------------


@jitable
def search_subset(
    add, score, admits, mark, plan, scratch, features, total, rows, constant, key, limits
):
    """The best split over max_features random features; more, one by one, while none varies."""
    drawn, swaps = scratch.drawn, scratch.swaps
    n_features = features.shape[0]
    n_drawn = min(plan.settings.max_features, n_features)
    shuffled = n_drawn < n_features
    subset_key = stream(key, NODE_FEATURES)
    if shuffled:
        for i in range(n_drawn):
            swaps[i] = shuffle_step(features, i, n_features, subset_key)
    for i in range(n_drawn):
        drawn[i] = features[i]
    sort_front(drawn, n_drawn if shuffled else 0)
    best = no_split()
    none_varies = True
    i = 0
    while i < n_drawn:
        feature = drawn[i]
        if not has_bit(constant, feature):
            split = search_feature(
                add, score, admits, mark, plan, scratch, total, rows, feature, constant, key,
                limits, -1,
            )  # fmt: skip
            best = better(best, split, limits.tie)
            none_varies &= has_bit(constant, feature)
        i += 1
        if i == n_drawn and none_varies and n_drawn < n_features:
            swaps[i] = shuffle_step(features, i, n_features, subset_key)
            drawn[i] = features[i]
            n_drawn += 1
    if shuffled:
        undo_swaps(features, swaps, n_drawn)
    return best


@jitable
def search_parameters(
    add, score, admits, mark, plan, scratch, features, total, rows, constant, key, limits
):
    """The best of rho random parameters: a varying feature, uniform, then one of its cuts, uniform.

    Features found constant are swapped out of the draw, so that the rest stay uniform.
    """
    n_left = features.shape[0]
    parameters_key = stream(key, PARAMETERS)
    best = no_split()
    n_done = 0
    n_draws = 0
    while n_done < plan.settings.rho and n_left > 0:
        place = draw_below(parameters_key, n_draws, n_left)
        feature = features[place]
        if not has_bit(constant, feature):
            split = search_feature(
                add, score, admits, mark, plan, scratch, total, rows, feature, constant, key,
                limits, n_draws + 1,
            )  # fmt: skip
            best = better(best, split, limits.tie)
        n_draws += 2
        if has_bit(constant, feature):
            n_left -= 1
            features[place], features[n_left] = features[n_left], features[place]
        else:
            n_done += 1
    sort_front(features, features.shape[0])
    return best


@jitable
def sort_front(items, n):
    """Sort items[:n] by Shell's method."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            item = items[i]
            j = i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


@jitable
def undo_swaps(items, swaps, n):
    for i in range(n - 1, -1, -1):
        j = swaps[i]
        items[i], items[j] = items[j], items[i]


@jitable
def partition(codes, split, rows, weights, scratch):
    """Put the rows that go left first, keeping the order; return how many."""
    right_rows, right_weights = scratch.right_rows, scratch.right_weights
    n_left = 0
    n_right = 0
    for i in range(rows.shape[0]):
        row, weight = rows[i], weights[i]
        if codes[split.feature, row] <= split.low:
            rows[n_left], weights[n_left] = row, weight
            n_left += 1
        else:
            right_rows[n_right], right_weights[n_right] = row, weight
            n_right += 1
    for i in range(n_right):
        rows[n_left + i], weights[n_left + i] = right_rows[i], right_weights[i]
    return n_left


@jitable
def cut_between(below, above, midpoint):
    """A number c with below <= c < above: midway if wanted and if floats leave room."""
    if not midpoint:
        return below
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


# ---- one tree ----------------------------------------------------------------------------------


@jitable
def write_leaf(node, n_rows, weight, impurity):
    """Every node starts as a leaf; a split is written over it."""
    node["kind"] = LEAF
    node["missing"] = RIGHT
    node["spare"] = 0
    node["feature"] = -1
    node["left"] = -1
    node["right"] = -1
    node["cut_low"] = -np.inf
    node["cut_high"] = np.inf
    node["params"] = -1
    node["bits"] = -1
    node["missing_share"] = 0.0
    node["n_rows"] = n_rows
    node["weight"] = weight
    node["impurity"] = impurity


@jitable
def link(nodes, parent, child):
    """Children come in preorder: the left one stands right behind its parent."""
    if parent >= 0:
        if child == parent + 1:
            nodes[parent]["left"] = child
        else:
            nodes[parent]["right"] = child


@jitable
def push(stack, i, start, end, depth, parent, key):
    entry = stack[i]
    entry["start"] = start
    entry["end"] = end
    entry["depth"] = depth
    entry["parent"] = parent
    entry["key"] = key


@jitable
def may_split(settings, depth, n_rows):
    enough_rows = n_rows >= max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    return enough_rows and depth < settings.max_depth


@jitable
def sum_up(add, sums, side):
    """The side that holds all of the node's rows."""
    derived, weight = 0.0, 0.0
    side[:] = 0.0
    for slot in range(sums.shape[0]):
        derived, weight = add(side, slot, sums[slot], derived, weight)
    return Total(side, derived, weight)


@functools.cache
def grow_kernel(criterion_name: str, search_name: str, randomised: bool):
    """The compiled grower for a criterion and a search; `randomised` nodes draw rho parameters."""
    gather, add, score, impurity_of = CRITERIA[criterion_name][1:5]
    admits, mark = SEARCHES[search_name][:2]
    search_node = search_parameters if randomised else search_subset

    @kernel(f"grow {criterion_name} trees", allocates=False)
    def grow(columns, targets, rows, weights, features, key, settings, scratch, stop):
        """Grow one tree on (rows, weights), which are overwritten, with `features` (ascending).

        Nodes and statistics are left in `scratch`; returns their number. `stop[0]` ends it early.
        """
        codes, first, lower, upper = columns
        y, marks = targets
        plan = Plan(codes, y, marks, settings)
        nodes, stats, stack, constant = scratch[:4]
        features_left = scratch.features[: features.shape[0]]
        for k in range(features.shape[0]):
            features_left[k] = features[k]
        for word in range(constant.shape[1]):
            constant[0, word] = 0
        push(stack, 0, 0, rows.shape[0], 0, -1, key)
        n_nodes, n_waiting = 0, 1
        root_weight = 0.0
        while n_waiting > 0 and stop[0] == 0:
            n_waiting -= 1
            here = stack[n_waiting]
            start, end, depth, node_key = here["start"], here["end"], here["depth"], here["key"]
            here_rows, here_weights = rows[start:end], weights[start:end]
            pure = gather(
                y, here_rows, here_weights, scratch.slots, scratch.amounts, stats[n_nodes],
                scratch.sums,
            )  # fmt: skip
            total = sum_up(add, scratch.sums, scratch.total)
            side, derived, weight = total
            impurity = 0.0
            if not pure:
                impurity = impurity_of(score, side, derived, weight, stats[n_nodes])
            node = nodes[n_nodes]
            write_leaf(node, end - start, weight, impurity * settings.impurity_scale)
            link(nodes, here["parent"], n_nodes)
            n_nodes += 1
            root_weight = max(root_weight, weight)
            if pure or not may_split(settings, depth, end - start):
                continue
            tie = TIE * (end - start) * weight * impurity
            limits = Limits(tie, settings.min_weight_fraction_leaf * root_weight)
            split = search_node(
                add, score, admits, mark, plan, scratch, features_left, total, here_rows,
                constant[n_waiting], node_key, limits,
            )  # fmt: skip
            gain = max(score(side, derived, weight) - split.score, 0.0) * settings.impurity_scale
            if split.feature < 0 or gain < settings.min_impurity_decrease * root_weight:
                continue
            below = upper[first[split.feature] + split.low]
            above = lower[first[split.feature] + split.high]
            node["kind"] = AXIS
            node["feature"] = split.feature
            node["cut_high"] = cut_between(below, above, settings.midpoint)
            middle = start + partition(codes, split, here_rows, here_weights, scratch)
            push(stack, n_waiting, middle, end, depth + 1, n_nodes - 1, child_key(node_key, 1))
            push(
                stack, n_waiting + 1, start, middle, depth + 1, n_nodes - 1, child_key(node_key, 0)
            )
            for word in range(constant.shape[1]):
                constant[n_waiting + 1, word] = constant[n_waiting, word]
            n_waiting += 2
        return n_nodes

    return grow

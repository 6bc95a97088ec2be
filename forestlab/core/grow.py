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
    Limits,
    empty_bins,
    fits_bins,
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


class Scratch(NamedTuple):
    """One thread's memory for the node at hand."""

    slots: np.ndarray  # (n, n_parts) uint32: where each row's contributions go
    amounts: np.ndarray  # (n, n_parts) float64
    sums: np.ndarray  # (n_slots,) float64
    total: np.ndarray  # sides, see criteria
    left: np.ndarray
    right: np.ndarray
    features: np.ndarray  # (n,) int64: the tree's features, ascending; restored after each node
    swaps: np.ndarray  # (n,) int64: the steps of a shuffle, to undo it
    drawn: np.ndarray  # (n,) int64
    right_rows: np.ndarray  # (n,) uint32: rows on their way to the right child
    right_weights: np.ndarray  # (n,) float64


class Sizes(NamedTuple):
    n_codes: int  # greatest number of codes of any column
    n_slots: int  # see criteria
    n_stats: int
    n_parts: int  # contributions of one row
    weight_at: int  # where a side holds its weight


WAITING = np.dtype(
    [
        ("start", np.int64),
        ("end", np.int64),
        ("depth", np.int64),
        ("parent", np.int64),
        ("key", np.uint64),
    ]
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
    add, score, admits, mark, plan, groups, scratch, rows, feature, constant, key, limits, pick
):
    """The node's best split on one feature, if it has any; notes a feature that is constant.

    With `pick` >= 0 only one cut is scored, picked by the node's draw of that number.
    """
    n_rows = rows.shape[0]
    slots, amounts = scratch.slots[:n_rows], scratch.amounts[:n_rows]
    n_slots = scratch.total.shape[0] - 2
    least, greatest = axis_project(plan.codes, feature, rows, groups.keys)
    if least == greatest:
        set_bit(constant, feature)
        return no_split()
    dense = fits_bins(least, greatest, n_rows, n_slots)
    if dense:
        n_groups = group_in_bins(groups, least, greatest, slots, amounts, n_slots)
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
        scratch.total, scratch.left, scratch.right, limits,
    )  # fmt: skip
    if dense:
        empty_bins(groups, n_groups, n_slots)
    if cut < 0:
        return no_split()
    return Split(best_score, feature, least + groups.key[cut], least + groups.key[cut + 1])


# ---- one node ----------------------------------------------------------------------------------


@jitable
def search_subset(add, score, admits, mark, plan, groups, scratch, rows, constant, key, limits):
    """The best split over max_features random features; more, one by one, while none varies."""
    features, drawn = scratch.features, scratch.drawn
    n_features = features.shape[0]
    n_drawn = min(plan.settings.max_features, n_features)
    shuffled = n_drawn < n_features
    subset_key = stream(key, NODE_FEATURES)
    if shuffled:
        for i in range(n_drawn):
            scratch.swaps[i] = shuffle_step(features, i, n_features, subset_key)
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
                add, score, admits, mark, plan, groups, scratch, rows, feature, constant, key,
                limits, -1,
            )  # fmt: skip
            best = better(best, split, limits.tie)
            none_varies &= has_bit(constant, feature)
        i += 1
        if i == n_drawn and none_varies and n_drawn < n_features:
            scratch.swaps[i] = shuffle_step(features, i, n_features, subset_key)
            drawn[i] = features[i]
            n_drawn += 1
    if shuffled:
        undo_swaps(features, scratch.swaps, n_drawn)
    return best


@jitable
def search_parameters(add, score, admits, mark, plan, groups, scratch, rows, constant, key, limits):
    """The best of rho random parameters: a varying feature, uniform, then one of its cuts, uniform.

    Features found constant are swapped out of the draw, so that the rest stay uniform.
    """
    features = scratch.features
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
                add, score, admits, mark, plan, groups, scratch, rows, feature, constant, key,
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
    n_left = 0
    n_right = 0
    for i in range(rows.shape[0]):
        row, weight = rows[i], weights[i]
        if codes[split.feature, row] <= split.low:
            rows[n_left], weights[n_left] = row, weight
            n_left += 1
        else:
            scratch.right_rows[n_right], scratch.right_weights[n_right] = row, weight
            n_right += 1
    for i in range(n_right):
        rows[n_left + i] = scratch.right_rows[i]
        weights[n_left + i] = scratch.right_weights[i]
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
def sum_up(add, sums, total, weights):
    """Fill the side that holds all of the node's rows; return their weight."""
    for k in range(total.shape[0]):
        total[k] = 0.0
    for slot in range(sums.shape[0]):
        add(total, slot, sums[slot])
    weight = 0.0
    for i in range(weights.shape[0]):
        weight += weights[i]
    return weight


@jitable
def with_room(array, n):
    """The array if it has room for n, else a copy with room for twice as many."""
    if n <= array.shape[0]:
        return array
    longer = np.empty(2 * n, array.dtype)
    for i in range(array.shape[0]):
        longer[i] = array[i]
    return longer


@jitable
def make_scratch(n_rows, n_parts, n_slots, features):
    return Scratch(
        np.empty((n_rows, n_parts), np.uint32),
        np.empty((n_rows, n_parts), np.float64),
        np.empty(n_slots, np.float64),
        np.empty(n_slots + 2, np.float64),
        np.empty(n_slots + 2, np.float64),
        np.empty(n_slots + 2, np.float64),
        features.copy(),
        np.empty(features.shape[0], np.int64),
        np.empty(features.shape[0], np.int64),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows, np.float64),
    )


@functools.cache
def grow_kernel(criterion_name: str, search_name: str, randomised: bool):
    """The compiled grower for a criterion and a search; `randomised` nodes draw rho parameters."""
    gather, add, score, impurity_of = CRITERIA[criterion_name][1:5]
    admits, mark = SEARCHES[search_name][:2]
    search_node = search_parameters if randomised else search_subset

    @kernel(f"grow {criterion_name} trees")
    def grow(columns, targets, rows, weights, features, key, settings, sizes, stop):
        """Grow one tree on (rows, weights), which are overwritten; `stop[0]` ends it early.

        Returns its nodes and, flat, their statistics.
        """
        codes, first, lower, upper = columns
        y, marks = targets
        n_rows = rows.shape[0]
        n_words = (codes.shape[0] + 63) // 64
        plan = Plan(codes, y, marks, settings)
        groups = make_groups(n_rows, sizes.n_codes, sizes.n_slots)
        scratch = make_scratch(n_rows, sizes.n_parts, sizes.n_slots, features)
        nodes = np.empty(64, NODE)
        stats = np.empty(64 * sizes.n_stats, np.float64)
        stack = np.empty(64, WAITING)
        constant = np.zeros(64 * n_words, np.uint64)
        push(stack, 0, 0, n_rows, 0, -1, key)
        n_nodes, n_waiting = 0, 1
        root_weight = 0.0
        while n_waiting > 0 and stop[0] == 0:
            n_waiting -= 1
            here = stack[n_waiting]
            start, end, depth, node_key = here["start"], here["end"], here["depth"], here["key"]
            here_rows, here_weights = rows[start:end], weights[start:end]
            known_constant = constant[n_waiting * n_words : (n_waiting + 1) * n_words]
            nodes = with_room(nodes, n_nodes + 1)
            stats = with_room(stats, (n_nodes + 1) * sizes.n_stats)
            here_stats = stats[n_nodes * sizes.n_stats : (n_nodes + 1) * sizes.n_stats]
            pure = gather(
                y, here_rows, here_weights, scratch.slots, scratch.amounts, here_stats, scratch.sums
            )
            weight = sum_up(add, scratch.sums, scratch.total, here_weights)
            impurity = 0.0 if pure else impurity_of(score, scratch.total, here_stats)
            node = nodes[n_nodes]
            write_leaf(node, end - start, weight, impurity * settings.impurity_scale)
            link(nodes, here["parent"], n_nodes)
            n_nodes += 1
            root_weight = max(root_weight, weight)
            if pure or not may_split(settings, depth, end - start):
                continue
            tie = TIE * (end - start) * weight * impurity
            min_weight = settings.min_weight_fraction_leaf * root_weight
            limits = Limits(tie, min_weight, sizes.weight_at)
            split = search_node(
                add, score, admits, mark, plan, groups, scratch, here_rows, known_constant,
                node_key, limits,
            )  # fmt: skip
            gain = max(score(scratch.total) - split.score, 0.0) * settings.impurity_scale
            if split.feature < 0 or gain < settings.min_impurity_decrease * root_weight:
                continue
            below = upper[first[split.feature] + split.low]
            above = lower[first[split.feature] + split.high]
            node["kind"] = AXIS
            node["feature"] = split.feature
            node["cut_high"] = cut_between(below, above, settings.midpoint)
            middle = start + partition(codes, split, here_rows, here_weights, scratch)
            stack = with_room(stack, n_waiting + 2)
            constant = with_room(constant, (n_waiting + 2) * n_words)
            push(stack, n_waiting, middle, end, depth + 1, n_nodes - 1, child_key(node_key, 1))
            push(
                stack, n_waiting + 1, start, middle, depth + 1, n_nodes - 1, child_key(node_key, 0)
            )
            for word in range(n_waiting * n_words, (n_waiting + 1) * n_words):
                constant[word + n_words] = constant[word]
            n_waiting += 2
        return nodes[:n_nodes].copy(), stats[: n_nodes * sizes.n_stats].copy()

    return grow

"""The best split of one node: over a random subset of features, or over rho random parameters.

Features known to be constant in a node are so in all below it: they are handed down as bits and
never looked at again, though they still count among the features drawn.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.rng import (
    NODE_FEATURES,
    PARAMETERS,
    THRESHOLDS,
    draw_below,
    shuffle_step,
    stream,
)
from forestlab.core.search import (
    bins_pay,
    empty_bins,
    group_by_sort,
    group_in_bins,
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
    add,
    score,
    project,
    admits,
    mark,
    plan,
    scratch,
    total,
    rows,
    feature,
    constant,
    key,
    limits,
    pick,
):
    """The node's best split on one feature, if it has any; notes a feature that is constant.

    With `pick` >= 0 only one cut is scored, picked by the node's draw of that number.
    """
    n_rows = rows.shape[0]
    slots, amounts, groups = scratch.slots, scratch.amounts, scratch.groups
    n_slots = scratch.left.shape[0]
    least, greatest = project(plan.codes, feature, rows, groups.keys)
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
    add, score, project, admits, mark, plan, scratch, features, total, rows, constant, key, limits
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
                add, score, project, admits, mark, plan, scratch, total, rows, feature, constant,
                key, limits, -1,
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
    add, score, project, admits, mark, plan, scratch, features, total, rows, constant, key, limits
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
                add, score, project, admits, mark, plan, scratch, total, rows, feature, constant,
                key, limits, n_draws + 1,
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

"""The best question of one node: over a random subset of features, or over rho random parameters.

Made from parts: `make_evaluate` finds the best cut of one feature, given a learner, a search and a
scan; `make_choose` the best of several features, given that.

Scores within a tie of the least are equal. Which of the features that have one wins is decided by
*rank*: the column's number, or a number drawn for each column from the node's key, so that all are
equally likely wherever they stand. On small nodes ties are the rule, not the exception.

Features known to be constant in a node are so in all below it: they are handed down as bits and
never looked at again, though they still count among the features drawn.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.rng import (
    NODE_FEATURES,
    PARAMETERS,
    THRESHOLDS,
    TIES,
    draw,
    draw_below,
    shuffle_step,
    stream,
)
from forestlab.core.scratch import Question
from forestlab.core.search import (
    Search,
    bins_pay,
    empty_bins,
    group_by_sort,
    group_in_bins,
    lowest_within,
    thin,
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
def nothing():
    return Question(np.inf, -1, -1, -1)


@jitable
def keep(found, n_found, least, question):
    """Add a question, if it is one, to those found; returns their number and the least score."""
    if question.feature < 0:
        return n_found, least
    kept = found[n_found]
    kept["score"], kept["feature"] = question.score, question.feature
    kept["low"], kept["high"] = question.low, question.high
    return n_found + 1, min(least, question.score)


@jitable
def best_of(found, n_found, least, tie, key, random_ties):
    """Of the questions within a tie of the least score that of the lowest rank, then cut."""
    ranks_key = stream(key, TIES)
    best, best_rank = nothing(), np.uint64(0)
    for i in range(n_found):
        score, feature, low = found[i]["score"], found[i]["feature"], found[i]["low"]
        if score > least + tie:
            continue
        rank = draw(ranks_key, feature) if random_ties else np.uint64(feature)
        if best.feature < 0 or rank < best_rank or (rank == best_rank and low < best.low):
            best, best_rank = Question(score, feature, low, found[i]["high"]), rank
    return best


def make_evaluate(learner: Learner, search: Search, scan: Callable, counted: bool) -> Callable:
    """What finds the best question about one feature; `counted` cuts are counted too."""
    project, propose = learner.project, search.propose

    @jitable
    def evaluate(plan, node, scratch, feature, least_so_far, pick):
        """The node's best question about a feature, if it is as good as those found; notes a
        feature that is constant.

        With `pick` >= 0 only one cut is scored, picked by the node's draw of that number.
        """
        n_rows = node.rows.shape[0]
        groups = scratch.groups
        n_slots = scratch.left.shape[0]
        question = Question(np.inf, feature, -1, -1)
        least, greatest = project(plan, node, scratch, question)
        if least == greatest:
            set_bit(node.constant, feature)
            return nothing()
        dense = bins_pay(greatest - least + 1, n_rows, n_slots)
        if dense:
            n_groups = group_in_bins(
                groups, least, greatest, n_rows, scratch.slots, scratch.amounts, n_slots
            )
        else:
            n_groups = group_by_sort(groups, least, greatest, n_rows)
        n_cuts = propose(plan, node, scratch, n_groups, least)
        if plan.settings.n_thresholds > 0:
            thresholds_key = stream(node.key, THRESHOLDS + np.uint64(feature))
            n_cuts = thin(groups, n_cuts, plan.settings.n_thresholds, thresholds_key)
        if pick >= 0 and n_cuts > 0:
            groups.cuts[0] = groups.cuts[draw_below(stream(node.key, PARAMETERS), pick, n_cuts)]
            n_cuts = 1
        if counted:
            scratch.scored[0] += n_cuts
        best = scan(node, scratch, n_groups, n_cuts, dense)
        if dense:
            empty_bins(groups, greatest - least + 1, n_slots)
        if not best <= least_so_far + node.tie or best == np.inf:
            return nothing()
        cut = lowest_within(groups, n_cuts, best + node.tie)
        return Question(best, feature, least + groups.key[cut], least + groups.key[cut + 1])

    return evaluate


# ---- one node ----------------------------------------------------------------------------------


def make_choose(evaluate: Callable, randomised: bool) -> Callable:
    """What finds a node's best question: of rho random parameters if `randomised`, else over a
    random subset of the features."""
    return choose_parameters(evaluate) if randomised else choose_features(evaluate)


def choose_features(evaluate: Callable) -> Callable:
    @jitable
    def choose(plan, node, scratch):
        """The best of max_features random features; of more, one by one, while none varies."""
        features, constant, swaps = node.features, node.constant, scratch.swaps
        n_features = features.shape[0]
        n_drawn = min(plan.settings.max_features, n_features)
        shuffled = n_drawn < n_features
        subset_key = stream(node.key, NODE_FEATURES)
        if shuffled:
            for i in range(n_drawn):
                swaps[i] = shuffle_step(features, i, n_features, subset_key)
        n_found, least = 0, np.inf
        none_varies = True
        i = 0
        while i < n_drawn:
            feature = features[i]
            if not has_bit(constant, feature):
                question = evaluate(plan, node, scratch, feature, least, -1)
                n_found, least = keep(scratch.found, n_found, least, question)
                none_varies &= has_bit(constant, feature)
            i += 1
            if i == n_drawn and none_varies and n_drawn < n_features:
                swaps[i] = shuffle_step(features, i, n_features, subset_key)
                n_drawn += 1
        if shuffled:
            undo_swaps(features, swaps, n_drawn)
        return best_of(scratch.found, n_found, least, node.tie, node.key, plan.settings.random_ties)

    return choose


def choose_parameters(evaluate: Callable) -> Callable:
    @jitable
    def choose(plan, node, scratch):
        """The best of rho random parameters: a varying feature, uniform, then one of its cuts,
        uniform.

        Features found constant are swapped out of the draw, so that the rest stay uniform.
        """
        features, constant = node.features, node.constant
        n_left = features.shape[0]
        parameters_key = stream(node.key, PARAMETERS)
        n_found, least = 0, np.inf
        n_done = 0
        n_draws = 0
        while n_done < plan.settings.rho and n_left > 0:
            place = draw_below(parameters_key, n_draws, n_left)
            feature = features[place]
            if not has_bit(constant, feature):
                question = evaluate(plan, node, scratch, feature, least, n_draws + 1)
                n_found, least = keep(scratch.found, n_found, least, question)
            n_draws += 2
            if has_bit(constant, feature):
                n_left -= 1
                features[place], features[n_left] = features[n_left], features[place]
            else:
                n_done += 1
        sort_front(features, features.shape[0])
        return best_of(scratch.found, n_found, least, node.tie, node.key, plan.settings.random_ties)

    return choose


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

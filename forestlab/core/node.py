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

from forestlab.core.arrays import RIGHT
from forestlab.core.bits import has_bit
from forestlab.core.groups import empty_if_dense
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.missing import Missing, make_group, make_propose, make_side
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
from forestlab.core.search import Look, Search, lowest_within, thin

# ---- one candidate -----------------------------------------------------------------------------


@jitable
def nothing():
    return Question(np.inf, -1, -1, -1, -np.inf, np.inf, RIGHT)


@jitable
def keep(found, n_found, least, question):
    """Add a question, if it is one, to those found; returns their number and the least score."""
    if question.candidate < 0:
        return n_found, least
    kept = found[n_found]
    kept["score"], kept["candidate"] = question.score, question.candidate
    kept["low"], kept["high"] = question.low, question.high
    kept["cut_low"], kept["cut_high"] = question.cut_low, question.cut_high
    kept["missing"] = question.missing
    return n_found + 1, min(least, question.score)


@jitable
def best_of(found, n_found, least, tie, key, random_ties):
    """Of the questions within a tie of the least score that of the lowest rank, then cut."""
    ranks_key = stream(key, TIES)
    best, best_rank = -1, np.uint64(0)
    for i in range(n_found):
        here = found[i]
        if here["score"] > least + tie:
            continue
        candidate = here["candidate"]
        rank = draw(ranks_key, candidate) if random_ties else np.uint64(candidate)
        if (
            best < 0
            or rank < best_rank
            or (rank == best_rank and here["high"] < found[best]["high"])
        ):
            best, best_rank = i, rank
    if best < 0:
        return nothing()
    won = found[best]
    return Question(
        won["score"], won["candidate"], won["low"], won["high"], won["cut_low"], won["cut_high"],
        won["missing"],
    )  # fmt: skip


@jitable
def cut_between(below, above, midpoint):
    """A number c with below <= c < above: midway if wanted and if floats leave room."""
    if not midpoint:
        return below
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


def make_evaluate(
    learner: Learner, search: Search, missing: Missing, scan: Callable, counted: bool
) -> Callable:
    """What finds the best question about one candidate; `counted` cuts are counted too."""
    group, ends, draws = make_group(learner, missing), learner.ends, search.draws
    propose, side_of = make_propose(search, learner, missing), make_side(missing)

    @jitable
    def evaluate(plan, node, scratch, candidate, least_so_far, pick):
        """The node's best question about a candidate, if it is as good as those found.

        With `pick` >= 0 only one cut is scored, picked by the node's draw of that number.
        """
        groups = scratch.groups
        grouped = group(plan, node, scratch, candidate)
        n_groups, least, known, greatest, dense = grouped
        if n_groups == 1:
            return nothing()
        some_missing = greatest > known
        look = Look(candidate, pick, n_groups, least)
        n_cuts = propose(plan, node, scratch, look, some_missing)
        if not draws and plan.settings.n_thresholds > 0:
            thresholds_key = stream(node.key, THRESHOLDS + np.uint64(candidate))
            n_cuts = thin(groups, n_cuts, plan.settings.n_thresholds, thresholds_key)
        if not draws and pick >= 0 and n_cuts > 0:
            groups.cuts[0] = groups.cuts[draw_below(stream(node.key, PARAMETERS), pick, n_cuts)]
            n_cuts = 1
        if counted:
            scratch.scored[0] += n_cuts
        best = scan(plan, node, scratch, n_groups, n_cuts, dense, some_missing)
        empty_if_dense(scratch, grouped)
        if not best <= least_so_far + node.tie or best == np.inf:
            return nothing()
        c = lowest_within(groups, n_cuts, best + node.tie)
        cut, side = groups.cuts[c], side_of(groups, c, node.tie, some_missing)
        low, high = least + groups.key[cut], least + groups.key[cut + 1]
        number = np.inf  # it is known
        if draws:
            number = groups.numbers[c]
        elif high <= known:
            below = ends(plan, node, scratch, candidate, low)[1]
            above = ends(plan, node, scratch, candidate, high)[0]
            number = cut_between(below, above, plan.settings.midpoint)
        return Question(best, candidate, -1, low, -np.inf, number, side)

    return evaluate


# ---- one node ----------------------------------------------------------------------------------


def make_choose(evaluate: Callable, draw: Callable | None, randomised: bool) -> Callable:
    """What finds a node's best question: of rho random parameters if `randomised`, else over a
    random subset of the features; of as many candidates, if a learner is to `draw` them."""
    if draw is not None:
        return choose_candidates(evaluate, draw, randomised)
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


def choose_candidates(evaluate: Callable, draw: Callable, randomised: bool) -> Callable:
    @jitable
    def choose(plan, node, scratch):
        """The best of rho or max_features random candidates; of rho ones one cut each."""
        settings = plan.settings
        n_candidates = settings.rho if randomised else settings.max_features
        n_found, least = 0, np.inf
        for candidate in range(n_candidates):
            if not draw(plan, node, scratch, candidate):
                break
            pick = candidate if randomised else -1
            question = evaluate(plan, node, scratch, candidate, least, pick)
            n_found, least = keep(scratch.found, n_found, least, question)
        return best_of(scratch.found, n_found, least, node.tie, node.key, settings.random_ties)

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

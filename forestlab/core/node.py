"""The best question of one node: over a random subset of features, or over rho random parameters.

Made from parts: `make_list_cuts` lists the cuts of one feature, given a learner and a search;
`make_evaluate` finds the best of them, given a scan; `make_choose` the best of several features,
given that. Parameters drawn without replacement have a module of their own: pairs.

Scores within a tie of the least are equal. Which of the features that have one wins is decided by
*rank*: the column's number, or a number drawn for each column from the node's key, so that all are
equally likely wherever they stand. On small nodes ties are the rule, not the exception.

Features known to be constant in a node are so in all below it: they are handed down as bits and
never looked at again. Whether they count among the features drawn is a choice, `count_constant`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import RIGHT
from forestlab.core.bits import has_bit
from forestlab.core.groups import Grouped, empty_if_dense
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.missing import Missing, make_first_left, make_group, make_propose, make_side
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
def is_lower(a, b):
    """Of two questions about one candidate: does a's cut, or the band's first one, come first?"""
    return a["low"] < b["low"] or (a["low"] == b["low"] and a["high"] < b["high"])


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
        if best < 0 or rank < best_rank or (rank == best_rank and is_lower(here, found[best])):
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


class Listed(NamedTuple):
    """What was listed of a candidate; of one that does not vary there is one group."""

    grouped: Grouped
    n_cuts: int
    some_missing: bool


def make_list_cuts(learner: Learner, search: Search, missing: Missing, in_bins: bool) -> Callable:
    """What lists the cuts of one candidate that are looked at. Rows may be tallied `in_bins`, or
    not."""
    group, propose = make_group(learner, missing), make_propose(search, learner, missing)
    draws = search.draws

    @jitable
    def list_cuts(plan, node, scratch, candidate, pick):
        grouped = group(plan, node, scratch, candidate, in_bins)
        if grouped.n_groups == 1:
            return Listed(grouped, 0, False)
        groups, some_missing = scratch.groups, grouped.last_key > grouped.last_known
        n_known = grouped.n_groups - (1 if some_missing else 0)
        look = Look(candidate, pick, grouped.n_groups, n_known, grouped.first_key)
        n_cuts = propose(plan, node, scratch, look, some_missing)
        if not draws and plan.settings.n_thresholds > 0:
            thresholds_key = stream(node.key, THRESHOLDS + np.uint64(candidate))
            n_cuts = thin(groups, n_cuts, plan.settings.n_thresholds, thresholds_key)
        return Listed(grouped, n_cuts, some_missing)

    return list_cuts


@jitable
def pick_one(plan, node, scratch, candidate, pick, n_cuts):
    """Keep one of the listed cuts, picked by the node's draw of a number; return how many."""
    cuts = scratch.groups.cuts
    if n_cuts > 0:
        cuts[0] = cuts[draw_below(stream(node.key, PARAMETERS), pick, n_cuts)]
    return min(n_cuts, 1)


def make_number_of(learner: Learner, search: Search) -> Callable:
    """What tells where a listed cut lies."""
    ends, draws = learner.ends, search.draws

    @jitable
    def number_of(plan, node, scratch, candidate, grouped, c):
        groups = scratch.groups
        if draws:
            return groups.numbers[c]
        cut, first = groups.cuts[c], grouped.first_key
        low, high = first + groups.key[cut], first + groups.key[cut + 1]
        if high > grouped.last_known:
            return np.inf  # it is known
        below = ends(plan, node, scratch, candidate, low)[1]
        above = ends(plan, node, scratch, candidate, high)[0]
        return cut_between(below, above, plan.settings.midpoint)

    return number_of


def make_evaluate(
    list_cuts: Callable, learner: Learner, search: Search, missing: Missing, scan: Callable,
    counted: bool, narrow: Callable,
) -> Callable:  # fmt: skip
    """What finds the best question about one candidate; `counted` cuts are counted too."""
    draws, number_of, side_of = search.draws, make_number_of(learner, search), make_side(missing)
    first_left_of = make_first_left(learner, missing, number_of)

    @jitable
    def evaluate(plan, node, scratch, candidate, least_so_far, pick):
        """The node's best question about a candidate, if it is as good as those found.

        With `pick` >= 0 not all of the listed cuts are scored, but those that `narrow` keeps.
        """
        groups = scratch.groups
        listed = list_cuts(plan, node, scratch, candidate, pick)
        grouped = listed.grouped
        if grouped.n_groups == 1:
            return nothing()
        n_cuts = listed.n_cuts
        if not draws and pick >= 0:
            n_cuts = narrow(plan, node, scratch, candidate, pick, n_cuts)
        if counted:
            scratch.scored[0] += n_cuts
        some_missing, n_groups, dense = listed.some_missing, grouped.n_groups, grouped.dense
        first_left = first_left_of(plan, node, scratch, candidate, grouped, n_cuts, some_missing)
        best = scan(plan, node, scratch, n_groups, n_cuts, dense, some_missing, first_left)
        empty_if_dense(scratch, grouped)
        if not best <= least_so_far + node.tie or best == np.inf:
            return nothing()
        c = lowest_within(groups, n_cuts, best + node.tie)
        cut, side = groups.cuts[c], side_of(groups, c, node.tie, some_missing)
        key = grouped.first_key + groups.key[cut]
        number = number_of(plan, node, scratch, candidate, grouped, c)
        return Question(best, candidate, -1, key, -np.inf, number, side)

    return evaluate


# ---- one node ----------------------------------------------------------------------------------


@jitable
def nothing_to_begin(plan, node, scratch):
    """Each feature is looked at by itself."""


def make_choose(evaluate: Callable, draw: Callable | None, randomised: bool) -> Callable:
    """What finds a node's best question: of rho random parameters if `randomised`, else over a
    random subset of the features; of as many candidates, if a learner is to `draw` them."""
    if draw is not None:
        return choose_candidates(evaluate, draw, randomised)
    if randomised:
        return choose_parameters(evaluate)
    return choose_features(make_look(evaluate), settle_found, nothing_to_begin)


# scikit-learn counts features that are constant in a node, oneDAL (findBestSplitSerial in its
# df_train_dense_default_impl.i) does not, and that alone parts their errors. Means of two runs with
# the square root of the features; error of a tree, and correlation of errors, on test rows:
#
#                                  covertype, 10 trees              MNIST, 20 trees
#                                  accuracy  tree  corr.  leaves    accuracy  tree  corr.  leaves
#     scikit-learn                   0.940  0.138   0.23  42,600      0.960  0.212   0.28   5,000
#     they count                     0.941  0.134   0.23  42,100      0.960  0.211   0.29   5,000
#     they do not                    0.962  0.087   0.27  21,000      0.963  0.195   0.29   4,200
#     they do not, 255 bins          0.962  0.086   0.27  21,900      0.961  0.195   0.29   4,200
#     scikit-learn-intelex           0.962  0.086   0.26  21,900      0.961  0.197   0.29   4,200
#
# Not to count them took 1.3 times as long, on covertype and on MNIST.
def choose_features(look: Callable, settle: Callable, begin: Callable) -> Callable:
    """`look` adds a feature's best question to those found, and `settle` decides between them."""

    @jitable
    def choose(plan, node, scratch):
        """The best of max_features random features; of more, one by one, until one of them varies,
        or max_features of them if constant ones do not count."""
        features, constant, swaps = node.features, node.constant, scratch.swaps
        begin(plan, node, scratch)
        n_features = features.shape[0]
        n_drawn = min(plan.settings.max_features, n_features)
        n_wanted = 1 if plan.settings.count_constant else n_drawn
        shuffled = n_drawn < n_features
        subset_key = stream(node.key, NODE_FEATURES)
        if shuffled:
            for i in range(n_drawn):
                swaps[i] = shuffle_step(features, i, n_features, subset_key)
        n_found, least = 0, np.inf
        n_varying = 0
        i = 0
        while i < n_drawn:
            feature = features[i]
            if not has_bit(constant, feature):
                following = features[min(i + 1, n_drawn - 1)]
                n_found, least = look(plan, node, scratch, feature, following, n_found, least)
                n_varying += 0 if has_bit(constant, feature) else 1
            i += 1
            if i == n_drawn and n_varying < n_wanted and n_drawn < n_features:
                swaps[i] = shuffle_step(features, i, n_features, subset_key)
                n_drawn += 1
        if shuffled:
            undo_swaps(features, swaps, n_drawn)
        return settle(plan, node, scratch, n_found, least)

    return choose


def make_look(evaluate: Callable) -> Callable:
    @jitable
    def look(plan, node, scratch, feature, following, n_found, least):
        question = evaluate(plan, node, scratch, feature, least, -1)
        return keep(scratch.found, n_found, least, question)

    return look


@jitable
def settle_found(plan, node, scratch, n_found, least):
    return best_of(scratch.found, n_found, least, node.tie, node.key, plan.settings.random_ties)


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

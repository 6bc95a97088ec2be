"""Columns of categories: which of a column's levels go left.

A node asks whether a row's level is in a *set*. Which sets of the levels that the node's rows have
are looked at is a choice:

- "equality": each level by itself, "is it green?";
- "subset": levels are put in an order (see levels), and the sets that begin it are looked at. Of
  levels in line no other set is better by a criterion that is *in order* (Fisher 1958; Breiman et
  al. 1984). Elsewhere every set is looked at where there are at most EVERY levels.

A search that draws its cuts puts the levels in random order, or draws a level. How a set is made a
cut, so that it is scored as one of numbers is, stands in sets; how levels by themselves are scored
all at once, in singles.

Weak learners that draw several columns draw numbers only; a column of categories is asked about by
itself, as often as there are such among the features.

A node's set stands in its tree's pool of bits: a word that counts words, then so many words of the
levels that go left, then as many of those that the node's rows had. A level that they did not have
goes where missing values go. What is typical of categories (see typical) is their mode.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import CATEGORY, LEFT, RIGHT
from forestlab.core.bits import has_bit, set_bit
from forestlab.core.groups import empty_if_dense
from forestlab.core.jit import hold, jitable
from forestlab.core.learners import AXIS_LEARNER, Learner, make_project_some
from forestlab.core.levels import EVERY, make_values, sort_places, words_for
from forestlab.core.missing import Missing, make_group, make_side
from forestlab.core.monotonic import with_signs
from forestlab.core.node import Listed, nothing
from forestlab.core.projections import varies
from forestlab.core.rng import KINDS, LEVELS, THRESHOLDS, draw, draw_below, stream
from forestlab.core.scratch import Node, Question
from forestlab.core.search import TIE, Look, Search, lowest_within, thin
from forestlab.core.sets import (
    BEGINNINGS,
    MASKS,
    SINGLES,
    arrange,
    arrange_set,
    holds,
    list_all,
    list_drawn,
    note_groups,
)
from forestlab.core.typical import Typical

CHOICES = "subset", "equality"
ABSENT = 2  # the side of a level that no row of the node has
EDGE = 0.5  # of a set: as a number a level is 0 if it is in there, else 1


@jitable
def level_missing(columns, feature):
    """The code of a missing category: one past the last level."""
    return columns.levels[feature]


READER = AXIS_LEARNER._replace(project_some=make_project_some(level_missing))


class Asked(NamedTuple):
    """What is asked of categories, and by what."""

    choice: str  # one of CHOICES
    task: str  # of the criterion
    in_order: bool  # is it one of which sets that begin the order are best?
    in_bins: bool  # rows may be tallied in bins
    monotonic: bool
    draws: bool  # the search draws its cuts


# ---- which sets --------------------------------------------------------------------------------


def make_open(asked: Asked, column_of: Callable, missing: Missing) -> Callable:
    """What puts the levels of a candidate in groups, and in order if there is one."""
    reader = with_signs(READER) if asked.monotonic else READER
    group, in_bins = make_group(reader, missing), asked.in_bins
    find_line, fill_profiles, find_values = make_values(asked.task)
    singles, in_order, draws = asked.choice == "equality", asked.in_order, asked.draws

    @jitable
    def find_way(plan, node, scratch, candidate, grouped, n_known):
        """What the numbers of sets mean; if it is a place in an order, its values are found."""
        categories = scratch.categories
        if singles:
            return SINGLES
        if draws:
            key = stream(node.key, LEVELS + np.uint64(candidate))
            for g in range(n_known):
                level = grouped.first_key + categories.level[g]
                categories.values[g] = np.float64(draw(key, level) >> np.uint64(11))
            return BEGINNINGS
        fill_profiles(scratch, grouped.dense, n_known)
        line = find_line(scratch, n_known)
        if n_known <= EVERY and not (in_order and line >= 0):
            return MASKS
        find_values(scratch, n_known, line)
        return BEGINNINGS

    @jitable
    def open_levels(plan, node, scratch, candidate):
        grouped = group(plan, node, scratch, column_of(plan, scratch, candidate), in_bins)
        if grouped.n_groups == 1:
            return grouped
        n_known = known_groups(grouped)
        note_groups(scratch, grouped)
        way = find_way(plan, node, scratch, candidate, grouped, n_known)
        if way == BEGINNINGS:
            sort_places(scratch.categories, n_known)
            arrange(scratch, grouped.dense, n_known)
        scratch.categories.way[0] = way
        return grouped

    return open_levels


@jitable
def known_groups(grouped):
    return grouped.n_groups - (1 if grouped.last_key > grouped.last_known else 0)


def make_list_sets(open_levels: Callable, draws: bool, missing: Missing) -> Callable:
    """What lists the sets of one candidate that are looked at, as `node.make_list_cuts` does."""
    asks, only_known = missing.asks, missing.branches

    @jitable
    def list_sets(plan, node, scratch, candidate, pick):
        grouped = open_levels(plan, node, scratch, candidate)
        if grouped.n_groups == 1:
            return Listed(grouped, 0, False)
        n_known, way = known_groups(grouped), scratch.categories.way[0]
        n_counted = n_known if only_known else grouped.n_groups
        look = Look(candidate, pick, n_counted, n_known, grouped.first_key)
        some_missing = n_known < grouped.n_groups
        if draws:
            return Listed(grouped, list_drawn(plan, node, scratch, way, look), some_missing)
        n_cuts = list_all(scratch, way, look, plan.settings.min_samples_leaf, asks)
        if plan.settings.n_thresholds > 0:
            key = stream(node.key, THRESHOLDS + np.uint64(candidate))
            n_cuts = thin(scratch.groups, n_cuts, plan.settings.n_thresholds, key)
        return Listed(grouped, n_cuts, some_missing)

    return list_sets


# ---- the best of them --------------------------------------------------------------------------


def make_scan_sets(missing: Missing, scan: Callable) -> Callable:
    """What scores the listed sets, given what scores cuts."""
    side_of = make_side(missing)
    by_mode = missing.by_typical and len(missing.sides) > 0

    @jitable
    def scan_sets(plan, node, scratch, listed, n_sets, mode):
        """Score the listed sets: those that begin an order together, others one by one. Returns
        the least score."""
        groups, categories, grouped = scratch.groups, scratch.categories, listed.grouped
        n_known, way, dense = known_groups(grouped), categories.way[0], grouped.dense
        n_groups, some_missing = grouped.n_groups, listed.some_missing
        for s in range(n_sets):
            categories.sets[s] = groups.cuts[s]
        together = way == BEGINNINGS
        least = np.inf
        for s in range(1 if together else n_sets):  # a loop, so that it is compiled once
            n_cuts = n_sets
            if not together:
                n_members = arrange_set(scratch, dense, n_known, way, categories.sets[s])
                groups.cuts[0], n_cuts = n_members - 1, 1
            first_left = first_with(scratch, n_cuts, n_known, mode) if by_mode else 0
            here = scan(plan, node, scratch, n_groups, n_cuts, dense, some_missing, first_left)
            least = min(least, here)
            for c in range(n_cuts):
                categories.scores[s + c] = groups.scores[c]
                categories.sides[s + c] = side_of(groups, c, node.tie, some_missing)
        return least

    return scan_sets


def make_evaluate_sets(
    list_sets: Callable, column_of: Callable, search: Search, missing: Missing, scan_sets: Callable,
    counted: bool, narrow: Callable,
) -> Callable:  # fmt: skip
    """What finds the best question about a column of categories, as `node.make_evaluate` does."""
    draws, by_mode = search.draws, missing.by_typical and len(missing.sides) > 0

    @jitable
    def evaluate(plan, node, scratch, candidate, least_so_far, pick):
        categories = scratch.categories
        listed = list_sets(plan, node, scratch, candidate, pick)
        grouped, n_sets = listed.grouped, listed.n_cuts
        if grouped.n_groups == 1:
            return nothing()
        if not draws and pick >= 0:
            n_sets = narrow(plan, node, scratch, candidate, pick, n_sets)
        if counted:
            scratch.scored[0] += n_sets
        mode = 0
        if by_mode and listed.some_missing:
            column = column_of(plan, scratch, candidate)
            mode = mode_of(plan, node, scratch, column) - grouped.first_key
        best = scan_sets(plan, node, scratch, listed, n_sets, mode)
        empty_if_dense(scratch, grouped)
        if not best <= least_so_far + node.tie or best == np.inf:
            return nothing()
        s = lowest_within(categories, n_sets, best + node.tie)
        side = categories.sides[s]
        return Question(best, candidate, -1, categories.sets[s], -np.inf, EDGE, side)

    return evaluate


@jitable
def first_with(scratch, n_cuts, n_known, level):
    """The first of the listed cuts that has a level on its left; n_cuts if there is none."""
    groups, place = scratch.groups, 0
    while place < n_known and groups.key[place] != level:
        place += 1
    for c in range(n_cuts):
        if groups.cuts[c] >= place:
            return c
    return n_cuts


# ---- the typical level -------------------------------------------------------------------------


@jitable
def mode_of(plan, node, scratch, column):
    """The heaviest level of a node's rows; of those that are equal but for rounding the first."""
    mass, codes, n_levels = scratch.categories.mass, plan.columns.codes, plan.columns.levels[column]
    rows, weights = node.rows, node.weights
    for level in range(n_levels):
        mass[level] = 0.0
    total, greatest = 0.0, 0.0
    for i in range(rows.shape[0]):
        here = np.int64(codes[column, rows[i]])
        if here < n_levels:
            mass[here] += weights[i]
            total += weights[i]
            greatest = max(greatest, mass[here])
    mode = 0
    while mass[mode] < greatest - TIE * rows.shape[0] * total:
        mode += 1
    return mode


# ---- beside numbers ----------------------------------------------------------------------------


@jitable
def feature_column(plan, scratch, candidate):
    """The column of categories that a candidate is about; -1: it is about numbers."""
    return candidate if plan.columns.levels[candidate] > 0 else -1


@jitable
def drawn_column(plan, scratch, candidate):
    """Likewise, of a candidate that was drawn: one of several columns has numbers only."""
    column = scratch.projections.columns[candidate, 0]
    return column if plan.columns.levels[column] > 0 else -1


def column_finder(learner: Learner) -> Callable:
    return feature_column if learner.draw is None else drawn_column


def either(column_of: Callable, of_sets: Callable, of_numbers: Callable) -> Callable:
    """What lists the questions about a candidate, be they about categories or about numbers."""

    @jitable
    def list_either(plan, node, scratch, candidate, pick):
        if column_of(plan, scratch, candidate) >= 0:
            return of_sets(plan, node, scratch, candidate, pick)
        return of_numbers(plan, node, scratch, candidate, pick)

    return list_either


def either_best(column_of: Callable, of_sets: Callable, of_numbers: Callable) -> Callable:
    """What finds the best of these."""

    @jitable
    def evaluate(plan, node, scratch, candidate, least_so_far, pick):
        if column_of(plan, scratch, candidate) >= 0:
            return of_sets(plan, node, scratch, candidate, least_so_far, pick)
        return of_numbers(plan, node, scratch, candidate, least_so_far, pick)

    return evaluate


def draw_either(draw_numbers: Callable, is_open: Callable) -> Callable:
    """What draws a candidate: a column of categories, or what is drawn of the others; if either
    kind does not vary in the node, of the other one."""

    @jitable
    def draw_candidate(plan, node, scratch, candidate):
        key, n_features = stream(node.key, KINDS + np.uint64(candidate)), node.features.shape[0]
        feature = node.features[draw_below(key, 0, n_features)]
        if is_open(plan, node, feature):
            return take_column(scratch, candidate, feature)
        categories = scratch.categories
        of_numbers = hold(Node(
            node.rows, node.weights, categories.numeric[: categories.n_numeric[0]], node.constant,
            node.key, node.total, node.tie, node.min_weight,
        ))  # fmt: skip
        if categories.n_numeric[0] > 0 and draw_numbers(plan, of_numbers, scratch, candidate):
            return True
        n_open, varying = 0, scratch.projections.varying
        for k in range(n_features):
            if is_open(plan, node, node.features[k]):
                varying[n_open] = node.features[k]
                n_open += 1
        if n_open == 0:
            return False
        return take_column(scratch, candidate, varying[draw_below(key, 1, n_open)])

    return draw_candidate


def make_is_open(missing: Missing) -> Callable:
    """What tells whether a feature is one of categories and varies; to be missing is to differ, if
    one may ask whether it is."""
    if not missing.sides or missing.asks:

        @jitable
        def is_open(plan, node, feature):
            return plan.columns.levels[feature] > 0 and varies(plan, node, feature)

        return is_open

    @jitable
    def is_open_known(plan, node, feature):
        absent = plan.columns.levels[feature]
        if absent == 0 or has_bit(node.constant, feature):
            return False
        first = absent
        for i in range(node.rows.shape[0]):
            code = np.int64(plan.columns.codes[feature, node.rows[i]])
            if code != absent and first != absent and code != first:
                return True
            first = code if first == absent else first
        set_bit(node.constant, feature)
        return False

    return is_open_known


@jitable
def take_column(scratch, candidate, feature):
    columns = scratch.projections.columns
    for k in range(columns.shape[1]):
        columns[candidate, k] = feature if k == 0 else -1
    return True


def with_categories(learner: Learner, open_levels: Callable, missing: Missing) -> Learner:
    """The learner, for data of which some columns are of categories."""
    column_of = column_finder(learner)
    ready_numbers, write_numbers, known_left = learner.ready, learner.write, learner.goes_left
    lacks_number: Any = learner.lacks
    typical_number = learner.typical

    @jitable
    def ready(plan, node, scratch, question):
        """Tell the sides of levels: those of the last candidate were written over."""
        column = column_of(plan, scratch, question.candidate)
        if column < 0:
            ready_numbers(plan, node, scratch, question)
            return
        categories, side = scratch.categories, scratch.categories.side
        grouped = open_levels(plan, node, scratch, question.candidate)
        for level in range(plan.columns.levels[column]):
            side[level] = ABSENT
        n_known, way = known_groups(grouped), categories.way[0]
        for place in range(n_known):
            g = categories.places[place]
            inside = holds(way, question.high, n_known, place, g)
            side[grouped.first_key + categories.level[g]] = LEFT if inside else RIGHT
        empty_if_dense(scratch, grouped)

    @jitable
    def goes_left(plan, scratch, question, i, row):
        column = column_of(plan, scratch, question.candidate)
        if column < 0:
            return known_left(plan, scratch, question, i, row)
        return scratch.categories.side[plan.columns.codes[column, row]] == LEFT

    @jitable
    def lacks(plan, scratch, question, i, row):
        column = column_of(plan, scratch, question.candidate)
        if column < 0:
            return lacks_number(plan, scratch, question, i, row)
        return plan.columns.codes[column, row] == plan.columns.levels[column]

    @jitable
    def write(plan, scratch, question, record):
        column = column_of(plan, scratch, question.candidate)
        if column < 0:
            write_numbers(plan, scratch, question, record)
        else:
            write_set(plan, scratch, column, record)

    @jitable
    def typical(plan, node, scratch, candidate):
        """That of a column of categories is asked for once the sides of levels are told."""
        column = column_of(plan, scratch, candidate)
        if column < 0:
            return typical_number(plan, node, scratch, candidate)
        side = scratch.categories.side[mode_of(plan, node, scratch, column)]
        return Typical(0.0 if side == LEFT else 1.0, 1.0, 0.0)

    draw = learner.draw and draw_either(learner.draw, make_is_open(missing))
    return learner._replace(
        ready=ready, goes_left=goes_left, lacks=lacks, write=write, draw=draw, typical=typical
    )


# ---- records -----------------------------------------------------------------------------------


@jitable
def write_set(plan, scratch, column, record):
    """Write a question about a column's levels, whose sides are told; without room for it, none."""
    categories = scratch.categories
    n_levels, pool, start = plan.columns.levels[column], categories.bits, categories.n_bits[0]
    n_words = words_for(n_levels)
    end = start + 1 + 2 * n_words
    categories.n_bits[0] = end
    if end > pool.shape[0]:
        return
    record["kind"], record["feature"], record["bits"] = CATEGORY, column, start
    pool[start] = n_words
    for word in range(start + 1, end):
        pool[word] = 0
    left, present = pool[start + 1 : end - n_words], pool[end - n_words : end]
    for level in range(n_levels):
        if categories.side[level] == LEFT:
            set_bit(left, level)
        if categories.side[level] != ABSENT:
            set_bit(present, level)


class Pool(NamedTuple):
    """What a kernel does about the pool of bits."""

    begin: Callable  # (plan, scratch, features)
    has_room: Callable  # (scratch)


@jitable
def begin_pool(plan, scratch, features):
    """Forget the sets of the tree before; list the tree's features that are numbers."""
    categories = scratch.categories
    categories.n_bits[0] = 0
    n = 0
    for k in range(features.shape[0]):
        if plan.columns.levels[features[k]] == 0:
            categories.numeric[n] = features[k]
            n += 1
    categories.n_numeric[0] = n


@jitable
def has_room(scratch):
    """Was there room for all sets?"""
    return scratch.categories.n_bits[0] <= scratch.categories.bits.shape[0]


@jitable
def no_pool(plan, scratch, features):
    """There are no categories."""


@jitable
def needs_no_room(scratch):
    return True


def make_pool(choice: str) -> Pool:
    return Pool(begin_pool, has_room) if choice else Pool(no_pool, needs_no_room)

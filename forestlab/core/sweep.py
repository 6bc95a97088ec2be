"""One feature of one node, where every cut counts: from codes to the best cut.

Most nodes are small and most of a fit is spent here, so nothing is listed that need not be: no
groups, no cuts. Steps:

1. list the *items*: rows of all codes but the usual one (see items);
2. score all cuts, sixteen at once: of *few* items by comparing each with each, of many by *tables*
   of what each key weighs; where keys are many, or weights not whole numbers, by *passes* over rows
   in order, or bins, that move from one side to the other (see few, tables, passes);
3. of the cuts within a tie of the best take the lowest.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core import classes, few, parted, tables
from forestlab.core.arrays import UNSEEN
from forestlab.core.bits import set_bit
from forestlab.core.criteria import Criterion
from forestlab.core.groups import FEW, bins_pay, empty_bins
from forestlab.core.items import (
    KEY,
    MOST_PACKED,
    NONE,
    code_of,
    codes_of,
    first_above,
    make_tally,
    make_usual,
    sort_few,
    sort_many,
)
from forestlab.core.jit import jitable
from forestlab.core.lanes import MANY, PARTED, PER_CLASS, PER_KEY, PER_KEY_OF_NUMBERS, PER_ROW
from forestlab.core.node import choose_features, cut_between, nothing, nothing_to_begin
from forestlab.core.passes import Sums, bins_from_ends, rows_from_ends, rows_once, sums_of
from forestlab.core.rng import TIES, draw, stream
from forestlab.core.scratch import Question


def make_sweep(criterion: Criterion, whole: bool) -> Callable:
    """What finds a node's best question, of all cuts of some features."""
    begin, find = finder_of(criterion, whole)

    @jitable
    def look(plan, node, scratch, feature, following, n_found, least):
        """Add the best cut of a feature to those found, if it is as good; return their number, and
        the least score. Where cuts lie is only looked up of the one that is chosen."""
        first = plan.columns.first
        n_keys = first[feature + 1] - first[feature]
        pair = feature, following
        best, low, high = find(plan, node, scratch, pair, n_keys, least + node.tie)
        if best == np.inf:
            return n_found, least
        kept = scratch.found[n_found]
        kept["score"], kept["candidate"], kept["low"], kept["high"] = best, feature, low, high
        return n_found + 1, min(least, best)

    return choose_features(look, settle, begin)


@jitable
def settle(plan, node, scratch, n_found, least):
    """The question of those within a tie of the least score that has the lowest rank."""
    found, columns, settings = scratch.found, plan.columns, plan.settings
    ranks_key = stream(node.key, TIES)
    chosen, lowest = -1, np.uint64(0)
    for i in range(n_found):
        if found[i]["score"] <= least + node.tie:
            feature = found[i]["candidate"]
            rank = draw(ranks_key, feature) if settings.random_ties else np.uint64(feature)
            if chosen < 0 or rank < lowest:
                chosen, lowest = i, rank
    if chosen < 0:
        return nothing()
    won = found[chosen]
    feature, low, first = won["candidate"], won["low"], columns.first[won["candidate"]]
    below, above = columns.upper[first + low], columns.lower[first + won["high"]]
    number = cut_between(below, above, settings.midpoint)
    return Question(won["score"], feature, -1, low, -np.inf, number, UNSEEN)


def finder_of(criterion: Criterion, whole: bool) -> tuple[Callable, Callable]:
    """What a node begins with, and (plan, node, scratch, feature, n_keys, most) → score, and the
    keys on both sides, of a feature's best cut, if it scores no more than `most`, else infinite."""
    sums, has_classes = sums_of(criterion, whole), criterion.task == "classification"
    by_rows = make_by_rows(sums, whole, make_usual(whole and has_classes))
    if whole and has_classes:
        return of_whole_classes(criterion, by_rows)
    if whole:
        return of_whole_numbers(by_rows)
    by_bins = make_by_bins(sums)
    find = find_any_classes(by_rows, by_bins) if has_classes else find_any_numbers(by_rows, by_bins)
    return nothing_to_begin, find


@jitable
def open_chosen(plan, node, question):
    """The codes by which rows are sent to the children."""
    return codes_of(plan, node.rows.shape[0], question.candidate, question.candidate)


@jitable
def left_by_code(plan, scratch, codes, question, i, row):
    return np.int64(code_of(codes, row)) <= question.high


# ---- whole weights -----------------------------------------------------------------------------


class Ways(NamedTuple):
    usual: Callable  # (plan, feature) → the code whose rows are no items
    list_items: Callable  # (codes, node, scratch, usual) → Listed
    score_ways: Callable  # (plan, node, scratch)
    of_few: Callable
    of_many: Callable
    per_key: Callable  # (scratch) → what a key of a table costs, in comparisons
    most_mass: float  # of a row, on the average


@jitable
def classes_per_key(scratch):
    return PER_KEY + PER_CLASS * classes.n_present(scratch.swept)


@jitable
def numbers_per_key(scratch):
    return PER_KEY_OF_NUMBERS


def of_whole_classes(criterion: Criterion, by_rows: Callable) -> tuple[Callable, Callable]:
    laned = criterion.shortcut.laned if criterion.shortcut else None
    if laned is None:
        raise ValueError("criteria of classes that are swept have lanes")
    most_mass = laned.most_mass
    score_ways = parted.make_score_ways(few.of_classes(laned, parted.is_in))
    of_few = few.make_few(few.of_classes(laned))
    of_many, of_table = tables.make_many(tables.fill_classes, tables.of_classes(laned))

    @jitable
    def by_filled_rows(plan, node, scratch, pair, n_keys, most):
        classes.fill(plan, node, scratch)
        return by_rows(plan, node, scratch, pair, n_keys, most)

    ways = Ways(
        make_usual(True), few.list_classes, score_ways, of_few, of_many, classes_per_key, most_mass
    )  # fmt: skip
    find = make_find_whole(ways, by_filled_rows)

    @jitable
    def find_of_two(plan, node, scratch, pair, n_keys, most):
        n_rows = node.rows.shape[0]
        is_heavy = node.total[0] > most_mass * n_rows
        if n_keys > 2 or n_rows <= MANY or plan.settings.min_samples_leaf > 1 or is_heavy:
            return find(plan, node, scratch, pair, n_keys, most)
        if not tables.fill_two(codes_of(plan, n_rows, *pair), node, scratch):
            set_bit(node.constant, pair[0])
        return of_table(plan, node, scratch, n_keys, most)

    return make_begin(score_ways), find_of_two


def of_whole_numbers(by_rows: Callable) -> tuple[Callable, Callable]:
    score_ways = parted.make_score_ways(few.of_whole_numbers(parted.is_in))
    of_few = few.make_few(few.of_whole_numbers())
    of_many, _ = tables.make_many(tables.fill_numbers, tables.of_numbers)
    ways = Ways(
        make_usual(False), few.list_numbers, score_ways, of_few, of_many, numbers_per_key, np.inf
    )
    return make_begin(score_ways), make_find_whole(ways, by_rows)


def make_begin(score_ways: Callable) -> Callable:
    @jitable
    def begin(plan, node, scratch):
        if node.rows.shape[0] <= PARTED:
            score_ways(plan, node, scratch)

    return begin


def make_find_whole(ways: Ways, by_rows: Callable) -> Callable:
    usual_of, list_items, _, of_few, of_many, per_key, most_mass = ways

    @jitable
    def find(plan, node, scratch, pair, n_keys, most):
        n_rows = node.rows.shape[0]
        of_table = n_keys * per_key(scratch)
        if PER_ROW * n_rows < min(of_table, n_rows * n_rows):
            return by_rows(plan, node, scratch, pair, n_keys, most)
        if most_mass < np.inf and node.total[0] > most_mass * n_rows:
            return by_rows(plan, node, scratch, pair, n_keys, most)
        codes = codes_of(plan, n_rows, *pair)
        if n_rows <= PARTED:
            best, low, high, varies = parted.of_parted(codes, node, scratch, most)
            if not varies:
                set_bit(node.constant, pair[0])
            return best, low, high
        usual = usual_of(plan, pair[0])
        items = list_items(codes, node, scratch, usual)
        if not items.varies:
            set_bit(node.constant, pair[0])
            return np.inf, 0, 0
        if items.n_items * items.n_items <= of_table:
            return of_few(plan, node, scratch, items, most)
        return of_many(plan, node, scratch, items, n_keys, most)

    return find


# ---- any weights -------------------------------------------------------------------------------


def find_any_classes(by_rows: Callable, by_bins: Callable) -> Callable:
    @jitable
    def find(plan, node, scratch, pair, n_keys, most):
        if bins_pay(n_keys, node.rows.shape[0], scratch.sums.shape[0]):
            return by_bins(plan, node, scratch, pair, n_keys, most)
        return by_rows(plan, node, scratch, pair, n_keys, most)

    return find


def find_any_numbers(by_rows: Callable, by_bins: Callable) -> Callable:
    of_few, find_many = few.make_few(few.of_numbers()), find_any_classes(by_rows, by_bins)

    @jitable
    def find(plan, node, scratch, pair, n_keys, most):
        n_rows = node.rows.shape[0]
        if n_rows * n_rows > PER_ROW * n_rows:
            return find_many(plan, node, scratch, pair, n_keys, most)
        codes = codes_of(plan, n_rows, *pair)
        items = few.list_numbers(codes, node, scratch, NONE)
        if not items.varies:
            set_bit(node.constant, pair[0])
            return np.inf, 0, 0
        return of_few(plan, node, scratch, items, most)

    return find


# ---- passes ------------------------------------------------------------------------------------


def make_by_rows(sums: Sums, whole: bool, usual_of: Callable) -> Callable:
    sweep_rows = (rows_once if whole else rows_from_ends)(sums)

    @jitable
    def by_rows(plan, node, scratch, pair, n_keys, most):
        """Score, and the keys on both sides, of the best cut, if it scores no more than `most`."""
        groups, rows = scratch.groups, node.rows
        codes = codes_of(plan, rows.shape[0], *pair)
        order, n_rows, usual = groups.order, rows.shape[0], usual_of(plan, pair[0])
        if n_rows <= FEW and n_keys < MOST_PACKED:
            n_items = sort_few(codes, rows, usual, groups)
        else:
            n_items = sort_many(codes, rows, usual, groups, n_keys)
        if n_items < n_rows:
            varies, n_below = n_items > 0, first_above(order, n_items, usual)
        else:
            varies, n_below = (order[0] ^ order[n_items - 1]) >> KEY != 0, n_items
        if not varies:
            set_bit(node.constant, pair[0])
            return np.inf, 0, 0
        best, place = sweep_rows(plan, node, scratch, (n_below, n_below - 1), n_items, most)
        if best == np.inf:
            return best, 0, 0
        low = high = np.int64(order[place] >> KEY)
        if place < n_below:
            high = np.int64(order[place + 1] >> KEY) if place + 1 < n_below else usual
        else:
            low = np.int64(order[place - 1] >> KEY) if place > n_below else usual
        return best, low, high

    return by_rows


def make_by_bins(sums: Sums) -> Callable:
    sweep_bins, tally = bins_from_ends(sums), make_tally(sums.n_parts)

    @jitable
    def by_bins(plan, node, scratch, pair, n_keys, most):
        """The same; bins are left empty."""
        groups = scratch.groups
        tally(plan, node, scratch, codes_of(plan, node.rows.shape[0], *pair))
        best, low, n_held = sweep_bins(plan, node, scratch, n_keys, most)
        high = low + 1
        if n_held == 1:
            set_bit(node.constant, pair[0])
        elif best < np.inf:
            while groups.tally[high] == 0:
                high += 1
        empty_bins(groups, n_keys, scratch.sums.shape[0])
        return best, low, high

    return by_bins

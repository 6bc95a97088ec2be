"""Bands: questions with two cuts, of which rows in between go left.

The cuts of a band lie at *places* between groups. A node with more than SEGMENTS groups has only so
many stretches of about as many rows, at whose ends cuts may lie; up to that a search over all pairs
of places is exhaustive. Places cut the groups into *segments* 0 … m; the band (a, b] holds the
segments a + 1 … b. It may begin before the first segment (a = -1), which is a plain cut, but does
not hold the last: then it would be the rest of another band.

Rows whose number is missing are in no segment. Bands are scored in two turns, with these rows
outside and then inside; or once, by the known rows alone (see missing). Where one may ask whether a
number is known, the band (-1, m] holds all that are.

Each side is summed from what segments hold, never by taking away, as in `search.scan_ends`. Sides
that rows enter one by one are filled anew for each a: the band upwards from a, and what lies
outside it downwards from the last place, so that the rows enter 64 times at most.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import BOTH, LEFT, RIGHT, UNSEEN
from forestlab.core.branching import make_add_missing
from forestlab.core.criteria import Criterion, Entered, Several
from forestlab.core.groups import POSITION, empty_if_dense
from forestlab.core.jit import jitable
from forestlab.core.learners import Learner
from forestlab.core.missing import Missing, make_group
from forestlab.core.node import cut_between, nothing
from forestlab.core.rng import PARAMETERS, THRESHOLDS, draw_below, stream
from forestlab.core.scratch import SEGMENTS, Question
from forestlab.core.search import thin
from forestlab.core.sides import empty, n_items, sides_of


@jitable
def list_places(groups, n_groups):
    """List the groups after which a cut may lie; return how many."""
    n_rows, n_places = groups.end[n_groups - 1], 0
    for g in range(n_groups - 1):
        here = (groups.end[g] - 1) * SEGMENTS // n_rows
        following = (groups.end[g + 1] - 1) * SEGMENTS // n_rows
        if n_groups <= SEGMENTS or here != following:
            groups.cuts[n_places] = g
            n_places += 1
    return n_places


@jitable
def hold(scratch, n_groups, n_places, dense):
    """Sum up what each segment holds, and what lies before and after."""
    groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
    held, before, after = scratch.bands.held, scratch.bands.before, scratch.bands.after
    n_slots = held.shape[1]
    done = np.uint64(0)
    for s in range(n_places + 1):
        for k in range(n_slots):
            held[s, k] = 0.0
        last = groups.cuts[s] + 1 if s < n_places else n_groups
        end = n_items(groups, last, dense)
        while done < end:
            if dense:
                cell = groups.key[done] * n_slots
                for k in range(n_slots):
                    held[s, k] += groups.bins[cell + k]
            else:
                i = groups.order[done] & POSITION
                for part in range(slots.shape[1]):
                    held[s, slots[i, part]] += amounts[i, part]
            done += np.uint64(1)
        for k in range(n_slots):
            before[s, k] = held[s, k] + (before[s - 1, k] if s > 0 else 0.0)
    for s in range(n_places, -1, -1):
        for k in range(n_slots):
            after[s, k] = held[s, k] + (after[s + 1, k] if s < n_places else 0.0)


@jitable
def hold_missing(scratch, n_known, dense):
    """Sum up what the rows hold that are in no segment, behind the segments."""
    groups, slots, amounts = scratch.groups, scratch.slots, scratch.amounts
    held = scratch.bands.held
    n_slots = held.shape[1]
    for k in range(n_slots):
        held[SEGMENTS, k] = 0.0
    end = n_items(groups, n_known + 1, dense)
    item = n_items(groups, n_known, dense)
    while item < end:
        if dense:
            cell = groups.key[item] * n_slots
            for k in range(n_slots):
                held[SEGMENTS, k] += groups.bins[cell + k]
        else:
            i = groups.order[item] & POSITION
            for part in range(slots.shape[1]):
                held[SEGMENTS, slots[i, part]] += amounts[i, part]
        item += np.uint64(1)


class Span(NamedTuple):
    """The bands that are looked at."""

    n_groups: int  # of rows that are known
    n_missing: int  # rows that are not, and go inside or outside
    n_places: int
    asks: bool  # whether a number is known
    middle: int  # the typical value lies before this place and behind those before; -1: no matter


@jitable
def last_of(span, a):
    """The place after the last at which a band may end that begins at a."""
    return span.n_places + (1 if span.asks and a < 0 else 0)


@jitable
def last_begin(span):
    """The place after the last at which a band may begin."""
    return max(span.n_places - 1, 0 if span.asks else -1)


@jitable
def row_after(groups, span, place):
    """Where the rows after a place begin."""
    if place < 0:
        return np.int64(0)
    return groups.end[groups.cuts[place] if place < span.n_places else span.n_groups - 1]


@jitable
def is_enough(groups, span, a, b, least, inside):
    """Does the band (a, b] leave enough rows on both sides, missing ones being inside or not?"""
    if inside and b == span.n_places:
        return False
    n_inside = row_after(groups, span, b) - row_after(groups, span, a)
    n_outside = groups.end[span.n_groups - 1] - n_inside
    n_inside += span.n_missing if inside else 0
    n_outside += 0 if inside else span.n_missing
    return n_inside >= least <= n_outside


@jitable
def is_listed(groups, span, a, b, least):
    """Does it leave enough rows, wherever missing ones are?"""
    if is_enough(groups, span, a, b, least, False):
        return True
    return span.n_missing > 0 and is_enough(groups, span, a, b, least, True)


@jitable
def is_allowed(groups, span, a, b, least, inside):
    """May missing rows be inside, or outside?"""
    if span.middle >= 0 and inside != (a < span.middle <= b):
        return False
    return is_enough(groups, span, a, b, least, inside)


@jitable
def n_listed(groups, span, least):
    n = 0
    for a in range(-1, last_begin(span)):
        for b in range(a + 1, last_of(span, a)):
            n += 1 if is_listed(groups, span, a, b, least) else 0
    return n


def make_scan_bands(criterion: Criterion) -> Callable:
    """What scores the bands, or only that of a number among those listed, with missing rows inside
    or outside; returns the least score and how many were scored."""
    add, score = criterion.add, criterion.score

    @jitable
    def add_held(amounts, side, numbers):
        for k in range(amounts.shape[0]):
            if amounts[k] != 0.0:
                numbers = add(side, k, amounts[k], numbers)
        return numbers

    @jitable
    def scan(plan, node, scratch, span, picked, missing_inside):
        groups, bands, inside, outside = scratch.groups, scratch.bands, scratch.left, scratch.right
        least_rows, least = plan.settings.min_samples_leaf, np.inf
        some_outside = span.n_missing > 0 and not missing_inside
        n_seen, n_scored, i = 0, 0, 0
        for a in range(-1, last_begin(span)):
            inside_numbers = empty(inside)
            if missing_inside:
                inside_numbers = add_held(bands.held[SEGMENTS], inside, inside_numbers)
            for b in range(a + 1, last_of(span, a)):
                inside_numbers = add_held(bands.held[b], inside, inside_numbers)
                bands.scores[i] = np.inf
                if is_listed(groups, span, a, b, least_rows):
                    is_picked = picked < 0 or picked == n_seen
                    n_scored += is_picked
                    if is_picked and is_allowed(groups, span, a, b, least_rows, missing_inside):
                        outside_numbers = empty(outside)
                        for k in range(outside.shape[0]):
                            amount = bands.after[b + 1, k] if b < span.n_places else 0.0
                            if a >= 0:
                                amount += bands.before[a, k]
                            if some_outside:
                                amount += bands.held[SEGMENTS, k]
                            if amount != 0.0:
                                outside_numbers = add(outside, k, amount, outside_numbers)
                        if inside_numbers[0] >= node.min_weight <= outside_numbers[0]:
                            bands.scores[i] = score(inside, inside_numbers) + score(
                                outside, outside_numbers
                            )
                    n_seen += 1
                least = min(least, bands.scores[i])
                i += 1
        return least, n_scored

    return scan


def make_scan_entered(criterion: Entered | Several) -> Callable:
    """As `make_scan_bands`, of sides that rows enter one by one."""
    sides = sides_of(criterion)
    size, put, score = sides.size, sides.put, sides.score

    @jitable
    def put_between(plan, scratch, start, end, side, numbers):
        """Rows enter a side in their order."""
        for item in range(start, end):
            numbers = put(plan, scratch, np.uint64(item), False, side, numbers)
        return numbers

    @jitable
    def scan(plan, node, scratch, span, picked, missing_inside):
        groups, bands, n_rows = scratch.groups, scratch.bands, node.rows.shape[0]
        n, n_known = size(plan, scratch, n_rows), groups.end[span.n_groups - 1]
        n_in, n_out = (span.n_missing, 0) if missing_inside else (0, span.n_missing)
        inside, outside = scratch.left[:n], scratch.right[:n]
        least_rows, least = plan.settings.min_samples_leaf, np.inf
        n_seen, n_scored, first = 0, 0, 0
        for a in range(-1, last_begin(span)):
            after_a, end_b = row_after(groups, span, a), last_of(span, a)
            numbers, done, n_here = empty(inside), after_a, 0
            numbers = put_between(plan, scratch, n_known, n_known + n_in, inside, numbers)
            for b in range(a + 1, end_b):
                end = row_after(groups, span, b)
                numbers = put_between(plan, scratch, done, end, inside, numbers)
                done, i = end, first + b - a - 1
                bands.scores[i] = np.inf
                if is_listed(groups, span, a, b, least_rows):
                    is_picked = picked < 0 or picked == n_seen
                    n_scored += is_picked
                    if is_picked and is_allowed(groups, span, a, b, least_rows, missing_inside):
                        n_here += 1
                        if numbers[0] >= node.min_weight:
                            bands.scores[i] = score(plan, scratch, inside, numbers)
                    n_seen += 1
            numbers, done = empty(outside), n_known + n_out
            if n_here > 0:
                numbers = put_between(plan, scratch, 0, after_a, outside, numbers)
            for b in range(end_b - 1, a if n_here > 0 else end_b - 1, -1):
                start = row_after(groups, span, b)
                numbers = put_between(plan, scratch, start, done, outside, numbers)
                done, i = start, first + b - a - 1
                if bands.scores[i] < np.inf:
                    heavy = numbers[0] >= node.min_weight
                    other = score(plan, scratch, outside, numbers) if heavy else np.inf
                    bands.scores[i] += other
                    least = min(least, bands.scores[i])
            first += end_b - 1 - a
        return least, n_scored

    return scan


def make_scan_sides(scan: Callable, add_missing: Callable, missing: Missing) -> Callable:
    """What scores the bands on the sides that are tried, given what does so on one."""
    tried, branches = len(missing.sides) > 0, missing.branches

    @jitable
    def scan_sides(plan, node, scratch, span, picked, dense, some_missing):
        bands = scratch.bands
        if not tried or not some_missing:
            return scan(plan, node, scratch, span, picked, False)
        n = (span.n_places + 1) * span.n_places // 2 + (1 if span.asks else 0)
        least, n_scored = np.inf, 0
        for turn in range(1 if branches else 2):  # a loop, so that it is compiled once
            least, n_scored = scan(plan, node, scratch, span, picked, turn == 1)
            if turn == 0:
                for i in range(n):
                    bands.if_right[i] = bands.scores[i]
        if branches:
            more = add_missing(plan, node, scratch, span.n_groups, dense) if least < np.inf else 0.0
            for i in range(n):
                bands.scores[i] += more
            return least + more, n_scored
        for i in range(n):
            bands.scores[i] = min(bands.scores[i], bands.if_right[i])
            least = min(least, bands.scores[i])
        return least, n_scored

    return scan_sides


def make_middle(learner: Learner, missing: Missing, number_after: Callable) -> Callable:
    """What finds where the typical value lies, if it decides: it is above the cuts at so many
    places."""
    decides = len(missing.sides) > 0 and missing.by_typical
    typical_of, lies_left = learner.typical, learner.lies_left

    @jitable
    def middle(plan, node, scratch, candidate, first_key, n_places):
        if not decides:
            return -1
        groups, typical = scratch.groups, typical_of(plan, node, scratch, candidate)
        low, high = 0, n_places
        while low < high:
            place = (low + high) >> 1
            key = first_key + groups.key[groups.cuts[place]]
            number = number_after(plan, node, scratch, candidate, first_key, place)
            if lies_left(typical, -1, key, -np.inf, number):
                high = place
            else:
                low = place + 1
        return low

    return middle


@jitable
def first_within(scratch, span, most):
    """The first band with no more than this score: a, b, and where it stands."""
    i = 0
    for a in range(-1, last_begin(span)):
        for b in range(a + 1, last_of(span, a)):
            if scratch.bands.scores[i] <= most:
                return a, b, i
            i += 1
    return -1, -1, -1


def make_evaluate_bands(
    learner: Learner,
    criterion: Criterion | Entered | Several,
    missing: Missing,
    counted: bool,
) -> Callable:
    """As `node.make_evaluate`, of questions with two cuts."""
    group, ends = make_group(learner, missing), learner.ends
    if isinstance(criterion, Criterion):
        scan_side, in_bins = make_scan_bands(criterion), True
    else:
        scan_side, in_bins = make_scan_entered(criterion), False
    scan = make_scan_sides(scan_side, make_add_missing(criterion), missing)
    tried, branches, asks = len(missing.sides) > 0, missing.branches, missing.asks

    @jitable
    def number_after(plan, node, scratch, candidate, first_key, place):
        """Where a cut after a place lies."""
        groups = scratch.groups
        g = groups.cuts[place]
        below = ends(plan, node, scratch, candidate, first_key + groups.key[g])[1]
        above = ends(plan, node, scratch, candidate, first_key + groups.key[g + 1])[0]
        return cut_between(below, above, plan.settings.midpoint)

    middle_of = make_middle(learner, missing, number_after)

    @jitable
    def span_of(plan, node, scratch, candidate, grouped, n_places, some_missing):
        if not some_missing:
            return Span(grouped.n_groups, 0, n_places, False, -1)
        n_known = grouped.n_groups - 1
        n_missing = node.rows.shape[0] - scratch.groups.end[n_known - 1]
        middle = middle_of(plan, node, scratch, candidate, grouped.first_key, n_places)
        return Span(n_known, 0 if branches else n_missing, n_places, asks, middle)

    @jitable
    def evaluate(plan, node, scratch, candidate, least_so_far, pick):
        groups, settings = scratch.groups, plan.settings
        grouped = group(plan, node, scratch, candidate, in_bins)
        n_groups, first_key = grouped.n_groups, grouped.first_key
        if n_groups == 1:
            return nothing()
        some_missing = tried and grouped.last_key > grouped.last_known
        n_groups -= 1 if some_missing else 0
        n_places = list_places(groups, n_groups)
        if settings.n_thresholds > 0:
            key = stream(node.key, THRESHOLDS + np.uint64(candidate))
            n_places = thin(groups, n_places, settings.n_thresholds, key)
        span = span_of(plan, node, scratch, candidate, grouped, n_places, some_missing)
        if in_bins:
            hold(scratch, n_groups, n_places, grouped.dense)
            if some_missing:
                hold_missing(scratch, n_groups, grouped.dense)
        picked = -1
        if pick >= 0:
            n = n_listed(groups, span, settings.min_samples_leaf)
            picked = draw_below(stream(node.key, PARAMETERS), pick, n)
        best, n_scored = scan(plan, node, scratch, span, picked, grouped.dense, some_missing)
        empty_if_dense(scratch, grouped)
        if counted:
            scratch.scored[0] += n_scored
        if not best <= least_so_far + node.tie or best == np.inf:
            return nothing()
        a, b, i = first_within(scratch, span, best + node.tie)
        low, cut_low = -1, -np.inf
        if a >= 0:
            low = first_key + groups.key[groups.cuts[a]]
            cut_low = number_after(plan, node, scratch, candidate, first_key, a)
        high, cut_high = grouped.last_known, np.inf  # it is known
        if b < n_places:
            high = first_key + groups.key[groups.cuts[b]]
            cut_high = number_after(plan, node, scratch, candidate, first_key, b)
        side = UNSEEN
        if some_missing:
            outside = scratch.bands.if_right[i] <= scratch.bands.scores[i] + node.tie
            side = BOTH if branches else RIGHT if outside else LEFT
        return Question(best, candidate, low, high, cut_low, cut_high, side)

    return evaluate

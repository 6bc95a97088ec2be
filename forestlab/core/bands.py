"""Bands: questions with two cuts, of which rows in between go left.

The cuts of a band lie at *places* between groups. A node with more than SEGMENTS groups has only so
many stretches of about as many rows, at whose ends cuts may lie; up to that a search over all pairs
of places is exhaustive. Places cut the groups into *segments* 0 … m; the band (a, b] holds the
segments a + 1 … b. It may begin before the first segment (a = -1), which is a plain cut, but does
not hold the last: then it would be the rest of another band.

Each side is summed from what segments hold, never by taking away, as in `search.scan_ends`. Sides
that rows enter one by one are filled anew for each a: the band upwards from a, and what lies
outside it downwards from the last place, so that the rows enter 64 times at most.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.arrays import UNSEEN
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
def is_allowed(groups, n_groups, a, b, least):
    """Does the band (a, b] leave enough rows inside and outside?"""
    inside = groups.end[groups.cuts[b]] - (groups.end[groups.cuts[a]] if a >= 0 else 0)
    return inside >= least <= groups.end[n_groups - 1] - inside


@jitable
def n_allowed(groups, n_groups, n_places, least):
    n = 0
    for a in range(-1, n_places - 1):
        for b in range(a + 1, n_places):
            n += 1 if is_allowed(groups, n_groups, a, b, least) else 0
    return n


def make_scan_bands(criterion: Criterion) -> Callable:
    add, score = criterion.add, criterion.score

    @jitable
    def add_held(amounts, side, numbers):
        for k in range(amounts.shape[0]):
            if amounts[k] != 0.0:
                numbers = add(side, k, amounts[k], numbers)
        return numbers

    @jitable
    def scan(plan, node, scratch, n_groups, n_places, picked):
        """Score the bands, or only that of a number among those allowed; return the least score and
        how many were scored."""
        groups, bands, inside, outside = scratch.groups, scratch.bands, scratch.left, scratch.right
        least_rows, least = plan.settings.min_samples_leaf, np.inf
        n_seen, n_scored, i = 0, 0, 0
        for a in range(-1, n_places - 1):
            inside_numbers = empty(inside)
            for b in range(a + 1, n_places):
                inside_numbers = add_held(bands.held[b], inside, inside_numbers)
                bands.scores[i] = np.inf
                if is_allowed(groups, n_groups, a, b, least_rows):
                    if picked < 0 or picked == n_seen:
                        outside_numbers = empty(outside)
                        for k in range(outside.shape[0]):
                            amount = bands.after[b + 1, k]
                            if a >= 0:
                                amount += bands.before[a, k]
                            if amount != 0.0:
                                outside_numbers = add(outside, k, amount, outside_numbers)
                        n_scored += 1
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
    def row_of_cut(groups, n_groups, place, n_places):
        """Where the rows after a place begin."""
        if place < 0:
            return np.int64(0)
        return groups.end[groups.cuts[place]] if place < n_places else groups.end[n_groups - 1]

    @jitable
    def scan(plan, node, scratch, n_groups, n_places, picked):
        groups, bands, n_rows = scratch.groups, scratch.bands, node.rows.shape[0]
        n = size(plan, scratch, n_rows)
        inside, outside = scratch.left[:n], scratch.right[:n]
        least_rows, least = plan.settings.min_samples_leaf, np.inf
        n_seen, n_scored, first = 0, 0, 0
        for a in range(-1, n_places - 1):
            after_a = row_of_cut(groups, n_groups, a, n_places)
            numbers, done, n_here = empty(inside), after_a, 0
            for b in range(a + 1, n_places):
                end = row_of_cut(groups, n_groups, b, n_places)
                numbers = put_between(plan, scratch, done, end, inside, numbers)
                done, i = end, first + b - a - 1
                bands.scores[i] = np.inf
                if is_allowed(groups, n_groups, a, b, least_rows):
                    if picked < 0 or picked == n_seen:
                        n_here += 1
                        if numbers[0] >= node.min_weight:
                            bands.scores[i] = score(plan, scratch, inside, numbers)
                    n_seen += 1
            numbers, done = empty(outside), n_rows
            if n_here > 0:
                numbers = put_between(plan, scratch, 0, after_a, outside, numbers)
            for b in range(n_places - 1, a if n_here > 0 else n_places - 1, -1):
                start = row_of_cut(groups, n_groups, b, n_places)
                numbers = put_between(plan, scratch, start, done, outside, numbers)
                done, i = start, first + b - a - 1
                if bands.scores[i] < np.inf:
                    heavy = numbers[0] >= node.min_weight
                    other = score(plan, scratch, outside, numbers) if heavy else np.inf
                    bands.scores[i] += other
                    least = min(least, bands.scores[i])
            n_scored += n_here
            first += n_places - 1 - a
        return least, n_scored

    return scan


@jitable
def first_within(scratch, n_places, most):
    """The first band with no more than this score."""
    i = 0
    for a in range(-1, n_places - 1):
        for b in range(a + 1, n_places):
            if scratch.bands.scores[i] <= most:
                return a, b
            i += 1
    return -1, -1


def make_evaluate_bands(
    learner: Learner,
    criterion: Criterion | Entered | Several,
    missing: Missing,
    counted: bool,
) -> Callable:
    """As `node.make_evaluate`, of questions with two cuts."""
    if missing.sides:
        raise ValueError("bands cannot do with missing values")
    group, ends = make_group(learner, missing), learner.ends
    if isinstance(criterion, Criterion):
        scan, in_bins = make_scan_bands(criterion), True
    else:
        scan, in_bins = make_scan_entered(criterion), False

    @jitable
    def number_after(plan, node, scratch, candidate, first_key, place):
        """Where a cut after a place lies."""
        groups = scratch.groups
        g = groups.cuts[place]
        below = ends(plan, node, scratch, candidate, first_key + groups.key[g])[1]
        above = ends(plan, node, scratch, candidate, first_key + groups.key[g + 1])[0]
        return cut_between(below, above, plan.settings.midpoint)

    @jitable
    def evaluate(plan, node, scratch, candidate, least_so_far, pick):
        groups, settings = scratch.groups, plan.settings
        grouped = group(plan, node, scratch, candidate, in_bins)
        n_groups, first_key = grouped.n_groups, grouped.first_key
        if n_groups == 1:
            return nothing()
        n_places = list_places(groups, n_groups)
        if settings.n_thresholds > 0:
            key = stream(node.key, THRESHOLDS + np.uint64(candidate))
            n_places = thin(groups, n_places, settings.n_thresholds, key)
        if in_bins:
            hold(scratch, n_groups, n_places, grouped.dense)
        empty_if_dense(scratch, grouped)
        picked = -1
        if pick >= 0:
            n = n_allowed(groups, n_groups, n_places, settings.min_samples_leaf)
            if n == 0:
                return nothing()
            picked = draw_below(stream(node.key, PARAMETERS), pick, n)
        best, n_scored = scan(plan, node, scratch, n_groups, n_places, picked)
        if counted:
            scratch.scored[0] += n_scored
        if not best <= least_so_far + node.tie or best == np.inf:
            return nothing()
        a, b = first_within(scratch, n_places, best + node.tie)
        low, cut_low = -1, -np.inf
        if a >= 0:
            low = first_key + groups.key[groups.cuts[a]]
            cut_low = number_after(plan, node, scratch, candidate, first_key, a)
        high = first_key + groups.key[groups.cuts[b]]
        cut_high = number_after(plan, node, scratch, candidate, first_key, b)
        return Question(best, candidate, low, high, cut_low, cut_high, UNSEEN)

    return evaluate

"""Numbers of a node's rows, in groups.

Keys are local to the node: the ranks of the numbers, or, if the search is binned and the node
large, the places of `local_bins` equal stretches of their range. A number is missing (NaN) if a
value is that it is made of; such rows are one more group, behind all others.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.groups import NO_KEY, Grouped, group_keys
from forestlab.core.jit import jitable
from forestlab.core.sorting import sort_along


@jitable
def is_binned(settings, n_rows):
    return 0 < settings.local_bins < n_rows


@jitable
def ends_of(numbers, n_rows):
    least, greatest = numbers[0], numbers[0]
    for i in range(1, n_rows):
        least, greatest = min(least, numbers[i]), max(greatest, numbers[i])
    return least, greatest


@jitable
def group_ranks(scratch, n_rows, least, greatest):
    """Sort rows by their numbers; rows of equal numbers are a group, and its rank their key."""
    groups, projections = scratch.groups, scratch.projections
    into, spare = (projections.sorted, groups.order), (projections.spare, groups.buffer)
    sort_along(projections.numbers, n_rows, least, greatest, groups.tally, into, spare)
    numbers, order = into
    g = 0
    for i in range(n_rows):
        g += 1 if i > 0 and numbers[i] != numbers[i - 1] else 0
        groups.keys[order[i]] = g
        groups.key[g] = g
        groups.end[g] = i + 1
    return Grouped(g + 1, 0, g, g, False)


@jitable
def group_stretches(scratch, n_rows, least, greatest, n_bins, in_bins):
    """Rows whose numbers lie in one of n_bins equal stretches of the range are a group."""
    numbers, keys = scratch.projections.numbers, scratch.groups.keys
    per_stretch = n_bins / (greatest - least)
    if not per_stretch < np.inf:  # there is no room between them
        return Grouped(1, 0, 0, 0, False)
    for i in range(n_rows):
        keys[i] = min(np.int64((numbers[i] - least) * per_stretch), n_bins - 1)
    return group_keys(scratch, n_rows, 0, n_bins - 1, n_bins - 1, in_bins)


def make_group(find_numbers: Callable) -> Callable:
    @jitable
    def group(plan, node, scratch, candidate, in_bins):
        n_rows = node.rows.shape[0]
        find_numbers(plan, node, scratch, candidate)
        least, greatest = ends_of(scratch.projections.numbers, n_rows)
        if least == greatest:
            return Grouped(1, 0, 0, 0, False)
        if is_binned(plan.settings, n_rows):
            n_bins = plan.settings.local_bins
            return group_stretches(scratch, n_rows, least, greatest, n_bins, in_bins)
        return group_ranks(scratch, n_rows, least, greatest)

    return group


# ---- where some are missing --------------------------------------------------------------------


@jitable
def known_ends(groups, numbers, n_rows):
    """The least and the greatest number that is known, and how many are; of the others the key is
    NO_KEY, and it is 0 of these."""
    least, greatest, n_known = np.inf, -np.inf, 0
    for i in range(n_rows):
        groups.keys[i] = NO_KEY
        if not np.isnan(numbers[i]):
            groups.keys[i] = 0
            least, greatest = min(least, numbers[i]), max(greatest, numbers[i])
            n_known += 1
    return least, greatest, n_known


@jitable
def rank_some(scratch, n_rows, least, greatest, n_known):
    """As `group_ranks`. Missing numbers are sorted as the greatest, and then put behind it."""
    groups, projections = scratch.groups, scratch.projections
    numbers, keys, order = projections.numbers, groups.keys, groups.order
    for i in range(n_rows):
        numbers[i] = greatest if keys[i] == NO_KEY else numbers[i]
    into, spare = (projections.sorted, order), (projections.spare, groups.buffer)
    sort_along(numbers, n_rows, least, greatest, groups.tally, into, spare)
    n_kept, n_put = 0, n_known
    for i in range(n_rows):
        row = order[i]
        if keys[row] == NO_KEY:
            groups.buffer[n_put] = row
            numbers[row] = np.nan
            n_put += 1
        else:
            order[n_kept] = row
            n_kept += 1
    for i in range(n_known, n_rows):
        order[i] = groups.buffer[i]
    g = 0
    for i in range(n_rows):
        if i > 0:
            ahead = i == n_known or (i < n_known and numbers[order[i]] != numbers[order[i - 1]])
            g += 1 if ahead else 0
        keys[order[i]] = g
        groups.key[g] = g
        groups.end[g] = i + 1
    return Grouped(g + 1, 0, g - 1, g, False)


@jitable
def stretch_some(scratch, n_rows, least, greatest, n_bins, in_bins):
    """As `group_stretches`; of one stretch, if numbers leave no room or are all the same."""
    numbers, keys = scratch.projections.numbers, scratch.groups.keys
    per_stretch = n_bins / (greatest - least) if greatest > least else np.inf
    if not per_stretch < np.inf:
        per_stretch, n_bins = 0.0, 1
    for i in range(n_rows):
        if keys[i] == NO_KEY:
            keys[i] = n_bins
        else:
            keys[i] = min(np.int64((numbers[i] - least) * per_stretch), n_bins - 1)
    return group_keys(scratch, n_rows, 0, n_bins - 1, n_bins, in_bins)


def make_group_some(find_numbers: Callable) -> Callable:
    group_known = make_group(find_numbers)

    @jitable
    def group(plan, node, scratch, candidate, in_bins):
        """As that of `make_group`, where numbers may be missing."""
        n_rows = node.rows.shape[0]
        find_numbers(plan, node, scratch, candidate)
        least, greatest, n_known = known_ends(scratch.groups, scratch.projections.numbers, n_rows)
        if n_known == n_rows:
            return group_known(plan, node, scratch, candidate, in_bins)
        if n_known == 0:
            return Grouped(1, 0, 0, 0, False)
        if least == greatest or is_binned(plan.settings, n_rows):
            n_bins = max(plan.settings.local_bins, 1)
            return stretch_some(scratch, n_rows, least, greatest, n_bins, in_bins)
        return rank_some(scratch, n_rows, least, greatest, n_known)

    return group


@jitable
def number_lacks(plan, scratch, question, i, row):
    return np.isnan(scratch.projections.numbers[i])


# ---- questions ---------------------------------------------------------------------------------


@jitable
def local_ends(plan, node, scratch, candidate, key):
    """Of a rank, its number; of a stretch, the least and the greatest in it. These are only asked
    for where a cut is the best so far, so it is quicker to look for them then."""
    groups, projections, n_rows = scratch.groups, scratch.projections, node.rows.shape[0]
    if not is_binned(plan.settings, n_rows):
        number = projections.sorted[groups.end[key] - 1]
        return number, number
    least, greatest = np.inf, -np.inf
    for i in range(n_rows):
        if groups.keys[i] == key:
            number = projections.numbers[i]
            least, greatest = min(least, number), max(greatest, number)
    return least, greatest


def make_ready(find_numbers: Callable) -> Callable:
    @jitable
    def ready(plan, node, scratch, question):
        """Those of the last candidate were written over."""
        find_numbers(plan, node, scratch, question.candidate)

    return ready


@jitable
def number_left(plan, scratch, question, i, row):
    return question.cut_low < scratch.projections.numbers[i] <= question.cut_high

"""Numbers of a node's rows, in groups.

Keys are local to the node: the ranks of the numbers, or, if the search is binned and the node
large, the places of `local_bins` equal stretches of their range.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.groups import Grouped, group_keys
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

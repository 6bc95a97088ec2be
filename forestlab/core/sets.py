"""Sets of levels that a node may ask about, as cuts.

Sets have numbers, and a *way* says what a number means:

- BEGINNINGS: so many levels, and one more, from the beginning of an order;
- SINGLES: the level of that number, of those in the node; one past the last: all that are known;
- MASKS: a bit for each level of the node.

What scores cuts of ordered groups scores sets too, once the levels are *arranged* such that those
of a set stand first. The beginnings of an order are so arranged for all cuts at once, any other set
by itself. Missing values are one more group, behind all levels, and stay there::

    levels   a b c d | missing        an order:  c a d b | missing     cuts: c, ca, cad, cadb
                                      a set:     b d | a c | missing   its cut: bd
"""

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.missing import admits_either
from forestlab.core.rng import THRESHOLDS, draw_unit, stream

BEGINNINGS, SINGLES, MASKS = 0, 1, 2


# ---- arranging ---------------------------------------------------------------------------------


@jitable
def note_groups(scratch, grouped):
    """Keep the groups as they are, in the order of their levels, before they are arranged."""
    groups, categories = scratch.groups, scratch.categories
    n_groups = grouped.n_groups
    for g in range(n_groups):
        categories.level[g] = groups.key[g]
        categories.start[g] = groups.end[g - 1] if g > 0 else 0
        categories.places[g] = g
    categories.start[n_groups] = groups.end[n_groups - 1]
    if not grouped.dense:
        for i in range(groups.end[n_groups - 1]):
            groups.buffer[i] = groups.order[i]


@jitable
def arrange(scratch, dense, n_known):
    """Have the groups of known levels stand as `places` says."""
    groups, categories = scratch.groups, scratch.categories
    places, start, level = categories.places, categories.start, categories.level
    n_put = 0
    for place in range(n_known):
        g = places[place]
        groups.key[place] = level[g]
        if not dense:
            for i in range(start[g], start[g + 1]):
                groups.order[n_put + i - start[g]] = groups.buffer[i]
        n_put += start[g + 1] - start[g]
        groups.end[place] = n_put


@jitable
def arrange_set(scratch, dense, n_known, way, number):
    """Have the levels of a set stand first; return how many there are."""
    places, n_put, n_members = scratch.categories.places, 0, 0
    for inside in (True, False):
        for g in range(n_known):
            if holds(way, number, n_known, g, g) == inside:
                places[n_put] = g
                n_put += 1
                n_members += inside
    arrange(scratch, dense, n_known)
    return n_members


@jitable
def holds(way, number, n_known, place, g):
    """Does the set of a number hold the level that stands at a place, group g?"""
    if way == BEGINNINGS:
        return place <= number
    if way == SINGLES:
        return g == number or number == n_known
    return (number >> g) & 1 == 1


# ---- listing -----------------------------------------------------------------------------------


@jitable
def is_enough(scratch, way, number, look, least):
    """Does a set leave enough rows on both sides, whichever way missing ones go?"""
    if way == BEGINNINGS:
        return admits_either(scratch.groups, look, number, least)
    start, n_known = scratch.categories.start, look.n_known
    first, end = (0, n_known) if way == MASKS or number == n_known else (number, number + 1)
    inside = 0
    for g in range(first, end):
        if way == SINGLES or holds(way, number, n_known, g, g):
            inside += start[g + 1] - start[g]
    outside, n_missing = start[n_known] - inside, start[look.n_groups] - start[n_known]
    if inside >= least <= outside + n_missing:
        return True
    return n_missing > 0 and inside + n_missing >= least <= outside


@jitable
def numbers_of(way, n_known):
    """The first number of a set, the one past the last, and that of all that is known. Of two sets
    that part the levels alike one has a number."""
    if way == BEGINNINGS:
        return 0, n_known - 1, n_known - 1
    if way == SINGLES:
        return 0, n_known if n_known > 2 else n_known - 1, n_known
    return 1, 1 << (n_known - 1), (1 << n_known) - 1


@jitable
def list_all(scratch, way, look, least, asks):
    """List the sets that leave enough rows, and "is it known?" if one `asks`; return how many."""
    cuts, n_cuts = scratch.groups.cuts, 0
    first, end, all_known = numbers_of(way, look.n_known)
    for number in range(first, end):
        if is_enough(scratch, way, number, look, least):
            cuts[n_cuts] = number
            n_cuts += 1
    asks &= look.n_known < look.n_groups
    if asks and is_enough(scratch, way, all_known, look, least):
        cuts[n_cuts] = all_known
        n_cuts += 1
    return n_cuts


@jitable
def list_drawn(plan, node, scratch, way, look):
    """List sets drawn at random, each once, in order; return how many. Of one level and missing
    values there is but "is it known?"."""
    cuts, least = scratch.groups.cuts, plan.settings.min_samples_leaf
    key = stream(node.key, THRESHOLDS + np.uint64(look.candidate))
    n_choices = max(look.n_known if way == SINGLES else look.n_known - 1, 1)
    n_draws = 1 if look.pick >= 0 else min(max(plan.settings.n_thresholds, 1), node.rows.shape[0])
    n_cuts = 0
    for i in range(n_draws):
        number = np.int64(draw_unit(key, look.pick if look.pick >= 0 else i) * n_choices)
        j = n_cuts
        while j > 0 and cuts[j - 1] > number:
            j -= 1
        is_old = j > 0 and cuts[j - 1] == number
        if is_old or not is_enough(scratch, way, number, look, least):
            continue
        for k in range(n_cuts, j, -1):
            cuts[k] = cuts[k - 1]
        cuts[j] = number
        n_cuts += 1
    return n_cuts

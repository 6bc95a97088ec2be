"""What the levels of a column of categories hold in a node, and the order that it puts them in.

A *level* is one of a column's categories; its number is its code. Its *profile* is what the rows of
the level contribute together, a number a slot (see criteria). In *line* are levels that one number
each puts in order: the mean of one target, or the share of one of two classes. Else the order is
that along the first principal component of what levels hold: the means of several targets, or the
shares of classes (Coppersmith, Hong and Hosking 1999).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from forestlab.core.groups import MOST_SETS, POSITION
from forestlab.core.jit import jitable

EVERY = 8  # levels of which every set may be looked at: half as many as MOST_SETS, and one
STEPS = 24  # of the power iteration that finds a principal component
MOST_BITS = 2**26  # words of a pool at first; trees that need more are grown again with more


class Categories(NamedTuple):
    """Scratch of one thread. Groups are the node's levels; the last may be of missing values."""

    profiles: np.ndarray  # (most levels in a node, n_slots) float64
    weights: np.ndarray  # float64: of each level
    values: np.ndarray  # float64: by which levels are put in order
    direction: np.ndarray  # (n_slots,) float64: a principal component
    turned: np.ndarray  # (n_slots,) float64
    level: np.ndarray  # int64: of each group, counted from the first key
    start: np.ndarray  # int64: where the rows of each group begin, and where those of the last end
    places: np.ndarray  # int64: the group that stands at each place
    way: np.ndarray  # (1,) int64: what the numbers of sets mean, see sets
    sets: np.ndarray  # int64: those that are scored
    scores: np.ndarray  # float64: the score of each
    sides: np.ndarray  # int64: where missing values go at each
    side: np.ndarray  # (most levels,) uint8: of each level, at the question that is asked
    mass: np.ndarray  # (most levels,) float64: the weight of each level
    bits: np.ndarray  # uint64: the growing tree's pool
    n_bits: np.ndarray  # (1,) int64: how much of it is used, or would be
    numeric: np.ndarray  # int64: the tree's features that are numbers
    n_numeric: np.ndarray  # (1,) int64
    around: np.ndarray  # (…, numbers of a side) float64: sides without a level, see singles
    numbers_around: np.ndarray  # (…, 3) float64: their numbers


def make_categories(
    n_rows: int, n_features: int, n_levels: int, n_slots: int, most_nodes: int, more: int
) -> Categories:
    """For columns of at most `n_levels` levels, with `more` room for sets than at first."""
    most = min(n_rows, n_levels) + 2
    n_kept = most.bit_length() + 1
    n_sets = max(most, MOST_SETS)
    n_bits = most_nodes // 2 * (1 + 2 * words_for(n_levels))
    return Categories(
        np.empty((most, n_slots)),
        np.empty(most),
        np.empty(most),
        np.empty(n_slots),
        np.empty(n_slots),
        np.empty(most, np.int64),
        np.empty(most + 1, np.int64),
        np.empty(most, np.int64),
        np.zeros(1, np.int64),
        np.empty(n_sets, np.int64),
        np.empty(n_sets),
        np.empty(n_sets, np.int64),
        np.empty(n_levels, np.uint8),
        np.empty(n_levels),
        np.empty(min(n_bits, more * MOST_BITS), np.uint64),
        np.zeros(1, np.int64),
        np.empty(n_features, np.int64),
        np.zeros(1, np.int64),
        # A side of sums has at most three numbers more for each of several targets.
        np.empty((n_kept, 4 * n_slots)),
        np.empty((n_kept, 3)),
    )


@jitable
def words_for(n_levels):
    """Words that hold a bit for each level."""
    return (n_levels + 63) >> 6


# ---- what they hold ----------------------------------------------------------------------------


@jitable
def fill_profiles(scratch, dense, n_known):
    """What the rows of each known level contribute together."""
    groups, profiles, start = scratch.groups, scratch.categories.profiles, scratch.categories.start
    n_slots, n_parts = profiles.shape[1], scratch.slots.shape[1]
    for g in range(n_known):
        for k in range(n_slots):
            profiles[g, k] = groups.bins[groups.key[g] * n_slots + k] if dense else 0.0
        if dense:
            continue
        for place in range(start[g], start[g + 1]):
            i = groups.order[place] & POSITION
            for part in range(n_parts):
                profiles[g, scratch.slots[i, part]] += scratch.amounts[i, part]


@jitable
def class_weight(scratch, g):
    """The weight of a level's rows: each adds it once for every target."""
    profiles, total = scratch.categories.profiles, 0.0
    for k in range(profiles.shape[1]):
        total += profiles[g, k]
    return total / scratch.slots.shape[1]


@jitable
def moment_weight(scratch, g):
    return scratch.categories.profiles[g, 0]


@jitable
def class_line(scratch, n_known):
    """The slot whose share orders the levels, if there are no more than two classes; else -1."""
    profiles, n_present, last = scratch.categories.profiles, 0, 0
    for k in range(profiles.shape[1]):
        total = 0.0
        for g in range(n_known):
            total += profiles[g, k]
        if total > 0.0:
            n_present += 1
            last = k
    return last if n_present <= 2 and scratch.slots.shape[1] == 1 else -1


@jitable
def moment_line(scratch, n_known):
    """The slot whose mean orders the levels, if there is one target; else -1."""
    return 1 if scratch.categories.profiles.shape[1] == 2 else -1


def make_values(task: str) -> tuple[Callable, Callable, Callable]:
    """What finds the slot by which levels are in line, what fills their profiles, and what finds a
    number for each of them, given these."""
    is_class = task == "classification"
    weight_of = class_weight if is_class else moment_weight
    find_line = class_line if is_class else moment_line
    first_slot = 0 if is_class else 1

    @jitable
    def find_values(scratch, n_known, line):
        """values[g] = the number by which known level g is put in order."""
        categories = scratch.categories
        profiles, values = categories.profiles, categories.values
        if line >= 0:
            for g in range(n_known):
                values[g] = profiles[g, line] / weight_of(scratch, g)
            return
        centre_profiles(scratch, n_known)
        find_direction(categories, n_known)
        for g in range(n_known):
            values[g] = along(categories, g)

    @jitable
    def centre_profiles(scratch, n_known):
        """Profiles become shares or means, less those of all levels together."""
        categories = scratch.categories
        profiles, weights = categories.profiles, categories.weights
        total = 0.0
        for g in range(n_known):
            weights[g] = weight_of(scratch, g)
            total += weights[g]
        for k in range(profiles.shape[1]):
            centre = 0.0
            for g in range(n_known):
                centre += profiles[g, k]
            for g in range(n_known):
                here = profiles[g, k] / weights[g] - centre / total
                profiles[g, k] = here if k >= first_slot else 0.0

    return find_line, fill_profiles, find_values


@jitable
def along(categories, g):
    """How far level g lies along the direction."""
    profiles, total = categories.profiles, 0.0
    for k in range(profiles.shape[1]):
        total += profiles[g, k] * categories.direction[k]
    return total


@jitable
def find_direction(categories, n_known):
    """The first principal component of the profiles, by power iteration from the slot that varies
    most. Its greatest number is 1."""
    profiles, weights, direction = categories.profiles, categories.weights, categories.direction
    turned, n_slots = categories.turned, profiles.shape[1]
    widest, most = 0, -1.0
    for k in range(n_slots):
        spread = 0.0
        for g in range(n_known):
            spread += weights[g] * profiles[g, k] * profiles[g, k]
        if spread > most:
            widest, most = k, spread
    for k in range(n_slots):
        direction[k] = 1.0 if k == widest else 0.0
    for _ in range(STEPS):
        for k in range(n_slots):
            turned[k] = 0.0
        for g in range(n_known):
            reach = weights[g] * along(categories, g)
            for k in range(n_slots):
                turned[k] += reach * profiles[g, k]
        greatest = 0
        for k in range(n_slots):
            greatest = k if abs(turned[k]) > abs(turned[greatest]) else greatest
        if turned[greatest] == 0.0:
            return
        for k in range(n_slots):
            direction[k] = turned[k] / turned[greatest]


# ---- their order -------------------------------------------------------------------------------


@jitable
def sort_places(categories, n):
    """Sort the places of known levels by their values, equal ones by level, by Shell's method."""
    places, values = categories.places, categories.values
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            g, j = places[i], i
            while j >= gap and comes_after(values, places[j - gap], g):
                places[j] = places[j - gap]
                j -= gap
            places[j] = g
        gap //= 3


@jitable
def comes_after(values, g, other):
    return values[g] > values[other] or (values[g] == values[other] and g > other)

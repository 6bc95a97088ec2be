"""The first steps of a shuffle of many numbers, in memory for those steps alone.

A Fisher-Yates shuffle of 0 … n - 1 needs a list of n; but after k steps all but 2 k places hold
their own number still. So only what was swapped is kept: a table of (place, what stands there) with
open addressing, at most half full.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.jit import jitable
from forestlab.core.rng import draw_among, mix

EMPTY = -1


class Swapped(NamedTuple):
    places: np.ndarray  # int64, a power of two of them, twice as many as steps; EMPTY: none
    items: np.ndarray  # int64: the number that stands at each of these places


def make_swapped(most_steps: int) -> Swapped:
    room = 1 << (2 * most_steps).bit_length() if most_steps else 0
    return Swapped(np.empty(room, np.int64), np.empty(room, np.int64))


@jitable
def find_place(places, place):
    """Where in the table a place is, or would be."""
    last = np.uint64(places.shape[0] - 1)
    i = mix(np.uint64(place)) & last
    while places[i] != EMPTY and places[i] != place:
        i = (i + np.uint64(1)) & last
    return i


@jitable
def first_of_shuffled(drawn, n_drawn, swapped, n, key):
    """Write the first of the shuffled numbers 0 … n - 1 to `drawn`: a uniform subset, in random
    order. Those for k are the first k of those for k + 1."""
    places, items = swapped.places, swapped.items
    for i in range(places.shape[0]):
        places[i] = EMPTY
    for i in range(n_drawn):
        j = i + draw_among(key, i, n - i)
        at_i = find_place(places, i)
        here = items[at_i] if places[at_i] == i else i
        at_j = find_place(places, j)
        drawn[i] = items[at_j] if places[at_j] == j else j
        places[at_j], items[at_j] = j, here

"""Sorts that allocate nothing.

Many numbers are first spread over as many *buckets*, equal stretches of their range: spread evenly,
each then has one or two, and a last insertion sort is all that is left to do. Buckets that hold
many, as where a few numbers lie far out, are sorted by merging before that; one of equal numbers is
in order as it is. Of 3,000 numbers this takes a third of the time of merging alone. Few numbers are
ranked: each counts those before it, without a branch to mispredict.
"""

import numpy as np

from forestlab.core.jit import jitable

RUN = 16  # so many in a row are put in order by insertion
RANKED = 20  # up to so many are ranked: of more it takes longer than to spread them


@jitable
def sort_along(numbers, n, least, greatest, buckets, into, spare):
    """Sort n numbers that differ; equal ones stay in order.

    `into` and `spare` are pairs of arrays: numbers, and the places where these stood. `buckets` are
    n counts, which are 0 before and after.
    """
    by_number, places = into
    per_stretch = (n - 1) / (greatest - least)
    if n <= RANKED:
        rank_along(numbers, n, by_number, places)
        return
    if not per_stretch < np.inf:
        per_stretch = 0.0  # there is no room for more than one
    for i in range(n):
        bucket = np.uint64(np.int64((numbers[i] - least) * per_stretch))
        buckets[bucket] += np.uint32(1)
    start, most = np.uint32(0), np.uint32(0)
    for b in range(n):
        held = buckets[b]
        buckets[b] = start
        start += held
        most = max(most, held)
    for i in range(n):
        bucket = np.uint64(np.int64((numbers[i] - least) * per_stretch))
        place = np.uint64(buckets[bucket])
        by_number[place], places[place] = numbers[i], i
        buckets[bucket] += np.uint32(1)
    if most > RUN:
        sort_large(by_number, places, spare, buckets, n)
    for b in range(n):  # written out: the assignment of a slice takes seconds to compile
        buckets[b] = 0
    insert_along(by_number, places, 0, n)


@jitable
def rank_along(numbers, n, by_number, places):
    """Put each number where it belongs: behind those that are less, and equal ones before it."""
    for i in range(n):
        number = numbers[i]
        rank = np.int64(0)
        for j in range(i):
            rank += numbers[j] <= number
        for j in range(i + 1, n):
            rank += numbers[j] < number
        by_number[rank], places[rank] = number, i


@jitable
def sort_large(by_number, places, spare, ends, n):
    """Sort the buckets that hold many; `ends` are theirs."""
    start = np.int64(0)
    for b in range(n):
        end = np.int64(ends[b])
        if end - start > RUN and not is_sorted(by_number, start, end):
            merge_sort(by_number, places, spare, start, end)
        start = end


@jitable
def is_sorted(numbers, start, end):
    for i in range(start + 1, end):
        if numbers[i] < numbers[i - 1]:
            return False
    return True


@jitable
def merge_sort(numbers, places, spare, start, end):
    """Sort the numbers from start to end, their places along with them.

    Runs put in order by insertion are merged, back and forth between the arrays and the spare ones.
    """
    spare_numbers, spare_places = spare
    for at in range(start, end, RUN):
        insert_along(numbers, places, at, min(at + RUN, end))
    width, is_spare = RUN, False
    while width < end - start:
        if is_spare:
            merge_runs(spare_numbers, spare_places, numbers, places, start, end, width)
        else:
            merge_runs(numbers, places, spare_numbers, spare_places, start, end, width)
        is_spare = not is_spare
        width *= 2
    if is_spare:
        for i in range(start, end):
            numbers[i], places[i] = spare_numbers[i], spare_places[i]


@jitable
def insert_along(numbers, places, start, end):
    for i in range(start + 1, end):
        number, place = numbers[i], places[i]
        j = i
        while j > start and numbers[j - 1] > number:
            numbers[j], places[j] = numbers[j - 1], places[j - 1]
            j -= 1
        numbers[j], places[j] = number, place


@jitable
def merge_runs(numbers, places, to_numbers, to_places, start, end, width):
    """Merge runs of a width, two and two.

    The side that is taken from is chosen without a branch, which half the items would mispredict.
    """
    for first in range(start, end, 2 * width):
        a, a_end = np.uint64(first), np.uint64(min(first + width, end))
        b, b_end = a_end, np.uint64(min(first + 2 * width, end))
        i = a
        while a < a_end and b < b_end:
            second = numbers[b] < numbers[a]
            taken = b if second else a
            to_numbers[i], to_places[i] = numbers[taken], places[taken]
            b += np.uint64(second)
            a += np.uint64(not second)
            i += np.uint64(1)
        while a < a_end:
            to_numbers[i], to_places[i] = numbers[a], places[a]
            a += np.uint64(1)
            i += np.uint64(1)
        while b < b_end:
            to_numbers[i], to_places[i] = numbers[b], places[b]
            b += np.uint64(1)
            i += np.uint64(1)

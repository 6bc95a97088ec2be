"""Sorts that allocate nothing."""

import numpy as np

from forestlab.core.jit import jitable

RUN = 16  # so many in a row are put in order by insertion


@jitable
def sort_along(numbers, places, spare_numbers, spare_places, n):
    """Sort the first n numbers, their places along with them; equal ones stay in order.

    Runs put in order by insertion are merged, back and forth between the arrays and the spare ones.
    """
    for start in range(0, n, RUN):
        insert_along(numbers, places, start, min(start + RUN, n))
    width, is_spare = RUN, False
    while width < n:
        if is_spare:
            merge_runs(spare_numbers, spare_places, numbers, places, n, width)
        else:
            merge_runs(numbers, places, spare_numbers, spare_places, n, width)
        is_spare = not is_spare
        width *= 2
    if is_spare:
        for i in range(n):
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
def merge_runs(numbers, places, to_numbers, to_places, n, width):
    """Merge runs of a width, two and two.

    The side that is taken from is chosen without a branch, which half the items would mispredict.
    """
    for start in range(0, n, 2 * width):
        a, a_end = np.uint64(start), np.uint64(min(start + width, n))
        b, b_end = a_end, np.uint64(min(start + 2 * width, n))
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

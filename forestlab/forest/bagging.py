"""The bags that trees were grown on, drawn again: nothing of them is kept."""

from collections import deque

import numpy as np

from forestlab.core.bag import bag_counts
from forestlab.forest.growing import Recipe, key_of
from forestlab.forest.threads import in_threads


def rows_outside(
    recipe: Recipe, n_rows: int, chances, seed: int, count: int, n_jobs: int = 1
) -> np.ndarray:
    """A bit for each tree and training row, set where the row was left out of the tree's bag."""

    def packed(t: int) -> np.ndarray:
        return np.packbits(_bag(recipe, n_rows, chances, seed, t) == 0, bitorder="little")

    return np.stack(list(in_threads(packed, range(count), n_jobs)))


def bags(
    recipe: Recipe, n_rows: int, chances, seed: int, count: int, n_jobs: int = 1
) -> np.ndarray:
    """How often each tree's bag holds each training row, (count, n_rows); 1 without bags.

    Of the smallest unsigned type that holds the bag's size, so that no count is too large for it.
    """
    most = recipe.bag_size if recipe.bag_size and recipe.replace else 1
    counts = np.ones((count, n_rows), np.min_scalar_type(most))
    if recipe.bag_size:

        def note(t: int) -> None:
            counts[t] = _bag(recipe, n_rows, chances, seed, t)

        deque(in_threads(note, range(count), n_jobs), maxlen=0)
    return counts


def _bag(recipe: Recipe, n_rows: int, chances, seed: int, t: int) -> np.ndarray:
    """How often one tree's bag holds each training row."""
    return bag_counts(key_of(seed, t), n_rows, recipe.bag_size, recipe.replace, chances)

"""The sorts of projected numbers and of keys against numpy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forestlab.core.groups import make_groups, radix_sort
from forestlab.core.jit import kernel
from forestlab.core.sorting import RANKED, sort_along

TINY = np.finfo(float).smallest_subnormal
NUMBERS = {  # what buckets are filled with
    "even": lambda rng, n: rng.random(n),
    "far out": lambda rng, n: np.append(rng.normal(size=n - 1), 1e12),
    "skewed": lambda rng, n: np.exp(9 * rng.normal(size=n)),
    "few values": lambda rng, n: rng.integers(0, 4, n) / 3 - 0.5,
    "mostly one": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "either zero": lambda rng, n: rng.choice([0.0, -0.0, 1.0], n),
    "in order": lambda rng, n: np.arange(float(n)),
    "falling": lambda rng, n: -(np.arange(float(n)) ** 3),
    "no room": lambda rng, n: TINY * rng.integers(0, 9, n),
    "neighbours": lambda rng, n: 1e9 + np.spacing(1e9) * rng.integers(0, 99, n),
}


@pytest.mark.parametrize("kind", NUMBERS)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 8 * RANKED))
def test_numbers_and_their_places_are_sorted(kind, seed, n):
    """Equal ones stay in order; scratch is longer, and used before; buckets are left empty."""
    numbers = NUMBERS[kind](np.random.default_rng(seed), n)
    if numbers.min() == numbers.max():
        return
    into, spare = ((np.empty(n + 3), np.empty(n + 3, np.uint64)) for _ in range(2))
    buckets = np.zeros(n, np.uint32)
    order = np.argsort(numbers, kind="stable")
    with np.errstate(over="ignore"):  # where there is no room
        for _ in range(2):
            sort_along(numbers, n, numbers.min(), numbers.max(), buckets, into, spare)
            np.testing.assert_array_equal(into[0][:n], numbers[order])
            np.testing.assert_array_equal(into[1][:n], order)
            assert not buckets.any()


@pytest.mark.parametrize("n_keys", [2, 255, 256, 300, 1024, 1025, 70_000, 2**20 + 1, 2**32 - 1])
@pytest.mark.parametrize("n", [1, 21, 900])
def test_keys_are_sorted_in_any_number_of_passes(n, n_keys):
    """Equal ones stay in order, and counts are left empty."""
    rng = np.random.default_rng(n_keys)
    keys = np.append(rng.integers(0, n_keys, n - 1), n_keys - 1).astype(np.uint64)
    groups = make_groups(n, n_keys if n_keys < 2**21 else n, 1)
    items = (keys << np.uint64(32)) | np.arange(n, dtype=np.uint64)

    @kernel(allocates=False)
    def sort(items, buffer, count, n, greatest):
        radix_sort(items, buffer, count, n, greatest)

    for sort_items in (sort, radix_sort):
        found = items.copy()
        sort_items(found, groups.buffer, groups.tally, n, np.int64(n_keys - 1))
        np.testing.assert_array_equal(found, np.sort(items))
        assert not groups.tally.any()

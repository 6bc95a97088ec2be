"""Random numbers and bags against their naive twins, and against the laws they should follow.

The draws are fixed by their keys, so a test of a law gives the same answer at every run. Its
threshold is set where a sound generator, with other keys, would fail once in a million times.
"""

import naive
import numpy as np
import pytest
from cases import quarters
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.stats import chi2, norm

from forestlab.core import rng
from forestlab.core.bag import bag_counts, first_above, tree_features

FALSE_ALARM = 1e-6
EQUAL = np.zeros(0)  # chances

few_examples = settings(max_examples=100, deadline=None, derandomize=True)
keys = st.integers(0, 2**64 - 1)


def spread(counts, expected):
    """Pearson's statistic, as the probability that chance alone exceeds it."""
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1)


@njit
def draws_below(key, n_draws, n):
    return [rng.draw_below(key, i, n) for i in range(n_draws)]


@njit
def draws_unit(key, n_draws):
    return [rng.draw_unit(key, i) for i in range(n_draws)]


# ---- numbers -----------------------------------------------------------------------------------


@njit
def one_of_each(key, i, n, end):
    """What a kernel gets from each function."""
    made = rng.tree_key(key, i), rng.child_key(key, 0), rng.child_key(key, 1), rng.stream(key, end)
    return made, rng.draw(key, i), rng.draw_below(key, i, n), rng.draw_unit(key, i)


def one_of_each_naive(key, i, n, end):
    made = (
        naive.tree_key(key, i),
        naive.child_key(key, 0),
        naive.child_key(key, 1),
        naive.stream(key, end),
    )
    return made, naive.draw(key, i), naive.draw_below(key, i, n), naive.draw_unit(key, i)


ENDS = ["BAG", "TREE_FEATURES", "NODE_FEATURES", "PARAMETERS", "THRESHOLDS"]


@pytest.mark.parametrize("compiled", [True, False])
@few_examples
@given(keys, st.integers(0, 2**40), st.integers(1, 2**32 - 1), st.sampled_from(ENDS))
def test_numbers_are_those_of_the_twin(compiled, key, i, n, end):
    made = one_of_each if compiled else one_of_each.py_func
    with np.errstate(over="ignore"):  # numpy warns where 64 bits wrap around
        got = made(np.uint64(key), np.uint64(i), np.int64(n), getattr(rng, end))
    assert got == one_of_each_naive(key, i, n, getattr(naive, end))


def test_known_numbers():
    """SplitMix64 from state 0, as its authors publish it."""
    assert naive.draw(0, 0) == 0xE220A8397B1DCDAF
    assert naive.draw(0, 1) == 0x6E789E6AA1B965F4
    assert naive.draw(0, 2) == 0x06C45D188009454F


@few_examples
@given(keys, st.integers(1, 30))
def test_shuffle_is_that_of_the_twin(key, n):
    items = np.arange(n)
    with np.errstate(over="ignore"):
        for i in range(n):
            rng.shuffle_step(items, i, n, np.uint64(key))
    assert items.tolist() == naive.shuffled(range(n), key)


@pytest.mark.parametrize("n", [2, 7, 100])
@pytest.mark.parametrize("key", [0, 1, 2**64 - 1])
def test_numbers_below_are_uniform(n, key):
    counts = np.bincount(draws_below(np.uint64(key), 100_000, n), minlength=n)
    assert len(counts) == n
    assert spread(counts, np.full(n, 100_000 / n)) > FALSE_ALARM


def test_units_are_uniform():
    units = np.array(draws_unit(np.uint64(5), 100_000))
    assert 0 <= units.min() <= units.max() < 1
    counts = np.histogram(units, 100, (0, 1))[0]
    assert spread(counts, np.full(100, 1000.0)) > FALSE_ALARM


@pytest.mark.parametrize("first", [0, 2**63])
def test_trees_and_their_nodes_start_independently(first):
    """The first draws of keys that neighbour each other, in pairs."""
    starts = [naive.tree_key(first, t) for t in range(20_000)]
    for other in (
        [naive.tree_key(first, t + 1) for t in range(20_000)],
        [naive.tree_key(first + 1, t) for t in range(20_000)],
        [naive.child_key(key, 0) for key in starts],
        [naive.stream(key, naive.PARAMETERS) for key in starts],
    ):
        cells = [
            10 * naive.draw_below(a, 0, 10) + naive.draw_below(b, 0, 10)
            for a, b in zip(starts, other, strict=True)
        ]
        assert spread(np.bincount(cells, minlength=100), np.full(100, 200.0)) > FALSE_ALARM


def test_shuffles_are_uniform():
    orders = [tuple(naive.shuffled(range(4), naive.tree_key(0, t))) for t in range(24_000)]
    counts = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert spread(counts, np.full(24, 1000.0)) > FALSE_ALARM


# ---- bags --------------------------------------------------------------------------------------


@few_examples
@given(keys, st.integers(1, 50), st.data())
def test_bags_are_those_of_the_twin(key, n_rows, data):
    size = data.draw(st.integers(1, n_rows))
    drawn_by = quarters(np.random.default_rng(key), n_rows)
    drawn_by[: size // 2] = 0
    for replace, chances, by in (
        (True, EQUAL, None),
        (False, EQUAL, None),
        (True, np.cumsum(drawn_by), drawn_by),
    ):
        counts = bag_counts(np.uint64(key), n_rows, size, replace, chances)
        np.testing.assert_array_equal(counts, naive.bag(key, n_rows, size, replace, by))


@few_examples
@given(keys, st.integers(1, 50), st.data())
def test_tree_features_are_those_of_the_twin(key, n_features, data):
    size = data.draw(st.integers(1, n_features))
    features = tree_features(np.uint64(key), n_features, size)
    assert features.tolist() == naive.tree_features(key, n_features, size)


def test_a_bag_leaves_out_one_row_in_e():
    n, n_bags = 2000, 200
    bags = [bag_counts(np.uint64(naive.tree_key(0, t)), n, n, True, EQUAL) for t in range(n_bags)]
    assert all(counts.sum() == n for counts in bags)
    left_out = np.mean([(counts == 0).sum() for counts in bags])
    # n indicators: each is 1 with chance `one`, two of them together with chance `two`.
    one, two = (1 - 1 / n) ** n, (1 - 2 / n) ** n
    variance = n * one + n * (n - 1) * two - (n * one) ** 2
    error = np.sqrt(variance / n_bags)  # some 0.96 rows
    assert abs(left_out - n * one) < norm.isf(FALSE_ALARM / 2) * error
    assert abs(n * one - n / np.e) < 0.2  # and (1 - 1/n)^n is 1/e to within 1 / (2 e n)


def test_rows_are_drawn_equally_often():
    bags = [bag_counts(np.uint64(naive.tree_key(1, t)), 50, 50, True, EQUAL) for t in range(2000)]
    assert spread(np.sum(bags, axis=0), np.full(50, 2000.0)) > FALSE_ALARM


def test_a_bag_without_replacement_has_its_exact_size():
    bags = [bag_counts(np.uint64(naive.tree_key(2, t)), 50, 20, False, EQUAL) for t in range(2000)]
    assert all(counts.sum() == 20 and counts.max() == 1 for counts in bags)
    # A row is in a bag with variance share × (1 - share). As the counts of a bag add up to 20, two
    # rows covary by -1/49 of that, so the squares are 50/49 of it times a chi-square of 49.
    share = 20 / 50
    squares = ((np.sum(bags, axis=0) - 2000 * share) ** 2).sum()
    assert chi2.sf(squares / (2000 * share * (1 - share)) * 49 / 50, 49) > FALSE_ALARM


def test_chances_follow_weights():
    weights = np.array([0.0, 1.0, 0.5, 3.0, 0.0, 10.0, 0.0])
    bags = [
        bag_counts(np.uint64(naive.tree_key(3, t)), 7, 100, True, np.cumsum(weights))
        for t in range(500)
    ]
    counts = np.sum(bags, axis=0)
    drawn = weights > 0
    assert not counts[~drawn].any()
    assert spread(counts[drawn], 50_000 * weights[drawn] / weights.sum()) > FALSE_ALARM


def test_tree_features_are_drawn_equally_often():
    drawn = [tree_features(np.uint64(naive.tree_key(4, t)), 6, 2) for t in range(15_000)]
    counts = np.unique(drawn, axis=0, return_counts=True)[1]
    assert len(counts) == 15  # pairs
    assert spread(counts, np.full(15, 1000.0)) > FALSE_ALARM


@pytest.mark.parametrize("rising", [[], [2.0], [0.0, 0.0, 1.0, 1.0, 3.0]])
def test_first_above_is_behind_all_that_are_equal(rising):
    """A row of no weight shares its running sum with the row before it, and is never drawn."""
    rising = np.array(rising)
    for wanted in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0):
        assert first_above(rising, wanted) == np.searchsorted(rising, wanted, side="right")

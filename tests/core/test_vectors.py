"""Sixteen numbers at once are what numpy makes of them."""

import numpy as np

from forestlab.core import vectors
from forestlab.core.jit import kernel
from forestlab.core.lanes import MOST_SHORT
from forestlab.core.vectors import LANES

EDGES = {
    "whole": np.array([0, 1, 2, 15, 16, 2**16, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1], np.uint32),
    "float": np.array([0.0, -0.0, 1.0, -1.0, 0.1, 1e300, -1e300, 5e-324, np.inf, -np.inf]),
    "short": np.array([0.0, -0.0, 1.0, -1.0, 0.1, 1e38, 1e-45, np.inf, -np.inf, 2.5], np.float32),
}


def pairs_of(kind, rng):
    """Lanes of edges and of drawn numbers, those of each pair often equal."""
    edges = EDGES[kind]
    if kind == "whole":
        drawn = rng.integers(0, 2**32, 4 * LANES, np.uint32)
    else:
        drawn = rng.normal(size=4 * LANES).astype(edges.dtype)
    for _ in range(20):
        a, b = rng.choice(np.concatenate([edges, drawn]), (2, LANES))
        yield a, np.where(rng.random(LANES) < 0.3, a, b)


def agree(compiled, plain, *given):
    """What a kernel writes, and what its twin does, of arrays."""
    found, twin = np.zeros((16, 2 * LANES)), np.zeros((16, 2 * LANES))
    compiled(*given, found)
    with np.errstate(all="ignore"):
        plain(*given, twin)
    assert np.count_nonzero(twin) or not any(x.any() for x in given if isinstance(x, np.ndarray))
    np.testing.assert_array_equal(found, twin)


def put_mask(found, i, mask):
    """A mask as floats."""
    vectors.put_lanes(found[i], 0, vectors.where(mask, vectors.all_lanes(1.0), zeros()))


def calculate_floats(x, y, found):
    a, b = vectors.lanes_at(x, 0), vectors.lanes_at(y, 0)
    nothing, one = vectors.all_lanes(0.0), vectors.all_lanes(1.0)
    vectors.put_lanes(found[0], 0, vectors.plus(a, b))
    vectors.put_lanes(found[1], 0, vectors.minus(a, b))
    vectors.put_lanes(found[2], 0, vectors.times(a, b))
    vectors.put_lanes(found[3], 0, vectors.over(a, b))
    vectors.put_lanes(found[4], 0, vectors.where(vectors.at_most(a, b), one, nothing))
    vectors.put_lanes(found[5], 0, vectors.where(vectors.below(a, b), a, b))
    some = vectors.both(vectors.at_most(a, b), vectors.at_most(nothing, a))
    vectors.put_lanes(found[6], 0, vectors.where(some, one, nothing))
    others = vectors.but_not(vectors.at_most(a, b), vectors.at_most(nothing, a))
    vectors.put_lanes(found[7], 0, vectors.where(others, one, nothing))
    found[8, 0] = vectors.bits_of(some)
    found[8, 1] = vectors.n_in(some)
    found[8, 2] = vectors.least_of(a)
    found[8, 3] = vectors.last_of(a)


def calculate_whole(x, y, k, table, room, found):
    a, b = vectors.lanes_at(x, 0), vectors.lanes_at(y, 0)
    none, one = vectors.all_lanes(np.uint32(0)), vectors.all_lanes(np.uint32(1))
    vectors.put_lanes(room, 0, vectors.plus(a, b))
    vectors.put_lanes(room, LANES, vectors.minus(a, b))
    vectors.put_lanes(room, 2 * LANES, vectors.times(a, b))
    less = vectors.below(a, b)
    vectors.put_lanes(room, 3 * LANES, vectors.where(vectors.at_most(a, b), one, none))
    vectors.put_lanes(room, 4 * LANES, vectors.where(less, a, b))
    vectors.put_lanes(room, 5 * LANES, vectors.low_bits(a, k))
    vectors.put_lanes(room, 6 * LANES, vectors.without_low_bits(a, k))
    vectors.put_lanes(room, 7 * LANES, vectors.where(vectors.has_bit_in(a, k), one, none))
    vectors.put_lanes(room, 8 * LANES, vectors.lanes_from(k))
    vectors.put_lanes(room, 9 * LANES, vectors.running(vectors.low_bits(a, 27)))
    vectors.put_lanes(found[0], 0, vectors.as_floats(vectors.without_low_bits(a, 1)))
    places = vectors.low_bits(a, 5)
    vectors.put_lanes(found[1], 0, vectors.lanes_from_places(table, places, less))
    found[2, 0] = vectors.bits_of(less)
    found[2, 1] = vectors.n_in(less)
    found[2, 2] = vectors.least_of(a)
    found[2, 3] = vectors.last_of(a)
    vectors.put_some(room, np.uint64(10 * LANES), a, less)
    for i in range(vectors.n_in(less)):
        found[3, i] = room[10 * LANES + i]
    for i in range(10 * LANES):
        found[4 + i // (2 * LANES), i % (2 * LANES)] = room[i]


def zeros():
    return vectors.all_lanes(0.0)


def test_floats():
    compiled = kernel(allocates=False)(calculate_floats)
    for a, b in pairs_of("float", np.random.default_rng(0)):
        agree(compiled, calculate_floats, a, b)


def test_whole_numbers():
    compiled, rng = kernel(allocates=False)(calculate_whole), np.random.default_rng(1)
    table, room = rng.normal(size=32), np.empty(12 * LANES, np.uint32)
    for k, (a, b) in enumerate(pairs_of("whole", rng)):
        agree(compiled, calculate_whole, a, b, k, table, room)


def choose_short(x, y, table, found):
    a, b = vectors.lanes_at(x, 0), vectors.lanes_at(y, 0)
    for i, mask in enumerate((vectors.at_most(a, b), vectors.below(a, b))):
        vectors.put_lanes(found, i * LANES, vectors.where(mask, a, b))
    places = vectors.low_bits(vectors.lanes_from(7), 3)
    got = vectors.lanes_from_places(table, places, vectors.below(a, b))
    vectors.put_lanes(found, 2 * LANES, got)


def test_short_floats():
    compiled, rng = kernel(allocates=False)(choose_short), np.random.default_rng(2)
    table = rng.normal(size=8).astype(np.float32)
    for a, b in pairs_of("short", rng):
        found, twin = np.zeros((2, 3 * LANES), np.float32)
        compiled(a, b, table, found)
        choose_short(a, b, table, twin)
        assert np.count_nonzero(twin[: 2 * LANES])
        np.testing.assert_array_equal(found, twin)


def fold_shorts(whole, total, found):
    """Squares and differences, as of weights of classes."""
    here = vectors.as_shorts(vectors.lanes_at(whole, 0))
    rest = vectors.as_shorts(vectors.minus(vectors.all_lanes(total), vectors.lanes_at(whole, 0)))
    vectors.put_lanes(found[0], 0, vectors.as_long(here))
    vectors.put_lanes(found[1], 0, vectors.as_long(vectors.minus(rest, here)))
    squares = vectors.plus(vectors.times(here, here), vectors.times(rest, rest))
    vectors.put_lanes(found[2], 0, vectors.as_long(squares))


def test_short_floats_hold_whole_numbers_up_to_their_limit():
    compiled, rng = kernel(allocates=False)(fold_shorts), np.random.default_rng(5)
    for total in (1, 7, 4095, MOST_SHORT):
        whole = rng.integers(0, total + 1, LANES).astype(np.uint32)
        whole[:2] = 0, total
        found, twin = np.zeros((2, 3, LANES))
        compiled(whole, np.uint32(total), found)
        fold_shorts(whole, np.uint32(total), twin)
        exact = whole.astype(np.int64), total - whole.astype(np.int64)
        np.testing.assert_array_equal(found, twin)
        np.testing.assert_array_equal(found[1], exact[1] - exact[0])
        np.testing.assert_array_equal(found[2], exact[0] ** 2 + exact[1] ** 2)


def sum_up(x, found):
    vectors.put_lanes(found, 0, vectors.running(vectors.lanes_at(x, 0)))


def test_running_sums_are_added_in_the_order_that_is_told():
    compiled, rng = kernel(allocates=False)(sum_up), np.random.default_rng(3)
    differ = 0
    for _ in range(20):
        x = rng.normal(size=LANES) * 10.0 ** rng.integers(-8, 8, LANES)
        found, twin = np.zeros((2, LANES))
        compiled(x, found)
        sum_up(x, twin)
        np.testing.assert_array_equal(found, twin)
        np.testing.assert_allclose(found, np.cumsum(x), rtol=1e-12, atol=1e-12 * np.abs(x).sum())
        differ += (found != np.cumsum(x)).any()
    assert differ  # or any order would have done


def take_logarithms(x, found):
    vectors.put_lanes(found, 0, vectors.logarithms(vectors.lanes_at(x, 0)))


def test_logarithms_are_good_to_an_ulp():
    compiled, rng = kernel(allocates=False)(take_logarithms), np.random.default_rng(4)
    tiny, largest = np.finfo(float).tiny, np.finfo(float).max
    edges = np.array([tiny, largest, 0.5, 2.0, np.sqrt(0.5), np.sqrt(2), 1e-300, 1e300])
    next_to_one = np.nextafter(1.0, [0.0, 2.0])
    counts, shares = np.arange(1.0, 4097.0), rng.random(4096) + tiny
    wide = 10.0 ** rng.uniform(-300, 300, 4096)
    x = np.concatenate([edges, next_to_one, np.zeros(6) + 3.0, counts, shares, wide])
    found = np.empty(len(x))
    for i in range(0, len(x), LANES):
        compiled(x[i : i + LANES], found[i : i + LANES])
    assert found[np.flatnonzero(x == 1.0)] == 0.0
    np.testing.assert_array_max_ulp(found, np.log(x), 1)

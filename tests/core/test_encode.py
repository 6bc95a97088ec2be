"""Codes against np.unique and naive bins, for every kind of input array."""

import naive
import numpy as np
import pytest
from cases import awkward, quarters, with_holes
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from forestlab.core.encode import (
    LEAST,
    encode,
    encode_some,
    rounded_columns,
    standardised,
    with_nan,
)  # fmt: skip
from forestlab.core.tally import SMALL

few_examples = settings(max_examples=100, deadline=None, derandomize=True)

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def matrices(draw, holes=False):
    """Three columns: whole numbers, which are counted, and others, which are sorted."""
    n_rows, rng = draw(st.integers(1, 40)), draw(generators)
    counted = rng.integers(0, rng.choice([3, 20, SMALL]), n_rows) * rng.choice([-0.0, 1.0], n_rows)
    too_great = rng.integers(0, SMALL + 1, n_rows)
    X = np.stack([counted, too_great, awkward(rng, n_rows)], axis=1)
    return with_holes(rng, X, rng.choice([0, 0.2, 0.8, 1], 3)) if holes else X


def tables(encoded):
    """The codes, smallest and greatest values of each column."""
    for j, codes in enumerate(encoded.codes):
        part = slice(encoded.first[j], encoded.first[j + 1])
        yield codes, encoded.lower[part], encoded.upper[part]


def assert_same(a, b):
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


@few_examples
@given(matrices())
def test_distinct_codes_are_the_ranks_of_values(X):
    for column, (codes, lower, upper) in zip(X.T, tables(encode(X)), strict=True):
        values, ranks = np.unique(column, return_inverse=True)
        np.testing.assert_array_equal(codes, ranks)
        np.testing.assert_array_equal(lower, values)
        np.testing.assert_array_equal(upper, values)


@few_examples
@given(matrices(), st.integers(1, 12), st.none() | generators)
def test_bins_are_those_of_the_twin(X, max_bins, rng):
    weights = None if rng is None else quarters(rng, len(X))
    mass = np.ones(len(X)) if weights is None else weights
    for column, (codes, lower, upper) in zip(
        X.T, tables(encode(X, weights, max_bins)), strict=True
    ):
        counted = mass > 0  # the codes of the other rows mean nothing
        low, high = naive.bin_bounds(column, mass, max_bins)
        assert len(upper) <= max_bins
        np.testing.assert_array_equal(lower[codes[counted]], low[counted])
        np.testing.assert_array_equal(upper[codes[counted]], high[counted])


@few_examples
@given(matrices(holes=True), st.sampled_from([0, 1, 3, 12]), st.none() | generators)
def test_missing_values_have_a_code_of_their_own(X, max_bins, rng):
    """The others are encoded as if the missing ones were not there."""
    weights = None if rng is None else quarters(rng, len(X))
    mass = np.ones(len(X)) if weights is None else weights
    encoded = encode(X, weights, max_bins, missing=True)
    for column, (codes, lower, upper) in zip(X.T, tables(encoded), strict=True):
        known, counted = ~np.isnan(column), mass > 0
        np.testing.assert_array_equal(codes[counted] == len(upper), ~known[counted])
        if not (known & counted).any():
            assert len(lower) == len(upper) == 0
            continue
        alone = encode(column[known, None], None if rng is None else mass[known], max_bins)
        np.testing.assert_array_equal(codes[known & counted], alone.codes[0][counted[known]])
        assert_same((lower, upper), (alone.lower, alone.upper))


@pytest.mark.parametrize("step", [1, 0.5], ids=["whole", "halves"])
@pytest.mark.parametrize(
    ("n_values", "dtype"),
    [(255, np.uint8), (256, np.uint16), (2**16 - 1, np.uint16), (2**16, np.uint32)],
)
def test_the_code_of_missing_values_has_room(n_values, dtype, step):
    values = np.append(np.nan, np.arange(n_values) * step)
    encoded = encode(values[:, None], missing=True)
    assert encoded.codes.dtype == dtype
    np.testing.assert_array_equal(encoded.codes[0], np.append(n_values, np.arange(n_values)))


@pytest.mark.parametrize("value", [1.0, 0.5])
def test_missing_values_are_refused_unless_allowed(value):
    X = np.array([[value, value], [value, np.nan]])
    with pytest.raises(ValueError, match="missing"):
        encode(X)
    weightless = encode(X, np.array([1.0, 0.0]))
    assert weightless.first.tolist() == [0, 1, 2]


def test_a_column_without_values_is_not_rounded():
    X = np.array([[np.nan, 0.1, np.nan, 0.5, np.nan]] * 2)
    rounded = rounded_columns(encode(X, missing=True))
    assert rounded.tolist() == [False, True, False, False, False]


@few_examples
@given(matrices(), st.integers(1, 12))
def test_values_fall_on_the_side_of_their_code(X, max_bins):
    for column, (codes, lower, upper) in zip(X.T, tables(encode(X, None, max_bins)), strict=True):
        assert (lower[1:] > upper[:-1]).all()
        assert ((lower[codes] <= column) & (column <= upper[codes])).all()


@few_examples
@given(matrices(), st.integers(1, 12), generators)
def test_weighted_quantiles_are_those_of_repeated_rows(X, max_bins, rng):
    times = rng.integers(1, 5, len(X))
    weighted = encode(X, times.astype(float), max_bins)
    repeated = encode(np.repeat(X, times, axis=0), None, max_bins)
    assert_same(weighted[1:], repeated[1:])
    np.testing.assert_array_equal(np.repeat(weighted.codes, times, axis=1), repeated.codes)


@few_examples
@given(matrices(), st.integers(0, 12), generators)
def test_rows_of_no_weight_are_as_if_they_were_not_there(X, max_bins, rng):
    weights = quarters(rng, len(X))
    counted = weights > 0
    found = encode(X, weights, max_bins)
    alone = encode(X[counted], weights[counted], max_bins)
    assert_same(found[1:], alone[1:])
    np.testing.assert_array_equal(found.codes[:, counted], alone.codes)


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_have_nearly_equal_weights(weighted):
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(10_000, 1))
    weights = quarters(rng, 10_000) if weighted else None
    mass = np.ones(10_000) if weights is None else weights
    codes = encode(X, weights, 255).codes[0]
    # Without ties a bin misses its share by less than the heaviest row at either end.
    shares = np.bincount(codes, mass)
    assert len(shares) == 255
    assert np.abs(shares - mass.sum() / 255).max() < mass.max()


def test_the_last_bin_ends_with_the_greatest_value_however_weights_are_rounded():
    weights = np.array([0.05, 0.025, 0.0125, 0.0125])
    total = np.cumsum(weights)[-1]
    assert total * 3 / 3 > total  # so that three thirds of it are more than all
    encoded = encode(np.array([[0.5], [1.5], [2.5], [3.5]]), weights, 3)
    assert encoded.upper.tolist() == [0.5, 1.5, 3.5]
    assert encoded.lower.tolist() == [0.5, 1.5, 2.5]
    assert encoded.codes.tolist() == [[0, 1, 2, 2]]


@pytest.mark.parametrize(
    ("n_values", "dtype"),
    [(256, np.uint8), (257, np.uint16), (2**16, np.uint16), (2**16 + 1, np.uint32)],
)
@pytest.mark.parametrize("step", [1, 0.5], ids=["whole", "halves"])
def test_codes_have_the_smallest_type(n_values, dtype, step):
    values = np.arange(n_values) * step
    X = np.stack([np.random.default_rng(0).permutation(values), np.zeros(n_values)], axis=1)
    encoded = encode(X)
    assert encoded.codes.dtype == dtype
    np.testing.assert_array_equal(encoded.codes[0], X[:, 0] / step)
    assert not encoded.codes[1].any()


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0]])
def test_columns_of_any_width_share_the_widest_type(order):
    values = np.arange(2**16 + 1) / 2
    X = np.stack([values, values % 150, values % 3], axis=1)[:, order]
    encoded = encode(X)
    assert encoded.codes.dtype == np.uint32
    np.testing.assert_array_equal(encoded.codes, 2 * X.T)


def frozen(X):
    X = X.copy(order="K")
    X.flags.writeable = False
    return X


LAYOUTS = {
    "rows": lambda X: X,
    "columns": np.asfortranarray,
    "read-only rows": frozen,
    "read-only columns": lambda X: frozen(np.asfortranarray(X)),
    "every other row and column": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("max_bins", [0, 7])
def test_any_layout(layout, max_bins):
    X = np.random.default_rng(0).normal(size=(50, 19)).round(1)
    assert_same(encode(LAYOUTS[layout](X), None, max_bins), encode(X, None, max_bins))


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u1", "i8", "u8", "?", ">f8"])
def test_any_type(dtype):
    X = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 100, (300, 9)).astype(dtype)
    assert_same(encode(X), encode(X.astype(float)))


def test_singles_keep_their_values():
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    for column, (codes, _, upper) in zip(X.T, tables(encode(X)), strict=True):
        np.testing.assert_array_equal(upper[codes], column)


@pytest.mark.parametrize("max_bins", [0, 7])
def test_any_number_of_threads(max_bins):
    X = np.random.default_rng(0).normal(size=(400, 33))
    assert_same(encode(X, None, max_bins, n_jobs=4), encode(X, None, max_bins, n_jobs=1))


@pytest.mark.parametrize("max_bins", [0, 7])
def test_input_is_left_as_it_was(max_bins):
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(40, 3)))
    before = X.copy()
    encode(X, np.ones(40), max_bins)
    np.testing.assert_array_equal(X, before)


# ---- by counting, by sorting -------------------------------------------------------------------


def hard_columns(rng, n_rows):
    """Bytes; bytes but for the last row; whole numbers beyond a byte; whole numbers of which some
    are missing, beside 255; floats of either sign, with both zeros and both kinds of NaN."""
    bytes_ = rng.integers(0, 256, n_rows).astype(float)
    nearly = [np.append(bytes_[1:], other) for other in (-1.0, 0.5, 256.0, np.nan)]
    holes = np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(250, 256, n_rows))
    floats = rng.normal(size=n_rows).round(2) * rng.choice([-0.0, 1.0, 1e30, 1e-40], n_rows)
    lost = np.copysign(np.where(rng.random(n_rows) < 0.1, np.nan, floats), floats)
    beyond = rng.integers(0, SMALL, n_rows) // 5 * 5.0
    return np.stack([bytes_, bytes_ // 50 * 50, *nearly, holes, beyond, floats, lost], axis=1)


def assert_is_twins(column, weights, max_bins, codes, lower, upper):
    """Of rows that have a weight; missing values have the code after the others."""
    mass = np.ones(len(column)) if weights is None else weights
    known = ~np.isnan(column) & (mass > 0)
    np.testing.assert_array_equal(codes[(mass > 0) & np.isnan(column)], len(upper))
    values, mass = column[known], mass[known]
    low, high = naive.bin_bounds(values, mass, max_bins) if max_bins else (values, values)
    np.testing.assert_array_equal(lower, np.unique(low))
    np.testing.assert_array_equal(upper, np.unique(high))
    np.testing.assert_array_equal(codes[known], np.searchsorted(upper, values))
    assert not np.signbit(upper[upper == 0]).any()
    assert not np.signbit(lower[lower == 0]).any()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_bins", [0, 7, 255, 300])
@pytest.mark.parametrize("weighing", ["none", "some", "all"])
def test_hard_columns_are_those_of_the_twin(weighing, max_bins, dtype, order):
    """More rows than are looked at together."""
    rng = np.random.default_rng(max_bins)
    X = hard_columns(rng, 1500).astype(dtype)
    weights = None if weighing == "none" else quarters(rng, len(X))
    weights = weights + 0.25 if weighing == "all" else weights
    found = encode(np.asarray(X, order=order), weights, max_bins, n_jobs=2, missing=True)
    for column, table in zip(X.T.astype(float), tables(found), strict=True):
        assert_is_twins(column, weights, max_bins, *table)


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u4", "i8", "u8", "f2"])
@pytest.mark.parametrize("max_bins", [0, 7])
@pytest.mark.parametrize("order", ["C", "F"])
def test_whole_numbers_of_any_type_are_those_of_the_twin(dtype, max_bins, order):
    rng = np.random.default_rng(0)
    great = 127 if dtype == "i1" else 255
    X = np.stack([rng.integers(0, great, 700), rng.integers(100, great, 700)], axis=1)
    X[-1, 1] = great
    X = X.astype(dtype)
    if dtype != "u1":
        more = rng.integers(-100 if dtype[0] != "u" else 0, great, (700, 3)).astype(dtype)
        X = np.concatenate([X, more * X.dtype.type(1 if dtype == "i1" else 7)], axis=1)
    found = encode(np.asarray(X, order=order), None, max_bins)
    for column, table in zip(X.T.astype(float), tables(found), strict=True):
        assert_is_twins(column, None, max_bins, *table)


@pytest.mark.parametrize("levels", [0, 2**16, 2**16 + 1])
def test_codes_of_two_bytes_move_up_in_room_for_four(levels):
    """There are more rows than two bytes number, but not more codes, unless levels are."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, n, 70_000) for n in (3, 5_000, 256, 60_000, 2)], axis=1)
    expected = [np.unique(column, return_inverse=True)[1] for column in X.T]
    if levels:
        X[:, 2], expected[2] = X[:, 1], X[:, 1]
    encoded = encode(X / 2 if not levels else X, levels=(0, 0, levels, 0, 0) if levels else ())
    assert encoded.codes.dtype == (np.uint32 if levels > 2**16 else np.uint16)
    np.testing.assert_array_equal(encoded.codes, expected)


def test_levels_of_bytes_keep_their_numbers():
    """Also where some are not there, or more than a byte can name, or bins are fewer."""
    X = np.array([[3, 3], [250, 250], [7, 7]])
    encoded = encode(X, None, 2, levels=(251, 300))
    assert encoded.codes.dtype == np.uint16
    np.testing.assert_array_equal(encoded.codes, X.T)
    assert np.diff(encoded.first).tolist() == [251, 300]


# ---- means and deviations ----------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_bins", [0, 4])
def test_means_and_deviations_are_those_of_the_rows(max_bins, weighted):
    """Of the smallest value of each code; missing values and rows of no weight are none of it."""
    rng = np.random.default_rng(0)
    X = with_holes(rng, rng.normal(3, 2, (60, 3)).round(1), [0, 0.2, 0.8])
    weights = quarters(rng, 60) if weighted else None
    mass = np.ones(60) if weights is None else weights
    assert not weighted or (mass == 0).any()
    encoded = encode(X, weights, max_bins, missing=True)
    found = standardised(encoded, weights)
    assert_same(found[:4], encoded[:4])
    for j, (codes, lower, _) in enumerate(tables(encoded)):
        seen = ~np.isnan(X[:, j]) & (mass > 0)
        values, w = lower[codes[seen]], mass[seen] / mass[seen].sum()
        mean = w @ values
        np.testing.assert_allclose(found.centre[j], mean, rtol=1e-12)
        np.testing.assert_allclose(found.scale[j], np.sqrt(w @ (values - mean) ** 2), rtol=1e-12)


def test_deviations_of_any_size_are_told():
    """Of numbers whose squares no float holds."""
    unit = np.array([1.0, -3.0, 2.0, 0.5])
    sizes = np.array([1e-300, 1e-5, 1.0, 1e300])
    found = standardised(encode(unit[:, None] * sizes))
    np.testing.assert_allclose(found.centre, unit.mean() * sizes, rtol=1e-12)
    np.testing.assert_allclose(found.scale, unit.std() * sizes, rtol=1e-12)
    assert found.centre.dtype == found.scale.dtype == np.float64


def test_equal_numbers_have_their_size_for_a_deviation_and_zeros_1():
    found = standardised(encode(np.array([[5.0, -0.25, 0.0]] * 3)))
    assert found.centre.tolist() == [5.0, -0.25, 0.0]
    assert found.scale.tolist() == [5.0, 0.25, 1.0]


@pytest.mark.parametrize("size", [1.0, 2.0**-40, 2.0**40])
def test_a_deviation_is_a_share_of_the_range_at_least(size):
    """However light the only row that differs; of whatever size the numbers are."""
    X, weights = size * np.array([[3.0], [3.0], [7.0]]), np.array([1.0, 1.0, 2.0**-70])
    assert standardised(encode(X, weights), weights).scale.tolist() == [LEAST * 4.0 * size]


@pytest.mark.filterwarnings("error")
def test_a_column_without_values_has_the_deviation_1():
    found = standardised(encode(np.array([[np.nan, 2.0], [np.nan, 4.0]]), missing=True))
    assert found.centre.tolist() == [0.0, 3.0]
    assert found.scale.tolist() == [1.0, 1.0]


def test_any_number_of_threads_gives_the_same_means():
    encoded = encode(np.random.default_rng(0).normal(size=(40, 33)))
    assert_same(standardised(encoded, n_jobs=4), standardised(encoded))


# ---- float32 -----------------------------------------------------------------------------------


def is_rounded(values):
    return any(float(np.float32(value)) != value for value in values if abs(value) < 1e38)


@pytest.mark.parametrize("max_bins", [0, 3])
@pytest.mark.filterwarnings("error")
def test_columns_that_float32_would_round(max_bins):
    """By one value of many, be it at the lower end of a bin or at the upper one."""
    X = np.arange(12.0)[:, None] + np.zeros(8)
    X[4, 1] += 1e-9  # begins the second of three bins
    X[7, 2] += 1e-9  # ends it
    X[11, 3] = 2.0**24 + 1
    X[11, 4] = 2.0**24 + 2
    X[0, 6] = -0.1
    X[11, 7] = 1e300  # float32 has nothing like it
    columns = encode(X, None, max_bins)
    expected = [
        is_rounded([*lower, *upper]) or upper.max() > 1e38 for _, lower, upper in tables(columns)
    ]
    assert expected == [False, True, True, True, False, False, True, True]
    assert rounded_columns(columns).tolist() == expected


# ---- standardised ------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_deviations_far_from_0(weighted):
    """Sums of 40 numbers in another order are off by 1e-15 of them; 1e-12 is far above that."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=40), 1e9 + rng.integers(0, 3, 40), np.full(40, 7.0)], axis=1)
    weights = quarters(rng, 40) if weighted else None
    columns = standardised(encode(X, weights), weights)
    w = np.ones(40) if weights is None else weights
    centre = np.average(X, axis=0, weights=w)
    scale = np.sqrt(np.average((X - centre) ** 2, axis=0, weights=w))
    np.testing.assert_allclose(columns.centre, centre, 1e-12)
    # The second column's numbers are good to 1e-16 × 1e9.
    np.testing.assert_allclose(columns.scale[:2], scale[:2], 1e-6)
    assert columns.scale[2] == 7.0  # it does not vary


def test_a_deviation_is_the_same_on_any_threads_of_blas():
    """BLAS shares long sums out over threads, and its rounding would depend on how many."""
    columns = encode(np.random.default_rng(0).normal(size=(30_000, 8)))
    found = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, "blas"):
            found.append(standardised(columns))
    for other in found[1:]:
        assert other.centre.tobytes() == found[0].centre.tobytes()
        assert other.scale.tobytes() == found[0].scale.tobytes()


def test_light_rows_leave_a_deviation_that_can_be_divided_by():
    """One row of two differs, of a weight that is next to nothing."""
    X = np.array([[1e-140, 5.0], [0.0, 5.0]])
    for light in (1e-300, 1e-320):
        weights = np.array([light, 1.0])
        scale = standardised(encode(X, weights), weights).scale
        assert scale[0] == pytest.approx(1e-148)
        assert scale[1] == 5.0


def test_missing_values_have_a_value_behind_those_of_their_column():
    X = np.array([[3.0, np.nan, 0.5], [np.nan, np.nan, 0.25], [1.0, np.nan, 0.5]])
    told = with_nan(encode(X, missing=True))
    assert told.first.tolist() == [0, 3, 4, 7]
    np.testing.assert_array_equal(told.upper, [1, 3, np.nan, np.nan, 0.25, 0.5, np.nan])
    np.testing.assert_array_equal(told.lower, told.upper)
    for j, codes in enumerate(told.codes):
        np.testing.assert_array_equal(told.upper[told.first[j] + codes], X[:, j])


def test_unless_told_otherwise_codes_are_distinct_and_values_may_be_missing():
    X = np.array([[0.5, 2], [np.nan, 1], [0.25, 3]])
    columns, some_missing = encode_some(X)
    assert columns.codes.tolist() == [[1, 2, 0], [1, 0, 2]]
    assert some_missing
    assert not encode_some(X[:, 1:])[1]
    assert encode_some(X, max_bins=2)[1]
    assert not encode_some(X[:, 1:], max_bins=2)[1]

"""Codes of columns that come in blocks, beside those of columns that are all there."""

import numpy as np
import pytest

from forestlab.core.encode import encode_some
from forestlab.core.sketch import Coder, Sketch, scrambled

RNG = np.random.default_rng(0)


def in_blocks(X, size):
    return [np.ascontiguousarray(X[start : start + size].T) for start in range(0, len(X), size)]


def coded(X, max_bins, n_sampled, size):
    """Codes, lower and upper, and which columns are exact, by two passes over blocks."""
    sketch = Sketch(X.shape[1], max_bins, n_sampled)
    for block in in_blocks(X, size):
        sketch.see(block)
    coder = Coder(sketch.ends())
    codes = np.empty(X.T.shape, np.uint16)
    for k, block in enumerate(in_blocks(X, size)):
        for j, column in enumerate(block):
            part = codes[j, k * size : k * size + block.shape[1]]
            coder.write(j, column, part)
    assert (sketch.lacking == np.isnan(X).any(axis=0)).all()
    return codes, np.concatenate(coder.lower), np.concatenate(coder.upper), sketch.exact


def columns(n):
    X = np.column_stack([
        RNG.integers(0, 9, n),  # few values
        RNG.normal(size=n),
        np.round(RNG.normal(size=n), 1),
        np.where(RNG.random(n) < 0.5, 0.0, RNG.normal(size=n)),  # half of them in one value
        RNG.choice([-0.0, 0.0, 1.5], n),
    ])  # fmt: skip
    X[RNG.random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("size", [7, 100, 5000])
def test_codes_are_those_of_the_whole_column_if_all_rows_are_sampled(size):
    X = columns(1000)
    expected, _ = encode_some(X, max_bins=32)
    codes, lower, upper, exact = coded(X, 32, 1000, size)
    assert (codes == expected.codes).all()
    assert (lower == expected.lower).all()
    assert (upper == expected.upper).all()
    assert exact.tolist() == [True, False, False, False, True]


def test_few_values_are_exact_however_few_rows_are_sampled():
    X = columns(1000)[:, [0, 4]]
    X[17, 0] = 77.0  # a value that one row has
    expected, _ = encode_some(X, max_bins=32)
    codes, _, upper, exact = coded(X, 32, 40, 100)
    assert exact.all()
    assert (codes == expected.codes).all()
    assert (upper == expected.upper).all()


def test_a_sample_moves_where_bins_end_and_nothing_else():
    """Rows keep their order, every row lies within its bin, and bins are about as large as meant:
    with 2,000 rows sampled the share of a bin of 1/20 has a deviation of 0.0049, of which none of
    20 bins is off by more than 4 in 999 of 1,000 cases."""
    X = np.random.default_rng(1).normal(size=(50_000, 1))
    codes, lower, upper, exact = coded(X, 20, 2000, 999)
    assert not exact.any()
    assert (lower[codes[0]] <= X[:, 0]).all()
    assert (X[:, 0] <= upper[codes[0]]).all()
    assert (upper[:-1] < lower[1:]).all()
    assert upper[-1] == X.max()
    assert lower[0] == X.min()
    shares = np.bincount(codes[0]) / len(X)
    assert len(shares) == 20
    assert np.abs(shares - 1 / 20).max() < 4 * np.sqrt(0.05 * 0.95 / 2000)
    assert (shares != 1 / 20).any()  # a sample it was


def test_the_sample_does_not_depend_on_blocks():
    X = RNG.normal(size=(5000, 2))
    first = coded(X, 20, 300, 5000)
    for size in (1, 300, 1234):
        for a, b in zip(coded(X, 20, 300, size), first, strict=True):
            assert (a == b).all()


def test_rows_are_sampled_by_the_least_of_their_scrambled_numbers():
    n, k = 4000, 250
    X = np.arange(n, dtype=np.float64)[:, None]
    sketch = Sketch(1, 2, k)
    for block in in_blocks(X, 77):
        sketch.see(block)
    keys = scrambled(np.arange(n, dtype=np.uint64))
    assert len(set(keys.tolist())) == n
    sampled = np.sort(X[np.argsort(keys)[:k], 0])
    assert sketch.ends()[0].tolist() == [sampled[k // 2 - 1], sampled[-1]]


def test_a_column_of_next_to_no_values_has_bins_too():
    X = np.full((20_000, 1), np.nan)
    X[::500, 0] = np.arange(40)
    codes, lower, upper, _ = coded(X, 16, 100, 4000)
    known = ~np.isnan(X[:, 0])
    assert (codes[0][~known] == len(upper)).all()
    assert (codes[0][known] < len(upper)).all()
    assert (lower[codes[0][known]] <= X[known, 0]).all()
    assert (X[known, 0] <= upper[codes[0][known]]).all()


def test_a_column_without_values_has_no_codes_but_that_of_missing_ones():
    codes, lower, upper, exact = coded(np.full((9, 1), np.nan), 16, 16, 4)
    assert len(lower) == len(upper) == 0
    assert exact.all()
    assert (codes == 0).all()

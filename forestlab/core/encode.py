"""Raw columns become integer codes that keep the order of the values.

*Distinct*: as many codes as distinct values, so that a search over codes is exhaustive.
*Quantile*: at most `max_bins` codes, each for about the same weight of rows.

Codes serve growing only; a tree keeps raw values as its cuts. For each code the smallest and the
greatest value are kept: a cut between the codes a < b lies on ``upper[a]``, or midway between
``upper[a]`` and ``lower[b]``; either way every encoded row falls on the side of its code.

A missing value, NaN, has the code after those of the column's values. It is no part of a quantile.

The values of a column of categories are the numbers of its levels, and so are their codes, whatever
the search.

Small whole numbers (pixels, counts, dummies) are encoded by counting, without a sort: MNIST's
47 million values in a quarter of the time.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from forestlab.core.arrays import Columns
from forestlab.core.jit import kernel

MAX_BINS = 255
SMALL = 1024  # whole numbers below this are counted
LEAST = 1e-8  # of a column's range, its deviation
BLOCK = 8  # columns transposed together: a cache line of float64


def encode(
    X, weights=None, max_bins: int = 0, n_jobs: int = 1, missing: bool = False,
    levels: tuple[int, ...] = (),
) -> Columns:  # fmt: skip
    """As `encode_some`, where it does not matter whether values are missing."""
    return encode_some(X, weights, max_bins, n_jobs, missing, levels)[0]


def encode_some(
    X, weights=None, max_bins: int = 0, n_jobs: int = 1, missing: bool = True,
    levels: tuple[int, ...] = (),
) -> tuple[Columns, bool]:  # fmt: skip
    """Encode the columns of X, and tell whether values are missing.

    Parameters
    ----------
    X : (n_rows, n_features) array of finite numbers or NaN, of any real dtype and layout
    weights : (n_rows,) array of numbers of at least 0, or None; they only move quantiles. Rows of
        no weight are as if they were not there: their codes mean nothing
    max_bins : at most this many codes a column; 0: as many as distinct values
    n_jobs : threads
    missing : whether a value may be NaN; if not, and one is, ValueError is raised
    levels : how many levels each column has, if it is one of categories, whose values are their
        numbers; 0: it is one of numbers; (): all are
    """
    n_rows, n_features = X.shape
    codes = np.empty((n_features, n_rows), np.uint8)
    tables: list = [None] * n_features
    wide: dict[int, np.ndarray] = {}
    lacking = np.zeros(n_features, np.bool_)  # columns in which values are missing
    counted = None if weights is None or weights.all() else np.flatnonzero(weights)
    masses = weights if counted is None else weights[counted]

    def encode_column(j: int, column: np.ndarray) -> None:
        if levels and levels[j]:
            values = np.arange(levels[j], dtype=np.float64)
            tables[j] = values, values
            lacking[j] = np.isnan(column).any()
            write_codes(j, column, values)
            return
        number = np.zeros(SMALL, np.int64)
        n_small, lacking[j] = count_small(column, number) if counted is None else (0, False)
        if 0 < n_small <= (max_bins or 256) and n_small + lacking[j] <= 256:
            _look_up(column, number, codes[j])
            values = np.flatnonzero(number).astype(np.float64)
            tables[j] = values, values
            return
        seen, mass = column if counted is None else column[counted], masses
        lacks = np.isnan(seen)
        lacking[j] = lacks.any()
        if lacking[j]:
            seen, mass = seen[~lacks], None if masses is None else masses[~lacks]
        _, upper = tables[j] = _value_table(seen, mass, max_bins)
        write_codes(j, column, upper)

    def write_codes(j: int, column: np.ndarray, upper: np.ndarray) -> None:
        written, n_codes = codes[j], len(upper) + lacking[j]
        if n_codes <= 256:
            _write_codes(column, upper, written)
        else:
            code_type = np.uint16 if n_codes <= 2**16 else np.uint32
            written = wide[j] = np.searchsorted(upper, column).astype(code_type)
        if lacking[j]:
            written[np.isnan(column)] = len(upper)

    def encode_block(start: int) -> None:
        block = np.ascontiguousarray(X[:, start : start + BLOCK].T, dtype=np.float64)
        for j, column in enumerate(block, start):
            encode_column(j, column)

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(encode_block, range(0, n_features, BLOCK)))
    if lacking.any() and not missing:
        raise ValueError("values of X are missing (NaN)")
    if wide:
        codes = _widen(codes, wide)
    first = np.concatenate([[0], np.cumsum([len(upper) for _, upper in tables])]).astype(np.int64)
    upper = np.concatenate([upper for _, upper in tables])
    lower = np.concatenate([lower for lower, _ in tables]) if max_bins else upper  # held once
    columns = Columns(
        codes, first, lower, upper, levels=np.array(levels, np.int64) if levels else ()
    )
    return columns, bool(lacking.any())


def _widen(codes: np.ndarray, wide: dict[int, np.ndarray]) -> np.ndarray:
    """One type for all columns: each code type is another kernel to compile."""
    widened = codes.astype(max(column.dtype for column in wide.values()))
    while wide:
        j, column = wide.popitem()
        widened[j] = column
    return widened


def _value_table(column, weights, max_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and greatest value of each code of one column."""
    values = np.sort(column)
    is_first = np.ones(len(values), np.bool_)
    is_first[1:] = values[1:] != values[:-1]
    distinct = values[is_first] + 0.0  # of -0.0 and 0.0 a sort has either first: here it is 0.0
    if not max_bins or len(distinct) <= max_bins:
        return distinct, distinct
    upto = None if weights is None else np.cumsum(weights[np.argsort(column, kind="stable")])
    return bin_bounds(distinct, values[bin_ends(len(values), upto, max_bins)])


def bin_ends(n_rows: int, upto, max_bins: int) -> np.ndarray:
    """Of rows in the order of their values, those that end `max_bins` bins of about equal weight,
    the last among them; `upto` is the running sum of their weights, None if all weigh the same."""
    if upto is None:
        return -(-np.arange(1, max_bins + 1) * n_rows // max_bins) - 1
    ends = np.searchsorted(upto, upto[-1] * np.arange(1, max_bins + 1) / max_bins)
    return np.append(np.minimum(ends, n_rows - 1), n_rows - 1)


def bin_bounds(distinct: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and greatest value of each bin, given the values that end one."""
    upper = np.unique(ends) + 0.0
    after = np.searchsorted(distinct, upper[:-1], side="right")
    return np.concatenate([distinct[:1], distinct[after]]), upper


@kernel()
def count_small(column, number):
    """If all values are whole numbers in 0 … len(number) - 1 or missing, number those present from
    1 on, in order, and return how many there are, else 0; and whether any was seen to be missing.
    """
    top = number.shape[0]
    some_missing = False
    for i in range(column.shape[0]):
        value = column[i]
        if not 0.0 <= value < top or np.int64(value) != value:
            if not np.isnan(value):
                return 0, some_missing
            some_missing = True
            continue
        number[np.int64(value)] = 1
    n_codes = 0
    for value in range(top):
        n_codes += number[value]
        number[value] *= n_codes
    return n_codes, some_missing


@kernel()
def _look_up(column, number, codes):
    absent = number.max()
    for i in range(column.shape[0]):
        value = column[i]
        codes[i] = absent if np.isnan(value) else number[np.int64(value)] - 1


@kernel()
def _write_codes(column, upper, codes):
    """codes[i] = the first code whose greatest value is not below column[i], in at most 8 steps."""
    for i in range(column.shape[0]):
        value = column[i]
        low, high = 0, upper.shape[0] - 1
        while low < high:
            middle = (low + high) >> 1
            if upper[middle] < value:
                low = middle + 1
            else:
                high = middle
        codes[i] = low


def standardised(columns: Columns, weights=None, n_jobs: int = 1) -> Columns:
    """The columns with their means and deviations over rows of a weight.

    Sums are numpy's own, never BLAS's, which adds up in another order with other threads. However
    light the rows that differ, a deviation is no less than LEAST of the range, so that the numbers
    made of standardised columns stay moderate; a column that does not vary has that of its greatest
    number, or 1.
    """
    centre, scale = np.zeros((2, len(columns.codes)))

    def measure(j: int) -> None:
        if len(columns.levels) and columns.levels[j]:
            centre[j], scale[j] = 0.0, 1.0  # no number is made of categories
            return
        values = columns.lower[columns.first[j] : columns.first[j + 1]]
        seen = np.bincount(columns.codes[j], weights, len(values))[: len(values)]
        seen = seen / seen.sum()
        size = float(np.abs(values).max(initial=0.0)) or 1.0  # a column may have no values at all
        values = values / size
        mean = float(np.sum(values * seen))
        spread = float(np.sqrt(np.sum((values - mean) ** 2 * seen)))
        reach = float(values[-1] - values[0]) if len(values) else 0.0
        spread = max(spread, LEAST * reach) or 1.0
        centre[j], scale[j] = mean * size, spread * size

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(measure, range(len(centre))))
    return columns._replace(centre=centre, scale=scale)


def with_nan(columns: Columns) -> Columns:
    """The columns with a value for the code of missing ones too: NaN, behind their own values. For
    learners that make numbers of values; these are exact, so there is one table of them."""
    values = np.insert(columns.upper, columns.first[1:], np.nan)
    first = columns.first + np.arange(len(columns.first))
    return columns._replace(first=first, lower=values, upper=values)


def rounded_columns(columns: Columns) -> np.ndarray:
    """Which columns hold values, or ends of bins, that float32 would round, (n_features,)."""
    with np.errstate(over="ignore"):
        lower, upper = (values.astype(np.float32) for values in (columns.lower, columns.upper))
    changed = (lower != columns.lower) | (upper != columns.upper)
    changed &= ~np.isnan(columns.upper)
    n_changed = np.concatenate([[0], np.cumsum(changed)])
    return n_changed[columns.first[1:]] > n_changed[columns.first[:-1]]

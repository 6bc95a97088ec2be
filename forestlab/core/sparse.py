"""Sparse columns become codes, the same as those of the dense matrix, which is never made.

What is not stored of a column is 0. Its distinct values are therefore those that are stored, and 0
unless every row stores another; the code of 0 is written for all rows, and those of stored values
over it. So there is as much to do as there are stored values, to sort, and codes, to write.

Codes themselves are dense: a byte for each row and feature, if no column has more than 256.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Columns
from forestlab.core.crew import Crew
from forestlab.core.jit import jitable, kernel
from forestlab.core.memory import reserve
from forestlab.core.ranks import bin_bounds, bin_ends
from forestlab.core.tally import SMALL, count_small

FEW = 32  # so many values are sorted, be they whole or not: to count takes a microsecond
PER_THREAD = 4  # stretches of columns


class Stored(NamedTuple):
    """A sparse matrix by columns: those of column j are ``begin[j] : begin[j + 1]``."""

    values: np.ndarray  # float64; NaN is missing, 0 may be among them
    rows: np.ndarray  # int32, ascending within a column, each once
    begin: np.ndarray  # (n_features + 1,) int64
    n_rows: int


class Tables(NamedTuple):
    """The values of all columns, as in `Columns`."""

    first: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lacking: np.ndarray  # (n_features,) whether values are missing

    @property
    def sizes(self) -> np.ndarray:
        return np.diff(self.first)


def encode_sparse(
    stored: Stored, weights=None, max_bins: int = 0, n_jobs: int = 1, missing: bool = True,
    levels: tuple[int, ...] = (),
) -> tuple[Columns, bool]:  # fmt: skip
    """As `encode.encode_some`, to the bit but for codes of rows of no weight, which mean nothing.

    Raises MemoryError, before it takes any, if there is not enough for the codes.
    """
    n_features = len(stored.begin) - 1
    step = max(1, -(-n_features // (PER_THREAD * n_jobs)))
    stretches = [(j, min(j + step, n_features)) for j in range(0, n_features, step)]
    with Crew(n_jobs, len(stored.values)) as crew:
        tables = _find_tables(stored, weights, max_bins, crew, stretches)
        if levels:
            tables = _with_levels(stored, tables, np.array(levels, np.int64))
        if tables.lacking.any() and not missing:
            raise ValueError("values of X are missing (NaN)")
        codes = _room(stored, int(np.max(tables.sizes + tables.lacking)))

        def write(columns: tuple[int, int]) -> None:
            _write_columns(stored, columns, tables.first, tables.upper, tables.lacking, codes)

        list(crew.map(write, stretches))
    numbers = np.array(levels, np.int64) if levels else ()
    columns = Columns(codes, *tables[:3], levels=numbers)
    return columns, bool(tables.lacking.any())


def _room(stored: Stored, n_codes: int) -> np.ndarray:
    """Memory for codes of the smallest type that holds so many."""
    dtype = np.uint8 if n_codes <= 256 else np.uint16 if n_codes <= 2**16 else np.uint32
    shape = len(stored.begin) - 1, stored.n_rows
    size = "1 byte" if n_codes <= 256 else f"{dtype().itemsize} bytes"
    what = f"the codes of X, {shape[1]:,} rows × {shape[0]:,} features × {size},"
    fewer = "keep fewer features, as max_features of a vectorizer does, or fewer rows"
    narrower = ", or take search='histogram', of 1 byte each" if n_codes > 256 else ""
    return reserve(shape, dtype, what, fewer + narrower)


# ---- values ------------------------------------------------------------------------------------


def _find_tables(stored: Stored, weights, max_bins: int, crew: Crew, stretches) -> Tables:
    n_features = len(stored.begin) - 1
    counted = np.ones(stored.n_rows, np.bool_) if weights is None else weights > 0
    n_counted = int(np.count_nonzero(counted))
    # Those of column j begin at begin[j] + j: there may be one more than it stores, 0.
    starts = stored.begin[:-1] + np.arange(n_features)
    values = np.empty(len(stored.values) + n_features)
    sizes, lacking = np.zeros(n_features, np.int64), np.zeros(n_features, np.bool_)

    def find(columns: tuple[int, int]) -> None:
        _find_values(stored, columns, counted, n_counted, values, sizes, lacking)

    list(crew.map(find, stretches))
    lower = values.copy() if max_bins else values

    def put_in_bins(j: int) -> None:
        distinct = values[starts[j] :][: sizes[j]].copy()
        bounds = _bins(_sorted_column(stored, j, counted), distinct, weights, max_bins)
        sizes[j] = len(bounds[0])
        for table, found in zip((lower, values), bounds, strict=True):
            table[starts[j] :][: sizes[j]] = found

    if max_bins:
        list(crew.map(put_in_bins, np.flatnonzero(sizes > max_bins)))
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.repeat(starts - first[:-1], sizes) + np.arange(first[-1])
    upper = values[places]
    return Tables(first, lower[places] if max_bins else upper, upper, lacking)  # one is held once


def _with_levels(stored: Stored, tables: Tables, levels: np.ndarray) -> Tables:
    """The tables with all levels of columns of categories, be they there or not."""

    def replaced(values: np.ndarray) -> np.ndarray:
        parts = zip(levels, pairwise(tables.first), strict=True)
        each = [np.arange(n, dtype=float) if n else values[slice(*at)] for n, at in parts]
        return np.concatenate(each)

    lacks = np.repeat(np.arange(len(levels)), np.diff(stored.begin))[np.isnan(stored.values)]
    lacking = tables.lacking.copy()
    lacking[lacks[levels[lacks] > 0]] = True  # in rows of no weight, too
    sizes = np.where(levels > 0, levels, tables.sizes)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    upper = replaced(tables.upper)
    lower = upper if tables.lower is tables.upper else replaced(tables.lower)
    return Tables(first, lower, upper, lacking)


@kernel("encode sparse columns")
def _find_values(stored, columns, counted, n_counted, values, sizes, lacking):
    """List the distinct values of columns[0] … columns[1] - 1 in rows that are counted."""
    number = np.zeros(SMALL, np.int64)
    for j in range(columns[0], columns[1]):
        start = stored.begin[j] + j
        n, n_seen, has_zero = 0, 0, False
        for k in range(stored.begin[j], stored.begin[j + 1]):
            if not counted[stored.rows[k]]:
                continue
            n_seen += 1
            value = stored.values[k]
            if np.isnan(value):
                lacking[j] = True
            elif value == 0.0:
                has_zero = True
            else:
                values[start + n] = value
                n += 1
        if has_zero or n_seen < n_counted:
            values[start + n] = 0.0
            n += 1
        found = values[start : start + n]
        sizes[j] = _list_whole(found, number) if n > FEW else 0
        if sizes[j] == 0:
            found.sort()
            sizes[j] = _keep_distinct(found)


@jitable
def _list_whole(found, number):
    """If all are small whole numbers, begin with those that are there, in order; return how many,
    else 0."""
    for value in range(number.shape[0]):
        number[value] = 0
    n_values, _ = count_small(found, number)
    if n_values > 0:
        for value in range(number.shape[0]):
            if number[value] > 0:
                found[number[value] - 1] = value
    return n_values


@jitable
def _keep_distinct(found):
    """Begin with the distinct ones of sorted values; return how many."""
    n = 0
    for i in range(found.shape[0]):
        if n == 0 or found[i] != found[n - 1]:
            found[n] = found[i]
            n += 1
    return n


# ---- bins --------------------------------------------------------------------------------------


class SortedColumn(NamedTuple):
    """The values of a column in rows that are counted, in order, with all zeros as one."""

    values: np.ndarray  # float64
    rows: np.ndarray  # those of all others, as `values` are
    zero_rows: np.ndarray  # ascending
    n_below: int  # values below 0


def _sorted_column(stored: Stored, j: int, counted: np.ndarray) -> SortedColumn:
    part = slice(stored.begin[j], stored.begin[j + 1])
    values, rows = stored.values[part], stored.rows[part]
    is_zero = counted.copy()
    is_zero[rows[values != 0.0]] = False  # a missing value is not 0 either
    some = counted[rows] & (values != 0.0) & ~np.isnan(values)
    values, rows = values[some], rows[some]
    order = np.argsort(values, kind="stable")
    values, rows = values[order], rows[order]
    n_below, zero_rows = int(np.searchsorted(values, 0.0)), np.flatnonzero(is_zero)
    if len(zero_rows):
        values = np.insert(values, n_below, 0.0)
    return SortedColumn(values, rows, zero_rows, n_below)


def _bins(column: SortedColumn, distinct, weights, max_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and greatest value of each bin, as `encode` finds them in all rows in order."""
    values, rows, zero_rows, n_below = column
    n_zeros, upto = len(zero_rows), None
    if weights is not None:
        in_order = np.concatenate([rows[:n_below], zero_rows, rows[n_below:]])
        upto = np.cumsum(weights[in_order])
    ends = bin_ends(len(rows) + n_zeros, upto, max_bins)
    # n_zeros rows from n_below on have the one 0, so that values behind it stand so much nearer.
    behind = np.maximum(ends - max(n_zeros - 1, 0), n_below)
    return bin_bounds(distinct, values[np.where(ends < n_below, ends, behind)])


# ---- codes -------------------------------------------------------------------------------------


@jitable
def _code_of(upper, first, end, value):
    """The first code whose greatest value is not below this one; the last if there is none."""
    low, high = first, end - 1
    while low < high:
        middle = (low + high) >> 1
        if upper[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - first


@kernel("encode sparse columns")
def _write_columns(stored, columns, first, upper, lacking, codes):
    for j in range(columns[0], columns[1]):
        zero = _code_of(upper, first[j], first[j + 1], 0.0)
        for i in range(codes.shape[1]):
            codes[j, i] = zero
        for k in range(stored.begin[j], stored.begin[j + 1]):
            value = stored.values[k]
            code = _code_of(upper, first[j], first[j + 1], value)
            if lacking[j] and np.isnan(value):
                code = first[j + 1] - first[j]
            codes[j, stored.rows[k]] = code

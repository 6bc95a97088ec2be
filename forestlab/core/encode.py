"""Raw columns become integer codes that keep the order of the values.

*Distinct*: as many codes as distinct values, so that a search over codes is exhaustive.
*Quantile*: at most `max_bins` codes, each for about the same weight of rows.

Codes serve growing only; a tree keeps raw values as its cuts. For each code the smallest and the
greatest value are kept: a cut between the codes a < b lies on ``upper[a]``, or midway between
``upper[a]`` and ``lower[b]``; either way every encoded row falls on the side of its code.

A missing value, NaN, has the code after those of the column's values. It is no part of a quantile.

The values of a column of categories are the numbers of its levels, and so are their codes, whatever
the search.

Steps: small whole numbers are counted as rows are read (see tally); the other columns are taken out
of the rows, a few at a time, and sorted (see ranks). Nothing is copied of X but these few. A small
whole number takes 3 to 4 ns, and of 75,000 rows a float32 20 in bins and 22 in distinct values, a
float64 30 and 50.
"""

from collections.abc import Iterable
from functools import partial

import numpy as np

from forestlab.core.arrays import Columns
from forestlab.core.crew import Crew
from forestlab.core.jit import kernel
from forestlab.core.ranks import (
    ROW,
    bin_bounds,
    bin_ends,
    in_order,
    value_table,
    write_bins,
    write_ranks,
)
from forestlab.core.tally import (
    SMALL,
    code_bytes,
    column_bytes,
    count_small,
    look_up,
    read_bytes,
    replace_bytes,
)

MAX_BINS = 255
LEAST = 1e-8  # of a column's range, its deviation
BLOCK = 8  # columns taken out of the rows together
AT_ONCE = 2**17  # values of rows that are read together
MOST = 2**31  # any number of columns
PER_THREAD = 4  # stretches of rows, or columns
NARROW, WIDE = 2**8, 2**16  # codes that a byte holds, and two


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
    work = _Encoding(X, weights, max_bins, levels)
    with Crew(n_jobs, X.size) as crew:
        is_byte = work.read_bytes(crew, n_jobs)
        whole, others = np.flatnonzero(is_byte).tolist(), np.flatnonzero(~is_byte).tolist()
        list(crew.map(work.encode_bytes, _shared(whole, n_jobs)))
        list(crew.map(work.encode_block, _shared(others, n_jobs, BLOCK)))
    if work.lacking.any() and not missing:
        raise ValueError("values of X are missing (NaN)")
    return work.columns(), bool(work.lacking.any())


def _shared(columns: list[int], n_jobs: int, most: int = MOST) -> list[list[int]]:
    """Columns in stretches for threads, of no more than so many."""
    step = max(1, min(most, -(-len(columns) // (PER_THREAD * n_jobs))))
    return [columns[k : k + step] for k in range(0, len(columns), step)]


class _Encoding:
    """The codes of X on their way; threads work at different rows, or columns."""

    def __init__(self, X: np.ndarray, weights, max_bins: int, levels: tuple[int, ...]):
        self.X, self.max_bins, self.levels = X, max_bins, levels
        self.n_rows, self.n_features = X.shape
        self.kind, self.float_kind = _read_as(X.dtype)
        # Codes of a byte, and those of columns that have more: what is not written takes no room.
        self.codes = np.empty((self.n_features, self.n_rows), np.uint8)
        most_codes = max(self.n_rows, 1 + max(levels, default=0))
        self.wide_codes = np.empty(X.size, np.uint16 if most_codes <= WIDE else np.uint32)
        self.is_wide = np.zeros(self.n_features, np.bool_)
        self.tables: list = [None] * self.n_features
        self.lacking = np.zeros(self.n_features, np.bool_)  # columns in which values are missing
        self.counted = None if weights is None or weights.all() else np.flatnonzero(weights)
        self.masses = weights if self.counted is None else weights[self.counted]

    # ---- bytes ----

    def read_bytes(self, crew: Crew, n_jobs: int) -> np.ndarray:
        """Write the columns that hold bytes alone as such; returns which these are. Where rows are
        left out none is taken for one, nor a column of more levels than bytes."""
        if self.counted is not None:
            return np.zeros(self.n_features, np.bool_)
        if self.X.flags.f_contiguous:
            stretches = _shared(list(range(self.n_features)), n_jobs)
            is_byte = np.concatenate(list(crew.map(self._column_bytes, stretches)))
        else:
            step = max(1, -(-self.n_rows // (PER_THREAD * n_jobs)))
            starts = range(0, self.n_rows, step)
            is_byte = ~np.any(list(crew.map(partial(self._row_bytes, step), starts)), axis=0)
        return is_byte & (np.array(self.levels) <= NARROW) if self.levels else is_byte

    def _column_bytes(self, columns: list[int]) -> np.ndarray:
        own = (np.require(self.X[:, j], self.kind, ["C", "W"]) for j in columns)
        pairs = zip(own, self.codes[columns[0] :], strict=False)
        return np.array([column_bytes(column, codes) for column, codes in pairs], np.bool_)

    def _row_bytes(self, n_rows: int, start: int) -> np.ndarray:
        has_other = np.zeros(self.n_features, np.uint8)
        for first, rows in self._rows(start, min(start + n_rows, self.n_rows), self.kind):
            read_bytes(rows, first, self.codes, has_other)
            if has_other.all():
                break
        return has_other.astype(np.bool_)

    def _rows(self, start: int, end: int, kind: type) -> Iterable[tuple[int, np.ndarray]]:
        """The rows, some at a time, as the kernels are compiled for; they are only copied if need
        be."""
        step = max(1, AT_ONCE // self.n_features)
        for first in range(start, end, step):
            yield first, np.require(self.X[first : min(first + step, end)], kind, ["C", "W"])

    def encode_bytes(self, columns: list[int]) -> None:
        """Make codes of the bytes of some columns."""
        for j in filter(self._levels_of, columns):
            self.tables[j] = self._level_table(j)
        columns = [j for j in columns if not self._levels_of(j)]
        counts = np.empty((len(columns), NARROW), np.int64)
        code_bytes(self.codes, np.array(columns, np.int64), self.max_bins or NARROW, counts)
        for j, own in zip(columns, counts, strict=True):
            distinct = np.flatnonzero(own).astype(np.float64)
            self.tables[j] = distinct, distinct
            if self.max_bins and len(distinct) > self.max_bins:
                _, upper = self.tables[j] = bin_bounds(distinct, self._byte_ends(j, own, distinct))
                table = np.searchsorted(upper, np.arange(distinct[-1] + 1)).astype(np.uint8)
                replace_bytes(self.codes[j], table)

    def _byte_ends(self, j: int, counts: np.ndarray, distinct: np.ndarray) -> np.ndarray:
        """The bytes that end bins."""
        if self.masses is None:
            ends = bin_ends(self.n_rows, None, self.max_bins)
            return distinct[np.searchsorted(np.cumsum(counts[counts > 0]), ends, side="right")]
        order = np.argsort(self.codes[j], kind="stable")
        ends = bin_ends(self.n_rows, np.cumsum(self.masses[order]), self.max_bins)
        return self.codes[j, order[ends]].astype(np.float64)

    # ---- others ----

    def encode_block(self, columns: list[int]) -> None:
        """Encode a few columns of other numbers than bytes."""
        if self.X.flags.f_contiguous:
            for j in columns:
                self._encode_column(j, np.require(self.X[:, j], self.float_kind, ["C", "W"]))
            return
        block: np.ndarray = np.empty((len(columns), self.n_rows), self.float_kind)
        for first, rows in self._rows(0, self.n_rows, self.kind):
            _take_columns(rows, np.array(columns), first, block)
        for j, column in zip(columns, block, strict=True):
            self._encode_column(j, column)

    def _encode_column(self, j: int, column: np.ndarray) -> None:
        if self._levels_of(j):
            self.tables[j] = self._level_table(j)
            self.lacking[j] = np.isnan(column).any()
            self._write_bins(j, column)
        elif not self._is_counted(j, column):
            if self.max_bins:
                seen = column if self.counted is None else column[self.counted]
                *self.tables[j], self.lacking[j] = value_table(seen, self.masses, self.max_bins)
                self._write_bins(j, column)
            else:
                self._write_ranks(j, column)

    def _is_counted(self, j: int, column: np.ndarray) -> bool:
        """Encode a column of small whole numbers, if it is one and they are few enough."""
        if self.counted is not None:
            return False
        number = np.zeros(SMALL, np.int64)
        n_small, lacks = count_small(column, number)
        if not 0 < n_small <= (self.max_bins or NARROW) or n_small + lacks > NARROW:
            return False
        look_up(column, number, self.codes[j])
        values = np.flatnonzero(number).astype(np.float64)
        self.tables[j], self.lacking[j] = (values, values), lacks
        return True

    def _write_bins(self, j: int, column: np.ndarray) -> None:
        """Write the codes of a column whose table is known."""
        upper = self.tables[j][1]
        if len(upper) + self.lacking[j] <= NARROW:
            codes = self.codes[j]
            write_bins(column, upper, codes)
        else:
            codes = np.searchsorted(upper, column)
        if self.lacking[j]:
            codes[np.isnan(column)] = len(upper)
        self._keep(j, codes)

    def _write_ranks(self, j: int, column: np.ndarray) -> None:
        """Find the distinct values of a column, and with them its codes."""
        seen = column if self.counted is None else column[self.counted]
        codes, values = np.empty(len(seen), np.uint32), np.empty_like(seen)
        places = in_order(seen)
        n_values = write_ranks(seen, places, codes, values)
        values = values[:n_values].copy()
        self.tables[j] = values, values
        self.lacking[j] = len(seen) > 0 and np.isnan(seen[places[-1] & ROW])
        if self.counted is not None:
            of_all = np.zeros(self.n_rows, np.uint32)
            of_all[self.counted] = codes
            codes = of_all
        self._keep(j, codes)

    def _levels_of(self, j: int) -> int:
        return self.levels[j] if self.levels else 0

    def _level_table(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        values = np.arange(self.levels[j], dtype=np.float64)
        return values, values

    def _keep(self, j: int, codes: np.ndarray) -> None:
        """Keep the codes of a column where there is room for them."""
        self.is_wide[j] = len(self.tables[j][1]) + self.lacking[j] > NARROW
        if self.is_wide[j]:
            self.wide_codes[j * self.n_rows : (j + 1) * self.n_rows] = codes
        elif codes.base is not self.codes:
            self.codes[j] = codes

    # ---- all of it ----

    def columns(self) -> Columns:
        sizes = [len(upper) for _, upper in self.tables]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        lower = upper = np.empty(first[-1])  # held once if there are no bins
        if self.max_bins:
            lower = np.empty_like(upper)
        for j in range(self.n_features):
            part = slice(first[j], first[j + 1])
            lower[part], upper[part] = self.tables[j]
            self.tables[j] = None
        n_codes = int((sizes + self.lacking).max(initial=0))
        codes = self.codes if n_codes <= NARROW else self._widened(n_codes)
        levels = np.array(self.levels, np.int64) if self.levels else ()
        return Columns(codes, first, lower, upper, levels=levels)

    def _widened(self, n_codes: int) -> np.ndarray:
        """One type for all columns: each code type is another kernel to compile. If it is narrower
        than that of the room, codes move up within that, so that they are not held twice."""
        kind = np.uint16 if n_codes <= WIDE else np.uint32
        room, n = self.wide_codes, self.n_rows
        moved = room.view(kind)
        for j in range(self.n_features):
            own = room[j * n : (j + 1) * n] if self.is_wide[j] else self.codes[j]
            moved[j * n : (j + 1) * n] = own
        if room.dtype != kind:
            room.resize((room.size + 1) // 2, refcheck=False)
        return room.view(kind)[: self.X.size].reshape(self.n_features, n)


def _read_as(dtype: np.dtype) -> tuple[type, type]:
    """As which type numbers are read, one of few, as each is another kernel to compile; and which
    floats hold them exactly, if any do."""
    if dtype == np.float32 or (dtype != np.uint8 and np.can_cast(dtype, np.float32)):
        return np.float32, np.float32
    if dtype == np.uint8:
        return np.uint8, np.float32
    return (np.int64 if dtype == np.int64 else np.float64), np.float64


@kernel()
def _take_columns(rows, columns, start, block):
    """Write some columns of rows, those from `start` on."""
    for i in range(rows.shape[0]):
        for k in range(columns.shape[0]):
            block[k, start + i] = rows[i, columns[k]]


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

    with Crew(n_jobs, columns.codes.size) as crew:
        list(crew.map(measure, range(len(centre))))
    return columns._replace(centre=centre, scale=scale)


def with_nan(columns: Columns) -> Columns:
    """The columns with a value for the code of missing ones too: NaN, behind their own values. For
    learners that make numbers of values; these are exact, so there is one table of them."""
    values = np.insert(columns.upper, columns.first[1:], np.nan)
    first = columns.first + np.arange(len(columns.first))
    return columns._replace(first=first, lower=values, upper=values)


def rounded_columns(columns: Columns) -> np.ndarray:
    """Which columns hold values, or ends of bins, that float32 would round, (n_features,)."""
    first, n_values = columns.first, len(columns.upper)
    changed = np.empty(n_values, np.bool_)
    for start in range(0, n_values, AT_ONCE):  # an exact search has as many values as X
        part = slice(start, start + AT_ONCE)
        changed[part] = _is_rounded(columns.lower[part]) | _is_rounded(columns.upper[part])
    found, has_values = np.zeros(len(first) - 1, np.bool_), first[1:] > first[:-1]
    if n_values:
        found[has_values] = np.logical_or.reduceat(changed, first[:-1][has_values])
    return found


def _is_rounded(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return (values.astype(np.float32) != values) & ~np.isnan(values)

"""Small whole numbers (pixels, counts, dummies) become codes by counting, without a sort.

Numbers of one *byte* first: rows are read in the order in which they lie in memory, each value is
written as a byte to the place of its code, and the columns that hold anything else are marked. A
byte then becomes a code by a table of 256. MNIST's 47 million pixels take 3 ns each of float32;
row by row through all columns, as blocks of 64 columns take 5 ns and of 16 columns 10 ns.

Other numbers below SMALL, and columns that lack values, are counted one column at a time.
"""

import numpy as np

from forestlab.core.jit import jitable, kernel

SMALL = 1024  # whole numbers below this are counted
TILE = 128  # rows that are transposed together
LINE = 64  # bytes of a line of the cache
TABLES = 4  # to count in by turns: to add to one number twice takes five times as long


# ---- bytes -------------------------------------------------------------------------------------


@kernel()
def read_bytes(rows, start, codes, has_other):
    """Write all columns' values in some rows, those from `start` on, as codes; mark the columns
    that hold others than the whole numbers 0 … 255: what is written of them means nothing."""
    n_rows, n_features = rows.shape
    zero = np.zeros(1, rows.dtype)[0]
    greatest = rows.dtype.type(255)
    # An odd number of lines, so that a column's bytes do not all fall on the same few sets.
    width = ((n_features + LINE - 1) // LINE | 1) * LINE
    tile = np.empty((TILE, width), np.uint8)
    for first in range(0, n_rows, TILE):
        n = min(TILE, n_rows - first)
        for i in range(n):
            for j in range(n_features):
                value = rows[first + i, j]
                # Of others than numbers in range a conversion would be undefined.
                moderate = value if (value >= zero) & (value <= greatest) else zero
                byte = np.uint8(np.int32(moderate))
                tile[i, j] = byte
                has_other[j] |= np.uint8(byte != value)
        n_left = 0
        for j in range(n_features):
            if has_other[j] == 0:
                n_left += 1
                for i in range(n):
                    codes[j, start + first + i] = tile[i, j]
        if n_left == 0:
            return


@kernel()
def column_bytes(column, codes):
    """Write a column's values as codes, and return whether all are whole numbers 0 … 255."""
    zero = np.zeros(1, column.dtype)[0]
    greatest = column.dtype.type(255)
    for first in range(0, column.shape[0], SMALL):
        other = np.uint8(0)
        for i in range(first, min(first + SMALL, column.shape[0])):
            value = column[i]
            moderate = value if (value >= zero) & (value <= greatest) else zero
            byte = np.uint8(np.int32(moderate))
            codes[i] = byte
            other |= np.uint8(byte != value)
        if other != 0:
            return False
    return True


@kernel()
def code_bytes(codes, columns, most, counts):
    """counts[k, b] = how many there are of byte b in the column columns[k]; where no more than
    `most` different ones are there, they become their ranks."""
    tables = np.empty((TABLES, 256), np.int64)
    rank = np.empty(256, np.uint8)
    for k in range(columns.shape[0]):
        column = codes[columns[k]]
        _count_bytes(column, tables, counts[k])
        n = 0
        for byte in range(256):
            rank[byte] = n
            n += counts[k, byte] > 0
        if n <= most and counts[k, n:].any():
            replace_bytes(column, rank)


@jitable
def _count_bytes(column, tables, counts):
    n = column.shape[0]
    tables[:] = 0
    for first in range(0, n - TABLES + 1, TABLES):
        for k in range(TABLES):
            tables[k, column[first + k]] += 1
    for i in range(n - n % TABLES, n):
        tables[0, column[i]] += 1
    for byte in range(256):
        counts[byte] = 0
        for k in range(TABLES):
            counts[byte] += tables[k, byte]


@kernel()
def replace_bytes(codes, table):
    for i in range(codes.shape[0]):
        codes[i] = table[codes[i]]


# ---- others ------------------------------------------------------------------------------------


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
def look_up(column, number, codes):
    """The codes of a column that was counted."""
    absent = number.max()
    for i in range(column.shape[0]):
        value = column[i]
        codes[i] = absent if np.isnan(value) else number[np.int64(value)] - 1

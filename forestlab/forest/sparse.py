"""Sparse matrices of scipy, of any format, as what grows and what asks a forest takes them.

To grow, a matrix is read by columns; to be asked, by rows, of which a block at a time is made
dense. Whatever is stored twice for one place is added up, as scipy does.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from scipy.sparse import issparse

from forestlab.core.sparse import Stored
from forestlab.forest.threads import BLOCK_NUMBERS, MOST_ROWS, block_of


def by_columns(X) -> Stored:
    """The matrix, as `core.sparse` encodes it; X stays as it is."""
    X = _summed(X.tocsc())
    # Kernels take one type of array: read-only ones are another to numba.
    values = np.require(X.data, np.float64, ["C", "W"])
    rows = np.require(X.indices, np.int32, ["C", "W"])
    return Stored(values, rows, np.array(X.indptr, np.int64), X.shape[0])


class Blocks:
    """The rows of X, an array or a sparse matrix, in blocks as kernels take them.

    A sparse block is written into zeros, and wiped out when it is done with, so that there is as
    much to do as there are stored values: 20 rows of 100,000 features, 60 of them stored, take
    0.1 ms, and 2 ms in fresh memory.
    """

    def __init__(self, X):
        self.X = _summed(X.tocsr()) if issparse(X) else X
        self.n_rows, n_features = X.shape
        fit = BLOCK_NUMBERS // max(1, n_features) if issparse(X) else MOST_ROWS
        self.most_rows = min(max(1, fit), MOST_ROWS, max(1, self.n_rows))
        self._spare: list[np.ndarray] = []  # zeros that no block is written in

    @contextmanager
    def block(self, rows: slice, dtype: type = np.float64) -> Iterator[np.ndarray]:
        """Those rows, dense, of one type that holds all values; not to be used afterwards."""
        if not issparse(self.X):
            yield block_of(self.X, rows, dtype)
            return
        begin = self.X.indptr[rows.start : rows.stop + 1]
        held, n_rows = slice(begin[0], begin[-1]), len(begin) - 1
        places = np.repeat(np.arange(n_rows), np.diff(begin)), self.X.indices[held]
        zeros = self._zeros(dtype)
        zeros[places] = self.X.data[held]
        yield zeros[:n_rows]
        zeros[places] = 0.0
        self._spare.append(zeros)

    def _zeros(self, dtype: type) -> np.ndarray:
        try:
            return self._spare.pop()  # which no other thread can have then
        except IndexError:
            return np.zeros((self.most_rows, self.X.shape[1]), dtype)


def _summed(X):
    """X with every place stored once and in order."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X

"""Sparse matrices of scipy, of any format, as what grows and what asks a forest takes them.

To grow, a matrix is read by columns; to be asked, by rows, of which a block at a time is made dense
(see threads.block_of). Whatever is stored twice for one place is added up, as scipy does.
"""

import numpy as np
from scipy.sparse import issparse

from forestlab.core.sparse import Stored


def by_columns(X) -> Stored:
    """The matrix, as `core.sparse` encodes it; X stays as it is."""
    X = _summed(X.tocsc())
    # Kernels take one type of array: read-only ones are another to numba.
    values = np.require(X.data, np.float64, ["C", "W"])
    rows = np.require(X.indices, np.int32, ["C", "W"])
    return Stored(values, rows, np.array(X.indptr, np.int64), X.shape[0])


def by_rows(X):
    """X itself if it is an array, else as compressed rows of float64."""
    return _summed(X.tocsr()).astype(np.float64, copy=False) if issparse(X) else X


def _summed(X):
    """X with every place stored once and in order."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X

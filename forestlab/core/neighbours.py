"""The rows that are nearest to others."""

import numpy as np

from forestlab.core.jit import kernel


@kernel("find the nearest rows", allocates=False)
def nearest(rows, own, others, found, squared):
    """Write the nearest of `others` to each of `rows`, nearest first; of equally near ones the
    first are taken.

    rows : (m, n_columns) float64
    own : (m,) int64: a row's own place among the others, which is passed over; -1 if it has none
    others : (n, n_columns) float64, more than k of them
    found, squared : (m, k) int64 places among the others, and float64 squared distances

    A distance grows from column to column, so that its sum is left off when it is too large: the
    columns that count most should stand first. On MNIST, columns by importance, a fifth is summed.
    """
    n_columns, k = rows.shape[1], found.shape[1]
    for i in range(rows.shape[0]):
        for p in range(k):
            found[i, p], squared[i, p] = -1, np.inf
        for j in range(others.shape[0]):
            if j == own[i]:
                continue
            limit = squared[i, k - 1]
            distance = 0.0
            for c in range(n_columns):
                step = rows[i, c] - others[j, c]
                distance += step * step
                if distance >= limit:
                    break
            if distance < limit:
                p = k - 1
                while p > 0 and squared[i, p - 1] > distance:
                    found[i, p], squared[i, p] = found[i, p - 1], squared[i, p - 1]
                    p -= 1
                found[i, p], squared[i, p] = j, distance

"""Weak learners: how a split turns a node's rows into ordered keys.

`project` writes one integer key a row and returns the least and the greatest. Rows with equal keys
cannot be separated; a cut lies between neighbouring keys.
"""

import numpy as np

from forestlab.core.jit import jitable


@jitable
def axis_project(codes, feature, rows, keys):
    """One column's codes are the keys."""
    least = np.uint32(0xFFFFFFFF)
    greatest = np.uint32(0)
    for i in range(rows.shape[0]):
        code = np.uint32(codes[feature, rows[i]])
        keys[i] = code
        least = min(least, code)
        greatest = max(greatest, code)
    return np.int64(least), np.int64(greatest)


LEARNERS = {"axis": axis_project}

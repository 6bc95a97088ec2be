"""A set of small whole numbers, as bits in words."""

import numpy as np

from forestlab.core.jit import jitable


@jitable
def has_bit(words, i):
    return (words[i >> 6] >> np.uint64(i & 63)) & np.uint64(1) != np.uint64(0)


@jitable
def set_bit(words, i):
    words[i >> 6] |= np.uint64(1) << np.uint64(i & 63)

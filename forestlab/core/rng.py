"""Random numbers that depend on a place, never on the order of visits.

A *key* is 64 bits. `draw(key, i)` is the i-th number of a key: SplitMix64's finaliser over a
counter (Steele, Lea and Flood 2014), so any number can be had without those before it. A tree's
key comes from the seed and the tree's number; a node's key from its parent's and its side; what is
drawn for different purposes at one place comes from different `stream`s of the key. So a tree cut
at depth 5, or a forest's first half, is drawn exactly as if it had been grown alone.
"""

import numpy as np

from forestlab.core.jit import jitable

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
ONE = np.uint64(1)
HALF = np.uint64(32)
SIDES = np.array([0xD1B54A32D192ED03, 0xABC98388FB8FAC03], dtype=np.uint64)

# The purposes for which numbers are drawn at one place.
BAG = np.uint64(0x8CB92BA72F3D8DD7)
TREE_FEATURES = np.uint64(0xF1357AEA2E62A9C5)
NODE_FEATURES = np.uint64(0xDB4F0B9175AE2165)
PARAMETERS = np.uint64(0xBBE0563303A4615F)
THRESHOLDS = np.uint64(0xA0761D6478BD642F)
TIES = np.uint64(0x8EBC6AF09C88C6E3)
COLUMNS = np.uint64(0xE7037ED1A0B428DB)
FACTORS = np.uint64(0x589965CC75374CC3)
KINDS = np.uint64(0x1D8E4E27C47D124F)
LEVELS = np.uint64(0xEB44ACCAB455D165)


@jitable
def mix(bits):
    """Scramble 64 bits so that each depends on all."""
    bits = (bits ^ (bits >> np.uint64(30))) * MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * MIX_2
    return bits ^ (bits >> np.uint64(31))


@jitable
def tree_key(seed, tree):
    return mix(mix(np.uint64(seed) + GOLDEN) + GOLDEN * (np.uint64(tree) + ONE))


@jitable
def child_key(key, side):
    return mix(key ^ SIDES[side])


@jitable
def stream(key, purpose):
    return mix(key ^ purpose)


@jitable
def draw(key, i):
    return mix(key + GOLDEN * (np.uint64(i) + ONE))


@jitable
def draw_below(key, i, n):
    """The i-th number of a key, uniform in 0 … n - 1 (n < 2**32; its bias is below n / 2**32)."""
    return np.int64(((draw(key, i) >> HALF) * np.uint64(n)) >> HALF)


@jitable
def draw_unit(key, i):
    """The i-th number of a key, uniform in [0, 1)."""
    return np.float64(draw(key, i) >> np.uint64(11)) * 1.1102230246251565e-16


@jitable
def draw_among(key, i, n):
    """As `draw_below`, for n that 32 bits do not hold (n < 2**53; its bias is below n / 2**53)."""
    return np.int64(draw_unit(key, i) * n)


@jitable
def shuffle_step(items, i, n, key):
    """The i-th step of a Fisher-Yates shuffle of items[:n]; returns the place swapped with i.

    The first k steps put a uniform k-subset in front, and are the first k of the k + 1.
    """
    j = i + draw_below(key, i, n - i)
    items[i], items[j] = items[j], items[i]
    return j

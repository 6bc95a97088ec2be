"""Where to look closely: what is near the best, which the whole range of a metric would hide."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

AROUND = 0.5  # of the distance between the ends: how far beyond them a closer look reaches
LEAST = 0.01  # of the whole range: at least so far
MOST = 0.5  # of the whole range: a closer look at more shows nothing new


def near(ends: Sequence[float], values: np.ndarray) -> tuple[float, float] | None:
    """The limits of a closer look, or None if there is nothing to look at more closely.

    Parameters
    ----------
    ends : the values that it is for, such as the best and the last of each curve
    values : all that there are
    """
    known, ends = values[np.isfinite(values)], [end for end in ends if np.isfinite(end)]
    if not ends:
        return None
    whole, low, high = float(np.ptp(known)), min(ends), max(ends)
    around = max(AROUND * (high - low), LEAST * whole)
    if high == low or high - low + 2.0 * around > MOST * whole:
        return None
    low -= around
    if known.min() >= 0.0:  # no error is below
        low = max(low, 0.0)
    return low, high + around

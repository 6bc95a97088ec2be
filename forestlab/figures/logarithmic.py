"""Logarithmic scales, for errors, leaves and trees: 0.02 and 0.01 differ as 0.2 and 0.1 do."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from forestlab.figures.words import NICE_STEPS, numbers, scale

MARGIN = 0.04  # of the scale, at each end
BELOW = 0.12  # of the scale: how far below the least value above it 0 stands
MOST = {"x": 12, "y": 7}  # labels


def known_above_0(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values) & (values > 0.0)]


def log_scale(ax: Axes, axis: str, values: np.ndarray, zero: bool = False) -> float:
    """Set limits and labels around all values above 0; there has to be one.

    Returns
    -------
    where 0 stands, if it is to stand anywhere: below all others, with a label of its own
    """
    known = known_above_0(np.asarray(values, np.float64))
    least, most = float(known.min()), float(known.max())
    floor = least / max((most / least) ** BELOW, 2.0)
    low = floor if zero else least
    margin = (most / low) ** MARGIN if most > low else 1.5
    limits = low / margin, most * margin
    if axis == "x":
        ax.set_xscale("log")
        ax.set_xlim(limits)
    else:
        ax.set_yscale("log")
        ax.set_ylim(limits)
    places = log_ticks(max(least / margin, 1.2 * floor), limits[1], MOST[axis])
    labels = numbers(places)
    if zero:
        places, labels = np.append(floor, places), ["0", *labels]
    scale(ax, axis, places, labels)
    return floor


def log_ticks(low: float, high: float, most: int) -> np.ndarray:
    """At most so many round numbers between: 1, 2 and 5 times powers of ten, or the powers alone,
    or, where there are not two of these, such as a linear scale has."""
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1.0)
    for steps in ((1.0, 2.0, 5.0), (1.0,)):
        places = np.array([float(f"{step * power:.3g}") for power in powers for step in steps])
        places = places[(places >= low) & (places <= high)]
        if len(places) <= most:
            break
    places = places[:: max(-(-len(places) // most), 1)]
    if len(places) < 2:
        places = np.asarray(MaxNLocator(4, steps=NICE_STEPS).tick_values(low, high))
        places = places[(places >= low) & (places <= high)]
    return places

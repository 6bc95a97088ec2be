"""How time grows: with rows, features, trees, classes and threads.

One of them is changed at a time, the others stay as in BASE. An *exponent* is the slope of the
logarithm of time over that of what grows, by least squares: 1 is a time that doubles with it.
"""

import math
import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmark.data import Split, made_classes
from benchmark.fit import one_turn
from benchmark.measured import Measured, Record
from benchmark.peers import PEERS, installed
from benchmark.rounds import Settings, orders, tell

BASE = {"rows": 8_000, "features": 20, "trees": 20, "classes": 5, "threads": 1}
POINTS = {
    "rows": (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000),
    "features": (8, 16, 32, 64, 128, 256),
    "trees": (5, 10, 20, 40, 80, 160),
    "classes": (2, 4, 8, 16, 32, 64),
}
TIMES = ("fit", "predict")


class Exponent(NamedTuple):
    slope: float
    error: float  # its standard error; NaN of two points
    scale: float  # seconds at 1


def points(axis: str, settings: Settings) -> tuple[int, ...]:
    if axis == "threads":
        most = os.cpu_count() or 1
        return tuple(sorted({min(2**k, most) for k in range(most.bit_length() + 1)}))
    found = POINTS[axis]
    return tuple(p for p in found if p <= settings.rows) if _is_cut(axis, settings) else found


def _is_cut(axis: str, settings: Settings) -> bool:
    return axis == "rows" and settings.rows is not None


def measure(settings: Settings) -> list[Measured]:
    peers = {
        name: make
        for name, make in installed("classification", settings).items()
        if not PEERS[name].starts_cold
    }
    found: list[Measured] = []
    for axis in (*POINTS, "threads"):
        for at in points(axis, settings):
            found += _measured(peers, axis, at, settings)
    return found


def _measured(peers: dict[str, Callable], axis: str, at: int, settings: Settings):
    """All peers, with one of BASE changed."""
    size = BASE | ({"rows": min(BASE["rows"], settings.rows)} if settings.rows else {})
    size = size | ({"trees": settings.trees} if settings.trees else {}) | {axis: at}
    data = made(size["rows"], size["features"], size["classes"])
    for make in peers.values():
        one_turn(make, data, 1, size["threads"], 0)
    found: dict[str, list[dict]] = {peer: [] for peer in peers}
    for r, names in orders(list(peers), settings.rounds, f"growth, {at:,} {axis}"):
        for peer in names:
            tell(f"growth, {at:,} {axis}: round {r + 1} of {settings.rounds}: {peer}")
            _, turn = one_turn(peers[peer], data, size["trees"], size["threads"], r)
            found[peer].append(turn)
    return [
        Measured("growth", axis, peer, what, "s", tuple(turn[what] for turn in turns), at)
        for peer, turns in found.items()
        for what in TIMES
    ]


def made(n_rows: int, n_features: int, n_classes: int) -> Split:
    """As many rows to predict as to fit, so that both grow."""
    X, y = made_classes(2 * n_rows, n_features, n_classes)
    X = X.astype(np.float32)
    return Split(X[:n_rows], X[n_rows:], y[:n_rows], y[n_rows:])


# ---- exponents ---------------------------------------------------------------------------------


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> Exponent:
    """The line through the logarithms, by least squares."""
    x, y = np.log(sizes), np.log(seconds)
    slope, offset = np.polyfit(x, y, 1)
    left = y - (slope * x + offset)
    spread = np.sum((x - x.mean()) ** 2)
    error = math.sqrt(left @ left / (len(x) - 2) / spread) if len(x) > 2 else math.nan
    return Exponent(float(slope), error, float(np.exp(offset)))


def curve(record: Record, axis: str, peer: str, what: str) -> tuple[list[int], list[float]]:
    """(sizes, seconds), by size; empty if it was not measured."""
    found = [one for one in record.of("growth") if one.key[1:4] == (axis, peer, what)]
    found.sort(key=lambda one: one.at or 0)
    return [one.at or 0 for one in found], [one.median for one in found]

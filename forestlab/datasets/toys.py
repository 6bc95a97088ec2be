"""Toys of two features, to look at: spirals, rings, moons, blobs, clouds, a checkerboard.

Each maker takes a number of rows, a standard deviation of noise that is added to both features,
and a random generator; it returns features of shape (n, 2) and classes of shape (n,), numbered
from 0. The classes are equally likely.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from forestlab.datasets.base import DataError

Drawn: TypeAlias = tuple[np.ndarray, np.ndarray]
Maker: TypeAlias = Callable[[int, float, np.random.Generator], Drawn]

N_TURNS = 1.5  # of a spiral's arm
N_RINGS = 4  # the disc in the middle among them
BLOB_CENTRES = np.array([(-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (2.0, 2.0)])
GAP = 1.0  # between the two clouds
N_CELLS = 4  # of the checkerboard, along each side


def spirals(n_rows: int, noise: float, rng: np.random.Generator, n_arms: int = 2) -> Drawn:
    """A spiral arm for each class, from the middle to radius 1."""
    y = rng.integers(0, n_arms, n_rows)
    radius = np.sqrt(rng.random(n_rows))  # so that an arm is about as dense outside as inside
    angle = 2 * np.pi * (N_TURNS * radius + y / n_arms)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y


def annuli(n_rows: int, noise: float, rng: np.random.Generator) -> Drawn:
    """A disc of radius 1, evenly filled: rings of one area around each other, by turns of class 0
    and 1, the innermost a disc. Only circles part them."""
    area, turn = rng.random((2, n_rows))  # within a row's circle, as a share; around it
    angle = 2 * np.pi * turn
    X = np.sqrt(area)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.floor(N_RINGS * area).astype(np.int64) % 2
    return X + noise * rng.standard_normal(X.shape), y


def moons(n_rows: int, noise: float, rng: np.random.Generator) -> Drawn:
    """Two half circles of radius 1 that reach into each other."""
    y = rng.integers(0, 2, n_rows)
    angle = np.pi * rng.random(n_rows)
    x_upper, y_upper = np.cos(angle), np.sin(angle)
    upper, lower = (
        np.column_stack([x_upper, y_upper]),
        np.column_stack([1 - x_upper, 0.5 - y_upper]),
    )
    X = np.where(y[:, None] == 0, upper, lower)
    return X + noise * rng.standard_normal(X.shape), y


def blobs(n_rows: int, noise: float, rng: np.random.Generator) -> Drawn:
    """A round normal for each of four classes, at the corners of a square of side 4."""
    y = rng.integers(0, len(BLOB_CENTRES), n_rows)
    return BLOB_CENTRES[y] + noise * rng.standard_normal((n_rows, 2)), y


def clouds(n_rows: int, noise: float, rng: np.random.Generator) -> Drawn:
    """Two round normals side by side, with an empty strip of width 1 between them.

    Class 0 is on the left, its nearest row exactly at x = -½; class 1 is on the right, its nearest
    row exactly at x = ½. Their heights y are alike, so that of all lines along an axis only those
    with x between -½ and ½ part the classes, and the one of the maximum margin is x = 0. That holds
    for all rows together: `margin` finds the line of those that a model has seen.

    Criminisi, Shotton and Konukoglu (2011) show on such clouds that a forest without bagging comes
    near that line.
    """
    y = rng.integers(0, 2, n_rows)
    X = noise * rng.standard_normal((n_rows, 2))
    for label, side in enumerate((-1.0, 1.0)):
        rows = y == label
        outwards = side * X[rows, 0]
        X[rows, 0] = side * (outwards - outwards.min(initial=np.inf) + GAP / 2)
    return X, y


class Margin(NamedTuple):
    """The empty strip between two classes, along one axis."""

    left: float  # the last row of the class on the left
    right: float  # the first row of the class on the right
    line: float  # midway: as far from both classes as a line along an axis can be


def margin(X: np.ndarray, y: np.ndarray) -> Margin:
    """The strip between two clouds, and its middle.

    Parameters
    ----------
    X : (n, 1 or more) rows, of which the first column is looked at
    y : (n,) 0 on the left, 1 on the right
    """
    x, y = np.asarray(X)[:, 0], np.asarray(y)
    left, right = x[y == 0].max(initial=-np.inf), x[y == 1].min(initial=np.inf)
    if not -np.inf < left < right < np.inf:
        raise DataError(
            "There is no margin: the first column does not part rows of class 0 on its left from "
            "rows of class 1 on its right."
        )
    return Margin(float(left), float(right), float((left + right) / 2))


def checkerboard(n_rows: int, noise: float, rng: np.random.Generator) -> Drawn:
    """Black and white cells of a 4 × 4 board over the unit square; no single cut gains."""
    X = rng.random((n_rows, 2))
    y = np.floor(N_CELLS * X).astype(np.int64).sum(axis=1) % 2
    return X + noise * rng.standard_normal(X.shape), y


TOYS: dict[str, tuple[Maker, float]] = {  # name: (maker, usual noise)
    "spirals": (spirals, 0.03),
    "spirals3": (partial(spirals, n_arms=3), 0.03),
    "spirals4": (partial(spirals, n_arms=4), 0.03),
    "annuli": (annuli, 0.03),
    "moons": (moons, 0.2),
    "blobs": (blobs, 1.0),
    "clouds": (clouds, 0.5),
    "checkerboard": (checkerboard, 0.0),
}

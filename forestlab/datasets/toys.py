"""Toys of two features, to look at: spirals, moons, blobs, a checkerboard.

Each recipe takes a number of rows, a standard deviation of noise that is added to both features,
and a random generator; it returns features of shape (n, 2) and classes of shape (n,), numbered
from 0. The classes are equally likely.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

Table: TypeAlias = tuple[np.ndarray, np.ndarray]
RecipeFunction: TypeAlias = Callable[[int, float, np.random.Generator], Table]

N_TURNS = 1.5  # of a spiral's arm
BLOB_CENTRES = np.array([(-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (2.0, 2.0)])
N_CELLS = 4  # of the checkerboard, along each side


def spirals(n_rows: int, noise: float, rng: np.random.Generator, n_arms: int = 2) -> Table:
    """A spiral arm for each class, from the middle to radius 1."""
    y = rng.integers(0, n_arms, n_rows)
    radius = np.sqrt(rng.random(n_rows))  # so that an arm is about as dense outside as inside
    angle = 2 * np.pi * (N_TURNS * radius + y / n_arms)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y


def moons(n_rows: int, noise: float, rng: np.random.Generator) -> Table:
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


def blobs(n_rows: int, noise: float, rng: np.random.Generator) -> Table:
    """A round normal for each of four classes, at the corners of a square of side 4."""
    y = rng.integers(0, len(BLOB_CENTRES), n_rows)
    return BLOB_CENTRES[y] + noise * rng.standard_normal((n_rows, 2)), y


def checkerboard(n_rows: int, noise: float, rng: np.random.Generator) -> Table:
    """Black and white cells of a 4 × 4 board over the unit square; no single cut gains."""
    X = rng.random((n_rows, 2))
    y = np.floor(N_CELLS * X).astype(np.int64).sum(axis=1) % 2
    return X + noise * rng.standard_normal(X.shape), y


TOYS: dict[str, tuple[RecipeFunction, float]] = {  # name: (recipe, usual noise)
    "spirals": (spirals, 0.03),
    "spirals3": (partial(spirals, n_arms=3), 0.03),
    "spirals4": (partial(spirals, n_arms=4), 0.03),
    "moons": (moons, 0.2),
    "blobs": (blobs, 1.0),
    "checkerboard": (checkerboard, 0.0),
}

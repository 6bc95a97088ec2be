"""Data sets made from their definitions: Breiman's four, one strong feature, regressions, toys.

A *maker* takes a number of rows, the amount of noise and a random generator and returns features
of shape (n, m) and a target of shape (n,). MADE_SETS names each with its task, its usual noise
(None: it takes none) and its column names; `make` wraps one as a loader.

Breiman's sets are those of "Bias, variance, and arcing classifiers" (1996) and of "Arcing
classifiers" (1998); the waves are those of "Classification and Regression Trees" (1984). Classes
are equally likely and are numbered from 0.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from forestlab.config import DatasetConfig
from forestlab.datasets import toys
from forestlab.datasets.base import CLASSIFICATION, REGRESSION, DataError, Dataset
from forestlab.datasets.levels import levels

N_SAMPLES = 3000
N_NORM = 20  # features of the three norms
SPREAD = 2 / np.sqrt(N_NORM)


def twonorm(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """Two unit normals around (a, …, a) and (-a, …, -a), a = 2/√20. Least error 2.3 %."""
    y = rng.integers(0, 2, n_rows)
    centres = np.where(y == 0, SPREAD, -SPREAD)
    return centres[:, None] + rng.standard_normal((n_rows, N_NORM)), y


def threenorm(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """Class 0: two normals, at ±(a, …, a); class 1: one at (a, -a, a, …). Least error 10.5 %."""
    y = rng.integers(0, 2, n_rows)
    sides = rng.choice([-SPREAD, SPREAD], n_rows)
    alternating = SPREAD * (-1.0) ** np.arange(N_NORM)
    centres = np.where(y[:, None] == 0, sides[:, None], alternating)
    return centres + rng.standard_normal((n_rows, N_NORM)), y


def ringnorm(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """Class 0: variance 4 around 0; class 1: variance 1 around (a, …, a), a = 1/√20.

    Breiman gives a least error of 1.3 %. Drawn 400,000 times, a = 1/√20 has 1.49 % and a = 2/√20,
    which some copies of the definition have, 1.23 %.
    """
    y = rng.integers(0, 2, n_rows)[:, None]
    draws = rng.standard_normal((n_rows, N_NORM))
    return np.where(y == 0, 2 * draws, 1 / np.sqrt(N_NORM) + draws), y[:, 0]


PLACES = np.arange(1, 22)
WAVES = np.array([np.maximum(6 - np.abs(PLACES - peak), 0) for peak in (7, 15, 11)], dtype=float)
WAVE_PAIRS = np.array([(0, 1), (0, 2), (1, 2)])  # the two waves that each class mixes


def waveform(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """A random mix of two of three triangular waves at 21 places, and unit noise.

    Breiman gives a least error of 14 %.
    """
    y = rng.integers(0, 3, n_rows)
    share = rng.random((n_rows, 1))
    first, second = WAVES[WAVE_PAIRS[y]].swapaxes(0, 1)
    return share * first + (1 - share) * second + rng.standard_normal((n_rows, 21)), y


# How far each class is from 0 along each feature: one strong, nine weak, ten that say nothing.
SHIFTS = np.array([1.0] + 9 * [1 / 3] + 10 * [0.0])
DOMINANT_COLUMNS = ["strong"]
DOMINANT_COLUMNS += [f"weak{number}" for number in range(1, 10)]
DOMINANT_COLUMNS += [f"noise{number}" for number in range(1, 11)]


def dominant(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """Two unit normals, class 1 around s = (1, ⅓, …, ⅓, 0, …, 0) and class 0 around -s.

    One feature is strong, nine are weak and ten say nothing; given the class, all are independent.
    The best rule on features J is the sign of Σ sⱼ xⱼ and has the error Φ(-√(Σ sⱼ²)): on the strong
    feature Φ(-1) = 15.9 %, on a weak one Φ(-⅓) = 36.9 %, on the nine together Φ(-1) again. The
    least error is Φ(-√2) = 7.9 %.

    A tree that may look at all features begins with the strong one, whatever its bootstrap holds;
    half of what is known about the class is elsewhere.
    """
    y = rng.integers(0, 2, n_rows)
    sides = np.where(y == 1, 1.0, -1.0)
    return sides[:, None] * SHIFTS + rng.standard_normal((n_rows, len(SHIFTS))), y


def friedman1_truth(X: np.ndarray) -> np.ndarray:
    """10 sin(π x₁ x₂) + 20 (x₃ - ½)² + 10 x₄ + 5 x₅ of X, shape (n, 5 or more)."""
    bend = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return bend + 10 * X[:, 3] + 5 * X[:, 4]


def friedman1(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """Ten uniform features, five of which matter (Friedman 1991)."""
    X = rng.random((n_rows, 10))
    return X, friedman1_truth(X) + noise * rng.standard_normal(n_rows)


def skewed(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """As friedman1, with exponential noise of mean 0: its median is -0.31 times its deviation, and
    its mode, the least that it can be, -1 times."""
    X = rng.random((n_rows, 10))
    return X, friedman1_truth(X) + noise * (rng.standard_exponential(n_rows) - 1.0)


def sine_truth(X: np.ndarray) -> np.ndarray:
    """sin(2 π x) of X, shape (n, 1)."""
    return np.sin(2 * np.pi * X[:, 0])


def sine(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """One period of a sine over [0, 1)."""
    X = rng.random((n_rows, 1))
    return X, sine_truth(X) + noise * rng.standard_normal(n_rows)


QUIET, HEAPS = 0.3, 0.6  # where the target's spread, and where its shape, changes


def spreads(n_rows: int, noise: float, rng: np.random.Generator) -> toys.Drawn:
    """Over [0, 1) a mean of 0 throughout: first a narrow normal, of deviation 0.2; then one of
    deviation 1; then two narrow heaps around ±0.98, again of deviation 1 together. Times the noise.
    """
    X, narrow, wide = rng.random((n_rows, 1)), *rng.standard_normal((2, n_rows))
    heaps = np.sqrt(0.96) * rng.choice([-1.0, 1.0], n_rows) + 0.2 * narrow
    y = np.where(X[:, 0] < QUIET, 0.2 * narrow, np.where(X[:, 0] < HEAPS, wide, heaps))
    return X, noise * y


class MadeSet(NamedTuple):
    """How a set is made: see the module's docstring."""

    maker: toys.Maker
    task: str
    noise: float | None
    columns: list[str]


def _numbered(n_columns: int) -> list[str]:
    return [f"x{number}" for number in range(1, n_columns + 1)]


MADE_SETS = {
    "twonorm": MadeSet(twonorm, CLASSIFICATION, None, _numbered(N_NORM)),
    "threenorm": MadeSet(threenorm, CLASSIFICATION, None, _numbered(N_NORM)),
    "ringnorm": MadeSet(ringnorm, CLASSIFICATION, None, _numbered(N_NORM)),
    "waveform": MadeSet(waveform, CLASSIFICATION, None, _numbered(21)),
    "dominant": MadeSet(dominant, CLASSIFICATION, None, DOMINANT_COLUMNS),
    "friedman1": MadeSet(friedman1, REGRESSION, 1.0, _numbered(10)),
    "skewed": MadeSet(skewed, REGRESSION, 5.0, _numbered(10)),
    "sine": MadeSet(sine, REGRESSION, 0.3, ["x"]),
    "spreads": MadeSet(spreads, REGRESSION, 1.0, ["x"]),
    **{
        name: MadeSet(function, CLASSIFICATION, noise, ["x", "y"])
        for name, (function, noise) in toys.TOYS.items()
    },
}


def make(name: str, config: DatasetConfig) -> Dataset:
    """The made set of a name, with dataset.n_samples, noise and data_seed."""
    made = MADE_SETS[name]
    n_rows = N_SAMPLES if config.n_samples is None else config.n_samples
    noise = made.noise if config.noise is None else config.noise
    if n_rows < 1:
        raise DataError(f"dataset.n_samples={n_rows} is no number of rows: it has to be 1 or more.")
    if noise is not None and not 0 <= noise < np.inf:
        raise DataError(f"dataset.noise={noise} is no standard deviation: it has to be 0 or more.")
    X, y = made.maker(n_rows, noise or 0.0, np.random.default_rng(config.data_seed))
    spread = "" if noise is None else f", noise {noise:g}"
    source = f"made: {name}, {n_rows} rows{spread}, seed {config.data_seed}"
    return Dataset(name, pd.DataFrame(X, columns=made.columns), y, made.task, source)


MADE = {name: partial(make, name) for name in MADE_SETS} | {"levels": levels}
NOISY = [name for name, made in MADE_SETS.items() if made.noise is not None]

"""What is known of made sets: the expected target of any row, and how far targets scatter about it.

`truth` answers for the sets in TRUTHS; `draw` makes fresh rows of one. A class is a vector here, 1
in its own place and 0 elsewhere: what is expected of it are the probabilities of the classes, and
its scatter is the least Brier score that any rule can have.

The densities of the norms and of dominant are normal; a waveform's is a normal's mean over a line,
which has a closed form. All are taken as logarithms, so that rows far from every centre have a
truth too.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, softmax

from forestlab.datasets.base import DataError
from forestlab.datasets.made import (
    MADE_SETS,
    N_NORM,
    SHIFTS,
    SPREAD,
    WAVE_PAIRS,
    WAVES,
    friedman1_truth,
    sine_truth,
)
from forestlab.datasets.table import listed
from forestlab.datasets.toys import Drawn


class Truth(NamedTuple):
    """What is known of n rows."""

    expected: np.ndarray  # (n,) E[y | x]; or (n, n_classes): P(class | x)
    noise: np.ndarray  # (n,) E[(y - expected)² | x]; of classes, the sum over their places


def truth(name: str, X: np.ndarray, noise: float | None = None) -> Truth:
    """The truth of a made set.

    Parameters
    ----------
    name : one of TRUTHS
    X : (n, n_features) any rows, drawn or chosen
    noise : as in dataset.noise: the standard deviation of a regression's target; None: the usual

    Returns
    -------
    Truth
        Class k has the column k.
    """
    noise = _noise(name, noise)
    X = np.asarray(X, np.float64)
    n_columns = len(MADE_SETS[name].columns)
    if X.shape[1] != n_columns:
        raise DataError(
            f"The truth of {name} is one of all its {n_columns} features; got {X.shape[1]}."
        )
    return TRUTHS[name](X, noise)


def draw(name: str, n_rows: int, seed: int, noise: float | None = None) -> Drawn:
    """Fresh rows of a set with a known truth: X (n_rows, n_features) and y (n_rows,)."""
    noise = _noise(name, noise)
    return MADE_SETS[name].maker(n_rows, noise, np.random.default_rng(seed))


def _noise(name: str, noise: float | None) -> float:
    """The noise that takes effect; DataError for a set of unknown truth, or one without noise."""
    if name not in TRUTHS:
        raise DataError(
            f"dataset.name={name} has no known truth to hold answers against; "
            f"the data sets that have one are {listed(TRUTHS)}."
        )
    usual = MADE_SETS[name].noise
    if usual is None and noise is not None:
        raise DataError(f"dataset.noise={noise} has no meaning for {name}.")
    return (usual or 0.0) if noise is None else noise


# ---- numbers and classes -----------------------------------------------------------------------


def of_numbers(function: Callable, X: np.ndarray, noise: float) -> Truth:
    return Truth(function(X), np.full(len(X), noise**2))


def of_classes(log_densities: Callable, X: np.ndarray, noise: float) -> Truth:
    """Bayes' rule, for classes that are equally likely."""
    posterior = softmax(log_densities(X), axis=1)
    return Truth(posterior, (posterior * (1.0 - posterior)).sum(axis=1))


# ---- log densities of the classes, (n, n_classes), but for what all classes share --------------


def twonorm(X: np.ndarray) -> np.ndarray:
    return np.column_stack([_log_normal(X, SPREAD), _log_normal(X, -SPREAD)])


def threenorm(X: np.ndarray) -> np.ndarray:
    two = np.logaddexp(_log_normal(X, SPREAD), _log_normal(X, -SPREAD)) - np.log(2.0)
    return np.column_stack([two, _log_normal(X, SPREAD * (-1.0) ** np.arange(N_NORM))])


def ringnorm(X: np.ndarray) -> np.ndarray:
    return np.column_stack([_log_normal(X, 0.0, 4.0), _log_normal(X, 1.0 / np.sqrt(N_NORM))])


def dominant(X: np.ndarray) -> np.ndarray:
    return np.column_stack([_log_normal(X, -SHIFTS), _log_normal(X, SHIFTS)])


def waveform(X: np.ndarray) -> np.ndarray:
    return np.column_stack([_log_line(X, *WAVES[pair]) for pair in WAVE_PAIRS])


def _log_normal(X: np.ndarray, centre, variance: float = 1.0) -> np.ndarray:
    """Of a round normal."""
    distance = ((X - centre) ** 2).sum(axis=1) / variance
    return -0.5 * (distance + X.shape[1] * np.log(variance))


def _log_line(X: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Of the mean, over u from 0 to 1, of the unit normals around u · first + (1 - u) · second.

    Along the line the density of a row is that of a normal in u, around the row's foot u₀ and with
    deviation 1 / length; what is between the ends is a difference of two normal integrals.
    """
    along = first - second
    length = np.sqrt(along @ along)
    foot = (X - second) @ along / length**2
    away = ((X - second - foot[:, None] * along) ** 2).sum(axis=1)
    return -0.5 * away - np.log(length) + _log_between(-foot * length, (1.0 - foot) * length)


def _log_between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """log(Φ(high) - Φ(low)); on the left of 0, where both are small, nothing is lost."""
    mirrored = low + high > 0.0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    below, above = log_ndtr(low), log_ndtr(high)
    return above + np.log1p(-np.exp(below - above))


# ---- the table ---------------------------------------------------------------------------------

TRUTHS: dict[str, Callable[[np.ndarray, float], Truth]] = {
    **{
        function.__name__: partial(of_classes, function)
        for function in (twonorm, threenorm, ringnorm, waveform, dominant)
    },
    "friedman1": partial(of_numbers, friedman1_truth),
    "sine": partial(of_numbers, sine_truth),
}

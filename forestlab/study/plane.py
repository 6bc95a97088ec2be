"""The plane around rows of two features, in pixels."""

import numpy as np

Extent = tuple[float, float, float, float]  # left, right, bottom, top
MARGIN = 0.05  # of the rows' range, on each side


def has_range(look) -> bool:
    """Is each feature one of numbers, of which some are known in the training rows?"""
    return look.of_numbers and not np.isnan(look.data["train"][0]).all(axis=0).any()


def grid_of(X: np.ndarray, size: int = 150) -> tuple[np.ndarray, Extent]:
    """The places to ask a model about, so that its answers fill the plane around the rows of X.

    Parameters
    ----------
    X : (n, 2), NaN where a value is missing
    size : pixels along each side

    Returns
    -------
    middles : (size * size, 2) of the pixels, line by line from the bottom left: K answers to them,
        reshaped to (size, size, K), are a grid
    extent : (left, right, bottom, top) of the plane, a little wider than the rows
    """
    X = np.asarray(X, np.float64)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    margin = np.where(high > low, MARGIN * (high - low), 0.5)
    low, high = low - margin, high + margin
    x, y = (low + (np.arange(size)[:, None] + 0.5) * (high - low) / size).T
    middles = np.column_stack([np.tile(x, size), np.repeat(y, size)])
    return middles, (float(low[0]), float(high[0]), float(low[1]), float(high[1]))

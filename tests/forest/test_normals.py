"""Clipped normal distributions, held against scipy's and against sums over grids."""

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import multivariate_normal, norm

from forestlab.forest.normals import (
    Normals,
    between,
    draw_rows,
    inside,
    log_densities,
    log_masses,
)

CELLS = {  # of three columns with mean 0 and deviation 1; the first ones of fewer
    "everything": ([-np.inf] * 3, [np.inf] * 3),
    "a corner": ([-0.1, -0.2, -np.inf], [np.inf, np.inf, 0.3]),
    "a box": ([-0.5, -1.0, -0.3], [1.5, 0.2, 0.7]),
    "a narrow one": ([-0.01, -0.02, -0.01], [0.02, 0.01, 0.03]),
}
CORRELATIONS = {"round": (0.0, 0.0, 0.0), "a slope": (0.99, 0.0, 0.0), "bent": (-0.9, 0.5, -0.6)}


def clipped(cell, correlations, n_columns):
    """One normal of deviation 1; its covariance beside it."""
    covariance = np.eye(3)
    covariance[np.tril_indices(3, -1)] = correlations
    covariance = (np.tril(covariance, -1).T + covariance)[:n_columns, :n_columns]
    slope = np.linalg.cholesky(covariance)[None]
    deviation = slope[:, np.arange(n_columns), np.arange(n_columns)]
    ends = [np.array([end[:n_columns]]) for end in CELLS[cell]]
    normals = Normals(np.zeros((1, n_columns)), deviation, slope, *ends, np.zeros(1))
    return normals, covariance


def mass_of(normals, covariance):
    """By scipy, from the lower ends on; of 3 columns to a relative 1e-5 or so."""
    given = multivariate_normal(cov=covariance, abseps=1e-8, releps=1e-6, maxpts=1_000_000)
    return given.cdf(normals.upper[0], lower_limit=normals.lower[0], rng=np.random.default_rng(0))


@pytest.mark.parametrize("correlations", CORRELATIONS.values(), ids=list(CORRELATIONS))
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_masses_are_those_of_scipy(n_columns, cell, correlations):
    normals, covariance = clipped(cell, correlations, n_columns)
    found = np.exp(log_masses(normals)[0])
    off = {1: 1e-12, 2: 1e-4, 3: 2e-3}[n_columns]  # points are few
    np.testing.assert_allclose(found, mass_of(normals, covariance), off)


def test_masses_of_independent_columns_are_products():
    rng = np.random.default_rng(0)
    lower, upper = -rng.exponential(size=(50, 6)), rng.exponential(size=(50, 6))
    lower[::3, 0], upper[1::3, 2] = -np.inf, np.inf
    deviation = rng.exponential(size=(50, 6))
    normals = Normals(
        np.zeros((50, 6)), deviation, np.zeros((50, 0, 0)), lower, upper, np.zeros(50)
    )
    expected = np.log(norm.cdf(upper / deviation) - norm.cdf(lower / deviation)).sum(axis=1)
    np.testing.assert_allclose(log_masses(normals), expected, 1e-9)
    assert (log_masses(normals, 3) == log_masses(normals)).all()


def test_what_is_between_two_numbers_keeps_its_digits():
    tiny = np.array([1e-12, -1e-12, 0.0, 3e-9])
    np.testing.assert_allclose(inside(tiny - 1e-10, tiny + 1e-10), 2e-10 * norm.pdf(0), 1e-6)
    far = np.exp(log_ndtr(-20.0)) - np.exp(log_ndtr(-21.0))
    np.testing.assert_allclose(inside(np.array([20.0, -21.0]), np.array([21.0, -20.0])), far, 1e-12)
    low, high = np.array([-np.inf, -1.0, 2.0, -4.0]), np.array([np.inf, 3.0, np.inf, -3.0])
    for part in (0.0, 1e-9, 0.3, 1 - 1e-16, 1.0):
        found = between(low, high, np.full(4, part))
        assert np.isfinite(found).all()
        assert ((found >= low) & (found <= high)).all()
        share = inside(low, found) / inside(low, high)
        np.testing.assert_allclose(share, part, 1e-6, 1e-12)


@pytest.mark.parametrize("n_columns", [2, 3])
@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell != "everything"])
def test_rows_are_drawn_from_the_density(cell, n_columns):
    """Means and products of two columns, by many rows and by a sum over midpoints of a grid."""
    normals, _ = clipped(cell, CORRELATIONS["bent"], n_columns)
    n, at = 20_000, np.zeros(20_000, int)
    rows = draw_rows(normals, at, np.random.RandomState(0))
    assert (rows > normals.lower).all()
    assert (rows <= normals.upper).all()
    low, high = (np.clip(end[0], -5, 5) for end in (normals.lower, normals.upper))
    steps = (np.arange(60) + 0.5) / 60
    grid = np.stack(np.meshgrid(*(low + np.outer(steps, high - low)).T), -1).reshape(-1, n_columns)
    weight = np.exp(log_densities(normals, np.zeros(len(grid), int), grid))
    for k in range(n_columns):
        for m in range(k + 1):
            for of in (lambda X, k=k: X[:, k], lambda X, k=k, m=m: X[:, k] * X[:, m]):
                found, expected = of(rows), np.average(of(grid), weights=weight)
                # Four standard errors of the mean, and what 60 steps leave out of it.
                off = 4 * found.std() / np.sqrt(n) + 2e-3 * np.abs(of(grid)).max()
                assert abs(found.mean() - expected) < off

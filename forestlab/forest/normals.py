"""Normal distributions that are clipped to cells: how dense they are, and rows drawn from them.

Of a node with mean μ and covariance Σ = L Lᵀ a point is x = μ + L z. It is made, and taken apart,
column by column: in column k a point lies off its mean by what *slopes* make of the z before it,
and by its own z times the *deviation*. Without slopes the columns are independent.

The *mass* is the share of the normal distribution that the cell holds, by which it is divided. Of
independent columns it is a product of differences of Φ. Else it is the mean of such a product over
fixed quasi-random points: each column in turn is drawn from what its cell leaves of it given those
before (Genz 1992), so that no point misses the cell, and what is averaged is smooth.

A node's rows lie in its cell, which tells how little the mass can be: in one column rows between a
and b with mean μ have a variance of at most (μ − a)(b − μ), so that one end or the other is a
deviation away, and the mass at least Φ(1) − ½ = 0.34. A ridge makes it less only where the cell
itself is narrower than that.
"""

from math import log, pi
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf, ndtr, ndtri
from scipy.stats import qmc

from forestlab.core.arrays import Forest
from forestlab.forest.asking import places
from forestlab.forest.cells import levels
from forestlab.forest.threads import block_of, by_blocks, by_fixed_blocks

MOST_COLUMNS = 3  # that points are fixed for, if columns are not independent
HALF = 2.0**-54  # below all random numbers but 0


class Normals(NamedTuple):
    """One for each node."""

    mean: np.ndarray  # (n, d)
    deviation: np.ndarray  # (n, d)
    slope: np.ndarray  # (n, d, d), of which what is below the diagonal counts; or (n, 0, 0)
    lower: np.ndarray  # (n, d), of the cell
    upper: np.ndarray  # (n, d)
    height: np.ndarray  # (n,) logarithm of what is highest: share / mass / √det(2π Σ)


def make_normals(forest: Forest, ends, ridge, covariance=None, n_jobs: int = 1) -> Normals:
    """The normals of all nodes of a forest whose targets are its features.

    Parameters
    ----------
    ends : the cells
    ridge : (d,) what is added to each column's variance
    covariance : (n, d, d) of each node, or None: the variances alone
    """
    n_columns, weight = len(ridge), forest.stats[:, 0]
    mean = forest.stats[:, 1 : 1 + n_columns]
    if covariance is None:
        variance = forest.stats[:, 1 + n_columns :] / weight[:, None] + ridge
        deviation, slope = np.sqrt(variance), np.zeros((len(mean), 0, 0))
    else:
        slope = np.linalg.cholesky(covariance + np.diag(ridge))
        deviation = slope[:, np.arange(n_columns), np.arange(n_columns)]
    share = weight / np.repeat(weight[forest.first_node[:-1]], np.diff(forest.first_node))
    lower, upper = ends
    known = Normals(mean, deviation, slope, lower, upper, np.zeros(len(mean)))
    height = np.log(share) - log_masses(known, n_jobs)
    return known._replace(height=height - np.log(deviation).sum(1) - n_columns / 2 * log(2 * pi))


# ---- masses ------------------------------------------------------------------------------------


def inside(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Φ(high) − Φ(low), without a loss of digits far from 0 or near to it."""
    above = low > 0.0
    low, high = np.where(above, -high, low), np.where(above, -low, high)
    around = 0.5 * (erf(high / np.sqrt(2.0)) - erf(low / np.sqrt(2.0)))
    return np.where(high < 0.0, ndtr(high) - ndtr(low), around)


def between(low: np.ndarray, high: np.ndarray, part: np.ndarray) -> np.ndarray:
    """The number between two with a part of the mass between them below it."""
    above = low > 0.0  # there Φ is too near to 1: look at it from the other side
    low, high = np.where(above, -high, low), np.where(above, -low, high)
    part = np.where(above, 1.0 - part, part)
    found = ndtri(np.clip(ndtr(low) + part * inside(low, high), HALF, 1.0 - 2 * HALF))
    found = np.clip(np.where(high < -8.0, high, found), low, high)
    return np.where(above, -found, found)


def drawn(normals: Normals, points: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The z of points in [0, 1), (n or 1, n_points, …), of one column after the other; and of each
    column, of which there may be one more, the mass of what is left of it by those before."""
    zs: list[np.ndarray] = []
    masses: list[np.ndarray] = []
    n_columns = normals.mean.shape[1]
    for k in range(n_columns):
        middle = normals.mean[:, k, None] + _before(normals.slope, k, zs)
        deviation = normals.deviation[:, k, None]
        low = (normals.lower[:, k, None] - middle) / deviation
        high = (normals.upper[:, k, None] - middle) / deviation
        masses.append(inside(low, high))
        if k < points.shape[2]:
            zs.append(between(low, high, points[:, :, k]))
    return zs, masses


def _before(slope: np.ndarray, k: int, zs: list[np.ndarray]):
    """What the columns before add to column k."""
    if not slope.shape[1]:
        return 0.0
    return sum((slope[:, k, m, None] * zs[m] for m in range(k)), start=0.0)


def fixed_points(n_columns: int) -> np.ndarray:
    """For all columns but the last, (1, n_points, n_columns - 1). Of Sobol's sequence, and half a
    step from its corner: in one dimension the midpoints of equal parts.

    Masses are off by at most 1e-4 of themselves with 2 columns and 2e-3 with 3, of correlations up
    to 0.99 (tests/forest/test_normals.py).
    """
    if n_columns == 1:
        return np.zeros((1, 1, 0))
    m = 3 + 2 * n_columns
    sobol = qmc.Sobol(n_columns - 1, scramble=False).random_base2(m)
    return (sobol + 0.5 / 2**m)[None]


def log_masses(normals: Normals, n_jobs: int = 1) -> np.ndarray:
    """Logarithm of the share of each normal distribution that its cell holds, (n,)."""
    n, n_columns = normals.mean.shape
    independent = not normals.slope.shape[1]
    points = np.zeros((1, 1, 0)) if independent else fixed_points(n_columns)
    found = np.empty(n)

    def note(rows: slice) -> None:
        some = Normals(*(part[rows] for part in normals))
        masses = drawn(some, points)[1]
        if independent:
            found[rows] = np.sum([np.log(mass[:, 0]) for mass in masses], axis=0)
        else:
            found[rows] = np.log(np.prod(np.broadcast_arrays(*masses), axis=0).mean(axis=1))

    by_blocks(note, n, n_jobs, 1024)
    return found


# ---- densities ---------------------------------------------------------------------------------


def log_densities(normals: Normals, at: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Logarithm of share × density of each row in its node, (n_rows,)."""
    total = np.zeros(len(X))
    zs: list[np.ndarray] = []
    for k in range(X.shape[1]):
        apart = X[:, k] - normals.mean[at, k]
        for m in range(k if normals.slope.shape[1] else 0):
            apart -= normals.slope[at, k, m] * zs[m]
        zs.append(apart / normals.deviation[at, k])
        with np.errstate(over="ignore"):  # so far away that the density is 0
            total += zs[k] ** 2
    return normals.height[at] - 0.5 * total


def mean_log_densities(normals: Normals, places: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Logarithm of the trees' mean density, (n_rows,); `places` are (n_trees, n_rows) nodes."""
    total = np.full(len(X), -np.inf)
    for at in places:
        total = np.logaddexp(total, log_densities(normals, at, X))
    return total - np.log(len(places))


def log_densities_of(
    forest: Forest, normals: Normals, X, depth: int | None = None, n_jobs: int = 1
) -> np.ndarray:
    """Logarithm of the forest's density at each row, (n_rows,)."""
    found = np.empty(len(X))

    def note(rows: slice) -> None:
        block = block_of(X, rows)
        found[rows] = mean_log_densities(normals, places(forest, block, depth), block)

    by_blocks(note, len(X), n_jobs)
    return found


def log_likelihoods(
    forest: Forest, normals: Normals, X: np.ndarray, n_depths: int, sizes, n_jobs: int = 1
) -> np.ndarray:
    """The sum of the rows' log densities, cut at depth 0 … n_depths - 1, of the first so many
    trees, (n_depths, n_sizes), from one walk of each row through each tree."""
    asked = AskedDensity(forest, normals, n_depths)

    def on_block(rows: slice, block: np.ndarray) -> np.ndarray:
        walk = DensityWalk(asked, block)
        found = np.empty((n_depths, len(sizes)))
        for j, size in enumerate(sizes):
            walk.ask(size)
            found[:, j] = walk.everyone.means().sum(axis=1)
        return found

    return np.sum(list(by_fixed_blocks(on_block, X, n_jobs)), axis=0)


class LogSums(NamedTuple):
    """Running sums of densities, as logarithms, at every depth, and of how many trees they are."""

    total: np.ndarray  # (n_depths, n_rows)
    voters: np.ndarray  # (n_rows,) int64

    @classmethod
    def empty(cls, n_depths: int, n_rows: int) -> "LogSums":
        return cls(np.full((n_depths, n_rows), -np.inf), np.zeros(n_rows, np.int64))

    def add(self, depths: slice, logs: np.ndarray, asked) -> None:
        """Densities (n_rows,) at some depths, of the rows that are asked."""
        some = self.total[depths]
        np.logaddexp(some, logs, out=some, where=asked)

    def means(self) -> np.ndarray:
        """(n_depths, n_rows) logarithms of mean densities; NaN of rows without voters."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.total - np.log(self.voters)


class AskedDensity(NamedTuple):
    """A forest made ready to be asked for densities at depth 0 … n_depths - 1."""

    forest: Forest
    normals: Normals
    n_depths: int
    task: str = "density"
    n_answers: int = 1


def _bits(outside: np.ndarray, first_row: int, n_rows: int) -> np.ndarray:
    """Which trees left out which of some rows, (n_trees, n_rows) bool."""
    some = outside[:, first_row >> 3 : (first_row + n_rows + 7) >> 3]
    bits = np.unpackbits(some, axis=1, bitorder="little")
    return bits[:, first_row & 7 :][:, :n_rows].astype(bool)


class DensityWalk:
    """As `asking.DepthWalk`, of densities: `everyone` and `left_out` are the running sums of all
    trees, and of those that left a row out of their bag, of which `outside` has the bits."""

    def __init__(self, asked: AskedDensity, block: np.ndarray, first_row: int = 0, outside=None):
        self.asked, self.block, self.n_asked = asked, block, 0
        self.outside = None if outside is None else _bits(outside, first_row, len(block))
        self.everyone = LogSums.empty(asked.n_depths, len(block))
        self.left_out = LogSums.empty(asked.n_depths, 0 if outside is None else len(block))

    def ask(self, n: int) -> None:
        """Ask the next trees, until n have been asked."""
        for t in range(self.n_asked, int(n)):
            self._ask_tree(t)
        self.n_asked = int(n)

    def _ask_tree(self, t: int) -> None:
        (forest, normals, n_depths, *_), block = self.asked, self.block
        studies: list[tuple[LogSums, Any]] = [(self.everyone, True)]
        if self.outside is not None:
            studies.append((self.left_out, self.outside[t]))
        here, depth = np.empty(len(block)), 0
        for depth, (at, moved) in zip(range(n_depths), levels(forest, t, block), strict=False):
            here[moved] = log_densities(normals, at[moved], block[moved])
            for sums, asked in studies:
                sums.add(slice(depth, depth + 1), here, asked)
        for sums, asked in studies:
            sums.add(slice(depth + 1, None), here, asked)
            sums.voters[:] += asked


# ---- drawing rows ------------------------------------------------------------------------------


def draw_rows(normals: Normals, at: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """A row of each node's clipped normal distribution, (n, d).

    Columns are drawn in turn, given those before, so that only what these leave of a column's mass
    decides whether a row is taken: with the chance of that mass over the greatest that a cell of
    this width can hold. Independent columns are always taken.
    """
    rows = np.empty((len(at), normals.mean.shape[1]))
    still = np.arange(len(at))
    while len(still):
        some = Normals(*(part[at[still]] for part in normals))
        points = np.maximum(rng.random_sample((len(still), 1, rows.shape[1])), HALF)
        zs, masses = drawn(some, points)
        rows[still] = _points_of(some, zs)
        if not normals.slope.shape[1]:
            break
        widths = (some.upper - some.lower) / (2.0 * some.deviation)
        most = inside(-widths, widths)[:, 1:]
        chance = (np.stack(masses[1:], axis=-1)[:, 0] / most).prod(axis=1) if zs[1:] else 1.0
        still = still[rng.random_sample(len(still)) >= chance]
    lowest = np.nextafter(normals.lower[at], np.inf)
    return np.clip(rows, lowest, normals.upper[at])


def _points_of(normals: Normals, zs: list[np.ndarray]) -> np.ndarray:
    columns = [
        normals.mean[:, k]
        + (normals.deviation[:, k, None] * z + _before(normals.slope, k, zs))[:, 0]
        for k, z in enumerate(zs)
    ]
    return np.stack(columns, axis=1)

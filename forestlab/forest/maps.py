"""Laplacian eigenmaps: rows as points of few coordinates, near if their affinity is high (Belkin
and Niyogi, Neural Computation 15, 2003).

A walk steps from row to row with probabilities in proportion to affinities. The functions of rows
that such a step changes least are the coordinates: D⁻¹ W f = λ f for the greatest λ below that of
the constant, which is 1; W has the affinities, D their sums, a row's *degree*. Rows weigh by their
degrees: so weighed each coordinate has mean 0 and variance 1, and two are uncorrelated.

Rows that no affinities join, even by way of others, are of different *groups*.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

FEW = 100  # rows of which all eigenvectors are found at once
TRIED = 40  # vectors at a time: with 20 digits took twice the products


def groups_of(affinities: csr_array) -> list[np.ndarray]:
    """The rows of each group, the group with the greatest sum of degrees first."""
    n_groups, group = connected_components(affinities, directed=False)
    mass = np.bincount(group, affinities.sum(axis=1), n_groups)
    return [np.flatnonzero(group == g) for g in np.argsort(-mass, kind="stable")]


def eigenmaps(affinities: csr_array, groups: list[np.ndarray], n: int) -> np.ndarray:
    """(n_rows, n) coordinates, n being less than the number of rows.

    With several groups nothing says where one lies to another, and all functions that are constant
    in each have λ = 1. Then the first coordinates set each group but the last apart from those
    after it, and the others are coordinates within a group, 0 elsewhere, by descending λ.

    Of a vector and its negative, which are as good, it is that whose largest number is above 0.
    """
    degrees = affinities.sum(axis=1)
    n_inside = n - (len(groups) - 1)
    found = [_contrast(degrees, groups, g) for g in range(min(n, len(groups) - 1))]
    if n_inside > 0:
        found += _inside(affinities, degrees, groups, n_inside)
    coordinates = np.column_stack(found) * np.sqrt(degrees.sum() / degrees)[:, None]
    largest = np.abs(coordinates).argmax(axis=0)
    return coordinates * np.sign(coordinates[largest, np.arange(n)])


def _contrast(degrees: np.ndarray, groups: list[np.ndarray], g: int) -> np.ndarray:
    """A unit vector: D½ times what is constant in group g, in those after it, and 0 before it."""
    vector = np.zeros(len(degrees))
    after = np.concatenate(groups[g + 1 :])
    vector[groups[g]] = 1.0 / degrees[groups[g]].sum()
    vector[after] = -1.0 / degrees[after].sum()
    vector *= np.sqrt(degrees)
    return vector / np.linalg.norm(vector)


def _inside(affinities: csr_array, degrees, groups: list[np.ndarray], n: int) -> list[np.ndarray]:
    """The n vectors within groups that have the greatest λ."""
    found: list[tuple[float, np.ndarray]] = []
    for rows in groups:
        root = diags_array(1.0 / np.sqrt(degrees[rows]))
        step = csr_array(root @ affinities[rows][:, rows] @ root)  # D⁻½ W D⁻½: the same λ
        for value, own in zip(*_leading(step, min(n, len(rows) - 1)), strict=True):
            vector = np.zeros(len(degrees))
            vector[rows] = own
            found.append((value, vector))
    found.sort(key=lambda pair: -pair[0])
    return [vector for _, vector in found[:n]]


def _leading(step: csr_array, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The n greatest eigenvalues but the first, descending, and their unit vectors, (n, n_rows)."""
    n_rows = step.shape[0]
    if n_rows <= FEW or 2 * (n + 1) > n_rows:
        values, vectors = eigh(step.toarray())
    else:
        start = np.random.default_rng(0).normal(size=n_rows)
        tried = min(max(TRIED, 2 * (n + 1)), n_rows)
        values, vectors = eigsh(step, n + 1, which="LA", v0=start, ncv=tried)
    order = np.argsort(-values, kind="stable")[1 : n + 1]
    return values[order], vectors.T[order]

"""Slow, obvious twins of affinities and their map."""

import naive
import numpy as np
from scipy.linalg import eigh


def affinity(trees, params, X, Y, depth, kind, epsilon):
    """Of each row of X with each of Y: pair by pair, tree by tree."""
    found = np.zeros((len(X), len(Y)))
    for (nodes, _), own in zip(trees, params, strict=True):
        here = [naive.walk(nodes, x, depth, (own, ())) for x in X]
        there = [naive.walk(nodes, y, depth, (own, ())) for y in Y]
        for i, x in enumerate(X):
            for j, y in enumerate(Y):
                if here[i] == there[j]:
                    node = X[[end == here[i] for end in here]]
                    found[i, j] += near(x - y, node, kind, epsilon) / len(trees)
    return found


def near(difference, node, kind, epsilon):
    """Of two rows that end in the same node, which has these rows of X."""
    if kind == "binary":
        return 1.0
    spread = epsilon**2 * np.eye(len(difference))
    if kind == "mahalanobis":
        spread += np.cov(node, rowvar=False, bias=True)
    return np.exp(-difference @ np.linalg.solve(spread, difference))


def eigenmaps(affinities, n):
    """W f = λ D f, all of it at once; the first is constant."""
    degrees = affinities.sum(axis=1)
    values, vectors = eigh(affinities, np.diag(degrees))
    found = vectors[:, ::-1][:, 1 : n + 1] * np.sqrt(degrees.sum())
    signs = [np.sign(column[np.abs(column).argmax()]) for column in found.T]
    return values[::-1][1 : n + 1], found * signs

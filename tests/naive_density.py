"""The slow twin of a density forest: row by row and tree by tree."""

import numpy as np
from scipy.stats import multivariate_normal

from forestlab.core.arrays import LEAF, tree_of


def leaf_of(tree, x, depth):
    """The node where a row ends, and the ends of its cell."""
    i, low, high = 0, np.full(len(x), -np.inf), np.full(len(x), np.inf)
    while depth and tree.nodes[i]["kind"] != LEAF:
        node, depth = tree.nodes[i], depth - 1
        left = x[node["feature"]] <= node["cut_high"]
        (high if left else low)[node["feature"]] = node["cut_high"]
        i = node["left" if left else "right"]
    return i, low, high


def densities_by_tree(model, X, weights, points, depth, covariance="diagonal"):
    """A leaf's normal over its mass in its cell, (n_trees, n_points)."""
    ridge = model.ridge * np.cov(X.T, bias=True, aweights=weights).reshape(X.shape[1], -1)
    ridge = np.diag(np.diag(ridge))
    bags = model.grown.bags() * (1 if model.bootstrap or weights is None else weights)
    found = np.zeros((len(bags), len(points)))
    for t, bag in enumerate(bags):
        tree = tree_of(model.forest_, t)
        ends = np.array([leaf_of(tree, x, depth)[0] for x in X])
        for i, x in enumerate(points):
            end, low, high = leaf_of(tree, x, depth)
            rows, w = X[ends == end], bag[ends == end]
            mean = np.average(rows, axis=0, weights=w)
            spread = np.cov(rows.T, bias=True, aweights=w).reshape(X.shape[1], -1) + ridge
            spread = spread if covariance == "full" else np.diag(np.diag(spread))
            given = multivariate_normal(mean, spread)
            mass = given.cdf(high, lower_limit=low, rng=np.random.default_rng(0))
            found[t, i] = w.sum() / bag.sum() * given.pdf(x) / mass
    return found

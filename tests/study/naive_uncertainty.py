"""Slow, obvious twin of the study of uncertainty: row by row, tree by tree, class by class."""

from collections.abc import Callable
from typing import NamedTuple

import naive
import numpy as np
from scipy.optimize import brentq, nnls

POWERS = {"classification": 2, "regression": 1}


def entropy(p):
    return -sum(share * np.log(share) for share in p if share > 0)


# ---- what trees say ----------------------------------------------------------------------------


def says(stats, task):
    """A node's answer as a vector, and its mean squared distance from the targets there."""
    if task == "regression":
        return naive.mean(stats), stats[2] / stats[0]
    p = naive.posterior(stats)
    away = [np.sum((p - own) ** 2) for own in np.eye(len(p))]
    return p, sum(share * square for share, square in zip(p, away, strict=True))


def answers(trees, task, x):
    """The mean answer, the mean of nodes' variances, and the variance between trees."""
    said = [says(naive.said(tree, x, None, task), task) for tree in trees]
    vectors = np.array([vector for vector, _ in said])
    between = vectors.var(axis=0, ddof=1).sum() if len(said) > 1 else 0.0
    return vectors.mean(axis=0), np.mean([inside for _, inside in said]), between


def vector(target, like):
    return np.eye(len(like))[target] if len(like) > 1 else np.array([target])


# ---- noise -------------------------------------------------------------------------------------


def place_in_order(value, others):
    """Among the others: as many as are less, and half of those that are equal."""
    return np.sum(others < value) + np.sum(others == value) / 2


def in_order(X, others, weights):
    """Rows of X and of the others, scaled, the columns in the order of their weights. What is
    missing stands behind all else."""
    X, others = (np.where(np.isnan(rows), np.inf, rows) for rows in (X, others))
    weights = weights if weights.any() else np.ones(len(weights))
    columns = [c for c in np.argsort(-weights, kind="stable") if weights[c] > 0]
    scaled = []
    for rows in (X, others):
        made = np.zeros((len(rows), len(columns)))
        for place, c in enumerate(columns):
            sd = np.std([place_in_order(value, others[:, c]) for value in others[:, c]])
            ranks = [place_in_order(value, others[:, c]) for value in rows[:, c]]
            made[:, place] = np.array(ranks) * (np.sqrt(weights[c]) / sd if sd else 0)
        scaled.append(made)
    return scaled


def nearest(row, own, others, k):
    """Places of the k nearest, and their squared distances; equally near ones in their order."""
    squared = [np.sum((row - other) ** 2) for other in others]
    found = sorted((d, j) for j, d in enumerate(squared) if j != own)[:k]
    return [j for _, j in found], [d for d, _ in found]


def contributions(task, weights, rows, others, own, k):
    """What each row contributes to the noise: at distance 0, by the line over its neighbours."""
    (X, y), (X_others, y_others) = rows, others
    mine, theirs = in_order(X, X_others, weights)
    near = [nearest(row, place, theirs, k) for row, place in zip(mine, own, strict=True)]
    halves = np.array(
        [
            [half(task, target, y_others[j]) for j in found]
            for target, (found, _) in zip(y, near, strict=True)
        ]
    )
    distances = np.mean([squared for _, squared in near], axis=0) ** POWERS[task]
    slope = np.polyfit(distances, halves.mean(axis=0), 1)[0] if np.ptp(distances) > 0 else 0
    if slope <= 0:
        return halves.mean(axis=1)
    return np.array([np.polyfit(distances, values, 1)[1] for values in halves])


def half(task, a, b):
    return float(a != b) if task == "classification" else (a - b) ** 2 / 2


def nodes_of(trees, x, depth):
    """{node: share} of each tree."""
    return [naive.ends(nodes, x, depth) for nodes, _ in trees]


def regional(ways, contributed, mean):
    """The noise at given nodes, a node a tree, as a function: the mean over trees of that of the
    held-out rows there, whose own nodes are `ways`."""

    def at(way, scale):
        found = []
        for t, shares in enumerate(way):
            found.append(sum(share * of_node(t, i, scale) for i, share in shares.items()))
        return max(np.mean(found), 0.0)

    def of_node(t, i, scale):
        parts = [w[t].get(i, 0) for w in ways]
        return scale * np.average(contributed, weights=parts) if any(parts) else mean

    before = np.mean([at(way, 1.0) for way in ways])
    scale = mean / before if before > 0 else 0.0
    return lambda way: at(way, scale)


# ---- the parts ---------------------------------------------------------------------------------


def rising_line(x, y):
    """(a, b) ≥ 0 by least squares, scaled to the mean of y."""
    if np.mean(y) <= 0:
        return 0.0, 0.0
    a, b = nnls(np.column_stack([np.ones(len(x)), x]), y)[0]
    scale = np.mean(y) / np.mean(a + b * np.array(x))
    return a * scale, b * scale


def shares_of_others(means, truth):
    """Among wrong rows, how often the true class is the second, third, … of the answers."""
    n_classes = len(means[0])
    counts = [1 / (n_classes - 1)] * (n_classes - 1)
    for p, k in zip(means, truth, strict=True):
        rank = sorted(range(n_classes), key=lambda j: (-p[j], j)).index(k)
        if rank:
            counts[rank - 1] += 1
    return naive.normalised(counts)


def nats(impurity, others):
    """The entropy of the posterior [1 - c, c · others] that has this Gini impurity."""

    def posterior(chance):
        return [1 - chance, *(chance * np.array(others))]

    def gini(chance):
        return 1 - sum(p**2 for p in posterior(chance))

    highest = 1 / (1 + sum(share**2 for share in others))  # where the impurity is the greatest
    if impurity >= gini(highest):
        return entropy(posterior(highest))
    chance = brentq(lambda c: gini(c) - impurity, 0, highest, xtol=1e-15) if impurity > 0 else 0.0
    return entropy(posterior(chance))


class Learned(NamedTuple):
    """What held-out rows tell."""

    noise_at: Callable  # a node a tree → the noise there
    line: tuple  # of the excess
    depth: int  # at which nodes are regions
    others: np.ndarray | None  # see `shares_of_others`
    margin: float  # of the mean noise, in squares or nats


def learned(trees, task, train, valid, bags, n_neighbours, region):
    """From training rows that two trees or more left out of their bags (one, of a single tree), or
    without bags from those of validation."""
    rows, own, asked = [], [], []
    for i, x in enumerate(train[0] if bags is not None else valid[0]):
        some = [t for t in range(len(trees)) if bags is None or not bags[t][i]]
        if len(some) >= min(2, len(trees)):
            rows.append((x, (train if bags is not None else valid)[1][i]))
            own.append(i if bags is not None else -1)
            asked.append([trees[t] for t in some])
    held, truth = np.array([x for x, _ in rows]), np.array([target for _, target in rows])
    said = [answers(some, task, x) for some, x in zip(asked, held, strict=True)]
    errors, endless, spreads = [], [], []
    for (mean, inside, between), target, some in zip(said, truth, asked, strict=True):
        error = np.sum((vector(target, mean) - mean) ** 2)
        endless.append(error - between / len(some))
        errors.append(error - between / len(some) + between / len(trees))
        spreads.append(inside + between)
    weights = np.mean([naive.importances(nodes, held.shape[1]) for nodes, _ in trees], axis=0)
    given = contributions(task, weights, (held, truth), train, own, n_neighbours)
    depth = max(int(np.log2(len(held) / region)), 0)
    mean = max(min(given.mean(), np.mean(endless)), 0.0)
    ways = [nodes_of(trees, x, depth) for x in held]
    noise_at = regional(ways, given, mean)
    noise = [noise_at(way) for way in ways]
    beyond = [max(s - g, 0.0) for s, g in zip(spreads, noise, strict=True)]
    line = rising_line(beyond, np.array(errors) - noise)
    margin, others = 2 * np.sqrt(given.var(ddof=1) / len(given)), None
    if task == "classification":
        others = shares_of_others([p for p, *_ in said], truth)
        margin = nats(mean + margin, others) - nats(mean, others)
    return Learned(noise_at, line, depth, others, margin)


def uncertainty(trees, task, train, valid, bags, X, n_neighbours, region):
    """Total, aleatoric, epistemic and spread of each row of X, (4, n)."""
    told = learned(trees, task, train, valid, bags, n_neighbours, region)
    (a, b), found = told.line, []
    for x in X:
        p, inside, between = answers(trees, task, x)
        aleatoric = told.noise_at(nodes_of(trees, x, told.depth))
        total, spread = aleatoric + a + b * max(inside + between - aleatoric, 0.0), inside + between
        if task == "classification":
            aleatoric, total = nats(aleatoric, told.others), nats(total, told.others)
            spread = entropy(p)
        found.append((total, aleatoric, total - aleatoric, spread))
    return np.array(found).T

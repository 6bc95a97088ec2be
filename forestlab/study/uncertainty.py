"""How sure a forest is of each row.

Classification: the entropy of the averaged posterior is the *total* uncertainty; the mean entropy
of the trees' own posteriors is its *aleatoric* part, which more data of the same kind would not
remove; the rest, the trees' disagreement, is *epistemic*.

Regression: the variance of the trees' means is epistemic, the mean variance within their leaves
aleatoric; total is their sum (the law of total variance).
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.forest import places


class Uncertainty(NamedTuple):
    """Each (n,): entropies in nats, or variances."""

    total: np.ndarray
    aleatoric: np.ndarray
    epistemic: np.ndarray


def uncertainty(forest: Forest, task: str, X, n_jobs: int = 1) -> Uncertainty:
    """The uncertainty of each row of X, from the trees' leaves."""
    found = places(forest, X, None, n_jobs)
    return of_classes(forest, found) if task == "classification" else of_numbers(forest, found)


def entropy(p: np.ndarray) -> np.ndarray:
    """In nats, over the last axis."""
    return -np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0), axis=-1)


def of_classes(forest: Forest, places: np.ndarray) -> Uncertainty:
    p = forest.stats / forest.nodes["weight"][:, None]
    own = entropy(p)
    mean = np.zeros((places.shape[1], p.shape[1]))
    for tree in places:  # one tree at a time: (n_trees, n, n_classes) may not fit in memory
        mean += p[tree]
    total = entropy(mean / len(places))
    aleatoric = own[places].mean(axis=0)
    # Rounding may leave a hair below 0 where all trees agree.
    return Uncertainty(total, aleatoric, np.maximum(total - aleatoric, 0.0))


def of_numbers(forest: Forest, places: np.ndarray) -> Uncertainty:
    epistemic = forest.stats[places, 1].var(axis=0)
    aleatoric = (forest.stats[:, 2] / forest.stats[:, 0])[places].mean(axis=0)
    return Uncertainty(aleatoric + epistemic, aleatoric, epistemic)

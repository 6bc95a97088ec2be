"""What is read off the answers of all trees: out-of-bag error, confusion."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.core.descend import finish_kernel
from forestlab.forest import contributions, places
from forestlab.study.surface import Surface


def oob_by_trees(
    forest: Forest, task: str, combiner: str, X, truth, outside, n_jobs: int = 1
) -> np.ndarray:
    """Out-of-bag error of the first 1, 2, … trees, (n_trees,); NaN before any vote.

    The share of wrong labels, or for regression the root mean squared error, over the rows that
    some of those trees left out.
    """
    found, table = places(forest, X, None, n_jobs), contributions(forest, task, combiner)
    finish = finish_kernel(task, combiner)
    sums, voters = np.zeros((len(X), table.shape[1])), np.zeros(len(X), np.int64)
    errors = np.full(len(found), np.nan)
    for t in range(len(found)):
        out = np.flatnonzero(np.unpackbits(outside[t], count=len(X), bitorder="little"))
        sums[out] += table[found[t, out]]
        voters[out] += 1
        voted = voters > 0
        if not voted.any():
            continue
        answers = sums[voted]
        finish(answers, voters[voted])
        if task == "classification":
            errors[t] = np.mean(answers.argmax(axis=1) != truth[voted])
        else:
            errors[t] = np.sqrt(np.mean((answers[:, 0] - truth[voted]) ** 2))
    return errors


class VoterErrors(NamedTuple):
    """Out-of-bag errors by the number of trees that vote on a row; each (v,)."""

    voters: np.ndarray  # numbers of voters that occur
    rows: np.ndarray  # rows with so many
    error: np.ndarray  # share of wrong labels, or mean absolute error; NaN without voters
    std: np.ndarray  # standard deviation of the rows' errors


def error_by_voters(oob: Surface) -> VoterErrors:
    """How the out-of-bag error falls with the number of voters."""
    voters, place, rows = np.unique(oob.voters, return_inverse=True, return_counts=True)
    mean = np.bincount(place, oob.errors) / rows
    std = np.sqrt(np.bincount(place, (oob.errors - mean[place]) ** 2) / rows)
    return VoterErrors(voters, rows, mean, std)


def confusion(surface: Surface) -> np.ndarray:
    """Counts of (true, predicted) classes at the deepest level, (n_classes, n_classes).

    Rows of a class that training did not see have no place in it.
    """
    n_classes = surface.answers.shape[1]
    known = (surface.voters > 0) & (surface.truth >= 0)
    pairs = surface.truth[known].astype(np.intp) * n_classes + surface.predicted[known]
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)

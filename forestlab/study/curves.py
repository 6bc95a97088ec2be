"""What is read off the answers of all trees: out-of-bag error, confusion."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.forest import by_fixed_blocks, tree_by_tree
from forestlab.study.surface import Surface


def oob_by_trees(
    forest: Forest, task: str, combiner: str, X, truth, outside, n_jobs: int = 1
) -> np.ndarray:
    """Out-of-bag error of the first 1, 2, … trees, (n_trees,); NaN before any vote.

    The share of wrong labels, or for regression the root mean squared error, over the rows that
    some of those trees left out.
    """

    def add_up(rows: slice, block: np.ndarray) -> np.ndarray:
        """(n_trees, 2): the sum of errors, and of how many rows."""
        asked = tree_by_tree(forest, task, combiner, block, rows.start, outside)
        return np.array([_errors(task, *found, truth[rows]) for found in asked])

    total = np.zeros((n_trees(forest), 2))
    for sums in by_fixed_blocks(add_up, X, n_jobs):
        total += sums
    errors, n_rows = total.T
    mean = np.divide(errors, n_rows, out=np.full(len(total), np.nan), where=n_rows > 0)
    return mean if task == "classification" else np.sqrt(mean)


def _errors(task: str, answers: np.ndarray, voters: np.ndarray, truth) -> tuple[float, int]:
    """The number of wrong labels, or the sum of squared errors, of rows with voters; and theirs."""
    voted = voters > 0
    if task == "classification":
        errors = answers.argmax(axis=1) != truth
    else:
        errors = (answers[:, 0] - truth) ** 2
    return float(np.sum(errors, where=voted)), int(np.sum(voted))


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

    Rows of a class that training did not see have no place in it. scikit-learn's confusion_matrix
    refuses to count no rows, and takes 6 ms for 10000, where this takes 0.03.
    """
    n_classes = surface.answers.shape[1]
    known = (surface.voters > 0) & (surface.truth >= 0)
    pairs = surface.truth[known].astype(np.intp) * n_classes + surface.predicted[known]
    return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)

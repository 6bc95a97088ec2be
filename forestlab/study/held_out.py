"""Rows that trees did not see, and what the trees say of them.

Everything is in squares: a class is a vector with a 1 in its own place, so that the variance of a
posterior is its Gini impurity, and a squared error is Brier's score.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.forest import Reached, reached
from forestlab.study.rows import evenly
from forestlab.study.tasks import STUDIED

Data = dict[str, tuple[np.ndarray, np.ndarray]]  # by split: X, and truth as `Surface` has it


class Answers(NamedTuple):
    """What trees say of n rows, in squares."""

    mean: np.ndarray  # (n, K) posterior, or (n, 1) mean
    within: np.ndarray  # (n,) Gini impurity or variance of a leaf, mean over trees
    between: np.ndarray  # (n,) variance of the trees' answers, unbiased; 0 of one tree
    voters: np.ndarray  # (n,)

    @property
    def spread(self) -> np.ndarray:
        return self.within + self.between


def answers_of(forest: Forest, task: str, ends: Reached, asked=None) -> Answers:
    """What the trees say of n rows that end there; `asked` is a mask (n_trees, n), or None to ask
    all.

    What a tree says of a row that ends in several nodes is their mixture, with its variance: that
    within the nodes, and that between them.
    """
    values, inside = STUDIED[task].of_nodes(forest)
    votes = np.ones((len(ends.nodes), 1)) if asked is None else asked.astype(np.float64)
    voters = np.broadcast_to(votes, ends.nodes.shape).sum(axis=0)
    mean, within = np.zeros((ends.n_rows, values.shape[1])), np.zeros(ends.n_rows)
    for t, vote in enumerate(votes):
        said = ends.mixed(t, lambda nodes, rows: values[nodes])
        mean += vote[:, None] * said
        within += vote * ends.mixed(t, partial(_variances, values, inside, said))
    mean /= voters[:, None]
    squares = np.zeros(len(mean))
    for t, vote in enumerate(votes):
        said = ends.mixed(t, lambda nodes, rows: values[nodes])
        squares += vote * ((said - mean) ** 2).sum(axis=1)
    return Answers(mean, within / voters, squares / np.maximum(voters - 1.0, 1.0), voters)


def _variances(values, inside, said, nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Of nodes about what their tree says of rows; of a row's only node that is its own."""
    return inside[nodes] + ((values[nodes] - said[rows]) ** 2).sum(axis=1)


class HeldOut(NamedTuple):
    """m rows and what the trees that did not see them say."""

    task: str
    X: np.ndarray
    truth: np.ndarray  # (m,) numbers or class codes
    rows: np.ndarray  # (m,) their numbers among the training rows; -1 if they are none
    answers: Answers

    @property
    def error(self) -> np.ndarray:
        """(m,) squared, or Brier's score."""
        return STUDIED[self.task].squares(self.answers.mean, self.truth)


def held_out(
    forest: Forest, task: str, data: Data, outside: np.ndarray | None, most_rows: int, n_jobs: int
) -> HeldOut | None:
    """Training rows, each with the trees that left it out, or else validation rows with all trees;
    None if there are neither.

    A row needs two trees, so that their variance is known; unless there is but one in all.
    """
    if outside is not None:
        X, truth = data["train"]
        asked = np.unpackbits(outside, axis=1, count=len(X), bitorder="little")
        able = asked.sum(axis=0, dtype=np.int64) >= min(2, n_trees(forest))
    elif "valid" in data:
        X, truth = data["valid"]
        asked = np.ones((n_trees(forest), len(X)), np.uint8)
        able = STUDIED[task].known(truth)
    else:
        return None
    rows = np.flatnonzero(able)
    rows = rows[evenly(len(rows), most_rows)]
    ends = reached(forest, X[rows], None, n_jobs)
    numbers = rows if outside is not None else np.full(len(rows), -1)
    answers = answers_of(forest, task, ends, asked[:, rows])
    return HeldOut(task, X[rows], truth[rows], numbers, answers)

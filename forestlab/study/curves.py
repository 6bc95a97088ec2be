"""Curves over depth and over the number of trees, from one fit."""

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.forest import by_depth, ends
from forestlab.study.metrics import Outcome, empty_outcome, note_answers


def depth_outcome(
    forest: Forest, task: str, combiner: str, X, truth, n_depths: int, n_jobs=1, outside=None
) -> Outcome:
    """What the forest answers for rows X at depth 0 … n_depths - 1; truth as class codes."""
    n_classes = forest.stats.shape[1] if task == "classification" else 0
    outcome = empty_outcome(truth, n_depths, n_classes)

    def note(rows: slice, answers: np.ndarray, voters: np.ndarray) -> None:
        note_answers(outcome, rows, answers, voters)

    by_depth(forest, task, combiner, X, n_depths, note, n_jobs, outside)
    return outcome


def oob_by_trees(forest: Forest, task: str, X, truth, outside, n_jobs: int = 1) -> np.ndarray:
    """Out-of-bag error of the first 1, 2, … trees, by averaging, (n_trees,); NaN before any vote.

    The share of wrong labels, or for regression the root mean squared error, over the rows that
    some of those trees left out.
    """
    found = ends(forest, X, None, n_jobs) + forest.first_node[:-1, None]
    values = forest.stats
    if task == "classification":
        values = values / forest.nodes["weight"][:, None]
    else:
        values = values[:, 1:2]
    sums, votes = np.zeros((len(X), values.shape[1])), np.zeros(len(X), np.int64)
    errors = np.full(len(found), np.nan)
    for t in range(len(found)):
        out = np.flatnonzero(np.unpackbits(outside[t], count=len(X), bitorder="little"))
        sums[out] += values[found[t, out]]
        votes[out] += 1
        voted = votes > 0
        if not voted.any():
            continue
        if task == "classification":
            errors[t] = np.mean(sums[voted].argmax(axis=1) != truth[voted])
        else:
            errors[t] = np.sqrt(np.mean((sums[voted, 0] / votes[voted] - truth[voted]) ** 2))
    return errors


def confusion(outcome: Outcome) -> np.ndarray:
    """Counts of (true, predicted) classes at the deepest level, (n_classes, n_classes).

    Rows of a class that training did not see have no place in it.
    """
    voted = (outcome.voters > 0) & (outcome.truth >= 0)
    pairs = outcome.truth[voted].astype(np.intp) * outcome.n_classes + outcome.answer[-1, voted]
    counts = np.bincount(pairs, minlength=outcome.n_classes**2)
    return counts.reshape(outcome.n_classes, outcome.n_classes)

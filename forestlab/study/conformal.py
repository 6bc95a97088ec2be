"""Intervals and label sets whose coverage is promised, not modelled.

Conformal prediction asks of the training rows how far off the forest is, and reaches as far around
a new answer. With out-of-bag answers no row has to be set apart for that (Johansson, Boström,
Löfström and Linusson 2014). A row's *score* is how badly its target fits the forest's answer; if
the scores of old and new rows are exchangeable, a new one is at most the ⌈level (n + 1)⌉-th
smallest of n old ones with chance `level` or a little more, averaged over rows: some kinds of rows
may be covered more often, others less. Out-of-bag answers come from fewer trees than those for new
rows, so the promise holds nearly, mostly on the careful side.
"""

import math

import numpy as np

from forestlab.study.coverage import SLACK, Band


def scores_regression(truth: np.ndarray, oob_answer: np.ndarray) -> np.ndarray:
    """|truth - answer| of the training rows that some tree left out, from two arrays (n,)."""
    if np.shape(truth) != np.shape(oob_answer):  # (n,) and (n, 1) would make n × n scores
        raise ValueError(f"{np.shape(truth)} targets, but {np.shape(oob_answer)} answers.")
    scores = np.abs(truth - oob_answer)
    return scores[~np.isnan(scores)]


def scores_classes(truth: np.ndarray, oob_probabilities: np.ndarray) -> np.ndarray:
    """1 - probability of the true class, of the training rows that some tree left out.

    Parameters
    ----------
    truth : (n,) class codes
    oob_probabilities : (n, n_classes); NaN where no tree answers
    """
    scores = 1.0 - oob_probabilities[np.arange(len(truth)), np.asarray(truth, np.intp)]
    return scores[~np.isnan(scores)]


def quantile_of(scores: np.ndarray, level: float) -> float:
    """The ⌈level (n + 1)⌉-th smallest of n scores, infinite if there are not so many."""
    if not 0.0 < level <= 1.0:
        raise ValueError(f"level must be above 0 and at most 1; got {level}.")
    rank = math.ceil(level * (len(scores) + 1) - SLACK)
    return float(np.partition(scores, rank - 1)[rank - 1]) if rank <= len(scores) else math.inf


def intervals(answer: np.ndarray, scores: np.ndarray, level: float) -> Band:
    """As far as the scores reach on both sides of each answer, (m,)."""
    reach = quantile_of(scores, level)
    return Band(answer - reach, answer + reach)


def label_sets(probabilities: np.ndarray, scores: np.ndarray, level: float) -> np.ndarray:
    """The classes whose score would not be among the worst, (m, n_classes) bool.

    A set is empty where every class would be: the row is unlike those of training. Scores that are
    equal but for rounding are equal.
    """
    return 1.0 - probabilities <= quantile_of(scores, level) + SLACK


def credible_sets(probabilities: np.ndarray, level: float) -> np.ndarray:
    """The fewest classes whose probabilities add up to `level`, (m, n_classes) bool.

    This takes the forest at its word: what `label_sets` is to be compared with. Of classes as
    probable, the first come first.
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=1)
    before = np.cumsum(ranked, axis=1) - ranked
    sets = np.empty(probabilities.shape, bool)
    np.put_along_axis(sets, order, before < level - SLACK, axis=1)
    return sets

"""Scores of answers that a model has given already, by whatever scikit-learn scores models with."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, get_scorer, r2_score


def accuracy(y, predicted: np.ndarray, sample_weight=None) -> float:
    """The share of rows that are right, of several targets in all of them."""
    if predicted.ndim == 1:
        return accuracy_score(y, predicted, sample_weight=sample_weight)
    y = np.asarray(y)
    if y.shape != predicted.shape:
        raise ValueError(f"y must have the shape {predicted.shape}; got {y.shape}.")
    return float(np.average((y == predicted).all(axis=1), weights=sample_weight))


class AnsweredRegressor(RegressorMixin, BaseEstimator):
    """A regressor that has its answers: scorers ask it in the place of the one that gave them."""

    def __init__(self, predicted: np.ndarray):
        self.predicted = predicted

    def predict(self, X) -> np.ndarray:
        return self.predicted


class AnsweredClassifier(ClassifierMixin, BaseEstimator):
    """Likewise of classes, with their probabilities."""

    def __init__(self, predicted: np.ndarray, probabilities, classes):
        """Of several targets the last two are lists."""
        self.predicted, self.probabilities, self.classes = predicted, probabilities, classes

    @property
    def classes_(self):
        return self.classes

    def predict(self, X) -> np.ndarray:
        return self.predicted

    def predict_proba(self, X):
        return self.probabilities


def score(scoring, answered: AnsweredRegressor | AnsweredClassifier, y) -> float:
    """How good answers are.

    Parameters
    ----------
    scoring : a scorer's name; or a function of (y, predicted); or else the score is R² or accuracy
    answered : the answers for rows of which y is the truth
    """
    if isinstance(scoring, str):
        return get_scorer(scoring)(answered, answered.predicted, y)  # no X: nobody looks at it
    default = accuracy if isinstance(answered, AnsweredClassifier) else r2_score
    metric = scoring if callable(scoring) else default
    return metric(y, answered.predicted)

"""Verdicts on differences between runs that share a seed, which draws the same rows for both."""

import numpy as np
import pandas as pd

from experiments import Verdict


def mean_and_error(values: pd.Series) -> tuple[float, float]:
    """The mean, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def above_zero(what: str, differences: pd.Series) -> Verdict:
    """The mean difference, one a seed, is above 0."""
    mean, error = mean_and_error(differences)
    return Verdict(what, 0.0, mean, 0.0, _reason(len(differences), error), "above")


def below_zero(what: str, differences: pd.Series) -> Verdict:
    """The mean difference, one a seed, is below 0."""
    mean, error = mean_and_error(differences)
    return Verdict(what, 0.0, mean, 0.0, _reason(len(differences), error), "below")


def _reason(n: int, error: float) -> str:
    return f"none: the mean of {n} pairs has a standard error of {error:.2g}"

"""A yardstick of densities: one normal distribution, fitted to all training rows."""

from collections.abc import Iterator

import numpy as np

from forestlab.core.gaussian import yardstick
from forestlab.study.part import Findings, Look, Number, Part, single

RIDGE = 1e-3  # of a column's variance, added to it; as a density forest's leaves have it


def normal_log_likelihood(X: np.ndarray, others: np.ndarray) -> float:
    """The mean log density, in nats, of other rows in the normal distribution with the mean and
    the covariance of X."""
    n, n_columns = X.shape
    mean = X.mean(axis=0)
    apart = X - mean
    ridge = yardstick(np.asarray(X, np.float64), np.ones(n), n, RIDGE)[:, 0]
    factor = np.linalg.cholesky(apart.T @ apart / n + np.diag(ridge))
    z = np.linalg.solve(factor, (others - mean).T)
    log_det = 2.0 * np.log(np.diag(factor)).sum()
    return float(-0.5 * ((z**2).sum(axis=0).mean() + log_det + n_columns * np.log(2.0 * np.pi)))


def _find(look: Look) -> dict[str, float]:
    """By split."""
    train = look.data["train"][0]
    return {split: normal_log_likelihood(train, X) for split, (X, _) in look.data.items()}


def _numbers(found: dict[str, float], findings: Findings) -> Iterator[Number]:
    for split, value in found.items():
        yield single(f"log_likelihood_normal_{split}", value)


PART = Part(
    level="light",
    needs_targets=False,
    applies=lambda look: not look.has_targets,
    find=_find,
    numbers=_numbers,
    metrics={"summary/log_likelihood_normal_SPLIT": "of one normal distribution, to compare with"},
    higher=("summary/log_likelihood_normal",),
)

"""Rows and their answers as the columns of a table: classes by name, numbers, densities."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # which asks here by the task
    from forestlab.study.surface import Surface

UNSEEN = "(not in training)"

Columns = dict[str, Any]


def class_columns(surface: "Surface", classes) -> Columns:
    names = np.array([*classes, UNSEEN], dtype=object)  # the last name is that of code -1
    truth, answer = surface.truth, surface.predicted
    return {
        "truth": _column(names[truth]),
        "predicted": _column(names[answer], surface.voters > 0),
        "error": surface.errors,
        "p_true": _p_true(surface),
        **{f"probability_{name}": p for name, p in zip(classes, surface.answers.T, strict=True)},
    }


def number_columns(surface: "Surface", classes) -> Columns:
    return {"truth": surface.truth, "predicted": surface.predicted, "error": surface.errors}


def density_columns(surface: "Surface", classes) -> Columns:
    return {"log_density": surface.predicted}


def _p_true(surface: "Surface") -> np.ndarray:
    """The probability given to the true class; 0 for one that training did not see."""
    p = np.take_along_axis(surface.answers, surface.truth[:, None], axis=1)[:, 0]
    return np.where(surface.truth >= 0, p, 0.0)


def _column(labels: np.ndarray, known: np.ndarray | None = None):
    """Labels of one type, as parquet wants them; None where there is no answer."""
    typed = np.array(labels.tolist())  # numbers beside UNSEEN become text
    if known is None or known.all():
        return typed
    return [label if is_known else None for label, is_known in zip(typed, known, strict=True)]

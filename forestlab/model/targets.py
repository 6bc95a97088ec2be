"""Targets that are to be numbers: what is wrong with them is told by their column."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from forestlab.tree.levels import is_missing


def require_numbers(y, who: str) -> None:
    """Refuse words and what is missing among targets of objects; those of numpy's numbers are
    scikit-learn's to check.

    Parameters
    ----------
    y : (n_rows,) or (n_rows, n_targets), an array, a list, a series or a data frame
    who : the estimator that takes numbers
    """
    for name, values in _columns(y):
        if values.dtype.kind not in "OUSmM":
            continue
        column = "y" if name is None else f"column {name!r} of y"
        are_moments = values.dtype.kind in "mM"  # of which numpy would list the nanoseconds
        for i, value in enumerate(map(str, values) if are_moments else values.tolist()):
            if is_missing(value):
                raise ValueError(f"{column} lacks a value in row {i}: leave out such rows.")
            if not _is_number(value):
                raise ValueError(
                    f"{who} predicts numbers; {column} holds others, such as {value!r}: a "
                    "classifier predicts classes."
                )


def _columns(y) -> Iterator[tuple[Any, np.ndarray]]:
    """Each target with its name, None if it has none."""
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        for name in y.columns:
            yield name, np.asarray(y[name])
        return
    values = np.asarray(y)
    if values.ndim == 2:
        yield from enumerate(values.T)
    elif values.ndim == 1:  # else it is none, which scikit-learn tells
        name = getattr(y, "name", None)
        yield None if callable(name) else name, values


def _is_number(value) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True

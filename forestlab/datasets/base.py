"""What every loader returns, the parts of a split, and the one error of the package."""

import hashlib
import json
from typing import NamedTuple

import numpy as np
import pandas as pd

CLASSIFICATION = "classification"
REGRESSION = "regression"
TASKS = (CLASSIFICATION, REGRESSION)


class DataError(ValueError):
    """What is wrong with the data or its options, in a sentence for the person who gave them."""


class Dataset(NamedTuple):
    """A table of n rows and what is to be predicted from them."""

    name: str
    # Features only, text for names: plain numbers, not infinite, or pandas' `category` of texts.
    frame: pd.DataFrame
    target: np.ndarray  # (n,) labels (text or int64), or float64; of several targets (n, T)
    task: str  # one of TASKS
    source: str  # where it came from
    n_own_test: int = 0  # so many last rows are the data set's own test set
    image_shape: tuple[int, int] | None = None  # rows and columns, when a row is an image
    target_names: tuple[str, ...] = ()  # of several targets
    notes: tuple[str, ...] = ()  # on how it was read, for the person who gave it


class Parts(NamedTuple):
    """Row numbers of the three parts of a data set; a part may be empty."""

    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray


def is_category(dtype: object) -> bool:
    return isinstance(dtype, pd.CategoricalDtype)


def categories_of(frame: pd.DataFrame) -> dict[str, list[str]]:
    """The levels of each category column."""
    named = frame.dtypes.items()
    return {str(name): list(dtype.categories) for name, dtype in named if is_category(dtype)}


def level_counts(frame: pd.DataFrame) -> tuple[int, ...]:
    """The number of levels of each column, 0 of a number."""
    return tuple(len(dtype.categories) if is_category(dtype) else 0 for dtype in frame.dtypes)


def matrix(frame: pd.DataFrame) -> np.ndarray:
    """The values of a data set's table, (n, m), on which trees grow; with categories float64, the
    level's number in their columns and NaN where it is missing."""
    if not any(map(is_category, frame.dtypes)):
        return frame.to_numpy()
    return np.column_stack([_numbers(column) for _, column in frame.items()])


def _numbers(column: pd.Series) -> np.ndarray:
    if not is_category(column.dtype):
        return column.to_numpy(dtype=np.float64)
    codes = column.cat.codes.to_numpy()
    return np.where(codes < 0, np.nan, codes.astype(np.float64))


def digest(dataset: Dataset) -> str:
    """Fingerprint of column names, features with their levels, and target, the same on every
    machine.

    Parameters
    ----------
    dataset : Dataset
        n rows, m columns.

    Returns
    -------
    str
        First 16 hexadecimal digits of a SHA-256.
    """
    state = hashlib.sha256(json.dumps(list(dataset.frame.columns)).encode())
    if categories := categories_of(dataset.frame):
        state.update(json.dumps(categories).encode())
    rows = 4096  # at a time: the float64 twin of MNIST's bytes would fill 440 MB
    for first in range(0, len(dataset.frame), rows):
        block = matrix(dataset.frame.iloc[first : first + rows])
        state.update(np.ascontiguousarray(block, dtype="<f8").tobytes())
    state.update(_target_bytes(dataset.target))
    return state.hexdigest()[:16]


def _target_bytes(target: np.ndarray) -> bytes:
    """The target's bytes, whatever width its text or integers have."""
    if target.dtype.kind in "iub":
        return b"int" + target.astype("<i8").tobytes()
    if target.dtype.kind == "f":
        return b"float" + target.astype("<f8").tobytes()
    return b"text" + json.dumps(target.astype(str).tolist()).encode()

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
    frame: pd.DataFrame  # features only: numeric, finite, text for names
    target: np.ndarray  # (n,) labels (text or int64), or float64; of several targets (n, T)
    task: str  # one of TASKS
    source: str  # where it came from
    n_own_test: int = 0  # so many last rows are the data set's own test set
    image_shape: tuple[int, int] | None = None  # rows and columns, when a row is an image
    target_names: tuple[str, ...] = ()  # of several targets


class Parts(NamedTuple):
    """Row numbers of the three parts of a data set; a part may be empty."""

    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray


def digest(dataset: Dataset) -> str:
    """Fingerprint of column names, features and target, the same on every machine.

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
    rows = 4096  # at a time: the float64 twin of MNIST's bytes would fill 440 MB
    for first in range(0, len(dataset.frame), rows):
        block = dataset.frame.iloc[first : first + rows].to_numpy()
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

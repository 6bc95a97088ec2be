"""Train, validation and test rows, and labels made wrong on purpose.

The split is the usual one: `train_test_split` twice with the same seed, first test rows from all,
then validation rows from the rest. A data set that has its own test set keeps it, and only the
validation rows are drawn.
"""

import math

import numpy as np
from sklearn.model_selection import train_test_split

from forestlab.config import DatasetConfig
from forestlab.datasets.base import CLASSIFICATION, DataError, Dataset, Parts
from forestlab.datasets.table import joint_codes

NO_ROWS = np.empty(0, dtype=np.intp)


def split(dataset: Dataset, config: DatasetConfig) -> Parts:
    """Row numbers of train, validation and test.

    Parameters
    ----------
    dataset : Dataset
        n rows.
    config : DatasetConfig
        Of which test_size, valid_size, stratify, split_seed and own_test are read.

    Returns
    -------
    Parts
        Three arrays of row numbers that together hold each of the n rows once.
    """
    check_options(dataset, config)
    n_rows = len(dataset.target)
    if dataset.n_own_test and config.own_test:
        rest, test = np.split(np.arange(n_rows), [n_rows - dataset.n_own_test])
    else:
        rest, test = _draw(np.arange(n_rows), config.test_size, "test_size", dataset, config)
    train, valid = _draw(rest, config.valid_size, "valid_size", dataset, config)
    return Parts(train, valid, test)


def _draw(
    rows: np.ndarray, size: float, option: str, dataset: Dataset, config: DatasetConfig
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that stay and those drawn for a part."""
    if size == 0:
        return rows, NO_ROWS
    if len(rows) - math.ceil(size * len(rows)) < 1:
        raise DataError(f"dataset.{option}={size} of {len(rows)} rows leaves none to train on.")
    labels = joint_codes(dataset.target[rows]) if config.stratify else None
    try:
        stay, drawn = train_test_split(
            rows, test_size=size, random_state=config.split_seed, stratify=labels
        )
    except ValueError as error:
        raise DataError(
            f"{dataset.name} cannot be split by dataset.{option}={size}: {error}"
        ) from None
    return stay, drawn


def check_options(dataset: Dataset, config: DatasetConfig) -> None:
    """Raise DataError if the options of the split are wrong for the data set."""
    for option in ("test_size", "valid_size"):
        size = getattr(config, option)
        if not 0 <= size < 1:
            raise DataError(
                f"dataset.{option}={size} is not a share of the rows: "
                "it has to be 0 or more and less than 1."
            )
    if not 0 <= config.split_seed < 2**32:
        raise DataError(
            f"dataset.split_seed={config.split_seed} is not a seed: "
            "it has to be from 0 to 2**32 - 1."
        )
    if config.stratify and dataset.task != CLASSIFICATION:
        raise DataError(
            f"dataset.stratify=true needs classes, but {dataset.name} is a {dataset.task} set."
        )


def noisy_labels(y: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Labels of which a share has been replaced by a random other class.

    Parameters
    ----------
    y : array of shape (n,) or (n, n_targets)
        Labels; of several targets those of a row are one class together.
    share : float
        From 0 to 1; round(share × n) rows are drawn without replacement.
    seed : int
        Of the rows and of their new classes.

    Returns
    -------
    array of the same shape
        A copy; each chosen row has another class than before, all others equally likely.
    """
    y = np.array(y)
    if not 0 <= share <= 1:
        raise DataError(f"dataset.label_noise={share} is not a share: it has to be from 0 to 1.")
    if share == 0:
        return y
    codes = joint_codes(y)
    first = np.unique(codes, return_index=True)[1]  # a row of each class
    if y.dtype.kind == "f" or len(first) < 2:
        raise DataError(f"dataset.label_noise={share} needs labels of at least two classes.")
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[: round(share * len(y))]
    steps = rng.integers(1, len(first), len(rows))
    y[rows] = y[first[(codes[rows] + steps) % len(first)]]
    return y

"""Values that are made missing on purpose, and rows that lack one completed or left out.

`punched` is a step of `load`: in each column that dataset.missing_columns names, or in all, a share
of the values is taken away; by chance, or the greater a value is, the likelier. `completed` is done
after the split, as only training rows may say what a missing value is replaced by.
"""

import numpy as np
import pandas as pd

from forestlab.config import DatasetConfig
from forestlab.datasets.base import DataError, Dataset, Parts, is_category, matrix
from forestlab.datasets.table import listed

WAYS = ("random", "value")
INCOMPLETE = ("keep", "fill", "drop")


def punched(dataset: Dataset, config: DatasetConfig) -> Dataset:
    """The data set with values missing as dataset.missing_share, _by and _columns say."""
    share, by, names = config.missing_share, config.missing_by, list(config.missing_columns)
    _check(dataset, share, by, names)
    if not share:
        return dataset
    rng = np.random.default_rng(config.data_seed)
    frame = dataset.frame
    holes = {
        name: _without(frame[name], _chosen(frame[name], share, by, rng))
        for name in names or frame.columns
    }
    source = f"{dataset.source}, {share:g} of values missing by {by}, seed {config.data_seed}"
    return dataset._replace(frame=frame.assign(**holes), source=source)


def _chosen(column: pd.Series, share: float, by: str, rng: np.random.Generator) -> np.ndarray:
    """The rows whose value goes missing: round(share × n) of them.

    By value, those of the greatest sum of a value's rank, as a share of the rows, and a number
    drawn between 0 and 1: a chance that rises with the value from none to some. Of a category the
    value is the level's number.
    """
    luck = rng.random(len(column))
    if by == "value":
        order = np.lexsort((rng.random(len(column)), matrix(column.to_frame())[:, 0]))
        luck[order] += np.arange(len(column)) / len(column)
    return np.argsort(luck)[len(column) - round(share * len(column)) :]


def _without(column: pd.Series, rows: np.ndarray) -> pd.Series:
    """The column with these rows missing; numbers are floats then."""
    found = column.copy() if is_category(column.dtype) else column.astype(np.float64)
    found.iloc[rows] = np.nan
    return found


def _check(dataset: Dataset, share: float, by: str, names: list[str]) -> None:
    if not 0 <= share <= 1:
        raise DataError(f"dataset.missing_share={share} is not a share: it has to be from 0 to 1.")
    if by not in WAYS:
        raise DataError(f"dataset.missing_by={by} is not one of {listed(WAYS)}.")
    unknown = [name for name in names if name not in dataset.frame.columns]
    if unknown:
        raise DataError(
            f"dataset.missing_columns names {listed(unknown)}, which is no feature; "
            f"the features are {listed(dataset.frame.columns)}."
        )
    if names and not share:
        raise DataError(
            "dataset.missing_columns asks for nothing while dataset.missing_share is 0."
        )


# ---- after the split ---------------------------------------------------------------------------


def completed(dataset: Dataset, parts: Parts, how: str) -> tuple[Dataset, Parts]:
    """The data set and its parts by dataset.incomplete.

    keep: as they are. fill: what is missing is replaced by the mean of the training rows that have
    it, of a category by their most frequent level. drop: training rows that lack a value are left
    out; those of the other parts stay, as they are to be answered.
    """
    if how not in INCOMPLETE:
        raise DataError(f"dataset.incomplete={how} is not one of {listed(INCOMPLETE)}.")
    lacking = dataset.frame.isna()
    if how == "keep" or not lacking.to_numpy().any():
        return dataset, parts
    if how == "fill":
        return dataset._replace(frame=_filled(dataset.frame, parts.train)), parts
    train = parts.train[~lacking.iloc[parts.train].any(axis=1).to_numpy()]
    if not len(train):
        raise DataError(
            "dataset.incomplete=drop leaves no training row: each lacks a value of some column."
        )
    return dataset, parts._replace(train=train)


def _filled(frame: pd.DataFrame, train: np.ndarray) -> pd.DataFrame:
    return frame.assign(
        **{
            str(name): column.fillna(_usual(column.iloc[train], str(name)))
            for name, column in frame.items()
            if column.hasnans
        }
    )


def _usual(column: pd.Series, name: str) -> object:
    """The mean of the values that are known, or the most frequent level, of several the first."""
    known = column.dropna()
    if not len(known):
        raise DataError(f"dataset.incomplete=fill has no training row with a value of {name}.")
    if is_category(known.dtype):
        return known.cat.categories[known.cat.codes.value_counts().sort_index().idxmax()]
    return known.mean()

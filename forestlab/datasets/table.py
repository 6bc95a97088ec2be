"""From a raw table to one that trees can grow on: columns, task, sample, scale, one-hot.

The steps that `load` takes after every loader. What is wrong is told with the names of the columns
and the option that helps.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from pandas.api import types

from forestlab.datasets.base import (
    CLASSIFICATION,
    REGRESSION,
    TASKS,
    DataError,
    Dataset,
    is_category,
)

SCALES = [power for power in range(-20, 21) if power]  # of two: a millionth to a million
FEW_INTEGERS = 20  # so many distinct integers or fewer are taken for classes


def listed(names: Iterable[object], most: int = 30) -> str:
    """Names joined by commas; a long list is cut."""
    texts = [str(name) for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def pop_targets(frame: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The features and the target columns; without names that is the last column."""
    columns = list(frame.columns)
    names = names or columns[-1:]
    for name in names:
        if name not in columns:
            raise DataError(
                f"dataset.target={name} is not a column; the columns are {listed(columns)}."
            )
    if len(set(names)) < len(names):
        raise DataError(f"dataset.target names a column twice: {listed(names)}.")
    if len(names) == len(columns):
        raise DataError("dataset.target leaves no feature.")
    return frame.drop(columns=names), frame[names]


def drop_columns(frame: pd.DataFrame, drop: list[str]) -> pd.DataFrame:
    """The table without the columns of dataset.drop."""
    if drop and len(drop) == frame.shape[1]:
        raise DataError("dataset.drop leaves no feature.")
    return frame.drop(columns=drop) if drop else frame


def find_task(column: pd.Series) -> str:
    """Text, truth or few distinct integers are classes; all else is a quantity."""
    if types.is_bool_dtype(column.dtype) or not types.is_numeric_dtype(column.dtype):
        return CLASSIFICATION
    if types.is_integer_dtype(column.dtype) and column.nunique() <= FEW_INTEGERS:
        return CLASSIFICATION
    return REGRESSION


def target_array(column: pd.Series, task: str | None) -> tuple[np.ndarray, str]:
    """The target as labels or float64, and the task, found out when None."""
    if task is not None and task not in TASKS:
        raise DataError(f"dataset.task={task} is not one of {listed(TASKS)}.")
    if column.isna().any():
        raise DataError(f"The target {column.name} has {column.isna().sum()} missing values.")
    task = task or find_task(column)
    return (_labels(column) if task == CLASSIFICATION else _quantity(column)), task


def targets_array(columns: pd.DataFrame, task: str | None) -> tuple[np.ndarray, str]:
    """As `target_array` of one column, (n,); of several (n, T) float64, or labels: int64, or text
    if any of them has it."""
    if columns.shape[1] == 1:
        return target_array(columns.iloc[:, 0], task)
    task = task or _find_tasks(columns)
    found = [target_array(columns[name], task)[0] for name in columns.columns]
    if any(target.dtype.kind == "U" for target in found):
        found = [target.astype(np.str_) for target in found]
    return np.stack(found, axis=1), task


def _find_tasks(columns: pd.DataFrame) -> str:
    """Several columns of numbers are quantities, however few they are; beside text they have to be
    classes too."""
    is_text = [not types.is_numeric_dtype(dtype) for dtype in columns.dtypes]
    if not any(is_text):
        return REGRESSION
    tasks = {name: find_task(columns[name]) for name in columns.columns}
    classes, numbers = ([n for n in tasks if tasks[n] == task] for task in TASKS)
    if numbers:
        raise DataError(
            f"dataset.target must be all classes or all numbers: {listed(classes)} has classes, "
            f"{listed(numbers)} numbers."
        )
    return CLASSIFICATION


def joint_codes(labels: np.ndarray) -> np.ndarray:
    """The number of each row's class, (n,); of several targets, (n, T), that of all its classes
    together. Of one-hot columns it is the number of the class that they were made from."""
    if labels.ndim == 1:
        return np.unique(labels, return_inverse=True)[1]
    return np.unique(labels[:, ::-1], axis=0, return_inverse=True)[1].ravel()


def one_hot(dataset: Dataset) -> Dataset:
    """The data set with a target for each class, which is 1 in rows of that class and else 0."""
    if dataset.task != CLASSIFICATION or dataset.target.ndim > 1:
        has = "several targets" if dataset.target.ndim > 1 else "numbers"
        raise DataError(
            f"dataset.one_hot=true needs one target of classes, but {dataset.name} has {has}."
        )
    classes, codes = np.unique(dataset.target, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"dataset.one_hot=true needs two classes at least, but {dataset.name} has one."
        )
    columns = (codes[:, None] == np.arange(len(classes))).astype(np.int64)
    return dataset._replace(target=columns, target_names=tuple(map(str, classes)))


def _labels(column: pd.Series) -> np.ndarray:
    """Whole numbers as int64, truth and text as text."""
    if types.is_bool_dtype(column.dtype) or not types.is_numeric_dtype(column.dtype):
        return column.astype(str).to_numpy(dtype=np.str_)
    values = column.to_numpy(dtype=np.float64)
    if not (np.isfinite(values) & (values == np.round(values))).all():
        raise DataError(
            f"dataset.task=classification needs labels, but {column.name} holds fractions."
        )
    if values.max(initial=0.0) >= 2.0**63:
        raise DataError(
            f"The target {column.name} has labels from 2**63 on, which are not told apart: write "
            "them as text."
        )
    return column.to_numpy(dtype=np.int64)


def _quantity(column: pd.Series) -> np.ndarray:
    try:
        values = column.to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"dataset.task=regression needs numbers, but {column.name} holds text."
        ) from None
    if not np.isfinite(values).all():
        raise DataError(f"The target {column.name} has infinite values.")
    return values


def sample(dataset: Dataset, n_samples: int | None, seed: int) -> Dataset:
    """The data set cut to n_samples rows, in their old order; its own test set stays whole.

    The rows of a smaller sample are among those of a greater one, and each class keeps its share.
    """
    n_rows = len(dataset.target) - dataset.n_own_test
    if n_samples is None or n_samples == n_rows:
        return dataset
    if not 1 <= n_samples <= n_rows:
        kept = " beside its own test set" if dataset.n_own_test else ""
        raise DataError(
            f"dataset.n_samples={n_samples} is not possible: "
            f"{dataset.name} has {n_rows} rows{kept}, and it has to be from 1 to that."
        )
    classes = np.zeros(n_rows)
    if dataset.task == CLASSIFICATION:
        classes = joint_codes(dataset.target[:n_rows])
    own_test = np.arange(n_rows, len(dataset.target))
    rows = np.concatenate([np.sort(shuffled(classes, seed)[:n_samples]), own_test])
    frame = dataset.frame.iloc[rows].reset_index(drop=True)
    return dataset._replace(frame=_used(frame), target=dataset.target[rows])


def _used(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without the levels that none of its rows has."""
    categories = [name for name, dtype in frame.dtypes.items() if is_category(dtype)]
    used = {name: frame[name].cat.remove_unused_categories() for name in categories}
    return frame.assign(**used) if used else frame


def shuffled(classes: np.ndarray, seed: int) -> np.ndarray:
    """Row numbers in a random order of which every beginning holds each class by its share.

    Row r of n_c of a class, in a shuffle, is due at the point (r + ½) / n_c; rows come as due.
    """
    order = np.random.default_rng(seed).permutation(len(classes))
    due = np.empty(len(classes))
    for label in np.unique(classes):
        members = np.flatnonzero(classes[order] == label)
        due[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(due, kind="stable")]


def rescaled(dataset: Dataset, seed: int) -> Dataset:
    """The data set with each column of numbers multiplied by a power of two, none by 1.

    In binary such a factor moves the point and keeps every digit: values keep their order and
    their ties, midway between two values stays midway, and no rounding differs. So a learner that
    does not care for scales finds the same trees, to the bit, with cuts multiplied alike.
    """
    numbers = dataset.frame.select_dtypes(exclude="category")
    names = numbers.columns
    powers = np.random.default_rng(seed).choice(SCALES, len(names))
    values = numbers.to_numpy(dtype=np.float64, copy=True)
    lost = [
        name
        for name, column, power in zip(names, values.T, powers, strict=True)
        if not _multiply(column, power)
    ]
    if lost:
        raise DataError(
            f"dataset.rescale=true would lose digits of {listed(lost)}: too large or too small."
        )
    return dataset._replace(
        frame=dataset.frame.assign(**pd.DataFrame(values, columns=names)),
        source=f"{dataset.source}, columns rescaled by seed {seed}",
    )


def _multiply(column: np.ndarray, power: int) -> bool:
    """Multiply a column, in place, by a power of two; False if that cannot be undone."""
    before = column.copy()
    with np.errstate(over="ignore", under="ignore"):
        column[:] = np.ldexp(before, power)
        return np.array_equal(np.ldexp(column, -power), before, equal_nan=True)

"""A person's own table: csv or parquet, read by pandas."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from forestlab.config import DatasetConfig, column_names
from forestlab.datasets.base import DataError, Dataset
from forestlab.datasets.table import pop_targets, targets_array


def from_table(name: str, frame: pd.DataFrame, source: str, config: DatasetConfig) -> Dataset:
    """A data set of a table, whose target is one column or several; values are not yet checked."""
    frame = frame.rename(columns=str)
    if len(frame) == 0 or frame.shape[1] < 2:
        raise DataError(
            f"{source} has {len(frame)} rows and {frame.shape[1]} columns: "
            "at least one row, one feature and a target are needed."
        )
    if not frame.columns.is_unique:
        twice = sorted(set(frame.columns[frame.columns.duplicated()]))
        raise DataError(f"{source} has columns of the same name: {', '.join(twice)}.")
    frame = _unmarked(frame, list(config.missing_marks))
    features, columns = pop_targets(frame, column_names(config.target))
    target, task = targets_array(columns, config.task)
    names = tuple(columns.columns) if target.ndim > 1 else ()
    features = features.reset_index(drop=True)
    return Dataset(name, features, target, task, source, target_names=names)


def _unmarked(frame: pd.DataFrame, marks: list[str]) -> pd.DataFrame:
    """The table with missing values where a mark says so; what is left may then be numbers."""
    marked = [name for name in frame if marks and frame[name].isin(marks).any()]
    return frame.assign(**{name: _without(frame[name], marks) for name in marked})


def _without(column: pd.Series, marks: list[str]) -> pd.Series:
    left = column.astype(object).mask(column.isin(marks), None)
    numbers = pd.to_numeric(left, errors="coerce")
    return left if (numbers.isna() & left.notna()).any() else numbers


def _load(config: DatasetConfig, kind: str, read: Callable[[Path], pd.DataFrame]) -> Dataset:
    """The table at dataset.path."""
    if not config.path:
        raise DataError(f"dataset.path is missing: say which {kind} file to read.")
    path = Path(config.path).expanduser()
    if not path.is_file():
        raise DataError(f"dataset.path={config.path} is not a file (looked at {path.absolute()}).")
    try:
        frame = read(path)
    except ImportError as error:
        raise DataError(f"Reading {kind} files needs another package: {error}") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"dataset.path={config.path} is an empty file.") from None
    except (OSError, ValueError) as error:
        raise DataError(f"dataset.path={config.path} is not a {kind} file: {error}") from None
    return from_table(path.stem, frame, f"file:{config.path}", config)


def csv(config: DatasetConfig) -> Dataset:
    """A csv file with a header line."""
    return _load(config, "csv", pd.read_csv)


def parquet(config: DatasetConfig) -> Dataset:
    """A parquet file."""
    return _load(config, "parquet", pd.read_parquet)


FILES = {"csv": csv, "parquet": parquet}

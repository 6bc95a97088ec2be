"""A person's own table: csv or parquet, read by pandas."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from forestlab.config import DatasetConfig, column_names
from forestlab.datasets.base import DataError, Dataset
from forestlab.datasets.table import listed, pop_targets, targets_array


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


# ---- files -------------------------------------------------------------------------------------


def _load(
    config: DatasetConfig, kind: str, read: Callable[[Path], tuple[pd.DataFrame, list[str]]]
) -> Dataset:
    """The table at dataset.path."""
    if not config.path:
        raise DataError(f"dataset.path is missing: say which {kind} file to read.")
    path = Path(config.path).expanduser()
    if not path.is_file():
        raise DataError(f"dataset.path={config.path} is not a file (looked at {path.absolute()}).")
    try:
        frame, notes = read(path)
    except ImportError as error:
        raise DataError(f"Reading {kind} files needs another package: {error}") from None
    except pd.errors.EmptyDataError:
        raise DataError(f"dataset.path={config.path} is an empty file.") from None
    except DataError:
        raise
    except (OSError, ValueError) as error:
        raise DataError(f"dataset.path={config.path} is not a {kind} file: {error}") from None
    made = from_table(path.stem, frame, f"file:{path.absolute()}", config)
    return made._replace(notes=tuple(notes))


def csv(config: DatasetConfig) -> Dataset:
    """A csv file with a header line."""
    return _load(config, "csv", lambda path: _read_csv(path, config))


def parquet(config: DatasetConfig) -> Dataset:
    """A parquet file."""
    return _load(config, "parquet", lambda path: (pd.read_parquet(path), []))


# ---- csv ---------------------------------------------------------------------------------------


def _read_csv(path: Path, config: DatasetConfig) -> tuple[pd.DataFrame, list[str]]:
    """A csv file and how it was read, if that had to be found out."""
    decimal = config.decimal or "point"
    if decimal not in DECIMALS:
        raise DataError(f"dataset.decimal={decimal} is not one of {listed(DECIMALS)}.")
    word = _delimiter(path, config.delimiter)
    delimiter = DELIMITERS.get(word, word)
    _require_header(path, delimiter)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:  # index_col: else pandas takes the first column for the rows' names
            frame = pd.read_csv(path, sep=delimiter, decimal=DECIMALS[decimal], index_col=False)
        except pd.errors.ParserWarning:
            raise DataError(
                f"dataset.path={config.path} has rows of more fields than there are names in its "
                "first line: name every column there."
            ) from None
    if frame.shape[1] < 2:
        raise DataError(
            f"dataset.path={config.path} has one column: if something else than a comma stands "
            f"between its fields, say so by dataset.delimiter={' or '.join(list(DELIMITERS)[1:])}."
        )
    notes = [] if word == "comma" else [f"separated by {word}: dataset.delimiter={word}"]
    commas = [name for name in frame if _has_decimal_commas(frame[name])]
    if commas:
        notes.append(f"{listed(commas)}: numbers with a comma? dataset.decimal=comma reads them")
    return frame, notes if config.delimiter is None else notes[word != "comma" :]


def _delimiter(path: Path, given: str | None) -> str:
    """The word, or the letter, for what stands between fields: a comma if there are any."""
    if given is not None:
        word = next((word for word, sign in DELIMITERS.items() if sign == given), given)
        if word not in DELIMITERS and len(word) != 1:
            raise DataError(f"dataset.delimiter={given} is no letter, nor {listed(DELIMITERS)}.")
        return word
    n_fields = {word: _n_fields(path, DELIMITERS[word]) for word in FOUND_OUT}
    likeliest = max(n_fields, key=lambda word: n_fields[word])
    return "comma" if n_fields["comma"] > 1 or n_fields[likeliest] < 2 else likeliest


def _n_fields(path: Path, delimiter: str) -> int:
    """How many fields the first rows have; 0 if some have more than the first."""
    try:
        first = pd.read_csv(path, sep=delimiter, header=None, nrows=ROWS_LOOKED_AT, dtype=str)
    except pd.errors.ParserError:
        return 0
    return first.shape[1]


def _require_header(path: Path, delimiter: str) -> None:
    """Raise DataError for names that pandas would change to tell them apart."""
    header = pd.read_csv(path, sep=delimiter, header=None, nrows=1, dtype=str).iloc[0].dropna()
    twice = header[header.duplicated()].unique()
    if len(twice):
        raise DataError(f"file:{path} has columns of the same name: {listed(twice)}.")


def _has_decimal_commas(column: pd.Series) -> bool:
    known = column.dropna()
    is_text = len(known) > 0 and not pd.api.types.is_numeric_dtype(column.dtype)
    return is_text and bool(known.astype(str).str.fullmatch(r"[+-]?\d+(,\d+)?").all())


DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": r"\s+"}
FOUND_OUT = ("comma", "semicolon", "tab", "bar")  # a space also stands in names
DECIMALS = {"point": ".", "comma": ","}
ROWS_LOOKED_AT = 20
FILES = {"csv": csv, "parquet": parquet}

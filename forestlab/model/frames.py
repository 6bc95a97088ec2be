"""X as people have it, a table of numbers and words, as the numbers that trees are grown on.

A column of *categories* becomes the numbers of its levels (see tree.levels); all others stay
numbers. Which columns are categories is said by `categorical_features`, or by what they hold.
Tables of pandas, polars and pyarrow come through narwhals, so that all are read alike; arrays of
objects and lists are looked at value by value. An X of numbers alone is not touched here.

Steps: `read` at a fit finds the columns and their levels, or nothing if there are no categories; at
a prediction the levels are the model's; `encoded` makes numbers of either.
"""

import datetime
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from forestlab.core.options import is_whole, listed
from forestlab.spelling import did_you_mean, most_like
from forestlab.tree.levels import (
    FAMILIES,
    NUMERIC,
    UNSEEN,
    as_levels,
    distinct,
    families,
    is_missing,
    numbered,
    refuse_dicts,
    require_few,
)

FROM_DTYPE = "from_dtype"
MOMENTS = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


class Column(NamedTuple):
    name: Any  # as the table has it; in an array its number
    values: np.ndarray  # (n_rows,)
    is_category: bool = False  # by what it holds
    levels: np.ndarray | None = None  # those that its type lists, held or not


class Table(NamedTuple):
    columns: list[Column]
    levels: list[np.ndarray | None]  # of each column; None: it is one of numbers

    @property
    def counts(self) -> tuple[int, ...]:
        """How many levels each column has; 0: it is one of numbers."""
        return tuple(0 if own is None else len(own) for own in self.levels)


# ---- which columns, which levels ---------------------------------------------------------------


def read(X, categorical_features=FROM_DTYPE) -> Table | None:
    """The columns of a training X and their levels; None if all are numbers, as scikit-learn takes
    them.

    Parameters
    ----------
    categorical_features : "from_dtype", names, numbers, a mask, or None, as in the estimators
    """
    refuse_dicts(X)
    by_kind = isinstance(categorical_features, str) and categorical_features == FROM_DTYPE
    unsaid = by_kind or categorical_features is None
    if unsaid and is_plain(X):
        return None
    columns = columns_of(X)
    _refuse_moments(columns)
    if by_kind:
        chosen = np.array([column.is_category for column in columns])
    else:
        chosen = chosen_columns(categorical_features, columns, _is_frame(X))
        if not any(chosen):
            _refuse_words(columns, categorical_features)
    if not any(chosen):
        return None
    pairs = zip(columns, chosen, strict=True)
    return Table(columns, [_levels_of(column) if is_one else None for column, is_one in pairs])


def require_numbers(X, who: str) -> None:
    """Refuse categories; booleans are numbers too."""
    for column in () if is_plain(X) else columns_of(X):
        if column.is_category and families(_some(column)) != ["booleans"]:
            raise ValueError(
                f"{who} takes numbers alone; column {column.name!r} holds categories: make numbers "
                "of them, or leave it out."
            )


def _refuse_words(columns: Iterable[Column], given) -> None:
    """Where no column is one of categories, by what was given."""
    for column in columns:
        try:
            _as_numbers(column)
        except ValueError as error:
            raise ValueError(
                f"categorical_features={given!r} takes all columns for numbers; column "
                f"{column.name!r} holds others, such as {_first_word(column)!r}: name it in "
                f"categorical_features, or say {FROM_DTYPE!r}."
            ) from error


def require_no_words(X) -> None:
    """Refuse words where the model knows of no categories."""
    for column in () if is_plain(X) else columns_of(X):
        word = _first_word(column)
        if isinstance(word, str):
            raise ValueError(
                f"column {column.name!r} must hold numbers, as in training; got {word!r}."
            )


def _first_word(column: Column) -> Any:
    """The first value of a column that is no number."""
    for value in _some(column):
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return None


def require_known(X, names, has_option: bool) -> None:
    """Refuse missing values in numbers, be they sparse or not.

    Parameters
    ----------
    names : (n_features,) of the columns
    has_option : `missing` is an option of the estimator's
    """
    values = X.data if issparse(X) else X
    if values.dtype.kind != "f" or not np.isnan(values.min(initial=0.0)):
        return
    rows, columns = (X != X).nonzero()  # NaN alone differs from itself
    where = f"X holds NaN in column {names[columns.min()]!r}, row {rows[columns.argmin()]}"
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    if has_option:
        raise ValueError(
            f"missing='error' refuses missing values; {where}{more}: choose missing='learned', "
            "'branch' or 'both', or fill them in."
        )
    raise ValueError(f"missing values are not taken; {where}{more}: fill them in.")


def _some(column: Column) -> list:
    return [value for value in column.values.tolist() if not is_missing(value)]


def _levels_of(column: Column) -> np.ndarray:
    if column.levels is not None:
        return require_few(column.levels, column.name)
    return distinct(column.values, column.name)


def _refuse_moments(columns: Iterable[Column]) -> None:
    for column in columns:
        if column.values.dtype.kind in "mM" or _holds_moments(column.values):
            raise ValueError(
                f"column {column.name!r} holds dates or times: make numbers of them, such as days "
                "since one of them, or leave it out."
            )


def _holds_moments(values: np.ndarray) -> bool:
    if values.dtype != object:
        return False
    first = next((value for value in values if not is_missing(value)), None)
    return isinstance(first, MOMENTS)


def chosen_columns(given, columns: list[Column], has_names: bool) -> np.ndarray:
    """Which columns `categorical_features` says, (n_features,) booleans."""
    n_features = len(columns)
    if given is None:
        return np.zeros(n_features, bool)
    is_list = not isinstance(given, str) and np.ndim(given) == 1
    items: list[Any] = list(given) if is_list else [None]
    if len(items) == n_features and all(isinstance(item, bool | np.bool_) for item in items):
        return np.array(items, bool)
    if all(isinstance(item, str) for item in items):
        return _named(items, columns, has_names)
    if not all(is_whole(item) and 0 <= item < n_features for item in items):
        raise ValueError(
            f"categorical_features must be {FROM_DTYPE!r}, a list of names or of numbers from 0 to "
            f"{n_features - 1}, a mask of {n_features} booleans, or None; got {given!r}."
        )
    return np.isin(np.arange(n_features), items)


def _named(names: list[str], columns: list[Column], has_names: bool) -> np.ndarray:
    there = [column.name for column in columns]
    if not has_names:
        raise ValueError(
            f"categorical_features must be numbers or a mask, as X has no names; got {names!r}."
        )
    for name in names:
        if name not in there:
            guess = did_you_mean(most_like(name, [str(one) for one in there]),
                                 f"there are {listed(map(str, there))}.")  # fmt: skip
            raise ValueError(f"categorical_features must name features of X; got {name!r}: {guess}")
    return np.array([name in names for name in there])


# ---- columns -----------------------------------------------------------------------------------


def is_plain(X) -> bool:
    """Does X hold numbers by its type alone, so that nothing has to be looked at?"""
    if isinstance(X, np.ndarray):
        return X.dtype.kind not in "OU"
    if isinstance(X, list | tuple):
        return not _has_words(X)
    dtypes = getattr(X, "dtypes", ())  # pandas' are numpy's if they are plain: 90 times as quick
    if len(dtypes) and all(isinstance(one, np.dtype) and one.kind in "iuf" for one in dtypes):
        return True
    if _is_frame(X):
        return all(dtype.is_numeric() for dtype in _narwhals(X).schema.dtypes())
    return True  # sparse, or what scikit-learn makes an array of


def are_finite_numbers(X, n_features: int) -> bool:
    """Is X an array of so many columns of finite numbers, in which scikit-learn would find nothing
    wrong? To have it look at a single row takes longer than to ask 20 trees about it, ten times."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.shape[1] != n_features or not len(X):
        return False
    if X.dtype != np.float32 and X.dtype != np.float64:
        return X.dtype.kind in "iu"
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))  # if not, they may still be: it is told by a closer look


def columns_of(X) -> list[Column]:
    """The columns of a table, or of whatever scikit-learn makes an array of."""
    if _is_frame(X):
        return _columns_of_frame(X)
    if _has_words(X):
        X = np.array(X, dtype=object)  # so that numbers beside words stay numbers
    X = check_array(X, dtype=None, ensure_all_finite=False)
    return [Column(j, X[:, j], _is_category(X[:, j])) for j in range(X.shape[1])]


def _has_words(X) -> bool:
    """Is X a list in which there are not only numbers?"""
    if not isinstance(X, list | tuple):
        return False
    try:
        return np.asarray(X).dtype.kind in "OU"
    except ValueError:  # of rows of different lengths: scikit-learn tells what is wrong
        return False


def _is_category(values: np.ndarray) -> bool:
    """Is a column of an array, by what it holds? If any of its values is a string, or all that are
    known are booleans. A whole array of booleans is one of numbers, as in scikit-learn."""
    if values.dtype != object:
        return values.dtype.kind == "U"
    if any(isinstance(value, str) for value in values):
        return True
    kinds = {isinstance(value, bool | np.bool_) for value in values if not is_missing(value)}
    return kinds == {True}


def _is_frame(X) -> bool:
    if isinstance(X, np.ndarray | list | tuple):
        return False
    import narwhals.stable.v2 as nw

    return nw.dependencies.is_into_dataframe(X)


def _narwhals(X):
    import narwhals.stable.v2 as nw

    return nw.from_native(X, eager_only=True)


def _columns_of_frame(X) -> list[Column]:
    frame = _narwhals(X)
    return [_column_of_frame(name, frame.get_column(name)) for name in frame.columns]


def _column_of_frame(name, series) -> Column:
    import narwhals.stable.v2 as nw

    dtype, values = series.dtype, series.to_numpy()
    if dtype in (nw.List, nw.Array, nw.Struct, nw.Binary):
        raise ValueError(
            f"column {name!r} is of type {dtype}: a column must hold numbers, strings or booleans."
        )
    if values.dtype == object:
        values = values.copy()
        # pyarrow gives a level for what is missing in a dictionary, and each has its own NA.
        values[series.is_null().to_numpy()] = None
    if dtype in (nw.Categorical, nw.Enum):
        return _by_levels(name, values, _listed_levels(series))
    is_category = dtype in (nw.Boolean, nw.String) or (dtype == nw.Object and _is_category(values))
    return Column(name, values, is_category)


def _listed_levels(series) -> np.ndarray | None:
    """The categories that a column's type lists, in their order; None if it lists none: what
    polars keeps of a Categorical may be those of other columns too."""
    import narwhals.stable.v2 as nw

    if series.dtype == nw.Categorical and series.implementation.is_polars():
        return None
    try:
        return series.cat.get_categories().to_numpy()
    except AttributeError:  # pyarrow's dictionaries within pandas
        return None


def _by_levels(name, values: np.ndarray, levels: np.ndarray | None) -> Column:
    """A column whose type lists its levels; those that are neither strings nor numbers nor
    booleans, such as the intervals of pandas.cut, by what is printed of them."""
    if levels is None:
        return Column(name, values, True)
    kinds = families(levels.tolist())
    if len(kinds) < 2 and set(kinds) <= set(FAMILIES):
        return Column(name, values, True, as_levels(levels.tolist()))
    texts = [None if is_missing(value) else str(value) for value in values.tolist()]
    return Column(name, np.array(texts, dtype=object), True, as_levels(levels.tolist()))


# ---- numbers -----------------------------------------------------------------------------------


def encoded(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The table as (n_rows, n_features) float64; and where it has a category that is no level,
    which is UNSEEN there."""
    n_rows = len(table.columns[0].values)
    X = np.empty((n_rows, len(table.columns)))
    for j, (column, own) in enumerate(zip(table.columns, table.levels, strict=True)):
        if own is None:
            X[:, j] = _as_numbers(column)
        else:
            X[:, j] = numbered(column.values, own, column.name)
    are_categories = np.array([own is not None for own in table.levels])
    return X, (X == UNSEEN) & are_categories


def numbers(X) -> np.ndarray:
    """An X without categories as (n_rows, n_features) float64: None and pandas.NA are NaN."""
    columns = columns_of(X)
    return encoded(Table(columns, [None] * len(columns)))[0]


def as_objects(values: list) -> np.ndarray:
    """Values of any kind as an array of just these, (n,)."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _as_numbers(column: Column) -> np.ndarray:
    values = column.values
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: column {column.name!r}.")
    if values.dtype.kind in NUMERIC:
        return values
    known = [np.nan if is_missing(value) else value for value in values.tolist()]
    try:
        return np.array(known, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"column {column.name!r} must hold numbers, as it is none of categories: {error}."
        ) from error

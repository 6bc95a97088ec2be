"""What each column of a table is taken for: a number or a category, found out or as asked.

Text and truth are categories, whose levels are their texts, sorted; a column of numbers becomes one
by dataset.categorical. Dates are neither until dataset.numeric makes them days since 1970. In a
typed table a category column has pandas' `category` dtype, all others are plain numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from forestlab.datasets.base import DataError, is_category
from forestlab.datasets.table import listed

NUMBER, CATEGORY = "number", "category"
TRUTH, TEXT, DATE, EMPTY = "truth", "text", "date", "empty"  # of a column as it was read

# By what pandas infers of a column of Python objects.
INFERRED = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), NUMBER),
    **dict.fromkeys(("string", "mixed-integer"), TEXT),
    **dict.fromkeys(("date", "datetime", "datetime64"), DATE),
    "boolean": TRUTH,
    "empty": EMPTY,
}
DATES = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d{4}/\d\d?/\d\d?|\d\d?[./-]\d\d?[./-]\d{4}")
FORMATS = ("ISO8601", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y")
MOST_TOLD = 3  # wrong values in an error


# ---- from a raw table to a typed one -----------------------------------------------------------


def typed(
    frame: pd.DataFrame, categorical: Iterable[str] = (), numbers: Iterable[str] = ()
) -> pd.DataFrame:
    """The table with plain numbers and categories; DataError names the columns that are neither.

    Parameters
    ----------
    frame : DataFrame of n rows
    categorical, numbers : names of columns to be taken for categories, for numbers
    """
    asked = dict.fromkeys(categorical, CATEGORY) | dict.fromkeys(numbers, NUMBER)
    # Numbers of numpy's own are clear from their type: MNIST has 784 columns of them.
    unclear = [
        name for name, dtype in frame.dtypes.items() if name in asked or not _is_clear(dtype)
    ]
    raw = {name: raw_kind(frame[name]) for name in unclear}
    _refuse_others(frame, [name for name in unclear if raw[name] is None])
    _refuse_dates([name for name in unclear if raw[name] == DATE and name not in asked])
    usual = {name: CATEGORY if raw[name] in (TEXT, TRUTH) else NUMBER for name in unclear}
    made = {
        name: _levels(frame[name])
        if asked.get(name, usual[name]) == CATEGORY
        else _numbers(frame[name], raw[name])
        for name in unclear
    }
    return plain_numbers(frame.assign(**made) if made else frame)


def check_names(frame: pd.DataFrame, lists: dict[str, list[str]]) -> None:
    """Raise DataError for a name that is no feature's, or that is named twice.

    Parameters
    ----------
    frame : DataFrame, before anything is left out
    lists : names of columns by the option that gives them
    """
    for option, names in lists.items():
        unknown = [name for name in names if name not in frame.columns]
        if unknown:
            raise DataError(
                f"dataset.{option} names {listed(unknown)}, which is no feature; "
                f"the features are {listed(frame.columns)}."
            )
    counts = Counter(name for names in lists.values() for name in names)
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        where = [f"dataset.{option}" for option, names in lists.items() if twice in names]
        how = f"name {twice}" if len(where) > 1 else f"names {twice} twice"
        raise DataError(f"{' and '.join(where)} {how}: a column is named once.")


def _is_clear(dtype: object) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"


def raw_kind(column: pd.Series) -> str | None:
    """What a column holds as it was read; None if neither numbers, nor text, nor dates."""
    dtype = column.dtype
    if is_category(dtype):
        return TEXT
    if types.is_bool_dtype(dtype):
        return TRUTH
    if types.is_numeric_dtype(dtype):
        return None if types.is_complex_dtype(dtype) else NUMBER
    if types.is_datetime64_any_dtype(dtype):
        return DATE
    if not (types.is_object_dtype(dtype) or types.is_string_dtype(dtype)):
        return None
    inferred = types.infer_dtype(column, skipna=True)
    known = column.dropna()
    if inferred == "mixed" and known.map(lambda value: isinstance(value, str | int | float)).all():
        return TEXT
    kind = INFERRED.get(inferred)
    return DATE if kind == TEXT and _are_dates(known) else kind


def _are_dates(known: pd.Series) -> bool:
    """Whether all texts look like dates and one way to write them fits."""
    texts = known.astype(str)
    return bool(texts.str.fullmatch(DATES).all()) and bool(_fitting(texts))


def _fitting(texts: pd.Series) -> list[str]:
    """The ways to write dates that fit all texts."""
    found = []
    for way in FORMATS:
        try:
            pd.to_datetime(texts, format=way, utc=True)
        except ValueError:
            continue
        found.append(way)
    return found


def _refuse_others(frame: pd.DataFrame, names: list[Any]) -> None:
    if names:
        what = ", ".join(f"{name} ({frame[name].dtype})" for name in names)
        raise DataError(
            f"The columns {what} hold neither numbers nor text; "
            f"leave them out by dataset.drop=[{','.join(names)}]."
        )


def _refuse_dates(names: list[Any]) -> None:
    if names:
        these = ",".join(names)
        raise DataError(
            f"The columns {listed(names)} hold dates: leave them out by dataset.drop=[{these}], "
            f"or take them as days since 1970 by dataset.numeric=[{these}]."
        )


def _levels(column: pd.Series) -> pd.Categorical:
    """A category column: its levels are texts, sorted; those of numbers in the numbers' order."""
    codes, values = pd.factorize(column)  # -1 where a value is missing
    words = [_word(value) for value in values]
    by_word = dict(zip(words, values, strict=True))
    are_numbers = all(isinstance(value, Real) for value in values)
    levels = sorted(by_word, key=by_word.__getitem__ if are_numbers else None)
    place = {level: number for number, level in enumerate(levels)}
    numbers = np.array([place[word] for word in words] + [-1])
    return pd.Categorical.from_codes(numbers[codes], pd.Index(levels, dtype=object))


def _word(value: Any) -> str:
    """A level's text: whole numbers without a point, which missing ones beside them would add."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def _numbers(column: pd.Series, raw: str | None) -> np.ndarray | pd.Series:
    """A column of numbers, NaN where one is missing; DataError tells what text it holds."""
    if raw == DATE:
        return _days(column)
    if raw == TEXT:
        column = column.astype(object)
        found = pd.to_numeric(column, errors="coerce")
        wrong = column[found.isna() & column.notna()].drop_duplicates()
        if len(wrong):
            told = ", ".join(map(repr, map(str, wrong[:MOST_TOLD])))
            more = ", …" if len(wrong) > MOST_TOLD else ""
            raise DataError(f"dataset.numeric names {column.name}, which holds text: {told}{more}.")
        return found.to_numpy(dtype=np.float64)
    if types.is_object_dtype(column.dtype):
        return column.astype("Float64" if raw != TRUTH else "boolean")
    return column if raw != TRUTH else column.astype("UInt8" if column.hasnans else np.uint8)


def _days(column: pd.Series) -> np.ndarray:
    """Days since the beginning of 1970, with the time of the day as a fraction."""
    texts = column.dropna()
    way = None
    if isinstance(texts.iloc[0], str):
        ways = _fitting(texts.astype(str))
        way = ways[0]
        if len(ways) > 1:
            raise DataError(
                f"dataset.numeric names {column.name}, in which {texts.iloc[0]} may begin with "
                "the day or with the month: write such dates as 2024-12-31."
            )
    moments = pd.to_datetime(column, format=way, utc=True).dt.tz_localize(None)
    micros = moments.to_numpy(dtype="datetime64[us]")
    days = micros.astype(np.int64) / 86_400_000_000
    return np.where(np.isnat(micros), np.nan, days)


# ---- plain numbers -----------------------------------------------------------------------------


def plain_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with numpy's own numbers in all columns but categories, none of them infinite."""
    dtypes = {name: dtype for name, dtype in frame.dtypes.items() if not is_category(dtype)}
    # Whole numbers of numpy's own are neither missing nor infinite.
    unsure = [name for name in dtypes if not _is_plain_integer(dtypes[name])]
    plain = {name: _plain(dtypes[name], frame[name].hasnans) for name in unsure}
    changed = {name: dtype for name, dtype in plain.items() if dtypes[name] != dtype}
    frame = frame.astype(changed) if changed else frame
    endless = [name for name in unsure if np.isinf(frame[name].to_numpy()).any()]
    if endless:
        raise DataError(
            f"The columns {listed(endless)} have infinite values; "
            f"leave them out by dataset.drop=[{','.join(endless)}], or mend the data."
        )
    return frame


def _is_plain_integer(dtype: object) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iu"


def _plain(dtype: object, lacking: bool) -> np.dtype:
    """The numpy dtype of a column of numbers: where values are missing, floats."""
    if isinstance(dtype, np.dtype) and not (lacking and dtype.kind != "f"):
        return dtype
    return np.dtype(np.int64 if types.is_integer_dtype(dtype) and not lacking else np.float64)

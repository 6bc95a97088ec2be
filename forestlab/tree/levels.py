"""The categories of a column, its *levels*, and the numbers that trees know them by.

Levels are strings, numbers or booleans, in an array of such; the number of a level is its place
there. A missing value is NaN, whatever stood for it: None, NaN, pandas.NA, pandas.NaT.
"""

from collections.abc import Iterable
from itertools import repeat
from numbers import Real

import numpy as np

from forestlab.core.options import listed

UNSEEN = -1.0  # in place of a level's number: a value that is none of the levels
MOST_LEVELS = 65_535
NUMERIC = "biuf"  # kinds of numpy's types, booleans among them


def is_missing(value) -> bool:
    """None, NaN or NaT, or pandas.NA, which is equal to nothing and not true either."""
    if value is None or type(value).__name__ == "NAType":
        return True
    differs = value != value  # of an array, an array
    return isinstance(differs, bool | np.bool_) and bool(differs)


def family(value) -> str:
    """Which kind of level a value would be."""
    if isinstance(value, str):
        return "strings"
    if isinstance(value, bool | np.bool_):
        return "booleans"
    return "numbers" if isinstance(value, Real) else f"values of type {type(value).__name__}"


FAMILIES = ("strings", "booleans", "numbers")


def families(values: Iterable) -> list[str]:
    return sorted({family(value) for value in values})


# ---- levels from values ------------------------------------------------------------------------


def distinct(values: np.ndarray, name) -> np.ndarray:
    """The levels of a column: the values that it holds, sorted.

    Parameters
    ----------
    values : (n_rows,)
    name : what the column is called where it is refused
    """
    if values.dtype.kind in NUMERIC:
        found = np.unique(values[~np.isnan(values)] if values.dtype.kind == "f" else values)
    else:
        known = [value for value in _set_of(values, name) if not is_missing(value)]
        kinds = families(known)
        if len(kinds) > 1 or not set(kinds) <= set(FAMILIES):
            raise ValueError(
                f"column {name!r} holds {' and '.join(kinds)}: categories must be all strings, all "
                "numbers or all booleans."
            )
        found = as_levels(sorted(known))
    return require_few(found, name)


def _set_of(values: np.ndarray, name) -> set:
    try:
        return set(values.tolist())
    except TypeError as error:  # what cannot be hashed: lists, dicts
        raise ValueError(
            f"column {name!r} holds what is no category, neither string, number nor boolean: "
            f"{error}."
        ) from error


def as_levels(values: Iterable) -> np.ndarray:
    """Values of one family, in their order, as levels: strings as objects."""
    listed = list(values)
    if families(listed) in (["numbers"], ["booleans"]):
        return np.array(listed)
    return np.array([str(value) for value in listed], dtype=object)


def require_few(levels: np.ndarray, name) -> np.ndarray:
    """The levels, unless a tree has no numbers for so many."""
    if len(levels) > MOST_LEVELS:
        raise ValueError(
            f"column {name!r} has {len(levels):,} categories; at most {MOST_LEVELS:,} are taken."
        )
    if levels.dtype.kind == "f" and np.isinf(levels).any():
        raise ValueError(f"column {name!r} holds infinity, which is no category.")
    return levels


# ---- values to numbers -------------------------------------------------------------------------


def numbered(values: np.ndarray, levels: np.ndarray, name) -> np.ndarray:
    """The numbers of values' levels, (n_rows,) float64; NaN where one is missing, UNSEEN where it
    is no level."""
    if values.dtype.kind in NUMERIC and levels.dtype.kind in NUMERIC:
        return _searched(values, levels)
    number = {level: float(k) for k, level in enumerate(levels.tolist())}
    try:
        each = map(number.get, values.tolist(), repeat(UNSEEN))
        found = np.fromiter(each, np.float64, len(values))
    except TypeError:  # what cannot be hashed is no level
        found = np.full(len(values), UNSEEN)
    for i in np.flatnonzero(found == UNSEEN):
        if is_missing(values[i]):
            found[i] = np.nan
        else:
            _require_alike(values[i], levels, name)
    return found


def _searched(values: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """As `numbered`, of numbers, or booleans, in sorted or any other order."""
    order = np.argsort(levels, kind="stable")
    ranks = np.searchsorted(levels, values, sorter=order)
    places = order[np.minimum(ranks, len(levels) - 1)] if len(levels) else ranks
    same = levels[places] == values if len(levels) else np.zeros(len(values), bool)
    found = np.where(same, places, UNSEEN).astype(np.float64)
    if values.dtype.kind == "f":
        found[np.isnan(values)] = np.nan
    return found


def _require_alike(value, levels: np.ndarray, name) -> None:
    """Refuse a value that could not be a level: text where there are numbers, or the other way."""
    are_text = levels.dtype.kind not in NUMERIC
    if len(levels) and isinstance(value, str) != are_text:
        value = value.item() if isinstance(value, np.generic) else value
        raise ValueError(
            f"column {name!r} takes {family(levels[0])} such as {levels.tolist()[0]!r}; "
            f"got {value!r}."
        )


def row_numbers(X, levels: list[np.ndarray | None], names: list[str]) -> np.ndarray:
    """Rows as people write them, (n_rows, n_features), as numbers; what is no level is NaN too."""
    rows = np.asarray(X, dtype=object)
    found = np.full(rows.shape, np.nan)
    if rows.ndim != 2 or rows.shape[1] != len(levels):
        return found  # of a shape that is refused
    for j, own in enumerate(levels):
        if own is None:
            found[:, j] = [_number(value, names[j]) for value in rows[:, j]]
        else:
            found[:, j] = numbered(rows[:, j], own, names[j])
            found[found[:, j] == UNSEEN, j] = np.nan
    return found


def _number(value, name) -> float:
    if is_missing(value):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} takes numbers; got {value!r}.") from error


def refuse_dicts(X) -> None:
    """Refuse rows that are dicts where a table is asked for."""
    is_row = isinstance(X, dict) and not hasattr(X, "shape")  # as a sparse matrix by keys has
    if is_row or (isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict)):
        raise ValueError(
            f"X must be a table of rows; got {'a dict' if is_row else 'a list of dicts'}: make it "
            f"one by pandas.DataFrame({'[row]' if is_row else 'rows'})."
        )


def row_of(x, names: list[str]) -> list:
    """The values of one row in the order of the features: it may be a list or an array of them, a
    dict or a series that has their names, or a table of one row."""
    if hasattr(x, "columns") and hasattr(x, "to_numpy"):
        x = dict(zip(x.columns, _only(x.to_numpy()), strict=True))
    if hasattr(x, "keys"):
        by_name = {str(name): x[name] for name in x.keys()}  # noqa: SIM118 (of a series, not its values)
        if isinstance(x, dict) or not by_name.keys().isdisjoint(names):
            return _by_name(by_name, names)
    x = x.toarray() if hasattr(x, "toarray") else x
    if isinstance(x, str) or not hasattr(x, "__iter__"):
        raise ValueError(f"x must be a row, of a value for each feature; got {x!r}.")
    values = list(x)
    if values and not isinstance(values[0], str) and np.ndim(values[0]) == 1:
        values = list(_only(values))
    if len(values) != len(names):
        raise ValueError(
            f"x must be a row of {len(names)} values, one for each feature; got {len(values)}."
        )
    return values


def _only(rows):
    """The row of a table that has one."""
    if len(rows) != 1:
        raise ValueError(f"x must be one row; got a table of {len(rows)}.")
    return rows[0]


def _by_name(by_name: dict, names: list[str]) -> list:
    lacking = [name for name in names if name not in by_name]
    if lacking:
        raise ValueError(
            f"x must have a value for each feature, {listed(names)}; there is none of "
            f"{listed(lacking)}."
        )
    return [by_name[name] for name in names]


def same_levels(some: list | None, others: list | None) -> bool:
    """Have two models the same levels, in the same order?"""
    if some is None or others is None:
        return some is others
    return len(some) == len(others) and all(map(_are_equal, some, others))


def _are_equal(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype.kind == b.dtype.kind and a.tolist() == b.tolist()

"""What each column of a table was taken for, and what looks wrong, for the person who gave it.

A remark changes nothing: a column that looks like an identifier is kept, as only its owner knows.
"""

from typing import NamedTuple

import pandas as pd

from forestlab.datasets.base import is_category
from forestlab.datasets.kinds import CATEGORY, NUMBER

IDENTIFIER, CONSTANT, EMPTY = "an identifier?", "constant", "wholly missing"
USELESS = (IDENTIFIER, CONSTANT, EMPTY)  # what is best left out
LEAST_ROWS = 20  # below which values that all differ say nothing
NEARLY_ALL = 0.95  # of the rows, with a value of their own
FEW_TEXTS = 3  # in a column of numbers: marks for what is missing, or for too much


class Column(NamedTuple):
    """What a column was taken for."""

    column: str
    taken_for: str  # NUMBER or CATEGORY
    levels: int  # of a category, else 0
    missing: float  # share of the rows
    remark: str  # what looks wrong; mostly ""


def columns_of(frame: pd.DataFrame) -> list[Column]:
    """What each column of a typed table was taken for."""
    return [_described(str(name), column) for name, column in frame.items()]


def _described(name: str, column: pd.Series) -> Column:
    categorical = is_category(column.dtype)
    levels = len(column.cat.categories) if categorical else 0
    missing = float(column.isna().mean())
    return Column(name, CATEGORY if categorical else NUMBER, levels, missing, _remark(column))


def _remark(column: pd.Series) -> str:
    known = column.dropna()
    if not len(known):
        return EMPTY
    n_values = known.nunique()
    if n_values == 1:
        return CONSTANT
    if is_category(column.dtype):
        texts = _texts_among_numbers(column.cat.categories)
        if texts:
            return f"numbers, but for {' '.join(texts)}"
    elif not (known == known.round()).all():
        return ""
    many = len(known) >= LEAST_ROWS and n_values >= NEARLY_ALL * len(known)
    return IDENTIFIER if many else ""


def _texts_among_numbers(levels: pd.Index) -> list[str]:
    """The texts, if they are few beside levels that are numbers."""
    is_number = pd.to_numeric(levels.to_series(), errors="coerce").notna()
    texts = [str(level) for level in levels[~is_number]]
    return texts if len(texts) <= min(FEW_TEXTS, is_number.sum()) else []

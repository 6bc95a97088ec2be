"""Tables that an experiment's verdicts hold on, and ways to spoil them.

A *case* is a table as the experiment's `table` makes it, here made up so that every verdict holds,
and *spoils*: what is done to it, by name, so that verdicts fail.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

Spoil = Callable[[pd.DataFrame], pd.DataFrame]
Where = dict[str, object]  # the value, or a list of values, that columns have


class Case(NamedTuple):
    table: Callable[[], pd.DataFrame]
    spoils: dict[str, Spoil]


def product(**columns) -> pd.DataFrame:
    """A row for each combination of the columns' values."""
    return pd.MultiIndex.from_product(columns.values(), names=list(columns)).to_frame(index=False)


def normal(n: int, sd: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, sd, n)


def rows_of(table: pd.DataFrame, where: Where) -> np.ndarray:
    """(n,) which rows have these values."""
    is_there = np.ones(len(table), bool)
    for column, wanted in where.items():
        is_there &= table[column].isin(wanted if isinstance(wanted, list) else [wanted]).to_numpy()
    assert is_there.any(), where
    return is_there


# ---- spoils ------------------------------------------------------------------------------------


def shift(column: str, by: float, **where) -> Spoil:
    """Add to the numbers of a column."""

    def spoil(table):
        table.loc[rows_of(table, where), column] += by
        return table

    return spoil


def put(column: str, value, **where) -> Spoil:
    """The same value in all rows."""

    def spoil(table):
        table.loc[rows_of(table, where), column] = value
        return table

    return spoil


def swap(column: str, one, other, **where) -> Spoil:
    """Exchange two labels."""

    def spoil(table):
        chosen = rows_of(table, where)
        labels = table.loc[chosen, column].replace({one: other, other: one})
        assert {one, other} <= set(labels)
        table.loc[chosen, column] = labels
        return table

    return spoil


def noise(column: str, sd: float, **where) -> Spoil:
    """Add noise that hides what there is to see."""

    def spoil(table):
        chosen = rows_of(table, where)
        table.loc[chosen, column] += normal(chosen.sum(), sd, seed=1)
        return table

    return spoil


def shuffle(column: str, **where) -> Spoil:
    """Whose number it is, is forgotten."""

    def spoil(table):
        chosen = rows_of(table, where)
        values = table.loc[chosen, column].to_numpy()
        table.loc[chosen, column] = np.random.default_rng(2).permutation(values)
        return table

    return spoil

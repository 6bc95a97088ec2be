"""Tables as a user has them: whichever they come from, the forest is the same to the bit."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from forestlab.model import frames
from forestlab.model.frames import encoded, known, read
from forestlab.tree.levels import MOST_LEVELS, UNSEEN, numbered

COLOURS, SIZES = ["red", "green", "blue"], ["s", "m", "l", "xl"]


def columns(n_rows=90, seed=0):
    """A listed type, strings, booleans and two kinds of numbers; each but the last lacks some."""
    rng = np.random.default_rng(seed)
    found = {
        "size": rng.choice(SIZES[:3], n_rows).tolist(),
        "colour": rng.choice(COLOURS, n_rows).tolist(),
        "glossy": (rng.random(n_rows) < 0.5).tolist(),
        "weight": np.round(rng.normal(size=n_rows), 2).tolist(),
    }
    for k, name in enumerate(found):
        for i in range(k, n_rows, 11):
            found[name][i] = None
    return found | {"age": rng.integers(0, 9, n_rows).tolist()}


def as_pandas(table):
    listed = pd.Categorical(table["size"], categories=SIZES)
    return pd.DataFrame(table | {"size": listed, "glossy": pd.array(table["glossy"], "boolean")})


def as_pandas_objects(table):
    listed = pd.Categorical(table["size"], categories=SIZES)
    return pd.DataFrame(table, dtype=object).assign(size=listed)


def as_polars(table):
    return pl.DataFrame(table, schema_overrides={"size": pl.Enum(SIZES)})


def as_polars_categorical(table):
    return as_polars(table).with_columns(pl.col("colour").cast(pl.Categorical))


def as_pyarrow(table):
    codes = pa.array([None if size is None else SIZES.index(size) for size in table["size"]])
    listed = pa.DictionaryArray.from_arrays(codes, pa.array(SIZES))
    return pa.table(table | {"size": listed})


FRAMES = [as_pandas, as_pandas_objects, as_polars, as_polars_categorical, as_pyarrow]


def as_objects(table):
    rows = np.empty((len(table["age"]), len(table)), dtype=object)
    for j, values in enumerate(table.values()):
        rows[:, j] = values
    return rows


def as_lists(table):
    return as_objects(table).tolist()


def without_types(table):
    """What an array can say of it: no type lists the sizes."""
    return as_pandas(table).astype({"size": "str"})


def targets(table):
    """Classes that depend on categories, and on missing ones."""
    sizes, colours = np.array(table["size"]), np.array(table["colour"])
    return np.isin(sizes, ["s", None]) * 1 + (colours == "blue")


def expected_numbers(table, sizes=SIZES):
    """By the plainest way: the place in the list of levels."""
    levels = {"size": sizes, "colour": sorted(COLOURS), "glossy": [False, True]}
    numbers = [
        [np.nan if v is None else levels[name].index(v) if name in levels else v for v in values]
        for name, values in table.items()
    ]
    return np.array(numbers, dtype=float).T


# ---- by itself ---------------------------------------------------------------------------------


@pytest.mark.parametrize("made", FRAMES)
def test_levels_of_a_type_come_in_its_order_and_others_sorted(made):
    table = columns()
    found = read(made(table))
    assert [None if own is None else own.tolist() for own in found.levels] == [
        SIZES,
        sorted(COLOURS),
        [False, True],
        None,
        None,
    ]
    assert found.counts == (4, 3, 2, 0, 0)
    X, unseen = encoded(found)
    np.testing.assert_array_equal(X, expected_numbers(table))
    assert not unseen.any()


@pytest.mark.parametrize("made", [as_objects, as_lists, without_types])
def test_without_a_type_levels_are_the_values_there_are(made):
    table = columns()
    found = read(made(table))
    assert found.levels[0].tolist() == ["l", "m", "s"]
    np.testing.assert_array_equal(encoded(found)[0], expected_numbers(table, ["l", "m", "s"]))


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((3, 2)),
        np.zeros((3, 2), bool),
        np.zeros((3, 2), object),
        np.array([[1, None], [2.5, np.nan], [3, pd.NA]], dtype=object),
        [[1, 2.5], [3, 4]],
        pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}),
        pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.Series([1, None], dtype=object)}),
        pl.DataFrame({"a": [1, None], "b": [0.5, None], "c": [None, None]}),
        pa.table({"a": [1, None], "b": [0.5, 1.5]}),
    ],
    ids=lambda X: type(X).__module__.split(".")[0],
)
def test_numbers_alone_go_the_way_of_scikit_learn(X):
    assert read(X) is None
    assert read(X, None) is None


def test_a_frame_of_numbers_is_not_even_looked_at(monkeypatch):
    monkeypatch.setattr(frames, "columns_of", lambda X: pytest.fail("looked at"))
    for X in (np.zeros((3, 2)), pd.DataFrame(np.zeros((3, 2)))):
        assert read(X) is None


LACKING = {
    "None": (["a", None, "b"], object),
    "NaN": (["a", np.nan, "b"], object),
    "NA": (["a", pd.NA, "b"], object),
    "NaT": (["a", pd.NaT, "b"], object),
    "str": (["a", None, "b"], "str"),
    "string": (["a", None, "b"], "string"),
    "category": (["a", None, "b"], "category"),
}


@pytest.mark.parametrize(("values", "dtype"), LACKING.values(), ids=list(LACKING))
def test_whatever_stands_for_a_missing_value_is_one(values, dtype):
    column = pd.Series(values, dtype=dtype)
    in_arrays = [np.array(values, dtype=object)[:, None]] if dtype is object else []
    for X in [pd.DataFrame({"c": column}), *in_arrays]:
        X, _ = encoded(read(X))
        np.testing.assert_array_equal(X[:, 0], [0, np.nan, 1])


def test_what_a_dictionary_of_pyarrow_lacks_is_missing_in_every_part():
    """Its to_numpy has a level there."""
    parts = [pa.array(["a", None, "b"]), pa.array(["c", "a", None])]
    X = pa.table({"c": pa.chunked_array([part.dictionary_encode() for part in parts])})
    found = read(X)
    assert found.levels[0].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(encoded(found)[0][:, 0], [0, np.nan, 1, 2, 0, np.nan])


def test_a_categorical_of_polars_has_no_levels_of_other_columns():
    other = pl.Series(["zebra", "yak"], dtype=pl.Categorical)
    X = pl.DataFrame({"c": pl.Series(["b", "a", "b"], dtype=pl.Categorical)})
    assert len(other) == 2
    assert read(X).levels[0].tolist() == ["a", "b"]


def test_strings_stay_strings_numbers_numbers_and_booleans_booleans():
    X = pd.DataFrame(
        {
            "text": ["1", "10", "2"],
            "whole": pd.Categorical([10, 9, 10]),
            "real": pd.Categorical([0.5, 2.5, 0.5]),
            "truth": pd.Categorical([True, False, True]),
            "cut": pd.cut([1.0, 2.0, 3.0], [0, 1.5, 5]),
        }
    )
    levels = read(X).levels
    assert [own.tolist() for own in levels] == [
        ["1", "10", "2"],
        [9, 10],
        [0.5, 2.5],
        [False, True],
        ["(0.0, 1.5]", "(1.5, 5.0]"],
    ]
    assert [own.dtype.kind for own in levels] == ["O", "i", "f", "b", "O"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, []),
        ([], []),
        (["colour"], ["colour"]),
        (np.array(["age", "colour"]), ["colour", "age"]),
        ([1, 4], ["colour", "age"]),
        (np.array([4]), ["age"]),
        ([False, True, False, False, True], ["colour", "age"]),
    ],
)
def test_columns_by_name_by_number_and_by_mask(given, expected):
    X = as_pandas(columns())
    found = read(X, given)
    names = (
        []
        if found is None
        else [n for n, own in zip(X, found.levels, strict=True) if own is not None]
    )
    assert names == expected


def test_numbers_may_be_categories():
    X = np.array([[10, 1.5], [-3, 2.5], [10, np.nan]])
    found = read(X, [0, 1])
    assert [own.tolist() for own in found.levels] == [[-3, 10], [1.5, 2.5]]
    np.testing.assert_array_equal(encoded(found)[0], [[1, 0], [0, 1], [1, np.nan]])
    later, unseen = encoded(known(np.array([[0, 1.5], [10, 99], [11, -1]]), found.levels))
    np.testing.assert_array_equal(later, [[UNSEEN, 0], [1, UNSEEN], [UNSEEN, UNSEEN]])
    np.testing.assert_array_equal(unseen, later == UNSEEN)


@pytest.mark.parametrize("levels", [[3.0, 1.0, 2.0], [1, 2, 3], [False, True], [2.5]])
def test_numbers_are_found_as_by_a_loop(levels):
    values = np.array([3, 2.5, 1, np.nan, 0, -1, 99, 2])
    own = np.array(levels)
    loop = [np.nan if v != v else levels.index(v) if v in levels else UNSEEN for v in values]
    np.testing.assert_array_equal(numbered(values, own, "c"), loop)
    np.testing.assert_array_equal(numbered(values.astype(object), own, "c"), loop)


WRONG = {
    "a word": ({"given": "all"}, r"categorical_features must be 'from_dtype', a list .*got 'all'"),
    "one number": ({"given": 1}, r"must be 'from_dtype'.*; got 1\."),
    "too far": ({"given": [5]}, r"numbers from 0 to 4, a mask of 5 booleans.*; got \[5\]"),
    "below": ({"given": [-1]}, r"numbers from 0 to 4.*; got \[-1\]"),
    "short mask": ({"given": [True]}, r"a mask of 5 booleans, or None; got \[True\]"),
    "mixed": ({"given": ["age", 1]}, r"must be 'from_dtype'.*; got \['age', 1\]"),
    "no name": (
        {"given": ["colours"]},
        r"must name features of X; got 'colours': did you mean col",
    ),
    "nameless": (
        {"given": ["colour"], "made": as_objects},
        r"numbers or a mask, as X has no names",
    ),
}


@pytest.mark.parametrize(("case", "text"), WRONG.values(), ids=list(WRONG))
def test_what_categorical_features_may_not_be(case, text):
    X = case.get("made", as_pandas)(columns())
    with pytest.raises(ValueError, match=text):
        read(X, case["given"])


HOLDING = {
    "dates": (pd.date_range("2026-01-01", periods=3), "column 'c' holds dates or times: make numb"),
    "durations": (pd.to_timedelta([1, 2, 3], unit="s"), "column 'c' holds dates or times"),
    "objects": ([dt.date(2026, 1, 1)] * 3, "column 'c' holds dates or times"),
    "a mixture": (["a", 1, "b"], "column 'c' holds numbers and strings: categories must be all"),
    "bytes": ([b"a", "b", "c"], "column 'c' holds strings and values of type bytes"),
    "lists": ([["a"], "b", "c"], "column 'c' holds what is no category.*unhashable"),
}


@pytest.mark.parametrize(("values", "text"), HOLDING.values(), ids=list(HOLDING))
def test_what_a_column_may_not_hold(values, text):
    with pytest.raises(ValueError, match=text):
        read(pd.DataFrame({"x": [1, 2, 3], "c": values}))


@pytest.mark.parametrize(
    "X",
    [
        pl.DataFrame({"c": [dt.datetime(2026, 1, 1)], "d": ["a"]}),
        pa.table({"c": [dt.date(2026, 1, 1)], "d": ["a"]}),
        np.array([[np.datetime64("2026-01-01"), "a"]], dtype=object),
    ],
    ids=["polars", "pyarrow", "objects"],
)
def test_dates_are_refused_wherever_they_are(X):
    with pytest.raises(ValueError, match=r"column ('c'|0) holds dates or times"):
        read(X)


def test_infinity_is_no_category_and_lists_are_no_column():
    with pytest.raises(ValueError, match="column 0 holds infinity, which is no category"):
        read(np.array([[np.inf], [1.0]]), [0])
    with pytest.raises(ValueError, match="column 'c' is of type List"):
        read(pl.DataFrame({"c": [[1], [2]]}))


def test_there_are_no_more_levels_than_trees_have_numbers_for():
    most = pd.DataFrame({"c": np.arange(MOST_LEVELS).astype(str)})
    assert len(read(most).levels[0]) == MOST_LEVELS
    more = pd.DataFrame({"c": np.arange(MOST_LEVELS + 1).astype(str)})
    text = "column 'c' has 65,536 categories; at most 65,535 are taken"
    for X in (more, more.astype("category")):
        with pytest.raises(ValueError, match=text):
            read(X)


def test_a_kind_that_differs_later_is_refused():
    levels = read(as_pandas(columns())).levels
    X = as_pandas(columns())
    with pytest.raises(ValueError, match="column 'colour' takes strings such as 'blue'; got 3"):
        encoded(known(X.assign(colour=3), levels))
    with pytest.raises(ValueError, match="column 'glossy' takes booleans such as False; got 'yes'"):
        encoded(known(X.assign(glossy="yes"), levels))
    with pytest.raises(
        ValueError, match=r"column 'age' must hold numbers.*could not convert string"
    ):
        encoded(known(X.assign(age="old"), levels))
    nothing = encoded(known(X.assign(colour=np.nan, glossy=None), levels))[0]
    assert np.isnan(nothing[:, 1:3]).all()

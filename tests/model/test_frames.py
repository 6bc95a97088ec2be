"""Tables as a user has them: whichever they come from, the forest is the same to the bit."""

import datetime as dt
import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import skops.io
from sklearn.base import clone
from sklearn.utils import get_tags

from forestlab import (
    DensityForest,
    ForestClassifier,
    TreeClassifier,
    TreeRegressor,
    build_tree,
    load,
)
from forestlab.core.arrays import CATEGORY
from forestlab.model import frames
from forestlab.model.frames import Table, columns_of, encoded, read
from forestlab.model.storage import TEXT
from forestlab.tracking.models import TRUSTED
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


def again(X, levels):
    """As at a prediction."""
    return Table(columns_of(X), levels)


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


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA], ids=str)
@pytest.mark.parametrize("kind", [list, lambda X: np.array(X, object), pd.DataFrame])
def test_numbers_of_objects_may_be_missing(kind, nothing):
    """In training and in prediction, whatever stands for it."""
    rows, y = [[1, 3.5], [2, nothing], [nothing, 1], [4, 2]] * 4, [0, 1, 1, 0] * 4
    plain = np.array([[1, 3.5], [2, np.nan], [np.nan, 1], [4, 2]] * 4)
    tree, twin = (TreeClassifier(random_state=0).fit(X, y) for X in (kind(rows), plain))
    assert tree.export_text() == twin.export_text()
    assert tree.predict_proba(kind(rows)).tolist() == twin.predict_proba(plain).tolist()
    with pytest.raises(ValueError, match="missing='error' refuses missing values; X holds NaN in"):
        TreeClassifier(missing="error").fit(kind(rows), y)
    with pytest.raises(ValueError, match=r"column 0 must hold numbers, as in training; got 'x'"):
        tree.predict(kind([["x", 1]]))


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
    names = [n for n, own in zip(X, found.levels, strict=True) if own is not None]
    assert names == expected


def test_numbers_may_be_categories():
    X = np.array([[10, 1.5], [-3, 2.5], [10, np.nan]])
    found = read(X, [0, 1])
    assert [own.tolist() for own in found.levels] == [[-3, 10], [1.5, 2.5]]
    np.testing.assert_array_equal(encoded(found)[0], [[1, 0], [0, 1], [1, np.nan]])
    later, unseen = encoded(again(np.array([[0, 1.5], [10, 99], [11, -1]]), found.levels))
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


@pytest.mark.parametrize("none", [None, []])
def test_words_are_named_where_no_column_may_hold_categories(none):
    X, y = pd.DataFrame({"a": ["1.5", "2", None], "c": ["x", None, "3"]}), [0, 1, 1]
    with pytest.raises(
        ValueError,
        match=rf"^categorical_features={re.escape(str(none))} takes all columns for numbers; "
        r"column 'c' holds others, such as 'x': name it in categorical_features, or say "
        r"'from_dtype'\.$",
    ):
        TreeClassifier(categorical_features=none).fit(X, y)
    numbers = TreeClassifier(categorical_features=none).fit(X[["a"]], y)
    assert numbers.is_categorical_ is None
    assert numbers.predict(X[["a"]]).tolist() == y


@pytest.mark.parametrize(
    ("X", "text"),
    [
        ({"a": 1}, r"table of rows; got a dict: make it one by pandas.DataFrame\(\[row\]\)"),
        (
            [{"a": 1}],
            r"table of rows; got a list of dicts: make it one by pandas.DataFrame\(rows\)",
        ),
    ],
)
def test_dicts_are_no_table(X, text):
    tree = TreeClassifier().fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
    for asked in (tree.predict, tree.tree_.predict, lambda X: tree.fit(X, [0])):
        with pytest.raises(ValueError, match=text):
            asked(X)


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
        encoded(again(X.assign(colour=3), levels))
    with pytest.raises(ValueError, match="column 'glossy' takes booleans such as False; got 'yes'"):
        encoded(again(X.assign(glossy="yes"), levels))
    with pytest.raises(
        ValueError, match=r"column 'age' must hold numbers.*could not convert string"
    ):
        encoded(again(X.assign(age="old"), levels))
    nothing = encoded(again(X.assign(colour=np.nan, glossy=None), levels))[0]
    assert np.isnan(nothing[:, 1:3]).all()


# ---- in the estimators -------------------------------------------------------------------------


def small(made=as_pandas):
    table = columns()
    return made(table), targets(table)


def grown(made=as_pandas, **params):
    X, y = small(made)
    return ForestClassifier(**{"n_estimators": 8, "random_state": 0} | params).fit(X, y), X, y


def bits_of(model):
    return [array.tobytes() for array in model.forest_]


def test_the_same_forest_to_the_bit_from_whichever_table():
    """Grown on one, and asked with any other; all that names columns, names them alike."""
    first, X, _ = grown()
    expected = first.predict_proba(X)
    assert first.score(*small()) > 0.9
    assert (first.forest_.nodes["kind"] == CATEGORY).any()
    for made in FRAMES:
        other, own, _ = grown(made)
        assert bits_of(other) == bits_of(first)
        assert other.feature_names_in_.tolist() == list(columns())
        np.testing.assert_array_equal(first.predict_proba(own), expected)


def test_the_same_forest_to_the_bit_from_arrays_and_lists():
    first, X, _ = grown(without_types)
    expected = first.predict_proba(X)
    for made in (as_objects, as_lists):
        other, own, _ = grown(made)
        assert bits_of(other) == bits_of(first)
        np.testing.assert_array_equal(other.predict_proba(own), expected)


def test_what_the_user_finds_after_a_fit():
    forest, X, _ = grown()
    assert forest.is_categorical_.tolist() == [True, True, True, False, False]
    assert [None if own is None else own.tolist() for own in forest.categories_][:2] == [
        SIZES,
        sorted(COLOURS),
    ]
    assert forest.recipe_.levels == (4, 3, 2, 0, 0)
    assert forest.n_features_in_ == 5
    numbers = clone(forest).fit(X[["weight", "age"]], targets(columns()))
    assert numbers.is_categorical_ is None
    assert not hasattr(numbers, "categories_")
    forest.fit(X[["weight", "age"]], targets(columns()))
    assert not hasattr(forest, "categories_")
    assert not hasattr(ForestClassifier(), "is_categorical_")


def test_tags_say_that_categories_are_taken():
    assert get_tags(ForestClassifier()).input_tags.categorical
    assert not get_tags(ForestClassifier(categorical_features=None)).input_tags.categorical
    assert not get_tags(DensityForest()).input_tags.categorical


@pytest.mark.parametrize("missing", ["learned", "error"])
def test_one_that_training_did_not_see_goes_where_missing_values_go(missing):
    """That it is unseen is no error, even where a missing value is one."""
    X, y = pd.DataFrame({"c": list("aabbbb")}), [0, 0, 1, 1, 1, 1]
    tree = TreeClassifier(missing=missing).fit(X, y)
    later = pd.DataFrame({"c": ["a", "b", "mauve"]})
    assert tree.predict(later).tolist() == [0, 1, 1]
    lacking = pd.DataFrame({"c": [None]})
    if missing == "learned":
        assert tree.predict(lacking).tolist() == [1]
    else:
        with pytest.raises(
            ValueError, match="missing='error' refuses missing values; X holds NaN in column 'c'"
        ):
            tree.predict(lacking)
        with pytest.raises(
            ValueError, match="missing='error' refuses missing values; X holds NaN in column 'c'"
        ):
            TreeClassifier(missing=missing).fit(pd.DataFrame({"c": [*"aabbb", None]}), y)


def test_names_and_sizes_are_checked_as_by_scikit_learn():
    forest, X, _ = grown()
    with pytest.raises(ValueError, match="must be in the same order"):
        forest.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- hue"):
        forest.predict(X.rename(columns={"colour": "hue"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert (forest.predict(as_objects(columns())) == forest.predict(X)).all()
    nameless, rows, _ = grown(as_objects)
    with pytest.raises(ValueError, match="X has 4 features, but ForestClassifier is expecting 5"):
        nameless.predict(rows[:, :4])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        nameless.predict(rows[0])
    with pytest.raises(ValueError, match="column 0 takes strings such as 'l'; got 1"):
        nameless.predict(np.ones((2, 5)))
    with pytest.raises(ValueError, match="contains infinity"):
        forest.predict(X.assign(weight=np.inf))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(forest).fit(X, [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        forest.predict(X[:0])


def test_it_comes_back_from_a_pickle_from_skops_and_from_a_file(tmp_path):
    forest, X, _ = grown(categorical_features=["size", "colour", "glossy"])
    forest.save(tmp_path / "model")
    skops.io.dump(forest, tmp_path / "skops")
    options = ["forestlab.core.options.Axis", "forestlab.core.options.Exact"]
    for back in (
        load(tmp_path / "model"),
        skops.io.load(tmp_path / "skops", trusted=TRUSTED + options),
        pickle.loads(pickle.dumps(forest)),
    ):
        assert back.get_params() == forest.get_params()
        assert vars(back).keys() - {"_made"} == vars(forest).keys() - {"_made"}
        assert [type(own) for own in back.categories_] == [type(o) for o in forest.categories_]
        for own, before in zip(back.categories_, forest.categories_, strict=True):
            assert own is before or (own.dtype, own.tolist()) == (before.dtype, before.tolist())
        np.testing.assert_array_equal(back.predict_proba(X), forest.predict_proba(X))
        assert "colour in {" in "".join(map(str, back.trees_))


def spoiled(path, change):
    """The file with another text."""
    with np.load(path, allow_pickle=False) as file:
        parts = {name: file[name] for name in file.files}
    text = json.loads(parts[TEXT].tobytes())
    change(text)
    parts[TEXT] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    with open(path, "wb") as file:
        np.savez_compressed(file, **parts)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text["categories"].pop(),
        lambda text: text["categories"][0]["levels"].pop(),
        lambda text: text["categories"][1].update(type="<U1"),
        lambda text: text["categories"][1]["levels"].__setitem__(0, 7),
        lambda text: text["recipe"].update(levels=[4, 1, 2, 0, 0]),
    ],
)
def test_levels_that_do_not_fit_the_trees_are_refused(change, tmp_path):
    grown()[0].save(tmp_path / "model")
    spoiled(tmp_path / "model", change)
    with pytest.raises(ValueError, match="is damaged: its categories do not fit together"):
        load(tmp_path / "model")


def test_more_trees_grow_to_those_of_the_same_categories():
    forest, X, y = grown(n_estimators=4, warm_start=True)
    assert bits_of(forest.set_params(n_estimators=8).fit(X, y)) == bits_of(grown()[0])
    forest.set_params(n_estimators=9)
    other = X["size"].cat.reorder_categories(SIZES[::-1])
    with pytest.raises(ValueError, match="rows and the same categories"):
        forest.fit(X.assign(size=other), y)


def test_a_column_of_categories_without_any():
    X = pd.DataFrame({"c": pd.Categorical([None] * 6, categories=[]), "x": range(6)})
    tree = TreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    assert tree.categories_[0].tolist() == []
    assert tree.predict(X.assign(c=list("abcdef"))).tolist() == [0, 0, 0, 1, 1, 1]


def test_names_of_columns_may_be_numbers():
    X = pd.DataFrame({3: list("aabb"), 7: [1.0, 2, 3, 4]})
    tree = TreeClassifier().fit(X, [0, 0, 1, 1])
    assert not hasattr(tree, "feature_names_in_")
    assert tree.categories_[0].tolist() == ["a", "b"]
    assert tree.predict(X).tolist() == [0, 0, 1, 1]


def test_its_trees_take_what_it_takes():
    forest, X, y = grown()
    trees = forest.estimators_
    shares = np.mean([tree.predict_proba(X) for tree in trees], axis=0)
    np.testing.assert_allclose(shares, forest.predict_proba(X), rtol=0, atol=1e-15)
    forest.estimators_ = trees[:3]
    other = clone(forest).fit(X.assign(size=X["size"].cat.reorder_categories(SIZES[::-1])), y)
    with pytest.raises(ValueError, match="its categories and its classes or targets"):
        forest.estimators_ = other.estimators_[:2]


def test_out_of_bag_rows_and_nodes_of_a_subset():
    forest, X, y = grown(n_estimators=40, oob_score=True, max_features=4, subspace="tree")
    answers, voters = forest.predict_oob(X)
    np.testing.assert_array_equal(answers, forest.oob_decision_function_)
    assert voters.min() > 0
    assert forest.oob_score_ > 0.2 + np.bincount(y).max() / len(y)
    assert forest.apply(X).shape == (90, 40)
    assert forest.feature_importances_[:2].sum() > 0.6


@pytest.mark.long
def test_several_targets():
    X, y = small()
    both = TreeClassifier(random_state=0).fit(X, np.stack([y, y > 0], axis=1))
    assert (both.predict(X) == np.stack([y, y > 0], axis=1)).all()


@pytest.mark.long  # another kernel
def test_numbers_as_targets():
    X, y = small()
    numbers = TreeRegressor(random_state=0).fit(X, y)
    np.testing.assert_array_equal(numbers.predict(as_polars(columns())), y)


def test_what_categories_cannot_be_used_for():
    X, y = small()
    with pytest.raises(ValueError, match="rise or fall; 'colour' is one of categories"):
        TreeRegressor(monotonic_cst={"colour": 1, "age": 1}).fit(X, y)
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="take numbers alone; this model was fitted on categories"):
        tree.to_sklearn()
    with pytest.raises(ValueError, match="one threshold of one feature at each node"):
        tree.tree_.threshold  # noqa: B018
    with pytest.raises(ValueError, match="have no distances, so kind must be 'binary'"):
        tree.affinity(X, kind="gaussian")
    assert tree.affinity(X).shape == (90, 90)
    with pytest.raises(ValueError, match="takes numbers alone; column 'size' holds categories"):
        DensityForest().fit(X)


def test_numbers_are_grown_on_as_before():
    X, y = small()
    X = X[["weight", "age"]]
    first = TreeClassifier(random_state=0).fit(X, y)
    for other in (X.to_numpy(), pl.DataFrame(X), pa.Table.from_pandas(X), X.astype(object)):
        assert bits_of(TreeClassifier(random_state=0).fit(other, y)) == bits_of(first)
    truth = X.assign(age=X["age"] > 4).to_numpy(np.float64)
    as_numbers = TreeClassifier(random_state=0, categorical_features=None)
    frame = X.assign(age=X["age"] > 4)
    expected = bits_of(TreeClassifier(random_state=0).fit(truth, y))
    assert bits_of(as_numbers.fit(frame, y)) == expected


# ---- in words ----------------------------------------------------------------------------------


def test_a_tree_speaks_of_categories_as_the_user_does():
    X = pd.DataFrame({"colour": ["red", "green", "blue", None, "blue"], "n": 1.0})
    tree = TreeClassifier().fit(X, ["warm", "cold", "cold", "warm", "cold"])
    assert tree.export_text().splitlines()[0] == "colour in {blue, green}?"
    view = tree.tree_
    assert view.explain(["green", 1]) == "colour in {blue, green}? green → yes\nprediction: cold"
    assert view.explain([None, 1]).startswith("colour in {blue, green}? missing → no")
    assert view.explain(["mauve", 1]).startswith(
        "colour in {blue, green}? mauve, not seen here, → no"
    )
    assert [step.value for step in view.walk(["red", 1])] == ["red", "warm"]
    drawn = [text.get_text() for text in tree.draw().texts]
    assert any(text.startswith("colour in {blue,") for text in drawn)
    with pytest.raises(ValueError, match="column 'colour' takes strings such as 'blue'; got 1"):
        view.explain([1, 1])


def test_long_sets_are_cut_short_where_they_are_read_and_nowhere_else():
    X = pd.DataFrame({"c": [f"k{i:02d}" for i in range(24)]})
    tree = TreeClassifier().fit(X, np.arange(24) // 12)
    assert tree.export_text().startswith("c in {k00, k01, k02 and 9 more}?")
    assert tree.tree_.describe()["in"] == [f"k{i:02d}" for i in range(12)]


def test_a_description_is_built_again():
    X, y = small()
    tree = TreeClassifier(random_state=0, max_depth=4).fit(X, y)
    described = json.loads(json.dumps(tree.tree_.describe()))
    back = build_tree(described)
    assert back.describe() == described
    rows = as_objects(columns())
    rows[::3, 1], rows[1::7, 0] = "mauve", "xl"
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(back.predict(rows), tree.predict(rows))


# ---- what is asked of categories ---------------------------------------------------------------


@pytest.mark.long  # another kernel; its trees are those of their twins in tests/core/test_grow.py
def test_equality_asks_about_one_level_at_a_time():
    X = pd.DataFrame({"colour": COLOURS * 6, "x": range(18)})
    y = np.isin(X["colour"], ["red", "blue"])
    tree = TreeClassifier(categories="equality", random_state=0).fit(X, y)
    assert tree.export_text().startswith("colour in {green}?")
    asked = [line for line in tree.export_text().splitlines() if " in {" in line]
    assert not any("," in line for line in asked)
    assert tree.score(X, y) == 1


def test_what_is_asked_of_categories_is_one_of_two():
    X = pd.DataFrame({"colour": COLOURS})
    told = r"^categories must be one of 'subset', 'equality'; got 'one_hot'\.$"
    with pytest.raises(ValueError, match=told):
        TreeClassifier(categories="one_hot").fit(X, [0, 1, 0])


# ---- arrays that need no closer look -----------------------------------------------------------


def with_one(value) -> np.ndarray:
    X = np.ones((5, 3))
    X[4, 2] = value
    return X


@pytest.mark.parametrize(
    ("X", "are"),
    [
        (np.ones((5, 3)), True),
        (np.ones((5, 3), np.float32, order="F")[::2], True),
        (np.ones((5, 3), np.int64), True),
        (with_one(np.nan), False),
        (with_one(-np.inf), False),
        (np.array([[np.inf, -np.inf, 0.0]]), False),
        (np.full((5, 3), 1e308), False),  # whose sum is infinite: scikit-learn looks closer
        (np.ones((5, 2)), False),
        (np.ones((0, 3)), False),
        (np.ones(3), False),
        (np.ones((5, 3), object), False),
        (np.ones((5, 3), complex), False),
        (np.ones((5, 3), bool), False),
        (np.ones((5, 3)).tolist(), False),
        (np.ma.masked_array(np.ones((5, 3))), False),
    ],
    ids=str,
)
def test_arrays_of_finite_numbers_are_known_at_once(X, are):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert frames.are_finite_numbers(X, 3) == are


def test_an_array_is_refused_as_scikit_learn_refuses_it():
    X, y = np.arange(12.0).reshape(4, 3), [0, 1, 0, 1]
    model = TreeClassifier(missing="error").fit(X, y)
    assert model.predict(X).tolist() == y
    for wrong, says in (
        (np.where(X == 4, np.inf, X), "infinity"),
        (np.where(X == 4, np.nan, X), "holds NaN in column 1, row 1"),
        (X[:, :2], "2 features, but TreeClassifier is expecting 3"),
        (X[:0], "0 sample"),
        (X[0], "Expected 2D array"),
    ):
        with pytest.raises(ValueError, match=says):
            model.predict(wrong)
    np.testing.assert_array_equal(model.predict(np.full((1, 3), 1e308)), model.predict(X[-1:]))
    model.name_features(["a", "b", "c"])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)

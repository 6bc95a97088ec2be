"""What columns are taken for, what is said of them, and what trees grow on."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets as sklearn_datasets

from forestlab.datasets import (
    LOADERS,
    DataError,
    Dataset,
    DatasetConfig,
    categories_of,
    columns_of,
    digest,
    level_counts,
    load,
    matrix,
)
from forestlab.datasets.kinds import typed

N = 40


def loaded(name, **options):
    return load(DatasetConfig(name=name, **options))


def write(frame, path):
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    return str(path)


def of(**columns):
    return pd.DataFrame(columns)


# ---- numbers and categories --------------------------------------------------------------------

MIXED = of(
    size=[1.5, 2.5, None, 4.5] * 10,
    count=[3, 1, 2, 1] * 10,
    color=["red", "blue", None, "red"] * 10,
    fresh=[True, False, True, True] * 10,
    y=["a", "b", "a", "b"] * 10,
)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_text_and_truth_are_categories_and_numbers_stay(kind, tmp_path):
    frame = loaded(kind, path=write(MIXED, tmp_path / f"mine.{kind}")).frame
    assert categories_of(frame) == {"color": ["blue", "red"], "fresh": ["False", "True"]}
    assert level_counts(frame) == (0, 0, 2, 2)
    assert (frame["size"].dtype, frame["count"].dtype) == (np.float64, np.int64)
    expected = [[1.5, 3, 1, 1], [2.5, 1, 0, 0], [np.nan, 2, np.nan, 1], [4.5, 1, 1, 1]] * 10
    np.testing.assert_array_equal(matrix(frame), np.array(expected))


def test_without_categories_the_matrix_is_that_of_the_frame():
    frame = loaded("digits").frame
    assert level_counts(frame) == (0,) * 64
    np.testing.assert_array_equal(matrix(frame), frame.to_numpy())
    whole = of(a=np.array([1, 2], np.uint8))
    assert matrix(whole).dtype == np.uint8


@pytest.mark.parametrize(
    ("values", "levels", "codes"),
    [
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        (pd.Categorical(["b", "a", None], ["c", "b", "a"]), ["a", "b"], [1, 0, np.nan]),
        (pd.Categorical([10, 9, 10]), ["9", "10"], [1, 0, 1]),
        (pd.array([True, None, False], "boolean"), ["False", "True"], [1, np.nan, 0]),
        (np.array([True, None, False], object), ["False", "True"], [1, np.nan, 0]),
        (pd.array(["x", pd.NA, "y"], "string"), ["x", "y"], [0, np.nan, 1]),
        (np.array([1, "1", "b"], object), ["1", "b"], [0, 0, 1]),
        (np.array([1.5, "b", np.nan], object), ["1.5", "b"], [0, 1, np.nan]),
    ],
)
def test_levels_are_sorted_texts(values, levels, codes):
    frame = typed(of(x=values))
    assert categories_of(frame) == {"x": levels}
    np.testing.assert_array_equal(matrix(frame)[:, 0], codes)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([10, 9, 10], ["9", "10"]),  # by number, not by text
        ([10.0, None, 9.0], ["9", "10"]),  # floats only as a value is missing
        ([0.5, 10.0, -1.0], ["-1", "0.5", "10"]),
        (["2024-01-31", "2024-02-01", None], ["2024-01-31", "2024-02-01"]),
    ],
)
def test_any_column_can_be_asked_to_be_a_category(values, levels):
    frame = typed(of(x=values), categorical=["x"])
    assert categories_of(frame) == {"x": levels}
    np.testing.assert_array_equal(frame["x"].isna(), pd.isna(np.array(values, object)))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", "2.5", None], [1, 2.5, np.nan]),
        ([True, False, True], [1, 0, 1]),
        (np.array([True, None, False], object), [1, np.nan, 0]),
        (pd.Categorical(["3", "1", None]), [3, 1, np.nan]),
        (pd.Categorical([3, 1, 3]), [3, 1, 3]),
        (pd.to_datetime(["1970-01-02 00:00", "1969-12-31 12:00", None]), [1, -0.5, np.nan]),
        (pd.to_datetime(["1970-01-01 02:00+02:00"] * 3), [0, 0, 0]),
        (["1970-01-02", "2000-03-01", None], [1, 11017, np.nan]),
        (["1970-01-02T06:00", "1970-01-03T00:00", None], [1.25, 2, np.nan]),
        (["31.1.1970", "1.1.1970", None], [30, 0, np.nan]),
        (["1/31/1970", "2/1/1970", None], [30, 31, np.nan]),
        (["31/1/1970", "1/2/1970", None], [30, 31, np.nan]),
        ([date(1970, 1, 3), None, date(1970, 1, 1)], [2, np.nan, 0]),
    ],
)
def test_text_truth_and_dates_can_be_asked_to_be_numbers(values, numbers):
    frame = typed(of(x=values), numbers=["x"])
    assert not categories_of(frame)
    np.testing.assert_array_equal(frame["x"], np.array(numbers, float))


def test_numbers_of_python_are_numbers():
    frame = typed(of(x=np.array([Decimal("1.5"), None], object), y=np.array([2, 3], object)))
    np.testing.assert_array_equal(frame["x"], [1.5, np.nan])
    np.testing.assert_array_equal(frame["y"], [2, 3])
    assert frame["x"].dtype == np.float64


def test_a_column_without_any_value_is_one_of_missing_numbers():
    frame = typed(of(x=np.array([None, None], object), y=[np.nan, np.nan]))
    assert (frame.dtypes == np.float64).all()
    assert frame.isna().to_numpy().all()


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["day, hour hold dates", "dataset.drop=[day,hour]", "dataset.numeric=[day,hour]"]),
        ({"numeric": ["day", "hour", "word"]}, ["dataset.numeric", "word", "'p', 'q', 'r', …"]),
        ({"categorical": ["colour"]}, ["dataset.categorical", "colour", "x, day, hour, word"]),
        ({"numeric": ["y"]}, ["dataset.numeric names y, which is no feature"]),
        ({"drop": ["day"], "numeric": ["day"]}, ["dataset.drop and dataset.numeric name day"]),
        ({"categorical": ["x", "x"]}, ["dataset.categorical names x twice"]),
        ({"drop": ["x", "x"]}, ["dataset.drop names x twice"]),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence(kind, options, words, tmp_path):
    frame = of(
        x=range(4),
        day=["2024-01-31", "2024-02-01", None, "2024-02-02"],
        hour=pd.to_datetime(["2024-01-31 10:00"] * 4),
        word=["p", "q", "r", "s"],
        y=[0, 1, 0, 1],
    )
    with pytest.raises(DataError) as error:
        loaded(kind, path=write(frame, tmp_path / f"mine.{kind}"), **options)
    for word in words:
        assert word in str(error.value)
    assert "\n" not in str(error.value)


def test_dates_that_can_be_read_in_two_ways_are_refused():
    with pytest.raises(DataError, match=r"x, in which 1/2/1970 may begin with the day or"):
        typed(of(x=["1/2/1970", "3/4/1970"]), numbers=["x"])


@pytest.mark.parametrize("text", ["2024", "2024-13-45", "1.2", "3-4", "may 5", "2024-01-01x"])
def test_text_that_only_resembles_dates_is_a_category(text):
    assert categories_of(typed(of(x=[text, text]))) == {"x": [text]}


@pytest.mark.parametrize(
    "values",
    [[1j, 2j], [[1], [2]], [{"a": 1}, {}], [b"a", b"b"], pd.to_timedelta(["1 day", "2 days"])],
)
def test_what_is_neither_number_nor_text_is_refused(values):
    frame = of(x=pd.Series(values), y=[1, 2])
    with pytest.raises(DataError, match=r"x \(.*\) hold neither numbers .*dataset.drop=\[x\]"):
        typed(frame)


# ---- marks of missing values -------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_marks_say_that_a_value_is_missing(kind, tmp_path):
    frame = of(a=["1", "?", "2.5", "-"], b=["u", "?", "v", "u"], c=[1, 2, 3, 4], y=[0, 1, 0, 1])
    path = write(frame, tmp_path / f"mine.{kind}")
    plain = loaded(kind, path=path).frame
    assert categories_of(plain) == {"a": ["-", "1", "2.5", "?"], "b": ["?", "u", "v"]}
    assert [column.remark for column in columns_of(plain)] == ["numbers, but for - ?", "", ""]
    told = loaded(kind, path=path, missing_marks=["?", "-"]).frame
    np.testing.assert_array_equal(told["a"], [1, np.nan, 2.5, np.nan])
    assert categories_of(told) == {"b": ["u", "v"]}
    np.testing.assert_array_equal(told["b"].isna(), [False, True, False, False])
    with pytest.raises(DataError, match=r"dataset.missing_marks=.* has no meaning for iris"):
        loaded("iris", missing_marks=["?"])


# ---- what is said ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.linspace(0, 1, N), ("number", 0, 0, "")),
        (np.arange(N), ("number", 0, 0, "an identifier?")),
        (np.r_[np.nan, np.nan, np.arange(N - 2)], ("number", 0, 2 / N, "an identifier?")),
        (np.r_[0, 0, np.arange(N - 2)], ("number", 0, 0, "an identifier?")),  # nearly all
        (np.r_[0, 0, 0, 0, np.arange(N - 4)], ("number", 0, 0, "")),
        (np.full(N, 3), ("number", 0, 0, "constant")),
        (np.full(N, np.nan), ("number", 0, 1, "wholly missing")),
        ([f"name {i}" for i in range(N)], ("category", N, 0, "an identifier?")),
        (["u", "v"] * (N // 2), ("category", 2, 0, "")),
        (["u", None] * (N // 2), ("category", 1, 0.5, "constant")),
        (["?", *"0123"] * (N // 5), ("category", 5, 0, "numbers, but for ?")),
        (["p", "q", "r", "s", *"0123"] * (N // 8), ("category", 8, 0, "")),
    ],
)
def test_each_column_is_described(values, expected):
    (found,) = columns_of(typed(of(x=values)))
    assert (found.column, *found[1:]) == ("x", *expected)


def test_of_few_rows_nothing_looks_like_an_identifier():
    few, enough = of(x=range(19)), of(x=range(20))
    assert columns_of(few)[0].remark == ""
    assert columns_of(enough)[0].remark == "an identifier?"


# ---- digests, samples, scales ------------------------------------------------------------------


def with_frame(frame):
    return Dataset("own", typed(frame), np.arange(len(frame)), "classification", "here")


def test_the_digest_sees_the_texts_of_levels():
    first = with_frame(of(x=["a", "b", None], z=[1, 2, 3]))
    assert digest(first) == digest(with_frame(of(x=["a", "b", None], z=[1, 2, 3])))
    others = [["a", "c", None], ["b", "a", None], ["a", "b", "b"], [0, 1, None]]
    assert len({digest(first), *(digest(with_frame(of(x=x, z=[1, 2, 3]))) for x in others)}) == 5


def test_a_sample_knows_only_its_own_levels(tmp_path):
    frame = of(x=[f"level {i}" for i in range(100)], y=[0, 1] * 50)
    path = write(frame, tmp_path / "mine.csv")
    some = loaded("csv", path=path, n_samples=10, data_seed=1)
    assert level_counts(some.frame) == (10,)
    assert set(some.frame["x"]) == set(categories_of(some.frame)["x"])


def test_categories_are_not_rescaled(tmp_path):
    path = write(MIXED, tmp_path / "mine.csv")
    plain, rescaled = loaded("csv", path=path), loaded("csv", path=path, rescale=True)
    assert list(rescaled.frame.columns) == list(plain.frame.columns)
    assert categories_of(rescaled.frame) == categories_of(plain.frame)
    pd.testing.assert_series_equal(rescaled.frame["color"], plain.frame["color"])
    assert not np.allclose(rescaled.frame["count"], plain.frame["count"])


# ---- loaders -----------------------------------------------------------------------------------


def test_categories_of_openml(monkeypatch):
    """OpenML's nominal columns come as pandas categories, in the order of their declaration."""
    frame = of(
        doors=pd.Categorical(["4", "2", None, "4"], ["2", "4", "5more"]),
        price=[1.0, None, 3.0, 4.0],
    )
    target = pd.Series(pd.Categorical(["good", "bad", "good", "bad"]), name="class")

    def fetch_openml(name, **options):
        return sklearn_datasets.load_iris(as_frame=True) | {"data": frame, "target": target}

    class Bunch(dict):
        __getattr__ = dict.__getitem__

    monkeypatch.setattr(
        sklearn_datasets, "fetch_openml", lambda *a, **o: Bunch(fetch_openml(*a, **o))
    )
    dataset = loaded("openml", openml_name="cars")
    assert categories_of(dataset.frame) == {"doors": ["2", "4"]}
    np.testing.assert_array_equal(matrix(dataset.frame), [[1, 1], [0, np.nan], [np.nan, 3], [1, 4]])
    assert dataset.target.tolist() == ["good", "bad", "good", "bad"]
    as_numbers = loaded("openml", openml_name="cars", numeric=["doors"])
    np.testing.assert_array_equal(as_numbers.frame["doors"], [4, 2, np.nan, 4])


def test_a_loader_of_ones_own_may_give_text(monkeypatch):
    def own(config):
        return Dataset(
            "own", MIXED.drop(columns="y"), MIXED["y"].to_numpy(str), "classification", ""
        )

    monkeypatch.setitem(LOADERS, "own", own)
    assert set(categories_of(load(DatasetConfig("own")).frame)) == {"color", "fresh"}


def test_a_column_of_any_set_can_be_taken_for_a_category():
    boston = loaded("boston", categorical=["CHAS", "RAD"])
    assert categories_of(boston.frame)["CHAS"] == ["0", "1"]
    assert categories_of(boston.frame)["RAD"] == [*map(str, range(1, 9)), "24"]


def test_the_basket_of_fruits():
    fruits = loaded("fruits")
    rows = [
        (*row, fruit) for row, fruit in zip(fruits.frame.to_numpy(), fruits.target, strict=True)
    ]
    assert rows == [
        ("Green", 3, "Apple"),
        ("Red", 3, "Apple"),
        ("Green", 1, "Grape"),
        ("Purple", 1, "Grape"),
        ("Yellow", 3, "Lemon"),
    ]


# ---- levels ------------------------------------------------------------------------------------


def test_levels_are_as_many_as_asked_for_and_half_of_them_stand_for_each_class():
    made = loaded("levels", levels=10, n_samples=20_000)
    assert categories_of(made.frame)["level"] == [f"level{k}" for k in range(10)]
    shares = pd.Series(made.target).groupby(made.frame["level"].to_numpy(str)).mean()
    is_high = shares > 0.5
    assert is_high.sum() == 5
    assert not is_high.iloc[::2].all()  # which ones is drawn
    assert not is_high.iloc[1::2].all()
    # Of the level alone it errs by 22.1 %; with 2,000 rows a level four standard errors are 3.7 %.
    np.testing.assert_allclose(np.where(is_high, 1 - shares, shares), 0.221, atol=0.037)
    assert level_counts(loaded("levels").frame)[0] == 16
    assert categories_of(loaded("levels", levels=300).frame)["level"][7] == "level007"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("levels", {"levels": 1}, r"dataset.levels=1 is too few: it has to be 2 or more"),
        ("levels", {"n_samples": 0}, r"dataset.n_samples=0 is too few"),
        ("iris", {"levels": 3}, r"dataset.levels=3 has no meaning for iris"),
        ("iris", {"encode": "one_hot"}, r"dataset.encode=one_hot asks for nothing: iris has no"),
        ("levels", {"encode": "hot"}, r"dataset.encode=hot is not one of levels, one_hot, numbers"),
    ],
)
def test_what_levels_cannot_be_is_told(name, options, words):
    with pytest.raises(DataError, match=words):
        loaded(name, **options)


def test_categories_as_columns_of_0_and_1_or_as_numbers(tmp_path):
    path = write(MIXED.drop(columns="fresh"), tmp_path / "mine.csv")
    hot, numbers = (loaded("csv", path=path, encode=how).frame for how in ("one_hot", "numbers"))
    assert list(hot.columns) == ["size", "count", "color=blue", "color=red"]
    np.testing.assert_array_equal(hot["color=blue"][:4], [0, 1, np.nan, 0])
    np.testing.assert_array_equal(hot["color=red"][:4], [1, 0, np.nan, 1])
    assert list(numbers.columns) == ["size", "count", "color"]
    np.testing.assert_array_equal(numbers["color"][:4], [1, 0, np.nan, 1])
    np.testing.assert_array_equal(numbers["size"], hot["size"])

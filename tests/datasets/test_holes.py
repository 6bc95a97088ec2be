"""Values made missing on purpose, and incomplete rows completed or left out."""

import numpy as np
import pandas as pd
import pytest

from forestlab.datasets import (
    DataError,
    Dataset,
    DatasetConfig,
    Parts,
    completed,
    digest,
    load,
    matrix,
)
from forestlab.datasets.kinds import typed


def loaded(name, **options):
    return load(DatasetConfig(name=name, **options))


@pytest.mark.parametrize("by", ["random", "value"])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_that_share_of_each_column_is_missing_and_the_rest_is_as_before(by, share):
    before = loaded("friedman1", n_samples=200)
    after = loaded("friedman1", n_samples=200, missing_share=share, missing_by=by)
    lacking = after.frame.isna()
    assert (lacking.sum() == round(200 * share)).all()
    assert (lacking | (after.frame == before.frame)).to_numpy().all()
    np.testing.assert_array_equal(after.target, before.target)
    again = loaded("friedman1", n_samples=200, missing_share=share, missing_by=by)
    assert digest(again) == digest(after)
    assert share == 1 or lacking["x1"].ne(lacking["x2"]).any()


def test_other_seeds_take_other_values():
    holes = [
        loaded("iris", missing_share=0.3, data_seed=seed).frame.isna().to_numpy() for seed in (0, 1)
    ]
    assert (holes[0] != holes[1]).any()


def test_by_value_the_greater_are_missing_more_often_and_by_chance_they_are_not():
    """Of values u between 0 and 1 a share of 0.2 is missing with the chance max(u - 0.368, 0): the
    sum with another such number exceeds 2 - √0.4. In the upper half that is 0.382 of the rows, in
    the lower 0.018. 5000 rows leave 0.03 of room, four standard deviations and more."""
    whole = loaded("friedman1", n_samples=10_000).frame["x1"]
    for by, upper, lower in [("value", 0.382, 0.018), ("random", 0.2, 0.2)]:
        punched = loaded("friedman1", n_samples=10_000, missing_share=0.2, missing_by=by)
        lacking = punched.frame["x1"].isna()
        assert lacking[whole > 0.5].mean() == pytest.approx(upper, abs=0.03)
        assert lacking[whole <= 0.5].mean() == pytest.approx(lower, abs=0.03)


def test_only_the_named_columns_lack_values():
    frame = loaded("friedman1", n_samples=50, missing_share=0.4, missing_columns=["x2", "x5"]).frame
    assert frame.isna().sum()[lambda counts: counts > 0].to_dict() == {"x2": 20, "x5": 20}


def test_categories_and_whole_numbers_can_lack_values():
    fruits = loaded("fruits", missing_share=0.4)
    assert fruits.frame.isna().sum().tolist() == [2, 2]
    assert np.isnan(matrix(fruits.frame)).sum() == 4
    assert (loaded("digits", missing_share=0.1).frame.dtypes == np.float64).all()
    assert list(fruits.frame["color"].cat.categories) == ["Green", "Purple", "Red", "Yellow"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing_share": 1.5}, "dataset.missing_share=1.5 is not a share"),
        ({"missing_share": 0.1, "missing_by": "luck"}, "dataset.missing_by=luck is not one of"),
        (
            {"missing_share": 0.1, "missing_columns": ["z"]},
            "dataset.missing_columns names z, which",
        ),
        ({"missing_columns": ["x1"]}, "asks for nothing while dataset.missing_share is 0"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(DataError, match=words):
        loaded("friedman1", **options)


# ---- after the split ---------------------------------------------------------------------------

FRAME = typed(
    pd.DataFrame(
        {
            "size": [1.0, 3.0, None, None, 100.0],
            "count": [1.0, 2.0, 3.0, 4.0, None],
            "color": ["red", "blue", "blue", None, "green"],
        }
    )
)
DATASET = Dataset("own", FRAME, np.arange(5), "classification", "here")
PARTS = Parts(np.array([1, 0, 2]), np.array([3]), np.array([4]))


def test_kept_rows_are_as_they_were():
    dataset, parts = completed(DATASET, PARTS, "keep")
    assert dataset is DATASET
    assert parts is PARTS


def test_filled_values_are_means_and_modes_of_training_rows():
    dataset, parts = completed(DATASET, PARTS, "fill")
    assert parts is PARTS
    assert dataset.frame["size"].tolist() == [1, 3, 2, 2, 100]
    assert dataset.frame["count"].tolist() == [1, 2, 3, 4, 2]
    assert dataset.frame["color"].tolist() == ["red", "blue", "blue", "blue", "green"]
    assert DATASET.frame.isna().to_numpy().sum() == 4


def test_of_equally_frequent_levels_the_first_fills():
    train = Parts(np.array([1, 0]), PARTS.valid, PARTS.test)
    assert completed(DATASET, train, "fill")[0].frame["color"][3] == "blue"


def test_only_training_rows_are_left_out():
    dataset, parts = completed(DATASET, PARTS, "drop")
    assert dataset is DATASET
    assert [rows.tolist() for rows in parts] == [[1, 0], [3], [4]]


def test_nothing_left_to_train_on_is_told():
    with pytest.raises(DataError, match=r"dataset.incomplete=drop leaves no training row"):
        completed(DATASET, Parts(np.array([2, 3]), PARTS.valid, PARTS.test), "drop")
    with pytest.raises(DataError, match=r"dataset.incomplete=fill .* a value of size"):
        completed(DATASET, Parts(np.array([2, 3]), PARTS.valid, PARTS.test), "fill")
    with pytest.raises(DataError, match=r"dataset.incomplete=mend is not one of keep, fill, drop"):
        completed(DATASET, PARTS, "mend")

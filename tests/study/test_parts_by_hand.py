"""Parts of the study on numbers small enough to be worked out by hand."""

import numpy as np
import pytest

from forestlab.study.chosen import Chosen, choose_depth
from forestlab.study.confusion import confusion_table
from forestlab.study.metrics import METRICS

NONE = np.full(4, np.nan)


@pytest.mark.parametrize(
    ("curves", "metric", "expected"),
    [
        ({"valid": [0, 3, 2, 3], "oob": [0, 1, 2, 3]}, "accuracy", Chosen("valid", 1)),
        ({"valid": [0, 3, 2, 3], "oob": [0, 1, 2, 3]}, "rmse", Chosen("valid", 2)),
        ({"train": [0, 3, 2, 3], "oob": [0, 1, 2, 3]}, "accuracy", Chosen("oob", 3)),
        ({"valid": NONE, "oob": [0, 1, 2, 3]}, "accuracy", Chosen("oob", 3)),
        ({"valid": NONE, "oob": NONE}, "accuracy", None),
        ({"train": [0, 3, 2, 3], "test": [0, 1, 2, 3]}, "accuracy", None),
    ],
)
def test_validation_chooses_a_depth_or_else_rows_out_of_bag(curves, metric, expected):
    told = {split: np.array(curve, float) for split, curve in curves.items()}
    assert choose_depth(told, METRICS[metric]) == expected


def test_the_shares_of_a_single_row():
    table = confusion_table(np.array([[0, 1], [0, 0]]), ["a", 7])
    assert table == {
        "classes": ["a", "7"],
        "counts": [[0, 1], [0, 0]],
        "row_shares": [[0, 1], [0, 0]],
        "shares": [[0, 1], [0, 0]],
    }

"""Parts of the study on numbers small enough to be worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from forestlab.study.chosen import Chosen, choose_depth
from forestlab.study.confusion import confusion_table
from forestlab.study.metrics import METRICS
from forestlab.study.parts import PARTS
from forestlab.study.tasks import STUDIED

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


@pytest.mark.parametrize("sizes", [[1], [1, 2], [1, 2, 3]])
def test_numbers_by_trees_are_those_of_the_deepest_cells_unless_there_is_one_size(sizes):
    cells = np.arange(2.0 * len(sizes)).reshape(-1, 2)  # two depths of each size
    found = {"test": SimpleNamespace(sizes=np.array(sizes), values={"rmse": cells})}
    numbers = [tuple(number) for number in PARTS["surface"].numbers(found, None)]
    expected = [("by_trees/rmse/test", 2 * i + 1, size) for i, size in enumerate(sizes)]
    assert numbers == (expected if len(sizes) > 1 else [])


@pytest.mark.parametrize("name", ["loss", "finish", "known", "of_nodes", "squares", "by_tree"])
def test_a_density_has_no_targets_to_compare_with(name):
    with pytest.raises(ValueError, match=r"^there are no targets to compare answers with$"):
        getattr(STUDIED["density"], name)(None, None)


def test_rows_are_as_far_from_an_answer_as_from_their_mean_and_that_from_it():
    """Two nodes: weight, answer, sum of squared deviations from the mean."""
    stats, means = np.array([[4.0, 2, 8], [1, 5, 0]]), np.array([[3.0], [3.5]])
    for own, expected in ((means, [8 / 4 + 1, 1.5**2]), (np.zeros((0, 0)), [8 / 4, 0])):
        answers, apart = STUDIED["regression"].of_nodes(SimpleNamespace(stats=stats, means=own))
        assert answers.tolist() == [[2], [5]]
        assert apart.tolist() == expected

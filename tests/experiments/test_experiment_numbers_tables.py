"""What the experiments that compare many runs compute themselves."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from experiments import _variants, breiman_table2, variants_depth
from experiments._statistics import over_seeds, over_splits


def test_selection_takes_the_forest_with_the_lower_out_of_bag_error():
    test = np.array([[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])
    oob = np.array([[5.0, 4.0], [4.0, 5.0], [7.0, 7.0]])  # the last are equal: one feature
    selected, chosen = breiman_table2.selection(test, oob)
    assert selected.tolist() == [20.0, 30.0, 50.0]
    assert chosen.tolist() == [1, 0, 0]


def test_errors_are_paired_by_repeat():
    rows = [(1, 6, 0.75), (0, 1, 0.5), (1, 1, 0.25), (0, 6, 1.0)]
    columns = ["dataset.split_seed", "model.max_features", "accuracy/test"]
    found = breiman_table2.errors(pd.DataFrame(rows, columns=columns), "test")
    assert found.tolist() == [[50.0, 0.0], [75.0, 25.0]]


def test_points_are_of_accuracy_or_of_the_trees_rmse():
    first, second = np.array([0.9, 0.8]), np.array([0.7, 0.85])
    assert _variants.points(first, second, "accuracy", 5.0) == pytest.approx([20.0, -5.0])
    assert _variants.points(first, second, "rmse", 2.0) == pytest.approx([-10.0, 2.5])


def test_splits_of_a_real_set_share_rows_and_made_ones_do_not():
    better = [2.0, 1.0, 3.0]
    made, real = (_variants.gained(better, name) for name in ("moons", "iris"))
    assert made == over_seeds(better)
    assert real == over_splits(better, 0.25 / 0.5625)
    assert made.repeats == "3 seeds"


def test_runs_are_grouped_by_set_and_variant_in_the_order_of_repeats():
    def run(name, variant, repeat, metric):
        params = {"dataset.name": name, "model.name": variant, "dataset.split_seed": repeat}
        return SimpleNamespace(params=params, metrics={f"{metric}/test": 0.0})

    late, early = (run("sine", "tree", repeat, "rmse") for repeat in (1, 0))
    forest = run("moons", "forest", 0, "accuracy")
    found = _variants.grouped([late, early, forest])
    assert list(found) == ["moons", "sine"]
    assert found["sine"]["tree"] == [early, late]
    assert found["moons"] == {v: [forest] if v == "forest" else [] for v in _variants.VARIANTS}


def test_a_curve_that_ends_early_goes_on_as_it_ends():
    found = variants_depth.at_depths(np.array([9.0, 1.0, 2.0]))
    assert found.tolist() == [1.0] + [2.0] * 19

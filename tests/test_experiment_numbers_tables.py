"""What the experiments that compare many runs compute themselves."""

import numpy as np
import pandas as pd

from experiments import breiman_table2


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

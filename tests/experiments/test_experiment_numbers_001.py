"""What the experiments of document 001 compute by themselves."""

from types import SimpleNamespace

import naive
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from experiments import mnist_table
from experiments.impurity_worked import impurity


@pytest.mark.parametrize("criterion", ["gini", "entropy", "entropy2", "misclassification"])
def test_impurity_of_counts(criterion):
    for counts in np.random.default_rng(0).integers(0, 9, (20, 3)):
        y = np.repeat(np.arange(3.0), counts)[:, None]
        expected = naive.IMPURITIES[criterion](y, np.ones(len(y)))
        # Both are sums of three terms of order 1.
        assert impurity(criterion, counts) == pytest.approx(expected, abs=1e-14)


def test_one_hot_labels_count_what_has_more_than_half():
    """scikit-learn's score of one-hot labels, as in the document, is the share of rows whose true
    class has more than half of the same forest's posterior."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    by_class, one_hot = (
        RandomForestClassifier(20, random_state=0).fit(X, labels) for labels in (y, np.eye(10)[y])
    )
    p = by_class.predict_proba(X_test)
    p_true = p[np.arange(len(y_test)), y_test]
    score = one_hot.score(X_test, np.eye(10)[y_test])
    assert score == np.mean(p_true > 0.5) < by_class.score(X_test, y_test)


def test_what_is_counted_as_right():
    """Of four rows: sure and right, right by 4 of 10 trees, right by half of them, wrong."""
    rows = {"truth": [3, 3, 7, 9], "predicted": [3, 3, 7, 4], "p_true": [0.9, 0.4, 0.5, 0.3]}
    logged = SimpleNamespace(
        params={"model.name": "forest", "seed": 0}, table=lambda name: pd.DataFrame(rows)
    )
    table = mnist_table.table([logged])
    assert table["rows"].tolist() == [0, 0, 0, 2, 0, 0, 0, 1, 0, 1]
    assert table["taken_for_4"].tolist() == [0] * 9 + [1]
    assert mnist_table.scores(table, "forest, by class").tolist() == [0.75]
    assert mnist_table.scores(table, "forest, one-hot").tolist() == [0.25]

"""How each class comes off, against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as theirs
from test_study import Studied

from forestlab.study.by_class import by_class

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def answers_for(n_rows, n_classes, seed=0):
    """Whole 64ths, among them many ties; and a truth that they know something of."""
    rng = np.random.default_rng(seed)
    p = rng.multinomial(64, np.full(n_classes, 1 / n_classes), n_rows) / 64
    truth = np.where(rng.random(n_rows) < 0.5, p.argmax(axis=1), rng.integers(0, n_classes, n_rows))
    return truth, p


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_precision_recall_and_area_are_scikit_learns(n_classes):
    truth, p = answers_for(300, n_classes)
    found = by_class(truth, p, "test")
    labels = p.argmax(axis=1)
    expected = theirs.precision_recall_fscore_support(truth, labels, zero_division=np.nan)
    own_values = found.precision, found.recall, found.f1, found.rows
    for own, their in zip(own_values, expected, strict=True):
        np.testing.assert_allclose(own, their, **CLOSE)
    np.testing.assert_array_equal(found.answered, np.bincount(labels, minlength=n_classes))
    if n_classes == 2:
        assert found.mean_auc == pytest.approx(theirs.roc_auc_score(truth, p[:, 1]), abs=1e-12)
    else:
        area = theirs.roc_auc_score(truth, p, multi_class="ovr", average="macro")
        assert found.mean_auc == pytest.approx(area, abs=1e-12)


def test_a_class_without_rows_or_answers_is_not_judged():
    """Of four classes, 2 is never answered and 3 has no row; -1 is a class of no training row."""
    truth = np.array([0, 0, 1, 2, -1])
    p = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.2, 0.5, 0.2, 0.1],
                  [0.1, 0.6, 0.2, 0.1], [0.5, 0.3, 0.2, 0.0]])  # fmt: skip
    found = by_class(truth, p, "valid")
    np.testing.assert_allclose(found.precision, [1 / 2, 1 / 2, np.nan, 0])
    np.testing.assert_allclose(found.recall, [1 / 2, 1, 0, np.nan])
    np.testing.assert_allclose(found.f1, [1 / 2, 2 / 3, 0, 0])
    assert np.isnan(found.auc).tolist() == [False, False, False, True]
    assert found.mean_auc == np.mean(found.auc[:3])


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("digits"), "dataset=digits", "n_estimators=9",
                   "study=light")  # fmt: skip


def test_a_run_is_judged_at_the_chosen_depth(digits):
    (depth,) = digits.metrics["summary/chosen_depth"].values()
    assert (
        depth < len(digits.metrics["accuracy/test"]) - 1
    )  # else the answers need not be asked for again
    X, y = digits.rows("test")
    p = digits.done.model.predict_proba(X, depth=depth)
    labels = p.argmax(axis=1)
    table = pd.read_csv(digits.folder / "by_class/test.csv")
    for name, score in {"precision": theirs.precision_score, "recall": theirs.recall_score}.items():
        expected = score(y, labels, average=None)
        logged = digits.metrics[f"by_class/{name}_test"]
        assert list(logged) == list(range(10))
        np.testing.assert_allclose(list(logged.values()), expected, **CLOSE)
        np.testing.assert_allclose(table[name], expected, **CLOSE)
    area = theirs.roc_auc_score(y, p, multi_class="ovr", average="macro")
    assert digits.metrics["summary/chosen_auc_test"] == {0: pytest.approx(area, abs=1e-12)}
    f1 = theirs.f1_score(y, labels, average="macro")
    assert digits.metrics["summary/chosen_f1_test"] == {0: pytest.approx(f1, abs=1e-12)}
    assert table["class"].tolist() == list(range(10))
    assert table["rows"].sum() == len(y)

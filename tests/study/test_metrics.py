"""Each metric against scikit-learn's, on outcomes that are hard: rare classes, equal targets."""

import numpy as np
import pytest
from sklearn import metrics as theirs

from forestlab.study.metrics import METRICS, Outcome, finished, sums_of

CLOSE = {"rtol": 1e-12, "atol": 1e-13}

pytestmark = pytest.mark.filterwarnings("error")

# Of a truth (n,) and labels, probabilities (n, K) or numbers of one depth.
PEERS = {
    "accuracy": lambda truth, labels, p: theirs.accuracy_score(truth, labels),
    "balanced_accuracy": lambda truth, labels, p: theirs.recall_score(
        truth, labels, labels=np.unique(truth), average="macro"
    ),
    "f1": lambda truth, labels, p: theirs.f1_score(truth, labels, average="macro", zero_division=0),
    "log_loss": lambda truth, labels, p: theirs.log_loss(truth, p, labels=range(p.shape[1])),
    "brier": lambda truth, labels, p: np.mean(((p - np.eye(p.shape[1])[truth]) ** 2).sum(axis=1)),
    "rmse": lambda truth, numbers: theirs.root_mean_squared_error(truth, numbers),
    "mae": lambda truth, numbers: theirs.mean_absolute_error(truth, numbers),
    "r2": lambda truth, numbers: theirs.r2_score(truth, numbers),
}


def outcome_of_classes(truth, p):
    """Of probabilities (D, n, K)."""
    truth = np.asarray(truth)
    p_true = np.take_along_axis(p, truth[None, :, None], axis=2)[..., 0]
    brier = ((p - np.eye(p.shape[2])[truth]) ** 2).sum(axis=2)
    return Outcome(truth, p.argmax(axis=2), p_true, brier, p.shape[2])


def outcome_of_numbers(truth, answer):
    empty = np.empty((0, len(truth)))
    return Outcome(truth, answer, empty, empty, 0, float(np.mean(truth)))


def probabilities(truth, n_classes):
    """At two depths; some classes have no chance."""
    p = np.random.default_rng(2).integers(0, 4, (2, len(truth), n_classes)) + 0.001
    p[:, :, 0] *= np.arange(len(truth)) % 2
    return p / p.sum(axis=2, keepdims=True)


@pytest.mark.parametrize(
    "truth",
    [[0, 0, 1, 1, 2, 2, 2, 0], [0, 0, 2, 0, 1, 0], [1], [0, 1, 2]],
    ids=["all", "single rows", "one row", "one row each"],
)
def test_metrics_of_classes_are_scikit_learns(truth):
    p = probabilities(truth, 3)
    outcome = outcome_of_classes(truth, p)
    values = finished(sums_of(outcome, "classification"))
    for name, value in values.items():
        expected = [PEERS[name](truth, at.argmax(axis=1), at) for at in p]
        np.testing.assert_allclose(value, expected, err_msg=name, **CLOSE)


def test_a_class_that_training_did_not_see_is_a_class_of_which_no_row_is_right():
    truth, answer = np.array([0, 0, 1, 2, -1, -1]), np.array([[0, 1, 1, 2, 0, 1]])
    p = np.full((1, 6), 0.5)
    values = finished(sums_of(Outcome(truth, answer, p, p, 4), "classification"))
    assert values["balanced_accuracy"][0] == pytest.approx((1 / 2 + 1 + 1 + 0) / 4)
    # Right, of rows and answers: 1 of 2 and 2, 1 of 1 and 3, 1 of 1 and 1, 0 of 2 and 0.
    assert values["f1"][0] == pytest.approx((2 / 4 + 2 / 4 + 2 / 2 + 0) / 4)
    assert values["accuracy"][0] == pytest.approx(3 / 6)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_sums_of_several_forests_are_finished_at_once(task):
    """Of 3 sizes at 2 depths, as those of each."""
    rng, truth = np.random.default_rng(3), np.array([0, 2, 1, 1, 0])
    if task == "classification":
        each = [outcome_of_classes(truth, rng.dirichlet([1, 1, 1], (2, 5))) for _ in range(3)]
    else:
        each = [outcome_of_numbers(truth, rng.normal(size=(2, 5))) for _ in range(3)]
    sums = [sums_of(outcome, task) for outcome in each]
    together = finished({name: np.stack([of[name] for of in sums]) for name in sums[0]})
    for name, values in together.items():
        np.testing.assert_array_equal(values, [finished(of)[name] for of in sums])


# Far from 0, squares of targets have all digits but their variance.
TARGETS = {"plain": (0.0, 1.0), "far": (-1e7, 1.0), "small": (0.0, 1e-9), "great": (0.0, 1e9)}


@pytest.mark.parametrize("targets", TARGETS)
def test_metrics_of_numbers_are_scikit_learns(targets):
    shift, scale = TARGETS[targets]
    rng = np.random.default_rng(0)
    truth = shift + scale * rng.normal(size=40)
    answer = truth + scale * rng.normal(size=(3, 40))
    values = finished(sums_of(outcome_of_numbers(truth, answer), "regression"))
    for name, value in values.items():
        expected = [PEERS[name](truth, at) for at in answer]
        np.testing.assert_allclose(value, expected, err_msg=name, rtol=1e-9)


def test_squares_may_be_summed_from_any_number_near_the_targets():
    """A block's targets have another mean than all of them."""
    rng = np.random.default_rng(4)
    truth, answer = rng.normal(size=30), rng.normal(size=(2, 30))
    for origin in (-1.0, 0.3, 2.0):
        outcome = outcome_of_numbers(truth, answer)._replace(origin=origin)
        values = finished(sums_of(outcome, "regression"))
        np.testing.assert_allclose(values["r2"], [PEERS["r2"](truth, at) for at in answer], **CLOSE)


@pytest.mark.parametrize("number", [0.0, 1.0, 0.1, -1e6 / 3])
def test_nothing_is_explained_of_targets_that_do_not_vary(number):
    truth = np.full(7, number)
    answer = np.stack([truth, truth + 1])
    values = finished(sums_of(outcome_of_numbers(truth, answer), "regression"))
    assert np.isnan(values["r2"]).all()
    np.testing.assert_allclose(values["mae"], [0, 1], rtol=1e-9)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_of_no_rows_every_metric_is_not_a_number(task):
    none = np.empty((2, 0))
    truth = np.empty(0, int if task == "classification" else float)
    outcome = Outcome(truth, none, none, none, 3 if task == "classification" else 0)
    values = finished(sums_of(outcome, task))
    assert list(values) == [name for name, row in METRICS.items() if row.task == task]
    for value in values.values():
        np.testing.assert_array_equal(value, [np.nan, np.nan])


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_sums_add_up_over_rows(task):
    """A class that one block lacks, and one that training did not see, among them."""
    rng = np.random.default_rng(1)
    if task == "classification":
        truth = np.array([0, 0, 1, 0, 1, 2, -1])
        answer = rng.integers(0, 3, (2, 7))
        whole = Outcome(truth, answer, rng.random((2, 7)), rng.random((2, 7)), 3)
    else:
        whole = outcome_of_numbers(rng.normal(size=7), rng.normal(size=(2, 7)))
    blocks = [
        whole._replace(
            truth=whole.truth[rows],
            answer=whole.answer[:, rows],
            p_true=whole.p_true[:, rows],
            brier=whole.brier[:, rows],
        )
        for rows in (slice(0, 4), slice(4, 7))
    ]
    one, two = (sums_of(block, task) for block in blocks)
    for name, sums in sums_of(whole, task).items():
        np.testing.assert_allclose(one[name] + two[name], sums, **CLOSE)

"""What is read from a node's statistics, against the rows that it was made of."""

import naive
import numpy as np
import pytest
from cases import quarters

from forestlab.core.tasks import TASKS, deviations, require_task, variances

N_CLASSES = {"classification": 3, "regression": 0}
CLOSE = {"rtol": 1e-12, "atol": 1e-12}

for_each = pytest.mark.parametrize(
    ("task", "n_targets"), [("classification", 1), ("regression", 1), ("regression", 3)]
)


def nodes(task, n_targets, seed):
    """The targets and weights of six nodes of a few rows each."""
    rng = np.random.default_rng(seed)
    for n_rows in range(1, 7):
        y = (
            rng.integers(0, 3, (n_rows, 1))
            if N_CLASSES[task]
            else rng.normal(size=(n_rows, n_targets))
        )
        yield y.astype(float), quarters(rng, n_rows) + 0.25


def stats_of(task, made):
    return np.array([naive.stats_of(y, w, N_CLASSES[task]) for y, w in made])


@for_each
def test_statistics_are_read_as_the_rows_are(task, n_targets):
    made = list(nodes(task, n_targets, 0))
    stats, row = stats_of(task, made), TASKS[task]
    assert row.n_stats(N_CLASSES[task], n_targets) == stats.shape[1]
    assert row.n_answers(stats.shape[1]) == (N_CLASSES[task] or n_targets)
    np.testing.assert_allclose(row.weight(stats), [w.sum() for _, w in made], **CLOSE)
    if task == "classification":
        expected = [[w[y[:, 0] == k].sum() / w.sum() for k in range(3)] for y, w in made]
        values = np.argmax(expected, axis=1)
    else:
        expected = [np.average(y, axis=0, weights=w) for y, w in made]
        values = np.array(expected)[:, 0]
    np.testing.assert_allclose(row.answers(stats), expected, **CLOSE)
    np.testing.assert_allclose(row.values(stats), values, **CLOSE)
    assert row.values(stats).flags.c_contiguous


def test_a_label_is_the_first_of_equal_classes():
    labels = TASKS["classification"].values(np.array([[1.0, 2.0, 2.0], [3.0, 1.0, 3.0]]))
    assert labels.tolist() == [1, 0]
    assert labels.dtype == np.int32  # as the compiled walks take them


@for_each
def test_two_nodes_joined_are_the_node_of_all_their_rows(task, n_targets):
    left, right = (list(nodes(task, n_targets, seed)) for seed in (1, 2))
    both = [tuple(map(np.concatenate, zip(one, two, strict=True)))
            for one, two in zip(left, right[::-1], strict=True)]  # fmt: skip
    one, two = stats_of(task, left), stats_of(task, right[::-1])
    before = one.copy(), two.copy()
    np.testing.assert_allclose(TASKS[task].joined(one, two), stats_of(task, both), **CLOSE)
    np.testing.assert_array_equal((one, two), before)


@for_each
def test_one_target_of_several_has_the_statistics_of_it_alone(task, n_targets):
    made = list(nodes(task, n_targets, 4))
    stats, row = stats_of(task, made), TASKS[task]
    assert row.n_targets(stats.shape[1]) == n_targets
    for k in range(n_targets):
        found = row.of_target(stats, k)
        alone = stats_of(task, [(y[:, k : k + 1], w) for y, w in made])
        np.testing.assert_allclose(found, alone, **CLOSE)
        assert found.flags.c_contiguous  # as kernels take them


@for_each
def test_slots_and_parts_are_as_many_as_contributions(task, n_targets):
    sizes = N_CLASSES[task], n_targets
    expected = (3, 1) if N_CLASSES[task] else (1 + n_targets, 1 + n_targets)
    assert (TASKS[task].n_slots(*sizes), TASKS[task].n_parts(*sizes)) == expected


@pytest.mark.parametrize("n_targets", [1, 3])
def test_variances_are_those_of_the_rows(n_targets):
    made = list(nodes("regression", n_targets, 3))
    stats = stats_of("regression", made)
    squares = [w @ (y - np.average(y, axis=0, weights=w)) ** 2 for y, w in made]
    np.testing.assert_allclose(deviations(stats), squares, **CLOSE)
    spread = [one / w.sum() for one, (_, w) in zip(squares, made, strict=True)]
    np.testing.assert_allclose(variances(stats), spread, **CLOSE)


def test_a_task_that_there_is_not_is_named_with_those_that_are():
    for task in TASKS:
        require_task(task)
    with pytest.raises(
        ValueError,
        match=r"^task is one of 'classification', 'regression', 'density', not 'ranking'$",
    ):
        require_task("ranking")


def test_the_variance_of_classes_is_their_impurity():
    stats = np.array([[3.0, 1.0, 0.0], [2.0, 2.0, 4.0]])
    found = TASKS["classification"].variance(stats)
    np.testing.assert_allclose(found, [1 - 0.75**2 - 0.25**2, 1 - 2 * 0.25**2 - 0.5**2])


def test_one_target_of_several_of_classes_has_its_own_weights():
    stats, of_target = np.arange(12.0).reshape(2, 6), TASKS["classification"].of_target
    columns = [(0, 2), (2, 3), (3, 6)]
    for k, (first, end) in enumerate(columns):
        found = of_target(stats, k, (2, 1, 3))
        np.testing.assert_array_equal(found, stats[:, first:end])
        assert found.flags.c_contiguous
    np.testing.assert_array_equal(of_target(stats, 0), stats)

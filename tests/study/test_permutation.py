"""What trees lose on the rows they left out when a feature is shuffled: the twin, scikit-learn."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import inspection
from small import as_bytes, bags_of, data_for, for_each_task, forest_for, trees_of
from test_strength import BAGS, codes, outside_of, packed, small_forests

from forestlab import ForestClassifier
from forestlab.core.arrays import STEP, plant
from forestlab.core.permute import permutation_kernel
from forestlab.core.questions import reads, renumbered
from forestlab.forest import combined, ends
from forestlab.study.permutation import permutation_importance
from forestlab.tree.handmade import build_tree

SEED = 2**63 + 11
NO_LIMIT = 10**9

pytestmark = pytest.mark.filterwarnings("error")


def importance_of(model, X, y, seed=SEED, **options):
    truth, outside = codes(model, y), outside_of(model)
    return permutation_importance(model.forest_, model.task, X, truth, outside, seed, **options)


def twin_of(model, X, y, most=NO_LIMIT, n_repeats=1):
    truth, found = codes(model, y), []
    for t, (tree, counts) in enumerate(zip(trees_of(model), bags_of(model), strict=True)):
        rows = naive.some_rows(counts, most)
        place = rows, SEED, t, model.task
        found.append(naive.loss_increases(tree, X, truth, *place, n_repeats))
    return np.array(found)


def n_tested(model):
    """Over all trees, the number of features that they test."""
    return sum(len(set(nodes["feature"]) - {-1}) for nodes, _ in trees_of(model))


# ---- the twin ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("bag", BAGS)
@for_each_task
def test_importance_is_that_of_its_twin(task, bag, n_repeats):
    """To the bit: the same shuffles, and sums in the same order."""
    X, y = data_for(task)
    model = forest_for(task, 5, **BAGS[bag]).fit(X, y)
    found = importance_of(model, X, y, n_repeats=n_repeats)
    assert as_bytes(found.increase) == as_bytes(twin_of(model, X, y, n_repeats=n_repeats))
    assert found.n_rows.tolist() == [(counts == 0).sum() for counts in bags_of(model)]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(small_forests(least_trees=1))
def test_any_forest_is_its_twin(fitted):
    """Among them trees of one leaf, and trees that left out one row or none."""
    model, X, y = fitted
    found = importance_of(model, X, y)
    np.testing.assert_array_equal(found.increase, twin_of(model, X, y))  # NaN where NaN
    assert np.isnan(found.increase).all(axis=1).tolist() == (found.n_rows == 0).tolist()


@for_each_task
def test_a_budget_is_kept_with_rows_evenly_spaced(task):
    X, y = data_for(task)
    model = forest_for(task, 5).fit(X, y)
    for most, n_repeats in (7, 1), (20, 2), (2, 1):
        budget = most * n_tested(model) * n_repeats + 1
        found = importance_of(model, X, y, budget=budget, n_repeats=n_repeats)
        assert found.n_rows.tolist() == 5 * [most]
        assert as_bytes(found.increase) == as_bytes(twin_of(model, X, y, most, n_repeats))
    least = importance_of(model, X, y, budget=1)
    assert least.n_rows.tolist() == 5 * [2]
    assert naive.some_rows(np.zeros(10), 4) == [0, 2, 5, 7]
    stump = forest_for(task, 1, max_depth=1).fit(X, y)
    assert n_tested(stump) == 1
    assert importance_of(stump, X, y, budget=11).n_rows.tolist() == [11]


def test_mean_and_spread_are_over_the_trees_that_left_out_rows():
    X, y = data_for("classification")
    model = forest_for("classification", 4).fit(X, y)
    outside = outside_of(model)
    outside[1] = 0
    found = permutation_importance(
        model.forest_, "classification", X, codes(model, y), outside, SEED
    )
    assert np.isnan(found.increase).tolist() == [4 * [t == 1] for t in range(4)]
    rest = np.delete(found.increase, 1, axis=0)
    np.testing.assert_array_equal(found.mean, rest.mean(axis=0))
    np.testing.assert_array_equal(found.std, rest.std(axis=0))
    outside[:] = 0
    found = permutation_importance(
        model.forest_, "classification", X, codes(model, y), outside, SEED
    )
    assert np.isnan([found.mean, found.std]).all()


# ---- other splits ------------------------------------------------------------------------------

LEAVES = {
    "classification": [{"value": {"a": 3, "b": 1}}, {"value": {"a": 1, "b": 4}}, {"value": "a"}],
    "regression": [1.5, 4.0, -2.0],
}
BOTH = {"missing": "both", "missing_share": 0.4}


def odd_tree(task):
    """A combination, a band and categories of columns 1, 2, 4 and 6 of 7; holes go both ways."""
    one, two, three = LEAVES[task]
    kinds = {"feature": 6, "in": [0, 3], "left": one, "right": two} | BOTH
    band = {"feature": 4, "between": [-0.5, 0.7], "left": kinds, "right": three} | BOTH
    tree = {"weights": {1: 1.0, 2: -2.0}, "cut": 0.2, "left": band, "right": two} | BOTH
    names = [f"x{j}" for j in range(7)]
    return build_tree(tree, names, ["a", "b"] if task == "classification" else None).tree


def odd_rows(n_rows):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 7))
    X[:, 6] = rng.integers(0, 5, n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


@for_each_task
def test_a_compact_tree_takes_rows_to_the_same_ends(task):
    tree, X = odd_tree(task), odd_rows(300)
    features = np.unique(reads(tree)[1])
    assert features.tolist() == [1, 2, 4, 6]
    small = plant([renumbered(tree, features)])
    where = ends(plant([tree]), X)
    assert len(np.unique(where)) == 4
    np.testing.assert_array_equal(ends(small, X[:, features]), where)
    assert tree.nodes["feature"].max() == 6  # the tree itself stays as it was


@for_each_task
def test_rows_that_go_both_ways_are_shuffled_too(task):
    """Against answers to rows shuffled by the twin's draws."""
    forest, X = plant([odd_tree(task)]), odd_rows(60)
    rows = np.flatnonzero(np.arange(60) % 3)
    outside = packed([np.arange(60) % 3 > 0])

    def ask(X):
        answers = combined(forest, task, "average", X)[0]
        return answers.argmax(axis=1) if task == "classification" else answers[:, 0]

    truth = ask(X)  # so that every change of a row is a loss

    def loss(X):
        return np.sum((ask(X) - truth[rows]) ** 2)  # labels are 0 and 1

    expected = np.zeros(7)
    for feature in range(7):
        key = naive.stream(naive.tree_key(SEED, 0), naive.PERMUTATION + feature)
        order = naive.shuffled(rows, naive.stream(key, 0))
        shuffled = X[rows].copy()
        shuffled[:, feature] = X[order, feature]
        expected[feature] = (loss(shuffled) - loss(X[rows])) / len(rows)
    found = permutation_importance(forest, task, X, truth, outside, SEED)
    assert found.n_rows.tolist() == [40]
    # Sums of 40 numbers near 10, in another order.
    np.testing.assert_allclose(found.increase[0], expected, rtol=1e-12, atol=1e-13)
    assert (expected[[1, 2, 4, 6]] > 0).all()
    assert not expected[[0, 3, 5]].any()


@for_each_task
def test_walks_that_may_branch_give_the_same_bits(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    found = importance_of(model, X, y)
    model.forest_ = model.forest_._replace(steps=np.empty(0, STEP))
    assert as_bytes(*importance_of(model, X, y)) == as_bytes(*found)


# ---- draws and threads -------------------------------------------------------------------------


@for_each_task
def test_any_number_of_threads_gives_the_same_bits(task):
    X, y = data_for(task, 400)
    model = forest_for(task, 12).fit(X, y)
    found = importance_of(model, X, y)
    for n_jobs in 2, 4:
        assert as_bytes(*importance_of(model, X, y, n_jobs=n_jobs)) == as_bytes(*found)
    other = importance_of(model, X, y, seed=SEED + 1)
    assert (other.increase != found.increase).any()


@for_each_task
def test_the_first_trees_and_the_layout_of_rows_do_not_matter(task):
    X, y = data_for(task)
    found = importance_of(forest_for(task, 9).fit(X, y), X, y)
    few = forest_for(task, 4).fit(X, y)
    other = np.asfortranarray(X.astype(np.float32))  # quarters: exact
    other.flags.writeable = False
    assert as_bytes(importance_of(few, other, y).increase) == as_bytes(found.increase[:4])
    assert other.tobytes() == X.astype(np.float32).tobytes()


@for_each_task
def test_other_rows_compile_nothing_more(task):
    X, y = data_for(task)
    model = forest_for(task, 2).fit(X, y)
    importance_of(model, X, y)
    kernel = permutation_kernel(task, True)
    before = len(kernel.signatures)
    for other in (np.asfortranarray(X), X.astype(np.float32), X[::-1][::-1]):
        importance_of(model, other, y)
    assert len(kernel.signatures) == before


@for_each_task
def test_bits_behind_the_last_row_mean_nothing(task):
    X, y = data_for(task)
    model = forest_for(task, 2).fit(X, y)
    outside = outside_of(model)
    assert len(X) == 90  # so that six bits are left of twelve bytes
    filled = outside.copy()
    filled[:, -1] |= 0b11111100
    asked = model.forest_, task, X, codes(model, y)
    plain, other = (permutation_importance(*asked, bits, SEED) for bits in (outside, filled))
    assert as_bytes(*plain) == as_bytes(*other)


# ---- what the numbers mean ---------------------------------------------------------------------

SCORES = {"classification": "accuracy", "regression": "neg_mean_squared_error"}


@for_each_task
def test_importance_agrees_with_scikit_learns(task):
    """One tree's rows out of its bag, shuffled by each 300 times."""
    X, y = data_for(task, 200)
    model = forest_for(task, 1, max_features=4).fit(X, y)
    found = importance_of(model, X, y, n_repeats=300).increase[0]
    out = bags_of(model)[0] == 0
    theirs = inspection.permutation_importance(
        model, X[out], y[out], scoring=SCORES[task], n_repeats=300, random_state=0
    )
    # Each is a mean of 300 draws from one distribution, whose spread scikit-learn tells: five
    # standard errors of their difference, which chance exceeds once in 2 million times.
    error = theirs.importances_std * np.sqrt(2 / 300)
    assert (np.abs(found - theirs.importances_mean) < 5 * error).all()
    assert found[0] > 10 * error[0]  # so that the test can tell


def test_a_feature_that_no_tree_tests_has_no_importance():
    X, y = data_for("classification")
    X = np.column_stack([X, np.zeros(len(X)), np.arange(len(X)) % 7])
    model = ForestClassifier(20, random_state=0).fit(X, y)
    found = importance_of(model, X, y)
    assert not found.increase[:, 4].any()
    assert found.mean[0] > found.std[5] / np.sqrt(20) + found.mean[5]  # more than noise
    stump = ForestClassifier(3, max_depth=1, max_features=1, random_state=0).fit(X, y)
    used = importance_of(stump, X, y).increase != 0
    assert used.sum(axis=1).max() <= 1

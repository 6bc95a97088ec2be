"""Strength and correlation of a forest's trees, at every depth, against their definition."""

import functools

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits
from small import FORESTS, as_bytes, bags_of, data_for, for_each_task, forest_for, trees_of

from forestlab import ForestClassifier
from forestlab.core.arrays import STEP, plant, tree_of
from forestlab.forest import by_fixed_blocks, rows_outside
from forestlab.study.strength import ResidualStrength, VoteStrength, strength
from forestlab.tree.handmade import build_tree

TWINS = {"classification": naive.vote_strength, "regression": naive.residual_strength}
KINDS = {"classification": VoteStrength, "regression": ResidualStrength}
BAGS = {
    "bootstrap": {},
    "small": {"max_samples": 0.2},
    "half": {"bootstrap": False, "max_samples": 0.5},
}
# Twins take means of up to 90 numbers near 1, in another order, and divide them: off by some 1e-14.
# A variance of margins that are all equal is 0 for the twin, and here but for its rounding.
CLOSE = {"rtol": 1e-10, "atol": 1e-13}

pytestmark = pytest.mark.filterwarnings("error")


def outside_of(model):
    parts = model.recipe_, model.n_rows_, model.chances_, model.seed_
    return rows_outside(*parts, len(model))


def codes(model, y):
    return np.searchsorted(model.classes_, y) if model.task == "classification" else y


def depth_of(model):
    return max(naive.depths(nodes).max() for nodes, _ in trees_of(model))


def strength_of(model, X, y, n_depths=None, n_jobs=1):
    n_depths = depth_of(model) + 1 if n_depths is None else n_depths
    truth, outside = codes(model, y), outside_of(model)
    return strength(model.forest_, model.task, X, truth, n_depths, outside, n_jobs)


def twin_of(model, X, y, n_depths):
    """An array a quantity, over depths."""
    trees, bags, truth = trees_of(model), bags_of(model), codes(model, y)
    twin = TWINS[model.task]
    return np.array([twin(trees, bags, X, truth, depth) for depth in range(n_depths)]).T


@st.composite
def small_forests(draw, least_trees):
    """(fitted forest, X, y) with few distinct values, of either task."""
    task, bag = draw(st.sampled_from(sorted(FORESTS))), draw(st.sampled_from(sorted(BAGS)))
    n_rows, n_features = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    n_values, n_trees = draw(st.integers(2, 6)), draw(st.integers(least_trees, 5))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n_rows, n_features)).astype(float)
    y = rng.integers(0, n_values, n_rows) * (1 if task == "classification" else 0.5)
    return FORESTS[task](n_trees, random_state=seed, **BAGS[bag]).fit(X, y), X, y


# ---- the twins ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bag", BAGS)
@pytest.mark.parametrize("n_trees", [2, 12])
@for_each_task
def test_strength_is_that_of_its_twin(task, n_trees, bag):
    X, y = data_for(task)
    model = forest_for(task, n_trees, **BAGS[bag]).fit(X, y)
    n_depths = depth_of(model) + 2
    found = strength_of(model, X, y, n_depths)
    assert type(found) is KINDS[task]
    np.testing.assert_allclose(np.array(found), twin_of(model, X, y, n_depths), **CLOSE)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(small_forests(least_trees=2))
def test_any_forest_is_its_twin(fitted):
    """Among them rows that no tree left out, trees that left out none, and pure classes."""
    model, X, y = fitted
    task = model.task
    bags = np.array(bags_of(model)) == 0
    found = strength_of(model, X, y)
    if not bags.any():
        assert np.isnan(found).all()
    elif task == "classification" or (bags.sum(axis=0) > 1).any():  # else there are no products
        with np.errstate(invalid="ignore", divide="ignore"):
            twin = KINDS[task](*twin_of(model, X, y, len(found[0])))
        assert_like_its_twin(found, twin)


def assert_like_its_twin(found, twin):
    """Where rounding cannot decide: trees of no spread make a correlation of 0 / 0, which is some
    x / 0 if the variance is not quite 0; and a strength of 0 may be one of 1e-17."""
    clear = np.ones(len(twin[0]), bool)
    if isinstance(twin, VoteStrength):
        np.testing.assert_allclose(found.strength, twin.strength, **CLOSE)
        clear = np.abs(twin.strength) > 1e-6
    for values, expected in zip(found, twin, strict=True):
        known = np.isfinite(expected) & clear
        np.testing.assert_allclose(values[known], expected[known], rtol=1e-9, atol=1e-12)


def test_one_column_and_many_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 1))
    y = np.digitize(X[:, 0] + 0.1 * rng.normal(size=120), np.linspace(-1.5, 1.5, 25))
    model = ForestClassifier(6, random_state=0).fit(X, y)
    assert model.n_classes_ > 20
    n_depths = depth_of(model) + 1
    twin = twin_of(model, X, y, n_depths)
    np.testing.assert_allclose(np.array(strength_of(model, X, y)), twin, **CLOSE)


# ---- by hand -----------------------------------------------------------------------------------


def packed(rows):
    """Bits of rows that are out of the bag, a list a tree."""
    return np.packbits(np.array(rows, bool), axis=1, bitorder="little")


def stump(left, right, **more):
    return {"feature": 0, "cut": 0, "left": {"value": left}, "right": {"value": right}} | more


def forest_of(*descriptions, classes=None):
    return plant([build_tree(tree, ["x"], classes).tree for tree in descriptions])


def test_a_small_case_by_hand():
    """Three trees; the rows are at -1, -1, 1, 1 and of classes a, b, b, c."""
    forest = forest_of(
        stump({"a": 2, "b": 1}, {"b": 2}),  # says a, b
        stump({"a": 3}, {"c": 5, "b": 1}),  # says a, c
        stump({"b": 1}, {"b": 1}),  # says b, b
        classes=["a", "b", "c"],
    )
    X, truth = np.array([[-1.0], [-1], [1], [1]]), np.array([0, 1, 1, 2])
    outside = packed([[1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0]])
    found = strength(forest, "classification", X, truth, 2, outside)
    # Votes: a a b | a b | b c | c. Rivals: b, a, c and a (the first of equal ones).
    # Votes for the truth and the rival: tree 1 a a b, tree 2 a c c, tree 3 b b.
    p1, p2 = np.array([2 / 3, 2 / 3, 1 / 2]), np.array([1 / 3, 1 / 3, 1 / 2])
    plain = by_hand([1 / 3, 0, 0, 1], np.var([1 / 3, 0, 0, 1]), p1, p2)
    # Without its one vote a rival is level with a third class, so that the others would choose
    # another half of the time; that has the weight (1 + 1/√M) / 2.
    two, three = (1 - (1 + 1 / np.sqrt(n)) / 4 for n in (2, 3))
    margins = (2 - three) / 3, (1 - two) / 2, (1 - two) / 2, 1
    # Of ordered pairs of voters: 1 for two of the truth, -1 for one of each.
    products = (2 - 4 * three) / 6, -two, -two
    variance = np.mean(products) - np.mean(margins) ** 2
    fair = by_hand(margins, variance, p1, p2 * [two, two, three])
    expected = *fair, np.mean(1 - p1), np.std(p1), *plain
    np.testing.assert_allclose([values[1] for values in found], expected, **CLOSE)


def by_hand(margins, variance, p1, p2):
    s, sd = np.mean(margins), np.sqrt(p1 + p2 - (p1 - p2) ** 2)
    correlation = variance / sd.mean() ** 2
    return s, correlation, correlation * (1 - s**2) / s**2


def test_two_classes_lose_the_variance_of_so_many_voters():
    """Of margins m of M voters each, (1 - m²) / (M - 1); and the plain strength is right."""
    says_a, says_b = stump({"a": 1}, {"a": 1}), stump({"b": 1}, {"b": 1})
    forest = forest_of(says_a, says_a, says_b, says_b, says_a, classes=["a", "b"])
    outside = packed([[1, 1, 0], [1, 1, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    found = strength(forest, "classification", np.zeros((3, 1)), np.array([0, 0, 1]), 1, outside)
    m = np.array([2 / 4, 2 / 4, 0.0])  # a a b a | a a b a | a b b a, of classes a, a, b
    less = np.mean((1 - m**2) / (4 - 1))
    right = np.array([1, 2 / 3, 1 / 2, 1 / 2, 2 / 3])
    spread = np.mean(2 * np.sqrt(right * (1 - right))) ** 2
    np.testing.assert_allclose(found.correlation_plain, np.var(m) / spread, **CLOSE)
    np.testing.assert_allclose(found.correlation, (np.var(m) - less) / spread, **CLOSE)
    np.testing.assert_array_equal(found.strength, found.strength_plain)


def test_residuals_by_hand():
    forest = forest_of(stump(1.0, 5.0), stump(2.0, 4.0))
    X, truth = np.array([[-1.0], [1], [-1]]), np.array([0.0, 2, 9])
    outside = packed([[1, 1, 0], [1, 1, 0]])
    found = strength(forest, "regression", X, truth, 2, outside)
    # Residuals: -1, -3 of the first tree, -2, -2 of the second.
    mse = np.array([5.0, 4.0])
    correlation = np.mean([2, 6]) / np.sqrt(mse).mean() ** 2
    expected = correlation, correlation * 4.5, 4.5, 0.5, np.sqrt(mse).mean()
    np.testing.assert_allclose([values[1] for values in found], expected, **CLOSE)


def test_a_row_that_goes_both_ways_has_one_vote():
    """Three tenths of it end among 1 a, the rest among 1 a and 2 b: a has 0.53 of it, so it wins.

    Had each end a vote of its own, b would win.
    """
    both = {"missing": "both", "missing_share": 0.3}
    forest = forest_of(stump({"a": 1}, {"a": 1, "b": 2}, **both), classes=["a", "b"])
    X = np.array([[np.nan], [1.0], [-1.0]])
    found = strength(forest, "classification", X, np.array([0, 1, 1]), 2, packed([[1, 1, 1]]))
    np.testing.assert_allclose(found.tree_error, [2 / 3, 1 / 3], **CLOSE)  # the root is a tie
    np.testing.assert_allclose(found.strength, [-1 / 3, 1 / 3], **CLOSE)
    numbers = forest_of(stump(4.0, 8.0, **both))
    found = strength(numbers, "regression", X[:1], np.array([10.0]), 2, packed([[1]]))
    # The share is kept as float32, right to 1e-7 of itself.
    np.testing.assert_allclose(found.tree_mse, [(10 - 6) ** 2, (10 - 6.8) ** 2], rtol=1e-6)


@for_each_task
def test_walks_that_may_branch_give_the_same_bits(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    found = strength_of(model, X, y)
    model.forest_ = model.forest_._replace(steps=np.empty(0, STEP))
    assert as_bytes(*strength_of(model, X, y)) == as_bytes(*found)


def test_one_class_has_no_rival():
    X = np.arange(20.0)[:, None]
    model = ForestClassifier(4, random_state=0).fit(X, np.ones(20))
    found = strength_of(model, X, np.ones(20))
    assert (found.strength[0], found.tree_error[0]) == (1, 0)
    assert np.isnan(found.correlation[0])  # of margins that do not vary


def test_trees_that_are_always_right_or_always_wrong_have_no_correlation():
    """Margins vary from row to row by the voters there, those of a tree by itself do not."""
    forest = forest_of(stump({"a": 1}, {"a": 1}), stump({"b": 1}, {"b": 1}), classes=["a", "b"])
    outside = packed([[1, 0, 1], [0, 1, 1]])
    found = strength(forest, "classification", np.zeros((3, 1)), np.zeros(3, int), 1, outside)
    assert (found.strength[0], found.tree_error[0]) == (0, 0.5)
    assert np.isnan([found.correlation, found.correlation_plain]).all()


def test_without_strength_there_is_no_bound():
    forest = forest_of(stump({"a": 1}, {"a": 1}), classes=["a", "b"])
    truth, outside = np.array([0, 1]), packed([[1, 1]])
    found = strength(forest, "classification", np.zeros((2, 1)), truth, 1, outside)
    assert (found.strength_plain[0], found.correlation_plain[0]) == (0, 1)
    assert np.isnan(found.bound_plain).all()


@for_each_task
def test_no_row_left_out_is_not_a_number(task):
    X, y = data_for(task)
    model = forest_for(task, 3).fit(X, y)
    nothing = np.zeros_like(outside_of(model))
    found = strength(model.forest_, task, X, codes(model, y), 4, nothing)
    for values in found:
        assert values.shape == (4,)
        assert np.isnan(values).all()


# ---- depths, threads, memory -------------------------------------------------------------------


@pytest.mark.parametrize("bag", BAGS)
@for_each_task
def test_a_depth_is_that_max_depth(task, bag):
    X, y = data_for(task)
    model = forest_for(task, 9, **BAGS[bag]).fit(X, y)
    found = strength_of(model, X, y)
    for depth in range(1, depth_of(model) + 1):
        shallow = forest_for(task, 9, max_depth=depth, **BAGS[bag]).fit(X, y)
        again = strength_of(shallow, X, y, depth + 1)
        assert as_bytes(*again) == as_bytes(*(values[: depth + 1] for values in found))
        for values in strength_of(shallow, X, y, depth + 3):
            np.testing.assert_array_equal(values[depth:], np.repeat(values[depth], 3))


@for_each_task
def test_blocks_of_rows_add_up_to_the_twin(task, monkeypatch):
    X, y = data_for(task)
    model = forest_for(task, 12).fit(X, y)
    of_seven = functools.partial(by_fixed_blocks, size=7)
    monkeypatch.setattr("forestlab.study.strength.by_fixed_blocks", of_seven)
    twin = twin_of(model, X, y, depth_of(model) + 1)
    np.testing.assert_allclose(np.array(strength_of(model, X, y)), twin, **CLOSE)


@for_each_task
def test_any_number_of_threads_gives_the_same_bits(task):
    X, y = data_for(task, 3000)  # three blocks
    model = forest_for(task, 9, max_samples=0.3).fit(X, y)
    found = strength_of(model, X, y)
    for n_jobs in 2, 4:
        assert as_bytes(*strength_of(model, X, y, n_jobs=n_jobs)) == as_bytes(*found)


@for_each_task
def test_the_layout_and_type_of_rows_do_not_matter(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    other = np.asfortranarray(X.astype(np.float32))  # quarters: exact
    other.flags.writeable = False
    assert as_bytes(*strength_of(model, other, y)) == as_bytes(*strength_of(model, X, y))


def test_less_memory_gives_the_same_bits(monkeypatch):
    X, y = data_for("classification", 300)
    model = forest_for("classification").fit(X, y)
    found = strength_of(model, X, y)
    for numbers in 1, 2000:  # one row at a time, and a few
        monkeypatch.setattr("forestlab.study.strength.BLOCK_NUMBERS", numbers)
        assert as_bytes(*strength_of(model, X, y)) == as_bytes(*found)


# ---- what the numbers mean ---------------------------------------------------------------------


def test_the_bound_is_above_the_error_and_more_features_correlate_trees():
    """Breiman's figure 1: with more features to choose from, trees are more alike."""
    X, y = load_digits(return_X_y=True)
    X, y = X[::2], y[::2]
    found = {}
    for n in 1, 64:
        model = ForestClassifier(60, max_features=n, random_state=0, n_jobs=2).fit(X, y)
        found[n] = strength_of(model, X, y)
        asked = np.array(bags_of(model)) == 0
        labels = model.predict_trees(X).argmax(axis=2)
        votes = np.array([(asked & (labels == k)).sum(axis=0) for k in range(10)])
        assert asked.any(axis=0).all()
        assert found[n].bound[-1] > np.mean(votes.argmax(axis=0) != y)
    assert found[64].correlation[-1] > 1.5 * found[1].correlation[-1]


def noisy_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(np.random.default_rng(0).random(len(y)) < 0.15, 1 - y, y)


def digits():
    return load_digits(return_X_y=True)


@functools.cache
def of_many_and_of_few(make, n_few):
    """Strength and correlation of 800 trees, and mean and spread of those of n_few at a time.

    One random cut a node makes trees that are weak and little alike: the worst case for few.
    """
    X, y = make()
    model = ForestClassifier(800, rho=1, bootstrap=True, random_state=0, n_jobs=2).fit(X, y)
    outside = outside_of(model)

    def measured(trees):
        forest = plant((tree_of(model.forest_, t) for t in trees), len(trees))
        found = strength(forest, "classification", X, y, 40, outside[trees])
        return found.strength[-1], found.correlation[-1]

    parts = [range(first, first + n_few) for first in range(0, min(800, 25 * n_few), n_few)]
    few = np.array([measured(part) for part in parts])
    return measured(range(800)), few.mean(axis=0), few.std(axis=0, ddof=1), len(parts)


@pytest.mark.parametrize("n_few", [10, 25, 100])
def test_few_trees_of_two_classes_say_what_many_do(n_few):
    """On average: within 4 standard errors. The plain correlation of 10 trees is 30 of them off."""
    many, mean, spread, n_parts = of_many_and_of_few(noisy_cancer, n_few)
    assert (np.abs(mean - many) < 4 * spread / np.sqrt(n_parts)).all()


@pytest.mark.parametrize("n_few", [10, 25, 100])
def test_few_trees_of_many_classes_say_about_what_many_do(n_few):
    """Some of the choice of the rival remains: about as much as one forest differs from the next,
    so that twice that is allowed, and 4 standard errors. The plain correlation of 10 trees is off
    by 17 times that."""
    many, mean, spread, n_parts = of_many_and_of_few(digits, n_few)
    assert (np.abs(mean - many) < (2 + 4 / np.sqrt(n_parts)) * spread).all()


def test_the_correlation_of_residuals_and_the_trees_errors_make_up_the_forests():
    """Of a row with M voters the squared error of their mean is 1/M of the mean squared residual
    and the rest of the mean product of two; here all rows have as many voters."""
    X, y = data_for("regression")
    model = forest_for("regression", 8).fit(X, y)
    found = strength(model.forest_, "regression", X, y, 5, packed(np.ones((8, len(X)))))
    product = found.correlation * found.tree_rmse**2
    for depth in range(5):
        error = np.mean((model.predict(X, depth) - y) ** 2)
        expected = found.tree_mse[depth] / 8 + product[depth] * 7 / 8
        np.testing.assert_allclose(error, expected, **CLOSE)
    assert (found.bound >= product).all()

"""Variances, intervals and label sets of forests: against naive twins, other packages and laws.

Random draws are fixed by their seeds, so a test of a law gives the same answer at every run. Its
threshold is set where, with other seeds, it would fail once in a million times.
"""

import functools
import itertools
import warnings

import forestci
import naive
import numpy as np
import pytest
from cases import quarters
from forestci.forestci import _core_computation
from hypothesis import given, settings
from hypothesis import strategies as st
from quantile_forest import RandomForestQuantileRegressor
from scipy import stats
from sklearn.datasets import make_friedman1
from sklearn.ensemble import BaggingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from forestlab import ForestClassifier, ForestRegressor
from forestlab.core.arrays import Limits
from forestlab.core.options import Exact
from forestlab.forest import Reached, Recipe, bags, ends, rows_outside
from forestlab.study import quantiles
from forestlab.study.conformal import (
    credible_sets,
    intervals,
    label_sets,
    quantile_of,
    scores_classes,
    scores_regression,
)
from forestlab.study.coverage import (
    LEVELS,
    Band,
    coverage,
    error_detection,
    error_ranking,
    n_known,
    normal_intervals,
    set_coverage,
    set_size,
    width,
)
from forestlab.study.jackknife import jackknife
from forestlab.study.quantiles import leaf_intervals, leaf_quantiles

FALSE_ALARM = 1e-6
# Sums of at most some thousands of float64 products, in another order than in the twin.
ROUNDING = {"rtol": 1e-10, "atol": 1e-13}

few_examples = settings(max_examples=60, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
shares = st.integers(1, 99).map(lambda percent: percent / 100)  # levels that ties can meet


def draw_bags(rng, n_trees, n_rows, size, replace):
    drawn = [rng.choice(n_rows, size, replace) for _ in range(n_trees)]
    return np.array([np.bincount(rows, minlength=n_rows) for rows in drawn]).astype(np.uint16)


# ---- bags --------------------------------------------------------------------------------------


def recipe_with(**bag):
    nothing = Limits(*[0] * len(Limits._fields))  # a bag does not depend on how trees grow
    return Recipe("variance", Exact(), nothing, **bag)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("size", "replace", "weighted", "dtype"),
    [
        (40, True, False, "u1"),
        (300, True, False, "u2"),
        (40, True, True, "u1"),
        (9, False, 0, "u1"),
    ],
)
def test_bags_are_those_of_the_twin(size, replace, weighted, dtype, n_jobs):
    drawn_by = quarters(np.random.default_rng(0), 40) if weighted else None
    chances = np.cumsum(drawn_by) if weighted else np.zeros(0)
    recipe = recipe_with(bag_size=size, replace=replace)
    counts = bags(recipe, 40, chances, 5, 7, n_jobs)
    twins = [naive.bag(naive.tree_key(5, t), 40, size, replace, drawn_by) for t in range(7)]
    np.testing.assert_array_equal(counts, twins)
    assert counts.dtype == dtype
    outside = rows_outside(recipe, 40, chances, 5, 7, n_jobs)
    assert (np.unpackbits(outside, axis=1, count=40, bitorder="little") == (counts == 0)).all()


def test_without_bags_each_tree_has_each_row_once():
    assert bags(recipe_with(), 4, np.zeros(0), 5, 3).tolist() == [[1] * 4] * 3


# ---- jackknife ---------------------------------------------------------------------------------


@few_examples
@given(seeds, st.integers(2, 12), st.integers(2, 12), st.booleans(), st.data())
def test_jackknife_is_that_of_the_twin(seed, n_trees, n_rows, replace, data):
    size = data.draw(st.integers(1, 2 * n_rows if replace else n_rows - 1))
    rng = np.random.default_rng(seed)
    counts = draw_bags(rng, n_trees, n_rows, size, replace)
    answers = rng.normal(3.0, 2.0, (n_trees, 4))
    found = jackknife(counts, answers, replace)
    if (counts == counts[0]).all():
        assert np.isnan(found.raw).all()
        return
    raw, corrected = np.transpose([naive.jackknife(counts, t, replace) for t in answers.T])
    np.testing.assert_allclose(found.raw, raw, **ROUNDING)
    np.testing.assert_allclose(found.corrected, corrected, **ROUNDING)
    assert found.negative == np.mean(np.isnan(found.sd))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_over_all_bags_it_is_the_textbook_variance_of_a_mean(size):
    """A forest of means of all bags there are: Σ (y - ȳ)² / n², or n (n - 1) without replacement,
    whatever the bags' size."""
    y = np.array([0.3, -1.2, 2.5, 0.9, 4.0])
    drawn = np.array(list(itertools.product(range(5), repeat=size)))
    counts = np.array([np.bincount(rows, minlength=5) for rows in drawn])
    found = jackknife(counts, y[drawn].mean(axis=1)[:, None])
    np.testing.assert_allclose(found.raw, y.var() / 5, **ROUNDING)
    drawn = np.array(list(itertools.combinations(range(5), size)))
    counts = np.array([np.bincount(rows, minlength=5) for rows in drawn])
    found = jackknife(counts, y[drawn].mean(axis=1)[:, None], replace=False)
    np.testing.assert_allclose(found.raw, y.var(ddof=1) / 5, **ROUNDING)


@pytest.mark.parametrize("replace", [True, False])
def test_what_chance_contributes_is_taken_off(replace):
    """For trees that do not depend on their bags, E corrected = 0."""
    rng = np.random.default_rng(0)
    counts = draw_bags(rng, 50, 30, 20, replace)
    found = jackknife(counts, rng.normal(size=(50, 4000)), replace)
    rest = found.corrected
    assert abs(rest.mean()) < stats.norm.isf(FALSE_ALARM / 2) * rest.std() / np.sqrt(4000)
    assert 0.2 < found.negative < 0.8  # about half of what is 0 but for noise


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    counts, answers = draw_bags(rng, 150, 3000, 3000, True), rng.normal(size=(150, 40))
    found = []
    for n_threads, block in ((1, 2_000_000), (2, 2_000_000), (2, 150 * 777)):
        monkeypatch.setattr("forestlab.study.jackknife.BLOCK_NUMBERS", block)
        with threadpool_limits(n_threads):
            found.append(jackknife(counts, answers))
    for other in found[1:]:
        np.testing.assert_array_equal(other.raw, found[0].raw)
        np.testing.assert_array_equal(other.corrected, found[0].corrected)


@functools.cache
def friedman(n_rows=120, seed=0):
    X, y = make_friedman1(n_rows, noise=1.0, random_state=seed)
    return X.round(2), y  # codes of one byte, so that one kernel grows all trees


def corrected_by_them(found, n_trees):
    """forestci takes off what chance contributes times (n_trees - 1) / n_trees."""
    return found.raw - (found.raw - found.corrected) * (n_trees - 1) / n_trees


@pytest.mark.parametrize("max_samples", [None, 0.4])
def test_forestci_finds_the_same_for_regression(max_samples):
    (X, y), (rows, _) = friedman(), friedman(30, 1)
    forest = RandomForestRegressor(40, max_samples=max_samples, random_state=0).fit(X, y)
    counts = forestci.calc_inbag(len(X), forest).T.astype(np.uint16)
    answers = np.array([tree.predict(rows) for tree in forest])
    found = jackknife(counts, answers)
    centred = (answers - answers.mean(axis=0)).T
    raw = _core_computation(X.shape, rows, counts.T.astype(float), centred, 40)
    np.testing.assert_allclose(found.raw, raw, **ROUNDING)
    theirs = forestci.random_forest_error(forest, X.shape, rows, calibrate=False)
    np.testing.assert_allclose(corrected_by_them(found, 40), theirs, **ROUNDING)


def test_forestci_finds_the_same_for_the_probability_of_a_class():
    (X, y), (rows, _) = friedman(), friedman(30, 1)
    forest = RandomForestClassifier(40, random_state=0).fit(X, np.digitize(y, [12, 17]))
    counts = forestci.calc_inbag(len(X), forest).T.astype(np.uint16)
    predicted = forest.predict_proba(rows).argmax(axis=1)
    chances = np.array([tree.predict_proba(rows) for tree in forest])
    found = jackknife(counts, chances[:, np.arange(30), predicted])
    by_class = [
        forestci.random_forest_error(forest, X.shape, rows, calibrate=False, class_index=k)
        for k in range(3)
    ]
    expected = np.array(by_class)[predicted, np.arange(30)]
    np.testing.assert_allclose(corrected_by_them(found, 40), expected, **ROUNDING)


def test_forestci_finds_the_same_without_replacement_but_for_a_factor():
    """It leaves the factor (n - 1) / n of Wager and Athey out."""
    (X, y), (rows, _) = friedman(), friedman(30, 1)
    forest = BaggingRegressor(
        n_estimators=40, bootstrap=False, max_samples=0.3, random_state=0
    ).fit(X, y)
    drawn = forest.estimators_samples_
    counts = np.array([np.bincount(rows, minlength=len(X)) for rows in drawn])
    found = jackknife(counts, np.array([tree.predict(rows) for tree in forest]), replace=False)
    theirs = forestci.random_forest_error(forest, X.shape, rows, counts.T, calibrate=False)
    np.testing.assert_allclose(corrected_by_them(found, 40), theirs * 119 / 120, **ROUNDING)


def test_jackknife_of_a_forest():
    """Of forestlab's own trees and bags, by the twin."""
    (X, y), (rows, _) = friedman(), friedman(6, 1)
    model = ForestRegressor(30, random_state=0).fit(X, y)
    counts = bags(model.recipe_, model.n_rows_, model.chances_, model.seed_, len(model))
    answers = model.predict_trees(rows)
    found = jackknife(counts, answers)
    twins = np.transpose([naive.jackknife(counts.astype(int), t) for t in answers.T])
    np.testing.assert_allclose(found[:2], twins, **ROUNDING)


@pytest.mark.parametrize(
    ("counts", "replace"),
    [
        ([[0, 2, 1]], True),  # one tree
        ([[1], [1], [1]], True),  # one row
        ([[1, 1, 1], [1, 1, 1]], False),  # every row in every bag
    ],
)
def test_bags_that_do_not_vary_say_nothing(counts, replace):
    answers = np.arange(len(counts) * 2.0).reshape(len(counts), 2)
    found = jackknife(np.array(counts), answers, replace)
    assert np.isnan([*found.raw, *found.corrected, *found.sd]).all()
    assert np.isnan([found.negative, found.trees_needed]).all()


@pytest.mark.filterwarnings("error")
def test_trees_that_agree_have_no_variance():
    counts = draw_bags(np.random.default_rng(0), 7, 10, 10, True)
    found = jackknife(counts, np.full((7, 3), 0.1))
    assert found.raw.tolist() == found.corrected.tolist() == [0.0] * 3
    assert found.negative == 0.0
    assert found.sd.tolist() == [0.0] * 3  # known to be 0
    assert np.isnan(found.trees_needed)


def test_a_negative_variance_is_unknown_and_wants_trees():
    """Of two rows in three bags: one answer goes along with the counts, one hardly."""
    counts, answers = np.array([[2, 0], [0, 2], [1, 1]]), np.array([[1, 0.0], [-1, 0], [0, 1]])
    found = jackknife(counts, answers)
    # cov = ±2/3 and 0; by chance 2 · 2/3 · mean(c²) / 2, with mean(c²) = 2/3 and 2/9.
    np.testing.assert_allclose(found.raw, [8 / 9, 0], **ROUNDING)
    np.testing.assert_allclose(found.corrected, [4 / 9, -4 / 27], **ROUNDING)
    np.testing.assert_allclose(found.sd, [2 / 3, np.nan], **ROUNDING)
    assert found.negative == 1 / 2
    assert found.trees_needed == pytest.approx(3 * (4 / 9 + 4 / 27) / (4 / 9 - 4 / 27))
    assert np.isnan(jackknife(counts, answers[:, 1:]).trees_needed)


def test_as_many_trees_as_are_needed_are_enough():
    """What chance adds is then as large as the variance itself; and a row's variance is known to
    √(6 / n) of itself, in the median over rows, by a reckoning that takes all rows for equal: it
    may be a third off. With a tenth of the trees some rows are unknown."""
    rng = np.random.default_rng(0)
    X, rows = rng.random((100, 1)), np.linspace(0, 1, 60)[:, None]
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=100)
    model = ForestRegressor(4000, random_state=0, n_jobs=2).fit(X, y)
    counts = bags(model.recipe_, model.n_rows_, model.chances_, model.seed_, len(model))
    answers = model.predict_trees(rows)

    def of_parts(size):
        starts = range(0, 4001 - size, size)
        return [jackknife(counts[i : i + size], answers[i : i + size]) for i in starts]

    whole = jackknife(counts, answers)
    parts = of_parts(round(whole.trees_needed))
    assert len(parts) > 10
    chance = np.mean([part.raw - part.corrected for part in parts])
    assert chance == pytest.approx(whole.corrected.mean(), rel=0.1)
    spread = np.std([part.corrected for part in parts], axis=0, ddof=1) / whole.corrected
    assert np.median(spread) == pytest.approx(np.sqrt(6 / len(X)), rel=1 / 3)
    needed = [part.trees_needed for part in parts]
    assert np.mean(needed) == pytest.approx(whole.trees_needed, rel=0.1)  # any of them can tell
    few = np.mean([part.negative for part in of_parts(len(model) // (10 * len(parts)))])
    assert few > 0.05 > np.mean([part.negative for part in parts])


@pytest.mark.filterwarnings("error")
def test_jackknife_for_no_rows():
    counts = draw_bags(np.random.default_rng(0), 7, 10, 10, True)
    found = jackknife(counts, np.zeros((7, 0)))
    assert found.raw.shape == found.corrected.shape == (0,)
    assert np.isnan(found.negative)


# ---- conformal ---------------------------------------------------------------------------------


@few_examples
@given(seeds, st.integers(0, 120), shares)
def test_conformal_quantile_is_that_of_the_twin(seed, n, level):
    scores = np.random.default_rng(seed).normal(size=n).round(1)
    assert quantile_of(scores, level) == naive.conformal_quantile(scores, level)


def test_a_level_met_exactly_is_not_overshot():
    """0.55 × 100 is a little more than 55 in floats."""
    assert quantile_of(np.arange(1.0, 100.0), 0.55) == 55.0
    assert quantile_of(np.arange(1.0, 100.0), 1.0) == np.inf
    for level in 0.0, 1.001:
        with pytest.raises(ValueError, match=f"level must be above 0 and at most 1; got {level}"):
            quantile_of(np.arange(3.0), level)


def test_quantiles_of_many_scores_are_all_of_them_in_order():
    scores = np.random.default_rng(0).permutation(499) / 2
    assert [quantile_of(scores, rank / 500) for rank in range(1, 500)] == sorted(scores)


def test_rows_without_out_of_bag_answer_are_left_out():
    nan = np.nan
    truth = np.array([1.0, 2.0, 3.0])
    assert scores_regression(truth, np.array([2.0, nan, 1.0])).tolist() == [1.0, 2.0]
    chances = np.array([[0.25, 0.75], [nan, nan], [0.5, 0.5]])
    assert scores_classes(np.array([1, 0, 0]), chances).tolist() == [0.25, 0.5]
    assert quantile_of(scores_regression(truth, np.full(3, nan)), 0.5) == np.inf
    with pytest.raises(ValueError, match="targets, but"):
        scores_regression(truth, truth[:, None])


@few_examples
@given(seeds, st.integers(1, 6), shares)
def test_credible_sets_are_those_of_the_twin(seed, n_classes, level):
    rng = np.random.default_rng(seed)
    votes = rng.multinomial(20, rng.dirichlet(np.ones(n_classes)), 5)
    p = votes / 20  # sums of twentieths meet levels exactly
    expected = [naive.credible_set(row, level) for row in p.tolist()]
    assert credible_sets(p, level).tolist() == expected


def test_label_sets_hold_the_classes_as_probable_as_the_score_allows():
    scores = np.array([0.1, 0.2, 0.4, 0.6])
    p = np.array([[0.5, 0.4, 0.1], [0.35, 0.35, 0.3]])
    assert label_sets(p, scores, 0.8).tolist() == [[True, True, False], [False] * 3]
    assert label_sets(p, scores, 0.9).all()  # four scores are too few


@few_examples
@given(seeds, st.integers(1, 40), st.integers(1, 5))
def test_sets_and_intervals_grow_with_the_level_and_so_does_coverage(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    p, truth = rng.dirichlet(np.ones(n_classes), n), rng.integers(-1, n_classes, n)
    scores = rng.random(n).round(2)
    answer, target = rng.normal(size=(2, n))
    for make in (functools.partial(label_sets, p, scores), functools.partial(credible_sets, p)):
        sets = [make(level) for level in LEVELS]
        for smaller, larger in itertools.pairwise(sets):
            assert (smaller <= larger).all()
        assert (np.diff([set_coverage(one, truth) for one in sets]) >= 0).all()
        assert (np.diff([set_size(one) for one in sets]) >= 0).all()
    for make in (
        functools.partial(intervals, answer, scores),
        functools.partial(normal_intervals, answer, scores),
    ):
        bands = [make(level) for level in LEVELS]
        for inner, outer in itertools.pairwise(bands):
            assert ((outer.low <= inner.low) & (inner.high <= outer.high)).all()
            assert coverage(*inner, target) <= coverage(*outer, target)
            assert width(*inner) <= width(*outer)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_exchangeable_scores_are_covered_as_promised(level):
    """One of 20 continuous scores is among the k smallest of all with chance k / 20 exactly, so
    that the hits in independent trials are binomial."""
    drawn = np.random.default_rng(0).normal(size=(4000, 20)) ** 2
    hits = sum(row[0] <= quantile_of(row[1:], level) for row in drawn)
    law = stats.binom(4000, level)
    assert law.ppf(FALSE_ALARM / 2) <= hits <= law.isf(FALSE_ALARM / 2)


def test_out_of_bag_scores_cover_new_rows():
    """Both samples of 800 err: the coverage of all future rows by a sd of √(0.09 / 800), the
    measured one by as much again; 4.9 sd together, 0.073, and 0.02 for fewer trees out of bag."""
    (X, y), (rows, truth) = friedman(800, 2), friedman(800, 3)
    model = ForestRegressor(60, random_state=0).fit(X, y)
    scores = scores_regression(y, model.predict_oob(X)[0][:, 0])
    assert abs(coverage(*intervals(model.predict(rows), scores, 0.9), truth) - 0.9) < 0.073 + 0.02
    labels = np.digitize(y, [12, 17])
    model = ForestClassifier(60, random_state=0).fit(X, labels)
    scores = scores_classes(labels, model.predict_oob(X)[0])
    sets = label_sets(model.predict_proba(rows), scores, 0.9)
    assert abs(set_coverage(sets, np.digitize(truth, [12, 17])) - 0.9) < 0.073 + 0.02


def test_a_single_class_is_always_in_its_set():
    p, truth = np.ones((4, 1)), np.zeros(4, int)
    scores = scores_classes(truth, p)
    assert label_sets(p, scores, 0.5).all()
    assert credible_sets(p, 0.99).all()
    assert set_coverage(credible_sets(p, 0.99), truth) == set_size(credible_sets(p, 0.99)) == 1.0


# ---- quantiles ---------------------------------------------------------------------------------


@few_examples
@given(seeds, st.integers(1, 6), st.integers(1, 9), st.lists(shares, min_size=1, max_size=4))
def test_leaf_quantiles_are_those_of_the_twin(seed, n_trees, n_rows, levels):
    """Leaves of weight at most 18, so that no level in hundredths is missed by 1e-9 or less: what
    F and a level differ by is a fraction over 100 · 6 · lcm(1 … 18) = 7e9 at worst."""
    rng = np.random.default_rng(seed)
    train_ends = rng.integers(0, 4, (n_trees, n_rows))
    weights = rng.integers(0, 3, (n_trees, n_rows)).astype(np.uint8)
    y, ends = rng.integers(0, 5, n_rows) / 2, rng.integers(-1, 4, (n_trees, 5))
    levels = [0.0, *levels, 1.0]
    found = leaf_quantiles(Reached(train_ends), weights, y, Reached(ends), levels)
    expected = [
        [naive.leaf_quantile(train_ends, weights, y, column, level) for column in ends.T]
        for level in levels
    ]
    np.testing.assert_array_equal(found, expected)


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(0)
    train_ends, ends = rng.integers(0, 9, (20, 300)), rng.integers(0, 9, (20, 50))
    weights, y = rng.integers(0, 4, (20, 300)), rng.normal(size=300)
    whole = leaf_quantiles(Reached(train_ends), weights, y, Reached(ends), LEVELS)
    for numbers in (1, 7 * 300):
        monkeypatch.setattr(quantiles, "BLOCK_NUMBERS", numbers)
        again = leaf_quantiles(Reached(train_ends), weights, y, Reached(ends), LEVELS)
        np.testing.assert_array_equal(again, whole)


@pytest.mark.parametrize("bootstrap", [True, False])
def test_quantile_forest_finds_the_same(bootstrap):
    """With leaves weighted as in Meinshausen's paper, and the higher of two neighbours.

    For a total weight N it takes the target of rank q (N - 1) + 1, as numpy's default does. The
    inverse of F takes that of rank level · N: this is asked for by q = (level · N - 1) / (N - 1).
    Its N, the rows in all leaves of a row, differs from row to row. Levels that no F meets, so that
    rounding decides nothing.
    """
    (X, y), (rows, _) = friedman(), friedman(25, 1)
    model = RandomForestQuantileRegressor(
        20, min_samples_leaf=4, max_samples_leaf=None, bootstrap=bootstrap, max_features=3,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    train_ends, ends = model.apply(X).T, model.apply(rows).T
    weights = np.ones(train_ends.shape, int)
    if bootstrap:
        weights = forestci.calc_inbag(len(X), model).T.astype(int)
    levels = np.array([0.0713, 0.2511, 0.5003, 0.7517, 0.9291])
    found = leaf_quantiles(Reached(train_ends), weights, y, Reached(ends), levels)
    for row in range(25):
        total = (weights * (train_ends == ends[:, row, None])).sum()
        asked = (levels * total - 1) / (total - 1)
        theirs = model.predict(
            rows[[row]], asked.tolist(), interpolation="higher", weighted_leaves=True
        )
        np.testing.assert_array_equal(found[:, row], theirs[0])


def test_quantiles_of_a_forest():
    """Of forestlab's own leaves: a tree's quantiles are those of the rows in its leaf."""
    (X, y), (rows, _) = friedman(), friedman(9, 1)
    model = ForestRegressor(1, min_samples_leaf=5, bootstrap=False, random_state=0).fit(X, y)
    train_ends, found_ends = ends(model.forest_, X), ends(model.forest_, rows)
    found = leaf_quantiles(
        Reached(train_ends), np.ones_like(train_ends), y, Reached(found_ends), [0.33, 0.71]
    )
    for row, leaf in enumerate(found_ends[0]):
        held = y[train_ends[0] == leaf]
        expected = np.quantile(held, [0.33, 0.71], method="inverted_cdf")
        np.testing.assert_array_equal(found[:, row], expected)


def test_leaf_intervals_are_the_middle():
    y = np.arange(1.0, 101.0)
    one_leaf = np.zeros((1, 100), int)
    low, high = leaf_intervals(
        Reached(one_leaf), np.ones((1, 100)), y, Reached(one_leaf[:, :2]), [0.5, 0.9]
    )
    assert low.tolist() == [[25.0, 25.0], [5.0, 5.0]]
    assert high.tolist() == [[75.0, 75.0], [95.0, 95.0]]


def test_quantiles_of_a_constant_and_of_one_row():
    leaves, ones = np.array([[0, 1, 1]]), np.ones((1, 3))
    assert (
        leaf_quantiles(Reached(leaves), ones, np.full(3, 0.1), Reached(leaves), LEVELS) == 0.1
    ).all()
    assert (
        leaf_quantiles(Reached(leaves[:, :1]), ones[:, :1], [7.0], Reached(leaves[:, :1]), LEVELS)
        == 7.0
    ).all()


# ---- coverage ----------------------------------------------------------------------------------


def test_normal_intervals_are_those_of_scipy():
    mean, sd = np.array([0.0, 5.0]), np.array([1.0, 0.0])
    low, high = normal_intervals(mean, sd, 0.95)
    # scipy's and Python's inverse of the normal distribution both claim some 1e-15.
    np.testing.assert_allclose(
        [low, high], stats.norm.interval(0.95, mean, 1e-300 + sd), rtol=1e-14
    )
    assert isinstance(normal_intervals(mean, sd, 0.95), Band)


@pytest.mark.filterwarnings("error")
def test_coverage_counts_both_ends_and_leaves_nan_out():
    nan = np.nan
    low, high = np.array([0.0, 0.0, 2.0, nan, 1.0]), np.array([1.0, 1.0, 4.0, 2.0, nan])
    assert coverage(low, high, np.array([1.0, 1.5, 2.0, 1.0, 1.0])) == 2 / 3
    assert width(low, high) == 4 / 3
    assert n_known(low, high) == n_known(high, low) == 3
    assert width([-np.inf], [np.inf]) == np.inf
    empty = np.zeros(0)
    assert np.isnan([coverage(empty, empty, empty), width(empty, empty)]).all()
    assert np.isnan([set_coverage(np.zeros((0, 3), bool), empty), set_size(np.zeros((0, 3)))]).all()


def test_no_set_holds_a_class_that_training_did_not_see():
    assert set_coverage(np.ones((3, 2), bool), np.array([1, -1, 0])) == 2 / 3


@few_examples
@given(seeds, st.integers(0, 30))
def test_error_detection_is_that_of_the_twin(seed, n):
    rng = np.random.default_rng(seed)
    uncertainty, wrong = rng.integers(0, 5, n) / 4, rng.random(n) < 0.3
    found = error_detection(uncertainty, wrong)
    # Both count pairs in halves and divide once, one of them by means of a mean.
    np.testing.assert_allclose(found, naive.chance_less_sure(uncertainty, wrong), rtol=1e-14)
    if 0 < wrong.sum() < n:
        np.testing.assert_allclose(found, roc_auc_score(wrong, uncertainty), rtol=1e-12)


@few_examples
@given(seeds, st.integers(2, 30))
def test_error_ranking_is_spearman_s(seed, n):
    uncertainty, abs_error = np.random.default_rng(seed).integers(0, 6, (2, n)) / 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        expected = stats.spearmanr(uncertainty, abs_error).statistic
    found = error_ranking(uncertainty, abs_error)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)  # correlations of ±1 or 0


@pytest.mark.filterwarnings("error")
def test_errors_of_too_few_rows_tell_nothing():
    assert np.isnan(
        [error_ranking([0.1], [0.2]), error_ranking([], []), error_detection([], [])]
    ).all()
    assert error_detection([0.1, np.nan, 0.3], [0, 1, 1]) == 1.0


def test_rounding_decides_nothing():
    """0.1 + 0.2 is a little more than 0.3, and 1 - 0.7 too."""
    for scale in 1e-15, 1.0, 1e15:
        assert error_detection(scale * np.array([0.1 + 0.2, 0.3]), [1, 0]) == 0.5
        assert error_detection(scale * np.array([0.3, 0.3]), [1, 0]) == 0.5
        assert error_detection(scale * np.array([0.3, 0.6]), [1, 0]) == 0.0
    assert label_sets(np.array([[0.7, 0.3]]), np.array([0.3]), 0.5).tolist() == [[True, False]]
    # Of three answers a, b, c that add up to 0, (a - b)² and by chance a² + b² + c²: here the same.
    counts, root = np.array([[2, 0], [0, 2], [1, 1]]), np.sqrt(3)
    for scale in 1.0, -1.0, 1e9, 1e-9:
        answers = np.array([[root - 2], [1], [1 - root]])
        found = jackknife(counts, scale * answers)
        assert abs(found.corrected) < 1e-15 * scale**2 < found.raw
        assert np.isnan(found.sd)
        assert found.negative == 1.0
        assert not np.isnan(jackknife(counts, scale * np.array([[1.0], [-1.0], [0.0]])).sd)

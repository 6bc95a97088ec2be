"""Intervals and verdicts: how often they err, by simulation, and agreement with scipy.

Rates are of N_TRIALS trials with fixed seeds; they may be off by four binomial standard errors,
which one in 16,000 such rates is.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments._statistics import (
    Measured,
    apart,
    by_theory,
    certain,
    contrast,
    count,
    mean_square,
    moments,
    over_repeats,
    over_seeds,
    over_splits,
    share,
)
from experiments._verdict import Verdict, above, below, every, exactly, within
from forestlab.compare.statistics import LEVEL, Sample, overlap_of, student

N_TRIALS = 2000


def slack(rate):
    return 4.0 * np.sqrt(rate * (1.0 - rate) / N_TRIALS)


def covers(measured, truth):
    return measured.low <= truth <= measured.high


def rate(outcomes, word="held"):
    return np.mean([outcome == word for outcome in outcomes])


# ---- intervals ---------------------------------------------------------------------------------


def test_an_interval_over_seeds_is_that_of_scipy():
    values = np.random.default_rng(0).normal(0.3, 2.0, 9)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(LEVEL)
    found = over_seeds(pd.Series(values))
    # Two ways to add up nine numbers.
    assert found[:3] == pytest.approx((values.mean(), *expected), rel=1e-12)
    assert found.repeats == "9 seeds"


@pytest.mark.parametrize("n", [3, 10])
def test_an_interval_over_seeds_covers_the_mean_as_often_as_it_says(n):
    draws = np.random.default_rng(n).normal(1.0, 3.0, (N_TRIALS, n))
    found = np.mean([covers(over_seeds(values), 1.0) for values in draws])
    assert found == pytest.approx(LEVEL, abs=slack(LEVEL))


def splits(rng, n, n_test, n_splits):
    """(n_splits, n) which rows are for testing."""
    return rng.permuted(np.tile(np.arange(n) < n_test, (n_splits, 1)), axis=1)


def test_splits_that_share_test_rows():
    """Rows with a difference of their own, whatever was learnt from: the mean over the test rows of
    ten splits. Numbers of two splits then have a correlation of n_test / n, just as Nadeau and
    Bengio take it, and their interval is exact; Student's own is far too narrow."""
    rng = np.random.default_rng(0)
    n, n_test, n_splits = 60, 15, 10
    corrected, plain = [], []
    for _ in range(N_TRIALS):
        rows = rng.normal(1.0, 2.0, n)
        values = splits(rng, n, n_test, n_splits) @ rows / n_test
        corrected.append(covers(over_splits(values, overlap_of(n_test / n)), 1.0))
        plain.append(covers(over_seeds(values), 1.0))
    assert np.mean(corrected) == pytest.approx(LEVEL, abs=slack(LEVEL))
    assert np.mean(plain) < 0.75  # 0.69: of an interval that is 2.1 times too narrow


def test_splits_of_which_something_is_learnt():
    """The squared error of the training rows' mean less that of 0, over splits of normal rows; its
    expectation at so many training rows is 1 / n_train - mean². What is learnt depends on the
    rows more than the correction allows for: it is no theorem, but far better than nothing."""
    rng = np.random.default_rng(1)
    n, n_test, n_splits, mean = 60, 15, 10, 0.5
    truth = 1.0 / (n - n_test) - mean**2
    corrected, plain = [], []
    for _ in range(N_TRIALS):
        rows = rng.normal(mean, 1.0, n)
        is_test = splits(rng, n, n_test, n_splits)
        learnt = ~is_test @ rows / (n - n_test)
        losses = (rows - learnt[:, None]) ** 2 - rows**2
        values = (losses * is_test).sum(axis=1) / n_test
        corrected.append(covers(over_splits(values, overlap_of(n_test / n)), truth))
        plain.append(covers(over_seeds(values), truth))
    assert np.mean(corrected) > 0.9  # 0.91
    assert np.mean(plain) < 0.75  # 0.67


def test_the_correction_by_hand():
    """Differences 1, 2, 3 of halves: the error is sqrt(1/3 + 1); of their own rows, sqrt(1/3)."""
    quantile = 0.95 * np.sqrt(2 / (1 - 0.95**2))  # of t with 2 degrees of freedom
    found = over_splits([1.0, 2.0, 3.0], overlap_of(0.5))
    assert found.high - found.mean == pytest.approx(quantile * np.sqrt(4 / 3), rel=1e-12)
    assert found.repeats == "3 splits that share rows"
    assert over_repeats([1.0, 2.0, 3.0], overlap_of(0.5)) == found
    assert over_repeats([1.0, 2.0, 3.0], 0.0) == over_seeds([1.0, 2.0, 3.0])
    t = 2.0 / np.sqrt(4 / 3)
    assert student(np.array([1.0, 2.0, 3.0]), overlap=1.0).p == pytest.approx(
        1 - t / np.sqrt(2 + t**2), rel=1e-12
    )


def test_overlap_is_test_rows_over_training_rows():
    assert overlap_of(0.25) == pytest.approx(1 / 3, rel=1e-12)
    assert overlap_of(0.2, 0.25) == pytest.approx(20 / 60, rel=1e-12)


def test_two_groups_apart_are_those_of_scipy():
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.0, 1.0, 5), rng.normal(1.0, 4.0, 12)
    test = stats.ttest_ind(first, second, equal_var=False)
    found = apart(moments(first), moments(second))
    expected = (first.mean() - second.mean(), *test.confidence_interval(LEVEL))
    assert found[:3] == pytest.approx(expected, rel=1e-9)
    assert found.repeats == "5 and 12 seeds"


def test_two_groups_that_do_not_vary():
    first, second = Sample(3, 2.0, 0.0), Sample(4, 0.5, 0.0)
    assert apart(first, second)[:3] == (1.5, 1.5, 1.5)
    one_varies = apart(first, Sample(4, 0.5, 1.0))  # then it is Student's of the other
    assert one_varies.high - 1.5 == pytest.approx(stats.t.ppf(0.975, 3) / 2, rel=1e-9)


def test_a_contrast_covers_the_truth_as_often_as_it_says():
    """The mean of two groups less that of a third, all of different size and spread."""
    rng = np.random.default_rng(2)
    weights, means, sds, sizes = [0.5, 0.5, -1.0], [1.0, 2.0, 5.0], [1.0, 4.0, 0.5], [12, 9, 15]
    found = []
    for _ in range(N_TRIALS):
        groups = [rng.normal(*group) for group in zip(means, sds, sizes, strict=True)]
        found.append(covers(contrast(weights, [moments(each) for each in groups], ""), -3.5))
    assert np.mean(found) == pytest.approx(LEVEL, abs=slack(LEVEL))


@pytest.mark.parametrize("p", [0.02, 0.2, 0.5, 0.97])
def test_a_share_is_covered_at_least_as_often_as_the_level(p):
    """The exact interval's coverage, over all numbers of hits, not simulated."""
    n = 60
    covered = [covers(share(hits, n, "trees"), p) for hits in range(n + 1)]
    assert stats.binom.pmf(np.arange(n + 1), n, p) @ covered >= LEVEL


def test_an_interval_of_a_share_by_hand():
    """No hit in 20: the upper end has (1 - p)^20 = 0.025."""
    found = share(0, 20, "trees")
    assert found.low == 0.0
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 20), rel=1e-9)
    assert found.repeats == "20 trees"


def test_a_mean_square_covers_the_variance_as_often_as_it_says():
    draws = np.random.default_rng(0).normal(0.0, 1.0, (N_TRIALS, 12))
    found = [mean_square(values, "runs") for values in draws]
    assert np.mean([covers(each, 1.0) for each in found]) == pytest.approx(LEVEL, abs=slack(LEVEL))
    assert found[0].mean == pytest.approx(np.mean(draws[0] ** 2), rel=1e-12)


def test_what_is_known_without_repeats():
    assert by_theory(1.0, 0.5, "two sources")[:3] == pytest.approx((1.0, 0.02, 1.98), abs=1e-4)
    assert certain(3.0)[:3] == (3.0, 3.0, 3.0)


def test_a_count_goes_from_what_holds_to_what_may():
    found = count(["held", "undecided", "not held", "held"])
    assert found == Measured(2, 2, 3, "4 sets")


# ---- verdicts ----------------------------------------------------------------------------------


def outcomes(mean, n, judge):
    draws = np.random.default_rng(n).normal(mean, 1.0, (N_TRIALS, n))
    return [judge(values).outcome for values in draws]


def test_nothing_is_above_nothing_in_one_of_forty():
    found = outcomes(0.0, 8, lambda values: above("", over_seeds(values)))
    assert rate(found) == pytest.approx(0.025, abs=slack(0.025))
    assert rate(found, "not held") == pytest.approx(0.025, abs=slack(0.025))
    assert rate(found, "undecided") == pytest.approx(0.95, abs=slack(0.95))


@pytest.mark.parametrize(("effect", "n"), [(1.0, 8), (0.5, 20)])
def test_the_power_is_that_of_the_noncentral_t(effect, n):
    expected = stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, effect * np.sqrt(n))
    found = rate(outcomes(effect, n, lambda values: above("", over_seeds(values))))
    assert 0.5 < expected < 0.9
    assert found == pytest.approx(expected, abs=slack(expected))
    below_it = outcomes(-effect, n, lambda values: below("", over_seeds(values)))
    assert rate(below_it) == pytest.approx(expected, abs=slack(expected))


def test_what_differs_by_the_margin_is_equal_in_one_of_forty():
    """At most: with enough repeats one of the two tests decides alone."""
    found = outcomes(1.0, 30, lambda values: within("", over_seeds(values), 1.0, ""))
    assert rate(found) == pytest.approx(0.025, abs=slack(0.025))


def test_few_repeats_do_not_make_things_equal():
    """No difference at all, but the interval is wider than the margin: undecided, not held."""
    found = outcomes(0.0, 3, lambda values: within("", over_seeds(values), 0.5, ""))
    assert rate(found) < 0.05
    assert rate(found, "undecided") > 0.9


def test_equivalence_is_two_one_sided_tests():
    rng = np.random.default_rng(5)
    agreed = []
    for mean in rng.uniform(-1.0, 1.0, 200):
        values = rng.normal(mean, 1.0, 25)
        low = stats.ttest_1samp(values, -0.8, alternative="greater").pvalue
        high = stats.ttest_1samp(values, 0.8, alternative="less").pvalue
        verdict = within("", over_seeds(values), 0.8, "")
        agreed.append(verdict.holds == (max(low, high) < 0.025))
    assert np.all(agreed)


def test_every_claim_of_several_needs_no_correction():
    """One of three claims is false, by nothing; the others are true by far."""

    def judge(values):
        claims = [above("", over_seeds(values + more)) for more in (5.0, 0.0, 9.0)]
        return every("", claims)

    assert rate(outcomes(0.0, 8, judge)) == pytest.approx(0.025, abs=slack(0.025))


def test_every_tells_the_one_that_fails():
    good, better = (above(name, certain(x)) for name, x in (("a", 1.0), ("b", 2.0)))
    wide = above("c", Measured(9.0, -20.0, 30.0, ""))
    bad = above("d", certain(-1.0))
    assert every("all", [better, good]) == good._replace(what="all; nearest to failing: a")
    assert every("all", [better, wide, good]).outcome == "undecided"
    assert every("all", [better, wide, bad]) == bad._replace(what="all; nearest to failing: d")


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        (above("", Measured(2.0, 1.0, 3.0, "")), "held"),
        (above("", Measured(2.0, 0.0, 4.0, "")), "undecided"),
        (above("", Measured(-2.0, -3.0, -1.0, "")), "not held"),
        (above("", Measured(2.0, 1.0, 3.0, ""), 0.5), "held"),
        (above("", Measured(2.0, 1.0, 3.0, ""), 1.5), "undecided"),
        (above("", Measured(2.0, 1.0, 3.0, ""), 3.0), "not held"),
        (above("", certain(0.0)), "not held"),
        (below("", Measured(2.0, 1.0, 3.0, ""), 3.5), "held"),
        (below("", Measured(2.0, 1.0, 3.0, ""), 3.0), "undecided"),
        (below("", Measured(2.0, 1.0, 3.0, ""), 1.0), "not held"),
        (within("", Measured(0.1, -0.9, 1.0, ""), 1.0, ""), "held"),
        (within("", Measured(0.1, -0.9, 1.1, ""), 1.0, ""), "undecided"),
        (within("", Measured(2.1, 1.1, 3.1, ""), 1.0, ""), "not held"),
        (within("", Measured(-2.1, -3.1, -1.1, ""), 1.0, ""), "not held"),
        (within("", Measured(7.0, 6.5, 7.5, ""), 1.0, "", 7.0), "held"),
        (within("", Measured(2.0, -9.0, 9.0, ""), 1.0, ""), "undecided"),
        (above("", over_seeds([2.0])), "undecided"),  # one repeat has no interval
        (within("", over_seeds([]), 1.0, ""), "undecided"),
        (exactly("", 1.0, np.float64(1.0), ""), "held"),
        (exactly("", 1.0, 1.1, ""), "not held"),
        (exactly("", 1.0, 1.1, "", 0.2), "held"),
        (exactly("", 1.0, 0.7, "", 0.2), "not held"),
        (exactly("", 1.0, float("nan"), "", 9.0), "not held"),
        (exactly("", "accept", "accept", ""), "held"),
        (exactly("", "accept", "decline", ""), "not held"),
    ],
)
def test_outcomes(verdict, outcome):
    assert verdict.outcome == outcome
    assert verdict.holds is (outcome == "held")


@pytest.mark.parametrize(
    ("verdict", "expected", "found"),
    [
        (above("", Measured(0.02051, 0.01551, 0.02551, "")), "above 0", "0.0205 ± 0.0050"),
        (below("", Measured(12.5, 8.5, 13.5, ""), 0.5), "below 0.5", "12.5, 8.5 … 13.5"),
        (within("", Measured(0.3677, 0.36, 0.3754, ""), 0.005, "", 0.368), "0.368 ± 0.005",
         "0.3677 ± 0.0077"),
        (above("", certain(2.0)), "above 0", "2"),
        (above("", Measured(13, 13, 15, "17 sets"), 8.5), "above 8.5", "13, 13 … 15"),
        (exactly("", 7, 7, ""), "7", "7"),
        (exactly("", 1.0, 2.0, "", 1e-5), "1 ± 1e-05", "2"),
        (exactly("", "yes", "no", ""), "yes", "no"),
        (above("", Measured(1234.0, 1034.0, 1434.0, "")), "above 0", "1234 ± 200"),
    ],
)  # fmt: skip
def test_verdicts_in_words(verdict: Verdict, expected, found):
    assert verdict.expected_text == expected
    assert verdict.found_text == found

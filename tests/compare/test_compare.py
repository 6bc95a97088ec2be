"""Comparing logged runs: queries, variants, statistics over pairs of seeds, table and page."""

import math
import os
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from command import Logged, command, environment
from matplotlib.collections import LineCollection
from pictures import check_within, words
from scipy import stats

from forestlab.compare import __main__ as compare
from forestlab.compare import page, query, statistics, variants
from forestlab.compare import report as comparison_report
from forestlab.compare.tables import compare as tables_of
from forestlab.compare.tables import find_variant, higher_is_better
from forestlab.config import ConfigError
from forestlab.figures import interval_plot

FINISHED = "attributes.`status` = 'FINISHED'"
NAN = float("nan")


def run(model, seed, value, metric="accuracy/test", **params):
    """A run as a row; other parameters have their dots written as two underscores."""
    params = {"model__name": model, "dataset__name": "digits", "seed": seed} | params
    told = {key.replace("__", "."): str(each) for key, each in params.items()}
    return {
        "run_id": f"{model} {seed} {value}",
        "run_name": f"{model} seed={seed}",
        "start_time": 1,
        "tags.task": "regression" if metric.startswith("rmse") else "classification",
        "tags.config_hash": repr(sorted(told.items())),
        "tags.dataset_digest": told["dataset.name"],
        f"metrics.{metric}": value,
        **{f"params.{key}": text for key, text in told.items()},
    }


def frame(*rows):
    return pd.DataFrame(list(rows))


def only(tables):
    (table,) = tables
    return table


# ---- queries -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("model = forest", "params.`model.name` = 'forest'"),
        ("model.name='forest'", "params.`model.name` = 'forest'"),
        ("`model.name` = 'forest'", "params.`model.name` = 'forest'"),
        ("params.`model.name` = 'forest'", "params.`model.name` = 'forest'"),
        ('param."model.name" = "it\'s"', 'params.`model.name` = "it\'s"'),
        ("dataset.name = 'digits'", "params.`dataset.name` = 'digits'"),
        ("dataset.digest = abc", "datasets.`digest` = 'abc'"),
        ("criterion != gini", "params.`criterion.name` != 'gini'"),
        ("task = regression", "tags.`task` = 'regression'"),
        ("tags.oob = yes", "tags.`oob` = 'yes'"),
        ("max_depth = 5", "params.`max_depth` = '5'"),
        ("max_depth = null", "params.`max_depth` = 'None'"),
        ("max_depth = 'None'", "params.`max_depth` = 'None'"),
        ("model.bootstrap = true", "params.`model.bootstrap` = 'True'"),
        ("dataset.label_noise = 0", "params.`dataset.label_noise` = '0.0'"),
        ("model.max_features = 1", "params.`model.max_features` = '1'"),
        ("dataset.drop = [a,b]", "params.`dataset.drop` = \"['a', 'b']\""),
        ("dataset.path = /a/b.csv", "params.`dataset.path` = '/a/b.csv'"),
        ("accuracy/test>0.9", "metrics.`accuracy/test` > 0.9"),
        ("metrics.`r2/test` >= -1E+20", "metrics.`r2/test` >= -1e20"),
        ("run_name LIKE 'a and b%'", "attributes.`run_name` LIKE 'a and b%'"),
        ("run_id in ('a', 'b')", "attributes.`run_id` IN ('a', 'b')"),
        ("model.rho is  not null", "params.`model.rho` IS NOT NULL"),
        (
            "model = tree AND seed = 1 and\n`max_depth` IS NULL",
            "params.`model.name` = 'tree' and params.`seed` = '1' and params.`max_depth` IS NULL",
        ),
    ],
)
def test_a_query_becomes_what_mlflow_wants(asked, wanted):
    assert query.parse(asked) == query.Query(f"{wanted} and {FINISHED}", [], None)


def test_without_a_word_on_status_runs_are_finished():
    assert query.parse(" ").filter == FINISHED
    assert query.parse("status = 'FAILED'").filter == "attributes.`status` = 'FAILED'"
    assert FINISHED in query.parse("tags.status = 'x'").filter


def test_what_mlflow_cannot_ask_is_checked_afterwards():
    asked = query.parse("seed < 3 and params.max_depth >= '2.5' and model in (tree, 'a b')")
    assert asked.filter == FINISHED
    assert asked.checks == [
        ("params.seed", "<", 3.0),
        ("params.max_depth", ">=", 2.5),
        ("params.model.name", "IN", ["tree", "a b"]),
    ]
    assert query.parse("max_depth not in (1, null)").checks[0].value == ["1", "None"]


def test_parent_is_left_to_who_asks():
    asked = query.parse("parent = 'model=tree,forest and more' and seed = 1")
    assert asked.parent == "model=tree,forest and more"
    assert asked.filter == f"params.`seed` = '1' and {FINISHED}"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("seed", "not understood at 'seed': a query is KEY OPERATOR VALUE"),
        ("admin", "not understood at 'admin'"),  # which ends in an operator
        ("seed == 1", "operators are = != <"),
        ("seed = 1 and", "not understood at its end"),
        ("(seed = 1)", "not understood at '(seed = 1)'"),
        ("seed = 1 or seed = 2", "there is no `or`"),
        ("run_name = two words", "quotes around a text with spaces"),
        ("rho = 3", "did you mean model.rho?"),
        ("modle = tree", "did you mean model?"),
        ("nonsense = 3", "a key is one of the configuration"),
        ("dataset.nonsense = 3", "'dataset.nonsense' cannot be asked for"),
        ("max_depth = deep", "could not be converted to Integer"),
        ("seed < few", "seed < wants a number; got few"),
        ("accuracy/test > 'high'", "wants a number"),
        ("model in tree", "wants a list, as in (tree, …)"),
        ("parent != 'a'", "parent is asked for once, and with `=`"),
        ("parent = a and parent = b", "parent is asked for once"),
    ],
)
def test_a_mistake_in_a_query_is_one_sentence(asked, told):
    with pytest.raises(ConfigError) as caught:
        query.parse(asked)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_are_compared_as_numbers():
    runs = pd.DataFrame({"params.max_depth": ["9", "10", "None", None, "2.5"]})

    def kept(asked):
        return query.narrow(runs, query.parse(asked).checks).index.tolist()

    assert kept("max_depth < 10") == [0, 4]
    assert kept("max_depth >= 9") == [0, 1]
    assert kept("max_depth in (9, null)") == [0, 2]
    assert kept("max_depth not in (9, null)") == [1, 4]
    assert kept("seed < 3") == []


def test_a_sweep_is_found_by_its_name_or_id_or_its_beginning():
    names = {"a1": "seed=0,1", "b2": "seed=0,1", "b3": "model=tree", "c4": "model=rno"}
    assert compare.sweep_ids(names, "seed=0,1") == ["a1", "b2"]  # resumed
    assert compare.sweep_ids(names, "b3") == ["b3"]
    assert compare.sweep_ids(names, "c") == ["c4"]
    assert compare.sweep_ids(names, "model=t") == ["b3"]
    with pytest.raises(ConfigError, match="several sweeps begin with 'model': model=rno; model="):
        compare.sweep_ids(names, "model")
    with pytest.raises(LookupError, match="no sweep"):
        compare.sweep_ids(names, "x")


# ---- variants ----------------------------------------------------------------------------------


def test_repeats_count_once_and_the_newest_counts():
    runs = frame(*[run("tree", 0, value) for value in (0.1, 0.2, 0.3)], run("tree", 1, 0.4))
    runs["start_time"] = [1, 3, 2, 0]
    assert sorted(variants.newest(runs)["metrics.accuracy/test"]) == [0.2, 0.4]
    other_data = runs.assign(**{"tags.dataset_digest": ["a", "b", "b", "b"]})
    assert sorted(variants.newest(other_data)["metrics.accuracy/test"]) == [0.1, 0.2, 0.4]
    unknown = runs.assign(**{"tags.config_hash": None})
    assert len(variants.newest(unknown)) == 4


def test_a_run_with_another_default_is_no_repeat():
    """Options at their default are not part of config_hash."""
    runs = frame(
        run("tree", 0, 0.1, dataset__valid_size=0.25, n_jobs=1),
        run("tree", 0, 0.2, dataset__valid_size=0.2, n_jobs=1),
        run("tree", 0, 0.3, dataset__valid_size=0.2, n_jobs=2),  # threads change no number
    ).assign(**{"tags.config_hash": "same", "start_time": [1, 2, 3]})
    assert sorted(variants.newest(runs)["metrics.accuracy/test"]) == [0.1, 0.3]


def test_what_follows_from_the_model_does_not_name_a_variant():
    runs = frame(
        run("tree", 0, 0.5, model__bootstrap=False, n_estimators=1, n_jobs=1),
        run("forest", 1, 0.6, model__bootstrap=True, n_estimators=5, n_jobs=2, study__name="off"),
    )
    differ = variants.differing(runs)
    assert differ == ["params.model.name", "params.n_estimators", "params.model.bootstrap"]
    assert variants.needed(runs, differ) == ["params.model.name"]
    more = pd.concat([runs, frame(run("forest", 0, 0.7, model__bootstrap=True, n_estimators=9))])
    kept = variants.needed(more, variants.differing(more))
    assert kept == ["params.model.name", "params.n_estimators"]  # the latter would do
    assert variants.labels(more, kept).tolist() == [
        "tree n_estimators=1",
        "forest n_estimators=5",
        "forest n_estimators=9",
    ]


def test_a_parameter_that_came_later_had_its_default():
    old, new = run("tree", 0, 0.5), run("tree", 1, 0.5, model__combine="average")
    table = only(tables_of(frame(old, new)))
    assert list(table.summary.index) == ["tree"]
    assert table.summary.loc["tree", "seeds"] == 2


def test_scores_have_a_row_a_seed_and_a_column_a_variant():
    runs = frame(run("tree", 10, 0.1), run("tree", 9, 0.2), run("rno", 9, 0.3))
    table = variants.score_table(runs, "accuracy/test", ["params.model.name"])
    assert table.columns.tolist() == ["rno", "tree"]
    assert table.index.tolist() == ["seed=9", "seed=10"]
    np.testing.assert_array_equal(table.to_numpy(), [[0.3, 0.2], [NAN, 0.1]])


def test_the_same_seed_on_another_split_or_other_data_is_no_pair():
    runs = frame(
        run("tree", 0, 0.1, dataset__split_seed=1),
        run("rno", 0, 0.3, dataset__split_seed=2),
        run("rno", 0, 0.5, dataset__split_seed=1),
        run("rno", 0, 0.7, dataset__split_seed=1, dataset__name="iris"),
    )
    table = variants.score_table(runs, "accuracy/test", ["params.model.name"])
    assert table.dropna().index.tolist() == ["digits split_seed=1"]
    assert len(table) == 3
    changed = runs.iloc[[0, 2]].assign(**{"tags.dataset_digest": ["old", "new"]})
    table = variants.score_table(changed, "accuracy/test", ["params.model.name"])
    assert table.dropna().empty


def test_variants_of_the_data_are_paired_by_seed():
    runs = frame(
        *[run("tree", seed, seed / 10, dataset__n_samples=100) for seed in range(3)],
        *[run("tree", seed, seed / 5, dataset__n_samples=200) for seed in range(3)],
    )
    runs["tags.dataset_digest"] = ["a"] * 3 + ["b"] * 3
    table = only(tables_of(runs))
    assert table.summary.loc["n_samples=100", "pairs"] == 3


# ---- statistics --------------------------------------------------------------------------------


def test_paired_differences_by_hand():
    """Differences 1, 2, 3: mean 2, deviation 1, t = 2√3; Student's t of 2 degrees has a formula."""
    scores = pd.DataFrame({"a": [1.0, 1.0, 4.0], "b": [2.0, 3.0, 7.0]})
    row = variants.summarise(scores, "a", higher=False, level=0.95).loc["b"]
    t = 2 * math.sqrt(3)
    quantile = 0.95 * math.sqrt(2 / (1 - 0.95**2))
    assert row["difference"] == 2
    assert row["pairs"] == 3
    assert row["p"] == pytest.approx(1 - t / math.sqrt(2 + t**2), rel=1e-12)
    assert row["difference_high"] - 2 == pytest.approx(quantile / math.sqrt(3), rel=1e-12)
    assert 2 - row["difference_low"] == pytest.approx(quantile / math.sqrt(3), rel=1e-12)
    assert row["std"] == pytest.approx(math.sqrt((2**2 + 1 + 3**2) / 2))


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_the_paired_test_is_that_of_scipy(level):
    rng = np.random.default_rng(3)
    scores = pd.DataFrame(rng.normal(0.9, 0.02, (9, 4)), columns=list("abcd"))
    scores.iloc[2, 1] = scores.iloc[5, 0] = NAN
    summary = variants.summarise(scores, "b", higher=True, level=level)
    assert summary["mean"].is_monotonic_decreasing
    for name in "acd":
        both = scores[[name, "b"]].dropna()
        test = stats.ttest_rel(both[name], both["b"])
        low, high = test.confidence_interval(level)
        row = summary.loc[name]
        assert row["pairs"] == len(both)
        # Two ways to add up some ten numbers.
        np.testing.assert_allclose(
            row[["p", "difference_low", "difference_high"]].astype(float),
            [test.pvalue, low, high],
            rtol=1e-9,
        )
        own = scores[name].dropna()
        interval = stats.t.interval(level, len(own) - 1, own.mean(), stats.sem(own))
        np.testing.assert_allclose(row[["low", "high"]].astype(float), interval, rtol=1e-9)
    assert summary.loc["b", ["difference", "p", "p_holm"]].isna().all()


def test_few_numbers_have_no_interval():
    scores = pd.DataFrame(
        {"a": [0.5, NAN, 0.7], "b": [NAN, 0.2, 0.1], "c": [NAN, 0.3, NAN]}, ["s0", "s1", "s2"]
    )
    summary = variants.summarise(scores, "a", higher=True)
    assert summary.index.tolist() == ["a", "c", "b"]
    assert summary["seeds"].tolist() == [2, 1, 2]
    assert summary["pairs"].tolist() == [0, 0, 1]
    assert summary.loc["b", "difference"] == pytest.approx(-0.6)
    assert np.isnan(summary.loc["c", "difference"])
    assert summary.loc[["b", "c"], ["difference_low", "difference_high", "p"]].isna().all(axis=None)
    assert summary.loc["c", ["std", "low", "high"]].isna().all()
    assert variants.unpaired(scores, "a") == {
        "b": (["s1"], ["s0"]),
        "c": (["s1"], ["s0", "s2"]),
    }


def test_differences_that_do_not_vary_are_not_tested():
    """Three times 0.1 has a mean of 0.10000000000000002: rounding is no spread."""
    scores = pd.DataFrame({"a": [0.1] * 3, "b": [0.3] * 3, "c": [0.1] * 3})
    summary = variants.summarise(scores, "a", higher=True)
    assert (summary["std"] == 0).all()
    assert summary["p"].isna().all()
    assert summary.loc["b", "difference_low"] == summary.loc["b", "difference_high"]
    assert summary.loc["c", "difference"] == 0


def test_holm_by_hand():
    corrected = statistics.holm(np.array([0.04, NAN, 0.01, 0.03, 0.9]))
    np.testing.assert_allclose(corrected, [0.09, NAN, 0.04, 0.09, 0.9])
    np.testing.assert_allclose(statistics.holm(np.array([0.6, 0.7])), [1.0, 1.0])
    assert statistics.holm(np.array([0.2])).tolist() == [0.2]


SHARES = {"dataset__test_size": 0.25, "dataset__valid_size": 0.25}
TOO_NARROW = "splits of one data set share rows: over split_seed the intervals are too narrow"


def of_splits(*names, digests=None):
    """Runs of two models over three splits of each data set."""
    values = {"tree": (0.5, 0.6, 0.8), "rno": (0.7, 0.7, 0.9)}
    rows = [
        run(model, 0, values[model][k], dataset__split_seed=k, dataset__name=name, **SHARES)
        for name in names
        for model in values
        for k in range(3)
    ]
    runs = frame(*rows)
    return runs.assign(**{"tags.dataset_digest": digests}) if digests else runs


def test_splits_of_one_data_set_share_rows():
    table = only(tables_of(of_splits("digits")))
    assert table.overlap == pytest.approx(0.25 / 0.5625)
    row = table.summary.loc["tree"]
    expected = statistics.student(np.array([-0.2, -0.1, -0.1]), overlap=table.overlap)
    found = row[["difference", "difference_low", "difference_high", "p"]].astype(float)
    wanted = [expected.mean, expected.low, expected.high, expected.p]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    own = statistics.student(np.array([0.5, 0.6, 0.8]), overlap=table.overlap)
    np.testing.assert_allclose(row[["low", "high"]].astype(float), own[3:5], rtol=1e-9)
    assert "by the share of test to training rows, 0.44" in " ".join(
        comparison_report.text(table).split()
    )
    assert comparison_report._cautions(table) == []


def test_splits_that_each_have_rows_of_their_own_do_not():
    table = only(tables_of(of_splits("digits", digests=["a", "b", "c"] * 2)))
    assert table.overlap == 0.0
    assert "share rows" not in comparison_report.text(table)
    assert comparison_report._cautions(table) == []


def test_splits_of_several_sets_in_one_table_are_cautioned_of():
    """One number cannot correct what two data sets share, each in its own splits."""
    table = only(tables_of(of_splits("digits", "iris"), by=["model"]))
    assert table.overlap == 0.0
    assert comparison_report._cautions(table) == [TOO_NARROW]


def test_splits_of_unknown_size_are_cautioned_of():
    runs = of_splits("digits").drop(columns="params.dataset.test_size")
    table = only(tables_of(runs))
    assert table.overlap == 0.0
    assert comparison_report._cautions(table) == [TOO_NARROW]


# ---- tables ------------------------------------------------------------------------------------


def test_a_table_for_each_task_and_data_set():
    runs = frame(
        *[run(model, seed, 0.5) for model in ("tree", "rno") for seed in (0, 1)],
        *[run("tree", seed, 0.6, dataset__name="iris") for seed in (0, 1)],
        run("tree", 0, 3.0, "rmse/test", dataset__name="boston"),
    )
    digits, iris, boston = tables_of(runs)
    assert (digits.dataset, iris.dataset, boston.dataset) == ("digits", "iris", "boston")
    assert (digits.metric, boston.metric) == ("accuracy/test", "rmse/test")
    assert sorted(digits.summary.index) == ["rno", "tree"]
    assert not boston.higher
    classes, numbers = tables_of(runs, by=["model"])
    assert classes.dataset == "digits, iris"
    assert classes.scores.shape == (4, 2)
    assert numbers.dataset == "boston"


def test_what_differs_within_a_variant_is_averaged_and_told():
    runs = frame(
        *[run("tree", 0, value, max_depth=depth) for depth, value in ((1, 0.2), (9, 0.4))],
        run("rno", 0, 0.5, max_depth=9),
    )
    table = only(tables_of(runs, by=["model.name"]))
    assert table.summary["mean"].to_dict() == {"rno": 0.5, "tree": pytest.approx(0.3)}
    assert "each number is a mean over runs that differ in max_depth" in table.notes


def test_the_baseline_is_the_best_or_what_is_asked_for():
    runs = frame(*[run("tree", 0, d / 10, max_depth=d) for d in (1, 2)], run("rno", 0, 0.5))
    assert only(tables_of(runs)).baseline == "rno max_depth=None"
    table = only(tables_of(runs, baseline="max_depth=1"))
    assert (table.baseline, table.is_given) == ("tree max_depth=1", True)
    with pytest.raises(ConfigError, match="'tree' fits several variants: tree max_depth=1; tree"):
        tables_of(runs, baseline="tree")
    with pytest.raises(ConfigError, match="'forest' is none of the variants: rno max_depth=None;"):
        tables_of(runs, baseline="forest")
    assert find_variant(["a b", "a"], "a") == "a"
    names = ["tree iris rho=1", "tree iris rho=2", "rno iris rho=1"]
    assert find_variant(names, "model.rho=1 model=rno") == "rno iris rho=1"
    assert find_variant(names, "dataset.name=iris rho=2") == "tree iris rho=2"
    lower = frame(*[run(m, 0, v, "rmse/test") for m, v in (("tree", 2.0), ("rno", 1.0))])
    assert only(tables_of(lower)).baseline == "rno"


def test_notes_tell_what_the_numbers_do_not():
    runs = frame(
        *[run("tree", seed, 0.5) for seed in (0, 1, 3)],
        *[run("rno", seed, value) for seed, value in ((0, 0.55), (1, 0.49), (2, 0.6))],
        run("rno", 7, NAN),
        run("tree", 0, 0.5) | {"start_time": 0},
    )
    runs["tags.result_version"] = ["old"] + ["new"] * 7
    table = only(tables_of(runs))
    assert table.notes == [
        "0 lies within the interval of the difference: tree",
        "the same with every seed: tree",
        "not paired: seed=3 only in tree; seed=2 only in rno",
        "the runs come from several versions of the code (tag result_version)",
        "left out: 1 run of the same configuration and data as a newer one",
        "left out: 1 run without the metric",
    ]


def test_a_metric_or_key_that_no_run_has_is_told():
    runs = frame(run("tree", 0, 0.5))
    with pytest.raises(ConfigError, match="no run has accuracy/tset: did you mean accuracy/test"):
        tables_of(runs, metric="accuracy/tset")
    with pytest.raises(ConfigError, match="there are accuracy/test"):
        tables_of(runs, metric="zzz")
    with pytest.raises(ConfigError, match="no parameter 'sed': did you mean seed"):
        tables_of(runs, by=["sed"])


@pytest.mark.parametrize(
    ("metric", "higher"),
    [
        ("accuracy/test", True),
        ("summary/chosen_balanced_accuracy_test", True),
        ("summary/chosen_log_loss_test", False),
        ("r2/oob", True),
        ("rmse/valid", False),
        ("by_trees/oob_error", False),
        ("by_trees/r2/test", True),
        ("by_leaves/accuracy/test", True),
        ("summary/by_alpha_rmse_test_chosen", False),
        ("by_gain/n_leaves", False),
        ("strength/oob", True),
        ("strength_plain/oob", True),
        ("bias2/draws", False),
        ("summary/seconds_fit", False),
        ("resolution/test_average", True),
        ("summary/detection_spread", True),
        ("by_class/recall_test", True),
        ("summary/chosen_auc_test", True),
        ("summary/chosen_f1_test", True),
        ("summary/by_split_size_accuracy_test_chosen", True),
        ("summary/by_gain_n_leaves_chosen", False),
        ("by_target/Weight/r2/test", True),
        ("by_target/Weight/rmse/test", False),
        ("by_target/r2/rmse/test", False),
    ],
)
def test_which_values_are_the_better_ones(metric, higher):
    assert higher_is_better(metric) == higher


@pytest.mark.parametrize(
    "metric",
    [
        "coverage/jackknife",
        "by_trees/oob_voters",
        "by_target/a/coverage/conformal",
        "by_alpha/value",
        "brier_of_data/test_average",
        "summary/pruning_alpha",
        "summary/by_leaves_chosen",
    ],
)
def test_more_of_some_is_neither_better_nor_worse(metric):
    with pytest.raises(ConfigError, match="more of it is neither better nor worse"):
        higher_is_better(metric)


# ---- text and page -----------------------------------------------------------------------------

TRICKY = "<script>alert('a & b')</script> $x$"


@pytest.fixture(scope="module")
def tricky():
    """A table whose names are HTML."""
    names = (TRICKY, "b")
    rows = [run(m, s, 0.5 + 0.1 * s + 0.01 * len(m)) for m in names for s in range(3)]
    return only(tables_of(frame(*rows)))


def test_a_single_run_is_a_table_without_differences():
    told = comparison_report.text(only(tables_of(frame(run("tree", 0, 0.5)))))
    assert told.splitlines() == [
        "accuracy/test on digits: higher is better; 1 run, 1 variant",
        "",
        "variant  seeds    mean  ±95%  sd",
        "tree         1  0.5000",
    ]


def test_the_text_is_neat():
    rows = [
        run("forest", seed, 0.9 + seed / 100, model__max_features="sqrt" * k, max_depth=5)
        for seed in range(3)
        for k in (1, 40)
    ]
    told = comparison_report.text(only(tables_of(frame(*rows)))).splitlines()
    assert max(map(len, told)) <= 120
    head, first, second = told[2:5]
    assert head.split() == ["variant", "seeds", "mean", "±95%", "sd", "difference", "±95%", "p"]
    assert "…" in second or "…" in first
    assert first.index("baseline") + len("baseline") == head.index("difference") + len("difference")


def test_an_interval_ends_where_its_metric_does():
    """Student's goes beyond 1, or below 0; halves and tables to reckon with stay as they are."""
    shown = {}
    for metric, values in (("accuracy/test", (0.9, 1.0)), ("rmse/test", (0.1, 2.0))):
        rows = [run(model, seed, v, metric) for model in "ab" for seed, v in enumerate(values)]
        table = only(tables_of(frame(*rows)))
        written, summary = comparison_report.letters(table), table.summary
        assert (float(written["low"].iloc[0]), float(written["high"].iloc[0])) != (0.0, 1.0)
        shown[metric] = written["low"].iloc[0], written["high"].iloc[0]
        half = summary["high"] - summary["mean"]
        np.testing.assert_allclose(written["half"].astype(float), half, atol=1e-3)
        assert summary["low"].iloc[0] < 0.5 * min(values)
    assert float(shown["accuracy/test"][1]) == 1.0
    assert float(shown["rmse/test"][0]) == 0.0
    assert float(shown["rmse/test"][1]) > 2.0


def test_pairs_are_told_only_where_they_are_not_the_seeds():
    every = [run(model, seed, 0.5 + seed / 10) for model in "ab" for seed in range(3)]
    for rows, is_told in ((every, False), (every[:-1], False), (every[1:], True)):
        told = comparison_report._summary(only(tables_of(frame(*rows))))
        assert (">pairs<" in told) == is_told


class Reader(HTMLParser):
    """Notes texts and addresses, and that every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.addresses, self.n_tables = [], [], [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.n_tables += tag == "table"
        self.addresses += [value for key, value in attrs if key in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_a_page_stands_alone_and_escapes_all_names(tricky, monkeypatch):
    from forestlab import tracking

    monkeypatch.setattr(tracking, "curve", lambda store, run_id, metric: np.array([0.1, 0.4, 0.5]))
    store = tracking.Store(None, "postgresql://me:secret@host/a&b<c>", "1")
    written = comparison_report.report([tricky], store, f"model = '{TRICKY}'", "x<y")
    reader = Reader(written)
    assert reader.open == []
    assert "<script" not in written.lower()
    assert f"model = '{TRICKY}'" in reader.texts
    assert TRICKY in reader.texts
    assert "postgresql://host/a&b<c>" in reader.texts
    assert "secret" not in written
    assert "http:" not in written
    assert "https:" not in written
    assert len(reader.addresses) == 2
    assert all(address.startswith("data:image/png;base64,") for address in reader.addresses)


def test_curves_of_seeds_go_on_with_their_last_value(tricky, monkeypatch):
    from forestlab import tracking

    lengths = {run_id: n for n, run_id in enumerate(tricky.runs["run_id"], 1)}
    monkeypatch.setattr(
        tracking, "curve", lambda store, run_id, metric: np.arange(lengths[run_id]) * 1.0
    )
    curves = comparison_report.seed_curves(tricky, None)
    ids = tricky.runs.loc[tricky.runs["variant"] == "b", "run_id"]
    longest = max(lengths[run_id] for run_id in ids)
    assert curves["b"].shape == (3, longest)
    for row, run_id in zip(curves["b"], ids, strict=True):
        assert row.tolist() == [min(depth, lengths[run_id] - 1) for depth in range(longest)]


def test_a_table_of_a_page_has_numbers_to_the_right():
    told = page.table(pd.DataFrame({"a<b": ["x&y", None], "n": [1.23456789, NAN]}))
    assert '<th>a&lt;b</th><th class="right">n</th>' in told
    assert '<td>x&amp;y</td><td class="right">1.235</td>' in told
    assert '<td></td><td class="right"></td>' in told


def test_nothing_that_a_person_made_is_overwritten(tmp_path):
    own, other = tmp_path / "own.html", tmp_path / "other.html"
    page.write(own, page.render("page.html", title="one"))
    page.write(own, page.render("page.html", title="two"))
    assert "<h1>two</h1>" in own.read_text()
    other.write_text("dear diary")
    with pytest.raises(ConfigError, match="was not made by forestlab"):
        page.write(other, page.render("page.html", title="two"))
    assert other.read_text() == "dear diary"
    with pytest.raises(ConfigError, match="cannot be written"):
        page.write(tmp_path, "")
    with pytest.raises(ConfigError, match="there is no folder"):
        page.write(tmp_path / "none" / "page.html", "")
    assert sorted(os.listdir(tmp_path)) == ["other.html", "own.html"]


# ---- the picture -------------------------------------------------------------------------------


def test_intervals_are_drawn_where_they_are():
    names = ["forest max_depth=3", TRICKY, "alone"]
    middle, low, high = [-0.2, 0.1, 0.3], [-0.3, -0.1, NAN], [-0.1, 0.3, NAN]
    figure = interval_plot(names, middle, low, high, "difference", "Title $x$", "a note")
    (ax,) = figure.axes
    drawn = {
        tuple(segment[0]): tuple(segment[1])
        for lines in ax.collections
        if isinstance(lines, LineCollection)
        for segment in lines.get_segments()
        if len(segment)  # NaN gives none
    }
    assert drawn[(-0.3, 0)] == (-0.1, 0)
    assert drawn[(-0.1, 1)] == (0.3, 1)
    apart, undecided = ax.lines[:2]
    assert (apart.get_xdata().tolist(), apart.get_ydata().tolist()) == ([-0.2], [0])
    assert undecided.get_xdata().tolist() == [0.1, 0.3]
    assert apart.get_markerfacecolor() != undecided.get_markerfacecolor() == "white"
    assert any(written.strings == names for written in words(ax))
    low_limit, high_limit = ax.get_xlim()
    assert low_limit < -0.3 < 0.3 < high_limit


@pytest.mark.parametrize("n", [1, 12])
def test_nothing_of_the_intervals_is_cut_off(n):
    names = [f"a very long name of a variant that goes on, {k} " * 2 for k in range(n)]
    values = np.linspace(-1e-3, 2e-3, n) if n > 1 else np.zeros(1)
    figure = interval_plot(names, values, values - 1e-3, values + 1e-3, "difference", "Title", "x")
    figure.canvas.draw()
    check_within(figure)


# ---- the command -------------------------------------------------------------------------------

SWEEP = ["model=tree,forest", "seed=0,1,2", "dataset=iris", "n_estimators=5"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    done = command(*SWEEP, "-m", "tracking.pictures=false", "tracking.model=false", home=home)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture
def at_home(home, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(home))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return Logged(home)


def test_the_command_compares_what_is_logged(at_home, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    files = ["--html", "report.html", "--csv", "table.csv"]
    asked = f"parent = '{' '.join(SWEEP)}'"
    assert compare.main([asked, *files, "--baseline", "tree"]) == 0
    told = capsys.readouterr().out
    values = {
        model: [
            run.data.metrics["accuracy/test"]
            for run in at_home.runs(f"tags.model = '{model}' and tags.task = 'classification'")
        ]
        for model in ("tree", "forest")
    }
    assert told.startswith("accuracy/test on iris: higher is better; 6 runs, 2 variants")
    lines = {line.split()[0]: line.split() for line in told.splitlines() if line}
    for model in ("tree", "forest"):
        assert lines[model][1:3] == ["3", f"{np.mean(values[model]):.4f}"]
    test = stats.ttest_rel(values["forest"], values["tree"])
    assert lines["forest"][-1] == f"{test.pvalue:.3f}"
    assert told.endswith("written: table.csv, report.html\n")

    table = pd.read_csv(tmp_path / "table.csv").set_index("variant")
    assert table.loc["forest", "mean"] == pytest.approx(np.mean(values["forest"]), abs=1e-12)
    assert table.loc["forest", "p"] == pytest.approx(test.pvalue, rel=1e-9)
    written = (tmp_path / "report.html").read_text()
    reader = Reader(written)
    assert len(reader.addresses) == 2
    assert "http" not in written
    assert {run.info.run_id for run in at_home.runs("tags.task = 'classification'")} <= set(
        reader.texts
    )
    assert sorted(os.listdir(tmp_path)) == ["report.html", "table.csv"]


@pytest.mark.parametrize(
    ("asked", "n_runs"),
    [
        ("", 6),
        ("model = forest and dataset.name = 'iris' and seed < 2", 2),
        ("model in (tree) and n_estimators = 1 and max_depth = null", 3),
        ("params.`model.name` = 'tree' and metrics.`accuracy/test` > 0.5 and tags.oob = none", 3),
        ("accuracy/test > -1e-3 and model.rho = null and run_name like 'forest iris%'", 3),
        ("parent = 'model=tree,f' and seed = 2", 2),
        ("tags.kind is null and task = classification and start_time > 1", 6),
    ],
)
def test_queries_find_their_runs(at_home, capsys, asked, n_runs):
    assert compare.main([asked]) == 0
    assert f"; {n_runs} runs, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["model = rno"], 1, "no run fits the query 'model = rno' in sqlite:///"),
        (["parent = nobody"], 1, "no sweep has a name or an id that is or begins with 'nobody'"),
        (["modle = rno"], 2, "error: 'modle' cannot be asked for: did you mean model?"),
        (["tags.x < 'b'"], 2, "error: x < wants a number"),
        (["user_id < 3"], 2, "error: MLflow does not take the query: "),
        (["--metric", "rmse/test"], 2, "error: --metric: no run has rmse/test"),
        (["--by", "x"], 2, "error: --by: the runs have no parameter 'x'"),
        (["--baseline", "x"], 2, "error: --baseline 'x' is none of the variants: "),
        (["--level", "95"], 2, "error: --level must be between 0 and 1, as in 0.95; got 95."),
        (["--experiment", "x"], 2, "error: there is no experiment 'x' in "),
        (["--uri", "x"], 2, "error: tracking.uri must begin with one of"),
    ],
)
def test_a_mistake_is_one_line(at_home, capsys, arguments, code, told):
    assert compare.main(arguments) == code
    captured = capsys.readouterr()
    assert captured.err.startswith(told)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_module_is_a_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "forestlab.compare", "seed"],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: the query is not understood at 'seed'")


def test_a_store_that_is_not_there_is_not_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert compare.main([]) == 2
    assert "nothing is logged at" in capsys.readouterr().err
    other = tmp_path / "other.db"
    other.write_bytes(b"")
    assert compare.main(["--uri", f"sqlite:///{other}"]) == 2
    assert "is not a store of MLflow" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["other.db"]
    assert other.stat().st_size == 0


def test_a_file_in_the_way_is_told_before_anything_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path / "none"))
    mine = tmp_path / "mine"
    mine.write_text("variant,mean\n")
    for option in ("--html", "--csv"):
        assert compare.main([option, str(mine)]) == 2
        assert "was not made by forestlab" in capsys.readouterr().err
    assert mine.read_text() == "variant,mean\n"

"""Baselines: the rules on made-up runs, the commands on a real store, forestlab's own baselines.

The real store is that of the check of tests/baselines/fast.json, which is itself a test.
"""

import json
import logging
import math
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command import ROOT, environment
from hypothesis import given
from hypothesis import strategies as st

from forestlab import config as configs
from forestlab.baseline import file, groups, rules, runs, tables
from forestlab.baseline.__main__ import main
from forestlab.baseline.diff import curve_lines, parting
from forestlab.baseline.groups import USUAL, Baseline, Group, Logged
from forestlab.baseline.record import make
from forestlab.baseline.rules import EXACT, TOLD, Row
from forestlab.config import SEEDS, ConfigError
from forestlab.tracking import provenance

HERE = dict.fromkeys(TOLD, "here")
SHIPPED = ROOT / "tests/baselines"


def made_up(config=None, seed=0, environment=HERE, name="run", **metrics):
    seeds = dict.fromkeys(SEEDS, 0) | {"seed": seed}
    plain = {"dataset.name": "iris", "model.name": "forest"}
    return Logged(name, plain | (config or {}) | seeds, dict(environment), "digest", metrics)


def recorded(*values, metric="accuracy/test"):
    """A group of one run a value."""
    seeds = [dict.fromkeys(SEEDS, 0) | {"seed": i} for i in range(len(values))]
    config = {"dataset.name": "iris", "model.name": "forest"}
    return Group(config, seeds, ["digest"] * len(values), {metric: list(values)})


# ---- grouping ----------------------------------------------------------------------------------

configs_of_runs = st.fixed_dictionaries(
    {
        "dataset.name": st.sampled_from(["iris", "wine"]),
        "model.name": st.sampled_from(["tree", "forest"]),
        "seed": st.integers(0, 2),
        "dataset.split_seed": st.integers(0, 1),
        "dataset.data_seed": st.just(0),
    },
    optional={"model.max_features": st.sampled_from([1, 1.0, "sqrt"])},
)


def without_seeds(config):
    # As text, since 1, a feature, and 1.0, all of them, are equal in Python.
    return {key: repr(value) for key, value in config.items() if key not in SEEDS}


@given(st.lists(configs_of_runs, max_size=12), st.randoms())
def test_groups_are_of_runs_that_differ_in_seeds_alone(all_configs, random):
    every = [Logged(str(k), config, {}, str(k), {"a": float(k)}) for k, config in
             enumerate(all_configs)]  # fmt: skip
    kept = groups.newest(every)
    found = groups.grouped(kept, ["*"])
    group_of = {digest: g for g, group in enumerate(found) for digest in group.digests}
    assert sorted(group_of) == sorted(run.digest for run in kept)
    for a in kept:
        for b in kept:
            alike = without_seeds(a.config) == without_seeds(b.config)
            assert (group_of[a.digest] == group_of[b.digest]) == alike
    for group in found:
        for i, digest in enumerate(group.digests):
            assert repr(sorted(group.config_of(i).items())) == repr(
                sorted(all_configs[int(digest)].items())
            )
            assert group.values["a"][i] == float(digest)
    shuffled = list(kept)
    random.shuffle(shuffled)
    assert groups.grouped(shuffled, ["*"]) == found


@given(st.lists(configs_of_runs, max_size=12))
def test_every_run_has_a_label_of_its_own(all_configs):
    kept = groups.newest([Logged("", config, {}, "", {}) for config in all_configs])
    found = groups.grouped(kept, ["*"])
    names = [
        groups.run_label(group, label, i)
        for group, label in zip(found, groups.labels(found), strict=True)
        for i in range(len(group.seeds))
    ]
    assert len(set(names)) == len(names) == len(kept)


def test_labels_say_what_varies():
    found = groups.grouped(
        [made_up(), made_up(seed=1), made_up({"max_depth": 5}), made_up({"model.name": "tree"})],
        ["*"],
    )
    assert groups.labels(found) == ["forest iris max_depth=5", "forest iris", "tree iris"]
    assert groups.run_label(found[1], "forest iris", 1) == "forest iris seed=1"
    assert groups.run_label(found[2], "tree iris", 0) == "tree iris"


def test_of_equal_configs_the_first_is_kept():
    kept = groups.newest([made_up(a=2.0), made_up(a=1.0), made_up(seed=1, a=3.0)])
    assert [run.metrics["a"] for run in kept] == [2.0, 3.0]


def test_what_is_recorded():
    names = ["accuracy/test", "summary/trees_depth", "summary/chosen_depth", "by_trees/oob_error",
             "ece/test", "summary/seconds_fit"]  # fmt: skip
    assert groups.select(names, USUAL) == sorted(names[:4])
    assert groups.select(names, ["*"]) == sorted(names[:5])  # times never
    assert groups.select(names, ["*/test", "summary/seconds_*"]) == ["accuracy/test", "ece/test"]


def test_a_metric_that_one_run_did_not_log():
    (group,) = groups.grouped([made_up(a=1.0), made_up(seed=1, a=2.0, b=3.0)], ["*"])
    assert group.values == {"a": [1.0, 2.0], "b": [None, 3.0]}


@pytest.mark.parametrize("key", [*EXACT, "result_version"])
def test_runs_that_were_not_made_alike_are_no_baseline(key):
    other = made_up(
        seed=1, environment=HERE | {key: "there"}, name="other", **{"summary/trees_depth": 1.0}
    )
    first = made_up(**{"summary/trees_depth": 1.0})
    with pytest.raises(ConfigError, match="'run' and 'other' were not made alike"):
        make([first, other], ["*"])
    assert len(make([first, other._replace(environment=HERE)], ["*"]).groups[0].seeds) == 2


# ---- the spread between seeds ------------------------------------------------------------------

# The two-sided 99 % quantiles of Student's t by degrees of freedom, from a printed table.
TABLE = {1: 63.657, 2: 9.925, 3: 5.841, 4: 4.604, 9: 3.250, 30: 2.750}
finite = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("freedom", TABLE)
def test_allowed_shift_by_hand(freedom):
    values = [float(k * k) for k in range(freedom + 1)]
    n = len(values)
    mean = sum(values) / n
    sd = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    by_hand = TABLE[freedom] * sd * math.sqrt(2 / n)
    # The table has four digits.
    assert rules.allowed_shift(values, n) == pytest.approx(by_hand, rel=2e-4)


@given(st.lists(finite, min_size=2, max_size=8), st.floats(0.01, 100), finite)
def test_allowed_shift_goes_with_the_scale_and_not_with_the_place(values, scale, place):
    n = len(values)
    moved = [scale * value + place for value in values]
    # The values are rounded when moved, which the factor of two seeds makes 64 times as much.
    slack = 1e-12 * (scale * max(map(abs, values)) + abs(place) + 1)
    assert rules.allowed_shift(moved, n) == pytest.approx(
        scale * rules.allowed_shift(values, n), rel=1e-9, abs=slack
    )


@given(st.lists(finite, min_size=2, max_size=8))
def test_fewer_compared_seeds_may_shift_more(values):
    shifts = [rules.allowed_shift(values, m) for m in range(len(values), 0, -1)]
    assert shifts == sorted(shifts)


def test_one_in_a_hundred_groups_of_other_seeds_drifts():
    rng = np.random.default_rng(0)
    n_drifted = 0
    for old, new in rng.normal(size=(4000, 2, 3)):
        shift = abs(new.mean() - old.mean())
        n_drifted += shift > rules.allowed_shift(old, 3)
    # 40 expected, with a standard deviation of 6.3: four of those.
    assert abs(n_drifted - 40) < 26


@given(finite, st.floats(0, 1e6) | st.just(math.nan), st.floats(-1, 1))
def test_rounding_is_never_a_drift(value, allowed, share):
    # 0.9: the sum below is rounded itself.
    new = value + 0.9 * share * rules.ROUNDING * max(1.0, abs(value))
    assert rules.judge_shift(value, new, allowed) == "agrees"


@pytest.mark.parametrize(
    ("shift", "allowed", "verdict"),
    [
        (0.2, 0.3, "agrees"),
        (-0.3, 0.2, "drift"),
        (1e-6, 0.0, "drift"),
        (1e-6, math.nan, "unjudged"),
    ],
)
def test_verdicts(shift, allowed, verdict):
    assert rules.judge_shift(0.5, 0.5 + shift, allowed) == verdict


# ---- exactly or by the spread ------------------------------------------------------------------


def one_row(group, *new, environment=HERE):
    found = [
        None if value is None else made_up(environment=environment, **{"accuracy/test": value})
        for value in new
    ]
    (row,) = [row for row in rules.compare(HERE, group, "forest iris", found) if row.new != 0.5]
    return row


@pytest.mark.parametrize("key", ["version.forestlab", "core_version", "result_version", "cpu"])
def test_changed_code_has_to_give_the_same_bits(key):
    other = HERE | {key: "there"}
    new = math.nextafter(0.7, 1)
    row = one_row(recorded(0.7, 0.5), new, 0.5, environment=other)
    assert row == Row("forest iris seed=0", "accuracy/test", 0.7, new, 0.0, "drift")


@pytest.mark.parametrize("key", EXACT)
def test_another_environment_is_judged_by_the_spread(key):
    other = HERE | {key: "there"}
    allowed = rules.allowed_shift([0.7, 0.9, 0.8], 3)
    label = "forest iris (mean of 3 seeds)"
    for shift, verdict in ((0.9 * allowed, "agrees"), (1.1 * allowed, "drift")):
        new = [value + shift for value in (0.7, 0.9, 0.8)]
        row = one_row(recorded(0.7, 0.9, 0.8), *new, environment=other)
        assert (row.config, row.verdict, row.allowed) == (label, verdict, allowed)
        assert row.recorded == pytest.approx(0.8)
        assert row.new == pytest.approx(0.8 + shift)


def test_what_is_not_known_of_an_environment_is_another():
    assert rules.changes({}, {}) == rules.changes(dict.fromkeys(EXACT, ""), {})
    assert len(rules.changes(HERE, {})) == len(EXACT)
    assert rules.changes(HERE, HERE) == []


def test_changes_are_told_for_people():
    old = {"version.numpy": "2.3.0", "cpu_kind": "x86_64 skylake avx avx2"}
    keys = ("version.numpy", "cpu_kind")
    assert rules.changes(old, {"cpu_kind": "arm64 apple-m1 neon"}, keys) == [
        "numpy 2.3.0 → unknown",
        "CPU x86_64 skylake → arm64 apple-m1",
    ]
    new = old | {"cpu_kind": "x86_64 skylake avx fma"}
    assert rules.changes(old, new, keys) == ["vector units of the CPU: avx2 fma"]


def test_one_seed_elsewhere_cannot_be_judged():
    elsewhere = HERE | {"version.numpy": "there"}
    assert one_row(recorded(0.7), 0.8, environment=elsewhere).verdict == "unjudged"
    assert one_row(recorded(0.7), 0.7, environment=elsewhere).verdict == "agrees"


def test_a_run_that_is_not_there_is_left_out():
    elsewhere = HERE | {"version.numpy": "there"}
    group = recorded(0.7, 0.9, 0.8)
    row = one_row(group, None, 0.91, None, environment=elsewhere)
    assert row.config == "forest iris seed=1"
    assert (row.recorded, row.new) == (0.9, 0.91)
    assert row.allowed == rules.allowed_shift([0.7, 0.9, 0.8], 1)
    assert rules.compare(HERE, group, "", [None, None, None]) == []


@pytest.mark.parametrize("place", ["here", "there"])
def test_a_metric_that_is_no_longer_logged_is_gone(place):
    found = [made_up(environment=HERE | {"version.numpy": place}, other=1.0)] * 2
    rows = rules.compare(HERE, recorded(0.7, 0.9), "forest iris", found)
    assert {row.verdict for row in rows} == {"gone"}


# ---- tables and files --------------------------------------------------------------------------


def test_the_table_of_drifts():
    rows = [
        Row("forest iris seed=1", "accuracy/test", 0.75, 0.5, 0.0, "drift"),
        Row("forest iris seed=1", "summary/trees_depth", 3.0, None, 0.0, "gone"),
        Row("tree iris", "rmse/test", 12.0, 12.5, math.nan, "unjudged"),
        rules.whole_run("tree wine", "no run"),
        Row("rno wine", "data", "0123456789abcdef", "fedcba9876543210", 0.0, "drift"),
    ]
    assert tables.drift_lines("fast", rows) == [
        "fast             recorded       new  difference  allowed  verdict",
        "forest iris seed=1",
        "  accuracy/test      0.75       0.5       -0.25        0  drift",
        "  trees_depth           3         –                       gone",
        "tree iris",
        "  rmse/test            12      12.5        +0.5        –  unjudged",
        "tree wine                                                 no run",
        "rno wine",
        "  data           01234567  fedcba98                       drift",
    ]


def test_eighty_columns_hold_a_drift_of_any_metric():
    for path in SHIPPED.glob("*.json"):
        for group in file.load(path).groups:
            rows = [
                Row("", name, 0.00012345678, 0.98765432, 0.012345678, "drift")
                for name in group.values
            ]
            assert max(map(len, tables.drift_lines("full", rows))) <= 80


def test_a_long_table_is_cut(capsys):
    rows = [Row("a", f"m{k}", 0.0, 1.0, 0.0, "drift") for k in range(100)]
    tables.show("fast", rows, everything=False)
    assert "… and 60 more: --all shows them" in capsys.readouterr().out
    tables.show("fast", rows, everything=True)
    assert "m99" in capsys.readouterr().out
    tables.show("fast", [], everything=False)
    assert capsys.readouterr().out == ""


names = st.text('abc/_[]{}" \n', min_size=1, max_size=8)
floats = st.floats(-1e100, 1e100)  # whose squares are floats too


@given(
    st.dictionaries(names, names),
    st.dictionaries(names, st.tuples(floats | st.none(), floats), max_size=4),
    st.dictionaries(names, st.none() | st.booleans() | floats | names | st.lists(names)),
)
def test_a_file_keeps_every_bit(tmp_path_factory, told, columns, config):
    path = tmp_path_factory.getbasetemp() / "kept.json"
    seeds = [dict.fromkeys(SEEDS, k) for k in range(2)]
    values = {name: list(column) for name, column in columns.items()}
    baseline = Baseline(told, ["*"], [Group(config, seeds, ["x", "y"], values)])
    file.save(baseline, path)
    assert file.load(path) == baseline


def test_a_file_has_a_line_for_each_metric(tmp_path):
    baseline = make([made_up(seed=k, **{"a/b": k / 2, "c/d": 1.0}) for k in range(3)], ["*"])
    file.save(baseline, tmp_path / "new" / "x.json")
    lines = (tmp_path / "new" / "x.json").read_text().splitlines()
    (line,) = [line.strip() for line in lines if '"a/b"' in line]
    assert line == '"a/b": { "values": [ 0.0, 0.5, 1.0 ], "mean": 0.5, "sd": 0.5 },'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"format": 2}', "has format 2; this reads 1"),
        ('{"format": 1, "groups": [{"metrics": 3}]}', "is not a baseline"),
        (
            '{"format": 1, "environment": {}, "metrics": [], "groups": [{"config": {}, "seeds": '
            '[{}], "dataset_digest": [], "metrics": {}}]}',
            "lists are not of one length",
        ),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path, text, told):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ConfigError, match=told):
        file.load(tmp_path / "x.json")


def test_what_an_update_changed():
    old = make([made_up(a=1.0, b=2.0), made_up(seed=1, a=1.0)], ["*"])
    new = make([made_up(a=1.5, b=2.0, c=3.0), made_up(seed=2, a=1.0)], ["*"])
    assert rules.changed(old, new) == [
        Row("forest iris seed=0", "a", 1.0, 1.5, 0.0, "changed"),
        Row("forest iris seed=0", "c", None, 3.0, 0.0, "changed"),
        rules.whole_run("forest iris seed=1", "left out"),
        rules.whole_run("forest iris seed=2", "added"),
    ]
    assert rules.changed(old, old) == []


# ---- two curves --------------------------------------------------------------------------------

curves = st.lists(st.sampled_from([0.0, 1.0, 2.5, math.nan]), max_size=6)


@given(curves, curves)
def test_where_curves_part(a, b):
    """From the definition, a step at a time."""
    first, largest, at = None, math.nan, None
    for step in range(max(len(a), len(b))):
        x = a[step] if step < len(a) else math.nan
        y = b[step] if step < len(b) else math.nan
        if x == y or (math.isnan(x) and math.isnan(y)):
            continue
        first = step if first is None else first
        if not math.isnan(x - y) and not abs(x - y) <= largest:
            largest, at = abs(x - y), step
    found = parting(np.array(a, float), np.array(b, float))
    if first is None:
        assert found is None
    else:
        expected = (first, largest, first if at is None else at)
        np.testing.assert_array_equal(tuple(found), expected)


def test_the_table_of_curves():
    both = {
        "accuracy/test": [np.array([0.5, 0.75, 0.75]), np.array([0.5, 0.25, 0.5])],
        "summary/trees_depth": [np.array([2.0]), np.array([2.0])],
        "summary/seconds_fit": [np.array([]), np.array([0.125])],
    }
    assert curve_lines(both) == [
        "metric                  a      b  b - a  from  largest  at",
        "accuracy/test        0.75    0.5  -0.25     1      0.5   1",
        "summary/trees_depth     2      2",
        "summary/seconds_fit     –  0.125      –",
    ]


# ---- a config, read back from a run's parameters -----------------------------------------------


@pytest.mark.parametrize(
    "chosen",
    [
        {"max_depth": 3, "model.max_features": "sqrt", "dataset.drop": ["a", "b c"]},
        {"model.max_features": 1.0, "model.min_samples_leaf": 1.0, "dataset.target": "3"},
        {"model.max_features": 1, "model.max_samples": 1e-05, "dataset.stratify": True},
    ],
)
def test_a_config_comes_back_from_its_parameters(chosen):
    config = runs.config_of({"dataset.name": "iris", "model.name": "forest"} | chosen)
    texts = {key: str(value) for key, value in configs.flat(config).items()}  # as MLflow keeps it
    again = runs.config_of({key: configs.typed(text) for key, text in texts.items()})
    assert configs.fingerprint(again) == configs.fingerprint(config)
    assert chosen.items() <= configs.chosen(again).items()


def test_a_config_comes_back_from_what_a_run_decided():
    """Of auto the decision is logged, and which parameters said so."""
    config = runs.config_of({"dataset.name": "iris", "model.name": "forest"})
    params = {key: str(value) for key, value in configs.flat(config).items()}
    params |= {"criterion.name": "gini", "task.name": "classification"}
    tags = {"config_hash": configs.fingerprint(config), "auto": "criterion.name task.name"}
    data = SimpleNamespace(params=params, tags=tags)
    run = SimpleNamespace(data=data, info=SimpleNamespace(run_id="0123"))
    assert "criterion.name" not in runs.read_config(run)
    assert configs.agree(params, config)
    assert not configs.agree(params | {"max_depth": "3"}, config)
    del tags["auto"]
    with pytest.raises(ConfigError, match="cannot be read back"):
        runs.read_config(run)


def test_an_option_that_is_no_more():
    with pytest.raises(ConfigError, match=r"model\.colour=red is no option any more"):
        runs.config_of({"model.colour": "red"})


# ---- forestlab's own baselines -----------------------------------------------------------------


class Told:
    """What a command returned and printed."""

    def __init__(self, *arguments: str):
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            self.code = main(arguments)
        self.out, self.err = out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    return f"sqlite:///{tmp_path_factory.mktemp('baseline') / 'mlflow.db'}"


@pytest.fixture(scope="module")
def fast(uri):
    """The check of the fast baseline, and with it a store of real runs."""
    return Told("check", "fast", "--uri", uri)


def agree(told: Told, name: str, n_runs: int) -> bool:
    return f"{name}: " in told.out and f"metrics of {n_runs} runs agree\n" in told.out


def test_fast_results_are_as_recorded(fast):
    n_runs = sum(len(group.seeds) for group in file.load(SHIPPED / "fast.json").groups)
    assert fast.code == 0, fast.out + fast.err
    assert agree(fast, "fast", n_runs)


@pytest.mark.long
def test_full_results_are_as_recorded(uri):
    told = Told("check", "full", "--uri", uri, "--experiment", "full")
    n_runs = sum(len(group.seeds) for group in file.load(SHIPPED / "full.json").groups)
    assert told.code == 0, told.out + told.err
    assert agree(told, "full", n_runs)


@pytest.mark.parametrize("name", ["fast", "full"])
def test_shipped_baselines_can_be_judged_anywhere(name):
    baseline = file.load(SHIPPED / f"{name}.json")
    assert set(EXACT) <= set(baseline.environment)
    for group in baseline.groups:
        assert len(group.seeds) >= 3
        config = runs.config_of(group.config_of(0))
        assert configs.chosen(config).keys() >= group.config.keys()  # nothing in it is a default
        # A group whose runs all came out the same would forbid any tie to be tipped.
        assert any(rules.spread(values) > 0 for values in group.values.values())


# ---- the commands on a real store --------------------------------------------------------------


@pytest.fixture
def command(fast, uri, tmp_path, monkeypatch):
    """Calls a command on the real store and a folder of its own; what logs for another test that
    ran in this process, into a file that is closed, is not asked to."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])

    def call(what: str, *arguments: str) -> Told:
        folder = () if what == "diff" else ("--folder", str(tmp_path))
        return Told(what, *arguments, "--uri", uri, *folder)

    return call


# Of the fixture's runs, without those that a test made.
IRIS = ("record", "iris", "--parent", "check fast", "--query", "tags.dataset = 'iris'")


def n_values(path: Path, by_seed: bool = True) -> int:
    """How many values are compared; with other versions it is one for all seeds of a group."""
    found = file.load(path).groups
    return sum(len(group.values) * (len(group.seeds) if by_seed else 1) for group in found)


def edit(path: Path, change) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_record_and_check(command, tmp_path):
    told = command(*IRIS)
    assert told.code == 0, told.err
    path = tmp_path / "iris.json"
    assert told.out == f"iris: {n_values(path)} metrics of 6 runs recorded in {path}\n"
    shipped = file.load(SHIPPED / "fast.json")
    baseline = file.load(path)
    expected = [group for group in shipped.groups if group.config["dataset.name"] == "iris"]
    assert [group.config for group in baseline.groups] == [group.config for group in expected]
    assert [group.seeds for group in baseline.groups] == [group.seeds for group in expected]
    here = provenance.versions()
    assert baseline.environment == {key: here[key] for key in TOLD}
    assert not [name for group in baseline.groups for name in group.values if "seconds" in name]
    for options in ([], ["--no-run"]):
        told = command("check", *options)
        assert (told.code, told.out) == (0, f"iris: {n_values(path)} metrics of 6 runs agree\n")


def test_runs_of_a_parent_and_chosen_metrics(command, tmp_path):
    told = command(
        "record", "few", "--parent", "check fast", "--metrics", "accuracy/t*, summary/trees_*"
    )
    assert told.code == 0, told.err
    baseline = file.load(tmp_path / "few.json")
    assert sum(len(group.seeds) for group in baseline.groups) == 30
    assert {name for group in baseline.groups for name in group.values} == {
        "accuracy/test", "accuracy/train",
        "summary/trees_depth", "summary/trees_n_leaves", "summary/trees_n_nodes",
    }  # fmt: skip


def test_a_tampered_value_is_a_drift(command, tmp_path):
    command(*IRIS)

    def tamper(content):
        values = content["groups"][0]["metrics"]["log_loss/test"]["values"]
        values[1] = math.nextafter(values[1], 2)

    edit(tmp_path / "iris.json", tamper)
    told = command("check")
    assert told.code == 1
    head, config, line = told.out.splitlines()[:3]
    assert head.split() == ["iris", "recorded", "new", "difference", "allowed", "verdict"]
    assert config == "forest iris seed=1"
    assert line.split()[0] == "log_loss/test"
    assert line.split()[-2:] == ["0", "drift"]
    n = n_values(tmp_path / "iris.json")
    assert f"iris: {n - 1} of {n} metrics of 6 runs agree, drift: 1\n" in told.out


def test_another_seed_is_run_and_drifts(command, tmp_path):
    command(*IRIS)

    def reseed(content):
        del content["groups"][1:]
        content["groups"][0]["seeds"][0]["seed"] = 77

    edit(tmp_path / "iris.json", reseed)
    told = command("check", "--no-run")
    assert told.code == 1  # what was not looked at does not pass
    assert "forest iris seed=77" in told.out
    assert "no run: 1" in told.out
    told = command("check", "--all")
    assert told.code == 1
    assert told.out.splitlines()[1] == "forest iris seed=77"
    assert "log_loss/oob" in told.out
    assert "forest iris seed=1" not in told.out


def test_other_data_are_a_drift(command, tmp_path):
    command(*IRIS)

    def change(content):
        content["groups"][0]["dataset_digest"][2] = "0123456789abcdef"

    edit(tmp_path / "iris.json", change)
    told = command("check")
    assert told.code == 1
    config, line = told.out.splitlines()[1:3]
    assert config == "forest iris seed=2"
    assert line.split()[:2] == ["data", "01234567"]


def test_other_versions_are_judged_by_the_spread(command, tmp_path):
    command(*IRIS)

    def change(content):
        content["environment"]["version.numpy"] = "1.0"
        metrics = content["groups"][0]["metrics"]
        for name, n_deviations in (("log_loss/oob", 7), ("brier/oob", 9)):
            values = metrics[name]["values"]
            metrics[name]["values"] = [x + n_deviations * rules.spread(values) for x in values]

    edit(tmp_path / "iris.json", change)
    told = command("check")
    assert told.code == 1
    assert told.out.splitlines()[1] == "forest iris (mean of 3 seeds)"
    assert told.out.splitlines()[2].split()[0] == "brier/oob"  # 8.1 are allowed
    n = n_values(tmp_path / "iris.json", by_seed=False)
    assert f"{n - 1} of {n} metrics of 6 runs agree, drift: 1\n" in told.out
    assert "judged by the spread between seeds" in told.out
    assert f"    numpy 1.0 → {provenance.versions()['version.numpy']}\n" in told.out


def test_one_seed_and_other_versions_is_a_warning(command, tmp_path):
    query = "tags.dataset = 'sine' and tags.seed = '1'"
    assert command("record", "one", "--query", query, "--metrics", "rmse/*").code == 0

    def change(content):
        content["environment"]["cpu_kind"] = "arm64 other neon"
        content["groups"][0]["metrics"]["rmse/oob"]["values"][0] += 0.01

    edit(tmp_path / "one.json", change)
    told = command("check")
    assert told.code == 0
    assert "one: 3 of 4 metrics of 1 runs agree, unjudged: 1\n" in told.out
    assert "recorded with one seed" in told.out


def test_a_config_that_cannot_be_run_fails_and_the_others_go_on(command, tmp_path):
    command(*IRIS)

    def change(content):
        content["groups"][0]["config"]["max_depth"] = -1

    edit(tmp_path / "iris.json", change)
    told = command("check")
    assert told.code == 1
    assert told.err.count("\n") == 3
    assert "error: forest iris seed=0 failed: ValueError: max_depth must be" in told.err
    assert "3 runs agree, failed: 3\n" in told.out


def test_recording_again(command, tmp_path):
    command(*IRIS)
    before = (tmp_path / "iris.json").read_text()
    told = command(*IRIS)
    assert told.code == 2
    assert f"{tmp_path / 'iris.json'} is there already: add --update" in told.err
    assert command("record", "iris").code == 2

    def tamper(content):
        content["groups"][0]["metrics"]["summary/trees_depth"]["values"][0] += 1

    edit(tmp_path / "iris.json", tamper)
    told = command("record", "iris", "--update")
    assert told.code == 0
    assert told.out.splitlines()[1] == "forest iris seed=0"
    assert told.out.splitlines()[2].split()[0] == "trees_depth"
    assert told.out.splitlines()[2].split()[-2:] == ["-1", "changed"]
    assert (tmp_path / "iris.json").read_text() == before
    assert "iris: no value changed\n" in command("record", "iris", "--update").out


def test_two_runs_side_by_side(command):
    told = command("diff", "forest digits seed=0", "forest digits seed=1")
    assert told.code == 1
    lines = told.out.splitlines()
    assert lines[0].endswith("forest digits seed=0  (finished)")
    assert ["seed", "0", "1"] in [line.split() for line in lines]
    assert not {"pid", "process", "heartbeat"} & set(told.out.split())
    (line,) = [line.split() for line in lines if line.startswith("accuracy/train ")]
    assert line[1:4] == ["1", "1", "+0"]  # the same in the end, but not on the way there
    assert int(line[4]) <= int(line[6])
    n_differ, _, n_metrics = lines[-1].split()[:3]
    assert 20 < int(n_differ) <= int(n_metrics)
    run_id = lines[0].split()[1]
    told = command("diff", run_id, run_id[:12])
    assert told.code == 0
    assert told.out.splitlines()[-1] == f"0 of {n_metrics} metrics differ, times apart"


def test_check_can_run_always(command, tmp_path):
    query = "tags.dataset = 'iris' and tags.model = 'tree'"
    command("record", "trees", "--query", query)
    command("check", "--run", "always")
    told = command("diff", "tree iris dataset.split_seed=0", "abc")
    assert "2 runs are called 'tree iris dataset.split_seed=0': choose" in told.err
    ids = [word.strip(".\n") for word in told.err.split("choose ")[1].split(", ")]
    told = command("diff", *ids)
    assert told.code == 0  # only the times are others
    assert "summary/seconds_fit" in told.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["record", "x"], "x.json is not there: say with --query or --parent"),
        (["record", "x", "y", "--query", "a"], "go with one name"),
        (["record", "x", "--query", "nonsense"], "does not take the query: Invalid clause(s)"),
        (["record", "x", "--query", "tags.dataset = 'moon'"], "no finished run matches"),
        (["record", "x", "--parent", "moon"], "there is no run 'moon'"),
        (["record", "x", "--parent", "check fast", "--metrics", "moon/*"], "no metric matches"),
        (["check"], "there are no baselines in"),
        (["check", "--run", "perhaps"], "invalid choice: 'perhaps'"),
        (["check", "--experiment"], "expected one argument"),
        (["diff", "abcdef", "moon"], "there is no run 'abcdef'"),
        (["diff", "one"], "the following arguments are required: RUN"),
    ],
)
def test_a_mistake_is_one_line(command, arguments, told, tmp_path):
    found = command(*arguments)
    assert found.code == 2
    assert found.err.startswith("error: ")
    assert found.err.count("\n") == 1
    assert told in found.err
    assert found.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--uri", "sqlite:////nowhere/mlflow.db"], "nothing is logged at /nowhere/mlflow.db"),
        (["--experiment", "moon"], "there is no experiment 'moon'"),
    ],
)
def test_looking_makes_no_store(fast, uri, arguments, told):
    found = Told("diff", "a", "b", "--uri", uri, *arguments)
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert told in found.err
    from mlflow import MlflowClient

    assert MlflowClient(uri).get_experiment_by_name("moon") is None


def test_nothing_to_compare_is_a_mistake(command, tmp_path):
    command(*IRIS)

    def change(content):
        content["groups"] = content["groups"][:1]
        content["groups"][0]["config"]["max_depth"] = 2

    edit(tmp_path / "iris.json", change)
    told = command("check", "--no-run")
    assert told.code == 2
    assert "there is nothing to compare" in told.err
    told = command("check", "irs")
    assert told.code == 2
    assert "there is no baseline 'irs'" in told.err
    assert "did you mean iris?" in told.err


def test_by_its_real_command_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "forestlab.baseline", "check", "moon"],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 2
    assert done.stderr == (f"error: there is no baseline 'moon' in {SHIPPED}: choose fast, full.\n")
    assert os.listdir(tmp_path) == []

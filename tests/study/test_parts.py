"""The table of the study's parts: what each declares is what a run logs, no more and no less."""

import re
import subprocess
import sys

import pytest
from command import ROOT, environment
from test_study import Studied

from forestlab.study.numbers import SECONDS, numbers_of
from forestlab.study.part import LEVELS
from forestlab.study.parts import PARTS
from forestlab.study.pictures import pictures

# Splits, metrics, combiners, … that a word in capitals stands for.
WORD = "[a-z0-9_]+"

OFF = ["accuracy", "balanced_accuracy", "f1", "log_loss", "brier"]
OF_ALL = ["curves/depth", "curves/oob_by_trees", "uncertainty/valid", "uncertainty/test",
          "oob/voters", "importance", "tree/first"]  # fmt: skip
LIGHT = [*OF_ALL, "confusion/test", "confusion/oob"]
APART = {"tree/first.txt", "predictions.parquet", "oob/predictions.parquet"}
BY_CLASS = {"by_class/test.csv"}
FULL = ["strength", "coverage"]
SURFACE = {"surface.csv", "surface.png"}
STOPPING = {"stopping.csv", "stopping.png"}
# What is drawn, in order: as a person turns the pages.
FIRST = ["curves/depth", "curves/oob_by_trees"]
UNSURE = ["uncertainty/valid", "uncertainty/test", "oob/voters", "importance", "tree/first"]
IRIS_ORDER = [*FIRST, "confusion/test", "confusion/oob", *UNSURE, "surface", "stopping",
              "strength", "calibration/test", "calibration/oob", "coverage"]  # fmt: skip
# A sine has one feature, and noise that is everywhere the same: there is nothing to compare.
ALIKE = ["uncertainty/valid", "uncertainty/test", "importance"]
SINE_ORDER = [*FIRST, "oob/voters", "tree/first", "surface", "stopping", "strength", "coverage",
              "band", "bias_variance"]  # fmt: skip

IRIS = ("dataset=iris", "n_estimators=4", "max_depth=3")
SINE = ("dataset=sine", "dataset.n_samples=120", "n_estimators=4", "max_depth=3")
DENSITY = ("task=density", "dataset=moons", "dataset.n_samples=200", "n_estimators=4",
           "max_depth=3", "search=histogram")  # fmt: skip
DRAWS = ("study.draws=2", "study.draw_rows=40", "study.cuts=true")


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("iris"), "study=full", *IRIS, pictures=True)


@pytest.fixture(scope="module")
def sine(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("sine"), "study=full", *SINE, *DRAWS, pictures=True)


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    options = ("dataset=moons", "dataset.n_samples=120", "n_estimators=4", "max_depth=3")
    return Studied(tmp_path_factory.mktemp("moons"), "study=full", *options, pictures=True)


@pytest.fixture(scope="module")
def twonorm(tmp_path_factory):
    options = ("study=off", "dataset=twonorm", "dataset.n_samples=120", "n_estimators=2")
    return Studied(tmp_path_factory.mktemp("twonorm"), *options, *DRAWS)


@pytest.fixture(scope="module")
def density(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("density"), "study=full", *DENSITY, pictures=True)


@pytest.fixture(scope="module")
def one_hot(tmp_path_factory):
    options = "study=light", "dataset.one_hot=true"
    return Studied(tmp_path_factory.mktemp("one_hot"), *options, *IRIS, pictures=True)


@pytest.fixture(scope="module")
def pruned(tmp_path_factory):
    options = "study=light", "pruning=ccp", "dataset=iris", "model=tree"
    return Studied(tmp_path_factory.mktemp("pruned"), *options, pictures=True)


@pytest.fixture(scope="module")
def shrunk(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("shrunk"), "study=light", "model.shrink=oob", *IRIS)


@pytest.fixture(scope="module")
def every(iris, sine, moons, twonorm, density, one_hot, pruned, shrunk):
    return [iris, sine, moons, twonorm, density, one_hot, pruned, shrunk]


def meant(declared, name):
    """Does one of the declared names stand for this one?"""
    patterns = [re.sub("[A-Z]+", WORD, re.escape(each)) for each in declared]
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def pairs(names):
    """Pictures and their tables."""
    return {f"{name}.{ending}" for name in names for ending in ("json", "png")}


# ---- what is logged ----------------------------------------------------------------------------


def test_the_files_of_a_full_study(iris, sine):
    of_iris = [*LIGHT, *FULL, "calibration/test", "calibration/oob"]
    apart = APART | SURFACE | STOPPING
    assert iris.names() == pairs(of_iris) | apart | BY_CLASS
    of_sine = pairs([*OF_ALL, *FULL, "band", "bias_variance"]) - {f"{name}.png" for name in ALIKE}
    assert sine.names() == of_sine | apart


def test_the_files_of_a_density(density):
    """Of what looks at targets there is nothing."""
    assert density.names() == pairs(
        ["curves/depth", "importance", "tree/first"]
    ) | APART | SURFACE | {
        "density.parquet",
        "density.png",
    }


def test_the_files_of_a_light_study(tmp_path):
    light = Studied(tmp_path, "study=light", *IRIS, pictures=True)
    assert light.names() == pairs(LIGHT) | APART | BY_CLASS


def test_the_strength_that_was_chosen_is_logged(shrunk):
    assert shrunk.metrics["summary/shrink_strength"] == {0: shrunk.done.model.shrink_}


def test_pictures_come_in_their_order(iris, sine):
    for studied, order in ((iris, IRIS_ORDER), (sine, SINE_ORDER)):
        drawn = [name for name, _ in pictures(studied.found, studied.about)]
        assert drawn == [f"{name}.png" for name in order]


@pytest.mark.parametrize("more", [(), ("study.cuts=true",)])
def test_the_metrics_of_no_study(tmp_path, more):
    studied = Studied(tmp_path, "study=off", *IRIS, *more)
    splits = ("train", "valid", "test")
    wanted = {f"{metric}/{split}" for metric in OFF for split in splits}
    wanted |= {"summary/trees_n_nodes", "summary/trees_n_leaves", "summary/trees_depth"} | (
        {"summary/trees_cuts"} if more else set()
    )
    logged = {name for name in studied.metrics if not name.startswith("summary/seconds_")}
    assert logged == wanted


# ---- what is declared --------------------------------------------------------------------------


def test_every_metric_is_declared_by_the_part_that_logs_it(every):
    for studied in every:
        findings = studied.found
        for key, found in findings.parts.items():
            part = PARTS[key]
            for number in part.numbers(found, findings):
                assert meant(part.metrics, number.name), (key, number.name)
        assert {name for name in studied.metrics if name.startswith("summary/seconds_")} <= set(
            SECONDS
        )


def test_every_file_is_declared_by_the_part_that_writes_it(every):
    for studied in every:
        findings, about = studied.found, studied.about
        for key, found in findings.parts.items():
            part = PARTS[key]
            files = [*part.table(found, findings, about), *part.picture(found, findings, about)]
            for name, _ in files:
                stem = name.rsplit(".", 1)[0]
                assert meant(part.files, name) or meant(part.files, stem), (key, name)


def test_nothing_is_declared_that_no_run_logs(every):
    logged = {name for studied in every for name in studied.metrics}
    written = {name for studied in every for name in studied.names()}
    written |= {name.rsplit(".", 1)[0] for name in written}
    for key, part in PARTS.items():
        # The jackknife of four trees may know no variance, and so not how many it needs.
        for name in set(part.metrics) - {
            "summary/jackknife_trees_needed",
            "summary/jackknife_mean_sd",
        }:
            assert any(meant([name], each) for each in logged), (key, name)
        for name in part.files:
            assert any(meant([name], each) for each in written), (key, name)


def test_no_part_logs_what_another_does(every):
    for studied in every:
        numbers = numbers_of(studied.found, {})
        assert len({(number.name, number.step) for number in numbers}) == len(numbers)


def test_the_command_lists_every_name(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "forestlab.study"],
        env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    listed = done.stdout.splitlines()
    for key, part in PARTS.items():
        assert f"{key} ({part.level})" in listed
        assert part.level in LEVELS
        for name, meaning in (part.metrics | part.files).items():
            assert any(name in line.split() and line.endswith(meaning) for line in listed)


# ---- the loop ----------------------------------------------------------------------------------


def test_parts_do_not_load_what_only_pictures_need(tmp_path):
    script = "import sys, forestlab.study.artifacts, forestlab.study.findings\n"
    script += "print('matplotlib' in sys.modules, 'pandas' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(tmp_path), cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["False", "False"]

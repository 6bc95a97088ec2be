"""Another process compiles what a first command asks for after its fit, and is never missed."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from command import composed, environment

from forestlab.core import jit
from forestlab.run import rehearsal
from forestlab.run.shared import Shared

# Most of its pixels are 0, and so usual.
WORDS = ["dataset=digits", "n_estimators=3", "tracking=none", "study=light"]


@pytest.fixture
def job():
    return Shared().job(composed(*WORDS))


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """What is started, which is nothing here; kernels are kept in a folder of this test."""
    found = []

    def start(command, **_):
        found.append(command)
        return SimpleNamespace(stdin=open(os.devnull, "wb"))

    monkeypatch.setattr(rehearsal.subprocess, "Popen", start)
    monkeypatch.setattr(rehearsal, "cpu_count", lambda: 2)
    monkeypatch.setattr(jit, "cache_folder", lambda: tmp_path / "kernels")
    monkeypatch.setattr(jit.config, "DISABLE_JIT", 0)
    return found


def test_jobs_of_a_kind_are_rehearsed_once(begun, job):
    for _ in range(2):
        rehearsal.begin(job)
    assert begun == [[sys.executable, "-P", "-m", "forestlab.run.rehearsal"]]
    job.config.model.combine = "vote"
    rehearsal.begin(job)
    assert len(begun) == 2


def test_nothing_is_rehearsed_where_it_would_not_help(begun, job, monkeypatch, tmp_path):
    data = SimpleNamespace(X=SimpleNamespace(size=rehearsal.MOST_NUMBERS + 1), task=job.data.task)
    assert rehearsal.begin(job._replace(data=data)) is None
    job.config.study.name = "off"
    assert rehearsal.begin(job) is None
    job.config.study.name = "light"
    job.config.plugins = ["mine"]  # whose module the other process does not know
    assert rehearsal.begin(job) is None
    job.config.plugins = []
    for place, name, value in (
        (rehearsal, "cpu_count", lambda: 1),
        (jit.config, "DISABLE_JIT", 1),
        (jit, "cache_folder", lambda: tmp_path / "a file" / "below it"),
    ):
        (tmp_path / "a file").touch()
        with monkeypatch.context() as changed:
            changed.setattr(place, name, value)
            assert rehearsal.begin(job) is None
    assert begun == []
    assert rehearsal.begin(job) is not None


def test_the_other_process_ends_with_this_one(tmp_path):
    """It waits for a job that never comes; then its pipe is closed."""
    command = [sys.executable, "-m", "forestlab.run.rehearsal"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.close()
        assert process.wait(60) != 0


@pytest.mark.long
@pytest.mark.skipif(jit.config.DISABLE_JIT, reason="there is nothing to compile")
def test_what_was_rehearsed_is_not_compiled_again(tmp_path, job, monkeypatch):
    """A command that comes after the other process compiles the kernel that grows trees, and no
    other that says what it is for."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    monkeypatch.setattr(rehearsal, "cpu_count", lambda: 2)
    monkeypatch.setattr(jit, "cache_folder", lambda: cache / "forestlab" / "of this test")
    process = rehearsal.begin(job)
    assert process.wait(300) == 0
    found = len(list(cache.rglob("*.nbc")))
    assert found > 10
    done = subprocess.run(
        [sys.executable, "-m", "forestlab.run", *WORDS],
        env=environment(tmp_path) | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled = [line for line in done.stderr.splitlines() if "compiling" in line]
    assert compiled == ["forestlab: compiling a kernel to grow gini trees (seconds, once)"]
    assert len(list(cache.rglob("*.nbc"))) <= found + 2

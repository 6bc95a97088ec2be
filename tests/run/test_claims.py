"""Which of several processes does a job, and what is taken for dead."""

import os
import signal
import subprocess
import sys
import time

import pytest
from command import PATIENCE, ROOT, Logged, command, environment

from forestlab import processes, tracking
from forestlab.run import claims
from forestlab.run.claims import claim
from forestlab.tracking.runs import BEAT, PROCESS, SILENCE, is_dead

RESULT = {"config_hash": "1", "dataset_digest": "2"}
HOLD = """
from forestlab.run.claims import claim
with claim({}, "store", False) as is_ours:
    print(is_ours, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    return tmp_path


def holder(home):
    """Another process, which holds the claim."""
    made = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(RESULT)],
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert made.stdout.readline() == "True\n"
    return made


# ---- claims ------------------------------------------------------------------------------------


def test_a_claim_is_one_processs_and_of_one_result(home):
    with holder(home) as other:
        with claim(RESULT, "store", waits=False) as is_ours:
            assert not is_ours
        for result, where in ((RESULT | {"config_hash": "3"}, "store"), (RESULT, "another")):
            with claim(result, where, waits=False) as is_ours:
                assert is_ours
        other.communicate("\n")
    with claim(RESULT, "store", waits=False) as is_ours:
        assert is_ours
    assert not list((home / "claims").iterdir())


def test_the_claim_of_a_process_that_is_killed_is_free(home):
    with holder(home) as other:
        other.kill()
    with claim(RESULT, "store", waits=False) as is_ours:
        assert is_ours


def test_who_waits_gets_the_claim_when_the_other_is_through(home):
    start = time.monotonic()
    with holder(home) as other:
        subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {other.pid}"])
        with claim(RESULT, "store", waits=True) as is_ours:
            assert is_ours
            assert time.monotonic() - start > 0.9


def test_what_is_removed_while_it_is_waited_for_is_no_claim(home):
    """Whoever is through removes the file: a lock on that would be nobody's."""
    with claim(RESULT, "store", waits=False):
        (path,) = (home / "claims").iterdir()
        path.unlink()
        with claim(RESULT, "store", waits=False) as is_ours:
            assert is_ours
            assert path.exists()


def test_a_file_system_without_locks_has_no_claims(monkeypatch):
    def refuse(*given):
        raise OSError("no locks available")

    monkeypatch.setattr(claims.fcntl, "flock", refuse)
    with claim(RESULT, "store", waits=False) as first, claim(RESULT, "store", False) as second:
        assert (first, second) == (True, True)


def test_another_machine_is_waited_for(monkeypatch):
    monkeypatch.setattr(claims, "POLL", 0.0)
    assert claims.is_done_elsewhere(lambda: object(), waits=False)
    running = iter([object(), object(), None])
    assert not claims.is_done_elsewhere(lambda: next(running), waits=True)
    assert list(running) == []


# ---- dead runs ---------------------------------------------------------------------------------


def test_which_runs_are_dead():
    here, now = processes.mark(), time.time()
    there = here.replace(here.split(":")[0], "elsewhere", 1)
    with subprocess.Popen(["true"]) as ended:
        gone = processes.mark(ended.pid)
    assert not is_dead({PROCESS: here})
    assert is_dead({PROCESS: gone, BEAT: str(now)})
    assert not is_dead({PROCESS: there})
    assert not is_dead({PROCESS: there, BEAT: str(now - SILENCE / 2)})
    assert is_dead({PROCESS: there, BEAT: str(now - SILENCE * 2)})
    host = here.split(":")[0]  # of an older forestlab
    assert is_dead({"host": host, "pid": str(ended.pid)})
    assert not is_dead({"host": host, "pid": str(os.getpid())})
    assert not is_dead({"host": "elsewhere", "pid": str(ended.pid)})


SMALL = ["dataset=iris", "study=off", "n_estimators=2", "tracking=lean"]


@pytest.mark.long
def test_a_resumed_run_sweeps_up_what_seems_to_run(home):
    """Also of a number that another process has by now, and though it is no sweep."""
    assert command(*SMALL, home=home).returncode == 0
    logged = Logged(home)
    (first,) = logged.runs()
    mark = first.data.tags["process"]
    assert processes.is_alive(mark) is False
    host, boot, _, start = mark.split(":")
    logged.client.update_run(first.info.run_id, status="RUNNING")
    reused = ":".join([host, boot, str(os.getpid()), start])
    logged.client.set_tag(first.info.run_id, "process", reused)
    logged.client.set_tag(first.info.run_id, "pid", str(os.getpid()))
    assert command(*SMALL, "resume=true", home=home).returncode == 0
    assert [run.info.status for run in logged.runs()] == ["KILLED", "FINISHED"]


# ---- two at once -------------------------------------------------------------------------------


def start(home, *words):
    return subprocess.Popen(
        [sys.executable, "-m", "forestlab.run", *words],
        env=environment(home),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


TWO = ["dataset=digits", "study=off", "n_estimators=60", "tracking=lean", "resume=true"]


@pytest.mark.long
@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_two_resumed_sweeps_share_the_work(launcher, home):
    """Each job is done once, and both know all results."""
    if launcher == "joblib":
        pytest.importorskip(
            "hydra_plugins.hydra_joblib_launcher", reason="no hydra-joblib-launcher"
        )
    assert command("dataset=iris", *SMALL[1:], home=home).returncode == 0  # makes the store
    words = [*TWO, f"hydra/launcher={launcher}", "-m", f"seed={','.join(map(str, range(10)))}"]
    both = [start(home, *words), start(home, *words)]
    said = [process.communicate(timeout=PATIENCE) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    runs = Logged(home).runs("tags.dataset = 'digits'")
    assert [run.info.status for run in runs] == ["FINISHED"] * 10
    assert sorted(run.data.tags["seed"] for run in runs) == [str(seed) for seed in range(10)]
    assert len({run.data.tags["mlflow.parentRunId"] for run in runs}) == 2
    for out, _ in said:
        assert out.count("finished") + out.count("skipped") == 10
    parents = Logged(home).runs("tags.kind = 'sweep'")
    for parent in parents:
        assert len(Logged(home).table(parent, "comparison/children.json")) == 10
    assert not list((home / "claims").iterdir())


@pytest.mark.long
def test_what_the_other_leaves_is_picked_up(home):
    assert command("dataset=iris", *SMALL[1:], home=home).returncode == 0
    words = [*TWO, "-m", "seed=0,1,2,3"]
    both = [start(home, *words), start(home, *words)]
    while not Logged(home).runs("tags.dataset = 'digits'"):
        time.sleep(0.1)
    os.kill(both[0].pid, signal.SIGKILL)
    _, err = both[1].communicate(timeout=PATIENCE)
    both[0].communicate()
    assert both[1].returncode == 0, err
    finished = Logged(home).runs("tags.dataset = 'digits' and attributes.status = 'FINISHED'")
    assert sorted(run.data.tags["seed"] for run in finished) == ["0", "1", "2", "3"]
    tracking.sweep_up(tracking.open_store(tracking_of(home)))
    assert not Logged(home).runs("attributes.status = 'RUNNING'")


def tracking_of(home):
    from forestlab.config import TrackingConfig

    return TrackingConfig(uri=f"sqlite:///{home / 'mlflow.db'}")

"""Sweeps in other processes: the same bits, and nothing left behind, whatever ends them."""

import json
import os
import pickle
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import PATIENCE, ROOT, Logged, as_a_terminal_does, command, environment
from omegaconf import OmegaConf

from forestlab import processes
from forestlab.baseline.__main__ import main as baseline
from forestlab.run.engines import share
from forestlab.run.errand import Scored
from forestlab.run.following import Following
from forestlab.run.job import Result
from forestlab.run.ledger import Done, Ledger, wait_for_end

LAUNCHERS = {
    "joblib": "hydra_joblib_launcher",
    "submitit_local": "hydra_submitit_launcher",
    "ray": "hydra_ray_launcher",
}
SMALL = ["dataset=iris", "n_estimators=3", "tracking=lean"]
JOBS = ["-m", "model=tree,forest", "seed=0,1,2"]
TOOK = re.compile("summary/seconds_|summary/memory")  # what no two runs have in common


def require(launcher):
    package = LAUNCHERS[launcher]
    try:
        is_there = find_spec(f"hydra_plugins.{package}") is not None
    except ModuleNotFoundError:
        is_there = False
    if not is_there:
        pytest.skip(f"{package} is not installed")


def metrics_of(home):
    """Every logged value of each job, by its name, but for what it took."""
    logged, found = Logged(home), {}
    for run in logged.runs("attributes.status = 'FINISHED'"):
        if run.data.tags.get("kind") != "sweep":
            names = [name for name in run.data.metrics if not TOOK.match(name)]
            found[run.info.run_name] = {name: logged.history(run, name) for name in sorted(names)}
    return found


def ended(home):
    """How many runs there are of each status: of the sweep, and of its jobs."""
    runs = Logged(home).runs()
    parents = [run.info.status for run in runs if run.data.tags.get("kind") == "sweep"]
    children = [run.info.status for run in runs if run.data.tags.get("kind") != "sweep"]
    return parents, {status: children.count(status) for status in set(children)}


# ---- the same bits -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def basic(tmp_path_factory):
    home = tmp_path_factory.mktemp("basic")
    done = command(*SMALL, *JOBS, home=home)
    assert done.returncode == 0, done.stderr
    return metrics_of(home)


@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_every_launcher_gives_the_same_bits(launcher, basic, tmp_path):
    require(launcher)
    done = command(*SMALL, f"hydra/launcher={launcher}", *JOBS, home=tmp_path)
    assert done.returncode == 0, done.stderr
    found = metrics_of(tmp_path)
    assert len(found) == 6
    assert min(map(len, found.values())) > 10
    assert found == basic
    runs = Logged(tmp_path).runs()
    parent = runs[0]
    assert ended(tmp_path) == (["FINISHED"], {"FINISHED": 6})
    for run in runs[1:]:
        assert run.data.tags["mlflow.parentRunId"] == parent.info.run_id
        assert run.data.tags["pid"] != parent.data.tags["pid"]
        assert run.data.params["n_jobs"] == "1"
    rows = [line for line in done.stdout.splitlines() if "finished" in line]
    assert [" ".join(row.split()[:3]) for row in rows] == [
        f"{model} iris seed={seed}" for model in ("tree", "forest") for seed in range(3)
    ]
    assert "UserWarning" not in done.stderr
    assert not list((tmp_path / "hydra").glob("jobs-*"))


@contextmanager
def cluster_of_ray():
    """The address of a cluster that is there already, on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a socket's path may not be long
    words = ["start", "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={port}"]
    words += ["--num-cpus=2", "--include-dashboard=false", f"--temp-dir={folder}"]
    ray = Path(sys.executable).with_name("ray")
    quiet = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
    with open(f"{folder}/told", "w") as told:
        process = subprocess.Popen([ray, *words], stdout=told, stderr=told, env=quiet)
    try:
        while "Ray runtime started" not in Path(f"{folder}/told").read_text():
            assert process.poll() is None, Path(f"{folder}/told").read_text()
            time.sleep(0.2)
        yield f"127.0.0.1:{port}"
        assert process.poll() is None  # who used it has left it as it was
    finally:
        left = [processes.mark(pid) for pid in descendants(process.pid)]
        process.terminate()
        process.wait(60)
        for mark in wait_for_end(left, 20.0):
            os.kill(processes.number(mark), signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.long
def test_a_cluster_of_ray_that_is_there_is_used_and_left(basic, tmp_path, monkeypatch):
    """By a sweep, then by one forest. It lets in who shows a token. Where a machine cannot be
    reached by its own address, as behind some walls, a network of its own will do: `unshare
    --net`, then `ip link set lo up`."""
    require("ray")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    # Else Ray takes the address of the machine for 127.0.0.1, and listens on all that it has.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    with cluster_of_ray() as address:
        words = ["hydra/launcher=ray", f"hydra.launcher.ray.init.address={address}"]
        done = command(*SMALL, *words, *JOBS, home=tmp_path)
        assert done.returncode == 0, done.stderr
        assert metrics_of(tmp_path) == basic
        assert ended(tmp_path) == (["FINISHED"], {"FINISHED": 6})
        grown = subprocess.run(
            [sys.executable, "-c", OVER_RAY],
            env=environment(tmp_path) | {"RAY_ADDRESS": address},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert grown.returncode == 0, grown.stderr
    assert grown.stdout == f"True {address.partition(':')[2]}\n"


OVER_RAY = """
import ray
from sklearn.datasets import load_iris
from forestlab import ForestClassifier

X, y = load_iris(return_X_y=True)
seen = []
over = ForestClassifier(4, backend="ray", random_state=0, verbose=1)
over._progress = lambda trees: seen.append(ray.get_runtime_context().gcs_address) or trees
threads = ForestClassifier(4, random_state=0).fit(X, y)
pairs = zip(over.fit(X, y).forest_, threads.forest_, strict=True)
print(all(a.tobytes() == b.tobytes() for a, b in pairs), seen[0].rpartition(":")[2])
"""


# ---- resume, failures, progress ----------------------------------------------------------------

FAIL = """
import forestlab.run.job as job
fit = job.fit_and_study

def failing(wanted, show):
    if wanted.config.seed == 1:
        raise RuntimeError("the roof is on fire")
    return fit(wanted, show)

job.fit_and_study = failing
"""


@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_what_failed_is_told_and_resumed_and_compared(launcher, tmp_path):
    """A resumed sweep knows the runs that its processes found to be there."""
    require(launcher)
    (tmp_path / "broken.py").write_text(FAIL)
    words = [*SMALL, "study=off", f"hydra/launcher={launcher}", "-m", "seed=0,1,2,3"]
    done = command(*words, "plugins=[broken]", home=tmp_path, cwd=tmp_path)
    assert done.returncode == 1
    assert "error: forest iris seed=1 failed: RuntimeError: the roof is on fire\n" in done.stderr
    assert ended(tmp_path) == (["FAILED"], {"FINISHED": 3, "FAILED": 1})
    (tmp_path / "broken.py").write_text("")
    done = command(*words, "plugins=[broken]", "resume=true", home=tmp_path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Its source is another, so nothing stands for it.
    assert ended(tmp_path)[1] == {"FINISHED": 7, "FAILED": 1}
    done = command(*words, "plugins=[broken]", "resume=true", home=tmp_path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("skipped") == 4
    assert ended(tmp_path)[1] == {"FINISHED": 7, "FAILED": 1}
    parent = Logged(tmp_path).runs("tags.kind = 'sweep'")[-1]
    children = Logged(tmp_path).table(parent, "comparison/children.json")
    assert sorted(child["name"] for child in children) == [
        f"forest iris seed={seed}" for seed in range(4)
    ]


# ---- killed, stopped ---------------------------------------------------------------------------

# So many trees that processes which share a core are at them when the store is asked.
LONG = [
    *("dataset=digits", "n_estimators=12000", "model.max_features=1.0"),
    *("study=off", "tracking=lean", "n_jobs=1"),
]


class Started:
    """A sweep of jobs that take some seconds each, once two processes are at them."""

    def __init__(self, home, launcher, n_jobs=6):
        words = [*LONG, f"hydra/launcher={launcher}", "-m", f"seed=range({n_jobs})"]
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, "-m", "forestlab.run", *words],
            env=environment(home),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=as_a_terminal_does,
        )
        try:
            self._wait()
        except BaseException:
            self.process.terminate()
            raise
        self.workers = [processes.mark(pid) for pid in descendants(self.process.pid)]

    def _wait(self):
        until = time.monotonic() + PATIENCE
        while len(self.begun()) < 2 or not self.is_running():
            assert time.monotonic() < until
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.1)

    def begun(self):
        """The processes that are at a job, by its number."""
        folders = list((self.home / "hydra").glob("jobs-*"))
        paths = [path for folder in folders for path in folder.glob("*.begun")]
        open_ = [path for path in paths if not path.with_suffix(".done").exists()]
        return {int(path.stem): json.loads(path.read_text())[1] for path in open_}

    def is_running(self):
        """Whether the store knows of two jobs."""
        if not (self.home / "mlflow.db").exists():
            return False
        runs = Logged(self.home).runs("attributes.status = 'RUNNING'")
        return len(runs) >= 3

    def end(self):
        """What it printed; at the end none of its processes is left."""
        said = self.process.communicate(timeout=PATIENCE)
        until = time.monotonic() + 300
        while any(map(processes.is_alive, self.workers)) and time.monotonic() < until:
            time.sleep(0.1)
        assert [mark for mark in self.workers if processes.is_alive(mark)] == []
        return said


def descendants(pid):
    """Of what ends while this looks, what it had started is left out."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                for child in (task / "children").read_text().split():
                    found += [int(child), *descendants(child)]
    return found


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@on_linux
@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_process_that_is_killed_costs_its_job(launcher, tmp_path):
    require(launcher)
    sweep = Started(tmp_path, launcher)
    number, mark = min(sweep.begun().items())
    os.kill(processes.number(mark), signal.SIGKILL)
    out, err = sweep.end()
    assert sweep.process.returncode == 1
    assert f"error: forest digits seed={number} was lost: its process died\n" in err
    assert out.count("finished") == 5
    assert out.count(" killed\n") == 1  # the name of this test's folder has the word, too
    parents, children = ended(tmp_path)
    assert parents == ["FAILED"]
    assert children["FINISHED"] == 5
    assert set(children) == {"FINISHED", "KILLED"}
    assert children["KILLED"] <= 2  # joblib ends the other process too, whose job is done again
    done = Logged(tmp_path).runs("attributes.status = 'FINISHED'")
    assert {run.data.tags["seed"] for run in done} == {str(n) for n in range(6) if n != number}


@on_linux
@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize(
    ("kind", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 143)]
)
def test_a_sweep_that_is_stopped_leaves_nothing(kind, code, launcher, tmp_path):
    require(launcher)
    sweep = Started(tmp_path, launcher)
    sweep.process.send_signal(kind)
    _, err = sweep.end()
    assert sweep.process.returncode == code
    assert "stopped after " in err
    assert "to go on: " in err
    assert "Traceback" not in err
    parents, children = ended(tmp_path)
    assert parents == ["KILLED"]
    assert set(children) <= {"KILLED", "FINISHED"}
    assert children["KILLED"] >= 1


@on_linux
@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_a_sweep_that_is_killed_leaves_no_processes(launcher, tmp_path):
    require(launcher)
    sweep = Started(tmp_path, launcher)
    sweep.process.kill()
    sweep.end()
    assert "RUNNING" not in ended(tmp_path)[1]  # each ended its own


@pytest.mark.long
def test_a_terminal_that_is_closed_stops_a_sweep_of_this_process(tmp_path):
    """Unless it was started with nohup."""
    for nohup, code in ((False, 143), (True, 0)):
        home = tmp_path / str(nohup)
        home.mkdir()
        ignored = signal.SIG_IGN if nohup else signal.SIG_DFL
        words = [*LONG, "-m", "seed=0,1"]
        with subprocess.Popen(
            [sys.executable, "-m", "forestlab.run", *words],
            env=environment(home),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda ignored=ignored: signal.signal(signal.SIGHUP, ignored),
        ) as process:
            while not (home / "mlflow.db").exists() or "RUNNING" not in ended_or_none(home):
                assert process.poll() is None, process.communicate()
                time.sleep(0.1)
            process.send_signal(signal.SIGHUP)
            process.communicate(timeout=PATIENCE)
        assert process.returncode == code
        parents, children = ended(home)
        assert parents == ["FINISHED" if nohup else "KILLED"]
        assert "RUNNING" not in children


def ended_or_none(home):
    try:
        return ended(home)[1]
    except AttributeError:  # the experiment is not made yet
        return {}


# ---- experiments and baselines -----------------------------------------------------------------


@pytest.mark.long
def test_experiments_have_their_runs_in_other_processes(tmp_path):
    require("joblib")
    for words in (["hydra/launcher=joblib"], []):
        home = tmp_path / f"{len(words)}"
        home.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "experiments", "tree_classification", *words],
            env=environment(home),
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    made = [(tmp_path / n / "figures/tree_classification.csv").read_text() for n in ("0", "1")]
    assert made[0] == made[1]
    runs = Logged(tmp_path / "1", "forestlab/documents").runs()
    assert len({run.data.tags["pid"] for run in runs}) > 1


@pytest.mark.long
def test_baselines_have_their_runs_in_other_processes(tmp_path, monkeypatch, capsys):
    require("joblib")
    home = tmp_path / "home"
    home.mkdir()
    done = command(*SMALL, "study=off", "-m", "seed=0,1,2", home=home)
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("FORESTLAB_HOME", str(home))
    folder = ["--folder", str(tmp_path)]
    assert baseline(["record", "mine", "--query", "tags.dataset = 'iris'", *folder]) == 0
    assert baseline(["check", "mine", "hydra/launcher=joblib", "--run", "always", *folder]) == 0
    assert "of 3 runs agree\n" in capsys.readouterr().out
    runs = Logged(home).runs("attributes.run_name LIKE 'check%'")
    children = Logged(home).runs(f"tags.`mlflow.parentRunId` = '{runs[0].info.run_id}'")
    assert [run.info.status for run in children] == ["FINISHED"] * 3
    assert str(os.getpid()) not in {run.data.tags["pid"] for run in children}
    assert baseline(["check", "mine", "hydra/launcher=foo", *folder]) == 2
    assert "there is no hydra/launcher=foo" in capsys.readouterr().err


# ---- by itself ---------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    return Ledger.new()


DONE = Done(Result("one", "FINISHED", "abc", {"x": 0.1 + 0.2, "none": float("nan")}), 2.5)


def test_a_job_is_begun_once_and_told_whole(ledger):
    other = Ledger(ledger.folder, ledger.starter)
    assert ledger.begin(3, "one")
    assert not other.begin(3, "one")
    assert other.begin(4, "two")
    ledger.end(3, DONE)
    assert other.done().keys() == {3}
    found = other.done()[3]
    assert found.result.metrics["x"] == 0.1 + 0.2
    assert repr(found) == repr(DONE)
    assert other.done({3}) == {}
    assert ledger.begun()[4] == ("two", processes.mark())
    ledger.forget(3)
    assert other.begin(3, "one")


def test_nothing_is_begun_once_all_is_stopped_or_over(ledger):
    ledger.stop()
    assert not ledger.begin(0)
    ledger.remove()
    assert not ledger.begin(0)
    elsewhere = Ledger(ledger.folder, "elsewhere:::")
    assert elsewhere.begin(0)  # a machine that does not see the folder
    elsewhere.end(0, DONE)


class OnlyCounted:
    """What `Following` needs of a batch."""

    n_jobs, parent = 4, None

    def __init__(self):
        self.results = []


@pytest.mark.parametrize("together", [False, True])
def test_who_ends_first_has_lost_its_job(together, ledger, capsys):
    """Those that ended after it are done again, if the launcher ended them."""
    both = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(2)]
    for number, process in enumerate(both):
        begun = json.dumps(["job", processes.mark(process.pid)])
        (ledger.folder / f"{number}.begun").write_text(begun)
    with Following(ledger, OnlyCounted(), fall_together=together) as following:
        while len(following._guards._numbers) < 2:
            time.sleep(0.01)
        for process in reversed(both):
            process.kill()
            process.wait()
            time.sleep(0.2)
        following.settle(waits=True)
    lost = [number for number, done in following.done.items() if done.result.status == "KILLED"]
    assert sorted(lost) == ([1] if together else [0, 1])
    assert set(ledger.begun()) == {0, 1} - ({0} if together else set())
    assert capsys.readouterr().err.count("was lost: its process died") == len(lost)


def test_what_a_sweeper_gets_is_a_number():
    result = Result("one", "FINISHED", None, {"rmse/valid": 2.0})
    scored = pickle.loads(pickle.dumps(Scored(result)))
    assert scored == 2.0
    assert scored.result.name == "one"


@pytest.mark.parametrize(
    ("name", "options", "n_jobs", "threads", "at_once"),
    [
        ("hydra_joblib_launcher.x.Y", {"n_jobs": -1}, 24, 1, 0),
        ("hydra_joblib_launcher.x.Y", {"n_jobs": 2}, 24, 4, 0),
        ("hydra_joblib_launcher.x.Y", {"n_jobs": -1}, 3, 2, 0),
        ("hydra_submitit_launcher.x.LocalLauncher", {"cpus_per_task": 3}, 24, 3, 2),
        ("hydra_submitit_launcher.x.SlurmLauncher", {"cpus_per_task": 3}, 24, 3, 0),
        ("hydra_ray_launcher.x.Y", {"ray": {"remote": {"num_cpus": 2}}}, 24, 2, 0),
        ("own.Own", {}, 24, 0, 0),
    ],
)
def test_jobs_share_the_cores(name, options, n_jobs, threads, at_once, monkeypatch):
    monkeypatch.setattr("forestlab.run.engines.cpu_count", lambda: 8)
    monkeypatch.setattr("forestlab.run.engines.effective_n_jobs", lambda n: 8 if n < 0 else n)
    found = share(OmegaConf.create({"_target_": f"hydra_plugins.{name}"} | options), n_jobs)
    assert (found.threads, found.at_once) == (threads, at_once)

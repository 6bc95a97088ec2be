"""A real server: PostgreSQL, MLflow on it, and runs from several processes at once."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from command import PATIENCE, environment
from servers import PASSWORD, Served, fresh_database, postgres, serving
from together import in_forks

from forestlab import tracking
from forestlab.config import TrackingConfig

pytestmark = pytest.mark.long

N_RUNS, N_PROCESSES = 200, 4
SMALL = ["dataset=iris", "model=forest", "n_estimators=2", "max_depth=2", "tracking=lean"]


@pytest.fixture(scope="module")
def database():
    with postgres() as server:
        yield server


def command(home: Path, *words: str, **variables: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "forestlab.run", *SMALL, *words],
        env=environment(home) | variables, cwd=home,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def swept(home: Path, uri: str) -> list:
    """The runs that several sweeps log at once, which begin with a store that is not there."""
    share = N_RUNS // N_PROCESSES
    seeds = [f"seed=range({i * share},{(i + 1) * share})" for i in range(N_PROCESSES)]
    sweeps = [command(home, "-m", words, MLFLOW_TRACKING_URI=uri) for words in seeds]
    for sweep in sweeps:
        told = sweep.communicate(timeout=PATIENCE)[0]
        assert sweep.returncode == 0, told
    return tracking.search(tracking.open_existing(TrackingConfig(uri=uri)))


def counted(uri: str, runs: list) -> dict[int, dict]:
    """The metrics of each run by its seed, once all that should be there is."""
    parents = [run for run in runs if run.data.tags.get("kind") == "sweep"]
    jobs = [run for run in runs if "kind" not in run.data.tags]
    assert (len(parents), len(jobs)) == (N_PROCESSES, N_RUNS)
    assert {run.info.status for run in runs} == {"FINISHED"}
    seeds = Counter(int(run.data.params["seed"]) for run in jobs)
    assert seeds == Counter(range(N_RUNS))
    assert len({frozenset(run.data.params) for run in jobs}) == 1
    store = tracking.open_existing(TrackingConfig(uri=uri))
    files = [[file.path for file in store.client.list_artifacts(run.info.run_id)] for run in jobs]
    assert len(set(map(tuple, files))) == 1
    assert "config.yaml" in files[0]
    for run in jobs[:5]:
        written = tracking.artifact_path(store, run.info.run_id, "config.yaml").read_text()
        assert f"\nseed: {run.data.params['seed']}\n" in written
    return {int(run.data.params["seed"]): run.data.metrics for run in jobs}


def without_times(metrics: dict) -> dict:
    return {name: value for name, value in metrics.items() if "seconds" not in name}


@pytest.fixture(scope="module")
def on_file(tmp_path_factory):
    home = tmp_path_factory.mktemp("file")
    uri = f"sqlite:///{home / 'mlflow.db'}"
    return counted(uri, swept(home, uri))


def test_runs_of_four_processes_in_a_file_are_all_there(on_file):
    assert all("summary/seconds_log" in metrics for metrics in on_file.values())  # the last number


def test_runs_of_four_processes_on_a_server_are_all_there(database, on_file, tmp_path):
    uri = fresh_database(database, "sweeps")
    with serving(tmp_path, "--store", uri, "--workers", "2") as server:
        found = counted(server.address, swept(tmp_path, server.address))
    assert all("summary/seconds_log" in metrics for metrics in found.values())
    for seed, metrics in found.items():
        assert without_times(metrics) == without_times(on_file[seed])
    assert len(list((tmp_path / "mlartifacts").rglob("config.yaml"))) == N_RUNS
    assert PASSWORD not in server.log.read_text()


def test_processes_that_open_a_fresh_database_at_once_all_log(database):
    uri = fresh_database(database, "at_once")
    assert in_forks(uri, 6) == [0] * 6
    store = tracking.open_existing(TrackingConfig(uri=uri))
    assert len(tracking.search(store)) == 6


def test_a_run_in_a_database_keeps_its_artifacts_at_home_and_its_password_to_itself(
    database, tmp_path
):
    uri, home = fresh_database(database, "direct"), tmp_path / "home"
    home.mkdir()
    done = command(home, f"tracking.uri={uri}", "tracking=mlflow", "study=light")
    told = done.communicate(timeout=PATIENCE)[0]
    assert done.returncode == 0, told
    store = tracking.open_existing(TrackingConfig(uri=uri))
    (run,) = tracking.search(store)
    assert run.info.artifact_uri.startswith((home / "mlartifacts").as_uri())
    assert run.data.params["tracking.uri"] == uri.replace(PASSWORD, "***")
    assert not (home / "mlruns").exists()
    assert {path.name for path in home.iterdir()} == {"hydra", "journal", "mlartifacts"}
    assert not list((home / "journal").iterdir())
    assert PASSWORD not in told
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {"config.yaml", "overrides.yaml", "MLmodel"} <= {path.name for path in files}
    for path in files:
        assert PASSWORD.encode() not in path.read_bytes(), path
    dump = subprocess.run(["pg_dump", uri], capture_output=True, text=True, check=True).stdout
    assert run.info.run_id in dump
    assert PASSWORD not in dump


def test_a_wrong_password_is_one_line(database, tmp_path):
    uri = fresh_database(database, "wrong").replace(PASSWORD, "an0ther")
    done = command(tmp_path, f"tracking.uri={uri}")
    told = done.communicate(timeout=PATIENCE)[0]
    assert done.returncode == 2
    assert told.count("\n") == 1
    assert 'password authentication failed for user "me"' in told
    assert "an0ther" not in told


# ---- a server that ends ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_server_ends_with_all_its_processes(signum, code, tmp_path):
    server = Served(tmp_path, "--workers", "2").wait()
    started = server.descendants()
    assert len(started) >= 3
    assert server.stop(signum) == code
    for _ in range(50):
        left = [pid for pid in started if Path(f"/proc/{pid}").exists()]
        if not left:
            break
        time.sleep(0.1)
    assert left == []
    told = server.log.read_text()
    assert "Traceback" not in told
    assert "there is no login" in told
    assert f"127.0.0.1:{server.port}" in told


def test_only_names_that_are_allowed_are_answered(tmp_path):
    import urllib.error
    import urllib.request

    with serving(tmp_path, "--allowed-hosts", "good.example") as server:
        codes = {}
        for name in ("good.example", "evil.example"):
            where = f"{server.address}/api/2.0/mlflow/experiments/get?experiment_id=0"
            asked = urllib.request.Request(where, headers={"Host": name})
            try:
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    codes[name] = answer.status
            except urllib.error.HTTPError as error:
                codes[name] = error.code
        assert codes == {"good.example": 200, "evil.example": 403}


def test_a_sweep_outlasts_a_server_that_is_started_anew(tmp_path):
    """It is away for ten seconds, and takes some to start."""
    server = Served(tmp_path).wait()
    sweep = command(tmp_path, "-m", "seed=range(8)", MLFLOW_TRACKING_URI=server.address)
    try:
        store = tracking.open_store(TrackingConfig(uri=server.address))
        for _ in range(600):
            if len(tracking.search(store)) > 2:
                break
            time.sleep(0.1)
        assert sweep.poll() is None
        server.stop(signal.SIGTERM)
        time.sleep(10)
        server = Served(tmp_path, port=server.port).wait()
        told = sweep.communicate(timeout=PATIENCE)[0]
        runs = tracking.search(store)
    finally:
        sweep.kill()
        server.stop()
    assert sweep.returncode == 0, told
    assert Counter(run.info.status for run in runs) == {"FINISHED": 9}


def test_a_port_that_is_taken_is_one_line(tmp_path):
    first = Served(tmp_path).wait()
    second = Served(tmp_path, port=first.port)
    second.log = tmp_path / "second.log"
    assert second.process.wait(PATIENCE) == 2
    first.stop()
    assert f"--port {first.port} cannot be used" in first.log.read_text()
    assert os.path.exists(tmp_path / "mlflow.db")

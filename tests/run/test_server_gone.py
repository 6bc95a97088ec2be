"""A server of MLflow that goes away for good in the middle: what is there once it is back."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command import PATIENCE, environment
from mlflow import MlflowClient

from forestlab import run, sync

RUN = ["dataset=iris", "n_estimators=3", "study=light", "tracking.pictures=false"]
SWEEP = ["dataset=iris", "n_estimators=2", "study=off", "tracking=lean", "-m", "seed=0,1,2"]
# What differs between two runs of the same: names that the store draws, times, this process.
COMPILE = "summary/seconds_compile"  # of the first run of a process
OWN = {"journal", "manifest", "pid", "heartbeat", "mlflow.note.content", "best_run"}
OWN |= {"mlflow.parentRunId"}

pytestmark = pytest.mark.long


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server on loopback that can be killed, and started again on the same files."""

    def __init__(self, folder: Path):
        self.folder, self.port = folder, free_port()
        self.process = None
        self.start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
        words += ["--host", "127.0.0.1", "--port", str(self.port)]
        words += ["--backend-store-uri", f"sqlite:///{self.folder / 'mlflow.db'}"]
        words += ["--artifacts-destination", str(self.folder / "files")]
        quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                words, cwd=self.folder, env=environment(self.folder) | quiet,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        for _ in range(2 * PATIENCE):
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.5)
        self.kill()
        pytest.fail((self.folder / "server.log").read_text()[-2000:])

    def kill(self) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            self.process = None


class Proxy(ThreadingHTTPServer):
    """Between forestlab and a server, which goes away at a request of some kind: before the request
    reaches it, or before its answer is handed on. It is killed, or only cut off."""

    daemon_threads = True

    def __init__(self, server: Server):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind, self.gone = server, False
        self.at, self.skips, self.is_lost, self.kills = "", 0, False, False
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def back(self) -> None:
        """The server answers again."""
        if self.kills:
            self.behind.start()
        self.gone = self.kills = False


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def _pass(self):
        proxy: Proxy = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_meant = bool(proxy.at) and proxy.at in f"{self.command} {self.path}"
        if is_meant and proxy.skips:
            proxy.skips -= 1
            is_meant = False
        if is_meant and not proxy.is_lost:
            self._die()
        if proxy.gone:
            self.close_connection = True
            return
        wanted = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection")}
        asked = urllib.request.Request(
            proxy.behind.uri + self.path, body or None, wanted, method=self.command
        )
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                code, headers, told = answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            code, headers, told = error.code, error.headers, error.read()
        if is_meant:
            self._die()
            self.close_connection = True
            return
        self.send_response(code)
        self.send_header("Content-Type", headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def _die(self):
        self.server.gone, self.server.at = True, ""
        if self.server.kills:
            self.server.behind.kill()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("server"))
    yield made
    made.kill()


@pytest.fixture
def proxy(server):
    made = Proxy(server)
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Whose processes wait some seconds for a server."""
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    return tmp_path


def started(*words: str, home: Path) -> subprocess.Popen:
    """`forestlab sync` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "forestlab.sync", *words],
        env=environment(home) | {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}, cwd=home,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def entries(home: Path) -> list[Path]:
    return sorted((home / "journal").glob("[!.]*/entry.json"))


def held(uri: str, experiment: str) -> list[dict]:
    """All that the server has in an experiment, but for what differs between any two runs."""
    client = MlflowClient(uri)
    number = client.get_experiment_by_name(experiment).experiment_id
    found = []
    for logged in client.search_runs([number]):
        run_id = logged.info.run_id
        above = logged.data.tags.get("mlflow.parentRunId")
        histories = {key: client.get_metric_history(run_id, key) for key in logged.data.metrics}
        models = [m for m in client.search_logged_models([number]) if m.source_run_id == run_id]
        found.append(
            {
                "name": logged.info.run_name,
                "status": logged.info.status,
                "above": client.get_run(above).info.run_name if above else None,
                "tags": {k: v for k, v in logged.data.tags.items() if k not in OWN},
                "has": sorted(OWN & set(logged.data.tags)),
                "params": logged.data.params | {"tracking.experiment": "", "tracking.uri": ""},
                "metrics": {
                    key: [(p.step, None if "seconds" in key else p.value) for p in points]
                    for key, points in histories.items()
                    if key != COMPILE
                },
                "data": [each.dataset.digest for each in logged.inputs.dataset_inputs],
                "files": _listed(lambda path, r=run_id: client.list_artifacts(r, path)),
                "models": [
                    (
                        m.name,
                        str(m.status),
                        len(m.params),
                        len({n.key for n in m.metrics} - {COMPILE}),
                    )
                    for m in models
                ],
                "model_files": [
                    _listed(lambda path, m=m: client.list_logged_model_artifacts(m.model_id, path))
                    for m in models
                ],
                "outputs": len(logged.outputs.model_outputs) if logged.outputs else 0,
            }
        )
    return sorted(found, key=lambda run: run["name"])


def _listed(inside) -> list[str]:
    names, todo = [], [None]
    while todo:
        for info in inside(todo.pop()):
            todo += [info.path] * info.is_dir
            names += [] if info.is_dir else [info.path]
    return sorted(names)


@pytest.fixture(scope="module")
def undisturbed(server, tmp_path_factory):
    """What the server has of the run and of the sweep if nothing happens."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, words in {"run": RUN, "sweep": SWEEP}.items():
            home = tmp_path_factory.mktemp(name)
            patch.setenv("FORESTLAB_HOME", str(home))
            to = [f"tracking.uri={server.uri}", f"tracking.experiment=plain-{name}"]
            assert run.main([*to, *words]) == 0
            assert entries(home) == []
            found[name] = held(server.uri, f"plain-{name}")
    assert [run["status"] for run in found["sweep"]] == ["FINISHED"] * 4
    assert found["run"][0]["models"]
    return found


# Where the server goes: a word of the request, how many such requests it survives, whether it has
# done what was asked and only the answer is lost, and whether it is killed or only cut off.
FILE = "PUT /api/2.0/mlflow-artifacts"
MOMENTS = [
    ("experiments/get-by-name", 0, False, False),
    ("runs/create", 0, False, True),
    ("runs/create", 0, True, False),
    ("runs/log-batch", 0, False, False),
    ("runs/log-batch", 1, True, True),
    ("runs/log-inputs", 0, True, False),
    (FILE, 0, False, False),
    (FILE, 2, True, True),
    ("POST /api/2.0/mlflow/logged-models", 0, True, False),
    (FILE, 8, False, False),
    ("runs/outputs", 0, True, False),
    ("runs/update", 0, False, False),
    ("runs/update", 0, True, True),
]
OF_SWEEPS = [
    ("runs/create", 0, False, False),
    ("runs/create", 2, True, True),
    ("runs/update", 0, True, False),
    ("runs/log-batch", 5, False, False),
    ("runs/update", 3, False, False),
]


def name_of(moment) -> str:
    word, skips, is_lost, kills = moment
    what = word.rpartition("/")[2]
    return f"{what}-{skips}-{'lost' if is_lost else 'before'}-{'killed' if kills else 'cut'}"


def gone_at(moment, proxy, words, capsys) -> str:
    """Run something whose server goes away; what it printed."""
    proxy.at, proxy.skips, proxy.is_lost, proxy.kills = moment
    code = run.main(words)
    told = capsys.readouterr()
    assert proxy.gone, "the moment never came"
    assert code == 3, told.err
    assert "Traceback" not in told.err
    return told.out


@pytest.mark.parametrize("moment", MOMENTS, ids=name_of)
def test_a_run_whose_server_goes_is_delivered_once(
    moment, server, proxy, undisturbed, home, capsys
):
    experiment = name_of(moment)
    to = [f"tracking.uri={proxy.uri}", f"tracking.experiment={experiment}"]
    out = gone_at(moment, proxy, [*RUN, *to], capsys)
    assert f"kept: 1 result in {home / 'journal'}, as" in out
    assert "accuracy/test" in out
    assert len(entries(home)) == 1
    proxy.back()
    assert sync.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "delivered 1, left 0"
    assert held(server.uri, experiment) == undisturbed["run"]
    assert sync.main([]) == 0
    assert capsys.readouterr().out == f"nothing waits in {home / 'journal'}\n"


@pytest.mark.parametrize("moment", OF_SWEEPS, ids=name_of)
def test_a_sweep_whose_server_goes_is_delivered_once(
    moment, server, proxy, undisturbed, home, capsys
):
    """By two processes at the same time; what one delivers the other leaves."""
    experiment = f"sweep-{name_of(moment)}"
    to = [f"tracking.uri={proxy.uri}", f"tracking.experiment={experiment}"]
    out = gone_at(moment, proxy, [*to, *SWEEP], capsys)
    assert "kept: " in out
    assert out.count("seed=") >= 3
    n_kept = len(entries(home))
    proxy.back()
    both = [started(home=home) for _ in range(2)]
    told = [process.communicate(timeout=PATIENCE)[0] for process in both]
    while entries(home):  # the sweep's own, which was tried while the other had one of its runs
        assert sync.main([]) == 0
        told.append(capsys.readouterr().out)
    counts = [line.split()[1] for out in told for line in out.splitlines() if ", left" in line]
    assert sum(int(count.strip(",")) for count in counts) == n_kept, told
    assert held(server.uri, experiment) == undisturbed["sweep"]


def test_a_sync_that_is_killed_goes_on(server, proxy, undisturbed, home, capsys):
    """Killed at varied moments of its delivery, until one is left alone."""
    to = [f"tracking.uri={proxy.uri}", "tracking.experiment=killed-sync"]
    gone_at(("runs/create", 0, False, False), proxy, [*RUN, *to], capsys)
    proxy.back()
    calls = []
    proxy.behind = Watching(server, calls)
    for n_calls in (6, 9, 14):
        calls.clear()
        process = started(home=home)
        while process.poll() is None and len(calls) < n_calls:
            time.sleep(0.002)
        process.kill()
        told = process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL, told
        assert len(entries(home)) == 1
    assert sync.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "delivered 1, left 0"
    assert held(server.uri, "killed-sync") == undisturbed["run"]


class Watching:
    """A server whose requests are counted: its address is asked for at each."""

    def __init__(self, server: Server, calls: list):
        self.server, self.calls = server, calls

    @property
    def uri(self) -> str:
        self.calls.append(1)
        return self.server.uri


def test_a_sync_without_a_server_waits_for_it_once(proxy, undisturbed, home, capsys):
    to = [f"tracking.uri={proxy.uri}", "tracking.experiment=away"]
    gone_at(("runs/create", 0, False, False), proxy, [*to, *SWEEP], capsys)
    start = time.monotonic()
    assert sync.main([]) == 1
    out = capsys.readouterr().out
    assert out.startswith("delivered 0, left 4 (")
    assert "no MLflow server answers at" in out
    assert time.monotonic() - start < 20
    assert len(entries(home)) == 4


def test_a_run_that_lost_a_file_on_the_server_is_done_again(server, home, capsys):
    to = [f"tracking.uri={server.uri}", "tracking.experiment=lossy", "resume=true"]
    words = [*RUN, "tracking.model=false", *to]
    for status in ("finished", "skipped"):
        assert run.main(words) == 0
        assert status in capsys.readouterr().out
    client = MlflowClient(server.uri)
    number = client.get_experiment_by_name("lossy").experiment_id
    (logged,) = client.search_runs([number])
    (lost,) = (server.folder / "files").rglob(f"{logged.info.run_id}/artifacts/config.yaml")
    lost.unlink()
    assert run.main(words) == 0
    told = capsys.readouterr()
    assert "finished" in told.out
    assert "is not taken for done: config.yaml is missing." in told.err
    assert len(client.search_runs([number])) == 2

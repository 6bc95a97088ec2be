"""A store that cannot take runs is one line within seconds, before anything is trained."""

import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from command import PATIENCE, environment

from forestlab import config as configs
from forestlab import run
from forestlab.config import ConfigError, TrackingConfig, reach
from forestlab.tracking import schema

SMALL = ["dataset=iris", "n_estimators=2", "study=off", "tracking=lean"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """The bytes of a store without runs."""
    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    schema._copy_empty(path)
    return path.read_bytes()


def refused(uri: str, capsys) -> str:
    """What a run says whose store is none; it trains nothing, and takes no time."""
    looked, require = [], configs.require_store

    def timed(settings):
        start = time.monotonic()
        try:
            require(settings)
        finally:
            looked.append(time.monotonic() - start)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("forestlab.run.job.fit_and_study", None)
        patch.setattr(configs, "require_store", timed)
        assert run.main([*SMALL, f"tracking.uri={uri}"]) == 2
    assert max(looked) < 10
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    return captured.err


# ---- files -------------------------------------------------------------------------------------


def truncated(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


def overwritten(whole: bytes) -> bytes:
    """A page in the middle is not what it was."""
    middle = len(whole) // 2 // 4096 * 4096
    return whole[:middle] + b"\xff" * 4096 + whole[middle + 4096 :]


def beheaded(whole: bytes) -> bytes:
    """The first page has its head, and nothing of what it should tell."""
    return whole[:100] + bytes(3996) + whole[4096:]


@pytest.mark.parametrize("damaged", [truncated, overwritten, beheaded])
def test_a_damaged_file_is_refused(damaged, empty, home, capsys):
    path = home / "own.db"
    path.write_bytes(damaged(empty))
    told = refused(f"sqlite:///{path}", capsys)
    assert told.startswith(f"error: tracking.uri: {path} ")
    assert path.read_bytes() == damaged(empty)


def test_of_a_large_file_the_tables_are_looked_at(empty, home, capsys, monkeypatch):
    monkeypatch.setattr(reach, "MOST_LOOKED_THROUGH", 0)
    path = home / "own.db"
    path.write_bytes(empty)
    configs.require_store(TrackingConfig(uri=f"sqlite:///{path}"))
    path.write_bytes(truncated(empty))
    assert "malformed" in refused(f"sqlite:///{path}", capsys)


def test_a_database_of_somebody_else_is_left_alone(home, capsys):
    path = home / "own.db"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("create table recipes (name text)")
    before = path.read_bytes()
    assert "is a database of SQLite, but no store of MLflow" in refused(f"sqlite:///{path}", capsys)
    assert path.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes to any file")
def test_a_file_that_cannot_be_written_is_refused(empty, home, capsys):
    path = home / "own.db"
    path.write_bytes(empty)
    path.chmod(0o400)
    assert "readonly" in refused(f"sqlite:///{path}", capsys)


def test_a_store_that_is_written_to_is_taken(empty, home, monkeypatch):
    path = home / "own.db"
    path.write_bytes(empty)
    monkeypatch.setattr(reach, "PATIENCE", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("begin exclusive")
        configs.require_store(TrackingConfig(uri=f"sqlite:///{path}"))


def test_a_store_is_asked_once_for_all_jobs(home, monkeypatch):
    asked = []
    monkeypatch.setattr(configs, "require_store", asked.append)
    words = [*SMALL, "tracking.uri=sqlite:///none.db", "-m", "seed=range(20)", "max_depth=0"]
    assert run.main(words) == 2  # of max_depth
    assert len(asked) == 1


# ---- servers -----------------------------------------------------------------------------------


@contextmanager
def listening(answer: bytes | None):
    """A port where somebody takes calls, and says this or nothing at all."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def serve():
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                held.append(caller)
                if answer is not None:
                    caller.recv(65536)
                    caller.sendall(answer)
                    caller.close()

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("kind", ["http", "postgresql", "mysql+pymysql"])
def test_a_port_where_nobody_is_is_one_line(kind, home, capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    told = refused(f"{kind}://127.0.0.1:{port}/a", capsys)
    assert f"://127.0.0.1:{port}/a" in told
    assert "Connection refused" in told


@pytest.mark.parametrize("kind", ["http", "postgresql"])
def test_a_server_that_says_nothing_is_not_waited_for(kind, home, capsys, monkeypatch):
    if kind == "postgresql":
        pytest.importorskip("psycopg2", reason="psycopg2 is not installed: forestlab[postgres]")
    with listening(None) as port:
        told = refused(f"{kind}://127.0.0.1:{port}/a", capsys)
    assert "time" in told


def test_what_answers_and_is_no_server_of_mlflow(home, capsys):
    with listening(b"220 hello\r\n") as port:
        assert "no MLflow server answers" in refused(f"http://127.0.0.1:{port}", capsys)
    with listening(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as port:
        assert "answers HTTP Error 404" in refused(f"http://127.0.0.1:{port}", capsys)


def test_a_database_without_its_driver_says_what_to_install(home, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    with listening(None) as port:
        told = refused(f"postgresql+psycopg2://127.0.0.1:{port}/a", capsys)
    assert "pip install 'forestlab[postgres]'" in told


def test_who_asks_may_stand_in_the_address(guarded):
    configs.check_store(TrackingConfig(uri=f"http://me:p%40ss@{guarded}"))
    asked = reach.asked("http://me:p%40ss@host:5000/under/", "/health")
    assert asked.full_url == "http://host:5000/under/health"
    assert asked.get_header("Authorization") == "Basic bWU6cEBzcw=="


class Guarded(BaseHTTPRequestHandler):
    """A server whose health anyone may know, and all else who has a password or a token."""

    def do_GET(self):
        who = self.headers.get("Authorization")
        is_open = self.path == "/health" or who in ("Basic bWU6cEBzcw==", "Bearer t0ken")
        self.send_response(200 if is_open else 401)
        self.end_headers()

    def log_message(self, *args):
        pass


@pytest.fixture
def guarded(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))  # nobody's .netrc
    server = ThreadingHTTPServer(("127.0.0.1", 0), Guarded)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_server_that_lets_nobody_in_is_told_before_training(guarded, home, capsys):
    for address in (f"http://{guarded}", f"http://me:other@{guarded}"):
        told = refused(address, capsys)
        assert "does not let us in (401 Unauthorized)" in told
        assert "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD" in told
        assert "other" not in told


@pytest.mark.parametrize(
    "variables",
    [
        {"MLFLOW_TRACKING_USERNAME": "me", "MLFLOW_TRACKING_PASSWORD": "p@ss"},
        {"MLFLOW_TRACKING_TOKEN": "t0ken"},
        {"MLFLOW_TRACKING_AUTH": "a-plug-in"},  # of which nothing is known here
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_a_server_lets_in_whom_mlflow_would_show(variables, guarded, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    configs.check_store(TrackingConfig(uri=f"http://{guarded}"))


def test_mlflow_is_not_imported_to_look(tmp_path, empty):
    """It takes seconds."""
    (tmp_path / "mlflow.db").write_bytes(empty)
    look = "from forestlab.config import *; require_store(TrackingConfig());"
    look += "import sys; print([m for m in ('mlflow', 'sqlalchemy', 'numba') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", look],
        env=environment(tmp_path), capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_mask_is_no_password(home, capsys):
    told = refused("postgresql://me:***@127.0.0.1/a", capsys)
    assert "://me:***@127.0.0.1/a' has *** for its password" in told
    with pytest.raises(ConfigError, match="give the password"):
        configs.check_store(TrackingConfig(uri="https://***@127.0.0.1/a"))

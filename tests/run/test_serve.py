"""What `forestlab serve` is told and tells; tests/tracking/test_server.py starts it."""

import socket
import subprocess
import sys

import pytest

from forestlab import tracking  # imports MLflow, which starts a process of its own
from forestlab.run import serve


@pytest.fixture
def started(monkeypatch, tmp_path):
    """What would be started: its words and its environment."""
    found = {}

    def start(words, env, start_new_session):
        assert start_new_session  # Ctrl-C is for forestlab, which ends it
        found.update(words=[str(word) for word in words], env=env)

    def served(begin, address, told):
        begin()
        return found.update(told=told) or 0

    monkeypatch.setattr(serve.subprocess, "Popen", start)
    monkeypatch.setattr(serve, "_served", served)
    monkeypatch.setattr("forestlab.config.require_store", lambda settings: None)
    monkeypatch.setattr(tracking, "make_store", lambda settings: None)
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    monkeypatch.delenv("MLFLOW_BACKEND_STORE_URI", raising=False)
    return found


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return str(probe.getsockname()[1])


def after(words, option):
    return words[words.index(option) + 1]


def test_by_default_it_is_the_own_store_on_loopback(started, tmp_path):
    port = free_port()
    assert serve.main(["--port", port]) == 0
    words = started["words"]
    assert words[:4] == [sys.executable, "-m", "mlflow", "server"]
    assert started["env"]["MLFLOW_BACKEND_STORE_URI"] == f"sqlite:///{tmp_path / 'mlflow.db'}"
    assert after(words, "--host") == "127.0.0.1"
    assert after(words, "--workers") == "1"
    assert after(words, "--artifacts-destination") == (tmp_path / "mlartifacts").as_uri()
    names = f"127.0.0.1:{port},localhost:{port},[::1]:{port}"
    assert after(words, "--allowed-hosts") == names
    assert f"export MLFLOW_TRACKING_URI=http://127.0.0.1:{port}\n" in started["told"]
    assert serve.LOGIN in started["told"]


@pytest.mark.parametrize(
    ("given", "address", "shown"),
    [
        ("s3://bucket/runs", "s3://bucket/runs", "artifacts in s3://bucket/runs\n"),
        ("a folder", "{}/a%20folder", "artifacts in {}/a folder\n"),
    ],
)
def test_artifacts_may_go_elsewhere(given, address, shown, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert serve.main(["--port", free_port(), "--artifacts", given]) == 0
    expected = address.format(tmp_path.as_uri())
    assert after(started["words"], "--artifacts-destination") == expected
    assert shown.format(tmp_path) in started["told"]


def test_a_password_is_not_among_the_words_of_a_process(started):
    port, store = free_port(), "postgresql://me:sEcr3t@host/runs"
    more = ["--app-name", "basic-auth"]
    assert serve.main(["--port", port, "--store", store, "--host", "0.0.0.0", *more]) == 0
    told = started["env"]["MLFLOW_BACKEND_STORE_URI"]
    assert told.endswith("://me:sEcr3t@host/runs")  # with the driver that is installed
    assert "sEcr3t" not in " ".join([*started["words"], started["told"]])
    assert "postgresql://me:***@host/runs" in started["told"]
    assert started["words"][-2:] == more
    assert serve.LOGIN not in started["told"]
    name = socket.gethostname()
    assert f"{name}:{port}" in after(started["words"], "--allowed-hosts").split(",")
    assert f"export MLFLOW_TRACKING_URI=http://{name}:{port}\n" in started["told"]


def test_the_store_may_be_given_by_the_environment(started, monkeypatch):
    monkeypatch.setenv("MLFLOW_BACKEND_STORE_URI", "postgresql://host/runs")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:5000")  # this very server
    assert serve.main(["--port", free_port()]) == 0
    assert started["env"]["MLFLOW_BACKEND_STORE_URI"].endswith("://host/runs")
    assert "MLFLOW_TRACKING_URI" not in started["env"]


WRONG = [
    (["--store", "http://host"], "--store must be a database, as postgresql://…; got 'http://host'."),
    (["--store", "http://me:sEcr3t@host"], "got 'http://me:***@host'."),
    (["--workers", "0"], "--workers must be at least 1; got 0."),
    (["--port", "99999"], "--host 127.0.0.1 --port 99999 cannot be used: "),
    (["--host", "192.0.2.1"], "--host 192.0.2.1 --port 5000 cannot be used: "),
]  # fmt: skip


@pytest.mark.parametrize(("words", "told"), WRONG)
def test_a_mistake_is_one_line(words, told, started, capsys):
    assert serve.main(words) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert not started


def test_a_port_that_is_taken_is_one_line(started, capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        assert serve.main(["--port", port]) == 2
    assert f"--port {port} cannot be used: " in capsys.readouterr().err
    assert not started


def test_a_server_that_ends_by_itself_is_an_error(capsys):

    def start():
        return subprocess.Popen([sys.executable, "-c", "exit(3)"], start_new_session=True)

    assert serve._served(start, "http://127.0.0.1:9", "told") == 1
    assert "the server ended by itself, with code 3" in capsys.readouterr().err

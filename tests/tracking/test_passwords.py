"""The password in a store's address is used, and shown nowhere."""

import base64
import logging
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from command import PATIENCE, environment

from forestlab import config as configs
from forestlab import masking
from forestlab.config import TrackingConfig
from forestlab.masking import hide, hide_in, real, scrub

SECRET = "sEcr3tPa55"
SMALL = ["dataset=iris", "n_estimators=2", "study=off", "tracking=lean"]

SHOWN = [
    ("postgresql://me:pa55word@host:5432/runs", "postgresql://me:***@host:5432/runs"),
    ("postgresql+psycopg2://me:a/b:c@host/runs", "postgresql+psycopg2://me:***@host/runs"),
    ("mysql://:pa55word@host/runs", "mysql://:***@host/runs"),
    ("http://me:p@ss@host:5000", "http://me:***@host:5000"),
    ("https://token@host", "https://***@host"),
    ("postgresql://host/runs?user=me&password=pa55word", "postgresql://host/runs?user=me&password=***"),
]  # fmt: skip
OPEN = [
    "sqlite:////tmp/a:b@c.db",
    "postgresql://me@host/runs",
    "http://host:5000/@a:b",
    "databricks",
]


@pytest.mark.parametrize(("address", "shown"), SHOWN)
def test_an_address_is_shown_without_its_password(address, shown):
    assert hide(address) == shown
    assert real(shown) == address
    assert hide(shown) == shown
    assert configs.store_uri(TrackingConfig(uri=shown)).partition("://")[2] in address


@pytest.mark.parametrize("address", OPEN)
def test_an_address_without_a_password_is_shown_as_it_is(address):
    assert hide(address) == real(address) == address
    assert masking.KNOWN not in os.environ


def test_what_others_say_is_scrubbed(caplog):
    hide(f"postgresql://postgres:{SECRET}%21@host/runs")
    said = f"password {SECRET}! of postgres at postgresql://postgres:{SECRET}%21@host refused"
    assert scrub(said) == "password *** of postgres at postgresql://postgres:***@host refused"
    try:
        raise ValueError(said)
    except ValueError:
        logging.getLogger("other").exception("failed: %s", said)
    assert SECRET not in caplog.text
    assert caplog.text.count("***") == 4
    assert "Traceback" in caplog.text


def test_a_password_that_is_a_part_of_a_word_leaves_the_word():
    hide("postgresql://me:post@host/runs")
    assert scrub("postgresql is not post") == "postgresql is not ***"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("tracking.uri=http://me:pw@h", "tracking.uri=http://me:***@h"),
        ("++tracking.uri='http://me:p,w=@h?a=b'", "++tracking.uri='http://me:***@h?a=b'"),
        ("tracking.uri=http://me:p\\,w@h", "tracking.uri=http://me:***@h"),
        ("tracking.uri=http://a:pw@h,http://b:pw@h", "tracking.uri=http://a:***@h,http://b:***@h"),
        ("tracking={uri: http://me:pw@h}", "tracking={uri: http://me:***@h}"),
    ],
)
def test_a_word_of_the_command_line(word, shown):
    assert hide_in(word) == shown
    if "\\" in word:
        assert real("http://me:***@h") == "http://me:p,w@h"


# ---- a run -------------------------------------------------------------------------------------


class Refusing(BaseHTTPRequestHandler):
    """A server that lets in who knows the password, takes nothing, and remembers who came."""

    seen: list[str] = []  # noqa: RUF012

    def do_GET(self):
        self.seen.append(self.headers.get("Authorization", ""))
        is_health = self.path.endswith("/health")
        self.send_response(200 if is_health else 500)
        self.end_headers()
        self.wfile.write(b"OK" if is_health else f"broken: {self.path} {SECRET}".encode())

    do_POST = do_GET

    def log_message(self, *args):
        pass


@pytest.fixture
def refusing():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    Refusing.seen.clear()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://me:{SECRET}@127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def logged(home: Path, *words: str, **variables: str):
    """A run in a process of its own, with one retry of MLflow's."""
    more = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"} | variables
    return subprocess.run(
        [sys.executable, "-m", "forestlab.run", *SMALL, *words],
        env=environment(home) | more, cwd=home, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def assert_nowhere(home: Path, done) -> None:
    """No file of a home has the secret, nor what was printed."""
    for told in (done.stdout, done.stderr):
        assert SECRET not in told
    files = [path for path in home.rglob("*") if path.is_file()]
    assert any(path.name == "config.yaml" for path in files)  # of Hydra's
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "way", ["option", "file", pytest.param("variable", marks=pytest.mark.long)]
)
def test_runs_that_a_server_refuses_show_it_nowhere(way, refusing, tmp_path):
    words, variables = ["-m", "seed=0,1"], {}
    if way == "option":
        words.append(f"tracking.uri={refusing}")
    if way == "variable":
        variables["MLFLOW_TRACKING_URI"] = refusing
    if way == "file":
        (tmp_path / "own/tracking").mkdir(parents=True)
        (tmp_path / "own/tracking/own.yaml").write_text(f"defaults: [lean]\nuri: {refusing}\n")
        words += ["--config-dir", str(tmp_path / "own"), "tracking=own"]
    home = tmp_path / "home"
    home.mkdir()
    done = logged(home, *words, **variables)
    assert done.returncode == 3  # the results are in the journal
    assert "kept: 2 results in " in done.stdout
    assert_nowhere(home, done)
    who = base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert set(Refusing.seen) == {f"Basic {who}"}  # the real one was used
    assert len(Refusing.seen) > 2

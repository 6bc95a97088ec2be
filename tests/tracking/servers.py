"""PostgreSQL and a server of MLflow on it, for tests: on loopback, with a folder and ports of their
own, and gone afterwards."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command import PATIENCE, as_a_terminal_does, environment

PASSWORD = "sEcr3tPa55"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# ---- PostgreSQL --------------------------------------------------------------------------------


def _programs() -> Path:
    found = [*sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")), shutil.which("initdb")]
    there = [Path(path) for path in found if path]
    if not there:
        pytest.skip("no PostgreSQL here: on Debian, apt-get install postgresql")
    return there[-1].parent


def _as_another(folder: Path) -> list[str]:
    """PostgreSQL does not run as the superuser: what begins a command for somebody else."""
    if os.geteuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("PostgreSQL does not run as the superuser, and there is no setpriv")
    names = {user.pw_name for user in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a server of PostgreSQL, to which the name of a database is to be added."""
    pytest.importorskip("psycopg2", reason="psycopg2 is not installed: forestlab[postgres]")
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="forestlab-postgres-", dir="/tmp"))  # for anybody
    port, begin = free_port(), _as_another(folder)
    (folder / "password").write_text(PASSWORD)
    (folder / "password").chmod(0o644)
    data = folder / "data"
    make = ["-D", data, "-U", "me", "-A", "scram-sha-256", f"--pwfile={folder / 'password'}"]
    try:
        made = subprocess.run(
            [*begin, programs / "initdb", *make, "--no-sync"],
            cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"PostgreSQL cannot be set up: {made.stderr.strip()[-200:]}")
        listen = ["-h", "127.0.0.1", "-p", str(port), "-k", folder]
        server = subprocess.Popen(
            [*begin, programs / "postgres", "-D", data, *listen],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            _wait_until_open(port, server)
            yield f"postgresql://me:{PASSWORD}@127.0.0.1:{port}"
        finally:
            server.send_signal(signal.SIGINT)  # without waiting for those who are connected
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_open(port: int, server: subprocess.Popen) -> None:
    for _ in range(300):
        assert server.poll() is None, "PostgreSQL ended by itself"
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                time.sleep(1.0)  # it may still say that it is starting up
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("PostgreSQL did not start")


def fresh_database(server: str, name: str) -> str:
    """The address of a new database."""
    import psycopg2

    with closing(psycopg2.connect(f"{server}/postgres")) as connection:
        connection.autocommit = True  # there is no database in a transaction
        connection.cursor().execute(f"create database {name}")
    return f"{server}/{name}"


# ---- MLflow ------------------------------------------------------------------------------------


class Served:
    """A server that `forestlab serve` started."""

    def __init__(self, home: Path, *words: str, port: int | None = None):
        self.port = port or free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.log = home / "server.log"
        self.before = self.log.stat().st_size if self.log.exists() else 0  # of one that has ended
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "forestlab", "serve", "--port", str(self.port), *words],
                env=environment(home), cwd=home, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=as_a_terminal_does,
            )  # fmt: skip

    def wait(self) -> "Served":
        for _ in range(3000):
            told = self.log.read_bytes()[self.before :].decode()
            if f"export MLFLOW_TRACKING_URI={self.address}" in told:
                return self
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.2)
        self.stop()
        pytest.fail(f"the server did not start:\n{self.log.read_text()}")

    def descendants(self) -> list[int]:
        return _descendants(self.process.pid)

    def stop(self, signum: int = signal.SIGINT) -> int:
        """The exit code."""
        self.process.send_signal(signum)
        return self.process.wait(PATIENCE)


@contextmanager
def serving(home: Path, *words: str) -> Iterator[Served]:
    server = Served(home, *words)
    try:
        yield server.wait()
    finally:
        server.stop()


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_descendants(child)]
    return found

"""`forestlab serve [--store ADDRESS] [--host 127.0.0.1] [--port 5000] …`: a server of MLflow, for
runs of many processes or machines.

It keeps runs in a database, PostgreSQL or by default the file outputs/mlflow.db, and artifacts in a
folder under outputs/, or in an object store; clients reach them through it. Other machines are let
in by --host, under the names that --allowed-hosts lists: MLflow refuses a request for any other, as
a page in a person's browser could send it. The server is a process group of its own, which ends
with this one.
"""

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from forestlab import config as configs
from forestlab.config import DATABASES, ConfigError, TrackingConfig
from forestlab.masking import hide
from forestlab.processes import ending_signals

STORE = "MLFLOW_BACKEND_STORE_URI"  # MLflow's own name for where a server keeps runs
LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATIENCE = 15.0  # seconds for requests that are under way to end
STOPPED = 130  # exit code of Ctrl-C
LOGIN = (
    "there is no login: whoever reaches the port may read and change all. "
    "With one: --app-name basic-auth (pip install 'mlflow[auth]')"
)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options, more = _options(arguments)
    try:
        store, artifacts = _checked(options)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    real = configs.store_uri(TrackingConfig(uri=store))
    environment = os.environ | {STORE: real, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    environment.pop("MLFLOW_TRACKING_URI", None)  # which may name this very server
    words = [*_command(options, artifacts), *more]
    told = _told(options, store, artifacts, more)

    def start() -> subprocess.Popen:
        return subprocess.Popen(words, env=environment, start_new_session=True)

    return _served(start, _address(options), told)


def _options(arguments: list[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """What was given, and what is MLflow's own."""
    parser = argparse.ArgumentParser(
        prog="forestlab serve",
        description="A server of MLflow. Further options go to `mlflow server`.",
    )
    add = parser.add_argument
    add("--store", help=f"postgresql://…; default: {STORE}, or mlflow.db in outputs/")
    add("--host", default="127.0.0.1", help="default: this machine alone; 0.0.0.0: others too")
    add("--port", type=int, default=5000, help="default: 5000")
    add("--workers", type=int, default=1, help="processes that answer; default: 1")
    add("--artifacts", help="a folder, or s3://…; default: mlartifacts in outputs/")
    add("--allowed-hosts", help="names it answers to, as host:port,…; default: this machine's")
    return parser.parse_known_args(arguments)


def _checked(options: argparse.Namespace) -> tuple[str, str]:
    """(the store as it is shown, the address of artifacts); raises ConfigError if it cannot be."""
    configs.require_home()
    store = hide(options.store or os.environ.get(STORE) or configs.own_store())
    if not store.startswith(("sqlite:///", *DATABASES)):
        raise ConfigError(f"--store must be a database, as postgresql://…; got {store!r}.")
    if options.workers < 1:
        raise ConfigError(f"--workers must be at least 1; got {options.workers}.")
    try:
        with socket.create_server((options.host, options.port)):
            pass
    except (OSError, OverflowError) as error:
        given = f"--host {options.host} --port {options.port}"
        raise ConfigError(f"{given} cannot be used: {error}.") from error
    try:
        configs.require_store(TrackingConfig(uri=store))
    except ConfigError as error:
        raise ConfigError(str(error).replace("tracking.uri", "--store", 1)) from error
    from forestlab.tracking import make_store  # late: it takes seconds

    make_store(TrackingConfig(uri=store))  # its workers would make it all at once
    artifacts = options.artifacts or str(configs.home() / "mlartifacts")
    return store, artifacts if "://" in artifacts else Path(artifacts).resolve().as_uri()


def _command(options: argparse.Namespace, artifacts: str) -> list[str]:
    """What is started; the address of its store has a password, and is not among the words."""
    return [
        *(sys.executable, "-m", "mlflow", "server"),
        *("--host", options.host, "--port", str(options.port), "--workers", str(options.workers)),
        *("--artifacts-destination", artifacts, "--allowed-hosts", _names(options)),
        *("--uvicorn-opts", "--log-level warning"),
    ]


def _names(options: argparse.Namespace) -> str:
    """By which names it may be called: those of this machine, if it is open to others."""
    if options.allowed_hosts:
        return options.allowed_hosts
    names = [*LOOPBACK[:2], "[::1]"]
    if options.host not in LOOPBACK:
        names += [options.host, socket.gethostname(), socket.getfqdn()]
    return ",".join(f"{name}:{options.port}" for name in dict.fromkeys(names))


def _address(options: argparse.Namespace, anywhere: str = "127.0.0.1") -> str:
    """Of the server; `anywhere` is its name if it listens everywhere."""
    name = anywhere if options.host == "0.0.0.0" else options.host
    return f"http://{f'[{name}]' if ':' in name else name}:{options.port}"


def _told(options: argparse.Namespace, store: str, artifacts: str, more: list[str]) -> str:
    """What to set where runs are made, and who may come."""
    where = unquote(artifacts.removeprefix("file://"))
    lines = [
        f"runs are kept in {store.removeprefix('sqlite:///')}, artifacts in {where}",
        f"it answers to {_names(options)}",
        *([] if "basic-auth" in more else [LOGIN]),
        "Ctrl-C ends it; where runs are made:",
        f"\n  export MLFLOW_TRACKING_URI={_address(options, socket.gethostname())}\n",
    ]
    return "\n".join(lines)


def _served(start: Callable[[], subprocess.Popen], address: str, told: str) -> int:
    """Start a server and wait until it ends, or end it with Ctrl-C, SIGTERM or a terminal that is
    closed; returns the exit code. What is told is told once it answers."""
    stopped: list[int] = []
    before = {
        each: signal.signal(each, lambda signum, frame: stopped.append(signum))
        for each in (signal.SIGINT, *ending_signals())
    }
    server = start()
    try:
        while not stopped and server.poll() is None:
            if told and _answers(address):
                print(told, flush=True)
                told = ""
            time.sleep(0.2)
        return _ended(server, stopped)
    finally:
        _send(server, signal.SIGKILL)
        server.wait()
        for each, handler in before.items():
            signal.signal(each, handler)


def _ended(server: subprocess.Popen, stopped: list[int]) -> int:
    """End the server if we were stopped; returns the exit code."""
    if not stopped:
        print(f"error: the server ended by itself, with code {server.returncode}.", file=sys.stderr)
        return 1
    print("stopping the server", file=sys.stderr)
    _send(server, signal.SIGTERM)
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        print(f"it did not end within {PATIENCE:.0f} s, and is killed", file=sys.stderr)
    return STOPPED if stopped[0] == signal.SIGINT else 128 + stopped[0]


def _send(server: subprocess.Popen, signum: int) -> None:
    """A signal for the server and all processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signum)


def _answers(address: str) -> bool:
    """Whether a server answers at all."""
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False

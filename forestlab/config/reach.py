"""Whether runs can be logged in a store, found out in a moment, before anything is trained.

Without MLflow, of which the import takes seconds: a file is asked by Python's own SQLite, a server
of MLflow by its /health, a database server by a connection.
"""

import base64
import os
import socket
import sqlite3
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing
from http.client import HTTPException
from pathlib import Path

from forestlab.config.keys import ConfigError, TrackingConfig
from forestlab.config.places import DATABASES, SQLITE, STORES, file_of, home, store_uri
from forestlab.masking import MASK, first_line, hide, is_unknown, scrub

PATIENCE = 5  # seconds for a server to answer
CLOSED = (401, 403)
EXPERIMENTS = "/api/2.0/mlflow/experiments/search?max_results=1"
# How MLflow is told who asks, and how else it may know.
NAME = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"
TOKEN = "MLFLOW_TRACKING_TOKEN"
OTHER_WAYS = (
    "MLFLOW_TRACKING_AUTH",
    "MLFLOW_TRACKING_AWS_SIGV4",
    "MLFLOW_TRACKING_CLIENT_CERT_PATH",
    "NETRC",
)
PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
# How long a driver tries to connect, in its own words.
CONNECT = {
    "postgresql": {"connect_timeout": PATIENCE},
    "mysql": {"connect_timeout": PATIENCE},
    "mssql": {"timeout": PATIENCE},
}
PACKAGES = {"postgresql": "forestlab[postgres]", "mysql": "pymysql"}  # of drivers
TABLES = {"experiments", "runs"}  # that a store of any age has
IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
MOST_LOOKED_THROUGH = 64 * 2**20  # bytes of a file: 0.2 s


def check_store(tracking: TrackingConfig) -> None:
    """Raise ConfigError for a store that is none, or for a server that does not answer."""
    uri = store_uri(tracking)
    shown = hide(uri)
    if not uri.startswith(STORES):
        raise ConfigError(
            f"tracking.uri must begin with one of {', '.join(STORES)}; got {shown!r}."
        )
    if is_unknown(uri):
        raise ConfigError(
            f"tracking.uri: {shown!r} has {MASK} for its password: give the password."
        )
    if uri.startswith("http"):
        _check_server(uri, shown)
    if uri.startswith(DATABASES):
        _check_database(uri, shown)


def require_store(tracking: TrackingConfig) -> None:
    """Raise ConfigError unless runs can be logged, as far as that can be known without MLflow."""
    check_store(tracking)
    if not tracking.experiment.strip():
        raise ConfigError(f"tracking.experiment must be a name; got {tracking.experiment!r}.")
    uri = store_uri(tracking)
    path = file_of(uri)
    if path is not None:
        _require_writable(path.parent, "choose another tracking.uri")
        if uri == SQLITE or path.is_dir():
            raise ConfigError(f"tracking.uri must name a file; got {uri!r}.")
        if path.exists() and path.stat().st_size:
            _check_file(path)


def require_home() -> None:
    """Raise ConfigError unless home can be written to."""
    _require_writable(home(), "set FORESTLAB_HOME")


def _require_writable(folder: Path, advice: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{folder} cannot be written ({reason}): {advice}.") from error


# ---- a file ------------------------------------------------------------------------------------


def _check_file(path: Path) -> None:
    """Raise ConfigError unless a file is a store that is whole and can be written to. One that
    another process writes to just now is taken to be."""
    where = f"{path.resolve().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(where, uri=True, timeout=PATIENCE)) as file:
            asked = file.execute("select name from sqlite_master where type = 'table'")
            tables = {name for (name,) in asked}
            if tables and not tables >= TABLES:
                raise ConfigError(
                    f"tracking.uri: {path} is a database of SQLite, but no store of MLflow."
                )
            if damage := _damage(file, path, tables):
                raise ConfigError(f"tracking.uri: {path} is damaged: {damage}.")
            file.execute("begin immediate")
            file.rollback()
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) in IN_USE:
            return
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
            raise ConfigError(
                f"tracking.uri: {path} is there and is not a database of SQLite."
            ) from error
        raise ConfigError(f"tracking.uri: {path} does not open: {error}.") from error


def _damage(file: sqlite3.Connection, path: Path, tables: set[str]) -> str:
    """What is wrong with a file; of a large one its tables' beginnings are looked at."""
    if path.stat().st_size <= MOST_LOOKED_THROUGH:
        found = str(file.execute("pragma quick_check(1)").fetchone()[0])
        return "" if found == "ok" else found.splitlines()[-1]
    for table in sorted(tables):
        file.execute(f'select * from "{table}" limit 1').fetchone()
    return ""


# ---- a server ----------------------------------------------------------------------------------


def asked(uri: str, path: str) -> urllib.request.Request:
    """A request to a server. Who asks may stand in its address, as in http://me:password@host, or
    in the variables that MLflow has for it."""
    parts = urllib.parse.urlsplit(uri)
    who, _, host = parts.netloc.rpartition("@")
    bare = urllib.parse.urlunsplit(parts._replace(netloc=host))
    request = urllib.request.Request(f"{bare.rstrip('/')}{path}")
    who = urllib.parse.unquote(who) or ":".join(filter(None, map(os.environ.get, NAME)))
    if who:
        told = base64.b64encode(who.encode()).decode()
        request.add_header("Authorization", f"Basic {told}")
    elif os.environ.get(TOKEN):
        request.add_header("Authorization", f"Bearer {os.environ[TOKEN]}")
    return request


def _check_server(uri: str, shown: str) -> None:
    """Raise ConfigError unless a server of MLflow answers and lets us in."""
    try:
        with urllib.request.urlopen(asked(uri, "/health"), timeout=PATIENCE):
            pass
    except urllib.error.HTTPError as error:
        if error.code not in CLOSED:  # its door may be another
            raise ConfigError(f"tracking.uri: {shown} answers {error}.") from error
    except (OSError, ValueError, HTTPException) as error:
        told = f"tracking.uri: no MLflow server answers at {shown}: {scrub(str(error))}"
        raise ConfigError(told) from error
    if not _is_shown_elsewhere():
        _check_door(uri, shown)


def _is_shown_elsewhere() -> bool:
    """Whether MLflow may tell a server who we are in a way that is its own."""
    files = (Path("~") / name for name in (".netrc", ".mlflow/credentials"))
    return any(map(os.environ.get, OTHER_WAYS)) or any(f.expanduser().exists() for f in files)


def _check_door(uri: str, shown: str) -> None:
    """Raise ConfigError if a server's list of experiments is not for us. Whatever else it answers
    is MLflow's to understand."""
    try:
        with urllib.request.urlopen(asked(uri, EXPERIMENTS), timeout=PATIENCE):
            pass
    except urllib.error.HTTPError as error:
        if error.code in CLOSED:
            told = f"tracking.uri: {shown} does not let us in ({error.code} {error.reason}): give "
            told += f"a name and password in its address, or set {' and '.join(NAME)}, or {TOKEN}."
            raise ConfigError(told) from error
    except (OSError, ValueError, HTTPException):
        pass


def _check_database(uri: str, shown: str) -> None:
    """Raise ConfigError unless a database server lets us in. Its port is tried before its driver,
    which tries each address of a name for PATIENCE seconds."""
    import sqlalchemy
    from sqlalchemy.pool import NullPool

    kind = uri.split(":")[0].split("+")[0]
    try:
        _try_port(uri, kind)
        patience = CONNECT.get(kind, {})
        engine = sqlalchemy.create_engine(uri, poolclass=NullPool, connect_args=patience)
        with engine.connect():
            pass
    except ImportError as error:
        advice = f": pip install '{PACKAGES[kind]}'" if kind in PACKAGES else ""
        told = f"tracking.uri: {shown!r} has no driver here ({error}){advice}."
        raise ConfigError(told) from error
    except (OSError, ValueError, sqlalchemy.exc.SQLAlchemyError) as error:
        reason = first_line(error)
        raise ConfigError(f"tracking.uri: {shown!r} does not open: {reason}") from error


def _try_port(uri: str, kind: str) -> None:
    """Raise OSError if nobody is at the port of a server's address; not all have one."""
    parts = urllib.parse.urlsplit(uri)
    if parts.hostname and kind in PORTS:
        place = parts.hostname, parts.port or PORTS[kind]
        with socket.create_connection(place, timeout=PATIENCE):
            pass

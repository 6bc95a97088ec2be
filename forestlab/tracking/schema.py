"""The tables of a store: there whole or not at all, and made by one process at a time.

MLflow makes them by some fifty migrations, of which SQLite commits each by itself: two processes
at once trip over each other's tables, and one that is killed leaves a file that no MLflow opens
again. So a file is made, or brought up to date, under a lock and as a *private* file, which then
takes the place of the old one in a single step. A database server is migrated in place, under a
lock of its own; PostgreSQL takes all migrations or none.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import mlflow
import sqlalchemy
from mlflow.store.db import utils as database
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from forestlab.atomic import locked, whole_file
from forestlab.config import CONNECT, ConfigError

BUSY = 60.0  # seconds for which a file that others write to is waited for
MINE = 0x666F7265  # the number of our lock in PostgreSQL
# Of each kind of server: how a session takes the lock, which ends with it.
LOCKS = {
    "postgresql": f"select pg_advisory_lock({MINE})",
    "mysql": f"select get_lock('forestlab-{MINE}', 600)",
    "mssql": f"exec sp_getapplock 'forestlab-{MINE}', 'Exclusive', 'Session', 600000",
}


def ready_file(path: Path, first_open: Callable[[], Any]) -> None:
    """Have a store of SQLite there, with the tables of this MLflow and all it adds when it opens a
    store for the first time, which is what `first_open` does."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    head = database._get_latest_schema_revision()
    if _is_ready(path, head):
        return
    with locked(path.with_name(f".{path.name}.lock")):
        if _revision(path) != head:
            _remake(path)
        first_open()


def ready_server(uri: str, first_open: Callable[[], Any]) -> None:
    """The same in a database server. It is asked once: MLflow itself would ask a server that does
    not answer ten times, for 100 seconds."""
    kind = uri.split(":")[0].split("+")[0]
    engine = sqlalchemy.create_engine(uri, poolclass=NullPool, connect_args=CONNECT.get(kind, {}))
    head = database._get_latest_schema_revision()
    with engine.connect() as connection:
        if _is_served(connection, head):
            return
        connection.rollback()
        if kind in LOCKS:
            connection.execute(sqlalchemy.text(LOCKS[kind]))
        first_open()


def _is_served(connection: sqlalchemy.Connection, head: str) -> bool:
    """Whether a server has all that a store needs."""
    if not sqlalchemy.inspect(connection).has_table("alembic_version"):
        return False
    asked = "select version_num from alembic_version", "select 1 from experiments"
    found = [connection.execute(sqlalchemy.text(words)).scalar() for words in asked]
    return found == [head, 1]


# ---- a file ------------------------------------------------------------------------------------


def _is_ready(path: Path, head: str) -> bool:
    return _revision(path) == head and _asked(path, "select 1 from experiments") == 1


def _revision(path: Path) -> str | None:
    """Of a store's tables; None of what has none."""
    found = _asked(path, "select version_num from alembic_version")
    return None if found is None else str(found)


def _asked(path: Path, words: str) -> Any:
    """The first value that a query of a file finds; None if it lacks the table, or is not there."""
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=BUSY)) as file:
        try:
            row = file.execute(words).fetchone()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return None
            raise
    return row[0] if row else None


def _remake(path: Path) -> None:
    """Make the tables of a file, or bring them up to date, in a copy that takes its place."""
    for left in path.parent.glob(f".{path.name}.making-*"):  # by a process that was killed
        with suppress(OSError):
            left.unlink()
    private = path.with_name(f".{path.name}.making-{os.getpid()}")
    try:
        if not (path.exists() and path.stat().st_size):
            _copy_empty(private)
            _put(private, path)
        else:
            _renew(path, private)
    finally:
        for left in (private, private.with_name(f"{private.name}-journal")):
            left.unlink(missing_ok=True)


def _put(private: Path, path: Path) -> None:
    """The step by which a private file becomes the store."""
    with open(private, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(private, path)


def _renew(path: Path, private: Path) -> None:
    """Migrate a copy of an old store; one that holds no run, and that was left when it was half
    made, begins anew. The old file is kept: a process of an older MLflow may have it open, and goes
    on writing to it.

    While that lasts no process can begin to write to the old file: its journal, which is found by
    name, would be taken for the new one's.
    """
    with closing(sqlite3.connect(path, timeout=BUSY, isolation_level=None)) as held:
        held.execute("pragma journal_mode = delete")  # what is in a write-ahead log is in the file
        held.execute("begin immediate")
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(private)) as copy:
            old.backup(copy)
        try:
            _migrate(private)
        except (SQLAlchemyError, ConfigError):
            if _asked(path, "select 1 from runs"):
                raise
            _copy_empty(private)
        os.link(path, _free_name(path.with_name(f"{path.name}.{_revision(path) or 'old'}")))
        _put(private, path)
        held.execute("rollback")


def _free_name(path: Path) -> Path:
    """A path that is not there yet."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found


def _migrate(path: Path) -> None:
    """Make all tables in a file that nobody else uses: it need not survive the machine yet."""
    engine = sqlalchemy.create_engine(f"sqlite:///{path}", poolclass=NullPool)

    @sqlalchemy.event.listens_for(engine, "connect")
    def _in_haste(connection: Any, record: Any) -> None:
        connection.execute("pragma synchronous = off")

    try:
        database._initialize_tables(engine)
    except SQLAlchemyError:
        raise
    except Exception as error:  # of Alembic: the tables are none that it knows
        raise ConfigError(
            f"its tables are not those of MLflow {mlflow.__version__}: {error}"
        ) from error


# ---- an empty store ----------------------------------------------------------------------------


def _copy_empty(path: Path) -> None:
    """A store without runs. The migrations take 1.7 s of processor time, a copy of what they made
    the last time 5 ms; so that is kept, in the user's cache folder."""
    kept = _empty_folder() / f"mlflow-{mlflow.__version__}.db"
    try:
        if _revision(kept) != database._get_latest_schema_revision():
            kept.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(kept) as made:
                _migrate(made)
        shutil.copyfile(kept, path)
    except (OSError, sqlite3.Error):  # a cache that is full, or cannot be written
        path.unlink(missing_ok=True)
        _migrate(path)


def _empty_folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "forestlab" / "stores"

"""A store is made whole, whoever makes it at the same time and however they end."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy
from alembic import command as alembic
from alembic.script import ScriptDirectory
from command import PATIENCE, ROOT, environment
from mlflow.store.db import utils as database
from mlflow.store.tracking.dbmodels.initial_models import Base as InitialBase

from forestlab import tracking
from forestlab.config import ConfigError, TrackingConfig
from forestlab.tracking import schema

MOMENTS = [0.3, 0.6, 0.9]  # shares of the time that it takes to make a store
MANY_MOMENTS = [i / 20 for i in range(20)]


def together(what: str, folder: Path, more) -> dict | list:
    """What tests/tracking/together.py tells."""
    script = ROOT / "tests/tracking/together.py"
    done = subprocess.run(
        [sys.executable, script, what, folder, json.dumps(more)],
        env=environment(folder) | {"XDG_CACHE_HOME": str(folder / "cache")},
        capture_output=True, text=True, timeout=2 * PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("n", [4, pytest.param(16, marks=pytest.mark.long)])
def test_processes_that_open_a_fresh_store_at_once_all_log(n, tmp_path):
    told = together("at_once", tmp_path, n)
    assert told == {"codes": [0] * n, "counted": [n, "ok", []]}


@pytest.mark.parametrize(
    "moments", [MOMENTS, pytest.param(MANY_MOMENTS, marks=pytest.mark.long)], ids=len
)
def test_a_process_that_is_killed_leaves_a_store_that_opens(moments, tmp_path):
    told = together("killed", tmp_path, moments)
    for first, second, before, runs, sound, left in told:
        assert (second, sound, left) == (0, "ok", [])
        assert runs == before + 1
        assert first in (-9, 0)  # a moment may come too late: then there is an earlier one
    assert sum(first == -9 for first, *_ in told) == len(moments)


# ---- an old store ------------------------------------------------------------------------------


def query(path: Path, words: str) -> list:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(words).fetchall()


def revision(path: Path) -> str:
    return query(path, "select version_num from alembic_version")[0][0]


@pytest.fixture(scope="module")
def old_store(tmp_path_factory) -> Path:
    """A store of an earlier MLflow, with a run."""
    path = tmp_path_factory.mktemp("old") / "mlflow.db"
    settings = database._get_alembic_config(f"sqlite:///{path}")
    scripts = ScriptDirectory.from_config(settings)
    earlier = [found.revision for found in scripts.walk_revisions()][30]
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    InitialBase.metadata.create_all(engine)
    with engine.begin() as connection:
        settings.attributes["connection"] = connection
        alembic.upgrade(settings, earlier)
    engine.dispose()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("insert into experiments (name, lifecycle_stage) values ('mine', 'active')")
        file.execute(
            "insert into runs (run_uuid, name, experiment_id, status, lifecycle_stage, start_time,"
            " user_id) values ('0123', 'old', 1, 'FINISHED', 'active', 1, 'me')"
        )
    return path


@pytest.fixture
def copied(old_store, tmp_path) -> Path:
    return Path(shutil.copy(old_store, tmp_path / "mlflow.db"))


def opened(path: Path, experiment: str = "mine"):
    return tracking.open_store(TrackingConfig(uri=f"sqlite:///{path}", experiment=experiment))


def test_an_old_store_is_brought_up_to_date_and_kept(copied, old_store):
    store = opened(copied)
    (run,) = tracking.search(store)
    assert run.info.run_name == "old"
    assert revision(copied) == database._get_latest_schema_revision() != revision(old_store)
    kept = copied.with_name(f"mlflow.db.{revision(old_store)}")
    assert kept.read_bytes() == old_store.read_bytes()
    assert {path.name for path in copied.parent.iterdir()} == {
        "mlflow.db", kept.name, ".mlflow.db.lock",
    }  # fmt: skip


@pytest.mark.parametrize("error", [OSError("full"), RuntimeError("what"), KeyboardInterrupt()])
def test_an_upgrade_that_fails_leaves_the_old_store_as_it_was(
    copied, old_store, error, monkeypatch
):
    def fail(engine):
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("drop table runs"))
        raise error

    monkeypatch.setattr(database, "_initialize_tables", fail)
    with pytest.raises((ConfigError, KeyboardInterrupt)):
        opened(copied)
    assert copied.read_bytes() == old_store.read_bytes()
    assert {path.name for path in copied.parent.iterdir()} == {"mlflow.db", ".mlflow.db.lock"}


def test_an_old_store_that_is_written_to_is_waited_for(copied, monkeypatch):
    with closing(sqlite3.connect(copied)) as writer:
        writer.execute("update runs set name = 'new'")
        monkeypatch.setattr(schema, "BUSY", 0.1)
        with pytest.raises(ConfigError, match="database is locked"):
            opened(copied)
        writer.commit()
    (run,) = tracking.search(opened(copied))
    assert run.info.run_name == "new"


def test_a_store_of_a_newer_mlflow_is_one_line(copied):
    with closing(sqlite3.connect(copied)) as file, file:
        file.execute("update alembic_version set version_num = 'feedfeedfeed'")
    before = copied.read_bytes()
    with pytest.raises(ConfigError, match="its tables are not those of MLflow") as told:
        opened(copied)
    assert "\n" not in str(told.value)
    assert copied.read_bytes() == before


def test_a_store_that_was_left_half_made_begins_anew(tmp_path):
    """As one was, when its process was killed between two migrations, before they were private."""
    path = tmp_path / "mlflow.db"
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    InitialBase.metadata.create_all(engine)
    engine.dispose()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("alter table metrics add column step bigint")  # which a migration adds
    before = path.read_bytes()
    store = opened(path, "forestlab")
    tracking.finish(store, tracking.start(store, "a", {}), "FINISHED")
    assert [run.info.run_name for run in tracking.search(store)] == ["a"]
    assert (tmp_path / "mlflow.db.old").read_bytes() == before


# ---- an empty store ----------------------------------------------------------------------------


def tables_of(path: Path) -> list:
    """In which order a table's constraints stand differs from one migration to the next."""
    found = query(path, "select type, name, sql from sqlite_master order by type, name")
    return [(kind, name, sorted(re.split(r",?\s*\n", sql or ""))) for kind, name, sql in found]


def test_a_store_that_is_copied_has_the_tables_of_one_that_is_migrated(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("a", "b"):
        schema._copy_empty(tmp_path / name)
    migrated = tmp_path / "migrated.db"
    database._initialize_tables(sqlalchemy.create_engine(f"sqlite:///{migrated}"))
    assert tables_of(tmp_path / "a") == tables_of(tmp_path / "b") == tables_of(migrated)
    assert len(os.listdir(tmp_path / "cache/forestlab/stores")) == 1


def test_a_cache_that_cannot_be_used_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "cache").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    opened(tmp_path / "mlflow.db")
    assert revision(tmp_path / "mlflow.db") == database._get_latest_schema_revision()

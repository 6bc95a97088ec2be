"""Stores of MLflow, opened for runs.

A *store* is an MLflow tracking store with one experiment in it. Without `tracking.uri` or
MLFLOW_TRACKING_URI it is mlflow.db in forestlab's home, with artifacts beside it, whatever the
working directory. Artifacts of a database server go there too; a server of MLflow keeps them where
it was told to.
"""

import logging
import os
import sqlite3
from pathlib import Path
from typing import NamedTuple

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from forestlab.config import (
    DATABASES,
    ConfigError,
    TrackingConfig,
    check_store,
    file_of,
    home,
    store_uri,
)
from forestlab.masking import first_line, hide
from forestlab.tracking import schema

# What MLflow does unless a person says otherwise.
OURS = {
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",  # a bar for each file read
    # A server that does not answer is asked again after 0, 4, 8 and 16 s: it may be started anew
    # meanwhile, and what it did not take is kept. By itself MLflow goes on for four minutes, and
    # waits two for each answer.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "4",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "60",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",  # two lines of each run, among the tables
}
for variable, value in OURS.items():
    os.environ.setdefault(variable, value)
logging.getLogger("alembic").setLevel(logging.WARNING)  # a line for each of 40 migrations
logging.getLogger("mlflow").setLevel(logging.ERROR)
# Each of its tracebacks is that of an error that it raises too, and that is told in a line.
logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)

KIND = "mlflow.experimentKind"  # makes the UI open on training runs, not on traces
UNOPENED = (MlflowException, SQLAlchemyError, sqlite3.Error, ImportError, OSError)  # of a store
TROUBLE = (*UNOPENED, ConfigError)  # with a store that was opened


class Store(NamedTuple):
    client: MlflowClient
    uri: str  # as it is shown
    experiment_id: str


def open_store(config: TrackingConfig) -> Store:
    """Open the store, making it and its experiment if need be; any number of processes may do so at
    the same time."""
    uri = store_uri(config)
    try:
        artifacts = _made_ready(uri)
        client = MlflowClient(tracking_uri=uri)
        return Store(client, hide(uri), _experiment(client, config.experiment, artifacts))
    except TROUBLE as error:
        told = f"tracking.uri: {hide(uri)!r} does not open: {first_line(error)}"
        raise ConfigError(told) from error


def make_store(config: TrackingConfig) -> None:
    """Have a store there, without an experiment of ours."""
    uri = store_uri(config)
    try:
        _made_ready(uri)
    except TROUBLE as error:
        told = f"tracking.uri: {hide(uri)!r} does not open: {first_line(error)}"
        raise ConfigError(told) from error


def open_existing(config: TrackingConfig) -> Store:
    """Open a store to read from it: neither the store nor the experiment is made."""
    check_store(config)
    uri = store_uri(config)
    path = file_of(uri)
    if path is not None:
        _check_file(path)
    try:
        _made_ready(uri)
        client = MlflowClient(tracking_uri=uri)
        experiments = {found.name: found.experiment_id for found in client.search_experiments()}
    except TROUBLE as error:
        raise ConfigError(f"{hide(uri)!r} does not open: {first_line(error)}") from error
    shown = hide(uri)
    if config.experiment not in experiments:
        there = ", ".join(sorted(experiments)) or "none"
        told = f"there is no experiment {config.experiment!r} in {shown}; there: {there}."
        raise ConfigError(told)
    return Store(client, shown, experiments[config.experiment])


def _made_ready(uri: str) -> str | None:
    """Have a store's tables there; returns where its artifacts go, None if a server decides."""
    path = file_of(uri)
    if path is not None:
        schema.ready_file(path, lambda: MlflowClient(tracking_uri=uri))
        return (path.resolve().parent / "mlartifacts").as_uri()
    if not uri.startswith(DATABASES):
        return None
    schema.ready_server(uri, lambda: MlflowClient(tracking_uri=uri))
    return (home() / "mlartifacts").as_uri()


def _check_file(path: Path) -> None:
    """Raise ConfigError unless it is a store: MLflow would make one there, in whatever it finds."""
    if not path.is_file():
        raise ConfigError(f"nothing is logged at {path}: there is no such file.")
    try:
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            database.execute("select 1 from experiments limit 1")
        finally:
            database.close()
    except sqlite3.Error as error:
        raise ConfigError(f"{path} is not a store of MLflow: {error}.") from error


def _experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return client.create_experiment(name, artifacts, {KIND: "custom_model_development"})
        except MlflowException:  # another process was quicker
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return found.experiment_id

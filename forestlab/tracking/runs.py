"""Runs in MLflow: stores, runs, parameters, one batch of metrics, artifacts, status.

A *store* is an MLflow tracking store with one experiment in it. Without `tracking.uri` or
MLFLOW_TRACKING_URI it is mlflow.db in forestlab's home, with artifacts beside it, whatever the
working directory. Runs are made with the client, not with MLflow's global state.
"""

import getpass
import logging
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mlflow import MlflowClient
from mlflow.entities import (
    Dataset,
    DatasetInput,
    InputTag,
    Metric,
    Param,
    Run,
    RunTag,
    ViewType,
)
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from forestlab.config import (
    Config,
    ConfigError,
    TrackingConfig,
    agree,
    check_store,
    param_text,
    store_uri,
)
from forestlab.study.part import Number
from forestlab.tracking import manifest

# A server that is away is waited for half a minute, not four: what it did not take is kept.
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "4")
# Of each run that ends at a server MLflow would print two lines among those of the tables.
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")  # a bar for each file read
logging.getLogger("alembic").setLevel(logging.WARNING)  # a line for each of 40 migrations
logging.getLogger("mlflow").setLevel(logging.ERROR)

PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"  # the tag whose Markdown the UI shows as the description
SAID = "MLFLOW_TRACKING_URI"
KIND = "mlflow.experimentKind"  # makes the UI open on training runs, not on traces
MOST_METRICS, MOST_PARAMS = 1000, 100  # in one batch
MOST_RUNS = 1000  # in one answer of a search
UNOPENED = (MlflowException, SQLAlchemyError, ImportError, OSError)  # of a store
TROUBLE = (*UNOPENED, ConfigError)  # with a store that was opened


_distrusted: set[str] = set()  # runs of which it was said why


class Store(NamedTuple):
    client: MlflowClient
    uri: str
    experiment_id: str


# ---- the store ---------------------------------------------------------------------------------


def open_store(config: TrackingConfig) -> Store:
    """Open the store, making it and its experiment if need be."""
    uri = store_uri(config)
    artifacts = None
    if uri.startswith("sqlite:///"):
        folder = Path(uri.removeprefix("sqlite:///")).resolve().parent
        folder.mkdir(parents=True, exist_ok=True)
        artifacts = (folder / "mlartifacts").as_uri()
    try:
        client = MlflowClient(tracking_uri=uri)
        return Store(client, uri, _experiment(client, config.experiment, artifacts))
    except UNOPENED as error:
        raise ConfigError(f"tracking.uri: {uri!r} does not open: {_first_line(error)}") from error


def open_existing(config: TrackingConfig) -> Store:
    """Open a store to read from it: neither the store nor the experiment is made."""
    check_store(config)
    uri = store_uri(config)
    if uri.startswith("sqlite:///"):
        _check_file(Path(uri.removeprefix("sqlite:///")))
    try:
        client = MlflowClient(tracking_uri=uri)
        experiments = {found.name: found.experiment_id for found in client.search_experiments()}
    except UNOPENED as error:
        raise ConfigError(f"{uri!r} does not open: {_first_line(error)}") from error
    if config.experiment not in experiments:
        there = ", ".join(sorted(experiments)) or "none"
        raise ConfigError(f"there is no experiment {config.experiment!r} in {uri}; there: {there}.")
    return Store(client, uri, experiments[config.experiment])


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


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


# ---- runs --------------------------------------------------------------------------------------


def start(
    store: Store,
    name: str,
    tags: dict[str, Any],
    parent_id: str | None = None,
    started: int | None = None,
) -> str:
    """Start a run; returns its id. `started` in ms, else now."""
    tags = process_tags() | tags
    if parent_id:
        tags[PARENT] = parent_id
    texts = {key: str(value) for key, value in tags.items()}
    made = store.client.create_run(store.experiment_id, started, texts, name)
    return made.info.run_id


def process_tags() -> dict[str, Any]:
    """Whose process a run is."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "mlflow.user": _user(),
        "mlflow.source.name": "forestlab.run",
    }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user id without a name, as in containers
        return str(os.getuid())


def finish(store: Store, run_id: str, status: str, ended: int | None = None) -> None:
    """FINISHED, FAILED or KILLED; `ended` in ms, else now."""
    store.client.set_terminated(run_id, status, ended)


def log_numbers(
    store: Store,
    run_id: str,
    numbers: Iterable[Number],
    params: dict[str, Any] | None = None,
    tags: dict[str, Any] | None = None,
    now: int | None = None,
) -> None:
    """Numbers, parameters and tags; NaN is left out. `now` in ms."""
    now = now or int(time.time() * 1000)
    metrics = [
        Metric(number.name, float(number.value), now, number.step)
        for number in numbers
        if number.value == number.value
    ]
    pairs = [Param(key, param_text(value)) for key, value in (params or {}).items()]
    labels = [RunTag(key, str(value)) for key, value in (tags or {}).items()]
    log_batches(store, run_id, metrics, pairs, labels)


def log_batches(
    store: Store,
    run_id: str,
    metrics: Sequence[Metric],
    pairs: Sequence[Param],
    labels: Sequence[RunTag],
) -> None:
    """One batch of all, or a few, if there are more than MLflow takes at once."""
    while metrics or pairs or labels:
        store.client.log_batch(
            run_id, metrics[:MOST_METRICS], pairs[:MOST_PARAMS], labels[:MOST_PARAMS]
        )
        metrics, pairs, labels = metrics[MOST_METRICS:], pairs[MOST_PARAMS:], labels[MOST_PARAMS:]


def log_folder(store: Store, run_id: str, folder: Path) -> None:
    store.client.log_artifacts(run_id, str(folder))


def log_text(store: Store, run_id: str, text: str, name: str) -> None:
    store.client.log_text(run_id, text, name)


def log_dataset(
    store: Store, run_id: str, name: str, digest: str, source: str, profile: str
) -> None:
    """The data set as MLflow's UI shows it: name, digest, where it came from, how it was split."""
    dataset = Dataset(name, digest, "local", source, profile=profile)
    tag = InputTag("mlflow.data.context", "training")
    store.client.log_inputs(run_id, [DatasetInput(dataset, [tag])])


# ---- looking back ------------------------------------------------------------------------------


def search(store: Store, condition: str = "") -> list[Run]:
    """All runs that a filter of MLflow lets through, newest first."""
    runs: list[Run] = []
    token = None
    while True:
        try:
            page = store.client.search_runs(
                [store.experiment_id],
                condition,
                max_results=MOST_RUNS,
                order_by=["attributes.start_time DESC"],
                page_token=token,
            )
        except MlflowException as error:
            raise ConfigError(f"MLflow does not take the query: {_first_line(error)}") from error
        runs += page
        token = page.token
        if not token:
            return runs


def children(store: Store, parent_id: str) -> list[Run]:
    """A sweep's runs, first started first."""
    found = store.client.search_runs(
        [store.experiment_id],
        f"tags.`{PARENT}` = '{parent_id}'",
        order_by=["attributes.start_time ASC"],
        max_results=50_000,
    )
    return list(found)


def find_finished(
    store: Store, config: Config, tags: dict[str, str], params: dict[str, str] | None = None
) -> Run | None:
    """The newest finished run that has all these tags and parameters and agrees with a config."""
    wanted = [f"tags.`{key}` = '{value}'" for key, value in tags.items()]
    wanted += [f"params.`{key}` = '{value}'" for key, value in (params or {}).items()]
    found = search(store, " and ".join([*wanted, "attributes.status = 'FINISHED'"]))
    agreeing = (run for run in found if agree(run.data.params, config))
    return next((run for run in agreeing if _is_whole(store, run)), None)


def _is_whole(store: Store, run: Run) -> bool:
    """Whether the store has what was logged with a run; says so if not, once."""
    why = manifest.disagreement(store, run)
    if why and run.info.run_id not in _distrusted:
        _distrusted.add(run.info.run_id)
        told = f"run {run.info.run_id} ({run.info.run_name}) is not taken for done: {why}."
        logging.getLogger("forestlab").warning(told)
    return not why


def sweep_up(store: Store) -> int:
    """End as KILLED the runs of dead processes of this machine; returns how many."""
    here = f"attributes.status = 'RUNNING' and tags.host = '{socket.gethostname()}'"
    stale = [
        run
        for run in store.client.search_runs([store.experiment_id], here, ViewType.ACTIVE_ONLY)
        if not is_alive(int(run.data.tags.get("pid", 0)))
    ]
    for run in stale:
        finish(store, run.info.run_id, "KILLED")
    return len(stale)


def is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def curve(store: Store, run_id: str, metric: str):
    """A metric's values by step, NaN for steps that were not logged."""
    history = store.client.get_metric_history(run_id, metric)
    values = np.full(max((point.step for point in history), default=-1) + 1, np.nan)
    for point in history:
        values[point.step] = point.value
    return values


def artifact_path(store: Store, run_id: str, name: str) -> Path:
    """A run's artifact as a local file, fetched if the store keeps it elsewhere."""
    return Path(store.client.download_artifacts(run_id, name))

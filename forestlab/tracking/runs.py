"""MLflow, and all of it: stores, runs, parameters, one batch of metrics, artifacts, status.

A *store* is an MLflow tracking store with one experiment in it. Without `tracking.uri` or
MLFLOW_TRACKING_URI it is mlflow.db in forestlab's home, with artifacts beside it, whatever the
working directory. Runs are made with the client, not with MLflow's global state; only a model needs
its run to be active for a moment.
"""

import getpass
import logging
import os
import re
import socket
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import mlflow
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
)
from mlflow.exceptions import MlflowException
from sqlalchemy.exc import SQLAlchemyError

from forestlab import processes
from forestlab.config import (
    Config,
    ConfigError,
    TrackingConfig,
    agree,
    check_store,
    param_text,
    store_uri,
)
from forestlab.core.options import OPTIONS
from forestlab.study.part import Number

os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")  # a bar for each file read
logging.getLogger("alembic").setLevel(logging.WARNING)  # a line for each of 40 migrations
logging.getLogger("mlflow").setLevel(logging.ERROR)

PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"  # the tag whose Markdown the UI shows as the description
SAID = "MLFLOW_TRACKING_URI"
PROCESS, BEAT = "process", "heartbeat"  # tags: who makes a run, and when it was last heard of
KIND = "mlflow.experimentKind"  # makes the UI open on training runs, not on traces
MOST_METRICS, MOST_PARAMS = 1000, 100  # in one batch
MOST_RUNS = 1000  # in one answer of a search
SILENCE = 600.0  # seconds without a heartbeat after which a run of another machine is dead
UNOPENED = (MlflowException, SQLAlchemyError, ImportError, OSError)  # of a store
TRUSTED = [
    "forestlab.core.arrays.Forest",
    "forestlab.core.arrays.Limits",
    "forestlab.forest.growing.Recipe",
    "forestlab.model.estimators.TreeClassifier",
    "forestlab.model.estimators.TreeRegressor",
    "forestlab.model.estimators.ForestClassifier",
    "forestlab.model.estimators.ForestRegressor",
    "forestlab.model.density.DensityForest",
]


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


def start(store: Store, name: str, tags: dict[str, Any], parent_id: str | None = None) -> str:
    """Start a run; returns its id."""
    tags = tags | {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        PROCESS: processes.mark(),
        "mlflow.user": _user(),
        "mlflow.source.name": "forestlab.run",
    }
    if parent_id:
        tags[PARENT] = parent_id
    texts = {key: str(value) for key, value in tags.items()}
    return store.client.create_run(store.experiment_id, tags=texts, run_name=name).info.run_id


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user id without a name, as in containers
        return str(os.getuid())


def finish(store: Store, run_id: str, status: str) -> None:
    """FINISHED, FAILED or KILLED."""
    store.client.set_terminated(run_id, status)


def log_numbers(
    store: Store,
    run_id: str,
    numbers: Iterable[Number],
    params: dict[str, Any] | None = None,
    tags: dict[str, Any] | None = None,
) -> None:
    """One batch of all (a few, if there are more than MLflow takes at once); NaN is left out."""
    now = int(time.time() * 1000)
    metrics = [
        Metric(number.name, float(number.value), now, number.step)
        for number in numbers
        if number.value == number.value
    ]
    pairs = [Param(key, param_text(value)) for key, value in (params or {}).items()]
    labels = [RunTag(key, str(value)) for key, value in (tags or {}).items()]
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


def log_model(
    store: Store, run_id: str, model, example, requirements: list[str], name: str = "model"
) -> str:
    """The fitted model, for mlflow.sklearn and mlflow.pyfunc; stored by skops, not by pickle.
    Returns its address.

    MLflow wants the run to be its active one for this, and marks it FINISHED afterwards: log a
    model last.
    """
    import mlflow.sklearn  # late: it takes a second

    with _active(store), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with mlflow.start_run(run_id=run_id, nested=True):
            logged = mlflow.sklearn.log_model(
                model,
                name=re.sub(r"[^\w-]+", "-", name),  # MLflow refuses some letters
                serialization_format="skops",
                skops_trusted_types=TRUSTED + _options(),
                signature=mlflow.models.infer_signature(example, model.predict(example)),
                input_example=example,
                pip_requirements=requirements,
            )
    return str(logged.model_uri)


@contextmanager
def _active(store: Store) -> Iterator[None]:
    """Have MLflow's own functions use a store, and none afterwards that they did not use before.

    MLflow writes the address into the environment too, where the next run of this process would
    take it for the user's wish.
    """
    said = os.environ.get(SAID)
    before = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
    mlflow.set_tracking_uri(store.uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(None if before == said else before)  # type: ignore[arg-type]
        os.environ.pop(SAID, None)
        os.environ.update({} if said is None else {SAID: said})


def _options() -> list[str]:
    """The classes of options, those added from outside too."""
    classes = [cls for rows in OPTIONS.values() for cls in rows.values()]
    return [f"{cls.__module__}.{cls.__qualname__}" for cls in classes]


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
    return next((run for run in found if agree(run.data.params, config)), None)


def sweep_up(store: Store) -> int:
    """End as KILLED the runs whose process is dead, as far as that is known; returns how many."""
    running = search(store, "attributes.status = 'RUNNING'")
    dead = [run for run in running if is_dead(run.data.tags)]
    for run in dead:
        finish(store, run.info.run_id, "KILLED")
    return len(dead)


def is_dead(tags: dict[str, str]) -> bool:
    """Whether the process of a run is known to be gone: a process of this machine is not there any
    more, or that of another was not heard of for long. Of what tells nothing, nothing is known."""
    if PROCESS not in tags:  # of an older forestlab
        is_here = tags.get("host") == socket.gethostname()
        return is_here and not processes.exists(int(tags.get("pid", 0)))
    lives = processes.is_alive(tags[PROCESS])
    if lives is None and BEAT in tags:
        return time.time() - float(tags[BEAT]) > SILENCE
    return lives is False


def beat(store: Store, run_id: str) -> None:
    """Say that the process of a run is at it."""
    store.client.set_tag(run_id, BEAT, f"{time.time():.0f}")


def find_running(store: Store, config: Config, tags: dict[str, str]) -> Run | None:
    """A run that another process makes now, with all these tags, that agrees with a config."""
    wanted = [f"tags.`{key}` = '{value}'" for key, value in tags.items()]
    found = search(store, " and ".join([*wanted, "attributes.status = 'RUNNING'"]))
    own = processes.mark()
    others = [run for run in found if PROCESS in run.data.tags and run.data.tags[PROCESS] != own]
    alive = [run for run in others if not is_dead(run.data.tags)]
    return next((run for run in alive if agree(run.data.params, config)), None)


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


def load_model(store: Store, run: Run) -> Any:
    """The estimator that `log_model` stored with a run."""
    import mlflow.sklearn  # late: it takes a second

    models = run.outputs.model_outputs if run.outputs else []
    if not models:
        raise ConfigError(f"run {run.info.run_id} has no model: tracking.model was false.")
    with _active(store):
        return mlflow.sklearn.load_model(f"models:/{models[-1].model_id}")

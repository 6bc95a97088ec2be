"""Runs in a store: parameters, one batch of metrics, artifacts, status, and looking back.

Runs are made with the client, not with MLflow's global state; only a model needs its run to be
active for a moment.
"""

import getpass
import os
import re
import socket
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
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
from mlflow.tracking._tracking_service import utils

from forestlab.config import Config, ConfigError, agree, param_text
from forestlab.core.options import OPTIONS
from forestlab.masking import first_line, real
from forestlab.study.part import Number
from forestlab.tracking.stores import Store

PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"  # the tag whose Markdown the UI shows as the description
SAID = "MLFLOW_TRACKING_URI"
MOST_METRICS, MOST_PARAMS = 1000, 100  # in one batch
MOST_RUNS = 1000  # in one answer of a search
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


# ---- runs --------------------------------------------------------------------------------------


def start(store: Store, name: str, tags: dict[str, Any], parent_id: str | None = None) -> str:
    """Start a run; returns its id."""
    tags = tags | {
        "host": socket.gethostname(),
        "pid": os.getpid(),
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
    utils._artifact_repos_cache.pop(run_id, None)  # which keeps those of 1,024 runs


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
    mlflow.set_tracking_uri(real(store.uri))
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
            raise ConfigError(f"MLflow does not take the query: {first_line(error)}") from error
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
    """End as KILLED the runs of dead processes of this machine; returns how many."""
    here = f"attributes.status = 'RUNNING' and tags.host = '{socket.gethostname()}'"
    stale = [
        run
        for run in store.client.search_runs([store.experiment_id], here, ViewType.ACTIVE_ONLY)
        if not _is_alive(int(run.data.tags.get("pid", 0)))
    ]
    for run in stale:
        finish(store, run.info.run_id, "KILLED")
    return len(stale)


def _is_alive(pid: int) -> bool:
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


def load_model(store: Store, run: Run) -> Any:
    """The estimator that `log_model` stored with a run."""
    import mlflow.sklearn  # late: it takes a second

    models = run.outputs.model_outputs if run.outputs else []
    if not models:
        raise ConfigError(f"run {run.info.run_id} has no model: tracking.model was false.")
    with _active(store):
        return mlflow.sklearn.load_model(f"models:/{models[-1].model_id}")

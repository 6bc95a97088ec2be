"""Runs in a store: parameters, one batch of metrics, artifacts, status, and looking back.

Runs are made with the client, not with MLflow's global state.
"""

import getpass
import logging
import os
import socket
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
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
from mlflow.tracking._tracking_service import utils

from forestlab import processes
from forestlab.config import Config, ConfigError, agree, param_text
from forestlab.masking import first_line
from forestlab.study.part import Number
from forestlab.tracking import manifest
from forestlab.tracking.stores import Store

PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"  # the tag whose Markdown the UI shows as the description
SAID = "MLFLOW_TRACKING_URI"
PROCESS, BEAT = "process", "heartbeat"  # tags: who makes a run, and when it was last heard of
MOST_METRICS, MOST_PARAMS = 1000, 100  # in one batch
MOST_RUNS = 1000  # in one answer of a search
SILENCE = 600.0  # seconds without a heartbeat after which a run of another machine is dead

_distrusted: set[str] = set()  # runs of which it was said why


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
        PROCESS: processes.mark(),
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
    utils._artifact_repos_cache.pop(run_id, None)  # which keeps those of 1,024 runs


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

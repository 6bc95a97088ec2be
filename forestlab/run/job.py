"""One run, from its data to its log. The command line, sweeps and baselines only call this."""

import json
import logging
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import datasets
from forestlab.run import claims, notes, plugins
from forestlab.run.making import Job, decided, recipe
from forestlab.run.measure import Done, fit_and_study
from forestlab.run.progress import NOW
from forestlab.run.shared import Shared

now = logging.getLogger(NOW)

LONGEST_WAIT = 30  # seconds for a store to answer when a run ends early
PAGE = "report.html"  # the artifact that a person opens first
HEAD_START = 2  # seconds for which a run is left alone before it is opened in the store


class Result(NamedTuple):
    """What the table at the end shows of a run."""

    name: str
    status: str  # FINISHED, FAILED, SKIPPED, KILLED, CLAIMED
    run_id: str | None
    metrics: dict[str, float]
    where: str = ""  # the store


def run(
    job: Job, shared: Shared, parent: Callable[[], str | None], show: bool, waits: bool = False
) -> Result:
    """Do one run, and log it unless tracking is off.

    `parent` gives the id of the sweep's run, or None. With resume=true a job that is logged already
    is SKIPPED, and one that another process is doing CLAIMED, unless this one `waits` for it.
    """
    if job.config.tracking.name == "none":
        return Result(job.name, "FINISHED", None, _last(fit_and_study(job, show).numbers()))
    if not job.config.resume:
        return _trained(job, shared, parent, show)
    from forestlab import tracking

    store = shared.swept_up(job.config.tracking)
    tags = identity(job.config, job.data.digest)
    with claims.claim(tags, store.uri, waits) as is_ours:
        if not is_ours:
            return Result(job.name, claims.CLAIMED, None, {}, store.uri)
        before = finished_before(job, shared)
        if before is None:
            running = partial(tracking.find_running, store, job.config, tags)
            if claims.is_done_elsewhere(running, waits):
                return Result(job.name, claims.CLAIMED, None, {}, store.uri)
            before = finished_before(job, shared) if waits else None
        if before is not None:
            metrics = dict(before.data.metrics)
            return Result(job.name, "SKIPPED", before.info.run_id, metrics, store.uri)
        return _trained(job, shared, parent, show)


def _trained(job: Job, shared: Shared, parent: Callable[[], str | None], show: bool) -> Result:
    """Fit, study and log.

    The run is opened in another thread, once the forest is studied or after HEAD_START seconds:
    importing MLflow takes longer than many a fit, and beside it a fit of 0.02 s takes 0.2. A first
    fit of more than HEAD_START seconds shares the machine with that.
    """
    is_measured, is_stopped = Event(), Event()
    opened = shared.background.submit(_open_run, job, shared, parent, is_measured, is_stopped)
    try:
        with claims.heard_of(opened):
            try:
                done = fit_and_study(job, show)
            except (KeyboardInterrupt, SystemExit):
                is_stopped.set()
                raise
            finally:
                is_measured.set()
            now.info("opening the store of MLflow")
            store, run_id = opened.result()
            numbers = _log(job, store, run_id, done)
    except Exception:
        _end(opened, "FAILED", traceback.format_exc())
        raise
    except BaseException:  # Ctrl-C, SIGTERM
        now.info("stopping: the run is ended as KILLED; Ctrl-C again does not wait for that")
        _end(opened, "KILLED")
        raise
    _end(opened, "FINISHED")
    return Result(job.name, "FINISHED", run_id, _last(numbers), store.uri)


def main_value(result: Result) -> float | None:
    """The main metric on validation, for sweepers that look for the best job."""
    from forestlab.core.tasks import TASKS

    found = (result.metrics.get(f"{task.main}/valid") for task in TASKS.values())
    return next((value for value in found if value is not None), None)


def _last(numbers) -> dict[str, float]:
    """The last value of each metric."""
    return {number.name: float(number.value) for number in numbers}


# ---- which result ------------------------------------------------------------------------------


def identity(config: configs.Config, digest: str) -> dict[str, str]:
    """The tags that runs of one result share: configuration, data and code."""
    from forestlab.tracking import provenance

    own = plugins.version(config.plugins)
    return {
        "config_hash": configs.fingerprint(config),
        "dataset_digest": digest,
        "result_version": provenance.versions()["result_version"],
    } | ({"plugins_version": own} if own else {})


def finished_before(job: Job, shared: Shared):
    """The newest finished run with the result of a job, as MLflow's Run; None without one.

    A run that kept no model or no pictures does not stand for one that is to keep them.
    """
    from forestlab import tracking

    config = job.config
    wanted = {"model": config.tracking.model, "pictures": config.tracking.pictures}
    kept = {f"tracking.{part}": "True" for part, is_wanted in wanted.items() if is_wanted}
    store, tags = shared.store(config.tracking), identity(config, job.data.digest)
    return tracking.find_finished(store, config, tags, kept)


# ---- the log -----------------------------------------------------------------------------------


def _open_run(
    job: Job,
    shared: Shared,
    parent: Callable[[], str | None],
    is_measured: Event,
    is_stopped: Event,
) -> tuple[Any, str]:
    """Start the run and log what is known of it before the fit; (store, run id)."""
    is_measured.wait(HEAD_START)
    if is_stopped.is_set() and "mlflow" not in sys.modules:
        raise CancelledError  # who stops the first run at once does not wait for MLflow
    from forestlab import tracking

    config, data = job.config, job.data
    store = shared.store(config.tracking)
    run_id = tracking.start(store, config.tracking.run_name or job.name, _tags(job), parent())
    try:
        tracking.log_numbers(store, run_id, [], configs.flat(config) | decided(job))
        profile = {split: len(rows) for split, rows in data.parts._asdict().items()}
        profile |= {"rows": len(data.y), "features": data.X.shape[1]}
        tracking.log_dataset(
            store, run_id, data.dataset.name, data.digest, data.dataset.source, json.dumps(profile)
        )
    except BaseException:
        tracking.finish(store, run_id, "FAILED")
        raise
    return store, run_id


def _tags(job: Job) -> dict[str, Any]:
    from forestlab import tracking
    from forestlab.tracking import provenance

    config, data = job.config, job.data
    tags = identity(config, data.digest) | {
        "seed": config.seed,
        "dataset": configs.data_name(config.dataset),
        "model": config.model.name,
        "task": data.task,
        "oob": "yes" if recipe(config, data).bag_size else "none",
    }
    if left_open := decided(job):
        tags["auto"] = " ".join(left_open)  # the parameters of which the config says auto
    tags |= provenance.versions() | provenance.code()[0]
    tags[tracking.BEAT] = f"{time.time():.0f}"  # told again as long as it runs
    return tags | ({"experiment": job.experiment} if job.experiment else {})


def _end(opened: Future, status: str, trace: str = "") -> None:
    """End a run, if it could be opened at all; a store that does not answer is not waited for."""
    from forestlab import tracking

    try:
        store, run_id = opened.result(timeout=LONGEST_WAIT)
    except Exception:
        return
    try:
        if trace:
            tracking.log_text(store, run_id, trace, "traceback.txt")
    finally:
        tracking.finish(store, run_id, status)


def _log(job: Job, store, run_id: str, done: Done) -> list:
    """Log all that was found; returns the numbers."""
    from forestlab import tracking

    start = time.perf_counter()
    numbers = done.numbers()
    now.info("logging %d numbers", len(numbers))
    tracking.log_numbers(store, run_id, numbers)  # first, as what follows may fail
    with tempfile.TemporaryDirectory() as scratch:
        _write(job, Path(scratch), done)
        now.info("logging files")
        tracking.log_folder(store, run_id, Path(scratch))
        page = PAGE if (Path(scratch) / PAGE).exists() else None
    model = _log_model(job, store, run_id, done) if job.config.tracking.model else None
    place = f"#/experiments/{store.experiment_id}/runs/{run_id}"
    told = notes.note(job, _last(numbers), place, model, page)
    tracking.log_numbers(store, run_id, [], tags={tracking.NOTE: told})
    last = numbers[0]._replace(
        name="summary/seconds_log", value=time.perf_counter() - start, step=0
    )
    tracking.log_numbers(store, run_id, [last])
    return [*numbers, last]


def _log_model(job: Job, store, run_id: str, done: Done) -> str:
    """The fitted model, called by its variant and data; returns its address."""
    from forestlab import tracking
    from forestlab.tracking import provenance

    now.info("logging the model")
    config, data = job.config, job.data
    example = data.dataset.frame.iloc[data.parts.train[:3]]
    name = f"{config.model.name}-{configs.data_name(config.dataset)}"
    wanted = provenance.requirements()
    return tracking.log_model(store, run_id, done.model, example, wanted, name)


def _write(job: Job, folder: Path, done: Done) -> None:
    """The files of a run: its config, what differs from the commit, what columns of a user's own
    table were taken for, tables and pictures, and the page of it all."""
    from forestlab import report
    from forestlab.model.parameters import n_threads
    from forestlab.study import artifacts
    from forestlab.study.part import About
    from forestlab.tracking import provenance

    OmegaConf.save(job.config, folder / "config.yaml", resolve=True)
    diff = provenance.code()[1]
    if diff:
        (folder / "git.diff").write_text(diff)
    if job.config.dataset.name in datasets.OWN:
        table = pd.DataFrame(datasets.columns_of(job.data.dataset.frame))
        table.to_csv(folder / "columns.csv", index=False)
    if job.config.study.name != "off":
        dataset, rows = job.data.dataset, job.data.parts._asdict()
        names, words = list(dataset.frame.columns), datasets.categories_of(dataset.frame)
        levels = [np.array(words[name]) if name in words else None for name in names]
        about = About(job.name, names, rows, dataset.image_shape, levels if words else None)
        artifacts.write(folder, done.found, about, job.config.tracking.pictures)
    if job.config.study.name == "full" and job.config.tracking.pictures:
        now.info("writing %s", report.NAME)
        shown = done.model.grown, job.data.splits(), done.found, about
        report.write(folder / report.NAME, *shown, n_threads(job.config.n_jobs))

"""One run, from its data to its log. The command line, sweeps and baselines only call this."""

import logging
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from forestlab import config as configs
from forestlab.masking import first_line, scrub
from forestlab.run import claims, log
from forestlab.run.log import identity, last_of
from forestlab.run.making import Job
from forestlab.run.measure import fit_and_study
from forestlab.run.progress import NOW
from forestlab.run.shared import Shared

now = logging.getLogger(NOW)

LONGEST_WAIT = 30  # seconds for a store to answer when a run ends early
HEAD_START = 2  # seconds for which a run is left alone before it is opened in the store


class Result(NamedTuple):
    """What the table at the end shows of a run."""

    name: str
    # FINISHED, FAILED, SKIPPED, KILLED; CLAIMED: another process does it; KEPT: done, and in the
    # journal until the store has it
    status: str
    run_id: str | None
    metrics: dict[str, float]
    where: str = ""  # the store
    why: str = ""  # it is kept


def run(
    job: Job,
    shared: Shared,
    parent: Callable[[], str | None],
    show: bool,
    above: Callable[[], dict[str, Any] | None] = lambda: None,
    waits: bool = False,
) -> Result:
    """Do one run, and log it unless tracking is off.

    `parent` gives the id of the sweep's run, or None; `above` what finds or makes that run later,
    if it cannot be had now. With resume=true a job that is logged already is SKIPPED, and one that
    another process is doing CLAIMED, unless this one `waits` for it.
    """
    if job.config.tracking.name == "none":
        return Result(job.name, "FINISHED", None, last_of(fit_and_study(job, show).numbers()))
    if not job.config.resume:
        return _trained(job, shared, parent, show, above)
    tags, where = identity(job.config, job.data.digest), configs.store_uri(job.config.tracking)
    with claims.claim(tags, where, waits) as is_ours:
        if not is_ours:
            return Result(job.name, claims.CLAIMED, None, {})
        before = _waiting(job, shared) or _asked(job, shared, waits)
        return before or _trained(job, shared, parent, show, above)


def _trained(
    job: Job,
    shared: Shared,
    parent: Callable[[], str | None],
    show: bool,
    above: Callable[[], dict[str, Any] | None],
) -> Result:
    """Fit, study and log.

    The run is opened in another thread, once the forest is studied or after HEAD_START seconds:
    importing MLflow takes longer than many a fit, and beside it a fit of 0.02 s takes 0.2. A first
    fit of more than HEAD_START seconds shares the machine with that.
    """
    is_measured, is_stopped = Event(), Event()
    opening = log.Opening(uuid.uuid4().hex, int(time.time() * 1000), above)
    to_open = job, shared, parent, opening, is_measured, is_stopped
    opened = shared.background.submit(_open_run, *to_open)
    with claims.heard_of(opened):
        try:
            try:
                done = fit_and_study(job, show)
            except (KeyboardInterrupt, SystemExit):
                is_stopped.set()
                raise
            finally:
                is_measured.set()
            waiting, numbers = log.written(job, done, opening)
        except Exception:
            _end(opened, "FAILED", traceback.format_exc())
            raise
        except BaseException:  # Ctrl-C, SIGTERM
            now.info("stopping: the run is ended as KILLED; Ctrl-C again does not wait for that")
            _end(opened, "KILLED")
            raise
        return _sent(job, shared, opened, waiting, last_of(numbers))


def main_value(result: Result) -> float | None:
    """The main metric on validation, for sweepers that look for the best job."""
    from forestlab.core.tasks import TASKS

    found = (result.metrics.get(f"{task.main}/valid") for task in TASKS.values())
    return next((value for value in found if value is not None), None)


# ---- which result ------------------------------------------------------------------------------


def _asked(job: Job, shared: Shared, waits: bool) -> Result | None:
    """What the store has of a job; one that does not answer is no reason not to do it."""
    try:
        return _logged(job, shared, waits)
    except Exception as error:
        shared.failed(job.config.tracking)
        told = "resume=true: the store cannot be asked whether %s is there, so it is done: %s"
        logging.getLogger("forestlab").warning(told, job.name, first_line(error))
        return None


def _logged(job: Job, shared: Shared, waits: bool) -> Result | None:
    """A job that is in the store, or that a process elsewhere does; if `waits`, when it is done."""
    from forestlab import tracking

    store, before = shared.swept_up(job.config.tracking), finished_before(job, shared)
    if before is None:
        tags = identity(job.config, job.data.digest)
        running = partial(tracking.find_running, store, job.config, tags)
        if claims.is_done_elsewhere(running, waits):
            return Result(job.name, claims.CLAIMED, None, {}, store.uri)
        before = finished_before(job, shared) if waits else None
    if before is None:
        return None
    return Result(job.name, "SKIPPED", before.info.run_id, dict(before.data.metrics), store.uri)


def _waiting(job: Job, shared: Shared) -> Result | None:
    """The result of a job that is in the journal: it is delivered, if the store takes it by now,
    and not done again."""
    from forestlab.tracking import journal

    for path in journal.entries(configs.journal()):
        with suppress(journal.Damaged):
            said = journal.read(path)
            if said.sweep is None and _is_of(job, said):
                return _delivered(job, shared, path, said)
    return None


def _delivered(job: Job, shared: Shared, path: Path, said: Any) -> Result:
    from forestlab.tracking import journal

    metrics = {name: value for name, value, _ in said.metrics}
    is_meant = journal.place_of(configs.store_uri(job.config.tracking)).uri == said.uri
    waiting = journal.claim(path) if is_meant else None
    if waiting is None:  # for another store, or another process is at it
        return Result(job.name, "KEPT", None, metrics, why="some were there before")
    unopened: Future = Future()
    unopened.set_exception(CancelledError())
    return _sent(job, shared, unopened, waiting, metrics)


def _is_of(job: Job, said: Any) -> bool:
    """Whether what an entry says is the result of a job."""
    config = job.config
    return (
        identity(config, job.data.digest).items() <= said.tags.items()
        and _kept(config).items() <= said.params.items()
        and said.experiment == config.tracking.experiment
        and configs.agree(said.params, config)
    )


def _kept(config: configs.Config) -> dict[str, str]:
    """The parameters of a run that keeps what this one is to keep."""
    wanted = {"model": config.tracking.model, "pictures": config.tracking.pictures}
    return {f"tracking.{part}": "True" for part, is_wanted in wanted.items() if is_wanted}


def finished_before(job: Job, shared: Shared):
    """The newest finished run with the result of a job, as MLflow's Run; None without one.

    A run that kept no model or no pictures does not stand for one that is to keep them.
    """
    from forestlab import tracking

    config = job.config
    store, tags = shared.store(config.tracking), identity(config, job.data.digest)
    return tracking.find_finished(store, config, tags, _kept(config))


# ---- the store ---------------------------------------------------------------------------------


def _open_run(
    job: Job,
    shared: Shared,
    parent: Callable[[], str | None],
    opening: log.Opening,
    is_measured: Event,
    is_stopped: Event,
) -> tuple[Any, Any]:
    """Start the run; (store, tracking.Begun)."""
    is_measured.wait(HEAD_START)
    if is_stopped.is_set() and "mlflow" not in sys.modules:
        raise CancelledError  # who stops the first run at once does not wait for MLflow
    try:
        return log.open_run(job, shared, parent, opening)
    except Exception:
        shared.failed(job.config.tracking)
        raise


def _sent(
    job: Job, shared: Shared, opened: Future, waiting: Any, metrics: dict[str, float]
) -> Result:
    """Send what waits in the journal; if the store does not take it, it stays there."""
    from forestlab import tracking

    try:
        now.info("opening the store of MLflow")
        if opened.exception() is None:
            store, begun = opened.result()
        else:  # some time ago; now it may answer
            store, begun = shared.store(job.config.tracking), None
        run_id = tracking.deliver(store, waiting, begun)
    except Exception as error:
        shared.failed(job.config.tracking)
        waiting.release()
        logging.getLogger("failed").exception("kept: %s", job.name)  # into the job's log file
        return Result(job.name, "KEPT", None, metrics, why=first_line(error))
    except BaseException:  # Ctrl-C, SIGTERM
        waiting.release()
        _end(opened, "KILLED")
        raise
    waiting.remove()
    return Result(job.name, "FINISHED", run_id, metrics, store.uri)


def _end(opened: Future, status: str, trace: str = "") -> None:
    """End a run, if it could be opened at all; a store that does not answer is not waited for."""
    from forestlab import tracking

    try:
        store, begun = opened.result(timeout=LONGEST_WAIT)
        if trace:
            tracking.log_text(store, begun.run_id, scrub(trace), "traceback.txt")
        tracking.finish(store, begun.run_id, status)
    except Exception:
        logging.getLogger("failed").exception("the store was not told of the end")

"""Jobs in other processes, by a launcher of Hydra's: handed over, followed, and handed over again.

A launcher may break on the way, as that of joblib does when one of its processes is killed, which
takes the others with it. The job of the process that fell first is KILLED; whatever was not begun,
or fell with it, is handed to a launcher anew. Jobs that another command was doing come last, and
wait for it.
"""

import logging
import os
import signal
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hydra import compose
from hydra._internal.callbacks import Callbacks
from hydra.core.global_hydra import GlobalHydra
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import HydraContext, RunMode

from forestlab import config as configs
from forestlab import processes
from forestlab.config import ConfigError, home
from forestlab.run import terminal
from forestlab.run.batch import Batch
from forestlab.run.claims import CLAIMED
from forestlab.run.engines import prepared, share
from forestlab.run.errand import NUMBER, Errand, Scored, Told
from forestlab.run.following import Following
from forestlab.run.job import Result
from forestlab.run.ledger import Done, Ledger, wait_for_end
from forestlab.run.mistakes import MISTAKES, one_line
from forestlab.run.plan import hydra_with, is_basic, options_of, said
from forestlab.run.targets import check_targets

CARRIED = ("FORESTLAB_DATA", "MLFLOW_TRACKING_URI")  # of the environment, beside the home
SUBDIR = "hydra.sweep.subdir"
MOST_IN_VAIN = 3  # times that jobs are handed over and nothing comes of it
TO_END = 10.0  # seconds for jobs to end by themselves when a sweep is stopped


def options_of_launcher(words: Sequence[str]) -> Namespace | None:
    """A command line that says no more than a launcher; None for that of this process. Raises
    ConfigError for one that there is not."""
    configs.register()
    try:
        options, _ = options_of(list(words))
        with hydra_with(None):
            hydra = compose("config", list(words), return_hydra_config=True).hydra
            check_targets(hydra, ())
    except MISTAKES as error:
        raise ConfigError(one_line(error)) from error
    return None if is_basic(hydra) else options


def launch(
    batch: Batch,
    options: Namespace,
    jobs: Sequence[Sequence[str]],
    given: Sequence[tuple[Any, str]] = (),
) -> None:
    """Have jobs done by the launcher that the command line chooses; `batch.results` is what came of
    them.

    Parameters
    ----------
    jobs : the overrides of each
    given : config and name of each, if they are not to be composed
    """
    with hydra_with(options.config_dir):
        hydra: Any = GlobalHydra.instance().hydra
        name = options.config_name or "config"
        words = [*options.overrides, f"hydra.mode={RunMode.MULTIRUN.name}"]
        config = hydra.compose_config(name, words, RunMode.MULTIRUN, with_log_configuration=True)
        callbacks = Callbacks(config)
        callbacks.on_multirun_start(config=config, config_name=name)
        context = HydraContext(config_loader=hydra.config_loader, callbacks=callbacks)
        with followed(batch, config.hydra, options, len(jobs), given) as (told, following):
            _Launch(config, context, told, following, jobs).go()
        callbacks.on_multirun_end(config=config, config_name=name)


@contextmanager
def followed(
    batch: Batch,
    hydra: Any,
    options: Namespace,
    n_jobs: int,
    given: Sequence[tuple[Any, str]] = (),
) -> Iterator[tuple[Told, Following]]:
    """A ledger for jobs in other processes, followed while this lasts, and what these are told."""
    shared = share(hydra.launcher, n_jobs)
    says = "n_jobs" in said(options.overrides)
    ledger = Ledger.new()
    known = {name: os.environ[name] for name in CARRIED if name in os.environ}
    told = Told(
        folder=str(ledger.folder),
        starter=ledger.starter,
        parent_id=batch.parent_id(),
        swept=tuple(batch.swept),
        threads=0 if says else shared.threads,
        is_watched=shared.is_watched,
        environment=tuple((known | {"FORESTLAB_HOME": str(home())}).items()),
        given=tuple(given),
    )
    following = Following(ledger, batch, shared.fall_together)
    try:
        with following, prepared(hydra.launcher):
            yield told, following
    except (KeyboardInterrupt, SystemExit):
        _end_all(ledger, following)
        raise
    else:
        ledger.remove()
    finally:
        batch.results += following.results()


class _Launch:
    def __init__(
        self,
        config: Any,
        context: HydraContext,
        told: Told,
        following: Following,
        jobs: Sequence[Sequence[str]],
    ):
        self.config, self.context, self.told = config, context, told
        self.following, self.jobs = following, jobs
        most = share(config.hydra.launcher, len(jobs)).at_once
        sizes = [size for size in (config.hydra.sweeper.get("max_batch_size"), most) if size]
        self.at_once = min(sizes, default=len(jobs))
        self.has_subdirs = SUBDIR in said(list(config.hydra.overrides.hydra))

    def go(self) -> None:
        """Hand jobs over until nothing is left, or nothing comes of it."""
        todo, done, n_vain = list(range(len(self.jobs))), self.following.done, 0
        while todo:
            n_before, error = len(done), None
            for first in range(0, len(todo), self.at_once):
                error = self._hand_over(todo[first : first + self.at_once]) or error
            left = [number for number in todo if number not in done]
            claimed = [n for n in todo if n in done and done[n].result.status == CLAIMED]
            n_vain = n_vain + 1 if len(done) == n_before else 0
            if n_vain == MOST_IN_VAIN:
                self._give_up(left, error)
                left = []
            for number in claimed:
                self.following.forget(number)
            self.told = self.told._replace(waits=bool(claimed))
            todo = left + claimed

    def _hand_over(self, numbers: list[int]) -> Exception | None:
        """Have a launcher do jobs, and see what came of each; what broke the launcher."""
        launcher = Plugins.instance().instantiate_launcher(
            hydra_context=self.context, task_function=Errand(self.told), config=self.config
        )
        error: Exception | None = None
        returned: Sequence[JobReturn] = ()
        try:
            returned = launcher.launch([self._words(number) for number in numbers], 0)
        except Exception as broken:
            logging.getLogger("forestlab").debug("the launcher broke", exc_info=True)
            error = broken
        self.following.settle(waits=error is not None)
        for number, job in zip(numbers, returned, strict=False):
            self._take(number, job)
        return error

    def _words(self, number: int) -> list[str]:
        """The overrides of a job; its number and folder stay, however often it is handed over."""
        own = [f"+hydra.job.env_set.{NUMBER}='{number}'"]
        own += [] if self.has_subdirs else [f"{SUBDIR}={number}"]
        return [*own, *self.jobs[number]]

    def _take(self, number: int, job: JobReturn) -> None:
        """What a launcher brought back of a job of which the ledger does not know."""
        if number in self.following.done:
            return
        if job.status == JobStatus.COMPLETED and isinstance(job.return_value, Scored):
            self.following.take(number, Done(job.return_value.result, 0.0))
        elif job.status == JobStatus.FAILED and isinstance(job._return_value, Exception):
            name = " ".join(job.overrides or ())
            line = terminal.failure(name, job._return_value)
            self.following.take(number, Done(Result(name, "FAILED", None, {}), 0.0, line))

    def _give_up(self, numbers: list[int], error: Exception | None) -> None:
        """Jobs that no launcher begins."""
        for number in numbers:
            name = " ".join(self.jobs[number])
            why = error or RuntimeError("the launcher did not begin it")
            line = terminal.failure(name, why)
            self.following.take(number, Done(Result(name, "FAILED", None, {}), 0.0, line))


def _end_all(ledger: Ledger, following: Following) -> None:
    """End what still runs on this machine when the sweep is stopped."""
    ledger.stop()
    marks = list({begun.process for begun in following.under_way().values()})
    left = [mark for mark in marks if processes.is_alive(mark) and mark != ledger.starter]
    for kind in (signal.SIGTERM, signal.SIGKILL):
        for mark in left:
            try:
                os.kill(processes.number(mark), kind)
            except ProcessLookupError:
                continue
        left = wait_for_end(left, TO_END)
    following.look()

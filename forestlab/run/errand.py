"""A job in a process that a launcher started: what it is told, does, and tells.

It begins the job in the sweep's ledger, does it as any other job is done, and tells the ledger what
came of it. SIGTERM ends the job as KILLED. If the process that started the sweep dies, so does this
one, which nobody would end.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hydra.core.hydra_config import HydraConfig
from threadpoolctl import threadpool_limits

from forestlab import config as configs
from forestlab import processes
from forestlab.config import Config
from forestlab.run import plugins, terminal
from forestlab.run.batch import TERMINATED, Batch, sigterm_ends
from forestlab.run.job import Result, main_value
from forestlab.run.ledger import Done, Ledger
from forestlab.run.naming import job_name
from forestlab.run.plan import parsed
from forestlab.run.shared import Shared

NUMBER = "FORESTLAB_JOB"  # the variable of a job that holds its number
LOOKS = 1.0  # seconds between two looks at who started us
PATIENCE = 20.0  # seconds for a run to be ended as KILLED


class Told(NamedTuple):
    """What the processes of a sweep know of it."""

    folder: str  # of the ledger
    starter: str  # the mark of the process that started it
    parent_id: str | None  # of the sweep's run
    swept: tuple[str, ...]  # the keys that vary
    threads: int = 0  # of a job that does not say how many; 0: all there are
    is_watched: bool = True  # whether the jobs end if the starter does
    environment: tuple[tuple[str, str], ...] = ()
    given: tuple[tuple[Any, str], ...] = ()  # config and name of each job, if Hydra makes none
    waits: bool = False  # for jobs that other commands do


class Scored(float):
    """The main metric of a job, for sweepers that look for the best one, with its whole result."""

    def __new__(cls, result: Result) -> "Scored":
        value = main_value(result)
        made = super().__new__(cls, float("nan") if value is None else value)
        made.result = Result(*result)
        return made

    result: Result

    def __reduce__(self):
        return Scored, (self.result,)


class Errand:
    """What a launcher calls for each job, in whatever process."""

    def __init__(self, told: Told):
        self.told = told

    def __reduce__(self):
        return _arrived, (self.told,)

    def __call__(self, config: Config) -> Scored | None:
        """One job, unless another process has begun it."""
        told, known = self.told, HydraConfig.get()
        number = int(known.job.env_set.get(NUMBER, known.job.num))
        ledger, start = Ledger(Path(told.folder), told.starter), time.monotonic()
        batch = _Guest(told)
        try:
            config, name = self._named(config, number)
        except Exception as error:
            name = " ".join(known.overrides.task)
            failed = Done(Result(name, "FAILED", None, {}), 0.0, terminal.failure(name, error))
            if ledger.begin(number, name):
                ledger.end(number, failed)
            return Scored(failed.result)
        if not ledger.begin(number, name):
            return None
        with _as_guest(told), ledger.touching(number):
            try:
                chosen = known.runtime.choices.get("experiment")
                result = batch.done(config, name, chosen, told.waits)
            except (KeyboardInterrupt, SystemExit):
                result = Result(name, "KILLED", None, {})
            except Exception as error:  # a full disk
                batch.tell_failed(name, error)
                result = Result(name, "FAILED", None, {})
        ledger.end(number, Done(result, time.monotonic() - start, batch.error))
        return Scored(result)

    def _named(self, config: Config, number: int) -> tuple[Config, str]:
        """The config of a job as it takes effect here, and what it is called."""
        known = HydraConfig.get()
        if self.told.given:
            config, name = self.told.given[number]
            plugins.load(config.plugins, known.runtime.cwd)
        else:
            plugins.load(config.plugins, known.runtime.cwd)
            config = configs.settled(config, is_sweep=True)
            name = job_name(config, parsed(known.overrides.task), self.told.swept)
        if self.told.threads and config.n_jobs == -1:
            config.n_jobs = self.told.threads
        return config, name


class _Guest(Batch):
    """One job. What it has to say to a person, who started the sweep will tell."""

    def __init__(self, told: Told):
        super().__init__(_shared(), swept=told.swept)
        self.told, self.error = told, ""

    def parent_id(self) -> str | None:
        return self.told.parent_id

    def tell_failed(self, name: str, error: Exception) -> None:
        self.error = terminal.failure(name, error)

    def show(self, wanted: Any) -> None:
        pass


def _arrived(told: Told) -> Errand:
    """An errand in another process. Hydra asks for forestlab's home before the job begins."""
    configs.quieten()
    os.environ.update(told.environment)
    if processes.mark() != told.starter:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: who started us ends us
        if told.is_watched:
            _watch(told.starter)
    return Errand(told)


@cache
def _shared() -> Shared:
    """Data and stores, for as long as the process lives."""
    return Shared()


# ---- a guest -----------------------------------------------------------------------------------

_at_work = threading.Event()


@contextmanager
def _as_guest(told: Told) -> Iterator[None]:
    """A job in a process that belongs to a launcher, and shares its machine and terminal."""
    if processes.mark() == told.starter:
        yield
        return
    os.environ["TERM"] = "dumb"  # a line that says what happens now is another's
    with ExitStack() as stack:
        if told.threads:
            stack.enter_context(threadpool_limits(told.threads))
        if threading.current_thread() is threading.main_thread():
            stack.enter_context(sigterm_ends())
        _at_work.set()
        try:
            yield
        finally:
            _at_work.clear()
            if processes.is_alive(told.starter) is False and told.is_watched:
                os._exit(TERMINATED)


@cache  # once for each
def _watch(starter: str) -> None:
    """End this process when the one that started the sweep is dead."""

    def look() -> None:
        while processes.is_alive(starter) is not False:
            time.sleep(LOOKS)
        if _at_work.is_set():
            os.kill(os.getpid(), signal.SIGTERM)  # its run is ended as KILLED
            time.sleep(PATIENCE)
        os._exit(TERMINATED)

    threading.Thread(target=look, name="forestlab-watch", daemon=True).start()

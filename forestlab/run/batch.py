"""The jobs of one command: done one after the other or as Hydra calls for them, and seen to an end.

A job that fails is FAILED and the others go on; Ctrl-C, SIGTERM and SIGHUP end the sweep's run as
KILLED. A job that another command is doing is left for the end, and waited for there.
"""

import gc
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from forestlab.atomic import is_full
from forestlab.config import Config, ConfigError
from forestlab.entry import unwinding
from forestlab.masking import first_line
from forestlab.processes import ending_signals

if TYPE_CHECKING:  # late: they import numba, and a mistake is told without it
    from forestlab.run.job import Result
    from forestlab.run.making import Job
    from forestlab.run.shared import Shared
    from forestlab.run.sweep import Parent
    from forestlab.run.terminal import Watch

TERMINATED = 143  # exit code of SIGTERM

# Without Hydra's log file a failure's trace goes to its run alone, and not to the terminal.
logging.getLogger("failed").addHandler(logging.NullHandler())


def notes_on(config: Config) -> Iterator[str]:
    """What a person should know who reads the numbers of such a run."""
    if config.pruning.name == "oob":
        yield (
            "pruning=oob: out-of-bag rows have chosen what is left of the trees, so what is out of "
            "bag is optimistic; go by validation and test rows."
        )
    if config.pruning.ccp_alpha == "valid":
        yield (
            "pruning.ccp_alpha=valid: validation rows have chosen α, so what they say is "
            "optimistic; go by test rows."
        )


class Batch:
    """What the jobs of a command share, and what came of those that are done in this process."""

    def __init__(
        self,
        shared: "Shared | None" = None,
        parent: "Parent | None" = None,
        n_jobs: int = 1,
        swept: Sequence[str] = (),
    ):
        """`swept` are the keys that vary. Without `parent` the jobs have no sweep's run above."""
        self.parent, self.n_jobs, self.swept = parent, n_jobs, swept
        self.results: list[Result] = []
        self._shared = shared
        self._watch: Watch | None = None
        # What other processes do: its place among the results, and the arguments of `do`.
        self._left: list[tuple[int, tuple[Config, str, str | None]]] = []
        self._shown: set[str] = set()  # digests of data whose columns, and notes that, were shown

    @property
    def shared(self) -> "Shared":
        if self._shared is None:
            from forestlab.run.shared import Shared

            self._shared = Shared()
        return self._shared

    def parent_id(self) -> str | None:
        return None if self.parent is None else self.parent.run_id

    def above(self) -> dict[str, Any] | None:
        """What finds or makes the sweep's run later, if it cannot be had now."""
        if self.parent is not None:
            return self.parent.record if self.parent.is_tracked else None
        run_id = self.parent_id()
        return {"run_id": run_id} if run_id else None

    def do(
        self, config: Config, name: str, experiment: str | None = None, waits: bool = False
    ) -> "Result":
        """One job: its result is kept, whatever comes of it. If another process is doing it, it is
        left for the end, unless its result is needed at once."""
        from forestlab.run.claims import CLAIMED

        if len(self.results) < 2:
            gc.freeze()  # what starting up and the first job import is not looked through again
        gc.enable()
        try:
            result = self.done(config, name, experiment, waits)
        except Exception:
            self.refuse(name)
            raise
        if result.status == CLAIMED:
            self._left.append((len(self.results), (config, name, experiment)))
        self.results.append(result)
        self._tell_done(result)
        return result

    def do_what_is_left(self) -> None:
        """The jobs that other processes were doing: most of these are done by now."""
        for place, (config, name, experiment) in self._left:
            self.results[place] = self.done(config, name, experiment, waits=True)
            self._tell_done(self.results[place])
        self._left.clear()

    def done(
        self, config: Config, name: str, experiment: str | None, waits: bool = False
    ) -> "Result":
        """What comes of a job; `waits`: for another process that does it. Raises what a full disk
        does: nothing can be kept of other jobs either."""
        from forestlab.run import job, progress, rehearsal, terminal

        progress.listen(progress.LINE)
        self._watch = self._watch or terminal.Watch(self.n_jobs)
        self._watch.begin(name, self.n_done)
        try:
            wanted = self.shared.job(config, name, experiment)
            rehearsal.begin(wanted)
            self.show(wanted)
            show = progress.is_terminal()
            return job.run(wanted, self.shared, self.parent_id, show, self.above, waits)
        except Exception as error:
            if is_full(error):
                raise
            logging.getLogger("failed").exception("failed: %s", name)  # into the job's log file
            self.tell_failed(name, error)
            return job.Result(name, "FAILED", None, {})

    @property
    def n_done(self) -> int:
        from forestlab.run.claims import CLAIMED

        return sum(result.status != CLAIMED for result in self.results)

    def tell_failed(self, name: str, error: Exception) -> None:
        from forestlab.run import terminal

        terminal.say_failed(terminal.failure(name, error))

    def _tell_done(self, result: "Result") -> None:
        from forestlab.run.claims import CLAIMED

        if self._watch is not None and result.status != CLAIMED:
            self._watch.done(result, self.n_done)

    def show(self, wanted: "Job") -> None:
        """Tell, once for each table of a user's own, what its columns are taken for; and once which
        numbers are not those of rows that took no part."""
        from forestlab import datasets
        from forestlab.run import terminal

        data = wanted.data
        if wanted.config.dataset.name in datasets.OWN and data.digest not in self._shown:
            self._shown.add(data.digest)
            found, notes = datasets.columns_of(data.dataset.frame), data.dataset.notes
            terminal.columns(found, len(data.y), notes)
        for note in notes_on(wanted.config):
            if note not in self._shown:
                self._shown.add(note)
                logging.getLogger("forestlab").warning(note)

    def refuse(self, name: str) -> None:
        """A job that is not done at all: it counts as failed, and who refused it tells why."""
        from forestlab.run.job import Result

        self.results.append(Result(name, "FAILED", None, {}))

    def has_failed(self) -> bool:
        """Whether a job failed, in this process or another."""
        if any(result.status in ("FAILED", "KILLED") for result in self.results):
            return True
        return self.parent is not None and self.parent.any_failed()


@contextmanager
def sigterm_ends() -> Iterator[None]:
    """Let SIGTERM, and a terminal that is closed, end what runs as an exception does, so that runs
    are marked as KILLED."""

    def terminate(signum, frame):
        raise SystemExit(TERMINATED)

    before = {name: signal.signal(name, terminate) for name in ending_signals()}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def run_jobs(batch: Batch, start: Callable[[], None]) -> str:
    """Start the jobs of a batch and see them to their end; returns FINISHED or FAILED.

    `start` calls `batch.do` for each job, itself or through Hydra. Whatever it raises, the sweep's
    run is ended first.
    """
    with unwinding():
        try:
            return _seen_to_an_end(batch, start)
        except Exception as error:
            if told := _of_store(error):
                raise ConfigError(told) from error
            raise


def _of_store(error: Exception) -> str:
    """What to say of an error by which nothing more can be logged; "" of another."""
    if is_full(error):
        return (
            f"no room is left on a disk: {first_line(error)}: make some, then the same "
            "command with resume=true goes on."
        )
    mlflow = sys.modules.get("mlflow")
    if mlflow is not None and isinstance(error, mlflow.exceptions.MlflowException):
        return f"the store takes no more: {first_line(error)}"
    return ""


def _seen_to_an_end(batch: Batch, start: Callable[[], None]) -> str:
    status = "FAILED"
    try:
        start()
        batch.do_what_is_left()
        status = "FAILED" if batch.has_failed() else "FINISHED"
    except KeyboardInterrupt:
        status = "KILLED"
        raise
    except SystemExit as stop:
        status = "KILLED" if stop.code == TERMINATED else "FAILED"
        raise
    finally:
        if batch.parent is not None:
            batch.parent.finish(status, batch.results)
    return status

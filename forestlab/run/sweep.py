"""A sweep's parent run: opened before the jobs, closed after them with the comparison.

The comparison is read back from the store, so it also holds what other processes logged.
"""

import tempfile
import time
import uuid
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from forestlab import config as configs
from forestlab.config import Config
from forestlab.masking import first_line
from forestlab.run.job import Result
from forestlab.run.shared import Shared


class Parent:
    """The parent run. It is opened when a job first asks for it, so that nothing waits for MLflow
    before the first tree grows; without tracking there is none."""

    def __init__(
        self,
        shared: Shared,
        first: Config,
        name: str,
        n_jobs: int,
        experiment: str | None = None,
        compares: bool = True,
    ):
        """`first` is the config of the sweep's first job; `compares`: with a comparison at last."""
        self.shared, self.first, self.name, self.n_jobs = shared, first, name, n_jobs
        self.tags = {"kind": "sweep"} | ({"experiment": experiment} if experiment else {})
        self.compares = compares
        self.key, self.started = uuid.uuid4().hex, int(time.time() * 1000)
        self.is_tracked = first.tracking.name != "none"
        self.is_open = False
        self.why = ""  # it is not ended yet

    @cached_property
    def opened(self) -> tuple[Any, str]:
        """(store, run id)."""
        from forestlab import tracking

        settings = self.first.tracking
        store = (self.shared.swept_up if self.first.resume else self.shared.store)(settings)
        run_id = tracking.parent_of(store, self.record, configs.journal())
        self.is_open = True
        return store, run_id

    @cached_property
    def record(self) -> dict[str, Any]:
        """What it takes to make the run, or to find it by its key."""
        from forestlab import tracking
        from forestlab.tracking import provenance

        own = tracking.process_tags() | self.tags | provenance.versions() | provenance.code()[0]
        return {
            "key": self.key,
            "name": self.name or "sweep",
            "tags": {key: str(value) for key, value in own.items()},
            "params": {"sweep": self.name, "n_jobs": str(self.n_jobs)},
            "started": self.started,
        }

    @property
    def store(self) -> Any:
        return self.opened[0]

    @property
    def run_id(self) -> Any:
        return self.opened[1] if self.is_tracked else None

    def children(self) -> list:
        """The runs of the jobs, of this process and others, as MLflow's."""
        if not self.is_open:
            return []
        from forestlab import tracking

        self.shared.store(self.first.tracking)  # if it has failed, it is not waited for
        return tracking.children(self.store, self.run_id)

    def _known_children(self) -> list:
        """As `children`, or none if the store cannot be asked."""
        try:
            return self.children()
        except Exception:
            self.shared.failed(self.first.tracking)
            return []

    def any_failed(self) -> bool:
        """Whether a job failed, as far as the store can be asked."""
        return any(run.info.status == "FAILED" for run in self._known_children())

    def results(self) -> list[Result]:
        """What the jobs did, from the store and the journal: for jobs of other processes."""
        waiting = {said.key: said for said in self._waiting()}
        logged = [
            Result(r.info.run_name, r.info.status, r.info.run_id, r.data.metrics, self.store.uri)
            for r in self._known_children()
            if r.data.tags.get("journal") not in waiting
        ]
        return logged + [
            Result(said.name, "KEPT", None, {name: value for name, value, _ in said.metrics})
            for said in waiting.values()
        ]

    def sweep_up(self) -> None:
        """End as KILLED the runs of processes that are dead."""
        if self.is_open:
            from forestlab import tracking

            tracking.sweep_up(self.store)

    def _waiting(self) -> list:
        """What the journal holds of the jobs, as journal.Said."""
        if not self.is_open:
            return []
        from forestlab.tracking import journal

        return journal.waiting_below(configs.journal(), self.key, self.run_id)

    def finish(self, status: str, results: list[Result]) -> None:
        """Compare the children and the runs that were skipped for being there, then end.

        That it ends, and how, is in the journal first. It stays there if runs of the sweep do, or
        if the store does not answer: `forestlab sync` ends it then.
        """
        if not self.is_tracked or not (self.is_open or any(r.status == "KEPT" for r in results)):
            return
        from forestlab import tracking

        self._end_lost(status)
        waiting = self._entry(status, [r.run_id for r in results if r.status == "SKIPPED"])
        try:
            self.why = end(self.store, self.run_id, waiting.said, waiting.path.parent)
        except tracking.TROUBLE as error:
            self.shared.failed(self.first.tracking)
            self.why = first_line(error)
        except Exception:  # of the comparison: the run is ended
            waiting.remove()
            raise
        except BaseException:
            waiting.release()
            raise
        (waiting.release if self.why else waiting.remove)()

    def _end_lost(self, status: str) -> None:
        """No job is at work any more: a run that seems to be, and of which the journal holds
        nothing, is one of a process that was killed. Of a sweep that is stopped so is one that was
        being sent: what the journal holds of it is delivered later."""
        from forestlab import tracking

        waiting = set() if status == "KILLED" else {said.key for said in self._waiting()}
        for run in self._known_children():
            if run.info.status == "RUNNING" and run.data.tags.get("journal") not in waiting:
                with suppress(*tracking.TROUBLE):
                    tracking.finish(self.store, run.info.run_id, "KILLED")

    def _entry(self, status: str, skipped: list) -> Any:
        """The entry of the journal for the sweep's run."""
        from forestlab.tracking import journal

        settings = self.first.tracking
        place = journal.place_of(configs.store_uri(settings))
        sweep = {"compares": self.compares, "skipped": skipped, "pictures": settings.pictures}
        said = journal.Said(
            **self.record,
            experiment=settings.experiment,
            uri=place.uri,
            has_secret=place.has_secret,
            status=status,
            ended=int(time.time() * 1000),
            sweep=sweep,
        )
        return journal.write(configs.journal(), self.key, said.name, lambda folder: said)


def end(store: Any, run_id: str, said: Any, journal: Path) -> str:
    """End a sweep's run as its entry says; why it cannot be ended yet, if so."""
    from forestlab import tracking
    from forestlab.tracking.journal import waiting_below

    if waiting_below(journal, said.key, run_id):
        if said.status == "KILLED":  # it does not seem to run until they are delivered
            tracking.finish(store, run_id, said.status, said.ended)
        return "runs of the sweep wait"
    try:
        if said.sweep["compares"] and said.status != "KILLED":
            _log_comparison(store, run_id, said)
    except tracking.TROUBLE:
        raise
    except Exception:  # not of the store: it would fail again
        tracking.finish(store, run_id, said.status, said.ended)
        raise
    tracking.finish(store, run_id, said.status, said.ended)
    return ""


def _log_comparison(store: Any, run_id: str, said: Any) -> None:
    """What compare.sweep tells of the children, and of runs that stand for some."""
    from forestlab import tracking
    from forestlab.compare import sweep

    runs = [store.client.get_run(skipped) for skipped in said.sweep["skipped"]]
    runs += tracking.children(store, run_id)
    name, draws = said.params["sweep"], said.sweep["pictures"]
    with tempfile.TemporaryDirectory() as scratch:
        told = sweep.tell(Path(scratch), store, name, said.experiment, runs, draws)
        tracking.log_folder(store, run_id, Path(scratch))
    tags = {tracking.NOTE: told.note} | ({"best_run": told.best} if told.best else {})
    tracking.log_numbers(store, run_id, told.numbers, tags=tags, now=said.ended)

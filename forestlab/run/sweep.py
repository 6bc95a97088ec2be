"""A sweep's parent run: opened before the jobs, closed after them with the comparison.

The comparison is read back from the store, so it also holds what other processes logged.
"""

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from forestlab.config import Config
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
        self.is_tracked = first.tracking.name != "none"
        self.is_open = False

    @cached_property
    def opened(self) -> tuple[Any, str]:
        """(store, run id). Processes that make a store together break it: here it is made once."""
        from forestlab import tracking
        from forestlab.tracking import provenance

        settings = self.first.tracking
        store = (self.shared.swept_up if self.first.resume else self.shared.store)(settings)
        tags = self.tags | provenance.versions() | provenance.code()[0]
        run_id = tracking.start(store, self.name or "sweep", tags)
        tracking.log_numbers(store, run_id, [], {"sweep": self.name, "n_jobs": self.n_jobs})
        self.is_open = True
        return store, run_id

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

        return tracking.children(self.store, self.run_id)

    def any_failed(self) -> bool:
        return any(run.info.status == "FAILED" for run in self.children())

    def results(self) -> list[Result]:
        """What the jobs did, from the store: for jobs that ran in other processes."""
        return [
            Result(r.info.run_name, r.info.status, r.info.run_id, r.data.metrics, self.store.uri)
            for r in self.children()
        ]

    def sweep_up(self) -> None:
        """End as KILLED the runs of processes that are dead."""
        if self.is_open:
            from forestlab import tracking

            tracking.sweep_up(self.store)

    def finish(self, status: str, results: list[Result]) -> None:
        """Compare the children and the runs that were skipped for being there, then end. No job is
        at work any more: a run that seems to be is one of a process that was killed."""
        if not self.is_open:
            return
        from forestlab import tracking

        for run in self.children():
            if run.info.status == "RUNNING":
                tracking.finish(self.store, run.info.run_id, "KILLED")
        try:
            if self.compares and status != "KILLED":
                _log_comparison(self, [r.run_id for r in results if r.status == "SKIPPED"])
        finally:
            tracking.finish(self.store, self.run_id, status)


def _log_comparison(parent: Parent, skipped: list) -> None:
    """What compare.sweep tells of the children, and of runs that stand for some."""
    from forestlab import tracking
    from forestlab.compare import sweep

    settings = parent.first.tracking
    runs = [parent.store.client.get_run(run_id) for run_id in skipped]
    runs += parent.children()
    with tempfile.TemporaryDirectory() as scratch:
        told = sweep.tell(
            Path(scratch), parent.store, parent.name, settings.experiment, runs, settings.pictures
        )
        tracking.log_folder(parent.store, parent.run_id, Path(scratch))
    tags = {tracking.NOTE: told.note} | ({"best_run": told.best} if told.best else {})
    tracking.log_numbers(parent.store, parent.run_id, told.numbers, tags=tags)

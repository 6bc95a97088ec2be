"""A sweep's parent run: opened before the jobs, closed after them with the comparison.

The comparison is read back from the store, so it also holds what other processes logged.
"""

import json
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from forestlab.config import SEEDS, Config
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

        store = self.shared.store(self.first.tracking)
        if self.first.resume:
            tracking.sweep_up(store)
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

    def finish(self, status: str, results: list[Result]) -> None:
        """Compare the children and the runs that were skipped for being there, then end."""
        if not self.is_open:
            return
        from forestlab import tracking

        try:
            if self.compares and status != "KILLED":
                _log_comparison(self, [r.run_id for r in results if r.status == "SKIPPED"])
        finally:
            tracking.finish(self.store, self.run_id, status)


def _log_comparison(parent: Parent, skipped: list) -> None:
    """comparison/children.json, a row a child; comparison/METRIC_SPLIT.png, curves over depth."""
    from forestlab import tracking

    runs = [parent.store.client.get_run(run_id) for run_id in skipped]
    runs += parent.children()
    finished = [run for run in runs if run.info.status == "FINISHED"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "comparison"
        folder.mkdir()
        (folder / "children.json").write_text(json.dumps([_row(run) for run in runs], indent=1))
        if finished and parent.first.tracking.pictures:
            _draw(parent, finished, folder)
        tracking.log_folder(parent.store, parent.run_id, Path(scratch))


def _row(run) -> dict:
    return {
        "run_id": run.info.run_id,
        "name": run.info.run_name,
        "status": run.info.status,
        "params": run.data.params,
        "metrics": run.data.metrics,
    }


def _variants(runs: list) -> dict[str, list]:
    """Runs by their names, those that differ in nothing but seeds together.

    A name tells what varies, seeds among it, which are left out; names that then are the same but
    stand for different runs get the beginning of an id.
    """
    groups: dict[tuple, list] = {}
    for run in runs:
        groups.setdefault(_without_seeds(run.data.params), []).append(run)
    named: dict[str, list] = {}
    for members in groups.values():
        words = members[0].info.run_name.split()
        name = " ".join(word for word in words if word.split("=")[0] not in SEEDS)
        if name in named:
            name = f"{name} {members[0].info.run_id[:6]}"
        named[name] = members
    return named


def _without_seeds(params: dict[str, str]) -> tuple:
    return tuple(sorted((key, value) for key, value in params.items() if key not in SEEDS))


def _draw(parent: Parent, runs: list, folder: Path) -> None:
    """The main metric of each task over depth, for validation and test: one line a child, or with
    several seeds their mean and spread."""
    from forestlab import figures, tracking
    from forestlab.core.tasks import TASKS

    for task, row in TASKS.items():
        metric = row.main
        variants = _variants([run for run in runs if run.data.tags.get("task") == task])
        for split in ("valid", "test"):
            curves = {
                name: [
                    curve
                    for run in members
                    if len(
                        curve := tracking.curve(parent.store, run.info.run_id, f"{metric}/{split}")
                    )
                ]
                for name, members in variants.items()
            }
            curves = {name: of_seeds for name, of_seeds in curves.items() if of_seeds}
            if not curves:
                continue
            if any(len(of_seeds) > 1 for of_seeds in curves.values()):
                picture = figures.banded_curves(curves, metric, parent.name, split)
            else:
                single = {name: of_seeds[0] for name, of_seeds in curves.items()}
                picture = figures.overlaid_curves(single, metric, parent.name, split)
            figures.save(picture, folder / f"{metric}_{split}.png")

"""A sweep's parent run: opened before the jobs, closed after them with the comparison.

The comparison is read back from the store, so it also holds what other processes logged.
"""

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from forestlab.config import Config


class Parent(NamedTuple):
    """`store` and `run_id` are None when tracking is off."""

    store: Any
    run_id: Any
    name: str


def start(first: Config, name: str, n_jobs: int) -> Parent:
    """Open the parent run of a sweep, given its first job's config.

    The store is made here, before any job needs it: processes that make it together break it.
    """
    if first.tracking.name == "none":
        return Parent(None, None, name)
    from forestlab import provenance, tracking

    store = tracking.open_store(first.tracking)
    if first.resume:
        tracking.sweep_up(store)
    tags = {"kind": "sweep"} | provenance.versions() | provenance.code()[0]
    run_id = tracking.start(store, name or "sweep", tags)
    tracking.log_numbers(store, run_id, [], {"sweep": name, "n_jobs": n_jobs})
    return Parent(store, run_id, name)


def any_failed(parent: Parent, results: list) -> bool:
    """Whether a job failed, in this process or another."""
    if any(result.status == "FAILED" for result in results):
        return True
    if parent.run_id is None:
        return False
    from forestlab import tracking

    return any(
        run.info.status == "FAILED" for run in tracking.children(parent.store, parent.run_id)
    )


def finish(parent: Parent, status: str) -> None:
    """Compare the children, then end the parent run."""
    if parent.run_id is None:
        return
    from forestlab import tracking

    try:
        if status != "KILLED":
            _log_comparison(parent)
    finally:
        tracking.finish(parent.store, parent.run_id, status)


def _log_comparison(parent: Parent) -> None:
    """comparison/children.json, a row a child; comparison/METRIC_SPLIT.png, curves over depth."""
    from forestlab import tracking

    runs = tracking.children(parent.store, parent.run_id)
    finished = [run for run in runs if run.info.status == "FINISHED"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "comparison"
        folder.mkdir()
        (folder / "children.json").write_text(json.dumps([_row(run) for run in runs], indent=1))
        if finished:
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


def _draw(parent: Parent, runs: list, folder: Path) -> None:
    """The main metric of each task over depth, one line a child, for validation and test."""
    from forestlab import figures, tracking
    from forestlab.study.metrics import MAIN

    for task, metric in MAIN.items():
        same_task = [run for run in runs if run.data.tags.get("task") == task]
        for split in ("valid", "test"):
            curves = {
                run.info.run_name: curve
                for run in same_task
                if len(curve := tracking.curve(parent.store, run.info.run_id, f"{metric}/{split}"))
            }
            if curves:
                picture = figures.overlaid_curves(curves, metric, parent.name, split)
                figures.save(picture, folder / f"{metric}_{split}.png")

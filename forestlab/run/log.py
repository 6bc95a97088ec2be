"""What a run says: written to the journal first, whole, and then sent to the store.

What the store did not take stays in the journal, where `forestlab sync` finds it.
"""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import datasets
from forestlab.run import notes, plugins
from forestlab.run.making import Job, decided, recipe
from forestlab.run.measure import Done
from forestlab.run.progress import NOW
from forestlab.run.shared import Shared

now = logging.getLogger(NOW)

PAGE = "report.html"  # the artifact that a person opens first


class Opening(NamedTuple):
    """What a run is known by before anything of it is logged."""

    key: str  # of its entry
    started: int  # ms
    above: Callable[[], dict[str, Any] | None]  # what finds or makes the run of its sweep


def open_run(job: Job, shared: Shared, parent: Callable[[], str | None], opening: Opening) -> Any:
    """Start the run in the store and log what is known of it before the fit; (store, Begun)."""
    from forestlab import tracking
    from forestlab.tracking import delivery

    config = job.config
    store = shared.store(config.tracking)
    said = _known(job, opening)
    run_id = delivery.make(store, said.key, said.name, said.tags, said.started, parent())
    begun = tracking.Begun(run_id)
    try:
        delivery.tell(store, run_id, said)
        begun.is_told = True
    except Exception:  # it is told again with the rest
        shared.failed(config.tracking)
    return store, begun


def _known(job: Job, opening: Opening) -> Any:
    """What is known before the fit, as journal.Said."""
    from forestlab import tracking
    from forestlab.tracking import journal

    config, data = job.config, job.data
    profile = {split: len(rows) for split, rows in data.parts._asdict().items()}
    profile |= {"rows": len(data.y), "features": data.X.shape[1]}
    place = journal.place_of(configs.store_uri(config.tracking))
    params = configs.flat(config) | decided(job)
    return journal.Said(
        key=opening.key,
        name=config.tracking.run_name or job.name,
        experiment=config.tracking.experiment,
        uri=place.uri,
        has_secret=place.has_secret,
        started=opening.started,
        tags={key: str(value) for key, value in (tracking.process_tags() | _tags(job)).items()},
        params={key: configs.param_text(value) for key, value in params.items()},
        parent=opening.above(),
        dataset={
            "name": data.dataset.name,
            "digest": data.digest,
            "source": data.dataset.source,
            "profile": json.dumps(profile),
        },
    )


def written(job: Job, done: Done, opening: Opening) -> tuple[Any, list]:
    """All that was found, as an entry of the journal that waits; and the numbers."""
    from forestlab.tracking import journal

    numbers = done.numbers()
    start = time.perf_counter()
    now.info("writing files")

    def fill(folder: Path) -> Any:
        _write(job, folder / journal.ARTIFACTS, done)
        is_kept = job.config.tracking.model
        if is_kept:
            _save_model(job, folder, done)
        seconds = time.perf_counter() - start
        numbers.append(numbers[0]._replace(name="summary/seconds_log", value=seconds, step=0))
        name = f"{job.config.model.name}-{configs.data_name(job.config.dataset)}"
        page = PAGE if (folder / journal.ARTIFACTS / PAGE).exists() else None
        address = journal.ADDRESS if is_kept else None
        return replace(
            _known(job, opening),
            ended=int(time.time() * 1000),
            metrics=[
                [number.name, float(number.value), int(number.step)]
                for number in numbers
                if number.value == number.value
            ],
            note=notes.note(job, last_of(numbers), journal.PLACE, address, page),
            model=name if is_kept else None,
        )

    return journal.write(configs.journal(), opening.key, job.name, fill), numbers


def last_of(numbers) -> dict[str, float]:
    """The last value of each metric."""
    return {number.name: float(number.value) for number in numbers}


def _save_model(job: Job, folder: Path, done: Done) -> None:
    from forestlab import tracking
    from forestlab.tracking import provenance

    now.info("writing the model")
    example = job.data.dataset.frame.iloc[job.data.parts.train[:3]]
    tracking.save_model(folder, done.model, example, provenance.requirements())


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


# ---- files -------------------------------------------------------------------------------------


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

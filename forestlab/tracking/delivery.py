"""An entry of the journal goes to a store: once, however often it is begun.

Every step may have been taken before by a process that was killed, or have reached a server whose
answer was lost: runs and models are found by the entry's key, metrics have the times that the entry
says, of which a store keeps each once, and all else replaces what is there. The run's status comes
last.
"""

import logging
from pathlib import Path

from mlflow.entities import Metric, RunTag

from forestlab.tracking import journal, manifest, models, runs
from forestlab.tracking.journal import Said, Waiting
from forestlab.tracking.stores import Store

now = logging.getLogger("forestlab.now")


class Undelivered(Exception):
    """Why an entry stays, in a line."""


def deliver(store: Store, waiting: Waiting, begun: "Begun | None" = None) -> str:
    """Send all that an entry says; returns the run's id. `begun` is the run that this process has
    opened for it, which nobody else knows of."""
    said, folder, is_new = waiting.said, waiting.path, begun is not None
    run_id = begun.run_id if begun else begin(store, said, folder.parent).run_id
    if not (begun and begun.is_told):
        tell(store, run_id, said)
    model = models.open_model(store, run_id, said, is_new) if said.model else None
    now.info("logging %d numbers", len(said.metrics))
    send_numbers(store, run_id, said, model.model_id if model else None)
    now.info("logging files")
    store.client.log_artifacts(run_id, str(folder / journal.ARTIFACTS))
    if model:
        now.info("logging the model")
        models.send_model(store, run_id, model, folder, is_new)
    if not is_new:
        differs = manifest.disagreement(store, store.client.get_run(run_id))
        if differs:
            raise Undelivered(f"the store does not have it all: {differs}")
    runs.finish(store, run_id, said.status, said.ended)
    return run_id


# ---- the run -----------------------------------------------------------------------------------


class Begun:
    """A run in the store, and whether its parameters and data are there."""

    def __init__(self, run_id: str, is_told: bool = False):
        self.run_id, self.is_told = run_id, is_told


def begin(store: Store, said: Said, folder: Path) -> Begun:
    """The run of an entry, found or made; `folder` is the journal."""
    found = _found(store, said.key)
    if found:
        return Begun(found)
    above = parent_of(store, said.parent, folder) if said.parent else None
    return Begun(make(store, said.key, said.name, said.tags, said.started, above))


def make(
    store: Store, key: str, name: str, tags: dict[str, str], started: int, above: str | None = None
) -> str:
    """A new run; returns its id."""
    run_id = runs.start(store, name, tags | {journal.KEY: key}, above, started)
    if store.uri.startswith("http"):  # MLflow's client asks again if an answer is lost
        return _found(store, key) or run_id
    return run_id


def parent_of(store: Store, parent: dict, folder: Path) -> str:
    """The id of a sweep's run, which is made if the store never heard of it."""
    if "key" not in parent:
        try:
            return store.client.get_run(parent["run_id"]).info.run_id
        except runs.MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            raise Undelivered("its sweep's run is not in this store") from error
    with journal.turn(folder):
        found = _found(store, parent["key"])
        if found:
            return found
        run_id = make(store, parent["key"], parent["name"], parent["tags"], parent["started"])
        runs.log_numbers(store, run_id, [], parent["params"])
        return run_id


def _found(store: Store, key: str) -> str | None:
    """The id of the run of a key; of several, of which an answer was lost, one stays."""
    asked = f"tags.{journal.KEY} = '{key}'"
    found = store.client.search_runs([store.experiment_id], asked)
    ids = sorted(run.info.run_id for run in found)
    for other in ids[1:]:
        store.client.delete_run(other)
    return ids[0] if ids else None


# ---- what it says ------------------------------------------------------------------------------


def tell(store: Store, run_id: str, said: Said) -> None:
    """What is known before the fit: parameters and data."""
    runs.log_numbers(store, run_id, [], said.params)
    if said.dataset:
        runs.log_dataset(store, run_id, **said.dataset)


def send_numbers(store: Store, run_id: str, said: Said, model_id: str | None) -> None:
    """Metrics, of which the last of each is the model's too; the note; the manifest's digest."""
    last = {name: place for place, (name, _, _) in enumerate(said.metrics)}
    metrics = [
        Metric(name, value, said.ended, step, model_id=model_id if last[name] == place else None)
        for place, (name, value, step) in enumerate(said.metrics)
    ]
    place = f"#/experiments/{store.experiment_id}/runs/{run_id}"
    note = said.note.replace(journal.PLACE, place).replace(journal.ADDRESS, f"models:/{model_id}")
    tags = [RunTag(runs.NOTE, note), RunTag(manifest.TAG, said.manifest)]
    runs.log_batches(store, run_id, metrics, [], tags)

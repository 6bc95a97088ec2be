"""Fitted models in MLflow: saved to a folder, sent from there, loaded again.

A model that is saved needs no store, and one that is sent need not be loaded: so it may wait on
disk (see `journal`). In between it is a folder of files by skops, not pickle, and the text of
MLmodel, which MLflow reads first and which lacks what only a store knows.
"""

import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mlflow
from mlflow.entities import LoggedModel, LoggedModelOutput, Run

from forestlab.config import ConfigError
from forestlab.core.options import OPTIONS
from forestlab.masking import real
from forestlab.tracking import journal
from forestlab.tracking.runs import SAID
from forestlab.tracking.stores import Store

# What stands in MLmodel for what a store will say.
ID, RUN, WHERE = "{{model_id}}", "{{run_id}}", "{{artifact_location}}"
ORIGIN = ("mlflow.user", "mlflow.source.name", "mlflow.source.git.commit")  # tags of its run
TRUSTED = [
    "forestlab.core.arrays.Forest",
    "forestlab.core.arrays.Limits",
    "forestlab.forest.growing.Recipe",
    "forestlab.model.estimators.TreeClassifier",
    "forestlab.model.estimators.TreeRegressor",
    "forestlab.model.estimators.ForestClassifier",
    "forestlab.model.estimators.ForestRegressor",
    "forestlab.model.density.DensityForest",
]


def save_model(folder: Path, model: Any, example: Any, requirements: list[str]) -> None:
    """Write a fitted model, for mlflow.sklearn and mlflow.pyfunc, as `model/` and `MLmodel`."""
    import mlflow.sklearn  # late: it takes a second

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.sklearn.save_model(
            model,
            str(folder / journal.MODEL),
            mlflow_model=mlflow.models.Model(
                artifact_path=WHERE, model_uuid=ID, run_id=RUN, model_id=ID
            ),
            serialization_format="skops",
            skops_trusted_types=TRUSTED + _options(),
            signature=mlflow.models.infer_signature(example, model.predict(example)),
            input_example=example,
            pip_requirements=requirements,
        )
    os.rename(folder / journal.MODEL / journal.MLMODEL, folder / journal.MLMODEL)


def _options() -> list[str]:
    """The classes of options, those added from outside too."""
    classes = [cls for rows in OPTIONS.values() for cls in rows.values()]
    return [f"{cls.__module__}.{cls.__qualname__}" for cls in classes]


def open_model(store: Store, run_id: str, said: journal.Said, is_new: bool) -> LoggedModel:
    """The model of a run in the store, made unless it is there; `is_new`: nobody began it."""
    found = None if is_new else _found(store, said.key)
    if found:
        return found
    made = store.client.create_logged_model(
        store.experiment_id,
        re.sub(r"[^\w-]+", "-", said.model or "model"),  # MLflow refuses some letters
        run_id,
        {key: said.tags[key] for key in ORIGIN if key in said.tags} | {journal.KEY: said.key},
        said.params,
    )
    if store.uri.startswith("http"):  # MLflow's client asks again if an answer is lost
        return _found(store, said.key) or made
    return made


def _found(store: Store, key: str) -> LoggedModel | None:
    """The model of a key; of several, of which an answer was lost, one stays."""
    asked = f"tags.{journal.KEY} = '{key}'"
    found = list(store.client.search_logged_models([store.experiment_id], asked))
    found.sort(key=lambda model: model.model_id)
    for other in found[1:]:
        store.client.delete_logged_model(other.model_id)
    return found[0] if found else None


def send_model(store: Store, run_id: str, model: LoggedModel, folder: Path, is_new: bool) -> None:
    """Send what `save_model` wrote, and name it as what came of the run."""
    client, told = store.client, {ID: model.model_id, RUN: run_id, WHERE: model.artifact_location}
    client.log_model_artifacts(model.model_id, str(folder / journal.MODEL))
    text = (folder / journal.MLMODEL).read_text()
    for mark, value in told.items():
        text = text.replace(mark, value)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, journal.MLMODEL)
        path.write_text(text)
        client.log_model_artifact(model.model_id, str(path))
    outputs = None if is_new else client.get_run(run_id).outputs
    known = [output.model_id for output in outputs.model_outputs] if outputs else []
    if model.model_id not in known:
        client.log_outputs(run_id, [LoggedModelOutput(model.model_id, 0)])
    client.finalize_logged_model(model.model_id, "READY")


# ---- loading -----------------------------------------------------------------------------------


def load_model(store: Store, run: Run) -> Any:
    """The estimator that was stored with a run."""
    import mlflow.sklearn  # late: it takes a second

    models = run.outputs.model_outputs if run.outputs else []
    if not models:
        raise ConfigError(f"run {run.info.run_id} has no model: tracking.model was false.")
    with _active(store):
        return mlflow.sklearn.load_model(f"models:/{models[-1].model_id}")


@contextmanager
def _active(store: Store) -> Iterator[None]:
    """Have MLflow's own functions use a store, and none afterwards that they did not use before.

    MLflow writes the address into the environment too, where the next run of this process would
    take it for the user's wish.
    """
    said = os.environ.get(SAID)
    before = mlflow.get_tracking_uri() if mlflow.is_tracking_uri_set() else None
    mlflow.set_tracking_uri(real(store.uri))
    try:
        yield
    finally:
        mlflow.set_tracking_uri(None if before == said else before)  # type: ignore[arg-type]
        os.environ.pop(SAID, None)
        os.environ.update({} if said is None else {SAID: said})

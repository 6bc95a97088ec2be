"""Runs read back from the store, as an experiment's `table` sees them."""

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from forestlab.config import Config, typed

if TYPE_CHECKING:  # late: it imports numba, and a list of names needs none
    from forestlab.run.shared import Shared

UI = "http://127.0.0.1:5000"  # of scripts/ui


class LoggedRun:
    """A finished run: what was logged of it, fetched when it is asked for."""

    def __init__(self, store, run):
        self._store, self._run = store, run
        self.id: str = run.info.run_id
        self.name: str = run.info.run_name
        self.metrics: dict[str, float] = dict(run.data.metrics)  # the last value of each

    @property
    def where(self) -> str:
        """The store."""
        return self._store.uri

    @property
    def url(self) -> str:
        """Its page in the MLflow UI."""
        ui = self.where if self.where.startswith("http") else UI
        return f"{ui}/#/experiments/{self._store.experiment_id}/runs/{self.id}"

    @cached_property
    def params(self) -> dict[str, Any]:
        """The config by dotted keys, such as "model.max_features"."""
        return {key: typed(text) for key, text in self._run.data.params.items()}

    def curve(self, metric: str) -> np.ndarray:
        """A metric's values at depth 0, 1, … (or at other steps); NaN where there is none."""
        return _tracking().curve(self._store, self.id, metric)

    def path(self, name: str) -> Path:
        """An artifact as a local file."""
        return _tracking().artifact_path(self._store, self.id, name)

    def artifact(self, name: str) -> Any:
        """What a JSON artifact holds."""
        return json.loads(self.path(name).read_text())

    def table(self, name: str) -> pd.DataFrame:
        """A parquet artifact, such as "predictions.parquet"."""
        return pd.read_parquet(self.path(name))

    def model(self) -> Any:
        """The fitted estimator; its experiment must say `tracking: {model: true}`."""
        return _tracking().load_model(self._store, self._run)


def _tracking():
    from forestlab import tracking  # late: MLflow takes seconds, and a list of names needs none

    return tracking


def frame(runs: list[LoggedRun], *columns: str) -> pd.DataFrame:
    """A row a run; columns are names of parameters or metrics."""
    rows = [[(run.params | run.metrics)[column] for column in columns] for run in runs]
    return pd.DataFrame(rows, columns=list(columns))


def find(config: Config, shared: "Shared") -> LoggedRun | None:
    """The newest finished run of a job, if there is one.

    A run belongs by its result, whoever asked for it: experiments share what they both need.
    """
    from forestlab.run.job import finished_before

    run = finished_before(shared.job(config), shared)
    return None if run is None else LoggedRun(shared.store(config.tracking), run)


def logged_as(config: Config, run_id: str | None, shared: "Shared") -> LoggedRun | None:
    """A run whose id is known; None without one, as of a job that failed."""
    store = shared.store(config.tracking)
    return LoggedRun(store, store.client.get_run(run_id)) if run_id else None

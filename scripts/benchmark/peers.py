"""The forests that are compared: full depth, sqrt of the features at a node, of numbers a third.

A peer is a function of the task that imports it and returns what makes a model; a model has `fit`,
`predict` and `set_params(n_jobs=…)`.
"""

import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmark.measured import EXACT, FIRST, OURS
from benchmark.rounds import Settings, tell

FEATURES = {"classification": "sqrt", "regression": 1 / 3}


class Peer(NamedTuple):
    make: Callable[[str], Callable]  # task → what makes a model; raises ImportError
    package: str  # whose version is told
    save: Callable[[Any, Path], None]
    starts_cold: bool = False  # it compiles for the best part of a minute in each process


def installed(task: str, settings: Settings) -> dict[str, Callable]:
    """What makes a model of each peer that can be imported, and is wanted."""
    found = {}
    for name, peer in PEERS.items():
        if settings.peers and name not in settings.peers:
            continue
        try:
            found[name] = peer.make(task)
        except ImportError as error:
            tell("")
            _say_without(name, str(error))
    return found


@cache
def _say_without(name: str, why: str) -> None:
    print(f"without {name}: {why}", file=sys.stderr)


def versions() -> dict[str, str]:
    found = {}
    for name, peer in PEERS.items():
        try:
            found[name] = metadata.version(peer.package)
        except metadata.PackageNotFoundError:
            continue
    return found


def bytes_on_disk(name: str, model: Any) -> int:
    """What a model takes as its own package saves it."""
    folder = Path(tempfile.mkdtemp())
    try:
        PEERS[name].save(model, folder / "model")
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    finally:
        shutil.rmtree(folder)


# ---- each --------------------------------------------------------------------------------------


def _forestlab(search: str) -> Callable[[str], Callable]:
    def find(task: str) -> Callable:
        import forestlab

        model = getattr(forestlab, f"Forest{_ending(task)}")
        return lambda **given: model(search=search, max_features=FEATURES[task], **given)

    return find


def _scikit_learn(task: str) -> Callable:
    from sklearn import ensemble

    model = getattr(ensemble, f"RandomForest{_ending(task)}")
    return lambda **given: model(max_features=FEATURES[task], **given)


def _intelex(task: str) -> Callable:
    from sklearnex import ensemble

    model = getattr(ensemble, f"RandomForest{_ending(task)}")
    return lambda **given: model(max_features=FEATURES[task], **given)


def _wildwood(task: str) -> Callable:
    import wildwood

    model = getattr(wildwood, f"Forest{_ending(task)}")
    features = "sqrt" if task == "classification" else None
    return lambda **given: model(max_features=features, aggregation=False, **given)


def _ydf(task: str) -> Callable:
    import ydf

    ydf.verbose(0)
    return lambda **given: Ydf(ydf, task, **given)


def _ending(task: str) -> str:
    return {"classification": "Classifier", "regression": "Regressor"}[task]


class Ydf:
    """A forest of ydf as the others are: its own default features, which are the same, and trees
    as deep as theirs."""

    def __init__(self, ydf, task: str, n_estimators: int, n_jobs: int, random_state: int = 0,
                 max_depth: int | None = None):  # fmt: skip
        self.task, self.n_jobs = task, n_jobs
        self.learner = ydf.RandomForestLearner(
            label="y",
            task=getattr(ydf.Task, task.upper()),
            num_trees=n_estimators,
            num_threads=n_jobs,
            random_seed=random_state,
            max_depth=-1 if max_depth is None else max_depth,
            min_examples=1,
            compute_oob_performances=False,
        )

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Ydf":
        self.model = self.learner.train({"x": X, "y": y})
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        shares = self._answers(X)
        if self.task == "regression":
            return shares
        places = shares > 0.5 if shares.ndim == 1 else shares.argmax(axis=1)
        classes = np.array([int(name) for name in self.model.label_classes()])
        return classes[places.astype(int)]

    def _answers(self, X: np.ndarray) -> np.ndarray:
        try:
            return self.model.predict({"x": X}, num_threads=self.n_jobs)
        except ValueError as error:
            if "too many nodes" not in str(error):
                raise
            *_, takes_any = self.model.list_compatible_engines()  # the quickest one is first
            self.model.force_engine(takes_any)
            return self.model.predict({"x": X}, num_threads=self.n_jobs)

    def set_params(self, n_jobs: int) -> "Ydf":
        self.n_jobs = n_jobs
        return self

    def save(self, path: str) -> None:
        self.model.save(path)


def _pickled(model: Any, path: Path) -> None:
    path.write_bytes(pickle.dumps(model, protocol=5))


def _own_file(model: Any, path: Path) -> None:
    model.save(str(path))


PEERS = {
    OURS: Peer(_forestlab("histogram"), "forestlab", _own_file),
    EXACT: Peer(_forestlab("exact"), "forestlab", _own_file),
    FIRST: Peer(_scikit_learn, "scikit-learn", _pickled),
    "intelex": Peer(_intelex, "scikit-learn-intelex", _pickled),
    "ydf": Peer(_ydf, "ydf", _own_file),
    "wildwood": Peer(_wildwood, "wildwood", _pickled, starts_cold=True),
}

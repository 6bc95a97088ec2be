"""What a config describes, made: its data, loaded and split, and its estimator, not yet fitted.

A `Job` is a config as it takes effect with its data; it goes down the street as one value. Jobs get
their data from a `Shelf`, which keeps the last data sets for the jobs that come after.
"""

import copy
from typing import Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import datasets
from forestlab.config import Config, ConfigError
from forestlab.core.criteria import CRITERIA
from forestlab.core.options import OPTIONS


class Data(NamedTuple):
    """A data set, split."""

    dataset: datasets.Dataset
    digest: str
    X: np.ndarray  # (n, n_features)
    y: np.ndarray  # (n,) or (n, n_targets), with noise on training labels if that is wanted
    parts: datasets.Parts

    def splits(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Features and target of train, valid and test."""
        return {name: (self.X[rows], self.y[rows]) for name, rows in self.parts._asdict().items()}


class Job(NamedTuple):
    config: Config  # as it takes effect: see `normalised`
    data: Data
    name: str = ""
    experiment: str | None = None  # the figure or table that it is for


def normalised(config: Config) -> Config:
    """The config as it takes effect: a tree is one tree, whatever n_estimators a sweep says."""
    config = configs.settled(copy.deepcopy(config), is_sweep=False)
    if config.model.name == "tree":
        config.n_estimators = 1
    return config


# ---- data --------------------------------------------------------------------------------------

SPLIT_KEYS = ("test_size", "valid_size", "stratify", "split_seed", "label_noise")
MOST_KEPT = 2  # data sets: those of a sweep over many would fill the memory


class Loaded(NamedTuple):
    wanted: dict[str, Any]  # by which config, with the usual split
    dataset: datasets.Dataset
    digest: str
    X: np.ndarray  # (n, n_features)


class Shelf:
    """The data sets that jobs used last: those of a sweep share theirs."""

    def __init__(self) -> None:
        self._kept: list[Loaded] = []  # the last used last

    def data(self, config: Config) -> Data:
        """The data of a config, split; loaded if they are not on the shelf."""
        return _split(self._loaded(config.dataset), config.dataset)

    def _loaded(self, config: configs.DatasetConfig) -> Loaded:
        wanted: Any = OmegaConf.to_container(config, resolve=True)
        wanted |= {key: getattr(configs.DatasetConfig, key) for key in SPLIT_KEYS}
        found = next((kept for kept in self._kept if kept.wanted == wanted), None)
        if found is None:
            del self._kept[: len(self._kept) + 1 - MOST_KEPT]  # room, before memory is taken
            found = _load(wanted)
        self._kept = [kept for kept in self._kept if kept is not found] + [found]
        return found


def _load(wanted: dict[str, Any]) -> Loaded:
    config: Any = OmegaConf.create(wanted)
    dataset = datasets.load(config)
    return Loaded(wanted, dataset, datasets.digest(dataset), dataset.frame.to_numpy())


def _split(loaded: Loaded, config: configs.DatasetConfig) -> Data:
    parts = datasets.split(loaded.dataset, config)
    y = loaded.dataset.target
    if config.label_noise:
        y = y.copy()
        y[parts.train] = datasets.noisy_labels(y[parts.train], config.label_noise, config.data_seed)
    return Data(loaded.dataset, loaded.digest, loaded.X, y, parts)


# ---- the model ---------------------------------------------------------------------------------


def build(config: Config, task: str):
    """The estimator that a config describes, not yet fitted."""
    from forestlab.model import estimators

    kind = "Tree" if config.model.name == "tree" else "Forest"
    name = kind + ("Classifier" if task == "classification" else "Regressor")
    own: Any = config.model
    wanted = dict(own) | {
        "criterion": criterion(config, task),
        **{group: configs.value_of(config, group) for group in OPTIONS},
        "max_depth": config.max_depth,
        "n_estimators": config.n_estimators,
        "n_jobs": config.n_jobs,
        "random_state": config.seed,
    }
    cls = estimators.ESTIMATORS[name]
    taken = cls._get_param_names()
    for key, (neutral, without) in NEUTRAL.items():
        if key not in taken and wanted[key] != neutral:
            raise ConfigError(f"model.{key}={wanted[key]} does not go with {without}.")
    return cls(**{key: value for key, value in wanted.items() if key in taken})


# Options that some estimators do not take, the value with which they ask for nothing, and what has
# no such option.
NEUTRAL = {
    "bootstrap": (False, "a single tree"),
    "max_samples": (None, "a single tree"),
    "combine": ("average", "a single tree"),
    "class_weight": (None, "regression"),
    "leaf": ("mean", "classification"),
}


def recipe(config: Config, data: Data):
    """How the forest will grow; raises ValueError for parameters that it cannot grow by."""
    from forestlab.model import parameters

    task = data.dataset.task
    params = build(config, task).get_params(deep=False)
    parameters.n_threads(config.n_jobs)
    parameters.class_weights(params.get("class_weight"), config.model.name != "tree")
    n_classes = _class_counts(data.y[data.parts.train]) if task == "classification" else 0
    shape = (len(data.parts.train), data.X.shape[1])
    found = parameters.recipe(params, task, shape, n_classes)
    parameters.require_counts(params["criterion"], data.y[data.parts.train])
    return found


def _class_counts(y: np.ndarray) -> int | list[int]:
    """The number of classes, or that of each of several targets."""
    return len(np.unique(y)) if y.ndim == 1 else [len(np.unique(column)) for column in y.T]


def criterion(config: Config, task: str) -> str:
    """The criterion's name; `auto` goes by the task, another must fit it."""
    name = config.criterion.name
    fitting = [key for key, row in CRITERIA.items() if row.task == task]
    if name == "auto":
        return fitting[0]
    if name not in fitting:
        raise ConfigError(
            f"criterion={name} does not fit dataset={config.dataset.name}, a {task} set: "
            f"choose auto, {', '.join(fitting)}."
        )
    return name

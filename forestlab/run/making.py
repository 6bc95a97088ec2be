"""What a config describes, made: its data, loaded and split, and its estimator, not yet fitted.

A `Job` is a config as it takes effect with its data; it goes down the street as one value. Jobs get
their data from a `Shelf`, which keeps the last data sets for the jobs that come after.
"""

import copy
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import datasets
from forestlab.config import AUTO, Config, ConfigError
from forestlab.core.criteria import fitting
from forestlab.core.options import OPTIONS
from forestlab.core.tasks import TASKS


class Data(NamedTuple):
    """A data set, split."""

    dataset: datasets.Dataset
    digest: str
    X: np.ndarray  # (n, n_features): numbers, of a category the level's
    y: np.ndarray  # (n,) or (n, n_targets), with noise on training labels if that is wanted
    parts: datasets.Parts
    task: str  # of the run

    def given(self, rows: np.ndarray) -> Any:
        """Rows as a model takes them: with categories a data frame, so that it knows their text,
        and else an array."""
        frame = self.dataset.frame
        return frame.iloc[rows] if datasets.categories_of(frame) else self.X[rows]

    def splits(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Features and target of train, valid and test."""
        return {name: (self.X[rows], self.y[rows]) for name, rows in self.parts._asdict().items()}


class Job(NamedTuple):
    config: Config  # as it takes effect: see `normalised`
    data: Data
    name: str = ""
    experiment: str | None = None  # the figure or table that it is for


def decided(job: "Job") -> dict[str, str]:
    """What the data decided of what the config left open, by dotted keys."""
    config, task = job.config, job.data.task
    found = {"criterion.name": criterion(config, task), "task.name": task}
    said = {"criterion.name": config.criterion.name, "task.name": config.task.name}
    return {key: value for key, value in found.items() if said[key] == AUTO}


def normalised(config: Config) -> Config:
    """The config as it takes effect: a tree is one tree, whatever n_estimators a sweep says."""
    config = configs.settled(copy.deepcopy(config), is_sweep=False)
    if config.model.name == "tree":
        config.n_estimators = 1
    return config


# ---- data --------------------------------------------------------------------------------------

SPLIT_KEYS = ("test_size", "valid_size", "stratify", "split_seed", "label_noise", "incomplete")
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
        return _split(self._loaded(config.dataset), config)

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
    return Loaded(wanted, dataset, datasets.digest(dataset), datasets.matrix(dataset.frame))


def _split(loaded: Loaded, config: Config) -> Data:
    parts = datasets.split(loaded.dataset, config.dataset)
    dataset, parts = datasets.completed(loaded.dataset, parts, config.dataset.incomplete)
    X = loaded.X if dataset is loaded.dataset else datasets.matrix(dataset.frame)
    task, noise = task_of(config, dataset), config.dataset.label_noise
    y = X if TASKS[task].of_features else dataset.target
    if noise:
        _require_labels(config, task)
        y = y.copy()
        y[parts.train] = datasets.noisy_labels(y[parts.train], noise, config.dataset.data_seed)
    return Data(dataset, loaded.digest, X, y, parts, task)


def task_of(config: Config, dataset: datasets.Dataset) -> str:
    """The task of a run: that of the data set, unless the config names another."""
    name = config.task.name
    if name not in (AUTO, dataset.task) and not (name in TASKS and TASKS[name].of_features):
        others = [key for key, row in TASKS.items() if row.of_features]
        raise ConfigError(
            f"task={name} does not fit dataset={dataset.name}, a {dataset.task} set: choose auto, "
            f"{', '.join(others)}."
        )
    return dataset.task if name == AUTO else name


def _require_labels(config: Config, task: str) -> None:
    if TASKS[task].of_features:
        raise ConfigError(
            f"dataset.label_noise={config.dataset.label_noise} does not go with task={task}, which "
            "looks at no labels."
        )


# ---- the model ---------------------------------------------------------------------------------


def build(config: Config, task: str, names: Iterable[str] | None = None):
    """The estimator that a config describes, not yet fitted; `names` are those of the features,
    which are fitted as arrays."""
    from forestlab.model.density import COVARIANCES
    from forestlab.model.estimators import of_task

    own: Any = config.model
    name = criterion(config, task)
    wanted = dict(own) | {
        "criterion": name,
        "covariance": next((key for key, its in COVARIANCES.items() if its == name), None),
        "monotonic_cst": _constraints(own.monotonic_cst, names),
        **{group: configs.value_of(config, group) for group in OPTIONS},
        **_pruning(config.pruning),
        "max_depth": config.max_depth,
        "n_estimators": config.n_estimators,
        "n_jobs": config.n_jobs,
        "backend": config.backend,
        "random_state": config.seed,
    }
    cls = of_task(task, config.model.name == "tree")
    taken = cls._get_param_names()
    _require_taken(config, task, taken)
    return cls(**{key: value for key, value in wanted.items() if key in taken})


PRUNINGS = {"none": None, "ccp": "ccp_alpha", "oob": "prune"}  # and the parameter that says so


def _pruning(given: configs.PruningConfig) -> dict[str, Any]:
    """The parameters of an estimator that a choice of pruning comes to."""
    if given.name not in PRUNINGS:
        raise ConfigError(f"pruning.name={given.name} must be one of {', '.join(PRUNINGS)}.")
    if given.name != "ccp" and given.ccp_alpha != 0.0:
        raise ConfigError(f"pruning.ccp_alpha={given.ccp_alpha} goes with pruning=ccp alone.")
    names = ("ccp_alpha", "ccp_rule", "ccp_cost")
    own = {name: getattr(given, name) for name in names}
    return own | {"prune": "oob" if given.name == "oob" else None}


def _require_taken(config: Config, task: str, taken: list[str]) -> None:
    """Raise ConfigError for an option that the estimator does not take, unless it asks for nothing.

    For nothing ask the defaults, and no bootstrap.
    """
    from forestlab.model.estimators import of_task

    of_many = of_task(task, is_single=False)._get_param_names()
    asking_nothing = vars(configs.ModelConfig()) | {"name": config.model.name, "bootstrap": False}
    for key, neutral in asking_nothing.items():
        value = getattr(config.model, key)
        if key not in taken and value != neutral:
            without = "a single tree" if key in of_many else _named(task)
            raise ConfigError(f"model.{key}={value} does not go with {without}.")
    name = config.pruning.name
    if PRUNINGS[name] not in (None, *taken):
        without = "a single tree" if PRUNINGS[name] in of_many else _named(task)
        raise ConfigError(f"pruning={name} does not go with {without}: choose none.")
    for group, choices in OPTIONS.items():
        usual, given = next(iter(choices)), config[group].name  # type: ignore[index]
        if group not in taken and given != usual:
            raise ConfigError(f"{group}={given} does not go with {_named(task)}: choose {usual}.")


def _constraints(given: Any, names: Iterable[str] | None):
    """What a config says of monotonic_cst; of some features by name, one for each feature."""
    from forestlab.model import parameters

    given = OmegaConf.to_container(given) if OmegaConf.is_config(given) else given
    if names is None or not isinstance(given, dict):
        return given
    known = list(map(str, names))
    by_name = {str(name): sign for name, sign in given.items()}
    return list(parameters.signs(by_name, len(known), known)) or None


def recipe(config: Config, data: Data):
    """How the forest will grow; raises ValueError for parameters that it cannot grow by."""
    from forestlab.model import parameters, prunings

    model, y = build(config, data.task, data.dataset.frame.columns), data.y[data.parts.train]
    params = model.growing_params()
    parameters.n_threads(config.n_jobs)
    parameters.class_weights(params.get("class_weight"), config.model.name != "tree")
    n_classes = _class_counts(y) if TASKS[data.task].has_classes else 0
    n_targets = y.shape[1] if y.ndim > 1 else 1
    sizes = (len(y), data.X.shape[1]), n_classes, n_targets
    _require_columns(config, data)
    _require_valid(config, data)
    levels = datasets.level_counts(data.dataset.frame)
    found = parameters.recipe(params, data.task, *sizes, levels=levels)
    model.check_scale(y.reshape(len(y), -1), None)
    prunings.check(model, found)
    return found


def _require_valid(config: Config, data: Data) -> None:
    if config.pruning.ccp_alpha != "valid":
        return
    if not len(data.parts.valid):
        raise ConfigError(
            "pruning.ccp_alpha=valid is chosen by validation rows, of which "
            f"dataset.valid_size={config.dataset.valid_size} leaves none: choose cv or a number."
        )
    if config.study.draws:
        raise ConfigError(
            f"study.draws={config.study.draws} fits training sets without validation rows: "
            "pruning.ccp_alpha must be cv or a number."
        )


def _require_columns(config: Config, data: Data) -> None:
    """As a density forest does, by the names of the config."""
    from forestlab.forest.normals import MOST_COLUMNS

    if not TASKS[data.task].of_features:
        return
    if categories := list(datasets.categories_of(data.dataset.frame)):
        raise ConfigError(
            f"task={data.task} takes numbers only, and {', '.join(categories)} of "
            f"dataset={config.dataset.name} holds categories: leave them out by "
            f"dataset.drop=[{','.join(categories)}]."
        )
    name, n_columns = config.criterion.name, data.X.shape[1]
    if name == "gaussian" and n_columns > MOST_COLUMNS:
        raise ConfigError(
            f"criterion={name} takes up to {MOST_COLUMNS} columns with task={data.task}, and "
            f"dataset={config.dataset.name} has {n_columns}: choose gaussian_diagonal."
        )


def _class_counts(y: np.ndarray) -> int | list[int]:
    """The number of classes, or that of each of several targets."""
    return len(np.unique(y)) if y.ndim == 1 else [len(np.unique(column)) for column in y.T]


def criterion(config: Config, task: str) -> str:
    """The criterion's name; `auto` goes by the task, another must fit it."""
    name, of_task = config.criterion.name, fitting(task)
    if name == AUTO:
        return of_task[0]
    if name not in of_task:
        what = f"dataset={config.dataset.name}, a {task} set"
        what = _named(task) if TASKS[task].of_features else what
        raise ConfigError(
            f"criterion={name} does not fit {what}: choose auto, {', '.join(of_task)}."
        )
    return name


def _named(task: str) -> str:
    """A task that is asked for as it is typed, one that the data set decides by its name."""
    return f"task={task}" if TASKS[task].of_features else task

"""One run: data → fit → study → log. The command line and sweeps only call this."""

import copy
import json
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab import datasets
from forestlab.config import Config, ConfigError
from forestlab.core.criteria import CRITERIA


class Result(NamedTuple):
    """What the table at the end shows of a run."""

    name: str
    status: str  # FINISHED, FAILED, SKIPPED
    run_id: str | None
    metrics: dict[str, float]
    where: str = ""  # the store


class Prepared(NamedTuple):
    """A data set, split, with its digest."""

    dataset: datasets.Dataset
    parts: datasets.Parts
    digest: str
    X: np.ndarray  # (n, n_features)
    y: np.ndarray  # (n,), with noise on training labels if that is wanted


# ---- data and model ----------------------------------------------------------------------------


@cache
def _prepare(text: str) -> Prepared:
    config: Any = OmegaConf.create(text)
    dataset = datasets.load(config)
    parts = datasets.split(dataset, config)
    y = dataset.target
    if config.label_noise:
        y = y.copy()
        y[parts.train] = datasets.noisy_labels(y[parts.train], config.label_noise, config.data_seed)
    X = dataset.frame.to_numpy()
    return Prepared(dataset, parts, datasets.digest(dataset), X, y)


def prepare(config: Config) -> Prepared:
    """Load and split the data; the runs of a sweep share it."""
    return _prepare(OmegaConf.to_yaml(config.dataset, resolve=True))


def build(config: Config, task: str):
    """The estimator that a config describes, not yet fitted."""
    from forestlab import estimators

    kind = "Tree" if config.model.name == "tree" else "Forest"
    name = kind + ("Classifier" if task == "classification" else "Regressor")
    own: Any = config.model
    wanted = dict(own) | {
        "criterion": criterion(config, task),
        "search": config.search.name,
        "threshold": config.search.threshold,
        "n_thresholds": config.search.n_thresholds,
        "max_depth": config.max_depth,
        "n_estimators": config.n_estimators,
        "n_jobs": config.n_jobs,
        "random_state": config.seed,
    }
    cls = estimators.ESTIMATORS[name]
    taken = cls._get_param_names()
    return cls(**{key: value for key, value in wanted.items() if key in taken})


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


def normalised(config: Config) -> Config:
    """The config as it takes effect: a tree is one tree, whatever n_estimators a sweep says."""
    if config.model.name != "tree":
        return config
    config = copy.deepcopy(config)
    config.n_estimators = 1
    return config


def check(config: Config) -> None:
    """Raise ConfigError for what can be known to be wrong before anything is trained."""
    if not 0 <= config.seed < 2**32:
        raise ConfigError(f"seed must be a whole number from 0 to 2**32 - 1; got {config.seed}.")
    from forestlab import parameters

    try:
        data = prepare(config)
        model = build(config, data.dataset.task)
        shape = (len(data.parts.train), data.X.shape[1])
        n_classes = len(np.unique(data.y)) if data.dataset.task == "classification" else 0
        parameters.n_threads(config.n_jobs)
        parameters.recipe(model.get_params(deep=False), data.dataset.task, shape, n_classes)
    except ValueError as error:
        raise ConfigError(str(error)) from error


# ---- the run -----------------------------------------------------------------------------------


def fit_and_study(config: Config, show: bool):
    """(model, findings, seconds)."""
    from forestlab.parameters import n_threads
    from forestlab.study.findings import study

    data = prepare(config)
    splits = {name: (data.X[rows], data.y[rows]) for name, rows in data.parts._asdict().items()}
    model = build(config, data.dataset.task)
    model.verbose = int(show)
    start = time.perf_counter()
    model.fit(*splits["train"])
    fitted = time.perf_counter()
    asked = splits["test"] if len(splits["test"][1]) else splits["train"]
    model.predict(asked[0])
    predicted = time.perf_counter()
    model.feature_names_in_ = np.array(data.dataset.frame.columns, dtype=object)
    found = study(model, splits, n_threads(config.n_jobs))
    seconds = {"fit": fitted - start, "predict": predicted - fitted}
    return model, found, seconds


def numbers_of(found, seconds: dict[str, float]) -> list:
    """All metrics of a run; depth is the step, or the number of trees."""
    from forestlab.tracking import Number

    numbers = [
        Number(f"{metric}/{split}", value, depth)
        for metric, curves in found.curves.items()
        for split, curve in curves.items()
        for depth, value in enumerate(curve)
    ]
    if found.oob_by_trees is not None:
        name = "error" if found.task == "classification" else "rmse"
        errors = enumerate(found.oob_by_trees, 1)
        numbers += [Number(f"by_trees/oob_{name}", value, t) for t, value in errors]
    for name in ("n_nodes", "n_leaves", "depth"):
        numbers.append(Number(f"trees/{name}", getattr(found, name).mean()))
    if found.chosen_depth is not None:
        numbers.append(Number("chosen/depth", found.chosen_depth))
        for metric, curves in found.curves.items():
            if "test" in curves:
                value = curves["test"][found.chosen_depth]
                numbers.append(Number(f"chosen/{metric}_test", value))
    numbers += [Number(f"seconds/{name}", value) for name, value in seconds.items()]
    return numbers


def run(config: Config, name: str, parent: Callable[[], str | None], show: bool) -> Result:
    """Do one run, and log it unless tracking is off.

    The run is opened while the forest already grows: importing MLflow and opening a store take
    longer than many a fit. `parent` gives the id of the sweep's run, or None.
    """
    config = normalised(config)
    if config.tracking.name == "none":
        _, found, seconds = fit_and_study(config, show)
        return Result(name, "FINISHED", None, _last(numbers_of(found, seconds)))
    if config.resume:
        done = _finished_before(config)
        if done is not None:
            return done._replace(name=name)
    opened = background().submit(_open_run, config, name, parent)
    try:
        model, found, seconds = fit_and_study(config, show)
        store, run_id = opened.result()
        numbers = _log(config, store, run_id, name, model, found, seconds)
    except Exception:
        _end(opened, "FAILED", traceback.format_exc())
        raise
    except BaseException:  # Ctrl-C, SIGTERM
        _end(opened, "KILLED")
        raise
    _end(opened, "FINISHED")
    return Result(name, "FINISHED", run_id, _last(numbers), store.uri)


@cache
def background() -> ThreadPoolExecutor:
    """One thread, so that what is handed to it is done in order."""
    return ThreadPoolExecutor(1, "forestlab-tracking")


@cache
def _open_store(text: str):
    from forestlab import tracking

    config: Any = OmegaConf.create(text)
    return tracking.open_store(config)


def open_store(config: Config):
    """The store of a config; opened once for all runs of a process."""
    return _open_store(OmegaConf.to_yaml(config.tracking, resolve=True))


def _finished_before(config: Config) -> Result | None:
    from forestlab import tracking

    store = open_store(config)
    tags = _tags(config)
    identity = {key: tags[key] for key in ("config_hash", "dataset_digest", "core_version")}
    done = tracking.find_finished(store, identity)
    if done is None:
        return None
    return Result("", "SKIPPED", done.info.run_id, dict(done.data.metrics), store.uri)


def _open_run(config: Config, name: str, parent: Callable[[], str | None]):
    """Start the run and log what is known of it before the fit; (store, run id)."""
    from forestlab import tracking

    store = open_store(config)
    run_id = tracking.start(store, config.tracking.run_name or name, _tags(config), parent())
    tracking.log_numbers(store, run_id, [], configs.flat(config))
    data = prepare(config)
    profile = {split: len(rows) for split, rows in data.parts._asdict().items()}
    profile |= {"rows": len(data.y), "features": data.X.shape[1]}
    tracking.log_dataset(
        store, run_id, data.dataset.name, data.digest, data.dataset.source, json.dumps(profile)
    )
    return store, run_id


def _end(opened: Future, status: str, trace: str = "") -> None:
    """End a run, if it could be opened at all."""
    from forestlab import tracking

    if opened.exception() is not None:
        return
    store, run_id = opened.result()
    if trace:
        tracking.log_text(store, run_id, trace, "traceback.txt")
    tracking.finish(store, run_id, status)


def _tags(config: Config) -> dict[str, Any]:
    from forestlab import provenance

    data = prepare(config)
    bagged = config.model.bootstrap or config.model.max_samples is not None
    tags = {
        "config_hash": configs.fingerprint(config),
        "dataset_digest": data.digest,
        "seed": config.seed,
        "dataset": config.dataset.name,
        "model": config.model.name,
        "task": data.dataset.task,
        "oob": "yes" if bagged else "none",
    }
    return tags | provenance.versions() | provenance.code()[0]


def main_value(result: Result) -> float | None:
    """The main metric on validation, for sweepers that look for the best job."""
    return result.metrics.get("accuracy/valid", result.metrics.get("rmse/valid"))


def _last(numbers) -> dict[str, float]:
    """The last value of each metric."""
    return {number.name: float(number.value) for number in numbers}


def _log(config: Config, store, run_id: str, name: str, model, found, seconds) -> list:
    """Log all that was found; returns the numbers."""
    from forestlab import artifacts, provenance, tracking

    data = prepare(config)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        OmegaConf.save(config, folder / "config.yaml", resolve=True)
        diff = provenance.code()[1]
        if diff:
            (folder / "git.diff").write_text(diff + "\n")
        artifacts.write(
            folder, found, model._view(0), data.parts._asdict(), name, data.dataset.image_shape,
            config.tracking.pictures,
        )  # fmt: skip
        tracking.log_folder(store, run_id, folder)
    if config.tracking.model:
        example = data.dataset.frame.iloc[data.parts.train[:3]]
        tracking.log_model(store, run_id, model, example, provenance.requirements())
    seconds["log"] = time.perf_counter() - start
    numbers = numbers_of(found, seconds)
    tracking.log_numbers(store, run_id, numbers)
    return numbers

"""One run: data → fit → study → log. The command line and sweeps only call this."""

import copy
import json
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from omegaconf import OmegaConf
from tqdm import tqdm

from forestlab import config as configs
from forestlab import datasets
from forestlab.config import STUDIES, Config, ConfigError
from forestlab.core.criteria import CRITERIA
from forestlab.core.jit import compile_seconds
from forestlab.datasets.truth import TRUTHS, draw, truth

LONGEST_WAIT = 30  # seconds for a store to answer when a run ends early
HEAD_START = 2  # seconds for which a run is left alone before it is opened in the store
MOST_NUMBERS = 100_000  # of data that a stump is grown on first: hundredths of a second


class Result(NamedTuple):
    """What the table at the end shows of a run."""

    name: str
    status: str  # FINISHED, FAILED, SKIPPED
    run_id: str | None
    metrics: dict[str, float]
    where: str = ""  # the store


class Done(NamedTuple):
    """What came of fitting and studying."""

    model: Any
    found: Any  # study.findings.Findings
    drawn: Any  # study.bias.DrawFindings, or None
    seconds: dict[str, float]


class Loaded(NamedTuple):
    dataset: datasets.Dataset
    digest: str
    X: np.ndarray  # (n, n_features)


class Prepared(NamedTuple):
    """A data set, split."""

    dataset: datasets.Dataset
    digest: str
    X: np.ndarray
    y: np.ndarray  # (n,), with noise on training labels if that is wanted
    parts: datasets.Parts


# ---- data and model ----------------------------------------------------------------------------

SPLIT_KEYS = ("test_size", "valid_size", "stratify", "split_seed", "label_noise")


@lru_cache(2)  # a sweep's jobs share their data; one over many data sets does not keep them all
def _load(text: str) -> Loaded:
    config: Any = OmegaConf.create(json.loads(text))
    dataset = datasets.load(config)
    return Loaded(dataset, datasets.digest(dataset), dataset.frame.to_numpy())


def prepare(config: Config) -> Prepared:
    """Load the data, or take it as loaded, and split it."""
    wanted: Any = config.dataset
    defaults = configs.DatasetConfig()
    plain: Any = OmegaConf.to_container(wanted, resolve=True)
    plain |= {key: getattr(defaults, key) for key in SPLIT_KEYS}
    dataset, digest, X = _load(json.dumps(plain))  # as a key a twentieth of YAML's time
    parts = datasets.split(dataset, wanted)
    y = dataset.target
    if wanted.label_noise:
        y = y.copy()
        y[parts.train] = datasets.noisy_labels(y[parts.train], wanted.label_noise, wanted.data_seed)
    return Prepared(dataset, digest, X, y, parts)


def build(config: Config, task: str):
    """The estimator that a config describes, not yet fitted."""
    from forestlab.model import estimators

    kind = "Tree" if config.model.name == "tree" else "Forest"
    name = kind + ("Classifier" if task == "classification" else "Regressor")
    own: Any = config.model
    wanted = dict(own) | {
        "criterion": criterion(config, task),
        "search": config.search.name,
        "threshold": config.search.threshold,
        "n_thresholds": config.search.n_thresholds,
        "ties": config.search.ties,
        "max_depth": config.max_depth,
        "n_estimators": config.n_estimators,
        "n_jobs": config.n_jobs,
        "random_state": config.seed,
    }
    cls = estimators.ESTIMATORS[name]
    taken = cls._get_param_names()
    for key, neutral in NEUTRAL.items():
        if key not in taken and wanted[key] != neutral:
            what = "a single tree" if kind == "Tree" and key != "class_weight" else "regression"
            raise ConfigError(f"model.{key}={wanted[key]} does not go with {what}.")
    return cls(**{key: value for key, value in wanted.items() if key in taken})


# Options that some estimators do not take, and the value with which they ask for nothing.
NEUTRAL = {"bootstrap": False, "max_samples": None, "combine": "average", "class_weight": None}


def recipe(config: Config, data: Prepared):
    """How the forest will grow; raises ValueError for parameters that it cannot grow by."""
    from forestlab.model import parameters

    task = data.dataset.task
    params = build(config, task).get_params(deep=False)
    parameters.n_threads(config.n_jobs)
    parameters.class_weights(params.get("class_weight"), config.model.name != "tree")
    n_classes = len(np.unique(data.y[data.parts.train])) if task == "classification" else 0
    shape = (len(data.parts.train), data.X.shape[1])
    return parameters.recipe(params, task, shape, n_classes)


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
    config = configs.settled(copy.deepcopy(config), is_sweep=False)
    if config.model.name == "tree":
        config.n_estimators = 1
    return config


def check(config: Config) -> None:
    """Raise ConfigError for what can be known to be wrong before anything is trained."""
    if not 0 <= config.seed < 2**32:
        raise ConfigError(f"seed must be a whole number from 0 to 2**32 - 1; got {config.seed}.")
    _check_study(config)
    if config.tracking.name != "none":
        configs.require_store(config.tracking)
    try:
        data = prepare(config)
        recipe(config, data)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if config.study.draws and not len(data.parts.test) + len(data.parts.valid):
        raise ConfigError("study.draws needs test or validation rows: dataset.test_size is 0.")


def _check_study(config: Config) -> None:
    wanted = config.study
    if wanted.name not in STUDIES:
        raise ConfigError(f"there is no study={wanted.name}: choose {', '.join(STUDIES)}.")
    least = {"rows": 1, "draws": 0, "draw_rows": 1}
    for key, lowest in least.items():
        value = getattr(wanted, key)
        if value is not None and value < lowest:
            raise ConfigError(f"study.{key} must be at least {lowest}; got {value}.")
    if wanted.draws == 1:
        raise ConfigError("study.draws must be 0 or at least 2: variance needs two draws; got 1.")
    if wanted.cuts and (config.model.rho not in (None, "all") or config.model.class_weight):
        raise ConfigError("study.cuts counts with neither model.rho nor model.class_weight.")
    if wanted.draws and config.dataset.name not in TRUTHS:
        raise ConfigError(
            f"study.draws={wanted.draws} needs a data set whose truth is known: "
            f"{', '.join(TRUTHS)}; got dataset={config.dataset.name}."
        )
    for key in ("rescale", "drop"):
        if wanted.draws and getattr(config.dataset, key):
            raise ConfigError(
                f"study.draws={wanted.draws} needs all columns as they are made; "
                f"got dataset.{key}={getattr(config.dataset, key)}."
            )


# ---- the run -----------------------------------------------------------------------------------


def fit_and_study(config: Config, show: bool) -> Done:
    """Fit, predict and study; nothing is logged yet."""
    from forestlab.model.parameters import n_threads
    from forestlab.study.findings import study

    waited = compile_seconds()
    data = prepare(config)
    splits = {name: (data.X[rows], data.y[rows]) for name, rows in data.parts._asdict().items()}
    model = build(config, data.dataset.task)
    model.verbose = int(show)
    _load_kernels(config, data.dataset.task, *splits["train"])
    n_jobs, wanted = n_threads(config.n_jobs), config.study
    seconds: dict[str, float] = {}
    with _timing(seconds, "fit"):
        model.fit(*splits["train"])
    asked = splits["test"] if len(splits["test"][1]) else splits["train"]
    with _timing(seconds, "predict"):
        model.predict(asked[0])
    model.name_features(data.dataset.frame.columns)
    with _timing(seconds, "study"):
        found = study(model.grown, splits, n_jobs, wanted.name, wanted.rows, wanted.cuts)
        drawn = _draw_and_fit(config, data, n_jobs, show) if wanted.draws else None
    if compile_seconds() > waited:
        seconds["compile"] = compile_seconds() - waited
    return Done(model, found, drawn, seconds)


def _load_kernels(config: Config, task: str, X: np.ndarray, y: np.ndarray) -> None:
    """Grow a stump and ask it, before a clock runs.

    The first fit of a process takes 0.4 s to load kernels, which `_timing` would leave out, and
    some 0.02 s to set other things up, which it would not: as long again as a small fit. Later
    stumps cost 0.003 s on iris, 0.01 s on digits.
    """
    if X.size > MOST_NUMBERS:
        return
    stump = build(config, task)
    small = {"max_depth": 1, "n_estimators": 1}
    stump.set_params(**{key: small[key] for key in small if key in stump.get_params()})
    stump.fit(X, y).predict(X[:1])


@contextmanager
def _timing(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Keep how long this takes, without the time that it waits for kernels."""
    start, waited = time.perf_counter(), compile_seconds()
    yield
    seconds[name] = time.perf_counter() - start - (compile_seconds() - waited)


def _draw_and_fit(config: Config, data: Prepared, n_jobs: int, show: bool):
    """Bias and variance over further training sets, on the test rows, else on validation."""
    from forestlab.forest import Grown
    from forestlab.study.bias import bias_variance

    wanted, task = config.dataset, data.dataset.task
    rows = data.parts.test if len(data.parts.test) else data.parts.valid
    known = truth(wanted.name, data.X[rows], wanted.noise)
    n_rows = config.study.draw_rows or len(data.parts.train)

    def grow(seed: int) -> Grown:
        X, y = draw(wanted.name, n_rows, seed, wanted.noise)
        if wanted.label_noise:
            y = datasets.noisy_labels(y, wanted.label_noise, seed)
        return build(config, task).set_params(random_state=seed).fit(X, y).grown

    return bias_variance(
        grow,
        data.X[rows],
        *known,
        config.study.draws,
        seed=wanted.data_seed,
        y=data.y[rows],
        n_jobs=n_jobs,
        show=(lambda draws: tqdm(draws, desc="drawing", unit="draw")) if show else None,
    )


def run(
    config: Config,
    name: str,
    parent: Callable[[], str | None],
    show: bool,
    experiment: str | None = None,
) -> Result:
    """Do one run, and log it unless tracking is off.

    The run is opened in another thread, once the forest is studied or after HEAD_START seconds:
    importing MLflow takes longer than many a fit, and beside it a fit of 0.02 s takes 0.2. A first
    fit of more than HEAD_START seconds shares the machine with that.

    `parent` gives the id of the sweep's run, or None; `experiment` names the figure or table that
    the run is for, as a tag.
    """
    config = normalised(config)
    if config.tracking.name == "none":
        return Result(name, "FINISHED", None, _last(_numbers(fit_and_study(config, show))))
    if config.resume:
        done = finished_before(config)
        if done is not None:
            metrics, uri = dict(done.data.metrics), open_store(config).uri
            return Result(name, "SKIPPED", done.info.run_id, metrics, uri)
    prepare(config)  # before two threads ask for it
    is_measured = Event()
    opened = background().submit(_open_run, config, name, parent, experiment, is_measured)
    try:
        try:
            done = fit_and_study(config, show)
        finally:
            is_measured.set()
        store, run_id = opened.result()
        numbers = _log(config, store, run_id, name, done)
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

    config: Any = OmegaConf.create(json.loads(text))
    return tracking.open_store(config)


def open_store(config: Config):
    """The store of a config; opened once for all runs of a process."""
    return _open_store(json.dumps(OmegaConf.to_container(config.tracking, resolve=True)))


def identity(config: Config) -> dict[str, str]:
    """The tags that runs of one result share: configuration, data and code."""
    from forestlab.tracking import provenance

    return {
        "config_hash": configs.fingerprint(normalised(config)),
        "dataset_digest": prepare(config).digest,
        "result_version": provenance.versions()["result_version"],
    }


def finished_before(config: Config):
    """The newest finished run with the result of a config, as MLflow's Run; None without one.

    A run that kept no model or no pictures does not stand for one that is to keep them.
    """
    from forestlab import tracking

    wanted = {"model": config.tracking.model, "pictures": config.tracking.pictures}
    kept = {f"tracking.{part}": "True" for part, is_wanted in wanted.items() if is_wanted}
    return tracking.find_finished(open_store(config), normalised(config), identity(config), kept)


def _open_run(
    config: Config,
    name: str,
    parent: Callable[[], str | None],
    experiment: str | None,
    is_measured: Event,
):
    """Start the run and log what is known of it before the fit; (store, run id)."""
    is_measured.wait(HEAD_START)
    from forestlab import tracking

    store = open_store(config)
    tags = _tags(config) | ({"experiment": experiment} if experiment else {})
    run_id = tracking.start(store, config.tracking.run_name or name, tags, parent())
    try:
        tracking.log_numbers(store, run_id, [], configs.flat(config))
        data = prepare(config)
        profile = {split: len(rows) for split, rows in data.parts._asdict().items()}
        profile |= {"rows": len(data.y), "features": data.X.shape[1]}
        tracking.log_dataset(
            store, run_id, data.dataset.name, data.digest, data.dataset.source, json.dumps(profile)
        )
    except BaseException:
        tracking.finish(store, run_id, "FAILED")
        raise
    return store, run_id


def _end(opened: Future, status: str, trace: str = "") -> None:
    """End a run, if it could be opened at all; a store that does not answer is not waited for."""
    from forestlab import tracking

    try:
        store, run_id = opened.result(timeout=LONGEST_WAIT)
    except Exception:
        return
    try:
        if trace:
            tracking.log_text(store, run_id, trace, "traceback.txt")
    finally:
        tracking.finish(store, run_id, status)


def _tags(config: Config) -> dict[str, Any]:
    from forestlab.tracking import provenance

    data = prepare(config)
    tags = identity(config) | {
        "seed": config.seed,
        "dataset": config.dataset.name,
        "model": config.model.name,
        "task": data.dataset.task,
        "oob": "yes" if recipe(config, data).bag_size else "none",
    }
    return tags | provenance.versions() | provenance.code()[0]


def main_value(result: Result) -> float | None:
    """The main metric on validation, for sweepers that look for the best job."""
    from forestlab.study.metrics import MAIN

    found = (result.metrics.get(f"{metric}/valid") for metric in MAIN.values())
    return next((value for value in found if value is not None), None)


def _numbers(done: Done) -> list:
    from forestlab.study.numbers import numbers_of

    return numbers_of(done.found, done.drawn, done.seconds)


def _last(numbers) -> dict[str, float]:
    """The last value of each metric."""
    return {number.name: float(number.value) for number in numbers}


def _log(config: Config, store, run_id: str, name: str, done: Done) -> list:
    """Log all that was found; returns the numbers."""
    from forestlab import tracking
    from forestlab.study import artifacts
    from forestlab.tracking import provenance

    data = prepare(config)
    start = time.perf_counter()
    numbers = _numbers(done)
    tracking.log_numbers(store, run_id, numbers)  # first, as what follows may fail
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        OmegaConf.save(config, folder / "config.yaml", resolve=True)
        diff = provenance.code()[1]
        if diff:
            (folder / "git.diff").write_text(diff)
        if config.study.name != "off":
            artifacts.write(
                folder, done.found, done.drawn, done.model.view(0), data.parts._asdict(), name,
                data.dataset.image_shape, config.tracking.pictures,
            )  # fmt: skip
        tracking.log_folder(store, run_id, folder)
    if config.tracking.model:
        example = data.dataset.frame.iloc[data.parts.train[:3]]
        tracking.log_model(store, run_id, done.model, example, provenance.requirements())
    last = numbers[0]._replace(name="seconds/log", value=time.perf_counter() - start, step=0)
    tracking.log_numbers(store, run_id, [last])
    return [*numbers, last]

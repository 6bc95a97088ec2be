"""What a run is made of: the schema that checks every key and type, and where things are.

Hydra composes conf/*.yaml over the schema, so a mistyped key or a wrong type is an error. The
*fingerprint* of a config names the result it gives: it covers the keys that may change a number,
and of those only the ones that differ from the schema's default, so that an option added later
does not change the fingerprint of old runs.
"""

import ast
import hashlib
import json
import os
import signal
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any

from omegaconf import MISSING, OmegaConf


class ConfigError(ValueError):
    """A mistake of the person at the keyboard, in one sentence."""


@dataclass
class DatasetConfig:
    """Which data set, how much of it, and how it is split."""

    name: str = MISSING
    task: str | None = None  # "classification" or "regression"; null: found out
    path: str | None = None  # csv, parquet: the file
    target: str | None = None  # csv, parquet, openml: a column; null: the last
    openml_name: str | None = None
    openml_version: int = 1
    n_samples: int | None = None  # rows to make or to keep; null: the usual, or all
    noise: float | None = None  # the toys and the made regressions; null: the usual
    label_noise: float = 0.0  # share of training labels replaced by another class
    data_seed: int = 0  # what is made, which rows are kept
    drop: list[str] = field(default_factory=list)  # columns left out
    rescale: bool = False  # multiply each column by a power of two, drawn by data_seed
    test_size: float = 0.25  # share of all rows
    valid_size: float = 0.25  # share of the rows that are not test rows
    stratify: bool = False  # keep the shares of the classes in each part
    split_seed: int = 2020
    own_test: bool = True  # test on the data set's own test set, if it has one


@dataclass
class ModelConfig:
    name: str = MISSING
    bootstrap: bool = True
    max_samples: float | int | None = None
    subspace: str = "node"
    max_features: float | int | str | None = None
    rho: int | str | None = None
    combine: str = "average"
    min_samples_split: float | int = 2
    min_samples_leaf: float | int = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    class_weight: str | None = None


@dataclass
class CriterionConfig:
    name: str = "auto"


@dataclass
class SearchConfig:
    name: str = "exact"
    threshold: str = "midpoint"
    n_thresholds: int | None = None
    ties: str = "random"


@dataclass
class StudyConfig:
    """How much is found out about a fitted forest."""

    name: str = "light"  # auto (full for a single run, light in a sweep), full, light, off
    rows: int = 1000  # rows of a split that the costly parts look at
    draws: int = 0  # further training sets for bias and variance, where the truth is known
    draw_rows: int | None = None  # rows of each; null: as many as the training set has
    cuts: bool = False  # count the cuts that were scored to grow the trees


@dataclass
class TrackingConfig:
    name: str = "mlflow"
    uri: str | None = None
    experiment: str = "forestlab"
    run_name: str | None = None
    model: bool = True  # keep the fitted model
    pictures: bool = True


@dataclass
class Config:
    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    criterion: CriterionConfig = field(default_factory=CriterionConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    study: StudyConfig = field(default_factory=StudyConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    max_depth: int | None = None
    n_estimators: int = 100
    seed: int = 0
    n_jobs: int = -1
    resume: bool = False
    sweeps: list[str] | None = None  # products of overrides, as typed; null: this is one job


TOP = ("max_depth", "n_estimators", "seed", "n_jobs", "resume")
STORES = ("sqlite:///", "http://", "https://", "postgresql", "mysql", "mssql", "databricks")
SEEDS = ("seed", "dataset.split_seed", "dataset.data_seed")  # runs that differ in these repeat
STUDIES = ("auto", "full", "light", "off")
NO_RESULT = ("tracking", "n_jobs", "resume")  # keys that change no number


def register() -> None:
    """Make the schema known to Hydra, and the resolver that its folders use."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="base", node=Config)
    OmegaConf.register_new_resolver("forestlab_home", lambda: str(home()), replace=True)


# ---- places ------------------------------------------------------------------------------------


def conf_folder() -> Path:
    """conf/ inside the installed package, or else that of the checkout."""
    package = Path(__file__).resolve().parent
    return next(folder for folder in (package / "conf", package.parent / "conf") if folder.is_dir())


def home() -> Path:
    """Where everything is written: FORESTLAB_HOME, else outputs/ of the checkout or the folder."""
    given = os.environ.get("FORESTLAB_HOME")
    if given:
        return Path(given).resolve()
    return (checkout() or Path.cwd()) / "outputs"


def checkout() -> Path | None:
    """The folder of forestlab's own checkout, if this is one."""
    root = Path(__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").is_file() and (root / "conf").is_dir() else None


def store_uri(tracking: TrackingConfig) -> str:
    """Where runs are logged."""
    given = tracking.uri or os.environ.get("MLFLOW_TRACKING_URI")
    return given or f"sqlite:///{home() / 'mlflow.db'}"


def check_store(tracking: TrackingConfig) -> None:
    """Raise ConfigError for a store that is none, or for a server that does not answer."""
    uri = store_uri(tracking)
    if not uri.startswith(STORES):
        raise ConfigError(f"tracking.uri must begin with one of {', '.join(STORES)}; got {uri!r}.")
    if uri.startswith("http"):
        try:
            with urllib.request.urlopen(f"{uri.rstrip('/')}/health", timeout=10):
                pass
        except urllib.error.HTTPError as error:
            if error.code not in (401, 403):  # MLflow itself will show who asks
                raise ConfigError(f"tracking.uri: {uri} answers {error}.") from error
        except (OSError, ValueError, HTTPException) as error:
            raise ConfigError(
                f"tracking.uri: no MLflow server answers at {uri}: {error}"
            ) from error


def require_home() -> None:
    """Raise ConfigError unless home can be written to."""
    try:
        home().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home()):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{home()} cannot be written ({reason}): set FORESTLAB_HOME.") from error


def settled(config, is_sweep: bool):
    """The config with study=auto decided, and what refers to other keys, as ${seed}, looked up.

    Later would not do: a run has two threads, and while one copies a config, its parts have no
    parent in which the other could look.
    """
    OmegaConf.resolve(config)
    if config.study.name == "auto":
        config.study.name = "light" if is_sweep else "full"
    return config


@contextmanager
def sigterm_ends() -> Iterator[None]:
    """Let SIGTERM end what runs as an exception does, so that runs are marked as KILLED."""

    def terminate(signum, frame):
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# ---- what a config says ------------------------------------------------------------------------


def flat(config) -> dict[str, Any]:
    """The resolved config as one level of dotted keys; `sweeps` is of all jobs, not of one."""
    found: dict[str, Any] = {}
    whole: Any = OmegaConf.to_container(config, resolve=True)
    whole.pop("sweeps", None)
    waiting = [("", whole)]
    while waiting:
        prefix, node = waiting.pop()
        for key, value in node.items():
            if isinstance(value, dict):
                waiting.append((f"{prefix}{key}.", value))
            else:
                found[prefix + key] = value
    return dict(sorted(found.items()))


def chosen(config) -> dict[str, Any]:
    """What a config says that may change a number and is not the default, by dotted keys."""
    defaults = flat_defaults()
    return {
        key: value
        for key, value in flat(config).items()
        if key.split(".")[0] not in NO_RESULT
        and json.dumps(defaults.get(key)) != json.dumps(value)  # 1, a row, is not 1.0, all of them
    }


def fingerprint(config) -> str:
    """16 hex digits that name the result of a config."""
    return hashlib.sha256(json.dumps(chosen(config), sort_keys=True).encode()).hexdigest()[:16]


def typed(text: str) -> Any:
    """A value from its text, which is what MLflow keeps: 5, 0.5, True, None, lists, names."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


@cache
def flat_defaults() -> dict[str, Any]:
    schema = OmegaConf.structured(Config)
    for key in ("dataset.name", "model.name"):
        OmegaConf.update(schema, key, "")
    return flat(schema)

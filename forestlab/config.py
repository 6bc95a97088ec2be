"""What a run is made of: the schema that checks every key and type, and where things are.

Hydra composes conf/*.yaml over the schema, so a mistyped key or a wrong type is an error. The
*fingerprint* of a config names the result it gives: it covers the keys that may change a number,
and of those only the ones that differ from the schema's default, so that an option added later
does not change the fingerprint of old runs.

The groups of core.options.OPTIONS, `search` and `learner`, are no classes here: their nodes are
made from the values' fields. A config lists the options of its choice alone, with its defaults.

A default that is changed does not show in fingerprints either. So a logged run stands for a config
only if it has its fingerprint and its logged parameters *agree*, default or not, in every key that
may change a number. A key that the run did not know was added later, with a default by which
nothing changed: it agrees.
"""

import ast
import hashlib
import json
import os
import signal
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import Any

from omegaconf import MISSING, ListConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from forestlab.core import options
from forestlab.core.options import OPTIONS, Options


class ConfigError(ValueError):
    """A mistake of the person at the keyboard, in one sentence."""


@dataclass
class DatasetConfig:
    """Which data set, how much of it, and how it is split."""

    name: str = MISSING
    task: str | None = None  # "classification" or "regression"; null: found out
    path: str | None = None  # csv, parquet: the file
    target: Any = None  # csv, parquet, openml: a column, or a list of them; null: the last
    openml_name: str | None = None
    openml_version: int = 1
    n_samples: int | None = None  # rows to make or to keep; null: the usual, or all
    noise: float | None = None  # the toys and the made regressions; null: the usual
    label_noise: float = 0.0  # share of training labels replaced by another class
    data_seed: int = 0  # what is made, which rows are kept
    drop: list[str] = field(default_factory=list)  # columns left out
    one_hot: bool = False  # a target of 0 and 1 for each class, in place of the classes
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
    count_constant: bool = True
    rho: int | str | None = None
    rho_draws: str = "features"
    leaf: str = "mean"
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
    search: Any = None  # this and the next are nodes of OPTIONS, which `schema` makes
    learner: Any = None
    study: StudyConfig = field(default_factory=StudyConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    max_depth: int | None = None
    n_estimators: int = 100
    seed: int = 0
    n_jobs: int = -1
    resume: bool = False
    plugins: list[str] = field(default_factory=list)  # modules to import: a user's own additions
    sweeps: list[str] | None = None  # products of overrides, as typed; null: this is one job


GROUPS = ("dataset", "model", "criterion", *OPTIONS, "study", "tracking")
TOP = ("max_depth", "n_estimators", "seed", "n_jobs", "resume", "plugins")
STORES = ("sqlite:///", "http://", "https://", "postgresql", "mysql", "mssql", "databricks")
SEEDS = ("seed", "dataset.split_seed", "dataset.data_seed")  # runs that differ in these repeat
STUDIES = ("auto", "full", "light", "off")
NO_RESULT = ("tracking", "n_jobs", "resume")  # keys that change no number
LONGEST_PARAM = 6000  # letters of a parameter that MLflow keeps


def register() -> None:
    """Make the schema known to Hydra, and the resolver that its folders use."""
    from hydra.core.config_store import ConfigStore

    ConfigStore.instance().store(name="base", node=schema())
    flat_defaults.cache_clear()
    OmegaConf.register_new_resolver("forestlab_home", lambda: str(home()), replace=True)


def schema() -> type:
    """Config with the nodes of OPTIONS, of what was added from outside too."""
    nodes = [(group, options.twin(group, MISSING)) for group in OPTIONS]
    made = [(group, node, field(default_factory=node)) for group, node in nodes]
    return make_dataclass("Config", made, bases=(Config,))


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


def require_store(tracking: TrackingConfig) -> None:
    """Raise ConfigError unless runs can be logged, as far as that can be known without MLflow."""
    check_store(tracking)
    if not tracking.experiment.strip():
        raise ConfigError(f"tracking.experiment must be a name; got {tracking.experiment!r}.")
    uri = store_uri(tracking)
    if uri.startswith("sqlite:///"):
        path = Path(uri.removeprefix("sqlite:///").partition("?")[0])
        _require_writable(path.parent, "choose another tracking.uri")
        try:
            with open(path, "rb+") as file:
                begins = file.read(6)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConfigError(f"tracking.uri must name a file; got {uri!r}: {error}.") from error
        if begins not in (b"", b"SQLite"):
            raise ConfigError(f"tracking.uri: {path} is there and is not a database of SQLite.")


def require_home() -> None:
    """Raise ConfigError unless home can be written to."""
    _require_writable(home(), "set FORESTLAB_HOME")


def _require_writable(folder: Path, advice: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"{folder} cannot be written ({reason}): {advice}.") from error


def settled(config, is_sweep: bool):
    """The config with study=auto decided, and what refers to other keys, as ${seed}, looked up.

    Later would not do: a run has two threads, and while one copies a config, its parts have no
    parent in which the other could look.
    """
    try:
        OmegaConf.resolve(config)
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{_unresolved(config)} cannot be looked up: {reason}.") from error
    for key, value in flat(config, resolve=False).items():
        if "${" in str(value):  # escaped; it would be looked up the next time
            raise ConfigError(f"{key}={value}: a value cannot have ${{ in it, escaped or not.")
    if config.study.name == "auto":
        config.study.name = "light" if is_sweep else "full"
    for group in OPTIONS:
        if group in config:
            _settle(config[group], group)
    return config


def _settle(node, group: str) -> None:
    """Have a node say the options of its choice, and no others."""
    own = _of_choice(group, _plain(node))
    with open_dict(node):
        for key in list(node):
            if key not in own:
                del node[key]
            elif OmegaConf.is_missing(node, key):
                node[key] = own[key]


def _unresolved(config) -> str:
    """The first KEY=${…} of a config that leads nowhere."""
    for key, text in flat(config, resolve=False).items():
        try:
            OmegaConf.select(config, key)
        except OmegaConfBaseException:
            return f"{key}={text}"
    return "${…}"


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


def flat(config, resolve: bool = True) -> dict[str, Any]:
    """The config as one level of dotted keys; `sweeps` is of all jobs, not of one."""
    whole: Any = _plain(config, resolve)
    whole.pop("sweeps", None)
    for group in OPTIONS:
        if isinstance(whole.get(group), dict):
            whole[group] = _of_choice(group, whole[group])
    return dotted(whole)


def _plain(node, resolve: bool = True) -> Any:
    return OmegaConf.to_container(node, resolve=resolve)


def dotted(whole: dict[str, Any]) -> dict[str, Any]:
    """Dicts in dicts as one level of dotted keys."""
    found: dict[str, Any] = {}
    waiting = [("", whole)]
    while waiting:
        prefix, node = waiting.pop()
        for key, value in node.items():
            if isinstance(value, dict) and value:
                waiting.append((f"{prefix}{key}.", value))
            else:
                found[prefix + key] = value
    if found.get("dataset.target") is not None:
        names = column_names(found["dataset.target"])
        found["dataset.target"] = names[0] if len(names) == 1 else names
    return dict(sorted(found.items()))


def column_names(value: Any) -> list[str]:
    """None, a name or several as a list of names; a column may be called 3."""
    if value is None:
        return []
    return [str(name) for name in value] if isinstance(value, list | ListConfig) else [str(value)]


def _of_choice(group: str, node: dict[str, Any]) -> dict[str, Any]:
    """What a node says of its choice, which has its own defaults; if there is no such choice, what
    was given."""
    name = node.get("name")
    given = {key: value for key, value in node.items() if value != MISSING}
    own = options.defaults(group, name)
    if own is None:
        return given
    for key in given.keys() - own.keys() - {"name"}:
        there = options.having(group, key)
        if there:
            raise ConfigError(
                f"{group}.{key} is an option of {' and '.join(there)}, not of {name}."
            )
    return {key: given.get(key, own.get(key)) for key in node if key in given or key in own}


def value_of(config, group: str) -> Options:
    """The value that a group of the config describes; raises ValueError for one that it cannot."""
    return options.from_node(group, _of_choice(group, _plain(config[group])))


def deciding(config) -> dict[str, Any]:
    """What a config says that may change a number, by dotted keys."""
    return {key: value for key, value in flat(config).items() if key.split(".")[0] not in NO_RESULT}


def chosen(config) -> dict[str, Any]:
    """What a config says that may change a number and is not the default, by dotted keys."""
    said, defaults = deciding(config), dict(flat_defaults())
    for group in OPTIONS:
        own = options.defaults(group, said.get(f"{group}.name")) or {}
        defaults |= {f"{group}.{key}": value for key, value in own.items()}
    return {
        key: value
        for key, value in said.items()
        if json.dumps(defaults.get(key)) != json.dumps(value)  # 1, a row, is not 1.0, all of them
    }


def fingerprint(config) -> str:
    """16 hex digits that name the result of a config."""
    return hashlib.sha256(json.dumps(chosen(config), sort_keys=True).encode()).hexdigest()[:16]


def agree(params: Mapping[str, str], config) -> bool:
    """Whether a run's logged parameters say what a config says, in all that may change a number."""
    return all(
        params.get(key, text) == text
        for key, text in ((key, param_text(value)) for key, value in deciding(config).items())
    )


def param_text(value: Any) -> str:
    """A value as MLflow keeps it."""
    return str(value)[:LONGEST_PARAM]


def typed(text: str) -> Any:
    """A value from its text, which is what MLflow keeps: 5, 0.5, True, None, lists, names."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


@cache
def flat_defaults() -> dict[str, Any]:
    """All keys that there are, with their defaults; None for an option of other choices than the
    default."""
    config = OmegaConf.structured(schema())
    for key in ("dataset.name", "model.name"):
        OmegaConf.update(config, key, "")
    others = {f"{group}.{key}": None for group in OPTIONS for key in options.types_of(group)}
    return dict(sorted((others | flat(config)).items()))

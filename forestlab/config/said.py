"""What a composed config says: its keys on one level, what of it decides a number, and the name of
the result that it gives."""

import ast
import hashlib
import json
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import MISSING, ListConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from forestlab.config.keys import AUTO, ConfigError, DatasetConfig, schema
from forestlab.config.places import home
from forestlab.core import options
from forestlab.core.options import OPTIONS, Options
from forestlab.masking import hide

BY_NAME = ("model.monotonic_cst",)  # values that may be mappings, of names that MLflow refuses
NO_RESULT = ("tracking", "n_jobs", "backend", "resume")  # keys that change no number
FOUND_BY = ("dataset.path", "dataset.delimiter", "dataset.decimal")  # data that a digest names
LONGEST_PARAM = 6000  # letters of a parameter that MLflow keeps


def quieten() -> None:
    """Have Hydra not warn that conf/hydra/launcher/x.yaml is called as the launcher's own, which it
    is merged into: that is meant, and each file has all it needs by itself."""
    warnings.filterwarnings("ignore", r"\s*'hydra/launcher/\w+' is validated", UserWarning)


def register() -> None:
    """Make the schema known to Hydra, and the resolver that its folders use."""
    from hydra.core.config_store import ConfigStore

    quieten()
    ConfigStore.instance().store(name="base", node=schema())
    flat_defaults.cache_clear()
    OmegaConf.register_new_resolver("forestlab_home", lambda: str(home()), replace=True)


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
    if config.tracking.uri:
        config.tracking.uri = hide(config.tracking.uri)
    if config.study.name == AUTO:
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


# ---- on one level ------------------------------------------------------------------------------


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
            if isinstance(value, dict) and value and prefix + key not in BY_NAME:
                waiting.append((f"{prefix}{key}.", value))
            else:
                found[prefix + key] = value
    for key in BY_NAME:
        if isinstance(found.get(key), dict):
            found[key] = dict(sorted((str(name), item) for name, item in found[key].items()))
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
    node = _of_choice(group, _plain(config[group]))
    if "name" not in node:
        raise ConfigError(f"{group} has no name any more: choose one by {group}=….")
    return options.from_node(group, node)


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
    """16 hex digits that name the result of a config, given its data, which may lie anywhere."""
    said = {key: value for key, value in chosen(config).items() if key not in FOUND_BY}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


def agree(params: Mapping[str, str], config) -> bool:
    """Whether a run's logged parameters say what a config says, in all that may change a number of
    the same data.

    Of what was left open, `auto`, a run logs the decision, which follows from its data.
    """
    said = {key: param_text(value) for key, value in deciding(config).items()}
    told = [key for key, text in said.items() if key not in FOUND_BY and text != AUTO]
    return all(params.get(key, said[key]) == said[key] for key in told)


def data_name(dataset: DatasetConfig) -> str:
    """What a data set is called: a person's own by the file, one of OpenML by its name there."""
    return Path(dataset.path).name if dataset.path else dataset.openml_name or dataset.name


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

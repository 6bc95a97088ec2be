"""What a configuration may have made: nothing but what Hydra, forestlab or a plug-in has to offer.

forestlab makes nothing of its own configuration by name: a `_target_` there is no option. Hydra
does, of its launcher, its sweeper, its callbacks and its logs, whatever stands in a config file:
one that somebody sent could call anything that Python can import. Here such a name must lead to
what is defined in Hydra itself, in one of its plug-ins that are installed, in forestlab, or in a
module that `plugins` lists; logs may also be written by Python's own handlers.
"""

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from hydra._internal.utils import _locate
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from forestlab.config import ConfigError
from forestlab.run.mistakes import PACKAGES, not_installed

OFFERING = ("hydra._internal.core_plugins", "hydra.experimental", "hydra_plugins", "forestlab")
WRITING = ("logging", "colorlog", "hydra._internal")  # of logs
MAKING = re.compile(r"\$\{\s*oc\.(?!env\b)")  # resolvers whose result may be more than a word
LOGS = ("class", "()")  # by which Python's configuration of logs names what it makes


def check_targets(hydra: DictConfig, plugins: Sequence[str]) -> None:
    """Raise ConfigError for a name, in Hydra's own part of a config, of what it may not make."""
    _require_installed(hydra)
    for key, name, is_log in _named(hydra, "hydra", False):
        offering = [*(WRITING if is_log else OFFERING), *plugins]
        if not isinstance(name, str) or not _is_of(name, offering):
            raise ConfigError(
                f"{key}={name!s} is neither Hydra's nor forestlab's: if you trust it, list its "
                "module in plugins."
            )
        _require_defined(key, name, offering)


def _require_installed(hydra: DictConfig) -> None:
    """Raise ConfigError for a launcher of which forestlab has a file, and nobody the package."""
    chosen, target = hydra.runtime.choices.get("hydra/launcher"), hydra.launcher.get("_target_")
    package = str(target).rpartition(".")[0].rpartition(".")[0]
    if chosen in PACKAGES["hydra/launcher"] and package.startswith("hydra_plugins."):
        try:
            is_there = find_spec(package) is not None
        except ModuleNotFoundError:  # no plug-in of Hydra's at all
            is_there = False
        if not is_there:
            raise ConfigError(not_installed("hydra/launcher", chosen))


def _named(node: Any, key: str, is_log: bool) -> Iterator[tuple[str, Any, bool]]:
    """Each name of something to be made, with its key and whether it is to write logs."""
    if isinstance(node, dict | list):  # a resolver made it
        node = OmegaConf.create(node)
    if isinstance(node, ListConfig):
        for i in range(len(node)):
            yield from _named(node._get_node(i), f"{key}.{i}", is_log)
    if not isinstance(node, DictConfig) or node._is_none() or node._is_missing():
        return
    is_log = is_log or key in ("hydra.job_logging", "hydra.hydra_logging")
    for name in node:
        within = f"{key}.{name!s}"
        if name == "_target_" or (is_log and name in LOGS):
            if not OmegaConf.is_missing(node, name) and node[name] is not None:
                yield within, node[name], is_log and name != "_target_"
        else:
            yield from _named(_looked_up(node, name, within), within, is_log)


def _looked_up(node: DictConfig, name: Any, key: str) -> Any:
    """What is under a name, or what that stands for; None if that is not known before a job is,
    and only a job's own words and numbers."""
    if not OmegaConf.is_interpolation(node, name):
        return node._get_node(name)
    try:
        return node[name]
    except OmegaConfBaseException as error:
        written = str(node._get_node(name)._value())  # type: ignore[union-attr]
        if MAKING.search(written):
            raise ConfigError(f"{key}={written} cannot be looked up before a job runs.") from error
        return None


def _is_of(name: str, modules: Sequence[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def _require_defined(key: str, name: str, modules: Sequence[str]) -> None:
    """A module also has the names of all that it imports, which are not its own to offer."""
    try:
        found = _locate(name)
    except Exception as error:
        reason = str(error).strip().splitlines()[0]
        raise ConfigError(f"{key}={name} cannot be found: {reason}") from error
    if not (isinstance(found, type) and _is_of(found.__module__, modules)):
        raise ConfigError(f"{key}={name} is no class of {name.rpartition('.')[0]}.")

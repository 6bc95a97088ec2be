"""From a command line to jobs: their configs, composed and checked, and what they are called.

An *override* is a word of the command line such as max_depth=5, parsed by Hydra. A *sweep* of
overrides becomes jobs by their product. Values are handed on as parsed and never as text: text
would be parsed again, and what a quote or a backslash meant would be lost.
"""

import copy
import dataclasses
import itertools
import os
import re
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple, NoReturn

from hydra import compose, initialize_config_dir
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.utils import get_args_parser
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override, Transformer, ValueType
from omegaconf import OmegaConf, open_dict

from forestlab import config as configs
from forestlab.config import GROUPS, ConfigError
from forestlab.masking import hide, hide_in
from forestlab.run.mistakes import no_choice, no_option
from forestlab.run.targets import check_targets

# Overrides that no name tells.
UNTOLD = ("tracking", "study", "hydra", "resume", "n_jobs", "backend", "plugins")
JOB_NAME = "command"  # by which Hydra calls the folder of a run
PLACES = ("dataset.path=", "tracking.uri=", "--config-dir=")  # what may begin with ~
AT_HOME = re.compile(r"(?:^|(?<=[=,'\"])|(?<=sqlite:///))~(?=/|$)")
MOST_CHECKED = 64  # jobs of a sweep that are composed and checked beforehand


class Work(NamedTuple):
    """What a command line asks for."""

    configs: list[Any]  # of the jobs, or of the first MOST_CHECKED
    n_jobs: int
    is_sweep: bool
    swept: list[str]  # the keys that vary
    name: str
    launcher: str = "basic"
    experiment: str | None = None
    products: Sequence[list[str]] = ([],)  # overrides to add, for each of Hydra's multiruns
    overrides: Sequence[Sequence[Override]] = ()  # of the jobs, if they run here without Hydra
    jobs: Sequence[Sequence[str]] = ()  # overrides of the jobs as words, for a launcher of Hydra's
    whole: Any = None  # the config of the plain overrides with Hydra's own part, not looked up
    hidden: Sequence[str] = ()  # overrides by which a password that a file has is not shown


# ---- the command line --------------------------------------------------------------------------


def options_of(arguments: list[str]) -> tuple[Namespace, list[str]]:
    """What the command line says, and its words as Hydra takes them.

    This Hydra takes overrides on one side of its flags only, so flags go in front. experiment=…
    gets the + of what is no choice among defaults.
    """
    parser = get_args_parser()
    parser.error = _refuse  # type: ignore[method-assign]
    arguments = _hidden(_at_home(arguments))
    options = parser.parse_intermixed_args(arguments)
    flags = list(arguments)
    for word in options.overrides:
        flags.remove(word)
    options.overrides = [f"+{w}" if w.startswith("experiment=") else w for w in options.overrides]
    if options.config_path:
        raise ConfigError("--config-path: your own configs join with --config-dir.")
    if options.experimental_rerun:
        raise ConfigError("--experimental-rerun is not for runs of forestlab: give overrides.")
    if options.config_dir and not os.path.isdir(options.config_dir):
        raise ConfigError(f"--config-dir: there is no folder {options.config_dir}.")
    return options, flags + options.overrides


def _at_home(arguments: list[str]) -> list[str]:
    """The words, with the ~ of a path looked up: shells do not see it behind a =, nor does Hydra
    take it."""
    found, home = [], os.path.expanduser("~")
    for before, word in zip(["", *arguments], arguments, strict=False):
        is_place = word.startswith(PLACES) or before in ("--config-dir", "-cd")
        found.append(AT_HOME.sub(lambda _: home, word) if is_place else word)
    return found


def _hidden(arguments: list[str]) -> list[str]:
    """The words, without the password of a store: Hydra writes them into its files."""
    return [hide_in(word) if "tracking" in word else word for word in arguments]


def _refuse(message: str) -> NoReturn:
    raise ConfigError(f"{message}; --help and --hydra-help tell what there is.")


@contextmanager
def hydra_with(config_dir: str | None) -> Iterator[ConfigLoaderImpl]:
    """Hydra, ready to compose from forestlab's configs and a person's own."""
    folder = str(configs.conf_folder())
    with initialize_config_dir(folder, job_name=JOB_NAME, version_base="1.3"):
        loader: Any = GlobalHydra.instance().config_loader()
        if config_dir:
            places = loader.get_search_path()
            own = f"file://{os.path.abspath(config_dir)}"
            places.prepend("command-line", own, SearchPathQuery(provider="schema"))
            loader.repository.initialize_sources(places)
        yield loader


def parsed(words: Sequence[str], loader: ConfigLoaderImpl | None = None) -> list[Override]:
    """Overrides from their text; the loader knows which choices a glob(…) stands for."""
    found = OverridesParser.create(loader).parse_overrides(list(words))
    for override in found:
        group, given = override.key_or_group, override.value()
        if not group:
            raise ConfigError(f"{override.input_line!r} names no option: an override is KEY=VALUE.")
        if group not in GROUPS or override.is_delete():
            continue
        for value in given.list if isinstance(given, ChoiceSweep) else [given]:
            if value is None or isinstance(value, int | float):  # a traceback in Hydra
                there = loader.get_group_options(group) if loader else []
                raise ConfigError(no_choice(group, Transformer.str(value), there))
    return found


def said(words: Sequence[str]) -> set[str]:
    """The keys of overrides."""
    return {override.key_or_group for override in parsed(words)}


def told(override: Override) -> str:
    """An override as a person reads it: without Hydra's prefixes and escapes."""
    if override.is_delete():
        return f"~{override.key_or_group}"
    value = override.value()
    shown = value if isinstance(value, str) else override.get_value_element_as_str()
    return f"{override.key_or_group}={shown}"


def is_basic(hydra: Any) -> bool:
    """Whether Hydra's own launcher is chosen, which runs jobs here, one after the other."""
    return "basic_launcher" in hydra.launcher._target_


def is_told(override: Override) -> bool:
    """Whether a name tells of an override."""
    return re.split("[./@]", override.key_or_group)[0] not in UNTOLD


# ---- jobs --------------------------------------------------------------------------------------


def plan(options: Namespace, most: int | None = MOST_CHECKED) -> Work:
    """What the command line asks for; of a sweep by Hydra at most so many jobs are composed."""
    with hydra_with(options.config_dir) as loader:
        given = parsed(options.overrides, loader)
        swept = [override for override in given if override.is_sweep_override()]
        if any(override.key_or_group == "experiment" for override in swept):
            raise ConfigError("experiment=…: one at a time, as each is a sweep of its own.")
        composer = _Composer(options.config_name or "config", given)
        is_multirun = options.multirun or str(composer.hydra.mode).endswith("MULTIRUN")
        if is_multirun or composer.base.sweeps is not None:
            return _plan_sweep(composer, given, loader, most)
        if swept:
            raise ConfigError(f"{swept[0].input_line} is a sweep: add -m to run it.")
        work = Work([configs.settled(composer.base, False)], 1, False, [], "")
        return work._replace(whole=composer.whole)


def _plan_sweep(composer: "_Composer", given: list[Override], loader, most: int | None) -> Work:
    base, settings = composer.base, composer.hydra
    own = [f"{key}={value}" for key, value in (settings.sweeper.params or {}).items()]
    shared = parsed(own, loader) + given
    products = _products(base.sweeps, given, loader)
    lines = [shared + product for product in products]
    swept = [o for line in lines for o in line if o.is_sweep_override()]
    for override in (*swept, *itertools.chain(*products)):
        if _is_hydras(override):  # no job's own, and not checked
            raise ConfigError(f"{override.input_line}: options of Hydra are one for all jobs.")
    words = [str(o.input_line).lstrip("+") for o in shared if is_told(o)]
    planned = Work(
        whole=composer.whole,
        configs=[configs.settled(copy.deepcopy(base), True)],
        n_jobs=1,
        is_sweep=True,
        swept=[o.key_or_group for o in itertools.chain(swept, *products)],
        name=" ".join(word.removeprefix("experiment=") for word in words),
        launcher="basic" if is_basic(settings) else "other",
        experiment=settings.runtime.choices.get("experiment"),
        hidden=composer.hidden,
        products=[[str(o.input_line) for o in product] for product in products],
    )
    if "basic_sweeper" not in settings.sweeper._target_:
        composer.check_names(swept)
        return planned
    jobs = [job for line in lines for job in _product(line)]
    is_here = base.sweeps is not None and planned.launcher == "basic"
    composed = [composer.config_of(job) for job in (jobs if is_here else jobs[:most])]
    planned = planned._replace(configs=composed, n_jobs=len(jobs))
    if is_here:
        return planned._replace(overrides=jobs)
    return planned._replace(jobs=[[_word(o) for o in job if not _is_hydras(o)] for job in jobs])


def _is_hydras(override: Override) -> bool:
    return override.key_or_group.startswith(("hydra.", "hydra/"))


def _word(override: Override) -> str:
    """An override of a job as text, which reads as the same value."""
    if override.is_delete():
        return str(override.input_line)
    return f"{override.get_key_element()}={override.get_value_element_as_str()}"


def _products(sweeps, given: list[Override], loader) -> list[list[Override]]:
    """The overrides of each line of `sweeps`; what the command line gives stands for all lines."""
    if sweeps is None:
        return [[]]
    keys = {override.key_or_group for override in given}
    found = []
    for line in sweeps:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise ConfigError(f"sweeps: {line!r} cannot be read: {error}.") from error
        found.append([o for o in parsed(words, loader) if o.key_or_group not in keys])
    return found


def _product(line: list[Override]) -> list[tuple[Override, ...]]:
    """The jobs of a line, in the order of Hydra's own sweeper; the last word on a key counts."""
    choices = {override.get_key_element(): _values(override) for override in line}
    return list(itertools.product(*choices.values()))


def _values(override: Override) -> list[Override]:
    """An override for each value of a sweep."""
    if not override.is_sweep_override():
        return [override]
    if not override.is_discrete_sweep():
        raise ConfigError(
            f"{override.input_line}: Hydra's own sweeper takes values as in 1,2,3 or range(1,4); "
            "an interval needs another, as hydra/sweeper=optuna."
        )
    try:
        values = list(override.sweep_iterator())
    except ValueError as error:
        raise ConfigError(f"{override.input_line}: {error}.") from error
    if not values:
        raise ConfigError(f"{override.input_line} has no values: there is nothing to run.")
    return [_with_value(override, value) for value in values]


def _with_value(override: Override, value: Any) -> Override:
    text = f"{override.get_key_element()}={Transformer.str(value)}"
    return dataclasses.replace(
        override, value_type=ValueType.ELEMENT, _value=value, input_line=text
    )


class _Composer:
    """Composes jobs from `base`, the config of the plain overrides, which all share.

    Only a choice of groups is composed by Hydra, and each once: to set values takes a fortieth of
    that.
    """

    def __init__(self, name: str, given: list[Override]):
        self.name = name
        self.plain = [str(o.input_line) for o in given if not o.is_sweep_override()]
        self.whole: Any = _composed(name, self.plain, return_hydra_config=True)
        self.hidden = _hide_of_file(self.whole)
        self.base: Any = copy.deepcopy(self.whole)
        self.hydra = self.base.hydra
        check_targets(self.hydra, self.base.plugins)
        with open_dict(self.base):
            del self.base["hydra"]
        _check_keys(self.base)
        self.bases: dict[tuple[str, ...], Any] = {(): self.base}
        self.alone = cache(lambda choice: self.compose([choice]))

    def compose(self, more: list[str]) -> Any:
        return _composed(self.name, self.plain + more)

    def config_of(self, job: Sequence[Override]) -> Any:
        changed = [override for override in job if override.input_line not in self.plain]
        values = [override for override in changed if is_value(override)]
        choices = tuple(str(o.input_line) for o in changed if not is_value(o))
        if choices not in self.bases:
            self.bases[choices] = self._put_together(choices) or self.compose(list(choices))
        config = copy.deepcopy(self.bases[choices])
        ConfigLoaderImpl._apply_overrides_to_config(values, config)
        _check_keys(config)
        return configs.settled(config, True)

    def _put_together(self, choices: tuple[str, ...]) -> Any:
        """The config of several choices from those of each alone; None if one says more than its
        node. Of 17 data sets and 5 models that is 22 to compose, not 85."""
        config = copy.deepcopy(self.base)
        for choice in choices:
            key, chosen = choice.split("=")[0], self.alone(choice)
            if key not in self.base or any(
                chosen[other] != self.base[other] for other in self.base if other != key
            ):
                return None
            config[key] = copy.deepcopy(chosen[key])
        return config

    def check_names(self, swept: list[Override]) -> None:
        """Raise for keys that there are not, in a sweep whose values another sweeper chooses."""
        for override in swept:
            sweep: Any = override.value()
            if not is_value(override) and override.key_or_group not in GROUPS:
                first = sweep.list[0] if isinstance(sweep, ChoiceSweep) else sweep.start
                _check_keys(self.compose([str(_with_value(override, first).input_line)]))


def _composed(name: str, overrides: list[str], **more: Any) -> Any:
    """As Hydra composes it. What follows the key of a list OmegaConf takes for a place in that."""
    try:
        return compose(name, overrides=overrides, **more)
    except ValueError as error:
        known = configs.flat_defaults()
        for override in parsed(overrides):
            above = override.key_or_group.rpartition(".")[0]
            if above in known and override.key_or_group not in known:
                raise ConfigError(no_option(override.key_or_group)) from error
        raise


def _hide_of_file(config: Any) -> list[str]:
    """Hide the password in the address of a store that a file of configs has; returns the override
    that says the same. What ${…} refers to is hidden once it is looked up: no file has it."""
    tracking: Any = OmegaConf.to_container(config.tracking, resolve=False)
    said = tracking["uri"]
    if not said or "${" in said or hide(said) == said:
        return []
    config.tracking.uri = hide(said)
    return [f"tracking.uri='{hide(said)}'"]


def is_value(override: Override) -> bool:
    """Whether an override gives a key a value; others choose from a group, or are a mistake."""
    if override.is_delete():
        return False
    key = override.key_or_group
    return key in configs.flat_defaults() or (key in GROUPS and isinstance(override.value(), dict))


def _check_keys(config) -> None:
    """Raise ConfigError for a key that is not in the schema, which + and ++ let through."""
    known = configs.flat_defaults()
    for key in configs.flat(config, resolve=False):
        if key not in known:
            raise ConfigError(no_option(key))

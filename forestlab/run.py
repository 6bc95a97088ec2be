"""`python -m forestlab.run`: wires configuration, jobs and sweeps, and only that.

    python -m forestlab.run model=forest dataset=digits
    python -m forestlab.run model=forest dataset=digits -m max_depth=1,5,20
    python -m forestlab.run experiment=tree_regression
    python -m forestlab.run --help

A sweep is a parent run with its children beneath. An experiment's sweep may be several products,
one in each line of its `sweeps`. Before anything is logged the jobs (of a large
sweep the first ones) are composed and checked, so a mistake costs one line and exit code 2. A job
that fails is marked FAILED, the others go on, and the exit code is 1; Ctrl-C and SIGTERM end the
runs as KILLED.
"""

import copy
import difflib
import gc
import logging
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from forestlab import config as configs
from forestlab.config import Config, ConfigError

# How jobs in other processes know of their sweep: the parent run, and the keys that vary.
PARENT_VARIABLE, SWEPT_VARIABLE = "FORESTLAB_PARENT_RUN", "FORESTLAB_SWEPT"
NOISE = ("full_key:", "object_type=", "reference_type=", "Set the env", "Config search path")
GROUPS = ("dataset", "model", "criterion", "search", "study", "tracking")
TOP = (*GROUPS, *configs.TOP)
UNTOLD = ("tracking", "study", "hydra", "resume", "n_jobs")  # overrides that no name tells
MISTAKES = (ConfigError, HydraException, OmegaConfBaseException)  # of the person at the keyboard
MOST_CHECKED = 64  # jobs of a sweep that are composed and checked beforehand

# Without Hydra's log file a failure's trace goes to its run alone, and not to the terminal.
logging.getLogger("failed").addHandler(logging.NullHandler())

results: list[Any] = []  # of the jobs in this process
parent: Any = None  # the sweep's run, in the process that was called


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    gc.disable()  # until the first job: starting up makes many objects, and all are there to stay
    try:
        with configs.sigterm_ends():
            return _main(arguments)
    finally:
        gc.enable()


def _main(arguments: list[str] | None) -> int:
    arguments = as_hydra_takes(sys.argv[1:] if arguments is None else arguments)
    configs.register()
    sys.argv = [sys.argv[0], *arguments]
    options = get_args_parser().parse_args(arguments)
    if options.help or options.hydra_help or options.info or options.cfg:
        _hydra_main()()
        return 0
    global parent
    results.clear()
    parent = None
    try:
        configs.require_home()
        todo = plan(options)
        if not todo.products:
            raise ConfigError(f"experiment={todo.experiment} has no runs: it is only drawn.")
        for config in todo.configs[:MOST_CHECKED]:
            _check(config)
    except MISTAKES as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return _run_sweep(todo) if todo.is_sweep else _run_one()


def as_hydra_takes(arguments: list[str]) -> list[str]:
    """Put -m in front: this Hydra takes overrides on one side of it only. And add the + to
    experiment=…: it is no choice among defaults."""
    flags = [word for word in arguments if word in ("-m", "--multirun")]
    words = [word for word in arguments if word not in ("-m", "--multirun")]
    return flags[:1] + [f"+{w}" if w.startswith("experiment=") else w for w in words]


def one_line(error: Exception) -> str:
    """An error in one line: what was given, what is wrong, what is allowed."""
    text = str(error)
    unknown = re.search(r"Could not override '([^']+)'", text)
    if unknown:
        known = list(configs.flat_defaults())
        near = difflib.get_close_matches(unknown[1], known, 1) or difflib.get_close_matches(
            unknown[1], [key.split(".")[-1] for key in known], 1
        )
        hint = f"did you mean {near[0]}?" if near else f"top-level keys: {', '.join(TOP)}."
        return f"there is no option {unknown[1]!r}: {hint}"
    merge = re.search(r"Error merging override (\S+)", text)
    if merge and error.__cause__ is not None:
        return f"{merge[1]}: {_lines(str(error.__cause__))[0]}"
    choice = re.search(r"Could not find '(\w+)/([^']+)'", text)
    if choice:
        listed = re.search(r"Available options in '\w+':(.*?)Config search", text, re.DOTALL)
        options = f": choose {', '.join(listed[1].split())}" if listed else ""
        return f"there is no {choice[1]}={choice[2]}{options}."
    return " ".join(line for line in _lines(text) if not line.startswith(NOISE))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


# ---- planning ----------------------------------------------------------------------------------


class Plan(NamedTuple):
    configs: list[Any]  # of the jobs, or of the first MOST_CHECKED
    n_jobs: int
    is_sweep: bool
    swept: list[str]  # the keys that vary
    name: str
    launcher: str = "basic"
    experiment: str | None = None
    products: Sequence[list[str]] = ([],)  # overrides to add, for each of Hydra's multiruns
    overrides: Sequence[list[str]] = ()  # of the jobs, if they run here without Hydra


def jobs(arguments: list[str]) -> list[Config]:
    """The configs of all jobs of a command line."""
    configs.register()
    options = get_args_parser().parse_args(as_hydra_takes(arguments))
    return plan(options, most=None).configs


def plan(options, most: int | None = MOST_CHECKED) -> Plan:
    """What the command line asks for; of a sweep by Hydra at most so many jobs are composed."""
    from hydra import compose, initialize_config_dir
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser

    extra = []
    if options.config_dir:
        extra = [f"hydra.searchpath=[file://{os.path.abspath(options.config_dir)}]"]
    name = options.config_name or "config"
    with initialize_config_dir(config_dir=str(configs.conf_folder()), version_base="1.3"):
        parse = OverridesParser.create().parse_overrides
        given = parse(options.overrides)
        plain = [str(o.input_line) for o in given if not o.is_sweep_override()]
        master = compose(name, overrides=plain + extra, return_hydra_config=True)
        base = _without_hydra(master)
        swept = [str(o.input_line) for o in given if o.is_sweep_override()]
        if any(line.startswith("+experiment=") for line in swept):
            raise ConfigError("experiment=…: one at a time, as each is a sweep of its own.")
        is_multirun = options.multirun or str(master.hydra.mode).endswith("MULTIRUN")
        if not is_multirun and base.sweeps is None:
            if swept:
                raise ConfigError(f"{swept[0]} is a sweep: add -m to run it.")
            return Plan([configs.settled(base, False)], 1, False, [], "")
        own = [f"{key}={value}" for key, value in (master.hydra.sweeper.params or {}).items()]
        products = _products(base.sweeps, given)
        lines = [parse(own + options.overrides + product) for product in products]
        keys = [o.get_key_element() for line in lines for o in line if o.is_sweep_override()]
        keys += [override.split("=")[0] for product in products for override in product]
        told = [o for o in own + options.overrides if not o.startswith(UNTOLD)]
        planned = Plan(
            [configs.settled(copy.deepcopy(base), True)],
            1,
            True,
            keys,
            " ".join(o.removeprefix("+experiment=") for o in told),
            "basic" if "basic_launcher" in master.hydra.launcher._target_ else "other",
            master.hydra.runtime.choices.get("experiment"),
            products,
        )
        if "basic_sweeper" not in master.hydra.sweeper._target_:
            return planned
        jobs = [job for line in lines for job in BasicSweeper.split_arguments(line, None)[0]]
        is_here = base.sweeps is not None and planned.launcher == "basic"
        composed = _compose_jobs(
            jobs if is_here else jobs[:most],
            base,
            plain,
            lambda groups: compose(name, overrides=plain + groups + extra),
        )
        return planned._replace(
            configs=composed, n_jobs=len(jobs), overrides=jobs if is_here else []
        )


def _products(sweeps, given: list) -> list[list[str]]:
    """The overrides of each line of `sweeps`; what the command line gives stands for all lines."""
    if sweeps is None:
        return [[]]
    keys = [override.get_key_element() for override in given]
    return [[w for w in shlex.split(line) if w.split("=")[0] not in keys] for line in sweeps]


def _compose_jobs(jobs: list[list[str]], base, plain: list[str], compose: Callable) -> list[Any]:
    """The configs of jobs, by their overrides; `base` is that of the plain ones, which all share.

    Only a choice of groups is composed, and each once: to merge values takes a fortieth of that.
    """
    bases: dict[tuple[str, ...], Any] = {(): base}
    alone = cache(lambda group: compose([group]))
    composed = []
    for job in jobs:
        changed = [override for override in job if override not in plain]
        groups = tuple(o for o in changed if o.split("=")[0].split("@")[0] in GROUPS)
        if groups not in bases:
            bases[groups] = _put_together(base, groups, alone) or compose(list(groups))
        values = OmegaConf.from_dotlist([o for o in changed if o not in groups])
        composed.append(configs.settled(OmegaConf.merge(bases[groups], values), True))
    return composed


def _put_together(base, groups: tuple[str, ...], alone: Callable) -> Any:
    """The config of several choices from those of each alone; None if one says more than its node.

    Of 17 data sets and 5 models that is 22 to compose, not 85.
    """
    config = copy.deepcopy(base)
    for group in groups:
        key, chosen = group.split("=")[0], alone(group)
        if key not in base or any(chosen[other] != base[other] for other in base if other != key):
            return None
        config[key] = copy.deepcopy(chosen[key])
    return config


def _without_hydra(config):
    OmegaConf.set_struct(config, False)
    return OmegaConf.masked_copy(config, [key for key in config if key != "hydra"])


def _check(config: Config) -> None:
    missing = OmegaConf.missing_keys(config)
    if missing:
        key = sorted(missing)[0]
        raise ConfigError(f"{key} must be given: add {key}=… to the command.")
    from forestlab import job

    job.check(config)


# ---- running -----------------------------------------------------------------------------------


def _hydra_main() -> Callable:
    return hydra.main(
        config_path=str(configs.conf_folder()), config_name="config", version_base="1.3"
    )(task)


def task(config: Config) -> float | None:
    """One job, called by Hydra. Returns the main metric, for sweepers that want one."""
    told = HydraConfig.get()
    config = configs.settled(config, told.mode == RunMode.MULTIRUN)
    return do_job(config, told.overrides.task, told.runtime.choices.get("experiment"))


def do_job(config: Config, overrides: list[str], experiment: str | None) -> float | None:
    """One job: its result goes to `results`, whatever comes of it."""
    from forestlab import job, report

    if len(results) < 2:  # what starting up and the first job import is there to stay: looking
        gc.freeze()  # through it again and again is a tenth of a sweep of small runs
    gc.enable()
    name = job_name(config, overrides)
    report.show_warnings()
    report.started(name, len(results))
    try:
        result = job.run(config, name, _parent_id, report.is_terminal(), experiment)
    except Exception as error:
        result = job.Result(name, "FAILED", None, {})
        logging.getLogger("failed").exception("failed: %s", name)  # into the job's log file
        report.failed(name, error)
    results.append(result)
    report.done(result)
    return job.main_value(result)


def _parent_id() -> str | None:
    return parent.run_id if parent is not None else os.environ.get(PARENT_VARIABLE)


def job_name(config: Config, overrides: list[str]) -> str:
    """The model, the data set, and what was said beyond them: in a sweep what varies in it."""
    swept = os.environ.get(SWEPT_VARIABLE, "").split(",")
    more = [
        override
        for override in overrides
        if not override.startswith((*UNTOLD, "model=", "dataset="))
        and (swept == [""] or override.split("=")[0] in swept)
    ]
    return " ".join([config.model.name, config.dataset.name, *more])


def _run_one() -> int:
    from forestlab import report

    os.environ.pop(PARENT_VARIABLE, None)
    os.environ.pop(SWEPT_VARIABLE, None)
    try:
        _hydra_main()()
    except KeyboardInterrupt:
        report.killed()
        return 130
    except SystemExit as stop:
        return int(stop.code or 0)
    report.summary(results, None)
    return 1 if any(result.status == "FAILED" for result in results) else 0


def _run_sweep(todo: Plan) -> int:
    from forestlab import report, sweep

    global parent
    parent = sweep.Parent(todo.configs[0], todo.name, todo.n_jobs, todo.experiment)
    if todo.launcher != "basic":  # jobs in other processes hear of it through the environment
        os.environ[PARENT_VARIABLE] = parent.run_id or ""
    os.environ[SWEPT_VARIABLE] = ",".join(todo.swept)
    report.expect(todo.n_jobs)
    status, code = "KILLED", 130
    try:
        _do_jobs(todo)
        failed = sweep.any_failed(parent, results)
        status, code = ("FAILED", 1) if failed else ("FINISHED", 0)
    except KeyboardInterrupt:
        report.killed()
    except SystemExit as stop:
        code = int(stop.code or 0)
        status = "KILLED" if code == 143 else "FAILED"
    finally:
        sweep.finish(parent, status, results)
    if status != "KILLED":
        report.summary(results or sweep.results(parent), parent)
    return code


def _do_jobs(todo: Plan) -> None:
    """Jobs of `sweeps` run here, one after the other: Hydra would compose each of them twice, which
    takes longer than a small run (0.3 s of 0.5). Other launchers and sweepers get all the products.
    """
    if todo.overrides:
        for config, overrides in zip(todo.configs, todo.overrides, strict=True):
            do_job(config, overrides, todo.experiment)
        return
    arguments = sys.argv[1:]
    for number, product in enumerate(todo.products):
        apart = f"hydra.sweep.subdir={number}-${{hydra.job.num}}"
        more = [*product, apart] if len(todo.products) > 1 else product
        sys.argv[1:] = as_hydra_takes(["-m", *arguments, *more])
        _hydra_main()()


if __name__ == "__main__":
    sys.exit(main())

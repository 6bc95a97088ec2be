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

import gc
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import OmegaConf

from forestlab import config as configs
from forestlab.config import Config, ConfigError
from forestlab.run.mistakes import MISTAKES, one_line
from forestlab.run.plan import MOST_CHECKED, Work, is_told, options_of, parsed, plan, told

# How jobs in other processes know of their sweep: the parent run, and the keys that vary.
PARENT_VARIABLE, SWEPT_VARIABLE = "FORESTLAB_PARENT_RUN", "FORESTLAB_SWEPT"
HYDRAS_OWN = ("help", "hydra_help", "info", "cfg", "shell_completion")  # flags that train nothing

# Without Hydra's log file a failure's trace goes to its run alone, and not to the terminal.
logging.getLogger("failed").addHandler(logging.NullHandler())

results: list[Any] = []  # of the jobs in this process
parent: Any = None  # the sweep's run, in the process that was called


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    # Until the first job: starting up makes many objects, and all are there to stay. With `freeze`
    # below, a tree on iris spends 0.04 s in the collector instead of 0.45, of 4 s of processor time
    # (logged to SQLite 1.0 instead of 1.5, of 10), and a sweep of 20 of them 0.2 instead of 1.0, of
    # 12.
    gc.disable()
    try:
        with configs.sigterm_ends():
            return _main(sys.argv[1:] if arguments is None else arguments)
    finally:
        gc.enable()


def _main(arguments: list[str]) -> int:
    global parent
    results.clear()
    parent = None
    configs.register()
    try:
        options, words = options_of(arguments)
        sys.argv = [sys.argv[0], *words]
        if any(getattr(options, flag) for flag in HYDRAS_OWN):
            _call_hydra()
            return 0
        configs.require_home()
        todo = plan(options)
        if not todo.products:
            what = f"experiment={todo.experiment}" if todo.experiment else "sweeps=[]"
            raise ConfigError(f"{what} has no runs: it is only drawn.")
        for config in todo.configs[:MOST_CHECKED]:
            _check(config)
    except MISTAKES as error:
        _complain(error)
        return 2
    except KeyboardInterrupt:
        return 130
    return _run_sweep(todo) if todo.is_sweep else _run_one()


def _complain(error: Exception) -> None:
    print(f"error: {one_line(error)}", file=sys.stderr)


def jobs(arguments: list[str]) -> list[Config]:
    """The configs of all jobs of a command line."""
    configs.register()
    return plan(options_of(arguments)[0], most=None).configs


def _check(config: Config) -> None:
    missing = OmegaConf.missing_keys(config)
    if missing:
        key = sorted(missing)[0]
        raise ConfigError(f"{key} must be given: add {key}=… to the command.")
    from forestlab.run import job

    job.check(config)


# ---- running -----------------------------------------------------------------------------------


def _call_hydra() -> None:
    """Hand sys.argv over to Hydra, which calls `task`; what it raises is not reported by it."""
    os.environ["HYDRA_FULL_ERROR"] = "1"
    folder = str(configs.conf_folder())
    hydra.main(config_path=folder, config_name="config", version_base="1.3")(task)()


def task(config: Config) -> float | None:
    """One job, called by Hydra. Returns the main metric, for sweepers that want one."""
    known = HydraConfig.get()
    config = configs.settled(config, known.mode == RunMode.MULTIRUN)
    overrides = parsed(known.overrides.task)
    return do_job(config, overrides, known.runtime.choices.get("experiment"))


def do_job(config: Config, overrides: Sequence[Override], experiment: str | None) -> float | None:
    """One job: its result goes to `results`, whatever comes of it."""
    from forestlab.run import job, terminal

    if len(results) < 2:
        gc.freeze()  # what starting up and the first job import is not looked through again
    gc.enable()
    name = job_name(config, overrides)
    terminal.show_warnings()
    terminal.started(name, len(results))
    try:
        result = job.run(config, name, _parent_id, terminal.is_terminal(), experiment)
    except Exception as error:
        result = job.Result(name, "FAILED", None, {})
        logging.getLogger("failed").exception("failed: %s", name)  # into the job's log file
        terminal.failed(name, error)
    results.append(result)
    terminal.done(result)
    return job.main_value(result)


def _parent_id() -> str | None:
    return parent.run_id if parent is not None else os.environ.get(PARENT_VARIABLE)


def job_name(config: Config, overrides: Sequence[Override]) -> str:
    """The model, the data set, and what was said beyond them: in a sweep what varies in it."""
    swept = os.environ.get(SWEPT_VARIABLE, "").split(",")
    more = {
        override.key_or_group: told(override)  # the last word on a key counts
        for override in overrides
        if is_told(override)
        and override.key_or_group not in ("model", "dataset")
        and (swept == [""] or override.key_or_group in swept)
    }
    return " ".join([config.model.name, config.dataset.name, *more.values()])


def _run_one() -> int:
    from forestlab.run import terminal

    os.environ.pop(PARENT_VARIABLE, None)
    os.environ.pop(SWEPT_VARIABLE, None)
    try:
        _call_hydra()
    except KeyboardInterrupt:
        terminal.killed()
        return 130
    except SystemExit as stop:
        return int(stop.code or 0)
    except (*MISTAKES, OSError) as error:
        _complain(error)
        return 1
    terminal.summary(results, None)
    return 1 if any(result.status == "FAILED" for result in results) else 0


def _run_sweep(todo: Work) -> int:
    from forestlab.run import sweep, terminal

    global parent
    parent = sweep.Parent(todo.configs[0], todo.name, todo.n_jobs, todo.experiment)
    if todo.launcher != "basic":  # jobs in other processes hear of it through the environment
        os.environ[PARENT_VARIABLE] = parent.run_id or ""
    os.environ[SWEPT_VARIABLE] = ",".join(todo.swept)
    terminal.expect(todo.n_jobs)
    status, code = "KILLED", 130
    try:
        _do_jobs(todo)
        failed = sweep.any_failed(parent, results)
        status, code = ("FAILED", 1) if failed else ("FINISHED", 0)
    except KeyboardInterrupt:
        terminal.killed()
    except SystemExit as stop:
        code = int(stop.code or 0)
        status = "KILLED" if code == 143 else "FAILED"
    except (*MISTAKES, OSError) as error:
        _complain(error)
        status, code = "FAILED", 1
    finally:
        sweep.finish(parent, status, results)
    if status != "KILLED":
        terminal.summary(results or sweep.results(parent), parent)
    return code


def _do_jobs(todo: Work) -> None:
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
        sys.argv[1:] = options_of(["-m", *arguments, *more])[1]
        _call_hydra()

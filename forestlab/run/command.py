"""`python -m forestlab.run`: wires configuration, jobs and sweeps, and only that.

    python -m forestlab.run model=forest dataset=digits
    python -m forestlab.run model=forest dataset=digits -m max_depth=1,5,20
    python -m forestlab.run experiment=tree_regression
    python -m forestlab.run --help

A sweep is a parent run with its children beneath. An experiment's sweep may be several products,
one in each line of its `sweeps`. Before anything is logged the jobs (of a large
sweep the first ones) are composed and checked, so a mistake costs one line and exit code 2. A job
that fails is marked FAILED, the others go on, and the exit code is 1; Ctrl-C, SIGTERM and SIGHUP
end the runs as KILLED. What a store does not take is kept in the journal for `forestlab sync`, and
the exit code is 3.
"""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import hydra
from hydra._internal.callbacks import Callbacks
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import ChoiceSweep
from hydra.core.utils import JobReturn, configure_log, run_job
from hydra.experimental.callback import Callback
from hydra.types import HydraContext, RunMode
from omegaconf import OmegaConf, open_dict

from forestlab import config as configs
from forestlab.config import Config, ConfigError
from forestlab.entry import STOPPED, version
from forestlab.run import plugins
from forestlab.run.batch import TERMINATED, Batch, run_jobs, sigterm_ends
from forestlab.run.here import run_here
from forestlab.run.mistakes import MISTAKES, one_line
from forestlab.run.naming import job_name
from forestlab.run.plan import MOST_CHECKED, Work, options_of, parsed, plan
from forestlab.run.progress import LINE

if TYPE_CHECKING:  # late: they import numba
    from forestlab.run.job import Result
    from forestlab.run.shared import Shared

KEPT = 3  # exit code: all is done, and some of it is in the journal, not in the store
DONE = ("FINISHED", "SKIPPED", "FAILED", "KEPT")
NO_LOG = "Unable to configure"  # begins what Python's logging says of settings that do not work
HYDRAS_OWN = ("help", "hydra_help", "info", "cfg", "shell_completion")  # flags that train nothing


class Performed(NamedTuple):
    """What came of a command."""

    code: int  # the exit code
    results: Sequence["Result"] = ()  # of the jobs in this process, in their order


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    return perform(sys.argv[1:] if arguments is None else arguments).code


def perform(arguments: list[str], shared: "Shared | None" = None) -> Performed:
    """Do what a command line says; `shared` is what its jobs share with those of other commands."""
    # Until the first job: starting up makes many objects, and all are there to stay. With `freeze`
    # of `Batch.do`, a tree on iris spends 0.04 s in the collector instead of 0.45, of 4 s of
    # processor time (logged to SQLite 1.0 instead of 1.5, of 10), and a sweep of 20 of them 0.2
    # instead of 1.0, of 12.
    was_on = gc.isenabled()
    gc.disable()
    try:
        with sigterm_ends():
            return _perform(arguments, shared)
    finally:
        (gc.enable if was_on else gc.disable)()


def _perform(arguments: list[str], shared: "Shared | None") -> Performed:
    if "--version" in arguments:  # Hydra's own would tell of Hydra
        print(version())
        return Performed(0)
    try:
        options, words = options_of(arguments)
        if any(getattr(options, flag) for flag in HYDRAS_OWN):
            configs.register()
            _call_hydra(Task(Batch()), words)
            return Performed(0)
        configs.require_home()
        todo = _planned(options)
        if not todo.products:
            what = f"experiment={todo.experiment}" if todo.experiment else "sweeps=[]"
            raise ConfigError(f"{what} has no runs: it is only drawn.")
        batch = _checked(todo, shared)
    except MISTAKES as error:
        _complain(error)
        return Performed(2)
    except KeyboardInterrupt:
        return Performed(STOPPED)
    told = arguments if shared is None else ()  # else it is a part of another command
    code = _run(batch, lambda: _start(todo, batch, options, words), told)
    return Performed(code, batch.results)


def _complain(error: Exception) -> None:
    LINE.end()
    print(f"error: {one_line(error)}", file=sys.stderr)


def jobs(arguments: list[str]) -> list[Config]:
    """The configs of all jobs of a command line."""
    return _planned(options_of(arguments)[0], most=None).configs


def _planned(options: Namespace, **most: int | None) -> Work:
    """What the command line asks for, with its plug-ins imported."""
    named = [*_named_plugins(options.overrides), *_plugins_of_files(options)]
    plugins.load(named, os.getcwd())  # before the schema is made: their options are keys too
    configs.register()
    todo = plan(options, **most)
    for config in todo.configs:
        plugins.load(config.plugins, os.getcwd())
    return todo


def _named_plugins(words: Sequence[str]) -> list[str]:
    """The plug-ins that the command line names itself, in a sweep those of all its jobs."""
    named: list = []
    for override in parsed([w for w in words if "plugins=" in w]):
        value = override.value()
        named += value.list if isinstance(value, ChoiceSweep) else [value]
    return [name for names in named if isinstance(names, list) for name in names]


def _plugins_of_files(options: Namespace) -> list[str]:
    """The plug-ins that an experiment's file, or another main config, names."""
    files = [f"{options.config_name or 'config'}.yaml"]
    files += [
        f"experiment/{override.value()}.yaml"
        for override in parsed([w for w in options.overrides if w.startswith("+experiment=")])
    ]
    folders = [*filter(None, [options.config_dir]), configs.conf_folder()]
    there = [Path(folder, file) for folder in folders for file in files]
    contents: list[Any] = [OmegaConf.load(path) for path in there if path.is_file()]
    found = [content.get("plugins") or [] for content in contents if content]
    return [str(name) for names in found for name in names]


def _checked(todo: Work, shared: "Shared | None") -> Batch:
    """The jobs, checked as far as they are known, ready to start."""
    for config in todo.configs[:MOST_CHECKED]:
        _check_given(config)
    _check_stores(todo.configs[:MOST_CHECKED])
    LINE.begin()
    LINE.tell("starting: loading numba and scikit-learn")
    from forestlab.run.checks import check
    from forestlab.run.shared import Shared

    shared = shared or Shared()
    for config in todo.configs[:MOST_CHECKED]:
        LINE.tell(f"reading {configs.data_name(config.dataset)}")
        check(config, shared.shelf)
    if not todo.is_sweep:
        return Batch(shared)
    from forestlab.run.sweep import Parent

    parent = Parent(shared, todo.configs[0], todo.name, todo.n_jobs, todo.experiment)
    return Batch(shared, parent, todo.n_jobs, todo.swept)


def _check_given(config: Config) -> None:
    missing = OmegaConf.missing_keys(config)
    if missing:
        key = sorted(missing)[0]
        raise ConfigError(f"{key} must be given: add {key}=… to the command.")


def _check_stores(jobs: Sequence[Config]) -> None:
    """Raise ConfigError unless the stores of jobs can take runs; each is asked once."""
    tracked = [config.tracking for config in jobs if config.tracking.name != "none"]
    for settings in {(each.uri, each.experiment): each for each in tracked}.values():
        configs.require_store(settings)


# ---- running -----------------------------------------------------------------------------------


def _run(batch: Batch, start: Callable[[], None], arguments: Sequence[str]) -> int:
    """Run the jobs and show what came of them; returns the exit code."""
    from forestlab.run import terminal

    try:
        code = 0 if run_jobs(batch, start) == "FINISHED" else 1
    except KeyboardInterrupt:
        _tell_stopped(batch, arguments)
        return STOPPED
    except SystemExit as stop:
        code = int(stop.code or 0)
        if code == TERMINATED:
            _tell_stopped(batch, arguments)
            return code
    except (*MISTAKES, OSError) as error:
        _complain(error)
        code = 1
    except ValueError as error:
        if not str(error).startswith(NO_LOG):
            raise
        _complain(ConfigError(f"hydra's logging: {error}: {error.__cause__}"))
        return 2
    results = batch.results or (batch.parent.results() if batch.parent else [])
    terminal.summary(results, batch.parent)
    is_kept = any(r.status == "KEPT" for r in results) or (batch.parent and batch.parent.why)
    return KEPT if is_kept and not code else code


def _tell_stopped(batch: Batch, arguments: Sequence[str]) -> None:
    """How many jobs of a sweep were done, and how to do the others."""
    from forestlab.run import terminal

    is_kept = batch.parent is not None and batch.parent.is_open
    n_done = sum(result.status in DONE for result in batch.results)
    terminal.killed(n_done, batch.n_jobs, arguments if is_kept else ())
    terminal.kept(batch.results, batch.parent)


def _start(todo: Work, batch: Batch, options: Namespace, words: list[str]) -> None:
    """Jobs of `sweeps` run here, one after the other: Hydra would compose each of them twice, which
    takes longer than a small run (0.3 s of 0.5)."""
    if todo.overrides:
        for config, overrides in zip(todo.configs, todo.overrides, strict=True):
            batch.do(config, job_name(config, overrides, batch.swept), todo.experiment)
    elif not todo.is_sweep:
        _run_once(Task(batch), todo.whole)
    elif todo.launcher == "basic" and todo.jobs:
        run_here(Task(batch), options, todo.hidden, todo.jobs)
    elif todo.launcher == "basic":  # a sweeper that goes by what comes of jobs
        for product in _products(todo):
            _call_hydra(Task(batch), options_of(["-m", *words, *product])[1])
    else:
        _start_elsewhere(todo, batch, options, words)


def _products(todo: Work) -> list[list[str]]:
    """The overrides of each multirun of Hydra's, whose folders are apart."""
    if len(todo.products) == 1:
        return [[*todo.hidden, *todo.products[0]]]
    apart = "hydra.sweep.subdir={}-${{hydra.job.num}}"
    return [
        [*todo.hidden, *product, apart.format(number)]
        for number, product in enumerate(todo.products)
    ]


def _start_elsewhere(todo: Work, batch: Batch, options: Namespace, words: list[str]) -> None:
    """By another launcher: all jobs together, unless a sweeper decides on them one by one."""
    from forestlab.run.errand import Errand
    from forestlab.run.launching import followed, launch

    for config in todo.configs[:MOST_CHECKED]:
        batch.show(batch.shared.job(config))
    if todo.jobs:
        launch(batch, options, todo.jobs)
        return
    for product in _products(todo):
        with followed(batch, todo.whole.hydra, options, todo.n_jobs) as (told, following):
            errand = Errand(told._replace(waits=True))  # it goes by what comes of a job
            _call_hydra(errand, options_of(["-m", *words, *product])[1])
            following.settle(waits=False)


def _run_once(task: "Task", whole: Any) -> None:
    """One job as Hydra runs it, in its folder and with its log and callbacks, by the config that
    was composed to be checked: Hydra would compose it twice more, which takes 0.25 s of processor
    time of the 3.5 of a small run."""
    with open_dict(whole):
        whole.hydra.mode = RunMode.RUN
    configure_log(whole.hydra.hydra_logging, whole.hydra.verbose)
    callbacks, name = Callbacks(whole), whole.hydra.job.config_name
    callbacks.on_run_start(config=whole, config_name=name)
    context = HydraContext(config_loader=None, callbacks=callbacks)  # type: ignore[arg-type]
    done = run_job(task, whole, "hydra.run.dir", None, context)
    callbacks.on_run_end(config=whole, config_name=name, job_return=done)
    done.return_value  # noqa: B018 - raises what the job raised


def _call_hydra(task: Callable, words: list[str]) -> None:
    """Let Hydra read the words and call `task`; what it raises is not reported by it."""
    os.environ["HYDRA_FULL_ERROR"] = "1"
    folder, before = str(configs.conf_folder()), sys.argv
    sys.argv = [sys.argv[0], *words]
    try:
        hydra.main(config_path=folder, config_name="config", version_base="1.3")(task)()
    finally:
        sys.argv = before


class Task:
    """What Hydra calls for each job in this process."""

    def __init__(self, batch: Batch):
        self.batch = batch

    def __call__(self, config: Config) -> float | None:
        """One job. Returns the main metric, for sweepers that want one."""
        known = HydraConfig.get()
        plugins.load(config.plugins, known.runtime.cwd)
        config = configs.settled(config, known.mode == RunMode.MULTIRUN)
        name = job_name(config, parsed(known.overrides.task), self.batch.swept)
        waits = "basic_sweeper" not in known.sweeper._target_  # it goes by what comes of a job
        result = self.batch.do(config, name, known.runtime.choices.get("experiment"), waits)
        from forestlab.run.job import main_value

        return main_value(result)


class Forget(Callback):
    """Has Hydra let go of the configs of a job that is done. It keeps two of each until a sweep
    ends, 0.2 MB, for which nobody asks."""

    def on_job_end(self, config: Any, job_return: JobReturn, **kwargs: Any) -> None:
        job_return.cfg = job_return.hydra_cfg = None

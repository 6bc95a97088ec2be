"""The launchers that forestlab knows: how many threads a job has beside the others, how many jobs
are handed over at once, and what their engines need."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any, NamedTuple

from joblib import cpu_count, effective_n_jobs
from omegaconf import OmegaConf

from forestlab.forest.spread import to_be_let_in
from forestlab.processes import ending_signals
from forestlab.run.batch import TERMINATED

BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Share(NamedTuple):
    """A job's share of the machine."""

    threads: int = 0  # 0: as many as the job says
    at_once: int = 0  # jobs that are handed over together; 0: all
    is_watched: bool = True  # whether jobs end with the process that started them
    fall_together: bool = False  # whether a launcher that loses a process ends the others


def share(launcher: Any, n_jobs: int) -> Share:
    """Of a launcher's configuration, for so many jobs."""
    name = str(launcher._target_)
    if ".hydra_joblib_launcher." in name:
        n_processes = min(effective_n_jobs(launcher.n_jobs), max(n_jobs, 1))
        return Share(max(1, cpu_count() // n_processes), fall_together=True)
    if ".hydra_ray_launcher." in name:
        return Share(max(1, int(launcher.ray.remote.get("num_cpus") or 1)))
    if ".hydra_submitit_launcher." in name:
        threads = launcher.cpus_per_task or 1
        if name.endswith("LocalLauncher"):  # it would start all jobs at once
            return Share(threads, at_once=max(1, cpu_count() // threads))
        return Share(threads, is_watched=False)  # jobs of Slurm outlive who submitted them
    return Share()


@contextmanager
def prepared(launcher: Any) -> Iterator[None]:
    """While this lasts, the environment is as an engine needs it."""
    name, wanted = str(launcher._target_), {}
    is_ray = ".hydra_ray_launcher." in name
    if is_ray and (launcher.ray.init.get("address") or os.environ.get("RAY_ADDRESS")):
        wanted = to_be_let_in()
    if ".hydra_submitit_launcher." in name:
        wanted = dict.fromkeys(BLAS, str(launcher.cpus_per_task or 1))
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        with _heard_by_ray(launcher.ray.init) if is_ray else nullcontext():
            yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            os.environ.update({} if value is None else {key: value})


@contextmanager
def _heard_by_ray(init: Any) -> Iterator[None]:
    """Have SIGTERM and SIGHUP end what waits for Ray, as they end other launchers.

    Ray puts a handler of its own in the place of ours when it starts, so it is started here. And
    what a handler raises while Ray waits, it takes for an end of its own, unless that is a
    KeyboardInterrupt.
    """
    came: list[int] = []
    before = {name: signal.getsignal(name) for name in ending_signals()}

    def interrupt(signum, frame):
        came.append(signum)
        raise KeyboardInterrupt

    options: Any = OmegaConf.to_container(init, resolve=True)
    with suppress(Exception):  # the launcher, which tries again, tells
        import_module("ray").init(**options)
    for name in before:
        signal.signal(name, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if came:
            raise SystemExit(TERMINATED) from None
        raise
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)

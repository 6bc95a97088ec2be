"""The launchers that forestlab knows: how many threads a job has beside the others, how many jobs
are handed over at once, and what their engines need."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from joblib import cpu_count, effective_n_jobs

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


def _has_token() -> bool:
    """Whether a cluster of Ray may want to be shown a token, which it then does not ask for."""
    said = any(name in os.environ for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    return said or (Path.home() / ".ray/auth_token").exists()


@contextmanager
def prepared(launcher: Any) -> Iterator[None]:
    """While this lasts, the environment is as an engine needs it."""
    name, wanted = str(launcher._target_), {}
    if ".hydra_ray_launcher." in name and launcher.ray.init.get("address") and _has_token():
        wanted["RAY_AUTH_MODE"] = os.environ.get("RAY_AUTH_MODE", "token")
    if ".hydra_submitit_launcher." in name:
        wanted = dict.fromkeys(BLAS, str(launcher.cpus_per_task or 1))
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None)
            os.environ.update({} if value is None else {key: value})

"""Whole commands, as a person starts them: processes, with all that they import and log.

run       `python -m forestlab.run dataset=digits`, its kernels and its store made before
plain     scikit-learn and MLflow's autolog, for a curve over 20 depths: `plain.py`
child     one more run of a sweep, beyond its fit: two sweeps by their difference
first     the command on a machine that has nothing yet: no kernels, no store

Wall time waits for other processes of the machine; the seconds of processors, "cpu", do not.
"""

import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmark.measured import Measured
from benchmark.rounds import Settings, orders, tell

PLAIN = Path(__file__).with_name("plain.py")
RUN = [sys.executable, "-m", "forestlab.run", "dataset=digits"]
SWEEPS = 2, 12  # runs of the two whose difference is ten children


def measure(settings: Settings) -> list[Measured]:
    base = Path(tempfile.mkdtemp(prefix="forestlab-bench-"))
    try:
        return _measured(base, settings)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _measured(base: Path, settings: Settings) -> list[Measured]:
    home, store = base / "home", f"sqlite:///{base}/plain.db"
    home.mkdir()
    turns = {
        "run": lambda: took(RUN, home),
        "plain": lambda: took([sys.executable, str(PLAIN), store], home, cwd=base),
        "child": lambda: child(home),
        "first": lambda: first(base),
    }
    for name in ("run", "plain"):  # kernels, stores
        tell(f"whole jobs: warming up, {name}")
        turns[name]()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in turns}
    for r, names in orders(list(turns), settings.rounds, "whole jobs"):
        for name in names:
            tell(f"whole jobs: round {r + 1} of {settings.rounds}: {name}")
            found[name].append(turns[name]())
    peers = dict.fromkeys(turns, "forestlab") | {"plain": "scikit-learn and autolog"}
    return [
        Measured("job", name, peers[name], what, "s", tuple(turn[k] for turn in values))
        for name, values in found.items()
        for k, what in enumerate(("wall", "cpu"))
    ]


def took(command: list[str], home: Path, cwd: Path | None = None, **environment: str):
    """Seconds of a command: on the clock, and of processors."""
    given = os.environ | {"FORESTLAB_HOME": str(home), "MLFLOW_TRACKING_URI": ""} | environment
    given.pop("MLFLOW_TRACKING_URI")
    before, start = _cpu(), time.perf_counter()
    done = subprocess.run(command, env=given, cwd=cwd, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return seconds, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def child(home: Path) -> tuple[float, float]:
    """Seconds of one more run of a sweep, without its fit."""
    few, many = (took([*RUN, "tracking=lean", "-m", f"seed=range({n})"], home) for n in SWEEPS)
    n, fit = SWEEPS[1] - SWEEPS[0], seconds_of_fits(home / "mlflow.db", SWEEPS[1])
    return (many[0] - few[0]) / n - fit, (many[1] - few[1]) / n - fit


def seconds_of_fits(store: Path, n: int) -> float:
    """The median over the newest n runs."""
    asked = """
        select value from metrics join runs using (run_uuid)
        where key = 'summary/seconds_fit' order by start_time desc limit ?
    """
    with sqlite3.connect(store) as database:
        return statistics.median(value for (value,) in database.execute(asked, (n,)))


def first(base: Path) -> tuple[float, float]:
    """The command with a home and a cache that are empty."""
    empty = Path(tempfile.mkdtemp(dir=base))
    caches = {name: str(empty / "cache") for name in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    (empty / "home").mkdir()
    try:
        return took(RUN, empty / "home", **caches)
    finally:
        shutil.rmtree(empty, ignore_errors=True)

"""Processes that open one fresh store, all at once or killed on the way: a script for the tests.

It imports MLflow once and forks, as importing takes each process seconds. What it is given and
what it tells is JSON.
"""

import json
import os
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from forestlab import tracking
from forestlab.config import TrackingConfig


def open_and_log(path: Path | str, name: str) -> None:
    uri = path if isinstance(path, str) else f"sqlite:///{path}"
    store = tracking.open_store(TrackingConfig(uri=uri))
    tracking.finish(store, tracking.start(store, name, {}), "FINISHED")


def started(work) -> int:
    """A process that does some work; its exit code says whether it could."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = 0
    except BaseException as error:
        print(type(error).__name__, error, file=sys.stderr)
    finally:
        os._exit(code)


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def counted(path: Path) -> list:
    """How many runs a store has, whether it is sound, and what lies around it."""
    if not path.exists():
        return [0, "missing", []]
    with closing(sqlite3.connect(path)) as store:
        (runs,) = store.execute("select count(*) from runs").fetchone()
        (sound,) = store.execute("pragma integrity_check").fetchone()
    left = [file.name for file in path.parent.iterdir() if "making" in file.name]
    return [runs, sound, left]


def in_forks(path: Path | str, n: int) -> list[int]:
    """The exit codes of n processes that open a fresh store at the same moment and log a run."""
    begin = time.time() + 0.5

    def work(i: int) -> None:
        time.sleep(max(0.0, begin - time.time()))
        open_and_log(path, f"run {i}")

    return [ended(pid) for pid in [started(lambda i=i: work(i)) for i in range(n)]]


def killed(folder: Path, shares: list[float]) -> list:
    """Of processes that are killed while they make a store, at shares of the time that takes: what
    became of the first, of one that opens the store after it, and what is there then. Where the
    first had ended before, as it may if the machine was busy when time was taken, another is killed
    in half the time."""

    def make(name: str) -> None:  # nothing is kept from the last time
        os.environ["XDG_CACHE_HOME"] = str(folder / name / "cache")
        open_and_log(folder / name / "mlflow.db", "first")

    start = time.monotonic()
    assert ended(started(lambda: make("whole"))) == 0
    lasts = time.monotonic() - start
    told: list[list] = []
    waits = [share * lasts for share in reversed(shares)]
    while waits:
        wait, name = waits.pop(), f"number {len(told)}"
        pid = started(lambda name=name: make(name))
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)
        first, path = ended(pid), folder / name / "mlflow.db"
        before = counted(path)[0]
        second = ended(started(lambda path=path: open_and_log(path, "second")))
        told.append([first, second, before, *counted(path)])
        if first == 0:
            waits.append(wait / 2)
    return told


if __name__ == "__main__":
    what, folder, more = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    if what == "at_once":
        path = folder / "mlflow.db"
        print(json.dumps({"codes": in_forks(path, more), "counted": counted(path)}))
    else:
        print(json.dumps(killed(folder, more)))

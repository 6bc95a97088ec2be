"""Claims: of resumed commands that run at once, which one does a job.

Who does a job holds its *claim* while that lasts: a lock on a file in forestlab's home, named by
the result and its store. The kernel lets go of it when a process ends, however that happens. Who
comes second does other jobs first, and then waits. A process of another machine, or with another
home, shows by its run in the store, which is RUNNING and was heard of lately; two that begin within
the same seconds do not see each other there, and both do the job.
"""

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

from forestlab.config import home
from forestlab.run.progress import NOW

try:
    import fcntl
except ImportError:  # not on Windows: there nothing is claimed
    fcntl = None  # type: ignore[assignment]

now = logging.getLogger(NOW)

CLAIMED = "CLAIMED"  # the status of a job that another process is doing
POLL = 2.0  # seconds between two looks at the store
BEATS = 60.0  # seconds between two heartbeats


@contextmanager
def claim(result: dict[str, str], where: str, waits: bool) -> Iterator[bool]:
    """Hold the claim on a result in a store; whether it is ours, as it is after `waits`."""
    file = _locked(_path(result, where), waits)
    try:
        yield file is not None
    finally:
        if file is not None:
            file.release()


class _Lock:
    """A file that is locked. It is gone when the lock is: see `_locked`."""

    def __init__(self, path: Path, number: int):
        self.path, self.number = path, number

    def release(self) -> None:
        if self.number >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self.number)


def _path(result: dict[str, str], where: str) -> Path:
    text = json.dumps([where, sorted(result.items())])
    return home() / "claims" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.lock"


def _locked(path: Path, waits: bool) -> _Lock | None:
    """Lock a file; None if another process has. What was removed while it was waited for is no
    lock any more: then the file of that name is another."""
    if fcntl is None:
        return _Lock(path, -1)
    path.parent.mkdir(parents=True, exist_ok=True)
    is_told = False
    while True:
        number = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | (0 if is_told else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(number)
            if not waits:
                return None
            now.info("waiting for another process, which does this job")
            is_told = True
            continue
        except OSError:  # a file system without locks: then all is ours, as on Windows
            os.close(number)
            return _Lock(path, -1)
        except BaseException:  # Ctrl-C
            os.close(number)
            raise
        if _is_there(path, number):
            return _Lock(path, number)
        os.close(number)


def _is_there(path: Path, number: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(number))
    except FileNotFoundError:
        return False


# ---- other machines ----------------------------------------------------------------------------


def is_done_elsewhere(running: Callable[[], object], waits: bool) -> bool:
    """Whether a process elsewhere does a job; if `waits`, not any more once this returns.

    `running` finds its run in the store.
    """
    while running() is not None:
        if not waits:
            return True
        now.info("waiting for another machine, which does this job")
        time.sleep(POLL)
    return False


@contextmanager
def heard_of(opened: Future) -> Iterator[None]:
    """While this lasts, the store hears of a run every now and then, once it is opened."""
    ends = threading.Event()

    def beat() -> None:
        while not ends.wait(BEATS):
            if opened.done():
                # A store that does not answer is told of by who logs to it.
                with suppress(Exception):
                    from forestlab import tracking  # late: it is there once a run is opened

                    store, begun = opened.result()
                    tracking.beat(store, begun.run_id)

    threading.Thread(target=beat, name="forestlab-heartbeat", daemon=True).start()
    try:
        yield
    finally:
        ends.set()

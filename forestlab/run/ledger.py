"""The ledger of a sweep whose jobs run in other processes: a folder where they tell what they do.

N.begun   job N is being done, by which process; who does it touches it now and then
N.done    what came of it
stopped   nothing more is to be begun

A job is begun once, whoever starts it: the file appears whole, and for one process alone. Machines
that do not see the folder do their jobs without it.
"""

import json
import os
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from forestlab import processes
from forestlab.atomic import whole_file
from forestlab.config import home
from forestlab.run.job import Result

TOUCHES = 5.0  # seconds between two touches
SILENCE = 120.0  # seconds without a touch after which a job of another machine is lost


class Begun(NamedTuple):
    name: str
    process: str  # its mark


class Done(NamedTuple):
    result: Result
    seconds: float
    error: str = ""  # why it failed, in a line


class Ledger:
    def __init__(self, folder: Path, starter: str):
        """`starter` is the mark of the process that started the sweep."""
        self.folder, self.starter = folder, starter

    @classmethod
    def new(cls) -> "Ledger":
        folder = home() / "hydra" / f"jobs-{secrets.token_hex(8)}"
        folder.mkdir(parents=True)
        return cls(folder, processes.mark())

    # ---- by who does a job ----

    def begin(self, number: int, name: str = "") -> bool:
        """Whether a job is ours to do."""
        if not self.folder.is_dir():  # on the same machine: the sweep is over
            return self.starter.split(":")[0] != socket.gethostname()
        if (self.folder / "stopped").exists():
            return False
        own = self.folder / f".{number}-{secrets.token_hex(8)}"
        own.write_text(json.dumps(Begun(name, processes.mark())))
        try:
            os.link(own, self._path(number, "begun"))
        except FileExistsError:
            return False
        finally:
            own.unlink()
        return True

    @contextmanager
    def touching(self, number: int) -> Iterator[None]:
        """While this lasts, the job is seen to be at it."""
        ends = threading.Event()

        def touch() -> None:
            while not ends.wait(TOUCHES):
                with suppress(OSError):
                    os.utime(self._path(number, "begun"))

        threading.Thread(target=touch, name="forestlab-ledger", daemon=True).start()
        try:
            yield
        finally:
            ends.set()

    def end(self, number: int, done: Done) -> None:
        if self.folder.is_dir():
            with whole_file(self._path(number, "done")) as path:
                path.write_text(json.dumps(done))

    # ---- by who started them ----

    def begun(self, known: Container[int] = ()) -> dict[int, Begun]:
        """Who does jobs, or did them, beside those that are known."""
        return {n: Begun(*told) for n, told in self._all("begun", known).items()}

    def done(self, known: Container[int] = ()) -> dict[int, Done]:
        """What came of jobs, beside those that are known."""
        found = self._all("done", known)
        return {n: Done(Result(*result), *more) for n, (result, *more) in found.items()}

    def lives(self, number: int, process: str) -> bool:
        """Whether somebody is still at a job that was begun."""
        alive = processes.is_alive(process)
        if alive is not None:
            return alive
        touched = self.folder / ".now"  # by the clock of the file system
        touched.touch()
        with suppress(FileNotFoundError):
            then = self._path(number, "begun").stat().st_mtime
            return touched.stat().st_mtime - then < SILENCE
        return False

    def forget(self, number: int) -> None:
        """Have a job done again."""
        for kind in ("begun", "done"):
            self._path(number, kind).unlink(missing_ok=True)

    def stop(self) -> None:
        (self.folder / "stopped").touch()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _all(self, kind: str, known: Container[int]) -> dict[int, list]:
        found = {}
        for path in self.folder.glob(f"*.{kind}"):
            number = int(path.stem)
            if number not in known:
                with suppress(FileNotFoundError):
                    found[number] = json.loads(path.read_text())
        return found

    def _path(self, number: int, kind: str) -> Path:
        return self.folder / f"{number}.{kind}"


def wait_for_end(processes_: list[str], seconds: float) -> list[str]:
    """Wait for processes of this machine to end; those that did not."""
    until = time.monotonic() + seconds
    left = [mark for mark in processes_ if processes.is_alive(mark)]
    while left and time.monotonic() < until:
        time.sleep(0.05)
        left = [mark for mark in left if processes.is_alive(mark)]
    return left

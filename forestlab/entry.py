"""Around every command: whatever ends it is told in a line, and not by a traceback.

It begins before the modules that do the work are imported, as that takes seconds. Until something
is logged Ctrl-C ends the process at once. While jobs run (`unwinding`) it ends their runs first;
whoever presses it again does not wait for that. A reader that has gone, as with `| head`, ends
nothing: what is printed after that is lost.
"""

import errno
import importlib
import io
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

from forestlab.masking import scrub

STOPPED = 130  # exit code of Ctrl-C
KILLED = (STOPPED, 143)  # and of SIGTERM
GONE = (errno.EPIPE, errno.EIO)  # a reader that ended, a terminal that was closed
PACKAGES = ("numba", "scikit-learn", "mlflow", "hydra-core")  # whose versions are told


def enter(module: str, arguments: list[str] | None = None) -> int:
    """Import a module and call its `main`, in a process of its own; returns the exit code."""
    begin()
    return ended(importlib.import_module(module).main(arguments))


def begin() -> None:
    """Have Ctrl-C end this process at once, and its output go on without a reader."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end_at_once)
    sys.stdout, sys.stderr = _patient(sys.stdout), _patient(sys.stderr)
    logging.raiseExceptions = False  # by a traceback for each line that a full disk does not take


def ended(code: int) -> int:
    """The exit code. A command that was stopped ends here: its threads may still compile, which
    would be waited for."""
    if code in KILLED:
        _leave(code)
    return code


def _end_at_once(signum: int, frame: Any) -> None:
    """Ctrl-C where there is nothing to unwind. KeyboardInterrupt would be lost in imports: some
    take any failure for a package that is not installed."""
    os.write(2, b"\nstopped\n" if os.isatty(2) else b"stopped\n")
    _leave(STOPPED)


def _leave(code: int) -> NoReturn:
    sys.stdout.flush()
    os._exit(code)


@contextmanager
def unwinding() -> Iterator[None]:
    """While this lasts Ctrl-C raises KeyboardInterrupt, the first time."""

    def interrupt(signum: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, _end_at_once)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not _end_at_once:  # a program that calls us has its own way
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Patient(io.FileIO):
    """A file that takes what it is given, whether or not anybody reads it."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return len(data)


class _Discreet(io.TextIOWrapper):
    """A stream on which nothing appears that is hidden."""

    def write(self, text: str) -> int:
        return super().write(scrub(text))


def _patient(stream: TextIO) -> TextIO:
    """The same stream, which does not mind if its reader goes; one that is no file as it is."""
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):
        return stream
    stream.flush()
    made = io.BufferedWriter(_Patient(number, "w", closefd=False))
    by_lines = stream is sys.stderr or stream.isatty()
    return _Discreet(made, stream.encoding, stream.errors, line_buffering=by_lines)


def version() -> str:
    """forestlab's version, and those of what decides its numbers and logs."""
    from importlib import metadata

    own = sys.modules["forestlab"].__version__  # not imported from: it knows of all rooms
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    python = ".".join(map(str, sys.version_info[:3]))
    return f"forestlab {own} ({', '.join([f'Python {python}', *found])})"

"""Numba's settings, once, and a kernel cache that cannot go stale.

*jitable* marks a plain function that kernels may call; *kernel* compiles an entry point: without
the GIL, cached on disk. Numba itself only notices an edit of the file that holds the entry point,
so a changed criterion in another file would leave the old kernel in place. The cache folder is
therefore named by a hash of all of core's source, and a kernel that is made with functions of other
files, such as a user's own criterion, is kept in a folder named by a hash of these too. Numba also
lets two processes that save kernels
at once give both the same file, so that one would be called in the other's place: here they take
turns.

fastmath is off everywhere: NaN means missing here, and sums must not be reordered.
"""

import contextlib
import hashlib
import logging
import os
import shutil
import tempfile
import threading
import time
import types as types_of_python
from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

import numba
from numba.core import event
from numba.extending import register_jitable

from forestlab.core.lowering import PartCompiler, add_eight, add_two, hold, prefetch

__all__ = [
    "add_eight",
    "add_two",
    "cache_folder",
    "compile_seconds",
    "core_version",
    "hold",
    "jitable",
    "kernel",
    "made_from",
    "prefetch",
]

KEPT_FOR = 60 * 24 * 3600  # seconds without use until kernels are removed: two months

logger = logging.getLogger("forestlab")

# Inlined by force: a call passes every array as seven words or more, too much for each row.
jitable = register_jitable(
    forceinline=True, pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True
)

config: Any = numba.config
_deciding = threading.Lock()
_purposes: dict[int, str] = {}  # id of a kernel's Python function → what it is for


@cache
def core_version() -> str:
    """16 hex digits that change with any edit of core's source."""
    source = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        source.update(file.read_bytes())
    return source.hexdigest()[:16]


@cache
def cache_folder() -> Path:
    """Where this version of the core keeps its compiled kernels."""
    name = f"forestlab/kernels-{core_version()}"
    try:
        return _writable(_base() / name)
    except (OSError, RuntimeError):  # no place to write, or no home
        # One's own and nobody else's: numba's index is a pickle.
        return Path(tempfile.mkdtemp(prefix="forestlab-")) / name


def _base() -> Path:
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return Path(home) if home else Path.home() / ".cache"


def _writable(folder: Path) -> Path:
    """The folder, made if need be. Where it cannot be written numba would choose another, stale."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        os.utime(folder)  # a folder is as old as its last use
    if is_new:
        _forget_unused(folder.parent)
    return folder


def _forget_unused(base: Path) -> None:
    """Remove the kernels of versions that nobody has used for a while."""
    for folder in base.glob("kernels-*"):
        with contextlib.suppress(OSError):  # another process may do the same
            if time.time() - folder.stat().st_mtime > KEPT_FOR:
                shutil.rmtree(folder)


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Have the cache folder to oneself, among processes that do the same."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / "turn", "w") as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def _save_in_turn(made: Any) -> None:
    """Have a compiled function save its kernels only when no other process does."""
    save = made._cache.save_overload

    def save_overload(*arguments) -> None:
        with _turn():
            save(*arguments)

    made._cache.save_overload = save_overload


@contextlib.contextmanager
def _cached_in(folder: Path) -> Iterator[None]:
    """Numba picks a function's cache folder while decorating: point it at ours meanwhile."""
    with _deciding:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(folder)
        try:
            yield
        finally:
            config.CACHE_DIR = before


def _folder_for(function: Callable) -> Path:
    """Where a kernel is kept: that of the core, or one of its own if it is made with functions of
    other files."""
    others = sorted(_files_of(function, set()) - set(Path(__file__).parent.glob("*.py")))
    if not others:
        return cache_folder()
    source = hashlib.sha256()
    for file in others:
        source.update(file.read_bytes() if file.exists() else str(file).encode())
    return cache_folder() / f"with-{source.hexdigest()[:16]}"


def _files_of(function: Callable, seen: set[int]) -> set[Path]:
    """The files of a function and of those that it closes over."""
    if id(function) in seen:
        return set()
    seen.add(id(function))
    files = {Path(function.__code__.co_filename)}
    for cell in function.__closure__ or ():
        if isinstance(cell.cell_contents, types_of_python.FunctionType):
            files |= _files_of(cell.cell_contents, seen)
    return files


def kernel(purpose: str = "", allocates: bool = True) -> Callable:
    """Decorator: compile an entry point.

    A `purpose` is shown while it compiles: give one to what takes seconds. A kernel that allocates
    nothing needs no reference counts, and numba then leaves out those of all arrays it passes from
    function to function: growing MNIST trees became twice as fast, and compiling half as long.
    """

    def decorate(function: Callable) -> Callable:
        _purposes[id(function)] = purpose
        with _cached_in(_folder_for(function)):
            options: Any = {"nogil": True, "cache": True, "error_model": "numpy", "_nrt": allocates}
            made = numba.njit(**options)(function)
        if not config.DISABLE_JIT:
            _save_in_turn(made)
        return made

    return decorate


def made_from(*tables: dict) -> Callable:
    """Decorator of what makes kernels, or parts of them, from rows of tables: what it made is kept,
    and made anew once a table has other rows, such as a user's own."""

    def decorate(make: Callable) -> Callable:
        kept: dict[tuple, tuple[list, Any]] = {}

        @wraps(make)
        def find(*names):
            now = [_copied(table) for table in tables]
            if names not in kept or kept[names][0] != now:
                kept[names] = now, make(*names)
            return kept[names][1]

        return find

    return decorate


def _copied(table: dict) -> dict:
    return {name: dict(row) if isinstance(row, dict) else row for name, row in table.items()}


class _SayCompiling(event.Listener):
    """Says that a kernel is compiled, so that nobody wonders about the first fit's seconds."""

    def on_start(self, event: event.Event) -> None:
        purpose = _purposes.get(id(event.data["dispatcher"].py_func))
        if purpose:
            logger.warning("forestlab: compiling a kernel to %s (seconds, once)", purpose)

    def on_end(self, event: event.Event) -> None:
        pass


class _Wait(event.Listener):
    """Measures how long calls wait for kernels. Threads that wait at once count once."""

    def __init__(self):
        self.counting = threading.Lock()
        self.n_waiting = 0
        self.started = self.seconds = 0.0

    def on_start(self, event: event.Event) -> None:
        with self.counting:
            if not self.n_waiting:
                self.started = time.perf_counter()
            self.n_waiting += 1

    def on_end(self, event: event.Event) -> None:
        with self.counting:
            self.n_waiting -= 1
            if not self.n_waiting:
                self.seconds += time.perf_counter() - self.started


_wait = _Wait()


def compile_seconds() -> float:
    """Seconds that this process has waited for kernels, compiled or loaded from the cache."""
    return _wait.seconds


if not config.DISABLE_JIT:
    event.register("numba:compile", _SayCompiling())
    event.register("numba:compiler_lock", _wait)  # held to compile, and to load

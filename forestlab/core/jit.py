"""Numba's settings, once, and a kernel cache that cannot go stale.

*jitable* marks a plain function that kernels may call; *kernel* compiles an entry point: without
the GIL, cached on disk. Numba itself only notices an edit of the file that holds the entry point,
so a changed criterion in another file would leave the old kernel in place. The cache folder is
therefore named by a hash of all of core's source, and a kernel that is made with functions of other
files, such as a user's own criterion, is kept in a folder named by a hash of these too. Numba also
lets two processes that save kernels at once give both the same file, so that one would be called in
the other's place: here they take turns.

Nor does numba doubt its files: a damaged one fails for ever, or runs. Here a file of machine code
is named by a hash of what is in it, and the index of a function's files ends with one. What is not
as it was written, or cannot be read, is dropped and compiled anew; what cannot be written, as on a
full disk, is not kept.

fastmath is off everywhere: NaN means missing here, and sums must not be reordered.
"""

import contextlib
import gc
import hashlib
import io
import logging
import os
import pickle
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
from numba.core import caching, event
from numba.extending import register_jitable

from forestlab.core.lowering import (
    PartCompiler,
    add_eight,
    add_one,
    add_two,
    either,
    hold,
    prefetch,
    rank_32,
    rank_sixteen,
)

__all__ = [
    "add_eight",
    "add_one",
    "add_two",
    "cache_folder",
    "compile_seconds",
    "core_version",
    "either",
    "hold",
    "jitable",
    "kernel",
    "made_from",
    "prefetch",
    "rank_32",
    "rank_sixteen",
]

MANY_OBJECTS = 50_000  # that are made before Python looks for garbage while a kernel compiles
KEPT_FOR = 60 * 24 * 3600  # seconds without use until kernels are removed: two months

logger = logging.getLogger("forestlab")

# Inlined by force: a call passes every array as seven words or more, too much for each row.
jitable = register_jitable(
    forceinline=True, pipeline_class=PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True
)

config: Any = numba.config
_purposes: dict[int, str] = {}  # id of a kernel's Python function → what it is for


@cache
def core_version() -> str:
    """16 hex digits that change with any edit of core's source."""
    source = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        source.update(file.read_bytes())
    return source.hexdigest()[:16]


# ---- where kernels are kept --------------------------------------------------------------------


@cache
def cache_folder() -> Path:
    """Where this version of the core keeps its compiled kernels."""
    name = f"forestlab/kernels-{core_version()}"
    try:
        return _writable(_base() / name)
    except (OSError, RuntimeError):  # no place to write, or no home
        with contextlib.suppress(OSError):
            # One's own and nobody else's: numba's index is a pickle.
            return Path(tempfile.mkdtemp(prefix="forestlab-")) / name
    return Path(os.devnull) / name  # which cannot be made: nothing is kept


def _base() -> Path:
    home = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return Path(home) if home else Path.home() / ".cache"


def _writable(folder: Path) -> Path:
    """The folder, made if need be, if it can be written to."""
    is_new = not folder.exists()
    _made(folder)
    with tempfile.TemporaryFile(dir=folder):
        os.utime(folder)  # a folder is as old as its last use
    if is_new:
        _forget_unused(folder.parent)
    return folder


def _made(folder: Path) -> Path:
    """A folder of our own, whatever stood in its place or was forbidden there."""
    if os.path.lexists(folder) and not folder.is_dir():
        _drop(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        folder.chmod(0o700)
    return folder


def _drop(path: Path) -> None:
    """Remove a file or folder, if that is possible."""
    with contextlib.suppress(OSError):  # another process may do the same
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _forget_unused(base: Path) -> None:
    """Remove the kernels of versions that nobody has used for a while."""
    for folder in base.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > KEPT_FOR:
                _drop(folder)


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Have the cache folder to oneself, among processes that do the same."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError):  # a file system that is full, or without locks
            path = _made(cache_folder()) / "turn"
            if path.is_dir():
                _drop(path)
            file = held.enter_context(open(path, "w"))
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


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


# ---- how they are kept -------------------------------------------------------------------------


class _Files(caching.IndexDataCacheFile):
    """The files of one function: an index, and one of machine code for each signature.

    The number in a file's name is a hash of what is in it, so that no two processes, nor one that
    is killed between two files, can have an index name the code of another signature.
    """

    def save(self, key, data) -> None:
        content, names = self._dump(data), self._load_index()
        names[key] = self._data_name(_hash(content))
        with self._open_for_write(self._data_path(names[key])) as file:
            file.write(content)
        self._save_index(names)
        index = Path(self._index_path)
        for path in index.parent.glob(f"{index.stem}.*"):  # left by an index or a process before
            if path.name not in (index.name, *names.values()):
                _drop(path)

    def _load_index(self) -> dict:
        path = Path(self._index_path)
        try:
            content = _read(path)
            if content[-8:] != _seal(content[:-8]):
                raise ValueError("it is not as it was written")
            return super()._load_index()  # which does not look at what follows a pickle
        except FileNotFoundError:
            return {}
        except Exception:  # pickle has a dozen for what it does not understand
            _drop(path)
            return {}

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))
        try:
            content = _read(path)
            if self._data_name(_hash(content)) != name:
                raise ValueError("it is not as it was written")
            return pickle.loads(content)
        except Exception as error:
            _drop(path)
            raise FileNotFoundError(path) from error  # as numba expects

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        path = Path(filepath)
        if path.is_dir():
            _drop(path)
        with super()._open_for_write(filepath) as file, io.BytesIO() as content:
            yield content
            whole = content.getvalue()
            file.write(whole + _seal(whole) if path.name == self._index_name else whole)


def _read(path: Path) -> bytes:
    """What is in a file; of a pipe or a folder nothing, at once."""
    return path.read_bytes() if path.is_file() or not path.exists() else b""


def _hash(content: bytes) -> int:
    return int.from_bytes(_seal(content), "big")


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:8]


class _Place(caching.UserProvidedCacheLocator):
    """Numba's word for where the files of a function are. It would take another folder, where they
    may be stale, if this one cannot be written to when the function is made."""

    def __init__(self, function: Callable, file: str):
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        folder = _folder_for(function)
        self._cache_path = str(folder / self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> "_Place":
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        folder = Path(self._cache_path)
        _made(folder.parent)
        _made(folder)


class _Placed(caching.CompileResultCacheImpl):
    _locator_classes = [_Place]  # noqa: RUF012


class _Kept(caching.FunctionCache):
    """The kernels of one function on disk. Nothing that goes wrong there is an error: what is not
    found is compiled."""

    _impl_class = _Placed

    def __init__(self, function: Callable):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            logger.debug("a kernel could not be loaded from %s", self._cache_path, exc_info=True)
            return None

    def save_overload(self, sig, data) -> None:
        try:
            with _turn():
                super().save_overload(sig, data)
        except Exception as error:
            _say_not_kept(getattr(error, "strerror", None) or str(error))


@cache
def _say_not_kept(reason: str) -> None:
    logger.warning("forestlab: compiled kernels cannot be kept (%s): %s", reason, cache_folder())


# ---- making them -------------------------------------------------------------------------------


def kernel(purpose: str = "", allocates: bool = True) -> Callable:
    """Decorator: compile an entry point.

    A `purpose` is shown while it compiles: give one to what takes seconds. A kernel that allocates
    nothing needs no reference counts, and numba then leaves out those of all arrays it passes from
    function to function: growing MNIST trees became twice as fast, and compiling half as long.
    """

    def decorate(function: Callable) -> Callable:
        _purposes[id(function)] = purpose
        options: Any = {"nogil": True, "error_model": "numpy", "_nrt": allocates}
        made: Any = numba.njit(**options)(function)
        if not config.DISABLE_JIT:
            made._cache = _Kept(function)
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


class _CollectLess(event.Listener):
    """Has Python look for garbage less often: a compilation makes objects by the million, which
    stay until its end, and an eighth of its time went into looking at them."""

    def __init__(self):
        self.depth, self.before = 0, gc.get_threshold()

    def on_start(self, event: event.Event) -> None:
        if not self.depth:
            self.before = gc.get_threshold()
            gc.set_threshold(self.before[0] and MANY_OBJECTS, *self.before[1:])
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if not self.depth:
            gc.set_threshold(*self.before)


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
    event.register("numba:compile", _CollectLess())  # under numba's lock, so one at a time
    event.register("numba:compiler_lock", _wait)  # held to compile, and to load

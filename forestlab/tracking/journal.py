"""What runs have to say, on disk before it goes to the store and until the store has all of it.

An *entry* is a folder in `journal/` of forestlab's home, which appears whole:

    entry.json     all but files: name, times, status, tags, parameters, metrics, data set, note
    artifacts/     the run's files, manifest.json among them
    model/         the model's files as MLflow keeps them, but for MLmodel, which stands beside it
    lock           locked by the process that writes or delivers the entry

It is JSON and files that are sent as they are: nothing of an entry is executed. It has a *key*,
which its run in the store has as the tag `journal`; by it a run that was begun is found again.
Where the store is stands there without a password.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from forestlab.atomic import PREFIX, whole_folder
from forestlab.tracking import manifest

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

KEY = "journal"  # the tag
ENTRY, ARTIFACTS, MODEL, MLMODEL, LOCK = "entry.json", "artifacts", "model", "MLmodel", "lock"
OWN = (ENTRY, LOCK)  # files of an entry that are not sent
YOUNG = 60  # seconds for which a folder that is being made need not be locked yet
# In a note, what only the store knows.
PLACE, ADDRESS = "{{place}}", "{{model}}"


class Damaged(ValueError):
    """What is wrong with an entry, in a line."""


@dataclass(frozen=True)
class Said:
    """What a run has to say beside files."""

    key: str
    name: str
    experiment: str
    uri: str  # of the store, as `Place` tells it
    has_secret: bool  # whether the store's address has more in it, which is not kept
    started: int  # ms
    tags: dict[str, str]
    params: dict[str, str]
    status: str = "FINISHED"
    ended: int = 0  # ms; also the time of all metrics, so that the same are never there twice
    metrics: list = field(default_factory=list)  # of [name, value, step]
    dataset: dict[str, str] | None = None
    note: str = ""
    model: str | None = None  # its name
    manifest: str = ""  # the digest of manifest.json
    parent: dict[str, Any] | None = None  # run_id, or what it takes to find it or make it
    sweep: dict[str, Any] | None = None  # of a sweep's own run: what its comparison needs


class Place(NamedTuple):
    """A store's address as an entry tells it."""

    uri: str
    has_secret: bool


def place_of(uri: str) -> Place:
    """An address without user, password and options."""
    parts = urlsplit(uri)
    if parts.scheme.startswith("sqlite") or not parts.netloc:
        bare = uri.partition("?")[0]
    else:
        bare = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return Place(bare, bare != uri)


def new_key() -> str:
    return uuid.uuid4().hex


# ---- writing -----------------------------------------------------------------------------------


class Waiting(NamedTuple):
    """An entry that this process has to itself."""

    path: Path
    said: Said
    held: ExitStack  # the lock

    def remove(self) -> None:
        """The store has it. What is left of it if this is stopped does not count as an entry."""
        gone = self.path.with_name(f"{PREFIX}{self.path.name}")
        os.rename(self.path, gone)
        shutil.rmtree(gone, ignore_errors=True)
        self.held.close()

    def release(self) -> None:
        """Leave it where it is, to whoever delivers it."""
        self.held.close()


def write(journal: Path, key: str, name: str, fill: Callable[[Path], Said]) -> Waiting:
    """Make an entry; `fill` writes its files into a folder and returns what else is said."""
    journal.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^\w=.-]+", "-", name, flags=re.ASCII)[:60].strip("-.")
    path = journal / f"{time.strftime('%Y%m%d-%H%M%S')}-{slug}-{key[:8]}"
    with ExitStack() as held:
        with whole_folder(path) as folder:
            _lock(folder / LOCK, held)
            (folder / ARTIFACTS).mkdir()
            said = _sealed(folder, fill(folder))
        return Waiting(path, said, held.pop_all())


def _sealed(folder: Path, said: Said) -> Said:
    """With a manifest, unless it is a sweep's; and entry.json, by which all else is checked."""
    files = {
        name: [size, digest]
        for name, (size, digest) in manifest.listing(folder).items()
        if name not in OWN
    }
    if said.sweep is None:
        text = json.dumps(manifest.of(said.metrics, said.params, files), indent=1)
        (folder / ARTIFACTS / manifest.NAME).write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        files[f"{ARTIFACTS}/{manifest.NAME}"] = [len(text.encode()), digest]
        said = replace(said, manifest=digest)
    content = {one.name: getattr(said, one.name) for one in fields(Said)} | {"files": files}
    (folder / ENTRY).write_text(json.dumps({"digest": _digest(content), "content": content}))
    return said


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _lock(path: Path, held: ExitStack, waits: bool = False) -> None:
    """Lock a file until `held` is closed, or the process ends in whatever way; BlockingIOError if
    another has it."""
    file = held.enter_context(path.open("a"))
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))


# ---- reading -----------------------------------------------------------------------------------


def entries(folder: Path) -> list[Path]:
    """The entries of a journal, of a home that has one, or the one that the folder is; first
    written first."""
    if (folder / ENTRY).is_file():
        return [folder]
    for journal in (folder, folder / "journal"):
        found = sorted(path.parent for path in journal.glob(f"[!.]*/{ENTRY}"))
        if found:
            return found
    return []


def claim(path: Path) -> Waiting | None:
    """An entry to deliver; None if another process has it, or has delivered it. Raises Damaged."""
    with ExitStack() as held:
        try:
            _lock(path / LOCK, held)
        except (BlockingIOError, FileNotFoundError, NotADirectoryError):
            return None
        if not (path / ENTRY).is_file():  # delivered between the look and the lock
            return None
        return Waiting(path, read(path, checks_files=True), held.pop_all())


def read(path: Path, checks_files: bool = False) -> Said:
    """What an entry says; raises Damaged unless it is as it was written."""
    try:
        text = json.loads((path / ENTRY).read_text())
        content, digest = text["content"], text["digest"]
        files = content["files"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise Damaged(f"{ENTRY} cannot be read") from error
    if _digest(content) != digest:
        raise Damaged(f"{ENTRY} is not as it was written")
    if checks_files:
        _check_files(path, files)
    if not re.fullmatch(r"\w+", str(content.get("key"))):
        raise Damaged(f"{ENTRY} has no key")
    names = {one.name for one in fields(Said)}
    try:
        return Said(**{name: value for name, value in content.items() if name in names})
    except TypeError as error:
        raise Damaged(f"{ENTRY} is of another version of forestlab") from error


def _check_files(path: Path, files: dict[str, list]) -> None:
    """The files that were written are there, and no others: what is sent is sent by folders."""
    there = {name for name in _names(path) if name not in OWN}
    for name in sorted(there ^ set(files)):
        raise Damaged(f"{name} is missing" if name in files else f"{name} was not written with it")
    for name, (size, digest) in files.items():
        file = path / name
        if not stat.S_ISREG(file.lstat().st_mode):
            raise Damaged(f"{name} is no file")
        if (file.stat().st_size, manifest.digest_of(file)) != (size, digest):
            raise Damaged(f"{name} is not as it was written")


def _names(path: Path) -> Iterator[str]:
    """All that is there but folders; links are not followed."""
    for folder, inside, names in os.walk(path):
        links = [name for name in inside if os.path.islink(os.path.join(folder, name))]
        yield from (Path(folder, name).relative_to(path).as_posix() for name in [*names, *links])


def waiting_below(journal: Path, key: str, run_id: str | None) -> list[Said]:
    """What waits of a sweep's runs; what cannot be read is left out."""
    found = []
    for path in entries(journal):
        with contextlib.suppress(Damaged):
            said = read(path)
            above = said.parent or {}
            if above.get("key") == key or (run_id and above.get("run_id") == run_id):
                found.append(said)
    return found


def tidy(journal: Path) -> None:
    """Remove what is left of entries that were being written, or were removed, when their process
    was killed."""
    for path in journal.glob(f"{PREFIX}*"):
        with ExitStack() as held, contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > YOUNG:
                _lock(path / LOCK, held)
                shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def turn(journal: Path) -> Iterator[None]:
    """One process at a time: for what is done once though several entries ask for it."""
    with ExitStack() as held:
        journal.mkdir(parents=True, exist_ok=True)
        _lock(journal / ".turn", held, waits=True)
        yield

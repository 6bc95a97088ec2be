"""Checked downloads, kept in a cache folder.

A *remote* is a data set that is not packaged: its *arrays*, the *sources* that can provide them, in
order, and the *files* that a person may put into the cache folder by hand. `fetch` takes the first
of these that holds the right data:

1. NAME.npz in the cache folder, written by an earlier fetch;
2. files put there by hand under their own names;
3. each source in turn.

Arrays are verified whatever they come from, also each time that the cache is read. A new NAME.npz
is written beside the old one and then takes its place in one step: a process that reads or writes
at the same time sees the old file or the new one, and a broken download leaves nothing behind.

The downloads themselves are scikit-learn's and pip's, which know mirrors, proxies and certificates.
pooch would not do in their place: it wants an address and the checksum of the file behind it, but
what is fixed here is the arrays, whichever source they come from; it raises where the folder cannot
be written; and it replaces a damaged file without trying those put there by hand.
"""

import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from forestlab.atomic import whole_file
from forestlab.datasets.base import DataError

Arrays: TypeAlias = dict[str, np.ndarray]

logger = logging.getLogger("forestlab")

SOURCE = "source"  # the array of NAME.npz that says where the others came from


class Source(NamedTuple):
    """A place that can provide a data set."""

    label: str
    read: Callable[[], Arrays]


class HandFiles(NamedTuple):
    """Files that together hold a data set, and how their contents become arrays."""

    names: tuple[str, ...]
    parse: Callable[[dict[str, bytes]], Arrays]


class Remote(NamedTuple):
    """A data set that has to be downloaded."""

    name: str
    size: str  # of the download, for the person who waits
    sources: tuple[Source, ...]
    hand_files: tuple[HandFiles, ...]
    verify: Callable[[Arrays], None]  # raises DataError unless the arrays are the right ones


def cache_folder() -> Path:
    """FORESTLAB_DATA, else forestlab/data in the user's cache directory, the same on every system:
    that of platformdirs is another on macOS and Windows, where old caches would be lost."""
    if own := os.environ.get("FORESTLAB_DATA"):
        return Path(own).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "forestlab" / "data"


def fetch(remote: Remote) -> tuple[Arrays, str]:
    """The arrays of a remote, from the cache or from the first source that has them.

    Returns
    -------
    arrays : dict of arrays
        Verified.
    source : str
        Where they first came from.
    """
    failures: list[str] = []
    path = cache_folder() / f"{remote.name}.npz"
    if path.exists():
        try:
            return _read_cache(remote, path)
        except Exception as error:  # a damaged file can raise anything
            failures.append(f"{path}: {_reason(error)}")
            logger.warning("%s is damaged and will be replaced: %s", path, _reason(error))
    for source in [*_present(remote), *remote.sources]:
        try:
            arrays = _read_source(remote, source)
        except Exception as error:  # whatever ails one source, the next may work
            failures.append(f"{source.label}: {_reason(error)}")
            level = logging.INFO if source in remote.sources else logging.WARNING
            logger.log(level, "%s from %s failed: %s", remote.name, source.label, _reason(error))
            continue
        _write_cache(path, arrays, source.label)
        return arrays, source.label
    raise DataError(_nothing_answered(remote, failures))


def _read_cache(remote: Remote, path: Path) -> tuple[Arrays, str]:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    source = str(arrays.pop(SOURCE))
    remote.verify(arrays)
    return arrays, source


def _present(remote: Remote) -> list[Source]:
    """The sets of files that lie complete in the cache folder."""
    folder = cache_folder()
    return [
        Source(f"files in {folder}: {', '.join(files.names)}", partial(_by_hand, files))
        for files in remote.hand_files
        if all((folder / name).is_file() for name in files.names)
    ]


def _by_hand(files: HandFiles) -> Arrays:
    return files.parse({name: (cache_folder() / name).read_bytes() for name in files.names})


def _read_source(remote: Remote, source: Source) -> Arrays:
    """Verified arrays of a source; the person is told that it may take a while."""
    if source in remote.sources:
        logger.warning("Fetching %s (%s, once) from %s …", remote.name, remote.size, source.label)
    arrays = source.read()
    remote.verify(arrays)
    return arrays


def _write_cache(path: Path, arrays: Arrays, source: str) -> None:
    """Keep the arrays; a folder that cannot be written costs a warning, not the data."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as written, open(written, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, **{SOURCE: np.array(source)}, **arrays)
    except OSError as error:
        logger.warning("%s could not be kept for the next time: %s", path, error)


def _reason(error: Exception) -> str:
    """The first line of an error, not too long."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines[0] else type(error).__name__


def _nothing_answered(remote: Remote, failures: list[str]) -> str:
    """What was tried, why it failed and what a person can do."""
    folder = cache_folder()
    choices = [f"{remote.name}.npz (from a machine that has it)"]
    choices += [" and ".join(files.names) for files in remote.hand_files]
    return "\n".join(
        [
            f"The data set {remote.name} could not be fetched. Tried:",
            *(f"  - {failure}" for failure in failures),
            f"To bring it by hand, put one of these into {folder} (FORESTLAB_DATA moves it):",
            *(f"  - {choice}" for choice in choices),
        ]
    )

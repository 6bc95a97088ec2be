"""Modules of a user's own: `plugins=[my_module]` imports them before anything is checked.

A plug-in adds rows to forestlab's tables (CRITERIA, LOADERS, METRICS, …) while it is imported. Its
source decides what it adds, so a run carries the hash of it, and only a run of the same source
stands for another.
"""

import hashlib
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from forestlab.config import ConfigError
from forestlab.spelling import did_you_mean, most_like


def load(names: Sequence[str], folder: str) -> None:
    """Import plug-ins, from a folder or where else Python looks; ConfigError if that fails."""
    if not names:
        return
    if folder not in map(os.path.abspath, sys.path):
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    for name in names:
        try:
            importlib.import_module(name)
        except (Exception, SystemExit) as error:
            raise ConfigError(_failure(name, folder, error)) from error
        _source_version(name)  # of what was imported: the file may be edited while jobs run


def _failure(name: str, folder: str, error: BaseException) -> str:
    """Why a plug-in cannot be imported, in one line."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing and (name == missing or name.startswith(f"{missing}.")):
        there = sorted(path.stem for path in Path(folder).glob("*.py"))
        hint = did_you_mean(most_like(name, there), f"{folder} has none of that name.")
        return f"plugins: there is no module {name!r}: {hint}"
    reason = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
    return f"plugins: {name} cannot be imported: {reason}{_place(error)}"


def _place(error: BaseException) -> str:
    """Where it was raised, in files beyond this one and Python's own that import; or nowhere."""
    steps = traceback.extract_tb(error.__traceback__)
    own = [step for step in steps if step.filename not in (__file__, importlib.__file__)]
    found = [step for step in own if os.path.isfile(step.filename)]
    return f" ({found[-1].filename}, line {found[-1].lineno})" if found else ""


def version(names: Sequence[str]) -> str:
    """16 hex digits that change with any edit of these plug-ins, which are loaded; none: ''."""
    if not names:
        return ""
    text = " ".join(f"{name}={_source_version(name)}" for name in names)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache  # as long as the module itself, which is imported once in a process
def _source_version(name: str) -> str:
    """The hash of the file that a module is from, or of all source of its package."""
    source = hashlib.sha256()
    for path in _files(sys.modules[name.partition(".")[0]]):
        source.update(path.name.encode() + b"\0" + path.read_bytes())
    return source.hexdigest()


def _files(module) -> Iterator[Path]:
    folders = getattr(module, "__path__", None)
    if folders is not None:
        for folder in folders:
            yield from sorted(Path(folder).rglob("*.py"))
    elif getattr(module, "__file__", None):
        yield Path(module.__file__)

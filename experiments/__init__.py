"""The figures and tables of the documents, each made again from logged runs.

    python -m experiments                        lists them
    python -m experiments tree_regression        runs what is missing, reads it back and draws

An experiment is a module here and the file of the same name in conf/experiment/, which holds its
sweep. The module has a docstring, whose first line says what is shown, and

    DOCUMENT = "000"                             the document that it is from, or a paper
    SAYS = "…"                                   what the document claims, and where it errs
    table(runs) -> DataFrame                     the numbers, from the logged runs alone
    draw(table) -> Figure                        the picture of them
    judge(table) -> list of Verdict              what was claimed beside what was found

Modules whose names begin with _ are no experiments but what these share. One of your own may stand
anywhere: `python -m experiments mine --plugins mine --config-dir own_conf`.
"""

import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if sys.argv[:1] == ["-m"]:  # `python -m experiments` comes by here first
    from forestlab import entry

    entry.begin()

from experiments._runs import LoggedRun, frame
from experiments._verdict import Verdict, above, below, every, exactly, within
from forestlab.config import ConfigError
from forestlab.run.plugins import load as load_plugins

PARTS = ("table", "draw", "judge", "DOCUMENT", "SAYS", "__doc__")  # of an experiment


def names() -> list[str]:
    """All experiments, by document and name."""
    found = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return sorted(found, key=lambda name: (load(name).DOCUMENT, name))


def found(plugins: Sequence[str] = ()) -> dict[str, Any]:
    """All experiments by their names, and after them those of a user's own modules."""
    load_plugins(plugins, os.getcwd())
    known = {name: load(name) for name in names()}
    own = {name.rpartition(".")[2]: importlib.import_module(name) for name in plugins}
    for name, experiment in own.items():
        lacks = [part for part in PARTS if not getattr(experiment, part, None)]
        if lacks:
            raise ConfigError(f"{experiment.__name__} is no experiment: it has no {lacks[0]}.")
        if name in known:
            raise ConfigError(f"there is an experiment {name} already: give yours another name.")
    return known | own


def load(name: str) -> Any:
    """The module of an experiment."""
    return importlib.import_module(f"experiments.{name}")


def title(experiment) -> str:
    """The first line of its docstring, without the full stop."""
    return experiment.__doc__.strip().split("\n")[0].removesuffix(".")


def reference(document: str) -> dict[str, Any]:
    """Numbers that a document's own code gives, with how they were made under "made_by"."""
    path = Path(__file__).parent / "reference" / f"document_{document}.json"
    return json.loads(path.read_text())


__all__ = [
    "LoggedRun", "Verdict", "above", "below", "every", "exactly", "found", "frame", "load", "names",
    "reference", "title", "within",
]  # fmt: skip

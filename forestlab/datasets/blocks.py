"""A table in a file, read in blocks of rows by pyarrow: parquet, or csv with a header line.

The types of a csv file's columns are those of its first megabytes; what does not fit them later on
is refused, with the row, and the option that helps.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from forestlab.datasets.base import DataError
from forestlab.datasets.table import listed

ROWS = 1 << 18  # of a block of parquet
BYTES = 1 << 24  # of a block of csv
NUMBER, CATEGORY = "number", "category"


class BlockFile:
    """The columns of a file by name, what each holds, and its rows in blocks."""

    def __init__(self, path, categorical: Iterable[str] = (), delimiter: str = ","):
        self.path = Path(path).expanduser()
        self.delimiter = delimiter
        if not self.path.is_file():
            raise DataError(f"path={path} is not a file (looked at {self.path.absolute()}).")
        self.is_csv = _is_csv(self.path)
        self.categorical = frozenset([categorical] if isinstance(categorical, str) else categorical)
        self._read_as: dict[str, Any] = {}  # the types of csv columns, where they are not found out
        with _Reading(self.path):
            schema = self._schema()
        twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
        if twice:
            raise DataError(f"{self.path} has columns of the same name: {listed(twice)}.")
        self.names, self.types = schema.names, dict(zip(schema.names, schema.types, strict=True))
        self._read_as = self._csv_types() if self.is_csv else {}
        self.require(sorted(self.categorical), "categorical")

    def require(self, names: Iterable[str], option: str) -> None:
        """Raise DataError for the name of a column that is none."""
        for name in names:
            if name not in self.names:
                raise DataError(
                    f"{option}={name} is not a column; the columns are {listed(self.names)}."
                )

    def kind(self, name: str) -> str:
        """Whether a column is of numbers, or of categories: strings and booleans, and those that
        are said to be."""
        from pyarrow import types

        held = self.types[name]
        if types.is_dictionary(held):
            held = held.value_type
        if name in self.categorical or types.is_boolean(held) or _is_text(held):
            return CATEGORY
        if types.is_null(held) or types.is_integer(held) or types.is_floating(held):
            return CATEGORY if types.is_dictionary(self.types[name]) else NUMBER
        raise DataError(
            f"column {name} holds {held}: a column must hold numbers, strings or booleans; leave "
            "it out by drop."
        )

    def is_whole(self, name: str) -> bool:
        """Whether a column's type is one of whole numbers."""
        from pyarrow import types

        return types.is_integer(self.types[name])

    def stamp(self) -> tuple[int, int]:
        """What changes when the file does."""
        found = self.path.stat()
        return found.st_size, found.st_mtime_ns

    def blocks(self, names: list[str]) -> Iterator[Any]:
        """Those columns, some rows at a time, as tables of pyarrow."""
        import pyarrow as pa

        with _Reading(self.path):
            for batch in self._batches(names):
                if batch.num_rows:
                    yield pa.Table.from_batches([batch])

    # ---- the two kinds of file ----

    def _schema(self):
        if not self.is_csv:
            return _parquet(self.path).schema_arrow
        with self._csv() as reader:
            return reader.schema

    def _csv_types(self) -> dict[str, Any]:
        """Categories as they stand there; whole numbers as any, as a later row may have others."""
        import pyarrow as pa

        found = {
            name: pa.float64()
            for name, held in self.types.items()
            if pa.types.is_integer(held) or pa.types.is_null(held)
        }
        return found | {name: pa.string() for name in self.categorical}

    def _batches(self, names: list[str]) -> Iterator[Any]:
        if not self.is_csv:
            yield from _parquet(self.path).iter_batches(batch_size=ROWS, columns=names)
            return
        with self._csv(names) as reader:
            yield from reader

    def _csv(self, names: list[str] | None = None):
        from pyarrow import csv

        return csv.open_csv(
            self.path,
            csv.ReadOptions(block_size=BYTES),
            csv.ParseOptions(delimiter=self.delimiter),
            csv.ConvertOptions(
                column_types=self._read_as, include_columns=names, strings_can_be_null=True
            ),
        )


class _Reading:
    """What pyarrow says of a file that it cannot read becomes a DataError."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> None:
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise DataError(
                'Reading files in blocks needs pyarrow: pip install "forestlab[data]".'
            ) from None

    def __exit__(self, kind, error, _) -> None:
        import pyarrow as pa

        if isinstance(error, pa.ArrowException | OSError) and not isinstance(error, MemoryError):
            reason = str(error).splitlines()[0]
            helps = ""
            if "conversion error" in reason:
                helps = " Name a column of words in categorical, or leave it out by drop."
            raise DataError(f"{self.path} cannot be read: {reason}.{helps}") from None


def _is_csv(path: Path) -> bool:
    name = path.name.lower()
    if not name.endswith((".parquet", ".pq", ".csv", ".csv.gz")):
        raise DataError(f"path={path} is neither .parquet nor .csv, by its name.")
    return name.endswith((".csv", ".csv.gz"))


def _is_text(held) -> bool:
    from pyarrow import types

    return types.is_string(held) or types.is_large_string(held) or types.is_string_view(held)


def _parquet(path: Path):
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, pre_buffer=False)

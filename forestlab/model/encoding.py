"""A file of rows becomes a folder of codes, block by block: see forest.encoded for the folder, and
core.sketch for how codes are found."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from forestlab.atomic import whole_folder
from forestlab.core.options import is_whole
from forestlab.core.sketch import Coder, Sketch
from forestlab.forest.encoded import ArrayFile, Encoded, Facts, open_encoded, write_manifest
from forestlab.model import parameters
from forestlab.tree.levels import MOST_LEVELS, distinct, numbered

FEW_INTEGERS = 20  # so many distinct whole numbers or fewer are taken for classes
WHOLE = 2.0**53  # beyond it floats do not tell whole numbers apart


def encode_file(
    path,
    folder,
    *,
    target,
    task=None,
    drop=(),
    categorical=(),
    bins=255,
    n_sampled=1_000_000,
    delimiter=",",
) -> Encoded:
    """Encode a table in a file for `fit`, without ever having all of it in memory.

    The file is read twice, in blocks. Columns of strings and booleans are categories, whose levels
    are the values there are, sorted; the others are numbers, of which some may be missing.

    *Exact*: a column of no more than `bins` distinct values, and every column of categories, has
    the codes that `fit` on the values would give it; so have all columns if the file has no more
    than `n_sampled` rows. A forest grown on these is the same, to the bit. Of any column, on which
    side of a cut the rows are that a tree is grown on. *Not exact*: in a column of more values, in
    a file of more rows, where bins end: at quantiles of `n_sampled` rows, always the same ones; and
    weights of rows, which `fit` may be given, do not move them. In a column of bins, where a row
    out of bag goes, by which `oob_score`, `prune`, `shrink` and `aggregate` judge: it counts as the
    greatest value of its bin.

    Parameters
    ----------
    path : a .parquet file, or .csv or .csv.gz with a header line
    folder : where the codes go; it must not exist, or be empty. It appears when all is written
    target : the column that is to be predicted
    task : "classification" or "regression"; None: strings, booleans, and whole numbers of which
        there are up to 20 are classes
    drop : columns to leave out
    categorical : columns of numbers that are categories; those of csv as they stand there, as text
    bins : the most codes of a column of numbers, 2 to 65,535; above 255 a code takes two bytes
    n_sampled : rows whose quantiles end bins, 8 bytes a feature each while the file is read
    delimiter : of csv, what stands between fields

    Returns
    -------
    Encoded, as `forestlab.open_encoded(folder)` gives it again
    """
    from forestlab.datasets.blocks import BlockFile

    _check_numbers(bins, n_sampled)
    task = task if task is None else parameters.one_of("task", task, TASKS)
    folder = Path(folder).expanduser()
    _require_free(folder)
    drop = [drop] if isinstance(drop, str) else list(drop)
    file = BlockFile(path, categorical, delimiter)
    file.require([target], "target")
    file.require(drop, "drop")
    names = [name for name in file.names if name != target and name not in drop]
    if not names:
        raise ValueError(f"drop leaves no feature of {file.path}.")
    table = Table(file, names, target)
    if task == "regression" and table.has_words:
        raise ValueError(f"task='regression' needs numbers, but {target!r} holds others.")
    table.look(bins, n_sampled, task)
    with whole_folder(folder) as written:
        table.write(written)
        write_manifest(written, table.facts(bins, n_sampled))
    return open_encoded(folder, verify=False)


def read_blocks(path, columns=None, *, categorical=(), delimiter=",") -> Iterator[Any]:
    """The rows of a file, a block at a time, as tables of pyarrow: what a forest can be asked about
    without having all of them in memory.

    Parameters
    ----------
    path, categorical, delimiter : as in `encode_file`
    columns : those that are wanted, such as a forest's `feature_names_in_`; None: all
    """
    from forestlab.datasets.blocks import BlockFile

    file = BlockFile(path, categorical, delimiter)
    names = file.names if columns is None else [str(name) for name in columns]
    file.require(names, "columns")
    return file.blocks(names)


def _check_numbers(bins, n_sampled) -> None:
    if not is_whole(bins) or not 2 <= bins <= 65_535:
        raise ValueError(f"bins must be a whole number from 2 to 65535; got {bins!r}.")
    if not is_whole(n_sampled) or n_sampled < bins:
        raise ValueError(
            f"n_sampled must be a whole number of at least bins={bins}; got {n_sampled!r}."
        )


def _require_free(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ValueError(f"folder={folder} is there already: choose another, or remove it.")
    if not folder.absolute().parent.is_dir():
        raise ValueError(f"folder={folder} is to be made in a folder that does not exist.")


class Table:
    """The columns of a file on their way to codes: `look` is the first pass, `write` the second."""

    def __init__(self, file, names: list[str], target: str):
        self.file, self.names, self.target = file, names, target
        self.levels: list[Any] = [None] * len(names)
        self.is_category = np.array([file.kind(name) == "category" for name in names])
        self.numbers = np.flatnonzero(~self.is_category)
        self.has_words = file.kind(target) == "category"
        self.n_rows = 0
        self.stamp = file.stamp()

    # ---- the first pass ----

    def look(self, bins: int, n_sampled: int, task: str | None) -> None:
        """Find levels, classes, and where codes end."""
        found: list[set] = [set() for _ in self.names]
        labels: set = set()
        sketch = Sketch(len(self.numbers), bins, n_sampled)
        self.lacking = np.zeros(len(self.names), np.bool_)
        for block in self._blocks():
            sketch.see(self._numbers_of(block))
            for j in np.flatnonzero(self.is_category).tolist():
                words, places = _words(block.column(self.names[j]))
                known = {word for word in words.tolist() if word == word}  # NaN is no level
                found[j] |= known
                self.lacking[j] |= bool((places < 0).any()) or len(known) < len(words)
                _require_few(len(found[j]), self.names[j], "categories")
            labels = self._note_labels(labels, block, task)
            self.n_rows += block.num_rows
        if not self.n_rows:
            raise ValueError(f"{self.file.path} has no rows.")
        for j in np.flatnonzero(self.is_category).tolist():
            self.levels[j] = distinct(np.array(sorted(found[j])), self.names[j])
        self.lacking[self.numbers] = sketch.lacking
        self.ends, self.exact = sketch.ends(), np.ones(len(self.names), np.bool_)
        self.exact[self.numbers] = sketch.exact
        self.task = task or self._task_of(labels)
        self.classes = self._classes_of(labels) if self.task == "classification" else None

    def _blocks(self) -> Iterator[Any]:
        return self.file.blocks([*self.names, self.target])

    def _numbers_of(self, block) -> np.ndarray:
        """The columns of numbers of a block, (n_columns, n) float64."""
        found = np.empty((len(self.numbers), block.num_rows))
        for k, j in enumerate(self.numbers):
            found[k] = _as_floats(block.column(self.names[j]))
        infinite = np.isinf(found)
        if infinite.any():
            k, i = np.argwhere(infinite)[0]
            raise ValueError(
                f"column {self.names[self.numbers[k]]!r} holds infinity, in row {self.n_rows + i}."
            )
        return found

    def _note_labels(self, labels: set, block, task: str | None) -> set:
        """The distinct targets so far, as long as they may be classes."""
        column = block.column(self.target)
        if column.null_count:
            raise ValueError(
                f"the target {self.target!r} lacks a value after row {self.n_rows}: leave out such "
                "rows."
            )
        if self.has_words:
            labels |= set(_words(column)[0].tolist())
        else:
            values = _as_floats(column)
            if not np.isfinite(values).all():
                raise ValueError(f"the target {self.target!r} must hold finite numbers alone.")
            if task == "regression" or (task is None and not self.file.is_whole(self.target)):
                return labels
            labels |= set(np.unique(values).tolist())
            if task is None and len(labels) > FEW_INTEGERS:
                return set(list(labels)[: FEW_INTEGERS + 1])
        _require_few(len(labels), self.target, "classes")
        return labels

    def _task_of(self, labels: set) -> str:
        if self.has_words:
            return "classification"
        few = self.file.is_whole(self.target) and len(labels) <= FEW_INTEGERS
        is_class = few and all(label == round(label) for label in labels)
        return "classification" if is_class else "regression"

    def _classes_of(self, labels: set) -> np.ndarray:
        if self.has_words:
            return np.array(sorted(labels))
        values = np.array(sorted(labels))
        if (values != np.round(values)).any() or (np.abs(values) > WHOLE).any():
            raise ValueError(
                f"task='classification' needs labels, but {self.target!r} holds fractions, or "
                "whole numbers too large to be told apart: write them as text."
            )
        return values.astype(np.int64)

    # ---- the second pass ----

    def write(self, folder: Path) -> None:
        """Write the arrays of `forest.encoded`."""
        coder = Coder(self.ends)
        counts = np.zeros(len(self.names), np.int64)
        counts[self.numbers] = [len(own) for own in self.ends]
        for j in np.flatnonzero(self.is_category).tolist():
            counts[j] = len(self.levels[j])
        n_codes = int((counts + self.lacking).max())
        dtype = np.uint8 if n_codes <= 256 else np.uint16
        shape = len(self.names), self.n_rows
        with (
            ArrayFile(folder / "codes.npy", shape, dtype) as codes,
            ArrayFile(folder / "y.npy", (self.n_rows, 1), np.float64) as y,
        ):
            start = 0
            for block in self._blocks():
                for row, part in enumerate(self._codes_of(block, coder, dtype)):
                    codes.write(row, start, part)
                y.write(start, 0, self._targets_of(block))
                start += block.num_rows
        if self.file.stamp() != self.stamp:
            raise ValueError(f"{self.file.path} has changed while it was read.")
        lower, upper = self._values(coder)
        np.save(folder / "first.npy", np.concatenate([[0], np.cumsum(counts)]))
        np.save(folder / "lower.npy", lower)
        np.save(folder / "upper.npy", upper)

    def _codes_of(self, block, coder: Coder, dtype: type) -> Iterator[np.ndarray]:
        numbers = iter(enumerate(self._numbers_of(block)))
        for j, name in enumerate(self.names):
            part = np.empty(block.num_rows, dtype)
            if self.is_category[j]:
                words, places = _words(block.column(name))
                codes = np.append(numbered(words, self.levels[j], name), np.nan)
                part[:] = np.where(np.isnan(codes), len(self.levels[j]), codes)[places]
            else:
                coder.write(*next(numbers), part)
            yield part

    def _targets_of(self, block) -> np.ndarray:
        column = block.column(self.target)
        if self.classes is None:
            return _as_floats(column)
        if not self.has_words:
            return np.searchsorted(self.classes, _as_floats(column)).astype(np.float64)
        words, places = _words(column)
        words = np.array(words.tolist(), self.classes.dtype)
        return np.searchsorted(self.classes, words).astype(np.float64)[places]

    def _values(self, coder: Coder) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the greatest value of each code, columns end to end."""
        numbers = iter(zip(coder.lower, coder.upper, strict=True))
        both = []
        for own in self.levels:
            of_levels = None if own is None else np.arange(len(own), dtype=np.float64)
            both.append(next(numbers) if of_levels is None else (of_levels, of_levels))
        lower, upper = zip(*both, strict=True)
        return np.concatenate(lower) + 0.0, np.concatenate(upper) + 0.0  # -0.0 is 0.0

    def facts(self, bins: int, n_sampled: int) -> Facts:
        return Facts(
            names=self.names,
            levels=[None if own is None else own.tolist() for own in self.levels],
            exact=self.exact.tolist(),
            lacking=bool(self.lacking.any()),
            bins=int(bins),
            target=self.target,
            task=self.task,
            classes=None if self.classes is None else self.classes.tolist(),
            source=self.file.path.name,
            sampled=0 if self.exact.all() else min(int(n_sampled), self.n_rows),
        )


def _as_floats(column) -> np.ndarray:
    """A column of pyarrow's, of numbers, as float64; NaN where a value is missing."""
    import pyarrow as pa

    return column.cast(pa.float64(), safe=False).to_numpy()


def _words(column) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values of a column of pyarrow's, and the place of each row's among them; -1
    where it is missing."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return encoded.dictionary.to_numpy(zero_copy_only=False), places


def _require_few(n: int, name: str, what: str) -> None:
    if n > MOST_LEVELS:
        raise ValueError(
            f"column {name!r} has more than {MOST_LEVELS:,} {what}, which is the most there may be."
        )


TASKS = ("classification", "regression")

"""Encoded training data in a folder, mapped into memory: for tables that do not fit there.

The folder holds arrays as numpy writes them, and `manifest.json`, which says what is in them and
how large and of what hash each file is:

codes.npy : (n_features, n_rows) unsigned, as `core.arrays.Columns` has them
first.npy, lower.npy, upper.npy : likewise, the values that codes stand for
y.npy : (n_rows, 1) float64, codes of classes, or numbers

Opened, they are mapped *copy-on-write*: many processes share one copy in the system's file cache,
which it can give up when memory is short, and to numba they are arrays like any other. (Mapped
read-only they would be of another type, and every kernel compiled once more.) Nothing writes there.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import Columns

MANIFEST = "manifest.json"
KIND, VERSION = "forestlab encoded data", 1
ARRAYS = ("codes", "first", "lower", "upper", "y")


class Facts(NamedTuple):
    """What the manifest says beside files and shapes."""

    names: list[str]  # of the features
    levels: list[list | None]  # of each feature of categories
    exact: list[bool]  # of each feature: every value has a code, else every bin
    lacking: bool  # some values are missing
    bins: int  # the most codes of a column of numbers
    target: str
    task: str
    classes: list | None  # sorted; of numbers None
    source: str  # the file it was made from
    sampled: int  # rows that quantiles come from, if any do


class Encoded:
    """Training data in a folder, as `forestlab.open_encoded` gives it and `fit` takes it.

    It knows codes, not values: `encoded[rows]` has, in place of each value, the greatest of its
    code. Down trees that were grown on these codes, and no others, it goes as the value would, if
    its column is exact, or the row is in the tree's bag. Another row may be in a bin of which the
    node had none: where cuts are midway between bins, that one may be cut in two.
    """

    dtype = np.dtype(np.float64)  # of what rows are decoded to

    def __init__(self, folder: Path, facts: Facts, columns: Columns, y: np.ndarray):
        self.folder, self.facts, self.columns, self.y = folder, facts, columns, y

    def __repr__(self) -> str:
        n_rows, n_features = self.shape
        return f"<Encoded {str(self.folder)!r}: {n_rows:,} rows, {n_features} features>"

    @property
    def shape(self) -> tuple[int, int]:
        n_features, n_rows = self.columns.codes.shape
        return n_rows, n_features

    @property
    def classes(self) -> np.ndarray | tuple[()]:
        return () if self.facts.classes is None else np.array(self.facts.classes)

    def columns_for(self, n_bins: int) -> Columns:
        """The codes, if they are those that a search would make of the values.

        Parameters
        ----------
        n_bins : the most bins of the search; 0: it tells all values apart
        """
        counts = np.diff(self.columns.first)[[own is None for own in self.facts.levels]]
        alike = all(self.facts.exact) and (not n_bins or int(counts.max(initial=0)) <= n_bins)
        if not alike and n_bins != self.facts.bins:
            binned = [
                name
                for name, is_exact in zip(self.facts.names, self.facts.exact, strict=True)
                if not is_exact
            ]
            told = f"{binned[0]!r} has only bins" if binned else "it has more values than that"
            raise ValueError(
                f"{self.folder} was encoded with bins={self.facts.bins}: search must be "
                f"Histogram(bins={self.facts.bins}) with a learner that asks about one column at a "
                f"time; another would look at more than there is ({told})."
            )
        return self.columns._replace(lower=self.columns.upper) if not n_bins else self.columns

    def reaches(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest number of each column that has any."""
        first, last = self.columns.first[:-1], self.columns.first[1:] - 1
        some = first <= last
        return self.columns.lower[first[some]], self.columns.upper[last[some]]

    # ---- in place of X, for rows that a forest was grown on ----

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Those rows, (n, n_features) float64."""
        codes = self.columns.codes[:, rows]
        found = np.empty((codes.shape[1], len(codes)))
        for j, column in enumerate(codes):
            own = self.columns.upper[self.columns.first[j] : self.columns.first[j + 1]]
            found[:, j] = np.append(own, np.nan)[column]
        return found

    def min(self, initial: float = np.inf) -> float:
        """NaN if any value is missing: what walks want to know of an X."""
        return np.nan if self.facts.lacking else initial

    def __array__(self, *_, **__):
        raise ValueError(
            "an Encoded holds codes, not values: trees and forests are fitted to it; to be asked "
            "they want rows as they were before."
        )


# ---- files -------------------------------------------------------------------------------------


class ArrayFile:
    """A file of an array that is written in pieces of its rows, and not mapped: pages that were
    written to count as this process's memory as long as they are."""

    def __init__(self, path: Path, shape: tuple[int, int], dtype):
        self.path, self.shape, self.dtype = path, shape, np.dtype(dtype)

    def __enter__(self) -> "ArrayFile":
        self.file = open(self.path, "wb")
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": self.shape}
        np.lib.format.write_array_header_1_0(self.file, header)
        self.begin = self.file.tell()
        return self

    def __exit__(self, *_) -> None:
        self.file.close()

    def write(self, row: int, start: int, part: np.ndarray) -> None:
        """Write what stands in a row from `start` on."""
        self.file.seek(self.begin + (row * self.shape[1] + start) * self.dtype.itemsize)
        self.file.write(np.ascontiguousarray(part, self.dtype).data)


def file_hash(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, facts: Facts) -> None:
    """The last file of a folder, once all arrays are there."""
    files = {}
    for name in ARRAYS:
        path = folder / f"{name}.npy"
        files[path.name] = {"bytes": path.stat().st_size, "sha256": file_hash(path)}
    said = {"kind": KIND, "version": VERSION, **facts._asdict(), "files": files}
    (folder / MANIFEST).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


def open_encoded(folder, verify: bool = True) -> Encoded:
    """Open what `forestlab.encode_file` wrote. Nothing of it is loaded until it is looked at.

    Parameters
    ----------
    folder : str or path
    verify : read all of it once, to see that it is what was written (about a second for each
        gigabyte); a kernel that meets a damaged code would not notice. Files that are missing, or
        of another size, are refused in any case.

    Returns
    -------
    Encoded, for ``ForestClassifier(search="histogram").fit(encoded)``
    """
    folder = Path(folder)
    said = _manifest(folder)
    try:
        for path in (folder / f"{name}.npy" for name in ARRAYS):
            its = said["files"][path.name]
            _require_file(path, int(its["bytes"]), str(its["sha256"]) if verify else None)
        facts = Facts(**{name: said[name] for name in Facts._fields})
        arrays = {name: _mapped(folder / f"{name}.npy") for name in ARRAYS}
        _check(facts, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise ValueError(f"{folder} is damaged: {error}; encode the file again.") from error
    levels = np.array([len(own or ()) for own in facts.levels], np.int64)
    y = arrays.pop("y")
    columns = Columns(**arrays, levels=levels if levels.any() else ())
    return Encoded(folder, facts, columns, y)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        kind, version = said["kind"], said["version"]
    except OSError:
        raise ValueError(
            f"{folder} is no folder that encode_file wrote: it has no {MANIFEST}."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder} is damaged: {MANIFEST} cannot be read ({error}); encode the file again."
        ) from error
    if kind != KIND or version != VERSION:
        raise ValueError(
            f"{folder} holds {kind!r} of version {version!r}; {KIND!r} of version {VERSION} is "
            "read: encode the file again."
        )
    return said


def _require_file(path: Path, n_bytes: int, sha256: str | None) -> None:
    if not path.is_file():
        raise ValueError(f"{path.name} is missing")
    size = path.stat().st_size
    if size != n_bytes:
        raise ValueError(f"{path.name} has {size:,} bytes, not {n_bytes:,}")
    if sha256 is not None and file_hash(path) != sha256:
        raise ValueError(f"{path.name} is not what was written")


def _mapped(path: Path) -> np.ndarray:
    """The array of a file, to numba one like any other."""
    mapped = np.load(path, mmap_mode="c", allow_pickle=False)
    return np.asarray(mapped) if mapped.size else np.array(mapped)


def _check(facts: Facts, arrays: dict[str, np.ndarray]) -> None:
    """Raise ValueError unless arrays go together; kernels would not notice."""
    codes, first, y = arrays["codes"], arrays["first"], arrays["y"]
    n_features = len(facts.names)
    if codes.ndim != 2 or codes.dtype.kind != "u" or len(codes) != n_features:
        raise ValueError("codes.npy does not fit the names of features")
    if not (len(facts.levels) == len(facts.exact) == n_features == len(first) - 1):
        raise ValueError("the features differ in number")
    if y.shape != (codes.shape[1], 1) or y.dtype != np.float64:
        raise ValueError("y.npy does not fit codes.npy")
    steps = np.diff(first)
    if first.dtype != np.int64 or first[0] != 0 or (steps < 0).any():
        raise ValueError("first.npy does not say where values begin")
    for name in ("lower", "upper"):
        if arrays[name].shape != (first[-1],) or arrays[name].dtype != np.float64:
            raise ValueError(f"{name}.npy does not fit first.npy")
    if not all(array.flags.c_contiguous for array in arrays.values()):
        raise ValueError("an array is not laid out row by row")

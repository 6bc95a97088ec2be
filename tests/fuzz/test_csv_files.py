"""CSV files as people have them, and as nobody should: read as they were meant, or refused."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from fuzz.forked import faults
from fuzz.mutations import changed_content

from forestlab import datasets
from forestlab.config import ConfigError, DatasetConfig

NAMES = ["a", "B c", "d,e", 'f"g', "é", "x.1", " spaced ", "", "0", "true", "#", "nan"]
WORDS = ["up", "down", "", "NA", "é", 'q"q', "a,b", "line\nline", " left", "3", "true", "日本"]


def one(values, rng):
    return values[rng.integers(len(values))]


# ---- tables that are meant ---------------------------------------------------------------------


def numbers(n, rng):
    values = one((rng.normal(size=n), rng.integers(-5, 5, n), rng.normal(size=n) * 1e12), rng)
    return [repr(value.item()) for value in values]


def any_rows(rng):
    """A header of different names, and rows as long: one column of numbers, others of anything."""
    n_rows, n_columns = int(rng.integers(1, 30)), int(rng.integers(2, 6))
    names = [f"x{k}" for k in range(n_columns)]
    for k in range(n_columns):
        if rng.random() < 0.2:
            names[k] = one([name for name in NAMES if name not in names], rng)
    columns = [
        numbers(n_rows, rng) if rng.random() < 0.7 else [one(WORDS, rng) for _ in range(n_rows)]
        for _ in range(n_columns)
    ]
    columns[0] = numbers(n_rows, rng)
    return names, [list(row) for row in zip(*columns, strict=True)]


def written(names, rows, rng):
    """The file of it, in one of the ways in which programs write such files."""
    text = io.StringIO()
    quoting = one((csv.QUOTE_MINIMAL, csv.QUOTE_ALL), rng)
    end = one(("\n", "\r\n"), rng)
    writer = csv.writer(text, quoting=quoting, lineterminator=end)
    writer.writerows([names, *rows])
    content = text.getvalue()
    if rng.random() < 0.2:
        content += end * int(rng.integers(1, 4))
    if rng.random() < 0.2:
        content = content.rstrip("\r\n")
    return content.encode(one(("utf-8", "utf-8-sig"), rng))


def right(dataset, names, rows):
    """Whether the first column, of numbers, is there as it was written."""
    if len(dataset.target) != len(rows):
        return f"{len(dataset.target)} rows in place of {len(rows)}"
    if dataset.frame.shape[1] != len(names) - 1:
        return f"{dataset.frame.shape[1]} columns beside the target in place of {len(names) - 1}"
    first = np.array([float(row[0]) for row in rows])
    found = np.asarray(dataset.frame.iloc[:, 0], dtype=float)
    return None if np.array_equal(found, first) else f"{found[:3]} in place of {first[:3]}"


def read(path, **more):
    config = DatasetConfig(name="csv", path=str(path), **more)
    return datasets.load(config)


def meant_case(folder):
    def case(rng):
        names, rows = any_rows(rng)
        path = folder / "table.csv"
        path.write_bytes(written(names, rows, rng))
        try:
            dataset = read(path)
        except (ConfigError, ValueError) as error:
            return None if is_clear(error) else repr(error)
        return right(dataset, names, rows)

    return case


# ---- tables that are damaged -------------------------------------------------------------------


def damaged(content, rng):
    way = rng.integers(6)
    if way == 0:
        return rng.bytes(rng.integers(0, 500))
    if way == 1:
        return bytes(one(list(b',;\t"\n\r a1\x00\xff'), rng) for _ in range(rng.integers(0, 200)))
    if way == 2:  # a row of another length
        lines = content.split(b"\n")
        k = int(rng.integers(1, len(lines)))
        lines[k] = one((lines[k] + b",7,8", lines[k].rpartition(b",")[0], b'"open', b""), rng)
        return b"\n".join(lines)
    if way == 3:
        return content.decode("utf-8-sig").encode(
            one(("utf-16", "latin-1", "utf-32"), rng), "replace"
        )
    return changed_content(content, rng)


def damaged_case(folder):
    def case(rng):
        path = folder / "table.csv"
        path.write_bytes(damaged(written(*any_rows(rng), rng), rng))
        more = one(({}, {}, {"target": "x0"}, {"drop": ["x0"]}, {"missing_marks": ["?"]}), rng)
        try:
            dataset = read(path, **more)
            X = datasets.matrix(dataset.frame)
        except (ConfigError, ValueError) as error:
            return None if is_clear(error) else repr(error)
        target = np.asarray(dataset.target)
        if len(X) != len(target) or not len(X) or not X.shape[1]:
            return f"a table of {X.shape} with {target.shape} targets"
        if dataset.task == "regression" and not np.isfinite(target.astype(float)).all():
            return "targets are missing"
        return None

    return case


def is_clear(error):
    text = str(error)
    return 0 < len(text) < 700 and "Traceback" not in text and "\n" not in text.strip()


CASES = {"meant": meant_case, "damaged": damaged_case}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("n", [200, pytest.param(5_000, marks=pytest.mark.long)])
def test_csv_files_are_read_as_meant_or_refused(kind, n, tmp_path: Path):
    found, n_done = faults(CASES[kind](tmp_path), range(n))
    assert n_done == n
    assert found == {}, json.dumps(found, indent=1)[:3000]

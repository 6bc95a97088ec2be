"""Findings become files: the tables of every part, and with each picture, as PNG, the table that it
was drawn from. `python -m forestlab.study` lists them."""

import json
from pathlib import Path

import numpy as np

from forestlab.study.part import About, Files, Findings
from forestlab.study.parts import PARTS


def write(folder: Path, findings: Findings, about: About, pictures: bool = True) -> None:
    """Write all files of a run; those of one target of several are in by_target/NAME."""
    for name, table in tables(findings, about):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        WRITERS[Path(name).suffix](folder / name, table)
    if pictures:
        _write_pictures(folder, findings, about)


def tables(findings: Findings, about: About) -> Files:
    """(name of the file, what is in it), one after the other."""
    for key, found in findings.parts.items():
        yield from PARTS[key].table(found, findings, about)
    for target, of_target in findings.by_target.items():
        for name, table in tables(of_target, about.of_target(target)):
            yield f"by_target/{target}/{name}", table


def _write_pictures(folder: Path, findings: Findings, about: About) -> None:
    from forestlab import figures  # late: matplotlib
    from forestlab.study.pictures import pictures

    for name, picture in pictures(findings, about):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        figures.save(picture, folder / name)


def _write_json(path: Path, table) -> None:
    path.write_text(json.dumps(table, indent=1, default=_plain))


def _plain(value):
    """Arrays as lists; JSON knows neither NaN nor infinity."""
    if isinstance(value, np.ndarray):
        if value.ndim > 1:
            return list(value)
        return [number if np.isfinite(number) else None for number in value.tolist()]
    return value.item()


WRITERS = {
    ".json": _write_json,
    ".txt": lambda path, text: path.write_text(text),
    ".csv": lambda path, frame: frame.to_csv(path, index=False),
    ".parquet": lambda path, frame: frame.to_parquet(path, index=False),
}

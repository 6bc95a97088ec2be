"""The manifest of a run: what was logged with it, to be held against what a store has of it.

It is the artifact manifest.json, and its digest is the tag `manifest`. A run without that tag was
logged before there were manifests: there is nothing to hold it against.
"""

import hashlib
import json
import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from mlflow.entities import Run

    from forestlab.tracking.stores import Store

NAME = "manifest.json"
TAG = "manifest"
SQLITE = "sqlite:///"
MOST_READ = 2**24  # bytes of a file whose digest is compared: hundredths of a second


# ---- making ------------------------------------------------------------------------------------


def of(metrics: Iterable, params: Mapping[str, str], files: Mapping[str, list]) -> dict[str, Any]:
    """How many values each metric has, how many parameters there are, and the files of `artifacts/`
    and `model/` with their sizes and digests."""
    points = Counter(name for name, _, _ in {tuple(point) for point in metrics})
    return {
        "metrics": dict(sorted(points.items())),
        "params": len(params),
        "artifacts": _below(files, "artifacts/"),
        "model": _below(files, "model/"),
    }


def _below(files: Mapping[str, list], folder: str) -> dict[str, list]:
    inside = [name for name in sorted(files) if name.startswith(folder)]
    return {name.removeprefix(folder): files[name] for name in inside}


def listing(folder: Path, most: float = float("inf")) -> dict[str, tuple[int, str | None]]:
    """The size of each file below a folder, and its digest unless it is larger than `most`."""
    found = {}
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in sorted(names)):
            size = path.stat().st_size
            digest = digest_of(path) if size <= most else None
            found[path.relative_to(folder).as_posix()] = size, digest
    return found


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# ---- checking ----------------------------------------------------------------------------------


def disagreement(store: "Store", run: "Run") -> str:
    """Why what a store has of a run is not what was logged; empty if it is, as far as is known.

    Of files in a folder of this machine the digests are compared, of large ones and of those
    elsewhere the sizes. Values of a metric are counted where the store is a file; a server would
    have to be asked for each metric, so there it is seen only whether it has any.
    """
    wanted_digest = run.data.tags.get(TAG)
    if wanted_digest is None:
        return ""
    folder = _local(run.info.artifact_uri)
    client, run_id = store.client, run.info.run_id
    there = _there(folder, lambda path: client.list_artifacts(run_id, path))
    if NAME not in there:
        return f"{NAME} is missing"
    text = _bytes(store, run_id, folder)
    if hashlib.sha256(text).hexdigest() != wanted_digest:
        return f"{NAME} is not the one that was logged"
    wanted = json.loads(text)
    return (
        _differing_files(wanted["artifacts"], there)
        or _differing_numbers(wanted, store, run)
        or (_differing_model(wanted["model"], store, run) if wanted["model"] else "")
    )


def _local(uri: str) -> Path | None:
    """The folder that an address of artifacts means, if it is one of this machine."""
    parts = urlsplit(uri)
    if parts.scheme not in ("", "file") or parts.netloc not in ("", "localhost"):
        return None
    return Path(unquote(parts.path) if parts.scheme else uri)


def _there(folder: Path | None, listed: Callable[[str | None], Iterable]) -> dict[str, tuple]:
    """The files of a folder, or of a server that lists one after the other."""
    if folder:
        return listing(folder, MOST_READ)
    found: dict[str, tuple] = {}
    todo: list[str | None] = [None]
    while todo:
        for info in listed(todo.pop()):
            if info.is_dir:
                todo.append(info.path)
            else:
                found[info.path] = int(info.file_size or 0), None
    return found


def _bytes(store: "Store", run_id: str, folder: Path | None) -> bytes:
    if folder:
        return (folder / NAME).read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        return Path(store.client.download_artifacts(run_id, NAME, scratch)).read_bytes()


def _differing_files(wanted: Mapping[str, list], there: Mapping[str, tuple], what="") -> str:
    for name, (size, digest) in wanted.items():
        if name not in there:
            return f"{what}{name} is missing"
        found_size, found_digest = there[name]
        if found_size != size:
            return f"{what}{name} has {found_size:,} bytes in place of {size:,}"
        if found_digest not in (None, digest):
            return f"{what}{name} is not the one that was logged"
    return ""


def _differing_numbers(wanted: dict[str, Any], store: "Store", run: "Run") -> str:
    n_params, counts = len(run.data.params), _counts(store, run)
    if n_params < wanted["params"]:
        return f"{n_params} of {wanted['params']} parameters are there"
    for name, n_points in wanted["metrics"].items():
        found = counts.get(name, 0)
        if found < n_points:
            there = f"{found} of {n_points} values" if found else "none"
            return f"of the metric {name} {there} {'is' if not found else 'are'} there"
    return ""


def _counts(store: "Store", run: "Run") -> Mapping[str, float]:
    """How many values each metric has; without end, if it has any and they cannot be counted."""
    if not store.uri.startswith(SQLITE):
        return dict.fromkeys(run.data.metrics, float("inf"))
    path = Path(store.uri.removeprefix(SQLITE).partition("?")[0]).resolve()
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        asked = "select key, count(*) from metrics where run_uuid = ? group by key"
        return dict(database.execute(asked, [run.info.run_id]).fetchall())
    finally:
        database.close()


def _differing_model(wanted: Mapping[str, list], store: "Store", run: "Run") -> str:
    outputs = run.outputs.model_outputs if run.outputs else []
    if not outputs:
        return "its model is missing"
    model_id, client = outputs[-1].model_id, store.client
    try:
        folder = _local(client.get_logged_model(model_id).artifact_location)
    except Exception as error:
        if getattr(error, "error_code", "") != "RESOURCE_DOES_NOT_EXIST":
            raise
        return "its model is missing"
    there = _there(folder, lambda path: client.list_logged_model_artifacts(model_id, path))
    if "MLmodel" not in there:
        return "its model is missing"
    return _differing_files(wanted, there, "its model's ")

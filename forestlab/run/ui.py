"""`forestlab ui [--port 5000] [arguments of mlflow server]`: the MLflow UI on what was logged.

Lean and on loopback: one worker and no job execution start in a third of the time and memory. The
UI itself opens on a page about language models: what is told are the addresses of the runs.
"""

import json
import os
import sqlite3
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from forestlab.config import DOCUMENTS, TrackingConfig, asked, store_uri
from forestlab.masking import hide, scrub

PORT = "5000"
TRAINING = "workflowType=machine_learning"  # the half of the UI that lists runs
SHOWN = {TrackingConfig.experiment: "your runs", DOCUMENTS: "those of the documents' figures"}


def main(arguments: list[str] | None = None) -> int:
    """Becomes the server; returns only if there is nothing to show, or one that shows itself."""
    given = sys.argv[1:] if arguments is None else arguments
    store = store_uri(TrackingConfig())
    if store.startswith("http"):
        return _told_of_server(store.rstrip("/"))
    path = Path(store.removeprefix("sqlite:///"))
    if store.startswith("sqlite:///") and not path.is_file():
        print(f"error: nothing is logged yet in {path}: run something first.", file=sys.stderr)
        return 1
    ids = _ids_of_file(path) if store.startswith("sqlite:///") else {}
    print("starting the MLflow UI (some seconds; Ctrl-C ends it):", file=sys.stderr)
    print(*addresses(f"http://127.0.0.1:{_port(given)}", ids), sep="\n", file=sys.stderr)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    os.environ["MLFLOW_BACKEND_STORE_URI"] = store  # may have a password, and is not shown by ps
    server = [sys.executable, "-m", "mlflow", "server"]
    os.execv(sys.executable, [*server, "--host", "127.0.0.1", "--workers", "1", *given])


def _told_of_server(uri: str) -> int:
    """Where to look at a server that is another's."""
    try:
        ids = {name: found for name in SHOWN if (found := _id_at_server(uri, name))}
    except (OSError, ValueError) as error:
        told = f"no MLflow server answers at {hide(uri)}: {scrub(str(error))}"
        print(f"error: {told}", file=sys.stderr)
        return 1
    shown = hide(uri)
    print(f"runs are logged to {shown}, which has a UI of its own:", file=sys.stderr)
    print(*addresses(shown, ids), sep="\n", file=sys.stderr)
    return 0


def addresses(ui: str, ids: dict[str, str]) -> Iterator[str]:
    """A line for each experiment that is there, or for the list of them."""
    for name, what in SHOWN.items():
        if name in ids:
            yield f"  {ui}/#/experiments/{ids[name]}/runs?{TRAINING}   {what}"
    if not ids:
        yield f"  {ui}/#/experiments?{TRAINING}"


def _ids_of_file(path: Path) -> dict[str, str]:
    """Of the experiments in a store, by their names; none of what is no store: MLflow says so."""
    try:
        database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            rows = database.execute("select name, experiment_id from experiments").fetchall()
        finally:
            database.close()
    except sqlite3.Error:
        return {}
    return {name: str(found) for name, found in rows}


def _id_at_server(uri: str, name: str) -> str | None:
    """Of an experiment; None if there is none, or if the server wants to know who asks."""
    named = urllib.parse.urlencode({"experiment_name": name})
    where = f"/api/2.0/mlflow/experiments/get-by-name?{named}"
    try:
        with urllib.request.urlopen(asked(uri, where), timeout=10) as answer:
            return json.load(answer)["experiment"]["experiment_id"]
    except urllib.error.HTTPError:
        return None
    except LookupError as error:
        raise ValueError("what answers is no MLflow server") from error


def _port(given: list[str]) -> str:
    """The last that was given, as --port 5001, --port=5001 or -p 5001."""
    port = PORT
    for word, following in zip(given, [*given[1:], PORT], strict=False):
        if word in ("--port", "-p"):
            port = following
        elif word.startswith("--port="):
            port = word.removeprefix("--port=")
    return port

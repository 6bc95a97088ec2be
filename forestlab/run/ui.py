"""`forestlab ui [--port 5000] [arguments of mlflow server]`: the MLflow UI on what was logged.

Lean and on loopback: one worker and no job execution start in a third of the time and memory.
"""

import os
import sys
from pathlib import Path

from forestlab.config import TrackingConfig, store_uri

PORT = "5000"


def main(arguments: list[str] | None = None) -> int:
    """Becomes the server; returns only if there is nothing to show."""
    given = sys.argv[1:] if arguments is None else arguments
    store = store_uri(TrackingConfig())
    if store.startswith("http"):
        print(f"what is logged is at {store}, which shows itself", file=sys.stderr)
        return 0
    path = Path(store.removeprefix("sqlite:///"))
    if store.startswith("sqlite:///") and not path.is_file():
        print(f"error: nothing is logged yet in {path}: run something first.", file=sys.stderr)
        return 1
    print(f"MLflow UI on http://127.0.0.1:{_port(given)}; Ctrl-C ends it", file=sys.stderr)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    server = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store]
    os.execv(sys.executable, [*server, "--host", "127.0.0.1", "--workers", "1", *given])


def _port(given: list[str]) -> str:
    """The last that was given, as --port 5001, --port=5001 or -p 5001."""
    port = PORT
    for word, following in zip(given, [*given[1:], PORT], strict=False):
        if word in ("--port", "-p"):
            port = following
        elif word.startswith("--port="):
            port = word.removeprefix("--port=")
    return port

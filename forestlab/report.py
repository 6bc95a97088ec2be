"""What a person at the terminal sees: progress while it runs, and a short table after it.

Progress goes to standard error and only to a terminal; the table goes to standard output.
"""

import logging
import os
import sys
from pathlib import Path

from forestlab.config import home

_expected = 1


def show_warnings() -> None:
    """Let forestlab's own warnings through, such as that a kernel is being compiled.

    Called by each job, as Hydra sets logging up anew for each.
    """
    handler = logging.StreamHandler()
    handler.set_name("forestlab-terminal")
    logger = logging.getLogger("forestlab")
    logger.handlers = [h for h in logger.handlers if h.get_name() != handler.get_name()] + [handler]


def is_terminal() -> bool:
    return sys.stderr.isatty()


def expect(n_jobs: int) -> None:
    """Say how many jobs there will be."""
    global _expected
    _expected = n_jobs


def started(name: str, n_done: int) -> None:
    if is_terminal():
        count = f"[{n_done + 1}/{_expected}] " if _expected > 1 else ""
        print(f"{count}{name}", file=sys.stderr, flush=True)


def done(result) -> None:
    if is_terminal() and result.status != "FAILED":
        shown = "  ".join(f"{name} {value:.4g}" for name, value in _shown(result).items())
        print(f"    {result.status.lower()}  {shown}", file=sys.stderr, flush=True)


def failed(name: str, error: Exception) -> None:
    line = str(error).strip().split("\n")[0]
    print(f"error: {name} failed: {type(error).__name__}: {line}", file=sys.stderr, flush=True)


def killed() -> None:
    print("stopped", file=sys.stderr)


def _shown(result) -> dict[str, float]:
    """The metrics worth a column."""
    wanted = (
        "accuracy/valid",
        "accuracy/test",
        "accuracy/oob",
        "rmse/valid",
        "rmse/test",
        "rmse/oob",
    )
    found = {name: result.metrics[name] for name in wanted if name in result.metrics}
    for name in ("chosen/depth", "seconds/fit"):
        if name in result.metrics:
            found[name] = result.metrics[name]
    return found


def summary(results: list, parent) -> None:
    """The table, where it is logged, and how to look at it."""
    rows = [(result.name, result.status.lower(), _shown(result)) for result in results]
    names = list(dict.fromkeys(name for _, _, shown in rows for name in shown))
    if rows:
        width = min(max(len(name) for name, _, _ in rows), 60)
        print(f"{'run':<{width}}  {'status':<8}" + "".join(f"  {name:>14}" for name in names))
        for name, status, shown in rows:
            cells = "".join(f"  {shown[n]:>14.4g}" if n in shown else f"  {'':>14}" for n in names)
            print(f"{_short(name, width):<{width}}  {status:<8}{cells}")
    _say_where(results, parent)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _say_where(results: list, parent) -> None:
    logged = [result.run_id for result in results if result.run_id]
    if parent is not None and parent.is_open:
        logged = [parent.run_id]
    if not logged:
        return
    where = next((result.where for result in results if result.where), "")
    where = where or parent.store.uri
    print(f"\nlogged as run {logged[-1]} in {where.removeprefix('sqlite:///')}")
    print(f"look at it: {ui_command(where)}")


def ui_command(where: str) -> str:
    """The command that shows a store; a server shows itself."""
    if where.startswith("http"):
        return where
    script = Path(__file__).resolve().parent.parent / "scripts/ui"
    own = where == f"sqlite:///{home() / 'mlflow.db'}"
    if script.is_file() and own:
        return os.path.relpath(script)
    return f"mlflow server --workers 1 --backend-store-uri {where}"

"""What a person at the terminal sees: progress while it runs, and a short table after it.

Progress goes to standard error and only to a terminal; the table goes to standard output.
"""

import logging
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from forestlab.config import ConfigError, home
from forestlab.core.tasks import TASKS
from forestlab.datasets import Column
from forestlab.datasets.columns import USELESS
from forestlab.datasets.kinds import CATEGORY, NUMBER

WIDEST_NAME = 60  # letters of a run's name in a table
WIDEST_COLUMN = 28  # letters of a column's name
MOST_COLUMNS = 15  # of a user's own table that are shown
PLURALS = {NUMBER: "numbers", CATEGORY: "categories"}


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


def started(name: str, n_done: int, n_jobs: int) -> None:
    if is_terminal():
        count = f"[{n_done + 1}/{n_jobs}] " if n_jobs > 1 else ""
        print(f"{count}{name}", file=sys.stderr, flush=True)


def done(result) -> None:
    if is_terminal() and result.status != "FAILED":
        shown = "  ".join(f"{name} {value:.4g}" for name, value in _shown(result).items())
        print(f"    {result.status.lower()}  {shown}", file=sys.stderr, flush=True)


def failed(name: str, error: Exception) -> None:
    line = str(error).strip().split("\n")[0]
    kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
    print(f"error: {name} failed: {kind}{line}", file=sys.stderr, flush=True)


def killed() -> None:
    print("stopped", file=sys.stderr)


def _shown(result) -> dict[str, float]:
    """The metrics worth a column."""
    main = [f"{task.main}/{split}" for task in TASKS.values() for split in ("valid", "test", "oob")]
    wanted = (*main, "summary/chosen_depth", "summary/seconds_fit")
    there = [name for name in wanted if name in result.metrics]
    return {name.removeprefix("summary/"): result.metrics[name] for name in there}


def summary(results: list, parent) -> None:
    """The table, where it is logged, and how to look at it."""
    shown = [_shown(result) for result in results]
    names = list(dict.fromkeys(name for metrics in shown for name in metrics))
    if results:
        rows = [("run", "status", *names)]
        for result, metrics in zip(results, shown, strict=True):
            cells = (f"{metrics[name]:.4g}" if name in metrics else "" for name in names)
            rows.append((abridged(result.name, WIDEST_NAME), result.status.lower(), *cells))
        print("\n".join(in_columns(rows, "<<" + ">" * len(names))))
    _say_where(results, parent)


def columns(found: Sequence[Column], n_rows: int) -> None:
    """What the columns of a user's own table were taken for: those with a remark first, and how to
    correct it."""
    ordered = sorted(found, key=lambda column: not column.remark)
    shown, others = ordered[:MOST_COLUMNS], ordered[MOST_COLUMNS:]
    rows = [("column", "taken for", "missing", ""), *map(_column_cells, shown)]
    print(f"{n_rows} rows, {_counted(found)}")
    print("\n".join(in_columns(rows, "<<><")))
    if others:
        print(f"… and {_counted(others)}")
    useless = ",".join(column.column for column in found if column.remark in USELESS)
    if useless:
        print(f"to leave out: {abridged(f'dataset.drop=[{useless}]', WIDEST_NAME)}")
    print("to correct:   dataset.categorical, dataset.numeric, dataset.missing_marks\n")


def _column_cells(column: Column) -> tuple[str, str, str, str]:
    levels = f", {column.levels} levels" if column.levels else ""
    missing = "< 1 %" if column.missing < 0.01 else f"{column.missing:.0%}".replace("%", " %")
    name = abridged(column.column, WIDEST_COLUMN)
    return name, column.taken_for + levels, missing if column.missing else "", column.remark


def _counted(found: Sequence[Column]) -> str:
    """5 numbers, 2 categories; 3 columns lack values."""
    counts = [(kind, sum(column.taken_for == kind for column in found)) for kind in PLURALS]
    n_lacking = sum(column.missing > 0 for column in found)
    lacking = f"; {n_lacking} of these columns lack{'s' * (n_lacking == 1)} values"
    kinds = (f"{n} {PLURALS[kind] if n > 1 else kind}" for kind, n in counts if n)
    return ", ".join(kinds) + (lacking if n_lacking else "")


def in_columns(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Lines of columns that are as wide as what they hold; `sides` has a < or > for each column,
    the side on which it is flush."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def abridged(text: str, most: int) -> str:
    """The text, or its beginning and end around an ellipsis."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


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
    script = Path(__file__).resolve().parent.parent.parent / "scripts/ui"
    own = where == f"sqlite:///{home() / 'mlflow.db'}"
    if script.is_file() and own:
        return os.path.relpath(script)
    return f"mlflow server --workers 1 --backend-store-uri {shlex.quote(where)}"

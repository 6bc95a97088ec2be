"""What a person at the terminal sees: what happens now while it runs, and a short table after it.

Progress and mistakes go to standard error; tables go to standard output.
"""

import os
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from forestlab.config import ConfigError, home, journal
from forestlab.core.tasks import TASKS
from forestlab.datasets import Column
from forestlab.datasets.columns import USELESS
from forestlab.datasets.kinds import CATEGORY, NUMBER
from forestlab.masking import scrub
from forestlab.run.progress import LINE, duration, is_terminal
from forestlab.run.tables import NARROWEST_NAME, abridged, fitted, in_columns, told_apart, window

WIDEST_NAME = 60  # letters of a list of columns
WIDEST_COLUMN = 28  # letters of a column's name
MOST_COLUMNS = 15  # of a user's own table that are shown
QUIET = 10.0  # seconds between lines on jobs where nobody watches, as in a log
PLURALS = {NUMBER: "numbers", CATEGORY: "categories"}


def say(text: str, stream: TextIO | None = None) -> None:
    """Print, in the place of the line that says what happens now."""
    LINE.clear()
    print(scrub(text), file=stream or sys.stdout, flush=True)


class Watch:
    """The jobs of a batch as they are seen: one line for each that is done, if there are more."""

    def __init__(self, n_jobs: int):
        self.n_jobs = n_jobs
        self.started = self.told = time.monotonic()

    def begin(self, name: str, n_done: int) -> None:
        self.started = time.monotonic()
        LINE.begin(f"{self._count(n_done)}{name}")

    def done(self, result, n_done: int) -> None:
        """Of a single run the table tells."""
        now = time.monotonic()
        is_seen = is_terminal() or now - self.told > QUIET
        if self.n_jobs == 1 or result.status == "FAILED" or not is_seen:
            return
        self.told = now
        scores = [f"{key} {value:.4g}" for key, value in _shown(result).items()]
        last = next((score for score in scores if "/test" in score), "".join(scores[:1]))
        words = (result.status.lower(), duration(now - self.started), last)
        told = ", ".join(word for word in words if word)
        count = self._count(n_done - 1)
        room = window(sys.stderr) - len(count) - len(told) - 2
        (name,) = told_apart([result.name], max(room, NARROWEST_NAME))
        say(f"{count}{name}: {told}", sys.stderr)

    def _count(self, n_done: int) -> str:
        return f"[{n_done + 1}/{self.n_jobs}] " if self.n_jobs > 1 else ""


def failure(name: str, error: Exception) -> str:
    """Of what a job failed, in a line."""
    line = str(error).strip().split("\n")[0]
    kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
    return f"{name} failed: {kind}{line}"


def say_failed(line: str) -> None:
    say(f"error: {line}", sys.stderr)


def killed(n_done: int = 0, n_jobs: int = 1, resume: Sequence[str] = ()) -> None:
    """That all was stopped; with the words of the command, how to go on."""
    LINE.end()
    count = f" after {n_done} of {n_jobs} runs" if n_jobs > 1 else ""
    say(f"stopped{count}", sys.stderr)
    if resume:
        words = [word for word in resume if not word.lstrip("+").startswith("resume=")]
        say(f"to go on: {command('run')} {shlex.join([*words, 'resume=true'])}", sys.stderr)


def _shown(result) -> dict[str, float]:
    """The metrics worth a column."""
    main = [f"{task.main}/{split}" for task in TASKS.values() for split in ("valid", "test", "oob")]
    wanted = (*main, "summary/chosen_depth", "summary/seconds_fit")
    there = [name for name in wanted if name in result.metrics]
    return {name.removeprefix("summary/"): result.metrics[name] for name in there}


def summary(results: list, parent) -> None:
    """The table, where it is logged, and how to look at it."""
    LINE.end()
    shown = [_shown(result) for result in results]
    names = list(dict.fromkeys(name for metrics in shown for name in metrics))
    rows = []
    for result, metrics in zip(results, shown, strict=True):
        cells = (f"{metrics[name]:.4g}" if name in metrics else "" for name in names)
        rows.append((result.name, result.status.lower(), *cells))
    if rows:
        head = ("run", "status", *names)
        say("\n".join(fitted(head, rows, "<<" + ">" * len(names), window())))
    _say_where(results, parent)
    kept(results, parent)


def kept(results: list, parent) -> None:
    """Where results are that the store did not take, and how to deliver them."""
    whys = [result.why for result in results if result.status == "KEPT"]
    n, why = len(whys), next(filter(None, whys), "") or (parent.why if parent is not None else "")
    if not n and not why:
        return
    what = f"{n} result{'s' * (n > 1)}" if n else "the end of the sweep"
    reason = f" ({why})" if why else ""
    says = f"kept: {what} in {journal()}, as the store did not take all{reason}"
    say(f"\n{says}; {command('sync')} delivers what is there")


def columns(found: Sequence[Column], n_rows: int, notes: Sequence[str] = ()) -> None:
    """What the columns of a user's own table were taken for: those with a remark first, and how to
    correct it; `notes` are on how it was read."""
    ordered = sorted(found, key=lambda column: not column.remark)
    shown, others = ordered[:MOST_COLUMNS], ordered[MOST_COLUMNS:]
    names = told_apart([column.column for column in shown], WIDEST_COLUMN)
    cells = [_column_cells(*pair) for pair in zip(names, shown, strict=True)]
    lines = [f"{n_rows} rows, {_counted(found)}", *notes]
    lines += in_columns([("column", "taken for", "missing", ""), *cells], "<<><")
    if others:
        lines.append(f"… and {_counted(others)}")
    useless = ",".join(column.column for column in found if column.remark in USELESS)
    if useless:
        lines.append(f"to leave out: {abridged(f'dataset.drop=[{useless}]', WIDEST_NAME)}")
    lines.append("to correct:   dataset.categorical, dataset.numeric, dataset.missing_marks\n")
    say("\n".join(lines))


def _column_cells(name: str, column: Column) -> tuple[str, str, str, str]:
    levels = f", {column.levels} levels" if column.levels else ""
    missing = "< 1 %" if column.missing < 0.01 else f"{column.missing:.0%}".replace("%", " %")
    return name, column.taken_for + levels, missing if column.missing else "", column.remark


def _counted(found: Sequence[Column]) -> str:
    """5 numbers, 2 categories; 3 columns lack values."""
    counts = [(kind, sum(column.taken_for == kind for column in found)) for kind in PLURALS]
    n_lacking = sum(column.missing > 0 for column in found)
    lacking = f"; {n_lacking} of these columns lack{'s' * (n_lacking == 1)} values"
    kinds = (f"{n} {PLURALS[kind] if n > 1 else kind}" for kind, n in counts if n)
    return ", ".join(kinds) + (lacking if n_lacking else "")


def _say_where(results: list, parent) -> None:
    logged = [result.run_id for result in results if result.run_id]
    if parent is not None and parent.is_open and not parent.why:
        logged = [parent.run_id]
    if not logged:
        return
    where = next((result.where for result in results if result.where), "")
    where = where or parent.store.uri
    say(f"\nlogged as run {logged[-1]} in {where.removeprefix('sqlite:///')}")
    say(f"look at it: {ui_command(where)}")


def ui_command(where: str) -> str:
    """The command that shows a store; a server shows itself."""
    if where.startswith("http"):
        return where
    if where == f"sqlite:///{home() / 'mlflow.db'}":
        return command("ui")
    return f"MLFLOW_TRACKING_URI={shlex.quote(where)} {command('ui')}"


def command(name: str) -> str:
    """How a command of forestlab's is called here: by its script in a checkout."""
    script = Path(__file__).resolve().parent.parent.parent / "scripts" / name
    return os.path.relpath(script) if script.is_file() else f"forestlab {name}"

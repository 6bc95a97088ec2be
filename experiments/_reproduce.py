"""One experiment, from its sweep to its files.

run what the store does not hold → read back → table → picture and verdicts → files → page
"""

import contextlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

import experiments
from experiments import LoggedRun, Verdict
from experiments._page import write_page
from experiments._runs import find, logged_as
from forestlab import figures, run
from forestlab.config import home
from forestlab.run import terminal
from forestlab.run.shared import Shared

DPI = 200
STOPPED = (130, 143)  # exit codes: Ctrl-C, SIGTERM


class Made(NamedTuple):
    n_runs: int
    verdicts: list[Verdict]
    picture: Path


class RunsFailed(Exception):
    """Not all runs of an experiment are there; forestlab.run has told why."""


def reproduce(name: str, experiment, shared: Shared, words: Sequence[str] = ()) -> Made:
    """Make an experiment's files anew, after the runs that are missing.

    `words` of the command line say where experiment/NAME.yaml is, if forestlab's own conf/ has it
    not, and which launcher does the runs.
    """
    runs = logged_runs(name, [f"experiment={name}", *words], shared)
    table = experiment.table(runs)
    verdicts = experiment.judge(table)
    picture = write(name, experiment, runs, table, experiment.draw(table), verdicts)
    return Made(len(runs), verdicts, picture)


def logged_runs(name: str, words: list[str], shared: Shared) -> list[LoggedRun]:
    """The runs of an experiment's sweep, from the store; those that it does not hold are run."""
    jobs = run.jobs(words)
    runs = [find(config, shared) for config in jobs]
    n_missing = runs.count(None)
    if n_missing:
        print(f"{name}: {n_missing} of {len(jobs)} runs to do", flush=True)
        with contextlib.redirect_stdout(io.StringIO()):  # a table with a line a run
            outcome = run.perform([*words, "resume=true"], shared)
        if outcome.code in STOPPED:
            raise SystemExit(outcome.code)
        # Results stand in the order of the jobs, if all are known.
        results = outcome.results
        done = results if len(results) == len(jobs) else [None] * len(jobs)
        runs = [
            found or (logged_as(config, result.run_id, shared) if result else find(config, shared))
            for found, config, result in zip(runs, jobs, done, strict=True)
        ]
    there = {found.id: found for found in runs if found}  # jobs that differ in name only share one
    if None in runs:
        raise RunsFailed(f"{runs.count(None)} of {len(jobs)} runs failed, nothing drawn")
    return list(there.values())


# ---- files -------------------------------------------------------------------------------------


def folder() -> Path:
    return home() / "figures"


def write(
    name: str,
    experiment,
    runs: list[LoggedRun],
    table: pd.DataFrame,
    picture: Figure,
    verdicts: list[Verdict],
) -> Path:
    """NAME.png, .svg, .csv and .json, and the page over all that is in the folder."""
    folder().mkdir(parents=True, exist_ok=True)
    stem = folder() / name
    with matplotlib.rc_context({"svg.hashsalt": name}):  # equal figures give equal bytes
        picture.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    picture.set_dpi(DPI)
    figures.save(picture, stem.with_suffix(".png"))
    table.to_csv(stem.with_suffix(".csv"), index=False)
    texts = describe(name, experiment, runs, verdicts)
    stem.with_suffix(".json").write_text(json.dumps(texts, indent=1, default=_plain))
    write_page(folder())
    return stem.with_suffix(".png")


def describe(
    name: str, experiment, runs: list[LoggedRun], verdicts: list[Verdict]
) -> dict[str, Any]:
    """What the page says of an experiment."""
    return {
        "name": name,
        "title": experiments.title(experiment),
        "document": experiment.DOCUMENT,
        "says": experiment.SAYS,
        "verdicts": [told(verdict) for verdict in verdicts],
        "runs": [{"name": logged.name, "url": logged.url} for logged in runs],
        "ui": terminal.ui_command(runs[0].where) if runs else "",
    }


def told(verdict: Verdict) -> dict[str, Any]:
    """A verdict with its outcome, and its numbers as they are written."""
    words = ("outcome", "expected_text", "found_text")
    return verdict._asdict() | {name: getattr(verdict, name) for name in words}


def _plain(value):
    """A number of numpy's as Python's own."""
    return value.item()

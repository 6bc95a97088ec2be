"""What a sweep's parent says of its children: a note, the best child's metrics, the table and
pictures of `swept`, and the page of their comparison.

Files: comparison/children.json, a row a child; comparison/swept.csv and .png, of several data sets
one each; report.html.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from forestlab.compare import swept, variants
from forestlab.compare.swept import Sweep
from forestlab.study.metrics import METRICS
from forestlab.study.part import Number, steps
from forestlab.study.targets import key_names

MOST_BYTES = 2_900_000  # of a page
MOST_LETTERS = 7_500  # of a note, of which MLflow keeps 8,000


class Told(NamedTuple):
    """What is logged with the parent, beside files."""

    note: str
    numbers: list[Number]
    best: str  # the id of the best run; empty if there is none, or several data sets


def tell(folder: Path, store, name: str, experiment: str, runs: Sequence[Any], draws: bool) -> Told:
    """Write the files of a sweep, whose runs are MLflow's, and say the rest."""
    finished = [run for run in runs if run.info.status == "FINISHED"]
    sweeps = swept.sweeps_of(variants.as_frame(finished))
    (folder / "comparison").mkdir()
    rows = json.dumps([_row(run) for run in runs], indent=1)
    (folder / "comparison/children.json").write_text(rows)
    named = dict(zip(_names(sweeps), sweeps, strict=True))
    for stem, sweep in named.items():
        if sweep.keys:
            swept.as_table(sweep).to_csv(folder / f"comparison/{stem}.csv", index=False)
    if draws and sweeps:
        _draw(folder, store, name, experiment, named)
    note = "\n".join(_note(store, name, runs, sweeps, draws))
    if len(sweeps) != 1:
        return Told(note, [], "")
    best = sweeps[0].best()
    return Told(note, [*_numbers_of(store, best), *_curve(sweeps[0])], best["run_id"])


def _row(run) -> dict:
    return {
        "run_id": run.info.run_id,
        "name": run.info.run_name,
        "status": run.info.status,
        "params": run.data.params,
        "metrics": run.data.metrics,
    }


def _names(sweeps: Sequence[Sweep]) -> list[str]:
    """Of files, no two alike."""
    if len(sweeps) == 1:
        return ["swept"]
    found = key_names([sweep.table.dataset for sweep in sweeps], len(sweeps))
    return [f"swept_{name}" for name in found]


# ---- pictures ----------------------------------------------------------------------------------


def _draw(folder: Path, store, name: str, experiment: str, named: dict[str, Sweep]) -> None:
    from forestlab import figures  # late: matplotlib
    from forestlab.compare.report import report  # late: Jinja

    drawn = {stem: swept.picture(sweep) for stem, sweep in named.items()}
    for stem, picture in drawn.items():
        if picture is not None:
            figures.save(picture, folder / f"comparison/{stem}.png")
    first = {id(s.table): drawn[stem] for stem, s in named.items() if drawn[stem] is not None}
    tables = [sweep.table for sweep in named.values()]
    while True:
        page = report(tables, store, f"parent = '{name}'", experiment, f"Sweep {name}", first)
        if len(page.encode()) < MOST_BYTES or len(tables) == 1:
            break
        tables = tables[: len(tables) // 2]  # the others are drawn beside it, and in the note
    (folder / "report.html").write_text(page, encoding="utf-8")


# ---- numbers -----------------------------------------------------------------------------------


def _numbers_of(store, best: pd.Series) -> Iterator[Number]:
    """The best child's own: metrics at every depth, and the last value of all others."""
    from forestlab import tracking

    for column in best.index:
        name = column.removeprefix("metrics.")
        if name == column or best[column] != best[column]:
            continue
        if name.split("/")[0] in METRICS:
            curve = tracking.curve(store, best["run_id"], name)
            yield from (number for number in steps(name, curve) if number.value == number.value)
        else:
            yield Number(name, float(best[column]))


def _curve(sweep: Sweep) -> list[Number]:
    """The main metric with the swept key as the step, if it is one of whole numbers."""
    values = [cell[0] for cell in sweep.cells] if len(sweep.keys) == 1 else []
    if not swept.is_numeric(values) or not all(isinstance(v, int) and v >= 0 for v in values):
        return []
    key = sweep.keys[0].split(".")[-1]
    return [
        Number(f"by_{key}/{sweep.metric}/{split}", score.mean, value)
        for (value,), scores in sweep.cells.items()
        for split, score in scores.items()
    ]


# ---- the note ----------------------------------------------------------------------------------


def _note(store, name: str, runs: Sequence[Any], sweeps: Sequence[Sweep], draws: bool) -> list[str]:
    """Lines of Markdown, as many as MLflow keeps."""
    counts = pd.Series([run.info.status.lower() for run in runs]).value_counts()
    told = ", ".join(f"{n} {status}" for status, n in counts.items()) or "no run"
    lines = [f"Sweep `{name or '-'}`: {told}.", ""]
    others = "`comparison/swept.csv`" if len(sweeps) == 1 else "`comparison/`"
    drawn = ", drawn in `report.html`" if draws and sweeps else ""
    last = ["", f"The main metric against what was swept: {others}{drawn}, among the artifacts."]
    room = MOST_LETTERS - sum(map(len, last))
    for line in _told_of(store, sweeps):
        if sum(map(len, lines)) + len(lines) + len(line) > room:
            lines += ["", "… and more: `comparison/children.json` has all."]
            break
        lines.append(line)
    return [*lines, *last] if sweeps else lines


def _told_of(store, sweeps: Sequence[Sweep]) -> Iterator[str]:
    """Of each data set what was swept, the best run, and a table of all, best first."""
    for sweep in sweeps:
        values = {key: sweep.values(k) for k, key in enumerate(sweep.keys)}
        varied = [f"`{key}` ({', '.join(map(str, own))})" for key, own in values.items()]
        where = f" on **{escaped(sweep.table.dataset)}**" if len(sweeps) > 1 else ""
        yield f"Swept{where}: {' and '.join(varied) or 'seeds alone'}.  "
        best, main = sweep.best(), f"{sweep.metric}/{sweep.judge}"
        found = {split: best[f"metrics.{sweep.metric}/{split}"] for split in sweep.splits}
        known = {split: value for split, value in found.items() if value == value}
        scores = ", ".join(f"{split} {value:.4g}" for split, value in known.items())
        yield f"Best by {main}: **{_link(store, best)}**, {sweep.metric} {scores}."
        yield ""
        yield from _rows(store, sweep)
        yield ""


def _rows(store, sweep: Sweep) -> Iterator[str]:
    runs = sweep.table.runs
    wanted = {f"{sweep.metric}/{split}": split for split in ("valid", "test", "oob")}
    wanted |= {"summary/chosen_depth": "chosen depth", "summary/seconds_fit": "seconds to fit"}
    there = [key for key in wanted if f"metrics.{key}" in runs]
    yield f"| run, best {sweep.metric} first | {' | '.join(wanted[key] for key in there)} |"
    yield f"|---|{'---:|' * len(there)}"
    is_best = runs["run_id"] == sweep.best()["run_id"]  # of equal ones it comes first
    by = pd.concat([runs[is_best], runs[~is_best]])[f"metrics.{sweep.metric}/{sweep.judge}"]
    order = by.astype(float).sort_values(ascending=not sweep.table.higher, kind="stable").index
    for _, run in runs.loc[order].iterrows():
        cells = [run[f"metrics.{key}"] for key in there]
        texts = ["" if cell != cell else f"{cell:.4g}" for cell in cells]
        yield f"| {_link(store, run)} | {' | '.join(texts)} |"


def _link(store, run: pd.Series) -> str:
    """A run's page in MLflow's UI, whatever its address."""
    return f"[{escaped(run['run_name'])}](#/experiments/{store.experiment_id}/runs/{run['run_id']})"


def escaped(text: str) -> str:
    """A text that Markdown leaves as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", str(text))

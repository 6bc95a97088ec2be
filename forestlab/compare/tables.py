"""Runs → tables in which variants are compared, with notes on what the numbers do not show.

There is a table for each task and, unless it is said what a variant is, for each data set: an
accuracy on iris says nothing about one on digits.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from forestlab.compare import variants
from forestlab.compare.statistics import LEVEL
from forestlab.compare.variants import DATA, PARAM, TASK
from forestlab.config import ConfigError
from forestlab.core.tasks import TASKS
from forestlab.spelling import did_you_mean, most_like
from forestlab.study.metrics import METRICS

MODEL, VERSION = f"{PARAM}model.name", "tags.result_version"
# What tells one data set from another.
SOURCE = [f"{DATA}{key}" for key in ("name", "path", "target", "openml_name", "openml_version")]
MOST_NAMED = 10  # in a note


class Table(NamedTuple):
    """One comparison; rows of `summary` and columns of `scores` are variants."""

    task: str
    dataset: str
    metric: str
    higher: bool  # is better
    level: float
    overlap: float  # see variants.overlap
    baseline: str
    is_given: bool  # the baseline: else it is the best
    scores: pd.DataFrame  # see variants.score_table
    summary: pd.DataFrame  # see variants.summarise
    notes: list[str]
    runs: pd.DataFrame  # as mlflow.search_runs gives them, and a column `variant`

    @property
    def holds_zero(self) -> pd.Series:
        """(n_variants,) whether 0 lies within the interval of the difference."""
        return (self.summary["difference_low"] <= 0.0) & (self.summary["difference_high"] >= 0.0)


def compare(
    runs: pd.DataFrame,
    metric: str | None = None,
    by: Sequence[str] | None = None,
    baseline: str | None = None,
    level: float = LEVEL,
) -> list[Table]:
    """Compare the variants among runs.

    Parameters
    ----------
    runs : as `mlflow.search_runs` gives them
    metric : by default the main one of each task, on test
    by : keys of the parameters that make a variant; by default those that differ among the runs of
        a data set, save the seeds
    baseline : a variant, or words of it that no other has; by default the best of each table
    level : of the confidence intervals

    Returns
    -------
    tables; repeats of a run, and runs without the metric, are in none, which the last one notes
    """
    runs = variants.completed(runs)
    columns = None if by is None else [_column(runs, key) for key in by]
    kept = variants.newest(runs)
    tables = []
    for task, group in _groups(kept, [TASK, *(SOURCE if columns is None else [])]):
        main = TASKS[task].main if task in TASKS else "accuracy"
        wanted = metric or f"{main}/test"
        if f"metrics.{wanted}" in group and group[f"metrics.{wanted}"].notna().any():
            tables.append(_table(group, task, wanted, columns, baseline, level))
    if not tables:
        raise ConfigError(_no_metric(kept, metric))
    if baseline is not None and not any(table.is_given for table in tables):
        there = dict.fromkeys(name for table in tables for name in table.summary.index)
        raise ConfigError(f"--baseline {baseline!r} is none of the variants: {'; '.join(there)}.")
    n_compared = sum(len(table.runs) for table in tables)
    tables[-1].notes.extend(_left_out(len(runs) - len(kept), len(kept) - n_compared))
    return tables


def higher_is_better(metric: str) -> bool:
    """As METRICS and PARTS say; of the rest, errors, sizes and seconds, less is better."""
    from forestlab.study.parts import PARTS  # late: they import numba
    from forestlab.study.stopping import RULES

    own = metric.split("/", 2)[-1] if metric.startswith("by_target/") else metric
    if any(_begins(own, part.neutral) for part in PARTS.values()):
        raise ConfigError(f"--metric {metric}: more of it is neither better nor worse.")
    ways = "|".join(["trees", "class", *RULES])
    name = re.sub(f"^(summary/)?(chosen_|by_({ways})[/_])?", "", own)
    for key, row in METRICS.items():
        if _begins(name, [key]):
            return row.higher_is_better
    return any(_begins(own, part.higher) for part in PARTS.values())


def _begins(name: str, words: Iterable[str]) -> bool:
    """Whether one of these is the name, or its first words."""
    return any(re.match(rf"{re.escape(word)}(?![^/_])", name) for word in words)


def find_variant(names: list[str], wanted: str) -> str | None:
    """The variant of that name, or the only one that has all these words."""
    if wanted in names:
        return wanted
    words = {variants.word(word) for word in wanted.split()}
    near = [name for name in names if words <= set(name.split())]
    if len(near) > 1:
        raise ConfigError(f"--baseline {wanted!r} fits several variants: {'; '.join(near)}.")
    return near[0] if near else None


# ---- one table ---------------------------------------------------------------------------------


def _groups(runs: pd.DataFrame, columns: list[str]) -> Iterable[tuple[str, pd.DataFrame]]:
    """(task, runs) for runs that are equal in these columns."""
    there = [column for column in columns if column in runs]
    groups = runs.groupby(there, sort=False, dropna=False) if there else [("", runs)]
    for _, group in groups:
        task = group[TASK].iloc[0] if TASK in group else ""
        yield (task if isinstance(task, str) else "", group)


def _table(
    group: pd.DataFrame,
    task: str,
    metric: str,
    by: list[str] | None,
    wanted: str | None,
    level: float,
) -> Table:
    runs = group[group[f"metrics.{metric}"].notna()]
    if by is None:
        by = variants.needed(runs, variants.differing(runs)) or [MODEL] * (MODEL in runs)
    runs = runs.assign(variant=variants.labels(runs, by))
    scores = variants.score_table(runs, metric, by)
    higher = higher_is_better(metric)
    given = None if wanted is None else find_variant(list(scores.columns), wanted)
    baseline = given or variants.best(scores, higher)
    overlap = variants.overlap(runs)
    table = Table(
        task,
        _dataset(runs),
        metric,
        higher,
        level,
        overlap,
        baseline,
        given is not None,
        scores,
        variants.summarise(scores, baseline, higher, level, overlap),
        [],
        runs,
    )
    return table._replace(notes=[*_notes(table), *_mixtures(runs, by)])


def _dataset(runs: pd.DataFrame) -> str:
    """The data sets, with the path or the name by which they were found."""
    there = [column for column in SOURCE[:-1] if column in runs]
    different = runs[there].drop_duplicates().to_dict("records")
    names = [" ".join(v for v in map(str, row.values()) if v != "None") for row in different]
    return _few(dict.fromkeys(names))


def _column(runs: pd.DataFrame, key: str) -> str:
    for name in (key, f"{key}.name"):
        if f"{PARAM}{name}" in runs:
            return f"{PARAM}{name}"
    known = [column.removeprefix(PARAM) for column in runs if column.startswith(PARAM)]
    same_end = [name for name in known if name.endswith(f".{key}")]
    meant = same_end[0] if same_end else most_like(key, known)
    hint = did_you_mean(meant, f"there are {', '.join(sorted(known))}.")
    raise ConfigError(f"--by: the runs have no parameter {key!r}: {hint}")


# ---- in words ----------------------------------------------------------------------------------


def _notes(table: Table) -> list[str]:
    summary = table.summary
    notes = []
    if table.holds_zero.any():
        undecided = _few(summary.index[table.holds_zero])
        notes.append(f"0 lies within the interval of the difference: {undecided}")
    fixed = summary.index[(summary["std"] == 0.0) & (summary["seeds"] > 1)]
    if len(fixed):
        notes.append(f"the same with every seed: {_few(fixed)}")
    for variant, (own, other) in variants.unpaired(table.scores, table.baseline).items():
        parts = [f"{_few(own)} only in {variant}"] if own else []
        parts += [f"{_few(other)} only in {table.baseline}"] if other else []
        notes.append(f"not paired: {'; '.join(parts)}")
    return notes


def _mixtures(runs: pd.DataFrame, by: list[str]) -> list[str]:
    """What differs among runs that are taken as one."""
    notes = []
    cells = runs.groupby([runs["variant"], variants.blocks(runs, by)])
    rest = [column for column in variants.differing(runs) if column not in by]
    mixed = [column for column in rest if (cells[column].nunique(dropna=False) > 1).any()]
    if mixed:
        keys = [column.removeprefix(PARAM) for column in variants.needed(runs, mixed)]
        notes.append(f"each number is a mean over runs that differ in {', '.join(keys)}")
    if VERSION in runs and runs[VERSION].nunique() > 1:
        notes.append("the runs come from several versions of the code (tag result_version)")
    return notes


def _left_out(n_repeats: int, n_without: int) -> list[str]:
    reasons = {
        "of the same configuration and data as a newer one": n_repeats,
        "without the metric": n_without,
    }
    return [f"left out: {n} run{'s' * (n > 1)} {why}" for why, n in reasons.items() if n]


def _no_metric(runs: pd.DataFrame, metric: str | None) -> str:
    names = [column.removeprefix("metrics.") for column in runs if column.startswith("metrics.")]
    hint = did_you_mean(most_like(metric or "", names), f"there are {', '.join(sorted(names))}.")
    return f"--metric: no run has {metric or 'its main metric on test'}: {hint}"


def _few(names: Iterable[str]) -> str:
    names = list(map(str, names))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more

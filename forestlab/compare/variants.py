"""Runs → variants, and how variants differ over the seeds that they share.

Runs are a frame as `mlflow.search_runs` gives it: a row a run, with columns such as
`params.model.name`, `metrics.accuracy/test`, `tags.config_hash`, `run_id` and `start_time`. Runs
that agree in the parameters under study are one *variant*. What else tells runs apart, their seeds
and the data they saw, is their *block*. The *scores* of a metric are a table with a row a block and
a column a variant, NaN where there is no run: two variants are compared over the blocks where both
have a number.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from forestlab import config as configs
from forestlab.compare.statistics import LEVEL, holm, overlap_of, student
from forestlab.config import AUTO, NO_RESULT, flat_defaults
from forestlab.core.criteria import fitting
from forestlab.core.options import OPTIONS, defaults
from forestlab.core.tasks import TASKS

PARAM, TASK = "params.", "tags.task"
DIGEST = "tags.dataset_digest"
PATH = f"{PARAM}dataset.path"
SEEDS = [f"{PARAM}{key}" for key in configs.SEEDS]
DATA = f"{PARAM}dataset."
PATH = f"{DATA}path"
SPLIT_SEED = f"{DATA}split_seed"
IGNORED = (*NO_RESULT, "study")  # what is looked at makes no other forest
ROUNDING = 1e-12  # of the largest score: numbers that differ by less are equal


# ---- runs --------------------------------------------------------------------------------------


def as_frame(runs: Sequence[Any]) -> pd.DataFrame:
    """Runs of MLflow as a frame in the layout of `mlflow.search_runs`."""
    rows = []
    for run in runs:
        row = {key: getattr(run.info, key) for key in ("run_id", "run_name", "start_time")}
        for kind in ("params", "metrics", "tags"):
            row |= {f"{kind}.{key}": value for key, value in getattr(run.data, kind).items()}
        rows.append(row)
    found = pd.DataFrame(rows)
    if {PATH, DIGEST} <= {*found}:  # one for the same data, wherever they lie
        found[PATH] = found.groupby(DIGEST)[PATH].transform("first").fillna(found[PATH])
    return found


def completed(runs: pd.DataFrame) -> pd.DataFrame:
    """Fill in the parameters that runs of an older forestlab did not know: they had the default."""
    runs = runs.reset_index(drop=True)
    for key, value in flat_defaults().items():
        column = f"{PARAM}{key}"
        if column in runs:
            runs[column] = runs[column].fillna(_default(runs, key, value))
    return _decided(runs)


def _decided(runs: pd.DataFrame) -> pd.DataFrame:
    """Older runs logged `auto` where the task decides: say what it came to."""
    if TASK not in runs:
        return runs
    criteria = runs[TASK].map(lambda task: fitting(task)[0] if task in TASKS else AUTO)
    for key, decision in {"criterion.name": criteria, "task.name": runs[TASK].fillna(AUTO)}.items():
        column = f"{PARAM}{key}"
        if column in runs:
            runs[column] = runs[column].where(runs[column] != AUTO, decision)
    return runs


def _default(runs: pd.DataFrame, key: str, value):
    """The default of a parameter; of an option, of each run's own choice."""
    group, _, option = key.partition(".")
    column = f"{PARAM}{group}.name"
    if group not in OPTIONS or option == "name" or column not in runs:
        return str(value)
    names = runs[column].fillna(flat_defaults()[f"{group}.name"])
    return names.map(lambda name: str((defaults(group, name) or {}).get(option)))


def newest(runs: pd.DataFrame) -> pd.DataFrame:
    """Of runs with the same configuration and data only the newest."""
    same = [column for column in ("tags.config_hash", DIGEST) if column in runs]
    if not same:
        return runs
    runs = runs.sort_values("start_time", ascending=False, kind="stable")
    params = [column for column in runs if column.startswith(PARAM)]
    said = [p for p in params if p.removeprefix(PARAM).split(".")[0] not in NO_RESULT]
    return runs[~runs.duplicated(same + said) | runs[same].isna().any(axis=1)]


def differing(runs: pd.DataFrame) -> list[str]:
    """The columns of parameters that differ and may change the forest, seeds apart."""
    columns = [
        column
        for column in runs.columns
        if column.startswith(PARAM)
        and column not in SEEDS
        and column.removeprefix(PARAM).split(".")[0] not in IGNORED
        and runs[column].nunique(dropna=False) > 1
    ]
    return sorted(columns, key=_rank)


def needed(runs: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """Without the columns that follow from the others: a forest has `bootstrap`, a tree has not.

    Names stay, whatever else tells the runs apart.
    """
    kept = list(columns)
    for column in reversed(columns):
        rest = [other for other in kept if other != column]
        is_name = column.endswith(".name")
        if rest and not is_name and _n_groups(runs, rest) == _n_groups(runs, kept):
            kept = rest
    return kept


def labels(runs: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """What each run has in these columns, in words such as `forest max_depth=5`."""
    keys = [column.split(".", 1)[1] for column in columns]
    words = [
        runs[column].map(lambda value, key=key: word(f"{key}={value}"))
        for column, key in zip(columns, keys, strict=True)
    ]
    joined = [" ".join(row) for row in zip(*words, strict=True)]
    return pd.Series(joined or "all runs", runs.index, dtype=object)


def _rank(column: str) -> tuple:
    """Models, data sets, other names, the top of the configuration, the rest."""
    key = column.removeprefix(PARAM)
    first = ("model.name", "dataset.name")
    return (key not in first, not key.endswith(".name"), "." in key, key != first[0], key)


def _n_groups(runs: pd.DataFrame, columns: Sequence[str]) -> int:
    return len(runs[list(columns)].drop_duplicates())


def word(override: str) -> str:
    """An override as a label has it: models and data sets by their names, keys by their ends."""
    key, sign, value = override.partition("=")
    key = key.removesuffix(".name")
    if sign and key in ("model", "dataset"):
        return value
    return f"{key.split('.')[-1]}={value}" if sign else override


# ---- scores ------------------------------------------------------------------------------------


def blocks(runs: pd.DataFrame, by: Sequence[str]) -> pd.Series:
    """The block of each run: its seeds and its data, save what `by` makes a variant of.

    If a variant is a kind of data, blocks cannot ask for the same data.
    """
    of_data = [column for column in runs if column.startswith(DATA) and column not in SEEDS]
    digest = [] if any(column in by for column in of_data) else [DIGEST]
    varying = [
        column
        for column in [*sorted(of_data, key=_rank), *SEEDS, *digest]
        if column in runs and column not in by and runs[column].nunique(dropna=False) > 1
    ]
    seed = [column for column in SEEDS[:1] if column in runs and column not in by]
    return labels(runs, needed(runs, varying) or seed)


def score_table(runs: pd.DataFrame, metric: str, by: Sequence[str]) -> pd.DataFrame:
    """(n_blocks, n_variants) the metric; its mean where a variant has several runs in a block."""
    groups = [blocks(runs, by).rename("block"), labels(runs, by).rename("variant")]
    table = runs[f"metrics.{metric}"].groupby(groups).mean().unstack("variant")
    return table.loc[sorted(table.index, key=natural)]


def natural(text: str) -> tuple:
    """A key to sort by in which numbers count as numbers: seed=2 before seed=10."""
    parts = re.split(r"(\d+)", text)
    return tuple(int(part) if k % 2 else part for k, part in enumerate(parts))


def best(scores: pd.DataFrame, higher: bool) -> str:
    means = scores.mean()
    return str(means.idxmax() if higher else means.idxmin())


def shares_rows(runs: pd.DataFrame) -> bool:
    """Whether there are several splits of one data set; without a tag all runs are of one."""
    if SPLIT_SEED not in runs:
        return False
    sets = runs[DIGEST] if DIGEST in runs else pd.Series("", runs.index)
    return bool(runs[SPLIT_SEED].groupby(sets).nunique().max() > 1)


def overlap(runs: pd.DataFrame) -> float:
    """Test rows over training rows, if all runs are splits of one data set; else 0.

    See `statistics.student`.
    """
    is_one = DIGEST not in runs or runs[DIGEST].nunique() == 1
    if not (is_one and shares_rows(runs)):
        return 0.0
    columns = [f"{DATA}{key}" for key in ("test_size", "valid_size")]
    if not all(column in runs for column in columns):
        return 0.0
    return overlap_of(*(float(runs[column].astype(float).max()) for column in columns))


def summarise(
    scores: pd.DataFrame, baseline: str, higher: bool, level: float = LEVEL, overlap: float = 0.0
) -> pd.DataFrame:
    """What the seeds say of each variant, and of its difference from the baseline.

    Parameters
    ----------
    scores : (n_blocks, n_variants) as `score_table` gives it
    baseline : the variant from which the others differ
    higher : whether more is better
    level : of the confidence intervals, which are Student's
    overlap : test rows over training rows, if blocks are splits of one data set

    Returns
    -------
    frame with a row a variant, best first: `seeds` (blocks with a number), `mean`, `std`, `low` and
    `high` of the mean; `pairs`, `difference` from the baseline over those, `difference_low`,
    `difference_high`, the `p` of the paired t-test, and `p_holm`, that of all these tests together.
    NaN where there is nothing to tell: spread of less than two numbers, p of differences that do
    not vary.
    """
    tolerance = ROUNDING * float(np.nanmax(np.abs(scores.to_numpy())))
    rows = {}
    for variant, values in scores.items():
        own = student(values.to_numpy(), level, tolerance, overlap)
        gaps = (values - scores[baseline]).to_numpy() if variant != baseline else np.empty(0)
        gap = student(gaps, level, tolerance, overlap)
        rows[variant] = {
            "seeds": own.n,
            "mean": own.mean,
            "std": own.std,
            "low": own.low,
            "high": own.high,
            "pairs": gap.n,
            "difference": gap.mean,
            "difference_low": gap.low,
            "difference_high": gap.high,
            "p": gap.p,
        }
    summary = pd.DataFrame.from_dict(rows, orient="index")
    summary.index.name = "variant"
    summary["p_holm"] = holm(summary["p"].to_numpy())
    return summary.sort_values("mean", ascending=not higher, kind="stable")


def unpaired(scores: pd.DataFrame, baseline: str) -> dict[str, tuple[list[str], list[str]]]:
    """By variant, the blocks that only it and only the baseline has; those that have some."""
    there = scores.notna()
    found = {}
    for variant in scores.columns:
        own = scores.index[there[variant] & ~there[baseline]].tolist()
        other = scores.index[~there[variant] & there[baseline]].tolist()
        if own or other:
            found[str(variant)] = (own, other)
    return found

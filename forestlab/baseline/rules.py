"""How new values are judged.

- In the *same environment* (versions of Python, numpy, numba and scikit-learn, kind of CPU) a value
  has to be equal, to the last bit. The versions of forestlab and of its core are no part of that:
  the same bits from changed code is what a baseline is there to guard.
- In *another environment* rounding may tip a tie. A tree that grows otherwise from there is in the
  worst case a tree of another seed, so the mean over the m seeds of a group may move by

      max(t · √(2/m) · sd, rounding)

  where sd is the standard deviation between the n recorded seeds and t the two-sided 99 % quantile
  of Student's t with n - 1 degrees of freedom, since few seeds tell sd badly. The means of n
  recorded and n other seeds are further apart than that once in a hundred times. For 2, 3, 5 and 10
  seeds it is 63.7, 8.1, 2.9 and 1.5 times sd.
- In another environment, with one recorded seed, nothing is known of the spread. A value that moved
  by more than rounding is then *unjudged*: that is told, and is no drift.

Only what was recorded is compared. A metric that was not logged then does not matter; one that is
no longer logged is *gone*, and that counts as drift.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from forestlab.baseline.groups import Baseline, Group, Logged, key_of, labels, run_label

EXACT = ("version.python", "version.numpy", "version.numba", "version.scikit-learn", "cpu_kind")
TOLD = (*EXACT, "version.forestlab", "core_version", "result_version", "cpu")
CONFIDENCE = 0.99
ROUNDING = 1e-9  # of the value, or of 1 if that is more; sums in another order stay far below


class Row(NamedTuple):
    """One comparison; without a metric it is about a whole run."""

    config: str
    metric: str
    recorded: Any
    new: Any
    allowed: float
    verdict: str  # agrees, drift, gone, unjudged; of runs: no run, failed, added, left out


def whole_run(config: str, verdict: str) -> Row:
    return Row(config, "", None, None, 0.0, verdict)


# ---- the environment ---------------------------------------------------------------------------


def changes(old: dict[str, str], new: dict[str, str], keys: Sequence[str] = EXACT) -> list[str]:
    """What differs, as a person reads it; what is not known of either differs."""
    return [
        _change(key, old.get(key), new.get(key))
        for key in keys
        if key not in old or old[key] != new.get(key)
    ]


def _change(key: str, old: str | None, new: str | None) -> str:
    if key == "cpu_kind" and old and new:
        kinds = [" ".join(kind.split()[:2]) for kind in (old, new)]
        if kinds[0] == kinds[1]:
            units = sorted(set(old.split()) ^ set(new.split()))
            return f"vector units of the CPU: {' '.join(units)}"
        old, new = kinds
    name = "CPU" if key == "cpu_kind" else key.removeprefix("version.")
    return f"{name} {old or 'unknown'} → {new or 'unknown'}"


# ---- values ------------------------------------------------------------------------------------


def compare(
    environment: dict[str, str], group: Group, label: str, found: Sequence[Logged | None]
) -> list[Row]:
    """A row for each recorded value, or for each mean of values from another environment.

    `found` has an item a run of the group: its new values, or None if there are none.
    """
    rows: list[Row] = []
    elsewhere: dict[int, Logged] = {}
    for i, run in enumerate(found):
        if run is None:
            continue
        if changes(environment, run.environment):
            elsewhere[i] = run
        else:
            rows += _exact_rows(group, run_label(group, label, i), i, run)
    return rows + _spread_rows(group, label, elsewhere) if elsewhere else rows


def _exact_rows(group: Group, label: str, i: int, run: Logged) -> list[Row]:
    rows = []
    for metric, values in group.values.items():
        if values[i] is None:
            continue
        new = run.metrics.get(metric)
        verdict = "gone" if new is None else "agrees" if new == values[i] else "drift"
        rows.append(Row(label, metric, values[i], new, 0.0, verdict))
    return rows


def _spread_rows(group: Group, label: str, runs: dict[int, Logged]) -> list[Row]:
    if len(runs) > 1:
        label = f"{label} (mean of {len(runs)} seeds)"
    else:
        label = run_label(group, label, next(iter(runs)))
    rows = []
    for metric, values in group.values.items():
        pairs = [
            (values[i], run.metrics.get(metric)) for i, run in runs.items() if values[i] is not None
        ]
        if not pairs:
            continue
        recorded = float(np.mean([old for old, _ in pairs]))
        if any(new is None for _, new in pairs):
            rows.append(Row(label, metric, recorded, None, 0.0, "gone"))
            continue
        new = float(np.mean([new for _, new in pairs]))
        allowed = allowed_shift([value for value in values if value is not None], len(pairs))
        verdict = judge_shift(recorded, new, allowed)
        rows.append(Row(label, metric, recorded, new, allowed, verdict))
    return rows


def spread(values: Sequence[float]) -> float:
    """The standard deviation between seeds; NaN for one seed."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def allowed_shift(values: Sequence[float], n_compared: int) -> float:
    """How far the mean of `n_compared` seeds may be from the recorded one; NaN: not known."""
    if len(values) < 2:
        return math.nan
    from scipy.special import stdtrit  # quantiles of Student's t

    t = stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)
    return float(t * math.sqrt(2 / n_compared) * spread(values))


def judge_shift(recorded: float, new: float, allowed: float) -> str:
    shift = abs(new - recorded)
    if shift <= ROUNDING * max(1.0, abs(recorded)):
        return "agrees"
    if math.isnan(allowed):
        return "unjudged"
    return "agrees" if shift <= allowed else "drift"


# ---- two baselines -----------------------------------------------------------------------------


def changed(old: Baseline, new: Baseline) -> list[Row]:
    """A row for each value that two baselines have not alike, or for a run that one has not."""
    before, after = _runs_of(old), _runs_of(new)
    rows = []
    for key in dict.fromkeys([*before, *after]):
        if key not in after:
            rows.append(whole_run(before[key][0], "left out"))
        elif key not in before:
            rows.append(whole_run(after[key][0], "added"))
        else:
            label, b = after[key]
            a = before[key][1]
            rows += [
                Row(label, metric, a.get(metric), b.get(metric), 0.0, "changed")
                for metric in dict.fromkeys([*a, *b])
                if a.get(metric) != b.get(metric)
            ]
    return rows


def _runs_of(baseline: Baseline) -> dict[str, tuple[str, dict[str, Any]]]:
    """By config: each run's label and values, the digest of its data among them."""
    found = {}
    for group, label in zip(baseline.groups, labels(baseline.groups), strict=True):
        for i, digest in enumerate(group.digests):
            values: dict[str, Any] = {"data": digest}
            values |= {name: column[i] for name, column in group.values.items()}
            found[key_of(group.config_of(i))] = (run_label(group, label, i), values)
    return found

"""Two runs side by side."""

from typing import NamedTuple

import numpy as np

from forestlab.baseline import runs
from forestlab.baseline.groups import is_time
from forestlab.baseline.tables import number
from forestlab.run.tables import in_columns

UNTOLD = ("mlflow.", "pid", "process", "heartbeat")  # tags that differ between any two runs
TOLD = ("mlflow.source.git.commit",)
LONGEST = 40  # characters of a parameter or a tag


class Parting(NamedTuple):
    """Where two curves go apart."""

    first: int  # step
    largest: float  # difference; NaN if no step has a value of both
    at: int  # its step


def diff(options) -> int:
    """Print what differs; 0 if no metric does, times apart."""
    from forestlab import tracking

    store = tracking.open_existing(runs.settings(options))
    pair = [runs.find_one(store, text) for text in options.runs]
    for letter, run in zip("ab", pair, strict=True):
        print(f"{letter}: {run.info.run_id}  {run.info.run_name}  ({run.info.status.lower()})")
    _show("parameter", different(*(run.data.params for run in pair)))
    _show("tag", different(*(_told(run.data.tags) for run in pair)))
    names = {name for run in pair for name in run.data.metrics}
    curves = {
        name: [tracking.curve(store, run.info.run_id, name) for run in pair]
        for name in sorted(names, key=lambda name: (is_time(name), name))
    }
    print("\n" + "\n".join(curve_lines(curves)))
    print("\nfrom, at: steps where curves part first and most (a depth, or a number of trees)")
    judged = {name: parting(*both) for name, both in curves.items() if not is_time(name)}
    n_differ = sum(apart is not None for apart in judged.values())
    print(f"{n_differ} of {len(judged)} metrics differ, times apart")
    return 1 if n_differ else 0


def _told(tags: dict[str, str]) -> dict[str, str]:
    return {key: tags[key] for key in tags if key in TOLD or not key.startswith(UNTOLD)}


def different(a: dict[str, str], b: dict[str, str]) -> list[tuple[str, str, str]]:
    """(key, of a, of b) where those are not the same."""
    return [
        (key, a.get(key, "–"), b.get(key, "–"))
        for key in sorted({*a, *b})
        if a.get(key) != b.get(key)
    ]


def parting(a: np.ndarray, b: np.ndarray) -> Parting | None:
    """None if two curves, values by step with NaN where there is none, are the same."""
    n_steps = max(len(a), len(b))
    a, b = (np.pad(curve, (0, n_steps - len(curve)), constant_values=np.nan) for curve in (a, b))
    apart = np.flatnonzero((a != b) & ~(np.isnan(a) & np.isnan(b)))
    if not len(apart):
        return None
    shifts = np.abs(b - a)[apart]
    if np.isnan(shifts).all():
        return Parting(int(apart[0]), np.nan, int(apart[0]))
    largest = int(np.nanargmax(shifts))
    return Parting(int(apart[0]), float(shifts[largest]), int(apart[largest]))


def _show(title: str, rows: list[tuple[str, str, str]]) -> None:
    if rows:
        cut = [(key, a[:LONGEST], b[:LONGEST]) for key, a, b in rows]
        print("\n" + "\n".join(in_columns([(title, "a", "b"), *cut], "<<<")))


def curve_lines(curves: dict[str, list[np.ndarray]]) -> list[str]:
    """A table: last values, the first step where curves part, the largest difference, its step."""
    rows = [("metric", "a", "b", "b - a", "from", "largest", "at")]
    for name, (a, b) in curves.items():
        last = [float(curve[-1]) if len(curve) else np.nan for curve in (a, b)]
        apart = parting(a, b)
        shift = number(last[1] - last[0], signed=True) if apart else ""
        steps = ("", "", "")
        if apart and max(len(a), len(b)) > 1:
            steps = (str(apart.first), f"{apart.largest:.3g}", str(apart.at))
        rows.append((name, number(last[0]), number(last[1]), shift, *steps))
    return in_columns(rows, "<>>>>>>")

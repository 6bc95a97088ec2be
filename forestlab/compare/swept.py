"""The main metric of a sweep's runs against what was swept: as a table and as pictures.

What was *swept* is what differs among the runs and does not follow from the rest, seeds apart; over
these there are means and standard deviations. A *cell* is a combination of values of these keys.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from forestlab.compare import variants
from forestlab.compare.tables import Table, compare
from forestlab.compare.variants import PARAM
from forestlab.config import ConfigError, typed
from forestlab.study.metrics import METRICS
from forestlab.study.shown import Shown, shown

SPLITS = ("train", "valid", "test", "oob")
JUDGES = ("valid", "oob", "test")  # the first that there is chooses
MOST_LINES, MOST_PANELS = 8, 4  # in a panel, in a picture
LOGARITHMIC = 30  # times the least: then numbers are spaced by their logarithms

Values = tuple[Any, ...]  # one for each key


class Score(NamedTuple):
    """Of the runs of a cell that have a number."""

    mean: float
    spread: float  # standard deviation; NaN of one
    n: int


class Sweep(NamedTuple):
    """One data set's part of a sweep."""

    table: Table
    metric: str  # the task's main one
    keys: list[str]  # numbers first, of these the one of most values
    cells: dict[Values, dict[str, Score]]  # by split
    members: dict[Values, list]  # the runs of each cell, by their index in the table's

    @property
    def splits(self) -> list[str]:
        there = {split for scores in self.cells.values() for split in scores}
        return [split for split in SPLITS if split in there]

    @property
    def judge(self) -> str:
        """The split that chooses: test rows do so only if there are no others."""
        return next(split for split in JUDGES if split in self.splits)

    @property
    def shown(self) -> str:
        """The split that is shown where one alone is."""
        return "test" if "test" in self.splits else self.judge

    @property
    def drawn(self) -> Shown:
        """How the metric is drawn: as in the pictures of the runs."""
        return shown(self.metric)

    def values(self, k: int) -> list:
        """Those of the k-th key, in their order."""
        return sorted({cell[k] for cell in self.cells}, key=rank)

    def best(self) -> pd.Series:
        """Of the cell that is best on the split that chooses, the best run."""
        sign = 1.0 if METRICS[self.metric].higher_is_better else -1.0
        judged = {
            cell: own[self.judge].mean for cell, own in self.cells.items() if self.judge in own
        }
        cell = max(judged, key=lambda cell: sign * judged[cell])
        runs = self.table.runs.loc[self.members[cell]]
        scores = sign * runs[f"metrics.{self.metric}/{self.judge}"].astype(float)
        return runs.loc[scores.idxmax()]


# ---- reading -----------------------------------------------------------------------------------


def sweeps_of(runs: pd.DataFrame) -> list[Sweep]:
    """One for each data set, of runs as `variants.as_frame` has them; none without test scores."""
    if runs.empty:
        return []
    try:
        return [_sweep(table) for table in compare(runs)]
    except ConfigError:
        return []


def _sweep(table: Table) -> Sweep:
    runs, metric = table.runs, table.metric.split("/")[0]
    columns = variants.needed(runs, variants.differing(runs))
    # Lists, as in a column numbers would be numpy's, and None among them NaN.
    keys = {column.removeprefix(PARAM): list(map(_value, runs[column])) for column in columns}
    order = sorted(keys, key=lambda key: (not is_numeric(keys[key]), -len(set(keys[key]))))
    members: dict[Values, list] = {}
    for place, index in enumerate(runs.index):
        members.setdefault(tuple(keys[key][place] for key in order), []).append(index)
    cells = {cell: _scores(runs.loc[of], metric) for cell, of in members.items()}
    ordered = sorted(cells, key=lambda cell: [rank(value) for value in cell])
    return Sweep(table, metric, order, {cell: cells[cell] for cell in ordered}, members)


def _scores(runs: pd.DataFrame, metric: str) -> dict[str, Score]:
    found = {}
    for split in SPLITS:
        known = runs.get(f"metrics.{metric}/{split}", pd.Series(dtype=float)).dropna()
        if len(known):
            found[split] = Score(float(known.mean()), float(known.std(ddof=1)), len(known))
    return found


def _value(text: Any) -> Any:
    """A parameter from its text; lists and dicts as they are written."""
    value = typed(text) if isinstance(text, str) else None
    return value if isinstance(value, int | float | str) else None if value is None else text


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_numeric(values: Sequence) -> bool:
    """Several numbers, of which None may be one: max_depth=null is deeper than any."""
    known = {value for value in values if value is not None}
    return len(known) > 1 and all(map(_is_number, known))


def rank(value: Any) -> tuple:
    """A key to sort by: numbers by their size, then words, then None."""
    if _is_number(value):
        return 0, value, ""
    return (2, 0, "") if value is None else (1, 0, str(value))


def as_table(sweep: Sweep) -> pd.DataFrame:
    """A row a cell: its values, how many runs, and of each split mean and standard deviation."""
    rows = []
    for cell, scores in sweep.cells.items():
        row = dict(zip(sweep.keys, cell, strict=True)) | {"runs": max(s.n for s in scores.values())}
        for split, score in scores.items():
            row |= {
                f"{sweep.metric}/{split}": score.mean,
                f"{sweep.metric}/{split}_sd": score.spread,
            }
        rows.append(row)
    return pd.DataFrame(rows)


# ---- drawing -----------------------------------------------------------------------------------


def picture(sweep: Sweep):
    """The metric against what was swept, as a figure; None if nothing was but seeds.

    One key: all splits; two: a line for each value of the second, or a map; more: a panel for each
    combination of the others. Of too many combinations each is a point by its name.
    """
    if not sweep.keys:
        return None
    n_values = [len(sweep.values(k)) for k in range(len(sweep.keys))]
    if len(sweep.keys) == 1:
        return _over_one(sweep)
    if len(sweep.keys) == 2 and (n_values[1] > MOST_LINES or _axis(sweep, 1).is_joined):
        return _map(sweep)
    n_panels = len({cell[2:] for cell in sweep.cells})
    if n_values[1] <= MOST_LINES and n_panels <= MOST_PANELS:
        return _multiples(sweep)
    return _over_one(_flattened(sweep))


def _over_one(sweep: Sweep):
    from forestlab import figures  # late: matplotlib

    x = _axis(sweep, 0)
    lines = {
        split: _line(sweep, [sweep.cells[(value,)].get(split) for value in sweep.values(0)])
        for split in sweep.splits
    }
    return figures.swept_lines({"": lines}, x, sweep.drawn.label, _title(sweep), _note(sweep))


def _multiples(sweep: Sweep):
    from forestlab import figures

    panels: dict[str, dict] = {}
    for rest in dict.fromkeys(cell[2:] for cell in sweep.cells):
        name = _words(sweep.keys[2:], rest)
        panels[name] = {
            _words(sweep.keys[1:2], (second,)): _line(
                sweep, [_at(sweep, (first, second, *rest)) for first in sweep.values(0)]
            )
            for second in sweep.values(1)
        }
    label = f"{sweep.drawn.label}, {sweep.shown}"
    return figures.swept_lines(panels, _axis(sweep, 0), label, _title(sweep), _note(sweep))


def _map(sweep: Sweep):
    from forestlab import figures

    scores = [
        [_at(sweep, (first, second)) for first in sweep.values(0)] for second in sweep.values(1)
    ]
    means = np.array([[np.nan if s is None else s.mean for s in row] for row in scores])
    label = f"{sweep.drawn.label}, {sweep.shown}"
    note = ", mean over seeds" if _note(sweep) else ""
    axes, drawn = (_axis(sweep, 0), _axis(sweep, 1)), sweep.drawn
    return figures.swept_map(drawn.of(means), *axes, label, _title(sweep), drawn.better, note)


def _at(sweep: Sweep, cell: Values) -> Score | None:
    return sweep.cells.get(cell, {}).get(sweep.shown)


def _line(sweep: Sweep, scores: list[Score | None]):
    from forestlab.figures import Measured

    known = [(np.nan, np.nan) if s is None else (s.mean, s.spread) for s in scores]
    means, spreads = np.array(known).T
    return Measured(sweep.drawn.of(means), spreads)


def _axis(sweep: Sweep, k: int):
    """Numbers where they are, or by their logarithms; words, and numbers with None, in a row."""
    from forestlab.figures import Swept

    values = sweep.values(k)
    name, labels = sweep.keys[k].removesuffix(".name"), [str(value) for value in values]
    if not is_numeric(values):
        return Swept(name, labels, np.arange(float(len(values))), False)
    if None in values:
        return Swept(name, labels, np.arange(float(len(values))), True)
    places = np.array(values, float)
    if places[0] > 0 and places[-1] >= LOGARITHMIC * places[0]:
        places = np.log10(places)
    return Swept(name, labels, places, True)


def _flattened(sweep: Sweep) -> Sweep:
    """All keys as one, of which a value is a variant's name; the best of them."""
    named = {
        _words(sweep.keys, cell): scores
        for cell, scores in sweep.cells.items()
        if sweep.shown in scores
    }
    sign = -1.0 if METRICS[sweep.metric].higher_is_better else 1.0
    order = sorted(named, key=lambda name: sign * named[name][sweep.shown].mean)
    return sweep._replace(keys=["variant"], cells={(name,): named[name] for name in order[:24]})


def _words(keys: Sequence[str], values: Values) -> str:
    pairs = zip(keys, values, strict=True)
    return " ".join(variants.word(f"{key}={value}") for key, value in pairs)


def _title(sweep: Sweep) -> str:
    keys = [key.removesuffix(".name") for key in sweep.keys]
    return f"{sweep.drawn.title} against {' and '.join(keys)}, {sweep.table.dataset}"


def _note(sweep: Sweep) -> str:
    n = max(score.n for scores in sweep.cells.values() for score in scores.values())
    return f"means of up to {n} seeds, bars ± 1 standard deviation" if n > 1 else ""

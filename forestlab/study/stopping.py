"""Every way to stop: each metric along the path of every stopping rule, beside depth.

A rule decides whether a node asks its question, never which: a forest holds all of those that a
stricter value of it would have grown, and the walk of a row that passes the answers of all depths
passes those at every value of all rules too (see core.running). A number at a value is, to the bit,
that of a fit with it.
Out of values of one rule the one that is best on validation rows, or else out of bag, is chosen, as
for depth; so it can be told which way to stop is best here. A density has other walks, and no
targets: it is not studied so.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.tasks import TASKS
from forestlab.forest import Path
from forestlab.study.metrics import METRICS
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single
from forestlab.study.shown import shown

# Rules, and how their parameter is called.
RULES = {
    "depth": "max_depth",
    "leaves": "max_leaf_nodes",
    "split_size": "min_samples_split",
    "gain": "min_impurity_decrease",
    "alpha": "ccp_alpha",
}

Scores = Mapping[str, Mapping[str, np.ndarray]]  # by split and metric, (G,)


class Way(NamedTuple):
    """A way to stop: G values of a rule, from the strictest to the loosest."""

    values: np.ndarray  # (G,)
    n_leaves: np.ndarray  # (G,) of a tree, on the average
    scores: Scores
    place: int | None  # of the value that is chosen
    judge: str  # the split that chose it

    @property
    def is_whole(self) -> bool:
        return np.issubdtype(self.values.dtype, np.integer)

    @property
    def steps(self) -> list[int]:
        """The values, or else their places."""
        return self.values.tolist() if self.is_whole else list(range(len(self.values)))


# ---- finding -----------------------------------------------------------------------------------


def _find(look: Look) -> dict[str, Way]:
    """By the rules' names, depth first."""
    rules = [rule for rule in look.paths if rule != "depth"]
    ends = np.cumsum([0, *(len(look.paths[rule].values) for rule in rules)])
    ways = {"depth": _by_depth(look)}
    for rule, (first, end) in zip(rules, pairwise(ends), strict=True):
        ways[rule] = _by_rule(look, look.paths[rule], slice(first, end))
    return {rule: ways[rule] for rule in RULES if rule in ways}


def _by_depth(look: Look) -> Way:
    """Depth 0, which no `max_depth` asks for, is the bare root."""
    n_leaves = np.append(1.0, look.paths["depth"].leaves)
    scores = {
        split: {metric: values[-1] for metric, values in surface.values.items()}
        for split, surface in look.surfaces.items()
    }
    chosen = look.found.get("chosen")
    place, judge = (None, "") if chosen is None else (chosen.depth, chosen.split)
    return Way(np.arange(look.n_depths), n_leaves, scores, place, judge)


def _by_rule(look: Look, path: Path, own: slice) -> Way:
    """Its own stops are some of those at which the surfaces tell how good the forest is."""
    scores = {
        split: {metric: values[own] for metric, values in surface.along.items()}
        for split, surface in look.surfaces.items()
    }
    main = TASKS[look.grown.task].main
    curves = {split: of_split[main] for split, of_split in scores.items()}
    chosen = best_of(curves, METRICS[main].higher_is_better)
    return Way(path.values, path.leaves, scores, *chosen)


def best_of(curves: Mapping[str, np.ndarray], higher_is_better: bool) -> tuple[int | None, str]:
    """The place of the strictest of the values that are best on validation, or else out of bag,
    and which of them it was; None if neither can tell. `curves` are the main metric's by split."""
    for split in ("valid", "oob"):
        goodness = curves.get(split, np.empty(0)) * (1.0 if higher_is_better else -1.0)
        if not np.isnan(goodness).all():
            return int(np.nanargmax(goodness)), split
    return None, ""


# ---- telling -----------------------------------------------------------------------------------


def _numbers(found: dict[str, Way], findings: Findings) -> Iterator[Number]:
    for rule, way in found.items():
        if rule != "depth":
            yield from _of_way(f"by_{rule}", way)


def _of_way(rule: str, way: Way) -> Iterator[Number]:
    curves = {"n_leaves": way.n_leaves} | ({} if way.is_whole else {"value": way.values})
    for split, scores in way.scores.items():
        curves |= {f"{metric}/{split}": values for metric, values in scores.items()}
    for name, values in curves.items():
        for value, step in zip(values, way.steps, strict=True):
            yield Number(f"{rule}/{name}", float(value), step)
    if (place := way.place) is not None:
        yield single(f"{rule}_chosen", float(way.values[place]))
        yield single(f"{rule}_n_leaves_chosen", float(way.n_leaves[place]))
        for metric, values in way.scores.get("test", {}).items():
            yield single(f"{rule}_{metric}_test_chosen", float(values[place]))


def _table(found: dict[str, Way], findings: Findings, about: About) -> Files:
    """A row for each value of each rule, with every metric of every split."""
    import pandas as pd

    parts = []
    for rule, way in found.items():
        cells: dict[str, Any] = {"rule": RULES[rule], "value": way.values.astype(float)}
        cells |= {"n_leaves": way.n_leaves, "chosen_on": "-"}
        for split, scores in way.scores.items():
            cells |= {f"{metric}_{split}": values for metric, values in scores.items()}
        frame = pd.DataFrame(cells)
        if way.place is not None:
            frame.loc[way.place, "chosen_on"] = way.judge
        parts.append(frame)
    yield "stopping.csv", pd.concat(parts, ignore_index=True)


def _picture(found: dict[str, Way], findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    main, how = findings.main, shown(findings.main)
    splits = found["depth"].scores
    split = next(name for name in ("test", "valid", "oob", "train") if name in splits)
    lines = {
        RULES[rule]: _line(way, how.of(way.scores[split][main]), figures.StoppingLine)
        for rule, way in found.items()
    }
    judge = found["depth"].judge
    title = about.titled(f"{how.title} by size of the trees, {figures.SPLIT_ROWS[split]}")
    yield "stopping.png", figures.stopping_curves(lines, how.label, title, judge)


def _line(way: Way, values: np.ndarray, make: Callable) -> Any:
    """From two leaves on: the bare root would leave no room for the rest."""
    some = way.n_leaves > 1.0
    place = None if way.place is None or not some[way.place] else int(some[: way.place].sum())
    return make(way.n_leaves[some], values[some], way.values[some], place)


PART = Part(
    level="full",
    targets="both",
    applies=lambda look: look.n_depths > 2 and look.grown.is_whole,  # stumps have but one way
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "by_RULE/METRIC/SPLIT": "of all trees over the path of a stopping rule: leaves, split_size "
        "(step: the value), gain, alpha (step: the place, strictest first)",
        "by_RULE/value": "the rule's value, where it is no whole number",
        "by_RULE/n_leaves": "of a tree with that value, on the average",
        "summary/by_RULE_chosen": "the strictest of the best values on valid, or else out of bag",
        "summary/by_RULE_n_leaves_chosen": "with that value",
        "summary/by_RULE_METRIC_test_chosen": "with that value",
    },
    files={
        "stopping.csv": "every metric at every value of every stopping rule, and of depth",
        "stopping.png": "the main one, against the number of leaves",
    },
    neutral=tuple(
        name for rule in RULES for name in (f"by_{rule}/value", f"summary/by_{rule}_chosen")
    ),
)

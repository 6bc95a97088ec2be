"""What is recorded: runs, grouped with those that differ from them in seeds alone."""

import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from forestlab.config import SEEDS
from forestlab.study.metrics import METRICS

USUAL = (
    *(f"{metric}/*" for metric in METRICS),
    "by_trees/*",
    "summary/chosen_*",
    "summary/trees_*",
)
TIMES = ("summary/seconds_*",)  # never recorded: they differ from run to run


class Logged(NamedTuple):
    """What a baseline needs of a finished run."""

    name: str
    config: dict[str, Any]  # by dotted key: what is not the default, and all of SEEDS
    environment: dict[str, str]
    digest: str  # of the data
    metrics: dict[str, float]  # last values


class Group(NamedTuple):
    """Runs of one config with different seeds; each list has an item a run."""

    config: dict[str, Any]  # without SEEDS
    seeds: list[dict[str, int]]
    digests: list[str]
    values: dict[str, list[float | None]]  # by metric; None where a run did not log it

    def config_of(self, i: int) -> dict[str, Any]:
        """The config of the i-th run."""
        return self.config | self.seeds[i]


class Baseline(NamedTuple):
    environment: dict[str, str]
    patterns: list[str]  # of the metrics that were asked for
    groups: list[Group]


# ---- making ------------------------------------------------------------------------------------


def select(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """The metrics that match a pattern and are no times."""
    return sorted(name for name in names if _matches(name, patterns) and not is_time(name))


def is_time(name: str) -> bool:
    return _matches(name, TIMES)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def key_of(config: dict[str, Any]) -> str:
    return json.dumps(config, sort_keys=True)


def newest(runs: list[Logged]) -> list[Logged]:
    """Of runs with the same config the first; runs come newest first."""
    found: dict[str, Logged] = {}
    for run in runs:
        found.setdefault(key_of(run.config), run)
    return list(found.values())


def grouped(runs: list[Logged], patterns: Sequence[str]) -> list[Group]:
    """Runs that differ in their seeds alone together, in an order that is not that of the runs."""
    together: dict[str, list[Logged]] = {}
    for run in runs:
        rest = {key: value for key, value in run.config.items() if key not in SEEDS}
        together.setdefault(key_of(rest), []).append(run)
    groups = [_group(json.loads(key), members, patterns) for key, members in together.items()]
    return sorted(groups, key=lambda group: (_title(group), key_of(group.config)))


def _group(config: dict[str, Any], runs: list[Logged], patterns: Sequence[str]) -> Group:
    runs = sorted(runs, key=lambda run: [run.config[key] for key in SEEDS])
    names = select({name for run in runs for name in run.metrics}, patterns)
    return Group(
        config,
        [{key: run.config[key] for key in SEEDS} for run in runs],
        [run.digest for run in runs],
        {name: [run.metrics.get(name) for run in runs] for name in names},
    )


# ---- naming ------------------------------------------------------------------------------------


def _title(group: Group) -> tuple[str, str]:
    return group.config["dataset.name"], group.config["model.name"]


def labels(groups: list[Group]) -> list[str]:
    """Model, data set, and what tells a group from others of that model and data set."""
    found = []
    for group in groups:
        alike = [other.config for other in groups if _title(other) == _title(group)]
        own = [
            f"{key}={value}"
            for key, value in group.config.items()
            if any(json.dumps(other.get(key)) != json.dumps(value) for other in alike)  # 1, not 1.0
        ]
        dataset, model = _title(group)
        found.append(" ".join([model, dataset, *own]))
    return found


def run_label(group: Group, label: str, i: int) -> str:
    """A group's label and the seeds of its i-th run, as far as they vary."""
    own = [
        f"{key}={value}"
        for key, value in group.seeds[i].items()
        if any(other[key] != value for other in group.seeds)
    ]
    return " ".join([label, *own])

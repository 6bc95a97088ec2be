"""Checking: the runs of a baseline's configs, found or made, against what was recorded."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Any, NamedTuple

from forestlab import config as configs
from forestlab.baseline import file, rules, runs, tables
from forestlab.baseline.groups import Baseline, Logged, labels, run_label
from forestlab.baseline.rules import Row, whole_run
from forestlab.config import ConfigError, TrackingConfig
from forestlab.run import plugins
from forestlab.run.batch import Batch, run_jobs, sigterm_ends
from forestlab.spelling import did_you_mean, most_like

LAUNCHER = ("hydra/launcher=", "hydra.launcher.")  # begin words that say who does the runs


class Place(NamedTuple):
    """Where runs are looked for and logged."""

    store: Any
    tracking: TrackingConfig
    shared: Any = None  # run.shared.Shared, unless nothing is to be run
    launcher: Namespace | None = None  # that has the runs in other processes


class Wanted(NamedTuple):
    """A recorded run, to be found or made."""

    label: str
    config: dict[str, Any]
    digest: str  # of the data


class Checked(NamedTuple):
    """What a check of one baseline came to."""

    rows: list[Row]
    n_runs: int  # that were compared
    changes: list[str]  # of the environment


def check(options) -> int:
    """Check each baseline that was named, or all."""
    from forestlab.run.launching import options_of_launcher

    words = [name for name in options.names if name.lstrip("+").startswith(LAUNCHER)]
    options.names = [name for name in options.names if name not in words]
    baselines = {path.stem: file.load(path) for path in _paths(options)}
    launcher = options_of_launcher(words) if words else None
    place = _place(options)._replace(launcher=launcher)
    with sigterm_ends():
        outcomes = {name: _check(name, old, place, options.run) for name, old in baselines.items()}
    for name, outcome in outcomes.items():
        rows = [row for row in outcome.rows if row.verdict != "agrees"]
        tables.show(name, rows, options.all)
    for name, outcome in outcomes.items():
        _tell(name, outcome)
    verdicts = {row.verdict for outcome in outcomes.values() for row in outcome.rows}
    if verdicts <= {"no run"}:
        raise ConfigError("there is nothing to compare: no recorded config has a run.")
    return 1 if verdicts - {"agrees", "unjudged"} else 0


def _paths(options) -> list[Path]:
    there = {path.stem: path for path in sorted(options.folder.glob("*.json"))}
    if not there:
        raise ConfigError(f"there are no baselines in {options.folder}: `record` makes them.")
    for name in options.names:
        if name not in there:
            hint = did_you_mean(most_like(name, there), f"choose {', '.join(there)}.")
            raise ConfigError(f"there is no baseline {name!r} in {options.folder}: {hint}")
    return [there[name] for name in options.names or there]


def _place(options) -> Place:
    settings = runs.settings(options)
    if options.run == "never":
        from forestlab import tracking

        return Place(tracking.open_existing(settings), settings)
    from forestlab.run.shared import Shared

    if settings.uri is None:
        configs.require_home()
    shared = Shared()
    return Place(shared.store(settings), settings, shared)


def _check(name: str, baseline: Baseline, place: Place, mode: str) -> Checked:
    """Find or make the runs of a baseline, and compare."""
    names = labels(baseline.groups)
    wanted = [
        [
            Wanted(run_label(group, label, i), group.config_of(i), digest)
            for i, digest in enumerate(group.digests)
        ]
        for group, label in zip(baseline.groups, names, strict=True)
    ]
    every = [run for group in wanted for run in group]
    for run in every:
        plugins.load(run.config.get("plugins", ()), os.getcwd())
    found: dict[str, Logged] = {}
    if mode != "always":
        found = {run.label: there for run in every if (there := _find(place.store, run, mode))}
    todo = [run for run in every if run.label not in found]
    rows = [whole_run(run.label, "no run") for run in todo]
    if todo and mode != "never":
        made, rows = _run_all(name, todo, place)
        found |= made
    changes: dict[str, None] = {}
    for group, label, its_runs in zip(baseline.groups, names, wanted, strict=True):
        new = [found.get(run.label) for run in its_runs]
        rows += rules.compare(baseline.environment, group, label, new)
        for there in new:
            if there is not None:
                changes |= dict.fromkeys(rules.changes(baseline.environment, there.environment))
    return Checked(rows, len(found), list(changes))


def _find(store, wanted: Wanted, mode: str) -> Logged | None:
    """The newest run of a recorded config by the code as it is now.

    It has to be of this environment too, if it could be run anew here: a run from before an update
    of numpy says nothing about the new numpy.
    """
    from forestlab import tracking
    from forestlab.run import job
    from forestlab.tracking import provenance

    here, config = provenance.versions(), runs.config_of(wanted.config)
    tags = job.identity(config, wanted.digest)
    if mode != "never":
        tags |= {key: here[key] for key in rules.EXACT}
    run = tracking.find_finished(store, config, tags)
    return runs.logged(run, wanted.config) if run else None


# ---- running -----------------------------------------------------------------------------------


def _run_all(name: str, todo: list[Wanted], place: Place) -> tuple[dict[str, Logged], list[Row]]:
    """Run configs, as children of one run; what they logged, and rows for those that could not."""
    from forestlab.run.launching import launch
    from forestlab.run.sweep import Parent

    first = runs.config_of(todo[0].config, place.tracking)
    parent = Parent(place.shared, first, f"check {name}", len(todo), compares=False)
    batch = Batch(place.shared, parent, len(todo))
    rows: dict[str, Row] = {}

    def start() -> None:
        given = []
        for wanted in todo:
            config = runs.config_of(wanted.config, place.tracking)
            row = _other_data(wanted, config, place.shared.shelf)
            if row is not None:
                rows[wanted.label] = row
                batch.refuse(wanted.label)
            elif place.launcher is None:
                batch.do(config, wanted.label)
            else:
                given.append((config, wanted.label))
        if given and place.launcher is not None:
            launch(batch, place.launcher, [[]] * len(given), given)

    run_jobs(batch, start)
    made: dict[str, Logged] = {}
    results = {result.name: result for result in batch.results}
    for wanted in todo:
        result = results.get(wanted.label)
        if result is None or result.run_id is None:
            rows.setdefault(wanted.label, whole_run(wanted.label, "failed"))
        else:
            run = place.store.client.get_run(result.run_id)
            made[wanted.label] = runs.logged(run, wanted.config)
    return made, list(rows.values())


def _other_data(wanted: Wanted, config, shelf) -> Row | None:
    """That a config is about other data now; what cannot be loaded fails as a job, and is told."""
    try:
        digest = shelf.data(config).digest
    except Exception:
        return None
    if digest == wanted.digest:
        return None
    return Row(wanted.label, "data", wanted.digest, digest, 0.0, "drift")


def _tell(name: str, outcome: Checked) -> None:
    """How many agree, and how they were judged."""
    verdicts = [row.verdict for row in outcome.rows]
    n_agree, n_values = verdicts.count("agrees"), sum(bool(row.metric) for row in outcome.rows)
    count = str(n_agree) if n_agree == n_values else f"{n_agree} of {n_values}"
    others = [word for word in dict.fromkeys(verdicts) if word != "agrees"]
    more = "".join(f", {word}: {verdicts.count(word)}" for word in others)
    print(f"{name}: {count} metrics of {outcome.n_runs} runs agree{more}")
    if outcome.changes:
        print(f"{name}: judged by the spread between seeds, not exactly, because of")
        for change in outcome.changes:
            print(f"    {change}")
    if "unjudged" in verdicts:
        print(f"{name}: unjudged is what was recorded with one seed: its spread is not known")

"""Checking: the runs of a baseline's configs, found or made, against what was recorded."""

from pathlib import Path
from typing import Any, NamedTuple

from forestlab import config as configs
from forestlab.baseline import file, rules, runs, tables
from forestlab.baseline.groups import Baseline, Logged, labels, run_label
from forestlab.baseline.rules import Row, whole_run
from forestlab.config import ConfigError, TrackingConfig
from forestlab.run import terminal
from forestlab.spelling import did_you_mean, most_like


class Place(NamedTuple):
    """Where runs are looked for and logged."""

    store: Any
    tracking: TrackingConfig


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
    baselines = {path.stem: file.load(path) for path in _paths(options)}
    place = _place(options)
    with configs.sigterm_ends():
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
    from forestlab import tracking
    from forestlab.run import job

    settings = runs.settings(options)
    if options.run == "never":
        return Place(tracking.open_existing(settings), settings)
    if settings.uri is None:
        configs.require_home()
    return Place(job.open_store(runs.config_of({}, settings)), settings)


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
    from forestlab.tracking import provenance

    here, config = provenance.versions(), runs.config_of(wanted.config)
    tags = {
        "config_hash": configs.fingerprint(config),
        "dataset_digest": wanted.digest,
        "result_version": here["result_version"],
    }
    if mode != "never":
        tags |= {key: here[key] for key in rules.EXACT}
    run = tracking.find_finished(store, config, tags)
    return runs.logged(run, wanted.config) if run else None


# ---- running -----------------------------------------------------------------------------------


def _run_all(name: str, todo: list[Wanted], place: Place) -> tuple[dict[str, Logged], list[Row]]:
    """Run configs, as children of one run; what they logged, and rows for those that could not."""
    from forestlab import tracking
    from forestlab.run import sweep

    terminal.show_warnings()
    terminal.expect(len(todo))
    first = runs.config_of(todo[0].config, place.tracking)
    parent = sweep.Parent(first, f"check {name}", len(todo))
    made: dict[str, Logged] = {}
    rows: list[Row] = []
    status = "KILLED"
    try:
        for n_done, wanted in enumerate(todo):
            terminal.started(wanted.label, n_done)
            try:
                done = _run(wanted, place, parent)
            except Exception as error:
                terminal.failed(wanted.label, error)
                done = whole_run(wanted.label, "failed")
            if isinstance(done, Row):
                rows.append(done)
            else:
                made[wanted.label] = done
        status = "FAILED" if rows else "FINISHED"
    finally:
        if parent.is_open:
            tracking.finish(parent.store, parent.run_id, status)
    return made, rows


def _run(wanted: Wanted, place: Place, parent) -> Logged | Row:
    """Run one recorded config, unless it is about other data now."""
    from forestlab.run import job

    config = runs.config_of(wanted.config, place.tracking)
    digest = job.prepare(config).digest
    if digest != wanted.digest:
        return Row(wanted.label, "data", wanted.digest, digest, 0.0, "drift")
    result = job.run(config, wanted.label, lambda: parent.run_id, show=terminal.is_terminal())
    terminal.done(result)
    return runs.logged(place.store.client.get_run(result.run_id), wanted.config)


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

"""Recording: finished runs → a baseline's file."""

from pathlib import Path

from forestlab import config as configs
from forestlab.baseline import file, rules, runs, tables
from forestlab.baseline.groups import (
    USUAL,
    Baseline,
    Logged,
    grouped,
    labels,
    newest,
    run_label,
)
from forestlab.config import ConfigError


def record(options) -> int:
    """Record each baseline that was named."""
    from forestlab import tracking

    is_search = options.query is not None or options.parent is not None
    paths = [options.folder / f"{name}.json" for name in options.names]
    if is_search and len(paths) > 1:
        raise ConfigError("--query and --parent go with one name.")
    for path in paths:
        if path.exists() and not options.update:
            raise ConfigError(f"{path} is there already: add --update to record it anew.")
        if not path.exists() and not is_search:
            raise ConfigError(f"{path} is not there: say with --query or --parent which runs.")
    store = tracking.open_existing(runs.settings(options))
    for path in paths:
        old = file.load(path) if path.exists() else None
        if is_search or old is None:
            found = _searched(store, options)
        else:
            found = _again(store, path.stem, old)
        new = make(found, _patterns(options, old))
        file.save(new, path)
        _tell(path, old, new, options.all)
    return 0


def _patterns(options, old: Baseline | None) -> list[str]:
    if options.metrics:
        return [pattern.strip() for pattern in options.metrics.split(",")]
    return old.patterns if old else list(USUAL)


def _searched(store, options) -> list[Logged]:
    """The finished runs that were asked for, newest first."""
    from forestlab import tracking

    wanted = ["attributes.status = 'FINISHED'", "tags.config_hash LIKE '%'"]
    if options.query:
        wanted.append(options.query)
    if options.parent:
        parent = runs.find_one(store, options.parent).info.run_id
        wanted.append(f"tags.`{tracking.PARENT}` = '{parent}'")
    found = [runs.logged(run) for run in tracking.search(store, " and ".join(wanted))]
    if not found:
        raise ConfigError("no finished run matches.")
    return found


def _again(store, name: str, old: Baseline) -> list[Logged]:
    """The newest finished run of each config of a baseline."""
    from forestlab import tracking

    found = []
    for group, label in zip(old.groups, labels(old.groups), strict=True):
        for i in range(len(group.seeds)):
            config = runs.config_of(group.config_of(i))
            tags = {"config_hash": configs.fingerprint(config)}
            # What is a file's name to a hash, two data sets may share.
            own = {key: group.config[key] for key in ("dataset.path",) if key in group.config}
            run = tracking.find_finished(store, config, tags, own)
            if run is None:
                shown = run_label(group, label, i)
                raise ConfigError(f"no run of {shown!r} is logged: `check {name}` makes it.")
            found.append(runs.logged(run))
    return found


def make(found: list[Logged], patterns: list[str]) -> Baseline:
    """A baseline of runs, newest first, that the same code made in the same environment."""
    found = newest(found)
    first = found[0]
    for run in found:
        different = rules.changes(
            first.environment, run.environment, (*rules.EXACT, "result_version")
        )
        if different:
            raise ConfigError(
                f"the runs {first.name!r} and {run.name!r} were not made alike "
                f"({', '.join(different)}): run them again, or narrow --query."
            )
    groups = grouped(found, patterns)
    if not any(group.values for group in groups):
        raise ConfigError(f"no metric matches {','.join(patterns)}.")
    return Baseline(first.environment, patterns, groups)


def _tell(path: Path, old: Baseline | None, new: Baseline, everything: bool) -> None:
    from forestlab.tracking import provenance

    name = path.stem
    if old is not None:
        rows = rules.changed(old, new)
        tables.show(name, rows, everything)
        if not rows:
            print(f"{name}: no value changed")
        for change in rules.changes(old.environment, new.environment, rules.TOLD):
            print(f"{name}: {change}")
    if new.environment.get("result_version") != provenance.result_version():
        print(f"{name}: these runs were not made by the code as it is now")
    n_runs = sum(len(group.seeds) for group in new.groups)
    n_values = sum(len(group.seeds) * len(group.values) for group in new.groups)
    print(f"{name}: {n_values} metrics of {n_runs} runs recorded in {path}")

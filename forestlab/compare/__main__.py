"""`python -m forestlab.compare`: compare logged runs over the seeds that they share.

    python -m forestlab.compare "dataset = digits and model in (tree, forest)"
    python -m forestlab.compare "parent = 'model=tree,forest seed=0,1,2'" --html trees.html
    python -m forestlab.compare "task = regression and seed < 5" --by model.name --metric r2/test

A query finds runs (query.py), their parameters make variants of them, and the variants are compared
pair by pair of equal seeds (variants.py, tables.py), which is then told (report.py).
Nothing is written but the files that are asked for. The exit code is 1 if no run is found, 2 for a
mistake.
"""

if __name__ == "__main__":  # before the rest is imported: see there
    from forestlab import entry

    entry.begin()

import argparse
import os
import sys
from pathlib import Path

import pandas as pd

from forestlab.compare import page, query, variants
from forestlab.compare.report import CSV_MARK, csv, report, text
from forestlab.compare.statistics import LEVEL
from forestlab.compare.tables import compare
from forestlab.config import ConfigError, TrackingConfig
from forestlab.run import plugins


class NothingFound(LookupError):
    """No run is there, in one sentence."""


# ---- the command line --------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        _main(options)
    except NothingFound as error:
        print(error, file=sys.stderr)
        return 1
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m forestlab.compare",
        description="Compare logged runs over the seeds that they share.",
        epilog="""queries, in MLflow's filter syntax or shorter:
  "model = forest and dataset.name = 'digits' and seed < 3"
  "params.`model.name` = 'forest' and metrics.`accuracy/test` > 0.9"
  "parent = 'NAME'"   (the runs of a sweep, by its name or id, or the beginning of either)""",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    helps = {
        "--metric": "by default the task's main one: accuracy/test or rmse/test",
        "--by KEY[,KEY]": "the parameters that make a variant; by default those that differ among "
        "the runs, seeds apart",
        "--baseline VARIANT": "the variant from which the others differ; by default the best",
        "--html FILE": "write a report with pictures",
        "--csv FILE": "write the tables as one",
        "--plugins MODULE[,MODULE]": "modules of your own that the runs used",
        "--uri": "of the store; by default forestlab's own, or MLFLOW_TRACKING_URI",
    }
    parser.add_argument("query", nargs="?", default="", metavar="QUERY",
                        help="which runs; by default all that are finished")  # fmt: skip
    for flags, told in helps.items():
        flag, _, shown = flags.partition(" ")
        kind = os.path.expanduser if shown == "FILE" else str
        parser.add_argument(flag, metavar=shown or None, help=told, type=kind)
    parser.add_argument("--level", type=float, default=LEVEL, help="of confidence (%(default)s)")
    parser.add_argument("--experiment", default=TrackingConfig.experiment, help="(%(default)s)")
    return parser


def _main(options) -> None:
    plugins.load(options.plugins.split(",") if options.plugins else [], os.getcwd())
    asked = query.parse(options.query)
    if not 0.0 < options.level < 1.0:
        raise ConfigError(f"--level must be between 0 and 1, as in 0.95; got {options.level:g}.")
    if options.html:
        page.check_target(Path(options.html))
    if options.csv:
        page.check_target(Path(options.csv), CSV_MARK)
    from forestlab import tracking  # late: it takes seconds, and mistakes should not

    store = tracking.open_existing(TrackingConfig(uri=options.uri, experiment=options.experiment))
    runs = find(store, asked)
    if runs.empty:
        what = f"fits the query {options.query!r}" if options.query.strip() else "is finished"
        there = [found.name for found in store.client.search_experiments()]
        others = ", ".join(name for name in there if name not in (options.experiment, "Default"))
        raise NothingFound(
            f"no run {what} in {store.uri}, experiment {options.experiment!r}."
            + (f" --experiment names another: {others}." if others else "")
        )
    by = [key.strip() for key in options.by.split(",")] if options.by else None
    tables = compare(runs, options.metric, by, options.baseline, options.level)
    print("\n\n".join(text(table) for table in tables))
    if options.csv:
        page.write(Path(options.csv), csv(tables), CSV_MARK)
    if options.html:
        page.write(Path(options.html), report(tables, store, options.query, options.experiment))
    written = [path for path in (options.csv, options.html) if path]
    if written:
        print(f"\nwritten: {', '.join(written)}")


# ---- runs --------------------------------------------------------------------------------------


def find(store, asked: query.Query) -> pd.DataFrame:
    """The runs that a query asks for; those that only hold a sweep together are none."""
    from forestlab import tracking

    conditions = [asked.filter]
    if asked.parent is not None:
        sweeps = tracking.search(store, "tags.kind = 'sweep'")
        names = {run.info.run_id: run.info.run_name for run in sweeps}
        conditions = [
            f"{asked.filter} and tags.`{tracking.PARENT}` = '{run_id}'"
            for run_id in sweep_ids(names, asked.parent)
        ]
    found = [run for condition in conditions for run in tracking.search(store, condition)]
    runs = [run for run in found if run.data.tags.get("kind") != "sweep"]
    return query.narrow(variants.as_frame(runs), asked.checks)


def sweep_ids(names: dict[str, str], wanted: str) -> list[str]:
    """The sweeps, among ids and names, with a name or an id, or with the beginning of just one.

    A sweep that was resumed is several of one name: together they hold its runs.
    """
    same = [run_id for run_id, name in names.items() if wanted in (run_id, name)]
    if same:
        return same
    near = [
        run_id
        for run_id, name in names.items()
        if run_id.startswith(wanted) or name.startswith(wanted)
    ]
    different = sorted({names[run_id] for run_id in near})
    if len(different) > 1:
        raise ConfigError(f"several sweeps begin with {wanted!r}: {'; '.join(different)}.")
    if not near:
        raise NothingFound(f"no sweep has a name or an id that is or begins with {wanted!r}.")
    return near


if __name__ == "__main__":
    sys.exit(entry.ended(main()))

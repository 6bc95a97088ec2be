"""`python -m experiments`: list the figures and tables of the documents, or make them.

Under each that is made stands a table of its verdicts: held, not held or undecided, what was found
with its 95 % interval, what was expected, and of what. The exit code is 1 if a run failed or a
verdict is not held, undecided ones among them, and 2 for a name that there is not.
"""

if __name__ == "__main__":  # before the rest is imported: see there
    from forestlab import entry

    entry.begin()

import argparse
import shlex
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import experiments
from experiments import Verdict
from forestlab.config import ConfigError
from forestlab.run.tables import NARROWEST_NAME, abridged, in_columns, window
from forestlab.spelling import did_you_mean, most_like

if TYPE_CHECKING:
    from forestlab.run.shared import Shared

LAUNCHER = ("hydra/launcher=", "hydra.launcher.")  # begin words that say who does the runs
LONGEST = 64  # letters of what a verdict is about


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        known = experiments.found(_listed(options.plugins))
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    left_out = _listed(options.without)
    words = [name for name in options.names if name.lstrip("+").startswith(LAUNCHER)]
    options.names = [name for name in options.names if name not in words]
    for name in [*options.names, *left_out]:
        if name not in known and name != "all":
            hint = did_you_mean(most_like(name, known), "python -m experiments lists them.")
            print(f"error: there is no experiment {name!r}: {hint}", file=sys.stderr)
            return 2
    if not options.names:
        _list(known)
        return 0
    start = time.perf_counter()
    wanted = [*known] if "all" in options.names else [*dict.fromkeys(options.names)]
    wanted = [name for name in wanted if name not in left_out]
    words += [f"--config-dir={options.config_dir}"] if options.config_dir else []
    try:
        good = _make_all({name: known[name] for name in wanted}, words)
    except SystemExit:  # it was stopped
        again = shlex.join(sys.argv[1:] if arguments is None else arguments)
        print(f"to go on: {_command()} {again}", file=sys.stderr)
        raise
    if len(good) > 1:
        minutes, seconds = divmod(round(time.perf_counter() - start), 60)
        print(f"{sum(good)} of {len(good)} experiments hold, {minutes} min {seconds} s")
    return 0 if all(good) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Make figures and tables of the documents again, from logged runs.",
        epilog="Without a name, list them. hydra/launcher=joblib has the runs in processes of "
        "their own; options of a launcher are given as to forestlab.run.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="an experiment, or all")
    parser.add_argument("--without", metavar="NAME,…", help="leave these out of all")
    parser.add_argument("--plugins", metavar="MODULE,…", help="experiments of your own")
    parser.add_argument("--config-dir", metavar="FOLDER", help="has their experiment/NAME.yaml")
    return parser


def _command() -> str:
    from forestlab.run.terminal import command  # late, as all that runs

    return command("experiments")


def _listed(words: str | None) -> list[str]:
    return words.split(",") if words else []


def _list(known: dict[str, Any]) -> None:
    width = max(map(len, known))
    beside = max(len(experiment.DOCUMENT) for experiment in known.values())
    for name, experiment in known.items():
        title = experiments.title(experiment)
        print(f"{name:<{width}}  {experiment.DOCUMENT:<{beside}}  {title}")


def _make_all(wanted: dict[str, Any], words: list[str]) -> list[bool]:
    """Make each, also after a failure; whether all is well with it."""
    from forestlab.run.shared import Shared  # late: a list needs none of it

    shared = Shared()
    return [_make(name, wanted[name], shared, words) for name in wanted]


def _make(name: str, experiment, shared: "Shared", words: list[str]) -> bool:
    """Make one, and tell in a line; whether all is well."""
    from experiments._reproduce import RunsFailed, reproduce
    from forestlab.run.mistakes import MISTAKES, one_line

    start = time.perf_counter()
    try:
        made = reproduce(name, experiment, shared, words)
    except (RunsFailed, *MISTAKES) as error:
        print(f"error: {name}: {one_line(error)}", file=sys.stderr)
        return False
    except Exception:
        traceback.print_exc()
        print(f"error: {name} failed", file=sys.stderr)
        return False
    n_held = sum(verdict.holds for verdict in made.verdicts)
    runs = "1 run" if made.n_runs == 1 else f"{made.n_runs} runs"
    seconds = time.perf_counter() - start
    told = f"{runs}, {seconds:.1f} s, {n_held} of {len(made.verdicts)} verdicts hold"
    print(f"{name}: {told}, see {made.picture}")
    print(*lines(made.verdicts), sep="\n", flush=True)
    return n_held == len(made.verdicts)


def lines(verdicts: list[Verdict]) -> list[str]:
    """A line a verdict."""
    rows = [[v.outcome, v.found_text, v.expected_text, v.repeats] for v in verdicts]
    if not rows:
        return []
    room = window() - max(map(len, in_columns(rows, "<<<<"))) - 4
    most = max(min(LONGEST, room), NARROWEST_NAME)
    rows = [[*row, abridged(v.what, most)] for row, v in zip(rows, verdicts, strict=True)]
    return [f"  {line}" for line in in_columns(rows, "<<<<<")]


if __name__ == "__main__":
    sys.exit(entry.ended(main()))

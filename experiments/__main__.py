"""`python -m experiments`: list the figures and tables of the documents, or make them.

Under each that is made stands a table of its verdicts: held, not held or undecided, what was found
with its 95 % interval, what was expected, and of what. The exit code is 1 if a run failed or a
verdict is not held, undecided ones among them, and 2 for a name that there is not.
"""

import argparse
import sys
import time
import traceback

import experiments
from experiments import Verdict
from forestlab.run.terminal import abridged, in_columns
from forestlab.spelling import did_you_mean, most_like

LONGEST = 64  # letters of what a verdict is about


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    known = experiments.names()
    left_out = options.without.split(",") if options.without else []
    for name in [*options.names, *left_out]:
        if name not in known and name != "all":
            hint = did_you_mean(most_like(name, known), "python -m experiments lists them.")
            print(f"error: there is no experiment {name!r}: {hint}", file=sys.stderr)
            return 2
    if not options.names:
        _list(known)
        return 0
    start = time.perf_counter()
    wanted = known if "all" in options.names else dict.fromkeys(options.names)
    good = [_make(name) for name in wanted if name not in left_out]  # all, also after a failure
    if len(good) > 1:
        minutes, seconds = divmod(round(time.perf_counter() - start), 60)
        print(f"{sum(good)} of {len(good)} experiments hold, {minutes} min {seconds} s")
    return 0 if all(good) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Make figures and tables of the documents again, from logged runs.",
        epilog="Without a name, list them.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="an experiment, or all")
    parser.add_argument("--without", metavar="NAME,…", help="leave these out of all")
    return parser


def _list(known: list[str]) -> None:
    found = {name: experiments.load(name) for name in known}
    width = max(map(len, known))
    beside = max(len(experiment.DOCUMENT) for experiment in found.values())
    for name, experiment in found.items():
        title = experiments.title(experiment)
        print(f"{name:<{width}}  {experiment.DOCUMENT:<{beside}}  {title}")


def _make(name: str) -> bool:
    """Make one, and tell in a line; whether all is well."""
    from experiments._reproduce import RunsFailed, reproduce  # late: a list needs none of it
    from forestlab.run.mistakes import MISTAKES, one_line

    start = time.perf_counter()
    try:
        made = reproduce(name)
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
    rows = [
        [
            each.outcome,
            each.found_text,
            each.expected_text,
            each.repeats,
            abridged(each.what, LONGEST),
        ]
        for each in verdicts
    ]
    return [f"  {line}" for line in in_columns(rows, "<<<<<")] if rows else []


if __name__ == "__main__":
    sys.exit(main())

"""The command line of baselines."""

if __name__ == "__main__":  # before the rest is imported: see there
    from forestlab import entry

    entry.begin()

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from forestlab import baseline
from forestlab.baseline.check import check
from forestlab.baseline.diff import diff
from forestlab.baseline.record import record
from forestlab.config import ConfigError, TrackingConfig, checkout
from forestlab.run import terminal

COMMANDS = {"record": record, "check": check, "diff": diff}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(f"{message} (see {self.prog} --help)")


def parser() -> Parser:
    common = Parser(add_help=False)
    common.add_argument("--uri", help="the MLflow store; default: where forestlab.run logs")
    common.add_argument("--experiment", default=TrackingConfig.experiment, metavar="NAME")
    folder = Parser(add_help=False)
    folder.add_argument(
        "--folder",
        type=lambda text: Path(text).expanduser(),
        default=default_folder(),
        help="of baselines; default: %(default)s",
    )
    folder.add_argument("--all", action="store_true", help="print all rows of a long table")
    whole = Parser(
        prog="python -m forestlab.baseline",
        description=baseline.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = whole.add_subparsers(dest="command", required=True, metavar="record|check|diff")

    record = commands.add_parser("record", parents=[common, folder], help="write a baseline")
    record.add_argument("names", nargs="+", metavar="NAME")
    record.add_argument("--query", help="an MLflow filter; default: the configs already recorded")
    record.add_argument("--parent", metavar="RUN", help="take the runs of this sweep")
    record.add_argument(
        "--metrics", help="patterns, joined by commas, such as accuracy/*,summary/trees_*"
    )
    record.add_argument("--update", action="store_true", help="overwrite, and tell what changed")

    check = commands.add_parser("check", parents=[common, folder], help="compare with baselines")
    check.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="default: all in the folder; hydra/launcher=joblib has runs in processes of their own",
    )
    which = check.add_mutually_exclusive_group()
    which.add_argument(
        "--run",
        choices=("missing", "always", "never"),
        default="missing",
        help="which of the recorded configs to run; default: %(default)s",
    )
    which.add_argument(
        "--no-run", action="store_const", const="never", dest="run", help="the same as --run never"
    )

    diff = commands.add_parser("diff", parents=[common], help="set two runs side by side")
    diff.add_argument("runs", nargs=2, metavar="RUN", help="an id, its beginning, or a name")
    return whole


def default_folder() -> Path:
    """tests/baselines of forestlab's own checkout, elsewhere ./baselines."""
    root = checkout()
    return root / "tests/baselines" if root else Path("baselines")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
        return COMMANDS[options.command](options)
    except ConfigError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        terminal.killed()
        return 130


if __name__ == "__main__":
    sys.exit(entry.ended(main()))

"""Forests side by side: forestlab, scikit-learn, scikit-learn-intelex, ydf and wildwood.

Ratios are taken within a round, and their median is printed: above 1, forestlab's histogram search
is faster. Each part prints its table, and adds to outputs/bench/bench.json, from which pictures,
comparisons and the README's table are made.

    scripts/bench                          fit and predict, all sets but those to download, 5 rounds
    scripts/bench digits --rounds 9
    scripts/bench mnist --surface          every depth and number of trees, beside refitting
    scripts/bench mnist5k --learners
    scripts/bench all --all                everything, and pictures (hours)
    scripts/bench --against FILE           what changed since the record in a file
    scripts/bench --readme                 the README's table and picture, from the record
"""

import argparse
import json
import os
import platform
import sys
import time
from pathlib import Path
from types import ModuleType

from benchmark import against, data, encoding, fit, growth, job, learners, memory, surface
from benchmark.measured import Record, open_record, read, write
from benchmark.peers import PEERS, versions
from benchmark.rounds import Settings, tell
from benchmark.tables import TABLES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "outputs" / "bench"
# Of each set, and of none in particular.
OF_SETS: dict[str, ModuleType] = {
    "fit": fit,
    "memory": memory,
    "surface": surface,
    "encoding": encoding,
    "learners": learners,
}
OF_NONE: dict[str, ModuleType] = {"job": job, "growth": growth}
HELP = {
    "fit": "fit, predict, one row, the model on disk (without any other part: this)",
    "memory": "what a fit adds to memory",
    "surface": "a study of every depth beside its fit, and beside refitting",
    "encoding": "values to codes",
    "learners": "weak learners",
    "job": "whole commands, as processes",
    "growth": "time against rows, features, trees, classes, threads",
}
SAME = ("machine", "versions", "core", "jobs", "rows", "trees")  # of records that may be joined


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="scripts/bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("data", nargs="*", help=f"{', '.join(data.SETS)}, or all")
    parts = made.add_argument_group("parts")
    for name, text in HELP.items():
        parts.add_argument(f"--{name}", action="store_true", help=text)
    parts.add_argument("--all", action="store_true", help="all of these")
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--jobs", type=int, default=2, help="threads (default: 2)")
    made.add_argument("--rows", type=int, help="of each set at most, to try it out")
    made.add_argument("--trees", type=int, help="in place of each set's own number")
    made.add_argument("--peers", nargs="+", default=(), choices=list(PEERS), help="these alone")
    made.add_argument("--out", type=Path, default=FOLDER / "bench.json", help="the record")
    made.add_argument("--against", type=Path, metavar="FILE", help="compare with a record")
    made.add_argument("--strict", action="store_true", help="then exit with 1 if a cost grew")
    made.add_argument("--readme", action="store_true", help="rewrite the README's table, picture")
    made.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    return made


def main() -> int:
    options = parser().parse_args()
    settings = Settings(
        options.rounds, options.jobs, options.rows, options.trees, tuple(options.peers)
    )
    if options.measure:
        print(json.dumps(memory.added(*options.measure, settings)))
        return 0
    parts = [name for name in HELP if options.all or getattr(options, name)]
    asks_only = options.against or options.readme
    record = _read(options.out) if asks_only and not parts else None
    if record is None:
        record = _measured(parts or ["fit"], _sets(options.data), settings, options.out)
    if options.readme:
        from benchmark import readme

        readme.rewrite(record, ROOT)
    if options.against:
        found = against.changes(read(options.against), record)
        print(against.table(found))
        return int(options.strict and against.got_slower(found))
    return 0


def _read(path: Path) -> Record:
    if not path.is_file():
        sys.exit(f"error: there is no record {path} yet: measure first, for instance --fit")
    return read(path)


def _sets(given: list[str]) -> list[str]:
    if given == ["all"]:
        return list(data.SETS)
    for name in given:
        if name not in data.SETS:
            sys.exit(f"error: there is no set {name}: {', '.join(data.SETS)}, or all")
    return given or list(data.WITHOUT_ASKING)


def _measured(parts: list[str], sets: list[str], settings: Settings, path: Path) -> Record:
    """Measure, print and keep, one part after the other."""
    record = open_record(path, about(settings), SAME)
    for part in parts:
        for name in sets if part in OF_SETS else [""]:
            found = (
                OF_SETS[part].measure(name, settings) if name else OF_NONE[part].measure(settings)
            )
            record.take(found)
            write(record, path)
            tell("")
            print(TABLES[part](record, name), flush=True)
            print()
    if record.of("growth"):
        from benchmark import pictures

        for made in pictures.growth(record, path.parent):
            print(f"drew {made}")
    print(f"kept in {path}")
    return record


def about(settings: Settings) -> dict:
    """What the numbers depend on beside the code of peers."""
    from forestlab.core.jit import core_version

    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{_cpu()}, {os.cpu_count()} cores",
        "versions": versions() | {"python": platform.python_version()},
        "core": core_version(),
        "jobs": settings.jobs,
        "rows": settings.rows,
        "trees": {name: data.trees_of(name, settings) for name in data.SETS},
    }


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


if __name__ == "__main__":
    sys.exit(main())

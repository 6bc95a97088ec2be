"""`forestlab COMMAND …`, or `python -m forestlab COMMAND …`: all commands by one name.

A command's module is imported when it is called, so that a list of them takes no time.
"""

import sys
from pathlib import Path

from forestlab.entry import begin, enter, version
from forestlab.spelling import did_you_mean, most_like

HELP = """usage: forestlab COMMAND …

{commands}

forestlab COMMAND --help tells of one; forestlab --version of all."""


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    begin()
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("--version", "-V"):
        print(version())
        return 0
    if name in ("--help", "-h", "help"):
        print(HELP.format(commands="\n".join(f"  {c:<12} {COMMANDS[c][1]}" for c in COMMANDS)))
        return 0
    if name not in COMMANDS:
        meant = "run" if "=" in name else most_like(name, COMMANDS)
        hint = f"did you mean forestlab run {name} …?" if "=" in name else did_you_mean(meant)
        hint = hint or f"there are {', '.join(COMMANDS)}."
        print(f"error: there is no command {name!r}: {hint}", file=sys.stderr)
        return 2
    module, _ = COMMANDS[name]
    if module.startswith("experiments"):
        _find_experiments()
    return enter(module, rest)


def _find_experiments() -> None:
    """Let `experiments` be imported: from the checkout, or from inside the installed package, as
    nothing of so common a name is installed beside it."""
    package = Path(__file__).resolve().parent
    places = (package / "shipped", package.parent)
    there = next(place for place in places if (place / "experiments/__init__.py").is_file())
    if str(there) not in sys.path:
        sys.path.insert(0, str(there))


COMMANDS = {
    "run": ("forestlab.run.command", "train, study and log: model=forest dataset=digits"),
    "compare": ("forestlab.compare.__main__", "logged runs beside each other"),
    "baseline": ("forestlab.baseline.__main__", "guard logged numbers: record, check, diff"),
    "experiments": ("experiments.__main__", "the documents' figures and tables, made again"),
    "study": ("forestlab.study.__main__", "what a run logs: every metric and file"),
    "sync": ("forestlab.sync", "deliver results that a store did not take"),
    "ui": ("forestlab.run.ui", "the MLflow UI on what was logged"),
    "serve": ("forestlab.run.serve", "a server of MLflow, for runs of many processes or machines"),
}

if __name__ == "__main__":
    sys.exit(main())

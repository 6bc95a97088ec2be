"""Command lines of random overrides: each is planned, or run, or refused in one line.

    NUMBA_DISABLE_JIT=1 python -m fuzz.commands FOLDER FIRST END

writes, as JSON, what went wrong in these cases, by their numbers, and how many there were.
"""

import contextlib
import io
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from fuzz.forked import faults

from forestlab import config as configs
from forestlab.run import command

CHOICES = {  # of groups: what needs no network, and what there is not
    "model": ("tree", "bagging", "subspace", "forest", "rno", "extra_trees", "forrest", "a.b"),
    "criterion": ("auto", "gini", "entropy", "variance", "poisson", "kde", "ginni", "''"),
    "search": ("exact", "histogram", "boundary", "uniform", "exakt"),
    "learner": ("axis", "oblique", "fitted", "quadratic", "band", "x"),
    "pruning": ("none", "ccp", "oob", "all"),
    "task": ("auto", "density", "regression"),
    "study": ("off", "light", "full", "deep"),
    "dataset": ("iris", "fruits", "wine", "spirals", "csv", "levels", "irys"),
    "experiment": ("nothing", "''"),
}
NUMBERS = ("0", "1", "2", "3", "-1", "0.5", "1.0", "1.5", "1e-9", "-0.1", "nan", "inf", "-inf")
WORDS = (
    "null",
    "true",
    "false",
    "x",
    "''",
    "auto",
    "sqrt",
    "all",
    "oob",
    "first",
    "[]",
    "[1]",
    "{}",
)
TEXTS = (
    "'a b'",
    "[a,b]",
    "{a: 1}",
    "${seed}",
    "${nothing}",
    "${oc.env:NOTHING}",
    "???",
    "é",
    "a.b",
)
BROKEN = (
    "=",
    "[",
    "{a",
    "'",
    "a=b=c",
    "$",
    "\\",
    "",
    "(1",
    "1,2",
    "range(3)",
    "choice()",
    "~",
    "@",
)
# What the test is not about: where it writes, what it takes from the network, and sizes that
# cannot be had.
APART = ("tracking.", "plugins", "dataset.openml", "dataset.n_samples", "hydra", "sweeps", "resume")


def one(values, rng):
    return values[rng.integers(len(values))]


def keys():
    configs.register()
    return [key for key in configs.flat_defaults() if not key.startswith(APART)]


def any_value(rng):
    kind = rng.random()
    values = NUMBERS if kind < 0.45 else WORDS if kind < 0.8 else TEXTS if kind < 0.95 else BROKEN
    return one(values, rng)


def misspelt(key, rng):
    k = int(rng.integers(len(key)))
    return one((key[:k] + key[k + 1 :], key[:k] + "x" + key[k:], key.upper(), key + ".x"), rng)


def any_words(known, folder, rng):
    """A command line: a few overrides, of which most are of keys that there are."""
    words = []
    for _ in range(rng.integers(1, 5)):
        way = rng.random()
        if way < 0.35:
            group = one(list(CHOICES), rng)
            words.append(f"{group}={one(CHOICES[group], rng)}")
        elif way < 0.9:
            words.append(f"{one(known, rng)}={any_value(rng)}")
        elif way < 0.95:
            prefix = one(("+", "++", "~", ""), rng)
            words.append(f"{prefix}{misspelt(one(known, rng), rng)}={any_value(rng)}")
        else:
            words.append(one(("-m", "--multirun", "--nothing", *BROKEN), rng))
    if rng.random() < 0.3:
        words.append(f"dataset.path={folder}/small.csv")
    return words


def outcome(words, runs):
    """The exit code of a command, and what it wrote to stderr."""
    told = io.StringIO()
    before = command._run
    if not runs:
        command._run = lambda batch, start, arguments: 0
    try:
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
            code = command.main(words)
    finally:
        command._run = before
    return code, told.getvalue()


def make_case(folder):
    small = "a,b,c\n" + "".join(f"{k % 7},{k * k % 5},{'xy'[k % 3 == 0]}\n" for k in range(20))
    (folder / "small.csv").write_text(small)
    os.environ["FORESTLAB_HOME"] = str(folder)
    os.chdir(folder)
    known = keys()

    def case(rng):
        runs = rng.random() < 0.15
        given = any_words(known, folder, rng)
        own = ["dataset=csv", f"dataset.path={folder}/small.csv", "study=off"]
        words = [*(own if runs else ["dataset=iris"]), "n_estimators=2", *given, "tracking=none"]
        code, told = outcome(words, runs)
        return wrong(code, told) and f"{words}: {wrong(code, told)}"

    return case


def wrong(code, told):
    lines = [line for line in told.splitlines() if line.strip()]
    if code == 0:
        return None
    if code not in (1, 2):
        return f"exit code {code}"
    if "Traceback" in told:
        return told[-600:]
    errors = [line for line in lines if line.startswith("error: ")]
    if code == 2 and (len(lines) != 1 or len(errors) != 1):
        return f"{len(lines)} lines: {told[-600:]}"
    if not errors or len(errors[0]) < 15 or len(errors[0]) > 1_000:
        return f"no clear line: {told[-600:]}"
    return None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    found, n_done = faults(make_case(Path(sys.argv[1])), range(int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps([found, n_done]))

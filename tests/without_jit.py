"""Tests of kernels that run a second time as plain Python, in a process of their own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba

WITHOUT_JIT = bool(numba.config.DISABLE_JIT)


@contextmanager
def running_without_jit(test: Callable, marks: str) -> Iterator[subprocess.Popen | None]:
    """That test, with all of its cases that have such marks, while this process compiles; None in
    the other one."""
    if WITHOUT_JIT:
        yield None
        return
    file = sys.modules[test.__module__].__file__
    only = ["-k", test.__name__, "-m", marks, "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", str(file), *only, "--tb=short", "--maxfail=3"],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        yield run
        run.kill()

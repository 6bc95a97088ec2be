"""A kernel cache that is damaged or cannot be written stops nobody, and mends itself."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).parents[2]
FOUND, MADE = [8, 1.0, 2], [8, 1.0, 0]  # two answers, and how many of two kernels were in the cache

# What else is right, where it is not that one process compiles and the next ones find its kernels.
OTHERWISE = {
    "killed before the index is written": ["ended by -9", MADE, FOUND],
    "disk full": [MADE, MADE, FOUND],  # until it is not
    "disk full in the middle of the index": [MADE, MADE, FOUND],
    "disk full in the middle of the code": [MADE, MADE, FOUND],
    "nowhere to write": [MADE, MADE, MADE],
}


def after_damage(base, every):
    """kind of damage → what the process that meets it and the next two answer; and what was told"""
    base.chmod(0o755)  # for processes that are not the superuser's
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(base)}
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("damaged_kernels.py"), base, str(every)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines())), done.stderr


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
def test_damage_costs_no_more_than_compiling_once(every):
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        answers, told = after_damage(Path(folder), every)
    assert len(answers) > 60 / every
    for kind, said in answers.items():
        assert said == OTHERWISE.get(kind, [MADE, FOUND, FOUND]), kind
    assert "Traceback" not in told
    if every == 1:
        assert told.count("compiled kernels cannot be kept (File too large)") == 3

"""Command lines of random overrides are planned, run, or refused in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("n", [200, pytest.param(10_000, marks=pytest.mark.long)])
def test_any_overrides(n, tmp_path):
    """Without the JIT: what runs would else wait for kernels."""
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.commands", str(tmp_path), "0", str(n)],
        cwd=TESTS,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{TESTS.parent}:{TESTS}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found, n_done = json.loads(done.stdout.splitlines()[-1])
    assert n_done == n
    assert found == {}, json.dumps(found, indent=1)[:3000]

"""A disk that is full while runs are logged."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command import PATIENCE, Logged, beside_progress, environment

pytestmark = pytest.mark.long

N_RUNS = 30
SWEEP = [
    "dataset=iris",
    "model=tree",
    "study=light",
    "tracking=lean",
    "-m",
    f"seed=range({N_RUNS})",
]


@contextmanager
def small_disk(megabytes: int):
    """A file system in memory of that size, and a function that makes it larger. Not in a folder of
    pytest's, which another pytest may move away once it is one of many."""
    if os.geteuid() or not shutil.which("mount"):
        pytest.skip("only the superuser can make a disk that is soon full")

    def mount(how: str, megabytes: int):
        options = ["-t", "tmpfs", "-o", f"{how}size={megabytes}m", "none", folder]
        return subprocess.run(["mount", *options], capture_output=True, text=True)

    folder = Path(tempfile.mkdtemp(prefix="forestlab-disk-"))
    made = mount("", megabytes)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield folder, lambda larger: mount("remount,", larger)
    finally:
        # Lazily: a client of this process may still have the database open.
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def swept(home: Path, cwd: Path, *more: str):
    return subprocess.run(
        [sys.executable, "-m", "forestlab.run", *SWEEP, *more],
        env=environment(home), cwd=cwd, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


@pytest.mark.parametrize("megabytes", [2, 3])
def test_a_full_disk_is_one_line_and_a_sweep_goes_on_afterwards(megabytes, tmp_path):
    with small_disk(megabytes) as (home, grow):
        done = swept(home, tmp_path)
        assert done.returncode == 1
        lines = beside_progress(done.stderr)
        assert len(lines) == 1, lines
        assert lines[0].startswith("error: no room is left on a disk: ")
        assert "Traceback" not in done.stdout
        with closing(sqlite3.connect(home / "mlflow.db")) as store:
            assert store.execute("pragma integrity_check").fetchone() == ("ok",)
        before = Logged(home).runs("attributes.status = 'FINISHED'")
        assert 0 < len(before) < N_RUNS

        grow(64)
        done = swept(home, tmp_path, "resume=true")
        assert done.returncode == 0, done.stderr
        runs = Logged(home).runs()
        finished = [run for run in runs if run.info.status == "FINISHED"]
        jobs = [run for run in finished if "kind" not in run.data.tags]
        assert Counter(int(run.data.params["seed"]) for run in jobs) == Counter(range(N_RUNS))
        assert {run.info.run_id for run in before} <= {run.info.run_id for run in jobs}
        assert "RUNNING" not in {run.info.status for run in runs}

"""A sweep's memory does not grow with the number of its runs."""

import sys

import numpy as np
import pytest
from command import command

N_RUNS, N_WARM = 1000, 100  # until all that is loaded late, and caches, are there
MOST = 0.02  # MB a run; Hydra's configs of jobs that are done are 0.2

WATCH = """
from forestlab.run.batch import Batch

do = Batch.do

def watched(*given, **more):
    result = do(*given, **more)
    with open("/proc/self/status") as status, open("own", "a") as own:
        own.write(next(line for line in status if line.startswith("RssAnon")))
    return result

Batch.do = watched
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_over_many_runs(tmp_path):
    words = ["dataset=iris", "model=tree", "study=off", "tracking=lean"]
    done = command(*words, "-m", f"seed=range({N_RUNS})", home=tmp_path, patch=WATCH)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "own").read_text().splitlines()
    own = np.array([int(line.split()[1]) for line in lines]) / 1024
    assert len(own) == N_RUNS
    slope, _ = np.polyfit(np.arange(N_WARM, N_RUNS), own[N_WARM:], 1)
    assert slope < MOST

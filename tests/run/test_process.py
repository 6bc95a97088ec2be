"""What only a process of its own shows: interrupts, progress, compiling and the kernel cache."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from forestlab.core import jit
from forestlab.core.jit import cache_folder
from forestlab.run import measure

ROOT = Path(__file__).parents[2]
COMPILING = "forestlab: compiling a kernel to grow gini trees (seconds, once)"

FIT = """
import numpy as np
from forestlab import TreeClassifier

X = np.arange(40.0).reshape(20, 2) % 7
print(TreeClassifier(max_depth=2).fit(X, X.sum(axis=1) > 6).export_text())
"""


def start(script, package=ROOT, **variables):
    """Run a script in a new process that imports forestlab from `package`."""
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONUNBUFFERED": "1"} | variables
    return subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=package,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script, package=ROOT, **variables):
    """What a script writes to stdout and to stderr."""
    with start(script, package, **variables) as process:
        out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    return out, err


# ---- interrupts --------------------------------------------------------------------------------

LONG_FIT = """
import signal
import numpy as np
from forestlab import ForestClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have switched it off
X = np.random.default_rng(0).integers(0, 100, (1_000_000, 40), np.uint8)
y = np.arange(len(X)) % 2
ForestClassifier(1).fit(X[:500], y[:500])  # compiles, if need be
try:
    ForestClassifier(10_000, max_features=None, verbose=1, n_jobs={n_jobs}).fit(X, y)
finally:
    print("stopped")
"""


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_interrupt_ends_a_fit_at_once(n_jobs):
    with start(LONG_FIT.format(n_jobs=n_jobs)) as process:
        shown = ""
        while "growing" not in shown:
            shown += process.stderr.read(1)
        time.sleep(0.5)  # into the first trees, of at least 8 seconds each
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=6)
        finally:
            process.kill()
    assert out == "stopped\n"
    assert "\nKeyboardInterrupt\n" in err
    assert process.returncode == -signal.SIGINT


# ---- what is shown -----------------------------------------------------------------------------

SHOWN = """
import sys
import numpy as np
from forestlab import ForestClassifier

X = np.arange(40.0).reshape(20, 2)
ForestClassifier(1).fit(X, X[:, 0] > 9).predict(X)  # compiles, if need be
for verbose, n_jobs in (0, None), (0, 2), (1, None), (1, 2):
    print("NEXT", file=sys.stderr)
    ForestClassifier(7, verbose=verbose, n_jobs=n_jobs).fit(X, X[:, 0] > 9).predict(X)
"""


def test_progress_is_shown_on_stderr_if_asked_for():
    out, err = run(SHOWN)
    assert out == ""
    _, *quiet, one_thread, two_threads = err.split("NEXT\n")
    assert quiet == ["", ""]
    for shown in one_thread, two_threads:
        assert re.search(r"growing: 100%.* 7/7 .*tree", shown)


# ---- compiled kernels --------------------------------------------------------------------------


class Compiled(NamedTuple):
    package: Path  # holds a copy of forestlab
    cache: Path
    tree: str
    said: str  # by the process that compiled


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A copy of the package that has just compiled its kernels."""
    folder = tmp_path_factory.mktemp("compiled")
    package, cache = folder / "package", folder / "cache"
    shutil.copytree(
        ROOT / "forestlab", package / "forestlab", ignore=shutil.ignore_patterns("__pycache__")
    )
    tree, said = run(FIT, package, NUMBA_CACHE_DIR=str(cache))
    return Compiled(package, cache, tree, said)


def kernel_folders(base):
    return sorted((base / "forestlab").glob("kernels-*"))


def test_the_first_fit_says_that_it_compiles(compiled):
    assert compiled.said.splitlines() == [COMPILING]
    assert "├─ yes:" in compiled.tree
    (folder,) = kernel_folders(compiled.cache)
    assert list(folder.rglob("*grow*.nbc"))
    # Nothing beside the folder named by the source, where it could go stale.
    assert os.listdir(compiled.cache) == ["forestlab"]
    assert not list(compiled.package.rglob("*.nbc"))


def test_the_next_process_compiles_nothing(compiled):
    assert run(FIT, compiled.package, NUMBA_CACHE_DIR=str(compiled.cache)) == (compiled.tree, "")


def test_the_cache_may_be_that_of_the_desktop(compiled):
    found = run(FIT, compiled.package, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(compiled.cache))
    assert found == (compiled.tree, "")


@pytest.mark.parametrize(
    "blocked",
    [pytest.param("", id="base"), pytest.param("forestlab", id="folder")],
)
@pytest.mark.long
def test_a_cache_that_cannot_be_written_is_replaced(compiled, blocked, tmp_path):
    """A file stands where a folder is wanted, which stops even the superuser."""
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "forestlab").touch()
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "base" / blocked)}
    tree, said = run(FIT, compiled.package, TMPDIR=str(tmp_path), **variables)
    assert (tree, said.splitlines()) == (compiled.tree, [COMPILING])
    assert not list(compiled.package.rglob("*.nbc"))


def test_without_a_home_there_is_a_cache_too(monkeypatch, tmp_path):
    for name in "HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME":
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54_321)  # nobody of this machine
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert tmp_path in cache_folder.__wrapped__().parents


@pytest.mark.long
def test_an_edit_anywhere_in_the_core_leaves_old_kernels_aside(compiled):
    """Numba itself looks at the kernel's own file only, which is not the one edited here."""
    variables = {"NUMBA_CACHE_DIR": str(compiled.cache)}
    criteria = compiled.package / "forestlab" / "core" / "lanes.py"
    before = criteria.read_text()
    gini = "return over(minus(times(weight, weight), squares), weight)"
    assert before.count(gini) == 1
    mistaken = "return over(minus(squares, times(weight, weight)), weight)"
    criteria.write_text(before.replace(gini, mistaken))
    tree, said = run(FIT, compiled.package, **variables)
    assert said.splitlines() == [COMPILING]
    assert tree != compiled.tree
    assert len(kernel_folders(compiled.cache)) == 2
    criteria.write_text(before)
    assert run(FIT, compiled.package, **variables) == (compiled.tree, "")


MEASURE = """
from forestlab.run import measure
from forestlab import run
from forestlab.core.jit import compile_seconds
from forestlab.run.shared import Shared

waits, timing = {}, measure.timing

@measure.contextmanager
def watched(seconds, name):
    before = compile_seconds()
    with timing(seconds, name):
        yield
    waits[name] = compile_seconds() - before

measure.timing = watched
(config,) = run.jobs(["dataset=iris", "n_estimators=3", "tracking=none", "study=off", *MORE])
for _ in range(2):
    seconds = measure.fit_and_study(Shared().job(config), False).seconds
    print(waits["fit"] > 0, waits["predict"] > 0, "compile" in seconds, seconds["fit"] > 0)
"""


def test_no_clock_runs_while_kernels_are_loaded():
    """The second is as it is in a sweep: everything is there."""
    there = "False False False True"
    assert run(f"MORE = []{MEASURE}")[0].splitlines() == ["False False True True", there]
    # What is too large to grow a stump of first waits, and the clock leaves that out.
    large = f"MORE = []\nfrom forestlab.run import measure\nmeasure.MOST_NUMBERS = 0{MEASURE}"
    assert run(large)[0].splitlines() == ["True True True True", there]


def test_waiting_for_kernels_is_left_out_of_a_time(monkeypatch):
    now = iter([10.0, 15.0])
    waited = iter([1.0, 1.0 + 4.5])
    monkeypatch.setattr(measure.time, "perf_counter", lambda: next(now))
    monkeypatch.setattr(measure, "compile_seconds", lambda: next(waited))
    seconds = {}
    with measure.timing(seconds, "fit"):
        pass
    assert seconds == {"fit": 0.5}


def test_threads_that_wait_at_once_count_once(monkeypatch):
    wait, now = jit._Wait(), iter([1.0, 5.0, 7.0, 8.5])
    monkeypatch.setattr(jit.time, "perf_counter", lambda: next(now))
    for happens in (wait.on_start, wait.on_start, wait.on_end, wait.on_end):
        happens(None)
    assert wait.seconds == 4.0
    for happens in (wait.on_start, wait.on_end):
        happens(None)
    assert wait.seconds == 4.0 + 1.5


# A process that dawdles between looking at the cache and writing to it.
SLOW_SAVE = """
import sys, time
from numba.core import caching

load = caching.IndexDataCacheFile._load_index

def dawdle(self):
    found = load(self)
    time.sleep(1.5)
    return found

caching.IndexDataCacheFile._load_index = dawdle
from doubling import double
print(double({}))
"""


def test_processes_that_save_kernels_at_once_do_not_mix_them_up(tmp_path):
    """Numba would give the kernels for two types the same file."""
    (tmp_path / "doubling.py").write_text(
        "from forestlab.core.jit import kernel\n\n@kernel()\ndef double(x):\n    return x + x\n"
    )
    variables = {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
    }
    both = [start(SLOW_SAVE.format(x), **variables) for x in ("4", "0.5")]
    assert [process.communicate(timeout=900)[0] for process in both] == ["8\n", "1.0\n"]
    again = "from doubling import double\n"
    again += "print(double(4), double(0.5), sum(double.stats.cache_hits.values()))"
    assert run(again, **variables)[0] == "8 1.0 2\n"


def test_kernels_that_nobody_uses_are_removed(tmp_path):
    base = tmp_path / "forestlab"
    for name, days in (("kernels-old", 61), ("kernels-used", 59), ("mine", 1000)):
        (base / name).mkdir(parents=True)
        os.utime(base / name, times=(then := time.time() - 24 * 3600 * days, then))
    script = "from forestlab.core.jit import cache_folder; print(cache_folder().name)"
    own = run(script, NUMBA_CACHE_DIR=str(tmp_path))[0].strip()
    assert {path.name for path in base.iterdir()} == {"kernels-used", "mine", own}

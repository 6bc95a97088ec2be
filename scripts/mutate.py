"""Changes the code one place at a time, and runs the tests that come by: see scripts/mutate.

mutmut makes the changes and shows them. It would start pytest anew for each, which takes longer
than most tests do. Here pytest collects the tests once and runs them all with the code as it is, so
that kernels are compiled and it is known which functions a test calls. Then, for each change, a
fork of that process runs the tests that call what is changed, until one fails: first those that
noticed another change of that function, then the quick ones.

    mutate.py run [--max-children N] [pattern...]    without a pattern: all without a result
    mutate.py results                                what no test noticed
    mutate.py show NAME                              one change
"""

import argparse
import contextlib
import fnmatch
import gc
import os
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.mutation import trampoline
from mutmut.mutation.data import SourceFileMutationData
from mutmut.utils.format_utils import mangled_name_from_mutant_name as function_of

ROOT = Path.cwd()
KEPT = ("twins_of",)  # a twin does not run what is changed, and takes seconds
SURVIVED, NOTICED, NO_TESTS = 0, 1, 33  # as mutmut has them
GRACE = 10  # seconds of CPU time, beyond three times those that the tests take without a change
BUSY = 10  # seconds that a second of CPU time may take while other programs run


def forget():
    """Empty the caches of the test modules: what is in them was found by the code as it is."""
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()) if name.startswith("test_") else ():
            if hasattr(value, "cache_clear") and key not in KEPT:
                value.cache_clear()


def run(test, following):
    test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)


class Mutants:
    """All changes and what came of them, in mutants/, where mutmut finds it."""

    def __init__(self, patterns):
        self.files = {}
        for path in mutmut.walk_mutatable_files():
            data = SourceFileMutationData(path=path)
            data.load()
            self.files |= dict.fromkeys(data.exit_code_by_key, data)
        self.wanted = [name for name in self.files if self._is_wanted(name, patterns)]

    def _is_wanted(self, name, patterns):
        if patterns:
            return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
        return self.files[name].exit_code_by_key[name] is None

    def note(self, name, code):
        self.files[name].exit_code_by_key[name] = code
        with contextlib.chdir(ROOT):
            self.files[name].save()


class Session:
    """A plug-in of pytest: its tests run for each change instead of once."""

    def __init__(self, mutants, n_forks):
        self.mutants, self.n_forks = mutants, n_forks
        self.failed = []
        self.called = set()  # functions, by the test at hand
        self.seconds = {}  # of CPU time, by test
        self.tests = defaultdict(list)  # by function
        self.noticed = defaultdict(Counter)  # by function: tests, by how many changes they noticed
        self.running = {}  # by process: the change, what it writes to, when it has to end
        trampoline.record_trampoline_hit = lambda name, caller=None: self.called.add(name)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtestloop(self, session):
        for state in ("stats", ""):  # kernels are compiled in the first round
            trampoline.set_mutant_under_test(state)
            for test in session.items:
                self.run_unchanged(test, state == "stats")
        if self.failed:
            raise pytest.UsageError(f"without any change these fail: {', '.join(self.failed)}")
        gc.freeze()  # so that forks share what is there
        tell, wanted = session.config.get_terminal_writer().line, self.mutants.wanted
        for n, name in enumerate(wanted):
            if n % 100 == 0:
                tell(f"{n} of {len(wanted)} mutants")
            while len(self.running) >= self.n_forks:
                self.wait()
            self.start(name)
        while self.running:
            self.wait()
        return True

    def run_unchanged(self, test, is_first):
        forget()
        self.called.clear()
        start = time.process_time()
        run(test, None)
        self.seconds[test] = time.process_time() - start
        for function in self.called if is_first else ():
            self.tests[function].append(test)

    def start(self, name):
        """Have a fork run the tests of a change."""
        tests, noticed = self.tests[function_of(name)], self.noticed[function_of(name)]
        if not tests:
            self.mutants.note(name, NO_TESTS)
            return
        tests = sorted(tests, key=lambda test: (-noticed[test.nodeid], self.seconds[test]))
        limit = GRACE + 3 * sum(self.seconds[test] for test in tests)
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os._exit(self.run_changed(name, tests, limit, writer))
        os.close(writer)
        self.running[pid] = name, reader, time.monotonic() + BUSY * limit

    def run_changed(self, name, tests, limit, writer):
        """Whether a test fails; which one is written to the parent."""
        limit = int(time.process_time() + limit)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 until the process ends
        trampoline.set_mutant_under_test(name)
        forget()
        try:
            for test, following in zip(tests, [*tests[1:], None], strict=True):
                run(test, following)
                if self.failed:
                    os.write(writer, test.nodeid.encode())
                    return NOTICED
        except BaseException:  # pytest itself came to grief
            return NOTICED
        return SURVIVED

    def wait(self):
        """Until a fork has ended; those that take too long are ended."""
        while True:
            for pid, (name, reader, deadline) in self.running.items():
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    del self.running[pid]
                    with os.fdopen(reader) as told:
                        self.noticed[function_of(name)].update(told.read().splitlines())
                    self.mutants.note(name, os.waitstatus_to_exitcode(status))
                    return
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGXCPU)
            time.sleep(0.01)


def make_mutants():
    """Write the changed code to mutants/, to be imported instead of the code itself."""
    Path("mutants").mkdir(exist_ok=True)
    trampoline.set_mutant_under_test("mutant_generation")
    with mutmut.CatchOutput(spinner_title="making mutants"):
        mutmut.copy_src_dir()
        mutmut.copy_also_copy_files()
        mutmut.setup_source_paths()
        mutmut.create_mutants(1)


def main():
    if sys.argv[1:2] != ["run"]:
        return mutmut.cli()
    parser = argparse.ArgumentParser("mutate.py run")
    parser.add_argument("--max-children", type=int, default=os.cpu_count())
    parser.add_argument("patterns", nargs="*")
    told = parser.parse_args(sys.argv[2:])
    make_mutants()
    session = Session(Mutants(told.patterns), told.max_children)
    options = config().pytest_add_cli_args + config().pytest_add_cli_args_test_selection
    os.chdir("mutants")
    return pytest.main(["--rootdir=.", "--tb=line", *options], [session])


if __name__ == "__main__":
    sys.exit(main())

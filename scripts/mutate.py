"""mutmut, as scripts/mutate calls it: with pytest 9.2, and with tests that keep what they found."""

import sys

import pytest
from mutmut.__main__ import cli
from mutmut.mutation.trampoline import get_mutant_under_test
from mutmut.runners.harness import PytestRunner

# mutmut 3.8 asks each test for its `_nodeid`, a private name that pytest 9.2 dropped.
if not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = pytest.Item.nodeid

# A twin does not run what is changed, and takes seconds.
KEPT = ("twins_of",)


class Forgetful:
    """Empties the caches of the test modules: of a mutant once, else before each test.

    A mutant runs in a fork of the process in which all tests ran before, for kernels are compiled
    there: what tests keep in a `functools.cache` was found by the code as it is. And while it is
    noted which test needs what, one that takes from a cache what an earlier one put there would
    not be known to need what made it.
    """

    def __init__(self):
        self.forgot = False

    def pytest_runtest_setup(self):
        if self.forgot and get_mutant_under_test() != "stats":
            return
        self.forgot = True
        modules = [module for name, module in sys.modules.items() if name.startswith("test_")]
        for module in modules:
            for name, value in vars(module).items():
                if hasattr(value, "cache_clear") and name not in KEPT:
                    value.cache_clear()


execute = PytestRunner.execute_pytest


def execute_forgetfully(runner, params, plugins=(), **more):
    return execute(runner, params, plugins=[*plugins, Forgetful()], **more)


PytestRunner.execute_pytest = execute_forgetfully
cli()

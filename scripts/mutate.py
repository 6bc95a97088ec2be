"""mutmut, as scripts/mutate calls it: with pytest 9.2, and with tests that keep what they found."""

import os
import sys

import pytest
from mutmut.__main__ import cli

# mutmut 3.8 asks each test for its `_nodeid`, a private name that pytest 9.2 dropped.
if not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = pytest.Item.nodeid

# A twin does not run what is changed, and takes seconds.
KEPT = ("twins_of",)


def forget():
    """Empty the caches of the test modules.

    A mutant runs in a fork of the process in which all tests ran before, for kernels are compiled
    there. What tests keep in a `functools.cache` was found by the code as it is.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("test_")]
    for module in modules:
        for name, value in vars(module).items():
            if hasattr(value, "cache_clear") and name not in KEPT:
                value.cache_clear()


os.register_at_fork(after_in_child=forget)
cli()

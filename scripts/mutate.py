"""mutmut, as scripts/mutate calls it."""

import pytest
from mutmut.__main__ import cli

# mutmut 3.8 asks each test for its `_nodeid`, a private name that pytest 9.2 dropped.
if not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = pytest.Item.nodeid

cli()

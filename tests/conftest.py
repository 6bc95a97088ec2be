"""The order of the tests' files, of which each runs in one process; and no test's store, or that of
whoever runs them, is another test's."""

import os
import sys

import pytest

# These start programs and wait for them. They come first: one that began last would be waited for
# by all other processors.
LONGEST = (
    "test_readme.py",
    "test_process.py",
    "test_ui.py",
    "test_grow.py",
    "test_run.py",
    "test_compose.py",
    "test_plugins.py",
)


KEPT = ("MLFLOW_TRACKING_URI", "FORESTLAB_HIDDEN")


def pytest_collection_modifyitems(items):
    order = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(LONGEST)))


@pytest.fixture(autouse=True)
def _no_store():
    """MLflow keeps the address of a store for itself and in the environment, as forestlab does
    with one that has a password."""
    for variable in KEPT:
        os.environ.pop(variable, None)
    yield
    for variable in KEPT:
        os.environ.pop(variable, None)
    if "mlflow" in sys.modules:
        sys.modules["mlflow"].set_tracking_uri(None)

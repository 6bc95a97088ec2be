"""What makes kernels, and keeps them."""

import gc

import numpy as np
import pytest
from numba.core import event
from numba.core.errors import TypingError

from forestlab.core.arrays import AXIS, NODE, RIGHT
from forestlab.core.jit import MANY_OBJECTS, kernel, made_from
from forestlab.core.questions import AXIS_KIND, KINDS, side_finder


def test_what_is_made_from_tables_is_kept_until_they_change():
    rows, others, made = {"a": 1}, {"b": {"c": 2}}, []

    @made_from(rows, others)
    def make(name):
        made.append(name)
        return rows.get(name), len(made)

    assert make("a") == make("a") == (1, 1)
    assert make("x") == (None, 2)
    assert made == ["a", "x"]
    rows["x"] = 5
    assert make("x") == make("x") == (5, 3)
    others["b"]["c"] = 3  # a row within a row
    assert make("x") == (5, 4)
    assert make("a") == (1, 5)
    del rows["x"]
    assert make("x") == (None, 6)


def test_a_kind_of_node_that_is_added_late_is_asked(monkeypatch):
    """Walks of the kinds before have been made by then."""
    nodes = np.zeros(1, NODE)
    nodes["kind"], nodes["cut_low"], nodes["missing"] = 77, -np.inf, RIGHT
    pools, x = (np.zeros(0), np.zeros(0, np.uint64)), np.array([1.0])
    assert side_finder()(nodes[0], *pools, x) == RIGHT  # there is no such kind
    row = AXIS_KIND._replace(number=lambda node, params, x: -x[node["feature"]])
    monkeypatch.setitem(KINDS, 77, row)
    assert side_finder()(nodes[0], *pools, x) != RIGHT
    monkeypatch.undo()
    assert side_finder()(nodes[0], *pools, x) == RIGHT
    assert AXIS in KINDS


@pytest.mark.parametrize("limit", [0, 700])
def test_garbage_is_looked_for_as_before_once_a_kernel_is_compiled(limit):
    before, seen = gc.get_threshold(), []

    @kernel()
    def double(x):
        return 2 * x

    @kernel()
    def misspelt(x):
        return x.no_such_thing

    class Look(event.Listener):
        def on_start(self, event):
            seen.append(gc.get_threshold()[0])

        on_end = on_start

    gc.set_threshold(limit, *before[1:])
    try:
        with event.install_listener("numba:compile", Look()):
            assert double(limit + 3) == 2 * limit + 6
            assert gc.get_threshold()[0] == limit
            with pytest.raises(TypingError):
                misspelt(3)
        assert gc.get_threshold()[0] == limit
    finally:
        gc.set_threshold(*before)
    assert max(seen) == (MANY_OBJECTS if limit else 0)

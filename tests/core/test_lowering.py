"""What numba is told beyond its decorators gives the numbers that plain Python gives."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.compiler import Compiler, Flags, StateDict
from numba.core.errors import TypingError

from forestlab.core.jit import either, hold, jitable, kernel, prefetch
from forestlab.core.lowering import UNUSED


class Inner(NamedTuple):
    values: np.ndarray
    factor: float


class Outer(NamedTuple):
    before: int
    inner: Inner
    seen: np.ndarray


@jitable
def weigh(outer, step):
    """Reads members of members, and writes to an array of one."""
    outer.seen[step] += 1
    return outer.inner.factor * outer.inner.values[step] + outer.before


def total(outer, n_steps):
    """Each step holds a tuple of its own, with the first one's arrays."""
    outer = hold(outer)
    found = 0.0
    for step in range(n_steps):
        prefetch(outer.inner.values, step + 1)  # at the end, a place that is not there
        inner = Inner(outer.inner.values, outer.inner.factor + step)
        found += weigh(hold(Outer(outer.before, inner, outer.seen)), step)
    return found


def given() -> Outer:
    values = np.array([0.5, -2.0, 3.25, 7.0])
    return Outer(2, Inner(values, 1.5), np.zeros(4, np.int64))


@pytest.mark.parametrize("n_steps", [0, 1, 4])
def test_held_tuples_are_read_as_they_are(n_steps):
    compiled, plain = given(), given()
    assert kernel(allocates=False)(total)(compiled, n_steps) == total(plain, n_steps)
    np.testing.assert_array_equal(compiled.seen, plain.seen)
    expected = sum((1.5 + i) * plain.inner.values[i] + 2 for i in range(n_steps))
    assert total(given(), n_steps) == expected  # few binary digits: nothing is rounded


def test_a_member_that_is_not_there_does_not_compile():
    def misspelt(outer):
        return hold(outer).innr

    with pytest.raises(TypingError, match="innr"):
        kernel()(misspelt)(given())


def test_tuples_of_other_types_are_other_kernels():
    """The name of a held type stands for all of it: two that share one would share code."""
    add = kernel()(total)
    wide = Outer(2, Inner(np.array([3.0, 4.0]), 1.5), np.zeros(2, np.int64))
    narrow = Outer(2, Inner(np.array([3, 4], np.int8), 1.5), np.zeros(2, np.int32))
    assert add(wide, 2) == add(narrow, 2) == total(given()._replace(inner=wide.inner), 2)


def smaller(values, others, found):
    for i in range(found.shape[0]):
        found[i] = either(values[i] <= others[i], values[i], others[i])


def test_either_takes_the_one_that_is_said_without_a_branch():
    values, others = np.array([1.0, 5.0, 2.0, np.nan]), np.array([3.0, 4.0, 2.0, 7.0])
    compiled, plain = np.zeros(4), np.zeros(4)
    choose = njit(smaller)  # not kept on disk, whence numba would not tell the code
    choose(values, others, compiled)
    smaller(values, others, plain)
    np.testing.assert_array_equal(compiled, plain)
    np.testing.assert_array_equal(plain, [1.0, 4.0, 2.0, 7.0])
    (code,) = choose.inspect_llvm().values()
    assert "!unpredictable" in code


def test_either_chooses_between_values_of_one_type():
    def mixed(value):
        return either(value > 0, 1, 0.5)

    with pytest.raises(TypingError, match="either"):
        kernel()(mixed)(1)


def test_numba_knows_each_pass_that_parts_go_without():
    compiler = Compiler.__new__(Compiler)
    compiler.state = StateDict()
    compiler.state.func_ir, compiler.state.flags = None, Flags()
    compiler.state.flags.enable_pyobject = compiler.state.flags.force_pyobject = False
    (passes,) = compiler.define_pipelines()
    assert {each.__name__ for each, _ in passes.passes} >= UNUSED

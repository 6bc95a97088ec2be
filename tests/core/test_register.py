"""The door for criteria of one's own. That they grow trees is seen in the README's example and in
tests/test_plugins.py."""

import numba
import pytest

import forestlab
from forestlab.core.criteria import CRITERIA, gini_add, gini_score
from forestlab.core.grow import KernelParts, grow_kernel
from forestlab.core.register import register_criterion


def own_score(side, numbers):
    return gini_score(side, numbers)


@pytest.fixture(autouse=True)
def forgotten():
    before = dict(CRITERIA)
    yield
    CRITERIA.clear()
    CRITERIA.update(before)


@pytest.mark.parametrize(
    ("task", "usual"), [("classification", "gini"), ("regression", "variance")]
)
def test_what_is_not_given_is_that_of_the_task(task, usual):
    register_criterion("mine", task, add=gini_add, score=own_score, scale=2)
    row = CRITERIA["mine"]
    assert (row.task, row.add, row.score, row.scale) == (task, gini_add, own_score, 2.0)
    assert (row.gather, row.impurity) == (CRITERIA[usual].gather, CRITERIA[usual].impurity)
    assert (row.add_whole, row.alias_of, row.scan) == (None, "", None)


def test_what_is_given_is_taken_and_marked_for_the_compiler():
    @numba.njit
    def compiled(score, total, numbers, stats):
        return 1.0

    given = {"impurity": compiled, "gather": CRITERIA["entropy"].gather, "add_whole": gini_add}
    forestlab.register_criterion("mine", "classification", add=gini_add, score=own_score, **given)
    row = CRITERIA["mine"]
    assert row.impurity is getattr(compiled, "py_func", compiled)
    assert (row.gather, row.add_whole) == (given["gather"], gini_add)

    @numba.njit
    def calls():
        return own_score(None, (2.0, 0.0, 3.0))  # would not compile unless it is marked

    assert calls() == 3.0


def test_the_same_module_may_register_again_and_kernels_are_made_anew():
    register_criterion("mine", "classification", add=gini_add, score=own_score)
    parts = KernelParts("mine", "axis", "exact", False, True)
    before = grow_kernel(parts)
    assert grow_kernel(parts) is before
    register_criterion("mine", "classification", add=CRITERIA["entropy"].add, score=own_score)
    assert grow_kernel(parts) is not before


@pytest.mark.parametrize(
    ("name", "score", "said"),
    [("gini", own_score, "criterion 'gini' is one of forestlab: give yours another name."),
     ("mine", gini_score, f"criterion 'mine' is one of {__name__}: give yours another name."),
     ("auto", own_score, "a criterion's name must be a word other than 'auto'; got 'auto'."),
     ("two words", own_score, "a criterion's name must be a word .* got 'two words'."),
     (None, own_score, "a criterion's name must be a word .* got None.")],
)  # fmt: skip
def test_names_that_are_taken_or_none(name, score, said):
    register_criterion("mine", "classification", add=gini_add, score=own_score)
    with pytest.raises(ValueError, match=f"^{said}$"):
        register_criterion(name, "classification", add=gini_add, score=score)


def test_a_task_that_there_is_not():
    with pytest.raises(ValueError, match=r"^task is one of 'classification', .*, not 'ranks'$"):
        register_criterion("mine", "ranks", add=gini_add, score=own_score)

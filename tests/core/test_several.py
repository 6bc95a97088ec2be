"""Trees of several targets of classes, against their naive twins.

All choices of criterion, search and learner are grown without the JIT, in a process of its own, as
numba reads that switch only once; compiled are few.
"""

import random
from itertools import product
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from cases import (
    LEARNERS,
    SEED,
    Case,
    assert_same_tree,
    data_of,
    goes_together,
    name_of,
    random_case,
    recipe_of,
)
from without_jit import WITHOUT_JIT, running_without_jit

from forestlab.core.criteria import CRITERIA, Entered
from forestlab.core.search import SEARCHES
from forestlab.core.several import first_slots, several, side_size
from forestlab.forest import grow_trees, prepare

N_ROWS = 28 if WITHOUT_JIT else 200
EACH = 5, 2, 1, 3  # classes of each target: of the first two have no rows, the third has but one
OF_CLASSES = ("gini", "entropy", "entropy2", "misclassification")

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True, scope="module")
def _wrapping_integers():
    """Keys wrap around by design; numpy warns of it where nothing is compiled."""
    with np.errstate(over="ignore"):
        yield


def all_cases():
    """Of criterion, search, learner and rho or not a quarter, in which still every two choices
    meet; each with random other choices."""
    rng = random.Random(3)
    axes = OF_CLASSES, tuple(SEARCHES), tuple(LEARNERS), (0, 3)
    chosen = [
        main
        for main in product(*axes)
        if sum(axis.index(it) for axis, it in zip(axes, main, strict=True)) % 4 == 0
    ]
    return [
        random_case(rng, criterion=criterion, search=search, learner=learner, rho=rho)
        for criterion, search, learner, rho in chosen
        if goes_together(criterion, learner, search)
    ]


# What is compiled, some ten seconds each. Nodes of 200 rows fill bins of the first column of ties.
COMPILED = [
    Case("gini", data="ties", bag="balanced"),
    pytest.param(
        Case("entropy", search="boundary", weighted=True, limits="heavy leaf"),
        marks=pytest.mark.long,
    ),
    pytest.param(Case("misclassification", learner="band", rho=3), marks=pytest.mark.long),
    pytest.param(Case("gini", missing="learned", data="duplicates"), marks=pytest.mark.long),
]
CASES = all_cases() if WITHOUT_JIT else COMPILED


def problem(case, n_rows=N_ROWS):
    """X, y of four targets, weights, drawn_by; and the recipe."""
    X, y, weights, drawn_by = data_of(case, n_rows)
    rng = np.random.default_rng(7)
    second = (np.nan_to_num(X[:, 2]) > rng.normal(size=n_rows)).astype(float)
    third = rng.integers(0, 3, n_rows).astype(float)
    y = np.column_stack([y, second, 0 * second, third])
    recipe = recipe_of(case, n_rows)._replace(n_classes=sum(EACH), classes_each=EACH)
    return X, y, weights, drawn_by, recipe


@pytest.fixture(scope="module")
def run_without_jit(request):
    marks = request.config.option.markexpr
    with running_without_jit(test_tree_is_that_of_its_twin, marks) as run:
        yield run


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_tree_is_that_of_its_twin(case, run_without_jit):
    X, y, weights, drawn_by, recipe = problem(case)
    twin = naive.grow_tree(X, y, recipe, SEED, 1, weights, drawn_by, case.max_bins)
    tree = grow_trees(prepare(X, y, recipe, weights, drawn_by), recipe, SEED, 1, 1)[0]
    assert_same_tree(tree, *twin)
    assert len(tree.nodes) > 1 or case.limits != "none"


@pytest.mark.parametrize("seed", range(8))  # in one of them rounding would show
@pytest.mark.parametrize("criterion", OF_CLASSES)
def test_a_target_of_one_class_adds_nothing_to_the_last_digit(criterion, seed):
    """Though sums of its weights are rounded. Means of 1, 2 and 4 targets are exact."""
    rng = np.random.default_rng(seed)
    weights, label = 10 ** rng.uniform(-8, 8, 30), rng.integers(0, 2, 30)
    y = np.column_stack([label, np.full(30, 2), label, np.full(30, 2)]).astype(float)
    found = []
    for each in ((2,), (2, 3), (2, 3, 2, 3)):
        one, n_targets = several(CRITERIA[criterion]), len(each)
        plan = SimpleNamespace(y=y[:, :n_targets], first_slots=first_slots(each))
        scratch = SimpleNamespace(
            slots=np.empty((30, n_targets), np.uint32),
            amounts=np.empty((30, n_targets)),
            sums=np.empty(sum(each)),
            total=np.empty(side_size(each)),
            groups=SimpleNamespace(order=np.arange(30, dtype=np.uint64)),
        )
        rows, stats = np.arange(30, dtype=np.uint32), np.empty(sum(each))
        pure, numbers, impurity, rounding = one.measure(plan, rows, weights, scratch, stats)
        assert not pure
        assert rounding == pytest.approx(impurity * (1 + n_targets / 30), rel=1e-15)
        whole = one.score(plan, scratch, scratch.total, numbers)
        assert whole == pytest.approx(numbers[0] * impurity, rel=1e-12)
        side = np.zeros(side_size(each))
        for i in range(30):
            numbers = one.put(plan, scratch, i, False, side, numbers)
        found.append((impurity * n_targets, one.score(plan, scratch, side, numbers) * n_targets))
    assert found[0] == found[1]
    assert found[2] == tuple(2 * number for number in found[0])


def test_slots_stand_target_after_target():
    assert first_slots(EACH).tolist() == [0, 5, 7, 8, 11]
    assert side_size(EACH) == 11 + 3 * 4


def test_a_criterion_whose_sides_rows_enter_is_of_one_target():
    entered = next(row for row in CRITERIA.values() if isinstance(row, Entered))
    with pytest.raises(ValueError, match="one target of classes"):
        several(entered)


# ---- the twins again ---------------------------------------------------------------------------


@pytest.mark.skipif(WITHOUT_JIT, reason="this is that process")
def test_trees_are_those_of_their_twins_uncompiled(run_without_jit):
    """The last test, as it waits for the other process."""
    output, _ = run_without_jit.communicate()
    assert run_without_jit.returncode == 0, output
    assert f"{len(all_cases())} passed" in output

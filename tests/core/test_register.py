"""The door for criteria of one's own. That they grow trees is seen in the README's example and in
tests/test_plugins.py."""

import numba
import numpy as np
import pytest

import forestlab
from forestlab.core.criteria import CRITERIA, gini_add, gini_score
from forestlab.core.grow import KernelParts, grow_kernel
from forestlab.core.jit import jitable
from forestlab.core.register import register_criterion
from forestlab.forest import desk
from forestlab.run.rehearsal import slow_grower


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


@jitable
def minus_root_of_squares(side, numbers):
    weight, _, crossed = numbers
    return -np.sqrt(weight * weight - 2.0 * crossed) if weight > 0.0 else 0.0


def minus_root(y, weights):
    return -np.linalg.norm(np.bincount(y, weights)) / weights.sum()


@jitable
def minus_sum(side, numbers):
    """Of the distances from the node's mean; it favours even cuts more than the variance does."""
    return -abs(side[1])


@pytest.mark.parametrize("given", ["score", "name alone"])
def test_a_row_made_of_another_is_grown_by_its_own_functions(given, monkeypatch):
    """Also where there are shortcuts for those of the other; uncompiled, as any code will do."""
    monkeypatch.setattr(desk, "grow_kernel", slow_grower)
    score = minus_root_of_squares if given == "score" else gini_score
    CRITERIA["mine"] = CRITERIA["gini"]._replace(score=score)
    rng, differ = np.random.default_rng(0), 0
    for _ in range(10):
        X, y = rng.integers(0, 30, (100, 3)).astype(float), rng.integers(0, 4, 100)
        own = {"score": minus_root, "name alone": "gini"}[given]
        grown, twin, plain = (
            forestlab.TreeClassifier(criterion=c, max_depth=2, random_state=0).fit(X, y).forest_
            for c in ("mine", own, "gini")
        )
        for field in ("feature", "cut_high", "n_rows"):
            assert grown.nodes[field].tolist() == twin.nodes[field].tolist()
        differ += grown.nodes["cut_high"].tolist() != plain.nodes["cut_high"].tolist()
    assert (differ > 0) == (given == "score")


def test_numbers_too_are_swept_as_the_variance_by_its_own_functions_alone(monkeypatch):
    monkeypatch.setattr(desk, "grow_kernel", slow_grower)
    CRITERIA["mine"] = CRITERIA["variance"]._replace(score=minus_sum)
    rng, differ = np.random.default_rng(1), 0
    how = {"search": forestlab.Exact(threshold="value"), "max_depth": 1, "random_state": 0}
    for _ in range(10):
        X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
        roots = [
            forestlab.TreeRegressor(criterion=name, **how).fit(X, y).forest_.nodes[0]
            for name in ("mine", "variance")
        ]
        mine, plain = ((root["feature"], root["cut_high"]) for root in roots)
        centred = y - y.mean()

        def scored(j, cut, X=X, y=centred):
            sides = y[X[:, j] <= cut], y[X[:, j] > cut]
            return -sum(abs(side.sum()) for side in sides)

        best = min((scored(j, cut), j, cut) for j in range(2) for cut in np.sort(X[:, j])[:-1])
        assert mine == best[1:]
        differ += mine != plain
    assert differ > 0

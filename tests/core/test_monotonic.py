"""Trees whose answers keep the order that features ask for: against their twins, compiled and not,
against scikit-learn's, and what must hold of all of them."""

import random
from itertools import product

import naive
import numpy as np
import pytest
from cases import (
    SEED,
    Case,
    assert_same_tree,
    classifies,
    data_of,
    goes_together,
    name_of,
    random_case,
    recipe_of,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from forestlab import TreeClassifier, TreeRegressor
from forestlab.core import monotonic
from forestlab.core.arrays import LEAF
from forestlab.core.criteria import CRITERIA
from forestlab.core.grow import make_grow
from forestlab.core.leaves import LEAVES
from forestlab.core.missing import MISSING
from forestlab.core.own import uncompiled
from forestlab.core.search import SEARCHES
from forestlab.forest import desk, grow_trees, prepare

SIGNS = (1, -1, 0, 0, -1)
N_ROWS = 40
DRAWS = {"all": {"rho": 0}, "features": {"rho": 3, "pairs": False}, "pairs": {"rho": 3, "pairs": 1}}


def all_cases():
    """Every criterion, search and way to draw that go together, each with random other choices."""
    rng, found = random.Random(3), []
    for criterion, search, draws in product(CRITERIA, SEARCHES, DRAWS):
        wanted = {"criterion": criterion, "search": search} | DRAWS[draws]
        if goes_together(criterion, "axis", search) and (draws, search) != ("pairs", "uniform"):
            missing = rng.choice([name for name in MISSING if name != "both"])
            found.append(random_case(rng, learner="axis", n_targets=1, missing=missing, **wanted))
    return found


def problem_of(case, n_rows=N_ROWS):
    """X, y of two classes or of numbers, weights, drawn_by, and the recipe."""
    X, y, *weights = data_of(case, n_rows)
    recipe = recipe_of(case, n_rows)._replace(monotonic=SIGNS)
    if classifies(case):
        return X, (y > 1).astype(float), *weights, recipe._replace(n_classes=2)
    return X, y, *weights, recipe


def grow(X, y, weights, drawn_by, recipe):
    return grow_trees(prepare(X, y, recipe, weights, drawn_by), recipe, SEED, 1, 1)[0]


def twin_of(X, y, weights, drawn_by, recipe, case):
    return naive.grow_tree(X, y, recipe, SEED, 1, weights, drawn_by, case.max_bins)


@pytest.fixture
def _without_jit(monkeypatch):
    """The same growing code as plain Python."""

    def slowly(parts):
        return uncompiled(make_grow(CRITERIA[parts.criterion], LEAVES[parts.leaf], parts))

    monkeypatch.setattr(desk, "grow_kernel", slowly)


@pytest.mark.parametrize("case", all_cases(), ids=name_of)
@pytest.mark.usefixtures("_without_jit")
def test_tree_is_that_of_its_twin(case):
    problem = problem_of(case)
    tree = grow(*problem)
    assert_same_tree(tree, *twin_of(*problem, case))
    assert_in_order(tree)


def answers_of(tree):
    """What each node answers, to the bit as trees are asked."""
    stats = tree.stats
    return stats[:, 1] / (stats[:, 0] + stats[:, 1]) if stats.shape[1] == 2 else stats[:, 1]


def below(nodes, i):
    """A node and all below it."""
    if nodes["kind"][i] == LEAF:
        return [i]
    return [i, *below(nodes, nodes["left"][i]), *below(nodes, nodes["right"][i])]


def assert_in_order(tree):
    """All that is left of a cut answers no more, or no less, than all that is right of it: any two
    of these nodes may answer two rows that differ in this feature alone, at some depths."""
    answers, nodes = answers_of(tree), tree.nodes
    for node in nodes[nodes["kind"] != LEAF]:
        sign = SIGNS[node["feature"]]
        left, right = (sign * answers[below(nodes, node[side])] for side in ("left", "right"))
        assert left.max() <= right.min()


# ---- compiled ----------------------------------------------------------------------------------

# Two kernels serve all that follows: cuts of all kinds, and weights that are whole numbers.
COMPILED = [Case("gini", random_ties=True), Case("variance", random_ties=True)]
for_each_task = pytest.mark.parametrize("case", COMPILED, ids=["classes", "numbers"])


@for_each_task
@pytest.mark.parametrize("data", ["continuous", "ties"])
def test_compiled_tree_is_that_of_its_twin(case, data):
    case = case._replace(data=data)
    problem = problem_of(case, 200)
    tree = grow(*problem)
    assert_same_tree(tree, *twin_of(*problem, case))
    assert_in_order(tree)


@for_each_task
def test_a_shallow_tree_is_the_top_of_a_deep_one(case):
    *data, recipe = problem_of(case, 200)
    deep = grow(*data, recipe)
    for depth in range(naive.depths(deep.nodes).max() + 1):
        shallow = grow(*data, recipe._replace(limits=recipe.limits._replace(max_depth=depth)))
        nodes, kept = naive.cut(deep.nodes, depth)
        assert nodes.tobytes() == shallow.nodes.tobytes()
        assert deep.stats[kept].tobytes() == shallow.stats.tobytes()
        assert deep.means[kept].tobytes() == shallow.means.tobytes()


@for_each_task
def test_impurities_and_means_are_those_of_the_rows(case):
    X, y, *_, recipe = problem_of(case, 200)
    tree = grow(X, y, None, None, recipe)
    seen = [naive.path(tree.nodes, x) for x in X]
    for i, node in enumerate(tree.nodes):
        rows = y[[i in path for path in seen]]
        impurity = naive.impurity_of(case.criterion, rows, np.ones(len(rows)), None)
        np.testing.assert_allclose(node["impurity"], impurity, 1e-9, 1e-12)  # sums in another order
        if not classifies(case):
            np.testing.assert_allclose(tree.means[i], rows.mean(axis=0), 1e-9, 1e-12)


# ---- scikit-learn ------------------------------------------------------------------------------

PEERS = {
    "gini": (TreeClassifier, DecisionTreeClassifier, "gini"),
    "variance": (TreeRegressor, DecisionTreeRegressor, "squared_error"),
}


def without_ties(case, seed):
    """Numbers that float32 has; weights are whole and so different that no two cuts are equal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(250, 4)).astype(np.float32).astype(float)
    signal = X[:, 0] - X[:, 1] + np.sin(3 * X[:, 0]) + X[:, 2] * X[:, 3] + rng.normal(size=250)
    return X, signal > 0 if classifies(case) else signal, rng.integers(1, 1000, 250).astype(float)


@for_each_task
@pytest.mark.parametrize("signs", [(1, 0, 0, 0), (-1, 0, 0, 0), (1, -1, 0, 1), (-1, 1, -1, 0)])
def test_trees_are_scikit_learns(case, signs):
    ours, peer, criterion = PEERS[case.criterion]
    X, y, weights = without_ties(case, seed=4)
    limits = {"min_samples_leaf": 6, "monotonic_cst": signs}
    found = ours(criterion=case.criterion, **limits).fit(X, y, weights).tree_
    expected = peer(criterion=criterion, random_state=0, **limits).fit(X, y, weights).tree_
    assert found.node_count == expected.node_count > 20
    np.testing.assert_array_equal(found.feature, expected.feature)
    np.testing.assert_array_equal(found.children_left, expected.children_left)
    # Theirs lie midway by another formula, and are sums in another order.
    np.testing.assert_allclose(found.threshold, expected.threshold, 1e-7)
    np.testing.assert_allclose(found.value, expected.value, 1e-9, 1e-12)
    np.testing.assert_allclose(found.impurity, expected.impurity, 1e-9, 1e-12)


# ---- what holds of every tree ------------------------------------------------------------------


@for_each_task
def test_a_constraint_that_forbids_every_cut_leaves_a_stump(case):
    X, y = np.arange(20.0)[:, None], (np.arange(20) > 12).astype(float)
    cls = PEERS[case.criterion][0]
    assert cls(monotonic_cst=[-1]).fit(X, y).tree_.node_count == 1
    assert cls(monotonic_cst=[1]).fit(X, y).tree_.node_count == 3


def test_shares_are_read_as_they_are_clipped():
    """To the bit: of many nodes that are clipped to one bound none must answer another number."""
    rng = np.random.default_rng(0)
    for weight in [*range(1, 400), *rng.lognormal(sigma=6, size=400)]:
        bound = rng.integers(1, 60) / rng.integers(60, 120)
        for lower, upper in (bound, bound), (bound, 1.0), (0.0, bound), (bound, bound + 1e-16):
            stats = weight * np.array(rng.choice([[0.0, 1.0], [1.0, 0.0]]))
            monotonic.write_share(stats, lower, upper)
            assert lower <= stats[1] / (stats[0] + stats[1]) <= upper
            np.testing.assert_allclose(stats.sum(), weight, 1e-8)  # 2**-29 at most


@for_each_task
def test_rounding_forbids_nothing(case):
    """Both sides answer the same, but for the last bits of their sums."""
    y = np.array([0.1, 0.2, 0.3, 0.3, 0.1, 0.2]) if case.criterion == "variance" else None
    y = np.array([0.0, 1.0, 1.0, 1.0, 0.0, 1.0]) if y is None else y
    X = np.array([0.0, 0, 0, 1, 1, 1])[:, None]
    for sign in 1, -1:
        tree = PEERS[case.criterion][0](monotonic_cst=[sign]).fit(X, y).tree_
        assert tree.node_count == 3

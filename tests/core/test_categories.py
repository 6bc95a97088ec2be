"""Columns of categories: sets that are looked at, the walk by them, the room that they take.

That trees are those of their twins is seen in test_grow, over all searches, learners, criteria and
ways of missing values.
"""

from types import SimpleNamespace

import naive
import naive_categories
import numpy as np
import pytest
from cases import LEVELS, SEED, Case, data_of, recipe_of
from hypothesis import given, settings
from hypothesis import strategies as st

from forestlab.core import levels as core_levels
from forestlab.core.arrays import CATEGORY, LEAF, SIDE, plant
from forestlab.core.encode import encode_some
from forestlab.core.levels import STEPS, find_direction, sort_places
from forestlab.core.walk import GENERAL, SHORT_SETS, walk_for
from forestlab.forest import ends, grow_forest, grow_trees, prepare

# The kernel that quick tests compile anyway.
CASE = Case(criterion="gini", weighted=True, missing="learned", categories="subset")
N_ROWS = 200


@pytest.fixture(autouse=True, scope="module")
def _wrapping_integers():
    """Keys wrap around by design; numpy warns of it where nothing is compiled."""
    with np.errstate(over="ignore"):
        yield


def grown(case=CASE, n_rows=N_ROWS):
    X, y, weights, _ = data_of(case, n_rows)
    recipe = recipe_of(case, n_rows)
    training = prepare(X, y, recipe, weights)
    return X, weights, recipe, training, grow_trees(training, recipe, SEED, 1, 1)[0]


# ---- codes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [0, 3])
@pytest.mark.parametrize("n_levels", [5, 300, 65_535])
def test_the_code_of_a_category_is_its_level(n_levels, max_bins):
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, n_levels, 50), rng.normal(size=50)], axis=1)
    X[7, 0] = np.nan
    columns, lacking = encode_some(X, None, max_bins, levels=(n_levels, 0))
    assert lacking
    np.testing.assert_array_equal(columns.codes[0], np.where(np.isnan(X[:, 0]), n_levels, X[:, 0]))
    np.testing.assert_array_equal(columns.levels, [n_levels, 0])
    assert columns.first[1] == n_levels
    if max_bins:
        assert columns.first[2] - columns.first[1] == max_bins  # numbers are binned all the same


# ---- which sets --------------------------------------------------------------------------------


def made(criterion, seed, n_levels, n_classes):
    """The problem of one node, with one column of categories."""
    rng = np.random.default_rng(seed)
    case = Case(criterion=criterion, categories="subset")
    X = rng.integers(0, n_levels, (30, 1)).astype(float)
    y = rng.integers(0, n_classes, (30, 1)).astype(float)
    weights = rng.random(30) + 0.1
    recipe = recipe_of(case, 30)._replace(levels=(n_levels,), n_classes=0)
    if criterion in naive.OF_CLASSES:
        recipe = recipe._replace(n_classes=n_classes)
    yardstick = naive.yardstick_of(criterion, y, weights, 30.0)
    scales = np.zeros(1), np.ones(1)
    return naive.Problem(X, X, y, weights, [0], recipe, yardstick, *scales, weights, np.ones(30))


def score(problem, rows, members):
    inside = np.isin(problem.high[rows, 0], list(members))
    return sum(naive.weighted_impurity(problem, rows[side]) for side in (inside, ~inside))


@pytest.mark.parametrize("criterion", naive.IMPURITIES)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_set_is_better_than_those_looked_at(criterion, n_classes):
    """Of 2 classes, or numbers, those that begin an order are enough by most criteria; of more
    classes, and by the others, all sets are listed where levels are few."""
    one_number = n_classes == 2 or criterion not in naive.OF_CLASSES
    in_order = one_number and criterion in naive_categories.IN_ORDER
    n_levels = 10 if in_order else 7
    for seed in range(5):
        problem = made(criterion, seed, n_levels, n_classes)
        rows = np.arange(30)
        looked_at = naive_categories.sets(problem, rows, 0, 1)
        found = min(score(problem, rows, asked.members) for asked, _ in looked_at)
        every = naive_categories.subsets(looked_at[0][0].present)
        best = min(score(problem, rows, members) for members in every)
        assert found == pytest.approx(best, rel=1e-12)  # sums of 30 numbers, in another order
        n_present = len(looked_at[0][0].present)
        assert len(looked_at) == (n_present - 1 if in_order else 2 ** (n_present - 1) - 1)


def categories_of(profiles, weights):
    n_slots = profiles.shape[1]
    direction, turned = np.zeros((2, n_slots))
    return SimpleNamespace(
        profiles=profiles, weights=weights, direction=direction, turned=turned, values=np.zeros(1)
    )


def test_the_direction_is_the_first_principal_component():
    """Its iteration has converged where the first component is twice as wide as the second."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        profiles = (
            rng.normal(size=(12, 4)) * [3, 1.5, 1, 0.5] @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
        )
        weights = rng.random(12) + 0.5
        categories = categories_of(profiles, weights)
        find_direction(categories, 12)
        found = categories.direction / np.linalg.norm(categories.direction)
        sizes, axes = np.linalg.eigh(profiles.T @ (weights[:, None] * profiles))
        slow = (sizes[-2] / sizes[-1]) ** STEPS
        assert abs(found @ axes[:, -1]) > 1 - 10 * slow**2 - 1e-12
        assert categories.direction.max() == 1


def test_levels_that_hold_the_same_have_no_direction():
    categories = categories_of(np.zeros((3, 2)), np.ones(3))
    find_direction(categories, 3)
    np.testing.assert_array_equal(categories.direction, [1, 0])


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_places_are_sorted_by_value_then_level(values):
    categories = SimpleNamespace(places=np.arange(len(values)), values=np.array(values, np.float64))
    sort_places(categories, len(values))
    assert categories.places.tolist() == sorted(range(len(values)), key=lambda g: (values[g], g))


# ---- walking -----------------------------------------------------------------------------------


def goes_left(tree, i, x):
    """Which way a row goes at an inner node, as its record and bits say."""
    node = tree.nodes[i]
    number, missing_left = x[node["feature"]], node["missing"] & SIDE == 0
    if np.isnan(number):
        return missing_left
    if node["kind"] != CATEGORY:
        return number <= node["cut_high"]
    start = node["bits"]
    n_words = int(tree.bits[start])
    left, present = (
        sum(int(tree.bits[start + 1 + part * n_words + k]) << 64 * k for k in range(n_words))
        for part in (0, 1)
    )
    level = int(number)
    return bool(left >> level & 1) if present >> level & 1 else missing_left


def walk(tree, x):
    i = 0
    while tree.nodes[i]["kind"] != LEAF:
        i = int(tree.nodes[i]["left" if goes_left(tree, i, x) else "right"])
    return i


def test_rows_walk_as_their_nodes_say():
    X, weights, _, _, tree = grown()
    found = ends(plant([tree]), X)[0]
    assert found.tolist() == [walk(tree, x) for x in X]
    assert (tree.nodes["kind"] == CATEGORY).sum() > 5
    mass = np.bincount(found, weights, len(tree.nodes))
    leaves = tree.nodes["kind"] == LEAF
    # Rows come to where they grew; sums of weights in quarters are exact.
    np.testing.assert_array_equal(mass[leaves], tree.nodes["weight"][leaves])


def test_a_level_that_a_node_has_not_seen_goes_where_missing_values_go():
    """The last level of either column is in no row; levels beyond them are in no word."""
    X, _, _, _, tree = grown()
    unseen = X.copy()
    for j, n_levels in enumerate(LEVELS):
        if n_levels:
            unseen[::2, j], unseen[1::2, j] = n_levels - 1, 10 * n_levels
    lacking = np.where(np.array(LEVELS) > 0, np.nan, unseen)
    assert (ends(plant([tree]), unseen) == ends(plant([tree]), lacking)).all()


def test_the_short_walk_ends_where_the_general_one_does():
    """Rows with levels that are there, unseen, beyond all words, negative, no whole numbers, or
    missing; through several trees, each with a pool of its own."""
    X, y, weights, _ = data_of(CASE, N_ROWS)
    recipe = recipe_of(CASE, N_ROWS)
    trees = [
        grow_trees(prepare(X, np.roll(y, k), recipe, weights), recipe, SEED, 0, 1)[0]
        for k in range(3)
    ]
    forest = plant(trees)
    rng = np.random.default_rng(0)
    odd = rng.choice([-1.0, 0.5, 3.0, 63.0, 64.0, 1e6, np.inf, np.nan], X.shape)
    rows = np.where(rng.random(X.shape) < 0.3, odd, X)
    assert walk_for(forest, rows) == SHORT_SETS
    by_nodes = forest._replace(steps=forest.steps[:0])
    assert walk_for(by_nodes, rows) == GENERAL
    assert all((tree.nodes["kind"] == CATEGORY).sum() > 5 for tree in trees)
    np.testing.assert_array_equal(ends(forest, rows), ends(by_nodes, rows))


# ---- room --------------------------------------------------------------------------------------


def test_a_tree_without_room_for_its_sets_is_grown_again(monkeypatch):
    *_, recipe, training, tree = grown()
    monkeypatch.setattr(core_levels, "MOST_BITS", 4)
    again = grow_trees(training, recipe, SEED, 1, 1)[0]
    assert len(tree.bits) > 8
    for part, same in zip(again, tree, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.long
def test_as_many_levels_as_there_may_be():
    """65,535 levels, of which 300 rows have as many: each tree's sets stand in its own pool."""
    rng = np.random.default_rng(0)
    levels = rng.choice(65_535, 300, replace=False)
    X = np.stack([levels, rng.normal(size=300)], axis=1).astype(float)
    y = (levels % 2).astype(float)[:, None]
    recipe = recipe_of(CASE, 300, max_features=2)._replace(levels=(65_535, 0), n_classes=2)
    training = prepare(X, y, recipe, rng.random(300) + 0.5)
    forest = grow_forest(training, recipe, SEED, 2, n_jobs=2)
    assert forest.nodes["n_rows"][forest.nodes["kind"] == LEAF].tolist() != [300, 300]
    found = ends(forest, X)
    for t in range(2):
        answers = forest.stats[forest.first_node[t] + found[t]].argmax(axis=1)
        assert (answers == y[:, 0]).all()  # one set parts them

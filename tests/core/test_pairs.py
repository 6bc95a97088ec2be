"""Parameters drawn without replacement: all pairs are as likely, more of them are no worse, and all
of them are the exhaustive search.

That whole trees are those of their twins is tested in test_grow.
"""

from collections import Counter
from itertools import pairwise

import naive
import numpy as np
import pytest
from cases import Case, recipe_of
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from forestlab import ForestClassifier, TreeClassifier
from forestlab.core.lazy_shuffle import first_of_shuffled, make_swapped
from forestlab.core.scratch import Sizes, make_scratch
from forestlab.forest import grow_trees, prepare

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # keys wrap around

RARE = 1e-6  # how often a fair draw, with other keys, would fail a chi-square test
CASE = Case(
    criterion="gini", n_targets=1, search="exact", learner="axis", random_ties=True, rho=1,
    subspace="all", midpoint=False, pairs=True, n_thresholds=0, max_bins=255, limits="none",
    weighted=False, bag="none", data="continuous", missing="error", count_constant=True,
)  # fmt: skip
few_examples = settings(max_examples=50, deadline=None, derandomize=True)
keys = st.integers(0, 2**64 - 1)


def grow(X, y, case=CASE, n_trees=1, **limits):
    recipe = recipe_of(case, len(y), **limits)
    return grow_trees(prepare(X, y, recipe), recipe, 7, 0, n_trees)


def as_bytes(trees):
    return [array.tobytes() for tree in trees for array in tree]


def small(seed=0, n_rows=40):
    """Columns of 2, 4, 9 and many values, and one that does not vary."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [*(rng.integers(0, n, n_rows) for n in (2, 4, 9)), rng.normal(size=n_rows), np.ones(n_rows)]
    )
    return X.astype(float), rng.integers(0, 3, (n_rows, 1)).astype(float)


def n_pairs(X):
    return sum(len(np.unique(column)) - 1 for column in X.T)


# ---- the shuffle -------------------------------------------------------------------------------


@few_examples
@given(keys, st.integers(2, 60), st.data())
def test_what_is_drawn_is_the_beginning_of_a_shuffle(key, n, data):
    n_drawn = data.draw(st.integers(1, n - 1))
    drawn, swapped = np.empty(n_drawn, np.int64), make_swapped(n_drawn)
    for _ in range(2):  # in used scratch too
        first_of_shuffled(drawn, n_drawn, swapped, n, np.uint64(key))
        expected = naive.shuffled(range(n), key, naive.draw_among)[:n_drawn]
        assert drawn.tolist() == expected
    assert len(set(drawn)) == n_drawn


@pytest.mark.parametrize("n", [2**40, 2**52 + 1])
def test_of_more_numbers_than_32_bits_hold_none_is_drawn_twice(n):
    drawn = np.empty(2000, np.int64)
    first_of_shuffled(drawn, 2000, make_swapped(2000), n, np.uint64(5))
    assert len(np.unique(drawn)) == 2000
    assert 0 <= drawn.min() < 0.01 * n
    assert 0.99 * n < drawn.max() < n
    assert len(np.unique(drawn % 1024)) > 800  # of 2,000 draws of 1,024 on average 878


# ---- the draw of a node ------------------------------------------------------------------------


def root_pairs(X, y, n_trees, **options):
    """How often each (feature, cut) is asked by a root that tries one parameter."""
    grown = grow(X, y, CASE._replace(**options), n_trees, max_depth=1)
    return Counter((int(t.nodes[0]["feature"]), float(t.nodes[0]["cut_high"])) for t in grown)


compiled_once = pytest.mark.long  # a kernel more; all of them run uncompiled in test_grow


@pytest.mark.parametrize("search", ["exact", pytest.param("boundary", marks=compiled_once)])
def test_every_pair_is_as_likely(search):
    """One pair is drawn, so it is asked. The draws are fixed by their keys."""
    X, y = small(n_rows=20)
    X = X[:, [0, 1, 2, 4, 4]]
    pairs = [(j, value) for j, column in enumerate(X.T) for value in np.unique(column)[:-1]]
    found = root_pairs(X, y, 2000, search=search)
    if search == "exact":
        assert set(found) == set(pairs)
    assert set(found) <= set(pairs)
    counts = np.array(list(found.values()))
    expected = counts.sum() / len(counts)
    statistic = ((counts - expected) ** 2).sum() / expected
    assert chi2.sf(statistic, len(counts) - 1) > RARE


def test_a_feature_of_many_values_is_drawn_more_often():
    X, y = small()
    found = root_pairs(X, y, 400)
    # 39 of 51 pairs are of the fourth column. The standard error of 400 draws is 0.02.
    of_fourth = sum(n for (j, _), n in found.items() if j == 3)
    assert of_fourth / 400 == pytest.approx(39 / n_pairs(X), abs=0.1)


def root_score(tree):
    """The weight × impurity below the root."""
    below = tree.nodes[1:] if len(tree.nodes) > 1 else tree.nodes
    return below["weight"] @ below["impurity"]


@pytest.mark.parametrize("seed", range(5))
def test_more_pairs_are_no_worse_and_all_are_the_best(seed):
    X, y = small(seed)
    scores = [root_score(grow(X, y, max_depth=1, rho=rho)[0]) for rho in range(1, n_pairs(X) + 1)]
    # Of scores within a tie the one of lower rank wins, so a score may rise by that much.
    tie = naive.TIE * len(y) * len(y)
    assert all(b <= a + tie for a, b in pairwise(scores))
    assert scores[0] > scores[-1] + tie
    exhaustive = root_score(grow(X, y, max_depth=1, rho=0)[0])
    assert scores[-1] == exhaustive


ALL = {
    "exact": {},
    "ties by column": {"random_ties": False},
    "histogram": {"search": "histogram", "max_bins": 7},
    "boundary": {"search": "boundary"},
    "leaves of 3": {"limits": "leaf of 3"},
    "two cuts a feature": {"n_thresholds": 2},
    "features of a tree": {"subspace": "tree"},
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=compiled_once) if n == "boundary" else n for n in ALL]
)
def test_with_all_pairs_the_tree_is_the_exhaustive_one_to_the_bit(name):
    X, y = small(3)
    exhaustive = grow(X, y, CASE._replace(rho=0, pairs=False, **ALL[name]), 3)
    assert len(exhaustive[0].nodes) > 5
    for rho in (n_pairs(X), n_pairs(X) + 1, 2**31 - 1):
        paired = grow(X, y, CASE._replace(**ALL[name]), 3, rho=rho)
        assert as_bytes(paired) == as_bytes(exhaustive)


@compiled_once
def test_with_all_pairs_missing_values_go_where_they_do_in_the_exhaustive_tree():
    X, y = small(4)
    X[::5, 2], X[3::7, 3] = np.nan, np.nan
    exhaustive = grow(X, y, CASE._replace(rho=0, pairs=False, missing="learned"))
    paired = grow(X, y, CASE._replace(missing="learned"), rho=1000)
    assert as_bytes(paired) == as_bytes(exhaustive)
    assert len({*exhaustive[0].nodes["missing"]}) > 1


def test_fewer_pairs_than_all_are_another_tree():
    X, y = small(3)
    few, every = (grow(X, y, rho=rho) for rho in (n_pairs(X) // 4, n_pairs(X)))
    assert as_bytes(few) != as_bytes(every)


# ---- room --------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [1, 59, 60, 2**31 - 1])
def test_there_is_room_for_the_pairs_that_may_be_drawn(rho):
    """3 features of at most 20 rows have fewer than 60 pairs: a larger rho draws nothing."""
    limits = recipe_of(CASE, 20, rho=rho).settings
    pairs = make_scratch(Sizes(20, 3, 70, 4, 5, 2), limits).pairs
    assert len(pairs.drawn) == min(rho, 60)
    assert len(pairs.end) == 3
    assert len(pairs.swapped.places) >= 2 * len(pairs.drawn)
    without = make_scratch(Sizes(20, 3, 70, 4, 5, 2), limits._replace(pairs=False, rho=0))
    assert without.pairs == ()


# ---- the estimators ----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [TreeClassifier, ForestClassifier])
def test_an_estimator_says_how_parameters_are_drawn(cls):
    X, y = small()
    model = cls(rho=4, rho_draws="pairs", max_depth=1).fit(X, y[:, 0])
    assert model.recipe_.settings.pairs
    assert not cls(max_depth=1).fit(X, y[:, 0]).recipe_.settings.pairs


REFUSED = {
    "search must be one of 'exact', 'histogram', 'boundary'; got 'uniform'": {"search": "uniform"},
    "learner must be one of 'axis'; got 'oblique'": {"learner": "oblique"},
    "learner must be one of 'axis'; got 'band'": {"learner": "band"},
}


@pytest.mark.parametrize("words", REFUSED)
def test_pairs_are_refused_where_there_are_none(words):
    X, y = small()
    with pytest.raises(ValueError, match=f"^rho_draws='pairs' draws .*{words}\\.$"):
        TreeClassifier(rho=2, rho_draws="pairs", **REFUSED[words]).fit(X, y[:, 0])

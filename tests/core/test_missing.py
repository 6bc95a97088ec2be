"""Where rows go whose value is missing: rules on few rows, walks, and scikit-learn's own choice.

That whole trees are those of their twins is tested in test_grow.
"""

import naive
import numpy as np
import pytest
from cases import Case, recipe_of, with_holes
from sklearn.tree import DecisionTreeClassifier

from forestlab.core.arrays import LEAF, LEFT, RIGHT, UNSEEN, tree_of
from forestlab.core.learners import LEARNERS
from forestlab.core.missing import MISSING, make_group
from forestlab.core.walk import is_plain
from forestlab.forest import grow_forest, prepare
from forestlab.forest.asking import ends

NAN = np.nan
PLAIN = {
    "criterion": "gini", "n_targets": 1, "search": "exact", "learner": "axis",
    "subspace": "all", "midpoint": True,
    "rho": 0, "n_thresholds": 0, "max_bins": 255, "random_ties": False, "limits": "none",
    "weighted": False, "bag": "none", "data": "continuous", "missing": "learned", "pairs": False,
    "count_constant": True,
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # keys wrap around


def forest_of(X, y, n_trees=1, weights=None, n_jobs=1, settings=None, lacking=False, **choices):
    recipe = recipe_of(Case(**PLAIN | choices), len(y), **settings or {})
    recipe = recipe._replace(limits=recipe.limits._replace(max_features=X.shape[1]))
    training = prepare(X, np.asarray(y, float)[:, None], recipe, weights)
    training = training._replace(lacking=training.lacking or lacking)
    return grow_forest(training, recipe, 3, n_trees, n_jobs)


def root_of(x, y, weights=None, **settings):
    """What the root asks about a column."""
    X = np.array(x, float)[:, None]
    return forest_of(X, y, 1, weights, settings=settings).nodes[0]


@pytest.mark.parametrize(("label", "side"), [(0, LEFT), (1, RIGHT)])
def test_missing_rows_go_where_their_like_goes(label, side):
    root = root_of([1, 2, 3, 4, NAN, NAN], [0, 0, 1, 1, label, label])
    assert (root["cut_high"], root["missing"]) == (2.5, side)


def test_whether_a_value_is_known_may_be_all_that_matters():
    root = root_of([1, 2, 3, NAN, NAN], [0, 0, 0, 1, 1])
    assert (root["kind"], root["cut_high"], root["missing"]) != (LEAF, np.inf, LEFT)
    assert (root["cut_high"], root["missing"]) == (np.inf, RIGHT)


def test_a_constant_column_that_is_partly_missing_is_asked_about():
    forest = forest_of(np.array([[7.0], [7], [NAN], [NAN]]), [0, 0, 1, 1])
    assert forest.nodes["cut_high"].tolist() == [np.inf] * 3
    assert forest.nodes["n_rows"].tolist() == [4, 2, 2]


def test_of_equal_sides_the_right_one_wins():
    """The missing rows are of both classes, as many left as right."""
    root = root_of([1, 2, NAN, NAN], [0, 1, 0, 1])
    assert (root["cut_high"], root["missing"]) == (1.5, RIGHT)


@pytest.mark.parametrize(
    ("y", "weights", "side"),
    [
        ([0, 0, 1], None, LEFT),
        ([0, 1, 1], None, RIGHT),
        ([0, 0, 1, 1], None, LEFT),
        ([0, 0, 1], [1.0, 1.0, 2.1], RIGHT),
        ([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.6], LEFT),
        ([0, 1, 1, 1], [0.6, 0.1, 0.2, 0.3], LEFT),  # which add up to 0.6000000000000001
    ],
)
def test_a_value_not_missing_before_goes_to_the_heavier_child(y, weights, side):
    weights = None if weights is None else np.array(weights)
    assert root_of(range(len(y)), y, weights)["missing"] == UNSEEN + side


@pytest.mark.parametrize(("least", "side"), [(1, RIGHT), (2, RIGHT), (3, LEFT)])
def test_missing_rows_count_among_those_a_leaf_must_have(least, side):
    """On the right they are pure; on the left they make it large enough."""
    x, y = [1, 2, 3, 4, 5, NAN], [0, 0, 1, 1, 1, 1]
    root = root_of(x, y, min_samples_leaf=least)
    assert (root["cut_high"], root["missing"]) == (2.5, side)


@pytest.mark.parametrize("search", ["exact", "histogram"])
def test_nothing_is_asked_about_what_is_wholly_missing(search):
    X, y = np.full((6, 3), NAN), np.arange(6) % 2
    assert forest_of(X, y, search=search).nodes["kind"].tolist() == [LEAF]
    X[:, 1] = y
    assert forest_of(X, y, search=search).nodes["feature"].tolist() == [1, -1, -1]


def test_where_nothing_is_missing_trees_are_as_ever():
    """Also where the kernel is that for missing values, as another column has some."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 4)).round(1), rng.integers(0, 3, 120)
    plain, ready = (forest_of(X, y, 3, lacking=lacking) for lacking in (False, True))
    assert set(plain.nodes["missing"][plain.nodes["kind"] != LEAF]) == {UNSEEN, UNSEEN + RIGHT}
    assert ready.nodes.tobytes() == plain.nodes.tobytes()


def holed(n_rows=150, n_features=4):
    rng = np.random.default_rng(1)
    X = with_holes(rng, rng.normal(size=(n_rows, n_features)), [0.3, 0.1, 0.6, 1.0])
    return X, (np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) + rng.normal(size=n_rows) > 0).astype(int)


def test_rows_walk_to_the_leaf_they_grew_into():
    X, y = holed()
    forest = forest_of(X, y, 3)
    assert is_plain(forest)
    assert {LEFT, RIGHT, UNSEEN, UNSEEN + RIGHT} == set(forest.nodes["missing"])
    for t, found in enumerate(ends(forest, X)):
        tree = tree_of(forest, t)
        assert found.tolist() == [naive.walk(tree.nodes, x) for x in X]
        counts = np.bincount(found, minlength=len(tree.nodes))
        leaves = tree.nodes["kind"] == LEAF
        np.testing.assert_array_equal(counts[leaves], tree.nodes["n_rows"][leaves])


def test_missing_values_are_refused_where_none_is_expected():
    X, y = holed()
    with pytest.raises(ValueError, match="missing"):
        forest_of(X, y, missing="error")


def test_a_learner_that_cannot_do_with_missing_values_says_so():
    simple = LEARNERS["axis"]._replace(project_some=None)
    with pytest.raises(ValueError, match="missing values"):
        make_group(simple, MISSING["learned"])


@pytest.mark.parametrize("seed", range(40))
def test_the_root_is_that_of_scikit_learn(seed):
    """Values are missing in one column, by chance or where the class is the second."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(20, 80))
    X = rng.normal(size=(n_rows, 3)).astype(np.float32)
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
    share = rng.choice([0.1, 0.4]) + (0.3 * y if seed % 2 else 0)
    X[rng.random(n_rows) < share, 0] = NAN
    weights = rng.random(n_rows) + 0.5  # so that no two scores are equal
    theirs = DecisionTreeClassifier(criterion="gini", max_depth=1, random_state=0)
    tree = theirs.fit(X, y, sample_weight=weights).tree_
    ours = forest_of(X, y, 1, weights, settings={"max_depth": 1}).nodes
    assert ours["feature"][0] == tree.feature[0]
    assert ours["cut_high"][0] == pytest.approx(tree.threshold[0], rel=1e-6)
    assert ours["n_rows"].tolist() == tree.n_node_samples.tolist()
    if tree.feature[0] == 0:
        assert ours["missing"][0] == (LEFT if tree.missing_go_to_left[0] else RIGHT)

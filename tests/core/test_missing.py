"""Where rows go whose value is missing: rules on few rows, walks, and scikit-learn's own choice.

That whole trees are those of their twins is tested in test_grow.
"""

import naive
import numpy as np
import pytest
from cases import Case, recipe_of, with_holes
from sklearn.tree import DecisionTreeClassifier

from forestlab.core.arrays import BOTH, LEAF, LEFT, RIGHT, UNSEEN, tree_of
from forestlab.core.learners import LEARNERS
from forestlab.core.missing import MISSING, make_group
from forestlab.core.walk import is_plain
from forestlab.forest import grow_forest, grow_trees, prepare, reached
from forestlab.forest.asking import ends
from forestlab.forest.desk import Desk

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


def root_of(x, y, weights=None, missing="learned", **settings):
    """What the root asks about a column."""
    X = np.array(x, float)[:, None]
    return forest_of(X, y, 1, weights, settings=settings, missing=missing).nodes[0]


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


# ---- where the mean of the others goes ---------------------------------------------------------


@pytest.mark.parametrize(("last", "side"), [(4, LEFT), (4.9, LEFT), (5.1, RIGHT), (90, RIGHT)])
@pytest.mark.parametrize("label", [0, 1])
def test_missing_rows_go_where_the_mean_of_the_others_goes(label, last, side):
    """Of 1, 1, 2, 3, 3 and the last it is at most 2.5 if that is at most 5: whatever their class.
    Leaves of three rows leave no better cut than that in the middle."""
    x, y = [1, 1, 2, 3, 3, last, NAN], [0, 0, 0, 1, 1, 1, label]
    root = root_of(x, y, missing="branch", min_samples_leaf=3)
    assert (root["cut_high"], root["missing"]) == (2.5, side)


def test_a_mean_on_the_cut_lies_left_also_if_rounding_says_else():
    x, y = [0.2, 0.2, 0.2, 0.5, 0.5, 0.5, NAN], [0, 0, 0, 1, 1, 1, 1]
    root = root_of(x, y, missing="branch")
    assert sum(x[:6]) / 6 > root["cut_high"] == 0.35
    assert root["missing"] == LEFT


def test_the_mean_is_weighted_and_huge_numbers_have_one():
    most = np.finfo(float).max
    for heavy, side in (0, LEFT), (2, RIGHT):
        weights = np.array([1.0, 1.0, 1.0, 0.1])
        weights[heavy] = 5.0
        root = root_of([-most, 0, most, NAN], [0, 0, 1, 1 - heavy / 2], weights, missing="branch")
        assert (root["cut_high"], root["missing"]) == (most / 2, side)


@pytest.mark.parametrize("missing", ["branch", "both"])
def test_whether_it_is_known_is_no_question(missing):
    constant = np.array([[7.0], [7], [NAN], [NAN]])
    assert len(forest_of(constant, [0, 0, 1, 1], missing=missing).nodes) == 1
    root = root_of([1, 2, 3, NAN, NAN], [0, 0, 0, 1, 1], missing=missing)
    assert root["kind"] != LEAF
    assert root["cut_high"] < 3


@pytest.mark.parametrize(("x", "y", "side"), [([1, 2, 3, 90], [0, 0, 0, 1], LEFT),
                                              ([1, 2, 3, 90], [0, 0, 1, 1], RIGHT),
                                              ([-90, 1, 2, 3], [0, 1, 1, 1], RIGHT),
                                              ([-90, 1, 2, 3], [0, 0, 1, 1], LEFT)])  # fmt: skip
def test_a_value_not_missing_before_goes_to_the_side_of_the_mean(x, y, side):
    """It is 24 or -21; of equal children the left one would be the heavier."""
    assert root_of(x, y, missing="branch")["missing"] == UNSEEN + side


# ---- both ways ---------------------------------------------------------------------------------


def test_the_gain_is_that_of_known_rows_by_their_share():
    """The first column parts its known rows in two pure halves, and gains half their weight. The
    second has 4 + 1 of all rows on one side and 3 on the other: 8 / 2 - 5 (1 - 17 / 25) = 2.4."""
    y, second = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1, 0]
    for n_known, feature in (6, 0), (4, 1), (2, 1):
        first = np.array([0.0] * 4 + [1.0] * 4)
        first[n_known // 2 : 8 - n_known // 2] = NAN
        X = np.array([first, second]).T
        assert forest_of(X, y, missing="both").nodes["feature"][0] == feature


def test_a_row_goes_both_ways_with_the_share_of_the_known_weight():
    weights = np.array([1, 1, 0.5, 2])
    X, y = np.array([[1.0], [2], [3], [NAN]]), [0, 0, 1, 1]
    nodes = forest_of(X, y, 1, weights, missing="both", settings={"max_depth": 1}).nodes
    assert (nodes["missing"][0], nodes["missing_share"][0]) == (BOTH, np.float32(0.8))
    assert nodes["n_rows"].tolist() == [4, 3, 2]
    np.testing.assert_allclose(nodes["weight"], [4.5, 3.6, 0.9], 1e-7)  # of single precision


def test_small_pieces_go_along_with_the_heavier_one():
    """A hundredth of a row would be less than a 64th."""
    x, y = np.array([*range(100), NAN]), [0] * 99 + [1, 1]
    nodes = forest_of(x[:, None], y, missing="both", settings={"max_depth": 1}).nodes
    assert nodes["missing_share"][0] == np.float32(0.99)
    assert nodes["n_rows"].tolist() == [101, 100, 1]


def test_leaves_must_have_enough_known_rows():
    x, y = [1, 2, 3, 4, NAN, NAN], [0, 1, 1, 1, 0, 0]
    assert root_of(x, y, missing="both")["cut_high"] == 1.5
    assert root_of(x, y, missing="both", min_samples_leaf=2)["cut_high"] == 2.5


def test_a_value_not_missing_before_goes_both_ways_too():
    root = root_of([1, 2, 3, 4], [0, 0, 0, 1], missing="both")
    assert (root["missing"], root["missing_share"]) == (UNSEEN + BOTH, 0.75)


def test_a_tree_that_is_short_of_room_is_started_again():
    rng = np.random.default_rng(2)
    X = with_holes(rng, rng.normal(size=(60, 4)), 0.5)
    y = rng.integers(0, 2, (60, 1)).astype(float)
    recipe = recipe_of(Case(**PLAIN | {"missing": "both", "bag": "half"}), 60)
    training = prepare(X, y, recipe)
    narrow, wide = Desk(training, recipe), Desk(training, recipe)
    while wide.room < 64:
        wide.enlarge()
    trees = [grow_trees(training, recipe, 5, 0, 3, desk) for desk in (narrow, wide)]
    assert wide.room == 64 > narrow.room > 2  # one had enough, the other had not
    for one, other in zip(*trees, strict=True):
        assert one.nodes.tobytes() == other.nodes.tobytes()
        assert one.stats.tobytes() == other.stats.tobytes()


def test_pieces_walk_to_where_they_grew():
    X, y = holed()
    forest = forest_of(X, y, 3, missing="both")
    assert is_plain(forest)
    found = reached(forest, X)
    assert len(found.branching) == 3
    for t in range(3):
        nodes, first = tree_of(forest, t).nodes, forest.first_node[t]
        rows, where, shares = found.pieces(t)
        twins = [naive.ends(nodes, x) for x in X]
        assert max(map(len, twins)) > 2
        pieces = [(row, leaf, its[leaf]) for row, its in enumerate(twins) for leaf in its]
        assert [*zip(rows, where - first, shares, strict=True)] == pieces
        leaves = nodes["kind"] == LEAF
        held = np.bincount(where - first, shares, len(nodes))[leaves]
        np.testing.assert_allclose(held, nodes["weight"][leaves], 1e-12)
        counts = np.bincount(where - first, minlength=len(nodes))[leaves]
        np.testing.assert_array_equal(counts, nodes["n_rows"][leaves])
        assert (found.nodes[t] - first).tolist() == [max(its, key=its.get) for its in twins]


# ---- refusals ----------------------------------------------------------------------------------


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

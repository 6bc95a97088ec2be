"""Weak learners as an estimator has them: what any tree can do, and what each is good for."""

import numpy as np
import pytest
from command import composed
from scipy import stats
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_friedman1,
)
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import train_test_split
from small import as_bytes, data_for, forest_for, trees_of

from forestlab import (
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    build_tree,
    load,
)
from forestlab.core.arrays import tree_of
from forestlab.core.options import Band, Fitted, Histogram, Oblique, Quadratic
from forestlab.core.questions import terms
from forestlab.core.walk import is_plain
from forestlab.run.making import build

LEARNERS = {
    "oblique": Oblique(terms=3),
    "signs": Oblique(weights="signs"),
    "fitted": Fitted(),
    "quadratic": Quadratic(),
    "band": Band(),
    "oblique band": Band(projection="oblique"),
}
TASKS = {"oblique": "classification", "fitted": "regression", "quadratic": "classification"}
TASKS |= {"signs": "classification", "band": "regression", "oblique band": "classification"}

pytestmark = pytest.mark.filterwarnings("error")
# One of each way to ask is quick: a weighted sum, one that is fitted, and a band.
QUICK = ("oblique", "band")
over_learners = pytest.mark.parametrize(
    "name",
    [
        *QUICK,
        *(pytest.param(name, marks=pytest.mark.long) for name in sorted({*LEARNERS} - {*QUICK})),
    ],
)


def fitted(name, n_trees=7, task="", **params):
    """A forest of a learner and its data; a task a learner, as kernels take seconds to compile."""
    task = task or TASKS[name]
    X, y = data_for(task)
    model = forest_for(task, n_trees, learner=LEARNERS[name], **params)
    return model.fit(X, y), X, y


# ---- what any tree can do ----------------------------------------------------------------------


def check_parts(name, task=""):
    """Cut or grown so deep, the first trees or a forest of so many, one thread or more: the same
    bits."""
    model, X, _ = fitted(name, task=task)
    for depth in (1, 3):
        shallow = fitted(name, task=task, max_depth=depth)[0]
        assert as_bytes(model.predict(X, depth=depth)) == as_bytes(shallow.predict(X))
        assert as_bytes(*model.predict_oob(X, depth=depth)) == as_bytes(*shallow.predict_oob(X))
    few = fitted(name, 3, task=task)[0]
    assert as_bytes(few.predict_trees(X)) == as_bytes(model.predict_trees(X)[:3])
    for n_jobs in (2, 3):
        other = fitted(name, task=task, n_jobs=n_jobs)[0]
        assert as_bytes(*model.forest_) == as_bytes(*other.forest_)


@over_learners
def test_a_depth_is_a_refit_and_first_trees_are_the_smaller_forest_on_any_threads(name):
    check_parts(name)


@pytest.mark.long
@over_learners
def test_so_they_are_of_the_other_task(name):
    check_parts(name, "regression" if TASKS[name] == "classification" else "classification")


@over_learners
def test_it_is_saved_and_loaded(name, tmp_path):
    model, X, _ = fitted(name)
    model.save(tmp_path / "a.forest")
    back = load(tmp_path / "a.forest")
    assert back.get_params() == model.get_params()
    assert as_bytes(back.predict(X)) == as_bytes(model.predict(X))
    assert not is_plain(back.forest_)


@over_learners
def test_a_tree_tells_what_it_asks(name):
    model, X, _ = fitted(name)
    view = model.view(0)
    asked = view.export_text().splitlines()[0]
    words = {"quadratic": "²", "oblique": "·", "fitted": "·", "signs": "·", "oblique band": "·"}
    assert words.get(name, "<") in asked
    assert asked.split(" ≤ ")[0].strip("|- ") in view.explain(X[0])
    assert len(view.draw().figure.axes) == 1
    again = build_tree(view.describe())
    assert as_bytes(again.predict(X)) == as_bytes(view.predict(X))


@over_learners
def test_columns_share_what_their_questions_gain(name):
    """The first three columns decide; the last does not."""
    found = fitted(name, 40)[0].feature_importances_
    assert np.isclose(found.sum(), 1.0)
    assert found[:3].min() > found[3]


def test_a_column_of_another_unit_changes_no_answer():
    """Powers of two, so that nothing is rounded."""
    X, y = data_for("classification")
    for learner in Oblique(terms=3), Quadratic():
        grown = forest_for("classification", learner=learner).fit(X, y)
        scaled = forest_for("classification", learner=learner).fit(X * [1, 64, 2**-9, 4], y)
        assert as_bytes(scaled.predict_proba(X * [1, 64, 2**-9, 4])) == as_bytes(
            grown.predict_proba(X)
        )


def test_columns_of_any_other_unit_change_answers_by_rounding_at_most():
    """So no training row of these changes sides: numbers lie further apart than they are rounded.
    Factors of 1 for columns as they are would change nearly all of the trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    units = np.array([3e6, 0.7, 1e-5, 11.0])
    for learner in Oblique(terms=3), Quadratic():
        grown, scaled = (
            forest_for("classification", learner=learner).fit(X * unit, y) for unit in (1.0, units)
        )
        assert as_bytes(scaled.predict_trees(X * units)) == as_bytes(grown.predict_trees(X))


def test_rows_reach_the_leaf_they_grew_into():
    """Compiled: whole leaves are those of the training rows, where numbers tie and where they do
    not, by ranks and by stretches."""
    rng = np.random.default_rng(0)
    rows = {"ties": rng.integers(-2, 3, (300, 4)) / 3, "none": 1e8 + rng.normal(size=(300, 4))}
    for X in rows.values():
        y = (X - X.mean(axis=0)).prod(axis=1) > 0
        for search in "exact", Histogram(bins=7):
            tree = TreeClassifier(learner=Oblique(terms=3), search=search, random_state=0)
            tree.fit(X, y)
            nodes = tree.forest_.nodes
            is_leaf = nodes["left"] < 0
            n_rows = np.bincount(tree.apply(X), minlength=len(nodes))
            assert (n_rows == np.where(is_leaf, nodes["n_rows"], 0)).all()
            assert is_leaf.sum() > 20


def test_more_questions_than_features_may_be_drawn():
    """Those drawn for two are the first of those for 40: the root's cut is no worse, and in some of
    ten trees better. Of a single feature there is still but one to ask about."""
    X, y = turned_checkerboard(300, 0)
    gains = {}
    for n in (2, 40):
        trees = ForestClassifier(
            10, learner="oblique", max_features=n, max_depth=1, bootstrap=False, random_state=0
        ).fit(X, y)
        assert trees.recipe_.limits.max_features == n
        gains[n] = np.array([root_gain(nodes) for nodes, _ in trees_of(trees)])
    assert (gains[40] >= gains[2]).all()
    assert (gains[40] > gains[2]).any()
    axis = ForestClassifier(2, max_features=40, max_depth=1).fit(X, y)
    assert axis.recipe_.limits.max_features == 2


def root_gain(nodes):
    return nodes["impurity"][0] - nodes["impurity"][1:] @ nodes["weight"][1:] / nodes["weight"][0]


def test_a_tree_of_few_features_draws_its_columns_from_these():
    X, y = data_for("classification")
    model = forest_for("classification", 9, learner="oblique", subspace="tree").fit(X, y)
    assert model.recipe_.limits.max_features == model.recipe_.features_per_tree == 2
    for t in range(9):
        tree = tree_of(model.forest_, t)
        inner = np.flatnonzero(tree.nodes["left"] > 0)
        assert len({feature for i in inner for feature, _ in terms(tree, i)}) == 2


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["boundary", "uniform"])
def test_a_band_refuses_searches_whose_cuts_make_no_pairs(search):
    X, y = data_for("classification")
    with pytest.raises(
        ValueError, match=f"search must be one of 'exact', 'histogram'; got '{search}'"
    ):
        TreeClassifier(learner="band", search=search).fit(X, y)


def test_columns_too_large_to_be_joined_are_refused():
    X, y = data_for("classification")
    X[3, 1] = -1e200
    TreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="X must lie between -1e150 and 1e150; got 1e\\+200"):
        TreeClassifier(learner="oblique", max_depth=2).fit(X, y)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Oblique(terms=0), "learner.terms must be a whole number of at least 1"),
        (Oblique(weights="two"), "learner.weights must be one of 'uniform', 'signs'"),
        (Band(projection="circle"), "learner.projection must be one of 'axis', 'oblique'"),
        ("oblik", "learner must be one of 'axis', 'oblique'"),
    ],
)
def test_a_wrong_option_is_named(learner, words):
    with pytest.raises(ValueError, match=words):
        TreeClassifier(learner=learner).fit([[0.0], [1.0]], [0, 1])


# ---- what each is good for ---------------------------------------------------------------------


@pytest.mark.parametrize("n_values", [20, 64])
def test_a_band_of_depth_1_parts_an_interval_from_its_outside(n_values):
    X = np.arange(float(n_values))[:, None]
    y = ((X[:, 0] > 5) & (X[:, 0] < 11)).astype(float)
    tree = TreeRegressor(learner="band", max_depth=1).fit(X, y)
    assert (tree.predict(X) == y).all()
    assert tree.forest_.nodes["cut_low"][0] == 5.5
    assert tree.forest_.nodes["cut_high"][0] == 10.5


def disc(n_rows, seed):
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, 2))
    return X, (X**2).sum(axis=1) < 2 / np.pi  # half of the square


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_one_quadratic_question_finds_a_disc(seed):
    tree = TreeClassifier(learner="quadratic", rho=1000, max_depth=1, random_state=seed)
    assert tree.fit(*disc(1000, 0)).score(*disc(1000, 1)) > 0.95


def turned_checkerboard(n_rows, seed):
    """Squares along the diagonals."""
    X = np.random.default_rng(seed).uniform(-2, 2, (n_rows, 2))
    along = np.column_stack([X.sum(axis=1), X[:, 0] - X[:, 1]])
    return X, np.floor(along / 2).sum(axis=1).astype(int) % 2


def slanted(n_rows, seed):
    """One straight border."""
    X = np.random.default_rng(seed).uniform(-2, 2, (n_rows, 2))
    return X, X[:, 0] + 2 * X[:, 1] > 0.3


def grown_on(make, seed):
    return {
        learner: ForestClassifier(
            20, learner=learner, max_features=2, n_jobs=2, random_state=seed
        ).fit(*make(500, seed))
        for learner in ("axis", "oblique", "fitted")
    }


def n_leaves(model):
    return sum(tree.tree_.n_leaves for tree in model.estimators_)


def low_end(differences):
    """Of the 99 % interval of their mean."""
    return stats.ttest_1samp(differences, 0).confidence_interval(0.99).low


@pytest.mark.long
def test_oblique_questions_follow_a_turned_checkerboard():
    """By ten pairs of forests, of rows of their own: they gain two points of accuracy or more, with
    fewer leaves."""
    gains, leaves = [], []
    for seed in range(100, 110):
        grown, test = grown_on(turned_checkerboard, seed), turned_checkerboard(1000, 1000 + seed)
        gains.append(grown["oblique"].score(*test) - grown["axis"].score(*test))
        leaves.append(n_leaves(grown["axis"]) - n_leaves(grown["oblique"]))
    assert low_end(gains) > 0.02
    assert low_end(leaves) > 0


@pytest.mark.long  # kernels of its own; its trees are those of their twins
def test_fitted_questions_find_a_straight_border():
    """With the fewest leaves. On a checkerboard, where classes have one mean in large nodes, there
    is nothing for a discriminant to find: there they need more leaves than axis cuts do."""
    leaves = [{k: n_leaves(m) for k, m in grown_on(slanted, s).items()} for s in range(100, 110)]
    for other in ("axis", "oblique"):
        assert low_end([each[other] - each["fitted"] for each in leaves]) > 0


# ---- extremely randomised trees ----------------------------------------------------------------

SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(400, noise=1.0, random_state=0),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_extra_trees_are_as_good_as_those_of_scikit_learn(name):
    """Over 20 splits, both fitted to each; a difference would show in the mean of the paired ones.

    At 4 standard errors one of five sets would fail by chance once in 3,000 times.
    """
    X, y = SETS[name]()
    regression = name in ("diabetes", "friedman1")
    ours, theirs = (
        (ForestRegressor, ExtraTreesRegressor)
        if regression
        else (ForestClassifier, ExtraTreesClassifier)
    )
    differences = []
    for seed in range(20):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        common = {"max_features": 0.5, "bootstrap": False, "random_state": seed}
        a = ours(30, search="uniform", **common).fit(X_train, y_train).score(X_test, y_test)
        b = theirs(30, **common).fit(X_train, y_train).score(X_test, y_test)
        differences.append(a - b)
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < 4 * error


def composed_extra_trees(task, seed):
    """What model=extra_trees is; for numbers with all features at each node, as scikit-learn has
    it."""
    all_features = ["model.max_features=1.0"] if task == "regression" else []
    return build(composed("dataset=iris", "model=extra_trees", f"seed={seed}", *all_features), task)


@pytest.mark.long
@pytest.mark.parametrize("name", [*SETS, "digits"])
def test_extra_trees_and_scikit_learns_are_equal(name):
    """Of 100 trees, over 40 splits: the whole 95 % interval of the mean paired difference lies
    within a margin. That is what a new seed does, so that nobody could tell: the root mean square
    difference of two of scikit-learn's own forests on one split. Over 20 splits the interval is
    half as wide as the margin, and a set in 30 would fail by chance; diabetes did."""
    X, y = (SETS | {"digits": lambda: load_digits(return_X_y=True)})[name]()
    task = "regression" if name in ("diabetes", "friedman1") else "classification"
    theirs = ExtraTreesRegressor if task == "regression" else ExtraTreesClassifier
    differences, by_seed = [], []
    for seed in range(40):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        ours, first, second = (
            model.fit(X_train, y_train).score(X_test, y_test)
            for model in (
                composed_extra_trees(task, seed),
                theirs(100, random_state=seed),
                theirs(100, random_state=1000 + seed),
            )
        )
        differences.append(ours - first)
        by_seed.append(first - second)
    reach = stats.t.isf(0.025, 39) * np.std(differences, ddof=1) / np.sqrt(40)
    margin = np.sqrt(np.mean(np.square(by_seed)))
    assert abs(np.mean(differences)) + reach < margin


# ---- oblique forests of others -----------------------------------------------------------------


def sparse_oblique(n_trees, n_questions, seed):
    """ydf's sparse oblique forest, as near to `Oblique(weights="signs")` as its options come: about
    two columns a question, each by its deviation, their factors 1 or -1; leaves of one row,
    averaged."""
    ydf = pytest.importorskip("ydf")
    return ydf.RandomForestLearner(
        "label", num_trees=n_trees, random_seed=seed, min_examples=1, max_depth=-1,
        winner_take_all=False, compute_oob_performances=False, split_axis="SPARSE_OBLIQUE",
        sparse_oblique_weights="BINARY", sparse_oblique_normalization="STANDARD_DEVIATION",
        sparse_oblique_projection_density_factor=2.0,
        sparse_oblique_num_projections_exponent=9.0, sparse_oblique_max_num_projections=n_questions,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
def test_oblique_forests_are_as_good_as_those_of_ydf(name):
    """Over 20 splits, both fitted to each; as for extra trees below chance. ydf draws the number of
    columns too, so that forests are not the same, but no point of accuracy apart."""
    X, y = SETS[name]()
    differences = []
    for seed in range(20):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
        ours = ForestClassifier(
            100, learner=Oblique(weights="signs"), max_features=6, random_state=seed
        ).fit(X_train, y_train)
        theirs = sparse_oblique(100, 6, seed).train({"x": X_train, "label": y_train}, verbose=0)
        answer = np.asarray(theirs.predict({"x": X_test}))
        labels = answer.argmax(axis=1) if answer.ndim == 2 else answer > 0.5
        differences.append(ours.score(X_test, y_test) - np.mean(labels == y_test))
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < max(4 * error, 0.01)

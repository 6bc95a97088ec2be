"""Trees as scikit-learn's users know them: the arrays of `tree_`, the trees of a forest, and
models turned into scikit-learn's own, for it and other packages to read."""

import pickle

import forestci
import matplotlib
import numpy as np
import pandas as pd
import pytest
import shap
from sklearn import tree as sk
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.tree._tree import TREE_LEAF, TREE_UNDEFINED

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor, load
from forestlab.core.arrays import plant
from forestlab.core.criteria import CRITERIA
from forestlab.core.search import SEARCHES
from forestlab.forest import bags
from forestlab.model.interop import NO_SEED
from forestlab.tree import grown as grown_module
from forestlab.tree.grown import GrownTree
from forestlab.tree.handmade import build_tree

matplotlib.use("Agg")

for_each_forest = pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])
for_each_tree = pytest.mark.parametrize("cls", [TreeClassifier, TreeRegressor])

NUMBERS = (
    "node_count",
    "capacity",
    "max_depth",
    "n_leaves",
    "n_features",
    "n_outputs",
    "max_n_classes",
)
ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "value",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "n_classes",
)
FEATURES = ["height", "girth", "age", "leaves"]


def data_for(cls, n_targets=1, n_columns=4, n_rows=150):
    """Columns that float32 holds, of no two equal values, and noisy targets."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32).astype(float)
    signal = X[:, :1] + X[:, -1:] ** 2 + rng.normal(size=(n_rows, n_targets))
    if "Classifier" in cls.__name__:
        return X, np.array(["ash", "beech", "oak"])[np.digitize(signal[:, 0], [0.5, 1.5])]
    return X, signal[:, 0] if n_targets == 1 else signal


def fitted(cls, n_targets=1, **params):
    X, y = data_for(cls, n_targets)
    size = {"n_estimators": 6} if "Forest" in cls.__name__ else {}
    return cls(**size | {"random_state": 0} | params).fit(X, y), X


# ---- tree_ -------------------------------------------------------------------------------------


def assert_same_tree(ours, theirs):
    """All that scikit-learn's tree has, with its types."""
    for name in NUMBERS:
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ARRAYS:
        found, expected = getattr(ours, name), getattr(theirs, name)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), name
        if name != "missing_go_to_left":  # without missing values it chooses the heavier child
            # Impurities and means are sums in another order.
            np.testing.assert_allclose(found, expected, 1e-12, 1e-14, err_msg=name)


@pytest.mark.parametrize(
    ("cls", "peer", "criterion", "theirs", "n_targets"),
    [
        (TreeClassifier, sk.DecisionTreeClassifier, "gini", "gini", 1),
        (TreeClassifier, sk.DecisionTreeClassifier, "entropy2", "entropy", 1),
        (TreeRegressor, sk.DecisionTreeRegressor, "variance", "squared_error", 1),
        (TreeRegressor, sk.DecisionTreeRegressor, "squared_error", "squared_error", 2),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_tree_as_scikit_learns(cls, peer, criterion, theirs, n_targets, weighted):
    """Where no two splits are equally good: with classes one column, and leaves of 5 rows."""
    n_columns = 1 if cls is TreeClassifier else 4
    X, y = data_for(cls, n_targets, n_columns)
    weights = np.random.default_rng(0).random(len(y)) + 0.5 if weighted else None
    ours = cls(criterion=criterion, min_samples_leaf=5).fit(X, y, weights)
    expected = peer(criterion=theirs, min_samples_leaf=5).fit(X, y, weights)
    assert ours.tree_.node_count > 15
    assert_same_tree(ours.tree_, expected.tree_)
    asked = X.astype(np.float32)
    for method in "apply", "predict":
        found, wanted = getattr(ours.tree_, method)(asked), getattr(expected.tree_, method)(asked)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, 1e-12)
    for normalize in True, False:
        np.testing.assert_allclose(
            ours.tree_.compute_feature_importances(normalize),
            expected.tree_.compute_feature_importances(normalize),
            1e-9,  # differences of impurities, which are rounded
        )
    assert ours.max_features_ == expected.max_features_


@for_each_tree
def test_a_path_as_scikit_learns(cls):
    model, X = fitted(cls)
    found, expected = model.tree_.decision_path(X), model.to_sklearn().decision_path(X)
    assert found.dtype == expected.dtype == np.int64
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_array_equal(model.decision_path(X).toarray(), expected.toarray())


def test_products_of_paths_do_not_overflow():
    """The number of nodes that two rows share: of a row and itself its depth and one."""
    y = 2.5 ** np.arange(200.0)
    X = np.arange(len(y))[:, None]
    paths = TreeRegressor().fit(X, y).decision_path(X)
    shared = (paths @ paths.T).toarray()
    assert shared.max() == 200
    np.testing.assert_array_equal(shared.diagonal(), paths.toarray().sum(axis=1))


def test_scikit_learns_marks():
    assert (grown_module.TREE_LEAF, grown_module.TREE_UNDEFINED) == (TREE_LEAF, TREE_UNDEFINED)
    leaf = fitted(TreeRegressor, max_depth=1)[0].tree_
    assert leaf.children_left.tolist() == [1, TREE_LEAF, TREE_LEAF]
    assert leaf.feature.tolist()[1:] == leaf.threshold.tolist()[1:] == [TREE_UNDEFINED] * 2


@for_each_tree
def test_arrays_are_made_once_and_not_written_to(cls):
    model, X = fitted(cls)
    before = model.tree_
    assert before is model.tree_
    assert before.value is model.tree_.value
    with pytest.raises(ValueError, match="read-only"):
        model.tree_.value[0] = 7
    model.fit(X, data_for(cls)[1][::-1])
    assert model.tree_ is not before
    assert not np.array_equal(model.tree_.value, before.value)
    with pytest.raises(NotFittedError):
        _ = cls().tree_


@for_each_tree
def test_what_was_asked_of_a_tree_is_not_kept_in_a_pickle(cls):
    model, _ = fitted(cls)
    before = len(pickle.dumps(model))
    _ = model.tree_.value, model.tree_.feature
    assert len(pickle.dumps(model)) == before
    assert np.array_equal(pickle.loads(pickle.dumps(model)).tree_.value, model.tree_.value)


def test_a_single_threshold_cannot_say_what_other_nodes_ask():
    questions = [
        {"weights": {"a": 2, "b": -1}, "cut": 0.5},
        {"feature": "b", "in": [0, 3]},
        {"feature": "a", "between": [0, 1]},
        {"feature": "a", "cut": 1, "missing": "both", "missing_share": 0.5},
    ]
    for question in questions:
        tree = build_tree(question | {"left": 1, "right": 2}, ["a", "b"]).tree
        view = GrownTree(tree, "regression", ["a", "b"])
        assert view.children_left.tolist() == [1, -1, -1]
        with pytest.raises(ValueError, match=r"1 of the 1 questions .* of another kind"):
            _ = view.threshold
    left = build_tree({"feature": 0, "cut": 1, "missing": "left", "left": 1, "right": 2}).tree
    assert GrownTree(left, "regression", ["a"]).missing_go_to_left.tolist() == [1, 0, 0]


# ---- the trees of a forest ---------------------------------------------------------------------


@for_each_forest
def test_a_forests_trees_are_estimators(cls):
    model, X = fitted(cls)
    trees = model.estimators_
    assert len(trees) == len(model) == 6
    assert all(type(tree) is model._tree_type for tree in trees)
    assert trees[-1] is trees[5] is model[5]
    assert trees[1:3] == [trees[1], trees[2]] == list(model)[1:3]
    with pytest.raises(IndexError):
        _ = trees[6]
    for tree, answers, ends in zip(trees, model.predict_trees(X), model.apply(X).T, strict=True):
        assert tree.n_features_in_ == 4
        np.testing.assert_array_equal(tree.apply(X), ends)
        if cls is ForestClassifier:
            np.testing.assert_array_equal(tree.predict_proba(X), answers)
            answers = model.classes_[answers.argmax(axis=1)]
        np.testing.assert_array_equal(tree.predict(X), answers)
    at_2 = np.transpose([tree.apply(X, depth=2) for tree in trees])
    np.testing.assert_array_equal(at_2, model.apply(X, depth=2))


@for_each_forest
def test_a_forests_trees_are_no_copies(cls):
    model, _ = fitted(cls)
    for tree in model.estimators_:
        assert np.shares_memory(tree.forest_.nodes, model.forest_.nodes)
        assert np.shares_memory(tree.forest_.stats, model.forest_.stats)
        assert np.shares_memory(tree.forest_.steps, model.forest_.steps)


@for_each_forest
def test_a_forests_tree_stands_alone(cls, tmp_path):
    X, y = data_for(cls)
    frame = pd.DataFrame(X, columns=FEATURES)
    options = {"class_weight": "balanced_subsample"} if cls is ForestClassifier else {}
    model = cls(6, min_samples_leaf=2, random_state=0, **options).fit(frame, y)
    tree = model.estimators_[2]
    assert tree.min_samples_leaf == 2
    assert tree.export_text() == model.trees_[2].export_text()
    assert tree.feature_names_in_.tolist() == FEATURES
    assert clone(tree).fit(X, y).get_n_leaves() > 2  # with parameters that a tree may have
    assert len({tree.random_state for tree in model.estimators_}) == 6
    tree.save(tmp_path / "tree")
    for copy in pickle.loads(pickle.dumps(tree)), load(tmp_path / "tree"):
        np.testing.assert_array_equal(copy.predict(frame), tree.predict(frame))
        assert len(copy.forest_.nodes) == tree.tree_.node_count


@for_each_forest
def test_trees_stay_those_of_their_fit(cls):
    model, X = fitted(cls)
    trees, answers = model.estimators_, model.predict_trees(X)
    model.fit(X, data_for(cls)[1][::-1])
    for tree, answer in zip(trees, answers, strict=True):
        asked = tree.predict_proba if cls is ForestClassifier else tree.predict
        np.testing.assert_array_equal(asked(X), answer)
    assert model.estimators_ is not trees
    assert model.estimators_ is model.estimators_


@for_each_forest
def test_an_unfitted_forest_has_no_trees(cls):
    assert not hasattr(cls(), "estimators_")
    for name in "estimators_", "estimators_samples_":
        with pytest.raises(NotFittedError):
            getattr(cls(), name)
    with pytest.raises(NotFittedError):
        cls().estimators_ = []


@for_each_forest
def test_some_trees_may_be_left_out(cls):
    model, X = fitted(cls, n_estimators=40, oob_score=True)
    kept = [0, 3, 7]
    mean = model.predict_trees(X)[kept].mean(axis=0)
    model.estimators_ = [model.estimators_[t] for t in kept]
    assert len(model) == len(model.estimators_) == 3
    answers = model.predict_proba(X) if cls is ForestClassifier else model.predict(X)
    # Sums of three numbers in another order.
    np.testing.assert_allclose(answers, mean, 1e-14, 1e-15)
    assert not hasattr(model, "oob_score_")
    for ask in (
        lambda: model.predict_oob(X),
        lambda: model.estimators_samples_,
        lambda: model.set_params(warm_start=True, oob_score=False).fit(*data_for(cls)),
    ):
        with pytest.raises(ValueError, match="Which rows the trees saw is not known"):
            ask()
    model.set_params(warm_start=False).fit(*data_for(cls))
    assert model.predict_oob(X)[1].max() > 0


@for_each_forest
def test_only_trees_that_answer_the_same_may_be_put_in(cls):
    model, X = fitted(cls)
    y = data_for(cls)[1]
    tree = model._tree_type
    others = [
        model._tree_type(),
        fitted(TreeRegressor if cls is ForestClassifier else TreeClassifier)[0],
        tree().fit(X[:, :3], y),
        tree().fit(X, np.stack([y, y], 1) if cls is ForestRegressor else y == "oak"),
        "tree",
    ]
    before = model.predict(X).tolist()
    for other in others:
        with pytest.raises(ValueError, match=f"^estimators_ must be fitted {tree.__name__}s"):
            model.estimators_ = [model.estimators_[0], other]
    with pytest.raises(ValueError, match="at least one tree"):
        model.estimators_ = []
    assert model.predict(X).tolist() == before
    model.estimators_ = [tree().fit(X, y)]
    np.testing.assert_array_equal(model.predict(X), y)


@for_each_forest
@pytest.mark.parametrize(
    "bag",
    [{}, {"max_samples": 40}, {"max_samples": 400}, {"bootstrap": False, "max_samples": 0.5}],
)
def test_the_rows_that_trees_saw(cls, bag):
    model, X = fitted(cls, **bag)
    drawn = model.estimators_samples_
    counts = bags(model.recipe_, len(X), model.chances_, model.seed_, 6)
    assert len(drawn) == 6
    for rows, times, tree in zip(drawn, counts, model.estimators_, strict=True):
        assert rows.dtype == np.int32
        np.testing.assert_array_equal(np.bincount(rows, minlength=len(X)), times)
        assert tree.tree_.n_node_samples[0] == len(np.unique(rows))
        assert tree.tree_.weighted_n_node_samples[0] == len(rows) == model.recipe_.bag_size


@for_each_forest
def test_trees_without_bags_saw_all_rows(cls):
    model, X = fitted(cls, bootstrap=False)
    assert [rows.tolist() for rows in model.estimators_samples_] == [list(range(len(X)))] * 6


# ---- as scikit-learn's own ---------------------------------------------------------------------

CLASSES = {
    TreeClassifier: sk.DecisionTreeClassifier,
    TreeRegressor: sk.DecisionTreeRegressor,
    ForestClassifier: RandomForestClassifier,
    ForestRegressor: RandomForestRegressor,
}
for_each = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def assert_same_answers(ours, theirs, X):
    """To the bit: sums run in the same order."""
    for method in "predict", "predict_proba", "apply":
        if hasattr(ours, method):
            np.testing.assert_array_equal(getattr(theirs, method)(X), getattr(ours, method)(X))
    # Differences of impurities, which are rounded.
    np.testing.assert_allclose(theirs.feature_importances_, ours.feature_importances_, 1e-9, 1e-12)


@for_each
def test_scikit_learns_own_answers_the_same(cls):
    model, X = fitted(cls)
    theirs = model.to_sklearn()
    assert type(theirs) is CLASSES[cls]
    other = np.random.default_rng(1).normal(size=(500, 4)).astype(np.float32)
    for rows in X, other:
        assert_same_answers(model, theirs, rows)
        assert_same_answers(model, pickle.loads(pickle.dumps(theirs)), rows)


@pytest.mark.parametrize("cls", [TreeRegressor, ForestRegressor])
def test_several_targets_the_same(cls):
    model, X = fitted(cls, n_targets=3)
    assert_same_answers(model, model.to_sklearn(), X)


@for_each
def test_it_has_what_a_fit_would_give_it(cls):
    X, y = data_for(cls)
    frame = pd.DataFrame(X, columns=FEATURES)
    theirs = fitted(cls)[0].fit(frame, y).to_sklearn()
    own = CLASSES[cls]().fit(frame, y)
    assert {name for name in vars(own) if name[0] != "_"} == set(vars(theirs))
    for name in ("n_features_in_", "n_outputs_", "n_classes_"):
        assert getattr(theirs, name, None) == getattr(own, name, None)
    if cls in (ForestClassifier, ForestRegressor):
        tree, other = theirs.estimators_[0], own.estimators_[0]
        assert vars(tree).keys() == vars(other).keys()
        assert np.array_equal(getattr(tree, "classes_", None), getattr(other, "classes_", None))


FLOAT32 = {"digits": load_digits, "iris": load_iris, "diabetes": load_diabetes}


@pytest.mark.parametrize("name", FLOAT32)
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("threshold", ["midpoint", "value"])
def test_data_of_float32_go_the_same_ways(name, search, threshold):
    if search == "uniform":
        threshold = None  # drawn cuts lie where they were drawn
    X, y = FLOAT32[name](return_X_y=True)
    X = X.astype(np.float32)
    cls = ForestRegressor if name == "diabetes" else ForestClassifier
    model = cls(10, search=search, threshold=threshold, random_state=0).fit(X[::2], y[::2])
    assert_same_answers(model, model.to_sklearn(), X)


@pytest.mark.parametrize("threshold", ["midpoint", "value"])
def test_where_float32_rounds_few_rows_go_other_ways(threshold):
    """Values of one decimal, of which thresholds often are one too."""
    X, y = load_iris(return_X_y=True)
    model = ForestClassifier(100, threshold=threshold, random_state=0).fit(X[::2], y[::2])
    assert model.rounded_.all()
    changed = np.mean(model.to_sklearn().apply(X) != model.apply(X))
    # None, but where a midpoint is off one of the values by a last bit. Thresholds as they are
    # would change 6 in 1000 ways with midpoints, 50 with values.
    assert changed <= (0.002 if threshold == "midpoint" else 0)
    whole = ForestClassifier(2, random_state=0).fit((10 * X).round(), y)
    assert not whole.rounded_.any()


@pytest.mark.parametrize("combine", ["product", "vote"])
def test_scikit_learn_knows_the_average_only(combine):
    model, _ = fitted(ForestClassifier, combine=combine)
    with pytest.raises(ValueError, match=f"combine must be 'average' .*; got '{combine}'"):
        model.to_sklearn()


def test_other_questions_are_refused():
    model, _ = fitted(TreeRegressor)
    oblique = {"weights": {"a": 2, "b": -1}, "cut": 0.5, "left": 1, "right": 2}
    model.forest_ = plant([build_tree(oblique, ["a", "b"]).tree])
    with pytest.raises(ValueError, match="scikit-learn's trees have one threshold"):
        model.to_sklearn()


@for_each
def test_an_unfitted_one_is_not_converted(cls):
    with pytest.raises(NotFittedError):
        cls().to_sklearn()


# What quick tests need not compile.
LONG = ("absolute_error", "poisson", "gaussian_diagonal", "kde")
BY_TIME = [pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in CRITERIA]


@pytest.mark.parametrize("criterion", BY_TIME)
def test_criteria_by_scikit_learns_names_and_units(criterion):
    cls = TreeClassifier if CRITERIA[criterion].task == "classification" else TreeRegressor
    X, y = data_for(cls)
    y = y**2 if CRITERIA[criterion].counts else y
    model = cls(criterion=criterion, min_impurity_decrease=0.02, random_state=0).fit(X, y)
    theirs = model.to_sklearn()
    if criterion in ("misclassification", "gaussian", "gaussian_diagonal", "kde"):
        assert theirs.criterion == criterion  # it has none, and says so if it is to grow a tree
        with pytest.raises(ValueError, match=r"'criterion' parameter .* must be"):
            theirs.fit(*data_for(cls))
        return
    # The root's impurity, and what it takes to split: as scikit-learn finds them.
    root = CLASSES[cls](criterion=theirs.criterion, max_depth=1).fit(X, y).tree_
    np.testing.assert_allclose(theirs.tree_.impurity[0], root.impurity[0], 1e-12)
    assert clone(theirs).fit(X, y).tree_.node_count == model.tree_.node_count


def test_parameters_are_taken_over():
    model, _ = fitted(ForestClassifier, max_features="log", max_depth=5, max_samples=0.5, n_jobs=2)
    theirs = model.to_sklearn()
    assert theirs.max_features == theirs.estimators_[0].max_features_ == 1
    assert (theirs.max_depth, theirs.max_samples, theirs.n_jobs) == (5, 0.5, 2)
    assert (theirs.n_estimators, theirs.random_state) == (6, 0)
    assert clone(theirs).fit(*data_for(ForestClassifier)).score(*data_for(ForestClassifier)) > 0.6


def test_its_bags_cannot_be_drawn_again_wrongly():
    """By the seeds of its trees others draw the bags, which would not be those of the trees."""
    theirs = fitted(ForestRegressor)[0].to_sklearn()
    assert {tree.random_state for tree in theirs.estimators_} == {NO_SEED}
    with pytest.raises(ValueError, match=f"'{NO_SEED}' cannot be used to seed"):
        forestci.calc_inbag(150, theirs)
    with pytest.raises(AttributeError):
        _ = theirs.estimators_samples_


# ---- other packages ----------------------------------------------------------------------------


@for_each_tree
def test_scikit_learn_prints_and_draws(cls):
    model, _ = fitted(cls, max_depth=2)
    theirs = model.to_sklearn()
    text = sk.export_text(theirs, feature_names=FEATURES)
    assert text.count("|--- ") == model.tree_.node_count + np.sum(model.tree_.feature >= 0)
    assert len(sk.plot_tree(theirs, feature_names=FEATURES)) >= model.tree_.node_count
    dot = sk.export_graphviz(model, feature_names=FEATURES)
    assert dot == sk.export_graphviz(theirs, feature_names=FEATURES).replace(
        theirs.criterion, model.criterion
    )
    assert dot.count("label=") - dot.count("headlabel=") == model.tree_.node_count


def test_forestci_reads_our_forests():
    model, X = fitted(ForestRegressor, n_estimators=50)
    counts = np.transpose([np.bincount(rows, minlength=150) for rows in model.estimators_samples_])
    found = forestci.random_forest_error(model, X.shape, X[:10], inbag=counts, calibrate=False)
    theirs = model.to_sklearn()
    expected = forestci.random_forest_error(theirs, X.shape, X[:10], inbag=counts, calibrate=False)
    np.testing.assert_allclose(found, expected, 1e-9)
    # Calibration draws half of the trees, puts them in a copy, and asks for 20 rows or more.
    np.random.seed(0)  # noqa: NPY002 - it draws from the global state
    calibrated = forestci.random_forest_error(model, X.shape, X, inbag=counts)
    np.random.seed(0)  # noqa: NPY002
    np.testing.assert_allclose(
        calibrated, forestci.random_forest_error(theirs, X.shape, X, inbag=counts), 1e-9
    )
    assert len(model) == 50


@for_each_forest
def test_a_list_of_names_leaves_out_what_is_not_known(cls):
    """scikit-learn makes it by asking for each, and packages ask for it."""
    model, _ = fitted(cls)
    assert {"estimators_", "estimators_samples_"} <= set(dir(model))
    model.estimators_ = model.estimators_[:2]
    assert "estimators_samples_" not in dir(model)
    assert "estimators_" in dir(model)


@for_each
def test_shap_explains_our_models(cls):
    model, X = fitted(cls)
    explainer = shap.TreeExplainer(model.to_sklearn())
    parts = explainer.shap_values(X[:20])
    answers = model.predict_proba(X[:20]) if hasattr(model, "classes_") else model.predict(X[:20])
    # What it says of each feature adds up to the prediction; shap's own tolerance is 1e-2.
    np.testing.assert_allclose(parts.sum(axis=1) + explainer.expected_value, answers, atol=1e-6)


def test_scikit_learn_permutes_ours_and_its_own_alike():
    model, X = fitted(ForestClassifier)
    y = data_for(ForestClassifier)[1]
    found, expected = (
        permutation_importance(each, X, y, n_repeats=2, random_state=0).importances
        for each in (model, model.to_sklearn())
    )
    # Shuffled columns still hold numbers of float32.
    np.testing.assert_array_equal(found, expected)

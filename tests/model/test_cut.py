"""Models cut instead of fitted again; leaves best-first; α given, or chosen by rows."""

import re

import naive_stopping
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from small import FORESTS, as_bytes, data_for, for_each_task, forest_for

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor, load
from forestlab.core.arrays import tree_of
from forestlab.core.cost_complexity import costs_of
from forestlab.forest.stopping import alphas_of, cut_forest, paths_of
from forestlab.model.cutting import rules_of
from forestlab.model.density import DensityForest

RULES = (
    {"max_depth": 3},
    {"min_samples_split": 9},
    {"min_samples_split": 0.3},
    {"min_impurity_decrease": 0.02},
    {"max_leaf_nodes": 6},
    {"ccp_alpha": 0.01},
    {
        "max_depth": 4,
        "min_samples_split": 5,
        "min_impurity_decrease": 0.002,
        "max_leaf_nodes": 7,
        "ccp_alpha": 0.004,
    },
)


def assert_same(model, other):
    """In all that a fit leaves but scores of rows out of bag."""
    assert repr(model.get_params()) == repr(other.get_params())
    assert model.recipe_ == other.recipe_
    for name, one, two in zip(model.forest_._fields, model.forest_, other.forest_, strict=True):
        assert (one.shape, one.tobytes()) == (two.shape, two.tobytes()), name
    sizes = [getattr(one, "n_nodes_before_", np.zeros(0)).tolist() for one in (model, other)]
    assert sizes[0] == sizes[1]


@for_each_task
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: ", ".join(rules))
def test_a_model_that_is_cut_is_the_one_fitted_so(task, rules):
    X, y = data_for(task)
    model = forest_for(task, 3).fit(X, y)
    before = as_bytes(*model.forest_)
    shorter, refit = model.cut(**rules), clone(model).set_params(**rules).fit(X, y)
    assert_same(shorter, refit)
    assert len(shorter.forest_.nodes) < len(model.forest_.nodes)
    assert as_bytes(shorter.predict(X)) == as_bytes(refit.predict(X))
    assert before == as_bytes(*model.forest_)  # left as it was
    assert model.get_params() == forest_for(task, 3).get_params()


@pytest.mark.parametrize("missing", ["learned", pytest.param("both", marks=pytest.mark.long)])
def test_models_of_categories_and_missing_values_are_cut_too(missing):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(list("uvwxyz"), 120)})
    y = (X["a"] + (X["b"] > "w") + rng.normal(size=120) > 0.5).to_numpy()
    X.loc[::7, "a"] = np.nan
    X.loc[::5, "b"] = None
    model = ForestClassifier(3, missing=missing, random_state=0).fit(X, y)
    for rules in RULES[1:]:
        assert_same(model.cut(**rules), clone(model).set_params(**rules).fit(X, y))


def test_a_density_is_cut_with_what_its_nodes_keep():
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = DensityForest(2, covariance="full", random_state=0).fit(X)
    shorter, refit = model.cut(max_depth=2), clone(model).set_params(max_depth=2).fit(X)
    assert_same(shorter, refit)
    assert as_bytes(shorter.covariances_, shorter.score_samples(X)) == as_bytes(
        refit.covariances_, refit.score_samples(X)
    )
    with pytest.raises(ValueError, match="DensityForest has no max_leaf_nodes, so it cannot be"):
        model.cut(max_leaf_nodes=3)


def test_what_is_out_of_bag_is_not_taken_over():
    X, y = data_for("classification")
    model = forest_for("classification", 20, oob_score=True).fit(X, y)
    assert not hasattr(model.cut(max_depth=2), "oob_score_")
    assert hasattr(model, "oob_score_")


@pytest.mark.parametrize(
    ("params", "rules", "sentence"),
    [
        ({"max_depth": 3}, {"max_depth": 4}, "cut makes trees smaller: max_depth must be at most "
         "3, as they were grown; got 4."),
        ({"min_samples_split": 9}, {"min_samples_split": 8}, "min_samples_split must be at least "
         "9, as they were grown; got 8."),
        ({"min_impurity_decrease": 0.1}, {"min_impurity_decrease": 0.01}, "min_impurity_decrease "
         "must be at least 0.1, as they were grown; got 0.01."),
        ({"max_leaf_nodes": 8}, {"max_depth": 3}, "cut needs a model that was fitted whole; this "
         "one was fitted with max_leaf_nodes=8: fit it again."),
        ({"ccp_alpha": 0.01}, {"max_depth": 3}, "this one was fitted with ccp_alpha=0.01"),
        ({"prune": "oob"}, {"max_depth": 3}, "this one was fitted with prune='oob'"),
        ({"shrink": "oob"}, {"max_depth": 3}, "this one was fitted with shrink='oob'"),
        ({"aggregate": True}, {"max_depth": 3}, "this one was fitted with aggregate=True"),
        ({}, {"ccp_alpha": "cv"}, "cut takes a number as ccp_alpha; got 'cv': fit it again."),
        ({}, {"max_leaf_nodes": 1}, "max_leaf_nodes must be a whole number of at least 2 or None"),
        ({}, {"max_depth": 0}, "max_depth must be a whole number of at least 1 or None; got 0."),
    ],
)  # fmt: skip
def test_what_cannot_be_cut_is_refused(params, rules, sentence):
    X, y = data_for("classification")
    model = forest_for("classification", 2, **params).fit(X, y)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        model.cut(**rules)


def test_a_model_stays_pruned_whatever_its_parameter_says_later():
    X, y = data_for("classification")
    model = forest_for("classification", 9, prune="oob").fit(X, y).set_params(prune=None)
    with pytest.raises(ValueError, match="this one was fitted with prune='oob'"):
        model.cut(max_depth=2)


def test_a_model_that_does_not_know_its_gains_is_not_cut_by_them():
    X, y = data_for("classification")
    model = forest_for("classification", 2).fit(X, y)
    model.forest_ = model.forest_._replace(gains=np.zeros(0))
    for rule in ({"max_leaf_nodes": 3}, {"min_impurity_decrease": 0.1}):
        with pytest.raises(ValueError, match=f"cut by {next(iter(rule))} needs the gain of each"):
            model.cut(**rule)
    assert len(model.cut(max_depth=1).forest_.nodes) == 6


# ---- as in scikit-learn ------------------------------------------------------------------------

WEIGHTS = np.random.default_rng(0).uniform(0.5, 2.0, 300)  # by which no two splits are equal


@pytest.mark.parametrize("n_leaves", [2, 3, 7, 20, 40])
def test_leaves_are_those_of_scikit_learn(n_leaves):
    """By the rows in them: where two features part a node's rows alike, cuts may be others."""
    X, y = make_regression(300, 5, noise=20, random_state=1)
    X, params = X.astype(np.float32), {"max_leaf_nodes": n_leaves, "min_samples_leaf": 3}
    ours = TreeRegressor(random_state=0, **params).fit(X, y, WEIGHTS)
    theirs = DecisionTreeRegressor(random_state=0, **params).fit(X, y, WEIGHTS)
    assert ours.get_n_leaves() == theirs.get_n_leaves() == min(n_leaves, ours.get_n_leaves())
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.002, 0.01])
def test_paths_and_pruned_trees_are_those_of_scikit_learn(alpha):
    X, y = make_classification(300, 6, n_informative=4, random_state=3)
    X, params = X.astype(np.float32), {"min_samples_leaf": 4, "random_state": 0}
    ours, theirs = TreeClassifier(**params), DecisionTreeClassifier(**params)
    path, their_path = (
        model.cost_complexity_pruning_path(X, y, WEIGHTS) for model in (ours, theirs)
    )
    # They also split rows of one class, whose impurity they round to more than 0.
    real = np.append(True, their_path.ccp_alphas[1:] > 1e-15)
    assert len(path.ccp_alphas) > 10
    for name in ("ccp_alphas", "impurities"):
        np.testing.assert_allclose(path[name], their_path[name][real], rtol=1e-9, atol=1e-12)
    ours.set_params(ccp_alpha=alpha).fit(X, y, WEIGHTS)
    theirs.set_params(ccp_alpha=alpha).fit(X, y, WEIGHTS)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_a_path_goes_by_the_cost_that_was_asked_for():
    X, y = data_for("classification")
    model = TreeClassifier(ccp_cost="misclassification", random_state=0)
    path = model.cost_complexity_pruning_path(X, y)
    tree = tree_of(model.fit(X, y).forest_, 0)
    leaves = tree.nodes["kind"] == 0
    costs = costs_of(tree, "misclassification", tree.nodes["weight"][0])
    assert path.impurities[0] == pytest.approx(costs[leaves].sum(), abs=1e-12)
    assert path.impurities[-1] == pytest.approx(costs[0])
    pruned = TreeClassifier(ccp_cost="misclassification", ccp_alpha=0.03, random_state=0).fit(X, y)
    asked = naive_stopping.cheapest(tree.nodes, costs, 0.03)[1]
    assert pruned.get_n_leaves() == len(asked) + 1


# ---- paths -------------------------------------------------------------------------------------


@for_each_task
def test_along_a_path_trees_are_those_cut_at_its_values(task):
    """Which nodes ask, and how many leaves there are."""
    X, y = data_for(task)
    forest = forest_for(task, 3, min_samples_leaf=1).fit(X, y).forest_
    names = {
        "depth": "max_depth",
        "leaves": "max_leaf_nodes",
        "split_size": "min_samples_split",
        "gain": "min_impurity_decrease",
        "alpha": "ccp_alpha",
    }
    paths = paths_of(forest)
    assert paths.keys() == names.keys()
    for rule, path in paths.items():
        assert len(path.values) == len(path.leaves) > 3
        model = forest_for(task, 3, min_samples_leaf=1).fit(X, y)
        for g, value in enumerate(path.values.tolist()):
            shorter = model.cut(**{names[rule]: value}) if value else model
            sizes = np.diff(shorter.forest_.first_node)
            assert path.leaves[g] == pytest.approx(np.mean((sizes + 1) // 2))
            for t, first in enumerate(forest.first_node[:-1]):
                own = path.opens[first : forest.first_node[t + 1]]
                asked = naive_stopping.asking(tree_of(forest, t).nodes, own > g)
                assert len(asked) == (sizes[t] - 1) // 2
        assert path.leaves[-1] == pytest.approx(np.mean((np.diff(forest.first_node) + 1) // 2))
        assert (np.diff(path.leaves) >= 0).all()
    assert paths_of(forest._replace(gains=np.zeros(0))).keys() == {"depth", "split_size", "alpha"}


def test_a_forest_is_cut_from_one_of_its_trees_on():
    X, y = data_for("regression")
    model = ForestRegressor(4, random_state=0).fit(X, y)
    shorter = model.cut(max_depth=2)
    some = cut_forest(model.forest_, rules_of(shorter.recipe_), first=2)
    for t in range(4):
        own = tree_of(some, t)
        assert as_bytes(*own) == as_bytes(*tree_of((model if t < 2 else shorter).forest_, t))


# ---- α that rows choose ------------------------------------------------------------------------


def losses_by_hand(model, X, y, X_new, y_new, alphas):
    """(n, G), by a fit for each α."""
    found = []
    for alpha in alphas:
        fitted = clone(model).set_params(ccp_alpha=float(alpha)).fit(X, y)
        answers = fitted.predict(X_new)
        found.append(answers != y_new if y.dtype.kind == "U" else np.square(answers - y_new))
    return np.array(found, float).T


@for_each_task
@pytest.mark.parametrize("rule", ["best", "one_se"])
def test_validation_rows_choose_what_a_leaf_costs(task, rule):
    X, y = data_for(task)
    (X, y), (X_val, y_val) = (X[::2], y[::2]), (X[1::2], y[1::2])
    model = forest_for(task, 3, ccp_alpha="valid", ccp_rule=rule).fit(
        X, y, X_val=X_val, y_val=y_val
    )
    whole = forest_for(task, 3).fit(X, y)
    alphas = alphas_of(whole.forest_, 32, "criterion")
    assert model.ccp_alphas_.tolist() == alphas.tolist()
    losses = losses_by_hand(whole, X, y, X_val, y_val, alphas)
    np.testing.assert_allclose(model.ccp_losses_, losses.mean(axis=0), rtol=1e-12)
    errors = losses.std(axis=0) / np.sqrt(len(losses))
    np.testing.assert_allclose(model.ccp_errors_, errors, rtol=1e-9, atol=1e-12)
    best = losses.mean(axis=0).argmin()
    most = losses.mean(axis=0)[best] * (1 + 1e-12) + (errors[best] if rule == "one_se" else 0)
    assert model.ccp_alpha_ == alphas[losses.mean(axis=0) <= most].max()
    refit = clone(whole).set_params(ccp_alpha=model.ccp_alpha_).fit(X, y)
    assert as_bytes(*model.forest_) == as_bytes(*refit.forest_)
    assert model.n_nodes_before_.tolist() == np.diff(whole.forest_.first_node).tolist()
    assert model.recipe_ == refit.recipe_


@for_each_task
def test_cross_validation_chooses_what_a_leaf_costs(task):
    X, y = data_for(task)
    trees = {"classification": TreeClassifier, "regression": TreeRegressor}
    model = trees[task](ccp_alpha="cv", random_state=0).fit(X, y)
    whole = trees[task](random_state=model.seed_)
    folds = (StratifiedKFold if task == "classification" else KFold)(
        5, shuffle=True, random_state=0
    )
    losses = np.empty((len(y), len(model.ccp_alphas_)))
    for seen, left_out in folds.split(X, y):
        rows = X[seen], y[seen], X[left_out], y[left_out]
        losses[left_out] = losses_by_hand(whole, *rows, model.ccp_alphas_)
    np.testing.assert_allclose(model.ccp_losses_, losses.mean(axis=0), rtol=1e-9)
    best = np.flatnonzero(model.ccp_losses_ == model.ccp_losses_.min())[0]
    assert model.ccp_alpha_ == model.ccp_alphas_[best]


def test_noise_is_pruned_to_the_root():
    """Of labels that nothing tells, cross-validation leaves no leaf but one or two."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.3).astype(int)
    model = TreeClassifier(ccp_alpha="cv", ccp_rule="one_se")
    sizes = [model.set_params(random_state=k).fit(X, y).get_n_leaves() for k in range(3)]
    assert max(sizes) <= 2 < TreeClassifier(random_state=0).fit(X, y).get_n_leaves() / 10


def test_numbers_that_choose_are_finite():
    X, y = data_for("regression")
    with pytest.raises(ValueError, match="y_val contains NaN"):
        TreeRegressor(ccp_alpha="valid").fit(X, y, X_val=X, y_val=np.full(len(y), np.nan))


@for_each_task
@pytest.mark.parametrize("by", ["cv", "valid"])
def test_targets_of_one_column_choose_as_a_list_does(task, by):
    X, y = data_for(task)
    model, given = forest_for(task, 2, ccp_alpha=by), {}
    if by == "valid":
        X, y, given = X[::2], y[::2], {"X_val": X[1::2], "y_val": y[1::2]}
    listed = model.fit(X, y, **given)
    losses = listed.ccp_losses_
    given = given | {name: given[name][:, None] for name in given if name == "y_val"}
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model.fit(X, y[:, None], **given)
    assert model.ccp_losses_.tolist() == losses.tolist()


def test_what_rows_chose_is_not_cut_even_if_they_chose_nothing():
    """Rows may choose another α for shorter trees."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (80, 2))
    y = 10 * np.sign(X[:, 0] * X[:, 1]) + 5 * X[:, 0] * X[:, 1] + X[:, 0]
    model = TreeRegressor(random_state=0, ccp_alpha="cv").fit(X, y)
    assert model.ccp_alpha_ == 0.0
    with pytest.raises(ValueError, match="fitted with ccp_alpha='cv': fit it again"):
        model.cut(max_depth=1)


@pytest.mark.parametrize(
    ("params", "given", "sentence"),
    [
        ({"ccp_alpha": "valid"}, {}, "ccp_alpha='valid' is chosen by rows apart: fit needs X_val"),
        ({}, {"X_val": np.zeros((1, 4)), "y_val": ["oak"]}, "X_val and y_val choose α, so"),
        ({}, {"y_val": ["oak"]}, "X_val and y_val choose α, so"),
        ({"ccp_alpha": "valid"}, {"X_val": np.zeros((1, 4))}, "fit needs X_val and y_val"),
        (
            {"ccp_alpha": "valid"},
            {"X_val": np.zeros((3, 4)), "y_val": ["oak"]},
            "y_val must have the targets of X_val's rows, of shape (3,); got (1,).",
        ),
        (
            {"ccp_alpha": "valid"},
            {"X_val": np.zeros((1, 4)), "y_val": [7]},
            "got none of them, but 7.",
        ),
        ({"ccp_alpha": "oob"}, {}, "ccp_alpha must be one of 'cv', 'valid' or a number of at"),
        ({"ccp_alpha": -0.1}, {}, "ccp_alpha must be a number of at least 0; got -0.1."),
        ({"ccp_alpha": "cv", "ccp_rule": "two"}, {}, "ccp_rule must be one of 'best', 'one_se'"),
        ({"ccp_cost": "gini"}, {}, "ccp_cost must be one of 'criterion', 'misclassification'"),
        ({"ccp_alpha": "cv", "warm_start": True}, {}, "ccp_alpha='cv' would choose it anew"),
        ({"ccp_alpha": 0.1, "prune": "oob"}, {}, "ccp_alpha and prune both cut trees back"),
    ],
)
def test_mistakes_of_pruning_get_a_sentence(params, given, sentence):
    X, y = data_for("classification")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        forest_for("classification", 2, **params).fit(X, y, **given)


def test_misclassification_costs_are_of_one_target():
    X, y = data_for("classification")
    with pytest.raises(ValueError, match="is of one target of classes; for 2 it must be 'criteri"):
        TreeClassifier(ccp_cost="misclassification").fit(X, np.stack([y, y], axis=1))


def test_misclassification_costs_need_classes():
    with pytest.raises(ValueError, match="ccp_cost='misclassification' needs classes; for regr"):
        TreeRegressor(ccp_cost="misclassification").fit(*data_for("regression"))


def test_trees_that_are_added_are_pruned_as_all_at_once():
    X, y = data_for("classification")
    model = forest_for("classification", 2, ccp_alpha=0.02, warm_start=True).fit(X, y)
    model.set_params(n_estimators=5).fit(X, y)
    at_once = forest_for("classification", 5, ccp_alpha=0.02).fit(X, y)
    assert as_bytes(*model.forest_) == as_bytes(*at_once.forest_)
    assert model.n_nodes_before_.tolist() == at_once.n_nodes_before_.tolist()
    whole = forest_for("classification", 5).fit(X, y)
    assert at_once.n_nodes_before_.tolist() == np.diff(whole.forest_.first_node).tolist()


def test_what_was_chosen_is_kept_in_files(tmp_path):
    X, y = data_for("classification")
    model = TreeClassifier(ccp_alpha="cv", random_state=0).fit(X, y)
    model.save(tmp_path / "pruned.forest")
    read = load(tmp_path / "pruned.forest")
    assert read.ccp_alpha_ == model.ccp_alpha_
    assert as_bytes(read.ccp_losses_, read.ccp_alphas_) == as_bytes(
        model.ccp_losses_, model.ccp_alphas_
    )
    assert_same(read, model)


@pytest.mark.parametrize("task", FORESTS)
def test_scikit_learn_gets_the_number_that_was_chosen(task):
    X, y = data_for(task)
    X = X.astype(np.float32)
    model = forest_for(task, 2, ccp_alpha="valid").fit(X, y, X_val=X, y_val=y)
    theirs = model.to_sklearn()
    assert theirs.ccp_alpha == model.ccp_alpha_
    np.testing.assert_allclose(theirs.predict(X[:9]) == model.predict(X[:9]), True)

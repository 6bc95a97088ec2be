"""Classifiers of several targets: as scikit-learn's, and each target as if it were alone.

No column has more values than a byte, so that one kernel grows nearly all that is asked for here.
"""

import json
import pickle
import warnings
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import compute_sample_weight

from forestlab import ForestClassifier, TreeClassifier, build_tree, load
from forestlab.core.criteria import CRITERIA, Criterion
from forestlab.forest import combined, of_target

LABELS = np.array(["low", "middle", "high indeed"])


def made(n_rows=240, seed=0):
    """X that float32 holds, and two targets of two and three labels of unlike lengths."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(float)
    noise = 0.5 * rng.normal(size=(2, n_rows))
    second = LABELS[np.digitize(X[:, 1] + noise[1], [-0.5, 0.5])]
    return X, np.column_stack([np.where(X[:, 0] + noise[0] > 0, "yes", "no"), second])


X, Y = made()
CODES = np.column_stack([np.unique(column, return_inverse=True)[1] for column in Y.T])
EACH = 2, 3


@pytest.fixture(scope="module")
def forest():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of three rows that no tree left out
        return _forest()


def _forest():
    return ForestClassifier(12, oob_score=True, max_depth=6, random_state=0).fit(X, Y)


def same(some, others, **close):
    """Two lists of arrays."""
    assert len(some) == len(others)
    for one, other in zip(some, others, strict=True):
        np.testing.assert_allclose(one, other, **close)


# ---- as scikit-learn's -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("gini", "gini"), pytest.param("entropy2", "entropy", marks=pytest.mark.long)],
)
@pytest.mark.parametrize(("weighted", "least"), [(False, 0), (True, 0), (False, 0.008)])
def test_the_same_tree_as_scikit_learns(ours, theirs, weighted, least):
    """Leaves are so large that no two cuts tie. With a least decrease there are fewer of them.
    Weights are quarters: by thirds, which floats round, scikit-learn splits pure nodes too."""
    weights = np.random.default_rng(2).integers(1, 9, len(X)) / 4 if weighted else None
    params = {"min_samples_leaf": 5, "max_depth": 5, "random_state": 0}
    full = DecisionTreeClassifier(criterion=theirs, **params).fit(X, Y, weights)
    params["min_impurity_decrease"] = least
    own = TreeClassifier(criterion=ours, **params).fit(X, Y, weights)
    other = DecisionTreeClassifier(criterion=theirs, **params).fit(X, Y, weights)
    assert own.tree_.node_count == other.tree_.node_count > 10
    assert (own.tree_.node_count < full.tree_.node_count) == (least > 0)
    for name in ("feature", "children_left", "children_right", "n_node_samples", "n_classes"):
        found, expected = getattr(own.tree_, name), getattr(other.tree_, name)
        np.testing.assert_array_equal(found, expected, err_msg=name)
    for name in ("threshold", "value", "impurity", "weighted_n_node_samples"):
        # Sums of 240 weights, in another order.
        found, expected = getattr(own.tree_, name), getattr(other.tree_, name)
        np.testing.assert_allclose(found, expected, 1e-12, 1e-12, err_msg=name)
    np.testing.assert_allclose(own.feature_importances_, other.feature_importances_, 1e-9)
    assert own.tree_.max_n_classes == other.tree_.max_n_classes == 3
    same(own.predict_proba(X), other.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(own.predict(X), other.predict(X))
    np.testing.assert_array_equal(own.tree_.predict(X).shape, (len(X), 2, 3))


def test_attributes_and_shapes_are_scikit_learns(forest):
    theirs = RandomForestClassifier(3, random_state=0).fit(X, Y)
    assert forest.n_classes_ == list(theirs.n_classes_) == [2, 3]
    assert forest.n_outputs_ == theirs.n_outputs_ == 2
    for ours, other in zip(forest.classes_, theirs.classes_, strict=True):
        assert ours.tolist() == other.tolist()
    for method in ("predict_proba", "predict_log_proba"):
        with np.errstate(divide="ignore"):
            shapes = [p.shape for p in getattr(theirs, method)(X[:7])]
        assert [p.shape for p in getattr(forest, method)(X[:7])] == shapes
    assert forest.predict(X[:7]).shape == theirs.predict(X[:7]).shape
    assert forest.predict(X).dtype == Y.dtype
    paths, first = forest.decision_path(X[:7])
    assert paths.shape == (7, first[-1])


def test_the_score_is_the_share_of_rows_of_which_all_is_right(forest):
    predicted = forest.predict(X)
    right = (predicted == Y).all(axis=1)
    assert 0.5 < right.mean() < (predicted == Y).mean() < 1
    assert forest.score(X, Y) == right.mean()
    weights = np.arange(len(X))
    assert forest.score(X, Y, weights) == np.average(right, weights=weights)
    labels = CODES[:, :1] == [[0, 1]]  # 0 and 1, of which scikit-learn has a score, too
    tree = TreeClassifier(max_depth=1, random_state=0).fit(X, labels.astype(int))
    assert tree.score(X, labels) == accuracy_score(labels, tree.predict(X)) < 1
    with pytest.raises(ValueError, match=r"^y must have the shape \(240, 2\); got \(240,\)"):
        forest.score(X, Y[:, 0])


# ---- each target alone -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "combine",
    ["average", *(pytest.param(name, marks=pytest.mark.long) for name in ("product", "vote"))],
)
@pytest.mark.parametrize("depth", [None, 2])
def test_a_target_is_answered_by_what_nodes_keep_of_it(forest, combine, depth):
    asked = ForestClassifier(combine=combine)
    asked.__dict__.update({n: v for n, v in vars(forest).items() if n.endswith("_")})
    found = asked.predict_proba(X, depth)
    for k, p in enumerate(found):
        alone = of_target(forest.forest_, "classification", k, EACH)
        np.testing.assert_array_equal(
            p, combined(alone, "classification", combine, X, depth)[0]
        )  # to the bit
        labels = forest.classes_[k][p.argmax(axis=1)]
        np.testing.assert_array_equal(asked.predict(X, depth)[:, k], labels)


def test_trees_answer_by_themselves(forest):
    found = forest.predict_trees(X)
    assert [p.shape for p in found] == [(12, 240, 2), (12, 240, 3)]
    same([p.mean(axis=0) for p in found], forest.predict_proba(X), rtol=1e-12)
    member = forest.estimators_[3]
    same([p[3] for p in found], member.predict_proba(X), rtol=1e-12)
    assert member.n_classes_ == [2, 3]


def test_a_depth_is_as_if_grown_to_it(forest):
    short = ForestClassifier(12, max_depth=2, random_state=0).fit(X, Y)
    same(forest.predict_proba(X, depth=2), short.predict_proba(X), rtol=0)


def test_out_of_bag_rows_ask_those_that_left_them_out(forest):
    answers, voters = forest.predict_oob(X)
    outside = forest.grown.bags() == 0
    assert voters.tolist() == outside.sum(axis=0).tolist() == forest.oob_voters_.tolist()
    voted = voters > 0
    for p, of_trees in zip(answers, forest.predict_trees(X), strict=True):
        with np.errstate(invalid="ignore"):
            expected = (of_trees * outside[..., None]).sum(axis=0) / voters[:, None]
        np.testing.assert_allclose(p, expected, 1e-12)
    same(forest.oob_decision_function_, answers, rtol=0)
    right = [forest.classes_[k][p.argmax(axis=1)] == Y[:, k] for k, p in enumerate(answers)]
    assert forest.oob_score_ == np.all(right, axis=0)[voted].mean()


# ---- what y may be -----------------------------------------------------------------------------


def test_one_column_is_one_target():
    flat = TreeClassifier(random_state=0).fit(X, Y[:, 0])
    with pytest.warns(UserWarning, match="column-vector"):
        column = TreeClassifier(random_state=0).fit(X, Y[:, :1])
    np.testing.assert_array_equal(flat.forest_.nodes, column.forest_.nodes)
    assert column.recipe_ == flat.recipe_
    assert column.predict_proba(X).shape == (240, 2)
    assert column.n_classes_ == 2


def test_numbers_of_classes_and_labels_grow_the_same():
    params = {"max_depth": 4, "random_state": 0}
    by_name = TreeClassifier(**params).fit(X, pd.DataFrame(Y))
    by_code = TreeClassifier(**params).fit(X, CODES)
    np.testing.assert_array_equal(by_name.forest_.stats, by_code.forest_.stats)
    assert by_code.predict(X).dtype == CODES.dtype


def test_a_target_of_one_class_changes_nothing_but_the_impurity():
    params = {"max_depth": 4, "random_state": 0}
    two = TreeClassifier(**params).fit(X, CODES)
    three = TreeClassifier(**params).fit(X, np.column_stack([CODES, np.full(len(X), 7)]))
    for field in ("feature", "cut_high", "n_rows"):
        np.testing.assert_array_equal(three.forest_.nodes[field], two.forest_.nodes[field])
    impurity = three.forest_.nodes["impurity"]
    np.testing.assert_allclose(impurity * 3, two.forest_.nodes["impurity"] * 2, 1e-12, 1e-15)
    assert (three.predict(X)[:, 2] == 7).all()


def test_sparse_labels_and_fractions_are_refused():
    with pytest.raises(ValueError, match=r"^y must be an array: sparse"):
        TreeClassifier().fit(X, csr_array(CODES > 0))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        TreeClassifier().fit(X, X[:, :2])


def test_a_criterion_of_one_target_is_refused(monkeypatch):
    gini = CRITERIA["gini"]
    assert isinstance(gini, Criterion)
    monkeypatch.setitem(CRITERIA, "own_way", gini._replace(scan=lambda: None))
    with pytest.raises(
        ValueError, match=r"^criterion='own_way' is of one target of classes; .* 'gini'.*"
    ):
        TreeClassifier(criterion="own_way").fit(X, Y)


@pytest.mark.filterwarnings("ignore:criterion=")
def test_a_function_sees_a_column_for_each_target():
    """Whose mean impurity is that of the built-in one."""

    def mean_gini(y, weights):
        assert y.dtype == np.int64
        assert y.shape == (len(weights), 2)
        shares = [np.bincount(column, weights) / weights.sum() for column in y.T]
        return np.mean([1 - (p**2).sum() for p in shares])

    few, params = slice(60), {"max_depth": 3, "search": "exact", "ties": "first"}
    own = TreeClassifier(criterion=mean_gini, **params).fit(X[few], Y[few])
    built_in = TreeClassifier(**params).fit(X[few], Y[few])
    assert len(own.forest_.nodes) > 6
    for field in ("feature", "cut_high", "n_rows"):
        np.testing.assert_array_equal(own.forest_.nodes[field], built_in.forest_.nodes[field])
    np.testing.assert_array_equal(own.forest_.stats, built_in.forest_.stats)


# ---- weights -----------------------------------------------------------------------------------

DICTS = [{"yes": 2.5}, {"low": 0.5, "middle": 3.0}]


@pytest.mark.parametrize("class_weight", ["balanced", DICTS])
def test_weights_of_classes_multiply(class_weight):
    weighted = TreeClassifier(class_weight=class_weight, max_depth=4, random_state=0).fit(X, Y)
    by_row = compute_sample_weight(class_weight, Y)
    assert len(np.unique(by_row)) == 6
    plain = TreeClassifier(max_depth=4, random_state=0).fit(X, Y, by_row)
    np.testing.assert_allclose(weighted.forest_.stats, plain.forest_.stats, 1e-12)


def test_bags_are_balanced_for_every_target():
    forest = ForestClassifier(
        1, class_weight="balanced_subsample", random_state=0, max_depth=1
    ).fit(X, Y)
    counts = forest.grown.bags()[0].astype(float)
    drawn = np.repeat(np.arange(len(X)), counts.astype(int))
    factors = np.zeros(len(X))
    factors[drawn] = compute_sample_weight("balanced", Y[drawn])
    weights = counts * factors
    expected = [weights[column == label].sum() for column in CODES.T for label in set(column)]
    np.testing.assert_allclose(forest.forest_.stats[0], expected, 1e-12)


@pytest.mark.parametrize(
    "wrong", [{"yes": 2}, [{"yes": 2}], [{"yes": 2}, "balanced"], "balance", [{"yes": -1}, {}]]
)
def test_wrong_weights_of_classes_are_refused(wrong):
    with pytest.raises(ValueError, match=r"^class_weight"):
        TreeClassifier(class_weight=wrong).fit(X, Y)


# ---- more trees, files, pictures ---------------------------------------------------------------


def test_a_warm_start_needs_the_same_classes():
    forest = ForestClassifier(2, warm_start=True, max_depth=2, random_state=0).fit(X, Y)
    forest.set_params(n_estimators=4).fit(X, Y)
    whole = ForestClassifier(4, max_depth=2, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(forest.forest_.stats, whole.forest_.stats)
    other = np.where(Y == "low", "lower", Y)
    with pytest.raises(ValueError, match="same classes"):
        forest.set_params(n_estimators=5).fit(X, other)
    with pytest.raises(ValueError, match="its classes or targets"):
        whole.estimators_ = [TreeClassifier(max_depth=1).fit(X, other)]
    whole.estimators_ = whole.estimators_[:2]
    assert len(whole) == 2


def test_a_file_holds_all_of_it(forest, tmp_path):
    model = ForestClassifier(**forest.get_params(deep=False) | {"class_weight": DICTS})
    model.__dict__.update({n: v for n, v in vars(forest).items() if n.endswith("_")})
    model.save(tmp_path / "it.forest")
    for again in load(tmp_path / "it.forest"), pickle.loads(pickle.dumps(model)):
        np.testing.assert_array_equal(again.predict(X), forest.predict(X))
        assert [c.tolist() for c in again.classes_] == [c.tolist() for c in forest.classes_]
        assert again.n_classes_ == [2, 3]
        assert again.recipe_ == forest.recipe_
        assert again.class_weight == DICTS
        same(again.oob_decision_function_, forest.oob_decision_function_, rtol=0)
        same(again.predict_oob(X)[0], forest.predict_oob(X)[0], rtol=0)


@pytest.mark.parametrize("wrong", [[2, 2], [3, 2], [5], []])
def test_a_file_whose_classes_do_not_fit_is_refused(forest, wrong, tmp_path):
    forest.save(tmp_path / "it.forest")
    with np.load(tmp_path / "it.forest") as archive:
        arrays = dict(archive)
    text = json.loads(arrays["format.json"].tobytes())
    text["recipe"]["classes_each"] = wrong
    arrays["format.json"] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    with open(tmp_path / "damaged.forest", "wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(ValueError, match="its classes do not fit together"):
        load(tmp_path / "damaged.forest")


def test_scikit_learns_own_answers_the_same(forest):
    theirs = forest.to_sklearn()
    same(theirs.predict_proba(X), forest.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(theirs.predict(X), forest.predict(X))
    tree = forest.estimators_[0]
    np.testing.assert_array_equal(tree.to_sklearn().predict(X), tree.predict(X))
    numbers = theirs.estimators_[0].predict(X)
    labels = [forest.classes_[k][numbers[:, k].astype(int)] for k in range(2)]
    np.testing.assert_array_equal(np.stack(labels, axis=1), tree.predict(X))


def test_text_shows_a_label_of_each_target():
    tree = TreeClassifier(max_depth=1, random_state=0).fit(X, Y)
    view = tree.tree_
    assert view.value_of(1) == tree.predict(X[view.apply(X) == 1][:1])[0].tolist()
    lines = view.export_text(show_stats=True).splitlines()
    no, yes = (CODES[:, 0] == 0).sum(), (CODES[:, 0] == 1).sum()
    assert f"no: {no}, yes: {yes} | high indeed: " in lines[0]
    assert "yes: [" in lines[1]
    assert view.explain(X[0]).endswith(f"prediction: [{', '.join(tree.predict(X[:1])[0])}]")


def test_what_is_described_can_be_built_again(forest):
    view = forest.trees_[0]
    again = build_tree(view.describe())
    np.testing.assert_array_equal(again.predict(X), view.predict(X))
    np.testing.assert_allclose(again.tree.stats, view.tree.stats, 1e-12)
    np.testing.assert_allclose(again.tree.nodes["weight"], view.tree.nodes["weight"], 1e-12)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("yes", "a list of 2 labels"),
        (["yes"], "a list of 2 labels"),
        (["yes", "late"], "none of the classes"),
        (["yes", {"low": 2}], "same weight"),
    ],
)
def test_leaves_of_another_number_of_targets_are_refused(value, words):
    names = [["no", "yes"], ["high", "low"]]
    with pytest.raises(ValueError, match=words):
        build_tree({"value": value}, class_names=names)
    assert build_tree({"value": ["yes", "low"]}, class_names=names).value_of(0) == ["yes", "low"]


def test_a_drawn_tree_names_all_labels(forest):
    ax = forest.estimators_[0].draw(max_depth=1)
    texts = [text.get_text() for text in ax.texts]
    view = forest.trees_[0]
    assert any(view.value_text(1) in text for text in texts)


def test_classes_do_not_go_into_files_of_one_target(tmp_path):
    """Which are as they were."""
    TreeClassifier(max_depth=1).fit(X, Y[:, 0]).save(tmp_path / "one.forest")
    with zipfile.ZipFile(BytesIO((tmp_path / "one.forest").read_bytes())) as archive:
        assert "classes_.npy" in archive.namelist()
        assert not [name for name in archive.namelist() if name.startswith("classes_.0")]

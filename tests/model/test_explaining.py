"""Why a model answers as it does: parts that add up, and words that say what the numbers do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_linnerud

from forestlab import DensityForest, ForestClassifier, ForestRegressor, TreeClassifier
from forestlab.core.arrays import AXIS, BOTH, CATEGORY, LEAF, LEFT, SIDE, tree_of
from forestlab.core.questions import categories, known_categories, number_asked

IRIS = load_iris(as_frame=True)
X, KIND = IRIS.data, IRIS.target_names[IRIS.target]
ROWS, NUMBERS = load_diabetes(return_X_y=True)
HOLES = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
MIXED = X.assign(size=np.where(X.iloc[:, 2] > 4, "large", "small"))
SMALL = {"n_estimators": 8, "random_state": 0}
MODELS = {
    "classes": (ForestClassifier(**SMALL), X, KIND),
    "numbers": (ForestRegressor(**SMALL, leaf="median"), ROWS, NUMBERS),
    "one tree": (TreeClassifier(random_state=0), X, KIND),
    "sums": (ForestClassifier(**SMALL, learner="oblique"), X, KIND),
    "shrunk": (ForestClassifier(**SMALL, shrink=10.0), X, KIND),
    "all prunings": (ForestClassifier(**SMALL, aggregate=True), X, KIND),
    "both ways": (ForestClassifier(**SMALL, missing="both", max_depth=3), HOLES, KIND),
    "categories": (ForestClassifier(**SMALL), MIXED, KIND),
    "targets": (ForestRegressor(**SMALL), *load_linnerud(return_X_y=True)),
    "targets of classes": (ForestClassifier(**SMALL), X, np.stack([KIND, KIND == "setosa"], 1)),
}
for_each = pytest.mark.parametrize(("model", "rows", "y"), MODELS.values(), ids=list(MODELS))


def side_shares(tree, i, x):
    """Which share of the row goes left at node i, and which right."""
    node, number = tree.nodes[i], number_asked(tree, i, x)
    is_set = node["kind"] == CATEGORY
    if np.isnan(number) or (is_set and number not in known_categories(tree, i)):
        side = node["missing"] & SIDE
        share = float(node["missing_share"]) if side == BOTH else float(side == LEFT)
    elif is_set:
        share = float(number in categories(tree, i))
    else:
        share = float(node["cut_low"] < number <= node["cut_high"])
    return {"left": share, "right": 1.0 - share}


def asked(tree, i):
    """The features of node i's question, each with its share."""
    node = tree.nodes[i]
    if node["kind"] in (AXIS, CATEGORY):
        return {int(node["feature"]): 1.0}
    start = node["params"]
    n = int(tree.params[start])
    features = tree.params[start + 1 : start + 1 + 2 * n : 2].astype(int)
    return dict(zip(features, tree.params[start + 1 + 2 * n :][:n], strict=True))


def parts_below(tree, answers, x, depth, i=0, share=1.0):
    """What each feature adds on the ways of x down from node i, (n_features, n_answers)."""
    found = np.zeros((len(x), answers.shape[1]))
    if tree.nodes["kind"][i] == LEAF or depth == 0:
        return found
    for side, part in side_shares(tree, i, x).items():
        child = tree.nodes[side][i]
        if part:
            for feature, weight in asked(tree, i).items():
                found[feature] += share * part * weight * (answers[child] - answers[i])
            found += parts_below(tree, answers, x, depth - 1, child, share * part)
    return found


def twin(model, numbers, depth, n_trees):
    """Roots, and parts of all rows, (n_rows, n_features, n_answers), a row and a tree at a time."""
    forest, roots, parts = model._answering(), [], []
    for t in range(n_trees):
        tree = tree_of(forest, t)
        if model.task == "regression":
            answers = tree.stats[:, 1 : 1 + model.n_outputs_]
        else:
            answers = tree.stats / tree.nodes["weight"][:, None]
        roots.append(answers[0])
        parts.append([parts_below(tree, answers, x, depth) for x in numbers])
    return np.mean(roots, axis=0), np.mean(parts, axis=0)


def side_by_side(found):
    """Of several targets of classes, what stands in a list; else as it is, with all dimensions."""
    if isinstance(found, list):
        return np.concatenate(found, axis=-1)
    return np.asarray(found)


@for_each
@pytest.mark.parametrize("depth", [None, 2])
def test_what_features_add_is_that_of_the_ways(model, rows, y, depth):
    model = clone(model).fit(rows, y)
    n = 3 if hasattr(model, "n_estimators") else 1
    some = rows[:6]
    roots, parts = map(side_by_side, model.contributions(some, depth=depth, n_trees=n))
    expected = twin(model, model._check_X(some), -1 if depth is None else depth, n)
    np.testing.assert_allclose(roots.reshape(-1), expected[0], atol=1e-12)
    np.testing.assert_allclose(parts.reshape(expected[1].shape), expected[1], atol=1e-9, rtol=1e-9)


@for_each
@pytest.mark.parametrize("depth", [None, 0, 2])
def test_roots_and_features_add_up_to_the_answer(model, rows, y, depth):
    model = clone(model).fit(rows, y)
    ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    for n in (None, 1):
        roots, parts = map(side_by_side, model.contributions(rows, depth=depth, n_trees=n))
        answers = side_by_side(ask(rows, depth=depth, n_trees=n))
        np.testing.assert_allclose(roots + parts.sum(axis=1), answers, rtol=1e-10, atol=1e-12)
    assert parts.any() == (depth != 0)


def test_parts_need_trees_that_are_averaged():
    forest = ForestClassifier(**SMALL, combine="vote").fit(X, KIND)
    with pytest.raises(ValueError, match=r"combine must be 'average'; got 'vote'"):
        forest.contributions(X)
    told = forest.explain(X.iloc[0])
    assert "what features add cannot be told of combine='vote'" in told
    assert "before any question" not in told


# ---- words -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest():
    return ForestClassifier(30, random_state=0).fit(X, KIND)


UNSURE = 70  # a flower of which trees differ


def test_a_forest_tells_its_answer_its_trees_and_a_way(forest):
    row = X.iloc[[UNSURE]]
    lines = forest.explain(row, tree=3).splitlines()
    chances, label = forest.predict_proba(row)[0], forest.predict(row)[0]
    assert lines[0] == f"prediction: {label}"
    for kind, chance in zip(forest.classes_, chances, strict=True):
        assert (f"{kind} {chance:.3f}" in lines[1]) == (chance > 0)
    said = forest.classes_[forest.predict_trees(row)[:, 0].argmax(axis=1)]
    agree = np.sum(said == label)
    (other,) = set(said) - {label}
    others = np.flatnonzero(said == other)
    named = ", ".join(map(str, others[:8])) + (", …" if len(others) > 8 else "")
    assert (
        lines[2] == f"trees: {agree} of 30 say {label}; {len(others)} say {other} (trees {named})"
    )
    way = forest.view(3).explain(row).splitlines()
    assert lines[-len(way) - 1 :] == ["the way down tree 3:", *(f"  {line}" for line in way)]
    assert lines[-1] == f"  prediction: {said[3]}"


def test_features_are_told_by_what_they_add(forest):
    row = X.iloc[[UNSURE]]
    roots, parts = forest.contributions(row)
    best = forest.predict_proba(row)[0].argmax()
    lines = forest.explain(row).splitlines()
    assert lines[3].startswith(f"{forest.classes_[best]} had {roots[best]:.3f} before any question")
    order = np.argsort(-np.abs(parts[0, :, best]))
    for line, j in zip(lines[4:], order, strict=False):
        value = f"{row.iloc[0, j]:g}"
        assert line.split("  ")[1:] == [f"{parts[0, j, best]:+.3f}", f"{X.columns[j]} = {value}"]


def test_more_features_are_told_together():
    model = ForestRegressor(**SMALL).fit(ROWS, NUMBERS)
    lines = model.explain(ROWS[0]).splitlines()
    _, parts = model.contributions(ROWS[:1])
    order = np.argsort(-np.abs(parts[0]))
    used = int((parts[0] != 0).sum())
    assert lines[3].split()[0] == f"{parts[0, order[0]]:+.1f}"
    assert lines[9].split() == [
        f"{parts[0, order[6:]].sum():+.1f}",
        str(used - 6),
        "more",
        "features",
    ]
    low, high = (f"{q:.4g}" for q in np.quantile(model.predict_trees(ROWS[:1])[:, 0], [0, 1]))
    assert f"from {low} (tree" in lines[1]
    assert f"to {high} (tree" in lines[1]


def test_a_row_may_come_in_any_form(forest):
    row = X.iloc[UNSURE]
    told = forest.explain(row.tolist())
    by_name = dict(row)
    forms = [row, X.iloc[[UNSURE]], row.to_numpy(), row.to_numpy()[None], by_name, row[::-1]]
    forms += [pl.DataFrame([by_name]), csr_array(row.to_numpy()[None]), by_name | {"kind": "?"}]
    for form in forms:
        assert forest.explain(form) == told
    tree = forest[0]
    assert {tree.explain(form) for form in forms} == {tree.tree_.explain(row.tolist())}


WRONG = {
    "short": ([1, 2, 3], "x must be a row of 4 values, one for each feature; got 3"),
    "number": (5, "x must be a row, of a value for each feature; got 5"),
    "table": (X, "x must be one row; got a table of 150"),
    "array": (X.to_numpy()[:2], "x must be one row; got a table of 2"),
    "dict": ({X.columns[0]: 1}, "there is none of 'sepal width .cm.', 'petal length"),
    "series": (X.iloc[0, :3], "there is none of 'petal width .cm.'"),
    "word": (["wide", 1, 2, 3], "column 'sepal length .cm.' must hold numbers.*'wide'"),
    "infinite": ([np.inf, 1, 2, 3], "infinity"),
}


@pytest.mark.parametrize(("x", "message"), WRONG.values(), ids=list(WRONG))
def test_what_is_no_row_gets_a_sentence(forest, x, message):
    for model in (forest, forest[0]):
        with pytest.raises(ValueError, match=message):
            model.explain(x)


@pytest.mark.parametrize("given", [-1, 30, 1.0, "first", True])
def test_a_tree_that_there_is_not(forest, given):
    with pytest.raises(ValueError, match="must be the number of a tree, from 0 to 29; got"):
        forest.explain(X.iloc[0], tree=given)
    with pytest.raises(ValueError, match="t must be the number of a tree, from 0 to 29; got"):
        forest.draw(given)


def test_missing_values_are_refused_where_a_model_refuses_them():
    forest = ForestClassifier(**SMALL, missing="error").fit(X, KIND)
    with pytest.raises(ValueError, match="X holds NaN in column 'petal width"):
        forest.explain([1, 2, 3, None])
    assert "petal width (cm) = missing" in clone(forest).set_params(missing="learned").fit(
        X, KIND
    ).explain([1, 2, 3, None])


def test_categories_are_told_by_their_words():
    forest = clone(MODELS["categories"][0]).fit(MIXED.iloc[:, 3:], MIXED["size"])
    row = dict(MIXED.iloc[0])
    assert "  size = small" in forest.explain(row)
    assert "  size = huge" in forest.explain(row | {"size": "huge"})
    with pytest.raises(ValueError, match="column 'size' takes strings such as 'large'; got 3"):
        forest.explain(row | {"size": 3})


def test_several_targets_are_told_one_after_the_other():
    model, rows, y = MODELS["targets of classes"]
    lines = clone(model).fit(rows, y).explain(rows.iloc[0]).splitlines()
    assert [line for line in lines if line.startswith("target")] == ["target 0:", "target 1:"]
    assert lines[1] == "  prediction: setosa"
    assert lines[lines.index("target 1:") + 1] == "  prediction: True"


def test_a_density_forest_tells_its_density_and_a_way():
    forest = DensityForest(**SMALL).fit(X)
    lines = forest.explain(dict(X.iloc[0]), tree=1, n_trees=3).splitlines()
    assert lines[0] == f"log-density: {forest.score_samples(X.iloc[:1], n_trees=3)[0]:.3f}"
    assert lines[1] == "the way down tree 1:"
    assert len(lines) == 2 + len(forest.view(1).walk(X.iloc[0]))
    leaf = forest.view(1).walk(X.iloc[0])[-1].node
    n_rows = forest.view(1).tree.nodes["n_rows"][leaf]
    assert lines[-1].startswith(f"  a leaf of {n_rows} rows around [")


# ---- words where there must be numbers ---------------------------------------------------------

LABELS = pd.Series(KIND, name="species")
NO_NUMBERS = {
    "array": (KIND, "ForestRegressor predicts numbers; y holds others, such as 'setosa'"),
    "list": (KIND.tolist(), "ForestRegressor predicts numbers; y holds others, such as 'setosa'"),
    "series": (LABELS, "column 'species' of y holds others, such as 'setosa': a classifier"),
    "polars": (pl.Series("species", KIND), "column 'species' of y holds others"),
    "frame": (pd.DataFrame({"a": 1.0, "b": LABELS}), "column 'b' of y holds others"),
    "dates": (pd.Series(pd.Timestamp(0), range(150), name="day"), "column 'day' of y holds others"),
    "missing": ([None, *range(149)], "y lacks a value in row 0"),
}


@pytest.mark.parametrize(("y", "message"), NO_NUMBERS.values(), ids=list(NO_NUMBERS))
def test_targets_that_are_no_numbers_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        ForestRegressor(**SMALL).fit(X, y)


def test_numbers_written_as_text_are_numbers():
    forest, numbers = ForestRegressor(**SMALL), IRIS.target
    told = clone(forest).fit(X, numbers.astype(str).astype(object)).predict(X)
    np.testing.assert_array_equal(told, clone(forest).fit(X, numbers).predict(X))


@pytest.mark.parametrize("model", [ForestClassifier(**SMALL), DensityForest(**SMALL)])
def test_a_column_of_words_where_there_were_numbers_is_named(model):
    model.fit(X, KIND)
    words = X.astype(object).copy()
    words.iloc[3, 2] = "long"
    with pytest.raises(ValueError, match=r"column 'petal length .cm.' must hold.*got 'long'"):
        model.predict(words)
    with pytest.raises(ValueError, match="column 2 must hold numbers, as in training; got 'long'"):
        model.predict(words.to_numpy())

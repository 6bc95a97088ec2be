"""What many trees say together: combiners, evaluation at a depth, out-of-bag, importances."""

import naive
import numpy as np
import pytest
from cases import quarters
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, log_loss, mean_absolute_error, r2_score
from small import (
    CLOSE,
    N_ROWS,
    PAIRS,
    answers_of,
    as_bytes,
    bags_of,
    data_for,
    for_each_task,
    forest_for,
    trees_of,
)

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from forestlab.core.arrays import plant
from forestlab.core.combine import COMBINERS
from forestlab.core.search import SEARCHES
from forestlab.forest import combined
from forestlab.tree.handmade import build_tree

pytestmark = pytest.mark.filterwarnings("error")


# ---- combiners ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_a_combiner_is_its_twin(combiner, task, n_targets):
    """Classes are one target in any case."""
    X, y = data_for(task, n_targets=n_targets)
    model = forest_for(task, combine=combiner).fit(X[::2], y[::2])
    for depth in None, 0, 2:
        twins = [naive.answer(trees_of(model), combiner, task, x, depth) for x in X]
        np.testing.assert_allclose(answers_of(model, X, depth), twins, **CLOSE)


@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_a_combiner_is_read_when_asked(combiner, task):
    X, y = data_for(task)
    late = forest_for(task).fit(X, y).set_params(combine=combiner)
    early = forest_for(task, combine=combiner).fit(X, y)
    assert as_bytes(answers_of(late, X)) == as_bytes(answers_of(early, X))


def test_combiners_of_one_tree():
    """Average leaves it as it is; the one more row of a product shows; a vote is all or nothing."""
    X, y = data_for("classification")
    model = forest_for("classification", 1).fit(X, y)
    trees = model.predict_trees(X)[0]
    assert as_bytes(model.predict_proba(X)) == as_bytes(trees)
    assert (model.set_params(combine="product").predict_proba(X) > 0).all()
    assert set(np.unique(model.set_params(combine="vote").predict_proba(X))) == {0, 1}


def test_labels_are_taken_at_the_very_end():
    X, y = data_for("classification", 400)
    for combiner in COMBINERS:
        model = forest_for("classification", combine=combiner).fit(X[::2], y[::2])
        labels = model.classes_[model.predict_proba(X).argmax(axis=1)]
        assert model.predict(X).tolist() == labels.tolist()
        # Had each tree named a class first, some rows would come out otherwise.
        votes = model.set_params(combine="vote").predict(X)
        assert combiner == "vote" or (votes != labels).any()


def leaves(*class_weights):
    """A forest of trees that are one leaf each."""
    trees = [build_tree({"value": weights}, [0], ["a", "b"]).tree for weights in class_weights]
    return plant(trees)


@pytest.mark.parametrize("other", [{"a": 0, "b": 9}, {"a": 1, "b": 9}])
def test_a_leaf_that_never_saw_a_class_does_not_veto_it(other):
    forest = leaves({"a": 50, "b": 0}, *[other] * 10)
    answers, voters = combined(forest, "classification", "product", np.zeros((1, 1)))
    assert voters.tolist() == [11]
    assert answers[0, 1] > 0.99
    # Nor does it count for nothing: alone it is fairly sure.
    alone = combined(leaves({"a": 50, "b": 0}), "classification", "product", np.zeros((1, 1)))[0]
    np.testing.assert_allclose(alone, [[50.5 / 51, 0.5 / 51]], **CLOSE)


def test_a_vote_goes_to_the_first_of_equal_classes():
    forest = leaves({"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 3, "b": 3})
    answers, _ = combined(forest, "classification", "vote", np.zeros((1, 1)))
    np.testing.assert_allclose(answers, [[2 / 3, 1 / 3]], **CLOSE)


@pytest.mark.parametrize(
    ("combiner", "of_left", "of_right"),
    [
        ("average", [1, 0], [0.25, 0.75]),
        ("product", [2.5 / 3, 0.5 / 3], [1.5 / 5, 3.5 / 5]),
        ("vote", [1, 0], [0, 1]),
    ],
)
def test_a_row_that_goes_both_ways_counts_by_its_shares(combiner, of_left, of_right):
    left, right = {"value": {"a": 2, "b": 0}}, {"value": {"a": 1, "b": 3}}
    both = {"missing": "both", "missing_share": 0.75}
    split = {"feature": 0, "cut": 0, "left": left, "right": right} | both
    forest = plant([build_tree(split, ["x"], ["a", "b"]).tree])
    answers, _ = combined(forest, "classification", combiner, np.array([[-1], [1], [np.nan]]))
    of_left, of_right = np.array(of_left), np.array(of_right)
    mixed = 0.75 * of_left + 0.25 * of_right
    if combiner == "product":
        mixed = naive.normalised(of_left**0.75 * of_right**0.25)
    np.testing.assert_allclose(answers, [of_left, of_right, mixed], **CLOSE)


@for_each_task
def test_the_average_is_the_mean_of_the_trees(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    trees = model.predict_trees(X)
    assert trees.shape[:2] == (7, N_ROWS)
    np.testing.assert_allclose(
        trees.mean(axis=0).reshape(N_ROWS, -1), answers_of(model, X), **CLOSE
    )


def test_trees_of_several_targets_answer_each():
    X, y = data_for("regression", n_targets=2)
    model = forest_for("regression").fit(X, y)
    np.testing.assert_allclose(model.predict_trees(X).mean(axis=0), model.predict(X), **CLOSE)


def test_logarithms_of_probabilities():
    X, y = data_for("classification")
    model = forest_for("classification").fit(X, y)
    with np.errstate(divide="ignore"):
        logs = np.log(model.predict_proba(X, depth=3))
    assert (logs == -np.inf).any()
    np.testing.assert_array_equal(model.predict_log_proba(X, depth=3), logs)


# ---- depth -------------------------------------------------------------------------------------

WAYS = {search: {"search": search} for search in SEARCHES} | {"rho": {"rho": 3}}
SIZES = {
    "tree": {"classification": TreeClassifier, "regression": TreeRegressor},
    "forest": {
        "classification": lambda **params: ForestClassifier(4, **params),
        "regression": lambda **params: ForestRegressor(4, max_features=2, **params),
    },
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", SIZES)
@for_each_task
def test_a_depth_is_that_max_depth(task, size, way):
    X, y = data_for(task)
    options = WAYS[way] | {"random_state": 2}
    model = SIZES[size][task](**options).fit(X[::2], y[::2])
    deepest = max(naive.depths(nodes).max() for nodes, _ in trees_of(model))
    assert deepest > 4
    for depth in range(1, deepest + 2):
        shallow = SIZES[size][task](max_depth=depth, **options).fit(X[::2], y[::2])
        assert as_bytes(answers_of(model, X, depth)) == as_bytes(answers_of(shallow, X))
        assert as_bytes(model.predict_trees(X, depth)) == as_bytes(shallow.predict_trees(X))
    assert as_bytes(answers_of(model, X, deepest)) == as_bytes(answers_of(model, X))


@pytest.mark.parametrize("size", SIZES)
@for_each_task
def test_depth_0_is_the_prior(task, size):
    X, y = data_for(task)
    model = SIZES[size][task](random_state=2).fit(X, y)
    bags = [np.ones(N_ROWS)] if size == "tree" else bags_of(model)
    if task == "classification":
        y = (y[:, None] == np.unique(y)).astype(float)
    prior = np.mean([np.average(y, axis=0, weights=counts) for counts in bags], axis=0)
    everywhere = np.broadcast_to(prior, (N_ROWS, *np.shape(prior)))
    np.testing.assert_allclose(answers_of(model, X, 0), everywhere.reshape(N_ROWS, -1), **CLOSE)
    assert len(np.unique(model.apply(X, depth=0))) == 1


# ---- out of bag --------------------------------------------------------------------------------


BAGS = {
    "bootstrap": {},
    "small": {"max_samples": 0.3},
    "half": {"bootstrap": False, "max_samples": 0.5},
}
ENOUGH = 25  # trees: each of the rows is then out of some bag


@pytest.mark.parametrize("bag", BAGS)
@pytest.mark.parametrize(("combiner", "task"), PAIRS)
def test_out_of_bag_is_its_twin(combiner, task, bag):
    X, y = data_for(task)
    options = BAGS[bag] | {"combine": combiner, "oob_score": True}
    model = forest_for(task, ENOUGH, **options).fit(X, y)
    answers, voters = naive.out_of_bag(trees_of(model), bags_of(model), combiner, task, X)
    np.testing.assert_array_equal(model.oob_voters_, voters)
    if task == "classification":
        np.testing.assert_allclose(model.oob_decision_function_, answers, **CLOSE)
        assert model.oob_score_ == np.mean(model.classes_[answers.argmax(axis=1)] == y)
    else:
        np.testing.assert_allclose(model.oob_prediction_, answers[:, 0], **CLOSE)
        assert model.oob_score_ == pytest.approx(r2_score(y, answers[:, 0]), rel=1e-11)


@for_each_task
def test_trees_grow_on_their_bags(task):
    """So that the rows taken for left out have been."""
    X, y = data_for(task)
    model = forest_for(task, ENOUGH).fit(X, y)
    roots = model.forest_.nodes[model.forest_.first_node[:-1]]
    assert [(counts > 0).sum() for counts in bags_of(model)] == roots["n_rows"].tolist()


def test_out_of_bag_with_several_targets():
    X, y = data_for("regression", n_targets=2)
    model = forest_for("regression", ENOUGH, oob_score=True).fit(X, y)
    answers, _ = naive.out_of_bag(trees_of(model), bags_of(model), "average", "regression", X)
    assert model.oob_prediction_.shape == y.shape
    np.testing.assert_allclose(model.oob_prediction_, answers, **CLOSE)
    assert model.oob_score_ == pytest.approx(r2_score(y, answers), rel=1e-11)


@for_each_task
def test_rows_that_no_tree_left_out(task):
    X, y = data_for(task)
    with pytest.warns(UserWarning, match="left out by no tree") as warned:
        model = forest_for(task, 2, oob_score=True).fit(X, y)
    answers, voters = naive.out_of_bag(trees_of(model), bags_of(model), "average", task, X)
    missing = voters == 0
    assert 0 < missing.sum() < N_ROWS
    assert [str(warning.message) for warning in warned] == [
        f"{missing.sum()} of {N_ROWS} rows were left out by no tree: they have no out-of-bag "
        "prediction (NaN) and are not scored. More trees would help."
    ]
    np.testing.assert_array_equal(model.oob_voters_, voters)
    found = model.oob_decision_function_ if task == "classification" else model.oob_prediction_
    assert np.isnan(found[missing]).all()
    assert np.isfinite(found[~missing]).all()
    if task == "classification":
        right = model.classes_[answers[~missing].argmax(axis=1)] == y[~missing]
        assert model.oob_score_ == right.mean()


def test_a_score_of_no_rows_is_not_a_number():
    model = forest_for("regression", 3, max_features=1, oob_score=True)
    with pytest.warns(UserWarning, match="1 of 1 rows"):
        model.fit([[1.0]], [2.0])
    assert np.isnan(model.oob_score_)


def one_off(y_true, y_pred):
    """A metric that only a user would write."""
    return np.sum(y_true != y_pred)


SCORES = {
    "balanced_accuracy": (
        "classification",
        lambda y, model: balanced_accuracy_score(y, labels_of(model)),
    ),
    "neg_log_loss": ("classification", lambda y, model: -log_loss(y, model.oob_decision_function_)),
    one_off: ("classification", lambda y, model: np.sum(y != labels_of(model))),
    "neg_mean_absolute_error": (
        "regression",
        lambda y, model: -mean_absolute_error(y, model.oob_prediction_),
    ),
    mean_absolute_error: (
        "regression",
        lambda y, model: mean_absolute_error(y, model.oob_prediction_),
    ),
}


def labels_of(model):
    return model.classes_[model.oob_decision_function_.argmax(axis=1)]


@pytest.mark.parametrize(("score", "task", "expected"), [(k, *v) for k, v in SCORES.items()])
def test_out_of_bag_by_any_score(score, task, expected):
    X, y = data_for(task)
    # Only a product gives every class some probability, without which a log loss says little.
    combine = "product" if score == "neg_log_loss" else "average"
    model = forest_for(task, ENOUGH, combine=combine, oob_score=score).fit(X, y)
    assert model.oob_score_ == expected(y, model)
    plain = forest_for(task, ENOUGH, combine=combine).fit(X, y)
    assert as_bytes(*plain.forest_) == as_bytes(*model.forest_)


@for_each_task
def test_out_of_bag_needs_bags(task):
    X, y = data_for(task)
    for options in {"bootstrap": False}, {"bootstrap": False, "max_samples": 1.0}:
        with pytest.raises(ValueError, match="set bootstrap=True or max_samples"):
            forest_for(task, oob_score=True, **options).fit(X, y)
        with pytest.raises(ValueError, match="set bootstrap=True or max_samples"):
            forest_for(task, **options).fit(X, y).predict_oob(X)
    with pytest.raises(ValueError, match=f"training data, which had {N_ROWS} rows; got 3 rows"):
        forest_for(task).fit(X, y).predict_oob(X[:3])


@pytest.mark.parametrize("bag", BAGS)
@for_each_task
def test_out_of_bag_at_a_depth_is_that_of_that_max_depth(task, bag):
    X, y = data_for(task)
    model = forest_for(task, ENOUGH, **BAGS[bag]).fit(X, y)
    for depth in range(1, 9):
        shallow = forest_for(task, ENOUGH, max_depth=depth, **BAGS[bag]).fit(X, y)
        assert as_bytes(*model.predict_oob(X, depth)) == as_bytes(*shallow.predict_oob(X))
    assert as_bytes(*model.predict_oob(X, 100)) == as_bytes(*model.predict_oob(X))


@for_each_task
def test_weights_are_chances_of_a_draw(task):
    X, y = data_for(task)
    weights = quarters(np.random.default_rng(0), N_ROWS)
    weights[::5] = 0
    model = forest_for(task, 50, oob_score=True).fit(X, y, weights)
    bags = bags_of(model, weights)
    assert (model.oob_voters_[::5] == 50).all()
    answers, voters = naive.out_of_bag(trees_of(model), bags, "average", task, X)
    np.testing.assert_array_equal(model.oob_voters_, voters)
    found = model.oob_decision_function_ if task == "classification" else model.oob_prediction_
    np.testing.assert_allclose(found.reshape(N_ROWS, -1), answers, **CLOSE)


@for_each_task
def test_without_a_bootstrap_weights_weigh(task):
    X, y = data_for(task)
    weights = quarters(np.random.default_rng(0), N_ROWS)
    model = forest_for(task, ENOUGH, **BAGS["half"]).fit(X, y, weights)
    drawn = [weights @ counts for counts in bags_of(model)]
    roots = model.forest_.nodes[model.forest_.first_node[:-1]]
    assert roots["weight"].tolist() == drawn  # sums of quarters are exact


@pytest.mark.parametrize("bag", BAGS)
def test_balanced_bags_are_their_twin(bag):
    X, y = data_for("classification")
    options = BAGS[bag] | {"class_weight": "balanced_subsample"}
    model = forest_for("classification", ENOUGH, **options).fit(X, y)
    for (_, stats), counts in zip(trees_of(model), bags_of(model), strict=True):
        weights = counts * naive.balance(y, counts)
        expected = [weights[y == label].sum() for label in model.classes_]
        np.testing.assert_allclose(stats[0], expected, **CLOSE)
        np.testing.assert_allclose(stats[0], stats[0].mean(), **CLOSE)


@pytest.mark.parametrize("class_weight", ["balanced", {"ash": 2.0, "oak": 0.5}])
def test_class_weights_multiply_those_of_rows(class_weight):
    X, y = data_for("classification")
    given = quarters(np.random.default_rng(0), N_ROWS)
    model = TreeClassifier(class_weight=class_weight).fit(X, y, given)
    if class_weight == "balanced":
        class_weight = {label: N_ROWS / (3 * np.sum(y == label)) for label in model.classes_}
    weights = given * [class_weight.get(label, 1.0) for label in y]
    expected = [weights[y == label].sum() for label in model.classes_]
    np.testing.assert_allclose(model.forest_.stats[0], expected, **CLOSE)


def test_out_of_bag_score_agrees_with_scikit_learns():
    X, y = load_digits(return_X_y=True)
    ours, theirs = (
        cls(100, oob_score=True, random_state=0, n_jobs=2).fit(X, y).oob_score_
        for cls in (ForestClassifier, RandomForestClassifier)
    )
    # Four standard errors of the difference of two accuracies p on as many rows, as if independent.
    allowed = 4 * np.sqrt(2 * theirs * (1 - theirs) / len(y))
    assert abs(ours - theirs) < allowed < 0.025


# ---- where rows go -----------------------------------------------------------------------------


@for_each_task
def test_apply_and_paths_are_the_walks_of_the_twin(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    ends = model.apply(X)
    paths, first = model.decision_path(X)
    assert ends.shape == (N_ROWS, 7)
    assert paths.shape == (N_ROWS, first[-1])
    dense = paths.toarray()
    assert set(np.unique(dense)) == {0, 1}
    for t, (nodes, _) in enumerate(trees_of(model)):
        for row, x in enumerate(X):
            assert ends[row, t] == naive.walk(nodes, x)
            visited = np.flatnonzero(dense[row, first[t] : first[t + 1]])
            assert visited.tolist() == naive.path(nodes, x)


@pytest.mark.parametrize("cls", [TreeClassifier, TreeRegressor])
def test_apply_and_paths_of_one_tree(cls):
    X, y = data_for(cls.task)
    model = cls().fit(X, y)
    nodes = model.forest_.nodes
    assert model.apply(X).tolist() == [naive.walk(nodes, x) for x in X]
    assert model.apply(X, depth=2).tolist() == [naive.walk(nodes, x, 2) for x in X]
    paths = model.decision_path(X)
    assert paths.shape == (N_ROWS, len(nodes))
    visited = [np.flatnonzero(row).tolist() for row in paths.toarray()]
    assert visited == [naive.path(nodes, x) for x in X]


@for_each_task
def test_importances_are_their_twin(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    twins = [naive.importances(nodes, X.shape[1]) for nodes, _ in trees_of(model)]
    np.testing.assert_allclose(model.feature_importances_, np.mean(twins, axis=0), **CLOSE)
    assert model.feature_importances_.sum() == pytest.approx(1, rel=1e-12)


@for_each_task
def test_noise_matters_less_than_signal(task):
    """The last column has no part in the targets, the first is half of them."""
    X, y = data_for(task, 400)
    found = forest_for(task, 30, min_samples_leaf=5).fit(X, y).feature_importances_
    assert found[3] < 0.5 * found[0]


# ---- the same on any threads -------------------------------------------------------------------


@for_each_task
def test_any_number_of_threads_gives_the_same_bits(task):
    X, y = data_for(task, 3000)  # several blocks of rows for each thread
    options = {"oob_score": True, "max_samples": 0.3}
    model = forest_for(task, ENOUGH, **options).fit(X, y)
    asked = [model.apply(X), answers_of(model, X, 3), *model.predict_oob(X)]
    for n_jobs in 2, 4:
        other = forest_for(task, ENOUGH, n_jobs=n_jobs, **options).fit(X, y)
        assert as_bytes(*other.forest_) == as_bytes(*model.forest_)
        assert other.oob_score_ == model.oob_score_
        again = [other.apply(X), answers_of(other, X, 3), *other.predict_oob(X)]
        assert as_bytes(*again) == as_bytes(*asked)


@for_each_task
def test_the_first_trees_of_a_forest_are_a_smaller_forest(task):
    X, y = data_for(task)
    trees = forest_for(task, 9).fit(X, y).predict_trees(X)
    for n_trees in range(1, 9):
        part = forest_for(task, n_trees).fit(X, y).predict_trees(X)
        assert as_bytes(part) == as_bytes(trees[:n_trees])

"""Leaves that answer another number than the mean: whatever asks a tree gets that number."""

import pickle

import naive
import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from test_storage import parts_of

from forestlab import ForestRegressor, TreeClassifier, TreeRegressor, load
from forestlab.core.arrays import tree_of
from forestlab.core.prune import Rules, cut
from forestlab.forest import by_depth, combined
from forestlab.study.tasks import STUDIED

# With these the kernels are those that the twins are compared with.
KERNELS = {
    "median": {"search": "exact", "bootstrap": False, "max_samples": 0.7},
    "mode": {"search": "boundary", "rho": 3},
}
for_each = pytest.mark.parametrize("leaf", KERNELS)


def data(n_targets=1, n_rows=80):
    """Skewed targets of numbers that float32 has, and weights for those who may not be whole."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (n_rows, 3)) / 4
    y = (X[:, :n_targets] + rng.exponential(size=(n_rows, n_targets))).round(2)
    return X, y[:, 0] if n_targets == 1 else y, rng.integers(1, 9, n_rows) / 4


def fitted(leaf, n_targets=1, **params):
    X, y, weights = data(n_targets)
    model = ForestRegressor(5, leaf=leaf, random_state=0, min_samples_leaf=3, **params)
    return model.fit(X, y, weights if "bootstrap" in params else None)


@pytest.fixture(scope="module", params=KERNELS)
def model(request):
    return fitted(request.param, n_targets=2, **KERNELS[request.param])


def by_mean(model):
    return fitted("mean", model.n_outputs_, **KERNELS[model.leaf])


def test_only_answers_differ_and_the_means_are_kept(model):
    ours, plain = model.forest_, by_mean(model).forest_
    assert ours.nodes.tobytes() == plain.nodes.tobytes()
    np.testing.assert_array_equal(ours.means, plain.stats[:, 1:3])
    np.testing.assert_array_equal(ours.stats[:, [0, 3, 4]], plain.stats[:, [0, 3, 4]])
    assert (ours.stats[:, 1:3] != ours.means).any(axis=0).all()
    assert plain.means.size == 0


def test_every_depth_is_a_refit(model):
    X, y, weights = data(2)
    weights = weights if "bootstrap" in KERNELS[model.leaf] else None
    for depth in range(1, 5):
        shallow = ForestRegressor(**model.get_params(deep=False) | {"max_depth": depth})
        shallow.fit(X, y, weights)
        np.testing.assert_array_equal(shallow.predict(X), model.predict(X, depth))
        upper = cut(tree_of(model.forest_, 1), Rules(depth))
        assert upper.means.tobytes() == tree_of(shallow.forest_, 1).means.tobytes()

    def same(rows, answers, voters):
        for depth, of_depth in enumerate(answers):
            asked = model.forest_, "regression", model.combine, X[rows], depth
            np.testing.assert_array_equal(of_depth, combined(*asked)[0])

    by_depth(model.forest_, "regression", model.combine, X, 6, same)


def test_all_that_asks_reads_the_answer(model):
    X = data(2)[0]
    each = model.predict_trees(X)
    leaves = model.apply(X).T + model.forest_.first_node[:-1, None]
    np.testing.assert_array_equal(each, model.forest_.stats[leaves, 1:3])
    np.testing.assert_allclose(model.predict(X), each.mean(axis=0), 1e-12)  # another order of sums
    np.testing.assert_allclose(model.to_sklearn().predict(X), model.predict(X), 1e-12)
    np.testing.assert_array_equal(model.trees_[2].predict(X), each[2])
    np.testing.assert_array_equal(model.estimators_[2].predict(X), each[2])
    values = model.estimators_[2].tree_.value[..., 0]
    np.testing.assert_array_equal(values, tree_of(model.forest_, 2).stats[:, 1:3])


def test_files_keep_it(model, tmp_path):
    X = data(2)[0]
    model.save(tmp_path / "model")
    for again in load(tmp_path / "model"), pickle.loads(pickle.dumps(model)):
        assert (again.leaf, again.recipe_.leaf) == (model.leaf, model.leaf)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        np.testing.assert_array_equal(again.forest_.means, model.forest_.means)


def test_a_file_with_other_means_is_refused(model, tmp_path):
    model.save(tmp_path / "model")
    arrays = parts_of(tmp_path / "model")
    for wrong in arrays["forest.means"][:-1], arrays["forest.means"][:, :1]:
        with open(tmp_path / "wrong", "wb") as file:
            np.savez(file, **arrays | {"forest.means": wrong})
        with pytest.raises(ValueError, match="its means do not fit together"):
            load(tmp_path / "wrong")


def test_trees_of_different_leaves_make_one_forest(model):
    X, plain = data(2)[0], by_mean(model)
    mixed = by_mean(model)
    mixed.estimators_ = [plain.estimators_[0], *model.estimators_[1:3]]
    parts = [plain.predict_trees(X)[:1], model.predict_trees(X)[1:3]]
    np.testing.assert_array_equal(mixed.predict_trees(X), np.concatenate(parts))
    means = [tree_of(plain.forest_, 0).stats[:, 1:3]]
    means += [tree_of(model.forest_, t).means for t in (1, 2)]
    np.testing.assert_array_equal(mixed.forest_.means, np.concatenate(means))


def test_uncertainty_is_about_the_answer(model):
    """Of each target alone: the mean square of how far a node's rows are from what it answers."""
    X, y, weights = data(2)
    of_one = model.grown.of_target(1)
    answers, apart = STUDIED["regression"].of_nodes(of_one.forest)
    bag = model.grown.bags()[3] * (weights if "bootstrap" in KERNELS[model.leaf] else 1.0)
    ends = model.apply(X)[:, 3]
    for leaf in np.unique(ends[bag > 0]):
        rows, node = (ends == leaf) & (bag > 0), model.forest_.first_node[3] + leaf
        squares = (y[rows, 1] - answers[node, 0]) ** 2
        np.testing.assert_allclose(apart[node], np.average(squares, weights=bag[rows]), 1e-9, 1e-12)


def test_the_median_is_scikit_learns():
    X, y, weights = data()
    for sample_weight in None, weights, np.ones(len(y)):
        theirs = DecisionTreeRegressor(criterion="absolute_error", max_depth=1)
        theirs.fit(X, y, sample_weight)
        nothing = {"max_depth": 1, "min_impurity_decrease": 99.0}
        given = np.full(len(y), 0.5) if sample_weight is None else sample_weight
        ours = TreeRegressor(leaf="median", **nothing).fit(X, y, given)
        assert ours.predict(X)[0] == theirs.tree_.value[0, 0, 0]


@pytest.mark.parametrize(
    ("y", "weights", "expected"),
    [([1, 2, 4, 8], [1, 1, 1, 1], 3.0), ([1, 2, 4, 8], [1, 1, 1, 3.5], 8.0),
     ([1, 2, 4, 8], [1, 2.5, 1, 0.5], 2.0), ([8, 1], [0.1 + 0.2, 0.3], 4.5), ([3, 3], [1, 2], 3.0)],
)  # fmt: skip
def test_the_median_of_few_rows(y, weights, expected):
    """Of 0.1 + 0.2 and 0.3 rounding alone makes one the heavier."""
    y, weights = np.array(y, float), np.array(weights, float)
    alone = {"max_depth": 1, "min_samples_leaf": len(y)}
    tree = TreeRegressor(leaf="median", **alone).fit(np.zeros((len(y), 1)), y, weights / 1.1)
    assert tree.predict([[0]])[0] == expected


def test_the_mode_of_a_skewed_node_is_where_rows_are_dense():
    """The greatest density of an exponential is at 0, its median at ln 2 and its mean at 1."""
    y = np.random.default_rng(0).exponential(size=4000)
    alone = {"rho": 3, "search": "boundary", "max_depth": 1, "min_samples_leaf": len(y)}
    found = TreeRegressor(leaf="mode", **alone).fit(np.zeros((len(y), 1)), y).predict([[0]])[0]
    assert found == pytest.approx(naive.density_peak(y, np.ones(len(y)), y.min(), y.max()), 1e-9)
    assert 0.05 < found < 0.4  # the bandwidth, 0.19, moves it inwards


def test_what_it_may_be():
    X, y, _ = data()
    said = r"^leaf must be one of 'mean', 'median', 'mode', or a function of .*; got 'max'\.$"
    with pytest.raises(ValueError, match=said):
        TreeRegressor(leaf="max").fit(X, y)
    with pytest.raises(TypeError, match="leaf"):
        TreeClassifier(leaf="median")

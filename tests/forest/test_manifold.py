"""Manifold forests: affinities of rows, and maps of them."""

import naive_manifold as twin
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.manifold import spectral_embedding
from small import CLOSE, as_bytes, data_for, for_each_task, forest_for, trees_of

from forestlab import ForestClassifier, TreeClassifier
from forestlab.core.arrays import tree_of
from forestlab.forest import AFFINITIES, affinity, eigenmaps, groups_of

N_FEW = 30  # rows: twins look at every pair in every tree
KINDS = list(AFFINITIES)
for_each_kind = pytest.mark.parametrize("kind", KINDS)


def test_kinds_are_those_of_the_paper():
    assert KINDS == ["binary", "gaussian", "mahalanobis"]


# ---- affinities --------------------------------------------------------------------------------


@for_each_task
@for_each_kind
@pytest.mark.parametrize(
    ("learner", "depth"),
    [("axis", None), pytest.param("oblique", 2, marks=pytest.mark.long)],
)
def test_affinities_are_those_of_the_twin(task, kind, learner, depth):
    X, y = data_for(task)
    model = forest_for(task, learner=learner).fit(X, y)
    params = [tree_of(model.forest_, t).params for t in range(len(model))]
    few, others = X[:N_FEW], X[N_FEW - 5 : N_FEW + 6]
    for Y in (None, others):
        found = model.affinity(few, Y, depth, kind, epsilon=1.5)
        against = few if Y is None else Y
        expected = twin.affinity(trees_of(model), params, few, against, depth, kind, 1.5)
        np.testing.assert_allclose(found, expected, **CLOSE)


@for_each_task
def test_binary_affinities_are_shares_of_trees_by_apply(task):
    X, y = data_for(task)
    model = forest_for(task).fit(X, y)
    for depth in (None, 0, 1, 3):
        ends = model.apply(X, depth)
        shares = (ends[:, None, :] == ends[None]).sum(axis=2) / len(model)
        assert as_bytes(model.affinity(X, depth=depth)) == as_bytes(shares)


def test_epsilon_is_by_default_the_typical_distance():
    X, y = data_for("regression")
    model = forest_for("regression").fit(X, y)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    typical = np.sqrt(squares.mean())
    found, expected = (model.affinity(X, kind="gaussian", epsilon=e) for e in (None, typical))
    np.testing.assert_allclose(found, expected, **CLOSE)
    equal = np.ones((4, X.shape[1]))
    assert (model.affinity(equal, kind="gaussian") == 1.0).all()


@for_each_kind
def test_affinities_are_symmetric_with_ones_on_the_diagonal(kind):
    X, y = data_for("classification")
    found = forest_for("classification").fit(X, y).affinity(X, kind=kind)
    assert as_bytes(found) == as_bytes(np.ascontiguousarray(found.T))
    assert (np.diag(found) == 1.0).all()
    assert 0.0 <= found.min() < found.max() <= 1.0


def test_wide_nodes_bring_rows_nearer_and_far_sight_joins_them():
    X, y = data_for("classification")
    model = forest_for("classification").fit(X, y)
    binary, gaussian, mahalanobis = (model.affinity(X, depth=2, kind=kind) for kind in KINDS)
    assert (gaussian <= mahalanobis * (1 + 1e-12)).all()
    assert (mahalanobis <= binary).all()
    far = (model.affinity(X, depth=2, kind=kind, epsilon=1e9) for kind in KINDS)
    for found in far:
        np.testing.assert_allclose(found, binary, 1e-12)


@for_each_kind
def test_threads_do_not_change_the_bits(kind):
    X, y = data_for("classification", 600)  # several blocks
    model = forest_for("classification", n_jobs=1).fit(X, y)
    alone = model.affinity(X, X[:50], kind=kind)
    together = model.set_params(n_jobs=3).affinity(X, X[:50], kind=kind)
    assert as_bytes(alone) == as_bytes(together)


@for_each_task
@for_each_kind
def test_a_depth_is_that_of_a_forest_grown_to_it(task, kind):
    X, y = data_for(task)
    deep = forest_for(task).fit(X, y)
    for depth in (1, 3):
        shallow = forest_for(task, max_depth=depth).fit(X, y)
        assert as_bytes(deep.affinity(X, None, depth, kind)) == as_bytes(
            shallow.affinity(X, kind=kind)
        )


def test_sparse_affinities_are_the_same_without_zeros():
    X, y = data_for("classification")
    model = forest_for("classification").fit(X, y)
    dense, sparse = model.affinity(X), model.affinity(X, sparse=True)
    assert isinstance(sparse, csr_array)
    assert as_bytes(sparse.toarray()) == as_bytes(dense)
    assert sparse.nnz == np.count_nonzero(dense) < dense.size


def test_a_tree_has_affinities_of_0_and_1():
    X, y = data_for("classification")
    model = TreeClassifier(max_depth=3, random_state=0).fit(X, y)
    ends = model.apply(X)
    assert (model.affinity(X) == (ends[:, None] == ends)).all()


# ---- maps --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [60, 150])  # all eigenvectors at once, and some of many
@for_each_kind
def test_coordinates_are_those_of_the_twin(kind, n_rows):
    X, y = data_for("classification", n_rows)
    model = forest_for("classification", 30, max_depth=4).fit(X, y)
    values, expected = twin.eigenmaps(model.affinity(X, kind=kind), 3)
    gaps = -np.diff(np.append(1.0, values))
    assert (gaps > 1e-3).all()  # or vectors may turn
    found = model.embed(X, 3, kind=kind)
    # Vectors are good to rounding over the gap between values.
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert as_bytes(found) == as_bytes(model.set_params(n_jobs=3).embed(X, 3, kind=kind))


def test_coordinates_are_scikit_learns_but_for_scale():
    """scikit-learn leaves out a row's affinity with itself."""
    X, y = data_for("regression", 150)
    W = forest_for("regression", 30, max_depth=4).fit(X, y).affinity(X)
    np.fill_diagonal(W, 0.0)
    theirs = spectral_embedding(W, n_components=2, random_state=0)
    found = eigenmaps(csr_array(W), groups_of(csr_array(W)), 2)
    scales = (found * theirs).sum(axis=0) / (theirs**2).sum(axis=0)
    np.testing.assert_allclose(found, theirs * scales, atol=1e-6)


def test_rows_weigh_by_their_degree():
    X, y = data_for("classification")
    model = forest_for("classification", 30, max_depth=4).fit(X, y)
    degrees = model.affinity(X).sum(axis=1)
    found = model.embed(X, 4)
    np.testing.assert_allclose(degrees @ found, 0.0, atol=1e-9 * degrees.sum())
    moments = (found * degrees[:, None]).T @ found / degrees.sum()
    np.testing.assert_allclose(moments, np.eye(4), atol=1e-9)
    assert (found.max(axis=0) == np.abs(found).max(axis=0)).all()


def blocks(*sizes):
    """Rows in groups, in which each two have an affinity of their own."""
    found = np.zeros((sum(sizes), sum(sizes)))
    rng, start = np.random.default_rng(0), 0
    for size in sizes:
        own = rng.uniform(0.2, 0.8, (size, size))
        stop = start + size
        found[start:stop, start:stop] = (own + own.T) / 2
        start = stop
    np.fill_diagonal(found, 1.0)
    return csr_array(found)


def test_groups_are_set_apart_before_anything_else():
    W = blocks(3, 1, 6)
    groups = groups_of(W)
    assert [rows.tolist() for rows in groups] == [[4, 5, 6, 7, 8, 9], [0, 1, 2], [3]]
    found = eigenmaps(W, groups, 9)
    parts = [found[rows, :2] for rows in groups]
    assert all((np.ptp(part, axis=0) < 1e-12).all() for part in parts)
    largest, next_largest, alone = (part[0] for part in parts)
    assert largest[0] * next_largest[0] < 0.0
    assert next_largest[0] == pytest.approx(alone[0])
    assert largest[1] == 0.0
    assert next_largest[1] * alone[1] < 0.0
    # The others change within one group alone, and are eigenvectors there, greatest values first.
    degrees = W.sum(axis=1)
    step = W @ found / degrees[:, None]
    values = (found * step).sum(axis=0) / (found**2).sum(axis=0)
    np.testing.assert_allclose(step, values * found, atol=1e-9)
    assert (np.diff(values) <= 1e-12).all()
    for column in found[:, 2:].T:
        assert sum(np.abs(column[rows]).max() > 0.0 for rows in groups) == 1
    moments = (found * degrees[:, None]).T @ found / degrees.sum()
    np.testing.assert_allclose(moments, np.eye(9), atol=1e-9)


def test_fewer_coordinates_than_groups():
    W = blocks(3, 1, 6)
    all_of_them = eigenmaps(W, groups_of(W), 9)
    assert as_bytes(eigenmaps(W, groups_of(W), 1)) == as_bytes(all_of_them[:, :1].copy())


def test_groups_are_told():
    X = np.repeat([0.0, 10.0, 20.0], [9, 5, 2])[:, None]
    model = ForestClassifier(5, bootstrap=False).fit(X, X[:, 0].astype(int))
    with pytest.warns(UserWarning, match=r"3 groups, of 9, 5, 2 rows: .* up to 2, only tell these"):
        found = model.embed(X)
    assert len(np.unique(found, axis=0)) == 3


# ---- mistakes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "linear"}, r"kind must be one of .*; got 'linear'"),
        ({"epsilon": 0.0}, r"epsilon must be a number above 0 or None; got 0.0"),
        ({"epsilon": float("nan")}, r"epsilon must be .*; got nan"),
        ({"depth": -1}, r"depth must be .*; got -1"),
        ({"n": 0}, r"n must be a whole number from 1 to 89, as X has 90 rows; got 0"),
        ({"n": 90}, r"n must be .*; got 90"),
        ({"n": 2.0}, r"n must be .*; got 2.0"),
    ],
)
def test_a_mistake_is_told(options, told):
    X, y = data_for("classification")
    model = forest_for("classification").fit(X, y)
    with pytest.raises(ValueError, match=told):
        model.embed(X, **options)


def test_distances_need_numbers():
    X, y = data_for("classification")
    model = forest_for("classification").fit(X, y)
    lacking = X.copy()
    lacking[3, 1] = np.nan
    assert affinity(model.forest_, lacking).shape == (90, 90)
    with pytest.raises(ValueError, match='kind must be "binary" for X with missing values'):
        affinity(model.forest_, lacking, kind="gaussian")
    with pytest.raises(ValueError, match="too large to measure by epsilon"):
        model.affinity(X, kind="mahalanobis", epsilon=1e-310)

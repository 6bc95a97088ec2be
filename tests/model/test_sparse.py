"""Sparse X as a user of the estimators has it: the same trees and answers as of the dense X."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_friedman1
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import forestlab.forest.sparse
from forestlab import (
    DensityForest,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
    load,
)
from forestlab.core.options import Histogram

ESTIMATORS = {
    cls.__name__: cls for cls in (TreeClassifier, TreeRegressor, ForestClassifier, ForestRegressor)
}
for_each = pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=ESTIMATORS)
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
KINDS = [f"{name}_{kind}" for name in FORMATS for kind in ("matrix", "array")]
LONG = ("fitted", "quadratic", "band")  # oblique is among them enough for quick tests


def data(n_rows=120, n_features=20, missing=False):
    """Counts, numbers of both signs, a column without zeros and one of nothing else."""
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.4, (n_rows, n_features // 2))
    others = rng.normal(size=(n_rows, n_features // 2)).round(2)
    X = np.hstack([counts, np.where(rng.random(others.shape) < 0.3, others, 0.0)])
    X[:, 1], X[:, -1], X[:, -2] = 0.0, rng.random(n_rows) + 1.0, -X[:, -1]
    y = X[:, 0] + 2 * X[:, 2] - X[:, -3] + X[:, -1]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def data_for(cls, **options):
    X, y = data(**options)
    return X, np.digitize(y, np.quantile(y, [0.3, 0.7])) if "Classifier" in cls.__name__ else y


def made(cls, **options):
    few = {"n_estimators": 7} if "Forest" in cls.__name__ else {}
    return cls(**few | {"random_state": 0} | options)


def assert_same_trees(model, other):
    for ours, theirs in zip(model.forest_, other.forest_, strict=True):
        assert ours.tobytes() == theirs.tobytes()
    assert model.rounded_.tobytes() == other.rounded_.tobytes()


def as_array(found):
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


# ---- the same trees ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Constructing a DIA")
@pytest.mark.parametrize("kind", KINDS)
def test_of_every_format(kind):
    X, y = data_for(TreeClassifier)
    given = getattr(sparse, kind)(X)
    dense, model = (made(TreeClassifier).fit(rows, y) for rows in (X, given))
    assert_same_trees(dense, model)
    np.testing.assert_array_equal(model.predict_proba(given), dense.predict_proba(X))


@for_each
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
@pytest.mark.parametrize("search", ["exact", Histogram(bins=4)], ids=["exact", "bins"])
def test_by_every_estimator(cls, missing, search):
    X, y = data_for(cls, missing=missing)
    weights = np.random.default_rng(0).integers(0, 4, len(X)) / 3  # of some rows 0
    for sample_weight in (None, weights):
        dense, model = (
            made(cls, search=search).fit(rows, y, sample_weight)
            for rows in (X, sparse.csr_array(X))
        )
        assert_same_trees(dense, model)


def test_with_weights_of_classes():
    X, y = data_for(ForestClassifier)
    for weight in ("balanced", "balanced_subsample", {0: 1, 1: 2, 2: 0.5}):
        model = made(ForestClassifier, class_weight=weight)
        dense = made(ForestClassifier, class_weight=weight).fit(X, y)
        assert_same_trees(dense, model.fit(sparse.csc_matrix(X), y))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "f4", "f8"])
def test_of_every_type(dtype):
    X, y = data_for(TreeClassifier)
    X = X.astype(dtype) if dtype[0] in "?f" else np.abs(X).astype(dtype)
    given = sparse.csr_matrix(X)
    assert given.dtype == dtype
    dense, model = (made(TreeClassifier).fit(rows, y) for rows in (X, given))
    assert_same_trees(dense, model)
    np.testing.assert_array_equal(model.apply(given), dense.apply(X))


def as_given(X, change):
    """A matrix of compressed rows that holds X in an unusual way."""
    found = sparse.csr_array(X)
    if change == "explicit zeros":
        kept = (X != 0) | (np.random.default_rng(0).random(X.shape) < 0.2)
        rows, columns = np.nonzero(kept)
        found = sparse.coo_array((X[rows, columns], (rows, columns)), X.shape).tocsr()
        assert found.nnz > np.count_nonzero(X)
    elif change == "duplicates":  # of halves, whose sums are exact
        data, indices = np.repeat(found.data / 2, 2), np.repeat(found.indices, 2)
        found = sparse.csr_array((data, indices, 2 * found.indptr), X.shape)
    elif change == "unsorted":
        ends = zip(found.indptr[:-1], found.indptr[1:], strict=True)
        order = np.concatenate([np.arange(begin, end)[::-1] for begin, end in ends])
        found = sparse.csr_array((found.data[order], found.indices[order], found.indptr), X.shape)
    elif change == "int64":
        found.indices, found.indptr = found.indices.astype("i8"), found.indptr.astype("i8")
    elif change == "read-only":
        for array in (found.data, found.indices, found.indptr):
            array.flags.writeable = False
    return found


@pytest.mark.parametrize(
    "change", ["explicit zeros", "duplicates", "unsorted", "int64", "read-only"]
)
@pytest.mark.parametrize("by", ["rows", "columns"])
def test_however_it_is_held(change, by):
    """And it is held so afterwards, too."""
    X, y = data_for(TreeClassifier)
    # Columns are the rows of the transpose.
    given = as_given(X, change) if by == "rows" else as_given(X.T, change).T
    assert given.format == ("csr" if by == "rows" else "csc")
    before = [array.copy() for array in (given.data, given.indices, given.indptr)]
    dense, model = (made(TreeClassifier).fit(rows, y) for rows in (X, given))
    assert_same_trees(dense, model)
    np.testing.assert_array_equal(model.predict_proba(given), dense.predict_proba(X))
    for array, was in zip((given.data, given.indices, given.indptr), before, strict=True):
        assert array.dtype == was.dtype
        np.testing.assert_array_equal(array, was)


@pytest.mark.parametrize(
    "learner", ["oblique", *(pytest.param(name, marks=pytest.mark.long) for name in LONG)]
)
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
def test_by_questions_of_several_columns(learner, missing):
    X, y = data_for(TreeClassifier, missing=missing)
    given = sparse.csr_array(X)
    dense, model = (
        made(TreeClassifier, learner=learner, max_depth=4).fit(rows, y) for rows in (X, given)
    )
    assert_same_trees(dense, model)
    np.testing.assert_array_equal(model.apply(given), dense.apply(X))


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_numbers_that_cannot_be_joined_are_refused_alike(factor):
    X, y = data_for(TreeClassifier, missing=True)
    X[:, 3] = np.nan
    X[:, 0] *= factor
    told = []
    for rows in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        with pytest.raises(ValueError, match=r"^learner='oblique' joins columns, so") as error:
            TreeClassifier(learner="oblique").fit(rows, y)
        told.append(str(error.value))
    assert told[0] == told[1] == told[2]


def test_more_trees_are_added_to_the_same_forest():
    X, y = data_for(ForestClassifier)
    given = sparse.csr_array(X)
    grown = ForestClassifier(3, random_state=0, warm_start=True).fit(given, y)
    grown.set_params(n_estimators=7).fit(given, y)
    assert_same_trees(grown, made(ForestClassifier).fit(X, y))


def test_a_sparse_frame_keeps_its_names():
    X, y = data_for(TreeClassifier)
    names = [f"word{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=names)
    model = made(TreeClassifier).fit(frame, y)
    assert_same_trees(model, made(TreeClassifier).fit(X, y))
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(frame), made(TreeClassifier).fit(X, y).predict(X))


# ---- the same answers --------------------------------------------------------------------------

ASKED = {
    "predict": lambda model, X: model.predict(X),
    "at a depth": lambda model, X: model.predict(X, depth=2),
    "apply": lambda model, X: model.apply(X),
    "predict_trees": lambda model, X: model.predict_trees(X),
    "affinity": lambda model, X: model.affinity(X),
    "affinity to others": lambda model, X: model.affinity(X, X[:5], depth=3),
    "embed": lambda model, X: model.embed(X, depth=1),
}
OF_CLASSES = {
    "predict_proba": lambda model, X: model.predict_proba(X),
    "predict_log_proba": lambda model, X: model.predict_log_proba(X),
}
OF_TREES = {
    "decision_path": lambda model, X: model.decision_path(X),
    "tree_.apply": lambda model, X: model.tree_.apply(X),
    "tree_.predict": lambda model, X: model.tree_.predict(X),
    "tree_.decision_path": lambda model, X: model.tree_.decision_path(X),
}
OF_FORESTS = {
    "decision_path": lambda model, X: model.decision_path(X)[0],
    "predict_oob": lambda model, X: model.predict_oob(X)[0],
    "a tree's": lambda model, X: model.estimators_[2].predict(X),
}


@for_each
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
@pytest.mark.filterwarnings("ignore:No tree joins")
def test_whatever_is_asked(cls, missing, monkeypatch):
    """In blocks of five rows, by two threads."""
    X, y = data_for(cls, missing=missing)
    monkeypatch.setattr(forestlab.forest.sparse, "BLOCK_NUMBERS", 5 * X.shape[1] + 1)
    model = made(cls).fit(X, y)
    model.n_jobs = 2
    asked = ASKED | (OF_FORESTS if "Forest" in cls.__name__ else OF_TREES)
    for name, ask in (asked | (OF_CLASSES if "Classifier" in cls.__name__ else {})).items():
        expected = as_array(ask(model, X))
        for given in (sparse.csr_array(X), sparse.csc_matrix(X)):
            np.testing.assert_array_equal(as_array(ask(model, given)), expected, name)


@pytest.mark.parametrize("missing", ["branch", "both"])
def test_wherever_missing_values_go(missing, monkeypatch):
    X, y = data_for(ForestClassifier, missing=True)
    given = sparse.csc_array(X)
    monkeypatch.setattr(forestlab.forest.sparse, "BLOCK_NUMBERS", 5 * X.shape[1] + 1)
    dense, model = (made(ForestClassifier, missing=missing).fit(rows, y) for rows in (X, given))
    assert_same_trees(dense, model)
    for name, ask in (OF_CLASSES | OF_FORESTS | {"predict_trees": ASKED["predict_trees"]}).items():
        expected = as_array(ask(dense, X))
        np.testing.assert_array_equal(as_array(ask(model, given)), expected, name)


@pytest.mark.parametrize("oob_score", [True, "roc_auc_ovr"])
def test_rows_left_out_score_the_same(oob_score):
    X, y = data_for(ForestClassifier)
    dense, model = (
        ForestClassifier(40, random_state=0, oob_score=oob_score).fit(rows, y)
        for rows in (X, sparse.csr_matrix(X))
    )
    assert model.oob_score_ == dense.oob_score_ > 0.5
    np.testing.assert_array_equal(model.oob_decision_function_, dense.oob_decision_function_)


def test_of_a_forest_that_was_kept_or_converted(tmp_path):
    X, y = data_for(ForestClassifier)
    X = X.astype(np.float32)  # to which scikit-learn rounds
    given = sparse.csr_matrix(X)
    model = made(ForestClassifier).fit(given, y)
    model.save(tmp_path / "model.forest")
    np.testing.assert_array_equal(
        load(tmp_path / "model.forest").predict(given), model.predict(given)
    )
    # scikit-learn adds the trees up in another order.
    theirs = model.to_sklearn().predict_proba(given)
    np.testing.assert_allclose(model.predict_proba(given), theirs, atol=1e-12)


def test_blocks_leave_no_value_behind():
    """Memory is used again: a row of zeros is one of zeros after any other."""
    X, y = make_friedman1(300, random_state=0)
    model = made(ForestRegressor).fit(X, y)
    given = sparse.csr_array(np.where(np.arange(300)[:, None] % 2, X, 0.0))
    found = model.predict(given)
    assert (found[::2] == model.predict(np.zeros((1, 10)))).all()
    np.testing.assert_array_equal(found[1::2], model.predict(X)[1::2])


# ---- what is refused ---------------------------------------------------------------------------


def test_a_density_takes_no_sparse_rows():
    X, _ = data()
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed .* dense data is required"):
        DensityForest(2).fit(sparse.csr_array(X))
    assert not DensityForest().__sklearn_tags__().input_tags.sparse
    assert ForestClassifier().__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize("kind", ["gaussian", "mahalanobis"])
def test_distances_of_sparse_rows_are_not_measured(kind):
    X, y = data_for(TreeClassifier)
    model = made(TreeClassifier).fit(X, y)
    for rows, others in ((sparse.csr_array(X), None), (X, sparse.csr_array(X))):
        with pytest.raises(ValueError, match=f'^kind must be "binary" for sparse X; got .{kind}'):
            model.affinity(rows, others, kind=kind)


def test_missing_and_infinite_values_are_refused_as_of_dense_rows():
    X, y = data_for(TreeClassifier, missing=True)
    with pytest.raises(
        ValueError, match=r"missing='error' refuses .* NaN in column \d+, row \d+ and"
    ):
        TreeClassifier(missing="error").fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="infinity"):
        TreeClassifier().fit(sparse.csr_array(np.where(np.isnan(X), np.inf, X)), y)
    with pytest.raises(ValueError, match="20 features"):
        TreeClassifier().fit(sparse.csr_array(X), y).predict(sparse.csr_array(X[:, 1:]))
    with pytest.raises(ValueError, match=r"120 rows; got 7 rows\.$"):
        made(ForestClassifier).fit(X, y).predict_oob(sparse.csr_array(X[:7]))


# ---- what it is for ----------------------------------------------------------------------------


def texts(n_texts=200):
    """Sentences of which a few words tell what they are about."""
    rng = np.random.default_rng(0)
    about = rng.integers(0, 3, n_texts)
    telling = [["tree", "leaf", "branch"], ["river", "bank", "water"], ["cloud", "rain", "wind"]]
    said = [
        " ".join([*rng.choice(telling[k], 2), *(f"word{j}" for j in rng.integers(0, 300, 15))])
        for k in about
    ]
    return said, about


def test_words_of_texts():
    said, about = texts()
    pipeline = make_pipeline(TfidfVectorizer(), ForestClassifier(50, random_state=0))
    # Of three kinds as likely each; words that tell are in every text, so few should be mistaken.
    assert cross_val_score(pipeline, said, about, cv=3).mean() > 0.8
    X = TfidfVectorizer().fit_transform(said)
    dense, model = (made(ForestClassifier).fit(rows, about) for rows in (X.toarray(), X))
    assert_same_trees(dense, model)


def test_categories_as_columns_of_their_own():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(list("abcdefgh"), 200), "size": rng.random(200)})
    y = frame["colour"].isin(["b", "e"]) * 2.0 + frame["size"]
    columns = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough", sparse_threshold=1.0
    )
    assert sparse.issparse(columns.fit_transform(frame))
    # All that y depends on is in X, without noise.
    model = make_pipeline(columns, ForestRegressor(30, random_state=0))
    assert cross_val_score(model, frame, y, cv=3).mean() > 0.95


def test_a_wide_matrix_is_never_made_dense():
    """Of 200 × 50,000 numbers, 80 MB, a thousandth is stored. There are 10 MB of codes, and a block
    of 2 million numbers, 16 MB, when trees are asked; all else grows with rows, features or stored
    values, of which each has 8 bytes in a few arrays: 40 MB, half of the dense matrix, is plenty.
    """
    X = sparse.random_array((200, 50_000), density=0.001, format="csr", random_state=0)
    y = X[:, :5000].sum(axis=1) > np.median(X[:, :5000].sum(axis=1))
    model = ForestClassifier(3, random_state=0)
    model.fit(X[:, :20], y)  # kernels are loaded before
    tracemalloc.start()
    try:
        model.fit(X, y).predict(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 10e6 < peak < 40e6

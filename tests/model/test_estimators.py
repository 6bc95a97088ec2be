"""The estimators as scikit-learn, data and users meet them: what they take and what they refuse."""

import inspect
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor
from forestlab.core.combine import COMBINERS
from forestlab.core.criteria import CRITERIA
from forestlab.core.grow import KernelParts, grow_kernel
from forestlab.core.leaves import LEAVES
from forestlab.core.packed import pack_kernel, sum_packed
from forestlab.core.search import SEARCHES
from forestlab.model import parameters
from forestlab.model.descriptions import DESCRIPTIONS
from forestlab.model.estimators import ESTIMATORS
from forestlab.model.parameters import n_threads

FORESTS = {name: cls for name, cls in ESTIMATORS.items() if name.startswith("Forest")}
CLASSIFIERS = [cls for cls in ESTIMATORS.values() if is_classifier(cls())]

for_each = pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=list(ESTIMATORS))
for_each_forest = pytest.mark.parametrize("cls", FORESTS.values(), ids=list(FORESTS))
for_each_classifier = pytest.mark.parametrize("cls", CLASSIFIERS)


def having(names):
    """Each estimator with each of the names that is a parameter or a method of it."""
    return [
        (cls, name)
        for cls in ESTIMATORS.values()
        for name in names
        if name in cls().get_params() or callable(getattr(cls, name, None))
    ]


def few_trees(cls, **params):
    """An estimator of its kind that is quick to fit and always the same."""
    size = {"n_estimators": 5} if cls in FORESTS.values() else {}
    return cls(**size | {"random_state": 0} | params)


def data_for(cls, n_rows=120):
    """Three columns of few distinct values, and what depends on the first two."""
    rng = np.random.default_rng(3)
    X = rng.integers(-20, 20, (n_rows, 3)) / 4
    y = (X[:, 0] > 0) + (X[:, 1] > rng.normal(size=n_rows)) * 1.0
    return X, y.astype(int) if cls in CLASSIFIERS else y + rng.normal(0, 0.2, n_rows).round(2)


def trees_of(model):
    """All that was grown, as bytes."""
    return [array.tobytes() for array in model.forest_]


# ---- scikit-learn ------------------------------------------------------------------------------


def expected_to_fail(estimator):
    """A row of weight 2 may be drawn twice as often, yet is not two rows in any one bag."""
    if type(estimator) in FORESTS.values():
        return {
            f"check_sample_weight_equivalence_on_{kind}_data": "weights are chances of a draw"
            for kind in ("dense", "sparse")
        }
    return {}


@parametrize_with_checks(
    [few_trees(cls) for cls in ESTIMATORS.values()], expected_failed_checks=expected_to_fail
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@for_each
def test_no_more_is_excused_than_of_scikit_learns_own(cls):
    common = pytest.importorskip("sklearn.utils._test_common.instance_generator")
    theirs = {
        peer.__name__: set(checks)
        for peer, checks in common.PER_ESTIMATOR_XFAIL_CHECKS.items()
        if isinstance(checks, dict)
    }
    peer = cls.__name__.replace("Forest", "RandomForest")
    assert set(expected_to_fail(cls())) <= theirs.get(peer, set())


@for_each
def test_in_a_pipeline_a_search_and_a_cross_validation(cls):
    X, y = data_for(cls)
    pipeline = make_pipeline(StandardScaler(), few_trees(cls))
    assert len(cross_val_score(pipeline, X, y, cv=3)) == 3
    grid = {f"{cls.__name__.lower()}__max_depth": [1, 4]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert list(search.best_params_.values()) == [4]
    assert search.score(X, y) > 0.5


@for_each
def test_a_clone_grows_the_same_trees(cls):
    X, y = data_for(cls)
    model = few_trees(cls, max_depth=4, rho=2, threshold="value").fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "forest_")
    assert trees_of(copy.fit(X, y)) == trees_of(model)


def by_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def by_joblib(model, folder):
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


@for_each
@pytest.mark.parametrize("through", [by_pickle, by_joblib])
def test_a_pickle_predicts_the_same(cls, through, tmp_path):
    X, y = data_for(cls)
    model = few_trees(cls).fit(X, y)
    back = through(model, tmp_path)
    assert trees_of(back) == trees_of(model)
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


@for_each
@pytest.mark.filterwarnings("error")
def test_a_frame_keeps_its_names(cls):
    X, y = data_for(cls)
    frame, target = pd.DataFrame(X, columns=["b", "a", "c"]), pd.Series(y)
    options = {"oob_score": True, "n_estimators": 60} if cls in FORESTS.values() else {}
    model = few_trees(cls, **options).fit(frame, target)
    assert model.feature_names_in_.tolist() == ["b", "a", "c"]
    assert trees_of(model) == trees_of(clone(model).fit(X, y))
    np.testing.assert_array_equal(model.predict(frame), clone(model).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["a", "b", "c"]])


@for_each
def test_features_may_be_named_after_the_fit(cls):
    X, y = data_for(cls)
    frame = pd.DataFrame(X, columns=["b", "a", "c"])
    model, expected = few_trees(cls).fit(X, y), few_trees(cls).fit(frame, y)
    model.name_features(frame.columns)
    assert model.feature_names_in_.tolist() == ["b", "a", "c"]
    assert model.view(0).export_text() == expected.view(0).export_text()
    with pytest.raises(ValueError, match="3 features need as many names; got 2"):
        model.name_features(["b", "a"])


@for_each_classifier
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["ash", "beech", "oak"]),
        np.array(["ash", "beech", "oak"], dtype=object),
        np.array([-5, 0, 2**40]),
        np.array([0.0, 1.0, 7.0]),
    ],
    ids=["text", "objects", "whole", "floats"],
)
def test_labels_of_any_type(cls, labels):
    X, codes = data_for(cls)
    plain, named = few_trees(cls).fit(X, codes), few_trees(cls).fit(X, labels[codes])
    assert named.classes_.tolist() == labels.tolist()
    assert named.classes_.dtype == labels.dtype
    assert trees_of(named) == trees_of(plain)
    np.testing.assert_array_equal(named.predict(X), labels[plain.predict(X)])


@for_each_classifier
def test_labels_that_are_true_or_false(cls):
    X, codes = data_for(cls)
    model = few_trees(cls).fit(X, codes > 0)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(X).dtype == bool
    assert model.score(X, codes > 0) > 0.9


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "whole": lambda X: X.astype(np.int16),
    "unsigned": lambda X: X.astype(np.uint8),
    "long": lambda X: X.astype(np.longdouble),
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "lists": np.ndarray.tolist,
    "objects": lambda X: X.astype(object),
}


@for_each
@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_x_of_any_type_and_layout(cls, form):
    X, y = data_for(cls)
    X = (X + 5) * 4  # whole numbers, which every type holds
    model, other = few_trees(cls).fit(X, y), few_trees(cls).fit(form(X), y)
    assert trees_of(other) == trees_of(model)
    np.testing.assert_array_equal(model.predict(form(X)), model.predict(X))
    np.testing.assert_array_equal(model.apply(form(X)), model.apply(X))


@pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])
def test_read_only_data_compiles_nothing_more(cls):
    """Frames and memory maps are read-only, which to numba is another type."""
    X, y = data_for(cls)
    few_trees(cls).fit(X, y).predict(X)
    task = "classification" if cls in CLASSIFIERS else "regression"
    grow = grow_kernel(KernelParts(cls().criterion, "axis", "exact", False, True))
    kernels = grow, pack_kernel(task, "average", False, False), sum_packed
    before = [len(kernel.signatures) for kernel in kernels]
    few_trees(cls).fit(read_only(X), read_only(y)).predict(read_only(X))
    assert [len(kernel.signatures) for kernel in kernels] == before


# ---- parameters --------------------------------------------------------------------------------


@for_each
def test_every_parameter_is_documented(cls):
    for name in inspect.signature(cls).parameters:
        kind, text = DESCRIPTIONS[name]
        assert kind.strip()
        assert text.strip()
        assert re.search(rf"^{name} : .+\n    \S.+$", cls.__doc__, re.MULTILINE), name


def test_no_parameter_is_described_that_none_has():
    taken = {name for cls in ESTIMATORS.values() for name in inspect.signature(cls).parameters}
    assert set(DESCRIPTIONS) == taken


@for_each
def test_documentation_lists_the_names_of_the_tables(cls):
    task = "classification" if cls in CLASSIFIERS else "regression"
    names = [name for name, row in CRITERIA.items() if row.task == task] + list(SEARCHES)
    if cls in FORESTS.values():
        names += [name for name, row in COMBINERS.items() if task in row]
    for name in names:
        assert repr(name) in cls.__doc__, name


def allowed_criteria(cls):
    task = "classification" if cls in CLASSIFIERS else "regression"
    return [name for name, row in CRITERIA.items() if row.task == task]


CHOICES = {
    "criterion": allowed_criteria,
    "search": lambda cls: SEARCHES,
    "threshold": lambda cls: ["midpoint", "value"],
    "ties": lambda cls: ["random", "first"],
    "subspace": lambda cls: ["node", "tree"],
    "max_features": lambda cls: ["sqrt", "log", "log2"],
    "combine": lambda cls: COMBINERS,
    "leaf": lambda cls: LEAVES,
    "class_weight": lambda cls: ["balanced"],
}


@pytest.mark.parametrize("given", ["nonsense", "", ["gini"]], ids=["text", "empty", "list"])
@pytest.mark.parametrize(("cls", "name"), having(CHOICES))
def test_an_unknown_name_is_answered_with_the_known_ones(cls, name, given):
    with pytest.raises(ValueError, match=rf"^{name} must be .*; got ") as refusal:
        few_trees(cls, **{name: given}).fit(*data_for(cls))
    assert repr(given) in str(refusal.value)
    for known in CHOICES[name](cls):
        assert repr(known) in str(refusal.value)


@pytest.mark.parametrize(
    ("cls", "name"),
    [(ForestClassifier, "variance"), (ForestRegressor, "gini"), (TreeRegressor, "entropy2")],
)
def test_a_criterion_of_the_other_task_is_refused(cls, name):
    with pytest.raises(ValueError, match=f"criterion must be one of .*; got '{name}'"):
        few_trees(cls, criterion=name).fit(*data_for(cls))


@pytest.mark.parametrize("combine", [name for name, row in COMBINERS.items()])
def test_a_combiner_is_refused_where_it_means_nothing(combine):
    model, data = few_trees(ForestRegressor, combine=combine), data_for(ForestRegressor)
    if "regression" in COMBINERS[combine]:
        model.fit(*data)
        return
    with pytest.raises(ValueError, match=f"combine='{combine}' needs classes.*'average'"):
        model.fit(*data)
    grown = few_trees(ForestRegressor).fit(*data).set_params(combine=combine)
    with pytest.raises(ValueError, match=f"combine='{combine}' needs classes"):
        grown.predict(data[0])


NO_LIMIT = "a whole number of at least "
ABSURD = {
    "n_estimators": ("a whole number from 1 to 1,000,000", [0, -1, 10**15, 2.5, True, "many"]),
    "max_depth": (NO_LIMIT + "1 or None", [0, -3, 1.5, True, "deep"]),
    "min_samples_split": (NO_LIMIT + "2 or a share", [1, 0, -2, 0.0, 1.5, np.nan, "2"]),
    "min_samples_leaf": (NO_LIMIT + "1 or a share", [0, -1, 0.0, 1.01, -0.5, None]),
    "min_weight_fraction_leaf": ("at least 0 and at most 0.5", [-0.1, 0.51, np.nan, "no"]),
    "min_impurity_decrease": ("a number of at least 0", [-1e-9, np.nan, np.inf, None]),
    "max_features": (NO_LIMIT + "1, a share in", [0, -1, 0.0, 1.5, np.nan, True]),
    "max_samples": (NO_LIMIT + "1, a share in", [0, -1, 0.0, 1.5, np.nan, "all"]),
    "count_constant": ("True or False", [None, 1, "yes"]),
    "bootstrap": ("True or False", [None, 1, "yes"]),
    "n_thresholds": (NO_LIMIT + "1 or None", [0, -1, 1.0, "all"]),
    "rho": (NO_LIMIT + '1, "all" or None', [0, -1, 0.5, "some"]),
    "rho_draws": ("one of .features., .pairs.", [None, 1, "rows"]),
    "n_jobs": ("a whole number other than 0", [0, 1.5, "all"]),
    "oob_score": ("True, False, the name of a scorer", [None, 1, 0.5]),
    "warm_start": ("True or False", [None, 1, "yes"]),
    "backend": ("one of .threads., .ray.", [None, 1, "dask"]),
}


@pytest.mark.parametrize(
    ("name", "allowed", "given"),
    [(name, allowed, given) for name, (allowed, values) in ABSURD.items() for given in values],
)
@for_each_forest
def test_an_absurd_value_is_refused_by_name(cls, name, allowed, given):
    got = re.escape(f"; got {given!r}.")
    with pytest.raises(ValueError, match=rf"^{name} must be .*{allowed}.*{got}$"):
        few_trees(cls, **{name: given}).fit(*data_for(cls))


@pytest.mark.parametrize("given", [-1, 1.5, "deep", True])
@for_each
def test_an_absurd_depth_is_refused_by_name(cls, given):
    X, y = data_for(cls)
    with pytest.raises(ValueError, match="depth must be a whole number of at least 0 or None"):
        few_trees(cls).fit(X, y).predict(X, depth=given)


@pytest.mark.parametrize("weight", [-1, np.nan, "heavy"])
@for_each_classifier
def test_an_absurd_class_weight_is_refused_by_name(cls, weight):
    allowed = rf"class_weight\[1\] must be a number of at least 0; got {weight!r}"
    with pytest.raises(ValueError, match=allowed):
        few_trees(cls, class_weight={1: weight}).fit(*data_for(cls))


def test_only_forests_balance_each_bag():
    data = data_for(TreeClassifier)
    with pytest.raises(ValueError, match="class_weight must be a dict, 'balanced' or None"):
        TreeClassifier(class_weight="balanced_subsample").fit(*data)
    model = few_trees(ForestClassifier, class_weight="balanced_subsample").fit(*data)
    assert model.recipe_.balance_bags


def test_an_unknown_scorer_is_refused():
    with pytest.raises(ValueError, match="nonsense"):
        few_trees(ForestClassifier, oob_score="nonsense").fit(*data_for(ForestClassifier))


@pytest.mark.parametrize(
    ("given", "n_features", "count"),
    [
        (None, 20, 20),
        (7, 20, 7),
        (20, 20, 20),
        (21, 20, 20),
        (10**12, 20, 20),
        (np.int64(3), 20, 3),
        (1, 20, 1),
        (1.0, 20, 20),
        (0.5, 21, 10),
        (np.float32(0.25), 20, 5),
        (1e-9, 20, 1),
        ("sqrt", 20, 4),
        ("log", 20, 2),
        ("log2", 20, 4),
        ("sqrt", 1, 1),
        ("log", 1, 1),
        ("log2", 1, 1),
    ],
)
@pytest.mark.parametrize("subspace", ["node", "tree"])
@for_each
def test_max_features_of_every_form(cls, given, n_features, count, subspace):
    X = np.tile(np.arange(8.0)[:, None], n_features)
    model = few_trees(cls, max_features=given, subspace=subspace).fit(X, [0, 1] * 4)
    drawn_by_tree = count if subspace == "tree" else 0
    drawn_by_node = n_features if subspace == "tree" else count
    assert model.recipe_.features_per_tree == drawn_by_tree
    assert model.recipe_.settings.max_features == drawn_by_node


@for_each
def test_each_child_may_have_to_keep_half(cls):
    """Then a node splits in the middle or not at all, and its children no more."""
    X, half = np.arange(8.0)[:, None], {"min_weight_fraction_leaf": 0.5}
    options = half | ({"bootstrap": False} if cls in FORESTS.values() else {})
    model = few_trees(cls, **options).fit(X, [0, 0, 0, 0, 0, 1, 1, 1])
    roots = model.forest_.nodes[model.forest_.first_node[:-1]]
    assert set(roots["cut_high"]) == {3.5}
    assert set(np.diff(model.forest_.first_node)) == {3}
    uneven = few_trees(cls, **options).fit(X[1:], [0, 0, 0, 0, 1, 1, 1])
    assert set(np.diff(uneven.forest_.first_node)) == {1}


@pytest.mark.parametrize(
    ("bootstrap", "max_samples", "size"),
    [
        (True, None, 120),
        (True, 30, 30),
        (True, 120, 120),
        (True, 300, 300),
        (True, 0.25, 30),
        (True, 1.0, 120),
        (True, 1e-9, 1),
        (False, None, 0),
        (False, 30, 30),
        (False, 119, 119),
        (False, 120, 0),
        (False, 300, 0),
        (False, 0.999, 119),
        (False, 1.0, 0),
    ],
)
@for_each_forest
def test_max_samples_of_every_form(cls, bootstrap, max_samples, size):
    model = few_trees(cls, bootstrap=bootstrap, max_samples=max_samples).fit(*data_for(cls))
    assert model.recipe_.bag_size == size
    assert model.recipe_.replace is bootstrap
    roots = model.forest_.nodes[model.forest_.first_node[:-1]]
    np.testing.assert_array_equal(roots["weight"], size or 120)


def test_numbers_of_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: range(6), raising=False)
    asked = [None, 1, 3, 48, 99, 10**20, -1, -2, -99]
    assert [n_threads(n_jobs) for n_jobs in asked] == [1, 1, 3, 48, 48, 48, 6, 5, 1]


@for_each
def test_threads_follow_joblibs_context(cls, monkeypatch):
    """None asks joblib, when growing and when answering; a number does not."""
    found = []
    monkeypatch.setattr(parameters, "n_threads", lambda n: found.append(n_threads(n)) or found[-1])
    X, y = data_for(cls)
    model = few_trees(cls)
    with joblib.parallel_config(n_jobs=3):
        for ask in model.fit(X, y).predict, model.apply, model.decision_path:
            ask(X)
        assert set(found) == {3}
        assert len(found) >= 4
        assert [n_threads(n_jobs) for n_jobs in (1, 2)] == [1, 2]
    found.clear()
    model.fit(X, y).predict(X)
    assert set(found) == {1}


def test_threads_within_joblibs_threads_are_one():
    call = joblib.delayed(n_threads)
    assert joblib.Parallel(n_jobs=2, prefer="threads")([call(None), call(None)]) == [1, 1]


def test_a_numpy_false_asks_for_no_score():
    model = few_trees(ForestClassifier, oob_score=np.False_).fit(*data_for(ForestClassifier))
    assert not hasattr(model, "oob_score_")


# ---- bad input ---------------------------------------------------------------------------------


def with_one(value):
    def spoil(X, y):
        X = X.copy()
        X[7, 1] = value
        return X, y

    return spoil


def with_one_text(X, y):
    return with_one("ash")(X.astype(object), y)


BAD = {
    "infinity": (with_one(np.inf), "contains infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), r"0 sample\(s\).*minimum of 1"),
    "no columns": (lambda X, y: (X[:, :0], y), r"0 feature\(s\).*minimum of 1"),
    "lengths": (lambda X, y: (X, y[:-1]), r"inconsistent numbers of samples: \[120, 119\]"),
    "one dimension": (lambda X, y: (X[:, 0], y), "Expected 2D array, got 1D array"),
    "three dimensions": (lambda X, y: (X[None], y), "Found array with dim 3"),
    "bytes": (
        lambda X, y: (np.full(X.shape, b"ash"), y),
        "not compatible with arrays of bytes/strings",
    ),
    "text among numbers": (with_one_text, "column 1 holds numbers and strings"),
    "complex": (lambda X, y: (X + 1j, y), "Complex data not supported"),
    "missing target": (lambda X, y: (X, np.where(y == y[0], np.nan, y)), "y contains NaN"),
    "no target": (lambda X, y: (X, None), "requires y to be passed"),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=list(BAD))
@for_each
def test_bad_data_is_refused(cls, spoil, message):
    with pytest.raises(ValueError, match=message):
        few_trees(cls).fit(*spoil(*data_for(cls)))


@for_each_classifier
def test_numbers_that_are_no_classes_are_refused(cls):
    X, y = data_for(cls)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        few_trees(cls).fit(X, y + 0.5 * X[:, 0])


ASKED = ["predict", "apply", "decision_path", "predict_trees", "predict_proba", "predict_oob"]


@pytest.mark.parametrize(("cls", "method"), having(ASKED))
def test_bad_questions_are_refused(cls, method):
    X, y = data_for(cls)
    with pytest.raises(NotFittedError, match=f"This {cls.__name__} instance is not fitted yet"):
        getattr(cls(), method)(X)
    ask = getattr(few_trees(cls).fit(X, y), method)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 3 features"):
        ask(X[:, :2])
    with pytest.raises(ValueError, match="contains infinity"):
        ask(np.full_like(X, np.inf))


@for_each
def test_what_only_a_fitted_one_has(cls):
    for name in ("feature_importances_", "trees_" if cls in FORESTS.values() else "tree_"):
        with pytest.raises(NotFittedError):
            getattr(cls(), name)


@for_each
def test_an_unfitted_one_is_not_saved(cls, tmp_path):
    with pytest.raises(NotFittedError):
        cls().save(tmp_path / "model")
    assert not any(tmp_path.iterdir())


BAD_WEIGHTS = {
    "negative": (lambda w: w - 2, "finite weights of at least 0"),
    "NaN": (lambda w: w * np.nan, "finite weights of at least 0"),
    "infinite": (lambda w: w * np.inf, "finite weights of at least 0"),
    "zero": (lambda w: w * 0, "not be zero for every row"),
    "length": (lambda w: w[1:], r"each of the 120 rows; got shape \(119,\)"),
    "shape": (lambda w: w[:, None], r"each of the 120 rows; got shape \(120, 1\)"),
}


@pytest.mark.parametrize(("spoil", "message"), BAD_WEIGHTS.values(), ids=list(BAD_WEIGHTS))
@for_each
def test_bad_weights_are_refused(cls, spoil, message):
    with pytest.raises(ValueError, match=f"sample_weight must .*?{message}"):
        few_trees(cls).fit(*data_for(cls), sample_weight=spoil(np.ones(120)))


WEIGHTLESS = {
    "rows": (None, lambda y: (y != 1) * 1.0),
    "class": ({"beech": 0.0}, lambda y: None),
    "balanced rows": ("balanced", lambda y: (y != 1) * 1.0),
}


@pytest.mark.parametrize(("by_class", "by_row"), WEIGHTLESS.values(), ids=list(WEIGHTLESS))
@pytest.mark.parametrize("bag", [{}, {"bootstrap": False}, {"bootstrap": False, "max_samples": 60}])
@for_each_classifier
def test_a_class_without_weight_stays_and_has_no_chance(cls, bag, by_class, by_row):
    X, y = data_for(cls)
    names = np.array(["ash", "beech", "oak"])[y]
    options = bag if cls is ForestClassifier else {}
    model = few_trees(cls, class_weight=by_class, **options).fit(X, names, by_row(y))
    assert model.classes_.tolist() == ["ash", "beech", "oak"]
    chances = model.predict_proba(X)
    assert (chances[:, 1] == 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, 1e-15)  # means of five trees' shares


def test_rows_without_weight_are_not_there_for_a_tree():
    X, y = data_for(TreeClassifier)
    model = TreeClassifier().fit(X, y, (y != 1) * 1.0)
    known = TreeClassifier().fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(model.predict_proba(X)[:, [0, 2]], known.predict_proba(X))


@for_each_classifier
def test_classes_all_without_weight_are_refused(cls):
    X, y = data_for(cls)
    with pytest.raises(ValueError, match="not be zero for every row"):
        few_trees(cls, class_weight=dict.fromkeys(range(3), 0)).fit(X, y)


@for_each_forest
def test_bags_that_may_hold_no_weight_are_refused(cls):
    X, y = data_for(cls)
    weights = (np.arange(120) < 100) * 1.0
    with pytest.raises(ValueError, match="max_samples must be more than the 20 rows of no weight"):
        few_trees(cls, bootstrap=False, max_samples=20).fit(X, y, weights)
    model = few_trees(cls, n_estimators=20, bootstrap=False, max_samples=21).fit(X, y, weights)
    assert (model.forest_.nodes["n_rows"] > 0).all()
    assert np.isfinite(model.predict(X)).all()


# ---- edges -------------------------------------------------------------------------------------


@for_each
def test_constant_columns(cls):
    X, y = np.ones((30, 3)), np.arange(30) % 2
    model = few_trees(cls).fit(X, y)
    assert (model.forest_.nodes["feature"] == -1).all()
    assert (model.feature_importances_ == 0).all()
    X[:, 1] = y
    model = few_trees(cls, max_features=1).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.feature_importances_.tolist() == [0, 1, 0]


@for_each_classifier
def test_equal_rows_of_different_classes(cls):
    X, y = np.repeat([[1.0], [2.0]], 10, axis=0), [0] * 7 + [1] * 3 + [0] * 1 + [1] * 9
    options = {"bootstrap": False} if cls is ForestClassifier else {}
    model = few_trees(cls, **options).fit(X, y)
    # A mean of five equal trees: rounding of a sum.
    np.testing.assert_allclose(model.predict_proba([[1], [2]]), [[0.7, 0.3], [0.1, 0.9]], 1e-15)


@for_each
def test_one_row(cls):
    model = few_trees(cls).fit([[1.0, 2.0]], [3])
    assert model.predict([[0, 0], [9, 9]]).tolist() == [3, 3]


@for_each
def test_one_column(cls):
    X = np.arange(40.0)[:, None]
    model = few_trees(cls).fit(X, X[:, 0] > 15)
    assert model.predict([[0], [39]]).tolist() == [0, 1]


@for_each_classifier
def test_one_class(cls):
    X, y = data_for(cls)
    model = few_trees(cls).fit(X, np.full(len(y), "oak"))
    assert set(model.predict(X)) == {"oak"}
    assert (model.predict_proba(X) == 1).all()


@for_each_classifier
def test_300_classes(cls):
    X = np.random.default_rng(0).normal(size=(1500, 2))
    y = np.arange(1500) % 300
    model = few_trees(cls, max_features=None).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (1500, 300)
    # Sums of 300 numbers, each rounded.
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, 1e-13)
    # A tree knows its own rows, and a row is in 0.63 of a forest's bags.
    assert model.score(X, y) > (0.6 if cls is ForestClassifier else 0.999)


@for_each
def test_many_rows(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 5))
    y = (X[:, 2] > 0.5).astype(int)
    model = few_trees(cls, **{"n_estimators": 2} if cls in FORESTS.values() else {}).fit(X, y)
    # The cut is found to within the gap of two rows near it, in each bag.
    assert np.mean(model.predict(X) == y) > 0.999


@for_each
def test_many_columns(cls):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 20_000)), np.arange(50) % 2
    X[:, 19_999] = y
    model = few_trees(cls, max_features=None).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.feature_importances_[-1] == 1


def test_a_deep_chain():
    """Each target is far greater than all before it together, so each cut takes off one row."""
    y = 2.5 ** np.arange(-370, 370)
    X = np.arange(len(y), dtype=float)[:, None]
    model = TreeRegressor().fit(X, y)
    assert model.get_depth() == len(y) - 1
    np.testing.assert_array_equal(model.predict(X), y)
    path = model.decision_path(X[:1])
    assert path.sum() == len(y)
    assert model.predict(X, depth=600).max() == y[-1]
    assert len(model.export_text().splitlines()) == 2 * len(y) - 1


def test_several_targets():
    X, y = data_for(ForestRegressor)
    both = np.stack([y, -3 * y + 1], axis=1)
    for cls in TreeRegressor, ForestRegressor:
        model = few_trees(cls).fit(X, both)
        answers = model.predict(X)
        assert answers.shape == both.shape
        assert model.score(X, both) > 0.8
        # The second target is the first, scaled and moved: so are all its means, but for rounding.
        np.testing.assert_allclose(answers[:, 1], -3 * answers[:, 0] + 1, 1e-12, 1e-12)


def test_a_refit_forgets_the_out_of_bag_scores_before():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    model = ForestClassifier(20, oob_score=True, random_state=0).fit(X, y)
    assert hasattr(model, "oob_score_")
    model.set_params(oob_score=False).fit(X, y)
    assert not [name for name in vars(model) if name.startswith("oob_") and name.endswith("_")]


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X = np.arange(30.0)[:, None]
    model = ForestClassifier(3, random_state=0).fit(X, np.arange(30) % 3)
    before = model.predict(X).tolist()
    with pytest.raises(ValueError, match="max_depth"):
        model.set_params(max_depth=-1).fit(X, np.arange(30) % 2)
    assert model.predict(X).tolist() == before

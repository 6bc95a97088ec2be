"""Forests that take a table as it is, with its categories and holes, beside those of others that
have it turned into numbers.

Both forests of a pair see the same rows with the same seed, 20 times. Splits of one data set share
rows, so that the intervals are Nadeau and Bengio's (`forestlab/compare/statistics.py`).
"""

from functools import cache, partial

import numpy as np
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from forestlab import ForestClassifier, datasets
from forestlab.compare.statistics import student
from forestlab.config import DatasetConfig

SEEDS = range(20)
NUMBERS = make_column_selector(dtype_exclude="category")
CATEGORIES = make_column_selector(dtype_include="category")

# ---- rows --------------------------------------------------------------------------------------

QUARTER = {"test_size": 0.25}
SIZES = {"penguins": QUARTER, "titanic": QUARTER, "adult": {"train_size": 8000, "test_size": 4000}}
OVERLAP = {"penguins": 1 / 3, "titanic": 1 / 3, "adult": 1 / 2, "levels": 0}  # test over training
APART = {"titanic": ["name", "ticket", "cabin"]}  # left out, as by conf/dataset/titanic.yaml


@cache
def table(name):
    """Features and target of a data set."""
    found = datasets.load(DatasetConfig(name=name, drop=APART.get(name, [])))
    return found.frame, np.asarray(found.target)


def split(name, seed):
    """X_train, X_test, y_train, y_test; of made rows others for each seed."""
    if name == "levels":
        config = DatasetConfig(name=name, levels=30, n_samples=3000, data_seed=seed)
        drawn = datasets.load(config)
        return train_test_split(drawn.frame, drawn.target, random_state=seed, train_size=1000)
    X, y = table(name)
    return train_test_split(X, y, random_state=seed, stratify=y, **SIZES[name])


# ---- forests -----------------------------------------------------------------------------------

# Where rows are few, much of what forests differ by is chance of their own, which more trees lower.
N_TREES = {"penguins": 500, "titanic": 500, "adult": 100, "levels": 100}


def fitted(model, parts):
    """The share of test rows that a model, fitted to the others, is right about."""
    X_train, X_test, y_train, y_test = parts
    return model.fit(X_train, y_train).score(X_test, y_test)


def ours(parts, n_trees, seed, **options):
    return fitted(ForestClassifier(n_trees, random_state=seed, **options), parts)


def complete(parts, n_trees, seed, **options):
    """Ours, without the columns that lack values."""
    X_train, X_test, *targets = parts
    known = X_train.columns[~(X_train.isna().any() | X_test.isna().any())]
    return ours((X_train[known], X_test[known], *targets), n_trees, seed, **options)


def one_hot(parts, n_trees, seed, fill=True):
    """scikit-learn's forest of a column of 0 and 1 for each level. Missing values are filled in
    before; or those of categories are one level more, those of numbers the forest's own affair."""
    numbers, levels = "passthrough", OneHotEncoder(handle_unknown="ignore")
    if fill:
        numbers = SimpleImputer(strategy="median")
        levels = make_pipeline(SimpleImputer(strategy="most_frequent"), levels)
    columns = make_column_transformer((numbers, NUMBERS), (levels, CATEGORIES), sparse_threshold=0)
    forest = RandomForestClassifier(n_trees, random_state=seed)
    return fitted(make_pipeline(columns, forest), parts)


def for_ydf(X):
    """Columns as ydf takes them; an empty string is a missing category."""
    words = {name: X[name].astype(object).fillna("").astype(str) for name in CATEGORIES(X)}
    return {name: words.get(name, X[name]).to_numpy() for name in X}


def of_ydf(parts, n_trees, seed):
    """ydf's forest, with as many features at a node, leaves as small and trees as deep as ours."""
    ydf = pytest.importorskip("ydf", reason="ydf is not installed")
    X_train, X_test, y_train, y_test = parts
    learner = ydf.RandomForestLearner(
        "label", num_trees=n_trees, random_seed=seed, min_examples=1, max_depth=-1,
        num_candidate_attributes=int(np.sqrt(X_train.shape[1])), winner_take_all=False,
        compute_oob_performances=False,
    )  # fmt: skip
    model = learner.train(for_ydf(X_train) | {"label": y_train.astype(str)}, verbose=0)
    return np.mean(model.predict_class(for_ydf(X_test)) == y_test.astype(str))


PEERS = {"one-hot, filled": one_hot, "one-hot": partial(one_hot, fill=False), "ydf": of_ydf}

# ---- beside each other -------------------------------------------------------------------------


@cache
def scores(name, forest):
    """Accuracy by seed."""
    return np.array([forest(split(name, seed), N_TREES[name], seed) for seed in SEEDS])


def less(name, forest, other):
    """Accuracy of a forest less that of another, with its interval."""
    found = student(scores(name, forest) - scores(name, other), overlap=OVERLAP[name])
    print(f"{name}: {found.mean:+.4f} ± {found.mean - found.low:.4f}")
    return found


@pytest.mark.long
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize(
    ("name", "margin"), [("penguins", 0.02), ("titanic", 0.02), ("adult", 0.01)]
)
def test_no_forest_of_others_is_ahead(name, margin, peer):
    """The whole 95 % interval of the difference in accuracy lies above minus a margin: a point on
    adult. Two on the small sets, where a point is less than one of 86 penguins and about the reach
    of the interval itself, so that not even two equal forests would be told to be equal.

    Each forest has its default of features at a node, the root of their number. That of columns of
    0 and 1 is the root of more of them: 3 of 10 on penguins, where ours is 2 of 7, 3 of 10 on
    titanic beside 2 of 7, 10 of 105 on adult beside 3 of 14. ydf is given ours. All grow until
    leaves are pure.

    Ours less theirs, of 20 splits:

                one-hot, filled     one-hot             ydf
    penguins    -0.0052 ± 0.0114    -0.0052 ± 0.0114    +0.0006 ± 0.0103
    titanic     +0.0020 ± 0.0099    +0.0040 ± 0.0090    -0.0049 ± 0.0134
    adult       +0.0050 ± 0.0051    +0.0037 ± 0.0056    +0.0004 ± 0.0044
    """
    assert less(name, ours, PEERS[peer]).low > -margin


@pytest.mark.long
def test_sets_of_many_levels_are_ahead_of_columns_of_0_and_1():
    """Of 30 levels, half of which stand for either class; 1,000 training rows, drawn anew for each
    seed, so that the interval is Student's. All of it lies above 0: +0.0179 ± 0.0041."""
    assert less("levels", ours, one_hot).low > 0


@pytest.mark.long
@pytest.mark.parametrize("missing", ["branch", "both"])
def test_to_keep_columns_that_lack_values_is_better_than_to_leave_them_out(missing):
    """On titanic, where a fifth of the ages are missing, with leaves of at least 5 rows on both
    sides: the whole interval lies above 0. "branch" +0.0253 ± 0.0142, "both" +0.0215 ± 0.0163, and
    "learned", which could also tell by the holes themselves, +0.0271 ± 0.0159.

    With leaves of one row it is not decided: +0.0053 ± 0.0169, +0.0030 ± 0.0210 and +0.0026 ±
    0.0169. Small leaves are what the forests with ages lose by, 2 points or more; those without are
    as good with either, 0.787.
    """
    rows = {"min_samples_leaf": 5}
    kept = partial(ours, missing=missing, **rows)
    assert less("titanic", kept, partial(complete, **rows)).low > 0

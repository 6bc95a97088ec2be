"""The number of cuts that a search scores, against a count inside the slow twin."""

import naive
import numpy as np
import pytest

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, run
from forestlab.core.search import SEARCHES
from forestlab.run.making import Shelf
from forestlab.study.cuts import cuts_scored


def counted_in_twin(model, X, y, monkeypatch):
    """Grow the slow twin of each tree, and note every list of cuts that it scores."""
    noted = []
    cuts = naive.cuts

    def noting(problem, rows, feature, key, pick=None):
        found = cuts(problem, rows, feature, key, pick)
        noted[-1] += len(found)
        return found

    monkeypatch.setattr(naive, "cuts", noting)
    codes = np.unique(y, return_inverse=True)[1].astype(float) if model.task != "regression" else y
    for t in range(len(model.forest_.first_node) - 1):
        noted.append(0)
        naive.grow_tree(X, codes[:, None], model.recipe_, model.seed_, t)
    return noted


def data(task="classification", n=60, seed=0):
    """Features with many ties, with none, and with one value only."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 4, n), rng.normal(size=n), np.ones(n), rng.integers(0, 12, n)]
    ).astype(float)
    score = X[:, 0] + X[:, 1] + rng.normal(size=n)
    return X, np.round(score) if task == "regression" else np.digitize(score, [1, 3])


# Each compiles a kernel of its own, which takes seconds.
LONG = ("uniform",)
BY_TIME = [pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in SEARCHES]

OPTIONS = [
    {},
    {"max_features": None},
    {"max_features": 1},
    {"subspace": "tree", "max_features": 2, "bootstrap": False},
    {"min_samples_leaf": 4, "max_features": None},
    {"min_weight_fraction_leaf": 0.1, "max_features": None},
    {"max_depth": 2, "min_samples_split": 10},
    {"min_impurity_decrease": 0.05},
]


@pytest.mark.parametrize("search", BY_TIME)
@pytest.mark.parametrize("n_thresholds", [None, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_as_many_as_the_twin_scores(search, n_thresholds, options, monkeypatch):
    X, y = data()
    model = ForestClassifier(
        3, search=search, n_thresholds=n_thresholds, random_state=1, **options
    ).fit(X, y)
    assert cuts_scored(model.grown, X, y).tolist() == counted_in_twin(model, X, y, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("search", SEARCHES)
def test_of_numbers(search, monkeypatch):
    X, y = data("regression")
    model = ForestRegressor(2, search=search, max_features=2, random_state=0).fit(X, y)
    assert cuts_scored(model.grown, X, y).tolist() == counted_in_twin(model, X, y, monkeypatch)


def test_bins(monkeypatch):
    """With more values than bins the histogram search scores fewer cuts than the exact one."""
    X, y = data(n=400)
    models = {
        search: TreeClassifier(search=search, max_depth=3).fit(X, y)
        for search in ("exact", "histogram")
    }
    found = {search: cuts_scored(model.grown, X, y).tolist() for search, model in models.items()}
    assert found["histogram"] < found["exact"]
    for search, model in models.items():
        assert found[search] == counted_in_twin(model, X, y, monkeypatch)


# ---- as a number of a run ----------------------------------------------------------------------

ASKED = ["dataset=iris", "n_estimators=3", "tracking=none", "study=light", "study.cuts=true"]


def test_a_run_tells_it(monkeypatch, tmp_path):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    outcome = run.perform(ASKED)
    assert outcome.code == 0
    (config,) = run.jobs(ASKED)
    data = Shelf().data(config)
    X, y = data.X[data.parts.train], data.y[data.parts.train]
    model = ForestClassifier(3, random_state=0).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    assert (
        outcome.results[0].metrics["summary/trees_cuts"]
        == cuts_scored(model.grown, X, codes).mean()
    )


def test_of_random_parameters_one_each(monkeypatch, tmp_path):
    """Every node that splits drew two; in the others nothing varies, or all are of one class."""
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    (result,) = run.perform([*ASKED, "model.rho=2"]).results
    n_split = result.metrics["summary/trees_n_leaves"] - 1
    assert result.metrics["summary/trees_cuts"] == pytest.approx(2 * n_split, rel=1e-12)


def test_what_it_does_not_count(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    assert run.main([*ASKED, "model.class_weight=balanced"]) == 2
    assert "study.cuts does not count with model.class_weight" in capsys.readouterr().err

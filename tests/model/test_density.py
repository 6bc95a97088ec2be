"""Density forests: densities that are none but for a forest's boxes, and rows drawn from them."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from naive_density import densities_by_tree
from scipy.stats import multivariate_normal, norm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

import forestlab
from forestlab import DensityForest

for_both = pytest.mark.parametrize("covariance", ["diagonal", "full"])
CORNERS = np.array([(-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (2.0, 2.0)])


def clusters(n_rows, seed, n_columns=2):
    """Four round clusters at the corners of a square, or what is left of them in one column; in a
    third a slope of the first."""
    rng = np.random.default_rng(seed)
    X = CORNERS[rng.integers(0, 4, n_rows)] + rng.normal(0, 0.5, (n_rows, 2))
    slope = X[:, :1] + 0.3 * rng.normal(size=(n_rows, 1))
    return np.hstack([X, slope])[:, :n_columns]


def fitted(X, covariance="diagonal", weights=None, **params):
    """By the search in bins, whose kernel other tests have compiled too."""
    params = {"n_estimators": 6, "random_state": 0, "search": "histogram"} | params
    return DensityForest(covariance=covariance, **params).fit(X, sample_weight=weights)


# ---- the density -------------------------------------------------------------------------------


@for_both
@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_density_is_that_of_its_twin(covariance, n_columns, weighted):
    X, points = clusters(90, 0, n_columns), clusters(12, 1, n_columns) * 1.3
    weights = np.random.default_rng(2).integers(1, 5, 90) / 2 if weighted else None
    model = fitted(
        X, covariance, weights, n_estimators=3, min_samples_leaf=8, bootstrap=not weighted,
        max_samples=None,
    )  # fmt: skip
    assert len(model.forest_.nodes) >= 3 * 7
    for depth in (2, 99):
        expected = densities_by_tree(model, X, weights, points, depth, covariance).mean(axis=0)
        found = np.exp(model.score_samples(points, None if depth == 99 else depth))
        # As far as masses by few points are off, see fixed_points; scipy's of three are to 1e-5.
        off = 1e-9 if covariance == "diagonal" and n_columns < 3 else 2e-3
        np.testing.assert_allclose(found, expected, off)


@for_both
@pytest.mark.parametrize("n_columns", [1, 2])
def test_density_integrates_to_1(covariance, n_columns):
    X = clusters(300, 0, n_columns)
    for params in ({}, {"min_samples_leaf": 5}, {"bootstrap": False, "max_depth": 1}):
        model = fitted(X, covariance, **params)
        steps = np.linspace(-7, 7, 8001 if n_columns == 1 else 401)
        grid = np.stack(np.meshgrid(*[steps] * n_columns), -1).reshape(-1, n_columns)
        mass = np.exp(model.score_samples(grid)).sum() * (steps[1] - steps[0]) ** n_columns
        assert mass == pytest.approx(1, abs=0.02)


@for_both
def test_four_clusters_are_no_single_normal(covariance):
    gains = []
    for seed in range(4):
        X, held_out = clusters(300, seed), clusters(500, 100 + seed)
        single = multivariate_normal(X.mean(axis=0), np.cov(X.T)).logpdf(held_out).mean()
        model = fitted(X, covariance, n_estimators=15, random_state=seed)
        gains.append(model.score(held_out) / 500 - single)
    # 1.2 nats a row, of log 4 = 1.39 that four clusters are better than one; 3 standard errors.
    assert np.mean(gains) - 3 * np.std(gains, ddof=1) / 2 > 1.0


def test_leaves_of_variances_cut_slopes_and_leaves_of_covariances_need_not():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 2))
    X = np.stack([z[:, 0], z[:, 0] + 0.1 * z[:, 1]], axis=1)
    gain = {}
    for covariance in ("diagonal", "full"):
        model = fitted(X, covariance, n_estimators=1, bootstrap=False, max_depth=1)
        nodes = model.forest_.nodes
        after = nodes["weight"][1:] @ nodes["impurity"][1:] / nodes["weight"][0]
        gain[covariance] = nodes["impurity"][0] - after
    # Halves of a long slope have 0.36 of its variance in each of both columns: log(1 / 0.36) = 1.0.
    assert gain["diagonal"] == pytest.approx(1.0, abs=0.15)
    assert gain["full"] == pytest.approx(0.5, abs=0.15)


# ---- depths, sizes, threads --------------------------------------------------------------------


@for_both
@pytest.mark.parametrize("params", [{}, {"bootstrap": False, "max_samples": 0.5}], ids=str)
def test_a_depth_is_a_refit_to_the_bit(covariance, params):
    X, points = clusters(250, 0), clusters(300, 1)
    weights = None if not params else np.random.default_rng(0).integers(1, 4, 250) / 4
    deep = fitted(X, covariance, weights, min_samples_leaf=4, **params)
    surface = deep.log_likelihood_surface(points)
    assert len(surface) > 5
    for depth in range(1, len(surface) + 1):
        again = fitted(X, covariance, weights, min_samples_leaf=4, max_depth=depth, **params)
        found = again.score_samples(points)
        assert found.tobytes() == deep.score_samples(points, depth=depth).tobytes()
        if depth < len(surface):  # sums of 300 numbers, in another order
            np.testing.assert_allclose(surface[depth, -1], found.sum(), 1e-12)
    fewer = fitted(X, covariance, weights, min_samples_leaf=4, n_estimators=2, **params)
    np.testing.assert_allclose(surface[-1, 1], fewer.score(points), 1e-12)
    some = deep.log_likelihood_surface(points, sizes=[2, 5])
    assert some.tobytes() == np.ascontiguousarray(surface[:, [1, 4]]).tobytes()


@for_both
def test_any_number_of_threads_gives_the_same_bits(covariance):
    X, points = clusters(250, 0), clusters(2500, 1)
    one, *others = (fitted(X, covariance, n_jobs=n_jobs) for n_jobs in (1, 2, 3))
    for other in others:
        assert [part.tobytes() for part in other.forest_] == [
            part.tobytes() for part in one.forest_
        ]
        for asked in ("score_samples", "log_likelihood_surface"):
            assert (getattr(other, asked)(points) == getattr(one, asked)(points)).all()


# ---- drawing rows ------------------------------------------------------------------------------


@for_both
def test_rows_drawn_are_those_of_the_density(covariance):
    model = fitted(clusters(300, 0, 2), covariance, min_samples_leaf=10)
    n = 4000
    rows = model.sample(n, random_state=0)
    assert rows.shape == (n, 2)
    assert (rows == model.sample(n, random_state=0)).all()
    assert (rows != model.sample(n, random_state=1)).any()
    steps = np.linspace(-7, 7, 281)
    grid = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
    weight = np.exp(model.score_samples(grid))
    mean = np.average(grid, axis=0, weights=weight)
    spread = np.cov(grid.T, aweights=weight)
    # Four standard errors; sums over the grid add a hundredth.
    assert np.abs(rows.mean(axis=0) - mean).max() < 4 * np.sqrt(spread.max() / n) + 0.01
    assert np.abs(np.cov(rows.T) - spread).max() < 4 * np.sqrt(2 / n) * spread.max() + 0.02
    # Two samples: of rows from the grid, by the density, and those drawn, the nearest other row is
    # of the same kind for one half of them, but for chance.
    rng = np.random.default_rng(1)
    of_grid = grid[rng.choice(len(grid), n, p=weight / weight.sum())]
    of_grid = of_grid + rng.uniform(-0.025, 0.025, of_grid.shape)
    both = np.concatenate([rows, of_grid])
    nearest = NearestNeighbors(n_neighbors=2).fit(both).kneighbors(both)[1][:, 1]
    same = (nearest < n) == (np.arange(2 * n) < n)
    assert abs(same.mean() - 0.5) < 4 * 0.5 / np.sqrt(n)


@for_both
def test_rows_drawn_have_the_entropy_that_scores_say(covariance):
    """Where rows fall too often, or not often enough, they score higher or lower than the mean
    over the density: here over its grid."""
    model = fitted(clusters(200, 3, 1), covariance, min_samples_leaf=5)
    scores = model.score_samples(model.sample(5000, random_state=2))
    steps = np.linspace(-7, 7, 20_001)
    logs = model.score_samples(steps[:, None])
    expected = np.average(logs, weights=np.exp(logs))
    assert abs(scores.mean() - expected) < 4 * scores.std() / np.sqrt(5000) + 0.01


# ---- awkward rows ------------------------------------------------------------------------------


@for_both
def test_equal_rows_make_no_spike(covariance):
    """Half of the rows are one point: it has no variance of its own, and the ridge is all of it."""
    X = clusters(200, 0)
    X[:100] = 0.0  # between the clusters
    model = fitted(X, covariance, bootstrap=False, min_samples_leaf=1)
    deviations, ridge = X.std(axis=0), model.ridge
    highest = 0.5 / np.prod(np.sqrt(2 * np.pi * ridge) * deviations)
    at_it = np.exp(model.score_samples(X[:1]))[0]
    assert highest * (1 - 1e-9) < at_it < highest / 0.34**2  # the mass in its cell is not all
    assert np.isfinite(model.score_samples(clusters(50, 1) * 100)).all()


@for_both
def test_a_column_that_does_not_vary_is_a_factor(covariance):
    X, points = clusters(200, 0), clusters(20, 1)
    without = fitted(X, covariance, search="histogram").score_samples(points)
    constant = np.full((len(X), 1), 7.0)
    model = fitted(np.hstack([X, constant]), covariance)
    moved = np.hstack([points, np.full((20, 1), 8.0)])
    off = 1e-9 if covariance == "diagonal" else 2e-3  # three columns have other points than two
    np.testing.assert_allclose(model.score_samples(moved), without + norm.logpdf(1), off, off)
    only = fitted(constant, covariance)
    np.testing.assert_allclose(only.score_samples(constant[:1]), norm.logpdf(0))


def test_units_change_nothing_but_the_unit():
    X, points = clusters(200, 0), clusters(20, 1)
    units = np.array([1024.0, 2.0**-20])
    found = fitted(X * units).score_samples(points * units)
    np.testing.assert_allclose(found, fitted(X).score_samples(points) - np.log(units).sum(), 1e-9)


def test_a_weight_is_the_row_again():
    X = clusters(120, 0)
    weights = np.random.default_rng(1).integers(0, 4, 120).astype(float)
    params = {"bootstrap": False, "min_samples_leaf": 1, "max_depth": 3, "n_estimators": 1}
    params["min_impurity_decrease"] = 0.2  # few splits, of which rows' numbers decide none
    weighted, repeated = fitted(X, weights=weights, **params), np.repeat(X, weights.astype(int), 0)
    found, expected = weighted.score_samples(X), fitted(repeated, **params).score_samples(X)
    assert len(weighted.forest_.nodes) > 3
    np.testing.assert_allclose(found, expected, 1e-9)


def test_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    found = fitted(X, min_samples_leaf=100).score_samples(rng.normal(size=(200, 20)))
    expected = -10 * np.log(2 * np.pi * np.e)
    assert abs(found.mean() - expected) < 2.0  # of 28 nats; a row's own deviation is 3


# ---- scikit-learn, files -----------------------------------------------------------------------


def expected_to_fail(estimator):
    """With a bootstrap weights are chances to be drawn, and rows again are other draws."""
    name = "check_sample_weight_equivalence_on_dense_data"
    return {name: "weights are chances to be drawn"} if estimator.bootstrap else {}


@parametrize_with_checks(
    [
        DensityForest(5, search="histogram", random_state=0),
        DensityForest(2, search="histogram", random_state=0, bootstrap=False, min_samples_leaf=1),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@for_both
def test_a_file_a_pickle_and_a_clone(covariance, tmp_path):
    frame = pd.DataFrame(clusters(200, 0), columns=["width", "height"])
    model = fitted(frame, covariance)
    model.save(tmp_path / "model.npz")
    expected = model.score_samples(frame)
    for again in (forestlab.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))):
        assert type(again) is DensityForest
        assert again.get_params() == model.get_params()
        assert again.score_samples(frame).tobytes() == expected.tobytes()
        assert (again.sample(9, random_state=0) == model.sample(9, random_state=0)).all()
    assert clone(model).fit(frame).score_samples(frame).tobytes() == expected.tobytes()
    model.fit(frame + 1)  # what was made of the forest before is not asked any more
    np.testing.assert_allclose(model.score_samples(frame + 1), expected, 1e-9)


def test_a_file_whose_arrays_do_not_fit_is_refused(tmp_path):
    model = fitted(clusters(100, 0), "full")
    model.covariances_ = model.covariances_[1:]
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match=r"is damaged: its covariances_ do not fit its trees"):
        forestlab.load(tmp_path / "model.npz")


def test_what_forests_have_and_what_makes_no_sense():
    frame = pd.DataFrame(clusters(150, 0), columns=["width", "height"])
    model = fitted(frame)
    assert len(model) == len(model.trees_) == model.grown.n_trees == 6
    assert model.apply(frame).shape == (150, 6)
    assert "width" in model.view(0).export_text()
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)
    assert model.set_params(search__bins=31).search.bins == 31
    assert (model.predict(frame, 2) == model.score_samples(frame, 2)).all()
    for name in ("predict_trees", "predict_oob", "estimators_", "to_sklearn"):
        assert not hasattr(model, name)


def test_depth_is_found_by_a_grid():
    search = GridSearchCV(
        DensityForest(4, search="histogram", random_state=0), {"max_depth": [1, 3]}
    )
    assert search.fit(clusters(240, 0)).best_params_ == {"max_depth": 3}


MISTAKES = {
    "covariance must be one of 'diagonal', 'full'; got 'spherical'.": {"covariance": "spherical"},
    "ridge must be a number from 1e-09 to 1; got 0.": {"ridge": 0},
    "ridge must be a number from 1e-09 to 1; got 'x'.": {"ridge": "x"},
    "n_estimators must be a whole number from 1 to 1,000,000; got 0.": {"n_estimators": 0},
    "min_samples_leaf must be": {"min_samples_leaf": 0},
    "covariance='full' takes up to 3 columns, of which the mass in a cell can be summed; X has 4: "
    "take covariance='diagonal'.": {"covariance": "full"},
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_get_a_sentence(sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        DensityForest(**MISTAKES[sentence]).fit(np.random.default_rng(0).normal(size=(50, 4)))


def test_mistakes_of_those_who_ask():
    model = fitted(clusters(100, 0))
    with pytest.raises(ValueError, match=r"n_samples must be a whole number of at least 1; got 0"):
        model.sample(0)
    with pytest.raises(ValueError, match=r"depth must be a whole number"):
        model.score_samples(clusters(5, 0), depth=-1)
    for sizes in ([], [0], [3, 2], [7], [1.5]):
        with pytest.raises(ValueError, match=r"sizes must be rising whole numbers from 1 to 6"):
            model.log_likelihood_surface(clusters(5, 0), sizes)
    with pytest.raises(ValueError, match=r"X \(up to 1e\+200\).*too large"):
        DensityForest().fit(np.array([[1e200], [0.0]]))

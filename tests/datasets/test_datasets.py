"""Loaders, splits, noise and the data sets' config files; what needs a download is elsewhere."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from scipy.stats import norm
from sklearn import datasets as sklearn_datasets
from sklearn.model_selection import train_test_split

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier
from forestlab.core.arrays import LEAF
from forestlab.datasets import (
    LOADERS,
    DataError,
    Dataset,
    DatasetConfig,
    digest,
    friedman1_truth,
    load,
    margin,
    matrix,
    noisy_labels,
    sine_truth,
    split,
)
from forestlab.datasets.downloaded import DOWNLOADED
from forestlab.datasets.made import MADE, NOISY, SPREAD, WAVE_PAIRS, WAVES
from forestlab.datasets.packaged import BOSTON_COLUMNS, PACKAGED
from forestlab.datasets.table import SCALES, shuffled
from forestlab.datasets.truth import truth

CONFIGS = Path(__file__).parents[2] / "conf" / "dataset"

# name: rows, columns, classes (0: regression), digest
PACKAGED_FACTS = {
    "iris": (150, 4, 3, "342cbe1dc758a6cd"),
    "wine": (178, 13, 3, "137336f6867b755b"),
    "breast_cancer": (569, 30, 2, "b64bd5f322c2cac7"),
    "digits": (1797, 64, 10, "961081301808f5c3"),
    "diabetes": (442, 10, 0, "e284a72ba7115e87"),
    "linnerud": (20, 3, 0, "dd6b8a39528458cc"),
    "boston": (506, 13, 0, "b8c7bd530ada477c"),
    "mnist5k": (5000, 784, 10, "5ccaf5146a79b359"),
    "fruits": (5, 2, 3, "ee4eda57f09647bb"),
}
MADE_FACTS = {
    "twonorm": (20, 2),
    "threenorm": (20, 2),
    "ringnorm": (20, 2),
    "waveform": (21, 3),
    "dominant": (20, 2),
    "friedman1": (10, 0),
    "skewed": (10, 0),
    "sine": (1, 0),
    "spreads": (1, 0),
    "levels": (5, 2),
    "spirals": (2, 2),
    "spirals3": (2, 3),
    "spirals4": (2, 4),
    "annuli": (2, 2),
    "moons": (2, 2),
    "blobs": (2, 4),
    "clouds": (2, 2),
    "checkerboard": (2, 2),
}


def loaded(name, **options):
    return load(DatasetConfig(name=name, **options))


def assert_sound(dataset, n_rows, n_columns, n_classes):
    """The promises of Dataset."""
    assert dataset.frame.shape == (n_rows, n_columns)
    several = len(dataset.target_names)
    assert several != 1
    assert dataset.target.shape == ((n_rows, several) if several else (n_rows,))
    assert all(isinstance(name, str) for name in dataset.frame.columns)
    assert np.isfinite(matrix(dataset.frame).astype(np.float64)).all()
    assert dataset.task == ("classification" if n_classes else "regression")
    if n_classes:
        assert dataset.target.dtype.kind in "Ui"
        assert len(np.unique(dataset.target)) == n_classes
    else:
        assert dataset.target.dtype == np.float64
        assert np.isfinite(dataset.target).all()


# Packaged


def test_every_packaged_and_made_set_is_tested():
    assert set(PACKAGED_FACTS) == set(PACKAGED)
    assert set(MADE_FACTS) == set(MADE)


@pytest.mark.parametrize("name", PACKAGED_FACTS)
def test_packaged_sets_are_the_known_ones(name):
    n_rows, n_columns, n_classes, fingerprint = PACKAGED_FACTS[name]
    dataset = loaded(name)
    assert_sound(dataset, n_rows, n_columns, n_classes)
    assert dataset.name == name
    assert digest(dataset) == fingerprint


def test_names_and_shapes_of_packaged_sets():
    iris, digits, boston = loaded("iris"), loaded("digits"), loaded("boston")
    assert set(iris.target) == {"setosa", "versicolor", "virginica"}
    assert list(digits.frame.columns) == sklearn_datasets.load_digits().feature_names
    assert digits.image_shape == (8, 8)
    assert list(boston.frame.columns) == BOSTON_COLUMNS
    assert boston.target.mean() == pytest.approx(22.5328, abs=1e-4)


def test_mnist5k_has_500_images_a_digit():
    dataset = loaded("mnist5k")
    assert (np.bincount(dataset.target) == 500).all()
    assert dataset.image_shape == (28, 28)
    assert (dataset.frame.dtypes == np.uint8).all()


def test_digest_sees_names_features_and_target_but_not_types():
    iris = loaded("iris")
    other = iris.target.copy()
    other[0] = "virginica"
    changed = [
        iris._replace(frame=iris.frame.rename(columns=str.upper)),
        iris._replace(frame=iris.frame + 1e-9),
        iris._replace(target=other),
    ]
    assert len({digest(dataset) for dataset in [iris, *changed]}) == 4
    digits = loaded("digits")
    small = digits._replace(
        frame=digits.frame.astype(np.uint8), target=digits.target.astype(np.int8)
    )
    assert digest(small) == digest(digits)


# Made


@pytest.mark.parametrize("name", MADE_FACTS)
def test_made_sets_depend_on_their_options_alone(name):
    n_columns, n_classes = MADE_FACTS[name]
    dataset = loaded(name)
    assert_sound(dataset, 3000, n_columns, n_classes)
    assert digest(loaded(name)) == digest(dataset)
    assert digest(loaded(name, data_seed=1)) != digest(dataset)
    assert_sound(loaded(name, n_samples=700), 700, n_columns, n_classes)
    assert dataset.source.startswith(f"made: {name}, 3000 rows")
    assert dataset.source.endswith("seed 0")


@pytest.mark.parametrize("name", [name for name in MADE_FACTS if MADE_FACTS[name][1]])
def test_classes_of_made_sets_are_equally_likely(name):
    shares = np.bincount(loaded(name, n_samples=20_000).target) / 20_000
    np.testing.assert_allclose(shares, 1 / len(shares), atol=0.016)  # 4.5 standard errors


N_DRAWN = 40_000


def drawn(name):
    dataset = loaded(name, n_samples=N_DRAWN, data_seed=7)
    return dataset.frame.to_numpy(), dataset.target


def log_normal(X, centre, variance=1.0):
    """Log density of a round normal, but for a constant that all share."""
    distance = ((X - centre) ** 2).sum(axis=1) / variance
    return -0.5 * (distance + X.shape[1] * np.log(variance))


def log_densities(name, X):
    """Log density of each class, by the definitions."""
    a = 2 / np.sqrt(20)
    alternating = np.tile([a, -a], 10)
    if name == "twonorm":
        return [log_normal(X, a), log_normal(X, -a)]
    if name == "threenorm":
        mixed = np.logaddexp(log_normal(X, a), log_normal(X, -a)) - np.log(2)
        return [mixed, log_normal(X, alternating)]
    if name == "ringnorm":
        return [log_normal(X, 0, 4.0), log_normal(X, 1 / np.sqrt(20))]
    shares = (np.arange(50) + 0.5) / 50
    mixes = [[u * WAVES[i] + (1 - u) * WAVES[j] for u in shares] for i, j in WAVE_PAIRS]
    return [np.logaddexp.reduce([log_normal(X, mix) for mix in line]) for line in mixes]


@pytest.mark.parametrize(
    ("name", "least_error"),
    [("twonorm", norm.cdf(-2)), ("threenorm", 0.105), ("ringnorm", 0.0149), ("waveform", 0.132)],
)
def test_breimans_sets_have_their_least_error(name, least_error):
    """The rule that knows the densities errs as often as it should, within 4 standard errors."""
    X, y = drawn(name)
    error = np.mean(np.argmax(log_densities(name, X), axis=0) != y)
    tolerance = 4 * np.sqrt(least_error * (1 - least_error) / N_DRAWN)
    assert error == pytest.approx(least_error, abs=tolerance)


def test_means_and_variances_of_the_norms():
    close = {"atol": 0.045}  # 4.5 standard errors of a mean with variance 2 over 20,000 rows
    X, y = drawn("twonorm")
    np.testing.assert_allclose(X[y == 0].mean(axis=0), SPREAD, **close)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), -SPREAD, **close)
    np.testing.assert_allclose(X[y == 0].var(axis=0), 1, **close)
    X, y = drawn("threenorm")
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, **close)
    np.testing.assert_allclose(X[y == 0].var(axis=0), 1 + SPREAD**2, **close)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), np.tile([SPREAD, -SPREAD], 10), **close)
    X, y = drawn("ringnorm")
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, atol=0.065)
    np.testing.assert_allclose(X[y == 0].var(axis=0), 4, atol=0.2)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 1 / np.sqrt(20), **close)
    np.testing.assert_allclose(X[y == 1].var(axis=0), 1, **close)


def test_means_of_the_waveform_are_halfway_between_two_waves():
    X, y = drawn("waveform")
    for label, (first, second) in enumerate([(7, 15), (7, 11), (15, 11)]):
        peaks = [np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0) for peak in (first, second)]
        np.testing.assert_allclose(X[y == label].mean(axis=0), np.mean(peaks, axis=0), atol=0.09)


@pytest.mark.parametrize(
    ("name", "truth", "noise"),
    [
        ("friedman1", friedman1_truth, 1.0),
        ("skewed", friedman1_truth, 5.0),
        ("sine", sine_truth, 0.3),
    ],
)
def test_regressions_are_truth_and_noise(name, truth, noise):
    X, y = drawn(name)
    rest = y - truth(X)
    assert rest.mean() == pytest.approx(0, abs=5 * noise / np.sqrt(N_DRAWN))
    assert rest.std() == pytest.approx(noise, rel=0.02)
    exact = loaded(name, noise=0.0)
    np.testing.assert_array_equal(exact.target, truth(exact.frame.to_numpy()))


def test_the_skewed_noise_is_exponential():
    X, y = drawn("skewed")
    rest = (y - friedman1_truth(X)) / 5.0
    assert rest.min() == pytest.approx(-1, abs=10 / N_DRAWN)
    assert np.median(rest) == pytest.approx(np.log(2) - 1, abs=5 / np.sqrt(N_DRAWN))


def test_spreads_have_one_mean_and_three_shapes():
    """Fourth moments over squared variances: 3 of a normal, far less of two heaps."""
    X, y = drawn("spreads")
    parts = np.digitize(X[:, 0], [0.3, 0.6])
    for part, sd, peak in (0, 0.2, 3.0), (1, 1.0, 3.0), (2, 1.0, 1.0 + 6 * 0.04 - 4 * 0.04**2):
        rows = y[parts == part]
        assert rows.mean() == pytest.approx(0, abs=5 * sd / np.sqrt(len(rows)))
        assert rows.std() == pytest.approx(sd, rel=0.03)
        assert (rows**4).mean() / sd**4 == pytest.approx(peak, rel=0.1)


def test_friedman1_is_friedmans_function():
    row = np.array([[0.5, 1.0, 0.0, 0.2, 0.4, 9, 9, 9, 9, 9]])
    assert friedman1_truth(row) == pytest.approx(10 + 5 + 2 + 2)


@pytest.mark.parametrize(("name", "n_arms"), [("spirals", 2), ("spirals3", 3), ("spirals4", 4)])
def test_spirals_without_noise_lie_on_their_arms(name, n_arms):
    dataset = loaded(name, noise=0.0)
    x, y = dataset.frame.to_numpy().T
    radius = np.hypot(x, y)
    turn = np.arctan2(y, x) / (2 * np.pi) - 1.5 * radius - dataset.target / n_arms
    np.testing.assert_allclose(turn, np.round(turn), atol=1e-9)


def test_annuli_without_noise_fill_rings_of_one_area():
    rings = loaded("annuli", noise=0.0)
    ring = np.floor(4 * (rings.frame.to_numpy() ** 2).sum(axis=1))
    np.testing.assert_array_equal(rings.target, ring % 2)
    shares = np.bincount(ring.astype(int), minlength=4) / len(ring)
    # 5 standard errors of a share of a quarter.
    assert abs(shares - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / len(ring))


def test_moons_blobs_and_checkerboard_without_noise():
    moons = loaded("moons", noise=0.0)
    centres = np.where(moons.target[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    np.testing.assert_allclose(np.linalg.norm(moons.frame - centres, axis=1), 1)
    assert len(np.unique(loaded("blobs", noise=0.0).frame, axis=0)) == 4
    board = loaded("checkerboard", noise=0.0)
    cells = np.floor(4 * board.frame.to_numpy())
    np.testing.assert_array_equal(board.target, cells.sum(axis=1) % 2)


# Dominant: where class 1 is, by the definition; class 0 is opposite

STRONG, WEAK, IDLE = [0], [*range(1, 10)], [*range(10, 20)]
CENTRE = np.array([1.0] + [1 / 3] * 9 + [0.0] * 10)


@pytest.mark.parametrize(
    ("columns", "least_error"),
    [
        (STRONG, norm.cdf(-1)),
        (WEAK[:1], norm.cdf(-1 / 3)),
        (WEAK, norm.cdf(-1)),
        (STRONG + WEAK + IDLE, norm.cdf(-np.sqrt(2))),
    ],
)
def test_the_best_rule_on_dominant_errs_as_the_formula_says(columns, least_error):
    """Within 4 standard errors."""
    X, y = drawn("dominant")
    wrong = (X[:, columns] @ CENTRE[columns] > 0) != (y == 1)
    tolerance = 4 * np.sqrt(least_error * (1 - least_error) / N_DRAWN)
    assert wrong.mean() == pytest.approx(least_error, abs=tolerance)


def test_features_of_dominant_are_unit_normals_around_their_centres():
    X, y = drawn("dominant")
    rest = X - np.where(y[:, None] == 1, CENTRE, -CENTRE)
    # 5 standard errors: of 20 means, and of 210 variances and covariances, the greater being √2/√n.
    np.testing.assert_allclose(rest[y == 1].mean(axis=0), 0, atol=5 / np.sqrt(N_DRAWN / 2))
    np.testing.assert_allclose(rest.T @ rest / N_DRAWN, np.eye(20), atol=5 * np.sqrt(2 / N_DRAWN))
    dataset = loaded("dominant")
    names = list(dataset.frame.columns)
    assert [names[j] for j in (0, 1, 9, 10, 19)] == [
        "strong",
        "weak1",
        "weak9",
        "noise1",
        "noise10",
    ]


def test_posteriors_of_dominant_are_bayes_rule():
    X = loaded("dominant", n_samples=50).frame.to_numpy()
    for x, posterior in zip(X, truth("dominant", X).expected, strict=True):
        densities = [np.prod(norm.pdf(x, centre)) for centre in (-CENTRE, CENTRE)]
        # Twenty densities are multiplied here and their logarithms added there.
        np.testing.assert_allclose(posterior, densities / np.sum(densities), rtol=1e-9)


def root_features(model):
    return model.forest_.nodes["feature"][model.forest_.first_node[:-1]]


def test_bagged_trees_all_begin_with_the_strong_feature_and_a_forests_do_not():
    dataset = loaded("dominant", n_samples=400)
    X, y = dataset.frame, dataset.target
    bagging = ForestClassifier(30, max_features=None, max_depth=1, random_state=0).fit(X, y)
    forest = ForestClassifier(30, max_features="sqrt", max_depth=1, random_state=0).fit(X, y)
    assert (root_features(bagging) == 0).all()
    # It is among the 4 of 20 features drawn one time in five: 6 ± 2.2 of 30, up to 4 deviations.
    assert np.sum(root_features(forest) == 0) < 15


# Clouds


@pytest.mark.parametrize("options", [{}, {"noise": 3.0}, {"n_samples": 20, "data_seed": 4}])
def test_the_strip_between_clouds_is_as_wide_as_it_should_be(options):
    dataset = loaded("clouds", **options)
    assert margin(dataset.frame, dataset.target) == (-0.5, 0.5, 0.0)


def test_clouds_are_round_and_their_heights_are_alike():
    X, y = drawn("clouds")
    for label in (0, 1):
        # The deviation of a standard deviation is σ/√(2n); 4.5 of them, as of the mean's σ/√n.
        near = {"abs": 4.5 * 0.5 / np.sqrt(N_DRAWN / 2)}
        assert X[y == label].std(axis=0) == pytest.approx([0.5, 0.5], **near)
        assert X[y == label, 1].mean() == pytest.approx(0, **near)


def test_a_single_cloud_has_no_margin():
    alone = loaded("clouds", n_samples=1)
    assert abs(alone.frame["x"][0]) == 0.5
    with pytest.raises(DataError, match="no margin"):
        margin(alone.frame, alone.target)


def test_clouds_that_touch_or_change_sides_have_no_margin():
    for x, y in [([0, 1, 1, 2], [0, 0, 1, 1]), ([0, 1], [1, 0]), ([0, 2, 1], [0, 0, 1])]:
        with pytest.raises(DataError, match="no margin"):
            margin(np.array(x, dtype=float)[:, None], y)


def test_the_margins_line_is_farthest_from_the_rows_that_it_parts():
    """Of many lines that part some training rows, none is farther from its nearest row."""
    dataset = loaded("clouds", n_samples=40)
    rows = split(dataset, DatasetConfig(name="clouds")).train
    X, y = dataset.frame.to_numpy()[rows], dataset.target[rows]
    left, right, line = margin(X, y)
    lines = np.linspace(-2, 2, 4001)
    parting = [at for at in lines if ((X[:, 0] > at) == (y == 1)).all()]
    room = [np.abs(X[:, 0] - at).min() for at in parting]
    best = np.abs(X[:, 0] - line).min()
    assert best == pytest.approx((right - left) / 2)
    assert max(room) <= best
    assert max(room) > best - 0.001  # the lines' distance


def test_a_tree_cuts_the_clouds_at_the_margins_line():
    dataset = loaded("clouds", n_samples=40, data_seed=1)
    X, y = dataset.frame.to_numpy()[5:], dataset.target[5:]
    tree = TreeClassifier().fit(X, y)
    root, *leaves = tree.forest_.nodes
    assert len(leaves) == 2
    assert root["feature"] == 0
    # The middle of two floats near ½, reckoned in another order.
    assert root["cut_high"] == pytest.approx(margin(X, y).line, abs=1e-15)


@pytest.mark.parametrize("name", NOISY)
def test_noise_changes_a_noisy_set(name):
    assert digest(loaded(name, noise=0.5)) != digest(loaded(name, noise=0.25))


# Options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "iriss"}, ["iriss", "did you mean iris", "boston"]),
        ({"name": "iris", "noise": 0.1}, ["dataset.noise=0.1", "iris", "moons"]),
        ({"name": "iris", "path": "x.csv"}, ["dataset.path=x.csv", "csv, parquet"]),
        ({"name": "moons", "noise": -1.0}, ["dataset.noise=-1.0", "0 or more"]),
        ({"name": "moons", "n_samples": 0}, ["dataset.n_samples=0", "1 or more"]),
        ({"name": "iris", "n_samples": 151}, ["dataset.n_samples=151", "150 rows"]),
        ({"name": "iris", "n_samples": 0}, ["dataset.n_samples=0", "150 rows"]),
        ({"name": "moons", "data_seed": -1}, ["dataset.data_seed=-1", "0 or more"]),
        ({"name": "iris", "drop": ["petal"]}, ["dataset.drop", "petal", "sepal width (cm)"]),
        ({"name": "sine", "drop": ["x"]}, ["dataset.drop", "no feature"]),
        ({"name": "iris", "task": "ranking"}, ["dataset.task=ranking", "regression"]),
        ({"name": "iris", "task": "regression"}, ["dataset.task=regression", "text"]),
        (
            {"name": "boston", "task": "classification"},
            ["dataset.task=classification", "fractions"],
        ),
        ({"name": "csv"}, ["dataset.path", "csv"]),
        ({"name": "openml"}, ["dataset.openml_name"]),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(DataError) as error:
        load(DatasetConfig(**options))
    for word in words:
        assert word in str(error.value)


def test_drop_leaves_columns_out():
    digits = loaded("digits", drop=["pixel_0_0", "pixel_7_7"])
    assert digits.frame.shape == (1797, 62)
    assert "pixel_0_0" not in digits.frame
    assert digits.image_shape is None


# Scales


def test_rescaled_columns_are_multiplied_by_powers_of_two():
    before, after = loaded("wine"), loaded("wine", rescale=True)
    powers = np.log2((after.frame / before.frame).to_numpy())
    assert (powers == powers[0]).all()
    assert set(powers[0]) <= set(SCALES)
    assert 0 not in powers[0]
    assert len(set(powers[0])) > 6  # of 13
    np.testing.assert_array_equal(after.target, before.target)
    assert after.source == "scikit-learn, columns rescaled by seed 0"
    again, other = loaded("wine", rescale=True), loaded("wine", rescale=True, data_seed=1)
    assert digest(again) == digest(after)
    assert len({digest(dataset) for dataset in (before, after, other)}) == 3


@pytest.mark.parametrize(
    ("name", "model", "search"),
    [
        ("digits", ForestClassifier, "exact"),  # whole numbers
        ("breast_cancer", ForestClassifier, "histogram"),
        ("boston", ForestRegressor, "exact"),
    ],
)
def test_forests_do_not_see_scales(name, model, search):
    """The same nodes to the bit, every cut multiplied as its column is."""
    before, after = loaded(name), loaded(name, rescale=True)
    X, X_scaled = before.frame.to_numpy(), after.frame.to_numpy()
    with np.errstate(invalid="ignore"):
        factors = X_scaled.max(axis=0) / X.max(axis=0)  # NaN where a column is 0 throughout
    one = model(5, search=search, random_state=3).fit(X, before.target)
    other = model(5, search=search, random_state=3).fit(X_scaled, after.target)
    nodes, cut = one.forest_.nodes.copy(), one.forest_.nodes["kind"] != LEAF
    nodes["cut_high"][cut] *= factors[nodes["feature"][cut]]
    np.testing.assert_array_equal(other.forest_.nodes, nodes)
    np.testing.assert_array_equal(other.forest_.stats, one.forest_.stats)
    np.testing.assert_array_equal(other.predict(X_scaled), one.predict(X))


@pytest.mark.parametrize("value", [1e308, 5e-324])
def test_a_scale_that_loses_digits_is_refused(value, tmp_path):
    frame = pd.DataFrame({f"x{j}": [0.0, value] for j in range(9)}).assign(y=["a", "b"])
    path = write(frame, tmp_path / "table.parquet")
    with pytest.raises(DataError, match=r"dataset.rescale=true would lose digits of x\d"):
        loaded("parquet", path=path, rescale=True)


def test_task_can_be_changed_where_labels_are_numbers():
    digits = loaded("digits", task="regression")
    assert digits.task == "regression"
    assert digits.target.dtype == np.float64


def test_an_omegaconf_node_is_a_config():
    node = OmegaConf.structured(DatasetConfig)
    node.name = "digits"
    node.drop = ["pixel_0_0"]
    assert load(node).frame.shape == (1797, 63)
    assert len(split(load(node), node).test) == 450


def test_samples_are_nested_and_keep_the_shares_of_classes():
    whole = loaded("breast_cancer")
    small, great = (loaded("breast_cancer", n_samples=n) for n in (57, 285))
    share = np.mean(whole.target == "benign")
    for dataset, n_rows in [(small, 57), (great, 285)]:
        assert len(dataset.target) == len(dataset.frame) == n_rows
        assert np.sum(dataset.target == "benign") == pytest.approx(share * n_rows, abs=1)
        assert list(dataset.frame.index) == list(range(n_rows))
    rows = [set(map(tuple, dataset.frame.to_numpy())) for dataset in (small, great, whole)]
    assert rows[0] < rows[1] < rows[2]
    assert digest(loaded("breast_cancer", n_samples=57, data_seed=1)) != digest(small)
    assert digest(loaded("breast_cancer", n_samples=569)) == digest(whole)


def test_samples_of_a_regression_set_are_rows_of_it():
    whole, small = loaded("boston"), loaded("boston", n_samples=100)
    known = set(map(tuple, whole.frame.assign(target=whole.target).to_numpy()))
    assert set(map(tuple, small.frame.assign(target=small.target).to_numpy())) <= known


def test_shuffled_is_a_permutation():
    order = shuffled(np.repeat([0, 1], [5, 95]), 3)
    assert sorted(order) == list(range(100))
    assert np.sum(order[:20] < 5) == 1


# Splits


def with_own_test(n_rows=100, n_own_test=20):
    y = np.arange(n_rows) % 2
    frame = pd.DataFrame({"x": np.arange(n_rows)})
    return Dataset("own", frame, y, "classification", "made", n_own_test)


@pytest.mark.parametrize(
    ("name", "stratify"), [("digits", False), ("digits", True), ("boston", False)]
)
def test_split_is_train_test_split_twice(name, stratify):
    dataset = loaded(name)
    config = DatasetConfig(name=name, test_size=0.2, valid_size=0.3, stratify=stratify)
    parts = split(dataset, config)
    X, y = dataset.frame.to_numpy(), dataset.target
    by = (lambda labels: labels) if stratify else (lambda labels: None)
    X_rest, X_test, y_rest, y_test = train_test_split(
        X, y, test_size=0.2, random_state=2020, stratify=by(y)
    )
    X_train, X_valid, y_train, y_valid = train_test_split(
        X_rest, y_rest, test_size=0.3, random_state=2020, stratify=by(y_rest)
    )
    expected = [(X_train, y_train), (X_valid, y_valid), (X_test, y_test)]
    for rows, (X_part, y_part) in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(X[rows], X_part)
        np.testing.assert_array_equal(y[rows], y_part)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(len(y)))


def test_the_default_split_is_a_quarter_and_a_quarter_of_the_rest():
    parts = split(loaded("digits"), DatasetConfig(name="digits"))
    assert [len(rows) for rows in parts] == [1010, 337, 450]


@pytest.mark.parametrize("option", ["test_size", "valid_size"])
def test_a_part_of_size_zero_is_empty(option):
    parts = split(loaded("iris"), DatasetConfig(name="iris", **{option: 0.0}))
    empty = parts.test if option == "test_size" else parts.valid
    assert len(empty) == 0
    assert empty.dtype.kind == "i"
    assert len(np.unique(np.concatenate(parts))) == 150


def test_own_test_set_is_kept_unless_refused():
    dataset = with_own_test()
    parts = split(dataset, DatasetConfig(name="own", valid_size=0.5))
    np.testing.assert_array_equal(parts.test, np.arange(80, 100))
    assert len(parts.train) == len(parts.valid) == 40
    parts = split(dataset, DatasetConfig(name="own", own_test=False))
    assert len(parts.test) == 25
    assert parts.test.min() < 80


def test_samples_leave_the_own_test_set_whole(monkeypatch):
    monkeypatch.setitem(LOADERS, "own", lambda config: with_own_test())
    dataset = loaded("own", n_samples=10)
    assert (len(dataset.target), dataset.n_own_test) == (30, 20)
    np.testing.assert_array_equal(dataset.frame["x"][10:], np.arange(80, 100))
    mixed = loaded("own", n_samples=90, own_test=False)
    assert (len(mixed.target), mixed.n_own_test) == (90, 0)
    with pytest.raises(DataError, match="80 rows beside its own test set"):
        loaded("own", n_samples=90)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("iris", {"test_size": 1.0}, ["dataset.test_size=1.0", "less than 1"]),
        ("iris", {"test_size": -0.1}, ["dataset.test_size=-0.1", "0 or more"]),
        ("iris", {"valid_size": 30.0}, ["dataset.valid_size=30.0", "less than 1"]),
        ("iris", {"test_size": 0.999}, ["dataset.test_size=0.999", "150 rows"]),
        ("iris", {"test_size": float("nan")}, ["dataset.test_size=nan"]),
        ("iris", {"split_seed": -1}, ["dataset.split_seed=-1"]),
        ("boston", {"stratify": True}, ["dataset.stratify", "boston", "regression"]),
        ("iris", {"stratify": True, "test_size": 0.01}, ["iris", "dataset.test_size=0.01"]),
    ],
)
def test_wrong_sizes_are_named(name, options, words):
    with pytest.raises(DataError) as error:
        split(loaded(name), DatasetConfig(name=name, **options))
    for word in words:
        assert word in str(error.value)


# Label noise


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_label_noise_changes_that_share_to_other_classes(share):
    y = loaded("digits").target
    before = y.copy()
    noisy = noisy_labels(y, share, 3)
    np.testing.assert_array_equal(y, before)
    assert np.sum(noisy != y) == round(share * len(y))
    assert set(noisy) <= set(y)
    np.testing.assert_array_equal(noisy, noisy_labels(y, share, 3))


def test_label_noise_is_even_over_the_other_classes():
    y = np.repeat(["a", "b", "c"], [30_000, 10, 10])
    labels, counts = np.unique(noisy_labels(y, 1.0, 0)[:30_000], return_counts=True)
    assert list(labels) == ["b", "c"]
    assert counts[0] == pytest.approx(15_000, abs=400)


@pytest.mark.parametrize(
    ("y", "share"), [([0, 1], -0.1), ([0, 1], 1.5), ([0.5, 1.5], 0.5), ([1, 1], 0.5)]
)
def test_impossible_label_noise_is_refused(y, share):
    with pytest.raises(DataError, match="label_noise"):
        noisy_labels(np.array(y), share, 0)


# Files


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["iris", "boston"])
def test_files_give_back_what_was_written(kind, name, tmp_path):
    dataset = loaded(name)
    path = write(dataset.frame.assign(answer=dataset.target), tmp_path / f"mine.{kind}")
    again = loaded(kind, path=path)
    assert digest(again) == digest(dataset)
    assert (again.name, again.task, again.source) == ("mine", dataset.task, f"file:{path}")
    first = dataset.frame.columns[0]
    other = loaded(kind, path=path, target=first, drop=["answer"])
    assert other.task == "regression"
    np.testing.assert_array_equal(other.target, dataset.frame[first])
    assert list(other.frame.columns) == list(dataset.frame.columns[1:])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_targets_of_a_file(kind, tmp_path):
    dataset, names = loaded("linnerud"), ["Weight", "Waist", "Pulse"]
    assert dataset.target_names == tuple(names)
    targets = pd.DataFrame(dataset.target, columns=names)
    path = write(pd.concat([dataset.frame, targets], axis=1), tmp_path / f"mine.{kind}")
    again = loaded(kind, path=path, target=names)
    assert digest(again) == digest(dataset)
    assert (again.target_names, again.task) == (tuple(names), "regression")
    two = loaded(kind, path=path, target=["Pulse", "Weight"], drop=["Waist"])
    np.testing.assert_array_equal(two.target, dataset.target[:, [2, 0]])
    one = loaded(kind, path=path, target=["Pulse"], drop=["Weight", "Waist"])
    assert one.target_names == ()
    np.testing.assert_array_equal(one.target, dataset.target[:, 2])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_targets_of_classes(kind, tmp_path):
    frame = pd.DataFrame(
        {
            "x": range(8),
            "colour": ["red", "blue"] * 4,
            "size": [1, 2, 3, 10] * 2,
            "truth": [True, False] * 4,
            "length": [0.5, 2.5] * 4,
        }
    )
    path = write(frame, tmp_path / f"mine.{kind}")

    def named(*names, **more):
        drop = [name for name in frame if name not in ("x", *names)]
        return loaded(kind, **{"path": path, "target": list(names), "drop": drop} | more)

    mixed = named("colour", "size")
    assert (mixed.task, mixed.target_names) == ("classification", ("colour", "size"))
    assert mixed.target.tolist()[:2] == [["red", "1"], ["blue", "2"]]
    assert set(mixed.target[:, 1]) == {"1", "2", "3", "10"}
    numbers = named("size", "truth")  # of numbers alone nobody knows that they are classes
    assert (numbers.task, numbers.target.dtype.kind) == ("regression", "f")
    said = named("size", "truth", task="classification")
    assert (said.task, said.target.tolist()[0]) == ("classification", ["1", "True"])
    whole = named("size", "x", task="classification", drop=["colour", "truth"])
    assert whole.target.dtype == np.int64
    assert len({digest(one) for one in (mixed, numbers, said, named("size", "colour"))}) == 4


def test_rows_of_several_classes_are_kept_by_their_shares(tmp_path):
    """A class is what all targets say together."""
    rng = np.random.default_rng(0)
    classes = rng.permutation(np.repeat([0, 1, 2, 3], [40, 80, 120, 160]))
    frame = pd.DataFrame({"x": rng.normal(size=400)})
    frame = frame.assign(a=np.array(["u", "v"])[classes // 2], b=np.array(["s", "t"])[classes % 2])
    options = {"path": write(frame, tmp_path / "mine.csv"), "target": ["a", "b"]}
    some, whole = loaded("csv", n_samples=100, **options), loaded("csv", **options)
    config = DatasetConfig("csv", stratify=True, test_size=0.25, **options)
    for target in some.target, whole.target[split(whole, config).test]:
        assert np.unique(target, axis=0, return_counts=True)[1].tolist() == [10, 20, 30, 40]


# ---- one-hot -----------------------------------------------------------------------------------


def test_one_hot_is_a_target_for_each_class():
    iris, hot = loaded("iris"), loaded("iris", one_hot=True)
    assert hot.task == "classification"
    assert hot.target_names == ("setosa", "versicolor", "virginica")
    assert hot.target.dtype == np.int64
    assert (hot.target.sum(axis=1) == 1).all()
    named = np.array(hot.target_names)[hot.target.argmax(axis=1)]
    assert named.tolist() == iris.target.tolist()
    assert digest(hot) != digest(iris)
    assert loaded("digits", one_hot=True).target_names == tuple("0123456789")


@pytest.mark.parametrize(
    "options", [{}, {"stratify": True}, {"n_samples": 90}, {"n_samples": 90, "stratify": True}]
)
def test_one_hot_rows_are_the_same_rows(options):
    """In samples and splits."""
    configs = [DatasetConfig("iris", one_hot=one_hot, **options) for one_hot in (False, True)]
    plain, hot = map(load, configs)
    np.testing.assert_array_equal(plain.frame, hot.frame)
    for rows, others in zip(*(map(split, (plain, hot), configs)), strict=True):
        np.testing.assert_array_equal(rows, others)


def test_one_hot_noise_is_that_of_the_classes():
    labels = loaded("iris").target
    classes = np.unique(labels)
    hot = (labels[:, None] == classes).astype(np.int64)
    noisy = noisy_labels(labels, 0.3, 5)
    assert 0.2 < (noisy != labels).mean() <= 0.3
    np.testing.assert_array_equal(noisy_labels(hot, 0.3, 5), noisy[:, None] == classes)


def test_one_hot_needs_two_classes(tmp_path):
    with pytest.raises(DataError, match=r"dataset.one_hot=true needs one target .* has numbers"):
        loaded("diabetes", one_hot=True)
    path = write(pd.DataFrame({"x": [1, 2], "y": ["a", "a"]}), tmp_path / "one.csv")
    with pytest.raises(DataError, match=r"dataset.one_hot=true needs two classes"):
        loaded("csv", path=path, one_hot=True)


def test_several_targets_of_ones_own_need_no_names(monkeypatch):
    def two(config):
        made, noise = load(DatasetConfig("friedman1", n_samples=20)), config.noise or 0.0
        return made._replace(target=np.column_stack([made.target, made.target + noise]))

    monkeypatch.setitem(LOADERS, "two", two)
    found = load(DatasetConfig("two", noise=3.0))  # an option that it takes as it likes
    assert found.target.shape == (20, 2)
    np.testing.assert_array_equal(found.target[:, 1], found.target[:, 0] + 3.0)


def test_rows_of_several_targets_stay_together():
    whole, some = loaded("linnerud"), loaded("linnerud", n_samples=12, data_seed=3)
    rows = set(map(tuple, np.column_stack([whole.frame, whole.target])))
    assert some.target.shape == (12, 3)
    assert set(map(tuple, np.column_stack([some.frame, some.target]))) <= rows


@pytest.mark.parametrize(
    ("values", "task", "kind"),
    [
        (["a", "b"] * 30, "classification", "U"),
        ([True, False] * 30, "classification", "U"),
        ([3, 4, 5] * 20, "classification", "i"),
        (list(range(20)) * 3, "classification", "i"),
        (list(range(21)) + [0] * 39, "regression", "f"),
        ([0.5, 1.0] * 30, "regression", "f"),
    ],
)
def test_the_task_is_found_out(values, task, kind, tmp_path):
    frame = pd.DataFrame({"x": range(60), "flag": [True, False] * 30, "y": values})
    for path in (tmp_path / "table.csv", tmp_path / "table.parquet"):
        dataset = loaded(path.suffix[1:], path=write(frame, path))
        assert (dataset.task, dataset.target.dtype.kind) == (task, kind)
        assert set(dataset.frame["flag"]) == {"False", "True"}


TABLE = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0],
        "holes": [1.0, None, 3.0],
        "colour": ["red", "green", "red"],
        "huge": [1.0, np.inf, 2.0],
        "kind": ["a", "b", "a"],
    }
)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ["huge", "infinite", "dataset.drop=[huge]"]),
        ({"target": "colours"}, ["dataset.target=colours", "size, holes, colour, huge, kind"]),
        ({"target": "holes"}, ["holes", "1 missing"]),
        ({"task": "regression"}, ["dataset.task=regression", "kind"]),
        ({"target": "huge"}, ["huge", "infinite"]),
        ({"target": ["size", "kin"]}, ["dataset.target=kin", "size, holes, colour, huge, kind"]),
        ({"target": ["size", "size"]}, ["dataset.target", "size", "twice"]),
        ({"target": list(TABLE)}, ["dataset.target", "no feature"]),
        ({"target": ["size", "holes"]}, ["holes", "1 missing"]),
        (
            {"target": ["size", "kind", "colour"]},
            ["dataset.target", "kind, colour has classes", "size numbers"],
        ),
        ({"target": ["kind", "size"], "task": "regression"}, ["dataset.task=regression", "kind"]),
        ({"target": ["size", "huge"], "task": "classification"}, ["dataset.task", "huge"]),
        (
            {"target": ["kind", "colour"], "drop": ["holes", "huge"], "one_hot": True},
            ["dataset.one_hot", "several targets"],
        ),
    ],
)
def test_unfit_tables_are_refused_by_name(kind, options, words, tmp_path):
    path = write(TABLE, tmp_path / f"table.{kind}")
    with pytest.raises(DataError) as error:
        loaded(kind, path=path, **options)
    for word in words:
        assert word in str(error.value)
    dataset = loaded(kind, path=path, drop=["colour", "holes", "huge"])
    assert list(dataset.frame.columns) == ["size"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_missing_values_stay_missing(kind, tmp_path):
    """Of numbers, whole numbers and truth alike, all of which are floats then."""
    frame = pd.DataFrame(
        {
            "size": [1.5, None, 3.0],
            "count": pd.array([1, None, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
            "y": ["a", "b", "a"],
        }
    )
    dataset = loaded(kind, path=write(frame, tmp_path / f"table.{kind}"), numeric=["flag"])
    assert set(dataset.frame.dtypes) == {np.dtype(np.float64)}
    expected = {"size": [1.5, np.nan, 3.0], "count": [1, np.nan, 3], "flag": [1, np.nan, 0]}
    for name in dataset.frame:
        np.testing.assert_array_equal(dataset.frame[name], expected[name])


def test_nullable_columns_of_parquet_become_plain_ones(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [0, 1, 0]}).astype("Int64")
    dataset = loaded("parquet", path=write(frame, tmp_path / "table.parquet"))
    assert dataset.frame["x"].dtype == np.int64
    assert dataset.target.dtype == np.int64


SMALL = pd.DataFrame({"x": [1.5, 2.5, -3.25], "y": ["p", "q r", "s,t"], "z": [1, 0, 1]})


@pytest.mark.parametrize(
    ("sign", "word"), [(";", "semicolon"), ("\t", "tab"), ("|", "bar"), (",", "comma")]
)
def test_what_separates_fields_is_found_out_and_told(sign, word, tmp_path):
    path = tmp_path / "table.csv"
    SMALL.to_csv(path, index=False, sep=sign)
    found = loaded("csv", path=str(path))
    usual = write(SMALL, tmp_path / "usual.csv")
    assert digest(found) == digest(loaded("csv", path=usual))
    notes = () if word == "comma" else (f"separated by {word}: dataset.delimiter={word}",)
    assert found.notes == notes
    for given in (sign, word):
        said = loaded("csv", path=str(path), delimiter=given)
        assert (digest(said), said.notes) == (digest(found), ())


def test_a_delimiter_may_be_a_space_or_any_letter(tmp_path):
    path = tmp_path / "table.csv"
    for text, given in (("x  y z\n1 2   a\n3  4 b\n", "space"), ("x:y:z\n1:2:a\n3:4:b\n", ":")):
        path.write_text(text)
        found = loaded("csv", path=str(path), delimiter=given)
        assert found.frame.to_numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(DataError, match=r"dataset\.delimiter=colon is no letter, nor comma, "):
        loaded("csv", path=str(path), delimiter="colon")
    with pytest.raises(DataError, match="is an option of csv"):
        loaded("iris", delimiter="tab")


def test_decimal_commas_are_noticed_and_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x;y;z\n1,5;2;a\n-3,25;4;b\n")
    found = loaded("csv", path=str(path))
    assert found.notes[1] == "x: numbers with a comma? dataset.decimal=comma reads them"
    read = loaded("csv", path=str(path), decimal="comma")
    assert read.frame["x"].tolist() == [1.5, -3.25]
    assert read.notes == found.notes[:1]
    with pytest.raises(DataError, match=r"dataset\.decimal=x is not one of point, comma"):
        loaded("csv", path=str(path), decimal="x")


def test_a_delimiter_at_the_end_of_each_line_adds_nothing(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,c\n0,2,3,\n1,5,6,\n")
    found = loaded("csv", path=str(path))
    assert found.frame.to_numpy().tolist() == [[0, 2], [1, 5]]
    assert found.target.tolist() == [3, 6]


def test_a_path_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(SMALL, tmp_path / "mine.csv")
    found = loaded("csv", path="~/mine.csv")
    assert found.source == f"file:{tmp_path / 'mine.csv'}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["empty"]),
        ("a,b\n", ["0 rows"]),
        ("a\n1\n", ["one column", "dataset.delimiter=semicolon or tab"]),
        ("a,a,b,b,c\n1,2,3,4,5\n", ["columns of the same name: a, b."]),
        ("a,b,c\n1,2,3,x\n4,5,6,y\n", ["more fields than there are names", "name every column"]),
        ("a,b,c\n0,1,2,3\n1,4,5,6\n", ["more fields than there are names"]),
        ("a,b\n1,9223372036854775808\n2,3\n", ["The target b", "2**63"]),
        ("a,b\n1,2,3,4\n5,6\n1,2,3,4,5,6\n", ["is not a csv file"]),
    ],
)
def test_unreadable_csv_files_are_refused(content, words, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataError) as error:
        loaded("csv", path=str(path))
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_missing_file_is_named(kind, tmp_path):
    with pytest.raises(DataError, match=r"dataset.path=.*nowhere"):
        loaded(kind, path=str(tmp_path / "nowhere"))


def test_a_text_file_is_no_parquet_file(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="is not a parquet file"):
        loaded("parquet", path=str(path))


# OpenML


def test_openml_sets_are_asked_for_by_name(monkeypatch):
    asked = {}

    def fetch_openml(name, **options):
        asked.update(options, name=name)
        return sklearn_datasets.load_iris(as_frame=True)

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch_openml)
    dataset = loaded("openml", openml_name="flowers", openml_version=3)
    assert (asked["name"], asked["version"], asked["cache"]) == ("flowers", 3, False)
    assert_sound(dataset, 150, 4, 3)
    assert dataset.source == "OpenML flowers version 3"


def test_an_openml_set_that_does_not_answer_is_named(monkeypatch):
    def fetch_openml(name, **options):
        raise OSError("no route")

    monkeypatch.setattr(sklearn_datasets, "fetch_openml", fetch_openml)
    with pytest.raises(DataError, match="OpenML flowers version 1 could not be loaded: no route"):
        loaded("openml", openml_name="flowers")


# Config files


def test_every_loader_has_a_config_file_and_the_other_way_round():
    assert {path.stem for path in CONFIGS.glob("*.yaml")} == set(LOADERS)


@pytest.mark.parametrize("name", LOADERS)
def test_config_files_fit_the_schema(name):
    path = CONFIGS / f"{name}.yaml"
    assert path.read_text().startswith("# ")
    node = OmegaConf.load(path)
    assert set(node) <= {field.name for field in fields(DatasetConfig)}
    assert node.name == name
    merged = OmegaConf.merge(OmegaConf.structured(DatasetConfig), node)
    if name in ("csv", "parquet", "openml"):
        with pytest.raises(DataError, match="is missing"):
            load(merged)
    elif name not in DOWNLOADED and name != "mnist5k":
        assert load(merged).name == name


def test_config_types_are_checked():
    node = OmegaConf.structured(DatasetConfig)
    with pytest.raises(Exception, match="could not be converted to Integer"):
        node.n_samples = "many"

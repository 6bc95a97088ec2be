"""Every number that a study logs, against its twin in `naive_study`, by name and step."""

import functools

import naive
import naive_study
import numpy as np
import pytest
from small import FORESTS, rules_of, trees_of
from test_bias import growing
from test_cuts import counted_in_twin

from forestlab.datasets.truth import draw, truth
from forestlab.study.bias import bias_variance
from forestlab.study.findings import study
from forestlab.study.numbers import numbers_of

N_TRAIN, N_OTHER, N_TREES = 45, 25, 6
SIZES = [1, 2, 3, 5, 6]
# Twins add up at most some hundred numbers, in another order: off by some 1e-14 of themselves.
CLOSE = {"rtol": 1e-10, "atol": 1e-12}
UNITS = {"rtol": 1e-10, "atol": 1e-9}  # calibration rounds to 2⁻³², for each class and bin
# Lines through sums of squares, and roots of them, are off by some 1e-12 of numbers near 1.
LINES = {"rtol": 1e-8, "atol": 1e-10}
TOLERANCES = dict.fromkeys(naive_study.CALIBRATION, UNITS)
TOLERANCES |= dict.fromkeys(naive_study.UNCERTAINTY, LINES)

pytestmark = pytest.mark.filterwarnings("ignore:An input array is constant")


def rows_for(task, n_rows, seed):
    """Three features with ties and noisy targets: classes 0, 2, 4 and 6, or numbers."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 9, (n_rows, 3)) / 4
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * rng.normal(size=n_rows)
    return X, signal if task == "regression" else 2 * np.digitize(signal, [-1.5, 0, 1.5])


# Bags without replacement leave weights to the trees. With such weights no two classes are
# as probable by a product, nor is one on the edge of a bin, so that rounding decides nothing.
UNEVEN = {"bootstrap": False, "class_weight": {0: 1.0, 2: 1.2345, 4: 0.8912, 6: 1.4567}}
OPTIONS = {
    "as it comes": {},
    "few rows, vote": {"max_samples": 0.5, "most_rows": 4, "combine": "vote"} | UNEVEN,
    "no validation, product": {"max_samples": 0.6, "combine": "product", "without": ["valid"]}
    | UNEVEN,
    "no bags": {"bootstrap": False, "max_features": 1},
    "no test": {"without": ["test"]},
    "nothing to judge on": {"without": ["valid", "test"]},
    "values missing, by the mean": {"missing": "branch", "holes": 0.2},
    "values missing, both ways": {"missing": "both", "holes": 0.2},
    "values missing, both ways, vote": {"missing": "both", "holes": 0.3, "combine": "vote"},
    "values missing, both ways, product": {"missing": "both", "holes": 0.2, "combine": "product"}
    | UNEVEN
    | {"max_samples": 0.6},
}


@functools.cache
def studied(task, name):
    """The world of the twins, and what is logged."""
    options = dict(OPTIONS[name])
    without, most_rows = options.pop("without", ()), options.pop("most_rows", 1000)
    share = options.pop("holes", 0)
    if task == "regression":
        options.pop("class_weight", None)
        options["combine"] = options.get("combine", "average").replace("vote", "product")
    seeds = {"train": (N_TRAIN, 1), "valid": (N_OTHER, 2), "test": (N_OTHER, 3)}
    data = {split: rows_for(task, *how) for split, how in seeds.items() if split not in without}
    rng = np.random.default_rng(7)
    for X, _ in data.values():
        X[rng.random(X.shape) < share] = np.nan
    if task == "classification":
        for split in {"valid", "test"} & set(data):
            data[split][1][::7] = 3  # between the classes of training
    grown = {"max_depth": 5, "random_state": 4} | options
    model = FORESTS[task](N_TREES, **grown).fit(*data["train"])
    found = study(model.grown, data, 1, "full", most_rows)
    world = naive_study.World(
        task, model.combine, trees_of(model), bags_of(model), model.recipe_.replace,
        {split: (X, model.grown.codes(y)) for split, (X, y) in data.items()}, SIZES, most_rows,
        **rules_of(model),
    )  # fmt: skip
    return world, found, model, data


@functools.cache
def twins_of(task, name):
    return naive_study.logged(studied(task, name)[0])


def bags_of(model):
    recipe = model.recipe_
    if not recipe.bag_size:
        return None
    drawn = N_TRAIN, recipe.bag_size, recipe.replace
    keys = [naive.tree_key(model.seed_, t) for t in range(N_TREES)]
    return np.array([naive.bag(key, *drawn) for key in keys]).astype(int)


# Kernels of rows that lack values take minutes to compile, twins of numbers ten seconds each.
QUICK = {
    "classification": ["as it comes", "no bags", "values missing, both ways"],
    "regression": ["as it comes", "no validation, product"],
}


def marked(task):
    return [() if name in QUICK[task] else pytest.mark.long for name in OPTIONS]


of_classes = zip(OPTIONS, marked("classification"), strict=True)
over_worlds_of_classes = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks) for name, marks in of_classes]
)
over_worlds = pytest.mark.parametrize(
    ("task", "name"),
    [
        pytest.param(task, name, marks=marks)
        for task in FORESTS
        for name, marks in zip(OPTIONS, marked(task), strict=True)
    ],
)
for_each_task = pytest.mark.parametrize("task", FORESTS)


def assert_same(numbers, twins):
    logged = {(name, step): value for name, value, step in numbers}
    assert len(logged) == len(numbers)  # nothing is logged twice
    assert set(logged) == set(twins)
    for key, expected in twins.items():
        first, rest = key[0].split("/", 1)
        word = rest.split("_")[0] if first == "summary" else first
        close = TOLERANCES.get(word, CLOSE)
        if expected is not naive_study.EITHER:
            np.testing.assert_allclose(logged[key], expected, err_msg=str(key), **close)


@over_worlds
def test_every_number_is_its_twin(task, name):
    world, found, _, _ = studied(task, name)
    twins = twins_of(task, name)
    assert_same(numbers_of(found, {}), twins)
    judged = found.parts.get("judged")
    assert (judged and judged.split) == world.judged
    assert not {"band", "regions"} & set(found.parts)  # of three features
    unsaid = [key for key, value in twins.items() if value is naive_study.EITHER]
    assert len(unsaid) < len(twins) / 4
    if "class_weight" in OPTIONS[name]:
        assert not [key for key, _ in unsaid if key.endswith("_product")]


def test_the_worlds_have_what_is_hard():
    """Rows without voters, classes that training did not see, and variances below 0."""
    world, found, _, _ = studied("classification", "as it comes")
    assert found.surfaces["oob"].voters.min() == 0
    assert -1 in world.splits["test"][1]
    assert -1 in world.splits["valid"][1]
    assert 0 < found.parts["jackknife"].negative < 1
    assert len(found.classes) == 4
    _, numbers, _, _ = studied("regression", "as it comes")
    assert numbers.parts["coverage"]["jackknife"].rows < N_OTHER


@for_each_task
def test_the_number_of_cuts_is_its_twin(task, monkeypatch):
    X, y = rows_for(task, N_TRAIN, 1)
    model = FORESTS[task](3, max_depth=4, random_state=0).fit(X, y)
    found = study(model.grown, {"train": (X, y)}, 1, "off", count_cuts=True)
    logged = {name: value for name, value, _ in numbers_of(found, {"fit": 2.5})}
    assert logged["summary/trees_cuts"] == np.mean(counted_in_twin(model, X, y, monkeypatch))
    assert logged["summary/seconds_fit"] == 2.5


# ---- draws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["waveform", "friedman1"])
def test_every_number_over_draws_is_its_twin(name):
    """Of three classes, of which a draw of four rows may lack one, and of numbers."""
    task = "classification" if name == "waveform" else "regression"
    X, y = draw(name, 15, seed=7)
    known, models = truth(name, X), []

    def build():
        models.append(FORESTS[task](3, max_depth=3))
        return models[-1]

    def make(seed):
        return draw(name, 4, seed=seed)

    found = bias_variance(growing(build, make), X, known.expected, known.noise, 4, 1, y)
    forests = [trees_of(model) for model in models]
    if task == "classification":
        assert min(len(model.classes_) for model in models) == 2
        forests = [with_all_classes(model, 3) for model in models]
    twins = naive_study.drawn(task, "average", forests, X, known.expected, known.noise, y)
    grown, data = models[0].grown, {"train": (X[:4], y[:4])}
    numbers = numbers_of(study(grown, data, 1, "off", draw=lambda: found), {})
    assert_same([one for one in numbers if one.name.endswith("draws")], twins)


def with_all_classes(model, n_classes):
    """Trees whose statistics have a column for each class, also for those they did not see."""
    columns = np.eye(n_classes)[model.classes_]
    return [(nodes, stats @ columns) for nodes, stats in trees_of(model)]


# ---- what stands in tables alone ---------------------------------------------------------------


@over_worlds
def test_the_uncertainty_of_every_row_is_its_twin(task, name):
    world, found, _, _ = studied(task, name)
    assert set(found.parts["uncertainty"].of) == {"valid", "test"} & set(world.splits)
    for split, unsure in found.parts["uncertainty"].of.items():
        twins = naive_study.uncertainty(world, world.splits[split][0])
        np.testing.assert_allclose(np.array(unsure), twins, **LINES)


@over_worlds
def test_importances_are_their_twins(task, name):
    world, found, model, _ = studied(task, name)
    twins = [naive.importances(nodes, 3) for nodes, _ in world.trees]
    np.testing.assert_allclose(found.parts["importance"], twins, **CLOSE)
    permutation = found.parts.get("permutation")
    if world.bags is None:
        assert permutation is None
        return
    rows = [naive.some_rows(counts, N_TRAIN) for counts in world.bags]
    twins = [
        naive.loss_increases(tree, *world.splits["train"], rows[t], model.seed_, t, task)
        for t, tree in enumerate(world.trees)
    ]
    np.testing.assert_allclose(permutation.increase, twins, **CLOSE)
    assert permutation.n_rows.tolist() == [len(each) for each in rows]


@over_worlds_of_classes
def test_confusions_count_the_rows_of_known_classes(name):
    world, found, _, _ = studied("classification", name)
    assert set(found.parts["confusion"]) == {"test", "oob"} & set(world.names)
    for split, counts in found.parts["confusion"].items():
        truth, answers = naive_study.answered(world, split)
        twin = np.zeros((4, 4), int)
        for k, p in zip(truth, answers, strict=True):
            if k >= 0:
                twin[k, p.argmax()] += 1
        np.testing.assert_array_equal(counts, twin)


@functools.cache
def small_world(task):
    """Of one feature, or two."""
    X, y = rows_for(task, N_TRAIN, 1)
    X = X[:, :1] if task == "regression" else X[:, :2]
    model = FORESTS[task](N_TREES, max_depth=4, random_state=0).fit(X, y)
    found = study(model.grown, {"train": (X, y)}, 1, "full", 10)
    world = naive_study.World(
        task, "average", trees_of(model), bags_of(model), True,
        {"train": (X, model.grown.codes(y))}, SIZES, 10,
    )  # fmt: skip
    return world, found


def test_the_band_along_one_feature_is_its_twin():
    world, found = small_world("regression")
    x, mean, bands, (some_x, some_y), depth, expected = found.parts["band"]
    assert depth == found.parts["chosen"].depth == 3  # of 4
    assert expected is None
    (X, y), at = world.splits["train"], np.linspace(0, 199, 12).round().astype(int)
    np.testing.assert_allclose(x, [X.min() + i * np.ptp(X) / 199 for i in range(200)], **CLOSE)
    rows = x[at, None]
    cut = FORESTS["regression"](N_TREES, max_depth=depth, random_state=0).fit(X, y)
    world = world._replace(trees=trees_of(cut))
    twins = [naive.answer(world.trees, "average", "regression", row)[0] for row in rows]
    np.testing.assert_allclose(mean[at], twins, **CLOSE)
    by_tree = [naive_study.tree_answers(world, row, 0) for row in rows]
    variance = [naive.jackknife(world.bags, answers) for answers in by_tree]
    twins = naive_study.bands(world, "0.9", rows, variance)
    assert list(bands) == list(twins)
    for method, band in bands.items():
        expected = [(np.nan, np.nan) if pair is None else pair for pair in twins[method]]
        np.testing.assert_allclose(np.transpose(band)[at], expected, **CLOSE)
    shown = naive_study.evenly(N_TRAIN, 10)
    np.testing.assert_array_equal(some_x, X[shown, 0])
    np.testing.assert_array_equal(some_y, y[shown])


def test_the_regions_of_a_plane_are_their_twin():
    world, found = small_world("classification")
    (left, right, bottom, top), posteriors, (points, labels) = found.parts["regions"]
    (X, y), shown = world.splits["train"], naive_study.evenly(N_TRAIN, 10)
    low, high = X.min(axis=0), X.max(axis=0)
    room = 0.05 * (high - low)
    np.testing.assert_allclose([left, bottom], low - room, **CLOSE)
    np.testing.assert_allclose([right, top], high + room, **CLOSE)
    assert list(posteriors) == [1, 2, 3, 4]
    assert {type(depth) for depth in posteriors} == {int}  # as they stand above the panels
    for depth, grid in posteriors.items():
        for i, j in ((0, 0), (0, 149), (149, 0), (74, 20), (20, 74)):  # from the bottom, the left
            place = (
                left + (j + 0.5) * (right - left) / 150,
                bottom + (i + 0.5) * (top - bottom) / 150,
            )
            twin = naive.answer(world.trees, "average", "classification", place, depth)
            np.testing.assert_allclose(grid[i, j], twin, **CLOSE)
    np.testing.assert_array_equal(points, X[shown])
    np.testing.assert_array_equal(labels, y[shown])


@pytest.mark.parametrize("n_classes", [1, 4])
def test_a_plane_is_drawn_at_four_depths_of_equal_ratios(n_classes):
    """Or at fewer, if there are not so many: at 1 alone of trees that did not split."""
    X, y = rows_for("classification", 150, 1)
    X, y = X[:, :2], np.minimum(y, 2 * (n_classes - 1))
    model = FORESTS["classification"](1, bootstrap=False, random_state=0).fit(X, y)
    deepest = naive.depths(trees_of(model)[0][0]).max()
    assert deepest == 0 if n_classes == 1 else deepest > 8
    drawn = study(model.grown, {"train": (X, y)}, 1, "full", 10).parts["regions"]
    assert list(drawn.posteriors) == sorted({round(max(deepest, 1) ** (i / 3)) for i in range(4)})


@for_each_task
def test_a_study_is_light_unless_told_otherwise(task):
    _, _, model, data = studied(task, "as it comes")
    found, light = study(model.grown, data, 1), study(model.grown, data, 1, "light")
    expected = {(name, step): value for name, value, step in numbers_of(light, {})}
    assert_same(numbers_of(found, {}), expected)
    assert "confusion" in found.parts or task == "regression"
    assert "judged" not in found.parts
    assert {tuple(surface.sizes) for surface in found.surfaces.values()} == {(N_TREES,)}


@pytest.mark.parametrize("level", ["light", "off"])
@for_each_task
def test_lesser_studies_say_the_same_of_what_they_say(task, level):
    _, full, model, data = studied(task, "as it comes")
    full, less = (
        {(name, step): value for name, value, step in numbers_of(found, {})}
        for found in (full, study(model.grown, data, 1, level))
    )
    n_depths = sum(name.startswith("rmse/test" if task == "regression" else "accuracy/test")
                   for name, _ in full)  # fmt: skip
    if level == "off":
        assert {step for name, step in less if name.endswith("/test")} == {n_depths - 1}
    np.testing.assert_equal(less, {at: full[at] for at in less})


def test_costly_parts_look_at_a_thousand_rows_unless_told_otherwise():
    _, _, model, data = studied("regression", "as it comes")
    given = {"train": data["train"], "test": rows_for("regression", 1001, 5)}
    judged = study(model.grown, given, 1, "full").parts["judged"]
    rows = naive_study.evenly(1001, 1000)
    np.testing.assert_array_equal(judged.truth, given["test"][1][rows])

"""Several regression targets: each as if it were the only one, and all by their mean."""

import functools

import naive
import naive_study
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from small import rules_of, trees_of
from test_study import Studied
from test_study_numbers import assert_same, bags_of

from forestlab import ForestRegressor, TreeRegressor
from forestlab.study.findings import study
from forestlab.study.numbers import numbers_of
from forestlab.study.targets import key_names

pytestmark = [
    pytest.mark.filterwarnings("ignore:An input array is constant"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

N_TREES, SIZES = 6, [1, 2, 3, 5, 6]
NAMES = ["up", "down", "flat out (%)"]
KEYS = ["up", "down", "flat_out"]
SKLEARN = {"rmse": root_mean_squared_error, "mae": mean_absolute_error, "r2": r2_score}


def rows_for(n_rows, seed):
    """Three features with ties; three targets of unlike sizes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 9, (n_rows, 3)) / 4
    signals = np.stack([X[:, 0] + X[:, 1], -X[:, 1] * X[:, 2], 50 * X[:, 2] + 1000], axis=1)
    return X, signals + [0.7, 0.2, 20] * rng.normal(size=(n_rows, 3))


@functools.cache
def studied(combine="average", bootstrap=True, level="full"):
    data = {"train": rows_for(45, 1), "valid": rows_for(25, 2), "test": rows_for(25, 3)}
    model = ForestRegressor(
        N_TREES, max_depth=5, max_features=1, random_state=4, combine=combine, bootstrap=bootstrap
    ).fit(*data["train"])
    found = study(model.grown, data, 1, level, targets=NAMES)
    logged = {(name, step): value for name, value, step in numbers_of(found, {})}
    return model, data, found, logged


def world_of(model, data, k):
    """The twins' world of one target: the same trees, with what nodes keep of that target, of
    which the variance is their impurity."""
    trees = []
    for nodes, stats in trees_of(model):
        own = nodes.copy()
        own["impurity"] = stats[:, 4 + k] / stats[:, 0]
        trees.append((own, stats[:, [0, 1 + k, 4 + k]]))
    splits = {split: (X, y[:, k]) for split, (X, y) in data.items()}
    bags = bags_of(model) if model.bootstrap else None
    return naive_study.World(
        "regression", model.combine, trees, bags, True, splits, SIZES, 1000, **rules_of(model)
    )


@functools.cache
def twins_of(combine, bootstrap):
    model, data, _, _ = studied(combine, bootstrap)
    return [naive_study.logged(world_of(model, data, k)) for k in range(3)]


# Twins of three targets take half a minute each.
forests = pytest.mark.parametrize(
    ("combine", "bootstrap"),
    [
        ("average", True),
        pytest.param("product", True, marks=pytest.mark.long),
        pytest.param("average", False, marks=pytest.mark.long),
    ],
)
OF_FOREST = ("summary/trees_n_nodes", "summary/trees_n_leaves", "summary/trees_depth")


@forests
def test_every_number_of_a_target_is_its_twin(combine, bootstrap):
    found = studied(combine, bootstrap)[2]
    assert list(found.by_target) == KEYS
    for key, expected in zip(KEYS, twins_of(combine, bootstrap), strict=True):
        own = {at: value for at, value in expected.items() if at[0] not in OF_FOREST}
        assert_same(numbers_of(found.by_target[key], {}), own)


@forests
def test_every_number_of_all_targets_is_the_mean_of_their_twins(combine, bootstrap):
    each = twins_of(combine, bootstrap)
    metrics = ("rmse/", "mae/", "r2/", "by_trees/rmse/", "by_trees/mae/", "by_trees/r2/")
    metrics += ("by_trees/oob_rmse",)
    wanted = {
        at: np.mean([of_target[at] for of_target in each])
        for at in each[0]
        if at[0].startswith(metrics)
    }
    wanted |= {at: each[0][at] for at in each[0] if at[0] in OF_FOREST}
    judge = {depth: value for (name, depth), value in wanted.items() if name == "rmse/valid"}
    best = min((depth for depth in judge if depth), key=lambda depth: (judge[depth], depth))
    wanted["summary/chosen_depth", 0] = best
    for metric in SKLEARN:
        wanted[f"summary/chosen_{metric}_test", 0] = wanted[f"{metric}/test", best]
    wanted |= naive_study.stopping_of_all(each, "regression")
    numbers = numbers_of(studied(combine, bootstrap)[2], {})
    assert_same([one for one in numbers if not one.name.startswith("by_target/")], wanted)


def test_all_that_is_logged_of_a_target_is_called_by_its_name():
    _, _, found, logged = studied()
    for key in KEYS:
        own = {(name, step): value for name, value, step in numbers_of(found.by_target[key], {})}
        prefix = f"by_target/{key}/"
        told = {
            (name.removeprefix(prefix), step): value
            for (name, step), value in logged.items()
            if name.startswith(prefix)
        }
        np.testing.assert_equal(told, own)
        assert {"coverage/conformal", "summary/total_test", "summary/jackknife_negative_share"} <= {
            name for name, _ in own
        }


@pytest.mark.parametrize("metric", SKLEARN)
def test_metrics_are_those_of_scikit_learn_and_of_refits(metric):
    model, data, found, logged = studied()
    X, y = data["test"]
    deepest = found.surfaces["test"].values["rmse"].shape[1] - 1
    refits = {2: None, 3: None}
    for depth in refits:
        refits[depth] = ForestRegressor(N_TREES, max_depth=depth, max_features=1, random_state=4)
    for depth, asked in ({deepest: model} | refits).items():
        answers = asked.fit(*data["train"]).predict(X)
        overall = SKLEARN[metric](y, answers, multioutput="uniform_average")
        assert logged[f"{metric}/test", depth] == pytest.approx(overall, rel=1e-12)
        each = SKLEARN[metric](y, answers, multioutput="raw_values")
        for key, value in zip(KEYS, each, strict=True):
            told = logged[f"by_target/{key}/{metric}/test", depth]
            assert told == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("level", ["light", "off"])
def test_lesser_studies_say_the_same_of_what_they_say(level):
    full, less = studied()[3], studied(level=level)[3]
    assert {"rmse/test", "by_target/up/rmse/test"} <= {name for name, _ in less}
    np.testing.assert_equal(less, {at: full[at] for at in less})


def test_a_single_tree_of_several_targets(tmp_path):
    X, y = rows_for(45, 1)
    model = TreeRegressor(max_depth=3, random_state=0).fit(X, y)
    found = study(model.grown, {"train": (X, y), "test": (X, y)}, 1, "full", count_cuts=True)
    assert list(found.by_target) == ["0", "1", "2"]
    assert "cuts" in found.parts
    names = {number.name for number in numbers_of(found, {})}
    assert "by_target/2/coverage/quantiles" in names
    assert not [name for name in names if "oob" in name]


def test_names_that_metrics_cannot_have_are_mended():
    names = ["a b", "a/b", "../x", "größe", "", "%", "y" * 80]
    keys = key_names(names, 7)
    assert keys == ["a_b", "a_b_1", "x", "gr_e", "4", "5", "y" * 60]
    assert key_names((), 2) == ["0", "1"]
    assert key_names(["XL size", "-Size.X_"], 2) == ["XL_size", "Size.X"]


# ---- runs --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def linnerud(tmp_path_factory):
    options = ("dataset=linnerud", "dataset.valid_size=0.1", "study=full")
    return Studied(tmp_path_factory.mktemp("linnerud"), *options, pictures=True)


def test_rows_have_columns_for_each_target(linnerud):
    X, y = linnerud.rows("test")
    answers = linnerud.done.model.predict(X)
    table = pd.read_parquet(linnerud.folder / "predictions.parquet")
    assert len(table) == 5 + 2
    test = table[table["split"] == "test"]
    assert test["row"].tolist() == linnerud.data.parts.test.tolist()
    for k, name in enumerate(["Weight", "Waist", "Pulse"]):
        assert test[f"truth_{name}"].tolist() == y[:, k].tolist()
        assert test[f"predicted_{name}"].tolist() == answers[:, k].tolist()
        assert test[f"error_{name}"].tolist() == np.abs(answers - y)[:, k].tolist()
        assert f"spread_uncertainty_{name}" in test
    oob = pd.read_parquet(linnerud.folder / "oob/predictions.parquet")
    X, _ = linnerud.rows("train")
    answers, voters = linnerud.done.model.predict_oob(X)
    np.testing.assert_array_equal(oob["predicted_Pulse"], answers[:, 2])
    assert oob["voters"].tolist() == voters.tolist()


def test_files_of_a_target_are_in_its_folder(linnerud):
    names = linnerud.names()
    whole = {"curves/depth", "curves/oob_by_trees", "importance", "tree/first"}
    of_each = {"curves/depth", "strength", "coverage", "uncertainty/test", "oob/voters"}
    of_each = {f"by_target/{key}/{n}" for key in ("Weight", "Waist", "Pulse") for n in of_each}
    assert {f"{n}.{end}" for n in whole | of_each for end in ("json", "png")} <= names
    assert not [name for name in names if name.startswith(("strength", "coverage", "uncertainty"))]
    table = linnerud.table("by_target/Waist/curves/depth.json")
    assert table["rmse"]["test"] == list(linnerud.metrics["by_target/Waist/rmse/test"].values())


def test_targets_of_a_file(tmp_path):
    X, y = rows_for(60, 1)
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"a b": y[:, 0], "3": y[:, 2]}
    path = tmp_path / "mine.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    options = ("dataset=csv", f"dataset.path={path}", "study=light")
    two = Studied(tmp_path, *options, "dataset.target=[a b,3]")
    assert set(two.found.by_target) == {"a_b", "3"}
    assert two.data.X.shape == (60, 3)
    one = Studied(tmp_path, *options, "dataset.target=3", "dataset.drop=[a b]")
    assert not one.found.by_target
    assert naive.METRICS["rmse"](
        one.rows("test")[1], one.done.model.predict(one.rows("test")[0])[:, None]
    ) == pytest.approx(list(one.metrics["rmse/test"].values())[-1])

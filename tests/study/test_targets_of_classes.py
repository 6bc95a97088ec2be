"""Several targets of classes: each as if it were the only one, all by their mean, and one-hot."""

import functools
from types import SimpleNamespace

import naive_study
import numpy as np
import pandas as pd
import pytest
from command import composed
from small import rules_of, trees_of
from test_study import Studied
from test_study_numbers import assert_same, bags_of

from experiments import mnist_table
from forestlab import ForestClassifier
from forestlab.config import ConfigError
from forestlab.run.checks import check
from forestlab.run.making import Shelf
from forestlab.study.findings import study
from forestlab.study.metrics import METRICS
from forestlab.study.numbers import numbers_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:An input array is constant"),
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
]

N_TREES, SIZES = 6, [1, 2, 3, 5, 6]  # as those of which test_study_numbers has the twins
NAMES, EACH = ["shade", "of three"], (2, 3)
KEYS = ["shade", "of_three"]
OF_CLASSES = [name for name, row in METRICS.items() if row.task == "classification"]
OF_FOREST = ("summary/trees_n_nodes", "summary/trees_n_leaves", "summary/trees_depth")


def rows_for(n_rows, seed):
    """Three features with ties; two and three classes, with numbers of their own."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 9, (n_rows, 3)) / 4
    noise = 0.7 * rng.normal(size=(2, n_rows))
    first = 5 * (X[:, 0] + noise[0] > 0)
    second = 2 * np.digitize(X[:, 1] * X[:, 2] + noise[1], [-0.5, 0.5])
    return X, np.column_stack([first, second])


@functools.cache
def studied(bootstrap=True, level="full"):
    data = {"train": rows_for(45, 1), "valid": rows_for(25, 2), "test": rows_for(25, 3)}
    for split in ("valid", "test"):
        data[split][1][::7, 1] = 3  # between the classes of training
    model = ForestClassifier(
        N_TREES, max_depth=5, max_features=1, random_state=4, bootstrap=bootstrap
    ).fit(*data["train"])
    found = study(model.grown, data, 1, level, targets=NAMES)
    logged = {(name, step): value for name, value, step in numbers_of(found, {})}
    return model, data, found, logged


def world_of(model, data, k):
    """The twins' world of one target: the same trees, with what nodes keep of that target, of
    which Gini's is their impurity."""
    first, trees = sum(EACH[:k]), []
    for nodes, stats in trees_of(model):
        own, weights = nodes.copy(), stats[:, first : first + EACH[k]]
        own["impurity"] = 1 - ((weights / weights.sum(axis=1)[:, None]) ** 2).sum(axis=1)
        trees.append((own, weights))
    codes = {split: model.grown.codes(y)[:, k] for split, (_, y) in data.items()}
    splits = {split: (X, codes[split]) for split, (X, _) in data.items()}
    bags = bags_of(model) if model.bootstrap else None
    return naive_study.World(
        "classification", model.combine, trees, bags, True, splits, SIZES, 1000, **rules_of(model)
    )


@functools.cache
def twins_of(bootstrap):
    model, data, _, _ = studied(bootstrap)
    return [naive_study.logged(world_of(model, data, k)) for k in range(2)]


def all_right(model, data, split, depth):
    """The twin: the share of rows with an answer of which both labels are right."""
    X, y = data["train" if split == "oob" else split]
    if split == "oob":
        answers, voters = model.predict_oob(X, depth)
        answers = [p[voters > 0] for p in answers]
        y = y[voters > 0]
    else:
        answers = model.predict_proba(X, depth)
    labels = [classes[p.argmax(axis=1)] for classes, p in zip(model.classes_, answers, strict=True)]
    return (np.stack(labels, axis=1) == y).all(axis=1).mean()


forests = pytest.mark.parametrize("bootstrap", [True, pytest.param(False, marks=pytest.mark.long)])


@forests
def test_every_number_of_a_target_is_its_twin(bootstrap):
    found = studied(bootstrap)[2]
    assert list(found.by_target) == KEYS
    for key, expected in zip(KEYS, twins_of(bootstrap), strict=True):
        own = {at: value for at, value in expected.items() if at[0] not in OF_FOREST}
        assert_same(numbers_of(found.by_target[key], {}), own)


@forests
def test_every_number_of_all_targets_is_the_mean_of_their_twins(bootstrap):
    model, data, found, _ = studied(bootstrap)
    each = twins_of(bootstrap)
    metrics = [f"{name}/" for name in OF_CLASSES] + [f"by_trees/{name}/" for name in OF_CLASSES]
    wanted = {
        at: np.mean([of_target[at] for of_target in each])
        for at in each[0]
        if at[0].startswith((*metrics, "by_trees/oob_error"))
    }
    wanted |= {at: each[0][at] for at in each[0] if at[0] in OF_FOREST}
    judge = {depth: value for (name, depth), value in wanted.items() if name == "accuracy/valid"}
    best = max((depth for depth in judge if depth), key=lambda depth: (judge[depth], -depth))
    wanted["summary/chosen_depth", 0] = best
    for metric in OF_CLASSES:
        wanted[f"summary/chosen_{metric}_test", 0] = wanted[f"{metric}/test", best]
    wanted |= naive_study.stopping_of_all(each, "classification")
    for split in found.surfaces:
        for depth in judge:
            wanted[f"exact_match/{split}", depth] = all_right(model, data, split, depth)
    assert ("exact_match/oob", 3) in wanted or not bootstrap
    numbers = numbers_of(found, {})
    assert_same([one for one in numbers if not one.name.startswith("by_target/")], wanted)


@pytest.mark.parametrize("level", ["light", "off"])
def test_lesser_studies_say_the_same_of_what_they_say(level):
    full, less = studied()[3], studied(level=level)[3]
    assert {"accuracy/test", "exact_match/test", "by_target/shade/log_loss/test"} <= {
        name for name, _ in less
    }
    assert ("exact_match/oob" in {name for name, _ in less}) == (level == "light")
    np.testing.assert_equal(less, {at: full[at] for at in less})


# ---- one-hot -----------------------------------------------------------------------------------

DIGITS = "dataset=digits", "dataset.valid_size=0", "n_estimators=12", "study=light"


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("plain"), *DIGITS)


@pytest.fixture(scope="module")
def one_hot(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("one_hot"), *DIGITS, "dataset.one_hot=true")


def test_one_hot_trees_ask_what_those_of_the_classes_ask(plain, one_hot):
    """The mean of Gini's impurity over K columns of 0 and 1 is 2 / K of that of the classes, so
    that all questions, and those that tie, are the same."""
    forest, hot = plain.done.model.forest_, one_hot.done.model.forest_
    for field in ("feature", "cut_high", "left", "right", "n_rows", "weight"):
        np.testing.assert_array_equal(hot.nodes[field], forest.nodes[field], err_msg=field)
    np.testing.assert_allclose(hot.nodes["impurity"], forest.nodes["impurity"] * 2 / 10, 1e-12)
    np.testing.assert_array_equal(hot.stats[:, 1::2], forest.stats)  # 0 and 1, digit by digit


def test_one_hot_rows_are_right_if_their_class_has_more_than_half(plain, one_hot):
    """What document 001 counts, of which `mnist_table` reads the number from posteriors."""
    found = pd.read_parquet(plain.folder / "predictions.parquet")
    sure = found["p_true"] > 0.5
    assert list(one_hot.metrics["exact_match/test"].values())[-1] == sure.mean()
    right = found["truth"] == found["predicted"]
    assert sure.mean() < right.mean() - 0.05  # which is why the document's forest scores so low


def test_mnist_table_counts_what_a_one_hot_run_logs(plain, one_hot):
    logged = SimpleNamespace(
        params={"model.name": "forest", "seed": 0},
        table=lambda name: pd.read_parquet(plain.folder / name),
    )
    counted = mnist_table.table([logged])
    told = mnist_table.scores(counted, "forest, one-hot")
    last = list(one_hot.metrics["exact_match/test"].values())[-1]
    assert told.tolist() == pytest.approx([last], rel=1e-12)
    by_class = mnist_table.scores(counted, "forest, by class")
    last = list(plain.metrics["accuracy/test"].values())[-1]
    assert by_class.tolist() == pytest.approx([last], rel=1e-12)


def test_files_of_a_one_hot_run(one_hot):
    names = one_hot.names()
    assert {"curves/exact_match.json", "tree/first.txt", "importance.json"} <= names
    assert {f"by_target/{digit}/confusion/test.json" for digit in range(10)} <= names
    assert not [name for name in names if name.startswith("confusion")]
    table = one_hot.table("curves/exact_match.json")
    assert table["oob"] == list(one_hot.metrics["exact_match/oob"].values())
    rows = pd.read_parquet(one_hot.folder / "predictions.parquet")
    X, y = one_hot.rows("test")
    predicted = one_hot.done.model.predict(X)
    for digit in range(10):
        assert rows[f"truth_{digit}"].tolist() == y[:, digit].tolist()
        assert rows[f"predicted_{digit}"].tolist() == predicted[:, digit].tolist()


# ---- the command line --------------------------------------------------------------------------


def test_classes_of_a_file(tmp_path):
    X, y = rows_for(90, 1)
    columns = {f"x{j}": X[:, j] for j in range(3)}
    columns |= {"a b": np.where(y[:, 0] > 0, "up", "down"), "3": y[:, 1]}
    pd.DataFrame(columns).to_csv(tmp_path / "mine.csv", index=False)
    options = "dataset=csv", f"dataset.path={tmp_path / 'mine.csv'}", "study=light"
    two = Studied(tmp_path, *options, "dataset.target=[a b,3]", pictures=True)
    assert {"curves/exact_match.png", "tree/first.png"} <= two.names()
    assert "by_target/a_b/confusion/test.png" in two.names()
    assert set(two.found.by_target) == {"a_b", "3"}
    assert two.found.by_target["3"].classes == ["0", "2", "4"]
    X, y = two.rows("test")
    exact = (two.done.model.predict(X) == y).all(axis=1).mean()
    assert list(two.metrics["exact_match/test"].values())[-1] == exact


def test_draws_and_one_hot_do_not_go_together():
    config = composed("dataset=twonorm", "dataset.one_hot=true", "study.draws=3", "tracking=none")
    with pytest.raises(ConfigError, match=r"^study.draws=3 needs one target; got dataset.one_hot"):
        check(config, Shelf())


@pytest.mark.filterwarnings("error:Mean of empty slice")
def test_without_rows_out_of_bag_it_is_not_known_how_many_are_all_right():
    X, y = np.array([[0.0], [1.0]]), np.array([[0, 1], [1, 0]])
    models = (ForestClassifier(1, random_state=seed).fit(X, y) for seed in range(50))
    model = next(model for model in models if model.grown.bags().all())
    found = study(model.grown, {"train": (X, y)}, 1, "light", targets=["a", "b"])
    assert found.parts["exact_match"]["train"].tolist() == [0, 1]  # at the root, and below
    np.testing.assert_array_equal(found.parts["exact_match"]["oob"], [np.nan, np.nan])

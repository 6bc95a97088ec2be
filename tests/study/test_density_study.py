"""The study of a density: its surface by the twin and by refits, one normal, the plane."""

import naive
import numpy as np
import pandas as pd
import pytest
from naive_density import densities_by_tree
from scipy.stats import multivariate_normal
from test_study import Studied

from forestlab import DensityForest
from forestlab.forest.normals import AskedDensity, DensityWalk
from forestlab.study.findings import study
from forestlab.study.one_normal import RIDGE, normal_log_likelihood

N_TREES = 5
# By the search in bins, whose kernel other tests have compiled too.
OPTIONS = ("task=density", "dataset=moons", "dataset.n_samples=220", "search=histogram")
SIZE = f"n_estimators={N_TREES}"
# The twin takes the same steps in another order, of some dozens of numbers each.
CLOSE = {"rtol": 1e-9}


@pytest.fixture(scope="module")
def moons(tmp_path_factory):
    folder = tmp_path_factory.mktemp("moons")
    return Studied(folder, "study=full", *OPTIONS, SIZE, pictures=True)


def rows(found, split):
    return found.data.X[found.data.parts._asdict()[split]]


def cells(found, split):
    table = pd.read_csv(found.folder / "surface.csv")
    return table[table["split"] == split].set_index(["n_trees", "depth"])["log_likelihood"]


def test_cells_are_those_of_the_twin(moons):
    model, train = moons.done.model, rows(moons, "train")
    outside = moons.done.model.grown.bags() == 0
    for depth in (0, 2):
        for split in ("test", "oob"):
            points = rows(moons, split) if split == "test" else train
            by_tree = densities_by_tree(model, train, None, points, depth)
            asked = outside if split == "oob" else np.ones(by_tree.shape, bool)
            for size in (1, 3, N_TREES):
                some, voted = asked[:size], asked[:size].any(axis=0)
                mean = (by_tree[:size] * some).sum(axis=0)[voted] / some.sum(axis=0)[voted]
                expected = naive.METRICS["log_likelihood"](points[voted], np.log(mean)[:, None])
                found = cells(moons, split)[size, depth]
                np.testing.assert_allclose(found, expected, err_msg=(split, depth, size), **CLOSE)


def test_cells_are_refits_to_the_bit(moons):
    data = {split: (rows(moons, split),) * 2 for split in ("train", "valid", "test")}
    params = moons.done.model.get_params(deep=False)
    deepest = max(view.depth for view in moons.done.model.trees_)
    assert deepest > 3
    for depth in (1, 2, deepest):
        for size in (1, 2, N_TREES):
            again = DensityForest(**params | {"max_depth": depth, "n_estimators": size})
            surfaces = study(again.fit(*data["train"]).grown, data, 1, "light").surfaces
            for split, surface in surfaces.items():
                reached = min(depth, surface.values["log_likelihood"].shape[1] - 1)
                value = surface.values["log_likelihood"][-1, -1]
                assert value == cells(moons, split)[size, reached], (split, depth, size)


def test_a_run_without_a_study_has_the_last_cell(moons, tmp_path):
    plain = Studied(tmp_path, "study=off", *OPTIONS, SIZE)
    for split in ("train", "valid", "test"):
        (value,) = plain.metrics[f"log_likelihood/{split}"].values()
        # Rows are asked at once, not on a walk: sums of their densities round otherwise.
        assert value == pytest.approx(cells(moons, split).iloc[-1], rel=1e-12)
    assert "log_likelihood/oob" not in plain.metrics


def test_the_chosen_depth_is_the_best_on_validation(moons):
    valid = moons.metrics["log_likelihood/valid"]
    (depth,) = moons.metrics["summary/chosen_depth"].values()
    assert depth == max(range(1, len(valid)), key=valid.__getitem__)
    (chosen,) = moons.metrics["summary/chosen_log_likelihood_test"].values()
    assert chosen == moons.metrics["log_likelihood/test"][depth]


def test_a_row_that_no_tree_left_out_has_no_answer():
    X = np.random.default_rng(0).normal(size=(41, 2))
    model = DensityForest(3, search="histogram", random_state=0).fit(X)
    grown = model.grown
    asked = AskedDensity(grown.forest, grown.normals, 4)
    for first in (0, 5, 8, 19):  # a block may begin within a byte
        walk = DensityWalk(asked, X[first:], first, grown.outside())
        walk.ask(3)
        voters = (grown.bags() == 0).sum(axis=0)[first:]
        assert walk.left_out.voters.tolist() == voters.tolist()
        logs = walk.left_out.means()
        assert np.isnan(logs[:, voters == 0]).all()
        assert np.isfinite(logs[:, voters > 0]).all()
        assert (voters == 0).any()


def test_out_of_bag_rows_are_told_with_their_voters(moons):
    model, train = moons.done.model, rows(moons, "train")
    table = pd.read_parquet(moons.folder / "oob/predictions.parquet")
    assert list(table) == ["row", "split", "log_density", "voters"]
    assert table["voters"].tolist() == (model.grown.bags() == 0).sum(axis=0).tolist()
    assert table["log_density"].isna().tolist() == (table["voters"] == 0).tolist()
    assert table["log_density"].mean() == pytest.approx(cells(moons, "oob").iloc[-1], rel=1e-12)
    tested = pd.read_parquet(moons.folder / "predictions.parquet")
    expected = model.predict(moons.data.dataset.frame.iloc[moons.data.parts.test])
    np.testing.assert_allclose(tested["log_density"][tested["split"] == "test"], expected, **CLOSE)
    assert len(train) == len(table)


@pytest.mark.parametrize("n_columns", [1, 3])
def test_one_normal_is_scipys(n_columns):
    rng = np.random.default_rng(0)
    X, others = (rng.normal(size=(50, 3)) @ rng.normal(size=(3, n_columns)) + 5 for _ in range(2))
    spread = np.cov(X.T, bias=True).reshape(n_columns, n_columns)
    given = multivariate_normal(X.mean(axis=0), spread + RIDGE * np.diag(np.diag(spread)))
    found = normal_log_likelihood(X, others)
    assert found == pytest.approx(given.logpdf(others).mean(), rel=1e-10)


def test_one_normal_of_columns_that_do_not_vary_or_are_the_same():
    x = np.random.default_rng(0).normal(size=(40, 1))
    assert np.isfinite(normal_log_likelihood(np.hstack([x, x, x * 0]), np.hstack([x, x, x * 0])))


def test_one_normal_is_logged_and_the_forest_better(moons):
    (value,) = moons.metrics["summary/log_likelihood_normal_test"].values()
    assert value == normal_log_likelihood(rows(moons, "train"), rows(moons, "test"))
    (chosen,) = moons.metrics["summary/chosen_log_likelihood_test"].values()
    assert chosen > value


def test_the_plane_is_that_of_the_model(moons):
    table = pd.read_parquet(moons.folder / "density.parquet")
    model = moons.done.model
    deepest = max(view.depth for view in model.trees_)
    (chosen,) = moons.metrics["summary/chosen_depth"].values()
    assert set(table["depth"]) == {1, chosen, deepest}
    names = list(moons.data.dataset.frame.columns)
    for depth, part in table.groupby("depth"):
        expected = np.exp(model.score_samples(part[names], depth))
        np.testing.assert_allclose(part["density"], expected, **CLOSE)
    part = table[table["depth"] == deepest]
    x, y = (np.unique(part[name]) for name in names)
    # Most of the mass is on the plane, which is a little wider than the rows.
    assert 0.8 < part["density"].sum() * np.diff(x).mean() * np.diff(y).mean() < 1.02

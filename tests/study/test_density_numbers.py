"""The study of a small density: every number, table and picture against plain ways to them."""

import functools

import naive
import naive_study
import numpy as np
import pytest
from naive_density import densities_by_tree
from scipy.stats import multivariate_normal
from small import trees_of
from test_tables import shown, undrawn  # noqa: F401 a fixture

from forestlab import DensityForest
from forestlab.study import artifacts
from forestlab.study.findings import study
from forestlab.study.numbers import numbers_of
from forestlab.study.part import About

N_TRAIN, N_OTHER, N_TREES, SIZES = 40, 20, 5, [1, 2, 3, 5]
RIDGE = 1e-3
# By the search in bins, whose kernel other tests have compiled too.
SMALL = {"max_depth": 3, "min_samples_leaf": 3, "search": "histogram", "random_state": 0}
# The twin takes the same steps in another order, of some dozens of numbers each.
CLOSE = {"rtol": 1e-9}


def heaps(n_rows, n_columns, seed):
    """Rows about the corners of a cube, which two cuts of a plane tell apart."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 2, (n_rows, n_columns))
    return corners + 0.1 * rng.normal(size=(n_rows, n_columns))


@functools.cache
def studied(level="full", n_columns=2):
    """The model, its rows by split, and what was found of them, of most 10 rows where it costs."""
    sizes = {"train": N_TRAIN, "valid": N_OTHER, "test": N_OTHER}
    rows = {split: heaps(n, n_columns, seed) for seed, (split, n) in enumerate(sizes.items())}
    model = DensityForest(N_TREES, **SMALL).fit(rows["train"])
    return model, rows, study(model.grown, {s: (X, X) for s, X in rows.items()}, 1, level, 10)


@functools.cache
def twins_of(split, depth):
    """(N_TREES, n) densities of the rows of a split in each tree."""
    model, rows, _ = studied()
    return densities_by_tree(model, rows["train"], None, rows[split], depth)


def logs(split, depth, size=N_TREES):
    """Each row's log density in the first trees that may answer for it; NaN if none may."""
    model = studied()[0]
    of_split = twins_of("train" if split == "oob" else split, depth)[:size]
    asked = model.grown.bags()[:size] == 0 if split == "oob" else np.ones(of_split.shape, bool)
    n_asked = asked.sum(axis=0)
    mean = np.divide((of_split * asked).sum(axis=0), n_asked, np.full(len(n_asked), np.nan),
                     where=n_asked > 0)  # fmt: skip
    return np.log(mean)


def n_depths():
    return 1 + max(naive.depths(nodes).max() for nodes, _ in trees_of(studied()[0]))


def score(split, depth, size=N_TREES):
    return np.nanmean(logs(split, depth, size))


def expected_numbers():
    _, rows, _ = studied()
    deepest, splits = n_depths() - 1, [*rows, "oob"]
    for split in splits:
        for depth in range(n_depths()):
            yield (f"log_likelihood/{split}", depth), score(split, depth)
        for size in SIZES:
            yield (f"by_trees/log_likelihood/{split}", size), score(split, deepest, size)
    best = max(range(1, n_depths()), key=lambda depth: score("valid", depth))
    yield ("summary/chosen_depth", 0), best
    yield ("summary/chosen_log_likelihood_test", 0), score("test", best)
    train = rows["train"]
    spread = np.cov(train.T, bias=True)
    normal = multivariate_normal(train.mean(axis=0), spread + RIDGE * np.diag(np.diag(spread)))
    for split, X in rows.items():
        yield (f"summary/log_likelihood_normal_{split}", 0), normal.logpdf(X).mean()
    world = naive_study.World("density", None, trees_of(studied()[0]), None, True, {}, SIZES, 10)
    for name, step, value in naive_study.shapes(world):
        yield (name, step), value


def test_every_number_is_its_twin():
    numbers = numbers_of(studied()[2], {})
    logged, expected = {(name, step): value for name, value, step in numbers}, expected_numbers()
    expected = dict(expected)
    assert len(logged) == len(numbers)
    assert set(logged) == set(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(logged[key], value, err_msg=str(key), **CLOSE)


@pytest.mark.parametrize("level", ["light", "off"])
def test_lesser_studies_say_the_same_of_what_they_say(level):
    full, less = (
        {(name, step): value for name, value, step in numbers_of(studied(of)[2], {})}
        for of in ("full", level)
    )
    assert ("log_likelihood/oob", 1) in full
    assert (("log_likelihood/oob", 1) in less) == (level == "light")
    assert ("log_likelihood/test", n_depths() - 1) in less
    assert studied(level)[2].surfaces["test"].voters.tolist() == N_OTHER * [N_TREES]
    for at, value in less.items():
        np.testing.assert_allclose(value, full[at], err_msg=str(at), **CLOSE)


def test_the_plane_is_its_twin():
    model, rows, found = studied()
    (left, right, bottom, top), middles, grids, chosen, training = found.parts["density"]
    low, high = rows["train"].min(axis=0), rows["train"].max(axis=0)
    room = 0.05 * (high - low)
    np.testing.assert_allclose([left, bottom], low - room, **CLOSE)
    np.testing.assert_allclose([right, top], high + room, **CLOSE)
    best = found.parts["chosen"].depth
    assert 1 < best < n_depths() - 1  # three depths are drawn
    assert chosen == best
    assert list(grids) == [1, best, n_depths() - 1]
    at = [(0, 0), (0, 149), (149, 0), (74, 20), (20, 74)]  # from the bottom, the left
    places = np.array([
        (left + (j + 0.5) * (right - left) / 150, bottom + (i + 0.5) * (top - bottom) / 150)
        for i, j in at
    ])  # fmt: skip
    np.testing.assert_allclose(middles[[150 * i + j for i, j in at]], places, **CLOSE)
    for depth, grid in grids.items():
        assert grid.shape == (150, 150)
        twins = densities_by_tree(model, rows["train"], None, places, depth).mean(axis=0)
        np.testing.assert_allclose([grid[i, j] for i, j in at], twins, **CLOSE)
    np.testing.assert_array_equal(training, rows["train"][naive_study.evenly(N_TRAIN, 10)])


def about_of(rows):
    numbers = {split: 100 * k + np.arange(len(X)) for k, (split, X) in enumerate(rows.items())}
    return About("a title", ["u", "v"], numbers)


def test_every_row_is_listed_with_its_density():
    _, rows, found = studied()
    tables = dict(artifacts.tables(found, about_of(rows)))
    listed = tables["predictions.parquet"]
    assert list(listed) == ["row", "split", "log_density"]
    assert listed["split"].tolist() == N_OTHER * ["valid"] + N_OTHER * ["test"]
    assert listed["row"].tolist() == [*range(100, 100 + N_OTHER), *range(200, 200 + N_OTHER)]
    twins = [logs(split, n_depths() - 1) for split in ("valid", "test", "oob")]
    np.testing.assert_allclose(listed["log_density"], np.concatenate(twins[:2]), **CLOSE)
    oob = tables["oob/predictions.parquet"]
    assert np.isnan(twins[2]).any()
    np.testing.assert_allclose(oob["log_density"], twins[2], **CLOSE)
    np.testing.assert_allclose(found.surfaces["oob"].errors, -twins[2], **CLOSE)


def test_the_plane_is_listed_and_shown(undrawn):  # noqa: F811 the fixture
    _, rows, found = studied()
    extent, middles, grids, chosen, training = found.parts["density"]
    table = dict(artifacts.tables(found, about_of(rows)))["density.parquet"]
    assert list(table) == ["depth", "u", "v", "density"]
    assert table["depth"].tolist() == [depth for depth in grids for _ in middles]
    for name, column in zip("uv", middles.T, strict=True):
        assert table[name].tolist() == 3 * column.tolist()
    assert table["density"].tolist() == [cell for grid in grids.values() for cell in grid.flat]
    how, told = shown(found, about_of(rows))["density.png"]
    assert how == "density_maps"
    first, best, last = grids
    assert best == chosen
    titles = [f"depth {first}", f"depth {best}, chosen", f"depth {last}"]
    np.testing.assert_equal(list(told.values()), [
        dict(zip(titles, grids.values(), strict=True)), extent, training, ["u", "v"],
            "Density over the plane, and training rows: a title",
    ])  # fmt: skip


def test_a_plane_is_drawn_of_two_features_alone():
    for n_columns in (1, 3):
        assert "density" not in studied("full", n_columns)[2].parts


def test_without_a_chosen_depth_the_plane_has_two():
    """Neither validation, nor rows that a bag leaves out."""
    _, rows, _ = studied()
    whole = DensityForest(2, bootstrap=False, **SMALL)
    X = rows["train"]
    found = study(whole.fit(X).grown, {"train": (X, X)}, 1, "full").parts
    assert "chosen" not in found
    deepest = max(naive.depths(nodes).max() for nodes, _ in trees_of(whole))
    assert list(found["density"].grids) == [1, deepest]
    assert found["density"].chosen is None


def test_trees_that_did_not_split_have_a_plane_of_one_depth():
    X = heaps(20, 2, 0)
    model = DensityForest(2, **SMALL | {"min_samples_leaf": 20}).fit(X)
    assert list(study(model.grown, {"train": (X, X)}, 1, "full").parts["density"].grids) == [0]

"""What experiments compute themselves, from logged models and curves."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from matplotlib.figure import Figure
from omegaconf import OmegaConf

from experiments import (
    _paper,
    _regions,
    dominant_feature,
    forest_size,
    max_margin,
    randomness_rho,
)
from forestlab import config as configs
from forestlab.run.making import Shelf, build

# ---- paper -------------------------------------------------------------------------------------


def test_paper_has_rows_of_panels_in_inches():
    figure, rows = _paper.paper("A title", [[2.0, 3.0], [1.0, 1.0, 1.0]], [1.5, 2.5], right=1.2)
    assert [len(row) for row in rows] == [2, 3]
    inches = figure.get_size_inches()
    frames = [[ax.get_position() for ax in row] for row in rows]
    for row, widths, height in zip(frames, [[2.0, 3.0], [1.0] * 3], [1.5, 2.5], strict=True):
        for frame, width in zip(row, widths, strict=True):
            assert frame.width * inches[0] == pytest.approx(width)
            assert frame.height * inches[1] == pytest.approx(height)
        for left, right in pairwise(row):
            assert (right.x0 - left.x1) * inches[0] == pytest.approx(_paper.GAP)
    assert (1.0 - frames[0][1].x1) * inches[0] == pytest.approx(1.2)  # the wider row
    between = (frames[0][0].y0 - frames[1][0].y1) * inches[1]
    assert between == pytest.approx(_paper.BOTTOM + _paper.TOP)


def test_bands_are_a_standard_deviation_wide():
    table = pd.DataFrame({"x": [1, 1, 2, 2], "y": [0.0, 2.0, 5.0, 5.0]})
    ax = Figure().add_subplot()
    _paper.banded(ax, table, "x", "y", "#000000")
    (line,), (band,) = ax.lines, ax.collections
    assert line.get_xydata().tolist() == [[1.0, 1.0], [2.0, 5.0]]
    at_1 = [y for x, y in band.get_paths()[0].vertices if x == 1.0]
    assert (min(at_1), max(at_1)) == pytest.approx((1.0 - np.sqrt(2.0), 1.0 + np.sqrt(2.0)))


# ---- planes ------------------------------------------------------------------------------------


class Run:
    """A run as `table` sees it, without a store."""

    def __init__(self, folder, *overrides: str):
        configs.register()
        with initialize_config_dir(config_dir=str(configs.conf_folder()), version_base="1.3"):
            config = compose("config", overrides=["tracking=none", "n_jobs=1", *overrides])
        self.config = configs.settled(config, True)
        OmegaConf.save(self.config, folder / "config.yaml", resolve=True)
        self.folder = folder

    def path(self, name):
        return self.folder / name

    def model(self):
        data = Shelf().data(self.config)
        rows = data.parts.train
        model = build(self.config, "classification")
        return model.fit(data.dataset.frame.iloc[rows], data.y[rows])


MARGIN = ("dataset=clouds", "dataset.n_samples=40", "dataset.test_size=0", "dataset.valid_size=0")


def test_a_plane_is_what_the_model_says(tmp_path):
    run = Run(tmp_path, *MARGIN, "model=forest", "n_estimators=5")
    (whole, stump) = _regions.plane(run, None, 1)
    assert whole.points.shape == (40, 2)
    assert set(whole.labels) == {0, 1}
    left, right, bottom, top = whole.extent
    h, w, _ = whole.grid.shape
    place = pd.DataFrame(
        {"x": [left + (right - left) * (30 + 0.5) / w], "y": [bottom + (top - bottom) * 7.5 / h]}
    )
    model = run.model()
    assert whole.grid[7, 30] == pytest.approx(model.predict_proba(place)[0], abs=1e-15)
    assert stump.grid[7, 30] == pytest.approx(model.predict_proba(place, 1)[0], abs=1e-15)


@pytest.mark.parametrize(
    ("right_from", "distance"),
    [
        ((0.0,), 0.0),
        ((0.2,), 0.2),
        ((-0.3,), 0.3),
        ((0.2, -0.3), 0.25),  # the mean of two lines
    ],
)
def test_the_distance_of_one_crossing(right_from, distance):
    x = np.arange(-max_margin.REACH + max_margin.PIXEL / 2, max_margin.REACH, max_margin.PIXEL)
    p = np.array([np.where(x > place, 0.9, 0.1) for place in right_from])
    assert max_margin.mean_distance(p) == pytest.approx(distance, abs=1e-12)


def test_the_distance_of_three_crossings_is_what_lies_between():
    x = np.arange(-max_margin.REACH + max_margin.PIXEL / 2, max_margin.REACH, max_margin.PIXEL)
    p = np.where((x > 0.1) | ((x > -0.6) & (x < -0.4)), 1.0, 0.0)[None]
    assert max_margin.mean_distance(p) == pytest.approx(0.1 + 0.2, abs=1e-12)


def test_the_line_is_the_widest_of_those_that_are_cut():
    """Of columns that between the nearest rows, of sums that across their shortest distance."""
    X, y = np.array([[-3.0, 1], [0, 0], [2, 2], [3, 1]]), np.array([0, 0, 1, 1])
    assert max_margin.line_of(X, y, "uniform") == (1.0, 0.0)
    found = max_margin.line_of(X, y, "oblique")
    assert found == pytest.approx((2.0, -1.0), abs=1e-6)  # x + y = 2, as the machine finds it
    np.testing.assert_allclose(found.at(np.array([0.0, 1.0])), [2.0, 1.0], atol=1e-6)


def test_the_way_that_cuts_are_drawn():
    runs = {
        "midway": {"search.name": "exact"},
        "pairs": {"search.name": "exact", "model.rho_draws": "pairs"},
        "uniform": {"search.name": "uniform", "model.rho_draws": "features"},
        "oblique": {"search.name": "exact", "learner.name": "oblique"},
    }
    for way, params in runs.items():
        assert max_margin.way_of(SimpleNamespace(params=params)) == way


def test_the_first_trees_are_the_smaller_forest(tmp_path, monkeypatch):
    """Distances of the first 1, 3, … trees are those of forests that were grown so small."""
    options = (*MARGIN, "model=rno", "model.rho=2")
    monkeypatch.setattr(max_margin, "SIZES", (1, 3, 9))
    found = max_margin.distances(Run(tmp_path, *options, "n_estimators=9"))
    assert found[0] > 0.0
    for size, distance in zip((1, 3, 9), found, strict=True):
        monkeypatch.setattr(max_margin, "SIZES", (size,))
        assert max_margin.distances(Run(tmp_path, *options, f"n_estimators={size}")) == [distance]


def test_the_planes_of_fewer_trees_are_those_of_smaller_forests(tmp_path):
    options = ("dataset=spirals4", "dataset.n_samples=60", "dataset.test_size=0",
               "dataset.valid_size=0", "model=rno")  # fmt: skip
    found = _regions.by_size(Run(tmp_path, *options, "n_estimators=4"), 1, 4)
    for size in (1, 4):
        (alone,) = _regions.plane(Run(tmp_path, *options, f"n_estimators={size}"))
        assert found[size].extent == alone.extent
        # Sums of four numbers below 1, in another order.
        assert found[size].grid == pytest.approx(alone.grid, abs=1e-15)


# ---- numbers -----------------------------------------------------------------------------------


def test_roughness_is_the_root_mean_square_step():
    flat = np.full((3, 4, 2), 0.5)
    assert forest_size.roughness(flat) == 0.0
    steps = np.zeros((2, 2, 2))
    steps[:, 0, 0] = steps[:, 1, 1] = 1.0  # one class on the left, the other on the right
    # Four pairs of neighbours; two of them differ, by 1 in each of two classes.
    assert forest_size.roughness(steps) == pytest.approx(np.sqrt(2 * 2 / 4))


def test_brier_of_theory_goes_through_both_ends():
    sizes = np.array([1, 2, 5, 200])
    limits, gains = {0: 0.2, 1: 0.3}, {0: 0.5, 1: 0.1}
    table = pd.concat(
        pd.DataFrame({"seed": s, "n_trees": sizes, "brier": limits[s] + gains[s] / sizes})
        for s in (0, 1)
    )
    table.loc[table["n_trees"] == 5, "brier"] = 9.0  # not asked
    theory = forest_size.brier_of_theory(table)
    for seed in (0, 1):
        expected = limits[seed] + gains[seed] / sizes
        assert theory.loc[seed].to_numpy() == pytest.approx(expected, rel=1e-12)


def test_mean_confidence_leaves_empty_bins_out():
    assert randomness_rho.mean_confidence([0, 3, 1], [None, 0.5, 0.9]) == pytest.approx(0.6)


def test_root_share_counts_the_first_feature(tmp_path):
    run = Run(tmp_path, "dataset=dominant", "dataset.n_samples=400", "model=forest",
              "model.max_features=4", "n_estimators=30")  # fmt: skip
    roots = [tree.describe()["feature"] for tree in run.model().trees_]
    assert dominant_feature.root_share(run) == roots.count("strong") / 30

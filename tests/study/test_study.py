"""The study of a run as a whole: what is found out, under which names it is logged, what is drawn.

The parts have tests of their own; here they are asked together, and compared with plain ways to the
same numbers.
"""

import json

import numpy as np
import pandas as pd
import pytest
from command import composed
from omegaconf import OmegaConf
from pictures import notes
from sklearn.calibration import calibration_curve

from forestlab.config import ConfigError, fingerprint, settled
from forestlab.run.checks import check
from forestlab.run.making import Shelf
from forestlab.run.measure import fit_and_study
from forestlab.run.shared import Shared
from forestlab.study import artifacts
from forestlab.study.metrics import METRICS
from forestlab.study.numbers import numbers_of
from forestlab.study.part import About
from forestlab.study.pictures import pictures

SMALL = ("tracking=none", "n_estimators=12")
# A run's model knows the names of its columns; here it is asked with arrays.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")


class Studied:
    """A job done in this process, and its files in a folder."""

    def __init__(self, folder, *overrides, pictures=False):
        shared, config = Shared(), composed(*SMALL, *overrides)
        check(config, shared.shelf)
        job = shared.job(config)
        self.config, self.data = job.config, job.data
        self.done = fit_and_study(job, False)
        self.folder = folder
        artifacts.write(folder, self.done.found, self.about, pictures)
        numbers = numbers_of(self.done.found, self.done.seconds)
        self.metrics: dict[str, dict[int, float]] = {}
        for name, value, step in numbers:
            self.metrics.setdefault(name, {})[step] = value

    @property
    def found(self):
        return self.done.found

    @property
    def about(self):
        dataset, rows = self.data.dataset, self.data.parts._asdict()
        return About("a title", list(dataset.frame.columns), rows, dataset.image_shape)

    def rows(self, split):
        rows = self.data.parts._asdict()[split]
        return self.data.X[rows], self.data.y[rows]

    def table(self, name):
        return json.loads((self.folder / name).read_text())

    def names(self):
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*.*")}


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    return Studied(tmp_path_factory.mktemp("digits"), "study=full", pictures=True)


@pytest.fixture(scope="module")
def sine(tmp_path_factory):
    options = ("dataset=sine", "dataset.n_samples=400", "study=full")
    return Studied(tmp_path_factory.mktemp("sine"), *options, pictures=True)


# ---- full --------------------------------------------------------------------------------------


def test_the_surface_table_holds_every_metric_of_every_cell(digits):
    table = pd.read_csv(digits.folder / "surface.csv")
    model = digits.done.model
    n_depths = max(view.depth for view in model.trees_) + 1
    sizes = [1, 2, 3, 5, 7, 10, 12]
    assert len(table) == 4 * len(sizes) * n_depths
    assert set(table["split"]) == {"train", "valid", "test", "oob"}
    wanted = {name for name, row in METRICS.items() if row.task == "classification"}
    assert wanted <= set(table.columns)
    X, y = digits.rows("test")
    test = table[(table["split"] == "test") & (table["n_trees"] == 12)].set_index("depth")
    for depth in (0, 3, n_depths - 1):
        assert test["accuracy"][depth] == np.mean(model.predict(X, depth=depth) == y)
        assert digits.metrics["accuracy/test"][depth] == test["accuracy"][depth]


def test_metrics_by_the_number_of_trees(digits):
    sizes = [1, 2, 3, 5, 7, 10, 12]
    for metric in ("accuracy", "brier"):
        curve = digits.metrics[f"by_trees/{metric}/oob"]
        assert list(curve) == sizes
        assert curve[12] == list(digits.metrics[f"{metric}/oob"].values())[-1]
    errors = digits.metrics["by_trees/oob_error"]
    for size in sizes:  # the same by another way: without the walk over depths
        assert errors[size] == pytest.approx(1 - digits.metrics["by_trees/accuracy/oob"][size])


def test_voters_are_logged_with_the_out_of_bag_error(digits):
    X, y = digits.rows("train")
    answers, voters = digits.done.model.predict_oob(X)
    assert digits.metrics["by_trees/oob_voters"][12] == pytest.approx(voters.mean())
    table = digits.table("oob/voters.json")
    assert sum(table["rows"]) == len(X)
    wrong = answers[voters == 4].argmax(axis=1) != y[voters == 4]
    assert table["error"][table["voters"].index(4)] == pytest.approx(wrong.mean())
    assert table["error"][0] is None
    assert table["voters"][0] == 0
    rows = pd.read_parquet(digits.folder / "oob/predictions.parquet")
    assert rows["voters"].tolist() == voters.tolist()


def test_strength_and_its_bound_are_above_the_error(digits):
    """Breiman's theorem 2.3, of the forest of ever more trees; twelve are near enough for it."""
    deepest = max(digits.metrics["strength/oob"])
    s, rho = (digits.metrics[f"{name}/oob"][deepest] for name in ("strength", "correlation"))
    assert digits.metrics["bound/oob"][deepest] == pytest.approx(rho * (1 - s**2) / s**2)
    assert 0 < 1 - digits.metrics["accuracy/oob"][deepest] < digits.metrics["bound/oob"][deepest]


def test_calibration_by_combiner_and_depth(digits):
    tables = digits.table("calibration/test.json")
    assert set(tables) == {"average", "product", "vote"}
    for combiner, table in tables.items():
        logged = digits.metrics[f"ece/test_{combiner}"]
        assert list(logged.values()) == table["ece"]
        parts = (digits.metrics[f"{part}/test_{combiner}"] for part in PARTS)
        for depth, (a, b, c, d) in enumerate(zip(*(part.values() for part in parts), strict=True)):
            assert a - b + c + d == pytest.approx(table["brier"][depth], abs=1e-9)
    model = digits.done.model
    X, y = digits.rows("test")
    p = model.predict_proba(X)
    right = p.argmax(axis=1) == y
    shares, confidence = calibration_curve(right, p.max(axis=1), n_bins=15)
    table = tables["average"]
    known = [i for i, rows in enumerate(table["rows"][-1]) if rows]
    np.testing.assert_allclose([table["accuracy"][-1][i] for i in known], shares)
    # Sums are kept in whole units of 2⁻³².
    np.testing.assert_allclose([table["confidence"][-1][i] for i in known], confidence, atol=1e-9)


PARTS = ("reliability", "resolution", "brier_of_data", "within_bins")


def test_label_sets_and_their_coverage(digits):
    levels = [50, 60, 70, 80, 90]  # of metrics MLflow shows the last
    for method in ("posterior", "conformal"):
        assert list(digits.metrics[f"coverage/{method}"]) == levels
        sizes = list(digits.metrics[f"width/{method}"].values())
        assert sizes == sorted(sizes)
    # 450 rows: 4 standard errors of a share of 0.9.
    assert digits.metrics["coverage/conformal"][90] == pytest.approx(0.9, abs=4 * 0.0142)


def test_intervals_and_their_coverage(sine):
    for method in ("trees", "jackknife", "conformal", "quantiles"):
        assert list(sine.metrics[f"coverage/{method}"]) == [50, 60, 70, 80, 90]
    # 100 test rows: 4 standard errors of a share of 0.9.
    assert sine.metrics["coverage/conformal"][90] == pytest.approx(0.9, abs=4 * 0.03)
    assert 0 <= sine.metrics["summary/jackknife_negative_share"][0] <= 1
    band = sine.table("band.json")
    model = sine.done.model
    at = np.array(band["x"])[:, None]
    depth = sine.metrics["summary/chosen_depth"][0]
    assert band["depth"] == depth < sine.done.found.surfaces["test"].values["rmse"].shape[1] - 1
    np.testing.assert_array_equal(band["mean"], model.predict(at, depth=int(depth)))
    np.testing.assert_allclose(band["expected"], np.sin(2 * np.pi * at[:, 0]), atol=1e-12)
    for method in ("trees", "jackknife", "conformal", "quantiles"):
        low, high = (np.array(band[method][end], float) for end in ("low", "high"))
        unknown = np.isnan(low)
        np.testing.assert_array_equal(unknown, np.isnan(high))
        assert unknown.any() == (method == "jackknife")  # of twelve trees
        assert (low <= high)[~unknown].all()


def test_importance_of_both_kinds(digits):
    table = digits.table("importance.json")
    assert len(table["feature"]) == len(table["permutation_mean"]) == 64
    assert table["permutation_rows_a_tree"] == digits.metrics["summary/rows_permutation"][0]
    assert table["permutation_mean"][0] == 0  # a pixel that is always empty
    both = np.corrcoef(table["mean"], table["permutation_mean"])[0, 1]
    assert both > 0.5


def test_every_picture_of_a_full_study_has_its_table(digits, sine):
    for studied in (digits, sine):
        pictures = {name for name in studied.names() if name.endswith(".png")}
        tables = {name.rsplit(".", 1)[0] for name in studied.names() if not name.endswith(".png")}
        assert {name.removesuffix(".png") for name in pictures} <= tables
    assert {"surface.png", "strength.png", "coverage.png", "oob/voters.png"} <= digits.names()
    assert {"calibration/test.png", "calibration/oob.png"} <= digits.names()
    assert {"surface.png", "strength.png", "coverage.png", "band.png"} <= sine.names()


def test_regions_of_a_plane(tmp_path):
    moons = Studied(tmp_path, "dataset=moons", "dataset.n_samples=200", "study=full", pictures=True)
    assert "regions.png" in moons.names()
    regions = moons.found.parts["regions"]
    deepest = max(regions.posteriors)
    grid = regions.posteriors[deepest]
    side = len(grid)
    left, right, bottom, top = regions.extent
    x, y = left + (right - left) * 2.5 / side, bottom + (top - bottom) * 7.5 / side
    expected = moons.done.model.predict_proba([[x, y]], depth=deepest)[0]
    assert grid[7, 2].tolist() == expected.tolist()


def test_costly_parts_look_at_some_rows(tmp_path):
    few = Studied(tmp_path, "dataset=wine", "study=full", "study.rows=10")
    assert few.metrics["summary/rows_intervals"][0] == 10
    assert (
        few.metrics["summary/rows_calibration_oob"][0] == 99
    )  # ten times as many at most; all there are


@pytest.mark.parametrize(
    "overrides",
    [
        ("model=tree", "dataset=iris"),
        ("model=tree", "dataset=boston"),
        ("model=subspace", "dataset=iris"),
        ("model=rno", "dataset=iris", "dataset.valid_size=0"),
        ("model=forest", "dataset=iris", "dataset.test_size=0", "dataset.valid_size=0"),
        ("model=forest", "dataset=diabetes", "dataset.test_size=0"),
        ("model=forest", "dataset=iris", "model.bootstrap=false", "model.max_samples=0.5"),
        ("model=forest", "dataset=iris", "n_estimators=1"),
        ("model=forest", "dataset=sine", "max_depth=1", "dataset.n_samples=60"),
    ],
)
def test_every_variant_can_be_studied_in_full(tmp_path, overrides):
    studied = Studied(tmp_path, "study=full", *overrides, pictures=True)
    assert "surface" in studied.found.parts
    assert "surface.csv" in studied.names()


# ---- the chosen depth --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "judge"), [((), "valid"), (("dataset.valid_size=0",), "oob")]
)
@pytest.mark.parametrize("dataset", ["iris", "diabetes"])
def test_all_that_tells_a_chosen_depth_tells_the_same(tmp_path, dataset, overrides, judge):
    """The log, the table and the picture: by validation, and without it out of bag."""
    studied = Studied(tmp_path, f"dataset={dataset}", "study=light", *overrides)
    name, sign = ("accuracy", -1) if dataset == "iris" else ("rmse", 1)
    curve = studied.metrics[f"{name}/{judge}"]
    depth = min((d for d in curve if d), key=lambda d: (sign * curve[d], d))
    assert studied.metrics["summary/chosen_depth"] == {0: depth}
    assert (
        studied.metrics[f"summary/chosen_{name}_test"][0] == studied.metrics[f"{name}/test"][depth]
    )
    table = studied.table("curves/depth.json")
    assert (table["chosen"], table["chosen_on"]) == (depth, judge)
    drawn = dict(pictures(studied.found, studied.about))
    by = {"valid": "validation rows", "oob": "out-of-bag rows"}[judge]
    assert f"depth {depth}, chosen by {by}" in notes(drawn["curves/depth.png"])


# ---- light, off, auto --------------------------------------------------------------------------


def test_light_has_no_surface_but_what_a_sweep_compares(tmp_path):
    light = Studied(tmp_path, "study=light", "dataset=iris")
    assert "surface.csv" not in light.names()
    assert {"oob/voters.json", "confusion/test.json", "uncertainty/test.json"} <= light.names()
    assert "by_trees/oob_error" in light.metrics
    assert "strength/oob" not in light.metrics


def test_off_measures_the_forest_as_it_is():
    done, light = (
        fit_and_study(Shared().job(composed(*SMALL, f"study={study}", "dataset=iris")), False)
        for study in ("off", "light")
    )
    off = {(n.name, n.step): n.value for n in numbers_of(*done[1:])}
    more = {(n.name, n.step): n.value for n in numbers_of(*light[1:])}
    measured = {
        key: value for key, value in off.items() if not key[0].startswith("summary/seconds")
    }
    assert {"accuracy/train", "accuracy/valid", "accuracy/test"} <= {name for name, _ in measured}
    for key, value in measured.items():
        assert more[key] == value  # at the same step, the depth
    assert "accuracy/oob" not in {name for name, _ in measured}


def test_auto_is_full_alone_and_light_in_a_sweep():
    assert settled(composed(), is_sweep=False).study.name == "full"
    assert settled(composed(), is_sweep=True).study.name == "light"
    assert settled(composed("study=off"), is_sweep=True).study.name == "off"
    # A run that is studied more is another result; one of a sweep is named as it always was.
    full, light = (fingerprint(settled(composed(), sweep)) for sweep in (False, True))
    assert full != light
    bare = OmegaConf.to_container(composed())
    del bare["study"]
    assert fingerprint(OmegaConf.create(bare)) == light


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["study.name=deep"], "there is no study=deep: choose auto, full, light, off."),
        (["study.rows=0"], "study.rows must be at least 1; got 0."),
        (["study.draws=-1"], "study.draws must be at least 0; got -1."),
        (["dataset=sine", "study.draws=1"], "study.draws must be 0 or at least 2"),
        (["study.draws=5"], "needs a data set whose truth is known"),
        (["dataset=sine", "study.draws=5", "dataset.rescale=true"], "got dataset.rescale=True."),
        (["dataset=twonorm", "study.draws=5", "dataset.drop=[x1]"], "got dataset.drop="),
    ],
)
def test_mistakes_are_told_in_a_sentence(overrides, told):
    with pytest.raises(ConfigError, match=told.replace(".", r"\.")):
        check(composed(*SMALL, *overrides), Shelf())


# ---- draws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dataset", ["sine", "twonorm"])
def test_bias_and_variance_over_draws(tmp_path, dataset):
    options = ("study=light", "study.draws=4", "study.draw_rows=50", f"dataset={dataset}")
    studied = Studied(tmp_path, *options, "dataset.n_samples=300", pictures=True)
    parts = [studied.metrics[f"{name}/draws"] for name in ("bias2", "variance", "noise")]
    for depth, expected in studied.metrics["expected_error/draws"].items():
        assert sum(part[depth] for part in parts) == pytest.approx(expected)
    assert studied.metrics["summary/rows_draws"][0] == 4
    assert {"bias_variance.json", "bias_variance.png"} <= studied.names()
    assert ("labels_bias/draws" in studied.metrics) == (dataset == "twonorm")


# ---- what must not happen ----------------------------------------------------------------------


def test_rows_without_voters_have_no_answer(tmp_path):
    few = Studied(tmp_path, "study=light", "dataset=iris", "n_estimators=2")
    rows = pd.read_parquet(tmp_path / "oob/predictions.parquet")
    alone = rows["voters"] == 0
    assert alone.any()
    assert rows.loc[alone, ["predicted", "error", "p_true"]].isna().all(axis=None)
    assert 1 - rows["error"].mean() == pytest.approx(few.found.curves["accuracy"]["oob"][-1])


@pytest.mark.parametrize("combine", ["average", "product", "vote"])
def test_errors_by_trees_are_of_the_models_own_combiner(tmp_path, combine):
    options = ("study=full", "dataset=wine", f"model.combine={combine}")
    found = Studied(tmp_path, *options).metrics
    for size, accuracy in found["by_trees/accuracy/oob"].items():
        assert found["by_trees/oob_error"][size] == pytest.approx(1 - accuracy)


def test_calibration_out_of_bag_looks_at_all_kinds_of_rows(tmp_path):
    """Rows that stand class by class, as those of iris do, of which it may look at few."""
    sorted_by_class = ("dataset.test_size=0", "dataset.valid_size=0", "study.rows=5")
    found = Studied(tmp_path, "study=full", "dataset=iris", *sorted_by_class)
    assert found.metrics["summary/rows_calibration_oob"][0] == 50
    # Murphy's uncertainty of three equally frequent classes is Σ p (1 - p) = 2/3.
    assert found.metrics["brier_of_data/oob_average"][1] == pytest.approx(2 / 3, abs=0.01)


def test_pictures_leave_no_figure_open(tmp_path):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    Studied(tmp_path, "study=light", "dataset=iris", pictures=True)
    assert plt.get_fignums() == before

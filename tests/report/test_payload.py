"""What the page of a run is told, against plain ways to the same numbers."""

import numpy as np
import pytest
from shown import Shown, data_of, numbers_of, shares_of, shown, split_in, unpacked, way_of
from sklearn.metrics import confusion_matrix
from small import data_for, forest_for

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, report
from forestlab.forest import desk
from forestlab.model.density import DensityForest
from forestlab.report.packing import brief, numbers, packed, shares, smallest
from forestlab.report.payload import WORDS
from forestlab.report.subject import MOST_DEPTHS, Room, grid_of
from forestlab.run.rehearsal import slow_grower
from forestlab.study.calibration import N_BINS
from forestlab.study.metrics import METRICS
from forestlab.study.part import About, Findings
from forestlab.study.surfaces import surfaces_of

CELLS = [(1, 0), (1, 2), (3, 1), (5, 3), (7, 4)]  # numbers of trees, and depths
STEP = 0.5 / 250 + 1e-6  # of a probability, to the next that a page has


@pytest.fixture(scope="module")
def classes():
    return shown("classification")


@pytest.fixture(scope="module")
def regression():
    return shown("regression")


def cell_of(told, n_trees, depth):
    return list(told["sizes"]).index(n_trees), list(told["depths"]).index(depth)


# ---- classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_trees", "depth"), CELLS)
def test_cells_are_those_of_a_smaller_forest(classes, n_trees, depth):
    told, (X, y) = classes.told, classes.data["test"]
    s, d = cell_of(told, n_trees, depth)
    other = forest_for("classification", n_trees).fit(*classes.data["train"])
    p = other.predict_proba(X, depth)

    answers = told["rows"]["answers"]
    own = shares_of(answers["posteriors"][:, :, s, d])
    assert np.abs(own - np.take_along_axis(p, answers["classes"].astype(int), axis=1)).max() <= STEP
    assert (other.classes_[answers["predicted"][:, s, d]] == other.predict(X, depth)).all()
    assert np.abs(shares_of(answers["top"][:, s, d]) - p.max(axis=1)).max() <= STEP

    counts = confusion_matrix(y, other.predict(X, depth), labels=other.classes_)
    assert (told["judged"]["confusion"][s, d] == counts).all()


@pytest.mark.parametrize(("n_trees", "depth"), CELLS)
def test_bins_of_confidence(classes, n_trees, depth):
    told, (X, y) = classes.told, classes.data["test"]
    s, d = cell_of(told, n_trees, depth)
    other = forest_for("classification", n_trees).fit(*classes.data["train"])
    found = {key: np.zeros(N_BINS) for key in ("rows", "confidence", "right")}
    for p, label in zip(other.predict_proba(X, depth), y, strict=True):
        (b,) = [b for b in range(N_BINS) if b / N_BINS < p.max() <= (b + 1) / N_BINS]
        found["rows"][b] += 1
        found["confidence"][b] += p.max()
        found["right"][b] += other.classes_[p.argmax()] == label
    for key, values in found.items():
        np.testing.assert_allclose(told["judged"]["bins"][key][s, d], values, rtol=1e-6)


def test_calibration_at_the_end_is_that_of_the_study(classes):
    told, part = classes.told, classes.found.parts["calibration"]["test"].by_combiner["average"]
    bins = told["judged"]["bins"]
    assert (bins["rows"][-1] == part.rows).all()
    gaps = np.abs(bins["right"][-1] - bins["confidence"][-1]).sum(axis=1) / len(
        classes.data["test"][1]
    )
    np.testing.assert_allclose(gaps, part.ece, rtol=1e-5)


def test_metrics_are_those_of_the_surface(classes):
    told = classes.told
    assert set(told["surfaces"]) == {"train", "test", "oob"}
    for split, surface in classes.found.surfaces.items():
        for key, values in surface.values.items():
            np.testing.assert_array_equal(told["surfaces"][split][key], values.astype(np.float32))
    assert told["chosen"]["depth"] == classes.found.parts["chosen"].depth
    assert next(metric["key"] for metric in told["metrics"]) == told["main"] == "accuracy"


def test_every_metric_is_explained():
    assert set(WORDS) >= set(METRICS)


def test_classes_that_training_did_not_see():
    X, y = data_for("classification")
    y = y.astype(object)
    data = split_in(X, y)
    data["test"][1][:3] = "yew"
    data = {split: (own, labels.astype(str)) for split, (own, labels) in data.items()}
    model = forest_for("classification", 3).fit(*data["train"])
    told = Shown(model, data, list("abcd")).told
    assert (told["rows"]["truth"][:3] == -1).all()
    assert told["judged"]["confusion"][0, 0].sum() == len(data["test"][1]) - 3
    assert told["judged"]["bins"]["rows"][0, 0].sum() == len(data["test"][1])


def test_rows_of_many_classes_have_those_they_are_given_most_of():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 30
    X = y[:, None] + rng.normal(size=(300, 3))
    data = split_in(X, y, 60)
    model = ForestClassifier(4, random_state=0, max_depth=6).fit(*data["train"])
    told = Shown(model, data, list("abc")).told
    answers = told["rows"]["answers"]
    assert answers["classes"].shape == (60, 10)
    own = model.predict_proba(data["test"][0])
    for row in range(60):
        kept = answers["classes"][row]
        assert told["rows"]["truth"][row] in kept
        assert len(set(kept)) == 10
        told_shares = shares_of(answers["posteriors"][row, :, -1, -1])
        assert np.abs(told_shares - own[row, kept]).max() <= STEP
    assert (answers["predicted"][:, -1, -1] == own.argmax(axis=1)).all()


# ---- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_trees", "depth"), CELLS)
def test_numbers_and_their_spreads(regression, n_trees, depth):
    told, (X, y) = regression.told, regression.data["test"]
    s, d = cell_of(told, n_trees, depth)
    answers, trees = told["rows"]["answers"], regression.model.estimators_[:n_trees]
    each = np.stack([tree.predict(X, depth) for tree in trees])
    within = []
    for tree in trees:
        nodes, stats = tree.tree_.tree.nodes, tree.tree_.tree.stats
        ends = [tree.tree_.walk(x, depth)[-1].node for x in X]
        assert (nodes["weight"][ends] == stats[ends, 0]).all()
        within.append(stats[ends, 2] / stats[ends, 0])
    between = each.var(axis=0, ddof=1) if n_trees > 1 else np.zeros(len(X))
    wanted = {
        "answers": each.mean(axis=0),
        "between": np.sqrt(between),
        "total": np.sqrt(between + np.mean(within, axis=0)),
    }
    for key, values in wanted.items():
        found = numbers_of(answers[key])[:, s, d]
        np.testing.assert_allclose(found, values, rtol=0, atol=answers[key]["step"])
    np.testing.assert_allclose(told["rows"]["truth"], y, rtol=1e-6)


@pytest.mark.long
def test_spreads_of_rows_that_go_both_ways():
    """What a tree says of such a row is a mixture, which has a spread too."""
    X, y = data_for("regression")
    X[::3, 0] = np.nan
    data = split_in(X, y)
    model = forest_for("regression", 4, missing="both").fit(*data["train"])
    told = Shown(model, data, list("abcd")).told
    assert told["branches"]
    each = np.stack([tree.predict(data["test"][0], 2) for tree in model.estimators_])
    s, d = cell_of(told, 4 if 4 in told["sizes"] else told["sizes"][-1], 2)
    answers = told["rows"]["answers"]
    np.testing.assert_allclose(
        numbers_of(answers["answers"])[:, s, d], each.mean(axis=0), atol=answers["answers"]["step"]
    )
    np.testing.assert_allclose(
        numbers_of(answers["between"])[:, s, d],
        each.std(axis=0, ddof=1),
        atol=answers["between"]["step"],
    )


# ---- trees -------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_ways_are_those_of_the_trees(task, classes, regression):
    made = classes if task == "classification" else regression
    trees, X = made.told["trees"], made.data["test"][0]
    assert len(trees["first"]) - 1 == trees["n_all"] == 7
    for t, tree in enumerate(made.model.estimators_):
        view = tree.tree_
        view.feature_names = ["a", "b", "c", "d"]
        for row, x in enumerate(X):
            asked, end = way_of(trees, t, row)
            steps = view.walk(x)
            assert asked == [(step.question, step.answer) for step in steps[:-1]]
            assert trees["rows"][end] == view.tree.nodes["n_rows"][steps[-1].node]


def test_nodes_keep_their_classes(classes):
    trees = classes.told["trees"]
    ends = np.cumsum(trees["n_classes"], dtype=int)
    stats = classes.model.forest_.stats
    for i, end in enumerate(ends):
        some = slice(end - int(trees["n_classes"][i]), end)
        own = np.zeros(stats.shape[1])
        own[trees["classes"][some]] = trees["weights"][some]
        np.testing.assert_array_equal(own, stats[i])


def test_nodes_keep_mean_and_deviation(regression):
    trees, stats = regression.told["trees"], regression.model.forest_.stats
    np.testing.assert_allclose(trees["mean"], stats[:, 1], rtol=1e-6)
    np.testing.assert_allclose(trees["deviation"], np.sqrt(stats[:, 2] / stats[:, 0]), rtol=1e-5)


def test_of_a_tree_that_is_too_large_the_upper_levels():
    made = shown("classification", room=Room(trees=300))
    trees, full = made.told["trees"], shown("classification").told["trees"]
    assert len(trees["first"]) == 2
    n_left = int(full["first"][1]) - int(trees["first"][1])
    assert 0 < n_left == trees["left_out"][0]
    notes = " ".join(made.told["notes"])
    assert "Of 7 trees the first 1" in notes
    assert f"{n_left} nodes" in notes
    shorter = 0
    for row in range(30):
        asked, end = way_of(trees, 0, row)
        whole, whole_end = way_of(full, 0, row)
        assert asked == whole[: len(asked)]
        is_cut = trees["skip"][end] == 0 and trees["text"][end] > 0
        assert is_cut == (len(asked) < len(whole))
        shorter += is_cut
        if not is_cut:
            assert trees["rows"][end] == full["rows"][whole_end]
    assert shorter > 0


def test_questions_about_categories_and_sums_are_in_words(monkeypatch):
    """Trees are grown by plain Python: for two questions no kernels are worth their while."""
    monkeypatch.setattr(desk, "grow_kernel", slow_grower)
    X, y = data_for("classification")
    levels = np.array(["ash", "beech", "elm"])
    X[:, 0] = np.arange(len(X)) % 3
    y = np.where(X[:, 0] == 1, "one", "other")
    data = split_in(X, y)
    small = {"max_depth": 1, "random_state": 0}
    model = TreeClassifier(categorical_features=[0], **small).fit(*data["train"])
    told = Shown(model, data, list("abcd"), levels=[levels, None, None, None]).told
    assert told["trees"]["texts"][1] in ("a in {beech}", "a in {ash, elm}")
    assert told["rows"]["features"]["levels"] == {"0": ["ash", "beech", "elm"]}
    oblique = ForestClassifier(2, learner="oblique", **small).fit(*data["train"])
    texts = Shown(oblique, data, list("abcd")).told["trees"]["texts"]
    assert any("·" in text and "≤" in text for text in texts)


# ---- where there are no rows -------------------------------------------------------------------


def test_regions_are_the_answers_of_the_plane():
    X, y = data_for("classification")
    data = split_in(X[:, :2], y)
    model = forest_for("classification", 3).fit(*data["train"])
    plane = Shown(model, data, ["a", "b"]).told["plane"]
    side, (left, right, bottom, top) = plane["side"], plane["extent"]
    x = left + (np.arange(side) + 0.5) / side * (right - left)
    y = bottom + (np.arange(side) + 0.5) / side * (top - bottom)
    grid = np.array([(a, b) for b in y for a in x])
    other = forest_for("classification", 2).fit(*data["train"])
    p = other.predict_proba(grid, 2)
    assert (plane["classes"][1, 2] == p.argmax(axis=1)).all()
    assert np.abs(shares_of(plane["top"][1, 2]) - p.max(axis=1)).max() <= 5 / 250 + STEP


def test_a_band_is_the_answer_along_the_feature():
    X, y = data_for("regression")
    data = split_in(X[:, :1], y)
    model = ForestRegressor(3, random_state=1).fit(*data["train"])
    plane = Shown(model, data, ["a"]).told["plane"]
    x = plane["x"].astype(float)[:, None]
    inner = slice(1, -1)  # the ends are rounded to float32
    each = np.stack([tree.predict(x, 2) for tree in model.estimators_])[:, inner]
    s = len(plane["answers"]["codes"][0]) - 1
    for key, values in (("answers", each.mean(axis=0)), ("between", each.std(axis=0, ddof=1))):
        found = numbers_of(plane[key])[inner, s, 2]
        close = np.abs(found - values) <= plane[key]["step"]
        assert close.mean() > 0.97  # a rounded x may stand on the other side of a cut


def test_a_density_is_that_of_the_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    data = {"train": (X[:150], X[:150]), "test": (X[150:], X[150:])}
    model = DensityForest(4, max_depth=3, random_state=0).fit(X[:150])
    told = Shown(model, data, ["a", "b"]).told
    answers = told["rows"]["answers"]["answers"]
    for depth in range(4):
        wanted = model.score_samples(X[150:], depth)
        np.testing.assert_allclose(
            numbers_of(answers)[:, -1, depth], wanted, rtol=0, atol=answers["step"]
        )
    assert told["plane"]["kind"] == "over"
    assert "truth" not in told["rows"]


# ---- what is kept ------------------------------------------------------------------------------


def test_rows_that_do_not_fit_are_the_wrong_ones_and_some_of_all():
    made = shown("regression", room=Room(rows=0))
    rows = made.told["rows"]
    assert len(rows["numbers"]) == 10  # at least
    assert rows["even"].sum() == 5
    errors = np.abs(made.model.predict(made.data["test"][0]) - made.data["test"][1])
    places = np.asarray(rows["numbers"]) - 60
    even = set(places[rows["even"] == 1])
    assert even == set(np.linspace(0, 29, 5).round().astype(int))
    worst = [row for row in np.argsort(-errors, kind="stable") if row not in even][:5]
    assert set(places) - even == set(worst)
    assert any("10 of 30 test rows are listed" in note for note in made.told["notes"])


def test_the_wrong_and_the_unsure_come_first():
    made = shown("classification", room=Room(rows=0))
    rows = made.told["rows"]
    places = np.asarray(rows["numbers"])[rows["even"] == 0] - 60
    p = made.model.predict_proba(made.data["test"][0])
    truth = np.searchsorted(made.model.classes_, made.data["test"][1])
    own = p[np.arange(30), truth]
    p[np.arange(30), truth] = 0
    lead = own - p.max(axis=1)
    even = np.asarray(rows["numbers"])[rows["even"] == 1] - 60
    others = np.setdiff1d(np.arange(30), [*places, *even])
    assert lead[places].max() <= lead[others].min()


def test_too_many_features_are_those_asked_most():
    made = shown("classification", room=Room(rows=80))
    features = made.told["rows"]["features"]
    counts = np.bincount(made.model.forest_.nodes["feature"][
        made.model.forest_.nodes["feature"] >= 0], minlength=4)  # fmt: skip
    assert len(features["columns"]) < 4
    least = counts[features["columns"]].min()
    assert least >= np.delete(counts, features["columns"]).max()
    assert features["names"] == [list("abcd")[c] for c in features["columns"]]


def test_without_rows_to_judge_there_is_still_a_page():
    X, y = data_for("classification")
    model = forest_for("classification", 2).fit(X, y)
    told = Shown(model, {"train": (X, y)}, list("abcd")).told
    assert told["rows"]["split"] == "train"
    assert told["judged"]["confusion"][-1, -1].sum() == len(X)
    predicted = told["rows"]["answers"]["predicted"][:, -1, -1]
    assert (predicted == model.predict_proba(X).argmax(axis=1)).all()
    assert any("no rows of validation or test" in note for note in told["notes"])


def test_depths_of_deep_trees_are_thinned():
    """Each cut takes off the greatest target of those that are left."""
    x, y = np.arange(50.0)[:, None], 4.0 ** np.arange(50)
    data = {"train": (x, y), "valid": (x[::5], y[::5]), "test": (x[::5], y[::5])}
    model = ForestRegressor(1, bootstrap=False, random_state=0).fit(*data["train"])
    made = Shown(model, data, ["a"])
    grid = grid_of(made.found)
    assert grid.n_depths > MOST_DEPTHS + 8
    assert MOST_DEPTHS <= len(grid.depths) <= MOST_DEPTHS + 1
    assert grid.depths[:16].tolist() == list(range(16))
    assert grid.depths[-1] == grid.n_depths - 1
    assert made.found.parts["chosen"].depth in grid.depths
    depth = int(grid.depths[20])
    assert depth > 20
    answers = made.told["rows"]["answers"]["answers"]
    wanted = model.predict(data["test"][0], depth)
    np.testing.assert_allclose(numbers_of(answers)[:, 0, 20], wanted, atol=answers["step"])
    surface = made.found.surfaces["test"].values["rmse"][:, depth]
    np.testing.assert_allclose(made.told["surfaces"]["test"]["rmse"][:, 20], surface, rtol=1e-6)


def test_several_targets_are_shown_one_by_one():
    made = shown("regression", n_targets=2)
    mean, *each = made.payload["targets"]
    assert [one["name"] for one in each] == ["T0", "T1"]
    assert "rows" not in mean
    for k, one in enumerate(each):
        answers = one["rows"]["answers"]["answers"]
        wanted = made.model.predict(made.data["test"][0])[:, k]
        np.testing.assert_allclose(
            numbers_of(answers)[:, -1, -1], wanted, rtol=0, atol=answers["step"]
        )
        np.testing.assert_allclose(
            one["surfaces"]["test"]["rmse"][-1, -1],
            np.sqrt(np.mean((wanted - made.data["test"][1][:, k]) ** 2)),
            rtol=1e-6,
        )


# ---- packing -----------------------------------------------------------------------------------


def test_what_is_packed_comes_back():
    content = {
        "text": "</script> ∑",
        "list": [1, None, {"deep": np.arange(3, dtype=np.uint16)}],
        "floats": np.array([[1.5, np.nan]], np.float32),
        "empty": np.zeros((0, 4), np.uint8),
        "one": np.float64(2.5),
    }
    found = unpacked(packed(content))
    assert found["text"] == content["text"]
    assert found["list"][:2] == [1, None]
    assert found["list"][2]["deep"].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(found["floats"], content["floats"])
    assert found["empty"].shape == (0, 4)
    assert found["one"] == 2.5
    with pytest.raises(TypeError, match="float64"):
        packed({"x": np.zeros(2)})


def test_rounding():
    values = np.array([-3.0, np.nan, 2.0, 10.0, np.inf])
    coded = numbers(values)
    found = numbers_of(coded)
    assert np.isnan(found[[1, 4]]).all()
    np.testing.assert_allclose(found[[0, 2, 3]], values[[0, 2, 3]], atol=coded["step"] / 2)
    assert numbers_of(numbers(np.full(3, 7.0))).tolist() == [7.0] * 3
    assert np.isnan(numbers_of(numbers(np.full(3, np.nan)))).all()
    p = np.array([0.0, 0.333, 1.0, np.nan])
    assert shares(p).tolist() == [0, 83, 250, 255]
    assert [smallest(np.array([n])).dtype.name for n in (255, 256, 65536)] == [
        "uint8", "uint16", "uint32",
    ]  # fmt: skip
    assert brief("a\n b" + "x" * 99, 6) == "a bxx…"


def test_a_large_forest_with_long_names_fits():
    """Many nodes, classes and features, all with names of hundreds of letters."""
    rng = np.random.default_rng(0)
    n, n_features = 1500, 60
    X = rng.normal(size=(n, n_features))
    y = np.array([f"{k:03d}" + "class </script>" * 20 for k in range(100)])[np.arange(n) % 100]
    data = split_in(X, y, 500)
    model = ForestClassifier(60, random_state=0, max_features=3).fit(*data["train"])
    assert len(model.forest_.nodes) > 40_000
    coded = {split: (own, model.grown.codes(labels)) for split, (own, labels) in data.items()}
    depths = int(max(tree.get_depth() for tree in model.estimators_)) + 1
    surfaces = surfaces_of(model.grown, coded, None, depths, None, 2)
    found = Findings("classification", model.classes_.tolist(), surfaces, 0, {})
    names = [f"{k}" + "feature " * 50 for k in range(n_features)]
    about = About("large", names, {"train": np.arange(1000), "test": np.arange(1000, 1500)})
    page = report.page_that_fits(model.grown, data, found, about, 2)
    assert len(page.encode()) <= report.MOST_BYTES
    assert len(page) > 500_000  # room is used
    (told,) = data_of(page)["targets"]
    assert 10 <= len(told["rows"]["numbers"]) < 500
    assert len(told["trees"]["first"]) < 61
    assert told["notes"]


def test_room_is_halved_until_a_page_fits(monkeypatch):
    made = shown("classification", 40)
    given = made.model.grown, made.data, made.found, made.about
    whole = report.page_that_fits(*given)
    empty = len(report.page({"title": "", "targets": [], "notes": []}))
    monkeypatch.setattr(report, "MOST_BYTES", empty + (len(whole) - empty) // 2)
    smaller = report.page_that_fits(*given)
    assert len(smaller.encode()) <= report.MOST_BYTES
    (told,) = data_of(smaller)["targets"]
    assert any("trees" in note for note in told["notes"])


def test_no_name_ends_an_element():
    X, y = data_for("classification")
    hostile = "</script><script>window.spoiled = 1</script><!--"
    labels = np.where(y == "oak", hostile, y)
    data = split_in(X, labels)
    model = forest_for("classification", 2).fit(*data["train"])
    page = Shown(model, data, [hostile, "b", "c", "<img src=x>"], title=hostile).page
    assert hostile not in page
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert page.count("&lt;/script&gt;") == 4  # of the title, twice

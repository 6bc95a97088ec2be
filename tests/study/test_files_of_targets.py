"""Tables and pictures of several targets: those of each in its folder, with its name; and files."""

import numpy as np
import pytest
import test_targets
import test_targets_of_classes
from test_tables import shown, undrawn  # noqa: F401 a fixture

from forestlab import figures
from forestlab.study import artifacts
from forestlab.study.part import About, Part
from forestlab.study.parts import PARTS
from forestlab.study.pictures import pictures

pytestmark = pytest.mark.filterwarnings("ignore:An input array is constant")

WORLDS = {"regression": test_targets, "classification": test_targets_of_classes}
for_each_task = pytest.mark.parametrize("task", WORLDS)


def world(task, **how):
    """The model, its data, what was found, and what is said of it."""
    model, data, found, _ = WORLDS[task].studied(**how)
    rows = {split: 100 * k + np.arange(len(y)) for k, (split, (_, y)) in enumerate(data.items())}
    return model, data, found, About("a title", list("abc"), rows)


@for_each_task
def test_tables_of_a_target_are_in_its_folder(task):
    _, _, found, about = world(task)
    made = list(artifacts.tables(found, about))
    assert len(dict(made)) == len(made)
    whole = {"curves/depth.json", "importance.json", "predictions.parquet", "surface.csv"}
    assert whole <= set(dict(made))
    for key in WORLDS[task].KEYS:
        own = dict(artifacts.tables(found.by_target[key], about))
        assert {"curves/depth.json", "coverage.json", "oob/voters.json"} <= set(own)
        of_target = {name: table for name, table in made if name.startswith(f"by_target/{key}/")}
        assert set(of_target) == {f"by_target/{key}/{name}" for name in own}
        np.testing.assert_equal(
            of_target[f"by_target/{key}/coverage.json"], own["coverage.json"]
        )  # of which each target has numbers of its own


@for_each_task
def test_pictures_of_a_target_are_titled_with_its_name(task, undrawn):  # noqa: F811 the fixture
    _, _, found, about = world(task)
    drawn = shown(found, about)
    for key in WORLDS[task].KEYS:
        prefix = f"by_target/{key}/"
        own = {name.removeprefix(prefix): of for name, of in drawn.items() if prefix in name}
        assert set(own) == set(shown(found.by_target[key], about))
        how, told = own["curves/depth.png"]
        assert how == "depth_curve"
        assert told["title"].endswith(f" by depth: a title, {key}")
        assert told["curves"] is not drawn["curves/depth.png"][1]["curves"]
        main = found.by_target[key].main
        curves = found.by_target[key].curves[main]
        errors = {split: 1 - y if main == "accuracy" else y for split, y in curves.items()}
        np.testing.assert_equal(told["curves"], errors)
    assert drawn["curves/depth.png"][1]["title"].endswith(" by depth: a title")


# ---- rows --------------------------------------------------------------------------------------


def columns_of(found, split, rows):
    """What is listed of each row, from what was found of each target."""
    yield "row", rows
    yield "split", len(rows) * [split]
    for key, of_target in found.by_target.items():
        surface, unsure = of_target.surfaces[split], of_target.parts["uncertainty"].of.get(split)
        truth, predicted = surface.truth, surface.predicted
        if of_target.classes is not None:
            names = [*of_target.classes, "(not in training)"]
            truth = [names[code] for code in truth]
            truth = [str(name) for name in truth] if names[-1] in truth else truth
            predicted = [
                names[code] if voters else None
                for code, voters in zip(predicted, surface.voters, strict=True)
            ]
        yield f"truth_{key}", truth
        yield f"predicted_{key}", predicted
        yield f"error_{key}", surface.errors
        if of_target.classes is not None:
            p = [
                of_row[code] if code >= 0 else 0.0
                for of_row, code in zip(surface.answers, surface.truth, strict=True)
            ]
            yield f"p_true_{key}", p
            for name, of_class in zip(of_target.classes, surface.answers.T, strict=True):
                yield f"probability_{name}_{key}", of_class
        for name, values in unsure._asdict().items() if unsure is not None else ():
            yield f"{name}_uncertainty_{key}", values


@for_each_task
def test_every_row_is_listed_with_all_targets(task):
    _, _, found, about = world(task)
    tables = dict(artifacts.tables(found, about))
    listed = tables["predictions.parquet"]
    for split in ("valid", "test"):
        expected = dict(columns_of(found, split, about.rows[split]))
        assert list(listed) == list(expected)
        of_split = listed[listed["split"] == split]
        for name, values in expected.items():
            assert_listed(of_split[name], values, name)
    oob = tables["oob/predictions.parquet"]
    expected = dict(columns_of(found, "oob", about.rows["train"]))
    expected["voters"] = found.surfaces["oob"].voters
    assert list(oob) == list(expected)
    for name, values in expected.items():
        assert_listed(oob[name], values, name)


def assert_listed(column, values, name):
    found, wanted = column.tolist(), list(values)
    if any(isinstance(value, str) for value in found):
        wanted = [None if value is None else str(value) for value in wanted]
    known = [value == value and value is not None for value in found]
    assert known == [value == value and value is not None for value in wanted], name
    pairs = zip(found, wanted, known, strict=True)
    assert all(value == other for value, other, is_known in pairs if is_known), name


# ---- all right ---------------------------------------------------------------------------------


def test_the_share_of_rows_that_are_all_right_is_listed_and_shown(undrawn):  # noqa: F811
    model, data, found, about = world("classification")
    table = dict(artifacts.tables(found, about))["curves/exact_match.json"]
    twin = test_targets_of_classes.all_right
    splits = ["train", "valid", "test", "oob"]
    assert list(table) == ["depth", *splits]
    n_depths = found.surfaces["test"].values["accuracy"].shape[1]
    assert table["depth"] == list(range(n_depths))
    for split in splits:
        expected = [twin(model, data, split, depth) for depth in range(n_depths)]
        np.testing.assert_allclose(table[split], expected, rtol=1e-12)
    how, told = shown(found, about)["curves/exact_match.png"]
    assert how == "depth_curve"
    curves = {split: table[split] for split in splits}
    wanted = {"curves": curves, "metric": "exact_match", "title": "a title"}
    np.testing.assert_equal(told, wanted)


# ---- files -------------------------------------------------------------------------------------


def test_pictures_are_saved_beside_their_tables(tmp_path):
    """Of two parts of one target, for pictures take long."""
    _, _, found, about = world("regression")
    down = found.by_target["down"]
    down = down._replace(parts={key: down.parts[key] for key in ("curves", "by_trees")})
    found = found._replace(parts={}, by_target={"down": down})
    folder = tmp_path / "not yet there"
    for _ in range(2):  # over those of before
        artifacts.write(folder, found, about)
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.*")}
    names = {f"by_target/down/curves/{name}" for name in ("depth", "oob_by_trees")}
    assert written == {f"{name}.{end}" for name in names for end in ("json", "png")}
    for name, picture in pictures(found, about):
        figures.save(picture, tmp_path / "alone.png")  # equal pictures are equal bytes
        assert (folder / name).read_bytes() == (tmp_path / "alone.png").read_bytes()
    artifacts.write(tmp_path / "without", found, about, pictures=False)
    assert not list(tmp_path.glob("without/**/*.png"))


def test_a_picture_without_a_table_has_its_folder_too(tmp_path, monkeypatch):
    _, _, found, about = world("regression")
    drawn = figures.size_curve(np.arange(1, 3), {"oob": np.ones(2)}, "rmse", "a title")
    part = Part("off", find=None, picture=lambda *given: [("a/new/one.png", drawn)])
    monkeypatch.setitem(PARTS, "mine", part)
    artifacts.write(tmp_path, found._replace(parts={"mine": 0}, by_target={}), about)
    assert [path.name for path in tmp_path.rglob("*.*")] == ["one.png"]


def test_a_table_of_a_target_may_say_whose_it_is(monkeypatch):
    _, _, found, about = world("regression")
    part = Part("off", find=None, table=lambda found, more, about: [("mine.txt", about.title)])
    monkeypatch.setitem(PARTS, "mine", part)
    by_target = {key: of._replace(parts={"mine": 0}) for key, of in found.by_target.items()}
    told = dict(artifacts.tables(found._replace(parts={}, by_target=by_target), about))
    assert told == {f"by_target/{key}/mine.txt": f"a title, {key}" for key in by_target}


@for_each_task
def test_what_is_found_of_all_targets_has_the_truth_and_the_answers_of_each(task):
    model, data, found, _ = world(task)
    for split in ("train", "valid", "test"):
        X, y = data[split]
        answers = model.predict(X) if task == "regression" else np.hstack(model.predict_proba(X))
        # A walk that stops at every depth adds up the same numbers in another order.
        np.testing.assert_allclose(found.surfaces[split].answers, answers, rtol=1e-12)
        np.testing.assert_array_equal(found.surfaces[split].truth, model.grown.codes(y))

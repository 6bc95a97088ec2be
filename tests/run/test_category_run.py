"""A table of one's own with every kind of column, from the file to the log."""

import io
import json
import re

import mlflow
import numpy as np
import pandas as pd
import pytest
from command import Logged, composed

from forestlab import ForestClassifier, datasets, run
from forestlab.config import ConfigError
from forestlab.run import terminal
from forestlab.run.making import Shelf, recipe

N = 120
FAST = ["n_estimators=4", "study=light", "tracking=mlflow"]


def table(n_rows=N):
    """The class is told by the color alone, but for what is missing."""
    rng = np.random.default_rng(0)
    color = rng.choice(["red", "green", "blue", "black"], n_rows)
    frame = pd.DataFrame(
        {
            "id": range(n_rows),
            "size": rng.normal(size=n_rows).round(3),
            "color": color,
            "fresh": rng.random(n_rows) < 0.5,
            "kind": np.where(np.isin(color, ["red", "blue"]), "fruit", "leaf"),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "color"] = None
    frame.loc[rng.random(n_rows) < 0.1, "size"] = np.nan
    return frame


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "own.csv"
    table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def words(path):
    return ["dataset=csv", f"dataset.path={path}"]


@pytest.fixture(scope="module")
def shown(words, tmp_path_factory):
    """A sweep over two depths: what it printed, and what it logged."""
    home, printed = tmp_path_factory.mktemp("home"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESTLAB_HOME", str(home))
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setattr("sys.stdout", printed)
        assert run.main([*words, *FAST, "-m", "max_depth=1,3"]) == 0
    found = Logged(home)
    found.parent, *found.children = found.runs()
    return printed.getvalue(), found


# ---- what is shown -----------------------------------------------------------------------------


def test_columns_are_shown_once_before_the_runs(shown):
    lines = shown[0].splitlines()
    assert lines[0] == "120 rows, 2 numbers, 2 categories; 2 of these columns lack values"
    assert lines[1].split() == ["column", "taken", "for", "missing"]
    assert lines[2].split() == ["id", "number", "an", "identifier?"]
    share = table()["size"].isna().mean()
    assert lines[3].split() == ["size", "number", f"{100 * share:.0f}", "%"]
    assert lines[4].split()[:4] == ["color", "category,", "4", "levels"]
    assert "to leave out: dataset.drop=[id]" in lines
    assert sum(line.startswith("column") for line in lines) == 1


def test_columns_are_logged(shown):
    _, found = shown
    content = found.artifact(found.children[0], "columns.csv").decode()
    columns = pd.read_csv(io.StringIO(content), keep_default_na=False).set_index("column")
    assert columns["taken_for"].tolist() == ["number", "number", "category", "category"]
    assert columns["levels"].tolist() == [0, 0, 4, 2]
    assert columns["remark"].tolist() == ["an identifier?", "", "", ""]
    expected = table().isna().mean().drop("kind")
    np.testing.assert_allclose(columns["missing"], expected, rtol=1e-12)


def test_sets_that_come_with_forestlab_are_not_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    assert run.main(["dataset=iris", "n_estimators=2", "study=off", "tracking=none"]) == 0
    assert "taken for" not in capsys.readouterr().out


def test_wide_tables_are_shown_in_few_lines_of_eighty_letters(capsys):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 200)))
    frame = frame.rename(columns=lambda j: f"a_name_that_is_longer_than_most_{j}_are")
    frame = frame.assign(**{f"nothing_at_all_in_here_{j}": np.nan for j in range(5)})
    terminal.columns(datasets.columns_of(frame), 30)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 21
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[2:7]] == list(frame.columns[-5:])
    assert "… and 190 numbers" in lines


# ---- what is run -------------------------------------------------------------------------------


def test_the_run_is_that_of_the_estimator_on_the_frame(shown, words):
    _, found = shown
    data = Shelf().data(composed(*words))
    train, test = data.parts.train, data.parts.test
    model = ForestClassifier(4, max_features="sqrt", max_depth=3, random_state=0)
    model.fit(data.dataset.frame.iloc[train], data.y[train])
    deep = found.children[1]
    accuracy = model.score(data.dataset.frame.iloc[test], data.y[test])
    assert deep.data.metrics["accuracy/test"] == pytest.approx(accuracy, abs=1e-12)
    assert deep.data.metrics["accuracy/test"] > 0.8  # by numbers alone it is 0.5
    assert deep.data.tags["dataset_digest"] == data.digest


def test_the_model_is_asked_by_text(shown):
    _, found = shown
    mlflow.set_tracking_uri(f"sqlite:///{found.home / 'mlflow.db'}")
    (model,) = [
        model
        for model in found.client.search_logged_models([found.children[1].info.experiment_id])
        if model.source_run_id == found.children[1].info.run_id
    ]
    asked = pd.DataFrame(
        {
            "id": [500, 500, 500, 500],
            "size": [0.0, 0.0, np.nan, 0.0],
            "color": ["red", "green", "blue", None],
            "fresh": ["True", "False", "True", "False"],
        }
    )
    loaded = mlflow.sklearn.load_model(model.model_uri)
    assert loaded.predict(asked).tolist()[:3] == ["fruit", "leaf", "fruit"]
    answers = mlflow.pyfunc.load_model(model.model_uri).predict(asked)
    assert list(answers)[:3] == ["fruit", "leaf", "fruit"]
    tree = found.artifact(found.children[1], "tree/first.txt").decode()
    assert re.search(r"color in \{(black|blue|green|red)", tree)


def test_the_same_result_is_found_again_and_that_of_other_kinds_is_not(shown, words, capsys):
    _, found = shown
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESTLAB_HOME", str(found.home))
        again = [*words, *FAST, "max_depth=3", "resume=true", "study=light"]
        statuses = [
            run.perform([*again, *more]).results[0].status
            for more in ([], ["dataset.numeric=[fresh]"], ["dataset.incomplete=fill"])
        ]
    assert statuses == ["SKIPPED", "FINISHED", "FINISHED"]


@pytest.mark.long
def test_pictures_of_places_between_values_are_left_out_with_categories(words, path, tmp_path):
    """Of two features that are numbers the regions are drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESTLAB_HOME", str(tmp_path))
        both = [*words, "n_estimators=4", "study=full"]
        assert run.main([*both, "dataset.drop=[id,fresh]"]) == 0
        assert run.main([*both, "dataset.drop=[color,fresh]"]) == 0
    names = [{file.path for file in found_files(tmp_path, number)} for number in (0, 1)]
    assert "regions.png" not in names[0]
    assert "regions.png" in names[1]
    assert names[1] - {"regions.png"} == names[0]


def found_files(home, number):
    found = Logged(home)
    return found.client.list_artifacts(found.runs()[number].info.run_id)


# ---- data of a job -----------------------------------------------------------------------------


def test_filled_and_dropped_rows_reach_the_model(words):
    kept, filled, dropped = (
        Shelf().data(composed(*words, f"dataset.incomplete={how}"))
        for how in ("keep", "fill", "drop")
    )
    lacking = np.isnan(kept.X).any(axis=1)
    assert lacking[kept.parts.train].any()
    assert not np.isnan(filled.X).any()
    assert not filled.given(filled.parts.train).isna().to_numpy().any()
    np.testing.assert_array_equal(filled.X[~lacking], kept.X[~lacking])
    assert set(dropped.parts.train) == set(kept.parts.train[~lacking[kept.parts.train]])
    np.testing.assert_array_equal(dropped.parts.test, kept.parts.test)


def test_jobs_that_only_complete_rows_differently_share_their_data(words, monkeypatch):
    loads, load = [], datasets.load
    monkeypatch.setattr(datasets, "load", lambda config: loads.append(1) or load(config))
    shelf = Shelf()
    for how in ("keep", "fill", "drop", "keep"):
        shelf.data(composed(*words, f"dataset.incomplete={how}"))
    assert len(loads) == 1


def test_without_categories_models_get_arrays():
    data = Shelf().data(composed("dataset=iris"))
    assert isinstance(data.given(data.parts.train), np.ndarray)


@pytest.mark.parametrize(
    ("more", "words_of_error"),
    [
        (["task=density"], "task=density takes numbers only, and color, fresh of dataset=csv"),
        (["model.monotonic_cst={color: 1}", "model=tree"], "monotonic_cst.*categories"),
        (["study.draws=5"], "study.draws=5 needs a data set whose truth is known"),
        (["dataset.categorical=[kind]"], "dataset.categorical names kind, which is no feature"),
    ],
)
def test_what_does_not_go_with_categories_is_told_before_the_run(
    words, more, words_of_error, capsys, tmp_path, monkeypatch
):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    assert run.main([*words, "tracking=none", *more]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(words_of_error, error)


def test_the_recipe_of_a_config_knows_the_levels(words):
    config = composed(*words)
    data = Shelf().data(config)
    assert recipe(config, data).levels == (0, 0, 4, 2)
    density = composed(*words, "task=density")
    with pytest.raises(ConfigError, match="task=density"):
        recipe(density, data._replace(task="density"))


def test_draws_need_values_that_are_not_missing(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("FORESTLAB_HOME", str(tmp_path))
    words = ["dataset=sine", "study.draws=3", "dataset.missing_share=0.1", "tracking=none"]
    assert run.main(words) == 2
    assert "got dataset.missing_share=0.1" in capsys.readouterr().err


def test_the_log_tells_how_many_rows_were_trained_on(shown):
    _, found = shown
    (dataset,) = found.client.get_run(found.children[0].info.run_id).inputs.dataset_inputs
    profile = json.loads(dataset.dataset.profile)
    assert (profile["rows"], profile["features"]) == (N, 4)

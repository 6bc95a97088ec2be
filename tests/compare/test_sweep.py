"""What a sweep's parent says of its children, from runs that are made up."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from forestlab.compare import sweep, swept, variants

MOST = 3_000_000  # bytes of a page


class Client:
    """Curves of two depths, which end at a run's metrics."""

    def __init__(self, runs):
        self.runs = {run.info.run_id: run for run in runs}

    def get_metric_history(self, run_id, name):
        value = self.runs[run_id].data.metrics[name]
        return [SimpleNamespace(step=k, value=value * (k + 1) / 2) for k in range(2)]


def run(valid, test=None, status="FINISHED", task="classification", name=None, **params):
    """A run of MLflow's; params with __ for a dot."""
    params = {"dataset__name": "digits", "model__name": "forest", "seed": 0} | params
    texts = {key.replace("__", "."): str(value) for key, value in params.items()}
    main = "accuracy" if task == "classification" else "rmse"
    test = valid - 0.01 if test is None else test
    metrics = {f"{main}/valid": valid, f"{main}/test": test, "summary/chosen_depth": 3.0}
    words = " ".join(f"{key}={value}" for key, value in texts.items() if key != "dataset.name")
    run_id = f"{abs(hash(words + texts['dataset.name'])):032x}"[-32:]
    tags = {"task": task, "config_hash": run_id, "dataset_digest": texts["dataset.name"]}
    return SimpleNamespace(
        info=SimpleNamespace(run_id=run_id, run_name=name or words, status=status, start_time=1),
        data=SimpleNamespace(params=texts, metrics=metrics, tags=tags),
    )


def told(runs, folder, draws=False, name="a sweep"):
    store = SimpleNamespace(client=Client(runs), experiment_id="7", uri="sqlite:///x.db")
    return sweep.tell(folder, store, name, "forestlab", runs, draws)


def only(runs):
    (found,) = swept.sweeps_of(variants.as_frame(runs))
    return found


DEPTHS = [run(0.6, 0.9, max_depth=1), run(0.8, 0.7, max_depth=20), run(0.7, max_depth=5)]


# ---- one key -----------------------------------------------------------------------------------


def test_the_best_child_is_that_of_validation(tmp_path):
    """Depth 1 is best on test, which chooses nothing."""
    found = told(DEPTHS, tmp_path)
    best = DEPTHS[1]
    assert found.best == best.info.run_id
    numbers = {(number.name, number.step): number.value for number in found.numbers}
    assert numbers["accuracy/test", 1] == 0.7  # its curve over depth
    assert numbers["accuracy/test", 0] == 0.35
    assert numbers["summary/chosen_depth", 0] == 3.0


def test_the_curve_is_against_the_swept_key(tmp_path):
    found = told(DEPTHS, tmp_path)
    curve = {n.step: n.value for n in found.numbers if n.name == "by_max_depth/accuracy/valid"}
    assert curve == {1: 0.6, 5: 0.7, 20: 0.8}
    table = pd.read_csv(tmp_path / "comparison/swept.csv")
    assert table["max_depth"].tolist() == [1, 5, 20]
    assert table["accuracy/valid"].tolist() == [0.6, 0.7, 0.8]
    assert table["accuracy/test"].tolist() == pytest.approx([0.9, 0.69, 0.7])
    rows = json.loads((tmp_path / "comparison/children.json").read_text())
    assert [row["run_id"] for row in rows] == [run.info.run_id for run in DEPTHS]


def test_the_note_lists_the_children_best_first(tmp_path):
    note = told(
        [*DEPTHS, run(0.9, status="FAILED", max_depth=9)], tmp_path, name="max_depth=…"
    ).note
    lines = note.splitlines()
    assert lines[0] == "Sweep `max_depth=…`: 3 finished, 1 failed."
    assert "Swept: `max_depth` (1, 5, 20).  " in lines
    rows = [line for line in lines if line.startswith("| [")]
    assert [line.split("](")[1].split(")")[0] for line in rows] == [
        f"#/experiments/7/runs/{DEPTHS[k].info.run_id}" for k in (1, 2, 0)
    ]
    assert "| 0.8 | 0.7 | 3 |" in rows[0]
    assert "max\\_depth=20" in rows[0]


def test_seeds_are_means_and_spreads():
    runs = [run(v, v, max_depth=d, seed=s) for d, values in {2: (0.5, 0.7), 4: (0.8, 0.8)}.items()
            for s, v in enumerate(values)]  # fmt: skip
    found = only(runs)
    assert found.keys == ["max_depth"]
    two, four = found.cells[(2,)]["test"], found.cells[(4,)]["test"]
    assert (two.mean, two.n) == (pytest.approx(0.6), 2)
    assert two.spread == pytest.approx(np.std([0.5, 0.7], ddof=1))
    assert four.spread == 0.0
    assert found.best()["params.max_depth"] == "4"


def test_the_best_cell_has_the_best_mean():
    """Not the luckiest seed."""
    runs = [run(v, max_depth=d, seed=s) for d, values in {2: (0.5, 0.99), 4: (0.8, 0.81)}.items()
            for s, v in enumerate(values)]  # fmt: skip
    best = only(runs).best()
    assert (best["params.max_depth"], best["params.seed"]) == ("4", "1")


def test_of_errors_the_least_is_best():
    runs = [run(v, task="regression", max_depth=d) for d, v in ((1, 5.0), (2, 3.0), (3, 4.0))]
    assert only(runs).best()["params.max_depth"] == "2"


def test_none_comes_after_numbers_and_is_no_step(tmp_path):
    runs = [run(0.5, max_depth=None), run(0.6, max_depth=3), run(0.7, max_depth=12)]
    found = only(runs)
    assert found.values(0) == [3, 12, None]
    axis = swept._axis(found, 0)
    assert (list(axis.labels), axis.is_joined) == (["3", "12", "None"], True)
    assert not [n for n in told(runs, tmp_path).numbers if n.name.startswith("by_")]


def test_words_are_points_and_follow_from_nothing():
    """A forest has other features than a tree: that follows from the model."""
    runs = [run(0.5, model__name="tree", model__max_features=None),
            run(0.6, model__name="forest", model__max_features="sqrt")]  # fmt: skip
    found = only(runs)
    assert found.keys == ["model.name"]
    assert not swept._axis(found, 0).is_joined


@pytest.mark.parametrize(
    ("values", "places"),
    [([1, 10, 100], [0, 1, 2]), ([1, 2, 3], [1, 2, 3]), ([0, 50, 100], [0, 50, 100])],
    ids=["far apart", "near", "with 0"],
)
def test_numbers_stand_where_they_are_or_by_their_logarithms(values, places):
    found = only([run(0.5 + v / 1000, n_estimators=v) for v in values])
    np.testing.assert_allclose(swept._axis(found, 0).places, places)


# ---- several keys, and none --------------------------------------------------------------------


def grid(*names, sizes):
    cells = np.ndindex(*sizes)
    return [
        run(0.5 + 0.01 * k, **dict(zip(names, cell, strict=True))) for k, cell in enumerate(cells)
    ]


def texts(figure):
    """All that is written in a picture, on its axes and beside them."""
    words = [s for ax in figure.axes for c in ax.collections for s in getattr(c, "strings", [])]
    return [
        *words,
        *(ax.get_xlabel() for ax in figure.axes),
        *(t.get_text() for ax in figure.axes for t in ax.texts),
    ]


def test_two_numbers_are_a_map():
    found = only(grid("max_depth", "model__min_samples_leaf", sizes=(3, 2)))
    figure = swept.picture(found)
    (ax,) = figure.axes
    assert ax.get_xlabel() == "max_depth"
    assert ax.get_ylabel() == "model.min_samples_leaf"
    assert np.shape(ax.images[0].get_array()) == (2, 3)
    assert {"0.51", "0.46"} <= set(texts(figure))  # errors on test, the greatest and the least


def test_a_number_and_a_word_are_lines():
    runs = [run(0.5 + 0.01 * d + (m == "tree") / 10, max_depth=d, model__name=m)
            for d in (1, 2, 4) for m in ("forest", "tree")]  # fmt: skip
    (ax,) = swept.picture(only(runs)).axes
    assert len(ax.lines) == 2
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.5, 0.49, 0.47])  # errors
    assert {"forest", "tree"} <= set(texts(swept.picture(only(runs))))


def test_a_third_key_makes_small_multiples():
    runs = [run(0.5 + 0.01 * d, max_depth=d, model__name=m, criterion__name=c)
            for d in (1, 2) for m in ("forest", "tree") for c in ("gini", "entropy")]  # fmt: skip
    figure = swept.picture(only(runs))
    assert len(figure.axes) == 2
    assert {"criterion=gini", "criterion=entropy"} <= set(texts(figure))
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_too_many_combinations_are_points_by_their_names():
    names = ("max_depth", "n_estimators", "model__min_samples_leaf")
    figure = swept.picture(only(grid(*names, sizes=(5, 5, 5))))
    (ax,) = figure.axes
    assert ax.get_xlabel() == "variant"
    assert "max_depth=4 n_estimators=4 min_samples_leaf=4" in texts(figure)


def test_seeds_alone_are_no_picture(tmp_path):
    runs = [run(0.5 + s / 10, seed=s) for s in range(3)]
    assert swept.picture(only(runs)) is None
    assert "Swept: seeds alone." in told(runs, tmp_path, draws=True).note
    assert not (tmp_path / "comparison/swept.csv").exists()


def test_two_data_sets_are_told_apart(tmp_path):
    runs = [run(v, max_depth=d, dataset__name=name)
            for name in ("iris", "wine") for d, v in ((1, 0.6), (2, 0.7))]  # fmt: skip
    found = told(runs, tmp_path)
    assert (found.best, found.numbers) == ("", [])
    for name in ("iris", "wine"):
        assert f"Swept on **{name}**" in found.note
    assert {path.name for path in (tmp_path / "comparison").glob("*.csv")} == {
        "swept_iris.csv", "swept_wine.csv"
    }  # fmt: skip


@pytest.mark.parametrize("runs", [[], [run(0.5, status="FAILED")]], ids=["none", "failed"])
def test_without_a_finished_run_there_is_a_note(runs, tmp_path):
    found = told(runs, tmp_path, draws=True)
    assert found.note.startswith("Sweep `a sweep`: ")
    assert (found.best, found.numbers) == ("", [])
    assert [path.name for path in tmp_path.iterdir()] == ["comparison"]


def test_a_note_is_no_longer_than_mlflow_keeps(tmp_path):
    note = told(
        [run(0.5 + k / 1000, max_depth=k, name=f"n{k} " * 20) for k in range(200)], tmp_path
    ).note
    assert 6000 < len(note) < 8000
    assert "… and more" in note
    assert note.splitlines()[-1].startswith("The main metric against what was swept")


def test_names_are_no_markdown():
    assert sweep.escaped("a|b [c](d) `e` <f>") == r"a\|b \[c\](d) \`e\` \<f\>"


# ---- the page ----------------------------------------------------------------------------------


def test_the_page_stands_alone(tmp_path):
    """No address but in data; the picture is the first, and depth curves are not drawn thrice."""
    told(DEPTHS, tmp_path, draws=True)
    page = (tmp_path / "report.html").read_text()
    assert page.count("<img") == 2  # against max_depth, and differences
    assert page.count('src="data:image/png') == page.count("src=")
    assert not [word for word in ("href=", "http") if word in page]
    assert "Error rate against max_depth, digits" in page
    assert page.index("Error rate against max_depth") < page.index(
        "Difference in accuracy/test from"
    )
    assert (tmp_path / "comparison/swept.png").read_bytes()[:4] == b"\x89PNG"


def test_where_depth_is_not_swept_the_page_has_curves_over_it(tmp_path):
    runs = [run(0.5 + r / 100, model__rho=r) for r in (1, 2)]
    told(runs, tmp_path, draws=True)
    assert "accuracy/test by depth: digits" in (tmp_path / "report.html").read_text()


def test_a_page_of_many_data_sets_is_not_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "MOST_BYTES", 400_000)
    runs = [
        run(0.5 + d / 100, max_depth=d, dataset__name=f"set{k}") for k in range(8) for d in (1, 2)
    ]
    told(runs, tmp_path, draws=True)
    assert (tmp_path / "report.html").stat().st_size < 400_000 < MOST
    assert len(list((tmp_path / "comparison").glob("*.png"))) == 8

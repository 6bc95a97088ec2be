"""What stands in the files of a study: tables against plain ways to them, and what pictures show.

Pictures have tests of their own; here they are not drawn: what they would be drawn of is noted.
"""

import inspect
import json

import naive
import numpy as np
import pandas as pd
import pytest
from scipy.stats import sem
from small import FORESTS
from test_study_numbers import N_TREES, SIZES, for_each_task, rows_for, small_world, studied

from forestlab import figures
from forestlab.core.arrays import tree_of
from forestlab.study import artifacts, first_tree
from forestlab.study.bias import Decomposition, DrawFindings, LabelDecomposition
from forestlab.study.coverage import LEVELS
from forestlab.study.findings import study
from forestlab.study.numbers import numbers_of
from forestlab.study.part import About
from forestlab.study.parts import PARTS
from forestlab.study.pictures import pictures
from forestlab.tree.view import TreeView

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
CLASSES = [0, 2, 4, 6]
UNSEEN = "(not in training)"
MAIN = {"classification": "accuracy", "regression": "rmse"}

pytestmark = pytest.mark.filterwarnings("ignore:An input array is constant")
worlds = pytest.mark.parametrize("name", ["as it comes", "no bags", "no test"])


def about_of(found, n_features=3):
    """Row numbers tell the splits apart."""
    rows = {
        split: 100 * k + np.arange(len(surface.truth))
        for k, (split, surface) in enumerate(found.surfaces.items())
        if split != "oob"
    }
    return About("a title", list("abc")[:n_features], rows, (1, n_features))


def tables_of(task, name):
    found = studied(task, name)[1]
    about = about_of(found)
    made = list(artifacts.tables(found, about))
    assert len(dict(made)) == len(made)
    return found, about, dict(made)


def logged(found):
    """The numbers, which have their twins elsewhere."""
    return {(name, step): value for name, value, step in numbers_of(found, {})}


def curve_of(numbers, name):
    """The values of one name, in the order of its steps."""
    return [numbers[at] for at in sorted(at for at in numbers if at[0] == name)]


# ---- tables ------------------------------------------------------------------------------------


@worlds
@for_each_task
def test_curves_are_listed_with_the_chosen_depth(task, name):
    found, _, tables = tables_of(task, name)
    numbers, table = logged(found), dict(tables["curves/depth.json"])
    judge = next((split for split in ("valid", "oob") if split in found.surfaces), None)
    assert table.pop("chosen") == numbers["summary/chosen_depth", 0]
    assert table.pop("chosen_on") == judge
    assert table.pop("depth") == list(range(6))
    for metric, curves in table.items():
        assert list(curves) == list(found.surfaces)
        for split, curve in curves.items():
            np.testing.assert_array_equal(curve, curve_of(numbers, f"{metric}/{split}"))
    if "oob" in found.surfaces:
        loss = "error" if task == "classification" else "rmse"
        table = tables["curves/oob_by_trees.json"]
        assert set(table) == {"n_trees", loss}
        assert table["n_trees"] == [1, 2, 3, 4, 5, 6]
        np.testing.assert_array_equal(table[loss], curve_of(numbers, f"by_trees/oob_{loss}"))


def test_without_a_judge_no_depth_is_chosen():
    X, y = rows_for("classification", 45, 1)
    model = FORESTS["classification"](2, bootstrap=False, random_state=0).fit(X, y)
    found = study(model.grown, {"train": (X, y)}, 1, "light")
    table = dict(artifacts.tables(found, about_of(found)))["curves/depth.json"]
    assert table["chosen"] is table["chosen_on"] is None


@worlds
@for_each_task
def test_the_surface_has_a_line_for_each_split_size_and_depth(task, name):
    found, _, tables = tables_of(task, name)
    lines = [
        {"split": split, "n_trees": size, "depth": depth}
        | {metric: values[s, depth] for metric, values in surface.values.items()}
        for split, surface in found.surfaces.items()
        for s, size in enumerate(SIZES)
        for depth in range(6)
    ]
    pd.testing.assert_frame_equal(tables["surface.csv"], pd.DataFrame(lines))


RULES = {
    "max_leaf_nodes": "by_leaves",
    "min_samples_split": "by_split_size",
    "min_impurity_decrease": "by_gain",
    "ccp_alpha": "by_alpha",
}


@worlds
@for_each_task
def test_ways_to_stop_have_a_line_for_each_value(task, name):
    """Those of rules are what is logged; beside them depth, from the bare root on."""
    found, _, tables = tables_of(task, name)
    numbers, table = logged(found), tables["stopping.csv"]
    assert table["rule"].unique().tolist() == ["max_depth", *RULES]
    metrics = [f"{m}_{split}" for split, s in found.surfaces.items() for m in s.values]
    assert table.columns.tolist() == ["rule", "value", "n_leaves", "chosen_on", *metrics]
    for rule, prefix in RULES.items():
        lines = table[table["rule"] == rule]
        whole = (f"{prefix}/value", 0) not in numbers
        steps = lines["value"].astype(int) if whole else range(len(lines))
        assert len(set(steps)) == len(lines) > 3
        named = {"n_leaves": "n_leaves"} | ({} if whole else {"value": "value"})
        named |= {column: "/".join(column.rsplit("_", 1)) for column in metrics}
        for column, metric in named.items():
            assert lines[column].tolist() == [numbers[f"{prefix}/{metric}", i] for i in steps]
        chosen = lines[lines["chosen_on"] == "valid"]
        assert chosen["value"].tolist() == [numbers[f"summary/{prefix}_chosen", 0]]
        assert (lines["chosen_on"] == "-").sum() == len(lines) - 1
        assert (np.diff(lines["n_leaves"]) >= 0).all()
    depths = table[table["rule"] == "max_depth"]
    assert depths["value"].tolist() == [0, 1, 2, 3, 4, 5]
    assert depths["n_leaves"].iloc[0] == 1
    assert depths["n_leaves"].iloc[-1] == numbers["summary/trees_n_leaves", 0]
    for column in metrics:
        metric, split = column.rsplit("_", 1)
        assert depths[column].tolist() == curve_of(numbers, f"{metric}/{split}")
    assert depths.index[depths["chosen_on"] == "valid"].tolist() == [
        numbers["summary/chosen_depth", 0]
    ]


def test_stumps_have_no_ways_to_stop():
    X, y = rows_for("classification", 45, 1)
    model = FORESTS["classification"](2, max_depth=1, random_state=0).fit(X, y)
    found = study(model.grown, {"train": (X, y)}, 1, "full")
    assert "stopping" not in found.parts


@worlds
@for_each_task
def test_every_row_stands_with_its_answer(task, name):
    found, about, tables = tables_of(task, name)
    others = [split for split in ("valid", "test") if split in found.surfaces]
    expected = [row for split in others for row in answered(found, split, about.rows[split])]
    check_rows(tables["predictions.parquet"], expected)
    assert ("oob/predictions.parquet" in tables) == (name != "no bags")
    if "oob" in found.surfaces:
        voters = found.surfaces["oob"].voters
        assert (voters == 0).any()
        rows = answered(found, "oob", about.rows["train"])
        rows = [row | {"voters": n} for row, n in zip(rows, voters, strict=True)]
        check_rows(tables["oob/predictions.parquet"], rows)


def answered(found, split, numbers):
    """Each row of a split, by the surface's truth, answers and voters."""
    surface, of_classes = found.surfaces[split], found.task == "classification"
    unsure = found.parts["uncertainty"].of.get(split)
    for i, number in enumerate(numbers):
        truth, answer = surface.truth[i], surface.answers[i]
        row = {"row": number, "split": split, "truth": truth, "predicted": answer[0]}
        row["error"] = abs(answer[0] - truth)
        if of_classes:
            row["truth"] = CLASSES[truth] if truth >= 0 else UNSEEN
            has_voters = surface.voters[i] > 0
            row["predicted"] = CLASSES[answer.argmax()] if has_voters else None
            row["error"] = float(answer.argmax() != truth) if has_voters else np.nan
            row["p_true"] = answer[truth] if truth >= 0 else 0.0
            row |= {f"probability_{CLASSES[k]}": p for k, p in enumerate(answer)}
        if unsure is not None:
            row |= {f"{part}_uncertainty": values[i] for part, values in unsure._asdict().items()}
        yield row


def check_rows(table, expected):
    assert list(table.columns) == list(expected[0])
    assert len(table) == len(expected)
    assert table.index.tolist() == list(range(len(table)))
    for column in table:
        found, wanted = table[column], [row[column] for row in expected]
        if UNSEEN in wanted:  # labels of one type
            wanted = [str(label) for label in wanted]
        if column in ("split", "truth", "predicted"):
            found = [None if pd.isna(label) else label for label in found]
            wanted = [None if pd.isna(label) else label for label in wanted]
            assert found == wanted, column
        else:
            np.testing.assert_array_equal(found, wanted, err_msg=column)


def test_without_rows_to_judge_on_the_table_is_empty():
    _, _, tables = tables_of("regression", "nothing to judge on")
    assert tables["predictions.parquet"].empty
    assert len(tables["oob/predictions.parquet"]) == 45


@worlds
def test_confusions_are_counts_and_shares(name):
    found, _, tables = tables_of("classification", name)
    for split, counts in found.parts["confusion"].items():
        table = tables[f"confusion/{split}.json"]
        assert table["classes"] == ["0", "2", "4", "6"]
        assert table["counts"] == counts.tolist()
        for k in range(4):
            np.testing.assert_allclose(table["row_shares"][k], counts[k] / sum(counts[k]), **CLOSE)
            np.testing.assert_allclose(table["shares"][k], counts[k] / counts.sum(), **CLOSE)


def test_confusions_of_classes_without_rows_have_shares_of_0():
    for counts in np.zeros((2, 2), int), np.array([[3, 1], [0, 0]]):
        table = PARTS["confusion"].table({"test": counts}, studied_classes(), None)
        ((_, table),) = table
        assert table["row_shares"][1] == [0, 0]
        assert table["shares"] == (counts / 4).tolist()
    assert table["row_shares"][0] == [0.75, 0.25]


def studied_classes():
    return studied("classification", "as it comes")[1]


@for_each_task
def test_errors_are_listed_by_voters(task):
    found, _, tables = tables_of(task, "as it comes")
    oob = found.surfaces["oob"]
    twin = naive.error_by_voters(oob.voters.tolist(), oob.errors.tolist())
    table = tables["oob/voters.json"]
    assert list(table) == ["voters", "rows", "error", "std"]
    assert table["voters"].tolist() == list(twin)
    assert table["rows"].tolist() == [n for n, _ in twin.values()]
    np.testing.assert_allclose(table["error"], [error for _, error in twin.values()], **CLOSE)
    spread = [np.std(oob.errors[oob.voters == n]) for n in twin]
    np.testing.assert_allclose(table["std"], spread, **CLOSE)


@worlds
@for_each_task
def test_importances_are_means_and_spreads_over_trees(task, name):
    found, _, tables = tables_of(task, name)
    kinds = {"": found.parts["importance"]}
    expected = {"feature": ["a", "b", "c"]}
    if name != "no bags":
        kinds["permutation_"] = found.parts["permutation"].increase
        expected["permutation_rows_a_tree"] = max(found.parts["permutation"].n_rows)
    for prefix, by_tree in kinds.items():
        columns = by_tree.T.tolist()
        expected[f"{prefix}mean"] = [np.mean(column) for column in columns]
        expected[f"{prefix}std_over_trees"] = [np.std(column) for column in columns]
    table = tables["importance.json"]
    assert set(table) == set(expected)
    assert table["feature"] == expected.pop("feature")
    for key, values in expected.items():
        np.testing.assert_allclose(table[key], values, **CLOSE)


@for_each_task
def test_the_first_tree_is_listed(task, monkeypatch):
    _, _, tables = tables_of(task, "as it comes")
    model = studied(task, "as it comes")[2]
    classes = CLASSES if task == "classification" else None
    view = TreeView(tree_of(model.forest_, 0), task, list("abc"), classes)
    assert tables["tree/first.txt"] == view.export_text(show_stats=True) + "\n"
    assert tables["tree/first.json"] == view.describe()
    monkeypatch.setattr(first_tree, "MOST_LISTED", view.n_nodes)
    assert {"tree/first.txt", "tree/first.json"} <= set(tables_of(task, "as it comes")[2])
    monkeypatch.setattr(first_tree, "MOST_LISTED", view.n_nodes - 1)
    short = tables_of(task, "as it comes")[2]
    assert "tree/first.json" not in short
    assert short["tree/first.txt"] == view.export_text(show_stats=True, max_depth=3) + "\n"


@worlds
@for_each_task
def test_coverage_is_listed_by_method(task, name):
    found, _, tables = tables_of(task, name)
    numbers, table = logged(found), dict(tables["coverage.json"])
    assert table.pop("level") == list(LEVELS)
    assert table.pop("split") == ("valid" if name == "no test" else "test")
    methods = {key.removeprefix("coverage/") for key, _ in numbers if key.startswith("coverage/")}
    assert set(table) == methods
    for method, told in table.items():
        assert told["rows"] == numbers[f"summary/rows_coverage_{method}", 0]
        most = LEVELS.index(0.9) + 1  # the last of what is logged
        np.testing.assert_array_equal(told["share"][:most], curve_of(numbers, f"coverage/{method}"))
        widths = told["width"][:most]
        finite = widths[np.isfinite(widths)]
        np.testing.assert_array_equal(finite, curve_of(numbers, f"width/{method}"))


def test_the_band_is_listed():
    _, found = small_world("regression")
    band = found.parts["band"]
    table = dict(artifacts.tables(found, about_of(found, 1)))["band.json"]
    expected = {"depth": band.depth, "x": band.x, "mean": band.mean, "level": 0.9}
    expected |= {name: {"low": low, "high": high} for name, (low, high) in band.bands.items()}
    np.testing.assert_equal(table, expected)
    known = found._replace(parts={"band": band._replace(expected=2 * band.x)})
    table = dict(artifacts.tables(known, about_of(found, 1)))["band.json"]
    np.testing.assert_equal(table, expected | {"expected": 2 * band.x})


def of_draws(with_labels):
    squared = Decomposition(*np.arange(15.0).reshape(5, 3))
    labels = LabelDecomposition(*np.arange(21.0).reshape(7, 3)) if with_labels else None
    return DrawFindings("classification" if with_labels else "regression", 4, squared, labels)


@pytest.mark.parametrize("with_labels", [False, True])
def test_the_parts_of_the_error_are_listed(with_labels):
    found = of_draws(with_labels)
    ((name, table),) = PARTS["draws"].table(found, None, None)
    expected = {"draws": 4, "squared": found.squared._asdict()}
    if with_labels:
        expected["labels"] = found.labels._asdict()
    assert name == "bias_variance.json"
    np.testing.assert_equal(table, expected)


# ---- files -------------------------------------------------------------------------------------


def test_tables_are_written_as_they_are(tmp_path):
    """Without pictures; JSON knows no NaN."""
    found, about, tables = tables_of("regression", "as it comes")
    for _ in range(2):  # over those of before
        artifacts.write(tmp_path, found, about, False)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert written == set(tables)
    for name in written:
        path, table = tmp_path / name, tables[name]
        if name.endswith(".json"):
            np.testing.assert_equal(json.loads(path.read_text()), plain(table))
        elif name.endswith(".txt"):
            assert path.read_text() == table
        else:
            read = pd.read_csv if name.endswith(".csv") else pd.read_parquet
            pd.testing.assert_frame_equal(read(path), table)
    assert json.loads((tmp_path / "oob/voters.json").read_text())["error"][0] is None


def plain(value):
    """Lists and numbers; None for what is not finite."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def test_arrays_of_many_axes_are_lists_of_lists(tmp_path):
    values = np.array([[[1.0, np.nan], [np.inf, 2.0]]])
    artifacts.WRITERS[".json"](tmp_path / "x.json", {"a": values, "n": np.int64(3)})
    found = json.loads((tmp_path / "x.json").read_text())
    assert found == {"a": [[[1.0, None], [None, 2.0]]], "n": 3}


# ---- pictures ----------------------------------------------------------------------------------


@pytest.fixture
def undrawn(monkeypatch):
    """Instead of a picture: the name of what draws it, and its arguments by their names."""

    def noting(name, draw):
        def noted(*given, **named):
            bound = inspect.signature(draw).bind(*given, **named)
            return name, dict(bound.arguments)

        return noted

    for name in figures.__all__:
        if inspect.isfunction(getattr(figures, name)):
            monkeypatch.setattr(figures, name, noting(name, getattr(figures, name)))


def shown(found, about):
    made = list(pictures(found, about))
    assert len(dict(made)) == len(made)
    return dict(made)


@worlds
@for_each_task
def test_pictures_show_what_was_found(task, name, undrawn):
    found = studied(task, name)[1]
    drawn, main, parts = shown(found, about_of(found)), MAIN[task], found.parts
    curves = {s: error_of(task, surface.values[main][-1]) for s, surface in found.surfaces.items()}
    maps = {s: error_of(task, surface.values[main]) for s, surface in found.surfaces.items()}
    depth, judge = parts["chosen"].depth, "valid"
    name_of, label = ERRORS[task]
    look = {"metric": label, "better": "lower"}
    expected = {
        "curves/depth.png": (
            "depth_curve",
            {"curves": curves, "title": f"{name_of} by depth: a title"}
            | {"chosen": depth, "judge": judge} | look,
        ),
        "surface.png": (
            "surface_maps",
            {"surfaces": maps, "sizes": np.array(SIZES)} | look
            | {"title": f"{name_of} by depth and number of trees (ring: best): a title"},
        ),
        "stopping.png": ways_shown(found, task),
        "importance.png": importances_shown(task, parts, name != "no bags"),
        "coverage.png": coverage_shown(task, name, parts),
    }  # fmt: skip
    if name != "no bags":
        expected |= out_of_bag_shown(task, parts, curves["oob"])
    for split, counts in parts.get("confusion", {}).items():
        title = f"Confusion of classes, {ROWS[split]}: a title"
        told = {"matrix": counts, "classes": CLASSES, "title": title}
        expected[f"confusion/{split}.png"] = "confusion", told
    for split, unsure in parts["uncertainty"].of.items():
        gauge, errors = parts["uncertainty"].gauge, found.surfaces[split].errors
        how, told = drawn.pop(f"uncertainty/{split}.png")
        assert how == f"uncertainty_{task}"
        title = f"Errors by uncertainty, {ROWS[split]}: a title"
        np.testing.assert_equal(
            list(told.values()), [unsure, errors, title, gauge.margin, gauge.untold]
        )
    for split, (_, by_combiner) in parts.get("calibration", {}).items():
        how, told = drawn.pop(f"calibration/{split}.png")
        lists = {combiner: each._asdict() for combiner, each in by_combiner.items()}
        np.testing.assert_equal((how, *told.values()),
                                ("reliability_diagram", lists,
                                 f"Calibration, {ROWS[split]}: a title"))  # fmt: skip
    how, told = drawn.pop("tree/first.png")
    assert how == "tree_picture"
    assert told["max_depth"] == 3
    assert told["title"] == "a title: the first tree"
    assert told["view"].tree is parts["first_tree"]
    assert told["view"].feature_names == ["a", "b", "c"]
    np.testing.assert_equal(drawn, expected)


# What the main metric is shown as.
ERRORS = {
    "classification": ("Error rate", "error rate (share of rows)"),
    "regression": (
        "Root mean squared error",
        "root mean squared error (units of the target)",
    ),
}
ROWS = {"valid": "validation rows", "test": "test rows", "oob": "out-of-bag rows"}


def error_of(task, values):
    return 1 - values if task == "classification" else values


def ways_shown(found, task):
    """On test rows, or else on those that choose; without the bare root."""
    split = "test" if "test" in found.surfaces else "valid"
    lines = {}
    for rule, way in zip(("max_depth", *RULES), found.parts["stopping"].values(), strict=True):
        first = int(way.n_leaves[0] == 1)
        assert (way.n_leaves[first:] > 1).all()
        told = way.n_leaves, error_of(task, way.scores[split][MAIN[task]]), way.values
        lines[rule] = figures.StoppingLine(*(each[first:] for each in told), way.place - first)
    title = f"{ERRORS[task][0]} by size of the trees, {ROWS[split]}: a title"
    told = {"lines": lines, "metric": ERRORS[task][1], "title": title, "judge": "valid"}
    return "stopping_curves", told


def importances_shown(task, parts, with_permutation):
    """Means over trees with their standard errors."""
    by_tree, names = parts["importance"], ["a", "b", "c"]
    impurity = by_tree.mean(axis=0), sem(by_tree)
    label = "decrease of impurity (share of the sum)"
    told = {"names": names, "title": "Importance of the pixels: a title", "image_shape": (1, 3)}
    if not with_permutation:
        return "importance", told | {"mean": impurity[0], "error": impurity[1], "label": label}
    increase = parts["permutation"].increase
    other = increase.mean(axis=0), sem(increase)
    rise = {
        "classification": "rise of a tree's error rate, shuffled (share of rows)",
        "regression": "rise of a tree's MSE, shuffled (squared units)",
    }
    labels = label, rise[task]
    return "two_importances", told | {
        "impurity": impurity, "permutation": other, "labels": labels
    }  # fmt: skip


def coverage_shown(task, name, parts):
    split, told = "valid" if name == "no test" else "test", parts["coverage"]
    remarks = {
        "trees": "mean ± z · the trees' spread",
        "jackknife": "mean ± z · sd of the mean",
        "conformal": "by errors out of bag",
        "quantiles": "of targets in a row's leaves",
        "posterior": "likeliest classes",
    }
    assert set(told) <= set(remarks)
    if "jackknife" in told:
        needed = f"{parts['jackknife'].trees_needed:.1e}"
        trees = f", {round(float(needed)):,} trees needed" if needed not in ("nan", "inf") else ""
        rows = told["jackknife"].rows
        assert rows < 25
        remarks["jackknife"] += f"; {rows} of 25 rows{trees}"
    sized = "label sets" if task == "classification" else "intervals"
    return "coverage_curve", {
        "levels": np.array(LEVELS),
        "coverage": {method: each.share for method, each in told.items()},
        "width": {method: each.width for method, each in told.items()},
        "title": f"Coverage and size of {sized}, {ROWS[split]}: a title",
        "kind": "set" if task == "classification" else "interval",
        "remarks": remarks,
    }


def out_of_bag_shown(task, parts, curve):
    of_classes = task == "classification"
    voters, rows, error, std = parts["voters"]
    sizes = {"n_trees": np.arange(1, N_TREES + 1), "curves": {"oob": parts["by_trees"]}}
    found = parts["strength"]
    three = [found.strength if of_classes else found.tree_rmse, found.correlation, found.bound]
    strength = figures.strength_curve if of_classes else figures.residual_curve
    main, label = ERRORS[task]
    title = f"Out-of-bag {main[0].lower() + main[1:]} by number of trees: a title"
    name = "error rate" if of_classes else "mean |error|"
    what = "Strength" if of_classes else "Error"
    return {
        "curves/oob_by_trees.png": (
            "size_curve",
            sizes | {"metric": label, "title": title, "better": "lower"},
        ),
        "oob/voters.png": (
            "voters_curve",
            {"voters": voters, "rows": rows, "error": error}
            | {"title": f"Out-of-bag {name} by number of voters: a title"}
            | {"name": name if of_classes else f"{name} (units of the target)"}
            | {"std": None if of_classes else std},
        ),
        "strength.png": strength(
            *three, f"{what} and correlation of the trees, out of bag, by depth: a title", curve
        ),
    }


def test_without_a_chosen_depth_none_is_marked(undrawn):
    found = studied("classification", "as it comes")[1]
    parts = {key: part for key, part in found.parts.items() if key != "chosen"}
    _, told = shown(found._replace(parts=parts), about_of(found))["curves/depth.png"]
    assert told["chosen"] is None
    assert told["judge"] == ""


def test_the_band_and_the_plane_are_shown(undrawn):
    _, found = small_world("regression")
    band = found.parts["band"]
    how, told = shown(found, about_of(found, 1))["band.png"]
    assert how == "prediction_band"
    unknown = np.isnan(band.bands["jackknife"].low).mean()
    assert 0 < unknown < 1
    remarks = {"jackknife": f"unknown at {round(100 * unknown)}%"}
    np.testing.assert_equal(told, {
        "x": band.x, "mean": band.mean, "bands": band.bands, "train_points": band.training,
        "title": f"90% intervals at depth {band.depth}, chosen by out-of-bag rows: a title",
        "remarks": remarks, "truth": None, "names": ("a", "target"),
    })  # fmt: skip
    _, found = small_world("classification")
    regions = found.parts["regions"]
    how, told = shown(found, about_of(found, 2))["regions.png"]
    assert how == "decision_regions"
    np.testing.assert_equal(told, {
        "grids": regions.posteriors, "extent": regions.extent, "points": regions.training[0],
        "labels": regions.training[1], "classes": CLASSES, "names": ["a", "b"],
        "title": "Predicted class over the plane, and training rows: a title",
    })  # fmt: skip


@pytest.mark.parametrize(("with_labels", "kind"), [(False, "squared"), (True, "brier")])
def test_the_parts_of_the_error_are_shown(with_labels, kind, undrawn):
    found = of_draws(with_labels)
    ((name, drawn),) = PARTS["draws"].picture(found, None, About("a title", [], {}))
    assert name == "bias_variance.png"
    title = f"Noise, bias and variance by depth, over {found.n_draws} training sets: a title"
    told = {"variants": {"": found.squared}, "title": title, "kind": kind}
    assert drawn == ("bias_variance_curve", told)

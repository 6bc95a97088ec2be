"""Forests of a file that was encoded in blocks are those of its rows, to the bit."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import forestlab.datasets.blocks as blocks
from forestlab import (
    DensityForest,
    ForestClassifier,
    ForestRegressor,
    Histogram,
    TreeClassifier,
    encode_file,
    load,
    open_encoded,
    read_blocks,
)

LARGE = Path(__file__).with_name("large_fit.py")


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "few": rng.integers(0, 30, n).astype(float),
        "rounded": np.round(rng.normal(size=n), 1),
        "colour": rng.choice(["red", "green", "blue"], n),
        "flag": rng.random(n) < 0.3,
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "rounded"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    score = frame["few"] / 30 + (frame["colour"] == "red") + rng.normal(size=n) / 4
    frame["kind"] = np.where(score > 1.2, "high", np.where(score > 0.5, "middle", "low"))
    frame["amount"] = np.round(score, 3)
    return frame


FEATURES = ["few", "rounded", "colour", "flag"]


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks to a file, of a size that divides nothing."""
    monkeypatch.setattr(blocks, "ROWS", 97)
    monkeypatch.setattr(blocks, "BYTES", 3000)


def write(frame, folder, kind) -> Path:
    path = folder / f"rows.{kind}"
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    return path


def encoded(frame, folder, target, kind="parquet", **how):
    other = {"kind": "amount", "amount": "kind"}[target]
    return encode_file(
        write(frame, folder, kind), folder / "codes", target=target, drop=[other], **how
    )


def assert_same_forest(a, b):
    for name, one, other in zip(a.forest_._fields, a.forest_, b.forest_, strict=True):
        assert one.tobytes() == other.tobytes(), name
    assert list(a.feature_names_in_) == list(b.feature_names_in_)


# ---- the same forest ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_forest_of_classes_is_that_of_the_rows(tmp_path, small_blocks, kind):
    frame = rows()
    data = encoded(frame, tmp_path, "kind", kind)
    assert data.shape == (600, 4)
    assert all(data.facts.exact)
    assert data.facts.lacking
    how = {"search": "histogram", "random_state": 0, "oob_score": True, "class_weight": {"low": 2}}
    forest = ForestClassifier(12, **how).fit(data)
    given = frame[FEATURES]
    expected = ForestClassifier(12, **how).fit(given, frame["kind"])
    assert_same_forest(forest, expected)
    assert forest.classes_.tolist() == ["high", "low", "middle"]
    assert forest.oob_score_ == expected.oob_score_
    for own, other in zip(forest.categories_, expected.categories_, strict=True):
        assert (own is None and other is None) or own.tolist() == other.tolist()
    assert (forest.predict(given) == expected.predict(given)).all()


# Each of the others takes seconds to compile a kernel that nobody else has use for.
OTHERS = (
    {"search": "exact", "missing": "both"},
    {"search": "histogram", "prune": "oob", "missing": "branch"},
    {"search": "histogram", "aggregate": True},
    {"search": "boundary", "criterion": "variance", "bootstrap": False},
    {"learner": "oblique", "max_features": 3},
)


@pytest.mark.parametrize(
    "params",
    [
        {"search": "histogram", "shrink": "oob"},
        *(pytest.param(others, marks=pytest.mark.long) for others in OTHERS),
    ],
    ids=lambda params: "-".join(map(str, params.values())),
)
def test_a_forest_of_numbers_is_that_of_the_rows(tmp_path, params):
    frame = rows(300)
    data = encoded(frame, tmp_path, "amount")
    weights = np.arange(300) % 4 + 1.0
    forest = ForestRegressor(5, random_state=0, **params).fit(data, None, weights)
    expected = ForestRegressor(5, random_state=0, **params)
    expected.fit(frame[FEATURES], frame["amount"], weights)
    assert_same_forest(forest, expected)
    assert getattr(forest, "shrink_", 0) == getattr(expected, "shrink_", 0)
    if params.get("aggregate"):
        assert (forest.node_losses_ == expected.node_losses_).all()


def test_bins_are_those_of_the_rows_if_all_are_sampled(tmp_path, small_blocks):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(900, 3)), columns=["a", "b", "c"])
    y = (frame["a"] * frame["b"] > 0).astype(int)
    path = write(frame.assign(y=y), tmp_path, "parquet")
    data = encode_file(path, tmp_path / "codes", target="y", bins=16)
    assert not any(data.facts.exact)
    assert data.facts.sampled == 900
    search = Histogram(bins=16)
    forest = ForestClassifier(5, search=search, random_state=0).fit(data)
    expected = ForestClassifier(5, search=search, random_state=0).fit(frame, y)
    assert_same_forest(forest, expected)
    few = encode_file(path, tmp_path / "few", target="y", bins=16, n_sampled=100)
    other = ForestClassifier(5, search=search, random_state=0).fit(few)
    assert few.facts.sampled == 100
    assert other.forest_.nodes.tobytes() != expected.forest_.nodes.tobytes()
    # In the trees that grew on it a row goes where its code goes, whatever the bins.
    by_code, by_value = other._ends(few[:900]), other._ends(frame)
    inside = other.grown.bags() > 0
    assert (by_code == by_value)[inside].all()
    assert inside.mean() > 0.5


def test_many_bins_and_many_levels_take_two_bytes(tmp_path):
    n = 700
    frame = pd.DataFrame({"a": np.arange(n) / 7, "word": [f"w{i % 300}" for i in range(n)]})
    frame["y"] = np.arange(n) % 3 % 2
    path = write(frame, tmp_path, "parquet")
    data = encode_file(path, tmp_path / "codes", target="y", bins=1000)
    assert data.columns.codes.dtype == np.uint16
    assert all(data.facts.exact)
    forest = ForestClassifier(3, random_state=0).fit(data)
    assert_same_forest(
        forest, ForestClassifier(3, random_state=0).fit(frame[["a", "word"]], frame["y"])
    )


def test_numbers_may_be_categories(tmp_path):
    frame = rows(300).assign(few=lambda it: it["few"].astype(int))
    data = encoded(frame, tmp_path, "kind", categorical=["few"])
    forest = TreeClassifier(random_state=0).fit(data)
    expected = TreeClassifier(random_state=0, categorical_features=["few", "colour", "flag"])
    assert_same_forest(forest, expected.fit(frame[FEATURES], frame["kind"]))


def test_a_warm_start_grows_on(tmp_path):
    frame = rows(200)
    data = encoded(frame, tmp_path, "kind")
    forest = ForestClassifier(3, warm_start=True, random_state=0).fit(data)
    forest.set_params(n_estimators=6).fit(data)
    assert_same_forest(forest, ForestClassifier(6, random_state=0).fit(data))
    other = encode_file(tmp_path / "rows.parquet", tmp_path / "other", target="kind")
    with pytest.raises(ValueError, match="warm_start=True adds trees to a forest of the same feat"):
        forest.set_params(n_estimators=9).fit(other)


def test_a_saved_forest_is_asked_about_a_file_in_blocks(tmp_path, small_blocks):
    frame = rows()
    forest = ForestClassifier(5, search="histogram").fit(encoded(frame, tmp_path, "kind"))
    forest.save(tmp_path / "saved.forest")
    forest = load(tmp_path / "saved.forest")
    found = [
        forest.predict(block)
        for block in read_blocks(tmp_path / "rows.parquet", forest.feature_names_in_)
    ]
    assert len(found) == 7
    assert (np.concatenate(found) == forest.predict(frame[FEATURES])).all()


def test_a_mapped_array_is_asked_about_without_a_copy(tmp_path):
    """What is asked may be larger than memory: numpy maps it, and blocks of it are looked at."""
    X = np.random.default_rng(0).normal(size=(500, 3))
    forest = ForestClassifier(3, random_state=0).fit(X, X[:, 0] > 0)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(forest._check_X(mapped), mapped)
    assert (forest.predict(mapped) == forest.predict(X)).all()


def test_processes_share_one_copy_and_do_not_write_to_it(tmp_path):
    data = encoded(rows(200), tmp_path, "kind")
    codes = data.columns.codes
    assert type(codes) is np.ndarray
    assert codes.flags.c_contiguous
    assert codes.flags.writeable
    before = (tmp_path / "codes" / "codes.npy").read_bytes()
    codes[0, 0] += 1  # in this process alone
    assert (tmp_path / "codes" / "codes.npy").read_bytes() == before
    assert open_encoded(tmp_path / "codes").columns.codes[0, 0] == codes[0, 0] - 1


# ---- the folder --------------------------------------------------------------------------------


def test_the_task_is_found_out(tmp_path):
    frame = pd.DataFrame({"x": np.arange(40.0), "few": np.arange(40) % 20, "many": np.arange(40)})
    path = write(frame.assign(half=frame["few"] + 0.5), tmp_path, "parquet")
    tasks = {}
    for target in ("few", "many", "half"):
        tasks[target] = encode_file(path, tmp_path / target, target=target).facts.task
    assert tasks == {"few": "classification", "many": "regression", "half": "regression"}
    as_numbers = encode_file(path, tmp_path / "other", target="few", task="regression")
    assert as_numbers.facts.classes is None
    assert as_numbers.y[:3, 0].tolist() == [0, 1, 2]
    as_classes = encode_file(path, tmp_path / "more", target="many", task="classification")
    assert as_classes.facts.classes == list(range(40))


def test_a_folder_that_fails_half_way_is_not_there(tmp_path, monkeypatch):
    import forestlab.model.encoding as encoding

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(encoding.ArrayFile, "write", full)
    with pytest.raises(OSError, match="No space left"):
        encoded(rows(50), tmp_path, "kind")
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_what_a_person_made_is_not_written_over(tmp_path):
    (tmp_path / "codes").mkdir()
    (tmp_path / "codes" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="codes is there already: choose another, or remove it"):
        encoded(rows(50), tmp_path, "kind")
    assert (tmp_path / "codes" / "mine.txt").read_text() == "mine"


def test_a_file_that_changes_meanwhile_is_refused(tmp_path, monkeypatch):
    import forestlab.model.encoding as encoding

    look = encoding.Table.look

    def change(self, *given):
        look(self, *given)
        rows(60, seed=1).to_parquet(tmp_path / "rows.parquet")

    monkeypatch.setattr(encoding.Table, "look", change)
    with pytest.raises(ValueError, match=r"has changed while it was read"):
        encoded(rows(50), tmp_path, "kind")
    assert not (tmp_path / "codes").exists()


def damaged(folder, how):
    codes, manifest = folder / "codes.npy", folder / "manifest.json"
    if how == "truncated":
        codes.write_bytes(codes.read_bytes()[:-1])
    elif how == "changed":
        codes.write_bytes(codes.read_bytes()[:-1] + b"\xff")
    elif how == "missing":
        codes.unlink()
    elif how == "no manifest":
        manifest.unlink()
    elif how == "half a manifest":
        manifest.write_text(manifest.read_text()[:200])
    elif how == "version":
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"version": 9}))
    elif how == "fewer names":
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"names": ["few"]}))
    else:
        manifest.write_text("[1]")


@pytest.mark.parametrize(("how", "told"), [
    ("truncated", r"is damaged: codes\.npy has [\d,]+ bytes, not [\d,]+; encode the file again\."),
    ("changed", r"is damaged: codes\.npy is not what was written; encode"),
    ("missing", r"is damaged: codes\.npy is missing"),
    ("no manifest", r"is no folder that encode_file wrote: it has no manifest\.json\."),
    ("half a manifest", r"is damaged: manifest\.json cannot be read"),
    ("version", r"of version 9; .* of version 1 is read: encode the file again\."),
    ("fewer names", r"is damaged: codes\.npy does not fit the names of features"),
    ("another", r"is damaged: manifest\.json cannot be read"),
])  # fmt: skip
def test_a_damaged_folder_is_refused_by_a_sentence(tmp_path, how, told):
    encoded(rows(50), tmp_path, "kind")
    damaged(tmp_path / "codes", how)
    with pytest.raises(ValueError, match=told) as caught:
        open_encoded(tmp_path / "codes")
    assert "\n" not in str(caught.value)


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "told"), [
    (ForestRegressor(2), "was encoded for classification, and ForestRegressor is of regression"),
    (DensityForest(2), "was encoded for classification, and DensityForest is of density"),
    (ForestClassifier(2, missing="error"), "missing='error' refuses missing values, and .* has"),
    (ForestClassifier(2, ccp_alpha="cv"), "ccp_alpha='cv' fits parts of the rows"),
    (ForestClassifier(2, categorical_features=["few"]), "categorical_features must be 'from_dtyp"),
], ids=str)  # fmt: skip
def test_what_does_not_go_with_codes_is_refused(tmp_path, model, told):
    with pytest.raises(ValueError, match=told):
        model.fit(encoded(rows(50), tmp_path, "kind"))


def test_bins_are_not_taken_for_values(tmp_path):
    frame = pd.DataFrame({"a": np.arange(300.0), "y": np.arange(300) % 2})
    data = encode_file(write(frame, tmp_path, "parquet"), tmp_path / "codes", target="y")
    told = r"was encoded with bins=255: search must be Histogram\(bins=255\) .*'a' has only bins"
    for params in ({}, {"search": Histogram(bins=64)}, {"search": "uniform"}):
        with pytest.raises(ValueError, match=told):
            ForestClassifier(2, **params).fit(data)
    with pytest.raises(ValueError, match=told):
        ForestClassifier(2, search="histogram", learner="oblique").fit(data)


def test_codes_are_no_rows_to_ask_about(tmp_path):
    data = encoded(rows(50), tmp_path, "kind")
    forest = ForestClassifier(2).fit(data)
    with pytest.raises(ValueError, match=r"y must be None with an Encoded: .* has its target, 'ki"):
        forest.fit(data, np.zeros(50))
    for ask in (forest.predict, forest.predict_oob, forest.apply):
        with pytest.raises(ValueError, match="an Encoded holds codes, not values"):
            ask(data)


@pytest.mark.parametrize(("how", "told"), [
    ({"target": "sort"}, r"target=sort is not a column; the columns are few, rounded, colour"),
    ({"drop": ["sort"]}, r"drop=sort is not a column"),
    ({"categorical": ["sort"]}, r"categorical=sort is not a column"),
    ({"drop": [*FEATURES, "amount"]}, r"drop leaves no feature"),
    ({"bins": 1}, r"bins must be a whole number from 2 to 65535; got 1"),
    ({"n_sampled": 9}, r"n_sampled must be a whole number of at least bins=255; got 9"),
    ({"task": "density"}, r"task must be one of 'classification', 'regression'; got 'density'"),
    ({"task": "regression"}, r"task='regression' needs numbers, but 'kind' holds others"),
    ({"target": "rounded"}, r"the target 'rounded' lacks a value after row 0"),
    ({"target": "amount", "task": "classification"}, r"'amount' holds fractions"),
])  # fmt: skip
def test_a_mistake_gets_a_sentence(tmp_path, how, told):
    path = write(rows(50), tmp_path, "parquet")
    with pytest.raises(ValueError, match=told):
        encode_file(path, tmp_path / "codes", **{"target": "kind"} | how)
    assert not (tmp_path / "codes").exists()


@pytest.mark.parametrize(("column", "told"), [
    ([1.0, np.inf, 2.0], r"column 'a' holds infinity, in row 1"),
    (pd.to_datetime(["2020-01-01"] * 3), r"column a holds timestamp.*: a column must hold numbers"),
    ([[1], [2], [3]], r"column a holds list<.*: a column must hold numbers"),
])  # fmt: skip
def test_a_column_that_is_neither_numbers_nor_categories_is_refused(tmp_path, column, told):
    path = write(pd.DataFrame({"a": column, "y": [0, 1, 0]}), tmp_path, "parquet")
    with pytest.raises(ValueError, match=told):
        encode_file(path, tmp_path / "codes", target="y")


def test_files_that_cannot_be_read_are_refused(tmp_path):
    for name, told in (("no.parquet", "is not a file"), ("rows.xls", "is neither .parquet nor")):
        (tmp_path / "rows.xls").write_text("a")
        with pytest.raises(ValueError, match=told):
            encode_file(tmp_path / name, tmp_path / "codes", target="y")
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"text\.parquet cannot be read: "):
        encode_file(tmp_path / "text.parquet", tmp_path / "codes", target="b")


def test_a_word_far_down_a_csv_file_is_told_with_what_helps(tmp_path, small_blocks):
    lines = ["a,y", *(f"{i},{i % 2}" for i in range(2000)), "four,1"]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    told = r"cannot be read: .*four.* Name a column of words in categorical, or leave it out"
    with pytest.raises(ValueError, match=told):
        encode_file(tmp_path / "rows.csv", tmp_path / "codes", target="y")
    found = encode_file(tmp_path / "rows.csv", tmp_path / "codes", target="y", categorical=["a"])
    assert len(found.facts.levels[0]) == 2001


# ---- memory ------------------------------------------------------------------------------------

MOST = 4096  # megabytes in which 20 million rows are to be trained


def taken(folder, n_rows) -> dict[str, dict]:
    """What each step of a fit took, in a process of its own: see large_fit.py."""
    folder.mkdir()
    found = {}
    for step in ("make", "encode", "fit"):
        done = subprocess.run(
            [sys.executable, LARGE, step, folder, str(n_rows)],
            capture_output=True, text=True, timeout=3600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found[step] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.long
@pytest.mark.parametrize("n_rows", [2_000_000, 20_000_000])
def test_millions_of_rows_are_trained_within_their_share_of_memory(tmp_path, n_rows):
    """What any fit needs, Python, numba and scikit-learn, is measured on few rows; of the rest of
    4 GB a tenth of the rows may have a tenth. Mapped pages of files count. 20 million take 2.2 GB
    on the disk and some ten minutes of two cores."""
    base = taken(tmp_path / "few", 10_000)["fit"]["peak"]
    found = taken(tmp_path / "many", n_rows)
    assert found["fit"]["peak"] < base + (MOST - base) * n_rows / 20_000_000
    assert found["encode"]["peak"] < 1000  # whatever the number of rows
    assert found["fit"]["accuracy"] > 0.6  # of three classes, of which the largest has 0.4

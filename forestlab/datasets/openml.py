"""Any data set of OpenML, by name and version; and the way in which it is asked for."""

import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
from sklearn import datasets as sklearn_datasets

from forestlab.config import DatasetConfig
from forestlab.datasets.base import DataError, Dataset
from forestlab.datasets.files import from_table

TIME_LIMIT = 20.0  # seconds without an answer
ONE_THREAD = threading.Lock()


@contextmanager
def impatient() -> Iterator[None]:
    """Within it, scikit-learn's downloads give up after TIME_LIMIT and retry without a warning.

    Both are settings of the whole process: one thread at a time.
    """
    with ONE_THREAD, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="A network error occurred|Retry downloading")
        before = socket.getdefaulttimeout()
        socket.setdefaulttimeout(TIME_LIMIT)
        try:
            yield
        finally:
            socket.setdefaulttimeout(before)


def openml_frame(name: str, version: int) -> pd.DataFrame:
    """Features and target of a data set, the target last."""
    with impatient():
        bunch = sklearn_datasets.fetch_openml(
            name, version=version, as_frame=True, cache=False, n_retries=1, delay=0.1
        )
    targets = bunch.target.to_frame() if isinstance(bunch.target, pd.Series) else bunch.target
    return bunch.data if targets is None else pd.concat([bunch.data, targets], axis=1)


def openml(config: DatasetConfig) -> Dataset:
    """The data set dataset.openml_name, version dataset.openml_version."""
    if not config.openml_name:
        raise DataError("dataset.openml_name is missing: say which data set of OpenML to load.")
    what = f"OpenML {config.openml_name} version {config.openml_version}"
    try:
        frame = openml_frame(config.openml_name, config.openml_version)
    except (OSError, ValueError) as error:
        raise DataError(f"{what} could not be loaded: {error}") from None
    return from_table(config.openml_name, frame, what, config)


OPENML = {"openml": openml}

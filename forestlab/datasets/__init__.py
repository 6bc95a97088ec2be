"""Data sets: load one by its config, split it, name it by its digest.

`load` finds the loader of a name in LOADERS, then drops columns, tells numbers from categories,
keeps as many rows as asked, changes scales and takes values away if that is wanted; `split` draws
train, validation and test rows; `digest` is a fingerprint of the data. Mistakes are told by
DataError.
"""

from collections.abc import Callable

import pandas as pd

from forestlab.config import DatasetConfig
from forestlab.datasets.base import (
    DataError,
    Dataset,
    Parts,
    categories_of,
    digest,
    level_counts,
    matrix,
)
from forestlab.datasets.columns import Column, columns_of
from forestlab.datasets.downloaded import DOWNLOADED
from forestlab.datasets.files import FILES
from forestlab.datasets.holes import completed, punched
from forestlab.datasets.kinds import check_names, typed
from forestlab.datasets.levels import encoded
from forestlab.datasets.made import MADE, NOISY, friedman1_truth, sine_truth
from forestlab.datasets.openml import OPENML
from forestlab.datasets.packaged import PACKAGED
from forestlab.datasets.splitting import noisy_labels, split
from forestlab.datasets.table import (
    drop_columns,
    listed,
    one_hot,
    rescaled,
    sample,
    targets_array,
)
from forestlab.datasets.toys import Margin, margin
from forestlab.spelling import did_you_mean, most_like

LOADERS: dict[str, Callable[[DatasetConfig], Dataset]] = {
    **PACKAGED,
    **MADE,
    **DOWNLOADED,
    **FILES,
    **OPENML,
}

OWN = frozenset({*FILES, *OPENML})  # tables that a user brings: what is in them is shown

# Options that only some of these data sets take; one that is added later sees to its own.
KNOWN = frozenset(LOADERS)
TAKERS = {
    "noise": NOISY,
    "levels": ["levels"],
    "path": [*FILES],
    "delimiter": ["csv"],
    "decimal": ["csv"],
    "target": [*FILES, *OPENML],
    "openml_name": [*OPENML],
    "missing_marks": [*FILES, *OPENML],
}


def load(config: DatasetConfig) -> Dataset:
    """The data set that a config names.

    Parameters
    ----------
    config : DatasetConfig
        Or any object with its attributes.

    Returns
    -------
    Dataset
        Features of shape (n, m), finite numbers and categories, which may lack values; a target of
        shape (n,), or several, (n, T).
    """
    if config.name not in LOADERS:
        raise DataError(f"dataset.name={config.name} is unknown{_hint(config.name)}.")
    _check_options(config)
    dataset = LOADERS[config.name](config)
    target, task = targets_array(_columns(dataset), config.task or dataset.task)
    frame = _typed(dataset.frame, config)
    dataset = dataset._replace(
        frame=frame,
        target=target,
        task=task,
        n_own_test=dataset.n_own_test if config.own_test else 0,
        image_shape=None if config.drop else dataset.image_shape,
    )
    if config.name not in MADE:
        dataset = sample(dataset, config.n_samples, config.data_seed)
    dataset = rescaled(dataset, config.data_seed) if config.rescale else dataset
    dataset = encoded(punched(dataset, config), config.encode)
    return one_hot(dataset) if config.one_hot else dataset


def _typed(frame: pd.DataFrame, config: DatasetConfig) -> pd.DataFrame:
    """The features that are wanted, each a number or a category."""
    lists = {option: list(getattr(config, option)) for option in ("drop", "categorical", "numeric")}
    check_names(frame, lists)
    frame = drop_columns(frame, lists["drop"])
    return typed(frame, lists["categorical"], lists["numeric"])


def _columns(dataset: Dataset) -> pd.DataFrame:
    """The target, or the targets, as columns."""
    target = pd.DataFrame(dataset.target)
    named = dataset.target_names or (["target"] if len(target.columns) == 1 else target.columns)
    return target.set_axis([str(name) for name in named], axis=1)


def _hint(name: str) -> str:
    """What the name may have been meant for, and all the names."""
    meant = did_you_mean(most_like(name, LOADERS))
    return f"{f' ({meant})' if meant else ''}; the data sets are {listed(LOADERS, len(LOADERS))}"


def _check_options(config: DatasetConfig) -> None:
    """Raise DataError for an option that the data set would silently ignore."""
    for option, takers in TAKERS.items():
        value = getattr(config, option)
        if value not in (None, []) and config.name in KNOWN - {*takers}:
            raise DataError(
                f"dataset.{option}={value} has no meaning for {config.name}; "
                f"it is an option of {listed(takers)}."
            )
    if config.data_seed < 0:
        raise DataError(
            f"dataset.data_seed={config.data_seed} is not a seed: it has to be 0 or more."
        )


__all__ = [
    "LOADERS",
    "OWN",
    "Column",
    "DataError",
    "Dataset",
    "DatasetConfig",
    "Margin",
    "Parts",
    "categories_of",
    "columns_of",
    "completed",
    "digest",
    "friedman1_truth",
    "level_counts",
    "load",
    "margin",
    "matrix",
    "noisy_labels",
    "sine_truth",
    "split",
]

"""The schema: every key of a configuration, with its type and its default."""

from dataclasses import dataclass, field, make_dataclass
from typing import Any

from omegaconf import MISSING

from forestlab.core import options
from forestlab.core.options import OPTIONS


class ConfigError(ValueError):
    """A mistake of the person at the keyboard, in one sentence."""


@dataclass
class DatasetConfig:
    """Which data set, how much of it, and how it is split."""

    name: str = MISSING
    task: str | None = None  # "classification" or "regression"; null: found out
    path: str | None = None  # csv, parquet: the file
    delimiter: str | None = None  # csv: what is between fields; null: found out
    decimal: str | None = None  # csv: "comma", if numbers have one; null: a point
    target: Any = None  # csv, parquet, openml: a column, or a list of them; null: the last
    # csv, parquet, openml: texts that say that a value is missing, beside empty cells
    missing_marks: list[str] = field(default_factory=list)
    openml_name: str | None = None
    openml_version: int = 1
    n_samples: int | None = None  # rows to make or to keep; null: the usual, or all
    noise: float | None = None  # the toys and the made regressions; null: the usual
    levels: int | None = None  # of the made set of that name; null: 16
    label_noise: float = 0.0  # share of training labels replaced by another class
    data_seed: int = 0  # what is made, which rows are kept
    drop: list[str] = field(default_factory=list)  # columns left out
    categorical: list[str] = field(default_factory=list)  # columns taken for categories
    numeric: list[str] = field(default_factory=list)  # columns taken for numbers; dates: in days
    encode: str = "levels"  # "one_hot": a column for each level; "numbers": categories as numbers
    missing_share: float = 0.0  # share of the values of each column that is made missing
    missing_by: str = "random"  # or "value": the greater, the likelier
    missing_columns: list[str] = field(default_factory=list)  # columns made to lack values; []: all
    incomplete: str = "keep"  # "fill": means and modes; "drop": no training rows that lack a value
    one_hot: bool = False  # a target of 0 and 1 for each class, in place of the classes
    rescale: bool = False  # multiply each column by a power of two, drawn by data_seed
    test_size: float = 0.25  # share of all rows
    valid_size: float = 0.25  # share of the rows that are not test rows
    stratify: bool = False  # keep the shares of the classes in each part
    split_seed: int = 2020
    own_test: bool = True  # test on the data set's own test set, if it has one


@dataclass
class ModelConfig:
    name: str = MISSING
    bootstrap: bool = True
    max_samples: float | int | None = None
    subspace: str = "node"
    max_features: float | int | str | None = None
    count_constant: bool = True
    rho: int | str | None = None
    rho_draws: str = "features"
    missing: str = "learned"
    categories: str = "subset"  # what is asked of categories, or "equality"
    leaf: str = "mean"
    monotonic_cst: Any = None  # -1, 0 or 1 for each feature, or for some by name; null: none
    combine: str = "average"
    shrink: float | int | str | None = None  # λ of hierarchical shrinkage, or "oob"
    aggregate: bool = False  # all prunings answer
    aggregate_step: float = 1.0
    min_samples_split: float | int = 2
    min_samples_leaf: float | int = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    class_weight: str | None = None
    ridge: float = 1e-3


@dataclass
class PruningConfig:
    """How trees are cut back once they are grown."""

    name: str = "none"  # none, ccp, oob
    ccp_alpha: float | int | str = 0.0  # what a leaf costs; "valid", "cv": what these rows choose
    ccp_rule: str = "best"  # of what may be chosen, or "one_se": the greatest about as good
    ccp_cost: str = "criterion"  # the impurity that it is set against, or "misclassification"


@dataclass
class CriterionConfig:
    name: str = "auto"


@dataclass
class TaskConfig:
    name: str = "auto"  # by the data set, or density


@dataclass
class StudyConfig:
    """How much is found out about a fitted forest."""

    name: str = "light"  # auto (full for a single run, light in a sweep), full, light, off
    rows: int = 1000  # rows of a split that the costly parts look at
    draws: int = 0  # further training sets for bias and variance, where the truth is known
    draw_rows: int | None = None  # rows of each; null: as many as the training set has
    cuts: bool = False  # count the cuts that were scored to grow the trees


@dataclass
class TrackingConfig:
    name: str = "mlflow"
    uri: str | None = None
    experiment: str = "forestlab"
    run_name: str | None = None
    model: bool = True  # keep the fitted model
    pictures: bool = True


@dataclass
class Config:
    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    criterion: CriterionConfig = field(default_factory=CriterionConfig)
    task: TaskConfig = field(default_factory=TaskConfig)
    pruning: PruningConfig = field(default_factory=PruningConfig)
    search: Any = None  # this and the next are nodes of OPTIONS, which `schema` makes
    learner: Any = None
    study: StudyConfig = field(default_factory=StudyConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    max_depth: int | None = None
    n_estimators: int = 100
    seed: int = 0
    n_jobs: int = -1
    backend: str = "threads"  # who grows trees, or "ray": processes, on one machine or many
    resume: bool = False
    plugins: list[str] = field(default_factory=list)  # modules to import: a user's own additions
    sweeps: list[str] | None = None  # products of overrides, as typed; null: this is one job


GROUPS = ("dataset", "model", "criterion", *OPTIONS, "pruning", "task", "study", "tracking")
TOP = ("max_depth", "n_estimators", "seed", "n_jobs", "backend", "resume", "plugins")
SEEDS = ("seed", "dataset.split_seed", "dataset.data_seed")  # runs that differ in these repeat
STUDIES = ("auto", "full", "light", "off")
DOCUMENTS = "forestlab/documents"  # the MLflow experiment of documents' figures
AUTO = "auto"  # what a name says that is decided by the data, or by how the run was started


def schema() -> type:
    """Config with the nodes of OPTIONS, of what was added from outside too."""
    nodes = [(group, options.twin(group, MISSING)) for group in OPTIONS]
    made = [(group, node, field(default_factory=node)) for group, node in nodes]
    return make_dataclass("Config", made, bases=(Config,))

"""What a part of the study is, what it looks at, and what becomes of what it finds.

A *part* is one thing that is found out about a forest: a row of the table in `study.parts`. It
looks at a `Look` and finds something, or None if there is nothing to tell. What it found is told as
numbers, which are logged as metrics, as tables, which become files, and as pictures.
"""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from forestlab.core.tasks import TASKS
from forestlab.forest import Grown, Path
from forestlab.study.metrics import METRICS
from forestlab.study.surface import Surface
from forestlab.study.tasks import STUDIED, Studied

LEVELS = ("off", "light", "full")  # of a study; each has what those before it have


class Look(NamedTuple):
    """What a part may look at: one forest, and the rows that it is studied on."""

    grown: Grown
    data: dict[str, tuple[np.ndarray, np.ndarray]]  # by split: X, and truth as `Surface` has it
    outside: np.ndarray | None  # out-of-bag rows as bits; None without bags, and if it is off
    surfaces: dict[str, Surface]  # by split, also oob
    n_depths: int  # of the deepest tree, with that of the root
    most_rows: int  # that a costly part looks at
    n_jobs: int
    count_cuts: bool
    draw: Callable[[], Any] | None  # DrawFindings, of models grown on further training sets
    found: Mapping[str, Any] = MappingProxyType({})  # by the names of the parts before
    by_target: Mapping[str, "Findings"] = MappingProxyType({})  # of several; these come first
    paths: Mapping[str, Path] = MappingProxyType({})  # of a full study: those of stopping rules
    truth: Callable[[np.ndarray], np.ndarray] | None = None  # X → targets without noise, if known

    @property
    def studied(self) -> Studied:
        """What there is to know of the task."""
        return STUDIED[self.grown.task]

    @property
    def has_classes(self) -> bool:
        return TASKS[self.grown.task].has_classes

    @property
    def has_targets(self) -> bool:
        """Whether there is a truth to compare answers with."""
        return not TASKS[self.grown.task].of_features

    @property
    def several_classes(self) -> bool:
        """Whether these are several targets of classes, all of them together."""
        return self.has_classes and bool(self.by_target)

    @property
    def n_features(self) -> int:
        return self.data["train"][0].shape[1]

    @property
    def of_numbers(self) -> bool:
        """Whether all features are numbers: between two levels of a category there is nothing."""
        return not self.grown.recipe.levels

    @property
    def judged(self) -> str | None:
        """The split on which costly parts judge: test, or else valid; None if there are neither."""
        return next((split for split in ("test", "valid") if split in self.data), None)


class Findings(NamedTuple):
    """Splits are "train", "valid", "test" and "oob"; those without rows are not there."""

    task: str
    classes: list | None  # of several targets a list of theirs
    surfaces: dict[str, Surface]  # by split
    first_depth: int  # that curves begin at
    parts: Mapping[str, Any]  # by name, what was found; not those with nothing to tell
    by_target: Mapping[str, "Findings"] = MappingProxyType({})  # of several, each by itself

    @property
    def studied(self) -> Studied:
        """What there is to know of the task."""
        return STUDIED[self.task]

    @property
    def has_classes(self) -> bool:
        return TASKS[self.task].has_classes

    @property
    def main(self) -> str:
        """The task's main metric."""
        return TASKS[self.task].main

    @property
    def curves(self) -> dict[str, dict[str, np.ndarray]]:
        """By metric and split: the number at each depth, of all trees."""
        return {
            metric: {split: found.values[metric][-1] for split, found in self.surfaces.items()}
            for metric, row in METRICS.items()
            if row.task == self.task
        }


class About(NamedTuple):
    """What a table or a picture says of a run beside what was found."""

    title: str
    features: list[str]  # names
    rows: dict[str, np.ndarray]  # by split: row numbers in the data set
    image_shape: tuple[int, int] | None = None  # of rows that are images
    levels: list[np.ndarray | None] | None = None  # of each feature, if it is one of categories

    def titled(self, what: str) -> str:
        """The title of a picture: what is shown, and of which run."""
        return f"{what}: {self.title}"

    def of_target(self, name: str) -> "About":
        return self._replace(title=f"{self.title}, {name}")


class Number(NamedTuple):
    """A metric of a run."""

    name: str
    value: float
    step: int = 0


def single(name: str, value: float) -> Number:
    """A number of the whole run. All of them stand in one section of MLflow's UI, which would draw
    a chart of one bar for each, in as many sections as there are words before a slash."""
    return Number(f"summary/{name}", value)


def steps(name: str, values: Iterable[float], first: int = 0) -> list[Number]:
    """A number for each value, steps counting from the first."""
    return [Number(name, value, step) for step, value in enumerate(values, first)]


Files = Iterable[tuple[str, Any]]  # names, and what is in them


def _always(look: Look) -> bool:
    return True


def _nothing(found, *more) -> tuple:
    return ()


class Part(NamedTuple):
    """Functions of what was found get it first, then all `Findings`, tables and pictures also
    `About`. In names of metrics and files a word in capitals stands for one of several."""

    level: str  # the least study that has it
    find: Callable[[Look], Any]
    applies: Callable[[Look], bool] = _always
    numbers: Callable[[Any, Findings], Iterable[Number]] = _nothing
    table: Callable[[Any, Findings, About], Files] = _nothing
    picture: Callable[[Any, Findings, About], Files] = _nothing
    needs_targets: bool = True  # to compare answers with, which a density has not
    # Of several targets it looks at each in turn, at all together, or both.
    targets: Literal["each", "all", "both"] = "each"
    metrics: Mapping[str, str] = MappingProxyType({})  # names that it may log, and what they mean
    files: Mapping[str, str] = MappingProxyType({})  # the same of tables and pictures
    # Of its metrics, by their first words: those of which more is better, and those of which more
    # is neither better nor worse. Of all others less is better.
    higher: tuple[str, ...] = ()
    neutral: tuple[str, ...] = ()

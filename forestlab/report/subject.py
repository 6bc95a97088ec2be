"""What a page is about: one forest of one target, the rows that it was studied on, what was found
of it, and the cells of depth × number of trees at which the page shows all that."""

from typing import NamedTuple

import numpy as np

from forestlab.forest import Grown
from forestlab.study.part import About, Findings

MOST_DEPTHS = 32  # that can be chosen: of deeper trees some are passed over


class Grid(NamedTuple):
    """The cells: each of S numbers of trees with each of D depths."""

    sizes: np.ndarray  # (S,) rising; the last is all
    depths: np.ndarray  # (D,) rising from 0; the last is that of the deepest tree
    n_depths: int  # that the surface has

    @property
    def n_cells(self) -> int:
        return len(self.sizes) * len(self.depths)


class Room(NamedTuple):
    """How many bytes, before they are compressed, each kind of content may take."""

    rows: int = 1_500_000
    plane: int = 2_400_000
    confusion: int = 1_000_000
    trees: int = 1_200_000

    def shared(self, n: int) -> "Room":
        """The room for each of n alike."""
        return Room(*(part // n for part in self))


class Subject(NamedTuple):
    grown: Grown
    data: dict[str, tuple[np.ndarray, np.ndarray]]  # by split: X, and truth as `Surface` has it
    findings: Findings
    about: About
    grid: Grid
    room: Room
    n_jobs: int

    @property
    def judged(self) -> str:
        """The split whose rows are looked at: test, or else valid, or else train."""
        return next(split for split in ("test", "valid", "train") if split in self.data)

    @property
    def of_numbers(self) -> bool:
        """Whether all features are numbers."""
        return not self.grown.recipe.levels

    @property
    def n_features(self) -> int:
        return len(self.about.features)


def grid_of(findings: Findings) -> Grid:
    """The surface's numbers of trees, and its depths, or so many of them, the chosen one too."""
    surface = findings.surfaces["train"]
    n_depths = surface.values[findings.main].shape[1]
    depths = np.arange(n_depths)
    if n_depths > MOST_DEPTHS:
        chosen, half = findings.parts.get("chosen"), MOST_DEPTHS // 2
        deeper = np.linspace(half, n_depths - 1, half).round().astype(int)
        depths = np.unique([*depths[:half], *deeper, *([] if chosen is None else [chosen.depth])])
    return Grid(np.asarray(surface.sizes), depths, n_depths)

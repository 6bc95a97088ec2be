"""What a forest answers for some rows at every cell of depth × number of trees."""

from collections.abc import Callable

import numpy as np

from forestlab.core.descend import answers_kernel
from forestlab.forest import (
    BLOCK_NUMBERS,
    Asked,
    AskedDensity,
    DensityWalk,
    DepthWalk,
    Grown,
    Reached,
    by_fixed_blocks,
    reached,
)
from forestlab.report.subject import Grid
from forestlab.study.tasks import STUDIED

# rows of a block, number of the size, (D, n_in_block, K) answers
Use = Callable[[slice, int, np.ndarray], None]


def at_every_cell(grown: Grown, X: np.ndarray, grid: Grid, use: Use, n_jobs: int) -> None:
    """Ask the trees in turn about blocks of rows, in threads, and hand over what is answered: once
    for each block and number of trees. Answers are to be read before the next are handed over."""
    asked = STUDIED[grown.task].ready(grown, int(grid.depths[-1]) + 1, ())

    def on_block(rows: slice, block: np.ndarray) -> None:
        walk, answers = _walk(asked, block)
        for s, size in enumerate(grid.sizes):
            walk.ask(int(size))
            use(rows, s, answers()[grid.depths])

    together = BLOCK_NUMBERS // (8 * asked.n_depths * asked.n_answers)
    for _ in by_fixed_blocks(on_block, X, n_jobs, int(np.clip(together, 1, 2000))):
        pass


def _walk(asked: Asked | AskedDensity, block: np.ndarray):
    """A walk of a block of rows, and a function for its answers up to now, (n_depths, n, K)."""
    if isinstance(asked, AskedDensity):
        densities = DensityWalk(asked, block)
        return densities, lambda: densities.everyone.means()[:, :, None]
    walk, finish = DepthWalk(asked, block), answers_kernel(asked.task, asked.combiner)
    room = np.empty((asked.n_depths, len(block), asked.n_answers))

    def answers() -> np.ndarray:
        finish(walk.everyone, 0, room)
        return room

    return walk, answers


def numbers_at_cells(grown: Grown, X: np.ndarray, grid: Grid, n_jobs: int) -> np.ndarray:
    """The first answer for each row at every cell, (n, S, D): a mean, or a log density."""
    found = np.empty((len(X), len(grid.sizes), len(grid.depths)))

    def note(rows: slice, s: int, answers: np.ndarray) -> None:
        found[rows, s] = answers[:, :, 0].T

    at_every_cell(grown, X, grid, note, n_jobs)
    return found


def spreads_at_cells(
    grown: Grown, X: np.ndarray, grid: Grid, n_jobs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of a regression, how far targets are spread that the trees expect for each row, (n, S, D)
    standard deviations: between the trees' own answers, and in all, within their leaves too."""
    values, inside = STUDIED[grown.task].of_nodes(grown.forest)
    values = values[:, 0] - values[:, 0].mean()  # of squares of numbers near 0 more digits stay
    between, total = np.empty((2, len(X), len(grid.sizes), len(grid.depths)))
    for d, depth in enumerate(grid.depths):
        ends = reached(grown.forest, X, int(depth), n_jobs)
        said = _by_tree(ends, values)
        n = grid.sizes[:, None]
        mean = np.cumsum(said, axis=0)[grid.sizes - 1] / n
        squares = np.cumsum(said**2, axis=0)[grid.sizes - 1]
        apart = np.maximum(squares - n * mean**2, 0.0) / np.maximum(n - 1, 1)
        within = np.maximum(_by_tree(ends, inside + values**2) - said**2, 0.0)
        within = np.cumsum(within, axis=0)[grid.sizes - 1] / n
        between[:, :, d], total[:, :, d] = np.sqrt(apart).T, np.sqrt(apart + within).T
    return between, total


def _by_tree(ends: Reached, of_nodes: np.ndarray) -> np.ndarray:
    """What each tree says of each row, (n_trees, n), by what its nodes say."""
    if not len(ends.branching):
        return of_nodes[ends.nodes]
    trees = range(len(ends.nodes))
    return np.stack([ends.mixed(t, lambda nodes, rows: of_nodes[nodes]) for t in trees])

"""Every metric at every depth and every number of trees, from one walk of each row.

A node keeps its statistics, so the walk of a row through a tree passes the answers of all depths;
trees are asked in order, so the running sums pass the answers of all sizes. For each training row
the same walk also serves the out-of-bag answer. A cell (size, depth) is, to the bit, what a forest
fitted with that n_estimators and max_depth gives.

Rows go in blocks of `rows_together`, whatever the number of threads and depths: the sums over rows
come out the same. A thread holds the sums of one block, rows × depths × classes × 8 bytes, which is
at most 250 kB a depth, and twice that for training rows; the process holds a table about as large
as the forest's statistics.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import n_trees
from forestlab.forest import BLOCK_NUMBERS, BLOCK_ROWS, Grown, by_fixed_blocks
from forestlab.study.metrics import Outcome, finished, sums_of
from forestlab.study.tasks import STUDIED
from forestlab.study.walks import Block

# Of more, BLAS shares out the products of matrices that metrics take, over threads that then wait
# for each other: 64 took six times as long as 32.
STOPS_TOGETHER = 32
STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)


Sums = dict[str, np.ndarray]  # by metric: (…, m) numbers that add up over rows


class Surface(NamedTuple):
    """How a forest answers for some rows, as it grows in depth and in number of trees."""

    task: str
    truth: np.ndarray  # (n,) float64 numbers, or class codes; -1 for a class unseen in training;
    # of a density the (n, n_features) rows themselves
    sizes: np.ndarray  # (S,) numbers of trees; the last is all
    values: dict[str, np.ndarray]  # by metric: (S, D)
    answers: np.ndarray  # (n, K) probabilities, (n, 1) means, or logarithms of densities, of all
    # trees at the deepest level
    voters: np.ndarray  # (n,) trees asked; 0: none, and the answer is NaN
    mean_voters: np.ndarray  # (S,)
    # By metric: (P,) of all trees at the values of stopping rules; nothing if none were asked for.
    along: Mapping[str, np.ndarray] = MappingProxyType({})

    @property
    def predicted(self) -> np.ndarray:
        """(n,) class codes, means or log densities; of rows without voters 0, or NaN."""
        return STUDIED[self.task].predicted(self.answers)

    @property
    def errors(self) -> np.ndarray:
        """(n,) 1 where the class is wrong, the absolute error, or what speaks against the row: its
        log density less than 0; NaN without voters."""
        return STUDIED[self.task].errors(self.answers, self.truth, self.voters)


def grid_of_sizes(n_estimators: int) -> np.ndarray:
    """1, 2, 3, 5, 7, 10, 15, … and all."""
    steps = [int(step * 10**power) for power in range(10) for step in STEPS]
    return np.unique([step for step in steps if step < n_estimators] + [n_estimators])


def rows_together(n_answered: int) -> int:
    """How many rows are studied at a time: fewer if there are many classes."""
    return int(np.clip(BLOCK_NUMBERS // (64 * n_answered), 1, BLOCK_ROWS))


def surface(
    asked, X, truth: np.ndarray, sizes=None, n_jobs: int = 1, outside=None
) -> tuple[Surface, Surface | None]:
    """Study the rows X at every depth that the forest was made ready for.

    Parameters
    ----------
    asked : what the task makes ready of a forest
    truth : (n,) float64 numbers, or int64 class codes with -1 for a class unseen in training
    sizes : rising numbers of trees; None: `grid_of_sizes`
    outside : if X are the training rows, their bits from `forest.rows_outside`

    Returns
    -------
    The surface of all trees, and with `outside` that of out-of-bag answers.
    """
    sizes = grid_of_sizes(n_trees(asked.forest)) if sizes is None else np.asarray(sizes)
    told = STUDIED[asked.task]
    origin = told.origin(truth)
    n_studies = 1 if outside is None else 2
    answers = [np.empty((len(X), asked.n_answers)) for _ in range(n_studies)]
    voters = np.zeros((n_studies, len(sizes), len(X)), np.int64)

    def study_block(rows: slice, block: np.ndarray) -> list[tuple[Sums, Sums]]:
        """The metrics' sums over a block of rows, of each study: by size and depth, and at the
        values of rules."""
        walk = told.walk(asked, Block(block, rows.start, truth[rows], origin, outside))
        found: list[list[Sums]] = [[] for _ in range(n_studies)]
        for s, size in enumerate(sizes):
            walk.ask(size)
            for i, (n_voters, outcome) in enumerate(walk.outcomes()):
                voters[i, s, rows] = n_voters
                found[i].append(sums_of(outcome, asked.task))
        for i, own in enumerate(walk.answers()):
            answers[i][rows] = own
        along: list[Sums] = [_sums_of(outcome, asked.task) for outcome in walk.along()]
        along = along or [{} for _ in range(n_studies)]
        return [(_stacked(by_size), last) for by_size, last in zip(found, along, strict=True)]

    totals: list[tuple[Sums, Sums]] = [({}, {}) for _ in range(n_studies)]
    for block in by_fixed_blocks(study_block, X, n_jobs, rows_together(asked.n_answers)):
        for total, part in zip(totals, block, strict=True):
            for sums, more in zip(total, part, strict=True):
                sums.update({name: sums.get(name, 0.0) + more[name] for name in more})
    made = [
        Surface(asked.task, truth, sizes, finished(totals[i][0]), answers[i], voters[i, -1],
                voters[i].mean(axis=1), finished(totals[i][1]))
        for i in range(n_studies)
    ]  # fmt: skip
    return made[0], made[1] if outside is not None else None


def _stacked(by_size: list[Sums]) -> Sums:
    return {name: np.stack([sums[name] for sums in by_size]) for name in by_size[0]}


def _sums_of(outcome: Outcome, task: str) -> Sums:
    """As `sums_of`, of a few stops at a time."""
    stretches = [
        sums_of(outcome.of_stops(slice(first, first + STOPS_TOGETHER)), task)
        for first in range(0, len(outcome.answer), STOPS_TOGETHER)
    ]
    return {name: np.concatenate([sums[name] for sums in stretches]) for name in stretches[0]}


def deepest(grown: Grown, X, truth: np.ndarray, n_jobs: int = 1) -> Surface:
    """The surface's last cell alone: all trees, as deep as they are."""
    told = STUDIED[grown.task]
    answers, voters = told.answered(grown, X, n_jobs)
    origin, size = told.origin(truth), rows_together(answers.shape[1])
    total: dict[str, np.ndarray] = {}
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        sums = sums_of(told.judged(answers[rows], truth[rows], origin), grown.task)
        total = {name: total.get(name, 0.0) + part for name, part in sums.items()}
    values = {name: value[None] for name, value in finished(total).items()}
    sizes = np.array([grown.n_trees])
    return Surface(grown.task, truth, sizes, values, answers, voters, sizes.astype(float))

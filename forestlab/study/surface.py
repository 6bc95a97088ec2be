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

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.descend import DepthSums, answers_kernel, judge_kernel
from forestlab.core.tasks import TASKS
from forestlab.forest import BLOCK_NUMBERS, BLOCK_ROWS, Asked, DepthWalk, by_fixed_blocks, combined
from forestlab.study.metrics import Outcome, finished, sums_of
from forestlab.study.tasks import STUDIED

STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)


class Surface(NamedTuple):
    """How a forest answers for some rows, as it grows in depth and in number of trees."""

    task: str
    truth: np.ndarray  # (n,) float64 numbers, or class codes; -1 for a class unseen in training
    sizes: np.ndarray  # (S,) numbers of trees; the last is all
    values: dict[str, np.ndarray]  # by metric: (S, D)
    answers: np.ndarray  # (n, K) probabilities or (n, 1) means of all trees at the deepest level
    voters: np.ndarray  # (n,) trees asked; 0: none, and the answer is NaN
    mean_voters: np.ndarray  # (S,)

    @property
    def predicted(self) -> np.ndarray:
        """(n,) class codes, or means; of rows without voters 0, or NaN."""
        return STUDIED[self.task].predicted(self.answers)

    @property
    def errors(self) -> np.ndarray:
        """(n,) 1 where the class is wrong, or the absolute error; NaN without voters."""
        return STUDIED[self.task].errors(self.answers, self.truth, self.voters)


def grid_of_sizes(n_estimators: int) -> np.ndarray:
    """1, 2, 3, 5, 7, 10, 15, … and all."""
    steps = [int(step * 10**power) for power in range(10) for step in STEPS]
    return np.unique([step for step in steps if step < n_estimators] + [n_estimators])


def rows_together(n_answered: int) -> int:
    """How many rows are studied at a time: fewer if there are many classes."""
    return int(np.clip(BLOCK_NUMBERS // (64 * n_answered), 1, BLOCK_ROWS))


def surface(
    asked: Asked, X, truth: np.ndarray, sizes=None, n_jobs: int = 1, outside=None
) -> tuple[Surface, Surface | None]:
    """Study the rows X at every depth that the forest was made ready for.

    Parameters
    ----------
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
    finish = answers_kernel(asked.task, asked.combiner)
    n_answered = TASKS[asked.task].n_answers(asked.forest.stats.shape[1])
    cells = asked.n_depths, told.n_classes(n_answered)
    n_studies = 1 if outside is None else 2
    answers = [np.empty((1, len(X), n_answered)) for _ in range(n_studies)]
    voters = np.zeros((n_studies, len(sizes), len(X)), np.int64)

    def study_block(rows: slice, block: np.ndarray) -> list[list[dict[str, np.ndarray]]]:
        """The metrics' sums over a block of rows, for each study and size."""
        walk = DepthWalk(asked, block, rows.start, True, outside)
        judge = _Judge(asked.task, asked.combiner, truth[rows], cells, origin)
        studies = [walk.everyone, walk.left_out][:n_studies]
        found: list[list[dict[str, np.ndarray]]] = [[] for _ in studies]
        for s, size in enumerate(sizes):
            walk.ask(size)
            for i, sums in enumerate(studies):
                voters[i, s, rows] = sums.voters
                found[i].append(judge.sums(sums))
        for i, sums in enumerate(studies):
            finish(sums, asked.n_depths - 1, answers[i][:, rows])
        return found

    totals: list[dict[str, np.ndarray]] = [{} for _ in range(n_studies)]
    for blocks in by_fixed_blocks(study_block, X, n_jobs, rows_together(n_answered)):
        for total, by_size in zip(totals, blocks, strict=True):
            for name in by_size[0]:
                total[name] = total.get(name, 0.0) + np.stack([sums[name] for sums in by_size])
    made = [
        Surface(asked.task, truth, sizes, finished(totals[i]), answers[i][0], voters[i, -1],
                voters[i].mean(axis=1))
        for i in range(n_studies)
    ]  # fmt: skip
    return made[0], made[1] if outside is not None else None


def deepest(
    forest: Forest, task: str, combiner: str, X, truth: np.ndarray, n_jobs: int = 1
) -> Surface:
    """The surface's last cell alone: all trees, as deep as they are."""
    answers, voters = combined(forest, task, combiner, X, None, n_jobs)
    told = STUDIED[task]
    cells, origin = (1, told.n_classes(answers.shape[1])), told.origin(truth)
    total: dict[str, np.ndarray] = {}
    size = rows_together(answers.shape[1])
    for start in range(0, len(X), size):
        rows = slice(start, min(start + size, len(X)))
        once = np.ones(rows.stop - start, np.int64)  # answers are the mean of themselves
        judge = _Judge(task, "average", truth[rows], cells, origin)
        sums = judge.sums(DepthSums(answers[rows].copy(), once, once))
        total = {name: total.get(name, 0.0) + part for name, part in sums.items()}
    values = {name: value[None] for name, value in finished(total).items()}
    sizes = np.array([n_trees(forest)])
    return Surface(task, truth, sizes, values, answers, voters, sizes.astype(float))


class _Judge:
    """Compares running sums of a block of rows with the truth."""

    def __init__(self, task: str, combiner: str, truth: np.ndarray, shape: tuple, origin: float):
        """`shape` is (n_depths, n_classes), of which the latter is 0 for regression."""
        self.task, self.judge = task, judge_kernel(task, combiner)
        n_depths, n_classes = shape
        self.outcome = STUDIED[task].outcome(truth, n_depths, n_classes, origin)

    def sums(self, sums: DepthSums) -> dict[str, np.ndarray]:
        """What every metric adds up over the rows, (n_depths, m) each."""
        told = self.outcome
        self.judge(sums, told.truth, told.answer, told.p_true, told.brier)
        voted = sums.voters > 0
        return sums_of(told if voted.all() else _only(told, voted), self.task)


def _only(outcome: Outcome, rows: np.ndarray) -> Outcome:
    return outcome._replace(
        truth=outcome.truth[rows],
        answer=outcome.answer[:, rows],
        p_true=outcome.p_true[:, rows],
        brier=outcome.brier[:, rows],
    )

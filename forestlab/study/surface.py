"""Every metric at every depth and every number of trees, from one walk of each row.

A node keeps its statistics, so the walk of a row through a tree passes the answers of all depths;
trees are asked in order, so the running sums pass the answers of all sizes. For each training row
the same walk also serves the out-of-bag answer. A cell (size, depth) is, to the bit, what a forest
fitted with that n_estimators and max_depth gives.

Rows go in blocks of ROWS, whatever the number of threads: the sums over rows come out the same. A
thread holds the sums of one block, ROWS × depths × classes × 8 bytes, twice for training rows; the
process one table as large as the forest's statistics.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.combine import n_answers
from forestlab.core.descend import DepthSums, answers_kernel, judge_kernel
from forestlab.forest import Asked, DepthWalk, combined, in_threads
from forestlab.study.metrics import Outcome, finished, sums_of

ROWS = 256
STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)


class Surface(NamedTuple):
    """How a forest answers for some rows, as it grows in depth and in number of trees."""

    truth: np.ndarray  # (n,) float64 numbers, or class codes; -1 for a class unseen in training
    sizes: np.ndarray  # (S,) numbers of trees; the last is all
    values: dict[str, np.ndarray]  # by metric: (S, D)
    answers: np.ndarray  # (n, K) probabilities or (n, 1) means of all trees at the deepest level
    voters: np.ndarray  # (n,) trees asked; 0: none, and the answer is NaN
    mean_voters: np.ndarray  # (S,)

    @property
    def predicted(self) -> np.ndarray:
        """(n,) class codes, or means; of rows without voters 0, or NaN."""
        return self.answers.argmax(axis=1) if self.is_of_classes else self.answers[:, 0]

    @property
    def errors(self) -> np.ndarray:
        """(n,) 1 where the class is wrong, or the absolute error; NaN without voters."""
        if self.is_of_classes:
            return np.where(self.voters > 0, self.predicted != self.truth, np.nan)
        return np.abs(self.predicted - self.truth)

    @property
    def is_of_classes(self) -> bool:
        return self.truth.dtype.kind == "i"


def grid_of_sizes(n_estimators: int) -> np.ndarray:
    """1, 2, 3, 5, 7, 10, 15, … and all."""
    steps = [int(step * 10**power) for power in range(10) for step in STEPS]
    return np.unique([step for step in steps if step < n_estimators] + [n_estimators])


def surface(
    forest: Forest,
    task: str,
    combiner: str,
    X,
    truth: np.ndarray,
    n_depths: int,
    sizes=None,
    n_jobs: int = 1,
    outside=None,
) -> tuple[Surface, Surface | None]:
    """Study the rows X at depths 0 … n_depths - 1 and the given numbers of trees.

    Parameters
    ----------
    truth : (n,) float64 numbers, or int64 class codes with -1 for a class unseen in training
    sizes : rising numbers of trees; None: `grid_of_sizes`
    outside : if X are the training rows, their bits from `forest.rows_outside`

    Returns
    -------
    The surface of all trees, and with `outside` that of out-of-bag answers.
    """
    sizes = grid_of_sizes(n_trees(forest)) if sizes is None else np.asarray(sizes)
    asked = Asked(forest, task, combiner, n_depths, outside)
    judged = _Judged(task, combiner, truth, n_depths)
    finish = answers_kernel(task, combiner)
    shape = (1, len(X), n_answers(task, forest.stats.shape[1]))
    n_studies = 1 if outside is None else 2
    answers = [np.empty(shape) for _ in range(n_studies)]
    voters = np.zeros((n_studies, len(sizes), len(X)), np.int64)

    def study_block(start: int) -> list[list[dict[str, np.ndarray]]]:
        """The metrics' sums over a block of rows, for each study and size."""
        rows = slice(start, min(start + ROWS, len(X)))
        walk = DepthWalk(asked, X, rows)
        studies = [walk.everyone, walk.left_out][:n_studies]
        found: list[list[dict[str, np.ndarray]]] = [[] for _ in studies]
        for s, size in enumerate(sizes):
            walk.ask(size)
            for i, sums in enumerate(studies):
                voters[i, s, rows] = sums.voters
                found[i].append(judged.sums(sums, rows))
        for i, sums in enumerate(studies):
            finish(sums, n_depths - 1, answers[i][:, rows])
        return found

    totals: list[dict[str, np.ndarray]] = [{} for _ in range(n_studies)]
    for blocks in in_threads(study_block, range(0, len(X), ROWS), n_jobs):
        for total, by_size in zip(totals, blocks, strict=True):
            for name in by_size[0]:
                total[name] = total.get(name, 0.0) + np.stack([sums[name] for sums in by_size])
    made = [
        Surface(truth, sizes, finished(totals[i]), answers[i][0], voters[i, -1],
                voters[i].mean(axis=1))
        for i in range(n_studies)
    ]  # fmt: skip
    return made[0], made[1] if outside is not None else None


def deepest(
    forest: Forest, task: str, combiner: str, X, truth: np.ndarray, n_jobs: int = 1
) -> Surface:
    """The surface's last cell alone: all trees, as deep as they are."""
    answers, voters = combined(forest, task, combiner, X, None, n_jobs)
    judged = _Judged(task, "average", truth, 1)
    total: dict[str, np.ndarray] = {}
    for start in range(0, len(X), ROWS):
        rows = slice(start, min(start + ROWS, len(X)))
        once = np.ones(rows.stop - start, np.int64)  # answers are the mean of themselves
        sums = judged.sums(DepthSums(answers[rows].copy(), once, once), rows)
        total = {name: total.get(name, 0.0) + part for name, part in sums.items()}
    values = {name: value[None] for name, value in finished(total).items()}
    sizes = np.array([n_trees(forest)])
    return Surface(truth, sizes, values, answers, voters, sizes.astype(float))


class _Judged:
    """Compares running sums of blocks of rows with the truth."""

    def __init__(self, task: str, combiner: str, truth: np.ndarray, n_depths: int):
        self.judge = judge_kernel(task, combiner)
        self.task, self.truth, self.n_depths = task, truth, n_depths
        self.origin = float(np.mean(truth)) if task == "regression" else 0.0

    def sums(self, sums: DepthSums, rows: slice) -> dict[str, np.ndarray]:
        """What every metric adds up over the rows, (n_depths, m) each."""
        truth, n_rows = self.truth[rows], len(sums.voters)
        is_of_classes = self.task == "classification"
        answer = np.empty((self.n_depths, n_rows), np.int64 if is_of_classes else np.float64)
        p_true, brier = np.empty((2, self.n_depths if is_of_classes else 0, n_rows))
        self.judge(sums, truth, answer, p_true, brier)
        voted = sums.voters > 0
        if not voted.all():
            truth, answer = truth[voted], answer[:, voted]
            p_true, brier = p_true[:, voted], brier[:, voted]
        n_classes = sums.sums.shape[1] if is_of_classes else 0
        outcome = Outcome(truth, answer, p_true, brier, n_classes, self.origin)
        return sums_of(outcome, self.task)

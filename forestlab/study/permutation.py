"""Permutation importance: what each tree loses on the rows it left out when a feature is shuffled
(Breiman, Random Forests, 2001, section 10)."""

from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees, plant, tree_of
from forestlab.core.permute import make_reads, make_shuffled, permutation_kernel
from forestlab.core.questions import reads, renumbered
from forestlab.core.tasks import TASKS
from forestlab.core.walk import make_frontier, walk_for
from forestlab.forest import in_threads
from forestlab.study.part import Findings, Look, Number, Part, single

BUDGET = 20_000_000


class Permutation(NamedTuple):
    """Of T trees and p features."""

    increase: np.ndarray  # (T, p) rise of a tree's loss: its error rate or mean squared error
    n_rows: np.ndarray  # (T,) int64: the rows on which it was measured; where 0, `increase` is NaN

    @property
    def mean(self) -> np.ndarray:
        """Over trees, (p,); NaN if no tree left out any row."""
        return _over_trees(np.mean, self.increase[self.n_rows > 0])

    @property
    def std(self) -> np.ndarray:
        """Standard deviation over trees, (p,)."""
        return _over_trees(np.std, self.increase[self.n_rows > 0])


def _over_trees(function, increase: np.ndarray) -> np.ndarray:
    return function(increase, axis=0) if len(increase) else np.full(increase.shape[1], np.nan)


def permutation_importance(
    forest: Forest,
    task: str,
    X,
    truth,
    outside,
    seed: int,
    n_jobs: int = 1,
    budget: int = BUDGET,
    n_repeats: int = 1,
) -> Permutation:
    """The rise of each tree's out-of-bag loss with the values of each feature shuffled.

    A feature that a tree does not test has no importance in it, exactly. A shuffle depends on the
    seed, the tree, the feature and the repeat alone.

    Parameters
    ----------
    X : (n_rows, n_features) the training rows
    truth : (n_rows,) class codes, or numbers; one target
    outside : (n_trees, …) packed bits from `rows_outside`
    budget : most (tree, row, feature, repeat) that are shuffled, if there are too many: each tree
        is then judged on fewer of the rows it left out, at least 2 and the same number for all,
        evenly spaced
    n_repeats : shuffles of each feature, whose mean is taken
    """
    features = [np.unique(reads(tree_of(forest, t))[1]) for t in range(n_trees(forest))]
    shuffles = n_repeats * sum(map(len, features))
    most = max(budget // max(shuffles, 1), 2)
    # Made here, before threads would each make one.
    walk = walk_for(forest, X)
    add_increases = permutation_kernel(task, walk)
    truth = np.asarray(truth)

    def shuffle_one(t: int) -> tuple[np.ndarray, int]:
        increase = np.zeros(X.shape[1])
        rows = _some_outside(outside[t], len(X), most)
        if not len(rows):
            increase[:] = np.nan
        elif len(features[t]):
            tree = renumbered(tree_of(forest, t), features[t])
            values = TASKS[task].values(tree.stats)
            block = np.ascontiguousarray(X[np.ix_(rows, features[t])], np.float64)
            found = np.empty(len(features[t]))
            place = features[t], np.uint64(seed), np.uint64(t)
            answers = truth[rows].astype(values.dtype)
            alone = plant([tree])
            add_increases(
                alone, make_reads(tree), make_frontier(alone, walk), values, block, answers,
                *place, n_repeats, make_shuffled(block, values), found,
            )  # fmt: skip
            increase[features[t]] = found
        return increase, len(rows)

    trees = in_threads(shuffle_one, range(n_trees(forest)), n_jobs)
    increases, n_rows = zip(*trees, strict=True)
    return Permutation(np.stack(increases), np.array(n_rows))


def _some_outside(bits: np.ndarray, n_rows: int, most: int) -> np.ndarray:
    """The rows whose bit is set; of more than `most` so many, evenly spaced."""
    rows = np.flatnonzero(np.unpackbits(bits, count=n_rows, bitorder="little"))
    n = min(len(rows), most)
    return rows[np.arange(n) * len(rows) // max(n, 1)]


# ---- the part ----------------------------------------------------------------------------------


def _find(look: Look) -> Permutation:
    grown, train = look.grown, look.data["train"]
    return permutation_importance(
        grown.forest, grown.task, *train, look.outside, grown.seed, look.n_jobs
    )


def _numbers(found: Permutation, findings: Findings) -> list[Number]:
    return [single("rows_permutation", int(found.n_rows.max()))]


# Its table and picture are those of `study.importance`.
PART = Part(
    level="full",
    applies=lambda look: look.outside is not None,
    find=_find,
    numbers=_numbers,
    metrics={
        "summary/rows_permutation": "left out of a tree, on which features are shuffled, at most"
    },
)

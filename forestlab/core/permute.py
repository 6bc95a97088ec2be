"""What one tree loses when a feature's values are shuffled among rows.

A shuffle depends on (seed, tree, feature, repeat) alone. A row whose way down does not test the
feature ends where it did, so only the others are walked again: of a tree that tests 500 pixels, a
row meets some 15.
"""

from typing import NamedTuple

import numpy as np

from forestlab.core.answers import leaf_reader, mixed_label, mixed_mean
from forestlab.core.arrays import Tree
from forestlab.core.jit import jitable, kernel, made_from
from forestlab.core.questions import KINDS, reads
from forestlab.core.rng import shuffle_step, stream, tree_key
from forestlab.core.tasks import TASKS
from forestlab.core.walk import NO_DEPTH, level_stepper, start_down, visitor

PERMUTATION = np.uint64(0xC6A4A7935BD1E995)  # a purpose, as in rng


@jitable
def zero_one(answer, truth):
    return np.float64(answer != truth)


@jitable
def squared(answer, truth):
    return (answer - truth) * (answer - truth)


# Of answers: their mixture, and how wrong it is; by whether they are classes.
LOSSES = {True: (mixed_label, zero_one), False: (mixed_mean, squared)}


class Reads(NamedTuple):
    """What the nodes of a tree read: node i the features[first[i] : first[i + 1]]."""

    first: np.ndarray  # (n_nodes + 1,) int64
    features: np.ndarray  # int64


def make_reads(tree: Tree) -> Reads:
    nodes, features, _ = reads(tree)
    return Reads(np.searchsorted(nodes, np.arange(len(tree.nodes) + 1)), features)


class Shuffled(NamedTuple):
    """Scratch for n rows, of which one column after the other is shuffled."""

    columns: np.ndarray  # (n_features, n) float64: as they are
    tested: np.ndarray  # (n_features, n) uint8: whether a row's way down tests the feature
    rows: np.ndarray  # (n,) int64: those that go down; at first all
    order: np.ndarray  # (n,) int64: whose value each is given
    ends: np.ndarray  # (n,) int64: where each is, or ends
    active: np.ndarray  # (n,) int64: those still on their way
    before: np.ndarray  # (n,) what they are answered, of the values' type
    after: np.ndarray  # (n,) likewise, with the column shuffled


def make_shuffled(X: np.ndarray, values: np.ndarray) -> Shuffled:
    n, columns = len(X), np.ascontiguousarray(X.T)
    if np.shares_memory(columns, X):  # of one row, or one column
        columns = columns.copy()
    order, ends, active = np.empty((3, n), np.int64)
    answers = np.empty((2, n), values.dtype)
    return Shuffled(
        columns, np.zeros(columns.shape, np.uint8), np.arange(n), order, ends, active, *answers
    )


def tester(plain: bool):
    """What finds the features that rows meet."""
    step_level, visit = level_stepper(plain), visitor(plain)

    @jitable
    def mark(reads, i, row, tested):
        for k in range(reads.first[i], reads.first[i + 1]):
            tested[reads.features[k], row] = 1

    @jitable
    def mark_tested(forest, reads, X, frontier, rows, ends, active, tested):
        """tested[feature, row] = 1 where the row's way down the one tree tests the feature; `rows`
        are all of them."""
        start_down(0, X.shape[0], ends, active)
        n_active = np.int64(X.shape[0])
        while n_active > 0:
            for a in range(n_active):
                mark(reads, ends[active[a]], active[a], tested)
            n_active = step_level(forest, 0, X, rows, ends, active, n_active)
        for row in range(X.shape[0]):
            if ends[row] < 0:
                for v in range(visit(forest, 0, X[row], NO_DEPTH, frontier)):
                    mark(reads, frontier.nodes[v], row, tested)

    return mark_tested


@made_from(LOSSES, KINDS)
def permutation_kernel(task: str, plain: bool):
    """The compiled shuffling of one tree's features."""
    mix, loss = LOSSES[TASKS[task].has_classes]
    read_leaves, mark_tested = leaf_reader(mix, plain), tester(plain)

    @kernel("permute features", allocates=not plain)
    def add_increases(
        forest, reads, frontier, values, X, truth, features, seed, t, n_repeats, shuffled, increases
    ):
        """increases[f] = the mean rise of the loss, over rows and repeats, with column f shuffled.

        forest : tree t of a forest of this seed, alone, for rows of the features it reads
        reads : by `make_reads`
        frontier : scratch, by `make_frontier`
        values : (n_nodes,) by the task's `values`
        X : (n_rows, n_features) the features it tests; written to, and left as it was
        truth : (n_rows,) of the values' type
        features : (n_features,) their numbers in the data
        shuffled : scratch, by `make_shuffled`
        """
        n_rows, columns, tested, order = (
            X.shape[0],
            shuffled.columns,
            shuffled.tested,
            shuffled.order,
        )
        rows, ends, active = shuffled.rows, shuffled.ends, shuffled.active
        before, after = shuffled.before, shuffled.after
        read_leaves(forest, values, 0, X, rows, n_rows, frontier, ends, active, before)
        mark_tested(forest, reads, X, frontier, rows, ends, active, tested)
        for f in range(X.shape[1]):
            feature_key = stream(tree_key(seed, t), PERMUTATION + np.uint64(features[f]))
            total = 0.0
            for repeat in range(n_repeats):
                shuffle(order, stream(feature_key, np.uint64(repeat)))
                n_asked = 0
                for row in range(n_rows):
                    if tested[f, row]:
                        X[row, f] = columns[f, order[row]]
                        rows[n_asked] = row
                        n_asked += 1
                read_leaves(forest, values, 0, X, rows, n_asked, frontier, ends, active, after)
                for k in range(n_asked):
                    row = rows[k]
                    total += loss(after[k], truth[row]) - loss(before[row], truth[row])
            for row in range(n_rows):
                if tested[f, row]:
                    X[row, f] = columns[f, row]
            increases[f] = total / (n_rows * n_repeats)

    return add_increases


@jitable
def shuffle(order, key):
    """0 … n - 1 in a random order."""
    n = order.shape[0]
    for i in range(n):
        order[i] = i
    for i in range(n):
        shuffle_step(order, i, n, key)

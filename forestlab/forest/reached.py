"""Where rows end, also those that branch.

A row ends in one node of a tree; only where a value is missing, and the forest sends it both ways,
it ends in several, with a share of it in each. Whoever reads what nodes say mixes it by these
shares.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.descend import pieces_kernel
from forestlab.core.walk import GENERAL, LEAST, branches, make_walks, walk_for
from forestlab.forest.asking import limit_of, places
from forestlab.forest.sparse import Blocks
from forestlab.forest.threads import BLOCK_ROWS, in_threads


class Pieces(NamedTuple):
    """The ends of rows in one tree: in order of the rows."""

    rows: np.ndarray  # (k,) int64
    nodes: np.ndarray  # (k,) int64
    shares: np.ndarray  # (k,) float64: of each row they add up to 1


class Reached(NamedTuple):
    """Where rows end in every tree."""

    # (n_trees, n_rows) int64: nodes, of the forest's own arrays; of several that with most of it
    nodes: np.ndarray
    branching: Sequence[Pieces] = ()  # a tree each, of the rows that branch; (): none does

    @property
    def n_rows(self) -> int:
        return self.nodes.shape[1]

    def pieces(self, t: int) -> Pieces:
        """Those of all rows in tree t."""
        rows, nodes = np.arange(self.n_rows), self.nodes[t]
        if not len(self.branching):
            return Pieces(rows, nodes, np.ones(self.n_rows))
        some = self.branching[t]
        whole = np.ones(self.n_rows, bool)
        whole[some.rows] = False
        order = np.argsort(np.concatenate([rows[whole], some.rows]), kind="stable")
        return Pieces(
            np.concatenate([rows[whole], some.rows])[order],
            np.concatenate([nodes[whole], some.nodes])[order],
            np.concatenate([np.ones(whole.sum()), some.shares])[order],
        )

    def mixed(self, t: int, read: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """What tree t says of each row, (n_rows, …): the mean by shares of what its ends say.

        read : (nodes, rows) → what each of these nodes says of each of these rows, (k, …)
        """
        found = read(self.nodes[t], np.arange(self.n_rows))
        if len(self.branching) and len(self.branching[t].rows):
            rows, nodes, shares = self.branching[t]
            found = np.array(found, np.float64)
            found[rows] = 0.0
            said = np.asarray(read(nodes, rows))
            np.add.at(found, rows, shares.reshape(-1, *[1] * (said.ndim - 1)) * said)
        return found


def reached(forest: Forest, X, depth=None, n_jobs: int = 1) -> Reached:
    """Where each row of X ends in each tree, cut at a depth or as it was grown."""
    blocks = Blocks(X)
    nodes = places(forest, blocks.X, depth, n_jobs)
    if walk_for(forest, blocks.X) != GENERAL or not branches(forest):
        return Reached(nodes)
    size = min(BLOCK_ROWS, blocks.most_rows)

    def on_block(start: int) -> list[Pieces]:
        with blocks.block(slice(start, min(start + size, blocks.n_rows))) as block:
            return _branching(forest, block, depth, start)

    found = in_threads(on_block, range(0, blocks.n_rows, size), n_jobs)
    trees = zip(*found, strict=True)
    return Reached(nodes, [Pieces(*map(np.concatenate, zip(*its, strict=True))) for its in trees])


def _branching(forest: Forest, block: np.ndarray, depth: int | None, start: int) -> list[Pieces]:
    """A tree each; `start` is the number of the first row."""
    find_pieces, walks = pieces_kernel(GENERAL), make_walks(forest, GENERAL)
    most = int(len(block) / LEAST)
    rows, nodes, shares = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    found = []
    for t in range(n_trees(forest)):
        n = find_pieces(forest, walks, block, t, limit_of(depth), rows, nodes, shares)
        found.append(Pieces(rows[:n] + start, nodes[:n].copy(), shares[:n].copy()))
    return found

"""Asking a forest: its answers, at one depth or at all, and where rows end."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.combine import n_sums
from forestlab.core.descend import (
    TREES_TOGETHER,
    answers_kernel,
    ends_kernel,
    finish_kernel,
    sum_kernel,
    surface_kernel,
    table_kernel,
)
from forestlab.core.packed import Packed, add_packed, packed, step_type
from forestlab.core.running import Additions, RunningSums, Stops, make_stops
from forestlab.core.several import first_slots, with_first_slots
from forestlab.core.tasks import TASKS
from forestlab.core.walk import NO_DEPTH, SHORT, make_paths, make_walks, walk_for
from forestlab.forest.sparse import Blocks
from forestlab.forest.threads import BLOCK_NUMBERS, block_of, by_blocks


def combined(
    forest: Forest,
    task: str,
    combiner: str,
    X,
    depth=None,
    n_jobs: int = 1,
    outside=None,
    classes_each: tuple[int, ...] = (),
    packing: Callable[[np.dtype], Packed | None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The forest's answer for each row of X, and how many trees gave one.

    Parameters
    ----------
    X : (n_rows, n_features) array of any real dtype and layout, or sparse matrix
    depth : evaluate as if grown with this max_depth; None: as grown
    outside : (n_trees, …) packed bits from `rows_outside`, or None to ask every tree
    classes_each : of several targets of classes, how many each has
    packing : gives `packed` trees of the forest with steps of a type, at least all of them, so that
        they need not be made again

    Returns
    -------
    answers : (n_rows, n_classes) probabilities, those of several targets side by side, or
        (n_rows, n_targets) means; NaN where no tree answers
    voters : (n_rows,) int64
    """
    blocks, n_stats = Blocks(X), forest.stats.shape[1]
    walk, made = walk_for(forest, blocks.X), None
    if walk == SHORT and depth is None and outside is None:
        packing = packing or partial(packed, forest, task, combiner, classes_each, n_jobs=n_jobs)
        made = packing(step_type(blocks.X.dtype))
    sums = np.zeros((blocks.n_rows, n_sums(combiner, task, n_stats)))
    voters = np.zeros(blocks.n_rows, np.int64)
    if made is not None:
        add = _packed_adder(made, n_trees(forest))
    else:
        asked = with_first_slots(forest, classes_each)
        add_answers = sum_kernel(task, combiner, walk, len(classes_each) > 0)
        add = _adder(asked, add_answers, walk, limit_of(depth), outside)
    finish = _finisher(task, combiner, classes_each)

    def add_block(rows: slice) -> None:
        add(blocks, rows, sums[rows], voters[rows])
        finish(sums[rows], voters[rows])

    by_blocks(add_block, blocks.n_rows, n_jobs, blocks.most_rows)
    return sums[:, : TASKS[task].n_answers(n_stats)], voters


def _packed_adder(made: Packed, n_asked: int) -> Callable:
    """What adds the answers of the first packed trees, and counts them."""

    def add(blocks: Blocks, rows: slice, sums: np.ndarray, voters: np.ndarray) -> None:
        with blocks.block(rows, made.steps.dtype["cut"].type) as block:
            add_packed(made, block, n_asked, sums)
        voters += n_asked

    return add


def _adder(asked, add_answers: Callable, walk: int, depth: int, outside) -> Callable:
    """What adds the answers of all trees down to a depth, or of those that left a row out."""
    trees, bits = (0, n_trees(asked)), np.zeros((0, 0), np.uint8) if outside is None else outside

    def add(blocks: Blocks, rows: slice, sums: np.ndarray, voters: np.ndarray) -> None:
        with blocks.block(rows) as block:
            walks = make_walks(asked, walk)
            add_answers(asked, walks, block, trees, depth, bits, rows.start, sums, voters)

    return add


def _finisher(
    task: str, combiner: str, classes_each: tuple[int, ...]
) -> Callable[[np.ndarray, np.ndarray], None]:
    """What turns the sums of some rows into answers, in their place."""
    finish = finish_kernel(task, combiner)
    if not classes_each:
        return finish

    def finish_each(sums: np.ndarray, voters: np.ndarray) -> None:
        for first, end in pairwise(first_slots(classes_each)):
            of_target = np.ascontiguousarray(sums[:, first:end])
            finish(of_target, voters)
            sums[:, first:end] = of_target

    return finish_each


def tree_by_tree(
    forest: Forest, task: str, combiner: str, block: np.ndarray, first_row: int, outside
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """As `combined` for a block of rows, of the first 1, 2, … trees in turn."""
    walk = walk_for(forest, block)
    add_answers, finish = sum_kernel(task, combiner, walk), finish_kernel(task, combiner)
    sums = np.zeros((len(block), n_sums(combiner, task, forest.stats.shape[1])))
    voters, walks = np.zeros(len(block), np.int64), make_walks(forest, walk)
    for t in range(n_trees(forest)):
        add_answers(forest, walks, block, (t, t + 1), NO_DEPTH, outside, first_row, sums, voters)
        answers = sums.copy()
        finish(answers, voters)
        yield answers[:, : TASKS[task].n_answers(forest.stats.shape[1])], voters


def by_depth(
    forest: Forest,
    task: str,
    combiner: str,
    X,
    n_depths: int,
    use: Callable[[slice, np.ndarray, np.ndarray], None],
    n_jobs: int = 1,
    outside=None,
) -> None:
    """The forest's answers at depth 0 … n_depths - 1 from one walk, handed over in blocks of rows.

    `use(rows, answers, voters)` gets (n_depths, n_in_block, …) answers as `combined` gives them. A
    block holds at most BLOCK_NUMBERS of them, which bounds memory whatever the data's size.
    """
    finish = answers_kernel(task, combiner)
    n_stats = forest.stats.shape[1]
    asked = Asked(forest, task, combiner, n_depths)

    def use_block(rows: slice) -> None:
        walk = DepthWalk(asked, block_of(X, rows), rows.start, outside is None, outside)
        walk.ask(n_trees(forest))
        sums = walk.everyone if outside is None else walk.left_out
        answers = np.empty((n_depths, len(sums.voters), TASKS[task].n_answers(n_stats)))
        finish(sums, 0, answers)
        use(rows, answers, sums.voters)

    size = BLOCK_NUMBERS // (n_depths * n_sums(combiner, task, n_stats))
    by_blocks(use_block, len(X), n_jobs, max(1, size))


class Asked:
    """A forest made ready to be asked at depth 0 … n_depths - 1, and along the paths of stopping
    rules if `answering` is what `answer_depths` gives; then `n_depths` are all that there are.

    `adds` is about as large as the forest's statistics, so make one of these for all that is asked.
    """

    def __init__(
        self,
        forest: Forest,
        task: str,
        combiner: str,
        n_depths: int,
        answering: np.ndarray | None = None,
    ):
        self.forest, self.task, self.combiner, self.n_depths = forest, task, combiner, n_depths
        self.answering = answering
        self.n_stops = 0 if answering is None else answering.shape[1]
        self.width = n_sums(combiner, task, forest.stats.shape[1])
        self.n_answers = TASKS[task].n_answers(forest.stats.shape[1])
        n_nodes = len(forest.nodes)
        place, table = np.empty(n_nodes, np.int64), np.empty((n_nodes + self.width, self.width))
        n_mixed = table_kernel(task, combiner)(forest, place, table)
        table[n_mixed : n_mixed + self.width] = np.eye(self.width)
        self.adds = Additions(place, table[: n_mixed + self.width].reshape(-1))


class DepthWalk:
    """Asks the trees, one after the other, about a block of rows, of which the first is number
    `first_row` of the training rows if `outside` has bits of those.

    `everyone` and `left_out` are the running sums of all trees, and of those that left the row out
    of their bag; either is empty if it is not wanted. `stops` has both of the rules' values.
    """

    def __init__(self, asked: Asked, block, first_row: int = 0, everyone=True, outside=None):
        if not everyone and outside is None:
            raise ValueError("nothing is asked: neither everyone nor those outside")
        self.asked, self.block, self.first_row = asked, block, first_row
        self.outside = np.zeros((0, 0), np.uint8) if outside is None else outside
        walk = walk_for(asked.forest, block)
        self.kernel = surface_kernel(asked.task, asked.combiner, walk, asked.answering is not None)
        self.paths = make_paths(asked.forest, walk, TREES_TOGETHER, asked.n_depths)
        self.n_asked = 0

        def empty(wanted: bool) -> RunningSums:
            n = len(block) if wanted else 0
            sums = np.zeros((n * asked.n_depths, asked.width))
            return RunningSums(sums, *np.zeros((2, n), np.int64))

        self.everyone, self.left_out = empty(everyone), empty(outside is not None)
        self.stops: Stops | tuple[()] = ()
        if asked.answering is not None:
            sums = self.everyone, self.left_out
            self.stops = make_stops(asked.answering, TREES_TOGETHER, asked.n_depths, *sums)

    def ask(self, n: int) -> None:
        """Ask the next trees, until n have been asked."""
        asked, trees = self.asked, (self.n_asked, int(n))
        self.kernel(
            asked.forest, asked.adds, self.paths, self.block, trees, asked.n_depths,
            self.outside, self.first_row, self.everyone, self.left_out, self.stops,
        )  # fmt: skip
        self.n_asked = int(n)


def ends(forest: Forest, X, depth=None, n_jobs: int = 1) -> np.ndarray:
    """The node of each tree where each row ends, (n_trees, n_rows) int64; of a row that branches
    that with most of it, the first of equal ones (see reached)."""
    blocks = Blocks(X)
    walk = walk_for(forest, blocks.X)
    find_ends = ends_kernel(walk)
    found = np.empty((n_trees(forest), blocks.n_rows), np.int64)

    def find_block(rows: slice) -> None:
        # The kernel takes one layout, so a block is written apart and copied.
        part = np.empty((len(found), rows.stop - rows.start), np.int64)
        with blocks.block(rows) as block:
            find_ends(forest, make_walks(forest, walk), block, limit_of(depth), part)
        found[:, rows] = part

    by_blocks(find_block, blocks.n_rows, n_jobs, blocks.most_rows)
    return found


def places(forest: Forest, X, depth=None, n_jobs: int = 1) -> np.ndarray:
    """As `ends`, as rows of the forest's own arrays."""
    found = ends(forest, X, depth, n_jobs)
    found += forest.first_node[:-1, None]
    return found


def limit_of(depth: int | None) -> int:
    """A depth as the kernels take it."""
    return NO_DEPTH if depth is None else depth

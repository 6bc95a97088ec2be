"""Many trees: what each sees, and threads to grow them.

`grow_trees(first, count)` is a pure function of data, recipe and seed: threads, processes or
machines may share the trees of a forest out as they like and get the same bits.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import LEAF, Columns, Forest, Settings, Tree, n_trees, plant, tree_of
from forestlab.core.bag import bag_counts, tree_features
from forestlab.core.combine import n_answers, n_sums
from forestlab.core.criteria import CRITERIA, n_slots, n_stats
from forestlab.core.descend import (
    NO_DEPTH,
    Additions,
    DepthSums,
    answers_kernel,
    find_ends,
    finish_kernel,
    make_walks,
    sum_kernel,
    surface_kernel,
    table_kernel,
)
from forestlab.core.encode import MAX_BINS, encode
from forestlab.core.grow import grow_kernel
from forestlab.core.rng import tree_key
from forestlab.core.scratch import Scratch, Sizes, make_scratch
from forestlab.core.search import SEARCHES

BLOCK_NUMBERS = 2_000_000  # 16 MB a thread
# Where sums over rows must not depend on the number of threads. No power of two, at which what
# stands one below the other in a table of a block would compete for the same lines of the cache.
BLOCK_ROWS = 1000
EXACT = 2.0**26  # whole numbers whose squares floats still hold exactly


class Recipe(NamedTuple):
    """All that decides how a forest grows, beside the data and the seed."""

    criterion: str
    search: str
    settings: Settings
    n_classes: int = 0
    features_per_tree: int = 0  # drawn for each tree; 0: all
    bag_size: int = 0  # rows drawn for each tree; 0: all rows, no bag
    replace: bool = True
    balance_bags: bool = False  # weigh classes equally within each bag

    @property
    def n_features_drawn(self) -> int:
        """Features that each tree, or else each node, chooses among."""
        return self.features_per_tree or self.settings.max_features


class Training(NamedTuple):
    """Training data as the kernels take it."""

    columns: Columns
    y: np.ndarray  # (n_rows, n_targets) float64; class codes for classification
    marks: np.ndarray  # (n_rows,) int32: equal where targets are equal; empty if not needed
    weights: np.ndarray  # (n_rows,) float64, of rows in a tree
    whole: bool  # all of them are whole numbers, and few enough to be counted exactly
    chances: np.ndarray  # running sum of weights by which bags are drawn; empty: equal chances


def prepare(X, y, recipe: Recipe, weights=None, drawn_by=None, n_jobs: int = 1) -> Training:
    """Encode X for a recipe.

    `weights` multiply a row's part in every tree; `drawn_by` are chances to enter a bag.
    """
    search = SEARCHES[recipe.search]
    mass = product(weights, drawn_by)
    columns = encode(X, mass, MAX_BINS if search.binned else 0, n_jobs)
    marks = np.zeros(0, np.int32)
    if recipe.search == "boundary":
        marks = np.unique(y, axis=0, return_inverse=True)[1].ravel().astype(np.int32)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, np.float64)
    chances = np.zeros(0) if drawn_by is None else np.cumsum(drawn_by, dtype=np.float64)
    return Training(columns, y, marks, weights, _are_whole(weights, recipe.bag_size), chances)


def _are_whole(weights: np.ndarray, bag_size: int) -> bool:
    """Are all weights whole numbers, and the square of their sum, in any bag, still exact?"""
    most = max(len(weights), bag_size) * float(weights.max(initial=0.0))
    return most < EXACT and bool((weights == np.floor(weights)).all())


def product(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    """Of two weights of each row; None is 1."""
    return b if a is None else a if b is None else a * b


def scratch_for(training: Training, recipe: Recipe) -> Scratch:
    """The memory one thread needs to grow trees."""
    criterion = CRITERIA[recipe.criterion]
    n_features, n_rows = training.columns.codes.shape
    n_targets = training.y.shape[1]
    sizes = Sizes(
        min(n_rows, recipe.bag_size or n_rows),
        n_features,
        int(np.diff(training.columns.first).max()),
        n_slots(criterion, recipe.n_classes, n_targets),
        n_stats(criterion, recipe.n_classes, n_targets),
        n_parts=1 if criterion.task == "classification" else 1 + n_targets,
    )
    return make_scratch(sizes, recipe.settings)


def kernel_for(training: Training, recipe: Recipe) -> Callable:
    """The compiled grower of a recipe."""
    criterion, search = CRITERIA[recipe.criterion], SEARCHES[recipe.search]
    return grow_kernel(
        criterion.alias_of or recipe.criterion,
        search.alias_of or recipe.search,
        recipe.settings.rho > 0,
        training.whole and not recipe.balance_bags,
    )


def grow_trees(
    training: Training,
    recipe: Recipe,
    seed: int,
    first: int,
    count: int,
    scratch: Scratch | None = None,
    stop: np.ndarray | None = None,
) -> list[Tree]:
    """Grow the trees first … first + count - 1 of the forest that (training, recipe, seed) define.

    `stop` is a uint8 array of one; setting it to 1 from another thread ends the growing.
    """
    stop = np.zeros(1, np.uint8) if stop is None else stop
    scratch = scratch_for(training, recipe) if scratch is None else scratch
    grow = kernel_for(training, recipe)
    trees = []
    for t in range(first, first + count):
        key = _key(seed, t)
        rows, weights = _rows_of(training, recipe, key)
        n_features = len(training.columns.codes)
        features = tree_features(key, n_features, recipe.features_per_tree or n_features)
        targets = (training.y, training.marks)
        n = grow(
            training.columns, targets, rows, weights, features, key, recipe.settings, scratch, stop
        )
        pools = np.zeros(0), np.zeros(0, np.uint64)
        trees.append(Tree(scratch.nodes[:n].copy(), scratch.stats[:n].copy(), *pools))
    return trees


def _key(seed: int, t: int):
    with np.errstate(over="ignore"):
        return tree_key(np.uint64(seed), np.uint64(t))


def tree_seed(seed: int, t: int) -> int:
    """A seed that is tree t's own, of the 31 bits that scikit-learn draws."""
    return int(_key(seed, t)) >> 33


def _rows_of(training: Training, recipe: Recipe, key) -> tuple[np.ndarray, np.ndarray]:
    """The rows a tree grows on and their weights; rows of no weight are left out."""
    n_rows = len(training.y)
    weights = training.weights
    if recipe.bag_size:
        counts = bag_counts(key, n_rows, recipe.bag_size, recipe.replace, training.chances)
        weights = counts * weights
        if recipe.balance_bags:
            weights = weights * balance(training.y[:, 0], counts, recipe.n_classes)
    rows = np.flatnonzero(weights > 0.0)
    return rows.astype(np.uint32), weights[rows]


def balance(labels: np.ndarray, counts: np.ndarray, n_classes: int) -> np.ndarray:
    """What to multiply rows' counts or weights by, so that each class that has any gets the same
    total, as scikit-learn's 'balanced'; 0 for rows of a class that has none."""
    labels = labels.astype(np.intp)
    in_class = np.bincount(labels, counts, n_classes)
    present = in_class > 0
    factor = np.zeros(n_classes)
    factor[present] = in_class.sum() / (present.sum() * in_class[present])
    return factor[labels]


def grow_forest(
    training: Training,
    recipe: Recipe,
    seed: int,
    n_estimators: int,
    n_jobs: int = 1,
    show: Callable[[Iterable], Iterable] | None = None,
    begun: Forest | None = None,
) -> Forest:
    """Grow a whole forest with threads. `show` wraps the loop over finished trees: progress.
    `begun` holds its first trees, if they have been grown before."""
    first = 0 if begun is None else n_trees(begun)
    if begun is not None and first == n_estimators:
        return begun
    stop = np.zeros(1, np.uint8)
    kernel_for(training, recipe)  # made here, before threads would each make one
    spare: SimpleQueue[Scratch] = SimpleQueue()
    for _ in range(min(n_jobs, n_estimators - first)):
        spare.put(scratch_for(training, recipe))

    def grow_one(t: int) -> Tree:
        scratch = spare.get()
        try:
            return grow_trees(training, recipe, seed, t, 1, scratch, stop)[0]
        finally:
            spare.put(scratch)

    grown = (tree_of(begun, t) for t in range(first)) if begun is not None else ()
    trees = in_threads(grow_one, range(first, n_estimators), n_jobs, stop, show)
    return plant(chain(grown, trees), n_estimators)


def in_threads(work: Callable, items, n_jobs: int, stop=None, show=None) -> Iterator:
    """work(item) for item in items, in threads and in order; Ctrl-C ends it at once.

    The main thread only waits, so that it sees the interrupt; `stop` then ends running kernels.
    What cannot be ended, a kernel that is being compiled, is not waited for. A result is let go
    once it has been handed over.
    """
    pool = ThreadPoolExecutor(n_jobs)
    try:
        futures = deque(pool.submit(work, item) for item in items)
        for _ in show(range(len(futures))) if show else range(len(futures)):
            yield futures.popleft().result()
    except BaseException:
        if stop is not None:
            stop[0] = 1
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


# ---- asking a forest ---------------------------------------------------------------------------


def combined(
    forest: Forest, task: str, combiner: str, X, depth=None, n_jobs: int = 1, outside=None
) -> tuple[np.ndarray, np.ndarray]:
    """The forest's answer for each row of X, and how many trees gave one.

    Parameters
    ----------
    X : (n_rows, n_features) array of any real dtype and layout
    depth : evaluate as if grown with this max_depth; None: as grown
    outside : (n_trees, …) packed bits from `rows_outside`, or None to ask every tree

    Returns
    -------
    answers : (n_rows, n_classes) probabilities or (n_rows, n_targets) means; NaN where no tree
        answers
    voters : (n_rows,) int64
    """
    add_answers, finish = sum_kernel(task, combiner), finish_kernel(task, combiner)
    n_stats = forest.stats.shape[1]
    sums = np.zeros((len(X), n_sums(combiner, task, n_stats)))
    voters = np.zeros(len(X), np.int64)
    outside = np.zeros((0, 0), np.uint8) if outside is None else outside

    def add_block(rows: slice) -> None:
        block = _block(X, rows)
        start = rows.start
        add_answers(
            forest, make_walks(forest), block, (0, n_trees(forest)), _limit(depth), outside, start,
            sums[rows], voters[rows],
        )  # fmt: skip
        finish(sums[rows], voters[rows])

    by_blocks(add_block, len(X), n_jobs)
    return sums[:, : n_answers(task, n_stats)], voters


def tree_by_tree(
    forest: Forest, task: str, combiner: str, block: np.ndarray, first_row: int, outside
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """As `combined` for a block of rows, of the first 1, 2, … trees in turn."""
    add_answers, finish = sum_kernel(task, combiner), finish_kernel(task, combiner)
    sums = np.zeros((len(block), n_sums(combiner, task, forest.stats.shape[1])))
    voters, walks = np.zeros(len(block), np.int64), make_walks(forest)
    for t in range(n_trees(forest)):
        add_answers(forest, walks, block, (t, t + 1), NO_DEPTH, outside, first_row, sums, voters)
        answers = sums.copy()
        finish(answers, voters)
        yield answers[:, : n_answers(task, forest.stats.shape[1])], voters


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
        walk = DepthWalk(asked, _block(X, rows), rows.start, outside is None, outside)
        walk.ask(n_trees(forest))
        sums = walk.everyone if outside is None else walk.left_out
        answers = np.empty((n_depths, len(sums.voters), n_answers(task, n_stats)))
        finish(sums, 0, answers)
        use(rows, answers, sums.voters)

    size = BLOCK_NUMBERS // (n_depths * n_sums(combiner, task, n_stats))
    by_blocks(use_block, len(X), n_jobs, max(1, size))


class Asked:
    """A forest made ready to be asked at depth 0 … n_depths - 1.

    `adds` is about as large as the forest's statistics, so make one of these for all that is asked.
    """

    def __init__(self, forest: Forest, task: str, combiner: str, n_depths: int):
        self.forest, self.task, self.combiner, self.n_depths = forest, task, combiner, n_depths
        self.width = n_sums(combiner, task, forest.stats.shape[1])
        n_nodes = len(forest.steps)  # where walks may branch, nodes answer for shares: no table
        place, table = np.empty(n_nodes, np.int64), np.empty((n_nodes, self.width))
        n_mixed = table_kernel(task, combiner)(forest, place, table) if n_nodes else 0
        self.adds = Additions(place, table[:n_mixed].reshape(-1))


class DepthWalk:
    """Asks the trees, one after the other, about a block of rows, of which the first is number
    `first_row` of the training rows if `outside` has bits of those.

    `everyone` and `left_out` are the running sums of all trees, and of those that left the row out
    of their bag; either is empty if it is not wanted.
    """

    def __init__(self, asked: Asked, block, first_row: int = 0, everyone=True, outside=None):
        if not everyone and outside is None:
            raise ValueError("nothing is asked: neither everyone nor those outside")
        self.asked, self.block, self.first_row = asked, block, first_row
        self.outside = np.zeros((0, 0), np.uint8) if outside is None else outside
        self.kernel = surface_kernel(asked.task, asked.combiner)
        self.walks = make_walks(asked.forest, asked.n_depths)
        self.n_asked = 0

        def empty(wanted: bool) -> DepthSums:
            n = len(block) if wanted else 0
            sums = np.zeros((n * asked.n_depths, asked.width))
            return DepthSums(sums, *np.zeros((2, n), np.int64))

        self.everyone, self.left_out = empty(everyone), empty(outside is not None)

    def ask(self, n: int) -> None:
        """Ask the next trees, until n have been asked."""
        asked, trees = self.asked, (self.n_asked, int(n))
        self.kernel(
            asked.forest, asked.adds, self.walks, self.block, trees, asked.n_depths,
            self.outside, self.first_row, self.everyone, self.left_out,
        )  # fmt: skip
        self.n_asked = int(n)


def by_fixed_blocks(
    work: Callable[[slice, np.ndarray], Any], X, n_jobs: int = 1, size: int = BLOCK_ROWS
) -> Iterator[Any]:
    """work(rows, X[rows]) for blocks of `size` rows, in threads and in order.

    The blocks do not depend on n_jobs: sums of what is yielded have the same bits with any.
    """

    def on_block(start: int):
        rows = slice(start, min(start + size, len(X)))
        return work(rows, _block(X, rows))

    starts = range(0, len(X), size)
    if n_jobs == 1 or len(starts) == 1:
        return map(on_block, starts)
    return in_threads(on_block, starts, n_jobs)


def ends(forest: Forest, X, depth=None, n_jobs: int = 1) -> np.ndarray:
    """The node of each tree where each row ends, (n_trees, n_rows) int64."""
    found = np.empty((n_trees(forest), len(X)), np.int64)

    def find_block(rows: slice) -> None:
        block = _block(X, rows)
        # The kernel takes one layout, so a block is written apart and copied.
        part = np.empty((len(found), len(block)), np.int64)
        find_ends(forest, make_walks(forest), block, _limit(depth), part)
        found[:, rows] = part

    by_blocks(find_block, len(X), n_jobs)
    return found


def places(forest: Forest, X, depth=None, n_jobs: int = 1) -> np.ndarray:
    """As `ends`, as rows of the forest's own arrays."""
    found = ends(forest, X, depth, n_jobs)
    found += forest.first_node[:-1, None]
    return found


def rows_outside(
    recipe: Recipe, n_rows: int, chances, seed: int, count: int, n_jobs: int = 1
) -> np.ndarray:
    """A bit for each tree and training row, set where the row was left out of the tree's bag."""

    def packed(t: int) -> np.ndarray:
        return np.packbits(_bag(recipe, n_rows, chances, seed, t) == 0, bitorder="little")

    return np.stack(list(in_threads(packed, range(count), n_jobs)))


def bags(
    recipe: Recipe, n_rows: int, chances, seed: int, count: int, n_jobs: int = 1
) -> np.ndarray:
    """How often each tree's bag holds each training row, (count, n_rows); 1 without bags.

    Of the smallest unsigned type that holds the bag's size, so that no count is too large for it.
    """
    most = recipe.bag_size if recipe.bag_size and recipe.replace else 1
    counts = np.ones((count, n_rows), np.min_scalar_type(most))
    if recipe.bag_size:

        def note(t: int) -> None:
            counts[t] = _bag(recipe, n_rows, chances, seed, t)

        deque(in_threads(note, range(count), n_jobs), maxlen=0)
    return counts


def _bag(recipe: Recipe, n_rows: int, chances, seed: int, t: int) -> np.ndarray:
    """How often one tree's bag holds each training row."""
    return bag_counts(_key(seed, t), n_rows, recipe.bag_size, recipe.replace, chances)


def rounded_columns(columns: Columns) -> np.ndarray:
    """Which columns hold values, or ends of bins, that float32 would round, (n_features,)."""
    with np.errstate(over="ignore"):
        lower, upper = (values.astype(np.float32) for values in (columns.lower, columns.upper))
    changed = (lower != columns.lower) | (upper != columns.upper)
    return np.logical_or.reduceat(changed, columns.first[:-1])


def importances(forest: Forest, n_features: int) -> np.ndarray:
    """Each tree's impurity decrease by feature, summing to 1 (or to 0), (n_trees, n_features)."""
    trees = range(n_trees(forest))
    found = np.stack([decreases(tree_of(forest, t).nodes, n_features) for t in trees])
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.zeros_like(found), where=total > 0)


def decreases(nodes: np.ndarray, n_features: int) -> np.ndarray:
    """By how much one tree's splits on each feature lower weight × impurity, (n_features,)."""
    found = np.zeros(n_features)
    inner = nodes[nodes["kind"] != LEAF]
    held = nodes["weight"] * nodes["impurity"]
    decrease = inner["weight"] * inner["impurity"] - held[inner["left"]] - held[inner["right"]]
    np.add.at(found, inner["feature"], np.maximum(decrease, 0.0))
    return found


def _block(X, rows: slice) -> np.ndarray:
    """Rows in the one layout that the kernels are compiled for; to numba read-only is another."""
    return np.require(X[rows], np.float64, ["C", "W"])


def _limit(depth: int | None) -> int:
    return NO_DEPTH if depth is None else depth


def by_blocks(work: Callable[[slice], None], n_rows: int, n_jobs: int, most: int = 8192) -> None:
    """Do the rows in blocks, small enough to share out and to bound what is copied."""
    size = min(max(-(-n_rows // (4 * n_jobs)), 256), most) if n_jobs > 1 else most
    blocks = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    if n_jobs == 1 or len(blocks) == 1:
        for block in blocks:
            work(block)
    else:
        deque(in_threads(work, blocks, n_jobs), maxlen=0)

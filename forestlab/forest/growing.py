"""Growing many trees: what each sees, and threads to grow them.

`grow_trees(first, count)` is a pure function of data, recipe and seed: threads, processes or
machines may share the trees of a forest out as they like and get the same bits.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from queue import SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from forestlab.core.arrays import Columns, Forest, Limits, Settings, Tree, n_trees, plant, tree_of
from forestlab.core.bag import bag_counts, tree_features
from forestlab.core.branching import FULL
from forestlab.core.criteria import CRITERIA, Criterion, Entered
from forestlab.core.encode import MAX_BINS, encode_some, standardised, with_nan
from forestlab.core.grow import KernelParts, grow_kernel, make_grow
from forestlab.core.items import by_row, usual_codes
from forestlab.core.learners import LEARNERS
from forestlab.core.leaves import LEAVES, Leaf
from forestlab.core.missing import MISSING
from forestlab.core.options import Axis, Options, row_of
from forestlab.core.own import Own, own_criterion, own_leaf, uncompiled
from forestlab.core.prune import Rules, cut
from forestlab.core.rng import tree_key
from forestlab.core.scratch import Plan, Scratch, Sizes, make_scratch
from forestlab.core.search import SEARCHES
from forestlab.core.several import first_slots, side_size
from forestlab.core.sparse import encode_sparse
from forestlab.core.tasks import TASKS
from forestlab.forest.encoded import Encoded
from forestlab.forest.sparse import by_columns
from forestlab.forest.threads import in_threads

RUNS = 16  # of trees that each thread grows, or more: those that wait for the last are few
EXACT = 2.0**26  # whole numbers whose squares floats still hold exactly


class Recipe(NamedTuple):
    """All that decides how a forest grows, beside the data and the seed."""

    criterion: str | Own
    search: Options
    limits: Limits
    n_classes: int = 0  # of all targets together
    features_per_tree: int = 0  # drawn for each tree; 0: all
    bag_size: int = 0  # rows drawn for each tree; 0: all rows, no bag
    replace: bool = True
    balance_bags: bool = False  # weigh classes equally within each bag
    learner: Options = Axis()
    missing: str = "error"
    leaf: str | Own = "mean"  # what a node of numbers answers
    monotonic: tuple[int, ...] = ()  # the sign of each feature (see core.monotonic); (): no matter
    classes_each: tuple[int, ...] = ()  # of several targets of classes, how many each has
    levels: tuple[int, ...] = ()  # of each feature, if it is one of categories; 0: of numbers
    categories: str = "subset"  # what is asked of categories, see core.categories
    ccp_alpha: float = 0.0  # what a leaf costs, see core.prune; 0: nothing is cut back
    ccp_cost: str = "criterion"  # beside what impurity

    @property
    def settings(self) -> Settings:
        """What the kernels read of it."""
        numbers = self.search.numbers() | self.learner.numbers()
        return Settings(**self.limits._asdict(), **numbers)

    @property
    def task(self) -> str:
        if isinstance(self.criterion, Own):
            return self.criterion.task
        if self.criterion not in CRITERIA:
            raise ValueError(
                f"criterion={self.criterion!r} is not known: a function of one's own, which files "
                "do not hold, or of a plug-in that is not imported."
            )
        return CRITERIA[self.criterion].task

    @property
    def own(self) -> list[Own]:
        """The functions of a user's own."""
        return [part for part in (self.criterion, self.leaf) if isinstance(part, Own)]

    @property
    def n_features_drawn(self) -> int:
        """Features that each tree, or else each node, chooses among."""
        return self.features_per_tree or self.limits.max_features


class Training(NamedTuple):
    """Training data as the kernels take it."""

    columns: Columns
    y: np.ndarray  # (n_rows, n_targets) float64; class codes for classification
    marks: np.ndarray | tuple[()]  # (n_rows,) int32: equal where targets are; () if not needed
    weights: np.ndarray  # (n_rows,) float64, of rows in a tree
    whole: bool  # all of them are whole numbers, and few enough to be counted exactly
    chances: np.ndarray  # running sum of weights by which bags are drawn; empty: equal chances
    yardstick: np.ndarray | tuple[()] = ()  # what the criterion measures by; () if it does not
    lacking: bool = False  # some values are missing
    # What core.items asks for: the code that most rows have, of classes; and all codes row by row,
    # unless they are mapped from a folder or sparse, which is for data that memory may not hold.
    usual: np.ndarray | tuple[()] = ()
    by_row: np.ndarray | tuple[()] = ()


def prepare(X, y, recipe: Recipe, weights=None, drawn_by=None, n_jobs: int = 1) -> Training:
    """Encode X, an array or a sparse matrix, for a recipe; or take what is encoded already.

    `weights` multiply a row's part in every tree; `drawn_by` are chances to enter a bag.
    """
    search = SEARCHES[row_of("search", recipe.search)]
    mass = product(weights, drawn_by)
    is_drawn = LEARNERS[row_of("learner", recipe.learner)].draw is not None
    n_bins = getattr(recipe.search, "bins", MAX_BINS) if search.binned and not is_drawn else 0
    allowed = len(MISSING[recipe.missing].sides) > 0
    how = mass, n_bins, n_jobs, allowed, recipe.levels
    if isinstance(X, Encoded):
        columns, lacking = X.columns_for(n_bins), X.facts.lacking
    else:
        encode = partial(encode_sparse, by_columns(X)) if issparse(X) else partial(encode_some, X)
        columns, lacking = encode(*how)
    if is_drawn:
        columns = standardised(columns, mass, n_jobs)
        columns = with_nan(columns) if lacking else columns
    marks: np.ndarray | tuple[()] = ()
    if search.marked:
        marks = np.unique(y, axis=0, return_inverse=True)[1].ravel().astype(np.int32)
    # The same number for all takes the room of one.
    same = np.broadcast_to(1.0, len(y))
    weights = same if weights is None else np.asarray(weights, np.float64)
    chances = np.zeros(0) if drawn_by is None else np.cumsum(drawn_by, dtype=np.float64)
    whole = _are_whole(weights, recipe.bag_size)
    yardstick = yardstick_of(recipe.criterion, y, mass, float(weights.sum()))
    has_classes = TASKS[recipe.task].has_classes
    usual = usual_codes(columns, n_jobs) if has_classes else ()
    is_large = isinstance(X, Encoded) or issparse(X)
    is_swept = not (is_drawn or lacking or recipe.levels or is_large)
    of_rows = by_row(columns.codes, n_jobs) if is_swept else np.empty(0, columns.codes.dtype)
    return Training(columns, y, marks, weights, whole, chances, yardstick, lacking, usual, of_rows)


def yardstick_of(criterion: str | Own, y: np.ndarray, mass: np.ndarray | None, n_rows: float):
    """What a criterion measures by: of all training rows, so that nodes of any two trees compare,
    and a tree does not depend on what others see of its bag."""
    row = None if isinstance(criterion, Own) else CRITERIA[criterion]
    if not isinstance(row, Entered) or row.yardstick is None:
        return ()
    mass = np.ones(len(y)) if mass is None else mass
    return np.ascontiguousarray(row.yardstick(y, mass, n_rows))


def _are_whole(weights: np.ndarray, bag_size: int) -> bool:
    """Are all weights whole numbers, and the square of their sum, in any bag, still exact?"""
    most = max(len(weights), bag_size) * float(weights.max(initial=0.0))
    return most < EXACT and bool((weights == np.floor(weights)).all())


def product(a: np.ndarray | None, b: np.ndarray | None) -> np.ndarray | None:
    """Of two weights of each row; None is 1."""
    return b if a is None else a if b is None else a * b


def scratch_for(training: Training, recipe: Recipe, room: int = 1) -> Scratch:
    """The memory one thread needs to grow trees; with `room` for so many times the rows, where
    these may branch."""
    task, learner = TASKS[recipe.task], LEARNERS[row_of("learner", recipe.learner)]
    criterion = _criterion_of(recipe, training.y)[0]
    n_features, n_rows = training.columns.codes.shape
    n_rows, n_targets = min(n_rows, recipe.bag_size or n_rows), training.y.shape[1]
    n_side, n_memo = 0, 0
    if isinstance(criterion, Entered):
        n_side = criterion.side_size(n_rows, n_targets)
        n_memo = criterion.memo_size(n_rows, n_targets)
    elif recipe.classes_each:
        n_side = side_size(recipe.classes_each)
    sizes = Sizes(
        n_rows,
        n_features,
        int(np.diff(training.columns.first).max()) + training.lacking,
        task.n_slots(recipe.n_classes, n_targets),
        task.n_stats(recipe.n_classes, n_targets),
        task.n_parts(recipe.n_classes, n_targets),
        learner.n_factors(recipe.settings.n_terms),
        learner.has_bands,
        n_targets if _leaf_of(recipe).value or (recipe.monotonic and not recipe.n_classes) else 0,
        n_side,
        n_memo,
        len(recipe.monotonic) > 0,
        room * n_rows if may_branch(training, recipe) else 0,
        max(recipe.levels, default=0),
        room,
    )
    return make_scratch(sizes, recipe.settings)


def may_branch(training: Training, recipe: Recipe) -> bool:
    """May rows that trees grow on go down both branches?"""
    return training.lacking and MISSING[recipe.missing].branches


class Desk:
    """Where a thread grows trees: what all of them share, and its memory, which becomes larger once
    a tree is short of room."""

    def __init__(self, training: Training, recipe: Recipe, counted: bool = False):
        self.training, self.recipe, self.room = training, recipe, 2
        self.grow = kernel_for(training, recipe, counted)
        self.plan = plan_for(training, recipe)
        self.scratch = scratch_for(training, recipe, self.room)

    def enlarge(self) -> None:
        self.room *= 2
        self.scratch = scratch_for(self.training, self.recipe, self.room)


def plan_for(training: Training, recipe: Recipe) -> Plan:
    """What a kernel reads of data and recipe."""
    signs = np.array(recipe.monotonic, np.int8) if recipe.monotonic else ()
    slots = first_slots(recipe.classes_each) if recipe.classes_each else ()
    return Plan(
        training.columns, training.y, training.marks, recipe.settings, training.yardstick, signs,
        slots, training.usual, training.columns.codes.reshape(-1), training.by_row,
    )  # fmt: skip


def kernel_for(training: Training, recipe: Recipe, counted: bool = False) -> Callable:
    """The compiled grower of a recipe, or that of a user's own functions, which is not compiled;
    `counted` if it is to count the cuts that it scores."""
    search, leaf = row_of("search", recipe.search), _leaf_of(recipe)
    criterion, name = _criterion_of(recipe, training.y)
    several = bool(recipe.classes_each) and not isinstance(recipe.criterion, Own)
    of_sums = isinstance(criterion, Criterion) and not several
    parts = KernelParts(
        criterion.alias_of or name,
        row_of("learner", recipe.learner),
        SEARCHES[search].alias_of or search,
        recipe.limits.rho > 0,
        training.whole and not recipe.balance_bags and of_sums and not may_branch(training, recipe),
        counted,
        recipe.missing if training.lacking or _settles(recipe.missing) else "error",
        recipe.limits.rho > 0 and recipe.limits.pairs,
        recipe.leaf.name if isinstance(recipe.leaf, Own) else recipe.leaf,
        len(recipe.monotonic) > 0,
        several,
        training.lacking or not _settles(recipe.missing),
        recipe.categories if recipe.levels else "",
        recipe.settings.n_thresholds > 0,
        of_sums and recipe.task == "regression" and training.y.shape[1] == 1,
    )
    return uncompiled(make_grow(criterion, leaf, parts)) if recipe.own else grow_kernel(parts)


def _settles(missing: str) -> bool:
    """Does a node that has seen no missing value have to know more than its heavier child?"""
    return MISSING[missing].by_typical or MISSING[missing].branches


def _criterion_of(recipe: Recipe, y: np.ndarray) -> tuple[Criterion | Entered, str]:
    if isinstance(recipe.criterion, Own):
        return own_criterion(recipe.criterion, y, recipe.classes_each), recipe.criterion.name
    return CRITERIA[recipe.criterion], recipe.criterion


def _leaf_of(recipe: Recipe) -> Leaf:
    return own_leaf(recipe.leaf) if isinstance(recipe.leaf, Own) else LEAVES[recipe.leaf]


def grow_trees(
    training: Training,
    recipe: Recipe,
    seed: int,
    first: int,
    count: int,
    desk: Desk | None = None,
    stop: np.ndarray | None = None,
) -> list[Tree]:
    """Grow the trees first … first + count - 1 of the forest that (training, recipe, seed) define.

    `stop` is a uint8 array of one; setting it to 1 from another thread ends the growing: then there
    are fewer trees.
    """
    stop = np.zeros(1, np.uint8) if stop is None else stop
    desk = Desk(training, recipe) if desk is None else desk
    trees = []
    for t in range(first, first + count):
        if stop[0]:
            break
        n = _grow_at(desk, key_of(seed, t), stop)
        trees.append(stopped(_tree_in(desk.scratch, n), recipe))
    return trees


def _tree_in(scratch: Scratch, n: int) -> Tree:
    """A copy of the tree of n nodes that was grown in there."""
    pool: Any = scratch.projections
    params = pool.params[: pool.n_params[0]].copy() if pool else np.zeros(0)
    answers: Any = scratch.answers
    means = answers.means[:n].copy() if answers else np.zeros((n, 0))
    nodes, stats = scratch.nodes[:n].copy(), scratch.stats[:n].copy()
    sets: Any = scratch.categories
    bits = sets.bits[: sets.n_bits[0]].copy() if sets else np.zeros(0, np.uint64)
    return Tree(nodes, stats, params, bits, means, scratch.gains[:n].copy())


def stopped(tree: Tree, recipe: Recipe) -> Tree:
    """The tree without what the number of leaves, or their cost, forbids."""
    limits = recipe.limits
    if not limits.max_leaf_nodes and not recipe.ccp_alpha:
        return tree
    rules = Rules(max_leaf_nodes=limits.max_leaf_nodes, ccp_alpha=recipe.ccp_alpha)
    return cut(tree, rules._replace(ccp_cost=recipe.ccp_cost))


def count_cuts(training: Training, recipe: Recipe, seed: int, count: int) -> np.ndarray:
    """The cuts that are scored to grow each of the first trees, (count,) int64."""
    desk = Desk(training, recipe, counted=True)
    found = np.empty(count, np.int64)
    for t in range(count):
        _grow_at(desk, key_of(seed, t), np.zeros(1, np.uint8))
        found[t] = desk.scratch.scored[0]
    return found


def _grow_at(desk: Desk, key, stop) -> int:
    """Grow the tree of a key; it is left on the desk. Returns the number of its nodes."""
    training, recipe = desk.training, desk.recipe
    n_features = len(training.columns.codes)
    features = tree_features(key, n_features, recipe.features_per_tree or n_features)
    while True:
        desk.scratch.scored[0] = 0
        rows, weights = _rows_of(training, recipe, key)
        n_nodes = desk.grow(desk.plan, rows, weights, features, key, desk.scratch, stop)
        if n_nodes != FULL:
            return n_nodes
        desk.enlarge()


def key_of(seed: int, t: int):
    with np.errstate(over="ignore"):
        return tree_key(np.uint64(seed), np.uint64(t))


def tree_seed(seed: int, t: int) -> int:
    """A seed that is tree t's own, of the 31 bits that scikit-learn draws."""
    return int(key_of(seed, t)) >> 33


def rows_of(training: Training, recipe: Recipe, seed: int, t: int):
    """The rows that tree t grows on, in order, and their weights."""
    return _rows_of(training, recipe, key_of(seed, t))


def _rows_of(training: Training, recipe: Recipe, key) -> tuple[np.ndarray, np.ndarray]:
    """The rows a tree grows on and their weights; rows of no weight are left out."""
    if not recipe.bag_size:
        rows = np.flatnonzero(training.weights > 0.0)
        return rows.astype(np.uint32), training.weights[rows]
    # Weights of drawn rows alone: those of all rows would be a thread's largest array.
    counts = bag_counts(key, len(training.y), recipe.bag_size, recipe.replace, training.chances)
    rows = np.flatnonzero(counts).astype(np.uint32)
    weights = counts[rows] * training.weights[rows]
    if recipe.balance_bags:
        n_each = recipe.classes_each or (recipe.n_classes,)
        for labels, n_classes in zip(training.y.T, n_each, strict=True):
            factors = class_factors(labels, counts, n_classes)
            weights = weights * factors[labels[rows].astype(np.intp)]
    weighty = weights > 0.0
    return (rows, weights) if weighty.all() else (rows[weighty], weights[weighty])


def balance(labels: np.ndarray, counts: np.ndarray, n_classes: int) -> np.ndarray:
    """What to multiply rows' counts or weights by, so that each class that has any gets the same
    total, as scikit-learn's 'balanced'; 0 for rows of a class that has none."""
    return class_factors(labels, counts, n_classes)[labels.astype(np.intp)]


def class_factors(labels: np.ndarray, counts: np.ndarray, n_classes: int) -> np.ndarray:
    """As `balance`, for each class, (n_classes,)."""
    in_class = np.bincount(labels.astype(np.intp), counts, n_classes)
    present = in_class > 0
    factor = np.zeros(n_classes)
    factor[present] = in_class.sum() / (present.sum() * in_class[present])
    return factor


def grow_forest(
    training: Training,
    recipe: Recipe,
    seed: int,
    n_estimators: int,
    n_jobs: int = 1,
    show: Callable[[Iterable], Iterable] | None = None,
    begun: Forest | None = None,
    backend: Callable | None = None,
) -> Forest:
    """Grow a whole forest with threads. `show` wraps the loop over finished trees: progress.
    `begun` holds its first trees, if they have been grown before. `backend` grows the others in
    the place of threads, by (training, recipe, seed, numbers of trees, n_jobs, show)."""
    first = 0 if begun is None else n_trees(begun)
    if begun is not None and first == n_estimators:
        return begun
    grown = (tree_of(begun, t) for t in range(first)) if begun is not None else ()
    grow = backend or grow_in_threads
    trees = grow(training, recipe, seed, range(first, n_estimators), n_jobs, show)
    return plant(chain(grown, trees), n_estimators)


def grow_in_threads(
    training: Training,
    recipe: Recipe,
    seed: int,
    numbers: range,
    n_jobs: int,
    show: Callable[[Iterable], Iterable] | None = None,
) -> Iterator[Tree]:
    """The trees of these numbers, in order.

    A thread takes several at a time where there are many: to hand over each of digits' 100 trees
    took a fifth of the time of growing them.
    """
    stop = np.zeros(1, np.uint8)
    spare: SimpleQueue[Desk] = SimpleQueue()
    for _ in range(min(n_jobs, len(numbers))):  # here, before threads would each make a kernel
        spare.put(Desk(training, recipe))
    size = max(1, len(numbers) // (RUNS * n_jobs))

    def grow_run(first: int) -> list[Tree]:
        desk = spare.get()
        try:
            count = min(size, numbers.stop - first)
            return grow_trees(training, recipe, seed, first, count, desk, stop)
        finally:
            spare.put(desk)

    with closing(in_threads(grow_run, numbers[::size], n_jobs, stop)) as runs:
        trees = chain.from_iterable(runs)
        for _ in show(numbers) if show else numbers:
            yield next(trees)

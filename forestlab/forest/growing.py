"""What trees grow from: the recipe, the training data as kernels take them, and bags."""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from forestlab.core.arrays import Columns, Limits, Settings
from forestlab.core.bag import Bags, fill_bag, make_drawn
from forestlab.core.criteria import CRITERIA, Entered
from forestlab.core.encode import MAX_BINS, encode_some, standardised, with_nan
from forestlab.core.items import by_row, usual_codes
from forestlab.core.learners import LEARNERS
from forestlab.core.missing import MISSING
from forestlab.core.options import Axis, Options, row_of
from forestlab.core.own import Own
from forestlab.core.rng import tree_key
from forestlab.core.search import SEARCHES
from forestlab.core.sparse import encode_sparse
from forestlab.core.tasks import TASKS
from forestlab.forest.encoded import Encoded
from forestlab.forest.sparse import by_columns

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
    labels: np.ndarray | tuple[()] = ()  # of one target of classes, in few bytes: see core.classes


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
    # To a kernel arrays that are not to be written, or have gaps, are another type.
    weights = same if weights is None else np.require(weights, np.float64, ["C", "W"])
    chances = np.zeros(0) if drawn_by is None else np.cumsum(drawn_by, dtype=np.float64)
    whole = _are_whole(weights, recipe.bag_size)
    yardstick = yardstick_of(recipe.criterion, y, mass, float(weights.sum()))
    has_classes = TASKS[recipe.task].has_classes
    usual = usual_codes(columns, n_jobs) if has_classes else ()
    is_large = isinstance(X, Encoded) or issparse(X)
    is_swept = not (is_drawn or lacking or recipe.levels or is_large)
    of_rows = by_row(columns.codes, n_jobs) if is_swept else np.empty(0, columns.codes.dtype)
    labels: np.ndarray | tuple[()] = ()
    if has_classes and y.shape[1] == 1:
        labels = y[:, 0].astype(np.uint16 if recipe.n_classes <= 2**16 else np.uint32)
    return Training(
        columns, y, marks, weights, whole, chances, yardstick, lacking, usual, of_rows, labels
    )


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


def key_of(seed: int, t: int):
    with np.errstate(over="ignore"):
        return tree_key(np.uint64(seed), np.uint64(t))


def tree_seed(seed: int, t: int) -> int:
    """A seed that is tree t's own, of the 31 bits that scikit-learn draws."""
    return int(key_of(seed, t)) >> 33


def bags_of(training: Training, recipe: Recipe) -> Bags:
    """How kernels draw what a tree sees."""
    n_features = len(training.columns.codes)
    n_each = recipe.classes_each or (recipe.n_classes,)
    return Bags(
        np.empty(0) if training.weights.strides == (0,) else training.weights,
        training.chances,
        recipe.bag_size,
        recipe.replace,
        recipe.features_per_tree or n_features,
        np.array(n_each if recipe.balance_bags else (), np.int64),
    )


def rows_of(training: Training, recipe: Recipe, seed: int, t: int):
    """The rows that tree t grows on, in order, and their weights."""
    bags = bags_of(training, recipe)
    drawn = make_drawn(len(training.y), len(training.columns.codes), bags)
    n_rows = fill_bag(training.y, bags, key_of(seed, t), drawn)
    return drawn.rows[:n_rows], drawn.weights[:n_rows]


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

"""Where a thread grows trees: its kernel, what all trees share, and the thread's memory."""

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from forestlab.core.arrays import Bed, Tree, bed_of
from forestlab.core.bag import make_drawn
from forestlab.core.branching import FULL
from forestlab.core.criteria import CRITERIA, Criterion, Entered
from forestlab.core.grow import KernelParts, grow_kernel, make_grow, may_sweep
from forestlab.core.learners import LEARNERS
from forestlab.core.leaves import LEAVES, Leaf
from forestlab.core.missing import MISSING
from forestlab.core.options import row_of
from forestlab.core.own import Own, own_criterion, own_leaf, uncompiled
from forestlab.core.runs import Run, make_run
from forestlab.core.scratch import Plan, Scratch, Sizes, make_scratch
from forestlab.core.search import SEARCHES
from forestlab.core.several import first_slots, side_size
from forestlab.core.tasks import TASKS
from forestlab.forest.growing import Recipe, Training, bags_of

ROOMY = 1.2  # times the nodes that trees had so far is the room for the next ones


class Desk:
    """Its memory becomes larger once a tree is short of room. Trees are laid out in `spare` runs
    that are large enough, if there are any: to take fresh memory for each, which the system has to
    clear, was a tenth of digits' fit."""

    def __init__(
        self,
        training: Training,
        recipe: Recipe,
        counted: bool = False,
        spare: SimpleQueue[Run] | None = None,
    ):
        self.spare = SimpleQueue() if spare is None else spare
        self.training, self.recipe, self.counted, self.room = training, recipe, counted, 2
        self.grow = kernel_for(training, recipe, counted)
        self.plan, self.bags = plan_for(training, recipe), bags_of(training, recipe)
        self.drawn = make_drawn(len(training.y), len(training.columns.codes), self.bags)
        self.scratch = scratch_for(training, recipe, self.room, counted)
        self.n_grown = self.n_nodes = 0

    def enlarge(self) -> None:
        self.room *= 2
        self.scratch = scratch_for(self.training, self.recipe, self.room, self.counted)

    def trees(self, seed: int, first: int, count: int, stop: np.ndarray) -> list[Bed]:
        """The trees first … first + count - 1 of the forest of a seed, or those before it was
        stopped."""
        beds, end, drawn_from = [], first + count, np.uint64(seed)
        while first < end and not stop[0]:
            run = self._empty_run(end - first)
            self.scratch.scored[0] = 0
            n_laid = self.grow(
                self.plan, self.bags, self.drawn, drawn_from, first, end - first, self.scratch, run,
                stop,
            )  # fmt: skip
            if n_laid:
                beds.append(self._note(bed_in(run, n_laid)))
                first += n_laid
            else:
                self.spare.put(run)
            if run.left[0] == FULL:
                self.enlarge()
            elif run.left[0]:
                beds.append(self._note(bed_of(tree_in(self.scratch, int(run.left[0])))))
                first += 1
        return beds

    def _note(self, bed: Bed) -> Bed:
        self.n_grown += len(bed.sizes)
        self.n_nodes += len(bed.nodes)
        return bed

    def _empty_run(self, count: int) -> Run:
        """With room for so many trees like those before; what is not written to takes none."""
        most = len(self.scratch.nodes)
        each = ROOMY * self.n_nodes / self.n_grown if self.n_grown else most
        room = int(min(each, most) * count)
        with suppress(Empty):
            spare = self.spare.get_nowait()
            if len(spare.nodes) >= room and len(spare.sizes) >= count:
                return spare
        return make_run(room, self.scratch.stats.shape[1], count)


def bed_in(run: Run, n_laid: int) -> Bed:
    """The trees that a run holds."""
    sizes = np.zeros((n_laid, 3), np.int64)
    sizes[:, 0] = run.sizes[:n_laid]
    n = int(sizes[:, 0].sum())
    nothing, no_bits, no_means = np.zeros(0), np.zeros(0, np.uint64), np.zeros((n, 0))
    nodes, stats, gains, steps = (part[:n] for part in run[:4])
    return Bed(nodes, stats, nothing, no_bits, no_means, gains, sizes, steps, run)


def tree_in(scratch: Scratch, n: int) -> Tree:
    """A copy of the tree of n nodes that was grown in there."""
    pool: Any = scratch.projections
    params = pool.params[: pool.n_params[0]].copy() if pool else np.zeros(0)
    answers: Any = scratch.answers
    means = answers.means[:n].copy() if answers else np.zeros((n, 0))
    nodes, stats = scratch.nodes[:n].copy(), scratch.stats[:n].copy()
    sets: Any = scratch.categories
    bits = sets.bits[: sets.n_bits[0]].copy() if sets else np.zeros(0, np.uint64)
    return Tree(nodes, stats, params, bits, means, scratch.gains[:n].copy())


# ---- what is in it -----------------------------------------------------------------------------


def plan_for(training: Training, recipe: Recipe) -> Plan:
    """What a kernel reads of data and recipe."""
    signs = np.array(recipe.monotonic, np.int8) if recipe.monotonic else ()
    slots = first_slots(recipe.classes_each) if recipe.classes_each else ()
    return Plan(
        training.columns, training.y, training.marks, recipe.settings, training.yardstick, signs,
        slots, training.usual, training.columns.codes.reshape(-1), training.by_row,
        training.labels,
    )  # fmt: skip


def scratch_for(
    training: Training, recipe: Recipe, room: int = 1, counted: bool = False
) -> Scratch:
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
        may_sweep(criterion, parts_of(training, recipe, counted)),
    )
    return make_scratch(sizes, recipe.settings)


def may_branch(training: Training, recipe: Recipe) -> bool:
    """May rows that trees grow on go down both branches?"""
    return training.lacking and MISSING[recipe.missing].branches


def kernel_for(training: Training, recipe: Recipe, counted: bool = False) -> Callable:
    """The compiled grower of a recipe, or that of a user's own functions, which is not compiled;
    `counted` if it is to count the cuts that it scores."""
    parts = parts_of(training, recipe, counted)
    if recipe.own:
        criterion, _ = _criterion_of(recipe, training.y)
        return uncompiled(make_grow(criterion, _leaf_of(recipe), parts))
    return grow_kernel(parts)


def parts_of(training: Training, recipe: Recipe, counted: bool = False) -> KernelParts:
    search = row_of("search", recipe.search)
    criterion, name = _criterion_of(recipe, training.y)
    several = bool(recipe.classes_each) and not isinstance(recipe.criterion, Own)
    of_sums = isinstance(criterion, Criterion) and not several
    return KernelParts(
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


def _settles(missing: str) -> bool:
    """Does a node that has seen no missing value have to know more than its heavier child?"""
    return MISSING[missing].by_typical or MISSING[missing].branches


def _criterion_of(recipe: Recipe, y: np.ndarray) -> tuple[Criterion | Entered, str]:
    if isinstance(recipe.criterion, Own):
        return own_criterion(recipe.criterion, y, recipe.classes_each), recipe.criterion.name
    return CRITERIA[recipe.criterion], recipe.criterion


def _leaf_of(recipe: Recipe) -> Leaf:
    return own_leaf(recipe.leaf) if isinstance(recipe.leaf, Own) else LEAVES[recipe.leaf]

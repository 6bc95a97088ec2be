"""Growing many trees, and threads to grow them.

`grow_trees(first, count)` is a pure function of data, recipe and seed: threads, processes or
machines may share the trees of a forest out as they like and get the same bits.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from queue import SimpleQueue

import numpy as np

from forestlab.core.arrays import Bed, Forest, Tree, as_bed, bed_of, join, n_trees
from forestlab.core.prune import Rules, cut
from forestlab.core.runs import Run
from forestlab.forest.desk import Desk
from forestlab.forest.growing import Recipe, Training
from forestlab.forest.threads import in_runs


def grow_trees(
    training: Training,
    recipe: Recipe,
    seed: int,
    first: int,
    count: int,
    desk: Desk | None = None,
) -> list[Tree]:
    """Grow the trees first … first + count - 1 of the forest of a seed."""
    desk = Desk(training, recipe) if desk is None else desk
    return [
        tree for bed in grow_beds(desk, seed, first, count, _never()) for tree in _trees_in(bed)
    ]


def grow_beds(desk: Desk, seed: int, first: int, count: int, stop: np.ndarray) -> list[Bed]:
    """The same, as they lie. `stop` is a uint8 array of one; setting it to 1 from another thread
    ends the growing: then there are fewer trees."""
    beds, recipe = desk.trees(seed, first, count, stop), desk.recipe
    if not recipe.limits.max_leaf_nodes and not recipe.ccp_alpha:
        return beds
    return [bed_of(_cut(tree, recipe)) for bed in beds for tree in _trees_in(bed)]


def _never() -> np.ndarray:
    return np.zeros(1, np.uint8)


def _trees_in(bed: Bed) -> Iterator[Tree]:
    starts = np.cumsum(bed.sizes, axis=0) - bed.sizes
    for size, start in zip(bed.sizes, starts, strict=True):
        nodes, params, bits = map(slice, start, start + size)
        yield Tree(
            bed.nodes[nodes], bed.stats[nodes], bed.params[params], bed.bits[bits],
            bed.means[nodes], bed.gains[nodes],
        )  # fmt: skip


def _cut(tree: Tree, recipe: Recipe) -> Tree:
    """The tree without what the number of leaves, or their cost, forbids."""
    rules = Rules(max_leaf_nodes=recipe.limits.max_leaf_nodes, ccp_alpha=recipe.ccp_alpha)
    return cut(tree, rules._replace(ccp_cost=recipe.ccp_cost))


def count_cuts(training: Training, recipe: Recipe, seed: int, count: int) -> np.ndarray:
    """The cuts that are scored to grow each of the first trees, (count,) int64."""
    desk = Desk(training, recipe, counted=True)
    found = np.empty(count, np.int64)
    for t in range(count):
        desk.trees(seed, t, 1, _never())
        found[t] = desk.scratch.scored[0]
    return found


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
    grown = [as_bed(begun)] if begun is not None else []
    grow = backend or grow_in_threads
    beds = grow(training, recipe, seed, range(first, n_estimators), n_jobs, show)
    return join(chain(grown, beds), n_estimators)


def grow_in_threads(
    training: Training,
    recipe: Recipe,
    seed: int,
    numbers: range,
    n_jobs: int,
    show: Callable[[Iterable], Iterable] | None = None,
) -> Iterator[Bed]:
    """The trees of these numbers, in order. Each bed is to be copied before the next is asked for,
    which may lie in its place."""
    stop = _never()
    spare: SimpleQueue[Desk] = SimpleQueue()
    spare_runs: SimpleQueue[Run] = SimpleQueue()
    for _ in range(min(n_jobs, len(numbers))):  # here, before threads would each make a kernel
        spare.put(Desk(training, recipe, spare=spare_runs))

    def grow_run(first: int, count: int) -> list[Bed]:
        desk = spare.get()
        try:
            return grow_beds(desk, seed, first, count, stop)
        finally:
            spare.put(desk)

    with closing(in_runs(grow_run, numbers, n_jobs, stop)) as runs:
        beds = chain.from_iterable(runs)
        n_waiting = 0  # trees that have come and are not shown yet
        for _ in show(numbers) if show else numbers:
            if not n_waiting:
                bed = next(beds)
                n_waiting = len(bed.sizes)
                yield bed
                if bed.home is not None:
                    spare_runs.put(bed.home)
            n_waiting -= 1

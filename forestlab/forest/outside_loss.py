"""How wrong each node of each tree is about the rows that its tree left out, as if it were a leaf.

Rows go down to where they end, and their *truth* is tallied there; a node's truth is then that of
its children together. Of classes it is the weight of each; of numbers ``[weight, sum of deviations
of each target, sum of their squares]``, deviations from what the node itself answers: so sums of
squares are no small differences of large numbers. A row that goes both ways counts by its shares.

A *loss* reads a node's truth beside its answer. It is a sum over rows, by their weights.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from forestlab.core.arrays import Forest, n_trees
from forestlab.core.combine import unit_of
from forestlab.core.several import first_slots
from forestlab.core.tasks import TASKS
from forestlab.forest.generations import Generation, generations
from forestlab.forest.growing import class_factors
from forestlab.forest.grown import Grown
from forestlab.forest.reached import Pieces, reached
from forestlab.forest.threads import BLOCK_NUMBERS


class Rows(NamedTuple):
    """The rows that a forest was grown on, in their order."""

    X: Any  # (n_rows, n_features) array or sparse matrix
    y: np.ndarray  # (n_rows, n_targets) float64: codes of classes, or numbers
    mass: np.ndarray | None = None  # (n_rows,) their weights; None: all 1


class Losses(NamedTuple):
    """Of all nodes of a forest, as its arrays have them."""

    of_nodes: np.ndarray  # (n_nodes,) each as if it were a leaf
    weight: np.ndarray  # (n_nodes,) of the rows that it is of


def losses(grown: Grown, rows: Rows, loss: str, n_jobs: int = 1) -> Losses:
    """Those of each tree about its own out-of-bag rows.

    Parameters
    ----------
    grown : one that has bags
    loss : a key of LOSSES
    """
    truth = _added_up(grown, _truth_of_ends(grown, rows, n_jobs))
    each = grown.recipe.classes_each
    weight = truth[:, : each[0]].sum(axis=1) if each else TASKS[grown.task].weight(truth)
    return Losses(LOSSES[loss](grown, truth), weight)


# ---- the truth ---------------------------------------------------------------------------------


def _truth_of_ends(grown: Grown, rows: Rows, n_jobs: int) -> np.ndarray:
    """(n_nodes, n_stats): that of the rows that end in a node, 0 where none do."""
    forest, outside = grown.forest, grown.outside(n_jobs)
    assert outside is not None
    X = rows.X.tocsr() if issparse(rows.X) else rows.X
    factors = _bag_factors(grown, rows.y, n_jobs)
    tally = _tally_classes if TASKS[grown.task].has_classes else _tally_numbers
    found = np.zeros_like(forest.stats)
    size = max(8, BLOCK_NUMBERS // n_trees(forest) // 8 * 8)  # whole bytes of bits
    for start in range(0, len(rows.y), size):
        stop = min(start + size, len(rows.y))
        some = Rows(X[start:stop], rows.y[start:stop], _part(rows.mass, start, stop))
        bits = outside[:, start // 8 : (stop + 7) // 8]
        is_out = np.unpackbits(bits, axis=1, count=stop - start, bitorder="little").astype(bool)
        reach = reached(forest, some.X, None, n_jobs)
        for t in range(n_trees(forest)):
            pieces = _kept(reach.pieces(t), is_out[t])
            weights = _weights(grown, some, pieces, factors[t] if len(factors) else ())
            tally(grown, some.y[pieces.rows], pieces.nodes, weights, found)
    return found


def _part(mass: np.ndarray | None, start: int, stop: int) -> np.ndarray | None:
    return None if mass is None else mass[start:stop]


def _kept(pieces: Pieces, wanted: np.ndarray) -> Pieces:
    """Those of wanted rows."""
    kept = wanted[pieces.rows]
    return Pieces(*(part[kept] for part in pieces))


def _bag_factors(grown: Grown, y: np.ndarray, n_jobs: int) -> np.ndarray:
    """What each tree weighs classes by to balance its bag, (n_trees, n_stats); else empty."""
    if not grown.recipe.balance_bags:
        return np.zeros((0, 0))
    each = grown.recipe.classes_each or (grown.recipe.n_classes,)
    columns = list(zip(y.T, each, strict=True))
    return np.stack(
        [
            np.concatenate([class_factors(labels, counts, n) for labels, n in columns])
            for counts in grown.bags(n_jobs)
        ]
    )


def _weights(grown: Grown, rows: Rows, pieces: Pieces, factors) -> np.ndarray:
    weights = pieces.shares if rows.mass is None else pieces.shares * rows.mass[pieces.rows]
    if not len(factors):
        return weights
    return weights * factors[slots_of(grown.recipe.classes_each, rows.y[pieces.rows])].prod(axis=1)


def slots_of(classes_each: tuple[int, ...], y: np.ndarray) -> np.ndarray:
    """Which statistic the class of each target is, (n, n_targets)."""
    slots = y.astype(np.intp)
    return slots + first_slots(classes_each)[:-1] if classes_each else slots


def _tally_classes(grown: Grown, y, nodes, weights, found: np.ndarray) -> None:
    places = nodes[:, None] * found.shape[1] + slots_of(grown.recipe.classes_each, y)
    np.add.at(found.reshape(-1), places.ravel(), np.repeat(weights, y.shape[1]))


def _tally_numbers(grown: Grown, y, nodes, weights, found: np.ndarray) -> None:
    apart = y - TASKS[grown.task].answers(grown.forest.stats)[nodes]
    weighted = weights[:, None] * apart
    parts = np.concatenate([weights[:, None], weighted, weighted * apart], axis=1)
    places = nodes[:, None] * found.shape[1] + np.arange(found.shape[1])
    np.add.at(found.reshape(-1), places.ravel(), parts.ravel())


def _added_up(grown: Grown, truth: np.ndarray) -> np.ndarray:
    """The truth of all nodes, given that of ends: children come before their parents."""
    add = _add_classes if TASKS[grown.task].has_classes else _add_numbers
    for generation in reversed(generations(grown.forest)):
        add(grown, truth, generation)
    return truth


def _add_classes(grown: Grown, truth: np.ndarray, generation: Generation) -> None:
    truth[generation.parents] = truth[generation.left] + truth[generation.right]


def _add_numbers(grown: Grown, truth: np.ndarray, generation: Generation) -> None:
    answers = TASKS[grown.task].answers(grown.forest.stats)
    n, parents = answers.shape[1], generation.parents
    for children in (generation.left, generation.right):
        weight, sums, squares = np.split(truth[children], [1, 1 + n], axis=1)
        moved = answers[children] - answers[parents]
        truth[parents, :1] += weight
        truth[parents, 1 : 1 + n] += sums + moved * weight
        truth[parents, 1 + n :] += squares + moved * (2 * sums + moved * weight)


# ---- losses ------------------------------------------------------------------------------------


def _by_target(classes_each: tuple[int, ...], values: np.ndarray) -> list[np.ndarray]:
    """Columns of classes as those of each target."""
    return np.split(values, first_slots(classes_each)[1:-1], axis=1) if classes_each else [values]


def wrong_labels(grown: Grown, truth: np.ndarray) -> np.ndarray:
    """The weight of classes that are not the one of greatest weight; of several targets summed."""
    wrong = np.zeros(len(truth))
    of_targets = (
        _by_target(grown.recipe.classes_each, part) for part in (truth, grown.forest.stats)
    )
    for own, stats in zip(*of_targets, strict=True):
        others = own.copy()  # not all less one: nothing wrong has to be 0
        others[np.arange(len(own)), stats.argmax(axis=1)] = 0.0
        wrong += others.sum(axis=1)
    return wrong


def log_loss(grown: Grown, truth: np.ndarray) -> np.ndarray:
    """In nats, of smoothed answers."""
    return -(truth * np.log(smoothed(grown.forest, grown.recipe.classes_each))).sum(axis=1)


def squared_error(grown: Grown, truth: np.ndarray) -> np.ndarray:
    """Summed over targets."""
    return truth[:, 1 + grown.n_targets :].sum(axis=1)


def normal_loss(grown: Grown, truth: np.ndarray) -> np.ndarray:
    """Squared errors in units of twice the noise: that of normal distributions in nats, but for a
    constant. The noise is each tree's own mean square of its leaves' errors, of each target."""
    squares = truth[:, 1 + grown.n_targets :]
    forest = grown.forest
    found = np.empty(len(truth))
    for t in range(n_trees(forest)):
        its = slice(forest.first_node[t], forest.first_node[t + 1])
        noise = _noise(forest.nodes[its], truth[its, 0], squares[its])
        found[its] = (squares[its] / (2.0 * noise)).sum(axis=1)
    return found


LEAST_NOISE = 1e-12  # of what the root's errors are: leaves may have none


def _noise(nodes: np.ndarray, weight: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """(n_targets,) of one tree; 1 where there are no errors at all."""
    if not weight[0] > 0.0:
        return np.ones(squares.shape[1])
    is_leaf = nodes["left"] < 0
    noise = np.maximum(squares[is_leaf].sum(axis=0), LEAST_NOISE * squares[0]) / weight[0]
    return np.where(noise > 0.0, noise, 1.0)


def smoothed(forest: Forest, classes_each: tuple[int, ...] = ()) -> np.ndarray:
    """Posteriors of all nodes with one more row, which is spread evenly over the classes: so none
    is 0. (n_nodes, n_stats); of several targets side by side."""
    roots = forest.first_node[:-1]
    units = np.array([unit_of(root) for root in forest.nodes[roots]])
    units = np.repeat(units, np.diff(forest.first_node))[:, None]
    each = [
        (stats + units / stats.shape[1]) / (stats.sum(axis=1, keepdims=True) + units)
        for stats in _by_target(classes_each, forest.stats)
    ]
    return np.concatenate(each, axis=1)


LOSSES: dict[str, Callable[[Grown, np.ndarray], np.ndarray]] = {
    "wrong": wrong_labels,
    "log": log_loss,
    "squared": squared_error,
    "normal": normal_loss,
}

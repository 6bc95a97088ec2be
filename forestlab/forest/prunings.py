"""Answers from all prunings of a tree: what nodes on the way to a leaf say counts too.

The answer of a node becomes a mean of what the nodes from the root down to it say. As the weights
in it depend on the way alone, this is a forest with other statistics, which is walked, combined and
cut like any other. It is told by each node's *rest*: the share in that mean of the node itself and
all below it, 1 at the root, and never rising on the way down. A node that a walk stops at, a leaf
or for its depth, takes all of its rest.

- *Hierarchical shrinkage* (Agarwal, Tan, Ronen, Singh and Yu 2022): a step down from a node of
  weight N counts by 1 / (1 + λ / N), so steps that few rows speak for count little.
- *Weighted prunings* (WildWood: Gaïffas, Merad and Yu 2021): the mean of what all prunings of the
  tree answer, each by exp(-step × its out-of-bag loss) and by how likely it is if each node is a
  leaf with probability 1/2: by context tree weighting (Willems, Shtarkov and Tjalkens 1995) one
  pass over the nodes, upwards for their weights and downwards for their rests.
"""

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.core.tasks import TASKS
from forestlab.forest.asking import combined
from forestlab.forest.generations import generations
from forestlab.forest.grown import Grown
from forestlab.forest.outside_loss import Rows, slots_of, smoothed

SHRINKAGES = (0.0, 0.1, 1.0, 10.0, 25.0, 50.0, 100.0, 500.0)  # that one is chosen from


def shrunk(forest: Forest, task: str, strength: float) -> Forest:
    """The forest with every node's answer shrunk towards those above it.

    Parameters
    ----------
    strength : λ, at least 0, in the unit of weights; 0: none
    """
    rest = np.ones(len(forest.nodes))
    weight = forest.nodes["weight"]
    for parents, left, right in generations(forest):
        rest[left] = rest[right] = 1.0 / (1.0 + strength / weight[parents])
    return answering(forest, task, mixed(forest, answers_of(forest, task), rest))


def weighted(
    forest: Forest,
    task: str,
    loss: np.ndarray,
    step: float,
    classes_each: tuple[int, ...] = (),
) -> Forest:
    """The forest in which all prunings of a tree answer together, by their losses.

    Classes are answered with one more row spread evenly over them, as their loss takes them.

    Parameters
    ----------
    loss : (n_nodes,) out of bag, of each node as if it were a leaf
    """
    has_classes = TASKS[task].has_classes
    answers = smoothed(forest, classes_each) if has_classes else answers_of(forest, task)
    own = own_shares(forest, loss, step)
    rest = np.ones(len(forest.nodes))
    for parents, left, right in generations(forest):
        rest[left] = rest[right] = rest[parents] * (1.0 - own[parents])
    return answering(forest, task, mixed(forest, answers, rest))


def own_shares(forest: Forest, loss: np.ndarray, step: float) -> np.ndarray:
    """How much of its rest each node keeps, (n_nodes,): the weight of those prunings in which it is
    a leaf, of all that it is in; 1 in leaves."""
    alone = -step * loss
    weight = alone.copy()  # logarithms, of all prunings of what is below
    half = np.log(0.5)
    for parents, left, right in reversed(generations(forest)):
        weight[parents] = half + np.logaddexp(alone[parents], weight[left] + weight[right])
    own = np.ones(len(loss))
    for parents, _, _ in generations(forest):
        own[parents] = np.exp(half + alone[parents] - weight[parents])
    return own


def mixed(forest: Forest, answers: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Each node's mean of the answers on the way to it, (n_nodes, …), by rests, (n_nodes,).

    A sum of shares of at least 0, so that no probability can come out below 0.
    """
    above = np.zeros_like(answers)
    for parents, left, right in generations(forest):
        for children in (left, right):
            kept = (rest[parents] - rest[children])[:, None]
            above[children] = above[parents] + kept * answers[parents]
    return above + rest[:, None] * answers


def answers_of(forest: Forest, task: str) -> np.ndarray:
    """What nodes say, (n_nodes, n_answers): posteriors, of several targets side by side, or
    numbers."""
    if TASKS[task].has_classes:
        return forest.stats / forest.nodes["weight"][:, None]
    return TASKS[task].answers(forest.stats)


def answering(forest: Forest, task: str, answers: np.ndarray) -> Forest:
    """The forest with other answers; weights stay, and of numbers the deviations from means."""
    if TASKS[task].has_classes:
        return forest._replace(stats=answers * forest.nodes["weight"][:, None])
    stats, before = forest.stats.copy(), TASKS[task].answers(forest.stats)
    means = forest.means if forest.means.shape[1] else before.copy()
    TASKS[task].answers(stats)[:] = answers
    return forest._replace(stats=stats, means=means)


def best_strength(grown: Grown, rows: Rows, n_jobs: int = 1) -> float:
    """Of SHRINKAGES that with which the forest's out-of-bag answers have the least squared error,
    of classes that of their probabilities; of equal ones the least. One that has no such rows is
    not shrunk.

    Parameters
    ----------
    rows : those that it was grown on
    """
    truth, outside = _truth(grown, rows.y), grown.outside(n_jobs)
    each, mass = grown.recipe.classes_each, np.ones(len(truth)) if rows.mass is None else rows.mass
    errors = []
    for strength in SHRINKAGES:
        forest = shrunk(grown.forest, grown.task, strength)
        answers, voters = combined(
            forest, grown.task, grown.combine, rows.X, None, n_jobs, outside, each
        )
        squares = ((answers - truth) ** 2).sum(axis=1)
        errors.append(mass[voters > 0] @ squares[voters > 0])
    return SHRINKAGES[int(np.argmin(errors))]


def _truth(grown: Grown, y: np.ndarray) -> np.ndarray:
    """Numbers as they are; of classes a 1 in the place of each."""
    if not TASKS[grown.task].has_classes:
        return y
    truth = np.zeros((len(y), grown.forest.stats.shape[1]))
    np.put_along_axis(truth, slots_of(grown.recipe.classes_each, y), 1.0, axis=1)
    return truth

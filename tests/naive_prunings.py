"""Slow, obvious twins of what is made of the prunings of a tree: plain recursion over one tree.

A tree is looked at with the rows that it left out, row by row. All prunings together are all of
them, one after the other.
"""

from typing import NamedTuple

import naive
import numpy as np

from forestlab.core.arrays import LEAF, tree_of


class Case(NamedTuple):
    """One tree, with the rows of its forest."""

    nodes: np.ndarray
    stats: np.ndarray
    pools: tuple
    X: np.ndarray
    y: np.ndarray  # (n_rows, n_targets) codes of classes, or numbers
    weights: np.ndarray  # (n_rows,), 0 of those in the bag
    classes_each: tuple  # (n,) of one target; () of numbers


def case_of(model, t, X, y, mass):
    """Tree t of a fitted forest, as it was grown."""
    recipe, tree = model.recipe_, tree_of(model.forest_, t)
    drawn_by = mass if recipe.replace and not (mass == 1).all() else None
    counts = naive.bag(
        naive.tree_key(model.seed_, t), len(X), recipe.bag_size, recipe.replace, drawn_by
    )
    weights = mass * (counts == 0)
    if recipe.balance_bags:
        for labels in y.T:
            weights = weights * naive.balance(labels, counts)
    each = recipe.classes_each or ((recipe.n_classes,) if recipe.n_classes else ())
    return Case(tree.nodes, tree.stats, (tree.params, tree.bits), X, y, weights, each)


def children(case, i):
    """None of a leaf."""
    node = case.nodes[i]
    return None if node["kind"] == LEAF else (int(node["left"]), int(node["right"]))


def answer(case, i, smooth=0.0):
    """What a node says: shares of the classes, a list of targets; or numbers."""
    if not case.classes_each:
        n_targets = (case.stats.shape[1] - 1) // 2
        return case.stats[i, 1 : 1 + n_targets]
    ends = np.cumsum(case.classes_each)
    parts = np.split(case.stats[i], ends[:-1])
    return [(part + smooth / len(part)) / (part.sum() + smooth) for part in parts]


# ---- losses ------------------------------------------------------------------------------------


def wrong(case, i, row):
    labels = [part.argmax() for part in answer(case, i)]
    return sum(label != truth for label, truth in zip(labels, case.y[row], strict=True))


def log_loss(case, i, row):
    one_row = case.nodes["weight"][0] / case.nodes["n_rows"][0]
    shares = answer(case, i, one_row)
    return -sum(np.log(part[int(k)]) for part, k in zip(shares, case.y[row], strict=True))


def squared(case, i, row):
    return ((answer(case, i) - case.y[row]) ** 2).sum()


def passing(case, row):
    """{node: share} of all nodes that a row comes by."""
    ends = naive.ends(case.nodes, case.X[row], pools=case.pools)

    def shares_below(i):
        if children(case, i) is None:
            return {i: ends.get(i, 0.0)}
        left, right = children(case, i)
        found = shares_below(left) | shares_below(right)
        return found | {i: found[left] + found[right]}

    return shares_below(0)


def losses(case, loss):
    """(n_nodes,) each as if it were a leaf."""
    found = np.zeros(len(case.nodes))
    for row in np.flatnonzero(case.weights):
        for i, share in passing(case, row).items():
            if share > 0:
                found[i] += case.weights[row] * share * loss(case, i, row)
    return found


def normal_losses(case):
    """Half of the squared errors over their mean in leaves, of each target."""
    found = np.zeros(len(case.nodes))
    for k in range(case.y.shape[1]):

        def of_target(case, i, row, k=k):
            return (answer(case, i)[k] - case.y[row, k]) ** 2

        its = losses(case, of_target)
        leaves = [i for i in range(len(case.nodes)) if children(case, i) is None]
        found += its / (2 * its[leaves].sum() / case.weights.sum())
    return found


# ---- pruning -----------------------------------------------------------------------------------


def pruned_leaves(case, lost):
    """The nodes that are leaves in the end, in preorder."""

    def leaves_below(i):
        if children(case, i) is None:
            return [i]
        left, right = children(case, i)
        below = leaves_below(left) + leaves_below(right)
        if below == [left, right] and lost[i] <= (lost[left] + lost[right]) * (1 + 1e-10):
            return [i]
        return below

    return leaves_below(0)


def kept(case, leaves):
    """The nodes down to these leaves, in preorder."""

    def down(i):
        if i in leaves:
            return [i]
        left, right = children(case, i)
        return [i, *down(left), *down(right)]

    return down(0)


# ---- shrinkage ---------------------------------------------------------------------------------


def shrunk(case, strength):
    """(n_nodes, …) what each node says: the root's answer and all steps from there."""
    said = {0: flat(answer(case, 0))}

    def go_down(i):
        for child in children(case, i) or ():
            step = flat(answer(case, child)) - flat(answer(case, i))
            said[child] = said[i] + step / (1 + strength / case.nodes["weight"][i])
            go_down(child)

    go_down(0)
    return np.array([said[i] for i in range(len(case.nodes))])


def flat(answers):
    return np.concatenate(answers) if isinstance(answers, list) else answers


# ---- all prunings ------------------------------------------------------------------------------


def prunings(case, i=0):
    """(the leaves, how likely it is) of each pruning of what is below a node: a node that could
    split is a leaf or not, each with probability 1/2."""
    if children(case, i) is None:
        return [([i], 1.0)]
    left, right = children(case, i)
    both = [
        (some + others, chance * other / 2)
        for some, chance in prunings(case, left)
        for others, other in prunings(case, right)
    ]
    return [([i], 0.5), *both]


def path_to(case, i, at=0):
    """The nodes from the root to a node."""
    if i == at:
        return [at]
    for child in children(case, at) or ():
        way = path_to(case, i, child)
        if way:
            return [at, *way]
    return []


def weighted(case, lost, step):
    """(n_nodes, …) what all prunings say of a row whose walk stops at each node."""
    smooth = case.nodes["weight"][0] / case.nodes["n_rows"][0]
    found = []
    every = prunings(case)
    weights = [chance * np.exp(-step * lost[leaves].sum()) for leaves, chance in every]
    for i in range(len(case.nodes)):
        path = path_to(case, i)
        ends = [next((j for j in path if j in leaves), i) for leaves, _ in every]
        said = [flat(answer(case, end, smooth)) for end in ends]
        found.append(np.average(said, axis=0, weights=weights))
    return np.array(found)

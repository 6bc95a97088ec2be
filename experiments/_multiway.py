"""Trees whose nodes have more than two children, in plain numpy, and their binary translation."""

from typing import NamedTuple

import numpy as np

from forestlab.tree.handmade import build_tree
from forestlab.tree.view import TreeView

LEAST = 10  # rows that a node needs to be split


class Multiway(NamedTuple):
    """A node with all that is below it: child k gets the rows up to cut k, the last the others."""

    counts: np.ndarray  # (n_classes,) training rows
    feature: int
    cuts: np.ndarray  # (n_children - 1,) ascending; none for a leaf
    children: list["Multiway"]


def grow(X: np.ndarray, codes: np.ndarray, n_classes: int, ways: int) -> Multiway:
    """Each node is parted at the quantiles of one feature into so many children of about as many
    rows, fewer where values are equal; the feature is that which leaves the least Gini impurity."""
    counts = np.bincount(codes, minlength=n_classes)
    leaf = Multiway(counts, -1, np.empty(0), [])
    if len(X) < LEAST or counts.max() == len(X):
        return leaf
    shares = np.arange(1, ways) / ways
    candidates = np.quantile(X, shares, axis=0, method="inverted_cdf")
    parted = [_part(X[:, j], candidates[:, j], codes, n_classes) for j in range(X.shape[1])]
    feature = int(np.argmin([impurity for *_, impurity in parted]))
    cuts, side, impurity = parted[feature]
    if not np.isfinite(impurity):
        return leaf
    children = [grow(X[side == k], codes[side == k], n_classes, ways) for k in range(len(cuts) + 1)]
    return Multiway(counts, feature, cuts, children)


def _part(values, cuts, codes, n_classes: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The cuts that leave no child without rows, each row's child, and the rows' impurity in all;
    infinite if there is but one child."""
    cuts = np.unique(cuts)
    cuts = cuts[cuts < values.max()]
    side = np.searchsorted(cuts, values)
    if len(cuts) == 0:
        return cuts, side, np.inf
    counts = np.bincount(side * n_classes + codes, minlength=(len(cuts) + 1) * n_classes)
    counts = counts.reshape(-1, n_classes)
    sizes = counts.sum(axis=1)
    return cuts, side, float((sizes - (counts**2).sum(axis=1) / sizes).sum())


def nodes_of(tree: Multiway) -> list[Multiway]:
    return [tree, *(node for child in tree.children for node in nodes_of(child))]


def depth_of(tree: Multiway) -> int:
    return 1 + max(map(depth_of, tree.children)) if tree.children else 0


def path(tree: Multiway, x: np.ndarray) -> list[Multiway]:
    """The nodes that a row passes, its leaf last."""
    found = [tree]
    while found[-1].children:
        node = found[-1]
        found.append(node.children[int(np.searchsorted(node.cuts, x[node.feature]))])
    return found


# ---- the translation ---------------------------------------------------------------------------


def binary(tree: Multiway, n_features: int) -> TreeView:
    """The same tree of binary questions: each node asks for its middle cut, then on either side for
    the middle one of those that are left."""
    names = [f"x{j}" for j in range(n_features)]
    return build_tree(_described(tree), names, list(range(len(tree.counts))), "classification")


def _described(tree: Multiway) -> dict:
    if not tree.children:
        return {"value": {k: int(n) for k, n in enumerate(tree.counts)}}
    return _halved(tree.feature, tree.cuts, tree.children)


def _halved(feature: int, cuts: np.ndarray, children: list[Multiway]) -> dict:
    if len(children) == 1:
        return _described(children[0])
    middle = len(children) // 2
    return {
        "feature": feature,
        "cut": float(cuts[middle - 1]),
        "left": _halved(feature, cuts[: middle - 1], children[:middle]),
        "right": _halved(feature, cuts[middle:], children[middle:]),
    }


def questions_needed(tree: Multiway) -> int:
    """The depth of the translation: a node of k children takes log₂ k questions, rounded up."""
    if not tree.children:
        return 0

    def of(children: list[Multiway]) -> int:
        if len(children) == 1:
            return questions_needed(children[0])
        middle = len(children) // 2
        return 1 + max(of(children[:middle]), of(children[middle:]))

    return of(tree.children)

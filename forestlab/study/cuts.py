"""How many cuts were scored to grow a tree: what its search cost.

A node that may split looks at features drawn from its key, and of each at the *candidates* that the
search proposes: the gaps between neighbouring values among the node's rows (exact), between
occupied bins (histogram), or those of the gaps that do not lie within a run of one target, beside
those that a limit on the leaves makes the first or the last (boundary). `n_thresholds` keeps at
most so many of them. All this follows from the tree, its rows and its key, so it is counted here,
afterwards, and the kernels that grow trees count nothing.
"""

from collections.abc import Callable

import numpy as np

from forestlab.core.arrays import LEAF, Settings, Tree, n_trees, tree_of
from forestlab.core.bag import tree_features
from forestlab.core.encode import MAX_BINS, encode
from forestlab.core.rng import NODE_FEATURES, child_key, shuffle_step, stream, tree_key
from forestlab.core.search import SEARCHES
from forestlab.forest import Recipe, bags


def cuts_scored(model, X, y) -> np.ndarray:
    """The cuts that were scored for each tree of a fitted estimator, (n_trees,) int64.

    Parameters
    ----------
    model : an estimator, fitted without weights and without rho
    X : (n_rows, n_features) its training rows
    y : (n_rows,) their classes or numbers
    """
    recipe, count = model.recipe_, n_trees(model.forest_)
    keys = search_keys(X, recipe.search)
    marks = np.unique(y, return_inverse=True)[1]
    counts = bags(recipe, len(X), model.chances_, model.seed_, count)
    totals = np.empty(count, np.int64)
    with np.errstate(over="ignore"):  # of the generator's 64 bits
        for t in range(count):
            rows, key = np.flatnonzero(counts[t]), tree_key(np.uint64(model.seed_), np.uint64(t))
            grown_on = X[rows], keys[:, rows], marks[rows], counts[t, rows].astype(float)
            totals[t] = cuts_by_node(tree_of(model.forest_, t), *grown_on, recipe, key).sum()
    return totals


def search_keys(X, search: str) -> np.ndarray:
    """What a search tells apart: distinct values or bins by number, (n_features, n_rows)."""
    return encode(X, None, MAX_BINS if SEARCHES[search].binned else 0).codes


def cuts_by_node(tree: Tree, X, keys, marks, weights, recipe: Recipe, tree_key) -> np.ndarray:
    """The cuts that were scored in each node, by feature, (n_nodes, n_features) int64.

    Parameters
    ----------
    X : (n, n_features) the rows that the tree grew on
    keys : (n_features, n) of these rows, from `search_keys`
    marks : (n,) whole numbers from 0, equal where targets are equal
    weights : (n,) how often each is in the tree's bag
    tree_key : from which the tree's random draws come
    """
    settings, search, n_features = recipe.settings, recipe.search, len(keys)
    features = tree_features(tree_key, n_features, recipe.features_per_tree or n_features)
    scored = np.zeros((len(tree.nodes), n_features), np.int64)
    min_weight = settings.min_weight_fraction_leaf * weights.sum()
    waiting = [(0, np.arange(len(X)), 0, tree_key)]
    while waiting:
        i, rows, depth, key = waiting.pop()
        node = tree.nodes[i]
        if _may_split(settings, marks[rows], depth):
            drawn = _drawn(features, settings.max_features, keys, rows, key)
            proposed = candidates(
                keys[np.ix_(drawn, rows)], marks[rows], search, settings.min_samples_leaf,
                weights[rows], min_weight,
            )  # fmt: skip
            scored[i, drawn] = np.minimum(proposed, settings.n_thresholds or len(rows))
        if node["kind"] != LEAF:
            left = X[rows, node["feature"]] <= node["cut_high"]
            waiting.append((node["left"], rows[left], depth + 1, child_key(key, 0)))
            waiting.append((node["right"], rows[~left], depth + 1, child_key(key, 1)))
    return scored


def _may_split(settings: Settings, marks: np.ndarray, depth: int) -> bool:
    enough_rows = len(marks) >= max(settings.min_samples_split, 2 * settings.min_samples_leaf)
    return enough_rows and depth < settings.max_depth and bool((marks != marks[0]).any())


def _drawn(features: np.ndarray, size: int, keys, rows, key) -> np.ndarray:
    """The features that a node looks at: `size` random ones, and more while none of them varies."""
    n_features = len(features)
    if size >= n_features:
        return features
    drawn = features.copy()
    subset_key = stream(key, NODE_FEATURES)
    for i in range(n_features):
        if i >= size and np.ptp(keys[np.ix_(drawn[:i], rows)], axis=1).any():
            return drawn[:i]
        shuffle_step(drawn, i, n_features, subset_key)
    return drawn


# ---- one node ----------------------------------------------------------------------------------


def candidates(
    keys, marks, search: str, min_samples_leaf: int = 1, weights=None, min_weight: float = 0.0
) -> np.ndarray:
    """How many cuts a search proposes for each feature of a node, (f,) int64.

    Parameters
    ----------
    keys : (f, n) of the node's rows, from `search_keys`
    marks, weights : (n,) as in `cuts_by_node`; None: 1 each
    """
    n = keys.shape[1]
    n_marks = int(marks.max()) + 1
    # Rows in the order of their keys, and of their marks where keys are equal.
    joined = keys.astype(np.int64) * n_marks + marks
    order = np.argsort(joined, axis=1)
    key, mark = np.divmod(np.take_along_axis(joined, order, axis=1), n_marks)
    n_left = np.arange(1, n)
    enough = np.minimum(n_left, n - n_left) >= min_samples_leaf
    weight = np.cumsum((np.ones(n) if weights is None else weights)[order], axis=1)
    heavy = np.minimum(weight[:, :-1], weight[:, -1:] - weight[:, :-1]) >= min_weight
    gaps = key[:, 1:] != key[:, :-1]
    return np.count_nonzero(ADMITTED[search](key, mark, gaps, enough, heavy), axis=1)


def _every_gap(key, mark, gaps, enough, heavy) -> np.ndarray:
    return gaps & enough


def _boundary_gaps(key, mark, gaps, enough, heavy) -> np.ndarray:
    """Between any two neighbours: do the groups of rows before and behind hold two targets, or is
    there, for want of rows or weight, no cut beyond?

    As marks stand in order within a group, the group has one mark if its ends are equal.
    """
    place = np.arange(key.shape[1])
    begins = np.diff(key, axis=1, prepend=-1) != 0
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    ends = np.roll(begins, -1, axis=1)
    last = np.minimum.accumulate(np.where(ends, place, len(place))[:, ::-1], axis=1)[:, ::-1]
    lowest = np.take_along_axis(mark, first, axis=1)[:, :-1]
    highest = np.take_along_axis(mark, last, axis=1)[:, 1:]
    before, behind = mark[:, :-1], mark[:, 1:]
    is_boundary = ~((lowest == before) & (before == behind) & (behind == highest))
    allowed = gaps & enough & heavy
    at_limit = _first_of(allowed, gaps) | _first_of(allowed[:, ::-1], gaps[:, ::-1])[:, ::-1]
    return allowed & (is_boundary | at_limit)


def _first_of(allowed: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The first gap that is allowed, unless it is the first of all."""
    return allowed & (np.cumsum(allowed, axis=1) == 1) & (np.cumsum(gaps, axis=1) > 1)


ADMITTED: dict[str, Callable] = {
    "exact": _every_gap,
    "histogram": _every_gap,
    "boundary": _boundary_gaps,
}

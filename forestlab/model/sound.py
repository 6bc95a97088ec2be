"""Whether what a file or a pickle holds of a fitted model goes together.

Kernels do not look at bounds: one wrong number in a file would have them read, or write, anywhere
in memory. So nothing that was read is given to them before it was looked at here: types, shapes,
and that every walk stays within the arrays and ends. What fails is told as a ValueError, which ends
as in "its children do not fit together".
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from forestlab.core.arrays import (
    AXIS,
    BOTH,
    LEAF,
    NODE,
    SIDE,
    UNSEEN,
    Forest,
    Limits,
    tree_of,
)
from forestlab.core.missing import MISSING
from forestlab.core.options import LARGEST, OPTIONS, is_whole
from forestlab.core.own import Own
from forestlab.core.questions import check_questions, reads
from forestlab.core.tasks import TASKS, deviations
from forestlab.forest import Recipe

LARGEST_SUM = 1e301  # of weights × squares; those of rows that models are fitted on are smaller


def check(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"its {what} do not fit together")


def is_array(value, kinds: str, *shape: int) -> bool:
    """Is it an array of one of these kinds of type, of this shape?"""
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.shape == shape


# ---- trees -------------------------------------------------------------------------------------


def check_forest(forest: Forest, n_features: int, levels: tuple[int, ...] = ()) -> None:
    """Raise ValueError unless every walk through the forest stays within its arrays and ends, and
    asks for no category that is none of as many `levels` as each feature has."""
    check(isinstance(forest, Forest), "trees")
    check(all(type(array) is np.ndarray for array in forest), "arrays")
    nodes = forest.nodes
    check(nodes.dtype == NODE and nodes.ndim == 1, "nodes")
    _check_beside(forest)
    _check_offsets(forest)
    _check_fields(nodes)
    _check_children(forest)
    _check_asked(forest, n_features, levels)


def _check_beside(forest: Forest) -> None:
    """What stands beside each node."""
    n_nodes, stats, means = len(forest.nodes), forest.stats, forest.means
    check(stats.dtype == np.float64 and stats.ndim == 2 and stats.size > 0, "statistics")
    check(len(stats) == n_nodes, "statistics")
    n_targets = (stats.shape[1] - 1) // 2
    check(means.dtype == np.float64 and means.ndim == 2, "means")
    check(means.shape[1] == 0 or means.shape == (n_nodes, n_targets), "means")
    check(forest.gains.dtype == np.float64, "gains")
    check(forest.gains.shape in ((0,), (n_nodes,)), "gains")
    check(forest.params.dtype == np.float64 and forest.bits.dtype == np.uint64, "pools")
    check(forest.params.ndim == forest.bits.ndim == 1, "pools")


def _check_offsets(forest: Forest) -> None:
    """Where trees begin in the arrays, which they fill."""
    offsets = (
        (forest.first_node, forest.nodes),
        (forest.first_param, forest.params),
        (forest.first_bit, forest.bits),
    )
    for first, pool in offsets:
        check(first.dtype == np.int64 and first.ndim == 1, "offsets")
        check(len(first) == len(forest.first_node) > 1 and first[0] == 0, "offsets")
        check((first[1:] >= first[:-1]).all() and first[-1] == len(pool), "offsets")
    check((forest.first_node[1:] > forest.first_node[:-1]).all(), "offsets")


def _check_fields(nodes: np.ndarray) -> None:
    """What nodes say of values that are missing."""
    share, missing = nodes["missing_share"], nodes["missing"]
    check(((share >= 0) & (share <= 1)).all(), "shares of missing values")
    check((missing <= SIDE | UNSEEN).all() and (missing & SIDE <= BOTH).all(), "missing sides")


def _check_children(forest: Forest) -> None:
    """Each node but the roots is the child of one, which stands before it in its tree."""
    nodes, sizes = forest.nodes, np.diff(forest.first_node)
    begins = np.repeat(forest.first_node[:-1], sizes)
    inner = np.flatnonzero(nodes["kind"] != LEAF)
    place, begins = inner - begins[inner], begins[inner]
    size = np.repeat(sizes, sizes)[inner]
    is_child = np.zeros(len(nodes), bool)
    for child in ("left", "right"):
        named = nodes[child][inner]
        check(((named > place) & (named < size)).all(), "children")
        is_child[begins + named] = True
    check(is_child.sum() == 2 * len(inner) == len(nodes) - len(sizes), "children")
    leaves = nodes["kind"] == LEAF
    check((nodes["left"][leaves] == -1).all() and (nodes["right"][leaves] == -1).all(), "leaves")


def _check_asked(forest: Forest, n_features: int, levels: tuple[int, ...]) -> None:
    """All that questions name is there; those of one number are looked at all at once."""
    kinds, features = forest.nodes["kind"], forest.nodes["feature"]
    asked = features[kinds == AXIS]
    check(((asked >= 0) & (asked < n_features)).all(), "features")
    others = np.flatnonzero((kinds != AXIS) & (kinds != LEAF))
    for t in np.unique(np.searchsorted(forest.first_node, others, side="right") - 1):
        check_questions(tree_of(forest, t), n_features, levels)
        *_, shares = reads(tree_of(forest, t))
        check(((shares >= 0.0) & (shares <= 1.0)).all(), "shares")


def check_numbers(forest: Forest) -> None:
    """Raise ValueError unless all that nodes of a grown forest keep are numbers."""
    nodes, weight = forest.nodes, forest.nodes["weight"]
    for array, what in ((forest.stats, "statistics"), (forest.means, "means")):
        check((np.abs(array) <= LARGEST_SUM).all(), what)
    check(np.isfinite(forest.gains).all(), "gains")
    check(np.isfinite(forest.params).all(), "parameters")
    check((np.isfinite(weight) & (weight > 0)).all(), "weights")
    with np.errstate(over="ignore"):
        check((np.abs(nodes["impurity"] * weight) <= LARGEST_SUM).all(), "impurities")
    check((nodes["n_rows"] > 0).all(), "rows")
    check(not (np.isnan(nodes["cut_low"]) | np.isnan(nodes["cut_high"])).any(), "cuts")


# ---- what they were grown by -------------------------------------------------------------------


def check_recipe(recipe: Recipe, n_features: int) -> None:
    """Raise ValueError unless a recipe is one of forests of so many features."""
    check(isinstance(recipe, Recipe) and isinstance(recipe.limits, Limits), "recipe and limits")
    for group, choices in OPTIONS.items():
        check(type(getattr(recipe, group)) in choices.values(), "options")
    check(all(isinstance(part, str | Own) for part in (recipe.criterion, recipe.leaf)), "options")
    check(isinstance(recipe.missing, str) and recipe.missing in MISSING, "options")
    check(isinstance(recipe.categories, str) and isinstance(recipe.ccp_cost, str), "options")
    _check_limits(recipe.limits)
    check(is_whole(recipe.bag_size) and recipe.bag_size >= 0, "bags")
    wholes = (recipe.n_classes, recipe.features_per_tree)
    check(all(is_whole(number) and number >= 0 for number in wholes), "sizes")
    check(recipe.features_per_tree <= n_features, "sizes")
    flags = (recipe.replace, recipe.balance_bags)
    check(all(isinstance(flag, bool | np.bool) for flag in flags), "bags")
    check(_is_number(recipe.ccp_alpha) and recipe.ccp_alpha >= 0, "limits")
    for numbers in (recipe.monotonic, recipe.classes_each, recipe.levels):
        check(isinstance(numbers, tuple) and all(map(is_whole, numbers)), "features")
    for each in (recipe.monotonic, recipe.levels):
        check(len(each) in (0, n_features), "features")
    check(all(abs(sign) <= 1 for sign in recipe.monotonic), "features")
    check(all(0 <= count <= LARGEST for count in recipe.levels), "features")
    check(all(1 <= count <= LARGEST for count in recipe.classes_each), "classes")


def _check_limits(limits: Limits) -> None:
    shares = ("min_weight_fraction_leaf", "min_impurity_decrease", "impurity_scale")
    flags = ("pairs", "count_constant")
    for name, limit in limits._asdict().items():
        if name in shares:
            check(_is_number(limit) and limit >= 0, "limits")
        elif name in flags:
            check(isinstance(limit, bool | np.bool), "limits")
        else:
            check(is_whole(limit) and 0 <= limit <= LARGEST, "limits")


def _is_number(value) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def check_bags(recipe: Recipe, n_rows: int, chances: np.ndarray) -> None:
    """Raise ValueError unless bags can be drawn again."""
    most = np.iinfo(np.int32).max if recipe.replace else n_rows
    check(0 <= recipe.bag_size <= most, "bags")
    check(is_array(chances, "f", 0) or is_array(chances, "f", n_rows), "bags")
    check(chances.dtype == np.float64, "bags")
    if len(chances):
        check(np.isfinite(chances).all() and chances[0] >= 0 and chances[-1] > 0, "bags")
        check((chances[1:] >= chances[:-1]).all(), "bags")


# ---- all of it ---------------------------------------------------------------------------------


def check_fitted(task: str, fitted: dict[str, Any]) -> None:
    """Raise ValueError unless the fitted values of a model of a task go together."""
    n_features, n_rows = fitted["n_features_in_"], fitted["n_rows_"]
    n_outputs = fitted["n_outputs_"]
    check(all(is_whole(n) and 1 <= n <= LARGEST for n in (n_features, n_rows, n_outputs)), "sizes")
    seed = fitted.get("seed_", 0)
    check(is_whole(seed) and 0 <= seed <= LARGEST, "seeds")
    recipe = fitted["recipe_"]
    check_recipe(recipe, n_features)
    check_forest(fitted["forest_"], n_features, recipe.levels)
    check_numbers(fitted["forest_"])
    check_bags(recipe, n_rows, fitted["chances_"])
    if recipe.bag_size and recipe.replace and not recipe.balance_bags and "seed_" in fitted:
        roots = fitted["forest_"].nodes["weight"][fitted["forest_"].first_node[:-1]]
        check((roots == recipe.bag_size).all(), "bags")  # each row weighs as often as it was drawn
    check_targets(task, fitted)
    _check_names(fitted, n_features)
    _check_outside(fitted, n_rows)


def check_targets(task: str, fitted: dict[str, Any]) -> None:
    """Raise ValueError unless statistics are those of as many classes as each target has, or of as
    many numbers."""
    recipe, stats = fitted["recipe_"], fitted["forest_"].stats
    n_stats, weight = stats.shape[1], fitted["forest_"].nodes["weight"]
    if not TASKS[task].has_classes:
        check(n_stats == TASKS[task].n_stats(0, fitted["n_outputs_"]), "targets")
        check(not recipe.classes_each, "classes")
        check(_are_equal(stats[:, 0], weight), "weights")
        lost, answers = deviations(stats), TASKS[task].answers(stats)
        check(lost.min() >= -1e-6 * lost.max(initial=1.0), "statistics")
        check((np.abs(answers) <= math.sqrt(LARGEST_SUM)).all(), "statistics")
        return
    classes = fitted["classes_"]
    each = classes if isinstance(classes, list) else [classes]
    check(all(isinstance(one, np.ndarray) and one.ndim == 1 for one in each), "classes")
    counts = tuple(map(len, each))
    check(recipe.classes_each == (counts if isinstance(classes, list) else ()), "classes")
    check(min(counts) > 0 and sum(counts) == n_stats == recipe.n_classes, "classes")
    check(fitted["n_outputs_"] == len(each), "classes")
    check(np.array_equal(np.ravel(fitted.get("n_classes_", counts)), counts), "classes")
    check((stats >= 0).all(), "statistics")
    for first, end in pairwise(np.cumsum([0, *counts])):
        check(_are_equal(stats[:, first:end].sum(axis=1), weight), "weights")


def _are_equal(sums: np.ndarray, weight: np.ndarray) -> bool:
    """But for rounding."""
    return bool((np.abs(sums - weight) <= 1e-6 * weight).all())


def _check_names(fitted: dict[str, Any], n_features: int) -> None:
    """Names of features, columns that were rounded, and levels of categories."""
    if "feature_names_in_" in fitted:
        check(is_array(fitted["feature_names_in_"], "OU", n_features), "names of features")
    if "rounded_" in fitted:
        check(is_array(fitted["rounded_"], "b", n_features), "columns")
    if "categories_" not in fitted:
        check(not any(fitted["recipe_"].levels), "categories")
        return
    levels = fitted["categories_"]
    check(isinstance(levels, list) and len(levels) == n_features, "categories")
    check(all(own is None or (is_array(own, "biufOU", len(own))) for own in levels), "categories")
    counts = tuple(0 if own is None else len(own) for own in levels)
    check(counts == (fitted["recipe_"].levels or (0,) * n_features), "categories")


def _check_outside(fitted: dict[str, Any], n_rows: int) -> None:
    """What was answered for rows out of bag."""
    each = fitted.get("oob_decision_function_", fitted.get("oob_prediction_", []))
    for answers in each if isinstance(each, list) else [each]:
        fits = isinstance(answers, np.ndarray) and answers.dtype == np.float64
        check(fits and answers.ndim in (1, 2) and len(answers) == n_rows, "out-of-bag answers")
    if "oob_voters_" in fitted:
        check(is_array(fitted["oob_voters_"], "iu", n_rows), "out-of-bag answers")

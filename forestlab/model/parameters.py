"""The estimators' parameters: what each may be, and the recipe they make. What each means stands in
descriptions.

A mistake gets one sentence that names the parameter, what was given and what is allowed.
"""

import math
import os
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.utils.sparsefuncs import min_max_axis

from forestlab.core.arrays import Limits
from forestlab.core.categories import CHOICES
from forestlab.core.combine import COMBINERS
from forestlab.core.cost_complexity import COSTS
from forestlab.core.criteria import CRITERIA, Criterion, Entered, fitting
from forestlab.core.learners import LEARNERS
from forestlab.core.leaves import LEAVES
from forestlab.core.missing import MISSING
from forestlab.core.options import OPTIONS, Options, is_whole, listed, name_of, row_of
from forestlab.core.own import Own
from forestlab.core.search import SEARCHES
from forestlab.core.tasks import TASKS
from forestlab.core.walk import NO_DEPTH
from forestlab.forest import Encoded, Recipe
from forestlab.forest.spread import BACKENDS, require_ray
from forestlab.model.values import option_value
from forestlab.spelling import did_you_mean, most_like

CHOOSING = ("cv", "valid")  # what may choose ccp_alpha
CCP_RULES = ("best", "one_se")
MOST_TREES = 1_000_000
THREADS_A_CORE = 8  # at most: each has memory of its own, and more would only wait
MOST_RHO = 10_000_000  # of which each takes 56 bytes while a node is split


# ---- checks ------------------------------------------------------------------------------------


def _refuse(name: str, given, allowed: str):
    raise ValueError(f"{name} must be {allowed}; got {given!r}.")


def one_of(name: str, given, allowed, also: str = "") -> str:
    if not isinstance(given, str) or given not in allowed:
        _refuse(name, given, f"one of {listed(allowed)}{also}")
    return given


def _is_share(given) -> bool:
    return isinstance(given, Real) and not isinstance(given, Integral) and 0 < float(given) <= 1


def whole(name: str, given, least: int, also: str = "") -> int:
    if not is_whole(given) or given < least:
        _refuse(name, given, f"a whole number of at least {least}{also}")
    return min(int(given), NO_DEPTH)


def require_trees(n_estimators) -> None:
    """More than can be grown would take all memory, tree by tree."""
    if not is_whole(n_estimators) or not 1 <= n_estimators <= MOST_TREES:
        _refuse("n_estimators", n_estimators, f"a whole number from 1 to {MOST_TREES:,}")


def at_least_0(name: str, given, most: float = math.inf) -> float:
    if not isinstance(given, Real) or not 0.0 <= float(given) <= most or math.isinf(given):
        limit = "" if math.isinf(most) else f" and at most {most}"
        _refuse(name, given, f"a number of at least 0{limit}")
    return float(given)


def share(name: str, given, least: float) -> float:
    if not isinstance(given, Real) or isinstance(given, bool) or not least <= float(given) <= 1:
        _refuse(name, given, f"a number from {least:g} to 1")
    return float(given)


def flag(name: str, given) -> bool:
    if not isinstance(given, bool | np.bool_):
        _refuse(name, given, "True or False")
    return bool(given)


def amount(name: str, given, total: int, also: str) -> int:
    """A number of things, even of more than there are, or a share of `total`, as a number."""
    if _is_share(given):
        return max(1, int(given * total))
    return whole(name, given, 1, f", a share in (0, 1]{also}")


def _most_rho(rho) -> int:
    """rho as a number."""
    if whole("rho", rho, 1, ', "all" or None') > MOST_RHO:
        _refuse("rho", rho, f'at most {MOST_RHO:,}, "all" or None')
    return int(rho)


def row_limit(name: str, given, n_rows: int, least: int) -> int:
    """As in scikit-learn: a number of rows, even of more than there are, or a share, rounded up."""
    if _is_share(given):
        return max(least, math.ceil(given * n_rows))
    return whole(name, given, least, " or a share in (0, 1]")


def feature_count(given, n_features: int) -> int:
    """max_features as a number."""
    functions = {"sqrt": math.sqrt, "log": math.log, "log2": math.log2}
    also = f", one of {listed(functions)}, or None"
    if given is None:
        return n_features
    if isinstance(given, str):
        if given not in functions:
            amount("max_features", given, n_features, also)
        return max(1, int(functions[given](n_features)))
    return amount("max_features", given, n_features, also)


def depth_limit(depth) -> int | None:
    """The `depth` of a prediction."""
    return None if depth is None else whole("depth", depth, 0, " or None")


def combiner(name: str, task: str) -> str:
    one_of("combine", name, COMBINERS)
    if task not in COMBINERS[name]:
        allowed = listed(key for key, row in COMBINERS.items() if task in row)
        raise ValueError(f"combine={name!r} needs classes; for {task} it must be one of {allowed}.")
    return name


def pruning(given) -> str | None:
    return given if given is None else one_of("prune", given, ("oob",), " or None")


def strength(given) -> float | str:
    """shrink as a number, or "oob"."""
    if isinstance(given, str):
        return one_of("shrink", given, ("oob",), ", a number of at least 0 or None")
    return 0.0 if given is None else at_least_0("shrink", given)


def criterion(given, task: str) -> str | Own:
    if callable(given):
        return Own(given, task, "criterion")
    return one_of("criterion", given, fitting(task), ", or a function of (y, weights)")


def leaf(given) -> str | Own:
    if callable(given):
        return Own(given, "regression", "leaf")
    return one_of("leaf", given, LEAVES, ", or a function of (y, weights)")


# ---- constraints -------------------------------------------------------------------------------


def signs(given, n_features: int, names=None) -> tuple[int, ...]:
    """monotonic_cst as one of -1, 0 and 1 for each feature; () if nothing is constrained.

    Parameters
    ----------
    names : (n_features,) strings, or None if features have none
    """
    if isinstance(given, Mapping):
        given = _signs_by_name(given, names)
    if given is None:
        return ()
    found = np.asarray(given, dtype=object)
    if found.shape != (n_features,) or not all(_is_sign(sign) for sign in found):
        allowed = f"None, a dict of names, or -1, 0 or 1 for each of {n_features} features"
        _refuse("monotonic_cst", given, allowed)
    return tuple(int(sign) for sign in found) if any(found) else ()


def _is_sign(given) -> bool:
    return (
        isinstance(given, Real) and not isinstance(given, bool | np.bool_) and abs(given) in (0, 1)
    )


def _signs_by_name(given: Mapping, names) -> list[int]:
    if names is None:
        raise ValueError(
            f"monotonic_cst must be -1, 0 or 1 for each feature, as X has no names; got {given!r}."
        )
    known = list(names)
    for name, sign in given.items():
        if name not in known:
            guess = did_you_mean(most_like(str(name), known), f"there are {listed(known)}.")
            raise ValueError(f"monotonic_cst must name features of X; got {name!r}: {guess}")
        if not _is_sign(sign):
            _refuse(f"monotonic_cst[{name!r}]", sign, "-1, 0 or 1")
    return [given.get(name, 0) for name in known]


def require_monotone(
    params: dict[str, Any], task: str, n_classes: int | list[int], n_targets: int
) -> None:
    """Refuse what constrained answers are not defined for, or would not stay in order with."""
    if n_targets > 1:
        raise ValueError(f"monotonic_cst constrains one target; got {n_targets}.")
    if isinstance(n_classes, int) and n_classes > 2:
        raise ValueError(
            "monotonic_cst constrains the probability of the second of two classes; "
            f"got {n_classes} classes."
        )
    learner = name_of("learner", option_value("learner", params))
    if learner != "axis":
        raise ValueError(
            "monotonic_cst constrains single cuts of one feature, so learner must be 'axis'; "
            f"got {learner!r}."
        )
    if not _is(params.get("leaf", "mean"), "mean"):
        raise ValueError(
            f"monotonic_cst constrains means, so leaf must be 'mean'; got {params['leaf']!r}."
        )
    if params.get("missing") == "both":
        others = listed(name for name in MISSING if name != "both")
        raise ValueError(
            "monotonic_cst bounds the answers of rows that go one way, so missing must be one of "
            f"{others}; got 'both'."
        )
    require_order_kept(params.get("combine", "average"), task)


def require_ordered(signs: tuple[int, ...], levels: tuple[int, ...], names=None) -> None:
    """Refuse to constrain what does not rise or fall."""
    for j, (sign, n_levels) in enumerate(zip(signs, levels, strict=True) if levels else ()):
        if sign and n_levels:
            raise ValueError(
                "monotonic_cst constrains features that rise or fall; "
                f"{j if names is None else names[j]!r} is one of categories, so it must be 0 there."
            )


def require_order_kept(combine: str, task: str) -> None:
    """Refuse what joins constrained trees to answers that may be out of order."""
    if not COMBINERS[combine][task].keeps_order:
        keeping = (name for name, row in COMBINERS.items() if task in row and row[task].keeps_order)
        raise ValueError(
            f"monotonic_cst needs trees that count alike, so combine must be one of "
            f"{listed(keeping)}; got {combine!r}."
        )


# ---- the recipe --------------------------------------------------------------------------------


def class_counts(classes) -> int | list[int]:
    """How many classes there are, or of several targets how many each has; 0 of numbers."""
    return list(map(len, classes)) if isinstance(classes, list) else len(classes)


def recipe(
    params: dict[str, Any],
    task: str,
    shape: tuple[int, int],
    n_classes: int | list[int],
    n_targets: int = 1,
    names=None,
    levels: tuple[int, ...] = (),
) -> Recipe:
    """Check an estimator's parameters, and turn them into what the forest grows by; `names` are
    those of features, if they have any, and `levels` how many each has, if it is one of categories;
    0: of numbers."""
    each = tuple(n_classes) if isinstance(n_classes, list) else ()
    n_rows, n_features = shape
    require_trees(params.get("n_estimators", 1))
    flag("warm_start", params.get("warm_start", False))
    if one_of("backend", params.get("backend", "threads"), BACKENDS) == "ray":
        require_ray()
    if "combine" in params:
        combiner(params["combine"], task)
    n_tried = feature_count(params["max_features"], n_features)
    n_features_drawn = min(n_tried, n_features)
    per_tree = one_of("subspace", params["subspace"], ("node", "tree")) == "tree"
    rho = params["rho"]
    name = criterion(params["criterion"], task)
    limits = Limits(
        max_depth=most_levels(params["max_depth"]),
        min_samples_split=row_limit("min_samples_split", params["min_samples_split"], n_rows, 2),
        min_samples_leaf=row_limit("min_samples_leaf", params["min_samples_leaf"], n_rows, 1),
        min_weight_fraction_leaf=at_least_0(
            "min_weight_fraction_leaf", params["min_weight_fraction_leaf"], 0.5
        ),
        min_impurity_decrease=at_least_0("min_impurity_decrease", params["min_impurity_decrease"]),
        max_leaf_nodes=most_leaves(params.get("max_leaf_nodes")),
        impurity_scale=1.0 if isinstance(name, Own) else CRITERIA[name].scale,
        max_features=n_tried,
        rho=0 if rho is None or _is(rho, "all") else _most_rho(rho),
        count_constant=flag("count_constant", params["count_constant"]),
        pairs=one_of("rho_draws", params["rho_draws"], ("features", "pairs")) == "pairs",
    )
    search, learner = option_value("search", params), option_value("learner", params)
    require_rows_alone(name, search, learner)
    require_together(search, learner, name)
    if each:
        require_sums(name)
        require_one_cost(params.get("ccp_cost", COSTS[0]), len(each))
    if limits.pairs:
        require_pairs(search, learner)
    monotonic = signs(params.get("monotonic_cst"), n_features, names)
    if monotonic:
        require_monotone(params, task, n_classes, n_targets)
        require_ordered(monotonic, levels, names)
    if LEARNERS[row_of("learner", learner)].draw is None:
        limits = limits._replace(max_features=n_features if per_tree else n_features_drawn)
    return Recipe(
        name,
        search,
        limits,
        sum(each) if isinstance(n_classes, list) else n_classes,
        learner=learner,
        missing=one_of("missing", params.get("missing", "error"), MISSING),
        features_per_tree=n_features_drawn if per_tree else 0,
        leaf=leaf(params.get("leaf", "mean")),
        monotonic=() if n_classes == 1 else monotonic,  # one class has one answer
        classes_each=each,
        levels=levels if any(levels) else (),
        categories=one_of("categories", params.get("categories", "subset"), CHOICES),
        **_leaf_cost(params, task),
        **_bag(params, n_rows),
    )


def most_levels(given) -> int:
    """max_depth as a number."""
    return NO_DEPTH if given is None else whole("max_depth", given, 1, " or None")


def most_leaves(given) -> int:
    """max_leaf_nodes as a number, 0 if it is any."""
    return 0 if given is None else whole("max_leaf_nodes", given, 2, " or None")


def _leaf_cost(params: dict[str, Any], task: str) -> dict[str, Any]:
    """What a recipe says of what leaves cost; 0, as long as that is to be chosen."""
    given, cost = params.get("ccp_alpha", 0.0), params.get("ccp_cost", COSTS[0])
    one_of("ccp_rule", params.get("ccp_rule", CCP_RULES[0]), CCP_RULES)
    if one_of("ccp_cost", cost, COSTS) != COSTS[0] and not TASKS[task].has_classes:
        raise ValueError(f"ccp_cost={cost!r} needs classes; for {task} it must be {COSTS[0]!r}.")
    if isinstance(given, str):
        one_of("ccp_alpha", given, CHOOSING, " or a number of at least 0")
        return {"ccp_cost": cost}
    return {"ccp_alpha": at_least_0("ccp_alpha", given), "ccp_cost": cost}


def stopping(params: dict[str, Any], recipe: Recipe, n_rows: int) -> dict[str, Any]:
    """What else a recipe says once the parameters of a model that stop trees are these."""
    limits = recipe.limits._replace(
        max_depth=most_levels(params["max_depth"]),
        min_samples_split=row_limit("min_samples_split", params["min_samples_split"], n_rows, 2),
        min_impurity_decrease=at_least_0("min_impurity_decrease", params["min_impurity_decrease"]),
        max_leaf_nodes=most_leaves(params.get("max_leaf_nodes")),
    )
    return {"limits": limits, **_leaf_cost(params, recipe.task)}


def require_one_cost(cost: str, n_targets: int) -> None:
    """Refuse to count the wrong labels of several targets."""
    if cost != COSTS[0]:
        raise ValueError(
            f"ccp_cost={cost!r} is of one target of classes; for {n_targets} it must be "
            f"{COSTS[0]!r}."
        )


def require_sums(criterion: str | Own) -> None:
    """Refuse a criterion of classes, which can only be somebody's own, that is of one target."""
    if isinstance(criterion, Own):
        return
    row = CRITERIA[criterion]
    if isinstance(row, Entered) or row.scan is not None:
        others = listed(key for key, it in CRITERIA.items() if _is_of_sums(it))
        raise ValueError(
            f"criterion={criterion!r} is of one target of classes; for several it must be one of "
            f"{others}."
        )


def _is_of_sums(row: Criterion | Entered) -> bool:
    return isinstance(row, Criterion) and row.scan is None and row.task == "classification"


def require_together(search: Options, learner: Options, criterion: str | Own) -> None:
    """Refuse a search whose cuts a learner cannot use, or that are too few for a criterion."""
    enough = isinstance(criterion, Own) or CRITERIA[criterion].at_boundaries
    if SEARCHES[row_of("search", search)].marked and not enough:
        others = listed(name for name, row in SEARCHES.items() if not row.marked)
        raise ValueError(
            f"criterion={criterion!r} may be lowest off a boundary, so search must be one of "
            f"{others}; got {name_of('search', search)!r}."
        )
    paired = {name for name, row in SEARCHES.items() if row.pairs}
    row = row_of("search", search)
    if LEARNERS[row_of("learner", learner)].has_bands and row not in paired:
        raise ValueError(
            f"learner={name_of('learner', learner)!r} tries all pairs of cuts, so search must be "
            f"one of {listed(sorted(paired))}; got {name_of('search', search)!r}."
        )


def require_pairs(search: Options, learner: Options) -> None:
    """Refuse to draw from all pairs of a feature and a cut where these are not listed."""
    its, name = LEARNERS[row_of("learner", learner)], name_of("learner", learner)
    if its.draw is not None or its.has_bands:
        listing = [key for key, row in LEARNERS.items() if not (row.draw or row.has_bands)]
        raise ValueError(
            "rho_draws='pairs' draws pairs of a feature and a cut, so learner must be one of "
            f"{listed(listing)}; got {name!r}."
        )
    if SEARCHES[row_of("search", search)].draws:
        listing = [key for key, row in SEARCHES.items() if not row.draws]
        raise ValueError(
            "rho_draws='pairs' draws from the cuts that a search lists, so search must be one of "
            f"{listed(listing)}; got {name_of('search', search)!r}."
        )


def require_rows_alone(criterion: str | Own, search: Options, learner: Options) -> None:
    """Refuse what needs more of a criterion than the impurity of some rows."""
    if not isinstance(criterion, Own):
        return
    told = f"criterion={criterion.name} is a function"
    if LEARNERS[row_of("learner", learner)].has_bands:
        others = listed(name for name, row in OPTIONS["learner"].items() if _has_one_cut(row))
        raise ValueError(
            f"{told}, which bands, sums of stretches, cannot be asked of: learner must be one of "
            f"{others}; got {name_of('learner', learner)!r}."
        )
    if SEARCHES[row_of("search", search)].marked:
        others = listed(name for name, row in SEARCHES.items() if not row.marked)
        raise ValueError(
            f"{told}, of which nobody knows that cuts within a run of equal targets are no better: "
            f"search must be one of {others}; got {name_of('search', search)!r}."
        )


def _has_one_cut(choice: type[Options]) -> bool:
    return not LEARNERS[row_of("learner", choice())].has_bands


def warn_of_functions(recipe: Recipe) -> None:
    """Say once what functions of Python cost."""
    if recipe.own:
        names = " and ".join(f"{own.what}={own.name}" for own in recipe.own)
        warnings.warn(
            f"{names}: trees are grown uncompiled, and a function is called for every node, that "
            "of a criterion for every cut that is tried: minutes where a compiled one takes "
            "seconds. For more than small data see forestlab.register_criterion.",
            stacklevel=3,
        )


def require_moderate(X, learner: Options) -> None:
    """Refuse numbers whose products floats cannot hold, where columns are joined."""
    if LEARNERS[row_of("learner", learner)].draw is None:
        return
    name = name_of("learner", learner)
    lowest, highest = _reaches(X)
    most = max(float(highest.max(initial=0.0)), -float(lowest.min(initial=0.0)))
    if most > 1e150:
        raise ValueError(
            f"learner={name!r} joins columns, so X must lie between -1e150 and 1e150; got {most:g}."
        )
    spread = highest - lowest
    least = float(spread[spread > 0].min(initial=1.0))
    if least < 1e-150:
        raise ValueError(
            f"learner={name!r} joins columns, so each that varies must do so by 1e-150 at least; "
            f"got {least:g}."
        )


def _reaches(X) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest number of each column that has any."""
    if isinstance(X, Encoded):
        return X.reaches()
    if issparse(X):
        ends = min_max_axis(X.astype(np.float64), axis=0, ignore_nan=True)
        return tuple(found[~np.isnan(found)] for found in ends)
    X = X[:, ~np.isnan(X).all(axis=0)] if np.isnan(X).any() else X
    return np.nanmin(X, axis=0), np.nanmax(X, axis=0)


def _bag(params: dict[str, Any], n_rows: int) -> dict[str, Any]:
    replace, size = flag("bootstrap", params.get("bootstrap", False)), params.get("max_samples")
    if size is None:
        size = n_rows if replace else 0
    else:
        size = amount("max_samples", size, n_rows, ", or None")
        size = size if replace or size < n_rows else 0
    balance = size > 0 and _is(params.get("class_weight"), "balanced_subsample")
    return {"bag_size": size, "replace": replace, "balance_bags": balance}


# ---- weights, bags and threads -----------------------------------------------------------------


def _is(given, name: str) -> bool:
    return isinstance(given, str) and given == name


def sample_weights(given, n_rows: int) -> np.ndarray | None:
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n_rows} rows; "
            f"got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite weights of at least 0.")
    return weights


def require_scale(weights: np.ndarray) -> None:
    """Refuse weights whose squares floats cannot hold."""
    positive = weights[weights > 0]
    if len(positive) and not (positive.min() >= 1e-100 and positive.max() <= 1e100):
        wrong = positive.min() if positive.min() < 1e-100 else positive.max()
        raise ValueError(
            "sample_weight, times class_weight, must lie between 1e-100 and 1e100, or be 0; "
            f"got {wrong:g}."
        )


def require_counts(criterion: str | Callable, y: np.ndarray) -> None:
    """Refuse targets, (n_rows, …), that are no counts, where a criterion asks for them."""
    if not isinstance(criterion, str) or not CRITERIA[criterion].counts:
        return
    if float(y.min()) < 0.0:
        raise ValueError(f"criterion={criterion!r} needs y of at least 0; got {y.min():g}.")
    if not (y.sum(axis=0) > 0.0).all():
        raise ValueError(f"criterion={criterion!r} needs a y above 0 in each target; got zeros.")


def require_squares(y: np.ndarray, weights: np.ndarray | None, name: str = "y") -> None:
    """Refuse targets whose weighted squares, summed over all rows, floats cannot hold."""
    heaviest = 1.0 if weights is None else float(weights.max())
    lightest = 1.0 if weights is None else float(weights[weights > 0].min())
    with np.errstate(over="ignore", under="ignore"):
        most = len(y) * heaviest * float(np.square(2.0 * np.abs(y).max()))
        spread = float(np.ptp(y, axis=0).max())
        least = lightest * float(np.square(spread))
    if most > 1e300:
        raise ValueError(
            f"{name} (up to {np.abs(y).max():g}) and sample_weight (up to {heaviest:g}) are too "
            f"large: the sum of weight × {name}² must stay below 1e300. Divide them by a constant."
        )
    if spread > 0.0 and least < 1e-300:
        raise ValueError(
            f"{name} (a spread of {spread:g}) and sample_weight (down to {lightest:g}) are too "
            "small: weight × spread² must stay above 1e-300. Multiply them by a constant."
        )


def class_weights(given, in_forest: bool, n_targets: int = 1):
    """class_weight in the form that scikit-learn's compute_sample_weight takes."""
    if n_targets > 1 and isinstance(given, list):
        if len(given) != n_targets or not all(isinstance(own, dict) for own in given):
            _refuse("class_weight", given, f"a list of {n_targets} dicts, one for each target")
        return [class_weights(own, in_forest) for own in given]
    names = ("balanced", "balanced_subsample") if in_forest else ("balanced",)
    if given is None or (isinstance(given, str) and given in names):
        return given and "balanced"
    if not isinstance(given, dict) or n_targets > 1:
        a_dict = "a dict" if n_targets == 1 else "a list of dicts, one for each target"
        _refuse("class_weight", given, f"{a_dict}, {listed(names)} or None")
    for label, weight in given.items():
        at_least_0(f"class_weight[{label!r}]", weight)
    return given


def oob_wanted(given) -> bool:
    if not (isinstance(given, bool | np.bool_ | str) or callable(given)):
        allowed = "True, False, the name of a scorer or a metric(y_true, y_pred)"
        _refuse("oob_score", given, allowed)
    return not isinstance(given, bool | np.bool_) or bool(given)


def require_rows(recipe: Recipe, weights: np.ndarray) -> None:
    """Refuse bags that may hold no row of any weight."""
    n_without = int(np.sum(weights == 0))
    if not recipe.replace and 0 < recipe.bag_size <= n_without:
        raise ValueError(
            f"max_samples must be more than the {n_without} rows of no weight, or a tree may see "
            f"none of the others; got {recipe.bag_size} rows."
        )


def require_more(n_estimators: int, n_grown: int) -> None:
    """Refuse to take trees away with warm_start; warn if there is nothing to do."""
    if n_estimators < n_grown:
        raise ValueError(
            f"n_estimators must be at least {n_grown}, the number of trees there are, with "
            f"warm_start=True; got {n_estimators}."
        )
    if n_estimators == n_grown:
        warnings.warn("warm_start=True without a larger n_estimators grows no trees.", stacklevel=4)


def require_bag(recipe: Recipe) -> None:
    if not recipe.bag_size:
        raise ValueError(
            "Out-of-bag estimates need trees that leave rows out: set bootstrap=True or "
            "max_samples."
        )


def n_threads(n_jobs) -> int:
    """scikit-learn's n_jobs: None is 1 or what joblib was told, -1 all cores, -2 all but one."""
    if n_jobs is None:
        return effective_n_jobs(None)
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        _refuse("n_jobs", n_jobs, "a whole number other than 0, or None")
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = found or 1
    n = int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))
    return min(n, THREADS_A_CORE * cores)  # what is grown does not depend on it

"""Models cut instead of fitted again, and the α that rows choose.

A fitted model knows all that stricter rules would make of it (see core.prune): `cut` gives what a
fit with them would. How much a leaf is to cost, α, may be left to rows: of a grid along the paths
of the trees that one is taken with which forests lose least on rows that they have not seen, or the
greatest that is not clearly worse.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from forestlab.core.arrays import Forest, n_trees, tree_of
from forestlab.core.prune import Rules
from forestlab.core.tasks import TASKS
from forestlab.forest import Recipe, combined
from forestlab.forest.grown import Pruned
from forestlab.forest.stopping import alphas_of, cut_forest
from forestlab.model import parameters

N_FOLDS = 5
N_ALPHAS = 32

FOUND = ("ccp_alpha_", "ccp_alphas_", "ccp_losses_", "ccp_errors_", "n_nodes_before_")
NEEDS_GAINS = ("min_impurity_decrease", "max_leaf_nodes")


# ---- cut instead of fitted again ---------------------------------------------------------------


def cut(model, given: dict[str, Any]):
    """The model as if it had been fitted with these parameters, those of `Rules`, too."""
    given = {name: value for name, value in given.items() if value is not None}
    _require_whole(model)
    _require_taken(model, given)
    params = model.growing_params() | given
    recipe = model.recipe_._replace(**parameters.stopping(params, model.recipe_, model.n_rows_))
    _require_stricter(model.recipe_, recipe, given)
    shorter = copy.copy(model).set_params(**given)
    shorter._forget("_made", "_pruned", "node_losses_")
    shorter._forget_oob()
    n_jobs, rules = parameters.n_threads(model.n_jobs), rules_of(recipe)
    whole = cut_forest(model.forest_, rules._replace(ccp_alpha=0.0), n_jobs)
    shorter.forest_, shorter.recipe_ = cut_back(whole, recipe, n_jobs), recipe
    vars(shorter).update(before(shorter, whole, recipe, vars(shorter)))
    shorter._cut_more(model)
    return shorter


def cut_back(whole: Forest, recipe: Recipe, n_jobs: int, first: int = 0) -> Forest:
    """The forest, from its `first` tree on, without what costs more than it gains."""
    if recipe.ccp_alpha == 0.0:
        return whole
    rules = Rules(ccp_alpha=recipe.ccp_alpha, ccp_cost=recipe.ccp_cost)
    return cut_forest(whole, rules, n_jobs, first)


def rules_of(recipe: Recipe) -> Rules:
    limits = recipe.limits
    return Rules(
        limits.max_depth,
        limits.min_samples_split,
        limits.min_impurity_decrease,
        limits.max_leaf_nodes,
        recipe.ccp_alpha,
        recipe.ccp_cost,
    )


def _require_whole(model) -> None:
    """Refuse a model that is no longer whole, or of which a fit would choose something else."""
    recipe = model.recipe_
    reasons = {
        f"max_leaf_nodes={recipe.limits.max_leaf_nodes}": recipe.limits.max_leaf_nodes > 0,
        f"ccp_alpha={model.get_params().get('ccp_alpha')!r}": (
            recipe.ccp_alpha > 0.0 or hasattr(model, "ccp_alpha_")  # rows chose it
        ),
        "prune='oob'": hasattr(model, "n_nodes_before_") and not recipe.ccp_alpha,
        "aggregate=True": getattr(model, "aggregate", False),
        "shrink='oob'": isinstance(getattr(model, "shrink", None), str),
    }
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(
                f"cut needs a model that was fitted whole; this one was fitted with {reason}: fit "
                "it again."
            )


def _require_taken(model, given: dict[str, Any]) -> None:
    taken = model.get_params(deep=False)
    for name in given:
        if name not in taken:
            raise ValueError(f"{type(model).__name__} has no {name}, so it cannot be cut by it.")
    if given.keys() & set(NEEDS_GAINS) and not len(model.forest_.gains):
        name = next(name for name in NEEDS_GAINS if name in given)
        raise ValueError(
            f"cut by {name} needs the gain of each node, which this model does not know: it comes "
            "from a file of before, or its trees were put together. Fit it again."
        )


def _require_stricter(before: Recipe, after: Recipe, given: dict[str, Any]) -> None:
    was, now = rules_of(before), rules_of(after)
    for name in given:
        if name == "ccp_alpha" and isinstance(given[name], str):
            raise ValueError(f"cut takes a number as ccp_alpha; got {given[name]!r}: fit it again.")
        old, new = getattr(was, name), getattr(now, name)
        looser = new > old if name == "max_depth" else new < old
        if looser and name != "max_leaf_nodes":
            raise ValueError(
                f"cut makes trees smaller: {name} must be at "
                f"{'most' if name == 'max_depth' else 'least'} {old}, as they were grown; "
                f"got {given[name]!r}."
            )


# ---- the α that rows choose --------------------------------------------------------------------


class Rows(NamedTuple):
    """Rows as a person gives them, with a weight each, or None."""

    X: Any
    y: np.ndarray
    weights: Any


class Choice(NamedTuple):
    alphas: np.ndarray  # (G,) falling, the last 0
    losses: np.ndarray  # (G,) mean over rows: wrong labels, or squared errors
    errors: np.ndarray  # (G,) their standard errors
    chosen: float


def choose_alpha(model, rows: Rows, seed: int, valid: Rows | None) -> Choice:
    """The α that cross-validation on the rows it was grown on, or validation rows, choose for a
    model with trees that were grown whole."""
    alphas = alphas_of(model.forest_, N_ALPHAS, model.ccp_cost)
    if valid is None:
        losses, weights = _crossed(model, rows, seed, alphas)
    else:
        losses, weights = _losses(model, valid, alphas), valid.weights
    weights = np.ones(len(losses)) if weights is None else np.asarray(weights, np.float64)
    share = weights / weights.sum()
    mean = share @ losses
    errors = np.sqrt(np.square(share) @ np.square(losses - mean))
    return Choice(alphas, mean, errors, _chosen(alphas, mean, errors, model.ccp_rule))


def _chosen(alphas: np.ndarray, losses: np.ndarray, errors: np.ndarray, rule: str) -> float:
    """The greatest of the best, or of those within a standard error of it."""
    best = int(losses.argmin())
    most = losses[best] + (errors[best] if rule == "one_se" else 0.0)
    return float(alphas[np.flatnonzero(losses <= most)[0]])


def _crossed(model, rows: Rows, seed: int, alphas: np.ndarray):
    """The loss of each row at each α by a model that was fitted without it, (n, G); and weights."""
    folds = _folds(model.task, rows.y).split(np.zeros(len(rows.y)), rows.y)
    losses = np.empty((len(rows.y), len(alphas)))
    whole: dict[str, Any] = {
        "ccp_alpha": 0.0,
        "random_state": seed,
        "oob_score": False,
        "verbose": 0,
    }
    whole |= {"warm_start": False, "prune": None}
    taken = {name: value for name, value in whole.items() if name in model.get_params(deep=False)}
    for seen, left_out in folds:
        some, others = _some(rows, seen), _some(rows, left_out)
        fitted = clone(model).set_params(**taken).fit(some.X, some.y, some.weights)
        losses[left_out] = _losses(fitted, others, alphas)
    return losses, rows.weights


def _folds(task: str, y: np.ndarray):
    """A class may be rarer than there are folds: its rows are then in some of them."""
    how: dict[str, Any] = {"n_splits": min(N_FOLDS, len(y)), "shuffle": True, "random_state": 0}
    if not TASKS[task].has_classes or y.ndim > 1:
        return KFold(**how)
    rarest = int(np.unique(y, return_counts=True)[1].min())
    return StratifiedKFold(**how) if rarest >= how["n_splits"] else KFold(**how)


def _some(rows: Rows, numbers: np.ndarray) -> Rows:
    weights = None if rows.weights is None else np.asarray(rows.weights)[numbers]
    return Rows(_safe_indexing(rows.X, numbers), rows.y[numbers], weights)


def _losses(model, rows: Rows, alphas: Sequence[float] | np.ndarray) -> np.ndarray:
    """The loss of each row at each α, (n, G), by a model that was fitted whole."""
    X, n_jobs = model._check_X(rows.X), parameters.n_threads(model.n_jobs)
    recipe, losses = model.recipe_, np.empty((len(rows.y), len(alphas)))
    combine = parameters.combiner(model.combine, model.task)
    for g, alpha in enumerate(alphas):
        rules = Rules(ccp_alpha=float(alpha), ccp_cost=model.ccp_cost)
        forest = cut_forest(model.forest_, rules, n_jobs)
        each = recipe.classes_each
        answers, _ = combined(forest, model.task, combine, X, None, n_jobs, None, each)
        losses[:, g] = _loss(model, model._by_target(answers), rows.y)
    return losses


def _loss(model, answers, y: np.ndarray) -> np.ndarray:
    """The share of a row's labels that are wrong, or its mean squared error."""
    answered = model._decided(answers)
    apart = answered != y if TASKS[model.task].has_classes else np.square(answered - y)
    return apart if apart.ndim == 1 else apart.mean(axis=1)


# ---- what a fit keeps of it --------------------------------------------------------------------


def check(model, X_val, y_val) -> None:
    """Raise ValueError unless the parameters go with each other and with what is given."""
    alpha = getattr(model, "ccp_alpha", 0.0)
    if not isinstance(alpha, str):
        parameters.at_least_0("ccp_alpha", alpha)
    chooses = isinstance(alpha, str)
    if chooses and model.warm_start:
        raise ValueError(
            f"warm_start=True keeps trees that another α may have cut: ccp_alpha={alpha!r} would "
            "choose it anew. Give a number."
        )
    if alpha != 0.0 and getattr(model, "prune", None) is not None:
        raise ValueError("ccp_alpha and prune both cut trees back: choose one of them.")
    if alpha == "valid" and (X_val is None or y_val is None):
        raise ValueError("ccp_alpha='valid' is chosen by rows apart: fit needs X_val and y_val.")
    if alpha != "valid" and not (X_val is None and y_val is None):
        raise ValueError("X_val and y_val choose α, so ccp_alpha must be 'valid' with them.")


def valid_rows(X_val, y_val, y: np.ndarray, classes) -> Rows | None:
    """The rows that choose α, if there are any, with targets as those of training rows, y."""
    if X_val is None:
        return None
    given = np.asarray(y_val)
    if given.ndim == 2 and y.ndim == 1 and given.shape[1] == 1:
        given = given[:, 0]
    shape = (_num_samples(X_val), *y.shape[1:])
    if given.shape != shape:
        raise ValueError(
            f"y_val must have the targets of X_val's rows, of shape {shape}; got {given.shape}."
        )
    if not len(classes):
        return Rows(X_val, check_array(given, ensure_2d=False, input_name="y_val"), None)
    each = classes if isinstance(classes, list) else [classes]
    for labels, known in zip(np.reshape(given, (len(given), -1)).T, each, strict=True):
        if not {*labels.tolist()} & {*known.tolist()}:
            raise ValueError(
                f"y_val must hold classes of y, such as {known.tolist()[0]!r}; got none of them, "
                f"but {labels.tolist()[0]!r}."
            )
    return Rows(X_val, given, None)


def check_stored(model) -> None:
    """Raise ValueError unless what a file held of it goes together."""
    alpha = getattr(model, "ccp_alpha_", 0.0)
    if not (isinstance(alpha, float) and np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"its ccp_alpha_ is {alpha!r}")
    paths = [getattr(model, name, None) for name in FOUND[1:4]]
    shapes = {getattr(path, "shape", None) for path in paths}
    if len(shapes) > 1 or any(path is not None and path.dtype != np.float64 for path in paths):
        raise ValueError("its path of α does not go together")


def chosen(
    model, forest: Forest, recipe: Recipe, choose: Callable[[], Choice], begun: Forest | None
) -> tuple[Forest, Recipe, dict[str, Any]]:
    """The forest cut by the α that was given or chosen, the recipe with it, and what else was
    found; of trees that, but for those begun before, were grown whole."""
    found: dict[str, Any] = {}
    if isinstance(getattr(model, "ccp_alpha", 0.0), str):
        choice = choose()
        recipe = recipe._replace(ccp_alpha=choice.chosen)
        found = dict(zip(FOUND, (choice.chosen, *choice[:3]), strict=False))
    n_jobs, first = parameters.n_threads(model.n_jobs), 0 if begun is None else n_trees(begun)
    return cut_back(forest, recipe, n_jobs, first), recipe, found


def before(model, whole: Forest, recipe: Recipe, found: dict[str, Any]) -> dict[str, Any]:
    """What is kept of trees that were cut back, as they were `whole`; of those that a model began
    with, what it knows of them."""
    sizes = np.diff(whole.first_node)
    known = getattr(model, "n_nodes_before_", None) if model.warm_start else None
    if found["forest_"] is whole and known is None:
        return {}
    sizes = sizes if known is None else np.concatenate([known, sizes[len(known) :]])
    last = vars(model).get("_pruned") if known is not None else None
    pruned = Pruned(
        "oob" if model.prune is not None else "ccp",
        (sizes + 1) // 2,
        tree_of(whole, 0) if last is None else last.first,
        recipe.ccp_alpha,
        model.ccp_alpha if isinstance(model.ccp_alpha, str) else "",
        *(found.get(name, ()) for name in FOUND[1:4]),
    )
    return {"_pruned": pruned, "n_nodes_before_": sizes}

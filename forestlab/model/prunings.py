"""What a model makes of the prunings of its trees: `prune`, `shrink` and `aggregate`.

Trees are pruned once, when a model is fitted. The other two change what nodes answer, and are read
when it is asked: `forest_` are the trees as they were grown, and *those that answer* are made from
them (see forest.prunings). What has to be found out for that from rows that trees left out is kept
by the fit:

n_nodes_before_ : (n_trees,) int64, how many nodes each tree had before it was pruned
shrink_ : float, the λ that shrink="oob" has chosen
node_losses_ : (n_nodes,) float64, what each node loses out of bag, for aggregate=True
"""

from typing import Any

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.core.tasks import TASKS
from forestlab.forest import Grown, Recipe, Rows, best_strength, losses, pruned, shrunk, weighted
from forestlab.model import parameters

AS_GROWN = (0.0, None)  # the choice that changes no answer

FOUND = ("n_nodes_before_", "shrink_", "node_losses_")


# ---- checks ------------------------------------------------------------------------------------


def check(model, recipe: Recipe) -> None:
    """Raise ValueError unless the parameters go with each other and with the recipe."""
    parameters.pruning(model.prune)
    parameters.strength(model.shrink)
    _require_one(model)
    wanted = {
        "prune='oob'": model.prune is not None,
        "shrink='oob'": isinstance(model.shrink, str),
        "aggregate=True": model.aggregate,
    }
    for what, is_wanted in wanted.items():
        if is_wanted and not recipe.bag_size:
            raise ValueError(
                f"{what} goes by rows that trees leave out: it needs a forest with bootstrap=True "
                "or max_samples."
            )
    if model.aggregate and recipe.monotonic and TASKS[recipe.task].has_classes:
        raise ValueError(
            "monotonic_cst bounds the shares of classes, which aggregate=True smooths, in small "
            "nodes more than in large ones: with both they may be out of order."
        )


def _require_one(model) -> None:
    """Either of them says what share the nodes of a path have in its answer."""
    parameters.at_least_0("aggregate_step", model.aggregate_step)
    if parameters.flag("aggregate", model.aggregate) and model.shrink is not None:
        raise ValueError(
            "aggregate=True and shrink weigh the nodes of a path in two ways: shrink must be None "
            f"then; got {model.shrink!r}."
        )


def check_stored(model) -> None:
    """Raise ValueError unless what a file held of it goes with its trees."""
    sizes = np.diff(model.forest_.first_node)
    before, lost = getattr(model, "n_nodes_before_", sizes), getattr(model, "node_losses_", None)
    if not (_is_array(before, np.int64, sizes.shape) and (before >= sizes).all()):
        raise ValueError("its n_nodes_before_ do not fit its trees")
    if lost is not None:
        fits = _is_array(lost, np.float64, model.forest_.nodes.shape)
        if not (fits and np.isfinite(lost).all() and (lost >= 0).all()):
            raise ValueError("its node_losses_ do not fit its trees")
    chosen = getattr(model, "shrink_", 0.0)
    if not (isinstance(chosen, float) and np.isfinite(chosen) and chosen >= 0):
        raise ValueError(f"its shrink_ is {chosen!r}")


def _is_array(value, dtype: type, shape: tuple[int, ...]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape


# ---- fitting -----------------------------------------------------------------------------------


def found(model, grown: Grown, rows: Rows, n_jobs: int) -> dict[str, Any]:
    """The fitted forest, `forest_`, and what else is found out of the trees that were grown.

    Parameters
    ----------
    grown : of which the first trees may have been fitted, and pruned, before
    """
    fitted: dict[str, Any] = {}
    if model.prune is not None:
        grown = grown._replace(forest=pruned(grown, rows, n_jobs))
    if model.aggregate:
        loss = "log" if TASKS[grown.task].has_classes else "normal"
        fitted["node_losses_"] = losses(grown, rows, loss, n_jobs).of_nodes
    if isinstance(model.shrink, str):
        fitted["shrink_"] = best_strength(grown, rows, n_jobs)
    return fitted | {"forest_": grown.forest}


# ---- asking ------------------------------------------------------------------------------------


def choice(model) -> tuple[float, float | None]:
    """λ, and the step of weighted prunings, None without these: what answers depend on."""
    shrink = parameters.strength(model.shrink)
    _require_one(model)
    if shrink == "oob" and not hasattr(model, "shrink_"):
        raise ValueError("shrink='oob' is chosen by a fit: fit the model again, or set a number.")
    if model.aggregate and not hasattr(model, "node_losses_"):
        raise ValueError(
            "aggregate=True goes by out-of-bag losses of nodes, which a fit keeps that was asked "
            "for them: fit the model again, or set aggregate=False."
        )
    chosen = model.shrink_ if shrink == "oob" else shrink
    return float(chosen), float(model.aggregate_step) if model.aggregate else None


def answering(model) -> Forest:
    """The forest that answers, by the choice there is."""
    shrink, step = choice(model)
    if step is None:
        return shrunk(model.forest_, model.task, shrink)
    each = model.recipe_.classes_each
    return weighted(model.forest_, model.task, model.node_losses_, step, each)

"""A fitted model as scikit-learn's own, for packages that insist on its classes.

A tree of scikit-learn rounds X to float32, and then asks as ours do whether it is at most a
threshold of 64 bits. So nodes are taken over as they are, and answer alike for all X that float32
holds. In a column that it does not hold, a row whose value *is* the threshold, as often happens
with values of one decimal, would change sides if it is rounded upwards. There the threshold is
moved up with it, and only rows that float32 cannot tell from the threshold may still change sides.
"""

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from forestlab.core.criteria import CRITERIA
from forestlab.core.options import listed
from forestlab.core.own import Own
from forestlab.core.tasks import TASKS
from forestlab.tree.grown import GrownTree

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

# scikit-learn's names; what is not here has none, and is refused there if it is fitted again.
CRITERION_NAMES = {"entropy2": "entropy", "variance": "squared_error"}

# A seed that cannot be used: by the seed of a forest's tree packages draw its bag again, and what
# they would draw is not the bag that the tree was grown on.
NO_SEED = "grown by forestlab"


def tree_to_sklearn(model) -> "DecisionTreeClassifier | DecisionTreeRegressor":
    """One fitted tree."""
    from sklearn import tree

    cls = getattr(tree, "DecisionTree" + _kind(model))
    return _filled(cls(**_params(model, cls)), model)


def forest_to_sklearn(model) -> "RandomForestClassifier | RandomForestRegressor":
    """A fitted forest whose trees are averaged."""
    from sklearn import ensemble

    if model.combine != "average":
        raise ValueError(
            f"scikit-learn's forests average their trees: combine must be 'average' to convert "
            f"one; got {model.combine!r}."
        )
    cls = getattr(ensemble, "RandomForest" + _kind(model))
    forest = cls(**_params(model, cls) | {"n_estimators": len(model)})
    _name(forest, model)
    forest.estimator_ = forest.estimator
    params = {name: getattr(forest, name) for name in forest.estimator_params}
    params["random_state"] = NO_SEED
    forest.estimators_ = [
        _numbered(_filled(type(forest.estimator_)(**params), tree)) for tree in model.estimators_
    ]
    return forest


def _kind(model) -> str:
    return "Classifier" if TASKS[model.task].has_classes else "Regressor"


def _params(model, cls: type) -> dict[str, Any]:
    """The parameters that both have, as scikit-learn means them."""
    check_is_fitted(model, "forest_")
    _require_numbers(model)
    params, criterion = model.get_params(deep=False), _criterion(model)
    params["criterion"] = CRITERION_NAMES.get(criterion, criterion)
    params["min_impurity_decrease"] *= _unit(criterion)
    params["ccp_alpha"] = model.recipe_.ccp_alpha * _unit(criterion)
    if isinstance(params["max_features"], str) and params["max_features"] == "log":
        params["max_features"] = model.recipe_.n_features_drawn
    params["monotonic_cst"] = list(model.recipe_.monotonic) or None  # which takes no names
    params.pop("oob_score", None)  # which there may be no name, and nothing is scored again
    return {name: params[name] for name in cls().get_params() if name in params}


def _require_numbers(model) -> None:
    if model.is_categorical_ is not None:
        names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
        raise ValueError(
            "scikit-learn's trees and forests take numbers alone; this model was fitted on "
            f"categories, in {listed(names[model.is_categorical_].tolist())}."
        )


def _criterion(model) -> str:
    criterion = model.recipe_.criterion
    return criterion.name if isinstance(criterion, Own) else criterion


def _unit(criterion: str) -> float:
    """scikit-learn's impurity over ours: its entropies are in bits."""
    row = CRITERIA.get(criterion)
    if row is None or (row.alias_of or criterion) != "entropy":  # None: a function of one's own
        return 1.0
    return 1 / (log(2) * row.scale)


def _filled(estimator, model):
    """The estimator with a model's one tree in it."""
    _name(estimator, model)
    estimator.max_features_ = model.max_features_
    estimator.tree_ = _tree(model)
    return estimator


def _name(estimator, model) -> None:
    """What a model knows its features and targets by."""
    for name in ("n_features_in_", "feature_names_in_", "n_outputs_", "classes_", "n_classes_"):
        if hasattr(model, name):
            setattr(estimator, name, getattr(model, name))


def _numbered(tree):
    """A tree of one of scikit-learn's forests, which predicts the numbers of classes."""
    if hasattr(tree, "classes_"):
        each = [np.arange(n, dtype=np.float64) for n in np.atleast_1d(tree.n_classes_)]
        tree.classes_ = each if tree.n_outputs_ > 1 else each[0]
    if hasattr(tree, "feature_names_in_"):
        del tree.feature_names_in_  # it is asked with arrays, and would warn of missing names
    return tree


def _tree(model):
    """A model's tree in scikit-learn's own memory; refuses what it has no room for."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    ours: GrownTree = model.tree_
    nodes = np.zeros(ours.node_count, NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = ours.children_left, ours.children_right
    nodes["feature"], nodes["threshold"] = ours.feature, _thresholds(model, ours)
    nodes["impurity"] = ours.impurity * _unit(_criterion(model))
    nodes["n_node_samples"] = ours.n_node_samples
    nodes["weighted_n_node_samples"] = ours.weighted_n_node_samples
    nodes["missing_go_to_left"] = ours.missing_go_to_left
    tree = Tree(ours.n_features, ours.n_classes, ours.n_outputs)
    tree.__setstate__(
        {
            "max_depth": ours.max_depth,
            "node_count": ours.node_count,
            "nodes": nodes,
            "values": ours.value,
        }
    )
    return tree


def _thresholds(model, tree: GrownTree) -> np.ndarray:
    """Ours, moved up to what they are rounded to in columns that float32 cannot hold."""
    with np.errstate(over="ignore"):  # beyond float32's range, where scikit-learn takes no X
        moved = np.maximum(tree.threshold, tree.threshold.astype(np.float32))
    asked = np.maximum(tree.feature, 0)
    return np.where(model.rounded_[asked] & (tree.feature >= 0), moved, tree.threshold)

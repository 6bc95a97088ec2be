"""Where pickles and logged models of version 0.1 look for their classes."""

from forestlab.model.estimators import (
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    TreeRegressor,
)

__all__ = ["ForestClassifier", "ForestRegressor", "TreeClassifier", "TreeRegressor"]

"""forestlab: study decision trees and random forests.

The names below are imported when first used, so that a command which only wants the configuration
does not wait for scikit-learn and numba.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from forestlab.core.options import (
        Axis,
        Band,
        Boundary,
        Exact,
        Fitted,
        Histogram,
        Oblique,
        Quadratic,
        Uniform,
    )
    from forestlab.core.register import register_criterion
    from forestlab.forest.encoded import Encoded, open_encoded
    from forestlab.model.density import DensityForest
    from forestlab.model.encoding import encode_file, read_blocks
    from forestlab.model.estimators import (
        ForestClassifier,
        ForestRegressor,
        TreeClassifier,
        TreeRegressor,
        load,
    )
    from forestlab.tree.handmade import build_tree
    from forestlab.tree.view import TreeView

__all__ = [
    "Axis",
    "Band",
    "Boundary",
    "DensityForest",
    "Encoded",
    "Exact",
    "Fitted",
    "ForestClassifier",
    "ForestRegressor",
    "Histogram",
    "Oblique",
    "Quadratic",
    "TreeClassifier",
    "TreeRegressor",
    "TreeView",
    "Uniform",
    "build_tree",
    "encode_file",
    "load",
    "open_encoded",
    "read_blocks",
    "register_criterion",
]

_SEARCHES = ("Boundary", "Exact", "Histogram", "Uniform")
_LEARNERS = ("Axis", "Band", "Fitted", "Oblique", "Quadratic")
_HOMES = {
    **dict.fromkeys((*_SEARCHES, *_LEARNERS), "forestlab.core.options"),
    "DensityForest": "forestlab.model.density",
    "Encoded": "forestlab.forest.encoded",
    "TreeView": "forestlab.tree.view",
    "build_tree": "forestlab.tree.handmade",
    "encode_file": "forestlab.model.encoding",
    "open_encoded": "forestlab.forest.encoded",
    "read_blocks": "forestlab.model.encoding",
    "register_criterion": "forestlab.core.register",
}


def __getattr__(name: str):
    if name not in __all__:
        raise AttributeError(f"module 'forestlab' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "forestlab.model.estimators")), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

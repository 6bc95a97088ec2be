"""How many cuts were scored to grow a tree: what its search cost.

The trees are grown again, by a kernel that counts: the one that grew them did not have to.
"""

import numpy as np

from forestlab.forest import Grown, count_cuts, prepare
from forestlab.study.part import Part, single


def cuts_scored(grown: Grown, X, y) -> np.ndarray:
    """The cuts that were scored for each tree of a forest, (n_trees,) int64.

    Parameters
    ----------
    grown : without weights
    X : (n_rows, n_features) its training rows
    y : (n_rows,) their class codes or numbers, or (n_rows, n_targets)
    """
    training = prepare(X, np.asarray(y, np.float64).reshape(len(y), -1), grown.recipe)
    return count_cuts(training, grown.recipe, grown.seed, grown.n_trees)


PART = Part(
    level="off",
    targets="all",
    applies=lambda look: look.count_cuts,
    find=lambda look: cuts_scored(look.grown, *look.data["train"]),
    numbers=lambda found, findings: [single("trees_cuts", found.mean())],
    metrics={
        "summary/trees_cuts": "scored to grow a tree, mean over trees, if study.cuts asks for it"
    },
)

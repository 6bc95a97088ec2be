"""How many cuts were scored to grow a tree: what its search cost.

The trees are grown again, by a kernel that counts: the one that grew them did not have to.
"""

import numpy as np

from forestlab.forest import Grown, count_cuts, prepare


def cuts_scored(grown: Grown, X, y) -> np.ndarray:
    """The cuts that were scored for each tree of a forest, (n_trees,) int64.

    Parameters
    ----------
    grown : without weights
    X : (n_rows, n_features) its training rows
    y : (n_rows,) their class codes or numbers
    """
    training = prepare(X, np.asarray(y, np.float64)[:, None], grown.recipe)
    return count_cuts(training, grown.recipe, grown.seed, grown.n_trees)

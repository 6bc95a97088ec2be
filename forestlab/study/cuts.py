"""How many cuts were scored to grow a tree: what its search cost.

The trees are grown again, by a kernel that counts: the one that grew them did not have to.
"""

import numpy as np

from forestlab.core.arrays import n_trees
from forestlab.forest import count_cuts, prepare


def cuts_scored(model, X, y) -> np.ndarray:
    """The cuts that were scored for each tree of a fitted estimator, (n_trees,) int64.

    Parameters
    ----------
    model : an estimator, fitted without weights
    X : (n_rows, n_features) its training rows
    y : (n_rows,) their class codes or numbers
    """
    training = prepare(X, np.asarray(y, np.float64)[:, None], model.recipe_)
    return count_cuts(training, model.recipe_, model.seed_, n_trees(model.forest_))

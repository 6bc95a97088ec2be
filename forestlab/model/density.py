"""A density forest: trees whose targets are their features (Criminisi, Shotton and Konukoglu 2012).

A split lowers the entropy of normal distributions fitted to the rows of each child, and a leaf is
such a normal, clipped to its cell. A tree's density is that of its leaves, each by its share of the
rows, and the forest's the mean of its trees'.
"""

from typing import ClassVar

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from forestlab.core.arrays import LEAF
from forestlab.core.gaussian import yardstick
from forestlab.forest import Grown
from forestlab.forest.cells import cells, covariances
from forestlab.forest.growing import Training, rows_of
from forestlab.forest.normals import (
    MOST_COLUMNS,
    Normals,
    draw_rows,
    log_densities_of,
    log_likelihoods,
    make_normals,
)
from forestlab.forest.stopping import origins_of
from forestlab.model import frames, parameters
from forestlab.model.documentation import documented
from forestlab.model.explaining import RowReader
from forestlab.model.many import ManyTrees
from forestlab.model.members import first_trees, tree_number
from forestlab.model.sound import is_array
from forestlab.tree.grown import require_single_cuts

# What leaves keep, and the criterion of which they are the best.
COVARIANCES = {"diagonal": "gaussian_diagonal", "full": "gaussian"}
# What grows a forest and is no choice here.
FIXED = {
    "min_samples_split": 2,
    "min_weight_fraction_leaf": 0.0,
    "count_constant": True,
    "subspace": "node",
    "threshold": None,
    "n_thresholds": None,
    "ties": None,
    "learner": "axis",
    "rho_draws": "features",
}


def _are_variances(array: np.ndarray) -> bool:
    """Are all of them, or those of covariances, numbers of which a root can be taken?"""
    own = array if array.ndim == 1 else np.diagonal(array, axis1=1, axis2=2)
    return bool(array.dtype == np.float64 and np.isfinite(array).all() and (own >= 0).all())


@documented
class DensityForest(DensityMixin, ManyTrees, RowReader):
    """A forest that estimates how densely rows lie, of which new ones can be drawn.

    Each leaf is a normal distribution with the mean and the variances, or the covariance, of its
    rows, clipped to its cell and divided by its mass there. To every variance of a leaf `ridge` of
    the column's variance over all rows is added, so that few or equal rows make no spike: with the
    default of 1e-3 a leaf is, in units of a column's deviation, no denser than 12.6 = 1 / √(2π
    1e-3) over the mass in its cell, which is at least a third, unless the cell itself is narrower
    than the 0.03 deviations that are added. A column that does not vary has a variance of 1.

    By default trees differ by their bootstrap: without it, and with all columns at every node, they
    would be one tree. Randomised node optimisation, ``bootstrap=False, rho=10``, is about as good:
    of four made sets of two columns, 1,000 rows and 50 trees the log-likelihood held out was -2.95,
    -0.83, -1.13 and -1.33 with a bootstrap, and -2.95, -0.84, -1.17 and -1.32 without.
    """

    task = "density"
    takes_sparse = False  # its targets are the columns themselves, and are not sparse

    own_descriptions: ClassVar = {
        "covariance": (
            '{"diagonal", "full"}, default="diagonal"',
            'What leaves keep beside their means: "diagonal", the variance of each column; "full", '
            f"covariances too, of up to {MOST_COLUMNS} columns. Splits lower the entropy of just "
            "these normal distributions.",
        ),
        "min_samples_leaf": (
            "int or float, default=10",
            "Rows (or share of rows) each child must keep: the fewer, the finer and the less sure.",
        ),
        "min_impurity_decrease": (
            "float, default=0.0",
            "Least decrease of entropy, in nats, weighted by the node's share of the rows.",
        ),
        "ridge": (
            "float, default=1e-3",
            "Share of a column's variance over all rows that is added to that of every leaf, "
            "between 1e-9 and 1.",
        ),
    }

    def __init__(
        self,
        n_estimators=100,
        *,
        covariance="diagonal",
        max_depth=None,
        min_samples_leaf=10,
        min_impurity_decrease=0.0,
        ridge=1e-3,
        max_features=None,
        bootstrap=True,
        max_samples=None,
        search="exact",
        rho=None,
        n_jobs=None,
        backend="threads",
        random_state=None,
        verbose=0,
    ):
        self.n_estimators = n_estimators
        self.covariance = covariance
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ridge = ridge
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.search = search
        self.rho = rho
        self.n_jobs = n_jobs
        self.backend = backend
        self.random_state = random_state
        self.verbose = verbose

    # ---- growing ----

    def fit(self, X, y=None, sample_weight=None):  # type: ignore[override]
        """Grow the trees.

        Parameters
        ----------
        X : (n_rows, n_features) array or data frame of finite numbers
        y : not looked at
        sample_weight : (n_rows,) weights of at least 0, or None. With a bootstrap they are the
            rows' chances to be drawn, otherwise they weigh rows within every tree.
        """
        return super().fit(X, None, sample_weight)

    def _table(self, X) -> None:
        frames.require_numbers(X, "DensityForest")

    def _validated(self, X, y, table):
        X = validate_data(self, X, dtype="numeric")
        return X, X

    def _encode_targets(self, y):
        return np.array(y, dtype=np.float64, order="C"), ()

    def growing_params(self):
        criterion = COVARIANCES[parameters.one_of("covariance", self.covariance, COVARIANCES)]
        return FIXED | self.get_params(deep=False) | {"criterion": criterion}

    def check_scale(self, targets, weights) -> None:
        parameters.share("ridge", self.ridge, 1e-9)
        parameters.require_squares(targets, weights, "X")
        n_features = targets.shape[1]
        if self.covariance == "full" and n_features > MOST_COLUMNS:
            raise ValueError(
                f"covariance='full' takes up to {MOST_COLUMNS} columns, of which the mass in a "
                f"cell can be summed; X has {n_features}: take covariance='diagonal'."
            )

    def _measured(self, training: Training, mass) -> Training:
        """The criterion's ridge is that of the leaves."""
        mass = np.ones(len(training.y)) if mass is None else mass
        ridges = yardstick(training.y, mass, len(mass), self.ridge)
        return training._replace(yardstick=np.ascontiguousarray(ridges))

    def _keep_more(self, training: Training) -> None:
        """ridges_ : (n_features,) what is added to each column's variance
        covariances_ : (n_nodes, n_features, n_features) of each node, if it is to be full"""
        self.__dict__.pop("covariances_", None)
        self.ridges_ = np.asarray(training.yardstick)[:, 0].copy()
        if self.covariance == "full":
            recipe, seed, n_jobs = self.recipe_, self.seed_, parameters.n_threads(self.n_jobs)
            self.covariances_ = covariances(
                self.forest_, training.y, lambda t: rows_of(training, recipe, seed, t), n_jobs
            )
        self._normals()  # now: to be asked must not change a model

    def _cut_more(self, before) -> None:
        if hasattr(before, "covariances_"):
            self.covariances_ = before.covariances_[origins_of(before.forest_, self.forest_)]
        self._normals()

    def _check_stored(self) -> None:
        super()._check_stored()
        n_nodes, n_features = len(self.forest_.nodes), self.n_features_in_
        shapes = {"ridges_": (n_features,), "covariances_": (n_nodes, n_features, n_features)}
        if not hasattr(self, "ridges_"):
            raise ValueError("its ridges_ are missing")
        for name, shape in shapes.items():
            array = getattr(self, name, None)
            if array is not None and not (is_array(array, "f", *shape) and _are_variances(array)):
                raise ValueError(f"its {name} do not fit its trees")
        require_single_cuts(self.forest_.nodes)
        if self.forest_.stats.shape[1] != 1 + 2 * n_features:
            raise ValueError("its statistics do not fit its features")

    # ---- asking ----

    def _normals(self) -> Normals:
        """Those of all nodes, made once for a forest."""

        def make() -> Normals:
            ends, n_jobs = (
                cells(self.forest_, self.n_features_in_),
                parameters.n_threads(self.n_jobs),
            )
            known = getattr(self, "covariances_", None)
            return make_normals(self.forest_, ends, self.ridges_, known, n_jobs)

        return self._once("normals", make)

    @property
    def grown(self) -> Grown:
        return super().grown._replace(normals=self._normals())

    def score_samples(self, X, depth=None, n_trees=None) -> np.ndarray:
        """Logarithm of the density at each row, (n_rows,); with `depth` as if grown with that
        max_depth, with `n_trees` by the first so many trees."""
        return self._log_densities(self._check_X(X), depth, n_trees)

    def _log_densities(self, X, depth=None, n_trees=None) -> np.ndarray:
        depth, n_jobs = parameters.depth_limit(depth), parameters.n_threads(self.n_jobs)
        forest = first_trees(self.forest_, n_trees)
        return log_densities_of(forest, self._normals(), X, depth, n_jobs)

    def predict(self, X, depth=None, n_trees=None) -> np.ndarray:
        """As `score_samples`: the name by which MLflow's pyfunc asks any model."""
        return self.score_samples(X, depth, n_trees)

    def score(self, X, y=None, depth=None, n_trees=None) -> float:
        """Log-likelihood: the sum over rows of the logarithms of their densities, as of
        scikit-learn's KernelDensity."""
        return float(self.score_samples(X, depth, n_trees).sum())

    def explain(self, x, tree=0, depth=None, n_trees=None) -> str:
        """How densely rows lie at one row, and its way down a tree, in words.

        Parameters
        ----------
        x : (n_features,) values in the order of the features; or a dict, a series or a data frame
            of one row, which has them by name
        tree : the number of the tree whose way is told
        depth, n_trees : as in `score_samples`
        """
        check_is_fitted(self, "forest_")
        view = self.view(tree_number("tree", tree, len(self)))
        values, X = self._row(x)
        end = view.walk(values, depth)[-1].node
        *way, _ = view.explain(values, depth).splitlines()
        way.append(f"a leaf of {view.facts(end)['rows']} around {view.value_text(end)}")
        found = self._log_densities(X, depth, n_trees)[0]
        told = [f"log-density: {found:.3f}", f"the way down tree {tree}:"]
        return "\n".join(told + [f"  {line}" for line in way])

    def log_likelihood_surface(self, X, sizes=None) -> np.ndarray:
        """What `score` would be of forests of other depths and numbers of trees.

        Parameters
        ----------
        sizes : rising numbers of trees; None: 1, 2, … all

        Returns
        -------
        (1 + greatest depth, n_sizes) sums over rows: of trees cut at depth 0, 1, …, of the first
        so many trees.
        """
        X, n = np.asarray(self._check_X(X), np.float64), len(self)
        sizes = np.arange(1, n + 1) if sizes is None else np.asarray(sizes)
        whole = sizes.ndim == 1 and len(sizes) and sizes.dtype.kind in "iu"
        if not whole or sizes[0] < 1 or sizes[-1] > n or (np.diff(sizes) <= 0).any():
            raise ValueError(f"sizes must be rising whole numbers from 1 to {n}; got {sizes!r}.")
        n_depths = 1 + max(view.depth for view in self.trees_)
        n_jobs = parameters.n_threads(self.n_jobs)
        return log_likelihoods(self.forest_, self._normals(), X, n_depths, sizes, n_jobs)

    def sample(self, n_samples=1, random_state=None) -> np.ndarray:
        """Draw rows from the density, (n_samples, n_features): a tree, each as likely as any other,
        one of its leaves by its share, and a row of its clipped normal distribution."""
        check_is_fitted(self, "forest_")
        n, rng = parameters.whole("n_samples", n_samples, 1), check_random_state(random_state)
        forest = self.forest_
        leaves = np.flatnonzero(forest.nodes["kind"] == LEAF)
        roots = np.repeat(forest.stats[forest.first_node[:-1], 0], np.diff(forest.first_node))
        upto = np.cumsum((forest.stats[:, 0] / roots)[leaves])  # of each tree all shares are 1
        places = np.searchsorted(upto, rng.random_sample(n) * upto[-1], side="right")
        return draw_rows(self._normals(), leaves[np.minimum(places, len(leaves) - 1)], rng)

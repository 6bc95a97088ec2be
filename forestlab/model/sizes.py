"""One tree, or many of which each can be had: what scikit-learn's trees and forests have, too."""

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from forestlab.core.arrays import Forest, n_trees, tree_of
from forestlab.core.cost_complexity import weakest_links
from forestlab.forest import Encoded
from forestlab.model import interop, mapped, parameters, prunings
from forestlab.model.explaining import Explained, explain_row
from forestlab.model.manifold import Neighbourly
from forestlab.model.many import Voters
from forestlab.model.members import Members, joined, same_classes
from forestlab.tree.grown import GrownTree
from forestlab.tree.levels import same_levels


class OneTree(Neighbourly, Explained):
    @property
    def tree_(self) -> GrownTree:
        """The tree, to print, walk and draw, with the arrays of scikit-learn's `Tree`."""
        return self._once("tree", lambda: self.view(0, GrownTree), prunings.choice(self))

    @property
    def max_features_(self) -> int:
        """The number of features that `max_features` comes to."""
        check_is_fitted(self, "forest_")
        return self.recipe_.n_features_drawn

    def to_sklearn(self):
        """The tree as scikit-learn's `DecisionTreeClassifier` or `DecisionTreeRegressor`, for
        packages that insist on it. It gives the same answers wherever X holds numbers that float32
        has, to which scikit-learn rounds; its entropies are in bits."""
        return interop.tree_to_sklearn(self)

    def cost_complexity_pruning_path(self, X, y, sample_weight=None) -> Bunch:
        """The α at which minimal cost-complexity pruning collapses a branch of the tree that grows
        on these rows, `ccp_alphas`, (n_steps,), and the total impurity of the leaves from there on,
        `impurities`; as in scikit-learn, but by the model's `ccp_cost`."""
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        links = weakest_links(tree_of(whole.forest_, 0), self.ccp_cost)
        return Bunch(ccp_alphas=links.steps, impurities=links.costs)

    def apply(self, X, depth=None) -> np.ndarray:
        """The node where each row ends, (n_rows,); of a row that goes both ways, by
        missing="both", that with most of it."""
        return self._ends(X, depth)[0]

    def decision_path(self, X):
        """The nodes each row visits, a sparse (n_rows, n_nodes) matrix of ones."""
        return super().decision_path(X)[0]

    def get_depth(self) -> int:
        """The depth reached."""
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        return self.tree_.n_leaves

    def export_text(self, **options) -> str:
        """The tree as indented text; options as in `TreeView.export_text`."""
        return self.tree_.export_text(**options)

    def explain(self, x, depth=None) -> str:
        """One row's way down, a line a question, and the answer at its end.

        Parameters
        ----------
        x : (n_features,) values in the order of the features; or a dict, a series or a data frame
            of one row, which has them by name
        depth : stop at this depth, as if grown with that `max_depth`
        """
        values, _ = self._row(x)
        return self.tree_.explain(values, parameters.depth_limit(depth))

    def draw(self, ax=None, max_depth=None, **options):
        """Draw the tree, on matplotlib axes or to a file: ``tree.draw("tree.png")``. Returns the
        axes.

        Parameters
        ----------
        ax : axes, the name of a file (.png, .svg, .pdf), or None: a new figure
        max_depth : draw the tree cut at this depth; None: as deep as can be read
        options : as those of `figures.draw_tree`: title, decimals, show_stats
        """
        return self.tree_.draw(ax, max_depth, **options)


class Ensemble(Voters, Neighbourly, Explained):
    _tree_type: type[OneTree]

    @property
    def estimators_(self) -> Members:
        """The trees as estimators of their own, made when asked for, without a copy.

        They predict the forest's classes; in scikit-learn they predict the numbers of classes. A
        list of such trees, some of these or of another forest of the same classes or targets, may
        be put in their place: then it is not known any more which rows each of them saw.
        """
        return self._once("members", self._members, prunings.choice(self))

    @estimators_.setter
    def estimators_(self, trees) -> None:
        check_is_fitted(self, "forest_")
        self.forest_ = joined(list(trees), self)
        self._forget("seed_", *prunings.FOUND)
        self._forget_oob()

    def _members(self) -> Members:
        """Trees shrink by themselves as the forest does; what only a forest can, they get done."""
        shrink, step = prunings.choice(self)
        params = self.get_params(deep=False) | {"shrink": shrink or None}
        forest = self.forest_ if step is None else self._answering()
        return Members(self._tree_type, params, vars(self) | {"forest_": forest})

    def explain(self, x, tree=0, depth=None, n_trees=None) -> str:
        """Why the forest answers as it does for one row, in words: its answer, which trees say
        what, which features moved the answer most (see `contributions`), and the way down a tree.

        Parameters
        ----------
        x : (n_features,) values in the order of the features; or a dict, a series or a data frame
            of one row, which has them by name
        tree : the number of the tree whose way is told
        depth, n_trees : as in `predict`
        """
        return explain_row(self, x, tree, depth, n_trees)

    @property
    def n_nodes_(self) -> np.ndarray:
        """How many nodes each tree has, (n_trees,)."""
        check_is_fitted(self, "forest_")
        return np.diff(self.forest_.first_node)

    def __iter__(self):
        return iter(self.estimators_)

    def __getitem__(self, t):
        return self.estimators_[t]

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows each tree saw, as often as they were drawn, (n_drawn,) for each tree."""
        check_is_fitted(self, "forest_")
        rows = np.arange(self.n_rows_, dtype=np.int32)
        counts = self.grown.bags(parameters.n_threads(self.n_jobs))
        return [np.repeat(rows, times) for times in counts]

    def to_sklearn(self):
        """The forest as scikit-learn's `RandomForestClassifier` or `RandomForestRegressor`, for
        packages that insist on it. It gives the same answers wherever X holds numbers that float32
        has, to which scikit-learn rounds; its entropies are in bits. What is out of bag is not
        taken over, and ``combine`` must be "average"."""
        return interop.forest_to_sklearn(self)

    # ---- growing more ----

    def _begun(self, X) -> Forest | None:
        if not parameters.flag("warm_start", self.warm_start) or not hasattr(self, "forest_"):
            return None
        # The same features as before.
        mapped.require_same(self, X) if isinstance(X, Encoded) else self._check_X(X)
        return self.forest_

    def _seed_of(self, begun, recipe, training, classes, table) -> int:
        if begun is None:
            return super()._seed_of(begun, recipe, training, classes, table)
        before = self.grown
        parameters.require_more(self.n_estimators, n_trees(begun))
        same = (
            training.y.shape == (before.n_rows, self.n_outputs_)
            and same_classes(classes, getattr(self, "classes_", ()))
            and same_levels(table and table.levels, getattr(self, "categories_", None))
            and np.array_equal(training.chances, before.chances)
            and recipe.bag_size == before.recipe.bag_size
            and recipe.replace == before.recipe.replace
        )
        if not same:
            raise ValueError(
                "warm_start=True adds trees to a forest of the same data: X must have as many "
                "rows and the same categories, y the same classes or targets, and rows the same "
                "weights and bags as before."
            )
        return before.seed

"""Many trees: what is asked of several at once, and what only those say that left a row out."""

import warnings
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from forestlab.core.arrays import n_trees
from forestlab.model import parameters
from forestlab.model.base import Model, Predictor
from forestlab.model.members import tree_number
from forestlab.model.scoring import score
from forestlab.tree.view import TreeView


class ManyTrees(Model):
    @property
    def trees_(self) -> list[TreeView]:
        """The trees, to print, walk and draw."""
        return [self.view(t) for t in range(len(self))]

    def __len__(self) -> int:
        check_is_fitted(self, "forest_")
        return n_trees(self.forest_)

    def draw(self, t=0, ax=None, max_depth=None, **options):
        """Draw tree t, on matplotlib axes or to a file: ``forest.draw(3, "tree.png")``. Returns the
        axes.

        Parameters
        ----------
        t : the number of the tree
        ax : axes, the name of a file (.png, .svg, .pdf), or None: a new figure
        max_depth : draw the tree cut at this depth; None: as deep as can be read
        options : as those of `figures.draw_tree`: title, decimals, show_stats
        """
        return self.view(tree_number("t", t, len(self))).draw(ax, max_depth, **options)

    def apply(self, X, depth=None, n_trees=None) -> np.ndarray:
        """The node of each tree where each row ends, (n_rows, n_trees); of a row that goes both
        ways, by missing="both", that with most of it."""
        return self._ends(X, depth, n_trees).T


class Voters(ManyTrees, Predictor):
    def predict_oob(self, X, depth=None, n_trees=None) -> tuple[Any, np.ndarray]:
        """Out-of-bag answers for the training rows: each asks the trees that left it out.

        Parameters
        ----------
        X : the training X, with its rows in the same order
        depth, n_trees : as in `predict`

        Returns
        -------
        answers : (n_rows, n_classes) probabilities, of several targets a list of such; or
            (n_rows, n_targets) means; NaN for a row that no tree left out
        voters : (n_rows,) the number of trees asked
        """
        X = self._check_X(X)
        parameters.require_bag(self.recipe_)
        n_rows = X.shape[0]
        if n_rows != self.n_rows_:
            raise ValueError(
                f"X must be the training data, which had {self.n_rows_} rows; got {n_rows} rows."
            )
        return self._answer_oob(X, depth, n_trees)

    def _answer_oob(self, X, depth=None, n_trees=None) -> tuple[Any, np.ndarray]:
        outside = self.grown.outside(parameters.n_threads(self.n_jobs))
        return self._answer(X, depth, n_trees, outside)

    def _check_oob(self, recipe) -> None:
        if parameters.oob_wanted(self.oob_score):
            parameters.require_bag(recipe)
            if isinstance(self.oob_score, str):
                get_scorer(self.oob_score)

    def _score_oob(self, X, y, mass) -> None:
        """Keep out-of-bag answers and their score, over the rows that have one and some weight."""
        if not parameters.oob_wanted(self.oob_score):
            return
        answers, self.oob_voters_ = self._answer_oob(X)
        self._keep_oob(answers)
        counts = np.ones(X.shape[0], bool) if mass is None else mass > 0
        voted = counts & (self.oob_voters_ > 0)
        n_without = np.sum(counts & ~voted)
        if n_without:
            warnings.warn(
                f"{n_without} of {counts.sum()} rows were left out by no tree: they have no "
                "out-of-bag prediction (NaN) and are not scored. More trees would help.",
                stacklevel=3,
            )
        self.oob_score_ = np.nan
        if voted.any():
            several = isinstance(answers, list)
            answered = self._answered([p[voted] for p in answers] if several else answers[voted])
            self.oob_score_ = score(self.oob_score, answered, y[voted])

"""Rows beside rows: how near a fitted forest takes them to be, and a map of them."""

import math
import warnings
from numbers import Real

import numpy as np
from scipy.sparse import csr_array, issparse

from forestlab.core.options import is_whole
from forestlab.forest import AFFINITIES, affinity, eigenmaps, groups_of
from forestlab.model import parameters
from forestlab.model.base import Model


class Neighbourly(Model):
    def affinity(
        self, X, Y=None, depth=None, kind="binary", epsilon=None, sparse=False
    ) -> np.ndarray | csr_array:
        """How near rows are to each other, by the nodes in which they end, averaged over trees.

        In a tree where two rows end in different nodes their affinity is 0; a row that goes both
        ways, by missing="both", counts as ending where most of it does. In the same node it is

        - 1, if kind is "binary": the average is the share of trees in which they share a node;
        - exp(−d² / ε²), if kind is "gaussian", with d the Euclidean distance of the rows as they
          are: bring features to like scales yourself, as trees do not ask for it;
        - exp(−d' (Λ + ε² I)⁻¹ d), if kind is "mahalanobis", with d the rows' difference and Λ the
          covariance of the rows of X, those given here, that end in the node. ε keeps it finite
          where a node has fewer rows than there are features. Along directions in which the node is
          wide rows are nearer than by "gaussian", and nowhere less near.

        Parameters
        ----------
        X : (n_rows, n_features)
        Y : (n_others, n_features) rows to compare them with; None: X itself
        depth : the nodes at this depth (or leaves above it), as if grown with that max_depth;
            None: the leaves
        kind : {"binary", "gaussian", "mahalanobis"}
        epsilon : the length ε; None: the root of the mean squared distance of two rows of X.
            "binary" has no use for it
        sparse : whether to return a `scipy.sparse.csr_array`, which holds no zeros: for many rows

        Returns
        -------
        (n_rows, n_others) numbers from 0 to 1; for X with itself symmetric, and 1 on the diagonal
        """
        X = self._check_X(X)
        Y = None if Y is None else self._check_X(Y)
        found = self._affinities(X, Y, depth, kind, epsilon)
        return found if parameters.flag("sparse", sparse) else found.toarray()

    def _affinities(self, X, Y, depth, kind, epsilon) -> csr_array:
        parameters.one_of("kind", kind, AFFINITIES)
        _require_dense(kind, X, Y)
        if kind != "binary" and self.is_categorical_ is not None:
            raise ValueError(
                "numbers of categories have no distances, so kind must be 'binary' for X with "
                f"categories; got {kind!r}."
            )
        _require_length(epsilon)
        depth, n_jobs = parameters.depth_limit(depth), parameters.n_threads(self.n_jobs)
        return affinity(self.forest_, X, Y, depth, kind, epsilon, n_jobs)

    def embed(self, X, n=2, depth=None, kind="binary", epsilon=None) -> np.ndarray:
        """Rows as points of n coordinates, near if their affinity is high: Laplacian eigenmaps.

        The coordinates are the eigenvectors, but for the constant one, of a random walk that steps
        from row to row in proportion to affinities; those that change least from step to step come
        first. Each has mean 0 and variance 1 when rows weigh by the sum of their affinities.

        If affinities leave the rows in groups that no tree joins, which is told by a warning, the
        first coordinates are constant in each group: they set the largest apart from all others,
        then the next from those that remain, and so on. A smaller `depth` or more trees join them.

        Parameters
        ----------
        X : (n_rows, n_features)
        n : number of coordinates, less than n_rows
        depth, kind, epsilon : as in `affinity`

        Returns
        -------
        (n_rows, n)
        """
        X = self._check_X(X)
        _require_fewer(n, X.shape[0])
        found = self._affinities(X, None, depth, kind, epsilon)
        groups = groups_of(found)
        if len(groups) > 1:
            warnings.warn(_told(groups), stacklevel=2)
        return eigenmaps(found, groups, n)


def _require_dense(kind: str, X, Y) -> None:
    if kind != "binary" and (issparse(X) or issparse(Y)):
        raise ValueError(f'kind must be "binary" for sparse X; got {kind!r}, which measures rows.')


def _require_length(epsilon) -> None:
    is_number = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if epsilon is not None and not (is_number and 0.0 < float(epsilon) < math.inf):
        raise ValueError(f"epsilon must be a number above 0 or None; got {epsilon!r}.")


def _require_fewer(n, n_rows: int) -> None:
    if not is_whole(n) or not 1 <= n < n_rows:
        raise ValueError(
            f"n must be a whole number from 1 to {n_rows - 1}, as X has {n_rows} rows; got {n!r}."
        )


def _told(groups: list[np.ndarray]) -> str:
    sizes = ", ".join(str(len(rows)) for rows in groups[:5])
    more = ", …" if len(groups) > 5 else ""
    return (
        f"No tree joins the rows of {len(groups)} groups, of {sizes}{more} rows: the first "
        f"coordinates, up to {len(groups) - 1}, only tell these apart. A smaller depth or more "
        "trees would join them."
    )

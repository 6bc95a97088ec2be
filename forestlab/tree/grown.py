"""A tree that was grown: beside its view, the arrays of scikit-learn's `Tree`.

Whoever reads trees that scikit-learn grew looks at the arrays of `estimator.tree_`: they are here
under the same names, with the same shapes, types and marks. They cannot be written to, since they
are made from the forest's own arrays. Three things differ: rows are compared as they are, not
rounded to float32; X may be of any number type; and entropy is in nats unless the criterion says
bits.
"""

from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from forestlab.core.arrays import AXIS, BOTH, LEAF, LEFT, SIDE
from forestlab.core.tasks import TASKS
from forestlab.forest import decreases, parents
from forestlab.tree.view import TreeView

TREE_LEAF, TREE_UNDEFINED = -1, -2  # scikit-learn's marks of no child, and of no question


class GrownTree(TreeView):
    """A view of a grown tree with what scikit-learn's `Tree` has.

    children_left, children_right : (n_nodes,) the child's number; -1 in a leaf
    feature, threshold : (n_nodes,) a row goes left where X[feature] <= threshold; -2 in a leaf
    missing_go_to_left : (n_nodes,) 1 where a missing value goes left
    value : (n_nodes, n_outputs, n_classes) shares of the classes, 0 behind those of an output that
        has fewer; or (n_nodes, n_outputs, 1) means
    impurity, n_node_samples, weighted_n_node_samples : (n_nodes,) of a node's training rows
    """

    # -- counts

    @property
    def node_count(self) -> int:
        return self.n_nodes

    @property
    def capacity(self) -> int:
        return self.n_nodes

    @property
    def max_depth(self) -> int:
        return self.depth

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def n_outputs(self) -> int:
        return len(self.names_each) or self.n_answers

    @property
    def max_n_classes(self) -> int:
        return int(self.n_classes.max())

    @property
    def n_classes(self) -> np.ndarray:
        each = [len(names) for names in self.names_each]
        return np.array(each or [1] * self.n_outputs, np.intp)

    # -- arrays

    @cached_property
    def children_left(self) -> np.ndarray:
        return _fixed(self.tree.nodes["left"], np.intp)

    @cached_property
    def children_right(self) -> np.ndarray:
        return _fixed(self.tree.nodes["right"], np.intp)

    @cached_property
    def feature(self) -> np.ndarray:
        return self._of_questions("feature", np.intp)

    @cached_property
    def threshold(self) -> np.ndarray:
        return self._of_questions("cut_high", np.float64)

    @cached_property
    def missing_go_to_left(self) -> np.ndarray:
        nodes = self.tree.nodes
        return _fixed((nodes["kind"] != LEAF) & (nodes["missing"] & SIDE == LEFT), np.uint8)

    @cached_property
    def value(self) -> np.ndarray:
        answers = TASKS[self.task].answers
        if self.class_names is None:
            return _fixed(answers(self.tree.stats)[..., None], np.float64)
        shares = np.zeros((self.n_nodes, self.n_outputs, self.max_n_classes))
        for k, weights in enumerate(self.weights_each(self.tree.stats)):
            shares[:, k, : weights.shape[1]] = answers(weights)
        return _fixed(shares, np.float64)

    @cached_property
    def impurity(self) -> np.ndarray:
        return _fixed(self.tree.nodes["impurity"], np.float64)

    @cached_property
    def n_node_samples(self) -> np.ndarray:
        return _fixed(self.tree.nodes["n_rows"], np.intp)

    @cached_property
    def weighted_n_node_samples(self) -> np.ndarray:
        return _fixed(self.tree.nodes["weight"], np.float64)

    def _of_questions(self, field: str, dtype: type) -> np.ndarray:
        require_single_cuts(self.tree.nodes)
        nodes = self.tree.nodes
        return _fixed(np.where(nodes["kind"] == LEAF, TREE_UNDEFINED, nodes[field]), dtype)

    # -- rows

    def apply(self, X, depth: int | None = None) -> np.ndarray:
        """The node where each row ends, (n_rows,); of several that with most of it."""
        return self._ends(X, depth)

    def predict(self, X, depth: int | None = None) -> np.ndarray:
        """The value of each row's end, as scikit-learn's `Tree` has it: (n_rows, n_classes) shares
        of the classes, or (n_rows, 1) means; with several outputs a dimension more, as `value` has.
        Of several ends the mean by the row's shares in them. Labels are the estimator's."""
        values = self._reached(X, depth).mixed(0, lambda nodes, rows: self.value[nodes])
        return values[:, 0] if self.n_outputs == 1 else values

    def decision_path(self, X) -> csr_array:
        """The nodes each row visits, a sparse (n_rows, n_nodes) matrix of ones."""
        found = self._reached(X, None)
        rows, nodes, _ = found.pieces(0)
        return visits(self.tree.nodes, rows, nodes, found.n_rows)

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Each feature's part in the decrease of impurity, (n_features,); normalised to sum to 1,
        else in units of impurity."""
        found = decreases(self.tree, self.n_features) / self.tree.nodes["weight"][0]
        return found / found.sum() if normalize and found.sum() > 0 else found


def _fixed(values: np.ndarray, dtype: type) -> np.ndarray:
    """A copy of its own that nobody writes to by mistake: it would change no prediction."""
    copied: np.ndarray = np.array(values, dtype, order="C")
    copied.flags.writeable = False
    return copied


def require_single_cuts(nodes: np.ndarray) -> None:
    """Raise ValueError unless a feature and a threshold say all that each inner node asks."""
    inner = nodes[nodes["kind"] != LEAF]
    single = (
        (inner["kind"] == AXIS) & (inner["cut_low"] == -np.inf) & (inner["missing"] & SIDE != BOTH)
    )
    if not single.all():
        raise ValueError(
            f"scikit-learn's trees have one threshold of one feature at each node: "
            f"{np.sum(~single)} of the {len(inner)} questions of this tree are of another kind."
        )


def visits(nodes: np.ndarray, rows: np.ndarray, ends: np.ndarray, n_rows: int) -> csr_array:
    """The ways up from rows' ends, in one tree, as a sparse (n_rows, n_nodes) matrix of ones.

    Of int64 as scikit-learn's, so that products such as `paths @ paths.T` do not overflow.
    """
    parent = parents(nodes)
    visitors, visited = [], []
    row, i = rows, ends
    while len(row):
        visitors.append(row)
        visited.append(i)
        i = parent[i]
        row, i = row[i >= 0], i[i >= 0]
    row, i = np.concatenate(visitors), np.concatenate(visited)
    found = csr_array((np.ones(len(row), np.int64), (row, i)), (n_rows, len(nodes)))
    found.sum_duplicates()  # ways that meet
    found.data[:] = 1
    return found

"""The trees that a page lets one walk through: as many of the first as there is room for.

Nodes stand in preorder, as in the forest: the left child of node i is i + 1, the right one
``i + skip[i]``; a leaf has a skip of 0.
"""

from typing import Any

import numpy as np

from forestlab.core.arrays import AXIS, LEAF, Tree, n_trees, tree_of
from forestlab.core.prune import depths
from forestlab.core.tasks import TASKS, variances
from forestlab.forest import ends
from forestlab.report.packing import brief, floats, smallest
from forestlab.report.subject import Subject
from forestlab.tree.view import question

NODE = 20  # bytes of a node, its question in words among them, beside what it says
ENTRY = 3  # of the weight of one class
LONGEST = 100  # letters of a question
CUT = ["feature", "cut_low", "cut_high", "missing", "missing_share"]  # all that a single cut asks


class Nodes:
    """Of one tree after the other, what is told of its nodes."""

    def __init__(self, subject: Subject):
        self.subject = subject
        self.texts: dict[str, int] = {"": 0}
        self.cuts: dict[tuple, int] = {}  # the numbers of texts, by what single cuts ask
        self.parts: list[dict[str, np.ndarray]] = []
        self.left_out: list[int] = []  # nodes of each tree
        self.n_levels: list[int] = []  # that are told of each
        self.names = [brief(name, 40) for name in subject.about.features]

    def add(self, tree: Tree, n_levels: int) -> None:
        """Add the nodes of the upper levels of a tree."""
        keep = depths(tree) < n_levels
        place = np.cumsum(keep) - 1  # of kept nodes, among them
        here = np.flatnonzero(keep)
        nodes, stats = tree.nodes[here], tree.stats[here]
        asks = nodes["kind"] != LEAF
        skip = np.zeros(len(here), np.int64)
        goes_on = asks & np.append(keep, False)[here + 1]  # else the page does not go on below it
        skip[goes_on] = place[nodes["right"][goes_on]] - np.flatnonzero(goes_on)
        part = {
            "skip": skip,
            "text": self._texts(tree, here),
            "feature": np.where(asks & (nodes["feature"] >= 0), nodes["feature"] + 1, 0),
            "rows": nodes["n_rows"],
            "impurity": floats(nodes["impurity"]),
        }
        self.parts.append(part | _said(self.subject, stats))
        self.left_out.append(len(keep) - len(here))
        self.n_levels.append(n_levels)

    def _texts(self, tree: Tree, here: np.ndarray) -> np.ndarray:
        """The number of each node's question, 0 of leaves; of equal cuts it is written once."""
        found = np.zeros(len(here), np.int64)
        keys, kinds = tree.nodes[CUT][here].tolist(), tree.nodes["kind"][here]
        for k in np.flatnonzero(kinds != LEAF).tolist():
            if kinds[k] != AXIS:
                found[k] = self._text(tree, int(here[k]))
                continue
            if keys[k] not in self.cuts:
                self.cuts[keys[k]] = self._text(tree, int(here[k]))
            found[k] = self.cuts[keys[k]]
        return found

    def _text(self, tree: Tree, i: int) -> int:
        text = brief(question(tree, i, self.names, self.subject.about.levels), LONGEST)
        return self.texts.setdefault(text, len(self.texts))

    def told(self) -> dict[str, Any]:
        joined = {key: np.concatenate([part[key] for part in self.parts]) for key in self.parts[0]}
        sizes = [len(part["skip"]) for part in self.parts]
        told = {
            key: values if values.dtype == np.float32 else smallest(values)
            for key, values in joined.items()
        }
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        return told | {"first": first, "texts": list(self.texts), "left_out": self.left_out}


def _said(subject: Subject, stats: np.ndarray) -> dict[str, Any]:
    """What nodes say: the weight of each class that is there, or mean and deviation."""
    if subject.findings.has_classes:
        of_node, classes = np.nonzero(stats)
        weights = stats[of_node, classes]
        is_whole = bool((weights == np.floor(weights)).all())
        return {
            "n_classes": np.bincount(of_node, minlength=len(stats)),
            "classes": classes,
            "weights": weights.astype(np.int64) if is_whole else floats(weights),
        }
    if subject.findings.task == "density":
        return {}
    return {
        "mean": floats(TASKS["regression"].answers(stats)[:, 0]),
        "deviation": floats(np.sqrt(np.maximum(variances(stats)[:, 0], 0.0))),
    }


def told_trees(subject: Subject, X: np.ndarray) -> dict[str, Any]:
    """The first trees, and where rows X end in each: of a row that branches, where most of it
    does. Of a first tree that is too large, the upper levels."""
    forest, room = subject.grown.forest, subject.room.trees
    nodes, of_ends = Nodes(subject), 2 * len(X)
    for t in range(n_trees(forest)):
        tree = tree_of(forest, t)
        cost = _cost(subject, tree)
        if cost.sum() + of_ends > room and nodes.parts:
            break
        nodes.add(tree, _levels_that_fit(tree, cost, room))
        room -= int(cost.sum()) + of_ends
    own = {"n_all": n_trees(forest), "ends": _ends(subject, X, nodes.n_levels)}
    return nodes.told() | own


def _cost(subject: Subject, tree: Tree) -> np.ndarray:
    """Bytes of each node."""
    entries = np.count_nonzero(tree.stats, axis=1) if subject.findings.has_classes else 3
    return np.broadcast_to(NODE + ENTRY * entries, len(tree.nodes))


def _levels_that_fit(tree: Tree, cost: np.ndarray, room: int) -> int:
    """How many levels of a tree there is room for; the root's at least."""
    upto = np.cumsum(np.bincount(depths(tree), cost))
    return max(int(np.searchsorted(upto, room, side="right")), 1)


def _ends(subject: Subject, X: np.ndarray, n_levels: list[int]) -> np.ndarray:
    """(n trees, rows) nodes, among those that are told of."""
    forest = subject.grown.forest
    found = ends(forest, X, None, subject.n_jobs)[: len(n_levels)]
    # Only the first may be cut. In preorder, what is told of last before a node that is not is
    # the one that it stands below.
    told = depths(tree_of(forest, 0)) < n_levels[0]
    found[0] = (np.cumsum(told) - 1)[found[0]]
    return smallest(found)

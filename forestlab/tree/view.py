"""What a person sees of one tree: its text, its picture, and the walk of one row through it.

A *question* is what an inner node asks of a row, such as "salary ≤ 50000"; a row for which it holds
goes left, by the edge called *yes*. Its words are made by `question` alone, for text, walks and
drawings alike. The *value* of a node is what the tree would answer if it ended there: a label, or
a mean; a list of them if there are several targets.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from forestlab.core.arrays import BOTH, CATEGORY, LEAF, LEFT, RIGHT, Tree, plant
from forestlab.core.prune import depths
from forestlab.core.questions import (
    condition,
    described,
    known_categories,
    named,
    number_asked,
    short,
)
from forestlab.core.tasks import TASKS, require_task
from forestlab.core.walk import NO_DEPTH
from forestlab.forest import Reached, reached
from forestlab.tree.levels import is_missing, refuse_dicts, row_numbers, row_of

SIDES = {"left": LEFT, "right": RIGHT, "both": BOTH}
DEEPEST_INDENT = 60  # levels; deeper lines only count the rest, else text grows as depth squared


class Step(NamedTuple):
    """One node on a row's way. The last has no question; its value is the prediction."""

    node: int
    question: str | None
    answer: bool | None
    value: Any  # what the question was about: a number, or a category; NaN if it is missing


# ---- words -------------------------------------------------------------------------------------


def rounded(number: float, decimals: int) -> str:
    text = f"{round(float(number), decimals) + 0.0:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def question(tree: Tree, i: int, names: Sequence[str], levels: Sequence | None = None) -> str:
    """What inner node i asks of a row, without the question mark."""
    node, text = tree.nodes[i], condition(tree, i, names, levels)
    if node["missing"] == BOTH:
        return f"{text} (missing: {short(_share(node))} yes)"
    return f"{text} or missing" if node["missing"] == LEFT else text


def _share(node) -> float:
    """The float64 that reads like the node's float32: 0.7, not 0.699999988."""
    return float(str(node["missing_share"]))


# ---- the view ----------------------------------------------------------------------------------


class TreeView:
    """One tree with the names a person knows it by.

    Parameters
    ----------
    tree : core.arrays.Tree
    task : "classification", "regression" or "density"
    feature_names : one for each column of X
    class_names : one for each class, or a list of such for each of several targets; None for
        regression, or to number the classes
    levels : for each feature the array of its categories, by their numbers, or None if it is one of
        numbers; None if all are, or categories are known by their numbers alone
    """

    def __init__(
        self,
        tree: Tree,
        task: str,
        feature_names: Sequence[str],
        class_names=None,
        levels: Sequence[np.ndarray | None] | None = None,
    ):
        require_task(task)
        self.tree = tree
        self.task = task
        self.feature_names = [str(name) for name in feature_names]
        self.levels = None if levels is None else list(levels)
        self.class_names: np.ndarray | list[np.ndarray] | None = None
        if TASKS[task].has_classes:
            n_classes = tree.stats.shape[1]
            named = range(n_classes) if class_names is None else class_names
            self.class_names = _as_names(named)
            n_names = sum(map(len, self.names_each))
            if n_names != n_classes:
                raise ValueError(f"{n_names} class names for {n_classes} classes")

    @property
    def names_each(self) -> list[np.ndarray]:
        """The class names of each target; none for regression."""
        if self.class_names is None:
            return []
        return self.class_names if isinstance(self.class_names, list) else [self.class_names]

    @cached_property
    def depths(self) -> np.ndarray:
        """Each node's depth, (n_nodes,)."""
        return depths(self.tree)

    @property
    def n_nodes(self) -> int:
        return len(self.tree.nodes)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.tree.nodes["kind"] == LEAF))

    @property
    def depth(self) -> int:
        return int(self.depths.max())

    @property
    def n_answers(self) -> int:
        """Classes, or targets."""
        return TASKS[self.task].n_answers(self.tree.stats.shape[1])

    # -- nodes

    def question(self, i: int) -> str:
        return question(self.tree, i, self.feature_names, self.levels)

    def value_of(self, i: int):
        """A label or a mean; of several targets a list."""
        return self._values(self.tree.stats[[i]]).tolist()[0]

    def value_text(self, i: int, decimals: int = 3) -> str:
        if self.class_names is not None:
            labels, several = self.value_of(i), isinstance(self.class_names, list)
            return f"[{', '.join(map(str, labels))}]" if several else str(labels)
        means = [
            f"{mean:.2g}" if 0 < abs(mean) < 10**-decimals else rounded(mean, decimals)
            for mean in np.atleast_1d(self.value_of(i))
        ]
        return means[0] if len(means) == 1 else f"[{', '.join(means)}]"

    def facts(self, i: int, decimals: int = 3) -> dict[str, str]:
        """What is known of node i's training rows; nothing of rows if the tree was typed in."""
        node, facts = self.tree.nodes[i], {}
        if node["n_rows"] > 0:
            facts["rows"] = count(node["n_rows"], "row")
            facts["impurity"] = f"impurity {rounded(node['impurity'], decimals)}"
        facts["weight"] = f"weight {rounded(node['weight'], decimals)}"
        if self.class_names is not None:
            facts["classes"] = " | ".join(
                ", ".join(f"{c}: {rounded(w, decimals)}" for c, w in weights.items())
                for weights in self._class_weights(i)
            )
        return facts

    def shown(self, max_depth: int | None = None) -> list[int]:
        """The nodes of the tree cut at max_depth, in preorder."""
        return np.flatnonzero(self.depths <= _depth(max_depth)).tolist()

    def ends_at(self, i: int, max_depth: int | None = None) -> bool:
        """Is node i a leaf of the tree cut at max_depth?"""
        return bool(self.tree.nodes["kind"][i] == LEAF or self.depths[i] == _depth(max_depth))

    def below(self, i: int) -> tuple[int, int]:
        """How many nodes stand below node i, and on how many levels."""
        outside = self.depths[i + 1 :] <= self.depths[i]
        n = int(outside.argmax()) if outside.any() else len(outside)
        return n, int(self.depths[i : i + 1 + n].max() - self.depths[i])

    def weights_each(self, stats: np.ndarray) -> list[np.ndarray]:
        """The class weights of each target, (n, n_classes) each; none for regression."""
        ends = np.cumsum([len(names) for names in self.names_each])
        return np.split(stats, ends, axis=1)[:-1]

    def _values(self, stats: np.ndarray) -> np.ndarray:
        if self.class_names is not None:
            weights = zip(self.names_each, self.weights_each(stats), strict=True)
            labels = [names[of_target.argmax(axis=1)] for names, of_target in weights]
            return np.stack(labels, axis=1) if isinstance(self.class_names, list) else labels[0]
        means = TASKS[self.task].answers(stats)
        return means[:, 0] if self.n_answers == 1 else means

    def _class_weights(self, i: int) -> list[dict[Any, float]]:
        """Of each target, by label; without those that are not there."""
        found = []
        weights = self.weights_each(self.tree.stats[[i]])
        for names, of_target in zip(self.names_each, weights, strict=True):
            pairs = zip(names.tolist(), of_target[0].tolist(), strict=True)
            found.append({label: weight for label, weight in pairs if weight})
        return found

    # -- rows

    def predict(self, X, depth: int | None = None) -> np.ndarray:
        """Labels or means, (n,) or (n, n_targets), of the tree or of the tree cut at a depth.

        Where a missing value goes both ways, posteriors or means of the row's ends are averaged by
        its shares.
        """
        found = self._reached(X, depth)
        stats = self.tree.stats[found.nodes[0]]
        if found.branching:
            rows = found.branching[0].rows
            stats[rows] = found.mixed(0, lambda nodes, rows: self._shares(nodes))[rows]
        return self._values(stats)

    def _shares(self, nodes: np.ndarray) -> np.ndarray:
        """Statistics of some nodes, class weights as shares in those of their target."""
        stats = self.tree.stats[nodes]
        each = [
            weights / weights.sum(axis=1, keepdims=True) for weights in self.weights_each(stats)
        ]
        return np.hstack(each) if each else stats

    def _ends(self, X, depth: int | None) -> np.ndarray:
        return self._reached(X, depth).nodes[0]

    def _reached(self, X, depth: int | None) -> Reached:
        """Where each row ends."""
        refuse_dicts(X)
        X = X if issparse(X) else self._numbers(X)
        if X.ndim != 2 or X.shape[1] != len(self.feature_names):
            n = count(len(self.feature_names), "feature")
            raise ValueError(f"this tree takes rows of {n}, not an array of shape {X.shape}")
        return reached(plant([self.tree]), X, _depth(depth))

    def _numbers(self, X) -> np.ndarray:
        """Rows as the kernels take them: of categories the numbers."""
        if self.levels is not None:
            return row_numbers(X, self.levels, self.feature_names)
        try:
            return np.require(X, np.float64, ["C", "W"])
        except (TypeError, ValueError):  # not of numbers alone
            return row_numbers(X, [None] * len(self.feature_names), self.feature_names)

    def walk(self, x, depth: int | None = None) -> list[Step]:
        """The nodes that row x meets, from the root to its end, or to that with most of it.

        Parameters
        ----------
        x : (n_features,) values in the order of the features; or a dict, a series or a data frame
            of one row, which has them by name
        """
        x = row_of(x, self.feature_names)
        end, row = int(self._ends([x], depth)[0]), self._numbers([x])[0]
        i, steps = 0, []
        while i != end:
            left, right = (int(self.tree.nodes[side][i]) for side in ("left", "right"))
            answer = end < right  # in preorder all that is left stands before all that is right
            steps.append(Step(i, self.question(i), answer, self._asked(i, row, x)))
            i = left if answer else right
        return [*steps, Step(end, None, None, self.value_of(end))]

    def explain(self, x, depth: int | None = None) -> str:
        """The walk of row x, as `walk` takes it, a line a step: x0 ≤ 7? 8 → no"""
        *asked, end = self.walk(x, depth)
        lines = [
            f"{step.question}? {self._asked_text(step.node, step.value)}"
            f" → {'yes' if step.answer else 'no'}"
            for step in asked
        ]
        return "\n".join([*lines, f"prediction: {self.value_text(end.node)}"])

    def _asked(self, i: int, row: np.ndarray, x):
        """What node i's question is about: a number, or the category that row x has."""
        number = number_asked(self.tree, i, row)
        feature = self.tree.nodes["feature"][i]
        has_levels = self.levels is not None and feature >= 0 and self.levels[feature] is not None
        return x[feature] if has_levels and not is_missing(x[feature]) else number

    def _asked_text(self, i: int, value) -> str:
        """What node i's question was about, in words."""
        if is_missing(value):
            return "missing"
        if self.levels is None or self.tree.nodes["kind"][i] != CATEGORY:
            return short(value)
        known = named(self.tree, i, known_categories(self.tree, i), self.levels)
        return str(value) if value in known else f"{value}, not seen here,"

    # -- the whole tree

    def export_text(
        self, max_depth: int | None = None, decimals: int = 3, show_stats: bool = False
    ) -> str:
        """The tree as indented text.

        Parameters
        ----------
        max_depth : show the tree cut at this depth, and say how much stands below each cut
        decimals : of values and statistics; cuts always have six digits
        show_stats : add rows, impurity, weight and class weights of each node
        """
        is_right = np.zeros(self.n_nodes + 1, bool)
        is_right[self.tree.nodes["right"]] = True  # a leaf's -1 sets the spare last place
        rails = [""] * (self.depth + 1)  # what stands left of a line, by depth
        lines = []
        for i in self.shown(max_depth):
            depth = int(self.depths[i])
            rails[depth] = "   " if is_right[i] else "│  "
            edge = "" if i == 0 else "└─ no: " if is_right[i] else "├─ yes: "
            hidden = max(0, depth - 1 - DEEPEST_INDENT)
            indent = (f"({hidden} above) " if hidden else "") + "".join(rails[1 + hidden : depth])
            lines.append(indent + edge + self._line(i, max_depth, decimals, show_stats))
        return "\n".join(lines)

    def _line(self, i: int, max_depth: int | None, decimals: int, show_stats: bool) -> str:
        ends = self.ends_at(i, max_depth)
        text = self.value_text(i, decimals) if ends else self.question(i) + "?"
        if show_stats:
            text += f" [{'; '.join(self.facts(i, decimals).values())}]"
        if ends and self.tree.nodes["kind"][i] != LEAF:
            n_nodes, n_levels = self.below(i)
            text += f" … {count(n_nodes, 'node')} below, {count(n_levels, 'level')} deep"
        return text

    def draw(self, ax=None, max_depth: int | None = None, **options):
        """Draw the tree with matplotlib, on axes, on a new figure or to a file; see
        `figures.draw_tree`. Returns the axes."""
        try:
            from forestlab.figures import draw_tree
        except ImportError as error:
            raise ImportError(
                'Drawing a tree needs matplotlib: pip install "forestlab[figures]"'
            ) from error
        return draw_tree(self, ax=ax, max_depth=max_depth, **options)

    def describe(self) -> dict:
        """The tree as nested dicts, which `build_tree` takes back.

        It keeps questions, values and weights; not training rows, impurities or deviations.
        """
        nodes = self.tree.nodes
        pieces: list[dict] = [{} for _ in nodes]
        for i in reversed(range(self.n_nodes)):
            if nodes["kind"][i] == LEAF:
                pieces[i] = self._describe_leaf(i)
            else:
                children = {side: pieces[nodes[side][i]] for side in ("left", "right")}
                pieces[i] = self._describe_question(i) | children
        names: dict[str, Any] = {"task": self.task, "feature_names": list(self.feature_names)}
        if self.class_names is not None:
            each = [own.tolist() for own in self.names_each]
            names["class_names"] = each if isinstance(self.class_names, list) else each[0]
        if self.levels is not None:
            pairs = zip(self.feature_names, self.levels, strict=True)
            names["levels"] = {name: own.tolist() for name, own in pairs if own is not None}
        return pieces[0] | names

    def _describe_leaf(self, i: int) -> dict:
        weights = self._class_weights(i)
        if any(len(of_target) > 1 for of_target in weights):
            return {"value": weights if isinstance(self.class_names, list) else weights[0]}
        weight = float(self.tree.nodes["weight"][i])
        return {"value": self.value_of(i)} | ({} if weight == 1 else {"weight": weight})

    def _describe_question(self, i: int) -> dict:
        node = self.tree.nodes[i]
        piece = described(self.tree, i, self.feature_names, self.levels)
        if node["missing"] in (LEFT, BOTH):
            piece["missing"] = next(side for side in SIDES if SIDES[side] == node["missing"])
        return piece | ({"missing_share": _share(node)} if node["missing"] == BOTH else {})

    def __str__(self) -> str:
        return self.export_text()

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.task}, {count(self.n_nodes, 'node')}, depth {self.depth})"
        )


def _as_names(given) -> np.ndarray | list[np.ndarray]:
    """Class names, or a list of those of each target."""
    if len(given) and np.ndim(given[0]) == 1:
        return [np.asarray(names) for names in given]
    return np.asarray(given)


def _depth(depth: int | None) -> int:
    if depth is not None and depth < 0:
        raise ValueError(f"a depth is 0 or more, not {depth}")
    return NO_DEPTH if depth is None else int(depth)

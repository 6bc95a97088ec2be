"""What a person sees of one tree: its text, its picture, and the walk of one row through it.

A *question* is what an inner node asks of a row, such as "salary ≤ 50000"; a row for which it holds
goes left, by the edge called *yes*. Its words are made by `question` alone, for text, walks and
drawings alike. The *value* of a node is what the tree would answer if it ended there: a label, or
a mean. A *description* is a tree as nested dicts: `build_tree` reads it, `TreeView.describe`
writes it, so that a textbook's diagram can be typed in, walked, printed and drawn.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import (
    AXIS,
    BOTH,
    CATEGORY,
    LEAF,
    LEFT,
    NODE,
    OBLIQUE,
    RIGHT,
    Tree,
    plant,
)
from forestlab.core.descend import NO_DEPTH, find_ends, is_plain, oblique_value, quadratic_value
from forestlab.core.prune import depths

SIDES = {"left": LEFT, "right": RIGHT, "both": BOTH}
DEEPEST_INDENT = 60  # levels; deeper lines only count the rest, else text grows as depth squared


class Step(NamedTuple):
    """One node on a row's way. The last has no question; its value is the prediction."""

    node: int
    question: str | None
    answer: bool | None
    value: Any  # the number that the question was about


# ---- words -------------------------------------------------------------------------------------


def short(number: float) -> str:
    """Six digits, or as many as stand before the point."""
    number = float(number)
    if not abs(number) < 1e15:
        return f"{number:g}"
    if number == round(number):
        return str(round(number))
    return f"{number:.{max(6, len(str(int(abs(number)))))}g}"


def rounded(number: float, decimals: int) -> str:
    text = f"{round(float(number), decimals) + 0.0:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def question(tree: Tree, i: int, names: Sequence[str]) -> str:
    """What inner node i asks of a row, without the question mark."""
    node = tree.nodes[i]
    if node["kind"] in (AXIS, CATEGORY):
        asked = names[node["feature"]]
    elif node["kind"] == OBLIQUE:
        asked = _sum_text([(factor, names[f]) for f, factor in _terms(tree, i)])
    else:
        asked = "a quadratic form"
    if node["kind"] == CATEGORY:
        text = f"{asked} in {{{', '.join(map(str, _categories(tree, i)))}}}"
    else:
        low = "" if node["cut_low"] == -np.inf else f"{short(node['cut_low'])} < "
        text = f"{low}{asked} ≤ {short(node['cut_high'])}"
    if node["missing"] == BOTH:
        return f"{text} (missing: {short(_share(node))} yes)"
    return f"{text} or missing" if node["missing"] == LEFT else text


def _sum_text(terms: list[tuple[float, str]]) -> str:
    """2·a − b"""
    text = ""
    for factor, name in terms:
        sign = ("−" if factor < 0 else "") if not text else (" − " if factor < 0 else " + ")
        text += sign + (name if abs(factor) == 1 else f"{short(abs(factor))}·{name}")
    return text


def _terms(tree: Tree, i: int) -> list[tuple[int, float]]:
    """The features of an oblique node and their factors."""
    pool = tree.params[tree.nodes["params"][i] :].tolist()
    return [(int(pool[k]), pool[k + 1]) for k in range(1, 2 * int(pool[0]), 2)]


def _categories(tree: Tree, i: int) -> list[int]:
    """The categories that node i sends left."""
    pool = tree.bits[tree.nodes["bits"][i] :].tolist()
    words = enumerate(pool[1 : 1 + pool[0]])
    return [64 * k + bit for k, word in words for bit in range(64) if word >> bit & 1]


def _share(node) -> float:
    """The float64 that reads like the node's float32: 0.7, not 0.699999988."""
    return float(str(node["missing_share"]))


# ---- the view ----------------------------------------------------------------------------------


class TreeView:
    """One tree with the names a person knows it by.

    Parameters
    ----------
    tree : core.arrays.Tree
    task : "classification" or "regression"
    feature_names : one for each column of X
    class_names : one for each class; None for regression, or to number the classes
    """

    def __init__(self, tree: Tree, task: str, feature_names: Sequence[str], class_names=None):
        if task not in ("classification", "regression"):
            raise ValueError(f"task is 'classification' or 'regression', not {task!r}")
        self.tree = tree
        self.task = task
        self.feature_names = [str(name) for name in feature_names]
        self.class_names: np.ndarray | None = None
        if task == "classification":
            n_classes = tree.stats.shape[1]
            self.class_names = np.asarray(range(n_classes) if class_names is None else class_names)
            if len(self.class_names) != n_classes:
                raise ValueError(f"{len(self.class_names)} class names for {n_classes} classes")

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

    # -- nodes

    def question(self, i: int) -> str:
        return question(self.tree, i, self.feature_names)

    def value(self, i: int):
        """A label, a mean, or a list of means."""
        return self._values(self.tree.stats[[i]]).tolist()[0]

    def value_text(self, i: int, decimals: int = 3) -> str:
        if self.task == "classification":
            return str(self.value(i))
        means = [
            f"{mean:.2g}" if 0 < abs(mean) < 10**-decimals else rounded(mean, decimals)
            for mean in np.atleast_1d(self.value(i))
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
            weights = self._class_weights(i).items()
            facts["classes"] = ", ".join(f"{c}: {rounded(w, decimals)}" for c, w in weights)
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

    def _values(self, stats: np.ndarray) -> np.ndarray:
        if self.class_names is not None:
            return self.class_names[stats.argmax(axis=1)]
        n_targets = (stats.shape[1] - 1) // 2
        return stats[:, 1] if n_targets == 1 else stats[:, 1 : 1 + n_targets]

    def _class_weights(self, i: int) -> dict[Any, float]:
        pairs = zip(np.asarray(self.class_names).tolist(), self.tree.stats[i].tolist(), strict=True)
        return {label: weight for label, weight in pairs if weight}

    # -- rows

    def predict(self, X, depth: int | None = None) -> np.ndarray:
        """Labels (n,), or means (n,) or (n, n_targets), of the tree or of the tree cut at a depth.

        Where a missing value goes both ways, the end that gets most of the row answers.
        """
        return self._values(self.tree.stats[self._ends(X, depth)])

    def _ends(self, X, depth: int | None) -> np.ndarray:
        X = np.require(X, np.float64, ["C", "W"])
        if X.ndim != 2 or X.shape[1] != len(self.feature_names):
            n = count(len(self.feature_names), "feature")
            raise ValueError(f"this tree takes rows of {n}, not an array of shape {X.shape}")
        forest = plant([self.tree])
        ends = np.empty((1, len(X)), np.int64)
        find_ends(forest, is_plain(forest.nodes), X, _depth(depth), ends)
        return ends[0]

    def walk(self, x, depth: int | None = None) -> list[Step]:
        """The nodes that row x meets, from the root to its end."""
        row = np.asarray(x, np.float64)
        end = int(self._ends([row], depth)[0])
        i, steps = 0, []
        while i != end:
            left, right = (int(self.tree.nodes[side][i]) for side in ("left", "right"))
            answer = end < right  # in preorder all that is left stands before all that is right
            steps.append(Step(i, self.question(i), answer, self._asked(i, row)))
            i = left if answer else right
        return [*steps, Step(end, None, None, self.value(end))]

    def explain(self, x, depth: int | None = None) -> str:
        """The walk of row x, a line a step: x1 ≤ 7? 8 → no"""
        *asked, end = self.walk(x, depth)
        lines = [
            f"{step.question}? {'missing' if np.isnan(step.value) else short(step.value)}"
            f" → {'yes' if step.answer else 'no'}"
            for step in asked
        ]
        return "\n".join([*lines, f"prediction: {self.value_text(end.node)}"])

    def _asked(self, i: int, row: np.ndarray) -> float:
        """The number that node i's question is about."""
        node = self.tree.nodes[i]
        if node["kind"] in (AXIS, CATEGORY):
            return float(row[node["feature"]])
        number = oblique_value if node["kind"] == OBLIQUE else quadratic_value
        return float(number(self.tree.params, node["params"], row))

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
        """Draw the tree with matplotlib; see `figures.draw_tree`. Returns the axes."""
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
            names["class_names"] = self.class_names.tolist()
        return pieces[0] | names

    def _describe_leaf(self, i: int) -> dict:
        if self.class_names is not None and len(self._class_weights(i)) > 1:
            return {"value": self._class_weights(i)}
        weight = float(self.tree.nodes["weight"][i])
        return {"value": self.value(i)} | ({} if weight == 1 else {"weight": weight})

    def _describe_question(self, i: int) -> dict:
        node = self.tree.nodes[i]
        piece: dict[str, Any] = {}
        if node["kind"] in (AXIS, CATEGORY):
            piece["feature"] = self.feature_names[node["feature"]]
        elif node["kind"] == OBLIQUE:
            piece["weights"] = {self.feature_names[f]: w for f, w in _terms(self.tree, i)}
        else:
            raise ValueError(f"node {i} asks a quadratic question, which has no description")
        if node["kind"] == CATEGORY:
            piece["in"] = _categories(self.tree, i)
        elif node["cut_low"] == -np.inf:
            piece["cut"] = float(node["cut_high"])
        else:
            piece["between"] = [float(node["cut_low"]), float(node["cut_high"])]
        if node["missing"] != RIGHT:
            piece["missing"] = next(side for side in SIDES if SIDES[side] == node["missing"])
        return piece | ({"missing_share": _share(node)} if node["missing"] == BOTH else {})

    def __str__(self) -> str:
        return self.export_text()

    def __repr__(self) -> str:
        return f"TreeView({self.task}, {count(self.n_nodes, 'node')}, depth {self.depth})"


def _depth(depth: int | None) -> int:
    if depth is not None and depth < 0:
        raise ValueError(f"a depth is 0 or more, not {depth}")
    return NO_DEPTH if depth is None else int(depth)


# ---- trees typed in by hand --------------------------------------------------------------------

LEAF_KEYS = ("value", "weight")
ASKED_KEYS = ("feature", "weights")  # one of them: what the question is about
RANGE_KEYS = ("cut", "between", "in")  # one of them: what goes left
INNER_KEYS = (*ASKED_KEYS, *RANGE_KEYS, "left", "right", "missing", "missing_share")
ROOT_KEYS = ("task", "feature_names", "class_names")
MAX_CATEGORY = 2**20
LABEL = str | Real | np.bool_


class _Piece(NamedTuple):
    content: dict
    parent: int
    side: str


class _Wrong(Exception):
    """What is wrong with a piece, to be told with its place."""


def build_tree(
    description, feature_names=None, class_names=None, task: str | None = None
) -> TreeView:
    """A tree from nested dicts.

    ::

        {"value": 9}, or just 9                                      a leaf, here of regression
        {"value": "decline", "weight": 3}                            a leaf of one class
        {"value": {"accept": 2, "decline": 1}}                       a leaf of several, by weight
        {"feature": "salary", "cut": 50000, "left": …, "right": …}   left if salary ≤ 50000
        {"feature": 0, "between": [2, 5], …}                         left if 2 < x1 ≤ 5
        {"weights": {"a": 2, "b": -1}, "cut": 0.5, …}                left if 2·a − b ≤ 0.5
        {"feature": "colour", "in": [0, 3], …}                       left if category 0 or 3

    A missing value goes right; with ``"missing": "left"`` in the node it goes left, and with
    ``"missing": "both", "missing_share": 0.7`` both ways, with 0.7 of its weight to the left.
    Inner nodes' statistics are summed up from their leaves, of weight 1 unless given.

    Parameters
    ----------
    description : dict
    feature_names : the columns' names. Without them: names in their order of appearance, or
        x1, x2, … for features given by number
    class_names : the labels in their order; sorted if not given
    task : "classification" or "regression"; by default classification if values are text or bools

    The description's root may hold the last three itself.
    """
    pieces = _unfold(description)
    root = pieces[0].content
    feature_names = root.get("feature_names") if feature_names is None else feature_names
    names = _name_features(pieces, feature_names)
    labels = root.get("class_names") if class_names is None else class_names
    task = task or root.get("task") or _guess_task(pieces, labels)
    if task == "classification":
        labels = _labels(pieces) if labels is None else np.asarray(labels).tolist()
    tree = _read(pieces, names, labels if task == "classification" else None)
    _sum_up(tree, task)
    return TreeView(tree, task, names, labels)


def _unfold(description) -> list[_Piece]:
    """The description's nodes in preorder."""
    pieces: list[_Piece] = []
    waiting = [_Piece(description, -1, "root")]
    while waiting:
        piece = waiting.pop()
        if not isinstance(piece.content, dict):
            piece = piece._replace(content={"value": piece.content})
        pieces.append(piece)
        i = len(pieces) - 1
        with _told_where(pieces, i):
            _check_keys(piece.content, ROOT_KEYS if i == 0 else ())
        if "value" not in piece.content:
            waiting += [_Piece(piece.content[side], i, side) for side in ("right", "left")]
    return pieces


@contextmanager
def _told_where(pieces: list[_Piece], i: int) -> Iterator[None]:
    try:
        yield
    except _Wrong as wrong:
        path = []
        while i >= 0:
            path.append(pieces[i].side)
            i = pieces[i].parent
        raise ValueError(f"{'.'.join(reversed(path))}: {wrong}") from None


def _need(condition: bool, otherwise: str) -> None:
    if not condition:
        raise _Wrong(otherwise)


def _check_keys(content: dict, more: Sequence[str]) -> None:
    is_leaf = "value" in content
    allowed = LEAF_KEYS if is_leaf else INNER_KEYS
    unknown = [key for key in content if key not in (*allowed, *more)]
    node = "a leaf" if is_leaf else "an inner node"
    _need(not unknown, f"{unknown} not known; {node} may have {', '.join(allowed)}")
    for keys in () if is_leaf else (ASKED_KEYS, RANGE_KEYS):
        choice = f"a leaf needs value; an inner node needs one of {', '.join(keys)}"
        _need(sum(key in content for key in keys) == 1, choice)
    both = "left" in content and "right" in content
    _need(is_leaf or both, "an inner node needs left and right")


def _features(content: dict) -> list:
    """The features that a question is about, by name or number; none for a leaf."""
    weights = content.get("weights", ())
    return [content["feature"]] if "feature" in content else list(weights)


def _name_features(pieces: list[_Piece], given) -> list[str]:
    if given is not None:
        return [str(name) for name in given]
    used = [feature for piece in pieces for feature in _features(piece.content)]
    names = [feature for feature in used if isinstance(feature, str)]
    numbers = [feature for feature in used if _is_integer(feature)]
    if names and numbers:
        raise ValueError("some features have names and some numbers: give feature_names too")
    return list(dict.fromkeys(names)) or [f"x{j + 1}" for j in range(max(numbers, default=-1) + 1)]


def _guess_task(pieces: list[_Piece], labels) -> str:
    values = [piece.content.get("value") for piece in pieces]
    by_label = any(isinstance(value, str | bool | np.bool_ | dict) for value in values)
    return "regression" if labels is None and not by_label else "classification"


def _labels(pieces: list[_Piece]) -> list:
    labels: list = []
    for piece in pieces:
        value = piece.content.get("value")
        labels += value if isinstance(value, dict) else [value]
    labels = [label for label in labels if isinstance(label, LABEL)]
    return np.unique([label for label in labels if isinstance(label, str)] or labels).tolist()


def _read(pieces: list[_Piece], names: list[str], labels: list | None) -> Tree:
    """The tree with its questions, children and leaves, not yet summed up."""
    nodes = np.zeros(len(pieces), NODE)
    for field in ("feature", "left", "right", "params", "bits"):
        nodes[field] = -1
    nodes["missing"], nodes["cut_low"], nodes["cut_high"] = RIGHT, -np.inf, np.inf
    params: list[float] = []
    bits: list[int] = []
    leaves: dict[int, list[float]] = {}
    for i, (content, parent, side) in enumerate(pieces):
        if parent >= 0:
            nodes[side][parent] = i
        with _told_where(pieces, i):
            if "value" not in content:
                _read_question(nodes[i], content, names, params, bits)
                _read_missing(nodes[i], content)
                continue
            leaves[i] = _read_leaf(content, labels)
            same = len(leaves[i]) == len(next(iter(leaves.values())))
            _need(same, "all leaves must have the same number of targets")
    stats = np.zeros((len(pieces), len(leaves[len(pieces) - 1])))
    stats[list(leaves)] = list(leaves.values())
    return Tree(nodes, stats, np.array(params, np.float64), np.array(bits, np.uint64))


def _read_question(node, content: dict, names: list[str], params: list, bits: list) -> None:
    features = [_place(feature, names) for feature in _features(content)]
    if "feature" in content:
        node["kind"], node["feature"] = CATEGORY if "in" in content else AXIS, features[0]
    else:
        weights = content["weights"]
        _need(
            isinstance(weights, dict) and len(weights) > 0, "weights must be {feature: factor, …}"
        )
        _need("in" not in content, "'in' goes with a feature, not with weights")
        node["kind"], node["params"] = OBLIQUE, len(params)
        factors = [_number(weight, "a weight") for weight in weights.values()]
        params += [len(features), *np.column_stack([features, factors]).ravel().tolist()]
    if "in" in content:
        node["bits"] = len(bits)
        bits += _category_words(content["in"])
    elif "cut" in content:
        node["cut_high"] = _number(content["cut"], "cut")
    else:
        cuts = [_number(cut, "between") for cut in _list(content["between"], "between")]
        _need(len(cuts) == 2 and cuts[0] < cuts[1], f"between must be [low, high], not {cuts}")
        node["cut_low"], node["cut_high"] = cuts


def _place(feature, names: list[str]) -> int:
    if isinstance(feature, str) and names.count(feature) == 1:
        return names.index(feature)
    known = _is_integer(feature) and feature < len(names)
    _need(known, f"{feature!r} is neither the name of one feature nor its number, of {names}")
    return int(feature)


def _category_words(codes) -> list[int]:
    """The categories as descend's category_side reads them."""
    fine = all(_is_integer(code) and code < MAX_CATEGORY for code in _list(codes, "in"))
    _need(fine and len(codes) > 0, f"'in' must list integers from 0 to {MAX_CATEGORY - 1}")
    words = [0] * (int(max(codes)) // 64 + 1)
    for code in codes:
        words[int(code) // 64] |= 1 << int(code) % 64
    return [len(words), *words]


def _read_missing(node, content: dict) -> None:
    missing, share = content.get("missing", "right"), content.get("missing_share")
    _need(missing in tuple(SIDES), f"missing must be one of {', '.join(SIDES)}, not {missing!r}")
    both = missing == "both"
    _need(both == (share is not None), "missing 'both' needs a missing_share, and nothing else")
    node["missing"] = SIDES[missing]
    node["missing_share"] = _number(share, "missing_share") if both else 0
    _need(0 <= node["missing_share"] <= 1, f"missing_share lies between 0 and 1, not at {share}")


def _read_leaf(content: dict, labels: list | None) -> list[float]:
    """The leaf's statistics: a weight for each label, or [weight, means …, squares …]."""
    value, weight = content["value"], _number(content.get("weight", 1), "weight")
    _need(weight > 0, f"weight must be positive, not {weight}")
    if labels is None:
        means = [_number(v, "value") for v in (value if isinstance(value, list) else [value])]
        return [weight, *means, *(0.0 for _ in means)]
    _need(isinstance(value, dict | LABEL), f"value must be a label or label: weight, not {value!r}")
    weights = value if isinstance(value, dict) else {value: weight}
    for label in weights:
        _need(label in labels, f"{label!r} is none of the classes {labels}")
    stats = [_number(weights.get(label, 0), "a class's weight") for label in labels]
    _need(min(stats) >= 0 and sum(stats) > 0, f"classes need positive weights, not {stats}")
    return stats


def _sum_up(tree: Tree, task: str) -> None:
    """Fill in the inner nodes' statistics, children first, and all weights."""
    nodes, stats = tree.nodes, tree.stats
    n_targets = (stats.shape[1] - 1) // 2
    mean, squares = slice(1, 1 + n_targets), slice(1 + n_targets, None)
    for i in reversed(np.flatnonzero(nodes["kind"] != LEAF)):
        left, right = stats[nodes["left"][i]], stats[nodes["right"][i]]
        stats[i] = left + right
        if task == "regression":
            weight, apart = stats[i, 0], right[mean] - left[mean]
            stats[i, mean] = left[mean] + right[0] / weight * apart
            stats[i, squares] += left[0] * right[0] / weight * apart**2
    nodes["weight"] = stats.sum(axis=1) if task == "classification" else stats[:, 0]
    nodes["impurity"] = np.nan


def _is_integer(value) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def _number(value, what: str) -> float:
    real = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    _need(real, f"{what} must be a finite number, not {value!r}")
    return float(value)


def _list(value, what: str) -> list:
    _need(isinstance(value, list | tuple | np.ndarray), f"{what} must be a list, not {value!r}")
    return list(value)

"""Trees typed in by hand, so that a textbook's diagram can be walked, printed and drawn.

A *description* is a tree as nested dicts: `build_tree` reads it, `TreeView.describe` writes it. It
is taken apart into *pieces*, one a node, in preorder; what is wrong with a piece is told with its
place in the description.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from typing import NamedTuple

import numpy as np

from forestlab.core.arrays import (
    LEAF,
    NODE,
    Tree,
)
from forestlab.core.questions import KINDS, kind_of, write_leaf
from forestlab.core.tasks import TASKS, require_task
from forestlab.tree.levels import FAMILIES, as_levels, families
from forestlab.tree.view import SIDES, TreeView

LEAF_KEYS = ("value", "weight")
RANGE_KEYS = ("cut", "between", "in")  # one of them: what goes left
OTHER_KEYS = ("left", "right", "missing", "missing_share", "not_in")
ROOT_KEYS = ("task", "feature_names", "class_names", "levels")
MAX_CATEGORY = 2**20
LABEL = str | Real | np.bool_


def _asked_keys() -> tuple[str, ...]:
    """One of them: what is asked."""
    return tuple(dict.fromkeys(row.key for row in KINDS.values() if row.key))


class _Piece(NamedTuple):
    content: dict
    parent: int
    side: str


class _Wrong(ValueError):
    """What is wrong with a piece, to be told with its place."""


def build_tree(
    description, feature_names=None, class_names=None, task: str | None = None, levels=None
) -> TreeView:
    """A tree from nested dicts.

    ::

        {"value": 9}, or just 9                                      a leaf, here of regression
        {"value": "decline", "weight": 3}                            a leaf of one class
        {"value": {"accept": 2, "decline": 1}}                       a leaf of several, by weight
        {"value": ["decline", {"late": 2, "soon": 1}]}               of two targets, see class_names
        {"feature": "salary", "cut": 50000, "left": …, "right": …}   left if salary ≤ 50000
        {"feature": 0, "between": [2, 5], …}                         left if 2 < x0 ≤ 5
        {"weights": {"a": 2, "b": -1}, "cut": 0.5, …}                left if 2·a − b ≤ 0.5
        {"feature": "colour", "in": ["red", "green"], …}             left if red or green
        {"feature": "colour", "in": [0, 3], …}                       left if category 0 or 3

    A missing value goes right; with ``"missing": "left"`` in the node it goes left, and with
    ``"missing": "both", "missing_share": 0.7`` both ways, with 0.7 of its weight to the left. With
    ``"not_in": […]`` beside "in" only these categories go right, and others where a missing value
    goes.
    Inner nodes' statistics are summed up from their leaves, of weight 1 unless given.

    Parameters
    ----------
    description : dict
    feature_names : the columns' names. Without them: names in their order of appearance, or
        x0, x1, … for features given by number
    class_names : the labels in their order; sorted if not given. A list of such lists if there are
        several targets of classes
    task : "classification" or "regression"; by default classification if values are text or bools
    levels : {feature: its categories in the order of their numbers}. Without them: of each feature
        of which some nodes name strings, those, sorted; of others categories are their numbers

    The description's root may hold the last four itself.
    """
    pieces = _unfold(description)
    root = pieces[0].content
    feature_names = root.get("feature_names") if feature_names is None else feature_names
    names = _name_features(pieces, feature_names)
    labels = root.get("class_names") if class_names is None else class_names
    task = task or root.get("task") or _guess_task(pieces, labels)
    require_task(task)
    if TASKS[task].has_classes:
        labels = _labels(pieces) if labels is None else _listed(labels)
    known = _levels(pieces, names, root.get("levels") if levels is None else levels)
    tree = _read(pieces, names, labels if TASKS[task].has_classes else None, known)
    _sum_up(tree, task, len(labels[0]) if labels and _are_several(labels) else None)
    each = [known.get(name) for name in names]
    return TreeView(tree, task, names, labels, each if known else None)


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
    except ValueError as wrong:
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
    allowed = LEAF_KEYS if is_leaf else (*_asked_keys(), *RANGE_KEYS, *OTHER_KEYS)
    unknown = [key for key in content if key not in (*allowed, *more)]
    node = "a leaf" if is_leaf else "an inner node"
    _need(not unknown, f"{unknown} not known; {node} may have {', '.join(allowed)}")
    for keys in () if is_leaf else (_asked_keys(), RANGE_KEYS):
        choice = f"a leaf needs value; an inner node needs one of {', '.join(keys)}"
        _need(sum(key in content for key in keys) == 1, choice)
    _need("in" in content or "not_in" not in content, "not_in goes with in")
    both = "left" in content and "right" in content
    _need(is_leaf or both, "an inner node needs left and right")


def _features(content: dict) -> list:
    """The features that a question is about, by name or number; none for a leaf."""
    return [] if "value" in content else KINDS[kind_of(content)].features(_asked(content))


def _asked(content: dict):
    """What the question is about."""
    return next(content[key] for key in _asked_keys() if key in content)


def _name_features(pieces: list[_Piece], given) -> list[str]:
    if given is not None:
        return [str(name) for name in given]
    used: list = []
    for i, piece in enumerate(pieces):
        with _told_where(pieces, i):
            used += _features(piece.content)
    names = [feature for feature in used if isinstance(feature, str)]
    numbers = [feature for feature in used if _is_integer(feature)]
    if names and numbers:
        raise ValueError("some features have names and some numbers: give feature_names too")
    return list(dict.fromkeys(names)) or [f"x{j}" for j in range(max(numbers, default=-1) + 1)]


def _levels(pieces: list[_Piece], names: list[str], given) -> dict[str, np.ndarray]:
    """The levels of features that have any, by their names."""
    found = {} if given is None else dict(given)
    for name, own in found.items():
        is_fine = len(set(own)) == len(own) and families(own) in [[one] for one in FAMILIES]
        if name not in names or not is_fine:
            raise ValueError(
                f"levels must be different strings, numbers or booleans of a feature, of {names}; "
                f"got {name!r}: {own!r}"
            )
    named: dict[str, set] = {}
    for i, (content, _, _) in enumerate(pieces):
        with _told_where(pieces, i):
            words = [word for key in ("in", "not_in") for word in _list(content.get(key, ()), key)]
            if any(isinstance(word, str) for word in words):
                named.setdefault(names[_place(content["feature"], names)], set()).update(words)
    made = {name: sorted(own, key=str) for name, own in named.items()}
    return {name: as_levels(own) for name, own in (made | found).items()}


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


def _are_several(labels) -> bool:
    """Whether there is a list of labels for each of several targets."""
    return bool(labels) and isinstance(labels[0], list)


def _listed(labels) -> list:
    """Labels as Python's own, of each target if there are several."""
    if len(labels) and np.ndim(labels[0]) == 1:
        return [np.asarray(own).tolist() for own in labels]
    return np.asarray(labels).tolist()


def _read(
    pieces: list[_Piece], names: list[str], labels: list | None, levels: dict[str, np.ndarray]
) -> Tree:
    """The tree with its questions, children and leaves, not yet summed up."""
    nodes = np.zeros(len(pieces), NODE)
    for node in nodes:
        write_leaf(node)
    params: list[float] = []
    bits: list[int] = []
    leaves: dict[int, list[float]] = {}
    for i, (content, parent, side) in enumerate(pieces):
        if parent >= 0:
            nodes[side][parent] = i
        with _told_where(pieces, i):
            if "value" not in content:
                _read_question(nodes[i], content, names, params, bits, levels)
                _read_missing(nodes[i], content)
                continue
            leaves[i] = _read_leaf(content, labels)
            same = len(leaves[i]) == len(next(iter(leaves.values())))
            _need(same, "all leaves must have the same number of targets")
    stats = np.zeros((len(pieces), len(leaves[len(pieces) - 1])))
    stats[list(leaves)] = list(leaves.values())
    return Tree(nodes, stats, np.array(params, np.float64), np.array(bits, np.uint64))


def _read_question(
    node, content: dict, names: list[str], params: list, bits: list, levels: dict[str, np.ndarray]
) -> None:
    node["kind"] = kind_of(content)
    row, features = KINDS[node["kind"]], [_place(feature, names) for feature in _features(content)]
    if row.names_feature:
        node["feature"] = features[0]
    else:
        node["params"] = len(params)
        params += [_number(part, "a weight") for part in row.params(_asked(content), features)]
    if "in" in content:
        node["bits"] = len(bits)
        bits += _category_words(content, levels.get(names[features[0]]))
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


def _category_words(content: dict, own: np.ndarray | None) -> list[int]:
    """The categories as `questions.category_side` reads them; `own` are the feature's levels."""
    left = _codes(content["in"], "in", own)
    right = _codes(content["not_in"], "not_in", own) if "not_in" in content else []
    _need(not set(left) & set(right), "a category is either in or not_in")
    most = max([*left, *right, 0 if own is None else len(own) - 1])
    n_words = most // 64 + 1
    known = _words([*left, *right], n_words) if "not_in" in content else [2**64 - 1] * n_words
    return [n_words, *_words(left, n_words), *known]


def _codes(given, key: str, own: np.ndarray | None) -> list[int]:
    """The numbers of categories."""
    items = _list(given, key)
    allowed = f"integers from 0 to {MAX_CATEGORY - 1}, or strings" if own is None else "levels"
    _need(len(items) > 0 or key != "in", f"'{key}' must list {allowed}")
    if own is not None:
        known = own.tolist()
        for item in items:
            _need(item in known, f"{item!r} is none of the levels {known}")
        return [known.index(item) for item in items]
    fine = all(_is_integer(code) and code < MAX_CATEGORY for code in items)
    _need(fine, f"'{key}' must list {allowed}")
    return [int(code) for code in items]


def _words(codes: list[int], n_words: int) -> list[int]:
    words = [0] * n_words
    for code in codes:
        words[code // 64] |= 1 << code % 64
    return words


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
    if _are_several(labels):
        fits = isinstance(value, list) and len(value) == len(labels)
        _need(fits, f"value must be a list of {len(labels)} labels, not {value!r}")
        pairs = zip(value, labels, strict=True)
        each = [_read_leaf({"value": said, "weight": weight}, own) for said, own in pairs]
        same = np.allclose([sum(own) for own in each], sum(each[0]), 1e-9, 0)
        _need(same, f"all targets of a leaf must have the same weight, not {value!r}")
        return [number for own in each for number in own]
    _need(isinstance(value, dict | LABEL), f"value must be a label or label: weight, not {value!r}")
    weights = value if isinstance(value, dict) else {value: weight}
    for label in weights:
        _need(label in labels, f"{label!r} is none of the classes {labels}")
    stats = [_number(weights.get(label, 0), "a class's weight") for label in labels]
    _need(min(stats) >= 0 and sum(stats) > 0, f"classes need positive weights, not {stats}")
    return stats


def _sum_up(tree: Tree, task: str, n_first: int | None) -> None:
    """Fill in the inner nodes' statistics, children first, and all weights; of several targets of
    classes the first has `n_first`."""
    nodes, stats = tree.nodes, tree.stats
    for i in reversed(np.flatnonzero(nodes["kind"] != LEAF)):
        left, right = stats[nodes["left"][[i]]], stats[nodes["right"][[i]]]
        stats[i] = TASKS[task].joined(left, right)
    nodes["weight"] = TASKS[task].weight(stats[:, :n_first])
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

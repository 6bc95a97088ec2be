"""What a node may ask of a row: one table of the kinds of nodes, for all that has to know.

A question turns a row into a *number*: a feature's value, a sum of several, a form. NaN is
missing. The row goes left where ``cut_low < number <= cut_high``, or where the number is one of a
set of categories. What a kind means stands in its row of KINDS: the walk composes `side_of` from
it, and views, files, hand-made trees, shuffled features and importances read it too.

A kind that needs more than one feature and two cuts keeps the rest in its tree's pool of
parameters, from ``params`` on: first a count n, then what its own row says. `places` are where the
numbers of features stand in there, `share_places` where it stands how much each of them has to do
with the answer, in shares that add up to 1.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from forestlab.core.arrays import AXIS, CATEGORY, LEAF, LEFT, OBLIQUE, QUADRATIC, RIGHT, SIDE, Tree
from forestlab.core.jit import jitable, made_from

# ---- numbers -----------------------------------------------------------------------------------


@jitable
def feature_number(node, params, x):
    return x[node["feature"]]


@jitable
def oblique_number(node, params, x):
    """params: [number of terms, feature, factor, feature, factor, …, shares …]"""
    start = node["params"]
    value = 0.0
    for k in range(np.int64(params[start])):
        value += x[np.int64(params[start + 1 + 2 * k])] * params[start + 2 + 2 * k]
    return value


@jitable
def quadratic_number(node, params, x):
    """params: [number of features n, features …, centres …, their factors …, those of the products
    of the first with itself, of the second with the first and itself, …, shares …]"""
    start = node["params"]
    n = np.int64(params[start])
    features, centres = start + 1, start + 1 + n
    j = centres + 2 * n
    value = 0.0
    for a in range(n):
        x_a = x[np.int64(params[features + a])] - params[centres + a]
        value += x_a * params[centres + n + a]
        for b in range(a + 1):
            x_b = x[np.int64(params[features + b])] - params[centres + b]
            value += x_a * (x_b * params[j])
            j += 1
    return value


# ---- sides -------------------------------------------------------------------------------------


@jitable
def range_side(node, bits, number):
    return np.uint8(LEFT) if node["cut_low"] < number <= node["cut_high"] else np.uint8(RIGHT)


NOT_KNOWN = np.uint8(SIDE)  # in place of a side: the category is none of those that are known


@jitable
def set_side(bits, start, number):
    """The side of a category, of the set that stands in bits from `start` on: [number of words,
    words of those that go left …, words of those that are known …]."""
    n_words = np.int64(bits[start])
    if not 0.0 <= number < 64 * n_words or number != np.floor(number):
        return NOT_KNOWN
    category = np.int64(number)
    place, bit = start + 1 + (category >> 6), np.uint64(category & 63)
    if (bits[place + n_words] >> bit) & np.uint64(1) == np.uint64(0):
        return NOT_KNOWN
    return np.uint8(RIGHT) - np.uint8((bits[place] >> bit) & np.uint64(1))


@jitable
def category_side(node, bits, number):
    """One that is not known goes where missing values go."""
    side = set_side(bits, node["bits"], number)
    return node["missing"] & np.uint8(SIDE) if side == NOT_KNOWN else side


# ---- no question -------------------------------------------------------------------------------


@jitable
def write_leaf(node):
    """Have a node ask nothing. Every node starts so; a question is written over it."""
    node["kind"] = LEAF
    node["missing"] = RIGHT
    node["spare"] = 0
    node["feature"] = -1
    node["left"] = -1
    node["right"] = -1
    node["cut_low"] = -np.inf
    node["cut_high"] = np.inf
    node["params"] = -1
    node["bits"] = -1
    node["missing_share"] = 0.0


# ---- the table ---------------------------------------------------------------------------------


class Kind(NamedTuple):
    number: Callable  # compiled: (node, params, x) → the number that is asked about
    words: Callable  # (tree, i, names) → what that is in words
    side: Callable = range_side  # compiled: (node, bits, number) → LEFT or RIGHT
    by_category: bool = False  # the number is that of a category, of which bits say the side
    names_feature: bool = False  # it reads the one feature that the node names, and needs no pool
    n_params: Callable = lambda n: 0  # how many parameters follow their count n
    places: Callable = lambda n: np.zeros(0, np.int64)  # which of these are numbers of features
    share_places: Callable = lambda n: np.zeros(0, np.int64)  # and which are their shares
    # In a description of a tree: the key that a question of this kind has ("": it cannot be
    # described), its value (tree, i, names), the features in such a value, and its parameters,
    # given the value and those features' numbers.
    key: str = ""
    describe: Callable = lambda tree, i, names: None
    features: Callable = lambda value: [value]
    params: Callable = lambda value, numbers: []


def _name(tree: Tree, i: int, names: Sequence[str]) -> str:
    return names[tree.nodes["feature"][i]]


def _shares(factors) -> list[float]:
    """Of the features of a sum, by their factors, as if they had one unit."""
    sizes = [abs(float(factor)) for factor in factors]
    return [size / sum(sizes) if sum(sizes) else 1 / len(sizes) for size in sizes]


def _weights(value: dict) -> list:
    if not isinstance(value, dict) or not value:
        raise ValueError("weights must be {feature: factor, …}")
    for factor in value.values():
        is_number = isinstance(factor, Real) and not isinstance(factor, bool)
        if not (is_number and np.isfinite(float(factor))):
            raise ValueError(f"a weight must be a finite number, not {factor!r}")
    return list(value)


FORM = ("features", "centres", "factors", "products", "shares")  # of a form of degree 2


def _form_features(value: dict) -> list:
    if not isinstance(value, dict) or set(value) != set(FORM):
        raise ValueError(f"form must be {{{', '.join(FORM)}}}")
    n = len(value["features"])
    sizes = dict.fromkeys(FORM, n) | {"products": n * (n + 1) // 2}
    for part, size in sizes.items():
        if len(value[part]) != size:
            raise ValueError(f"form: {part} must be {size} for {n} features")
    return list(value["features"])


AXIS_KIND = Kind(feature_number, _name, names_feature=True, key="feature", describe=_name)

KINDS: dict[int, Kind] = {
    AXIS: AXIS_KIND,
    OBLIQUE: Kind(
        oblique_number,
        lambda tree, i, names: _sum_text([(w, names[f]) for f, w in terms(tree, i)]),
        n_params=lambda n: 3 * n,
        places=lambda n: 2 * np.arange(n),
        share_places=lambda n: 2 * n + np.arange(n),
        key="weights",
        describe=lambda tree, i, names: {names[f]: w for f, w in terms(tree, i)},
        features=_weights,
        params=lambda value, numbers: [
            len(numbers),
            *(part for pair in zip(numbers, value.values(), strict=True) for part in pair),
            *_shares(value.values()),
        ],
    ),
    QUADRATIC: Kind(
        quadratic_number,
        lambda tree, i, names: _form_text(tree, i, names),
        n_params=lambda n: 4 * n + n * (n + 1) // 2,
        places=np.arange,
        share_places=lambda n: 3 * n + n * (n + 1) // 2 + np.arange(n),
        key="form",
        describe=lambda tree, i, names: _form(tree, i, names),
        features=_form_features,
        params=lambda value, numbers: [
            len(numbers),
            *numbers,
            *(number for part in FORM[1:] for number in value[part]),
        ],
    ),
    CATEGORY: AXIS_KIND._replace(side=category_side, by_category=True),
}


@made_from(KINDS)
def side_finder() -> Callable:
    """`side_of` for all kinds of node, composed from the table: a question after the other."""

    @jitable
    def side_of(node, params, bits, x):
        return np.uint8(RIGHT)  # there is no other kind: files are checked

    for kind, row in reversed(KINDS.items()):
        side_of = _asked_first(kind, row.number, row.side, side_of)
    return side_of


def _asked_first(
    kind: int, number_of: Callable, side_by: Callable, otherwise: Callable
) -> Callable:
    @jitable
    def side_of(node, params, bits, x):
        """LEFT, RIGHT or BOTH."""
        if node["kind"] != kind:
            return otherwise(node, params, bits, x)
        number = number_of(node, params, x)
        if np.isnan(number):
            return node["missing"] & np.uint8(SIDE)
        return side_by(node, bits, number)

    return side_of


# ---- what it reads -----------------------------------------------------------------------------


def reads(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The features that nodes read: a node, a feature and its share in the answer; by node."""
    nodes, features, shares = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for kind, row in KINDS.items():
        here = np.flatnonzero(tree.nodes["kind"] == kind)
        if row.names_feature:
            nodes.append(here)
            features.append(tree.nodes["feature"][here])
            shares.append(np.ones(len(here)))
            continue
        for i in here:
            start = tree.nodes["params"][i] + 1
            found = tree.params[places(tree, i)]
            nodes.append(np.full(len(found), i))
            features.append(found)
            shares.append(tree.params[start + row.share_places(len(found))])
    of, read = np.concatenate(nodes), np.concatenate(features).astype(np.int64)
    order = np.argsort(of, kind="stable")
    return of[order], read[order], np.concatenate(shares)[order]


def places(tree: Tree, i: int | np.integer) -> np.ndarray:
    """Where the pool of parameters holds the features of node i."""
    start = tree.nodes["params"][i]
    return start + 1 + KINDS[tree.nodes["kind"][i]].places(int(tree.params[start]))


def renumbered(tree: Tree, features: np.ndarray) -> Tree:
    """The tree for rows of which only `features`, ascending, all that it reads, are kept."""
    nodes, params = tree.nodes.copy(), tree.params.copy()
    for kind, row in KINDS.items():
        here = np.flatnonzero(nodes["kind"] == kind)
        if row.names_feature:
            nodes["feature"][here] = np.searchsorted(features, nodes["feature"][here])
            continue
        for i in here:
            where = places(tree, i)
            params[where] = np.searchsorted(features, params[where])
    return tree._replace(nodes=nodes, params=params)


def check_questions(tree: Tree, n_features: int, levels: Sequence[int] = ()) -> None:
    """Raise ValueError unless all that questions name is there; `levels` is how many each feature
    has, if any of them is one of categories."""
    nodes = tree.nodes
    _check(np.isin(nodes["kind"], [LEAF, *KINDS]).all(), "kinds of node")
    for kind, row in KINDS.items():
        for i in np.flatnonzero(nodes["kind"] == kind) if not row.names_feature else ():
            _check_params(tree, nodes["params"][i], row, n_features)
        if row.by_category:
            for start in nodes["bits"][nodes["kind"] == kind]:
                _check(0 <= start < len(tree.bits), "categories")
                _check(2 * int(tree.bits[start]) <= len(tree.bits) - start - 1, "categories")
        if row.names_feature:
            _check_features(nodes["feature"][nodes["kind"] == kind], n_features)
        if row.by_category:
            for i in np.flatnonzero(nodes["kind"] == kind) if len(levels) else ():
                most = levels[nodes["feature"][i]]
                _check(max(categories(tree, int(i)), default=-1) < most, "categories")


def _check_features(numbers: np.ndarray, n_features: int) -> None:
    _check(((numbers >= 0) & (numbers < n_features)).all(), "features")


def _check_params(tree: Tree, start: int, row: Kind, n_features: int) -> None:
    """The stretch that a node names in the pool lies within it."""
    _check(0 <= start < len(tree.params), "parameters")
    n = tree.params[start]
    _check(n == np.floor(n) and 0 <= n < len(tree.params), "parameters")
    _check(start + 1 + row.n_params(int(n)) <= len(tree.params), "parameters")
    _check_features(tree.params[start + 1 + row.places(int(n))], n_features)


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"its {what} do not fit together")


# ---- in words ----------------------------------------------------------------------------------

MOST_LISTED, FEW_LISTED = 6, 3  # categories of a set: of more than so many, only so few are listed


def short(number: float) -> str:
    """Six digits, or as many as stand before the point."""
    number = float(number)
    if not abs(number) < 1e15:
        return f"{number:g}"
    if number == round(number):
        return str(round(number))
    return f"{number:.{max(6, len(str(int(abs(number)))))}g}"


def _sum_text(terms: list[tuple[float, str]]) -> str:
    """2·a − b"""
    text = ""
    for factor, name in [term for term in terms if term[0] != 0] or terms[:1]:
        sign = ("−" if factor < 0 else "") if not text else (" − " if factor < 0 else " + ")
        text += sign + (name if abs(factor) == 1 else f"{short(abs(factor))}·{name}")
    return text


def _form(tree: Tree, i: int, names: Sequence[str]) -> dict[str, list]:
    """A form as a description has it."""
    pool = tree.params[tree.nodes["params"][i] :].tolist()
    n = int(pool[0])
    ends = np.cumsum([1, n, n, n, n * (n + 1) // 2, n])
    parts = [pool[start:end] for start, end in pairwise(ends)]
    return dict(zip(FORM, [[names[int(f)] for f in parts[0]], *parts[1:]], strict=True))


def _form_text(tree: Tree, i: int, names: Sequence[str]) -> str:
    """0.5·(a − 3) − b² + 2·(a − 3)·b"""
    form = _form(tree, i, names)
    n = len(form["features"])
    parts = [_shifted(f, c) for f, c in zip(form["features"], form["centres"], strict=True)]
    pairs = [
        (f"{parts[a]}²" if a == b else f"{parts[a]}·{parts[b]}")
        for a in range(n)
        for b in range(a + 1)
    ]
    linear = zip(form["factors"], parts, strict=True)
    return _sum_text([*linear, *zip(form["products"], pairs, strict=True)])


def _shifted(name: str, centre: float) -> str:
    """(a − 3)"""
    if centre == 0:
        return name
    return f"({name} {'−' if centre > 0 else '+'} {short(abs(centre))})"


def terms(tree: Tree, i: int) -> list[tuple[int, float]]:
    """The features of an oblique node and their factors."""
    pool = tree.params[tree.nodes["params"][i] :].tolist()
    return [(int(pool[k]), pool[k + 1]) for k in range(1, 2 * int(pool[0]), 2)]


def categories(tree: Tree, i: int) -> list[int]:
    """The categories that node i sends left."""
    return _numbers_in(_bits_of(tree, i)[0])


def known_categories(tree: Tree, i: int) -> list[int]:
    """The categories that node i sends by its set; all others go where missing values go."""
    return _numbers_in(_bits_of(tree, i)[1])


def _bits_of(tree: Tree, i: int) -> tuple[list[int], list[int]]:
    """The words of those that go left, and of those that are known."""
    pool = tree.bits[tree.nodes["bits"][i] :]
    n = int(pool[0])
    return pool[1 : 1 + n].tolist(), pool[1 + n : 1 + 2 * n].tolist()


def _numbers_in(words: list[int]) -> list[int]:
    return [64 * k + bit for k, word in enumerate(words) for bit in range(64) if word >> bit & 1]


def named(tree: Tree, i: int, numbers: list[int], levels: Sequence | None = None) -> list:
    """Categories of node i's feature as a person calls them.

    Parameters
    ----------
    levels : for each feature its levels by their numbers, or None; None: numbers are all there is
    """
    own = None if levels is None else levels[tree.nodes["feature"][i]]
    return numbers if own is None else own[[k for k in numbers if k < len(own)]].tolist()


def _sets(tree: Tree, i: int, levels: Sequence | None) -> dict[str, list]:
    """What goes left, and, unless that is all else, what goes right, for a description."""
    own = None if levels is None else levels[tree.nodes["feature"][i]]
    left, known = categories(tree, i), known_categories(tree, i)
    n_there = 64 * len(_bits_of(tree, i)[1]) if own is None else len(own)
    found = {"in": named(tree, i, left, levels)}
    if set(known) >= set(range(n_there)):
        return found
    right = sorted(number for number in set(known) - set(left) if number < n_there)
    return found | {"not_in": named(tree, i, right, levels)}


def _set_text(words: list) -> str:
    """{a, b, c}; of many the first: {a, b, c and 9 more}"""
    texts = [short(word) if isinstance(word, float) else str(word) for word in words]
    if len(texts) > MOST_LISTED:
        return f"{{{', '.join(texts[:FEW_LISTED])} and {len(texts) - FEW_LISTED} more}}"
    return f"{{{', '.join(texts)}}}"


def _asks_known(tree: Tree, i: int) -> bool:
    """Does every known value go left at inner node i, and a missing one right?"""
    node, row = tree.nodes[i], KINDS[tree.nodes["kind"][i]]
    if node["missing"] & SIDE != RIGHT:
        return False
    if row.by_category:
        return categories(tree, i) == known_categories(tree, i)
    return node["cut_low"] == -np.inf and node["cut_high"] == np.inf


def condition(tree: Tree, i: int, names: Sequence[str], levels: Sequence | None = None) -> str:
    """What sends a row left at inner node i, such as "salary ≤ 50000", "2 < a ≤ 3" or "a is known";
    `levels` as in `named`."""
    node, row = tree.nodes[i], KINDS[tree.nodes["kind"][i]]
    asked = row.words(tree, i, names)
    if _asks_known(tree, i):
        return f"{asked} is known"
    if row.by_category:
        return f"{asked} in {_set_text(named(tree, i, categories(tree, i), levels))}"
    low = "" if node["cut_low"] == -np.inf else f"{short(node['cut_low'])} < "
    return f"{low}{asked} ≤ {short(node['cut_high'])}"


def described(
    tree: Tree, i: int, names: Sequence[str], levels: Sequence | None = None
) -> dict[str, Any]:
    """What inner node i asks, as a description of a tree has it; `levels` as in `named`."""
    node, row = tree.nodes[i], KINDS[tree.nodes["kind"][i]]
    if not row.key:
        raise ValueError(
            f"node {i} asks about {row.words(tree, i, names)}, which has no description"
        )
    piece = {row.key: row.describe(tree, i, names)}
    if row.by_category:
        return piece | _sets(tree, i, levels)
    if node["cut_low"] == -np.inf:
        return piece | {"cut": float(node["cut_high"])}
    return piece | {"between": [float(node["cut_low"]), float(node["cut_high"])]}


def kind_of(content: dict) -> int:
    """The kind of node that asks what a description says."""
    for kind, row in KINDS.items():
        if row.key in content and row.by_category == ("in" in content):
            return kind
    raise ValueError("'in' goes with a feature, not with weights")


def number_asked(tree: Tree, i: int, x: np.ndarray) -> float:
    """The number that node i's question is about."""
    return float(KINDS[tree.nodes["kind"][i]].number(tree.nodes[i], tree.params, x))

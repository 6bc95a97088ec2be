"""What stands at each node, in few bytes, and back to the same bits.

The fields of nodes and the statistics are *columns*, those of leaves apart from those of nodes that
ask, as leaves have no cut, no gain and mostly no impurity. Of a column is kept, the first that
gives back its bits:

    NAME.same              one number, if all are the same
    NAME.whole             whole numbers of the smallest type
    NAME.values, .places   the distinct numbers, and which it is, if they are few
    NAME.short             float32
    NAME.bytes             (n_bytes, n) uint8: the first byte of all, the second of all, …, the
                           lowest first: the highest are much alike, which compressing notices

Statistics are one array, `stats`, if they are whole numbers, or many.

Children are not kept where nodes stand in preorder, which follows from which nodes are leaves; nor
is an impurity that is the sum of squares by the weight. A forest of 1.9 million nodes of numbers
takes 29 MB, and 4 seconds to write, where whole records, compressed, took 56 and 7.
"""

import re

import numpy as np

from forestlab.core.arrays import LEAF, NO_GAINS, NO_MEANS, NODE, Forest
from forestlab.model.sound import check

FEW = 4  # there are few distinct numbers if each is there so many times on average
HALVES = ("leaf", "inner")
CHILDREN = ("left", "right")
FIELDS = tuple(name for name in NODE.fields or () if name not in ("kind", *CHILDREN))
WAYS = ("same", "whole", "values", "places", "short", "bytes")
NAME = re.compile(
    r"kind|stats|({})[.]({})[.]({})".format(
        "|".join((*FIELDS, *CHILDREN, "gains", r"(stats|means)[.](0|[1-9][0-9]*)")),
        "|".join(HALVES),
        "|".join(WAYS),
    )
)
MOST_COLUMNS = 16  # of statistics that are packed each by itself
DOUBLE = np.dtype(np.float64)
WHAT = "packed nodes"


def is_name(name: str) -> bool:
    """Is it one of what `pack` gives?"""
    return NAME.fullmatch(name) is not None


def pack(forest: Forest) -> dict[str, np.ndarray]:
    """The nodes of a forest and all that stands beside them, by name."""
    nodes, stats = forest.nodes, forest.stats
    is_leaf = nodes["kind"] == LEAF
    columns = {name: nodes[name] for name in FIELDS}
    children = _children(nodes["kind"], forest.first_node)
    if any((nodes[name] != children[name]).any() for name in CHILDREN):
        columns |= {name: nodes[name] for name in CHILDREN}
    if stats.shape[1] >= 3 and _are_same(_impurity(stats), nodes["impurity"]):
        del columns["impurity"]
    packed = {"kind": nodes["kind"].copy()}
    whole = _as_whole(stats)
    if whole is None and stats.shape[1] <= MOST_COLUMNS:
        columns |= {f"stats.{k}": stats[:, k] for k in range(stats.shape[1])}
    else:
        packed["stats"] = stats if whole is None else whole
    columns |= {f"means.{k}": forest.means[:, k] for k in range(forest.means.shape[1])}
    columns |= {"gains": forest.gains} if len(forest.gains) else {}
    for name, column in columns.items():
        for half, of_half in zip(HALVES, (is_leaf, ~is_leaf), strict=True):
            own = _packed(column[of_half])
            packed |= {f"{name}.{half}.{way}": array for way, array in own.items()}
    return packed


def _packed(column: np.ndarray) -> dict[str, np.ndarray]:
    bits = column.view(f"u{column.itemsize}")
    if (bits[1:] == bits[:-1]).all():
        return {"same": column[:1]}
    whole = _as_whole(column)
    if whole is not None:
        return {"whole": whole}
    in_order = np.sort(bits)
    is_first = np.append(True, in_order[1:] != in_order[:-1])
    if FEW * np.count_nonzero(is_first) <= len(bits):
        values = in_order[is_first]
        places = np.searchsorted(values, bits)
        return {"values": values.view(column.dtype), "places": _narrow(places)}
    with np.errstate(over="ignore", invalid="ignore"):
        short = column.astype(np.float32)
    if column.dtype == np.float64 and _are_same(short.astype(np.float64), column):
        return {"short": short}
    ordered = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
    return {"bytes": np.ascontiguousarray(ordered.view(np.uint8).reshape(len(column), -1).T)}


def _as_whole(array: np.ndarray) -> np.ndarray | None:
    """The array as whole numbers, if that is what it holds."""
    if array.dtype.kind in "iu":
        return _narrow(array)
    if not ((array >= 0) & (array < 2**32)).all():
        return None
    whole = array.astype(np.uint32)
    return _narrow(whole) if _are_same(whole.astype(array.dtype), array) else None


def _narrow(whole: np.ndarray) -> np.ndarray:
    ends = np.min_scalar_type(whole.min(initial=0)), np.min_scalar_type(whole.max(initial=0))
    return whole.astype(np.result_type(*ends))


def _are_same(a: np.ndarray, b: np.ndarray) -> bool:
    """Are all bits the same?"""
    one, other = (np.ascontiguousarray(each).view(f"u{each.itemsize}") for each in (a, b))
    return np.array_equal(one, other)


# ---- back --------------------------------------------------------------------------------------


def unpack(packed: dict[str, np.ndarray], first_node: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a forest that `pack` got, from what it gave. What is read here was checked for
    nothing but its size; raises ValueError or LookupError for what cannot be unpacked."""
    packed = dict(packed)  # what has been read is taken out
    kind = packed.pop("kind")
    check(kind.dtype == np.uint8 and kind.ndim == 1, WHAT)
    is_leaf = kind == LEAF
    nodes = np.zeros(len(kind), NODE)
    nodes["kind"] = kind
    has_impurity = _has(packed, "impurity")
    for name in FIELDS:
        if has_impurity or name != "impurity":
            nodes[name] = _unpacked(packed, name, is_leaf, NODE[name])
    stats = _stats(packed, is_leaf)
    if not has_impurity:
        check(stats.ndim == 2 and stats.shape[1] >= 3 and len(stats) == len(nodes), WHAT)
        nodes["impurity"] = _impurity(stats)
    derived = {} if _has(packed, "right") else _children(kind, first_node)
    for name in CHILDREN:
        own = derived[name] if derived else _unpacked(packed, name, is_leaf, NODE[name])
        nodes[name] = own
    gains = _unpacked(packed, "gains", is_leaf) if _has(packed, "gains") else NO_GAINS
    means = _matrix(packed, "means", is_leaf) if _has(packed, "means.0") else NO_MEANS
    check(not packed, WHAT)
    return {"nodes": nodes, "stats": stats, "means": means, "gains": gains}


def _has(packed: dict[str, np.ndarray], name: str) -> bool:
    return any(f"{name}.{half}.{way}" in packed for half in HALVES for way in WAYS)


def _stats(packed: dict[str, np.ndarray], is_leaf: np.ndarray) -> np.ndarray:
    if "stats" not in packed:
        return _matrix(packed, "stats", is_leaf)
    stats = packed.pop("stats")
    check(stats.dtype.kind in "uf", WHAT)
    return stats.astype(np.float64)


def _matrix(packed: dict[str, np.ndarray], name: str, is_leaf: np.ndarray) -> np.ndarray:
    n_columns = 0
    while _has(packed, f"{name}.{n_columns}"):
        n_columns += 1
    matrix = np.empty((len(is_leaf), n_columns))
    for k in range(n_columns):
        matrix[:, k] = _unpacked(packed, f"{name}.{k}", is_leaf)
    return matrix


def _unpacked(packed, name: str, is_leaf: np.ndarray, dtype: np.dtype = DOUBLE) -> np.ndarray:
    column: np.ndarray = np.empty(len(is_leaf), dtype)
    for half, of_half in zip(HALVES, (is_leaf, ~is_leaf), strict=True):
        n, own = int(of_half.sum()), f"{name}.{half}."
        ways = {way: packed.pop(own + way) for way in WAYS if own + way in packed}
        column[of_half] = _unpacked_half(ways, n, dtype)
    return column


def _unpacked_half(ways: dict[str, np.ndarray], n: int, dtype: np.dtype) -> np.ndarray:
    if ways.keys() == {"values", "places"}:
        values, places = ways["values"], ways["places"]
        check(values.dtype == dtype and values.ndim == 1 and places.dtype.kind == "u", WHAT)
        check(places.shape == (n,) and (n == 0 or places.max() < len(values)), WHAT)
        return values[places]
    check(len(ways) == 1, WHAT)
    way, array = ways.popitem()
    if way == "bytes":
        check(array.dtype == np.uint8 and array.shape == (dtype.itemsize, n), WHAT)
        return np.ascontiguousarray(array.T).view(dtype.newbyteorder("<")).reshape(n)
    check(array.dtype.kind in ("iu" if way == "whole" else "f" if way == "short" else "iuf"), WHAT)
    check(way != "same" or array.dtype == dtype, WHAT)
    check(array.shape == ((min(n, 1),) if way == "same" else (n,)), WHAT)
    return np.broadcast_to(array.astype(dtype), n)


# ---- what follows from the rest ----------------------------------------------------------------


def _impurity(stats: np.ndarray) -> np.ndarray:
    """That of one target of numbers."""
    with np.errstate(all="ignore"):
        return stats[:, 2] / stats[:, 0]


def _children(kind: np.ndarray, first_node: np.ndarray) -> dict[str, np.ndarray]:
    """The children of nodes that stand in preorder, by their number in their tree; -1 of leaves.

    Before each node count those that ask less those that are leaves. Behind a node that asks, the
    count is higher by one for its left child, for as long as that one's descendants last; the next
    node of its own count is its right child.
    """
    is_inner = kind != LEAF
    step = np.where(is_inner, 1, -1)
    count = np.cumsum(step) - step
    count -= count.min(initial=0)
    few = count.max(initial=0) < 2**16  # which numpy sorts by counting
    order = np.argsort(count.astype(np.uint16) if few else count, kind="stable")
    following = np.full(len(kind), -1)
    following[order[:-1]] = order[1:]
    sizes = np.diff(first_node)
    check(sizes.min(initial=0) >= 0 and sizes.sum() == len(kind), "offsets")
    begins = np.repeat(first_node[:-1], sizes)
    right = np.where(is_inner, following - begins, -1)
    left = np.where(is_inner, np.arange(len(kind)) - begins + 1, -1)
    return {"left": left.astype(np.int32), "right": right.astype(np.int32)}

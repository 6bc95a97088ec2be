"""Random changes of arrays, JSON and bytes."""

import copy

import numpy as np

NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**15, -(2**31), 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 2**64)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e16)
OTHERS = (None, True, False, "", "x", "gini", [], [1], ["a"], {}, {"x": 1}, {"pairs": [[1, 2]]})


def any_value(rng):
    kind = rng.integers(3)
    values = (NUMBERS, FLOATS, OTHERS)[kind]
    return values[rng.integers(len(values))]


# ---- arrays ------------------------------------------------------------------------------------


def changed_number(array, rng):
    """One element, or one field of one, is another; now and then one of its neighbours."""
    array = array.copy()
    if not array.size:
        return array
    flat = array.reshape(-1)
    i = rng.integers(len(flat))
    if array.dtype.names:
        field = array.dtype.names[rng.integers(len(array.dtype.names))]
        flat[field][i] = _number_for(flat[field], rng)
    elif array.dtype.kind in "biufc":
        flat[i] = _number_for(flat, rng)
    elif array.dtype.kind in "OU":
        flat[i] = "another"
    return array


def _number_for(values, rng):
    if rng.random() < 0.3:
        return values[rng.integers(len(values))]
    if values.dtype.kind == "f":
        number = FLOATS[rng.integers(len(FLOATS))]
        with np.errstate(over="ignore"):
            return np.float64(number).astype(values.dtype)
    if values.dtype.kind == "b":
        return bool(rng.integers(2))
    if rng.random() < 0.4:
        return values.dtype.type(rng.integers(0, 100))
    return np.array(NUMBERS[rng.integers(len(NUMBERS))] % 2**64, np.uint64).astype(values.dtype)


def changed_bytes(array, rng):
    if array.dtype.hasobject or not array.nbytes:
        return array
    content = bytearray(array.tobytes())
    for _ in range(rng.integers(1, 9)):
        content[rng.integers(len(content))] = rng.integers(256)
    return np.frombuffer(bytes(content), array.dtype).reshape(array.shape).copy()


SHAPED = (
    lambda array, rng: array[:-1],
    lambda array, rng: array[1:],
    lambda array, rng: array[:0],
    lambda array, rng: np.concatenate([array, array]),
    lambda array, rng: array[..., None],
    lambda array, rng: array.ravel(),
    lambda array, rng: array.reshape(-1)[:1].reshape(()) if array.size else array,
    lambda array, rng: array.T,
    lambda array, rng: array[::-1],
    lambda array, rng: rng.permutation(array),
    lambda array, rng: np.zeros_like(array),
    lambda array, rng: np.asfortranarray(array),
)
TYPES = ("f4", "f8", "i1", "i4", "i8", "u1", "u8", "U3", "?", "c16", "M8[s]", ">f8")


def reshaped(array, rng):
    try:
        return SHAPED[rng.integers(len(SHAPED))](array, rng)
    except (ValueError, IndexError, TypeError):
        return array[None]


def retyped(array, rng):
    try:
        with np.errstate(all="ignore"):
            return array.astype(TYPES[rng.integers(len(TYPES))])
    except (ValueError, TypeError):
        return np.zeros(array.shape)


def changed_array(array, rng):
    ways = (changed_number, changed_number, changed_number, changed_bytes, reshaped, retyped)
    return ways[rng.integers(len(ways))](array, rng)


# ---- JSON --------------------------------------------------------------------------------------


def changed_json(text, rng):
    """One place of it is another value, gone, or under another name."""
    text = copy.deepcopy(text)
    places = list(_places(text))
    holder, key = places[rng.integers(len(places))]
    way = rng.integers(6)
    if way == 0 and isinstance(holder, dict):
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        holder[str(any_value(rng))] = holder.pop(key)
    elif way == 2:
        other, its_key = places[rng.integers(len(places))]
        holder[key] = copy.deepcopy(other[its_key])
    else:
        holder[key] = copy.deepcopy(any_value(rng))
    return text


def _places(text):
    items = text.items() if isinstance(text, dict) else enumerate(text)
    for key, value in list(items):
        yield text, key
        if isinstance(value, dict | list):
            yield from _places(value)


# ---- bytes -------------------------------------------------------------------------------------


def changed_content(content, rng):
    content = bytearray(content)
    way = rng.integers(5)
    if way == 0:
        return bytes(content[: rng.integers(len(content))])
    if way == 1:
        begin = rng.integers(len(content))
        del content[begin : begin + rng.integers(1, 200)]
    elif way == 2:
        begin = rng.integers(len(content))
        content[begin:begin] = rng.bytes(rng.integers(1, 200))
    else:
        for _ in range(rng.integers(1, 6)):
            content[rng.integers(len(content))] = rng.integers(256)
    return bytes(content)

"""One file for a fitted model: a zip of plain arrays and a JSON text, with a version.

    format.json      version, estimator, parameters, recipe, levels of categories, and fitted values
                     that are no arrays
    forest.NAME.npy  the arrays of core.arrays.Forest; what stands at nodes is packed (see packing),
                     but in files of version 1
    NAME.npy         other fitted arrays: classes_, feature_names_in_, oob_…
    NAME.K.npy       those of target K, where several have one each

Reading runs nothing: arrays are read without pickle, and all that is read is checked (see sound)
before a kernel, which does not look at bounds, may walk it. Nothing is read that no model has, and
before there is room for an array its size is looked at: of all parts that it has, or as little as
compressing can have saved; of packed nodes all at once. Another fitted value is kept if its name is
added here to ARRAYS or VALUES.
"""

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from forestlab.atomic import whole_file
from forestlab.core.arrays import (
    NO_GAINS,
    NO_MEANS,
    NODE,
    STEP,
    Forest,
    Limits,
    Settings,
    with_steps,
)
from forestlab.core.options import (
    OPTIONS,
    Options,
    as_node,
    as_value,
    from_node,
    is_whole,
    replaced,
    told,
)
from forestlab.forest import Recipe
from forestlab.model import packing, sound

VERSION = 2
BEFORE = 1  # when nodes were not packed
TEXT = "format.json"
# Only in files of forests that have them, and what others have instead.
BESIDE = {"means": NO_MEANS, "gains": NO_GAINS}
FOREST = [name for name in Forest._fields if name not in ("steps", *BESIDE)]  # steps are derived
PACKED = ("nodes", "stats", *BESIDE)

# What else a fitted model keeps: arrays, or lists of one for each target, and other values.
ARRAYS = (
    "chances_",
    "classes_",
    "rounded_",
    "feature_names_in_",
    "oob_decision_function_",
    "oob_prediction_",
    "oob_voters_",
    "n_nodes_before_",
    "node_losses_",
    "ccp_alphas_",
    "ccp_losses_",
    "ccp_errors_",
    "ridges_",
    "covariances_",
)
VALUES = (
    "n_features_in_",
    "n_rows_",
    "n_outputs_",
    "n_classes_",
    "seed_",
    "oob_score_",
    "shrink_",
    "ccp_alpha_",
)
LITTLE = 2**24  # bytes that an array may have, however few it has in the file
MOST_SAVED = 200  # times smaller than it is may the file of one be that is longer
WIDE = ("forest.stats", "forest.means", "oob_decision_function_")  # unless most of a row is zero
MOST_TOLD = 200  # characters
DAMAGE = (  # what a text or arrays of another shape lead to
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


# ---- writing -----------------------------------------------------------------------------------


def write(path, estimator: str, params: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Write a model; the file appears whole or not at all.

    Parameters that JSON cannot hold (a RandomState, a scorer) are left out: a model that is read
    back has the default there. A criterion or a leaf that is a function of one's own is kept by
    its name, which tells by what the model was grown and cannot be fitted again.
    """
    forest, recipe = fitted["forest_"], fitted["recipe_"]
    categories = fitted.get("categories_")
    fitted = {name: value for name, value in fitted.items() if name != "categories_"}
    lists = {name: value for name, value in fitted.items() if _are_arrays(value)}
    arrays = {name: value for name, value in fitted.items() if isinstance(value, np.ndarray)}
    arrays |= {f"{name}.{k}": one for name, each in lists.items() for k, one in enumerate(each)}
    fitted = {name: value for name, value in fitted.items() if name not in lists}
    plain = (int, float, list, np.generic)
    values = {name: _plain(value) for name, value in fitted.items() if isinstance(value, plain)}
    params = params | {own.what: own.name for own in recipe.own}
    text = {
        "format": "forestlab",
        "version": VERSION,
        "estimator": estimator,
        "params": {n: _plain_param(n, value) for n, value in params.items() if _is_plain(value)},
        "recipe": _plain_recipe(recipe),
        "values": values,
        "objects": [name for name, array in arrays.items() if array.dtype == object],
    }
    if categories is not None:
        text["categories"] = [own if own is None else _plain_levels(own) for own in categories]
    if lists:
        text["lists"] = {name: len(each) for name, each in lists.items()}
    arrays = {name: _without_objects(name, array) for name, array in arrays.items()}
    arrays |= {f"forest.{name}": getattr(forest, name) for name in FOREST if name not in PACKED}
    arrays |= {f"forest.{name}": array for name, array in packing.pack(forest).items()}
    arrays[TEXT] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    with whole_file(Path(path)) as written, open(written, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _are_arrays(value) -> bool:
    """Is it a list of arrays, one for each of several targets?"""
    return isinstance(value, list) and all(isinstance(one, np.ndarray) for one in value)


def _plain_levels(levels: np.ndarray) -> dict[str, Any]:
    return {"type": levels.dtype.str, "levels": levels.tolist()}


def _without_objects(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype != object:
        return array
    if not all(isinstance(item, str) for item in array.ravel()):
        raise ValueError(f"{name} holds Python objects that are no strings: they cannot be saved.")
    return array.astype(str)


def _plain_recipe(recipe: Recipe) -> dict[str, Any]:
    said = {group: _plain_param(group, getattr(recipe, group)) for group in OPTIONS}
    said |= {own.what: own.name for own in recipe.own}
    return recipe._asdict() | {"limits": recipe.limits._asdict()} | said


def _plain_param(name: str, value):
    """A value as JSON holds it; options with their names, so that a person can read them."""
    if isinstance(value, Options):
        return {key: _plain(item) for key, item in as_node(name, value).items()}
    return _plain(value)


def _is_plain(value) -> bool:
    if isinstance(value, Options):
        return all(_is_plain(item) for item in told(value).values())
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufU"
    return value is None or isinstance(value, str | int | float | dict | np.generic)


def _plain(value):
    """A value as JSON holds it; a dict as pairs, since its keys need not be strings."""
    if isinstance(value, dict):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


# ---- reading -----------------------------------------------------------------------------------


def read(path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The estimator's name, its parameters and its fitted values, as `write` got them."""
    with open(path, "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            text = json.loads(_array(archive, members.pop(TEXT), TEXT).tobytes())
            version = text["version"] if text["format"] == "forestlab" else None
        except Exception as error:  # zipfile, zlib and numpy have a dozen for damage
            raise ValueError(f"{path} is not a forestlab model, or is damaged.") from error
        if version not in (BEFORE, VERSION):
            raise ValueError(
                f"{path} has format version {version}; this forestlab reads versions {BEFORE} and "
                f"{VERSION}."
            )
        _require_known(path, text)
        try:
            _require_members(text, members)
            _require_sizes(archive, members)
            arrays = {name: native(_array(archive, info, name)) for name, info in members.items()}
            fitted = _fitted(text, arrays if version == BEFORE else _with_nodes(arrays))
            params = {name: _unplain(name, value) for name, value in text["params"].items()}
            return text["estimator"], of_today(params), fitted
        except Exception as error:
            raise ValueError(f"{path} is damaged: {told_of(error)}") from error


def told_of(error: Exception) -> str:
    """What an error says of a file, in a line."""
    if isinstance(error, KeyError):
        return f"{error} is missing"
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]} …"


def _require_members(text: dict, members: dict[str, zipfile.ZipInfo]) -> None:
    """Raise ValueError for what no model has."""
    lists = {f"{name}.{k}" for name, n in _lists(text).items() for k in range(n)}
    if text["version"] == BEFORE:
        known = {f"forest.{name}" for name in (*FOREST, *BESIDE)}
    else:
        known = {f"forest.{name}" for name in FOREST if name not in PACKED}
        known |= {name for name in members if _is_packed(name)}
    known |= {*ARRAYS} | lists
    for what, names, allowed in (
        ("part", members, known),
        ("value", text["values"], VALUES),
        ("list", _lists(text), ARRAYS),
        ("array of objects", text["objects"], {*ARRAYS} | lists),
    ):
        for name in names:
            if name not in allowed:
                raise ValueError(f"no model has a {what} {name!r}")


def _lists(text: dict) -> dict[str, int]:
    """How many arrays, one for each target, stand under each name."""
    lists = text.get("lists", {})
    sound.check(isinstance(lists, dict), "lists")
    sound.check(all(is_whole(n) and 0 < n < 2**16 for n in lists.values()), "lists")
    return lists


def _require_sizes(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> None:
    """Raise ValueError for arrays that are larger than what is beside them, or than their part of
    the file can hold, before there is room for any."""
    shapes = {name: _header(archive, info)[0] for name, info in members.items()}
    if "forest.kind" in shapes:
        _require_packed_sizes(members, shapes)
        members = {name: info for name, info in members.items() if not _is_packed(name)}
    else:
        _require_plain_sizes(shapes)
    n_classes = _n_classes(shapes)
    for name, info in members.items():
        is_wide = n_classes and name.startswith(WIDE)
        most = max(LITTLE, MOST_SAVED * info.compress_size)
        if info.file_size > most and not is_wide:
            raise ValueError(f"its {name} would be {info.file_size:,} bytes of so small a file")


def _n_classes(shapes: dict[str, tuple[int, ...]]) -> int:
    return sum(math.prod(shapes[name]) for name in shapes if name.startswith("classes_"))


def _require_plain_sizes(shapes: dict[str, tuple[int, ...]]) -> None:
    """Those of nodes that are not packed."""
    n_nodes = shapes["forest.nodes"][0]
    sound.check(len(shapes["forest.stats"]) == 2, "statistics")
    sound.check(shapes["forest.stats"][0] == n_nodes, "statistics")
    sound.check(shapes.get("forest.means", (n_nodes,))[0] == n_nodes, "means")
    sound.check(_n_classes(shapes) in (0, *shapes["forest.stats"][1:]), "statistics")


def _require_packed_sizes(members: dict[str, zipfile.ZipInfo], shapes: dict) -> None:
    """Those of nodes, packed and not. Statistics of classes may be of any size, as most of a row
    is zero, if there are names of as many classes."""
    packed = [name for name in members if _is_packed(name)]
    n_nodes = math.prod(shapes["forest.kind"])
    stats = shapes.get("forest.stats", (n_nodes, _n_classes(shapes)))
    sound.check(len(stats) == 2 and stats[0] == n_nodes, "statistics")
    sound.check(_n_classes(shapes) in (0, stats[1]), "statistics")
    sound.check(all(max(shapes[name], default=0) <= max(n_nodes, 8) for name in packed), "nodes")
    n_columns = len({name.rsplit(".", 2)[0] for name in packed})
    n_bytes = n_nodes * (NODE.itemsize + 8 * n_columns)
    n_bytes += 0 if _n_classes(shapes) else 8 * math.prod(stats)
    if n_bytes > max(LITTLE, MOST_SAVED * sum(members[name].compress_size for name in packed)):
        raise ValueError(f"its nodes would be {n_bytes:,} bytes of so small a file")


def _is_packed(name: str) -> bool:
    return name.startswith("forest.") and packing.is_name(name.removeprefix("forest."))


def _with_nodes(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays with nodes, and what is beside them, in the place of what is packed."""
    packed = {name.removeprefix("forest."): arrays[name] for name in arrays if _is_packed(name)}
    unpacked = packing.unpack(packed, arrays["forest.first_node"])
    arrays = {name: array for name, array in arrays.items() if not _is_packed(name)}
    return arrays | {f"forest.{name}": array for name, array in unpacked.items()}


def _header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[tuple[int, ...], np.dtype]:
    """The shape and type of an array, which is as long as they say."""
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read_header(member)
        n_bytes = math.prod(shape) * dtype.itemsize
        if (
            dtype.hasobject
            or min(shape, default=0) < 0
            or member.tell() + n_bytes != info.file_size
        ):
            raise ValueError(f"its {info.filename} is not as long as it says")
    return shape, dtype


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> np.ndarray:
    _header(archive, info)
    if name == TEXT and info.file_size > max(LITTLE, MOST_SAVED * info.compress_size):
        raise ValueError("its text would be longer than its file can hold")
    with archive.open(info) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _require_known(path, text: dict) -> None:
    """Raise ValueError for a model of a choice that only a module of somebody's own adds."""
    places = [text.get(where) for where in ("recipe", "params")]
    named = [
        (group, choices, place.get(group))
        for place in places
        if isinstance(place, dict)
        for group, choices in OPTIONS.items()
    ]
    for group, choices, said in named:
        name = said.get("name") if isinstance(said, dict) else said
        if isinstance(name, str) and name not in choices:
            raise ValueError(
                f"{path} was grown with {group}={name!r}, which there is not: import the module "
                "that adds it first."
            )


def native(value):
    """An array, or a forest of them, as the kernels are compiled for; what is another value, as it
    is.

    Numba knows no other byte order than the machine's. To it what cannot be written to, as the
    memory maps that joblib gives its workers, is another type: 20 seconds of compiling there.
    """
    if isinstance(value, Forest):
        return Forest(*map(native, value))
    if not isinstance(value, np.ndarray):
        return value
    return np.require(value, value.dtype.newbyteorder("="), ["W", "E"])


def _fitted(text: dict, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    stored = {name: arrays.pop(f"forest.{name}") for name in FOREST}
    beside = {name: arrays.pop(f"forest.{name}", none) for name, none in BESIDE.items()}
    forest = Forest(**stored, steps=np.empty(0, STEP), **beside)
    arrays |= {name: arrays[name].astype(object) for name in text["objects"]}
    lists: dict[str, Any] = {
        name: [arrays.pop(f"{name}.{k}") for k in range(n)] for name, n in _lists(text).items()
    }
    if "categories" in text:
        levels = text["categories"]
        lists["categories_"] = [own if own is None else _array_of_levels(own) for own in levels]
    return {
        "forest_": forest,
        "recipe_": _recipe(text["recipe"]),
        **text["values"],
        **arrays,
        **lists,
    }


def _array_of_levels(text: dict) -> np.ndarray:
    dtype, listed = np.dtype(text["type"]), text["levels"]
    sound.check(dtype.kind in "biufO" and isinstance(listed, list), "categories")
    is_text = all(isinstance(one, str) for one in listed)
    sound.check(dtype.kind != "O" or is_text, "categories")
    return native(np.array(listed, dtype=dtype))


def _recipe(text: dict) -> Recipe:
    text = text | {
        name: tuple(text.get(name, ())) for name in ("monotonic", "classes_each", "levels")
    }
    if "settings" in text:
        former: Any = Settings(**text.pop("settings"))
        return _recipe_of_today(Recipe(limits=former, **text))
    values: dict[str, Any] = {group: from_node(group, text[group]) for group in OPTIONS}
    return Recipe(**text | values | {"limits": Limits(**text["limits"])})


def _unplain(name: str, value):
    if isinstance(value, dict):
        return from_node(name, value) if "name" in value else dict(value["pairs"])
    return [_unplain(name, item) for item in value] if isinstance(value, list) else value


# ---- of before, when options were no values, and values not missing ---------------------------

ALONE = {"threshold": "midpoint", "n_thresholds": None, "ties": "random"}  # and their defaults


def of_today(state: dict[str, Any]) -> dict[str, Any]:
    """An estimator's attributes, or its parameters alone, as they are called today."""
    if "criterion" not in state:  # of which all had one
        return state
    state = {"missing": "error"} | state  # before there was a choice
    if "learner" in state:
        return state
    said = {name: None for name, default in ALONE.items() if state.get(name) == default}
    recipe = state.get("recipe_")
    grown = {} if recipe is None else {"recipe_": _recipe_of_today(recipe)}
    return state | said | grown


def _recipe_of_today(recipe) -> Recipe:
    """A recipe that has the search by name, and its options among settings in place of limits."""
    settings: Any = recipe.limits
    said = {
        "threshold": "midpoint" if settings.midpoint else "value",
        "n_thresholds": settings.n_thresholds or None,
        "ties": "random" if settings.random_ties else "first",
    }
    return recipe._replace(
        search=replaced("search", recipe.search, said),
        learner=as_value("learner", recipe.learner),
        limits=Limits(**{name: getattr(settings, name) for name in Limits._fields}),
    )


def checked(task: str, fitted: dict[str, Any]) -> dict[str, Any]:
    """Fitted values that go together, with what is derived of them; else a ValueError."""
    try:
        sound.check_fitted(task, fitted)
        return fitted | {"forest_": with_steps(fitted["forest_"])}
    except DAMAGE as error:
        raise ValueError(told_of(error)) from error

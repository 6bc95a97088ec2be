"""One file for a fitted model: a zip of plain arrays and a JSON text, with a version.

    format.json      version, estimator, parameters, recipe, levels of categories, and fitted values
                     that are no arrays
    forest.NAME.npy  the arrays of core.arrays.Forest
    NAME.npy         other fitted arrays: classes_, feature_names_in_, oob_…
    NAME.K.npy       those of target K, where several have one each

Reading runs nothing: arrays are read without pickle, and trees are checked before a kernel, which
does not look at bounds, may walk them.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from forestlab.atomic import whole_file
from forestlab.core.arrays import (
    LEAF,
    NO_GAINS,
    NO_MEANS,
    NODE,
    STEP,
    Forest,
    Limits,
    Settings,
    tree_of,
    with_steps,
)
from forestlab.core.options import (
    OPTIONS,
    Options,
    as_node,
    as_value,
    from_node,
    replaced,
    told,
)
from forestlab.core.questions import check_questions
from forestlab.forest import Recipe

VERSION = 1
TEXT = "format.json"
# Only in files of forests that have them, and what others have instead.
BESIDE = {"means": NO_MEANS, "gains": NO_GAINS}
FOREST = [name for name in Forest._fields if name not in ("steps", *BESIDE)]  # steps are derived


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
    arrays |= {f"forest.{name}": getattr(forest, name) for name in FOREST}
    beside = {f"forest.{name}": getattr(forest, name) for name in BESIDE}
    arrays |= {name: array for name, array in beside.items() if array.size}
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
            text, arrays = _contents(file)
            version = text["version"] if text["format"] == "forestlab" else None
        except Exception as error:  # zipfile, zlib and numpy have a dozen for damage
            raise ValueError(f"{path} is not a forestlab model, or is damaged.") from error
    if version != VERSION:
        raise ValueError(
            f"{path} has format version {version}; this forestlab reads version {VERSION}."
        )
    _require_known(path, text)
    try:
        fitted = _fitted(text, arrays)
        params = {name: _unplain(name, value) for name, value in text["params"].items()}
        return text["estimator"], of_today(params), fitted
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error


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


def _contents(file) -> tuple[dict, dict[str, np.ndarray]]:
    with np.load(file, allow_pickle=False) as archive:
        arrays = {name: native(archive[name]) for name in archive.files}
    return json.loads(arrays.pop(TEXT).tobytes()), arrays


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
    recipe = _recipe(text["recipe"])
    check_forest(forest, text["values"]["n_features_in_"], recipe.levels)
    forest = with_steps(forest)
    check_bags(recipe, text["values"]["n_rows_"], arrays["chances_"])
    arrays |= {name: arrays[name].astype(object) for name in text["objects"]}
    sizes = text.get("lists", {})
    lists: dict[str, Any] = {
        name: [arrays.pop(f"{name}.{k}") for k in range(sizes[name])] for name in sizes
    }
    check_targets(recipe, forest, lists.get("classes_"))
    if "categories" in text:
        lists["categories_"] = _levels(text, recipe)
    return {"forest_": forest, "recipe_": recipe, **text["values"], **arrays, **lists}


def _levels(text: dict, recipe: Recipe) -> list[np.ndarray | None]:
    """The levels of each feature; as many as the trees were grown on."""
    levels = [own if own is None else _array_of_levels(own) for own in text["categories"]]
    counts = tuple(0 if own is None else len(own) for own in levels)
    _check(len(levels) == text["values"]["n_features_in_"], "categories")
    _check(counts == (recipe.levels or (0,) * len(levels)), "categories")
    return levels


def _array_of_levels(text: dict) -> np.ndarray:
    dtype, listed = np.dtype(text["type"]), text["levels"]
    _check(dtype.kind in "biufO", "categories")
    _check(dtype.kind != "O" or all(isinstance(one, str) for one in listed), "categories")
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


def check_forest(forest: Forest, n_features: int, levels: tuple[int, ...] = ()) -> None:
    """Raise ValueError unless every walk through the forest stays within its arrays and ends, and
    asks for no category that is none of as many `levels` as each feature has."""
    nodes = forest.nodes
    _check(nodes.dtype == NODE and nodes.ndim == 1, "nodes")
    stats = forest.stats
    _check(stats.dtype == np.float64 and stats.ndim == 2 and stats.size > 0, "statistics")
    _check(len(stats) == len(nodes), "statistics")
    means, n_targets = forest.means, (stats.shape[1] - 1) // 2
    _check(means.dtype == np.float64 and means.ndim == 2, "means")
    _check(means.shape[1] == 0 or means.shape == (len(nodes), n_targets), "means")
    _check(forest.gains.dtype == np.float64, "gains")
    _check(forest.gains.shape in ((0,), (len(nodes),)), "gains")
    _check(forest.params.dtype == np.float64 and forest.bits.dtype == np.uint64, "pools")
    offsets = (
        (forest.first_node, nodes),
        (forest.first_param, forest.params),
        (forest.first_bit, forest.bits),
    )
    for first, pool in offsets:
        _check(first.dtype == np.int64 and first.ndim == 1, "offsets")
        _check(len(first) == len(forest.first_node) > 1 and first[0] == 0, "offsets")
        _check((np.diff(first) >= 0).all() and first[-1] == len(pool), "offsets")
    _check((np.diff(forest.first_node) > 0).all(), "offsets")
    sizes = np.diff(forest.first_node)
    begins = np.repeat(forest.first_node[:-1], sizes)
    place = np.arange(len(nodes)) - begins
    inner = nodes["kind"] != LEAF
    shares = nodes["missing_share"]
    _check(((shares >= 0) & (shares <= 1)).all(), "shares of missing values")
    for child in ("left", "right"):
        later = (nodes[child] > place) & (nodes[child] < np.repeat(sizes, sizes))
        _check(later[inner].all(), "children")
    children = np.concatenate([(begins + nodes[child])[inner] for child in ("left", "right")])
    _check(len(np.unique(children)) == len(children) == len(nodes) - len(sizes), "children")
    for t in range(len(sizes)):
        check_questions(tree_of(forest, t), n_features, levels)


def check_targets(recipe: Recipe, forest: Forest, classes: list[np.ndarray] | None) -> None:
    """Raise ValueError unless statistics are those of as many classes as each of several targets
    has."""
    each = recipe.classes_each
    _check(each == tuple(map(len, classes or ())), "classes")
    _check(not each or sum(each) == forest.stats.shape[1], "classes")


def check_bags(recipe: Recipe, n_rows: int, chances: np.ndarray) -> None:
    """Raise ValueError unless bags can be drawn again."""
    most = np.iinfo(np.int32).max if recipe.replace else n_rows
    _check(0 <= recipe.bag_size <= most, "bags")
    _check(chances.dtype == np.float64 and chances.shape in ((0,), (n_rows,)), "bags")


def _check(holds, what: str) -> None:
    if not holds:
        raise ValueError(f"its {what} do not fit together")

"""Options as values: what a search or a weak learner is asked to do.

``search="histogram"`` is short for ``Histogram()``; ``Histogram(n_thresholds=15)`` says more. Such
a value is an estimator's parameter, a field of the recipe and, in files, a name with its fields.
The nodes of the configuration and the logged parameters are made of the same fields. So to add an
option is to add a field: its default, what it may be and what it means stand there and nowhere
else. Only `numbers` tells kernels of it: fields of core.arrays.Settings.

A *group* is a row of OPTIONS, such as "search"; a *choice* is a name in it, such as "histogram".
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple, get_type_hints

LARGEST = 2**31 - 1  # of the whole numbers that kernels get: as good as no limit


# ---- what an option may be ---------------------------------------------------------------------


class Allowed(NamedTuple):
    words: str  # as in "… must be WORDS; got …"
    kind: str  # as documentation has it
    holds: Callable[[Any], bool]


def listed(names) -> str:
    return ", ".join(repr(name) for name in names)


def is_whole(given) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool)


def one_of(*names: str) -> Allowed:
    kind = "{" + ", ".join(f'"{name}"' for name in names) + "}"
    return Allowed(
        f"one of {listed(names)}", kind, lambda given: isinstance(given, str) and given in names
    )


def whole(least: int, or_none: bool = False, most: int = 0) -> Allowed:
    also = " or None" if or_none else ""
    limit = f" and at most {most:,}" if most else ""
    return Allowed(
        f"a whole number of at least {least}{limit}{also}",
        f"int{also}",
        lambda given: (
            (or_none and given is None)
            or (is_whole(given) and least <= given <= (most or math.inf))
        ),
    )


def option(default, allowed: Allowed, text: str) -> Any:
    """A field of a value: its default, what it may be, what it means."""
    return field(default=default, metadata={"allowed": allowed, "text": text})


# ---- the values --------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Options:
    """What all values share."""

    @property
    def row(self) -> str:
        """The row of the kernels' table, if that is not of the choice's name."""
        return ""

    @property
    def idle(self) -> dict[str, str]:
        """Options that mean nothing beside the others, and why."""
        return {}

    def __repr__(self) -> str:
        """As one would write it: what is the default is left out."""
        said = [
            f"{name}={getattr(self, name)!r}"
            for name, default in defaults_of(type(self)).items()
            if repr(getattr(self, name)) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(said)})"

    def numbers(self) -> dict[str, Any]:
        """What kernels read of it: fields of core.arrays.Settings."""
        return {}


@dataclass(frozen=True, repr=False)
class SearchOptions(Options):
    """Which cuts of a feature are tried."""

    threshold: str = option(
        "midpoint",
        one_of("midpoint", "value"),
        "Whether a cut lies midway between two values or on the lower one.",
    )
    n_thresholds: int | None = option(
        None,
        whole(1, or_none=True),
        "Cuts kept at random of those the search proposes for a feature, instead of all.",
    )
    ties: str = option(
        "random",
        one_of("random", "first"),
        "Which of the features wins that split a node equally well, as many do in small nodes: one "
        "by chance, so that no column is favoured for its place, or the first.",
    )

    def numbers(self) -> dict[str, Any]:
        return {
            "n_thresholds": min(int(self.n_thresholds or 0), LARGEST),
            "midpoint": self.threshold == "midpoint",
            "random_ties": self.ties == "random",
        }


@dataclass(frozen=True, repr=False)
class Exact(SearchOptions):
    """Every distinct value."""


@dataclass(frozen=True, repr=False)
class Histogram(SearchOptions):
    """Quantile bins of each feature; of the numbers of several columns, equal stretches of the
    node's range where it has more rows than bins."""

    bins: int = option(255, whole(2, most=65_535), "The most bins.")

    def numbers(self) -> dict[str, Any]:
        return super().numbers() | {"local_bins": int(self.bins)}


@dataclass(frozen=True, repr=False)
class Boundary(SearchOptions):
    """Only cuts between rows of different target."""


@dataclass(frozen=True, repr=False)
class Uniform(SearchOptions):
    """A number uniform in the node's range of the feature, or `n_thresholds` of them (Geurts, Ernst
    and Wehenkel 2006)."""

    @property
    def idle(self) -> dict[str, str]:
        return {"threshold": "cuts are drawn, not laid between values"}


@dataclass(frozen=True, repr=False)
class LearnerOptions(Options):
    """What a node asks of a row."""


@dataclass(frozen=True, repr=False)
class Axis(LearnerOptions):
    """Whether one feature is at most a number."""


@dataclass(frozen=True, repr=False)
class OfColumns(LearnerOptions):
    """Something of several columns, drawn for each candidate."""

    terms: int = option(2, whole(1, most=64), "Columns that are drawn for a candidate.")

    def numbers(self) -> dict[str, Any]:
        return {"n_terms": int(self.terms)}


@dataclass(frozen=True, repr=False)
class Fitted(OfColumns):
    """Whether a sum of a few drawn columns is at most a number; each has a factor that is fitted to
    the node's rows: a linear discriminant, or ridge regression."""


@dataclass(frozen=True, repr=False)
class Quadratic(OfColumns):
    """Whether a random form of degree 2 in a few drawn columns is at most a number: conics, half of
    them circles of the standardised columns."""


@dataclass(frozen=True, repr=False)
class Oblique(OfColumns):
    """Whether a sum of a few drawn columns, each with a random factor, is at most a number."""

    weights: str = option(
        "uniform",
        one_of("uniform", "signs"),
        "Factors of standardised columns: uniform in [-1, 1), or -1 or 1.",
    )

    def numbers(self) -> dict[str, Any]:
        return super().numbers() | {"signs": self.weights == "signs"}


@dataclass(frozen=True, repr=False)
class Band(Oblique):
    """Whether a feature, or a sum of several, lies between two numbers."""

    projection: str = option("axis", one_of("axis", "oblique"), "What lies between them.")

    @property
    def row(self) -> str:
        return "band" if self.projection == "axis" else "oblique_band"

    @property
    def idle(self) -> dict[str, str]:
        reason = "projection='axis' is of one column"
        return dict.fromkeys(("terms", "weights"), reason) if self.projection == "axis" else {}

    def numbers(self) -> dict[str, Any]:
        return {} if self.projection == "axis" else super().numbers()


OPTIONS: dict[str, dict[str, type[Options]]] = {  # the first of a group is its default
    "search": {"exact": Exact, "histogram": Histogram, "boundary": Boundary, "uniform": Uniform},
    "learner": {
        "axis": Axis,
        "oblique": Oblique,
        "fitted": Fitted,
        "quadratic": Quadratic,
        "band": Band,
    },
}


# ---- classes -----------------------------------------------------------------------------------


def defaults_of(cls: type[Options]) -> dict[str, Any]:
    return {its.name: its.default for its in dataclasses.fields(cls)}


def defaults(group: str, choice: Any) -> dict[str, Any] | None:
    """The options of a choice; None if there is no such choice."""
    cls = OPTIONS[group].get(choice) if isinstance(choice, str) else None
    return None if cls is None else defaults_of(cls)


def having(group: str, name: str) -> list[str]:
    """The choices that have an option."""
    return [choice for choice, cls in OPTIONS[group].items() if name in defaults_of(cls)]


def types_of(group: str) -> dict[str, Any]:
    """The options of all of a group's choices, each with its type."""
    found: dict[str, Any] = {}
    for cls in OPTIONS[group].values():
        hints = get_type_hints(cls)
        for name in defaults_of(cls):
            found[name] = found[name] | hints[name] if name in found else hints[name]
    return found


def twin(group: str, missing: Any) -> type:
    """A dataclass of a choice's name and the options of all choices, for a configuration to fill.

    OmegaConf makes nodes of frozen dataclasses read-only; this one is not frozen. An option that
    not all choices have, and with one default, is `missing`.
    """
    rows = [defaults_of(cls) for cls in OPTIONS[group].values()]
    found: list[tuple[str, Any, Any]] = [("name", str, next(iter(OPTIONS[group])))]
    for name, kind in types_of(group).items():
        is_one = all(name in row and repr(row[name]) == repr(rows[0][name]) for row in rows)
        found.append((name, kind, rows[0][name] if is_one else missing))
    return dataclasses.make_dataclass(f"{group.capitalize()}Config", found)


# ---- values ------------------------------------------------------------------------------------


def as_value(group: str, given) -> Options:
    """A value as it is, a choice as the value that it is short for."""
    choices = OPTIONS[group]
    if isinstance(given, str) and given in choices:
        return choices[given]()
    if type(given) in choices.values():
        return given
    example = next(iter(choices.values()))()
    raise ValueError(
        f"{group} must be one of {listed(choices)}, or a value such as {example!r}; got {given!r}."
    )


def name_of(group: str, value: Options) -> str:
    """The choice that a value is of."""
    of = {cls: choice for choice, cls in OPTIONS[group].items()}
    return of[type(as_value(group, value))]


def row_of(group: str, value: Options) -> str:
    """The row of the kernels' table, SEARCHES or LEARNERS, that does what a value says."""
    return value.row or name_of(group, value)


def told(value: Options) -> dict[str, Any]:
    """What a value says, by its options' names."""
    return {name: getattr(value, name) for name in defaults_of(type(value))}


def replaced(group: str, given, said: Mapping[str, Any]) -> Options:
    """The value of `given` with other options."""
    value = as_value(group, given)
    for name in said:
        require_option(group, given, name)
    return dataclasses.replace(value, **said)


def require_option(group: str, given, name: str) -> None:
    names = defaults_of(type(as_value(group, given)))
    if name not in names:
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise ValueError(f"{name} is no option of {group}={given!r}: {has}.")


def check_option(label: str, value: Options, name: str, given) -> None:
    """Raise ValueError unless an option of a value may be `given`."""
    (its,) = [its for its in dataclasses.fields(value) if its.name == name]
    allowed = its.metadata.get("allowed")
    if allowed is not None and not allowed.holds(given):
        raise ValueError(f"{label} must be {allowed.words}; got {given!r}.")


def checked(group: str, value: Options) -> Options:
    """The value, if all its options are what they may be."""
    for name, given in told(value).items():
        check_option(f"{group}.{name}", value, name, given)
    defaults = defaults_of(type(value))
    for name, reason in value.idle.items():
        if getattr(value, name) != defaults[name]:
            raise ValueError(f"{group}.{name}={getattr(value, name)!r} has no effect: {reason}.")
    return value


def as_node(group: str, value: Options) -> dict[str, Any]:
    """A value as files and configurations have it: its name and its options."""
    return {"name": name_of(group, value), **told(value)}


def from_node(group: str, node: Mapping[str, Any]) -> Options:
    """The value of such a node; an option that it does not name has its default."""
    said = {name: item for name, item in node.items() if name != "name"}
    return checked(group, replaced(group, str(node["name"]), said))

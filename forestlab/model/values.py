"""Options as an estimator takes them: a choice, a value, or an option by itself.

``search="exact", ties="first"`` and ``search=Exact(ties="first")`` say the same. What is said by
itself adds to a name; beside a value it must not say otherwise.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from forestlab.core import options
from forestlab.core.options import OPTIONS, Options, SearchOptions

# Options that are parameters by themselves too, and their group.
FLAT = dict.fromkeys(("threshold", "n_thresholds", "ties"), "search")


def inside(group: str, given) -> dict[str, Any]:
    """The options that a parameter has inside it; nothing if it is no choice and no value."""
    try:
        return options.told(options.as_value(group, given))
    except ValueError:
        return {}


def option_value(group: str, params: Mapping[str, Any]) -> Options:
    """What an estimator's parameters say of a group, as a value, checked."""
    given = params[group]
    value = options.checked(group, options.as_value(group, given))
    said = {name: params[name] for name, its in FLAT.items() if its == group}
    said = {name: item for name, item in said.items() if item is not None}
    for name, item in said.items():
        options.require_option(group, given, name)
        options.check_option(name, value, name, item)
        if not isinstance(given, str) and getattr(value, name) != item:
            raise ValueError(
                f"{name} is said twice: {item!r} by itself, and {getattr(value, name)!r} in "
                f"{group}={given!r}. Say it in one place."
            )
    return options.checked(group, options.replaced(group, given, said))


# ---- documentation -----------------------------------------------------------------------------


def described(group: str, text: str) -> tuple[str, str]:
    """A parameter that takes a choice or a value: its kind, and what it means."""
    choices = [f"- {name!r}, {_within(cls.__doc__)}" for name, cls in OPTIONS[group].items()]
    inside = [f"- {_described_inside(group, name)}" for name in options.types_of(group)]
    first, cls = next(iter(OPTIONS[group].items()))
    short = f"A name is short for a value, as {first!r} for {cls()!r}."
    short += " A value may say more:" if inside else ""
    return f"str or value, default={first!r}", "\n".join([f"{text}:", *choices, short, *inside])


def _described_inside(group: str, name: str) -> str:
    """An option inside a value, and which choices have it; one that is a parameter too, by name."""
    if name in FLAT:
        return f"`{name}`, as below"
    its_choices = options.having(group, name)
    its = _field(OPTIONS[group][its_choices[0]], name)
    kind, text = _told(its)
    kind = kind.replace("{", "{{").replace("}", "}}")  # as `documented` formats it
    return f"`{name}` of {options.listed(its_choices)}, {kind}, default={its.default!r}, {text}"


def described_alone(name: str, more: str = "") -> tuple[str, str]:
    """An option that is a parameter by itself; with more to say of it."""
    kind, text = _told(_field(SearchOptions, name))
    kind = kind.removesuffix(" or None")
    return (
        f"{kind} or None, default=None",
        f"{text[:1].upper()}{text[1:]}. {more}None: as `search` says.",
    )


def _field(cls: type[Options], name: str) -> dataclasses.Field:
    return next(its for its in dataclasses.fields(cls) if its.name == name)


def _told(its: dataclasses.Field) -> tuple[str, str]:
    """An option's kind, and what it means."""
    allowed = its.metadata.get("allowed")
    kind = str(its.type) if allowed is None else allowed.kind
    return kind, _within(its.metadata.get("text"))


def _within(text: str | None) -> str:
    """A sentence as part of another."""
    text = " ".join((text or "").split()).rstrip(".")
    return text[:1].lower() + text[1:]

"""What is wrong with a command line, in one sentence: what was given, what is allowed."""

import re

from hydra.errors import HydraException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from forestlab.config import GROUPS, TOP, ConfigError, flat_defaults
from forestlab.spelling import did_you_mean, most_like

MISTAKES = (ConfigError, HydraException, OmegaConfBaseException)  # of the person at the keyboard
NOISE = (
    "full_key:",
    "object_type=",
    "reference_type=",
    "Set the env",
    "Config search path",
    "provider=",
    "Check that it's in",
)
# Choices that Hydra has once a package is installed.
PACKAGES = {
    "hydra/launcher": {
        "joblib": '"forestlab[joblib]"',
        "ray": '"forestlab[ray]"',
        "ray_aws": "hydra-ray-launcher",
        "rq": "hydra-rq-launcher",
        "submitit_local": '"forestlab[submitit]"',
        "submitit_slurm": '"forestlab[submitit]"',
    },
    "hydra/sweeper": {
        "ax": "hydra-ax-sweeper",
        "nevergrad": "hydra-nevergrad-sweeper",
        "optuna": "hydra-optuna-sweeper",
    },
}


def one_line(error: Exception) -> str:
    """An error in one line."""
    text = str(error)
    if isinstance(error, OverrideParseException):
        return _unreadable(error.override, text)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename} cannot be used: {error.strerror}."
    unknown = re.search(r"Could not override '([^']+)'", text)
    if unknown:
        return no_option(unknown[1])
    merge = re.search(r"Error merging override (.+)", text)
    if merge and error.__cause__ is not None:
        return f"{merge[1]}: {_lines(str(error.__cause__))[0]}"
    choice = re.search(r"Could not find '([\w/]+)/([^/']*)'", text)
    if choice:
        listed = re.search(r"Available options in '[\w/]+':(.*?)Config search", text, re.DOTALL)
        return no_choice(choice[1], choice[2], listed[1].split() if listed else [])
    return " ".join(line for line in _lines(text) if not line.startswith(NOISE))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _unreadable(override: str, text: str) -> str:
    """A word that is no override; a function in it, as choice(), says itself what it lacks."""
    function = re.search(r"while evaluating (.+)", text)
    if function:
        return f"{override}: {function[1]}."
    key, _, value = override.partition("=")
    if not value or value != value.strip(", ") or key != key.strip():
        return f"{override!r} cannot be read: write KEY=VALUE, without spaces beside = and commas."
    return (
        f"{override!r} cannot be read: a value with , = ( ) [ ] {{ }} or a quote in it needs "
        "quotes that the shell leaves, as in 'dataset.path=\"a=b.csv\"'."
    )


def no_option(key: str) -> str:
    """That there is no such key, and which one may have been meant."""
    group, _, end = key.rpartition(".")
    place, inside = "the top level", {name: [name] for name in (*GROUPS, *TOP)}
    if group in GROUPS:
        place, prefix = group, f"{group}."
        inside = {n.removeprefix(prefix): [n] for n in flat_defaults() if n.startswith(prefix)}
    elsewhere: dict[str, list[str]] = {}
    for name in flat_defaults():
        elsewhere.setdefault(name.split(".")[-1], []).append(name)
    meant = elsewhere.get(end) or _nearest(end, inside) or _nearest(end, elsewhere)
    if meant:
        return f"there is no option {key!r}: {did_you_mean(_either(meant))}"
    return f"there is no option {key!r}: {place} has {', '.join(inside)}."


def _either(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _nearest(end: str, names: dict[str, list[str]]) -> list[str]:
    near = most_like(end, names)
    return names[near] if near else []


def not_installed(group: str, name: str) -> str:
    """That a choice of Hydra's needs a package."""
    return f"{group}={name} is not installed: pip install {PACKAGES[group][name]}."


def no_choice(group: str, name: str, there: list[str]) -> str:
    """That a group has no such choice, and which it has or what to install for it."""
    packages = PACKAGES.get(group, {})
    if name in there:  # a file of one's own
        return f"{group}={name} is read as a number: call it {name}.yaml with a letter before."
    if name in packages:
        return not_installed(group, name)
    options = f": choose {', '.join(there)}" if there else ""
    more = ", ".join(other for other in packages if other not in there)
    return f"there is no {group}={name}{options}{f', or install one of {more}' if more else ''}."

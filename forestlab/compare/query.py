"""What a person asks of logged runs → MLflow's filter, and what MLflow cannot filter by.

    model = forest and dataset = digits and seed < 3 and accuracy/test > 0.9
    model in (tree, forest) and parent = 'model=tree,forest,rno seed=0,1,2'
    params.`model.name` = 'forest' and metrics.`accuracy/test` > 0.9 and tags.oob = 'yes'

A *condition* is a key, an operator and a value; conditions are joined by `and`. The last line is
what MLflow understands. The others are rewritten to it: a key of the configuration is a parameter,
a key with a slash a metric, and a value needs no quotes unless there is a space in it. Parameters
are texts to MLflow, which cannot order them or look them up in a list: those conditions are left
as *checks*, for `narrow`. `parent` is a sweep; who asks has to find it.
"""

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from forestlab.config import ConfigError, dotted, flat_defaults, schema
from forestlab.spelling import did_you_mean, most_like

ATTRIBUTES = ("run_id", "run_name", "status", "start_time", "end_time", "user_id", "artifact_uri")
TIMES = ("start_time", "end_time")
OF_DATASETS = ("name", "digest", "context")
KINDS = {
    "metrics": ("metric", "metrics"),
    "params": ("param", "params", "parameter", "parameters"),
    "tags": ("tag", "tags"),
    "attributes": ("attr", "attribute", "attributes", "run"),
    "datasets": ("dataset", "datasets"),
}
ORDERS: dict[str, Callable] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LISTS = ("IN", "NOT IN")
ALLOWED = (
    "a query is KEY OPERATOR VALUE, joined by `and`, as in "
    '"model = forest and seed < 3 and accuracy/test > 0.9"; '
    "operators are = != < <= > >= like ilike in, not in, is null, is not null."
)

WORD = r"""[^\s=<>!'"`(),]++"""
KEY = rf"""(?:\w+\.)?+(?:`[^`]+`|"[^"]+")|{WORD}"""
OPERATOR = r"[<>!]=|[=<>]|(?:NOT\s+)?IN\b|I?LIKE\b"
VALUE = r"""'[^']*'|"[^"]*"|\([^)]*\)|[^\s='"()][^\s'"()]*"""
CONDITION = re.compile(
    rf"\s*(?P<key>{KEY})\s*"
    rf"(?:(?P<null>IS(?:\s+NOT)?\s+NULL)\b|(?P<operator>{OPERATOR})\s*(?P<value>{VALUE}))",
    re.IGNORECASE,
)
JOINT = re.compile(r"\s*(?:AND\b|$)", re.IGNORECASE)


class Condition(NamedTuple):
    kind: str  # of KINDS, or "parent"
    key: str
    operator: str  # in capitals; IS NULL and IS NOT NULL go without a value
    value: str  # as it was typed


class Check(NamedTuple):
    """A condition that MLflow cannot filter by."""

    column: str  # of a frame as mlflow.search_runs gives it
    operator: str  # of ORDERS or LISTS
    value: Any  # a number or a list of texts


class Query(NamedTuple):
    filter: str  # for MLflow
    checks: list[Check]
    parent: str | None  # name or id of a sweep, or its beginning


def parse(text: str) -> Query:
    """Read a query; without a word on their status, runs have to be finished."""
    found = _conditions(text) if text.strip() else []
    if not any(condition[:2] == ("attributes", "status") for condition in found):
        found.append(Condition("attributes", "status", "=", "FINISHED"))
    parents = [condition for condition in found if condition.kind == "parent"]
    if len(parents) > 1 or any(condition.operator != "=" for condition in parents):
        raise ConfigError("parent is asked for once, and with `=`: parent = 'NAME'.")
    parts: list[str] = []
    checks: list[Check] = []
    for condition in found:
        if condition.kind == "parent":
            continue
        if condition.kind in ("params", "tags") and condition.operator in (*ORDERS, *LISTS):
            checks.append(_check(condition))
        else:
            parts.append(_for_mlflow(condition))
    parent = _unquoted(parents[0].value) if parents else None
    return Query(" and ".join(parts), checks, parent)


def narrow(runs: pd.DataFrame, checks: list[Check]) -> pd.DataFrame:
    """The runs that pass all checks; a run without the parameter, or without a number, does not."""
    for check in checks:
        if check.column not in runs:
            return runs.iloc[:0]
        values = runs[check.column]
        if check.operator in ORDERS:
            keep = ORDERS[check.operator](pd.to_numeric(values, errors="coerce"), check.value)
        else:
            keep = values.notna() & (values.isin(check.value) == (check.operator == "IN"))
        runs = runs[keep]
    return runs


# ---- reading -----------------------------------------------------------------------------------


def _conditions(text: str) -> list[Condition]:
    found = []
    place = 0
    while True:
        matched = CONDITION.match(text, place)
        if matched is None:
            raise ConfigError(f"the query is not understood at {_here(text, place)}: {ALLOWED}")
        sign = " ".join((matched["null"] or matched["operator"]).upper().split())
        found.append(Condition(*_kind(matched["key"]), sign, matched["value"] or ""))
        joint = JOINT.match(text, matched.end())
        if joint is None:
            raise ConfigError(
                f"the query needs `and` before {_here(text, matched.end())}, "
                "or quotes around a text with spaces; there is no `or`."
            )
        place = joint.end()
        if not joint[0].strip():
            return found


def _here(text: str, place: int) -> str:
    return repr(text[place:].strip()) if text[place:].strip() else "its end"


def _kind(key: str) -> tuple[str, str]:
    """(kind, key) as MLflow has them."""
    plain = _unquoted(key)
    known = flat_defaults()
    # The configuration may say auto of a task, and csv of a data set that is called by its file.
    if plain in ("task", "dataset"):
        return "tags", plain
    if plain in known:
        return "params", plain
    if f"{plain}.name" in known:  # a group, as on the command line
        return "params", f"{plain}.name"
    if plain == "parent":
        return "parent", plain
    if plain in ATTRIBUTES:
        return "attributes", plain
    prefix, dot, name = key.partition(".")
    for kind, names in KINDS.items():
        if dot and prefix in names and (kind != "datasets" or name in OF_DATASETS):
            return kind, _unquoted(name)
    if "/" in plain:
        return "metrics", plain
    raise ConfigError(f"{plain!r} cannot be asked for: {_hint(plain, list(known))}")


def _hint(key: str, known: list[str]) -> str:
    same_end = [name for name in known if name.split(".")[-1] == key]
    groups = [name.removesuffix(".name") for name in known if name.endswith(".name")]
    meant = same_end[0] if same_end else most_like(key, [*known, *groups, *ATTRIBUTES])
    return did_you_mean(
        meant,
        "a key is one of the configuration such as model, dataset.name, max_depth or seed, a "
        "metric such as accuracy/test, parent, task, an attribute such as run_name, or begins "
        "with params., metrics. or tags.",
    )


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"`"
    return text[1:-1] if is_quoted else text


# ---- rewriting ---------------------------------------------------------------------------------


def _for_mlflow(condition: Condition) -> str:
    kind, key, sign, value = condition
    place = f"{kind}.`{key}` {sign}"
    if not value:
        return place
    if kind == "metrics" or key in TIMES:
        return f"{place} {_number(condition)!r}".replace("e+", "e")
    if value[0] in "'\"(":
        return f"{place} {value}"
    text = _as_logged(key, value) if kind == "params" else value
    return f'{place} "{text}"' if "'" in text else f"{place} '{text}'"


def _check(condition: Condition) -> Check:
    kind, key, sign, value = condition
    column = f"{kind}.{key}"
    if sign in ORDERS:
        return Check(column, sign, _number(condition))
    if not value.startswith("("):
        raise ConfigError(f"{key} {sign.lower()} wants a list, as in ({value}, …).")
    listed = re.findall(r"""'[^']*'|"[^"]*"|[^\s,'"]+""", value[1:-1])
    texts = [_unquoted(word) if word[0] in "'\"" else _as_logged(key, word) for word in listed]
    return Check(column, sign, texts)


def _number(condition: Condition) -> float:
    try:
        return float(_unquoted(condition.value))
    except ValueError:
        raise ConfigError(
            f"{condition.key} {condition.operator} wants a number; got {condition.value}."
        ) from None


def _as_logged(key: str, value: str) -> str:
    """A value as the command line takes it → the text that a run logs for it: null is None."""
    if key not in flat_defaults():
        return value
    try:
        given = OmegaConf.from_dotlist([f"{key}={value}"])
        merged: Any = OmegaConf.merge(OmegaConf.structured(schema()), given)
        group: Any = OmegaConf.masked_copy(merged, key.split(".")[0])
        return str(dotted(OmegaConf.to_container(group, resolve=True))[key])  # type: ignore[arg-type]
    except OmegaConfBaseException as error:
        reason = str(error).split("\n")[0]
        raise ConfigError(f"{key} cannot be {value}: {reason}.") from error

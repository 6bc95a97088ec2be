"""A baseline's file: JSON, a metric a line, so that a change of one reads well in a diff."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from forestlab.baseline.groups import Baseline, Group
from forestlab.baseline.rules import spread
from forestlab.config import ConfigError

FORMAT = 1
ONE_LINE = re.compile(r'\{\s*"(?:values|seed)"[^{}]*\}|\[[^\[\]{}]*\]')


def save(baseline: Baseline, path: Path) -> None:
    """Write a baseline. Means and standard deviations are for people; reading leaves them out."""
    content = {
        "format": FORMAT,
        "environment": baseline.environment,
        "metrics": baseline.patterns,
        "groups": [_content(group) for group in baseline.groups],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ONE_LINE.sub(_joined, text) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from error


def _joined(found: re.Match) -> str:
    return re.sub(r"\n\s*", " ", found[0])  # JSON has no newlines inside its strings


def _content(group: Group) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for name, values in group.values.items():
        known = [value for value in values if value is not None]
        metrics[name] = {"values": values, "mean": float(np.mean(known))}
        if len(known) > 1:
            metrics[name]["sd"] = spread(known)
    return {
        "config": group.config,
        "seeds": group.seeds,
        "dataset_digest": group.digests,
        "metrics": metrics,
    }


def load(path: Path) -> Baseline:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ConfigError(f"{path} has format {content['format']}; this reads {FORMAT}.")
        groups = [_group(group) for group in content["groups"]]
        return Baseline(content["environment"], content["metrics"], groups)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, ConfigError):
            raise
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{path} is not a baseline ({reason}).") from error


def _group(content: dict[str, Any]) -> Group:
    values = {name: row["values"] for name, row in content["metrics"].items()}
    found = Group(content["config"], content["seeds"], content["dataset_digest"], values)
    if {len(column) for column in (found.digests, *values.values())} != {len(found.seeds)}:
        raise ValueError("a group's lists are not of one length")
    return found

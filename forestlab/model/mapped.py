"""What the estimators make of training data that were encoded to a folder (see forest.encoded)."""

from typing import Any

import numpy as np

from forestlab.forest.encoded import Encoded
from forestlab.model import parameters
from forestlab.model.frames import FROM_DTYPE, Table
from forestlab.tree.levels import as_levels


def taken(model, encoded: Encoded, y) -> tuple[Encoded, Any, np.ndarray, Any, Table | None]:
    """As `Model._taken`; the model gets to know the features."""
    _require_taken(model, encoded, y)
    facts = encoded.facts
    model.n_features_in_ = encoded.shape[1]
    model.feature_names_in_ = np.array(facts.names, dtype=object)
    levels = [None if own is None else as_levels(own) for own in facts.levels]
    table = Table([], levels) if any(own is not None for own in levels) else None
    return encoded, _labels(model, encoded), encoded.y, encoded.classes, table


def require_same(model, encoded: Encoded) -> None:
    """Refuse other features than those of the fit before."""
    before = list(getattr(model, "feature_names_in_", range(model.n_features_in_)))
    if before != encoded.facts.names:
        raise ValueError(
            f"warm_start=True adds trees to a forest of the same features; {encoded.folder} has "
            "others."
        )


def _require_taken(model, encoded: Encoded, y) -> None:
    facts = encoded.facts
    if y is not None:
        raise ValueError(
            f"y must be None with an Encoded: {encoded.folder} has its target, {facts.target!r}."
        )
    if model.task != facts.task:
        raise ValueError(
            f"{encoded.folder} was encoded for {facts.task}, and {type(model).__name__} is of "
            f"{model.task}: choose another, or encode the file with task={model.task!r}."
        )
    given = model.categorical_features
    if not (isinstance(given, str) and given == FROM_DTYPE):
        raise ValueError(
            f"categorical_features must be {FROM_DTYPE!r} with an Encoded, as encode_file was told "
            f"which columns are categories; got {given!r}."
        )
    if isinstance(model.ccp_alpha, str) and model.ccp_alpha == "cv":
        raise ValueError(
            "ccp_alpha='cv' fits parts of the rows, and an Encoded is taken whole: choose 'valid', "
            "or a number."
        )
    if facts.lacking and not model._allows_nan():
        raise ValueError(
            f"missing='error' refuses missing values, and {encoded.folder} has some: choose "
            "missing='learned', 'branch' or 'both'."
        )


def _labels(model, encoded: Encoded) -> np.ndarray:
    """The targets as they were before, if that is asked for, else their codes: of many rows words
    take much memory."""
    codes = encoded.y[:, 0]
    by_label = isinstance(getattr(model, "class_weight", None), dict | list)
    if not len(encoded.classes):
        return codes
    if by_label or parameters.oob_wanted(getattr(model, "oob_score", False)):
        return np.asarray(encoded.classes)[codes.astype(np.intp)]
    return codes

"""Importance of the features by impurity and, if that was found, by permutation."""

import numpy as np

from forestlab.forest import importances
from forestlab.study.part import About, Files, Findings, Look, Part


def _find(look: Look) -> np.ndarray:
    """(n_trees, n_features) by impurity."""
    return importances(look.grown.forest, look.n_features)


def _table(found: np.ndarray, findings: Findings, about: About) -> Files:
    mean, std = found.mean(axis=0), found.std(axis=0)
    table = {"feature": about.features, "mean": mean, "std_over_trees": std}
    permutation = findings.parts.get("permutation")
    if permutation is not None:
        table |= {
            "permutation_mean": permutation.mean,
            "permutation_std_over_trees": permutation.std,
            "permutation_rows_a_tree": int(permutation.n_rows.max()),
        }
    yield "importance.json", table


def _picture(found: np.ndarray, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    impurity = found.mean(axis=0), found.std(axis=0)
    names, title, shape = about.features, about.title, about.image_shape
    permutation = findings.parts.get("permutation")
    if permutation is None:
        picture = figures.importance(names, *impurity, title, image_shape=shape)
    else:
        other = permutation.mean, permutation.std
        picture = figures.two_importances(names, impurity, other, title, image_shape=shape)
    yield "importance.png", picture


PART = Part(
    level="light",
    targets="both",
    needs_targets=False,
    find=_find,
    table=_table,
    picture=_picture,
    files={"importance": "by impurity and, in a full study, by permutation"},
)

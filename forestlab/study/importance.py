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

    if len(about.features) < 2:  # it has it all
        return
    impurity = found.mean(axis=0), _standard_error(found)
    names, shape = about.features, about.image_shape
    title = about.titled(f"Importance of the {'features' if shape is None else 'pixels'}")
    permutation = findings.parts.get("permutation")
    if permutation is None:
        picture = figures.importance(names, *impurity, title, image_shape=shape, label=BY_IMPURITY)
    else:
        other = permutation.mean, _standard_error(permutation.increase[permutation.n_rows > 0])
        labels = BY_IMPURITY, BY_PERMUTATION[findings.has_classes]
        two = figures.two_importances
        picture = two(names, impurity, other, title, image_shape=shape, labels=labels)
    yield "importance.png", picture


def _standard_error(of_trees: np.ndarray) -> np.ndarray | None:
    """Of the mean over trees, (n_features,); None of less than two."""
    n = len(of_trees)
    return of_trees.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else None


BY_IMPURITY = "decrease of impurity (share of the sum)"
BY_PERMUTATION = {
    True: "rise of a tree's error rate, shuffled (share of rows)",
    False: "rise of a tree's MSE, shuffled (squared units)",
}


PART = Part(
    level="light",
    targets="both",
    needs_targets=False,
    find=_find,
    table=_table,
    picture=_picture,
    files={"importance": "by impurity and, in a full study, by permutation"},
)

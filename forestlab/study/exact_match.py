"""Of several targets of classes: the share of rows of which all are right, at every depth.

Of one-hot targets that is stricter than accuracy by class: a row is right only if its class has
more than half of the posterior.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from forestlab.core.arrays import Forest
from forestlab.forest import by_depth, of_target
from forestlab.study.part import About, Files, Findings, Look, Number, Part, steps


def all_right(
    forests: Sequence[Forest], combiner: str, X, truth: np.ndarray, n_depths: int, outside, n_jobs
) -> tuple[np.ndarray, np.ndarray]:
    """Whether all targets of each row are right at each depth, (n_depths, n), and how many trees
    were asked, (n,).

    Parameters
    ----------
    forests : one for each target
    truth : (n, n_targets) class codes
    outside : the trees' out-of-bag rows as bits, if these alone are asked; None: all are
    """
    right = np.ones((n_depths, len(X)), bool)
    asked = np.zeros(len(X), np.int64)
    for forest, codes in zip(forests, truth.T, strict=True):

        def note(rows: slice, answers, voters, codes: np.ndarray = codes) -> None:
            right[:, rows] &= answers.argmax(axis=2) == codes[rows]
            asked[rows] = voters

        by_depth(forest, "classification", combiner, X, n_depths, note, n_jobs, outside)
    return right, asked


def _share(right: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Of the rows that a tree was asked for, (D,)."""
    voted = asked > 0
    return right[:, voted].mean(axis=1) if voted.any() else np.full(len(right), np.nan)


def _find(look: Look) -> dict[str, np.ndarray]:
    """By split: the share at each depth, or at the deepest if no other is looked at."""
    if next(iter(look.surfaces.values())).values["accuracy"].shape[1] < look.n_depths:
        return {split: _as_it_is(look, split) for split in look.surfaces}
    grown, found = look.grown, {}
    each = grown.recipe.classes_each
    forests = [of_target(grown.forest, grown.task, k, each) for k in range(grown.n_targets)]
    for split in look.surfaces:
        X, truth = look.data["train" if split == "oob" else split]
        outside = look.outside if split == "oob" else None
        right = all_right(forests, grown.combine, X, truth, look.n_depths, outside, look.n_jobs)
        found[split] = _share(*right)
    return found


def _as_it_is(look: Look, split: str) -> np.ndarray:
    """From the answers of each target, (1,)."""
    each = [found.surfaces[split] for found in look.by_target.values()]
    right = np.all([surface.predicted == surface.truth for surface in each], axis=0)
    return _share(right[None], each[0].voters)


def _numbers(found: dict[str, np.ndarray], findings: Findings) -> Iterator[Number]:
    for split, curve in found.items():
        yield from steps(f"exact_match/{split}", curve, findings.first_depth)


def _table(found: dict[str, np.ndarray], findings: Findings, about: About) -> Files:
    n_depths = len(next(iter(found.values())))
    yield "curves/exact_match.json", {"depth": list(range(n_depths))} | found


def _picture(found: dict[str, np.ndarray], findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    yield "curves/exact_match.png", figures.depth_curve(found, "exact_match", about.title)


PART = Part(
    level="off",
    targets="all",
    applies=lambda look: look.several_classes,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={"exact_match/SPLIT": "share of rows of which all of several targets are right"},
    files={"curves/exact_match": "of several targets of classes, at every depth"},
    higher=("exact_match",),
)

"""Everything a run finds out about its forest, in one place, before any of it is logged.

*light*: every metric at every depth, out-of-bag answers, confusion, uncertainty, importance.
*full*: the whole surface of depths × numbers of trees, and every part that applies.
*off*: how good the forest is, as it is.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from forestlab.forest import Grown, paths_of
from forestlab.study.part import LEVELS, Findings, Look
from forestlab.study.parts import PARTS
from forestlab.study.surfaces import deepest_of, surfaces_of
from forestlab.study.targets import key_names, mean_surfaces
from forestlab.study.trees import depth_of

now = logging.getLogger("forestlab.now")  # what happens, for a terminal


def study(
    grown: Grown,
    data: dict[str, tuple[np.ndarray, np.ndarray]],
    n_jobs: int,
    name: str = "light",
    most_rows: int = 1000,
    count_cuts: bool = False,
    draw: Callable | None = None,
    targets: Sequence[str] = (),
    truth: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Findings:
    """Study a forest on {split: (X, y)}, "train" being what it was grown on.

    Parameters
    ----------
    name : full, light or off
    most_rows : of a split, that are looked at where it is costly
    draw : () → `bias.DrawFindings`, if the study has them; None: it has not
    targets : their names, if there are several
    truth : rows → their targets without noise, where that is known
    """
    coded = {split: (X, grown.codes(y)) for split, (X, y) in data.items() if len(y)}
    outside = None if name == "off" else grown.outside(n_jobs)
    n_depths = depth_of(grown.forest) + 1
    look = Look(
        grown, coded, outside, {}, n_depths, most_rows, n_jobs, count_cuts, draw, truth=truth
    )
    if name == "full" and look.has_targets and grown.is_whole:
        # Before targets go apart: impurities are of them all.
        paths = paths_of(grown.forest, grown.recipe.ccp_cost, n_jobs=n_jobs)
        look = look._replace(paths=paths)
    if grown.n_targets == 1:
        return _found(look._replace(surfaces=_surfaces(look, name)), name, ("each", "all", "both"))
    by_target = {
        key: _of_target(look, k, name) for k, key in enumerate(key_names(targets, grown.n_targets))
    }
    surfaces = mean_surfaces([found.surfaces for found in by_target.values()])
    return _found(look._replace(surfaces=surfaces, by_target=by_target), name, ("all", "both"))


def _of_target(look: Look, k: int, name: str) -> Findings:
    """What is found of one target of several."""
    data = {split: (X, np.ascontiguousarray(y[:, k])) for split, (X, y) in look.data.items()}
    look = look._replace(grown=look.grown.of_target(k), data=data)
    return _found(look._replace(surfaces=_surfaces(look, name)), name, ("each", "both"))


def _surfaces(look: Look, name: str) -> dict:
    now.info("studying depths and numbers of trees")
    if name == "off":
        return deepest_of(look.grown, look.data, look.n_jobs)
    sizes = None if name == "full" else [look.grown.n_trees]
    studied = look.grown, look.data, look.outside, look.n_depths, sizes, look.n_jobs
    return surfaces_of(*studied, [path for rule, path in look.paths.items() if rule != "depth"])


def _found(look: Look, name: str, targets: tuple[str, ...]) -> Findings:
    """What the parts find, each seeing what those before it found."""
    parts: dict[str, Any] = {}
    look, grown = look._replace(found=parts), look.grown
    for key, part in PARTS.items():
        is_wanted = LEVELS.index(part.level) <= LEVELS.index(name) and part.targets in targets
        is_possible = look.has_targets or not part.needs_targets
        if is_wanted and is_possible and part.applies(look):
            now.info("studying %s", key.replace("_", " "))
            found = part.find(look)
            if found is not None:
                parts[key] = found
    return Findings(
        task=grown.task,
        classes=_listed(grown.classes),
        surfaces=look.surfaces,
        first_depth=look.n_depths - 1 if name == "off" else 0,
        parts=parts,
        by_target=look.by_target,
    )


def _listed(classes) -> list | None:
    """Labels as Python's own; of several targets a list of such."""
    if isinstance(classes, list):
        return [own.tolist() for own in classes]
    return None if classes is None else classes.tolist()

"""The surfaces of all splits: every metric over depth × number of trees."""

from collections.abc import Iterator, Sequence

import numpy as np

from forestlab.forest import Grown, Path
from forestlab.study.part import About, Files, Findings, Number, Part
from forestlab.study.shown import shown
from forestlab.study.surface import Surface, deepest, surface
from forestlab.study.tasks import STUDIED

SPLITS = ("train", "valid", "test", "oob")


def deepest_of(grown: Grown, data, n_jobs: int) -> dict[str, Surface]:
    """How good the forest is on each split, as it is."""
    return {split: deepest(grown, X, truth, n_jobs) for split, (X, truth) in data.items()}


def surfaces_of(
    grown: Grown, data, outside, n_depths: int, sizes, n_jobs: int, paths: Sequence[Path] = ()
) -> dict[str, Surface]:
    """The surface of each split, and of the training rows that of their out-of-bag answers; also
    along the paths of rules."""
    asked = STUDIED[grown.task].ready(grown, n_depths, paths)
    found: dict[str, Surface] = {}
    for split, (X, truth) in data.items():
        bits = outside if split == "train" else None
        found[split], oob = surface(asked, X, truth, sizes, n_jobs, bits)
        if oob is not None:
            found["oob"] = oob
    return {split: found[split] for split in SPLITS if split in found}


def _numbers(found: dict[str, Surface], findings: Findings) -> Iterator[Number]:
    for split, of_split in found.items():
        for metric, values in of_split.values.items() if len(of_split.sizes) > 1 else ():
            for size, value in zip(of_split.sizes, values[:, -1], strict=True):
                yield Number(f"by_trees/{metric}/{split}", value, int(size))


def _table(found: dict[str, Surface], findings: Findings, about: About) -> Files:
    """A row for each split, number of trees and depth, with every metric."""
    import pandas as pd

    parts = []
    for split, of_split in found.items():
        n_sizes, n_depths = of_split.values[findings.main].shape
        cells = {
            "split": split,
            "n_trees": np.repeat(of_split.sizes, n_depths),
            "depth": np.tile(np.arange(n_depths), n_sizes),
        }
        values = {metric: values.ravel() for metric, values in of_split.values.items()}
        parts.append(pd.DataFrame(cells | values))
    yield "surface.csv", pd.concat(parts, ignore_index=True)


def _picture(found: dict[str, Surface], findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    sizes, how = found["train"].sizes, shown(findings.main)
    if len(sizes) < 2:  # the curve over depth says it all
        return
    values = {split: how.of(of_split.values[findings.main]) for split, of_split in found.items()}
    title = about.titled(f"{how.title} by depth and number of trees (ring: best)")
    yield "surface.png", figures.surface_maps(values, sizes, how.label, title, how.better)


PART = Part(
    level="full",
    targets="both",
    needs_targets=False,
    find=lambda look: look.surfaces,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={"by_trees/METRIC/SPLIT": "step: number of trees, on the surface's grid"},
    files={
        "surface.csv": "every metric over depth × number of trees",
        "surface.png": "the main one, of two trees and more",
    },
)

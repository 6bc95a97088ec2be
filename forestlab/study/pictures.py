"""Findings become pictures: which are drawn of a run, and under which names."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from forestlab import figures
from forestlab.study.bias import DrawFindings
from forestlab.study.coverage import LEVELS
from forestlab.study.curves import error_by_voters
from forestlab.study.deeper import BAND_LEVEL, Deeper
from forestlab.study.findings import Findings
from forestlab.study.metrics import METRICS
from forestlab.study.strength import ResidualStrength, VoteStrength
from forestlab.tree.view import TreeView

DRAWN_DEPTH = 3  # levels of the first tree that are drawn

Pictures = Iterator[tuple[str, Any]]


def pictures(
    found: Findings,
    drawn: DrawFindings | None,
    tree: TreeView,
    title: str,
    image_shape: tuple[int, int] | None = None,
) -> Pictures:
    """(name of the file, picture), one after the other."""
    yield from _of_all(found, title)
    yield "importance.png", _importance(found, tree.feature_names, title, image_shape)
    yield "tree/first.png", figures.tree_picture(tree, max_depth=DRAWN_DEPTH)
    if found.deeper is not None:
        yield "surface.png", _surfaces(found, title)
        yield from _of_full(found, found.deeper, tree.feature_names, title)
    if drawn is not None:
        kind: Literal["squared", "brier"] = "squared" if drawn.labels is None else "brier"
        parts = {"over training sets": drawn.squared}
        yield "bias_variance.png", figures.bias_variance_curve(parts, title, kind)


def _better(metric: str) -> Literal["higher", "lower"]:
    return "higher" if METRICS[metric].higher_is_better else "lower"


def _of_all(found: Findings, title: str) -> Pictures:
    main, is_of_classes = found.main, found.task == "classification"
    chosen = found.chosen_depth, found.chosen_on or ""
    curves = found.curves[main]
    yield "curves/depth.png", figures.depth_curve(curves, main, title, *chosen)
    if found.oob_by_trees is not None:
        sizes = np.arange(1, len(found.oob_by_trees) + 1)
        name = "error" if is_of_classes else "rmse"
        errors = {"oob": found.oob_by_trees}
        yield "curves/oob_by_trees.png", figures.size_curve(sizes, errors, name, title)
    for split, counts in found.confusions.items():
        picture = figures.confusion(counts, found.classes or [], f"{title}, {split}")
        yield f"confusion/{split}.png", picture
    for split in found.uncertainties:
        yield f"uncertainty/{split}.png", _uncertainty(found, split, f"{title}, {split}")
    if "oob" in found.surfaces:
        voters, rows, error, std = error_by_voters(found.surfaces["oob"])
        name, spread = ("error", None) if is_of_classes else ("|error|", std)
        yield "oob/voters.png", figures.voters_curve(voters, rows, error, title, name, spread)


def _uncertainty(found: Findings, split: str, title: str):
    unsure, error = found.uncertainties[split], found.surfaces[split].errors
    assert found.gauge is not None
    about = found.gauge.margin, found.gauge.untold
    if found.task == "classification":
        return figures.uncertainty_classification(unsure, error, title, *about)
    return figures.uncertainty_regression(unsure, error, title, *about)


def _importance(found: Findings, names: list[str], title: str, image_shape):
    impurity = found.importance.mean(axis=0), found.importance.std(axis=0)
    permutation = found.deeper.permutation if found.deeper is not None else None
    if permutation is None:
        return figures.importance(names, *impurity, title, image_shape=image_shape)
    other = permutation.mean, permutation.std
    return figures.two_importances(names, impurity, other, title, image_shape=image_shape)


def _surfaces(found: Findings, title: str):
    values = {split: surface.values[found.main] for split, surface in found.surfaces.items()}
    sizes = found.surfaces["train"].sizes
    return figures.surface_maps(values, sizes, found.main, title, _better(found.main))


def _strength(trees: VoteStrength | ResidualStrength, found: Findings, title: str):
    oob = found.curves[found.main]["oob"]
    if isinstance(trees, VoteStrength):
        three = trees.strength, trees.correlation, trees.bound
        return figures.strength_curve(*three, title, 1.0 - oob)
    return figures.residual_curve(trees.tree_rmse, trees.correlation, trees.bound, title, oob)


def _remarks(deeper: Deeper) -> dict[str, str]:
    """Of methods that have no interval for some of the rows."""
    n_rows = deeper.rows["intervals"]
    return {
        method: f"{of.rows} of {n_rows} rows{_needed(deeper)}"
        for method, of in deeper.coverages.items()
        if of.rows < n_rows
    }


def _needed(deeper: Deeper) -> str:
    """How many trees the jackknife wants, the only method that may not know."""
    needed = np.nan if deeper.jackknife is None else deeper.jackknife.trees_needed
    return f", {float(f'{needed:.1e}'):,.0f} trees needed" if np.isfinite(needed) else ""


def _of_full(found: Findings, deeper: Deeper, names: list[str], title: str) -> Pictures:
    if deeper.strength is not None:
        yield "strength.png", _strength(deeper.strength, found, title)
    for split, by_combiner in deeper.calibrations.items():
        tables = {combiner: table._asdict() for combiner, table in by_combiner.items()}
        picture = figures.reliability_diagram(tables, f"{title}, {split}")
        yield f"calibration/{split}.png", picture
    if deeper.coverages:
        kind: Literal["set", "interval"] = "set" if found.classes is not None else "interval"
        shares = {method: of.share for method, of in deeper.coverages.items()}
        widths = {method: of.width for method, of in deeper.coverages.items()}
        heading = f"{title}, {deeper.split}"
        levels = np.array(LEVELS)
        yield (
            "coverage.png",
            figures.coverage_curve(levels, shares, widths, heading, kind, _remarks(deeper)),
        )
    if deeper.along is not None:
        heading = f"{title}: {BAND_LEVEL:.0%} intervals"
        remarks = {
            method: f"unknown at {unknown:.0%}{_needed(deeper)}"
            for method, band in deeper.along.bands.items()
            if (unknown := float(np.isnan(band.low).mean())) > 0.0
        }
        yield "band.png", figures.prediction_band(*deeper.along, heading, remarks=remarks)
    if deeper.regions is not None:
        extent, posteriors, (points, labels) = deeper.regions
        classes = found.classes or []
        picture = figures.decision_regions(
            posteriors, extent, points, labels, classes, names, title
        )
        yield "regions.png", picture

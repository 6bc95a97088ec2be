"""Findings become numbers: every metric that a run logs, and its name.

The step is the depth, unless said otherwise:

METRIC/SPLIT                   every metric of the table, on train, valid, test and oob
by_trees/oob_error, oob_rmse   step: number of trees; every one
by_trees/METRIC_SPLIT          step: number of trees, on the surface's grid
by_trees/oob_voters            step: number of trees; how many vote on a training row, on average
chosen/depth, METRIC_test      at the depth that validation, or else out-of-bag rows, choose
strength/oob, correlation/oob, bound/oob, tree_error/oob, tree_mse/oob, tree_rmse/oob
strength_plain/oob, correlation_plain/oob, bound_plain/oob    as Breiman estimates them
ece/SPLIT_COMBINER, reliability/…, resolution/…, uncertainty/…, within_bins/…
coverage/METHOD, width/METHOD  step: nominal level in percent; of the rows in rows/coverage_METHOD
jackknife/negative_share       of rows, whose variance is unknown with so few trees
jackknife/mean_sd              of the others
jackknife/trees_needed         to know the variance; see study/jackknife.py
detection/MEASURE              does a measure of uncertainty tell where the errors are?
total/SPLIT, aleatoric/SPLIT, epistemic/SPLIT, spread/SPLIT   mean uncertainty of valid and test
                               rows, if it can be told; in nats, or squared units of the target
aleatoric/margin               of the mean, twice its standard error
bias2/draws, variance/draws, noise/draws, expected_error/draws, measured_error/draws; labels_…
trees/n_nodes, n_leaves, depth means over trees
trees/cuts                     scored to grow a tree, mean over trees, if study.cuts asks for it
rows/…                         rows that the costly parts of a study looked at, or learned from
rows/draws                     training sets drawn
seconds/fit, predict, study, log
seconds/compile                waited for kernels to be compiled or loaded; in none of the others
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.study.bias import DrawFindings
from forestlab.study.coverage import LEVELS
from forestlab.study.deeper import Deeper
from forestlab.study.findings import Findings


class Number(NamedTuple):
    name: str
    value: float
    step: int = 0


def numbers_of(
    found: Findings, drawn: DrawFindings | None, seconds: dict[str, float]
) -> list[Number]:
    """All metrics of a run."""
    numbers = [*_curves(found), *_by_trees(found), *_chosen(found), *_uncertainty(found)]
    for name in ("n_nodes", "n_leaves", "depth"):
        numbers.append(Number(f"trees/{name}", getattr(found, name).mean()))
    if found.cuts is not None:
        numbers.append(Number("trees/cuts", found.cuts.mean()))
    if found.deeper is not None:
        numbers += _deeper(found.deeper)
    if drawn is not None:
        numbers += _drawn(drawn)
    return numbers + [Number(f"seconds/{name}", value) for name, value in seconds.items()]


def _steps(name: str, values: np.ndarray, first: int = 0) -> list[Number]:
    return [Number(name, value, step) for step, value in enumerate(values, first)]


def _curves(found: Findings) -> Iterator[Number]:
    for metric, curves in found.curves.items():
        for split, curve in curves.items():
            yield from _steps(f"{metric}/{split}", curve, found.first_depth)


def _by_trees(found: Findings) -> Iterator[Number]:
    if found.oob_by_trees is not None:
        name = "error" if found.task == "classification" else "rmse"
        yield from _steps(f"by_trees/oob_{name}", found.oob_by_trees, 1)
    for split, surface in found.surfaces.items():
        if len(surface.sizes) > 1:
            for metric, values in surface.values.items():
                for size, value in zip(surface.sizes, values[:, -1], strict=True):
                    yield Number(f"by_trees/{metric}_{split}", value, int(size))
        if split == "oob":
            for size, voters in zip(surface.sizes, surface.mean_voters, strict=True):
                yield Number("by_trees/oob_voters", voters, int(size))


def _chosen(found: Findings) -> Iterator[Number]:
    if found.chosen_depth is None:
        return
    yield Number("chosen/depth", found.chosen_depth)
    for metric, curves in found.curves.items():
        if "test" in curves:
            yield Number(f"chosen/{metric}_test", curves["test"][found.chosen_depth])


def _uncertainty(found: Findings) -> Iterator[Number]:
    """Means over rows; a part that cannot be told has none."""
    for split, unsure in found.uncertainties.items():
        for name, values in unsure._asdict().items():
            if np.isfinite(values).any():
                yield Number(f"{name}/{split}", values.mean())
    if found.gauge is not None:
        yield Number("rows/uncertainty", found.gauge.n_rows)
        if not found.gauge.untold:
            yield Number("aleatoric/margin", found.gauge.margin)


def _deeper(deeper: Deeper) -> Iterator[Number]:
    if deeper.strength is not None:
        for name, values in deeper.strength._asdict().items():
            yield from _steps(f"{name}/oob", values)
    for split, by_combiner in deeper.calibrations.items():
        for combiner, found in by_combiner.items():
            for name in ("ece", "reliability", "resolution", "uncertainty", "within_bins"):
                yield from _steps(f"{name}/{split}_{combiner}", getattr(found, name))
    for method, coverage in deeper.coverages.items():
        yield Number(f"rows/coverage_{method}", coverage.rows)
        for level, share, width in zip(LEVELS, coverage.share, coverage.width, strict=True):
            percent = round(100 * level)
            yield Number(f"coverage/{method}", share, percent)
            if np.isfinite(width):
                yield Number(f"width/{method}", width, percent)
    if deeper.jackknife is not None:
        yield Number("jackknife/negative_share", deeper.jackknife.negative)
        sd = deeper.jackknife.sd
        if not np.isnan(sd).all():
            yield Number("jackknife/mean_sd", np.nanmean(sd))
        if np.isfinite(deeper.jackknife.trees_needed):
            yield Number("jackknife/trees_needed", deeper.jackknife.trees_needed)
    for measure, value in deeper.detection.items():
        yield Number(f"detection/{measure}", value)
    for name, count in deeper.rows.items():
        yield Number(f"rows/{name}", count)


def _drawn(drawn: DrawFindings) -> Iterator[Number]:
    names = {"error": "expected_error", "measured": "measured_error"}
    for name, values in drawn.squared._asdict().items():
        if values is not None:
            yield from _steps(f"{names.get(name, name)}/draws", values)
    if drawn.labels is not None:
        for name, values in drawn.labels._asdict().items():
            if values is not None:
                yield from _steps(f"labels_{names.get(name, name)}/draws", values)
    yield Number("rows/draws", drawn.n_draws)

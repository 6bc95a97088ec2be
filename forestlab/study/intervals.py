"""Intervals or label sets of rows by every method, and how often they hold the truth."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from forestlab.forest import Reached, combined, reached
from forestlab.study import conformal
from forestlab.study.coverage import (
    LEVELS,
    Band,
    coverage,
    n_known,
    normal_intervals,
    set_coverage,
    set_size,
    width,
)
from forestlab.study.jackknife import Jackknife
from forestlab.study.judged import Judged
from forestlab.study.part import About, Files, Findings, Look, Number, Part, single
from forestlab.study.quantiles import leaf_intervals

LAST = 0.9  # the level that is looked at first, and of those in metrics the last: MLflow shows it


class Coverage(NamedTuple):
    """How often intervals or label sets hold the truth, at LEVELS."""

    share: np.ndarray  # (L,) of rows covered
    width: np.ndarray  # (L,) mean width, or mean number of classes in a set; may be infinite
    rows: int  # of which both are: those whose interval is known


def bands(
    look: Look, mean, spread, leaves: Reached, jack: Jackknife | None, levels, depth=None
) -> dict[str, list[Band]]:
    """By method: a band for each level, of rows that end in `leaves` of trees cut at a depth."""
    X, truth = look.data["train"]
    sd = np.sqrt(spread)
    found = {"trees": [normal_intervals(mean, sd, level) for level in levels]}
    if jack is not None:
        found["jackknife"] = [normal_intervals(mean, jack.sd, level) for level in levels]
    if look.outside is not None:
        scores = conformal.scores_regression(truth, _out_of_bag(look, depth))
        found["conformal"] = [conformal.intervals(mean, scores, level) for level in levels]
    trained = reached(look.grown.forest, X, depth, look.n_jobs)
    bags = look.grown.bags(look.n_jobs)
    low, high = leaf_intervals(trained, bags, truth, leaves, levels)
    found["quantiles"] = [Band(*pair) for pair in zip(low, high, strict=True)]
    return found


def _out_of_bag(look: Look, depth: int | None) -> np.ndarray:
    """Answers for the training rows by the trees that left them out, (n,)."""
    if depth is None:
        return look.surfaces["oob"].predicted
    grown, (X, _) = look.grown, look.data["train"]
    asked = grown.forest, grown.task, grown.combine, X, depth, look.n_jobs, look.outside
    return combined(*asked)[0][:, 0]


def _of_bands(look: Look, rows: Judged) -> dict[str, Coverage]:
    spread, jack = rows.uncertainty.spread, look.found.get("jackknife")
    found = bands(look, rows.answers[:, 0], spread, rows.leaves, jack, LEVELS)
    return {
        method: Coverage(
            np.array([coverage(*band, rows.truth) for band in of_levels]),
            np.array([width(*band) for band in of_levels]),
            n_known(*of_levels[0]),
        )
        for method, of_levels in found.items()
    }


def _of_sets(look: Look, rows: Judged) -> dict[str, Coverage]:
    oob, answers = look.surfaces.get("oob"), rows.answers
    sets = {"posterior": [conformal.credible_sets(answers, level) for level in LEVELS]}
    if oob is not None:
        scores = conformal.scores_classes(oob.truth, oob.answers)
        sets["conformal"] = [conformal.label_sets(answers, scores, level) for level in LEVELS]
    return {
        method: Coverage(
            np.array([set_coverage(of_level, rows.truth) for of_level in of_levels]),
            np.array([set_size(of_level) for of_level in of_levels]),
            len(rows.truth),
        )
        for method, of_levels in sets.items()
    }


def _find(look: Look) -> dict[str, Coverage]:
    """By method."""
    find = _of_sets if look.has_classes else _of_bands
    return find(look, look.found["judged"])


# ---- the part ----------------------------------------------------------------------------------


def _numbers(found: dict[str, Coverage], findings: Findings) -> Iterator[Number]:
    for method, told in found.items():
        yield single(f"rows_coverage_{method}", told.rows)
        for level, share, mean_width in zip(LEVELS, told.share, told.width, strict=True):
            if level > LAST:
                continue
            percent = round(100 * level)
            yield Number(f"coverage/{method}", share, percent)
            if np.isfinite(mean_width):
                yield Number(f"width/{method}", mean_width, percent)


def _table(found: dict[str, Coverage], findings: Findings, about: About) -> Files:
    methods = {method: told._asdict() for method, told in found.items()}
    split = findings.parts["judged"].split
    yield "coverage.json", {"level": list(LEVELS), "split": split} | methods


def _picture(found: dict[str, Coverage], findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    rows = findings.parts["judged"]
    kind: Literal["set", "interval"] = "set" if findings.has_classes else "interval"
    shares = {method: told.share for method, told in found.items()}
    widths = {method: told.width for method, told in found.items()}
    remarks = dict(METHODS)
    for method, told in found.items():
        if told.rows < len(rows.truth):
            few = f"{told.rows} of {len(rows.truth)} rows{trees_needed(findings)}"
            remarks[method] = f"{remarks[method]}; {few}"
    what = "label sets" if findings.has_classes else "intervals"
    title = about.titled(f"Coverage and size of {what}, {figures.SPLIT_ROWS[rows.split]}")
    picture = figures.coverage_curve(np.array(LEVELS), shares, widths, title, kind, remarks)
    yield "coverage.png", picture


METHODS = {
    "trees": "mean ± z · the trees' spread",
    "jackknife": "mean ± z · sd of the mean",
    "conformal": "by errors out of bag",
    "quantiles": "of targets in a row's leaves",
    "posterior": "likeliest classes",
}


def trees_needed(findings: Findings) -> str:
    """How many trees the jackknife wants, the only method that may not know an interval."""
    jack = findings.parts.get("jackknife")
    needed = np.nan if jack is None else jack.trees_needed
    return f", {float(f'{needed:.1e}'):,.0f} trees needed" if np.isfinite(needed) else ""


PART = Part(
    level="full",
    applies=lambda look: "judged" in look.found,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "coverage/METHOD": "step: nominal level in percent, the last 90; share of rows covered",
        "width/METHOD": "the same; mean width of intervals, or size of label sets",
        "summary/rows_coverage_METHOD": "whose interval is known",
    },
    neutral=("coverage",),
    files={"coverage": "how often intervals or label sets hold the truth"},
)

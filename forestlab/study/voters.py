"""Out-of-bag errors by the number of trees that vote on a row."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from forestlab.study.part import About, Files, Findings, Number, Part
from forestlab.study.surface import Surface


class VoterErrors(NamedTuple):
    """Out-of-bag errors by the number of trees that vote on a row; each (v,)."""

    voters: np.ndarray  # numbers of voters that occur
    rows: np.ndarray  # rows with so many
    error: np.ndarray  # share of wrong labels, or mean absolute error; NaN without voters
    std: np.ndarray  # standard deviation of the rows' errors


def error_by_voters(oob: Surface) -> VoterErrors:
    """How the out-of-bag error falls with the number of voters."""
    voters, place, rows = np.unique(oob.voters, return_inverse=True, return_counts=True)
    mean = np.bincount(place, oob.errors) / rows
    std = np.sqrt(np.bincount(place, (oob.errors - mean[place]) ** 2) / rows)
    return VoterErrors(voters, rows, mean, std)


def _numbers(found: VoterErrors, findings: Findings) -> Iterator[Number]:
    oob = findings.surfaces["oob"]
    for size, voters in zip(oob.sizes, oob.mean_voters, strict=True):
        yield Number("by_trees/oob_voters", voters, int(size))


def _table(found: VoterErrors, findings: Findings, about: About) -> Files:
    yield "oob/voters.json", found._asdict()


def _picture(found: VoterErrors, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    voters, rows, error, std = found
    name = "error rate" if findings.has_classes else "mean |error|"
    title, spread = about.titled(f"Out-of-bag {name} by number of voters"), None
    if not findings.has_classes:
        name, spread = f"{name} (units of the target)", std
    picture = figures.voters_curve(voters, rows, error, title, name, spread)
    yield "oob/voters.png", picture


PART = Part(
    level="light",
    applies=lambda look: "oob" in look.surfaces,
    find=lambda look: error_by_voters(look.surfaces["oob"]),
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={
        "by_trees/oob_voters": "step: number of trees; how many vote on a training row, on average"
    },
    neutral=("by_trees/oob_voters",),
    files={"oob/voters": "out-of-bag error by the number of trees that vote on a row"},
)

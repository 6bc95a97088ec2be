"""Every metric at every depth, of all trees; with the study off, as deep as they are."""

from collections.abc import Iterator

from forestlab.study.part import About, Files, Findings, Look, Number, Part, steps
from forestlab.study.shown import shown


def _find(look: Look) -> dict:
    """The surfaces' last line, which `Findings.curves` reads."""
    return look.surfaces


def _numbers(found, findings: Findings) -> Iterator[Number]:
    for metric, curves in findings.curves.items():
        for split, curve in curves.items():
            yield from steps(f"{metric}/{split}", curve, findings.first_depth)


def _table(found, findings: Findings, about: About) -> Files:
    n_depths = len(next(iter(findings.curves[findings.main].values())))
    chosen = findings.parts.get("chosen")
    best = {"chosen": chosen and chosen.depth, "chosen_on": chosen and chosen.split}
    yield "curves/depth.json", {"depth": list(range(n_depths))} | best | findings.curves


def _picture(found, findings: Findings, about: About) -> Files:
    from forestlab import figures  # late: matplotlib

    chosen, how = findings.parts.get("chosen"), shown(findings.main)
    best = (None, "") if chosen is None else (chosen.depth, chosen.split)
    values = {split: how.of(curve) for split, curve in findings.curves[findings.main].items()}
    title = about.titled(f"{how.title} by depth")
    depth, judge = best
    picture = figures.depth_curve(values, how.label, title, depth, judge, how.better)
    yield "curves/depth.png", picture


PART = Part(
    level="off",
    targets="both",
    needs_targets=False,
    find=_find,
    numbers=_numbers,
    table=_table,
    picture=_picture,
    metrics={"METRIC/SPLIT": "every metric of the table, on train, valid, test and oob"},
    files={"curves/depth": "every metric of every split at every depth"},
)

"""Every row with its answer: of validation and test with their uncertainty, of training with what
the trees answer that left it out."""

import numpy as np

from forestlab.study.part import About, Files, Findings, Look, Part
from forestlab.study.surface import Surface


def _find(look: Look) -> dict[str, Surface]:
    return look.surfaces


def _table(found: dict[str, Surface], findings: Findings, about: About) -> Files:
    import pandas as pd

    parts = [_side_by_side(findings, split, about) for split in ("valid", "test") if split in found]
    every = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    yield "predictions.parquet", every
    if "oob" in found:
        oob = _side_by_side(findings, "oob", about)
        yield "oob/predictions.parquet", oob.assign(voters=found["oob"].voters)


def _side_by_side(findings: Findings, split: str, about: About):
    """The rows of a split; of several targets with columns for each, truth_NAME and so on."""
    rows = about.rows["train" if split == "oob" else split]
    if not findings.by_target:
        return _answered(findings, split, rows)
    whole = None
    for target, of_target in findings.by_target.items():
        table = (
            _answered(of_target, split, rows).set_index(["row", "split"]).add_suffix(f"_{target}")
        )
        whole = table if whole is None else whole.join(table)
    assert whole is not None
    return whole.reset_index()


def _answered(findings: Findings, split: str, rows: np.ndarray):
    """Truth and answer, and where it is known the uncertainty."""
    table = answers_table(findings, split, rows)
    known = findings.parts.get("uncertainty")
    unsure = None if known is None else known.of.get(split)
    if unsure is None:
        return table
    return table.assign(
        **{f"{name}_uncertainty": values for name, values in unsure._asdict().items()}
    )


def answers_table(findings: Findings, split: str, rows: np.ndarray):
    """A table of every row of a split: truth, if there is one, and answer."""
    import pandas as pd

    surface = findings.surfaces[split]
    columns = findings.studied.columns(surface, findings.classes)
    return pd.DataFrame({"row": rows, "split": split} | columns)


PART = Part(
    level="light",
    targets="all",
    needs_targets=False,
    find=_find,
    table=_table,
    files={
        "predictions.parquet": "every validation and test row: its answer, of classes with the "
        "probability of each, and its uncertainty",
        "oob/predictions.parquet": "every training row: its out-of-bag answer and voters",
    },
)

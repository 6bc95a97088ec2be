"""The parts of the study, in the order in which they look, are written and are drawn.

To add one: write a module with its row, PART, and add it here; its picture goes into `figures`. A
part may read what those before it found. `python -m forestlab.study` lists what each of them logs.
"""

from forestlab.study import (
    band,
    bias,
    by_trees,
    calibration,
    chosen,
    confusion,
    curves,
    cuts,
    density,
    detection,
    exact_match,
    first_tree,
    importance,
    intervals,
    jackknife,
    judged,
    one_normal,
    permutation,
    predictions,
    regions,
    stopping,
    strength,
    surfaces,
    trees,
    uncertainty,
    voters,
)
from forestlab.study.part import Part

PARTS: dict[str, Part] = {
    "curves": curves.PART,
    "exact_match": exact_match.PART,
    "by_trees": by_trees.PART,
    "chosen": chosen.PART,
    "confusion": confusion.PART,
    "uncertainty": uncertainty.PART,
    "voters": voters.PART,
    "permutation": permutation.PART,
    "importance": importance.PART,
    "trees": trees.PART,
    "first_tree": first_tree.PART,
    "predictions": predictions.PART,
    "cuts": cuts.PART,
    "surface": surfaces.PART,
    "stopping": stopping.PART,
    "strength": strength.PART,
    "calibration": calibration.PART,
    "judged": judged.PART,
    "jackknife": jackknife.PART,
    "coverage": intervals.PART,
    "detection": detection.PART,
    "band": band.PART,
    "regions": regions.PART,
    "density": density.PART,
    "one_normal": one_normal.PART,
    "draws": bias.PART,
}

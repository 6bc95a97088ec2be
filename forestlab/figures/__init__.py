"""Arrays → matplotlib figures.

`draw_tree` shows one tree; the others show what was measured of a run. These know nothing of
models or runs: they take arrays and a title, and give a `matplotlib.figure.Figure` of their own,
without pyplot, so that nothing has to be closed and any thread may draw. `save` writes it.
"""

from forestlab.figures.bias import bias_variance_curve
from forestlab.figures.calibration import reliability_diagram
from forestlab.figures.confusion import confusion
from forestlab.figures.curves import depth_curve, overlaid_curves, size_curve
from forestlab.figures.importance import importance
from forestlab.figures.intervals import coverage_curve, prediction_band
from forestlab.figures.style import SPLIT_COLOURS, save
from forestlab.figures.tree import draw_tree
from forestlab.figures.uncertainty import uncertainty_classification, uncertainty_regression

__all__ = [
    "SPLIT_COLOURS",
    "bias_variance_curve",
    "confusion",
    "coverage_curve",
    "depth_curve",
    "draw_tree",
    "importance",
    "overlaid_curves",
    "prediction_band",
    "reliability_diagram",
    "save",
    "size_curve",
    "uncertainty_classification",
    "uncertainty_regression",
]

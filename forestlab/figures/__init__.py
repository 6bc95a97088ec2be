"""Arrays → matplotlib figures.

`draw_tree` shows one tree; the others show what was measured of a run, or of several. These know
nothing of models or runs: they take arrays and a title, and give a `matplotlib.figure.Figure` of
their own, without pyplot, so that nothing has to be closed and any thread may draw. `save` writes
it.
"""

from forestlab.figures.bias import bias_variance_curve
from forestlab.figures.calibration import reliability_diagram
from forestlab.figures.compare import interval_plot
from forestlab.figures.confusion import confusion
from forestlab.figures.curves import aligned, banded_curves
from forestlab.figures.density import density_maps
from forestlab.figures.importance import importance, two_importances
from forestlab.figures.intervals import coverage_curve, prediction_band
from forestlab.figures.pruning import alpha_curve
from forestlab.figures.regions import decision_regions
from forestlab.figures.splits import depth_curve, size_curve
from forestlab.figures.stopping import StoppingLine, stopping_curves
from forestlab.figures.strength import residual_curve, strength_curve
from forestlab.figures.style import SPLIT_COLOURS, SPLIT_ROWS, save
from forestlab.figures.surface import surface_maps
from forestlab.figures.sweep import Measured, Swept, swept_lines, swept_map
from forestlab.figures.tree import draw_tree, tree_picture
from forestlab.figures.uncertainty import uncertainty_classification, uncertainty_regression
from forestlab.figures.voters import voters_curve

__all__ = [
    "SPLIT_COLOURS",
    "SPLIT_ROWS",
    "Measured",
    "StoppingLine",
    "Swept",
    "aligned",
    "alpha_curve",
    "banded_curves",
    "bias_variance_curve",
    "confusion",
    "coverage_curve",
    "decision_regions",
    "density_maps",
    "depth_curve",
    "draw_tree",
    "importance",
    "interval_plot",
    "prediction_band",
    "reliability_diagram",
    "residual_curve",
    "save",
    "size_curve",
    "stopping_curves",
    "strength_curve",
    "surface_maps",
    "swept_lines",
    "swept_map",
    "tree_picture",
    "two_importances",
    "uncertainty_classification",
    "uncertainty_regression",
    "voters_curve",
]

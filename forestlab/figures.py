"""Arrays → matplotlib axes.

A tree is laid out in points (1/72 inch) before anything is drawn: boxes fit their text, leaves
stand evenly spaced, parents centred over their children, and the space between leaves is the least
that keeps all boxes of a level apart. A new figure is as large as the layout; given axes show the
layout scaled to fit, text included.
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import FancyBboxPatch

FONT_SIZE = 9.0
PADDING = 6.0  # points between a text and its box
GAP = 12.0  # points between boxes of a level, at least
LEVEL_GAP = 34.0  # points between levels: room for yes and no
MAX_INCHES = 100.0  # a larger figure is scaled down: a canvas has at most 2**16 pixels a side

# Paul Tol's muted scheme: ten colours that the colour-blind can tell apart, also when lightened.
CLASS_COLOURS = (
    "#88CCEE", "#CC6677", "#DDCC77", "#117733", "#AA4499",
    "#44AA99", "#332288", "#999933", "#882255", "#888888",
)  # fmt: skip
MEAN_COLOURS = "YlGnBu"
NEUTRAL = "#F4F4F4"
LINE = "#666666"


class Layout(NamedTuple):
    """Boxes in points; x grows to the right and y, from the root's top, downwards to negatives."""

    centre: np.ndarray  # (n_boxes, 2)
    size: np.ndarray  # (n_boxes, 2): width and height

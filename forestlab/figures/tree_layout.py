"""Where the boxes of a drawn tree stand.

In points (1/72 inch): boxes fit their text, leaves stand evenly spaced, parents are centred over
their children, and the space between leaves is the least that keeps all boxes of a level apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from forestlab.figures.tree_boxes import Box

PADDING = (7.0, 5.0)  # points between a text and its box
LEAST_WIDTH = 36.0  # points
STRIP = 9.0  # points below the text, if there is a strip of class shares
GAP = 10.0  # points between boxes of a level, at least
LEVEL_GAP = 30.0  # points between levels, at least: room for yes and no
SLOPE = 0.12  # of a level's longest edge, at least


class Layout(NamedTuple):
    """In points, y upwards; the root's level has its top at 0."""

    x: np.ndarray  # (n_boxes,) centres
    y: np.ndarray  # (n_boxes,)
    width: np.ndarray  # (n_boxes,)
    height: np.ndarray  # (n_boxes,) the same in all of a level, so that edges cross no box

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """left, right, bottom, top"""
        left, right = self.x - self.width / 2.0, self.x + self.width / 2.0
        return left.min(), right.max(), (self.y - self.height / 2.0).min(), 0.0


def lay_out(boxes: list[Box], text_sizes: np.ndarray) -> Layout:
    """Given the width and height of each box's text, (n_boxes, 2)."""
    width, height = (text_sizes + 2.0 * np.array(PADDING)).T
    width = np.maximum(width, LEAST_WIDTH)
    height = height + [STRIP if len(box.shares) else 0.0 for box in boxes]
    level = np.array([box.level for box in boxes])
    rows = [np.flatnonzero(level == depth) for depth in range(level.max() + 1)]
    slot, reach = _slots(boxes)
    spacing = max(_spacing(slot[row], width[row]) for row in rows)
    heights = np.array([height[row].max() for row in rows])
    gaps = [max(LEVEL_GAP, SLOPE * spacing * reach[row].max()) for row in rows]
    tops = -np.cumsum([0.0, *(heights + gaps)])[:-1]
    return Layout(slot * spacing, (tops - heights / 2.0)[level], width, heights[level])


def _slots(boxes: list[Box]) -> tuple[np.ndarray, np.ndarray]:
    """Where boxes stand, and how far from there their children, in steps from leaf to leaf."""
    slot, reach = np.zeros(len(boxes)), np.zeros(len(boxes))
    ends = [k for k, box in enumerate(boxes) if box.left < 0]
    slot[ends] = np.arange(len(ends))
    for k, box in reversed(list(enumerate(boxes))):
        if box.left >= 0:
            slot[k] = (slot[box.left] + slot[box.right]) / 2.0
            reach[k] = (slot[box.right] - slot[box.left]) / 2.0
    return slot, reach


def _spacing(slot: np.ndarray, width: np.ndarray) -> float:
    """Points a step, so that the boxes of a level, given from left to right, stand apart.

    They are at least one step from each other, since each stands above leaves of its own.
    """
    room = (width[1:] + width[:-1]) / 2.0 + GAP
    return (room / np.diff(slot)).max(initial=0.0)

"""Looking at pictures: which texts are where, that none is cut off, and none on another."""

import functools
import itertools
import warnings

from matplotlib.text import Text

from forestlab import figures
from forestlab.figures.words import Words


def draw_all(pictures):
    """{name: figure}, drawn with warnings as errors; pictures are functions."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = {name: make() for name, make in pictures.items()}
        for picture in drawn.values():
            picture.canvas.draw()
    return drawn


def words(ax):
    return [child for child in ax.get_children() if isinstance(child, Words)]


def word_boxes(written):
    """The frame of each text, in pixels."""
    places = written.get_offset_transform().transform(written.get_offsets())
    paths = written.get_paths()
    return [
        path.get_extents(written.get_transform()).translated(*place)
        for path, place in zip(paths, places, strict=True)
        if len(path.vertices)
    ]


@functools.cache
def all_boxes(figure):
    return list(_all_boxes(figure))


def _all_boxes(figure):
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible():
            yield text.get_text(), text.get_window_extent()
    for ax in figure.axes:
        for written in words(ax):
            yield from zip(filter(str.strip, written.strings), word_boxes(written), strict=True)


def legend(ax):
    """The texts right of the axes, or above."""
    return [
        text
        for written in words(ax)
        for text, box in zip(written.strings, word_boxes(written), strict=True)
        if box.x0 > ax.bbox.x1 or box.y0 > ax.bbox.y1
    ]


def x_words(ax):
    transform = ax.get_xaxis_transform()
    return next(w.strings for w in words(ax) if w.get_offset_transform() == transform)


def notes(figure):
    return " ".join(text.get_text() for ax in figure.axes for text in ax.texts)


# ---- what any picture must be ------------------------------------------------------------------


def check_within(figure):
    """No text is cut off."""
    width, height = figure.bbox.size
    for text, box in all_boxes(figure):
        assert 0 <= box.x0 < box.x1 <= width, text
        assert 0 <= box.y0 < box.y1 <= height, text


def outside_panels(figure):
    """(text, box) of names, labels, notes, legends and the title."""
    panels = [ax.bbox.padded(-1) for ax in figure.axes]
    return [
        (text, box)
        for text, box in all_boxes(figure)
        if not any(panel.overlaps(box) for panel in panels)
    ]


def check_apart(boxes, may_touch=lambda a, b: False):
    """No text is on another."""
    assert len(boxes) > 2
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert may_touch(a, b) or not a.padded(-0.5).overlaps(b), (one, other)


def saved_twice(make, rng, folder):
    """The bytes of a picture, which is made twice from the same numbers and must be the same."""
    state = rng.bit_generator.state
    files = []
    for k in range(2):
        rng.bit_generator.state = state
        figures.save(make(), folder / f"{k}.png")
        files.append((folder / f"{k}.png").read_bytes())
    assert files[0] == files[1]
    assert files[0].startswith(b"\x89PNG")
    return files[0]

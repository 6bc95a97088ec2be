"""The look that the pictures of a run share: paper, colours, legends, bins, files.

A picture is a row of *panels* with fixed margins, all in inches: text never decides the layout, so
nothing is drawn twice. Layout engines draw twice.
"""

from __future__ import annotations

import struct
import textwrap
import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from forestlab.figures.words import numbers, plain, scale

Better = Literal["higher", "lower"]  # which values of a metric are the better ones

DPI = 100
TITLE = 11.0  # font sizes
LABEL = 9.5
SMALL = 8.5
TITLE_LETTERS = 10.5  # an inch holds at least as many
LINE = "#555555"
NO_VALUE = "#E0E0E0"  # paper of what is not defined
SAME = 1e-9  # of the greatest: values that differ by less are equal but for rounding
DASHES = (0.0, (4.0, 3.0))

# Of Paul Tol's vibrant scheme, and near-black for the split that decides.
SPLIT_COLOURS = {"train": "#0077BB", "valid": "#EE7733", "test": "#222222", "oob": "#009988"}
SPLIT_MARKERS = {"train": "o", "valid": "s", "test": "D", "oob": "^"}
SPLIT_ROWS = {
    "train": "training rows",
    "valid": "validation rows",
    "test": "test rows",
    "oob": "out-of-bag rows",
}
# Paul Tol's bright scheme, with a darker grey, and black.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#777777", "#000000")
MAIN, WRONG, OTHER = "#4477AA", "#CC3311", "#EE7733"


# ---- paper -------------------------------------------------------------------------------------


def panels(
    title: str,
    widths: Sequence[float],
    height: float,
    left: float = 0.9,
    right: float = 0.25,
    bottom: float = 0.55,
    top: float = 0.32,
    gap: float = 0.9,
) -> tuple[Figure, list[Axes]]:
    """A figure with a row of axes under a title; all numbers are inches.

    Parameters
    ----------
    widths : of each panel
    height : of all panels
    left, right, bottom : margins for labels and legends
    top : between the panels and the title, for a note on each panel
    gap : between panels
    """
    width = left + sum(widths) + gap * (len(widths) - 1) + right
    letters = int((width - 0.3) * TITLE_LETTERS)
    heading = textwrap.wrap(title, letters, max_lines=3, placeholder=" …")
    total = bottom + height + top + 0.19 * len(heading) + 0.1
    figure = Figure(figsize=(width, total), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)
    figure.suptitle("\n".join(heading), x=0.15 / width, y=1.0 - 0.1 / total, ha="left", va="top",
                    fontsize=TITLE, fontweight="bold", parse_math=False)  # fmt: skip
    axes = []
    for panel in widths:
        frame = (left / width, bottom / total, panel / width, height / total)
        axes.append(figure.add_axes(frame))
        left += panel + gap
    return figure, axes


def dress(ax: Axes, x: str, y: str, note: str = "") -> None:
    """Names of the axes, a note above, and a quiet frame."""
    ax.set_xlabel(x, fontsize=LABEL, parse_math=False)
    ax.set_ylabel(y, fontsize=LABEL, parse_math=False)
    if note:
        assert ax.figure is not None
        above = ax.transAxes + ScaledTranslation(0.0, 5.0 / 72.0, ax.figure.dpi_scale_trans)
        ax.text(0.0, 1.0, note, transform=above, ha="left", va="bottom", fontsize=SMALL,
                color=LINE, parse_math=False)  # fmt: skip
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(LINE)


def overlaid_widths(n: int) -> np.ndarray:
    """Of n lines, in points: where they run on each other, the later and thinner leave the edges of
    those below in sight."""
    return np.linspace(1.4 + 0.7 * min(n - 1, 3), 1.4, n)


def say_empty(ax: Axes, what: str = "no rows") -> None:
    for axis in ("x", "y"):
        scale(ax, axis, np.empty(0), [])
    ax.text(0.5, 0.5, what, transform=ax.transAxes, ha="center", va="center", color=LINE)


def shorten(name: Any, letters: int) -> str:
    """The name, or its beginning and end around an ellipsis."""
    text = " ".join(str(name).split())
    if len(text) <= letters:
        return text
    tail = letters // 3
    return f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"


def told_apart(names: Sequence[Any], letters: int) -> list[str]:
    """Each name shortened: of long ones goes first what all begin with, then what all end with."""
    texts = [" ".join(str(name).split()) for name in names]
    surplus = max(map(len, texts), default=0) - letters
    if len(texts) < 2 or surplus <= 0:
        return [shorten(text, letters) for text in texts]
    shared = _n_shared(texts)
    head = min(shared, surplus + 1)  # one more for the ellipsis
    tail = _n_shared([text[shared:][::-1] for text in texts])
    tail = min(tail, max(surplus + 2 - head, 0)) if head < surplus + 1 else 0
    head, tail = (n if n > 1 else 0 for n in (head, tail))
    kept = [text[head : len(text) - tail] for text in texts]
    room = letters - bool(head) - bool(tail)
    return [f"{'…' * bool(head)}{shorten(text, room)}{'…' * bool(tail)}" for text in kept]


def _n_shared(texts: list[str]) -> int:
    """How many letters all texts begin with."""
    alike = [len(set(letters)) == 1 for letters in zip(*texts, strict=False)]
    return alike.index(False) if False in alike else len(alike)


def ink(colour) -> str:
    """Black or white, whichever stands out more: the relative luminance of WCAG 2."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ [0.2126, 0.7152, 0.0722] > 0.179 else "white"


# ---- bins --------------------------------------------------------------------------------------


def quantile_bins(values: np.ndarray, most: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Bins of as many rows each, but that values equal but for rounding share one.

    Returns
    -------
    edges : (n_bins + 1,) bin j holds edges[j] < value ≤ edges[j + 1]; the first, its lower edge too
    places : (n,) the bin of each value
    """
    n_bins = int(np.clip(len(values) // 10, 2, most))
    shares = np.arange(1, n_bins + 1) / n_bins
    uppers = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    uppers = uppers[np.append(np.diff(uppers) > SAME * np.abs(uppers).max(), True)]
    return np.append(values.min(), uppers), np.searchsorted(uppers, values)


def bin_means(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.bincount(places, values) / np.bincount(places)


def bin_scale(ax: Axes, means: np.ndarray) -> None:
    """Bins stand side by side, equally wide, centred at 0, 1, …; labels below tell their means."""
    ax.set_xlim(-0.5, len(means) - 0.5)
    texts = [plain(float(text), 4) for text in numbers(means, 2, 4)]
    scale(ax, "x", np.arange(len(means)), texts, grid=False,
          rotation=45.0 if len(means) > 6 else 0.0)  # fmt: skip


# ---- files -------------------------------------------------------------------------------------


def save(figure: Figure, path) -> None:
    """Write a PNG that holds the picture and nothing else: equal figures give equal bytes.

    Written here, since with a fixed filter (a line less the line above) it takes 7 ms for a picture
    that `savefig` and Pillow write in 12, at the same level of compression.
    """
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3]
    height, width, _ = pixels.shape
    lines = np.zeros((height + 1, 3 * width), np.uint8)
    lines[1:] = pixels.reshape(height, -1)
    filtered = np.full((height, 1 + 3 * width), 2, np.uint8)
    np.subtract(lines[1:], lines[:-1], out=filtered[:, 1:])
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in (
            (b"IHDR", header),
            (b"IDAT", zlib.compress(filtered.tobytes(), 1)),
            (b"IEND", b""),
        ):
            checksum = struct.pack(">I", zlib.crc32(kind + data))
            file.write(struct.pack(">I", len(data)) + kind + data + checksum)

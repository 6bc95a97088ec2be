"""Pictures that experiments of several documents share."""

import pandas as pd
from matplotlib.figure import Figure

from forestlab.figures.style import LABEL, LINE, panels
from forestlab.figures.words import GRID, text_width

ROW = 0.28  # inches
GAP = 0.3  # between columns


def draw_table(table: pd.DataFrame, title: str, digits: int = 4) -> Figure:
    """A table as a document prints it: texts to the left, numbers to the right of their columns."""
    columns = [[_text(value, digits) for value in table[name]] for name in table]
    heads = [str(name) for name in table]
    widths = [
        max(text_width(text, LABEL) * 1.1 for text in [head, *texts]) / 72.0  # heads are bold
        for head, texts in zip(heads, columns, strict=True)
    ]
    height = ROW * (len(table) + 1)
    width = sum(widths) + GAP * (len(widths) - 1)
    figure, (ax,) = panels(title, [width], height, left=0.2, right=0.2, bottom=0.1, top=0.15)
    ax.set_axis_off()
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)
    left = 0.0
    for head, texts, name, own in zip(heads, columns, table, widths, strict=True):
        is_number = pd.api.types.is_numeric_dtype(table[name])
        x, align = (left + own, "right") if is_number else (left, "left")
        for row, text in enumerate([head, *texts]):
            ax.text(x, ROW * (row + 0.5), text, ha=align, va="center_baseline", fontsize=LABEL,
                    fontweight="bold" if row == 0 else "normal", parse_math=False)  # fmt: skip
        left += own + GAP
    for row in range(1, len(table) + 2):
        ax.axhline(ROW * row, color=LINE if row == 1 else GRID, linewidth=0.8, clip_on=False)
    return figure


def _text(value, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)

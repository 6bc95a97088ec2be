"""Tables for the terminal: 80 columns hold them."""

from collections.abc import Sequence
from typing import Any

from forestlab.baseline.rules import Row
from forestlab.run.tables import in_columns

MOST_ROWS = 40  # unless all are asked for
TITLES = ("recorded", "new", "difference", "allowed", "verdict")


def number(value: Any, signed: bool = False) -> str:
    """Four digits of a number, three of a difference; the beginning of a text."""
    if value is None or value != value:
        return "–"
    if isinstance(value, str):
        return value[:8]
    return f"{value:+.3g}" if signed else f"{value:.4g}"


def drift_lines(name: str, rows: Sequence[Row]) -> list[str]:
    """A table with the baseline's name at its head; a config stands above its metrics."""
    cells = [(name, *TITLES), *(_cells(row) for row in rows)]
    head, *lines = in_columns(cells, "<>>>><")
    told, config = [head], ""
    for row, line in zip(rows, lines, strict=True):
        if row.metric and row.config != config:
            told.append(row.config)
        config = row.config
        told.append(line)
    return told


def _cells(row: Row) -> tuple[str, ...]:
    if not row.metric:
        return row.config, "", "", "", "", row.verdict
    shift = allowed = ""
    if isinstance(row.recorded, float) and isinstance(row.new, float):
        shift = number(row.new - row.recorded, signed=True)
        if row.verdict != "changed":
            allowed = f"{row.allowed:.2g}" if row.allowed == row.allowed else "–"
    return (
        f"  {row.metric.removeprefix('summary/')}",
        number(row.recorded),
        number(row.new),
        shift,
        allowed,
        row.verdict,
    )


def show(name: str, rows: list[Row], everything: bool) -> None:
    """Print a table, or the beginning of a long one; nothing without rows."""
    shown = rows if everything else rows[:MOST_ROWS]
    if not shown:
        return
    print("\n".join(drift_lines(name, shown)))
    if len(shown) < len(rows):
        print(f"… and {len(rows) - len(shown)} more: --all shows them")
    print()

"""figures/index.html: everything that was made, on one page.

The page is built from what is in the folder, so making one experiment keeps the others on it.
"""

import json
import math
import struct
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from forestlab.compare import page

MOST_ROWS = 200  # of a table on the page; the file has all
MARKS = {"held": "✓", "not held": "✗", "undecided": "?"}
GLYPH = (132, 14, 4)  # width and height of an interval's picture, and its margin, in pixels
HERE = Path(__file__).parent  # where the templates are
DOCUMENTS = {  # README says more
    "000": "Random Forest, a how-to from scratch",
    "001": "Random Forest, a notebook by Calvin Feng",
    "002": "Random Forest, notes of a class at UIUC, 2024",
    "003": "Random Forest Summary, 2018",
    "004": "14. Random Forest, lecture notes on bagging",
}
TITLE = "The documents’ figures and tables, made again"


def write_page(folder: Path) -> None:
    """index.html over all NAME.json in the folder."""
    texts = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    texts = [made for made in texts if _is_ours(made)]
    texts.sort(key=lambda made: (made["document"], made["name"]))
    page.write(folder / "index.html", whole(folder, texts))


def _is_ours(made: dict[str, Any]) -> bool:
    """Not so of another's file, nor of one that an older version has left."""
    return all("outcome" in verdict for verdict in made.get("verdicts", [{}]))


def whole(folder: Path, texts: list[dict[str, Any]]) -> str:
    """The page's HTML; texts are what NAME.json hold."""
    return page.render(
        "_page.html",
        HERE,
        title=TITLE,
        counted=_counted(texts),
        texts=texts,
        marks=MARKS,
        worst=_worst,
        interval=_interval,
        table=lambda name: _csv(folder / f"{name}.csv"),
        heading=_heading,
        size=lambda name: _size(folder / f"{name}.png"),
    )


def _heading(document: str) -> str:
    """A paper is its own name."""
    if document in DOCUMENTS:
        return f"Document {document}: {DOCUMENTS[document]}"
    return f"Document {document}" if document.isdigit() else document


def _counted(texts: list[dict[str, Any]]) -> str:
    """How many experiments, runs and verdicts there are, and how many of each outcome."""
    outcomes = [verdict["outcome"] for made in texts for verdict in made["verdicts"]]
    numbers = [f"{outcomes.count(word)} {word}" for word in MARKS if word in outcomes]
    n_runs = len({run["url"] for made in texts for run in made["runs"]})
    return (
        f"{_count(len(texts), 'experiment')}, {_count(n_runs, 'logged run')}; "
        f"{_count(len(outcomes), 'verdict')}: {', '.join(numbers) or 'none'}."
    )


def _count(n: int, what: str) -> str:
    return f"1 {what}" if n == 1 else f"{n} {what}s"


def _worst(verdicts: list[dict[str, Any]]) -> str:
    """The outcome that an experiment's mark shows."""
    outcomes = {verdict["outcome"] for verdict in verdicts}
    return next((word for word in ("not held", "undecided") if word in outcomes), "held")


def _size(path: Path) -> Markup:
    """Width and height of a picture as an image has them, so that the page does not jump when it
    comes to be shown; nothing if it is not there."""
    if not path.exists():
        return Markup()
    with open(path, "rb") as file:
        width, height = struct.unpack(">II", file.read(24)[16:])
    return Markup(f'width="{width}" height="{height}"')


# ---- parts of a section ------------------------------------------------------------------------


def _interval(verdict: dict[str, Any]) -> str:
    """The interval as a line with its middle, above a band of all that the claim allows."""
    low, high, expected = verdict["low"], verdict["high"], verdict["expected"]
    if low is None or not (math.isfinite(low) and math.isfinite(high)) or low == high:
        return ""
    reach = verdict["margin"] if verdict["claim"] == "within" else 0.0
    ends = (low, high, expected - reach, expected + reach)
    width, height, margin = GLYPH
    scale = (width - 2 * margin) / ((max(ends) - min(ends)) or 1.0)

    def x(value: float) -> float:
        return round(margin + (value - min(ends)) * scale, 1)

    left = 0.0 if verdict["claim"] == "below" else x(expected - reach)
    right = width if verdict["claim"] == "above" else x(expected + reach)
    return page.render(
        "_interval.html",
        HERE,
        kind=verdict["outcome"].replace(" ", "-"),
        width=width,
        height=height,
        low=f"{low:.3g}",
        high=f"{high:.3g}",
        band=(left, right),
        expected=x(expected),
        line=(x(low), x(high)),
        found=x(verdict["found"]),
    )


def _csv(path: Path) -> tuple[str, int]:
    """The first rows of the table, and how many there are more; below 1 if none."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return page.table(table[:MOST_ROWS].map(_short)), len(table) - MOST_ROWS


def _short(text: str) -> str:
    """A number with the digits that a person reads."""
    try:
        return text if text.lstrip("-").isdigit() else f"{float(text):.6g}"
    except ValueError:
        return text

"""figures/index.html: everything that was made, on one page.

The page is built from what is in the folder, so making one experiment keeps the others on it.
"""

import json
import math
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from forestlab.compare import page

MOST_ROWS = 200  # of a table on the page; the file has all
HEADS = ("claim", "expected", "why just that", "found, with its 95 % interval", "verdict")
MARKS = {"held": "✓", "not held": "✗", "undecided": "?"}
GLYPH = (132, 14, 4)  # width and height of an interval's picture, and its margin, in pixels

STYLE = """
:root { --quiet: #666; --line: #ddd; --good: #1a7f37; --bad: #c0321a;
  --unsure: #8a6100; }
* { box-sizing: border-box; }
body { max-width: 60rem; padding-bottom: 3rem; }
h1 { margin: 0 0 .3rem; }
h2 { font-size: 1.05rem; margin: 2.6rem 0 .6rem; border: 0; color: var(--quiet); }
h3 { font-size: 1.2rem; margin: 0; }
h4 { font-size: .8rem; margin: 1.2rem 0 .3rem; color: var(--quiet); text-transform: uppercase;
  letter-spacing: .04em; }
p { margin: .3rem 0; }
a { color: #0b63a5; }
code { background: #f3f3f3; padding: .1em .35em; border-radius: 4px; }
nav { columns: 18rem; margin: 1rem 0 0; }
nav a { display: block; text-decoration: none; padding: .1rem 0; break-inside: avoid; }
section { border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.2rem;
  margin: 0 0 1.4rem; }
header { display: flex; gap: .3rem .8rem; flex-wrap: wrap; align-items: baseline;
  justify-content: space-between; }
img { margin: .9rem auto .2rem; }
th, td { padding: .35rem .8rem .35rem 0; }
th { border-bottom: 1px solid #999; color: var(--quiet); }
.held, .not-held, .undecided { font-weight: 600; white-space: nowrap; }
.held { color: var(--good); }
.not-held { color: var(--bad); }
.undecided { color: var(--unsure); }
.verdicts td:nth-child(2), .verdicts .number { white-space: nowrap; }
.verdicts td:nth-child(3) { color: var(--quiet); font-size: .88rem; }
svg.interval { display: block; margin: .15rem 0; }
.quiet, summary { color: var(--quiet); font-size: .88rem; }
summary { margin-top: .8rem; }
details ul { margin: .4rem 0; font-size: .88rem; columns: 17rem; }
@media (max-width: 44rem) {
  .verdicts th { display: none; }
  .verdicts td { display: block; border: 0; padding: .1rem 0; white-space: normal; }
  .verdicts td::before { content: attr(data-head) " "; color: var(--quiet); }
  .verdicts td:first-child { font-weight: 600; padding-top: .5rem; }
  .verdicts td:first-child::before, .verdicts td:last-child::before { content: ""; }
  .verdicts tr { display: block; border-bottom: 1px solid var(--line); padding-bottom: .5rem; }
}
"""
TITLE = "The documents’ figures and tables, made again"
READING = (
    "A claim is held if the whole 95 % interval of what was found lies where the claim has it, "
    "which is tinted; not held if no part of it does; and else undecided: the runs cannot tell."
)


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
    verdicts = [verdict for made in texts for verdict in made["verdicts"]]
    n_runs = len({run["url"] for made in texts for run in made["runs"]})
    body = [
        f'<p class="quiet">{_count(len(texts), "experiment")}, {_count(n_runs, "logged run")}; '
        f"{_counted(verdicts)}.</p>",
        f"<p>{READING}</p>",
        "<nav>" + "".join(_entry(made) for made in texts) + "</nav>",
    ]
    for document, members in groupby(texts, key=lambda made: made["document"]):
        heading = f"Document {document}" if document.isdigit() else document
        body.append(f"<h2>{escape(heading)}</h2>")
        body += [_section(folder, made) for made in members]
    return page.page(TITLE, "\n".join(body), STYLE)


def _count(n: int, what: str) -> str:
    return f"1 {what}" if n == 1 else f"{n} {what}s"


def _counted(verdicts: list[dict[str, Any]]) -> str:
    """How many verdicts there are, and how many of each outcome."""
    outcomes = [verdict["outcome"] for verdict in verdicts]
    numbers = [f"{outcomes.count(word)} {word}" for word in MARKS if word in outcomes]
    return f"{_count(len(verdicts), 'verdict')}: {', '.join(numbers) or 'none'}"


def _entry(made: dict[str, Any]) -> str:
    name = escape(made["name"])
    outcomes = {verdict["outcome"] for verdict in made["verdicts"]}
    worst = next((word for word in ("not held", "undecided") if word in outcomes), "held")
    return f'<a href="#{name}">{_mark(worst)} {name}</a>'


def _mark(outcome: str, word: str = "") -> str:
    told = f"{MARKS[outcome]} {word}".strip()
    return f'<span class="{outcome.replace(" ", "-")}">{told}</span>'


def _section(folder: Path, made: dict[str, Any]) -> str:
    name, title = escape(made["name"]), escape(made["title"])
    files = " · ".join(f'<a href="{name}.{kind}">{kind}</a>' for kind in ("png", "svg", "csv"))
    return "\n".join(
        [
            f'<section id="{name}">',
            f"<header><h3>{title}</h3>"
            f'<span class="quiet"><code>{name}</code> · {files}</span></header>',
            f'<a href="{name}.svg"><img src="{name}.png" alt="{title}" loading="lazy"></a>',
            "<h4>What the document says</h4>",
            *(f"<p>{escape(part)}</p>" for part in made["says"].strip().split("\n\n")),
            "<h4>What forestlab got</h4>",
            _verdicts(made["verdicts"]),
            page.details("The table behind it", _csv(folder / f"{made['name']}.csv")),
            _runs(made),
            "</section>",
        ]
    )


# ---- parts of a section ------------------------------------------------------------------------


def _verdicts(verdicts: list[dict[str, Any]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in HEADS)
    rows = "".join(f"<tr>{''.join(_verdict_cells(verdict))}</tr>" for verdict in verdicts)
    return f'<div class="wide"><table class="verdicts"><tr>{head}</tr>{rows}</table></div>'


def _verdict_cells(verdict: dict[str, Any]) -> list[str]:
    found = f'<span class="number">{escape(verdict["found_text"])}</span>'
    contents = [
        escape(verdict["what"]),
        escape(verdict["expected_text"]),
        escape(verdict["reason"]),
        f'{found}{_interval(verdict)}<div class="quiet">{escape(verdict["repeats"])}</div>',
        _mark(verdict["outcome"], verdict["outcome"]),
    ]
    # On a narrow screen a verdict is a block of lines, each with the head of its column in front.
    cells = zip(HEADS, contents, strict=True)
    return [f'<td data-head="{head}">{content}</td>' for head, content in cells]


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
    middle, kind = height / 2, verdict["outcome"].replace(" ", "-")
    return (
        f'<svg class="interval {kind}" width="{width}" height="{height}" role="img" '
        f'aria-label="from {low:.3g} to {high:.3g}">'
        f'<rect x="{left}" width="{right - left:.1f}" height="{height}" fill="#e3efe5"/>'
        f'<path d="M{x(expected)} 0V{height}" stroke="#999" stroke-dasharray="2 2"/>'
        f'<path d="M{x(low)} {middle}H{x(high)}" stroke="currentColor" stroke-width="2"/>'
        f'<circle cx="{x(verdict["found"])}" cy="{middle}" r="3" fill="currentColor"/></svg>'
    )


def _csv(path: Path) -> str:
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    more = len(table) - MOST_ROWS
    note = f'<p class="quiet">… and {more} rows more in the file.</p>' if more > 0 else ""
    return page.table(table[:MOST_ROWS].map(_short)) + note


def _short(text: str) -> str:
    """A number with the digits that a person reads."""
    try:
        return text if text.lstrip("-").isdigit() else f"{float(text):.6g}"
    except ValueError:
        return text


def _runs(made: dict[str, Any]) -> str:
    if not made["runs"]:
        return '<p class="quiet">No runs: computed from forestlab’s own functions.</p>'
    links = "".join(
        f'<li><a href="{escape(run["url"])}">{escape(run["name"])}</a></li>' for run in made["runs"]
    )
    how = f"<p>The links open in the MLflow UI, which <code>{escape(made['ui'])}</code> starts.</p>"
    count = "The run" if len(made["runs"]) == 1 else f"The {len(made['runs'])} runs"
    return page.details(f"{count} behind it", f'<div class="quiet">{how}</div><ul>{links}</ul>')

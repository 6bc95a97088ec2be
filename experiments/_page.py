"""figures/index.html: everything that was made, on one page.

The page is built from what is in the folder, so making one experiment keeps the others on it.
"""

import json
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd

from forestlab import page

MOST_ROWS = 200  # of a table on the page; the file has all
HEADS = ("claim", "expected", "found", "tolerance", "and its reason", "verdict")
SIGNS = {"near": "", "below": "at most ", "above": "at least "}

STYLE = """
:root { --quiet: #666; --line: #ddd; --good: #1a7f37; --bad: #c0321a; }
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
.holds { color: var(--good); font-weight: 600; white-space: nowrap; }
.fails { color: var(--bad); font-weight: 600; white-space: nowrap; }
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


def write_page(folder: Path) -> None:
    """index.html over all NAME.json in the folder."""
    texts = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    texts = [made for made in texts if "verdicts" in made]  # another's file is not for the page
    texts.sort(key=lambda made: (made["document"], made["name"]))
    page.write(folder / "index.html", whole(folder, texts))


def whole(folder: Path, texts: list[dict[str, Any]]) -> str:
    """The page's HTML; texts are what NAME.json hold."""
    verdicts = [verdict for made in texts for verdict in made["verdicts"]]
    n_held = sum(verdict["holds"] for verdict in verdicts)
    n_runs = len({run["url"] for made in texts for run in made["runs"]})
    body = [
        f'<p class="quiet">{_count(len(texts), "experiment")}, {_count(n_runs, "logged run")}; '
        f"{n_held} of {_count(len(verdicts), 'verdict')} hold.</p>",
        "<nav>" + "".join(_entry(made) for made in texts) + "</nav>",
    ]
    for document, members in groupby(texts, key=lambda made: made["document"]):
        heading = f"Document {document}" if document.isdigit() else document
        body.append(f"<h2>{escape(heading)}</h2>")
        body += [_section(folder, made) for made in members]
    return page.page(TITLE, "\n".join(body), STYLE)


def _count(n: int, what: str) -> str:
    return f"1 {what}" if n == 1 else f"{n} {what}s"


def _entry(made: dict[str, Any]) -> str:
    name = escape(made["name"])
    return f'<a href="#{name}">{_mark(all(v["holds"] for v in made["verdicts"]), "")} {name}</a>'


def _mark(holds: bool, word: str) -> str:
    kind, sign = ("holds", "✓") if holds else ("fails", "✗")
    return f'<span class="{kind}">{sign}{" " + word if word else ""}</span>'


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
    texts = [
        verdict["what"],
        SIGNS[verdict["side"]] + _number(verdict["expected"]),
        _number(verdict["found"]),
        _number(verdict["tolerance"]),
        verdict["reason"],
    ]
    told = _mark(verdict["holds"], "holds" if verdict["holds"] else "does not hold")
    # On a narrow screen a verdict is a block of lines, each with the head of its column in front.
    cells = zip(HEADS, [*map(escape, texts), told], strict=True)
    return [f'<td data-head="{head}">{content}</td>' for head, content in cells]


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


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

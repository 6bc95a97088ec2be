"""Pages that stand alone: one HTML file with its style and its pictures inside.

Every text goes through `escape`, so a name may hold any letter; what these functions return is
HTML, to be put together and given to `page` as its body. `write` keeps a page, and never in the
place of a file that was not made here.
"""

import base64
import io
from collections.abc import Collection, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from forestlab.atomic import whole_file
from forestlab.config import ConfigError

MAKER = '<meta name="generator" content="forestlab">'
STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 75rem;
  margin: 2rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; }
dt { color: #555; }
dd { margin: 0; overflow-wrap: anywhere; }
code { font-size: 0.9em; }
ul { padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.92em; }
th, td { padding: 0.25rem 0.7rem; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #555; vertical-align: bottom; }
td { border-bottom: 1px solid #e4e4e4; }
.right { text-align: right; }
td.right, details td { white-space: nowrap; }
img { display: block; max-width: 100%; height: auto; margin: 1rem 0; }
summary { cursor: pointer; }
"""


def page(title: str, body: str, style: str = "") -> str:
    """A whole document around a body of HTML; `style` adds to that of all pages."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'{MAKER}\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def details(title: str, body: str) -> str:
    """A body that opens when its title is clicked."""
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>"


def facts(about: Mapping[str, Any]) -> str:
    """Names and what they are, a line each."""
    lines = (f"<dt>{escape(name)}</dt><dd>{escape(str(what))}</dd>" for name, what in about.items())
    return f"<dl>{''.join(lines)}</dl>"


def bullets(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def table(frame: pd.DataFrame, right: Collection[str] = ()) -> str:
    """The columns of a frame, without its index; numbers, and the columns `right`, to the right."""
    aligned = {
        name: ' class="right"' if name in right or pd.api.types.is_numeric_dtype(column) else ""
        for name, column in frame.items()
    }
    head = "".join(f"<th{how}>{escape(str(name))}</th>" for name, how in aligned.items())
    rows = []
    for row in frame.itertuples(index=False, name=None):
        cells = zip(aligned.values(), row, strict=True)
        rows.append("".join(f"<td{how}>{escape(_text(cell))}</td>" for how, cell in cells))
    lines = "\n".join(f"<tr>{cells}</tr>" for cells in [head, *rows])
    return f'<div class="wide"><table>\n{lines}\n</table></div>'


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return "" if cell != cell else f"{cell:.4g}"
    return "" if cell is None else str(cell)


def picture(figure) -> str:
    """A figure of matplotlib, drawn with two pixels for each of the screen's common kind."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=2 * figure.dpi, metadata={"Software": None})
    code = base64.b64encode(drawn.getvalue()).decode()
    width = round(figure.get_figwidth() * figure.dpi)
    told = escape(" ".join(figure.get_suptitle().split()))
    return f'<img width="{width}" alt="{told}" src="data:image/png;base64,{code}">'


# ---- files -------------------------------------------------------------------------------------


def check_target(path: Path, mark: str = MAKER) -> None:
    """Raise ConfigError if a file is there that does not have our mark near its beginning."""
    if not path.parent.is_dir():
        raise ConfigError(f"{path} cannot be written: there is no folder {path.parent}.")
    if not path.exists():
        return
    try:
        with open(path, "rb") as file:
            ours = mark.encode() in file.read(1000)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error
    if not ours:
        raise ConfigError(f"{path} is there and was not made by forestlab: name another file.")


def write(path: Path, text: str, mark: str = MAKER) -> None:
    """Write a file whole or not at all; see `check_target`."""
    path = path.resolve()  # a link stays one
    check_target(path, mark)
    try:
        with whole_file(path) as written:
            written.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from error

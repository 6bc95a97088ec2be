"""Pages that stand alone: one HTML file with its style and its pictures inside.

The HTML stands in Jinja's templates, in templates/, page.html around them all. Every text that goes
into one is escaped, so a name may hold any letter; what `render` and `table` return is HTML.
`write` keeps a page, and never in the place of a file that was not made here.
"""

import base64
import io
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from forestlab.atomic import whole_file
from forestlab.config import ConfigError

MAKER = '<meta name="generator" content="forestlab">'
TEMPLATES = Path(__file__).with_name("templates")


class Picture(NamedTuple):
    """A figure as a page holds it."""

    code: str  # the PNG, in base64
    width: int  # in pixels of the screen's common kind
    told: str  # what it shows, for those who do not see it


def render(template: str, folder: Path = TEMPLATES, **context: Any) -> Markup:
    """What a template of the folder makes of the context; it may extend those here."""
    return Markup(_environment(folder).get_template(template).render(context, maker=Markup(MAKER)))


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def table(frame: pd.DataFrame, right: Collection[str] = ()) -> Markup:
    """The columns of a frame, without its index; numbers, and the columns `right`, to the right."""
    is_right = [
        name in right or pd.api.types.is_numeric_dtype(column) for name, column in frame.items()
    ]
    texts = [map(_text, row) for row in frame.itertuples(index=False, name=None)]
    columns, *rows = (list(zip(line, is_right, strict=True)) for line in [frame.columns, *texts])
    return render("table.html", columns=columns, rows=rows)


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return "" if cell != cell else f"{cell:.4g}"
    return "" if cell is None else str(cell)


def picture(figure) -> Picture:
    """A figure of matplotlib, drawn with two pixels for each of the screen's common kind."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=2 * figure.dpi, metadata={"Software": None})
    code = base64.b64encode(drawn.getvalue()).decode()
    width = round(figure.get_figwidth() * figure.dpi)
    return Picture(code, width, " ".join(figure.get_suptitle().split()))


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

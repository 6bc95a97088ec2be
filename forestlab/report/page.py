"""The page as text: one HTML file that holds its style, its script and its data, and asks for
nothing else. It opens from a disk, and in a frame that is allowed scripts and nothing more."""

import html
from functools import cache
from importlib.resources import files
from typing import Any

from forestlab.report.packing import packed

# In the order in which they stand in the page.
SCRIPTS = (
    "data.js", "state.js", "draw.js", "charts.js", "surface.js", "judged.js", "plane.js",
    "rows.js", "tree.js", "main.js",
)  # fmt: skip


def page(told: dict[str, Any]) -> str:
    """What `payload` gives, as a page."""
    # Neither can hold what the other is put in the place of: a title is escaped, data are base64.
    title, data = html.escape(str(told["title"])), packed(told)
    return _frame().replace("<!--TITLE-->", title).replace("<!--DATA-->", data)


@cache
def _frame() -> str:
    """The page without what is of a run."""
    style = _file("page.css")
    script = "\n".join(_file(name) for name in SCRIPTS)
    return _file("page.html").replace("/*STYLE*/", style).replace("/*SCRIPT*/", script)


def _file(name: str) -> str:
    return files("forestlab.report").joinpath("web", name).read_text(encoding="utf-8")

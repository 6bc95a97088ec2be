"""The page of a run, `report.html`: two sliders, depth and number of trees, over all that one fit
says; its rows one by one, and its trees to walk through.

`payload` finds what is shown, from a grown forest, its data and what a full study found; `page`
makes the file of it. What a person sees of that is written in `web/`: plain HTML, CSS and
JavaScript, put together as they are.
"""

from pathlib import Path

from forestlab.forest import Grown
from forestlab.report.page import page
from forestlab.report.payload import Data, payload
from forestlab.report.subject import Room
from forestlab.study.part import About, Findings

NAME = "report.html"
MOST_BYTES = 3_000_000

__all__ = ["MOST_BYTES", "NAME", "Room", "page", "payload", "write"]


def write(
    path: Path, grown: Grown, data: Data, findings: Findings, about: About, n_jobs: int = 1
) -> None:
    """Write the page of a run; what does not fit is left out, and the page says so."""
    path.write_text(page_that_fits(grown, data, findings, about, n_jobs), encoding="utf-8")


def page_that_fits(
    grown: Grown, data: Data, findings: Findings, about: About, n_jobs: int = 1
) -> str:
    """The page with as much in it as MOST_BYTES hold: room is halved until it fits."""
    n = 1
    while True:
        text = page(payload(grown, data, findings, about, Room().shared(n), n_jobs))
        if len(text.encode()) <= MOST_BYTES:
            return text
        n *= 2

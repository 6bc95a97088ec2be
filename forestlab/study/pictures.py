"""Findings become pictures: which are drawn of a run, and under which names."""

import logging
from collections.abc import Iterator
from typing import Any

from forestlab.study.part import About, Findings
from forestlab.study.parts import PARTS

now = logging.getLogger("forestlab.now")  # what happens, for a terminal


def pictures(findings: Findings, about: About) -> Iterator[tuple[str, Any]]:
    """(name of the file, picture), one after the other."""
    for number, (key, found) in enumerate(findings.parts.items(), 1):
        what = key.replace("_", " ")
        now.info("drawing %d/%d, %s", number, len(findings.parts), what)
        yield from PARTS[key].picture(found, findings, about)
    for target, of_target in findings.by_target.items():
        for name, picture in pictures(of_target, about.of_target(target)):
            yield f"by_target/{target}/{name}", picture

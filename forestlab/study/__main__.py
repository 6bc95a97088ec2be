"""`python -m forestlab.study`: what a run logs, part by part. A word in capitals stands for one of
several; the step of a metric is the depth, unless it says otherwise."""

if __name__ == "__main__":  # before the rest is imported: see there
    from forestlab import entry

    entry.begin()

import sys
from collections.abc import Iterator, Mapping

from forestlab.study.numbers import SECONDS
from forestlab.study.parts import PARTS


def listing() -> Iterator[str]:
    """A line for each metric and file."""
    for name, part in PARTS.items():
        yield f"{name} ({part.level})"
        yield from _lines("metric", part.metrics)
        yield from _lines("file", part.files)
    yield "of several targets, each by itself (the parts above that look at one)"
    yield from _lines("metric", {"by_target/NAME/…": "as above, of the target of that name"})
    yield from _lines("file", {"by_target/NAME/…": "the same"})
    yield "the run itself"
    yield from _lines("metric", SECONDS)
    yield from _lines("file", {"report.html": "of a full study: a page to move through it"})


def _lines(kind: str, told: Mapping[str, str]) -> Iterator[str]:
    return (f"  {kind:6} {name:30} {meaning}" for name, meaning in told.items())


def main(arguments: list[str] | None = None) -> int:
    print("\n".join(listing()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

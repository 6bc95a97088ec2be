"""What was measured: a list of values, one a round, and the file that keeps them.

Values of the same place in two lists are of the same round, so that their ratio is of one moment
of the machine.
"""

import json
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

OURS, EXACT, FIRST = "forestlab histogram", "forestlab exact", "scikit-learn"


@dataclass(frozen=True)
class Measured:
    part: str  # of the benchmark: fit, memory, …
    subject: str  # a data set, or what grows
    peer: str
    what: str  # fit, predict, …
    unit: str  # s, MB, ns; of a score it is empty
    values: tuple[float, ...]
    at: int | None = None  # of what grows, how much

    @property
    def key(self) -> tuple:
        return self.part, self.subject, self.peer, self.what, self.at

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def is_cost(self) -> bool:
        """Whether less is better."""
        return bool(self.unit)


@dataclass
class Record:
    about: dict[str, Any]  # the machine, versions, settings
    measured: list[Measured] = field(default_factory=list)

    def find(self, part: str, subject: str, peer: str, what: str, at=None) -> Measured | None:
        key = part, subject, peer, what, at
        return next((one for one in self.measured if one.key == key), None)

    def ratio(self, part: str, subject: str, peer: str, what: str, to: str = OURS) -> float | None:
        """The median, over rounds, of a peer's cost by that of another."""
        one, other = (self.find(part, subject, name, what) for name in (peer, to))
        if one is None or other is None:
            return None
        return statistics.median(within_rounds(one.values, other.values))

    def of(self, part: str) -> list[Measured]:
        return [one for one in self.measured if one.part == part]

    def subjects(self, part: str) -> list[str]:
        return list(dict.fromkeys(one.subject for one in self.of(part)))

    def peers(self, part: str) -> list[str]:
        return list(dict.fromkeys(one.peer for one in self.of(part)))

    def take(self, found: Iterable[Measured]) -> None:
        """Add what was measured, in place of what was before."""
        new = {one.key: one for one in found}
        kept = [one for one in self.measured if one.key not in new]
        self.measured = [*kept, *new.values()]


def within_rounds(values: Sequence[float], others: Sequence[float]) -> list[float]:
    return [value / other for value, other in zip(values, others, strict=True)]


# ---- the file ----------------------------------------------------------------------------------


def write(record: Record, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = {"about": record.about, "measured": [asdict(one) for one in record.measured]}
    path.write_text(_lines(text))


def _lines(content: dict) -> str:
    """JSON with a line for each thing measured, so that a person can read it and git compare it."""
    about = json.dumps(content["about"], indent=1, ensure_ascii=False)
    each = ",\n".join(json.dumps(one, ensure_ascii=False) for one in content["measured"])
    return f'{{"about": {about},\n"measured": [\n{each}\n]}}\n'


def read(path: Path) -> Record:
    content = json.loads(path.read_text())
    measured = [Measured(**one | {"values": tuple(one["values"])}) for one in content["measured"]]
    return Record(content["about"], measured)


def open_record(path: Path, about: dict[str, Any], same: Sequence[str]) -> Record:
    """The record to add to: the one that is there if all of `same` is equal, else a new one; the
    older is kept beside it, by its time."""
    if path.is_file():
        before = read(path)
        if all(before.about.get(key) == about[key] for key in same):
            return Record(about, before.measured)
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(path.stat().st_mtime))
        path.rename(path.with_name(f"{path.stem}-{stamp}{path.suffix}"))
    return Record(about)

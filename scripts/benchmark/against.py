"""Two records beside each other: what got faster, what slower, and what cannot be told.

Machines differ, and so does one from hour to hour. So where both records have scikit-learn's cost
of the same thing, what is compared is forestlab's cost by scikit-learn's, within rounds; elsewhere
the seconds themselves. A change is told where all rounds of one record are on the same side of all
rounds of the other, and the medians differ by more than LEAST; with fewer than 3 rounds in one of
them nothing is told, as five of each would differ so by chance once in 126 times, two of each once
in 3.
"""

import statistics
from typing import NamedTuple

from benchmark.measured import FIRST, Measured, Record, within_rounds

LEAST = 0.03  # of the cost before
FEWEST = 3  # rounds of each record


class Change(NamedTuple):
    key: tuple
    ratio: float  # the cost before by that of now: above 1, it became cheaper
    low: float  # the least and the most that any two rounds give
    high: float
    verdict: str  # faster, slower, as before, too few rounds
    is_relative: bool  # beside scikit-learn


def changes(before: Record, now: Record) -> list[Change]:
    """What both records have of forestlab's costs."""
    old = {one.key: one for one in before.measured}
    return [
        _change(before, old[one.key], now, one)
        for one in now.measured
        if one.peer.startswith("forestlab") and one.is_cost and one.key in old
    ]


def _change(before: Record, old: Measured, now: Record, new: Measured) -> Change:
    beside = _beside(before, old), _beside(now, new)
    is_relative = None not in beside
    values = beside if is_relative else (old.values, new.values)
    a, b = (list(each) for each in values)  # type: ignore[arg-type]
    ratio = statistics.median(a) / statistics.median(b)
    low, high = min(a) / max(b), max(a) / min(b)
    return Change(new.key, ratio, low, high, _verdict(a, b, ratio), is_relative)


def _beside(record: Record, one: Measured) -> list[float] | None:
    part, subject, _, what, at = one.key
    first = record.find(part, subject, FIRST, what, at)
    if first is None or len(first.values) != len(one.values):
        return None
    return within_rounds(one.values, first.values)


def _verdict(old: list[float], new: list[float], ratio: float) -> str:
    if min(len(old), len(new)) < FEWEST:
        return "too few rounds"
    if max(new) < min(old) and ratio > 1 + LEAST:
        return "faster"
    if min(new) > max(old) and ratio < 1 / (1 + LEAST):
        return "slower"
    return "as before"


def got_slower(found: list[Change]) -> bool:
    return any(change.verdict == "slower" for change in found)


def table(found: list[Change]) -> str:
    """What changed first, the greatest first."""
    words = ("slower", "faster", "as before", "too few rounds")
    found = sorted(found, key=lambda c: (words.index(c.verdict), -abs(c.ratio - 1)))
    lines = [f"{'before ÷ now (above 1: cheaper now)':<58}{'':>7}{'rounds':>16}"]
    for change in found:
        part, subject, peer, what, at = change.key
        name = f"{part} {subject}{f' {at:,}' if at else ''}: {what}, {peer}"
        unit = "" if change.is_relative else " *"
        lines.append(
            f"{name + unit:<58}{change.ratio:>7.2f}{change.low:>9.2f}–{change.high:<6.2f}"
            f"  {change.verdict}"
        )
    if any(not change.is_relative for change in found):
        lines.append("* not beside scikit-learn: the machine's own changes count too")
    return "\n".join(lines)
